"""A lease: one worker for one caller, who asks it queries one after another, all within one time limit.

Rules
-----
* The worker is first brought to stand where the question is to be answered. A question about a moment brings the facts
  along that it takes, where those are few (`bridge.slices`); other moments in the past are snapshots
  (`bridge.snapshots`), of which a worker keeps copies of its last few. What has to be made for it has as long as the
  query itself.
* A query that takes too long has its worker killed, and so has one whose answer nobody wants any more, after a moment.
* A lease ends once; the worker is then spent if it was left amid something, or has grown.

Example
-------
::

    async with pool.lease("writer-3", Limits(10)) as lease:
        first = await lease.answer(question)
        second = await lease.answer(another, rows=100)
"""

from __future__ import annotations

import asyncio
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

from bridge.replicas.answers import Answer, Coming, asked_for, failure, too_long
from bridge.replicas.process import FailedFrameError, WorkerEndedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge.reading.reader import Question
    from bridge.replicas.limits import Limits
    from bridge.replicas.process import Answering
    from bridge.replicas.replica import Replica
    from bridge.snapshots.cache import Snapshots
    from kernel.errors import MunimentError
    from kernel.time.instants import Instant

GRACE: Final = 0.2
"""Seconds that a query has to end in by itself once nobody wants its answer: most would, and a worker costs as much."""


class Lease:
    """A worker that is one caller's until the lease ends; made by a pool.

    Args:
        replica: the worker, which does nothing else meanwhile.
        snapshots: of the past.
        limits: what queries may take: in time all of them together, from the first on, else each.
        ended: told once the lease has ended, and whether the worker is spent.
    """

    def __init__(self, replica: Replica, snapshots: Snapshots, limits: Limits, ended: Callable[[bool], None]) -> None:
        self.limits = limits
        self._replica = replica
        self._snapshots = snapshots
        self._told = ended
        self._until: float | None = None
        self._spent = self._asking = self._ended = False

    @property
    def left(self) -> float:
        """Seconds that are left, which begin to run when this is first looked at. Raises `QueryLimit` at none."""
        if self.limits.seconds == inf:
            return inf
        if self._until is None:
            self._until = monotonic() + self.limits.seconds
        left = self._until - monotonic()
        if left <= 0:
            raise too_long(self.limits)
        return left

    async def answer(self, question: Question, rows: int | None = None, *, last: bool = False) -> Answer:
        """As `ReplicaPool.answer`, one query after another; the lease ends with the last of them."""
        limits = self.limits
        self._asking = True
        try:
            left = self.left
            store, head, valid_at = await self._prepared(question, left)
        except BaseException:
            # What it was doing is done by half.
            self.end()
            raise
        coming = self._replica.process.query(asked_for(question, store, limits, rows), question.sliced or b"")
        running = _Running(self._replica, coming, lambda: self._over(coming, last=last))
        running.limit(left)

        def told(error: Exception) -> MunimentError:
            return failure(error, question.text, limits, late=running.late)

        try:
            whole = await coming.begun
        except (FailedFrameError, WorkerEndedError) as error:
            raise told(error) from None
        except asyncio.CancelledError:
            coming.rest.close()
            running.abandon()
            raise
        rest = Coming(coming.rest, told, running.abandon)
        return Answer(question.form.media_type, head, valid_at, whole, coming.body, coming.length, rest)

    def end(self) -> None:
        """Gives the worker back; one that is still doing something is ended. It may be called again."""
        if not self._ended:
            self._ended = True
            self._told(self._spent or self._asking)

    async def _prepared(self, question: Question, left: float) -> tuple[str | None, int | None, Instant]:
        """Has the worker stand where the question is to be answered: in which store, at which head and valid time.

        No store: what the question brings along is enough. What has to be made has the seconds left.
        """
        if question.past is not None and question.sliced is not None:
            return None, question.past.head, question.past.valid_at
        state = self._replica.bring_up(question.projection) if question.past is None else None
        if state is not None:
            return question.projection, state.head, state.clock
        try:
            async with asyncio.timeout(None if left == inf else left):
                return await self._made(question)
        except TimeoutError:
            raise too_long(self.limits) from None
        except WorkerEndedError as error:
            raise failure(error, question.text, self.limits, late=False) from None

    async def _made(self, question: Question) -> tuple[str, int | None, Instant]:
        projection, past = question.projection, question.past
        if past is None:
            state = None
            while state is None:
                await self._replica.open(projection)
                state = self._replica.bring_up(projection)
            return projection, state.head, state.clock
        key = snapshot_key(question, self._snapshots)
        store = self._replica.snapshot(key)
        if store is None:
            store = await self._replica.add_snapshot(key, self._snapshots.seeding(question.wanted))
        return store, past.head, past.valid_at

    def _over(self, coming: Answering, *, last: bool) -> None:
        self._asking = False
        self._spent = self._spent or coming.spent
        if last:
            self.end()


class _Running:
    """A query that a worker is at: it has a time limit, and may be abandoned; somebody is told of its end."""

    def __init__(self, replica: Replica, coming: Answering, over: Callable[[], None]) -> None:
        self.late = False
        self._replica = replica
        self._coming = coming
        self._timer: asyncio.TimerHandle | None = None
        self._told = over
        coming.over.add_done_callback(lambda _: self._done())

    def limit(self, seconds: float) -> None:
        """Kills the worker after so many seconds."""
        if seconds != inf:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._exceeded)

    def abandon(self) -> None:
        """Kills the worker soon, unless the query ends by itself."""
        if not self._coming.over.done():
            asyncio.get_running_loop().call_later(GRACE, self._kill)

    def _exceeded(self) -> None:
        self.late = not self._coming.over.done()
        self._kill()

    def _kill(self) -> None:
        if not self._coming.over.done():
            self._replica.process.kill()

    def _done(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._told()


def snapshot_key(question: Question, snapshots: Snapshots) -> object:
    """What the snapshot of a question is known by, which between two heads is the same; None where it takes none."""
    if question.past is None or question.sliced is not None:
        return None
    return question.wanted, snapshots.purged_at
