"""A job of the sequencer: what it does in its turn, and what becomes of it.

Rules
-----
* A caller's error that was met before anything was written is the job's answer. Whatever else fails may have left
  something in the transaction: its group is planned again without it.
* A job that would hold up the others may step back (`kernel.writing.stepping_back`), as long as it does not insist.
* What is to follow a write is done with its answer, which is durable by then, whatever becomes of that.

Example
-------
::

    answers = [(job, job.take(group, insists=False)) for job in jobs]
    give(answers)
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from kernel.errors import CallerError, LedgerUnavailable
from kernel.writing.stepping_back import StepBack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future
    from contextlib import AbstractContextManager
    from threading import Event

    from kernel.writing.group import Group

T = TypeVar("T")

log = logging.getLogger("muniment.sequencer")


class Discarded(Exception):
    """A job may have left something in the transaction: the group is given up, and planned again without the job."""


@dataclass(slots=True)
class Job(Generic[T]):
    """A job.

    Args:
        stepped: what it stepped back for in its last turn; None: it did not.
        last: what it stepped back for last.
        steps: how often it did.
        turned: set once its turn is over, for whoever prepares it.
    """

    run: Callable[[Group], T]
    future: Future[T]
    alone: bool
    then: Callable[[T], None] | None
    stepped: StepBack | None = None
    last: StepBack | None = None
    steps: int = 0
    turned: Event | None = None

    def take(self, group: Group, *, insists: bool) -> object:
        """Its turn: its answer, its caller's error, or that it steps back.

        Raises:
            Discarded: it failed otherwise, or has written something that is not to stay.
            LedgerUnavailable: the ledger cannot be read or written.
        """
        written = group.tx.changes()
        try:
            if not insists:
                return self.run(group)
            with self._insisting():
                return self.run(group)
        except LedgerUnavailable:
            raise
        except StepBack as step:
            self.stepped, self.last = step, step
            if group.tx.changes() != written:
                raise Discarded from step
            return self._again(group) if insists else step
        except BaseException as error:
            if isinstance(error, CallerError):
                if group.tx.changes() == written:
                    return error
            else:
                log.exception("a write failed; its group is planned again without it")
            self.future.set_exception(error)
            raise Discarded from error

    def _again(self, group: Group) -> object:
        """The same turn once more: by now it is known how to insist."""
        self.stepped = None
        return self.take(group, insists=True)

    def _insisting(self) -> AbstractContextManager[None]:
        return nullcontext() if self.last is None else self.last.insisting()


def give(answers: Iterable[tuple[Job[object], object]]) -> None:
    """Gives the answers, each of which may be its caller's error."""
    for job, answer in answers:
        if isinstance(answer, CallerError):
            job.future.set_exception(answer)
        elif not isinstance(answer, StepBack):
            if job.then is not None:
                _follow(job.then, answer)
            job.future.set_result(answer)


def _follow(then: Callable[[object], None], answer: object) -> None:
    """What fails here is no failure of the write, which is durable."""
    try:
        then(answer)
    except Exception:
        log.exception("what was to follow a write has failed")


def fail(jobs: Iterable[Job[object]], error: BaseException) -> None:
    """Gives those an error that have nothing yet."""
    for job in jobs:
        if not job.future.done():
            job.future.set_exception(error)
