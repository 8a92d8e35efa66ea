"""The pool: workers that answer queries, each within its limits, none at the cost of another.

Rules
-----
* A worker answers one query at a time. One that takes too long, or too much memory, is killed, and so is one whose
  client has gone; the others never notice, and another takes its place.
* Workers are started as they are needed, up to `workers`, and one beyond: a spare that is warm when one is lost. Those
  that have nothing to do go, but for one; what a query leaves behind in a worker's memory goes with it.
* What waits for a worker is bounded, in number and in time: `Busy`. Whose callers have the fewest queries running goes
  first.
* Before a query, a worker takes whatever was published up to then (`bridge.stores.feed`): who has the answer to a write
  reads it, and an answer's state is that of the store it came from. A worker that lags too far behind gets new stores.
* A question about a moment brings the facts along that it takes, where those are few (`bridge.slices`).
* Other moments in the past are snapshots (`bridge.snapshots`), each made once; a worker keeps copies of its last few.
* Who asks several queries one after another, as an update does, has a lease: one worker, and one time limit for all.

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
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

from bridge.replicas.answers import Answer, asked_for, failure, too_long
from bridge.replicas.limits import STANDARD, PoolSize
from bridge.replicas.process import FailedFrameError, WorkerEndedError
from bridge.replicas.replica import Replica
from kernel.errors import Busy, MunimentError, NotReached, ShuttingDown, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from bridge.reading import Question
    from bridge.replicas.limits import Limits
    from bridge.replicas.process import Answering
    from bridge.snapshots.cache import Snapshots
    from bridge.stores.pair import OxigraphStores
    from kernel.instants import Instant

TICK: Final = 0.25
"""Seconds between looks at workers that have nothing to do: those take what was published, so that no query has to."""

IDLE: Final = 30.0
"""Seconds after which a worker goes that nobody needed."""

GRACE: Final = 0.2
"""Seconds that a query has to end in by itself once nobody wants its answer: most would, and a worker costs as much."""

PAUSE: Final = 1.0
"""Seconds after which a worker is started again when that failed."""

log = logging.getLogger("muniment.queries")


@dataclass(frozen=True, slots=True)
class PoolLoad:
    """How many workers there are, how many of them answer something, and how many queries wait."""

    workers: int
    busy: int
    waiting: int


@dataclass(eq=False, slots=True)
class _Waiting:
    """A query that waits for a worker."""

    caller: str
    place: asyncio.Future[Replica]


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
        self._waiting: list[_Waiting] = []
        self._running: Counter[str] = Counter()
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
        return Lease(self, replica, caller, limits)

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
        for waiting in self._waiting:
            if not waiting.place.done():
                waiting.place.set_exception(_closing())
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for replica in tuple(self._all):
            self._drop(replica)
        await asyncio.gather(*self._endings)

    # --- one query ----------------------------------------------------------------------------------------------------

    async def prepared(
        self, replica: Replica, question: Question, limits: Limits, left: float
    ) -> tuple[str | None, int | None, Instant]:
        """Has the worker stand where the question is to be answered: in which store, at which head and valid time.

        No store: what the question brings along is enough. What has to be made for it has as long as the query itself,
        the seconds left.
        """
        if question.past is not None and question.sliced is not None:
            return None, question.past.head, question.past.valid_at
        state = replica.bring_up(question.projection) if question.past is None else None
        if state is not None:
            return question.projection, state.head, state.clock
        try:
            async with asyncio.timeout(None if left == inf else left):
                return await self._made(replica, question)
        except TimeoutError:
            raise too_long(limits) from None
        except WorkerEndedError as error:
            raise failure(error, question.text, limits, late=False) from None

    async def _made(self, replica: Replica, question: Question) -> tuple[str, int | None, Instant]:
        projection, past = question.projection, question.past
        if past is None:
            state = None
            while state is None:
                await replica.open(projection)
                state = replica.bring_up(projection)
            return projection, state.head, state.clock
        key = self._key(question)
        store = replica.snapshot(key)
        if store is None:
            store = await replica.add_snapshot(key, self._snapshots.seeding(question.wanted))
        return store, past.head, past.valid_at

    def _key(self, question: Question) -> object:
        """What snapshots are known by; between two heads every as-of is the same."""
        if question.past is None or question.sliced is not None:
            return None
        return question.wanted, self._snapshots.purged_at

    # --- which worker -------------------------------------------------------------------------------------------------

    async def _taken(self, question: Question | None, caller: str) -> Replica:
        """A worker that has nothing to do, for this query alone."""
        if self._closed:
            raise _closing()
        if self._stores.feed.failed:
            raise StoreUnavailable("the stores are not brought up to the ledger", remedy="try again shortly")
        if self._idle:
            return self._preferred(question)
        if len(self._waiting) >= self._size.queue:
            raise _busy("too many queries are waiting")
        waiting = _Waiting(caller, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._grow()
        try:
            await asyncio.wait((waiting.place,), timeout=self._size.patience)
        except asyncio.CancelledError:
            if waiting.place.done() and waiting.place.exception() is None:
                self._offer(waiting.place.result())
            raise
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
        if not waiting.place.done():
            raise _busy(f"no worker was free within {self._size.patience:g} s")
        return waiting.place.result()

    def _preferred(self, question: Question | None) -> Replica:
        """One that has the snapshot, if there is one; else the one that was used last, whose memory is warm."""
        key = None if question is None else self._key(question)
        for replica in self._idle if key is not None else ():
            if replica.snapshot(key) is not None:
                self._idle.remove(replica)
                return replica
        return self._idle.pop()

    def _offer(self, replica: Replica) -> None:
        """Gives a worker to whoever waits, or lets it wait."""
        if replica.process.gone or self._closed:
            self._drop(replica)
        elif self._waiting:
            chosen = min(self._waiting, key=lambda each: self._running[each.caller])  # the first of equals
            self._waiting.remove(chosen)
            chosen.place.set_result(replica)
        else:
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
                self._disappoint(error)
            return
        except BaseException:
            self._starting -= 1
            raise
        self._starting -= 1
        self._all.add(replica)
        self._offer(replica)
        replica.process.ended.add_done_callback(lambda _: self._drop(replica))
        self._grow()

    def _disappoint(self, error: Exception) -> None:
        """Tells those who wait that nobody will come."""
        for waiting in self._waiting:
            if not waiting.place.done():
                lost = StoreUnavailable(f"no worker can be started: {error}", remedy="look at the log")
                waiting.place.set_exception(error if isinstance(error, MunimentError) else lost)
        self._waiting.clear()

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

    def let_go(self, replica: Replica, caller: str, *, spent: bool) -> None:
        """Called once a worker is done with a query."""
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


class Lease:
    """A worker that is one caller's until the lease ends; made by a pool.

    Args:
        pool: whose it is.
        replica: the worker, which does nothing else meanwhile.
        caller: for whom.
        limits: what queries may take: in time all of them together, from the first on, else each.
    """

    def __init__(self, pool: ReplicaPool, replica: Replica, caller: str, limits: Limits) -> None:
        self.limits = limits
        self._pool = pool
        self._replica = replica
        self._caller = caller
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
            store, head, valid_at = await self._pool.prepared(self._replica, question, limits, left)
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
        return Answer(
            question.form.media_type, head, valid_at, whole, coming.body, coming.length, coming, told, running.abandon
        )

    def end(self) -> None:
        """Gives the worker back; one that is still doing something is ended. It may be called again."""
        if not self._ended:
            self._ended = True
            self._pool.let_go(self._replica, self._caller, spent=self._spent or self._asking)

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


def _busy(what: str) -> Busy:
    return Busy(what, remedy="ask again after the seconds that Retry-After says")


def _closing() -> ShuttingDown:
    return ShuttingDown("the service is closing", remedy="ask again once it is served")
