"""What follows from a plan before it is applied, and what no more; and what cannot be then.

Rules (IncrementalEqualsFull, NothingLeaks)
-----
* It is told where the ontology has it followed (`kernel.entailment.following`), of each graph that a plan changes,
  together with the ontology; of all of them, and together, where there are more than `APART`. A finding is drawn from
  these graphs. What follows from two graphs that are told apart is not told.
* It is of the instant at which the plan was issued, before and after: what begins by itself is nobody's doing.
* What the plan itself asserts or retracts is not told, nor what held before or holds still. Counts are exact, samples
  the first in order, so that the same plan on the same state is told the same.
* An inconsistency that is there only with the plan is a contradiction of the kind *logical*. Its two statements are
  premises of it.
* A closure stands at what is committed. What is accepted, and the plan, are laid over it only while it is asked.
* Whoever waits for a write waits for this: within `LIMITS`. What takes longer is `follows-unknown`, an error, and so is
  held for review; so is what a load brings, as information. The process that gave no answer is ended, and none is
  asked for `PAUSE` seconds.

Example
-------
::

    findings = foreseer.findings(plan, facts_of_the_ontology, view)
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import suppress
from itertools import count
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final

import orjson

from bridge.entailment.asking import Foreseen, joined
from bridge.entailment.moving import moved, moved_in
from bridge.entailment.regimes import Premises
from bridge.replicas.direct import DirectWorker
from bridge.replicas.limits import Limits
from bridge.replicas.process import FailedFrameError, WorkerEndedError
from bridge.stores.projections import Projection
from certificates.contradictions import Contradiction, ContradictionKind
from certificates.findings import Finding, FindingCode, Severity
from kernel.entailment.following import faults, regime_of
from kernel.errors import StoreUnavailable
from kernel.instants import BEGINNING, Instant
from kernel.vocabulary import ONTOLOGY_GRAPH, is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bridge.entailment.moving import Moment
    from bridge.stores.checkpoints import Seed
    from bridge.stores.pair import OxigraphStores
    from kernel.entailment.table import Regime
    from kernel.facts import Fact
    from kernel.plan import Plan
    from kernel.ports import Ledger, LedgerView
    from kernel.terms import Iri, Statement

LIMITS: Final = Limits(seconds=20, memory=2 * 2**30)
"""What is asked about a plan may take each time; the first time, a closure is made."""

APART: Final = 4
"""Graphs that are told of apart."""

KEPT: Final = 8
PAUSE: Final = 60.0
SAMPLE: Final = 5

_SHOWN: Final = 300
_UNKNOWN: Final = "what follows from this is not known: it takes longer, or more memory, than it may"
_OF_A_LOAD: Final = "what follows from a load is not told with it: ask a query with entailment once it is there"

log = logging.getLogger("muniment.entailment")

_Key = tuple["Regime", Premises]


class _Standing:
    """A closure in the process: of which store, made of which seed, and at which moment."""

    def __init__(self, name: str, seed: Seed, moment: Moment) -> None:
        self.name, self.seed, self.moment = name, seed, moment


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
        self._worker: DirectWorker | None = None
        self._kept: OrderedDict[_Key, _Standing] = OrderedDict()
        self._numbers = count(1)
        self._not_before = 0.0
        self._closed = False

    def findings(self, plan: Plan, facts: tuple[Fact, ...], view: LedgerView) -> Sequence[Finding]:
        """As the port has it."""
        found = [*faults(plan.record)]
        regime = regime_of(facts)
        if regime is None:
            return found
        at = Instant(max(view.head().clock, plan.issued_at))
        gone, come = _changes(plan, at)
        if not gone and not come:
            return found
        with self._lock:
            for premises, graphs in _told_apart({each.graph for each in (*gone, *come)}, view):
                found += self._of(regime, premises, graphs, (gone, come), at, view)
        return found

    def of_load(self, facts: tuple[Fact, ...]) -> Sequence[Finding]:
        """As the port has it."""
        if regime_of(facts) is None:
            return []
        return [Finding(FindingCode.FOLLOWS_UNKNOWN, Severity.INFO, _OF_A_LOAD, (ONTOLOGY_GRAPH.value,))]

    def forget(self) -> None:
        """Ends the process, with all that it had: something was purged, or stores were made anew."""
        with self._lock:
            self._end()

    def close(self) -> None:
        """Ends the process, and asks nothing any more."""
        with self._lock:
            self._closed = True
            self._end()

    # --- asking -------------------------------------------------------------------------------------------------------

    def _of(
        self,
        regime: Regime,
        premises: Premises,
        graphs: tuple[str, ...],
        changes: tuple[Sequence[Statement], Sequence[Statement]],
        at: Instant,
        view: LedgerView,
    ) -> Iterator[Finding]:
        """What is told of some graphs."""
        try:
            foreseen = self._foreseen((regime, premises), changes, at, view)
        except (StoreUnavailable, TimeoutError, WorkerEndedError, FailedFrameError, OSError) as error:
            log.warning("what follows from a plan could not be worked out: %s", error)
            self._end()
            self._not_before = max(self._not_before, monotonic() + PAUSE)
            foreseen = None
        if foreseen is None:
            yield Finding(FindingCode.FOLLOWS_UNKNOWN, Severity.VIOLATION, _UNKNOWN, graphs)
            return
        if foreseen["follows"] or foreseen["ceases"]:
            yield Finding(FindingCode.FOLLOWS, Severity.INFO, _words(regime, foreseen), graphs)
        yield from _contradictions(foreseen, graphs)

    def _foreseen(
        self, key: _Key, changes: tuple[Sequence[Statement], Sequence[Statement]], at: Instant, view: LedgerView
    ) -> Foreseen | None:
        if self._closed or monotonic() < self._not_before:
            return None
        standing = self._brought_up(key)
        accepted = moved_in(view, standing.moment, at)
        if accepted is None:
            return None
        premises = key[1]
        texts = [
            "".join(f"{each.nquad}\n" for each in side if premises.has(each.graph)) for side in (*accepted, *changes)
        ]
        lengths = [len(text.encode()) for text in texts]
        head = {"store": standing.name, "what": "foresee", "lengths": lengths, "most": SAMPLE}
        came = self._ready().entail(head, "".join(texts).encode(), LIMITS)
        found: Foreseen = orjson.loads(came.body)
        return found

    # --- where closures stand -----------------------------------------------------------------------------------------

    def _brought_up(self, key: _Key) -> _Standing:
        """The closure, at what is committed."""
        if self._worker is not None and self._worker.ended:
            self._end()
        standing = self._kept.pop(key, None) or self._made(key)
        with self._ledger.reading() as view:
            head = view.head()
            moment = (Instant(BEGINNING) if head.instant is None else head.instant), head.clock
            differing = moved(view, standing.moment, moment)
        if differing is None:
            self._let_go(standing)
            return self._brought_up(key)
        texts = ("".join(f"{each.nquad}\n" for each in side if key[1].has(each.graph)) for side in differing)
        first, body = joined(*texts)
        if body:
            self._ready().entail({"store": standing.name, "what": "follow", "first": first}, body, LIMITS)
        standing.moment = moment
        self._kept[key] = standing
        while len(self._kept) > KEPT:
            self._let_go(self._kept.popitem(last=False)[1])
        return standing

    def _made(self, key: _Key) -> _Standing:
        regime, premises = key
        state = self._stores.feed.state
        moment = (Instant(BEGINNING) if state.instant is None else state.instant), state.clock
        seed = self._stores.seed(Projection.CURRENT)
        standing = _Standing(f"foreseen-{next(self._numbers)}", seed, moment)
        try:
            with self._ledger.reading() as view:
                facts = view.facts_of_graph(ONTOLOGY_GRAPH, as_of=moment[0], valid_at=moment[1])
                ontology = "".join(f"{fact.statement.nquad}\n" for fact in facts).encode()
            worker = self._ready()
            worker.open(standing.name, seed)
            graphs = None if premises.every_data else sorted(graph.value for graph in premises.graphs)
            head = {"store": standing.name, "what": "make", "regime": regime, "graphs": graphs, "beside": None}
            worker.entail(head, ontology, LIMITS)
        except BaseException:
            seed.discard()
            raise
        return standing

    def _ready(self) -> DirectWorker:
        if self._worker is None:
            self._worker = DirectWorker()
        return self._worker

    def _let_go(self, standing: _Standing) -> None:
        with suppress(TimeoutError, WorkerEndedError, OSError):
            if self._worker is not None:
                self._worker.forget(standing.name)
        standing.seed.discard()

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.end()
        self._worker = None
        kept, self._kept = self._kept, OrderedDict()
        for standing in kept.values():
            standing.seed.discard()


def _changes(plan: Plan, at: Instant) -> tuple[list[Statement], list[Statement]]:
    """The statements that go, and those that come, of data and of the ontology, at an instant."""
    before = {each.statement for each in plan.supersede if each.interval.contains(at)}
    after = {each.statement for each in plan.record if each.interval.contains(at)}
    gone, come = (
        [each for each in sides if is_data(each.graph) or each.graph == ONTOLOGY_GRAPH]
        for sides in (before - after, after - before)
    )
    return gone, come


def _told_apart(changed: set[Iri], view: LedgerView) -> Iterator[tuple[Premises, tuple[str, ...]]]:
    """The sets of premises that are told of, and the graphs that a finding is drawn from."""
    every = {graph for graph in changed | view.graphs() if is_data(graph)}
    concerned = every if ONTOLOGY_GRAPH in changed else {graph for graph in changed if is_data(graph)}
    beside = frozenset({ONTOLOGY_GRAPH})
    if len(concerned) > APART or not concerned:
        yield Premises(beside, every_data=True), tuple(sorted(graph.value for graph in every | beside))
        return
    for graph in sorted(concerned, key=lambda each: each.value):
        yield Premises(beside | {graph}), (graph.value, ONTOLOGY_GRAPH.value)


def _words(regime: Regime, foreseen: Foreseen) -> str:
    """What is told, in words."""
    whose = "by what the plan says of the vocabulary" if foreseen["schema"] else f"by {regime}"
    parts = [
        f"{number:,} {'statement' if number == 1 else 'statements'} {what[number == 1]}: {_sample(sample, number)}"
        for number, sample, what in (
            (foreseen["follows"], foreseen["gained"], ("follow since", "follows since")),
            (foreseen["ceases"], foreseen["lost"], ("follow no more", "follows no more")),
        )
        if number
    ]
    return f"{whose}, " + "; ".join(parts)


def _sample(sample: Iterable[Sequence[str]], number: int) -> str:
    told = [_show(" ".join(each)) for each in sample]
    return ", ".join(told) + (f", and {number - len(told):,} more" if number > len(told) else "")


def _show(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _contradictions(foreseen: Foreseen, graphs: tuple[str, ...]) -> Iterator[Finding]:
    for each in foreseen["arisen"]:
        one, other = (" ".join((*each[which], f"<{graphs[0]}> .")) for which in ("statement", "against"))
        subject, predicate, value = each["statement"]
        premises = ", ".join(_show(" ".join(premise)) for premise in each["premises"])
        more = foreseen["inconsistencies"] - len(foreseen["arisen"])
        yield Finding(
            code=FindingCode.INCONSISTENT,
            severity=Severity.VIOLATION,
            message=f"these cannot all hold, by {each['rule']}: {premises}"
            + (f"; and there are {more:,} such contradictions more" if more else ""),
            graphs=graphs,
            focus=subject,
            path=predicate,
            value=value,
            contradiction=Contradiction(ContradictionKind.LOGICAL, one, other),
        )
