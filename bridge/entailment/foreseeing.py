"""What follows from a plan before it is applied, and what no more; and what cannot be then.

Rules (IncrementalEqualsFull, NothingLeaks)
-----
* It is told where the ontology has it followed (`kernel.entailment.following`), of each graph that a plan changes,
  together with the ontology; of all of them, and together, where there are more than `APART`. What follows from several
  graphs together, and from none alone, is told besides, of all graphs of data (`bridge.entailment.telling`).
* It is of the instant at which the plan was issued, before and after: what begins by itself is nobody's doing. Of what
  a plan changes at other times alone it is said that it was not looked for.
* What the plan itself asserts or retracts is not told, nor what held before or holds still, nor that a thing is itself.
  Counts are exact, samples the first in order, so that the same plan on the same state is told the same.
* A load of up to `LOADED` statements is told as a plan is; of a larger one it is said that it was not looked for.
* A closure stands at what is committed. What is accepted, and the plan, are laid over it only while it is asked.
* Whoever waits for a write waits for this, within `LIMITS`. The first to need closures waits `WAIT` seconds for them;
  they are made beside the writes, and others do not wait. What is not known is `follows-unknown`: a violation, so that
  it is held for review; of a load, and of several graphs together, information. A process that gave no answer is ended;
  what could not be made is not tried again for `PAUSE` seconds.

Example
-------
::

    findings = foreseer.findings(plan, facts_of_the_ontology, view)
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import islice
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import orjson

from bridge.entailment import telling
from bridge.entailment.asking import Foreseen
from bridge.entailment.moving import moved, moved_in
from bridge.entailment.regimes import Premises
from bridge.entailment.telling import SAMPLE, About
from bridge.replicas.direct import DirectWorker
from bridge.replicas.limits import Limits
from bridge.replicas.process import FailedFrameError, WorkerEndedError
from bridge.stores.projections import Projection
from certificates.findings import Severity
from kernel.entailment.following import ENTAILMENT, faults, regime_of
from kernel.errors import LedgerUnavailable, StoreUnavailable
from kernel.impact import changed_elsewhen
from kernel.terms import Iri
from kernel.time.instants import BEGINNING, FOREVER, Instant
from kernel.vocabulary import ONTOLOGY_GRAPH, is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bridge.entailment.moving import Moment
    from bridge.stores.checkpoints import Seed
    from bridge.stores.pair import OxigraphStores
    from certificates.findings import Finding
    from kernel.entailment.table import Regime
    from kernel.facts import Fact, FactContent
    from kernel.ports.checks import Loaded
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.terms import Statement
    from kernel.writing.plan import Plan

LIMITS: Final = Limits(seconds=5, memory=3 * 2**30)
"""What is asked about a plan may take each time."""

MAKING: Final = Limits(seconds=900, memory=3 * 2**30)
"""What it may take to make a closure."""

WAIT: Final = 5.0

APART: Final = 4
"""Graphs that are told of apart."""

KEPT: Final = 5
"""Closures, each in a process of its own."""

LOADED: Final = 10_000
"""Statements of a load up to which it is told what follows."""

WHOLE: Final = 10_000
"""Statements of each kind up to which what follows from graphs together is held against what each comes to alone."""

PAUSE: Final = 600.0

log = logging.getLogger("muniment.entailment")

_NAME: Final = "foreseen"
_FAILURES: Final = (StoreUnavailable, LedgerUnavailable, TimeoutError, WorkerEndedError, FailedFrameError, OSError)
_Key = tuple["Regime", Premises]
_Change: TypeAlias = "tuple[list[Statement], list[Statement]]"
"""What goes, and what comes."""

_EVER: Final = Instant(FOREVER - 1)


class _Upon(NamedTuple):
    """What a change is upon: the instant that is now, and all that is known without it."""

    at: Instant
    view: LedgerView


class _Standing:
    """A closure: in which process, made of which seed, and at which moment."""

    def __init__(self, worker: DirectWorker, seed: Seed, moment: Moment) -> None:
        self.worker, self.seed, self.moment = worker, seed, moment

    def end(self) -> None:
        """Ends its process."""
        self.worker.end()
        self.seed.discard()


class Foreseer:
    """Implements the port `EntailmentChecker`; one thread asks at a time.

    Args:
        ledger: what is committed.
        stores: of today.
    """

    def __init__(self, ledger: Ledger, stores: OxigraphStores) -> None:
        self._ledger = ledger
        self._stores = stores
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="foreseeing")
        self._kept: OrderedDict[_Key, Future[_Standing]] = OrderedDict()
        self._failed: dict[_Key, float] = {}
        self._awaited: set[_Key] = set()
        self._making: DirectWorker | None = None
        self._forgotten = 0

    def findings(self, plan: Plan, facts: tuple[Fact, ...], view: LedgerView) -> Sequence[Finding]:
        """As the port has it."""
        found = faults(plan.record, plan.supersede, facts)
        regime = regime_of(facts)
        if regime is None:
            return found
        at = Instant(max(view.head().clock, plan.issued_at))
        change = _changed(plan.record, plan.supersede, at)
        found += self._told(regime, change, _Upon(at, view), Severity.VIOLATION, partial=plan.request.partial)
        return found + _elsewhen(plan.record, plan.supersede, at)

    def of_load(self, load: Loaded, facts: tuple[Fact, ...], view: LedgerView) -> Sequence[Finding]:
        """As the port has it."""
        said = view.believed(subject=ONTOLOGY_GRAPH, predicate=ENTAILMENT, graph=ONTOLOGY_GRAPH)
        known, regime = {fact.id for fact in facts}, regime_of(facts)
        found = faults([fact.content for fact in said if fact.id not in known], (), facts)
        if regime is None:
            return found
        with self._ledger.reading() as committed:
            head = committed.head()
            since = Instant(BEGINNING) if head.instant is None else head.instant
            moved = [*islice(view.facts_recorded(since, _EVER), LOADED + 1)]
            if len(moved) > LOADED:
                return [*found, telling.of_large_load(LOADED)]
            brought = [fact for fact in moved if fact.superseded is None]
            gone = [fact for fact in moved if fact.superseded is not None and fact.recorded_at <= since]
            at = Instant(max(head.clock, load.issued_at))
            upon = _Upon(at, committed)
            found += self._told(regime, _changed(brought, gone, at), upon, Severity.INFO, partial=load.partial)
        return found + _elsewhen(brought, gone, at)

    def forget(self) -> None:
        """Ends the processes, with all that they had: something was purged, or stores were made anew."""
        self._forgotten += 1
        with self._lock:
            for key in [*self._kept]:
                self._let_go(key)
            if self._making is not None:
                self._making.end()

    def close(self) -> None:
        """Ends the processes, and makes nothing any more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self.forget()
        self._thread.shutdown()

    # --- asking -------------------------------------------------------------------------------------------------------

    def _told(
        self, regime: Regime, change: _Change, upon: _Upon, severity: Severity, *, partial: bool
    ) -> list[Finding]:
        """What is told of a change: of each graph, and of several together."""
        gone, come = change
        if not gone and not come:
            return []
        changed = {each.graph for each in (*gone, *come)}
        every = {graph for graph in changed | upon.view.graphs() if is_data(graph)}
        concerned = every if ONTOLOGY_GRAPH in changed else {graph for graph in changed if is_data(graph)}
        apart = sorted(concerned, key=lambda graph: graph.value) if 0 < len(concerned) <= APART else []
        beside, joint = frozenset({ONTOLOGY_GRAPH}), len(every) > 1
        wanted = [(Premises(beside | {graph}), About.one(graph)) for graph in apart]
        if joint or not apart:
            wanted.append((Premises(beside, every_data=True), About.every(every, beyond=bool(apart))))
        with self._lock:
            most, until = WHOLE if apart and joint else SAMPLE, monotonic() + WAIT
            keys = [(regime, premises) for premises, _ in wanted]
            for key in keys:
                self._begin(key)
            found = [self._foreseen(key, change, upon, most, until) for key in keys]
        told: list[Finding] = []
        for (_, about), each in zip(wanted[: len(apart)], found, strict=False):
            told += [telling.unknown(about, severity)] if each is None else telling.told(regime, each, about)
        about = About.every(every, beyond=bool(apart))
        if not apart and not partial:
            whole = found[0]
            told += [telling.unknown(about, severity)] if whole is None else telling.told(regime, whole, about)
        elif joint or partial:
            whole = telling.beyond(found[-1], found[:-1]) if joint or not apart else telling.NOTHING
            told += telling.together(regime, whole, about, partial=partial)
        return told

    def clashing(
        self, regime: Regime, graphs: Sequence[str], pairs: Sequence[tuple[str, str]]
    ) -> Sequence[bool] | None:
        """Of pairs of statements, in N-Triples, whether both are premises of one inconsistency that there is now.

        Args:
            regime: by which rules.
            graphs: those that a finding of it was drawn from.
            pairs: of statements.

        Returns:
            None where that is not worked out yet; nobody waits for it.
        """
        apart = frozenset(map(Iri, graphs))
        key = regime, Premises(apart) if len(apart) <= 2 else Premises(frozenset({ONTOLOGY_GRAPH}), every_data=True)
        with self._lock:
            try:
                standing = self._brought_up(key, monotonic())
                if standing is None:
                    return None
                asked = {"store": _NAME, "what": "clashing"}
                clash: list[bool] = orjson.loads(standing.worker.entail(asked, orjson.dumps(pairs), LIMITS).body)
            except _FAILURES as error:
                log.warning("whether inconsistencies stand could not be worked out: %s", error)
                self._let_go(key)
                return None
        return clash

    def _foreseen(self, key: _Key, change: _Change, upon: _Upon, most: int, until: float) -> Foreseen | None:
        """What a change leads to in some graphs; None: that is not known."""
        try:
            standing = self._brought_up(key, until)
            accepted = None if standing is None else moved_in(upon.view, standing.moment, upon.at)
            if standing is None or accepted is None:
                return None
            texts = [_quads(each for each in side if key[1].has(each.graph)) for side in (*accepted, *change)]
            head = {"store": _NAME, "what": "foresee", "lengths": [*map(len, texts)], "most": most}
            found: Foreseen = orjson.loads(standing.worker.entail(head, b"".join(texts), LIMITS).body)
        except _FAILURES as error:
            log.warning("what follows from a plan could not be worked out: %s", error)
            self._let_go(key)
            return None
        return found

    # --- where closures stand -----------------------------------------------------------------------------------------

    def _brought_up(self, key: _Key, until: float) -> _Standing | None:
        """The closure, at what is committed; None: it is not there yet."""
        standing = self._there(key, until)
        if standing is None:
            return None
        with self._ledger.reading() as view:
            head = view.head()
            moment = (Instant(BEGINNING) if head.instant is None else head.instant), head.clock
            differing = moved(view, standing.moment, moment)
        if differing is None:
            self._let_go(key)
            return self._there(key, until)
        gone, come = (_quads(each for each in side if key[1].has(each.graph)) for side in differing)
        body = gone + come
        if body:
            standing.worker.entail({"store": _NAME, "what": "follow", "first": len(gone)}, body, LIMITS)
        standing.moment = moment
        return standing

    def _begin(self, key: _Key) -> None:
        """Has a closure made that is not there, unless that failed lately."""
        there = self._kept.get(key)
        if there is not None and _is_gone(there):
            self._let_go(key)
        if key not in self._kept and monotonic() >= self._failed.get(key, 0.0):
            forgotten = self._forgotten
            with suppress(RuntimeError):  # it is closing
                self._kept[key] = self._thread.submit(lambda: self._made(key, forgotten))
                self._awaited.add(key)
        if key in self._kept:
            self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._let_go(next(iter(self._kept)))

    def _there(self, key: _Key, until: float) -> _Standing | None:
        """The closure as it stands, if it is made by now; the first write to need it waits for it."""
        self._begin(key)
        making = self._kept.get(key)
        if making is None:
            return None
        seconds = until - monotonic()
        if key in self._awaited and seconds > 0:
            self._awaited.discard(key)
            wait([making], seconds)
        if not making.done() or making.cancelled():
            return None
        error = making.exception()
        if error is None:
            return making.result()
        log.warning("what follows could not be worked out: %s", error)
        self._let_go(key)
        self._failed[key] = monotonic() + PAUSE
        return None

    def _made(self, key: _Key, forgotten: int) -> _Standing:
        """Makes a closure, in the thread for it."""
        regime, premises = key
        state = self._stores.feed.state
        moment = (Instant(BEGINNING) if state.instant is None else state.instant), state.clock
        standing = _Standing(DirectWorker(), self._stores.seed(Projection.CURRENT), moment)
        self._making = standing.worker
        try:
            if forgotten != self._forgotten:
                raise StoreUnavailable("something was purged meanwhile", remedy="try again")
            with self._ledger.reading() as view:
                facts = view.facts_of_graph(ONTOLOGY_GRAPH, as_of=moment[0], valid_at=moment[1])
                ontology = "".join(f"{fact.statement.nquad}\n" for fact in facts).encode()
            standing.worker.open(_NAME, standing.seed)
            graphs = None if premises.every_data else sorted(graph.value for graph in premises.graphs)
            head = {"store": _NAME, "what": "make", "regime": regime, "graphs": graphs, "beside": None}
            standing.worker.entail(head, ontology, MAKING)
        except BaseException:
            standing.end()
            raise
        finally:
            self._making = None
        return standing

    def _let_go(self, key: _Key) -> None:
        self._awaited.discard(key)
        making = self._kept.pop(key, None)
        if making is not None and not making.cancel():
            making.add_done_callback(_ended)


def _is_gone(making: Future[_Standing]) -> bool:
    """Whether what was made has ended since, be it that somebody else ended it."""
    return making.done() and not making.cancelled() and making.exception() is None and making.result().worker.ended


def _ended(making: Future[_Standing]) -> None:
    if not making.cancelled() and making.exception() is None:
        making.result().end()


def _changed(record: Iterable[FactContent | Fact], supersede: Iterable[Fact], at: Instant) -> _Change:
    """The statements that go, and those that come, of data and of the ontology, at an instant."""
    before = {each.statement for each in supersede if each.interval.contains(at)}
    after = {each.statement for each in record if each.interval.contains(at)}
    gone, come = ([each for each in sides if _counts(each.graph)] for sides in (before - after, after - before))
    return gone, come


def _elsewhen(record: Iterable[FactContent | Fact], supersede: Iterable[Fact], at: Instant) -> list[Finding]:
    """What is said where data changes at other times."""
    graphs = {each.graph for each in changed_elsewhen(record, supersede, at) if is_data(each.graph)}
    return [*telling.elsewhen(graphs)]


def _counts(graph: Iri) -> bool:
    return is_data(graph) or graph == ONTOLOGY_GRAPH


def _quads(statements: Iterable[Statement]) -> bytes:
    return "".join(f"{each.nquad}\n" for each in statements).encode()
