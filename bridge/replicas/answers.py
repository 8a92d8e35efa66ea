"""What a worker is asked, and what becomes of its answer.

Rules
-----
* A worker knows no caller and no rule: it is told the text to run, the graphs to run it on, the format, and the limits.
* What it says went wrong is told as the query in process would tell it. What it does not say any more, because it was
  killed or ran out of memory, is told from the way in which it ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bridge.replicas.process import FailedFrameError, WorkerEndedError
from bridge.replicas.rows import decode_sample
from bridge.sparql.complaints import complaint, unevaluated
from bridge.sparql.results import FORMATS
from kernel.errors import NotAcceptable, QueryLimit, QueryRefused, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from bridge.reading.reader import Question
    from bridge.replicas.limits import Limits
    from bridge.replicas.spool import Spool
    from bridge.sparql.sample import Sample
    from kernel.errors import MunimentError
    from kernel.time.instants import Instant

_PLACES: Final = {form: place for place, form in enumerate(FORMATS)}
_REFUSALS: Final = {kind.code: kind for kind in (NotAcceptable, QueryRefused)}
_MEGABYTE: Final = 2**20


@dataclass(frozen=True, eq=False, slots=True)
class Coming:
    """What is still to come of an answer: the rest of it, what its failures are told as, and how it is given up."""

    rest: Spool
    told: Callable[[Exception], MunimentError]
    abandon: Callable[[], None]


@dataclass(frozen=True, eq=False, slots=True)
class Answer:
    """An answer and the state it was given for.

    Args:
        media_type: its Content-Type.
        head: the head it is of.
        valid_at: the valid time it is of.
        whole: whether `first` is all of it.
        first: how it begins.
        length: of all of it, in bytes; None where it is still being made.
    """

    media_type: str
    head: int | None
    valid_at: Instant
    whole: bool
    first: bytes
    length: int | None
    _coming: Coming | None = None

    async def chunks(self) -> AsyncIterator[bytes]:
        """All of it. Raises what `ReplicaPool.answer` raises where it fails on the way."""
        yield self.first
        if self._coming is not None and not self.whole:
            try:
                async for chunk in self._coming.rest:
                    yield chunk
            except (FailedFrameError, WorkerEndedError) as error:
                raise self._coming.told(error) from None

    async def read(self) -> bytes:
        """All of it in one piece."""
        if self.whole:
            return self.first
        try:
            return b"".join([chunk async for chunk in self.chunks()])
        finally:
            self.close()

    def sample(self) -> Sample:
        """The rows, where rows were asked for."""
        return decode_sample(self.first)

    def close(self) -> None:
        """Lets go of what is left of it; a query that is not done by then is ended. It may be called again."""
        if self._coming is not None:
            self._coming.rest.close()
            self._coming.abandon()


def asked_for(question: Question, store: str | None, limits: Limits, rows: int | None) -> Mapping[str, Any]:
    """What a worker is asked, of a store, or None: of what comes with it; where `rows` is given, for so many rows."""
    dataset = question.dataset
    default = () if dataset.union else dataset.default_graphs
    return {
        "store": store,
        "text": question.runnable,
        "union": dataset.union,
        "default": [graph.value for graph in default],
        "named": [graph.value for graph in dataset.named_graphs],
        "format": _PLACES[question.form],
        "base": question.base,
        "restore": question.restore,
        "rows": rows,
        "laid": None if question.laid is None else [question.laid.removed, question.laid.added],
        "memory": limits.memory,
        "result": limits.result,
    }


def failure(error: Exception, text: str, limits: Limits, *, late: bool) -> MunimentError:
    """What is wrong, for whoever asked.

    Args:
        error: a `FailedFrameError` or `WorkerEndedError`.
        text: the query.
        limits: what it was allowed.
        late: whether the worker was killed because it had taken too long.
    """
    if late:
        return too_long(limits)
    if isinstance(error, FailedFrameError):
        return _failed(error.head, text, limits)
    if isinstance(error, WorkerEndedError) and error.out_of_memory:
        return _out_of_memory(limits)
    return StoreUnavailable(f"a query was lost: {error}", remedy="ask again; if it stays so, look at the log")


def too_long(limits: Limits) -> QueryLimit:
    """The error for a query that took too long."""
    return _limit("time", f"{limits.seconds:g} s", limits.seconds)


def _failed(head: Mapping[str, Any], text: str, limits: Limits) -> MunimentError:
    message = head["message"]
    match head["what"]:
        case "memory":
            return _out_of_memory(limits)
        case "size":
            return _limit("size of its answer", _megabytes(limits.result), limits.result)
        case "syntax":
            return complaint(text, SyntaxError(message))
        case "evaluation":
            return unevaluated(message)
        case "refused":
            kind = _REFUSALS.get(head["code"], QueryRefused)
            return kind(message, remedy=head["remedy"], where=head["where"])
        case _:
            return StoreUnavailable(f"a replica failed: {message}", remedy="ask again; if it stays so, see the log")


def _out_of_memory(limits: Limits) -> QueryLimit:
    return _limit("memory", _megabytes(limits.memory), limits.memory)


def _limit(what: str, allowed: str, limit: float) -> QueryLimit:
    return QueryLimit(
        f"the query was ended: its limit of {what} is {allowed}",
        remedy="ask for less: give LIMIT, more selective patterns, or parts one after another; or ask whoever runs the "
        "service for a higher limit",
        limit=limit,
        of=what.partition(" ")[0],
    )


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:g} MB"
