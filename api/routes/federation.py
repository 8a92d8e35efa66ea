"""Queries that call other endpoints (SERVICE): those that `MUNIMENT_OUTBOUND` lists are asked, before anything else.

Rules
-----
* No endpoint that is not listed is asked, silent or not: `NotListed`. Where nothing is listed, SERVICE is refused as
  such (`bridge.sparql.query`).
* What an endpoint answered takes the place of the call (`bridge.sparql.federation`); the query that comes of it is
  asked as any other, within the limits of its caller. An endpoint is told the text of a query and nothing else: no
  token, and nothing of this base but its own name, where the text has a variable for it.
* A query makes `MOST_CALLS` calls at most, one after another, each within the limits of `api.callers.outbound`;
  together they have as long as a query of the caller has, and their answers `LARGEST` bytes.

Example
-------
::

    asked = await federated(service.outbound, asked, found)
    # SELECT * { ?s ?p ?o { VALUES (?s ?v) { (<urn:a> 1) } } }
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Final, TypeVar

from api.callers.outbound import FetchFailed
from bridge.replicas.answers import too_long
from bridge.sparql.federation import MEDIA_TYPES, NOTHING, Answered, calls_of, read_answer, replaced, together
from bridge.sparql.scan import scan
from bridge.sparql.tokens import each_token
from kernel.errors import InvalidDocument, InvalidTerm, QueryRefused
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from api.callers.outbound import Outbound
    from bridge.reading.reader import QueryRequest
    from bridge.replicas.limits import Limits
    from bridge.sparql.federation import Call

T = TypeVar("T")

LONGEST: Final = 65_536
"""Characters of a text that calls others."""

MOST_CALLS: Final = 16
LARGEST: Final = 4 * 2**20

_ACCEPT: Final = ", ".join(f"{each};q={1 - number / 10:g}" for number, each in enumerate(MEDIA_TYPES))


def calls_others(text: str) -> bool:
    """Whether a query or update may call SERVICE. Raises `QueryRefused` for a long one that does, or has no tokens."""
    if "service" not in text.lower():
        return False
    if len(text) <= LONGEST:
        return scan(text).service
    if any(token.keyword == "SERVICE" for token in each_token(text)):
        raise QueryRefused(
            f"it may call SERVICE, and has more than {LONGEST:,} characters", remedy="send what calls SERVICE by itself"
        )
    return False


async def in_time(limits: Limits, work: Awaitable[T]) -> T:
    """Does what the calls of a query take, within its limit of time. Raises `QueryLimit`."""
    try:
        async with asyncio.timeout(None if limits.seconds == inf else limits.seconds):
            return await work
    except TimeoutError:
        raise too_long(limits) from None


async def federated(outbound: Outbound, asked: QueryRequest, found: Callable[[str], Awaitable[bytes]]) -> QueryRequest:
    """The query with the answers of other endpoints in the place of its calls.

    Args:
        outbound: asks them.
        asked: the query.
        found: answers a query of this base, for the same caller and moment, in the JSON format.

    Raises:
        QueryRefused: a call that cannot be made from here.
        NotListed: an endpoint that may not be asked.
        FetchFailed: one that does not answer, and is not silent.
    """
    calling = _Calling(outbound, asked.text)
    for call in calls_of(asked.text):
        names = await _bound(call, calling, found) if isinstance(call.endpoint, str) else [call.endpoint]
        await calling.make(call, names)
    return replace(asked, text=calling.text)


async def federated_text(outbound: Outbound, text: str) -> str:
    """The same of an update, whose endpoints are named by their IRIs. Raises as `federated` does."""
    calling = _Calling(outbound, text)
    for call in calls_of(text):
        if isinstance(call.endpoint, str):
            raise QueryRefused(
                f"an update calls an endpoint that ?{call.endpoint} stands for", remedy="name it by its IRI"
            )
        await calling.make(call, [call.endpoint])
    return calling.text


class _Calling:
    """The calls of one text."""

    def __init__(self, outbound: Outbound, text: str) -> None:
        self._outbound = outbound
        self._text = text
        self._answers: list[tuple[Call, Answered]] = []
        self._left = MOST_CALLS
        self._room = LARGEST

    @property
    def text(self) -> str:
        """With the answers that there are so far."""
        return replaced(self._text, self._answers)

    def before(self, call: Call) -> str:
        """What stands before a call in its group, with the answers that there are."""
        start, end = call.before
        earlier = [each for each in self._answers if each[0].end <= start]
        return replaced(self._text[:end], self._answers)[len(replaced(self._text[:start], earlier)) :]

    async def make(self, call: Call, endpoints: list[Iri]) -> None:
        """Asks endpoints in turn."""
        for endpoint in endpoints:
            self._outbound.require_listed(endpoint.value)
        answers = [await self._asked(call, endpoint) for endpoint in endpoints]
        named = isinstance(call.endpoint, str)
        self._answers.append((call, together(answers) if named else answers[0]))

    async def _asked(self, call: Call, endpoint: Iri) -> Answered:
        named = {call.endpoint: endpoint} if isinstance(call.endpoint, str) else {}
        self._left -= 1
        if self._left < 0:
            raise QueryRefused(f"more than {MOST_CALLS} endpoints are called", remedy="call fewer in one query")
        try:
            fetched = await self._outbound.fetch(endpoint.value, _ACCEPT, {"query": call.query})
            self._room -= len(fetched.body)
            if self._room < 0:
                raise InvalidDocument(f"answers come to more than {LARGEST:,} bytes", remedy="ask for less")
            return read_answer(fetched.body, fetched.media_type, named)
        except (FetchFailed, InvalidDocument) as error:
            if call.silent:
                return Answered(tuple(named), (tuple(each.n3 for each in named.values()),)) if named else NOTHING
            raise FetchFailed(
                f"{endpoint.value[:200]}: {error.message}", remedy="look there; or write SERVICE SILENT"
            ) from error


async def _bound(call: Call, calling: _Calling, found: Callable[[str], Awaitable[bytes]]) -> list[Iri]:
    """The endpoints that the variable of a call stands for."""
    body = await found(f"{call.prologue}SELECT DISTINCT ?{call.endpoint} {calling.before(call)} }}")
    answered = read_answer(body, "application/json", {})
    names = [name for row in answered.rows for name in row]
    try:
        return [Iri((name or "").removeprefix("<").removesuffix(">")) for name in names]
    except InvalidTerm as error:
        raise QueryRefused(
            f"?{call.endpoint} does not stand for endpoints alone", remedy="bind it to IRIs, before the SERVICE"
        ) from error
