"""How often somebody may ask, by what they may do; and how often an address may come with tokens that nobody knows.

Rules
-----
* `MUNIMENT_RATE_LIMITS` gives each caller of a role so many requests in a time; who is anonymous is told from others
  by address. A role that it does not name has no limit. Beyond it the answer is 429, and says when to come again.
* Whoever sends tokens that nobody knows gets 429 for 401 once `MUNIMENT_FAILED_TOKENS` of them came from an address.
  A token that is known is let in from there all the same: a proxy's many users have one address.
* An IPv6 address counts with all that share its first 64 bits, which one host may have.
* Counts are kept in memory, for the time that they are for, and of `MOST_KEPT` callers or addresses of a class: beyond,
  those of that class begin anew, and no other. A count slides: what came in the time before is weighed by how much of
  it is still within reach.

Example
-------
>>> from kernel.access import Principal, Role
>>> rates = RateLimits({"reader": "2/hour"}, "1/hour")
>>> ann = Principal("ann", Role.READER)
>>> rates.admit(ann, "192.0.2.1"), rates.admit(ann, "192.0.2.1")
(None, None)
>>> rates.admit(ann, "192.0.2.1")
Traceback (most recent call last):
api.errors.RateLimited: a reader may ask 2 per 1 hour (ask again after the seconds that Retry-After says)
>>> rates.failed("192.0.2.1") is None, type(rates.failed("192.0.2.1")).__name__
(True, 'RateLimited')
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from time import time
from typing import TYPE_CHECKING, Final

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from api.errors import RateLimited
from kernel.access import ANONYMOUS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limits import RateLimitItem
    from starlette.requests import Request

    from api.settings import CallerClass
    from kernel.access import Principal

MOST_KEPT: Final = 10_000

_NETWORK: Final = 64
_FAILED: Final = "failed"


class RateLimits:
    """The counts of one service.

    Args:
        by_class: how often, by the name of a role or `anonymous`, as `limits` writes it: `100/minute`.
        failures: how often an address may come with a token that nobody knows.
    """

    def __init__(self, by_class: Mapping[CallerClass, str] | Mapping[str, str], failures: str) -> None:
        self._by_class = {kind: parse(text) for kind, text in by_class.items()}
        self._failures = parse(failures)
        self._counts = {kind: SlidingWindowCounterRateLimiter(MemoryStorage()) for kind in (*self._by_class, _FAILED)}

    def admit(self, caller: Principal, address: str) -> None:
        """Counts a request. Raises `RateLimited` for one too many."""
        kind = class_of(caller)
        limit = self._by_class.get(kind)
        if limit is not None:
            who = _network_of(address) if kind == ANONYMOUS else caller.id
            if not self._take(limit, kind, who):
                name = f"{'an' if kind[0] in 'ae' else 'a'} {kind}"
                raise self._refusal(limit, (kind, who), f"{name} may ask {limit}")

    def failed(self, address: str) -> RateLimited | None:
        """Counts a token that nobody knows; answers what to say in the place of that, for one too many."""
        who = _network_of(address)
        if self._take(self._failures, _FAILED, who):
            return None
        return self._refusal(self._failures, (_FAILED, who), "too many unknown tokens came from here")

    def _take(self, limit: RateLimitItem, kind: str, who: str) -> bool:
        counts = self._counts[kind]
        if len(_kept(counts)) > MOST_KEPT:
            counts.storage.reset()
        return counts.hit(limit, kind, who)

    def _refusal(self, limit: RateLimitItem, who: tuple[str, str], message: str) -> RateLimited:
        reset = self._counts[who[0]].get_window_stats(limit, *who).reset_time
        return RateLimited(
            message,
            remedy="ask again after the seconds that Retry-After says",
            seconds=max(1, min(ceil(reset - time()), limit.get_expiry())),
        )


def _kept(counts: SlidingWindowCounterRateLimiter) -> dict[str, float]:
    """When each count ends that is kept."""
    storage = counts.storage
    return storage.expirations if isinstance(storage, MemoryStorage) else {}


def class_of(caller: Principal) -> str:
    """What callers are limited by: the highest role that one has, or that there is no token."""
    return ANONYMOUS if caller.id == ANONYMOUS else caller.highest.name.lower()


def _network_of(address: str) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((parsed, _NETWORK), strict=False)) if isinstance(parsed, IPv6Address) else address


def address_of(request: Request) -> str:
    """Whence a request comes: the other end of its connection."""
    return request.client.host if request.client else ""


def rates_of(request: Request) -> RateLimits:
    """The counts of the service that a request came to."""
    rates: RateLimits = request.app.state.rates
    return rates
