"""Whoever has to show, before they write, that they have read: tokens that cite (`muniment token create --cites`).

Rules
-----
* Each answer to a read of such a caller carries a `Muniment-Read-State`, made for it alone: the head that the base
  stood at when the read came, and a random part. Each of its writes has to bring one back, in the header of that name.
* One is good once, for the caller that it was given to, for `LIFETIME` seconds. It is spent by the write that brings
  it, whatever comes of that; the answer to a write brings no other. So nothing is written twice on one reading, and
  nothing by a program that has not looked.
* It does not say that the base still stands there: a fact that changed meanwhile is told by `revise` and `end`.
* A dry run writes nothing and needs none; nor does a branch (`api.routes.what_if`), until it is submitted. Neither
  counts as having read.
* They are kept in memory and bounded, the oldest of a caller give way; after a restart one reads again.

Example
-------
>>> citations = Citations(clock=lambda: 0.0)
>>> state = citations.give("agent-1", 41)
>>> state.split("-")[0], citations.take("agent-2", state), citations.take("agent-1", state)
('41', False, True)
>>> citations.take("agent-1", state)
False
"""

from __future__ import annotations

import re
from collections import OrderedDict
from secrets import token_urlsafe
from time import monotonic
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from api.errors import StateNotCited
from api.http.paths import path_within

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from typing import Any

    from starlette.requests import Request

    from kernel.access import Principal

READ_STATE: Final = "Muniment-Read-State"
READ_STATE_HEADER: Final[dict[str, tuple[str, dict[str, object]]]] = {
    READ_STATE: (
        "of a token that has to cite what it read: what an answer to a read had in this header",
        {"type": "string"},
    )
}
"""What routes declare that write."""

LIFETIME: Final = 3_600.0
"""Seconds."""

_MOST: Final = 100
"""Of one caller."""

_MOST_CALLERS: Final = 10_000
_TRIED: Final = re.compile(r"/what-if(/[^/]+(/plans)?)?")
"""Where nothing is written."""

_GIVEN: Final = "muniment.headers"
_RANDOM: Final = 12


class Citations:
    """What was given out and not yet brought back; for the event loop."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._given: OrderedDict[str, OrderedDict[str, float]] = OrderedDict()

    def give(self, caller: str, head: int | None) -> str:
        """A state for a caller to cite, read at a head."""
        state = f"{'none' if head is None else head}-{token_urlsafe(_RANDOM)}"
        mine = self._given.setdefault(caller, OrderedDict())
        self._given.move_to_end(caller)
        mine[state] = self._clock() + LIFETIME
        while len(mine) > _MOST:
            mine.popitem(last=False)
        while len(self._given) > _MOST_CALLERS:
            self._given.popitem(last=False)
        return state

    def take(self, caller: str, state: str) -> bool:
        """Whether the caller may cite it; it is spent."""
        until = self._given.get(caller, OrderedDict()).pop(state, None)
        return until is not None and self._clock() < until


def read_or_cited(request: Request, caller: Principal, head: int | None) -> None:
    """Gives a caller that cites a state with what it reads, and has it cite one with what it writes.

    Args:
        request: of the caller.
        caller: who need not cite at all.
        head: that the base stands at.

    Raises:
        StateNotCited: it writes, and cites no state that it was given.
    """
    if not caller.cites:
        return
    posted_query = request.method == "POST" and request.scope["path"].endswith("/sparql")
    if not posted_query and _TRIED.fullmatch(path_within(request.scope)) and request.method in ("POST", "DELETE"):
        return
    if request.method in ("GET", "HEAD") or posted_query:
        state = _of(request).give(caller.id, head)
        request.scope[_GIVEN] = [(READ_STATE.lower().encode(), state.encode())]
    else:
        require_cited(request, caller)


def require_cited(request: Request, caller: Principal) -> None:
    """Called where a request turns out to write. Raises as `read_or_cited` does."""
    if not caller.cites:
        return
    request.scope.pop(_GIVEN, None)
    if (b"dry-run", b"true") in parse_qsl(request.scope["query_string"]):
        return
    state = request.headers.get(READ_STATE)
    if state is None or not _of(request).take(caller.id, state):
        told = "it cites none" if state is None else "this one was used, is too old, or was never given to you"
        raise StateNotCited(
            f"your token has to cite a state that it read: {told}",
            remedy=f"read what the change rests on, and send the {READ_STATE} of that answer, which is good once",
            where=READ_STATE,
        )


def given_headers(scope: MutableMapping[str, Any]) -> list[tuple[bytes, bytes]]:
    """The headers that the answer to a request has besides its own."""
    headers: list[tuple[bytes, bytes]] = scope.get(_GIVEN, [])
    return headers


def _of(request: Request) -> Citations:
    citations: Citations = request.app.state.citations
    return citations
