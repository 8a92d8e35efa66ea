"""Answers to queries that are kept until something changes: who asks again gets the same bytes at once.

Rules
-----
* Kept is what was sent whole to a GET of `/sparql` of the present state, is `LARGEST` bytes at most, does not change by
  itself, and is no caller's that has to cite what it reads. `MOST` bytes are kept in all; the oldest go.
* An answer is one caller's, and one request's: the same query string, `Accept` and `Host`, sent with the same token.
  So nobody learns, by the time that it takes, what others have asked.
* All are dropped with the next write, move of the clock, load or purge: whatever the feed of the stores counts. What
  was answered while something was published is not kept.
* Everything is asked that is asked of other requests: the token is looked up anew, has to stand for the same caller as
  before, and is counted (`api.callers.rate_limits`); the logs and metrics have the request as any other. Whatever is
  out of the ordinary is left to the route: preconditions, dates, a head to be reached, and each refusal.

Example
-------
::

    app.add_middleware(FromKept, kept=app.state.kept)
    kept_by(request).keep(request, caller, position, response)
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request

from api.callers.access_log import READ
from api.callers.auth import caller_of
from api.callers.rate_limits import address_of, rates_of
from api.http.paths import path_within
from kernel.errors import CallerError

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from bridge.stores.feed import Feed
    from kernel.access import Principal

MOST: Final = 16 * 2**20
"""Bytes that are kept, what belongs to them counted."""

LARGEST: Final = 64 * 2**10
"""Bytes of a body that is kept."""

_BESIDE: Final = 2_048
"""Bytes that belong to each, roughly."""

_PATH: Final = "/sparql"
_NAME: Final = "muniment.kept"
_TELLING: Final = frozenset((b"accept", b"authorization", b"host"))
_LEFT_TO_THE_ROUTE: Final = frozenset((b"accept-datetime", b"if-none-match", b"muniment-min-head", b"cookie"))


@dataclass(frozen=True, slots=True)
class _Kept:
    caller: Principal
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    noted: dict[str, Any]
    size: int


class KeptAnswers:
    """The answers of one service that are kept; for its event loop.

    Args:
        feed: of the stores that they come from.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._position = feed.position
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._size = 0

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return self._size

    def keep(self, request: Request, caller: Principal, position: int, response: Response) -> None:
        """Keeps the answer to a request, if it may be kept.

        Args:
            request: it.
            caller: whose it is.
            position: of the feed, from before anything was read for it.
            response: the answer, which changes no more.
        """
        scope, body = request.scope, bytes(response.body)
        name: bytes | None = scope[_NAME] if _NAME in scope else _name_of(scope)
        if name is None or caller.cites or len(body) > LARGEST or not self._is_at(position):
            return
        noted = {each: scope[each] for each in ("route", READ) if each in scope}
        size = _BESIDE + len(body) + len(scope["query_string"])
        self._take(name)
        self._kept[name] = _Kept(caller, tuple(response.raw_headers), body, noted, size)
        self._size += size
        while self._size > MOST:
            self._take(next(iter(self._kept)))

    def found(self, scope: Scope) -> _Kept | None:
        """The answer that is kept for such a request, by whomever it was sent."""
        if not self._is_at(self._feed.position):
            return None
        name = scope[_NAME] = _name_of(scope)
        return None if name is None else self._kept.get(name)

    def _is_at(self, position: int) -> bool:
        """Whether the stores stand there still, and are read; what came from elsewhere is dropped."""
        now = self._feed.position
        if now != self._position:
            self._kept.clear()
            self._position, self._size = now, 0
        return position == now and not self._feed.failed

    def _take(self, name: bytes) -> None:
        if (before := self._kept.pop(name, None)) is not None:
            self._size -= before.size


def kept_by(request: Request) -> KeptAnswers:
    """The answers of the service that a request came to."""
    kept: KeptAnswers = request.app.state.kept
    return kept


class FromKept:
    """The middleware that answers from what is kept, and passes everything else on.

    Args:
        app: what it is around.
        kept: the answers.
    """

    def __init__(self, app: ASGIApp, kept: KeptAnswers) -> None:
        self._app = app
        self._kept = kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or passes it on."""
        found = self._kept.found(scope) if scope["type"] == "http" else None
        if found is None or not await _is_let_in(scope, found):
            await self._app(scope, receive, send)
            return
        scope.update(found.noted)
        # Copies: what is around it changes what it sends.
        await send({"type": "http.response.start", "status": 200, "headers": [*found.headers]})
        await send({"type": "http.response.body", "body": found.body})


async def _is_let_in(scope: Scope, found: _Kept) -> bool:
    """Whether the answer is the caller's; a caller who is refused anything hears of it from the route."""
    request = Request(scope)
    try:
        caller = await caller_of(request)
        if caller is None or caller != found.caller:
            return False
        rates_of(request).admit(caller, address_of(request))
    except CallerError:
        return False
    return True


def _name_of(scope: Scope) -> bytes | None:
    """What an answer is kept by; None: none is kept for such requests."""
    if scope["method"] != "GET" or path_within(scope) != _PATH:
        return None
    told = [scope["query_string"], scope["scheme"].encode()]
    for header in scope["headers"]:
        if header[0] in _TELLING:
            told += header
        elif header[0] in _LEFT_TO_THE_ROUTE:
            return None
    return sha256(b"\n".join(told)).digest()
