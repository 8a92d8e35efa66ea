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

    for told, upon in staging.compare(queries, planned, Patience(IN_TURN), index): ...
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import inf
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from bridge.impact.asked import Basis, Planned, Unanswered, upon_committed
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
from kernel.impact import Changes
from kernel.time.instants import FOREVER, Instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from bridge.impact.asked import Answered, Told
    from bridge.impact.compiled import Compiled
    from bridge.impact.moving import Moved
    from bridge.shapes.sparql.patience import Patience
    from bridge.snapshots.cache import Snapshots
    from bridge.stores.pair import OxigraphStores
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.terms import Statement

LIMITS: Final = Limits(seconds=5, memory=512 * 2**20, result=16 * 2**20)
"""What a query may take at one state."""

ROWS: Final = 5
"""Rows of each kind in a sample."""

MOMENTS: Final = 4
"""Stores that are kept: of now, and of the moments asked for last."""

BRIEFLY: Final = 0.05
"""Seconds of a processor that queries may take together to be asked in a turn."""

_BATCH: Final = 8
"""Queries that are asked at once, whose answers are held at the same time."""

_EVER: Final = Instant(FOREVER - 1)
_NO_CHANGES: Final = Changes(frozenset(), frozenset())
_NOW: Final = "now"
_MOST_NAMES: Final = 256
_TOO_MUCH: Final = f"it takes more than it may have: {LIMITS.seconds:g} seconds, {LIMITS.memory >> 20} MB of memory"
_SHOWN: Final = 200

log = logging.getLogger("muniment.impact")


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
        self._costs: dict[str, float] = {}
        self._names: dict[str, str] = {}
        self._purged_at: int | None = None
        self._closed = False

    def twin(self) -> Staging:
        """Another one of the same base, with a process of its own, for another thread."""
        twin = Staging(self._ledger, self._stores, self._snapshots)
        twin._credits, twin._costs = self._credits, self._costs
        return twin

    @property
    def purged_at(self) -> int | None:
        """The head of the last purge; what was answered before is kept nowhere."""
        return self._snapshots.purged_at

    def brief(self, queries: Sequence[Compiled], moments: Collection[Instant | None]) -> bool:
        """Whether all is at hand to ask queries at once, and they are known to take no time worth speaking of."""
        worker = self._worker
        return (
            sum(self._costs.get(each.query.asked, inf) for each in queries) <= BRIEFLY
            and not self._lock.locked()
            and worker is not None
            and not (worker.ended or worker.spent)
            and self._purged_at == self._snapshots.purged_at
            and all(moment in self._kept for moment in moments)
        )

    def stand_ready(self, moments: Iterable[Instant | None], index: Iterable[Compiled]) -> None:
        """Has stores for the moments, brought up to what is committed, so that queries can be asked at once."""
        with self._lock:
            try:
                for moment in moments:
                    planned = Planned(None, "", Instant(0), moment, _NO_CHANGES, frozenset(), frozenset())
                    self._brought_up(planned, index)
            except (StoreUnavailable, WorkerEndedError, FailedFrameError, OSError):
                log.exception("nothing can be staged at present")
                self._end()
            self._let_go()

    def known_as(self, name: str, certificate: str) -> None:
        """Says that a certificate has the plan which answers are remembered of under a name."""
        while len(self._names) >= _MOST_NAMES:
            del self._names[next(iter(self._names))]
        self._names[certificate] = name

    def compare(
        self,
        queries: Sequence[Compiled],
        planned: Planned,
        patience: Patience,
        index: Iterable[Compiled],
        seconds: float = LIMITS.seconds,
    ) -> list[Answered]:
        """What becomes of the answer of each query, and what that was found upon; None where it was not asked.

        Args:
            queries: that are asked; all of them for the moment of the plan.
            planned: what they are asked about.
            patience: of whoever waits.
            index: every query in force, whose states are to be followed.
            seconds: that a query has at most.
        """
        found: dict[Compiled, Answered] = {}
        with self._lock:
            while waiting := [each for each in queries if each not in found][:_BATCH]:
                if patience.left <= 0:
                    late = Unanswered(f"the queries about this change have taken {patience.seconds:g} seconds by now")
                    upon = next((basis for _, basis in found.values()), None)
                    found.update({each: (late, upon) for each in queries if each not in found})
                else:
                    found.update(self._asked(waiting, planned, patience, index, seconds))
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
        self,
        queries: Sequence[Compiled],
        planned: Planned,
        patience: Patience,
        index: Iterable[Compiled],
        seconds: float,
    ) -> Mapping[Compiled, Answered]:
        """What some of the queries are answered, at least one."""
        try:
            worker, store, accepted, basis = self._brought_up(planned, index)
        except (StoreUnavailable, WorkerEndedError, FailedFrameError, OSError):
            log.exception("nothing can be staged: impact is not known")
            self._end()
            return dict.fromkeys(queries, (Unanswered("the stores cannot be read at present"), None))
        asked = [self._comparison(each, planned, store, accepted, basis) for each in queries]
        limits = replace(LIMITS, seconds=min(seconds, self._seconds(queries, patience)))
        answered: list[Compared | NotCompared] = []
        began = monotonic()
        first, second = _laid(accepted.removed, accepted.added), _laid(planned.changes.removed, planned.changes.added)
        try:
            worker.compare(store.name, first, second, asked, limits, rows=ROWS, answered=answered)
        except (TimeoutError, WorkerEndedError, FailedFrameError, OSError) as error:
            self._spend([queries[worker.at]], patience, monotonic() - began)
            self._costs[queries[worker.at].query.asked] = inf
            self._end()
            done = {each: (_told(answer), basis) for each, answer in zip(queries, answered, strict=False)}
            return done | {queries[worker.at]: (Unanswered(_lost(error)), basis)}
        self._spend(queries, patience, worker.took)
        found = {each: (_told(answer), basis) for each, answer in zip(queries, answered, strict=True)}
        for each, (told, _) in found.items():
            self._costs[each.query.asked] = worker.took / len(queries) if isinstance(told, Compared) else inf
        return found

    def _comparison(
        self, query: Compiled, planned: Planned, store: _Store, accepted: Moved, basis: Basis
    ) -> Comparison:
        name = query.query.asked
        movers = {mover for statement, by in accepted.movers.items() if query.minds(statement) for mover in by}
        mark = self._chained(store.marks[name], movers)
        before, after = query.dataset(basis.before), query.dataset(basis.after)
        keep = self._chained(mark, {(0, planned.certificate)})
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

    def _brought_up(self, planned: Planned, index: Iterable[Compiled]) -> tuple[DirectWorker, _Store, Moved, Basis]:
        """The worker with a store at what is committed, what has been accepted since, and what both come to."""
        worker = self._ready()
        moment = planned.moment
        for _ in range(2):
            store = self._kept.pop(moment, None) or self._opened(worker, moment)
            try:
                with self._ledger.reading() as view:
                    self._follow_ledger(worker, store, view, index)
                    upon = upon_committed(planned, view) if planned.view is None else planned
                    accepted = self._accepted(upon, view, store)
                self._kept[moment] = store
                for each in index:
                    store.marks.setdefault(each.query.asked, uuid4().hex)
                clock = store.clock if moment is not None else Instant(max(store.clock, upon.at))
                return worker, store, accepted, Basis(store.instant, clock, upon.before, upon.after, self._purged_at)
            except TooMuchMovedError:
                self._kept.pop(moment, None)
                worker.forget(store.name)
        raise StoreUnavailable("more is accepted at once than can be staged", remedy="send smaller changes")

    def _follow_ledger(self, worker: DirectWorker, store: _Store, view: LedgerView, index: Iterable[Compiled]) -> None:
        """Brings a store up to what is committed."""
        head = view.head()
        clock = head.clock if store.name == _NOW else store.clock
        until = store.instant if head.instant is None else head.instant
        if until is not None and (until != store.instant or clock != store.clock):
            moved = moved_between(view, store.instant, until, store.clock, clock)
            worker.bring_up(store.name, *("".join(map(statement_text, each)) for each in (moved.removed, moved.added)))
            self._follow(store, moved, index)
            store.instant, store.clock = until, clock

    def _accepted(self, planned: Planned, committed: LedgerView, store: _Store) -> Moved:
        """What moves between what is committed and what the plan starts from."""
        clock = planned.at if store.clock < planned.at and planned.moment is None else store.clock
        if planned.view is None:
            return moved_between(committed, _EVER, _EVER, store.clock, clock)
        return moved_between(planned.view, store.instant, _EVER, store.clock, clock)

    def _follow(self, store: _Store, moved: Moved, index: Iterable[Compiled]) -> None:
        """Moves the state of each query that minds what moved; those that are not in force any more are forgotten."""
        marks: dict[str, str] = {}
        for each in index:
            mark = store.marks.get(each.query.asked)
            if mark is not None:
                movers = {mover for statement, by in moved.movers.items() if each.minds(statement) for mover in by}
                marks[each.query.asked] = self._chained(mark, movers)
        store.marks = marks

    def _chained(self, mark: str, movers: set[Mover]) -> str:
        """The state that movers lead to, one after the other."""
        for _, name in sorted(movers):
            known = self._names.get(name, name)
            mark = blake2b(f"{mark} {known}".encode(), digest_size=16).hexdigest()
        return mark

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
