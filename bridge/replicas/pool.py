"""The pool: workers that answer queries, each within its limits, none at the cost of another.

Rules
-----
* A worker answers one query at a time. One that takes too long, or too much memory, is killed, and so is one whose
  client has gone; the others never notice, and another takes its place.
* Workers are started as they are needed, up to `workers`, and one beyond: a spare that is warm when one is lost. Those
  that have nothing to do go, but for one; what a query leaves behind in a worker's memory goes with it.
* What waits for a worker is bounded, in number and in time, and fair to callers: `bridge.replicas.waiting`.
* Before a query, a worker takes whatever was published up to then (`bridge.stores.feed`): who has the answer to a write
  reads it, and an answer's state is that of the store it came from. A worker that lags too far behind gets new stores.
* What is known to be short is answered here at once, without a worker (`bridge.reading.brief`).
* How one worker is asked, and what becomes of its answer: `bridge.replicas.lease`.

Example
-------
::

    pool = ReplicaPool(base.stores, base.snapshots)
    answer = await pool.answer(reader.question(request), Limits(), caller="reader-7")
    async for chunk in answer.chunks(): ...
    await pool.close()
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from bridge.reading import brief
from bridge.replicas.answers import Answer
from bridge.replicas.lease import Lease, snapshot_key
from bridge.replicas.limits import STANDARD, PoolSize
from bridge.replicas.process import WorkerEndedError
from bridge.replicas.replica import Replica
from bridge.replicas.waiting import Queue
from kernel.errors import MunimentError, NotReached, ShuttingDown, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from bridge.reading.reader import Question
    from bridge.replicas.limits import Limits
    from bridge.snapshots.cache import Snapshots
    from bridge.stores.pair import OxigraphStores

TICK: Final = 0.25
"""Seconds between looks at workers that have nothing to do: those take what was published, so that no query has to."""

IDLE: Final = 30.0
"""Seconds after which a worker goes that nobody needed."""

PAUSE: Final = 1.0
"""Seconds after which a worker is started again when that failed."""

log = logging.getLogger("muniment.queries")


@dataclass(frozen=True, slots=True)
class PoolLoad:
    """How many workers there are, how many of them answer something, and how many queries wait."""

    workers: int
    busy: int
    waiting: int


class ReplicaPool:
    """The workers of one base, for one event loop; the first query, or `start`, starts the first of them.

    Args:
        stores: what workers have replicas of.
        snapshots: of the past, and from when on it was purged.
        size: how many.
    """

    def __init__(self, stores: OxigraphStores, snapshots: Snapshots, size: PoolSize = STANDARD) -> None:
        self._stores = stores
        self._snapshots = snapshots
        self._size = size
        self._idle: deque[Replica] = deque()
        self._all: set[Replica] = set()
        self._starting = 0
        self._running: Counter[str] = Counter()
        self._waiting = Queue(size, self._running)
        self._tasks: set[asyncio.Task[None]] = set()
        self._endings: set[asyncio.Task[None]] = set()
        self._not_before = 0.0
        self._ticking = False
        self._closed = False

    @property
    def load(self) -> PoolLoad:
        """How much is going on."""
        return PoolLoad(len(self._all), self._running.total(), len(self._waiting))

    def start(self) -> None:
        """Starts the first worker, so that the first query does not wait for it."""
        if not self._ticking:
            self._ticking = True
            self._spawn(self._tick())
        self._grow()

    async def answer(self, question: Question, limits: Limits, caller: str, rows: int | None = None) -> Answer:
        """Answers a query; what is answered may still be on its way, and is to be read to its end or closed.

        Args:
            question: what is asked.
            limits: what it may take.
            caller: for whom; so that nobody waits for another's many queries.
            rows: how many are asked for, as a `sample`; None for the answer as it is.

        Raises:
            QueryRefused: the query cannot be parsed or evaluated.
            NotAcceptable: the format cannot carry something in the answer.
            QueryLimit: it took more than it may.
            Busy: too many queries are waiting, or it waited too long.
            StoreUnavailable: there is nothing to answer from, or the worker failed.
        """
        lease = await self._leased(caller, limits, question)
        return await lease.answer(question, rows, last=True)

    def at_once(self, question: Question, limits: Limits) -> Answer | None:
        """The answer to what is known to be short; None: `answer` has to be waited for."""
        if self._closed or self._stores.feed.failed:
            return None
        found = brief.answered(self._stores, question, limits.result)
        if found is None:
            return None
        body, state = found
        return Answer(question.form.media_type, state.head, state.clock, True, body, len(body))

    @asynccontextmanager
    async def lease(self, caller: str, limits: Limits) -> AsyncIterator[Lease]:
        """A worker for one caller alone, until that leaves; what it is doing then is ended.

        Args:
            caller: for whom.
            limits: what its queries may take: in time all of them together, else each.

        Raises:
            Busy: too many queries are waiting, or it waited too long.
            StoreUnavailable: there is nothing to answer from.
        """
        lease = await self._leased(caller, limits)
        try:
            yield lease
        finally:
            lease.end()

    async def _leased(self, caller: str, limits: Limits, question: Question | None = None) -> Lease:
        self.start()
        replica = await self._taken(question, caller)
        self._running[caller] += 1
        self._grow()
        return Lease(replica, self._snapshots, limits, lambda spent: self._let_go(replica, caller, spent=spent))

    async def reach(self, head: int, seconds: float) -> None:
        """Returns once the stores stand at a head, or a later one.

        Raises:
            NotReached: they do not after so many seconds.
        """
        until = monotonic() + seconds
        while (reached := self._stores.feed.state.head) is None or reached < head:
            if monotonic() >= until:
                stands = "no head" if reached is None else f"head {reached}"
                raise NotReached(
                    f"head {head} is not reached: the base stands at {stands}",
                    remedy="give a head that an answer of this base named, or ask again later",
                    where="Muniment-Min-Head",
                )
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        """Ends all workers, and whatever they are doing."""
        self._closed = True
        self._waiting.disappoint(_closing())
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for replica in tuple(self._all):
            self._drop(replica)
        await asyncio.gather(*self._endings)

    # --- which worker -------------------------------------------------------------------------------------------------

    async def _taken(self, question: Question | None, caller: str) -> Replica:
        """A worker that has nothing to do, for this query alone."""
        if self._closed:
            raise _closing()
        if self._stores.feed.failed:
            raise StoreUnavailable("the stores are not brought up to the ledger", remedy="try again shortly")
        if self._idle:
            return self._preferred(question)
        return await self._waiting.place(caller, self._grow, self._offer)

    def _preferred(self, question: Question | None) -> Replica:
        """One that has the snapshot, if there is one; else the one that was used last, whose memory is warm."""
        key = None if question is None else snapshot_key(question, self._snapshots)
        for replica in self._idle if key is not None else ():
            if replica.snapshot(key) is not None:
                self._idle.remove(replica)
                return replica
        return self._idle.pop()

    def _offer(self, replica: Replica) -> None:
        """Gives a worker to whoever waits, or lets it wait."""
        if replica.process.gone or self._closed:
            self._drop(replica)
        elif not self._waiting.give(replica):
            replica.idle_since = monotonic()
            self._idle.append(replica)

    # --- how many -----------------------------------------------------------------------------------------------------

    def _grow(self) -> None:
        """Starts a worker where one is missed: for what waits, or as the spare."""
        wanted = min(self._size.workers, self._running.total() + len(self._waiting)) + self._size.spares
        if len(self._all) + self._starting < max(1, wanted) and monotonic() >= self._not_before and not self._closed:
            self._starting += 1
            self._spawn(self._start())

    async def _start(self) -> None:
        try:
            replica = await Replica.start(self._stores, self._snapshots.purged_at)
        except (MunimentError, WorkerEndedError, OSError) as error:
            log.exception("a worker for queries cannot be started; tried again shortly")
            self._not_before = monotonic() + PAUSE
            self._starting -= 1
            if not self._all:
                lost = StoreUnavailable(f"no worker can be started: {error}", remedy="look at the log")
                self._waiting.disappoint(error if isinstance(error, MunimentError) else lost)
            return
        except BaseException:
            self._starting -= 1
            raise
        self._starting -= 1
        self._all.add(replica)
        self._offer(replica)
        replica.process.ended.add_done_callback(lambda _: self._drop(replica))
        self._grow()

    def _drop(self, replica: Replica) -> None:
        """Ends a worker, and starts another if one is missed."""
        if replica in self._all:
            self._all.remove(replica)
            if replica in self._idle:
                self._idle.remove(replica)
            ending = asyncio.get_running_loop().create_task(replica.close())
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)
            self._grow()

    def _let_go(self, replica: Replica, caller: str, *, spent: bool) -> None:
        """Called once a lease of a worker has ended."""
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        if spent:
            self._drop(replica)
        else:
            self._offer(replica)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            for replica in tuple(self._idle):
                self._refresh(replica)
            if len(self._idle) > max(1, self._size.spares) and monotonic() - self._idle[0].idle_since > IDLE:
                self._drop(self._idle[0])
            self._grow()

    def _refresh(self, replica: Replica) -> None:
        """Has an idle worker take what was published; one that lags gets new stores."""
        try:
            if replica.purged_at != self._snapshots.purged_at:
                self._drop(replica)
            elif not replica.bring_all_up():
                self._idle.remove(replica)
                self._spawn(self._renew(replica))
        except StoreUnavailable:
            return  # and whoever asks is told so

    async def _renew(self, replica: Replica) -> None:
        try:
            await replica.open_all()
        except (MunimentError, WorkerEndedError):
            log.exception("a worker for queries cannot be brought up; it is replaced")
            self._drop(replica)
        else:
            self._offer(replica)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _closing() -> ShuttingDown:
    return ShuttingDown("the service is closing", remedy="ask again once it is served")
