"""Queries of callers: asked of the workers, watched for clients that go, and sent on.

Rules
-----
* What somebody asks runs in a worker, within the limits of the caller's role (`bridge.replicas`), whatever path it came
  by, unless it is known to be short (`bridge.reading.brief`). What is settled before that takes no longer than its text
  is long; a long one is settled in a thread.
* What it calls of other endpoints is asked of them before that, if they are listed (`api.routes.federation`).
* A client that hangs up has its query ended, once that has run for `WATCHED` seconds: the others end by themselves.
* `Muniment-Min-Head` names a head that the answer must not be older than. All that was acknowledged is read anyway.
* A small answer is sent in one piece. A large one is sent as it comes; should it fail on the way, the connection breaks
  with the answer unfinished, so that no client takes it for whole.
* Workers do not wait for clients. A client that takes nothing for `PATIENCE` seconds is given up.

Example
-------
::

    answer = await ask(request, caller, QueryRequest(caller, "ASK {}"), None, None)
    return sent(answer, {"Content-Type": answer.media_type})
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from starlette.responses import Response

from api.callers.access_log import note_query
from api.callers.welcome import require_welcome
from api.errors import BrokenOff
from api.http.streaming import PATIENCE
from api.routes.federation import calls_others, federated, in_time
from api.service import Service
from bridge.sparql.results import RESULT_SETS
from kernel.errors import InvalidParameter, MunimentError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping
    from typing import Any

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from bridge.reading.reader import QueryRequest, Question
    from bridge.replicas.answers import Answer
    from kernel.access import Principal

T = TypeVar("T")

MIN_HEAD: Final = "Muniment-Min-Head"
MIN_HEAD_HEADER: Final[dict[str, tuple[str, dict[str, object]]]] = {
    MIN_HEAD: (
        "the answer is to be of this head or a later one: a `Muniment-Head` of this base",
        {"type": "string", "pattern": "^([0-9]{1,18}|none)$"},
    ),
}

WATCHED: Final = 0.1
"""Seconds after which it is looked whether a query's client is still there."""

BRIEF: Final = 16_384
"""Characters of a query that is settled at once; a longer one, of which nothing is remembered, in a thread."""

UNTIL_REACHED: Final = 5.0
"""Seconds that a head is waited for."""

_HEAD: Final = re.compile(r"[0-9]{1,18}", re.ASCII)

log = logging.getLogger("muniment.http")


async def ask(
    request: Request,
    caller: Principal,
    asked: QueryRequest,
    as_of: str | None,
    valid_at: str | None,
    *,
    rows: int | None = None,
) -> Answer:
    """The answer to a query of a caller, at a moment: `settled` and `answered` in one."""
    return await answered(request, caller, await settled(request, asked, as_of, valid_at), rows=rows)


async def settled(request: Request, asked: QueryRequest, as_of: str | None, valid_at: str | None) -> Question:
    """A query, once a head that its request insists on is reached. Raises as `Reader.question` does, and `NotReached`.

    Args:
        request: which may name a head.
        asked: what.
        as_of: as known when, as it was written.
        valid_at: as true when, as it was written.
    """
    service = Service.of(request)
    await reach(request)
    reader = service.base.reader
    if service.outbound.asks and await service.read(partial(calls_others, asked.text)):
        found = partial(_found, service, asked, as_of, valid_at)
        limits = service.settings.limits_of(asked.principal.highest)
        asked = await unless_gone(request, in_time(limits, federated(service.outbound, asked, found)))
    if as_of is None and valid_at is None and len(asked.text) <= BRIEF:
        question = reader.question(asked)
    else:
        question = await service.read(lambda: reader.question(asked, reader.moment(as_of, valid_at)))
    note_query(request.scope, question.text, question.dataset)
    return question


async def _found(service: Service, asked: QueryRequest, as_of: str | None, valid_at: str | None, text: str) -> bytes:
    """What another query finds, for the same caller and moment, in JSON."""
    reader, caller = service.base.reader, asked.principal
    other = replace(asked, text=text, accept=RESULT_SETS[0].media_type, restore=False)
    question = await service.read(lambda: reader.question(other, reader.moment(as_of, valid_at)))
    answer = await service.replicas.answer(question, service.settings.limits_of(caller.highest), caller.id)
    return await answer.read()


async def answered(request: Request, caller: Principal, question: Question, *, rows: int | None = None) -> Answer:
    """The answer to a question. Raises as `ReplicaPool.answer` does.

    Args:
        request: whose client is watched.
        caller: for whom.
        question: what.
        rows: so many, as a sample; None for the answer as it is.
    """
    service = Service.of(request)
    limits = service.limits[caller.highest]
    at_once = service.replicas.at_once(question, limits) if rows is None else None
    if at_once is not None:
        return at_once
    return await unless_gone(request, service.replicas.answer(question, limits, caller.id, rows))


def sent(answer: Answer, headers: Mapping[str, str]) -> Response:
    """The response for an answer: in one piece, or as it comes."""
    return Response(answer.first, 200, headers) if answer.whole else _Coming(answer, headers)


async def reach(request: Request) -> None:
    """Waits for a head that a request insists on. Raises `NotReached`, and `InvalidParameter` for one that is none."""
    wanted = request.headers.get(MIN_HEAD)
    if wanted is None or wanted == "none":
        return
    if not _HEAD.fullmatch(wanted):
        raise InvalidParameter(
            f"{wanted[:40]!r} is no head", remedy="give the number that a Muniment-Head says", where=MIN_HEAD
        )
    await Service.of(request).replicas.reach(int(wanted), UNTIL_REACHED)


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Does the work, unless the client hangs up first. Raises `BrokenOff`."""
    watch = _Watch(request.receive)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.gone and (task := asyncio.current_task()) is not None and task.uncancel() == 0:
            raise BrokenOff("the client hung up", remedy="send the request again") from None
        raise
    finally:
        watch.end()


class _Watch:
    """Cancels the task that it is made in when the client hangs up."""

    def __init__(self, receive: Receive) -> None:
        self.gone = False
        self._receive = receive
        self._task = asyncio.current_task()
        self._watching: asyncio.Task[None] | None = None
        # Most are answered before this: they cost a timer, and no task.
        self._timer = asyncio.get_running_loop().call_later(WATCHED, self._begin)

    def end(self) -> None:
        """Watches no more."""
        self._timer.cancel()
        if self._watching is not None:
            self._watching.cancel()

    def _begin(self) -> None:
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if self._task is not None:
            self.gone = True
            self._task.cancel()


class _Coming(Response):
    """An answer that is still being made."""

    def __init__(self, answer: Answer, headers: Mapping[str, str]) -> None:
        length = {} if answer.length is None else {"Content-Length": str(answer.length)}
        self.status_code = 200
        self.background = None
        self.init_headers({**headers, **length})
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it; what cannot be sent to its end is left unfinished, which closes the connection."""
        watch = _Watch(receive)
        try:
            await self._send(scope, send)
        except TimeoutError:
            log.warning("an answer was given up: its client takes nothing")
        except MunimentError as error:
            log.warning("an answer was broken off: %s", error)
        except asyncio.CancelledError:
            if not watch.gone or (task := asyncio.current_task()) is None or task.uncancel() > 0:
                raise
        finally:
            watch.end()
            self._answer.close()

    async def _send(self, scope: Scope, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            async for chunk in self._answer.chunks():
                require_welcome(scope)
                async with asyncio.timeout(PATIENCE):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
