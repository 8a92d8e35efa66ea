"""The moments that requests name: a pair of times, each left out, given as a time, or as a head.

Rules
-----
* `as-of` is an instant T (recordedAt ≤ T < supersededAt) or `head:N`; `valid-at` an instant or a calendar value.
* A head is a certificate's place in the log, which other events take places in too: not every number is a head. What is
  none is an error that names the one before.
* A bare integer is no `as-of`: it could mean a year or a head. A future `as-of` is an error; before the first
  certificate there is an empty base.
* `valid-at` is the as-of instant if one is given (what would this have answered then).
* When a head was recorded never changes, so some are remembered.

Example
-------
::

    moments = Moments(ledger, host)
    moments.named("head:41", "2024-05-06")
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kernel.errors import InvalidParameter, InvalidTime
from kernel.time.instants import Instant
from kernel.time.timevalues import A_YEAR, parse_point

if TYPE_CHECKING:
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.outside import HostClock

_HEAD: Final = re.compile(r"head:([0-9]{1,18})")
_MEANT_AS_HEAD: Final = re.compile(r"head\b", re.IGNORECASE)

_FIND_HEAD: Final = "write head:N, the number from Muniment-Head or a certificate"

_REMEMBERED: Final = 4_096
"""Heads."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A pair of times; None is "now": the head, or the clock."""

    as_of: Instant | None = None
    valid_at: Instant | None = None


NOW: Final = Moment()


class Moments:
    """Reads the names of moments; safe from any thread."""

    def __init__(self, ledger: Ledger, host: HostClock) -> None:
        self._ledger = ledger
        self._host = host
        self._instants: dict[int, Instant] = {}
        self._heads: dict[Instant, int] = {}

    def named(self, as_of: str | None, valid_at: str | None) -> Moment:
        """The moment that a request's parameters name.

        Raises:
            InvalidParameter: an `as-of` that is a bare integer, in the future, or no head of this base.
            InvalidTime: a time that cannot be read.
        """
        known = None if as_of is None else self._as_of(as_of)
        true = None if valid_at is None else parse_point(valid_at, field="valid-at")
        return Moment(known, known if true is None else true)

    def head_at(self, view: LedgerView, as_of: Instant) -> int | None:
        """The last head by an instant."""
        return self._heads.get(as_of) or view.head_at(as_of)

    def _as_of(self, text: str) -> Instant:
        if text.isdigit():
            year = f", or {text}-01-01" if len(text) == len("2024") else ""
            raise InvalidParameter(
                f"{text} could mean a year or a head", remedy=f"write head:{text}{year}", where="as-of"
            )
        named = _HEAD.fullmatch(text)
        if named is not None:
            return self._recorded_in(int(named[1]))
        if _MEANT_AS_HEAD.match(text):
            raise InvalidParameter(f"{text[:40]!r} names no head", remedy=_FIND_HEAD, where="as-of")
        try:
            instant = parse_point(text, field="as-of")
        except InvalidTime as error:
            # A year alone could be a head.
            error.remedy = error.remedy.replace(f" {A_YEAR},", "") + ", or head:N for what was known at a head"
            raise
        with self._ledger.reading() as view:
            latest = view.head().instant
        now = self._host.now()
        if instant > (now if latest is None else max(now, latest)):
            raise InvalidParameter(
                f"{text} lies in the future: what will be known then is not known",
                remedy="give one that is past, or none for the present; use valid-at for what is known of the future",
                where="as-of",
            )
        return instant

    def _recorded_in(self, head: int) -> Instant:
        known = self._instants.get(head)
        if known is not None:
            return known
        with self._ledger.reading() as view:
            instant = view.recorded_in(head)
            before = _head_before(view, head) if instant is None else None
        if instant is None:
            raise InvalidParameter(
                f"head:{head} is no head of this base: not every number is one",
                remedy=_FIND_HEAD if before is None else f"take head:{before}, the one before",
                where="as-of",
            )
        self._remember(head, instant)
        return instant

    def _remember(self, head: int, instant: Instant) -> None:
        if len(self._instants) >= _REMEMBERED:
            self._instants, self._heads = {}, {}
        self._instants[head] = instant
        self._heads[instant] = head


def _head_before(view: LedgerView, number: int) -> int | None:
    """The last head below the number; found by instants, for heads are in their order."""
    latest = view.head().instant
    if latest is None:
        return None
    after = bisect_right(range(latest + 1), number, key=lambda at: view.head_at(Instant(at)) or 0)
    return view.head_at(Instant(after - 1))
