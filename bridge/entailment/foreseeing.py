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
* Whoever waits for a write waits for this, within `LIMITS`. The first to need a closure waits `WAIT` seconds for it;
  it is made beside the writes, and others do not wait. What is not known is `follows-unknown`: a violation, so that it
  is held for review; of a load, information. A process that gave no answer is ended; what could not be made is not
  tried again for `PAUSE` seconds.

Example
-------
::

    findings = foreseer.findings(plan, facts_of_the_ontology, view)
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor, wait
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
from kernel.errors import LedgerUnavailable, StoreUnavailable
from kernel.time.instants import BEGINNING, Instant
from kernel.vocabulary import ONTOLOGY_GRAPH, is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bridge.entailment.moving import Moment
    from bridge.stores.checkpoints import Seed
    from bridge.stores.pair import OxigraphStores
    from kernel.entailment.table import Regime
    from kernel.facts import Fact
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.terms import Iri, Statement
    from kernel.writing.plan import Plan

LIMITS: Final = Limits(seconds=5, memory=3 * 2**30)
"""What is asked about a plan may take each time."""

MAKING: Final = Limits(seconds=900, memory=3 * 2**30)
"""What it may take to make a closure."""

WAIT: Final = 5.0

APART: Final = 4
"""Graphs that are told of apart."""

KEPT: Final = 4
"""Closures, each in a process of its own."""

PAUSE: Final = 600.0
SAMPLE: Final = 5

_SHOWN: Final = 300
_UNKNOWN: Final = "what follows from this is not known: it takes longer, or more memory, than it may"
_OF_A_LOAD: Final = "what follows from a load is not told with it: ask a query with entailment once it is there"

log = logging.getLogger("muniment.entailment")

_NAME: Final = "foreseen"
_FAILURES: Final = (StoreUnavailable, LedgerUnavailable, TimeoutError, WorkerEndedError, FailedFrameError, OSError)
_Key = tuple["Regime", Premises]


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
        self._making: DirectWorker | None = None
        self._forgotten = 0

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
        key = regime, premises
        try:
            foreseen = self._foreseen(key, changes, at, view)
        except _FAILURES as error:
            log.warning("what follows from a plan could not be worked out: %s", error)
            self._let_go(key)
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
        standing = self._brought_up(key)
        accepted = None if standing is None else moved_in(view, standing.moment, at)
        if standing is None or accepted is None:
            return None
        premises = key[1]
        texts = [
            "".join(f"{each.nquad}\n" for each in side if premises.has(each.graph)) for side in (*accepted, *changes)
        ]
        lengths = [len(text.encode()) for text in texts]
        head = {"store": _NAME, "what": "foresee", "lengths": lengths, "most": SAMPLE}
        came = standing.worker.entail(head, "".join(texts).encode(), LIMITS)
        found: Foreseen = orjson.loads(came.body)
        return found

    # --- where closures stand -----------------------------------------------------------------------------------------

    def _brought_up(self, key: _Key) -> _Standing | None:
        """The closure, at what is committed; None: it is not there yet."""
        standing = self._there(key)
        if standing is None:
            return None
        with self._ledger.reading() as view:
            head = view.head()
            moment = (Instant(BEGINNING) if head.instant is None else head.instant), head.clock
            differing = moved(view, standing.moment, moment)
        if differing is None:
            self._let_go(key)
            return self._there(key)
        texts = ("".join(f"{each.nquad}\n" for each in side if key[1].has(each.graph)) for side in differing)
        first, body = joined(*texts)
        if body:
            standing.worker.entail({"store": _NAME, "what": "follow", "first": first}, body, LIMITS)
        standing.moment = moment
        return standing

    def _there(self, key: _Key) -> _Standing | None:
        """The closure as it stands, if it is made by now or soon."""
        seconds, there = 0.0, self._kept.get(key)
        if there is not None and _is_gone(there):
            self._let_go(key)
        if key not in self._kept:
            if monotonic() < self._failed.get(key, 0.0):
                return None
            seconds, forgotten = WAIT, self._forgotten
            try:
                self._kept[key] = self._thread.submit(lambda: self._made(key, forgotten))
            except RuntimeError:  # it is closing
                return None
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._let_go(next(iter(self._kept)))
        making = self._kept[key]
        wait([making], seconds)
        if not making.done() or making.cancelled():
            return None
        error = making.exception()
        if error is None:
            return making.result()
        log.warning("what follows could not be worked out: %s", error)
        del self._kept[key]
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
        making = self._kept.pop(key, None)
        if making is not None and not making.cancel():
            making.add_done_callback(_ended)


def _is_gone(making: Future[_Standing]) -> bool:
    """Whether what was made has ended since, be it that somebody else ended it."""
    return making.done() and not making.cancelled() and making.exception() is None and making.result().worker.ended


def _ended(making: Future[_Standing]) -> None:
    if not making.cancelled() and making.exception() is None:
        making.result().end()


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
