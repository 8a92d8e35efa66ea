"""The staging store: a copy of what holds, in a process of its own, which a plan is laid over for a moment.

Rules (BoundToState)
-----
* There is one store for each moment that queries are asked for: now, and instants of valid time. It begins with a copy
  of the current store, or of a snapshot, and is brought up from the ledger: to what is committed, durably; to what is
  accepted and not yet committed, only while something is asked.
* A query is answered on what holds and on that with what the plan changes, over the graphs that are known at each. The
  answers are compared where they are given, as multisets.
* Answers are remembered by the state of their query: by everything that moved a statement which the query minds, one
  after the other. The answer that a plan would lead to is the answer from which the next plan starts.
* A query has the time and memory of `LIMITS`, within what all queries about a plan may take and what it has left itself
  (`bridge.shapes.sparql.patience`). One that takes more has no answer, and the process that gave none is ended.
* After a purge nothing is kept that was copied or answered before it.

Example
-------
::

    answers = staging.compare(staged, changes, Asked(view, at, Patience(IN_TURN)))
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from bridge.impact.moving import Mover, TooMuchMovedError, moved_between
from bridge.replicas.comparing import Compared, Comparison, NotCompared
from bridge.replicas.direct import DirectWorker
from bridge.replicas.limits import Limits
from bridge.replicas.process import FailedFrameError, WorkerEndedError
from bridge.shapes.sparql.patience import BRIEF, LEAST, Credit
from bridge.snapshots.wanted import Wanted
from bridge.stores.checkpoints import Seed
from bridge.stores.encoding import statement_text
from bridge.stores.projections import Projection
from kernel.errors import StoreUnavailable
from kernel.instants import FOREVER, Instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bridge.impact.compiled import Compiled
    from bridge.impact.moving import Moved
    from bridge.shapes.sparql.patience import Patience
    from bridge.snapshots.cache import Snapshots
    from bridge.stores.pair import OxigraphStores
    from kernel.impact import Changes
    from kernel.ports import Ledger, LedgerView
    from kernel.terms import Iri, Statement

LIMITS: Final = Limits(seconds=5, memory=512 * 2**20, result=16 * 2**20)
"""What a query may take at one state."""

ROWS: Final = 5
"""Rows of each kind in a sample."""

MOMENTS: Final = 4
"""Stores that are kept: of now, and of the moments asked for last."""

_BATCH: Final = 8
"""Queries that are asked at once, whose answers are held at the same time."""

_EVER: Final = Instant(FOREVER - 1)
_NOW: Final = "now"
_TOO_MUCH: Final = f"it takes more than it may have: {LIMITS.seconds:g} seconds, {LIMITS.memory >> 20} MB of memory"
_SHOWN: Final = 200

log = logging.getLogger("muniment.impact")


@dataclass(frozen=True, slots=True)
class Unanswered:
    """There is no answer, and this is why; in the same words whenever it is for the same reason."""

    why: str


Told = Compared | Unanswered


@dataclass(frozen=True, slots=True)
class Planned:
    """What queries are asked about.

    Args:
        view: the ledger with what is accepted by now, without the plan.
        certificate: that of the plan.
        at: the instant of valid time that is now.
        moment: the one that is asked for; None: now.
        changes: what the plan changes at that.
        before: the graphs that are known without it.
        after: those that are known with it.
        loaded: whether the facts of the plan are in the view already.
    """

    view: LedgerView
    certificate: str
    at: Instant
    moment: Instant | None
    changes: Changes
    before: frozenset[Iri]
    after: frozenset[Iri]
    loaded: bool = False


@dataclass(slots=True)
class _Store:
    """A store of the worker: its name, where it stands, and the state of each query there."""

    name: str
    instant: Instant | None
    clock: Instant
    marks: dict[str, str]


class Staging:
    """Answers queries about plans, for one thread at a time.

    Args:
        ledger: what is committed.
        stores: of today, which the store of now is copied from.
        snapshots: which those of other moments are copied from.
    """

    def __init__(self, ledger: Ledger, stores: OxigraphStores, snapshots: Snapshots) -> None:
        self._ledger = ledger
        self._stores = stores
        self._snapshots = snapshots
        self._lock = Lock()
        self._worker: DirectWorker | None = None
        self._kept: dict[Instant | None, _Store] = {}
        self._seeds: dict[str, Seed] = {}
        self._credits: dict[str, Credit] = {}
        self._purged_at: int | None = None
        self._closed = False

    def compare(
        self, queries: Sequence[Compiled], planned: Planned, patience: Patience, index: Iterable[Compiled]
    ) -> list[Told]:
        """What becomes of the answer of each query.

        Args:
            queries: that are asked; all of them for the moment of the plan.
            planned: what they are asked about.
            patience: of whoever waits.
            index: every query in force, whose states are to be followed.
        """
        found: dict[Compiled, Told] = {}
        with self._lock:
            while waiting := [each for each in queries if each not in found][:_BATCH]:
                if patience.left <= 0:
                    late = Unanswered(f"the queries about this change have taken {patience.seconds:g} seconds by now")
                    found.update({each: late for each in queries if each not in found})
                else:
                    found.update(self._asked(waiting, planned, patience, index))
            self._let_go()
        return [found[each] for each in queries]

    def forget(self) -> None:
        """Ends the process, and lets go of what it was opened on: something was purged, or stores were made anew."""
        with self._lock:
            self._end()

    def close(self) -> None:
        """Ends the process, and asks nothing any more."""
        with self._lock:
            self._closed = True
            self._end()

    # --- asking -------------------------------------------------------------------------------------------------------

    def _asked(
        self, queries: Sequence[Compiled], planned: Planned, patience: Patience, index: Iterable[Compiled]
    ) -> Mapping[Compiled, Told]:
        """What some of the queries are answered, at least one."""
        try:
            worker, store, accepted = self._brought_up(planned, index)
        except (StoreUnavailable, WorkerEndedError, FailedFrameError, OSError):
            log.exception("nothing can be staged: impact is not known")
            self._end()
            return dict.fromkeys(queries, Unanswered("the stores cannot be read at present"))
        asked = [self._comparison(each, planned, store, accepted) for each in queries]
        limits = replace(LIMITS, seconds=self._seconds(queries, patience))
        answered: list[Compared | NotCompared] = []
        began = monotonic()
        first, second = _laid(accepted.removed, accepted.added), _laid(planned.changes.removed, planned.changes.added)
        try:
            worker.compare(store.name, first, second, asked, limits, rows=ROWS, answered=answered)
        except (TimeoutError, WorkerEndedError, FailedFrameError, OSError) as error:
            self._spend([queries[worker.at]], patience, monotonic() - began)
            self._end()
            done = {each: _told(answer) for each, answer in zip(queries, answered, strict=False)}
            return done | {queries[worker.at]: Unanswered(_lost(error))}
        self._spend(queries, patience, worker.took)
        return {each: _told(answer) for each, answer in zip(queries, answered, strict=True)}

    def _comparison(self, query: Compiled, planned: Planned, store: _Store, accepted: Moved) -> Comparison:
        name = query.query.asked
        movers = {mover for statement, by in accepted.movers.items() if query.minds(statement) for mover in by}
        mark = _chained(store.marks[name], movers)
        before, after = query.dataset(planned.before), query.dataset(planned.after)
        keep = _chained(mark, {(0, planned.certificate)})
        return Comparison(query.runnable, before, after, f"{name} {mark}", f"{name} {keep}")

    def _seconds(self, queries: Sequence[Compiled], patience: Patience) -> float:
        now = monotonic()
        credits_left = (self._credit(each, now).left(now) for each in queries)
        return min(max(LEAST, min(LIMITS.seconds, *credits_left)), patience.left + BRIEF)

    def _spend(self, queries: Sequence[Compiled], patience: Patience, seconds: float) -> None:
        now = monotonic()
        for each in queries:
            patience.spend(seconds / len(queries))
            self._credit(each, now).spend(seconds / len(queries))

    def _credit(self, query: Compiled, now: float) -> Credit:
        return self._credits.setdefault(query.query.asked, Credit(now))

    # --- where the stores stand ---------------------------------------------------------------------------------------

    def _brought_up(self, planned: Planned, index: Iterable[Compiled]) -> tuple[DirectWorker, _Store, Moved]:
        """The worker with a store at what is committed, and what has been accepted since."""
        worker = self._ready()
        moment = planned.moment
        for _ in range(2):
            store = self._kept.pop(moment, None) or self._opened(worker, moment)
            try:
                with self._ledger.reading() as view:
                    head = view.head()
                    clock = head.clock if moment is None else moment
                    until = store.instant if head.instant is None else head.instant
                    if until is not None and (until != store.instant or clock != store.clock):
                        moved = moved_between(view, store.instant, until, store.clock, clock)
                        texts = ("".join(map(statement_text, each)) for each in (moved.removed, moved.added))
                        worker.bring_up(store.name, *texts)
                        _follow(store, moved, index)
                        store.instant, store.clock = until, clock
                self._kept[moment] = store
                for each in index:
                    store.marks.setdefault(each.query.asked, uuid4().hex)
                return worker, store, self._accepted(planned, store)
            except TooMuchMovedError:
                self._kept.pop(moment, None)
                worker.forget(store.name)
        raise StoreUnavailable("more is accepted at once than can be staged", remedy="send smaller changes")

    def _accepted(self, planned: Planned, store: _Store) -> Moved:
        """What moves between what is committed and what the plan starts from."""
        clock = planned.at if store.clock < planned.at and planned.moment is None else store.clock
        if not planned.loaded:
            return moved_between(planned.view, store.instant, _EVER, store.clock, clock)
        with self._ledger.reading() as view:  # a load is alone in its group: beyond the head is nothing but itself
            return moved_between(view, _EVER, _EVER, store.clock, clock)

    def _ready(self) -> DirectWorker:
        if self._closed:
            raise StoreUnavailable("the base is closing", remedy="send it again once it is served")
        if self._snapshots.purged_at != self._purged_at:
            self._end()
            self._purged_at = self._snapshots.purged_at
        if self._worker is not None and (self._worker.ended or self._worker.spent):
            self._end()
        if self._worker is None:
            self._worker = DirectWorker()
        return self._worker

    def _opened(self, worker: DirectWorker, moment: Instant | None) -> _Store:
        state = self._stores.feed.state
        name = _NOW if moment is None else str(moment)
        if moment is None:
            seed = self._stores.seed(Projection.CURRENT)
            store = _Store(name, state.instant, state.clock, {})
        else:
            seed, instant = self._of_moment(moment)
            store = _Store(name, instant, moment, {})
        before = self._seeds.pop(name, None)
        self._seeds[name] = seed
        worker.open(name, seed)
        if before is not None:
            before.discard()
        return store

    def _of_moment(self, moment: Instant) -> tuple[Seed, Instant | None]:
        with self._ledger.reading() as view:
            head = view.head()
        if head.position is None or head.instant is None:
            return Seed(None), None
        wanted = Wanted(head.position, head.instant, moment, Projection.CURRENT)
        return self._snapshots.seeding(wanted).result(), head.instant

    def _let_go(self) -> None:
        """Forgets the stores of moments that were not asked for lately."""
        while len(self._kept) > MOMENTS:
            store = self._kept.pop(next(iter(self._kept)))
            seed = self._seeds.pop(store.name, None)
            with suppress(TimeoutError, WorkerEndedError, OSError):
                if self._worker is not None:
                    self._worker.forget(store.name)
            if seed is not None:
                seed.discard()

    def _end(self) -> None:
        """Ends the process; what it had is gone."""
        if self._worker is not None:
            self._worker.end()
        self._worker = None
        self._kept.clear()
        seeds, self._seeds = self._seeds, {}
        for seed in seeds.values():
            seed.discard()


def _follow(store: _Store, moved: Moved, index: Iterable[Compiled]) -> None:
    """Moves the state of each query that minds what moved; those that are not in force any more are forgotten."""
    marks: dict[str, str] = {}
    for each in index:
        mark = store.marks.get(each.query.asked)
        if mark is not None:
            movers = {mover for statement, by in moved.movers.items() if each.minds(statement) for mover in by}
            marks[each.query.asked] = _chained(mark, movers)
    store.marks = marks


def _chained(mark: str, movers: set[Mover]) -> str:
    """The state that movers lead to, one after the other."""
    for _, name in sorted(movers):
        mark = blake2b(f"{mark} {name}".encode(), digest_size=16).hexdigest()
    return mark


def _laid(removed: Iterable[Statement], added: Iterable[Statement]) -> tuple[str, str]:
    """What to lay over a store."""
    gone, come = ("".join(f"{statement.nquad}\n" for statement in each) for each in (removed, added))
    return gone, come


def _told(answer: Compared | NotCompared) -> Told:
    if isinstance(answer, Compared):
        return answer
    match answer.what:
        case "size":
            return Unanswered(f"its answer comes to more than {LIMITS.result >> 20} MB")
        case "memory":
            return Unanswered(_TOO_MUCH)
        case _:
            return Unanswered(f"it cannot be evaluated: {answer.message[:_SHOWN]}")


def _lost(error: Exception) -> str:
    if isinstance(error, TimeoutError) or (isinstance(error, WorkerEndedError) and error.out_of_memory):
        return _TOO_MUCH
    log.error("a query was lost", exc_info=error)
    return "the process that was to answer it ended"
