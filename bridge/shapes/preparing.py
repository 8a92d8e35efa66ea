"""Judging what written shapes newly break beside the writes, so that only what changed meanwhile is left to the write.

Rules
-----
* First every target is judged, a batch at a time, each batch on what is committed by then. What changed since the first
  batch began is judged again until little is left: a target that no change concerns is as it was when it was judged.
* Each batch forgets what the one before has read, and targets wait on disk: memory holds what was found, and whatever
  one batch reads. A read of the ledger lasts as long as a batch; that of what changed, as long as judging that.
* The write, when its turn comes, adds what changed since then and what its own plan changes. If the former is more than
  `FEW` statements, takes more than `BRIEF` of reading, or changes one of more than `BRIEFLY_WORDED` findings, it is
  prepared further first, unless it insists. Where nothing changed of them, findings are those worded beforehand.
* A preparation is for certain shapes in force and certain shapes written; for others it is of no use.
* What a write adds is forgotten with it: its group may yet come to nothing.

Example
-------
::

    preparation = ShapesPreparer(ledger).prepare(plan, view, None)
    preparation.advance(watch)                          # beside the writes
    preparation.hold(view)                              # in the write
    preparation.told(OfPlan(plan, view), plan.issued_at)
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Final, Protocol

from bridge.shapes.broken import Broken, Waiting
from bridge.shapes.evidence import brought_by
from bridge.shapes.existing import each_beside
from bridge.shapes.overlay import EVERYTHING, Overlay, triple_of
from bridge.shapes.reader import Budget, NeighbourhoodExceeded
from bridge.shapes.registry import Shapes, document_of
from bridge.shapes.sparql.patience import IN_TURN, Patience
from bridge.shapes.telling import Teller, by_key
from certificates.findings import FindingCode
from kernel.time.instants import FOREVER
from kernel.vocabulary import SHAPES_GRAPH
from kernel.writing.preparing import Unprepared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from bridge.shapes.document import ShapesDocument, Triple
    from bridge.shapes.existing import Existing, Judged
    from bridge.shapes.neighbourhood import Pair
    from bridge.shapes.overlay import Scope
    from bridge.shapes.slices import Violation
    from certificates.findings import Finding
    from kernel.facts import Fact, FactContent
    from kernel.ports.checks import Loaded
    from kernel.ports.facts import FactsView
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.time.instants import Instant
    from kernel.writing.plan import Plan
    from kernel.writing.preparing import Preparation as Prepared
    from kernel.writing.preparing import Watch

FEW: Final = 100
"""Statements changed beside a write that are judged within it."""

BRIEF: Final = 4_000
"""How much may be read and judged for those: some tens of milliseconds."""

BRIEFLY_WORDED: Final = 1_000
"""How many findings may be put together anew, and their waivers looked up, because of what others changed since."""

BATCH: Final = 200
"""Targets, or statements changed, that are judged on one read of the ledger."""

ROUNDS: Final = 20
"""How often what changed meanwhile is judged before the write is tried all the same."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed in the data, as far as shapes may notice.

    Args:
        triples: statements that came or went, or for which evidence came.
        gone: facts that are believed no more.
    """

    triples: tuple[Triple, ...]
    gone: tuple[Fact, ...] = ()


class Preparation:
    """What certain shapes newly break, followed through what changes: a `kernel.writing.preparing.Preparation`.

    Args:
        ledger: of the base.
        held: the facts of the shapes in force.
        in_force: the shapes in force; None: none, or none that can be used.
        written: the shapes as they would be.

    Attributes:
        held: the same.
        written: the same.
        insists: whether a write judges whatever is left.
    """

    def __init__(self, ledger: Ledger, held: frozenset[UUID], in_force: Shapes | None, written: Shapes) -> None:
        self.held = held
        self.written = written
        self.insists = False
        beside = () if written.problems else each_beside(in_force, written)
        self._followed = [_Followed(ledger, each) for each in beside]
        self._begun = False

    def fits(self, held: Iterable[Fact], document: ShapesDocument) -> bool:
        """Whether it is about these shapes in force, and these written."""
        return self.held == {fact.id for fact in held} and self.written.document.said == document.said

    def insist(self) -> None:
        """From now on a write judges whatever is left, however much."""
        self.insists = True

    def advance(self, watch: Watch) -> None:
        """Judges what is committed, until little is left."""
        for each in self._followed:
            if not self._begun:
                each.judge_all(watch)
        self._begun = True
        for _ in range(ROUNDS):
            for each in self._followed:
                each.word()
            if sum(each.follow(watch) for each in self._followed) <= FEW // 2:
                break
        for each in self._followed:
            each.word()

    def hold(self, view: LedgerView) -> None:
        """Takes note of what others changed since, before a load brings facts of its own. Raises `Unprepared`."""
        if self._followed and not self._begun:
            raise Unprepared
        left = sum(each.hold(view, inf if self.insists else FEW + 1) for each in self._followed)
        if left > FEW and not self.insists:
            raise Unprepared

    def told(self, own: Own, at: int) -> list[Finding]:
        """What is newly broken, of the data as a plan leaves it; after `hold`.

        Args:
            own: what the plan itself changes.
            at: when it was issued.

        Raises:
            Unprepared: too much would have to be judged for what others have changed since.
        """
        terms = Terms() if self.insists else Terms(BRIEF, BRIEFLY_WORDED)
        return [finding for each in self._followed for finding in each.told(own, at, terms)]


@dataclass(frozen=True, slots=True)
class Terms:
    """What a write may take its turn for.

    Args:
        judged: how much may be read and judged for what others changed.
        worded: how many findings may be put together anew because of that.
        patience: of whoever waits.
    """

    judged: float = inf
    worded: float = inf
    patience: Patience = field(default_factory=lambda: Patience(IN_TURN))


@dataclass(frozen=True, slots=True)
class _Worded:
    """Findings put into words: of what, and as of when."""

    version: int
    at: int
    findings: Sequence[Finding]


class _Followed:
    """What one set of shapes newly breaks, followed through what changes.

    Args:
        ledger: of the base.
        existing: the set beside the same in force.
    """

    def __init__(self, ledger: Ledger, existing: Existing) -> None:
        self._ledger = ledger
        self._existing = existing
        self._teller = Teller(existing.written, FindingCode.EXISTING_VIOLATION)
        self._broken = Broken()
        self._worded: _Worded | None = None
        self._as_of: Instant | None = None
        self._since = Changed(())

    # --- beside the writes --------------------------------------------------------------------------------------------

    def judge_all(self, watch: Watch) -> None:
        """Judges every target."""
        existing = self._existing
        with ExitStack() as until_done:
            with self._ledger.reading() as view:
                self._as_of = view.head().instant
                waiting = until_done.enter_context(
                    Waiting.of(existing.targets(Overlay(view, scope=existing.written.scope)))
                )
            done, total = 0, len(waiting)
            watch.tell(done, total)
            for batch in waiting.batches(BATCH):
                with self._ledger.reading() as view:
                    judging = existing.over(partial(_as_it_stands, view, ()), Budget())
                    for pair in batch:
                        watch.require_going_on()
                        self._broken.put(pair, judging.judge(pair))
                done += len(batch)
                watch.tell(done, total)

    def word(self) -> None:
        """Words what is found so far: there is time for it now."""
        at = self._as_of or FOREVER
        if self._still_worded(at) is None:
            findings = self._teller.told(by_key(self._broken.violations({})), at)
            for finding in findings:
                finding.canonical()
            self._worded = _Worded(self._broken.version, at, findings)

    def follow(self, watch: Watch) -> int:
        """Judges anew what changed since; answers how many statements did."""
        existing = self._existing
        with self._ledger.reading() as view:
            now = view.head().instant
            if now is None or now == self._as_of:
                return 0
            changed = self._changed(view, now)
            for batch in _batches(changed.triples):
                judging = existing.over(partial(_as_it_stands, view, changed.gone), Budget())
                for pair in self._broken.concerned(judging.concerned(batch)):
                    watch.require_going_on()
                    self._broken.put(pair, judging.judge(pair))
            self._as_of = now
        return len(changed.triples)

    # --- in the write -------------------------------------------------------------------------------------------------

    def hold(self, view: LedgerView, most: float) -> int:
        """Takes note of what others changed since; answers how many statements, or `most`."""
        self._since = self._changed(view, FOREVER, most)
        return len(self._since.triples)

    def told(self, own: Own, at: int, terms: Terms) -> Sequence[Finding]:
        """What is newly broken, of the data as a plan leaves it.

        Args:
            own: what the plan itself changes.
            at: when it was issued.
            terms: what the turn may be taken for.

        Raises:
            Unprepared: it would take more.
        """
        existing, changed = self._existing, self._since
        mine = [triple for triple in own.triples if existing.notices(triple)]
        instead: dict[Pair, Judged | None] = {}
        try:
            for batch in _batches([*changed.triples, *mine]):
                allowed = Budget(inf if mine else terms.judged, terms.patience)
                judging = existing.over(partial(own.overlay, changed.gone), allowed)
                for pair in self._broken.concerned(judging.concerned(batch)):
                    instead[pair] = judging.judge(pair)
        except NeighbourhoodExceeded:
            raise Unprepared from None
        instead = self._broken.differing(instead)
        worded = self._still_worded(at)
        if worded is not None and not instead:
            return worded
        if not mine and len(() if self._worded is None else self._worded.findings) > terms.worded:
            raise Unprepared
        return self._teller.told(by_key(self._broken.violations(instead)), at)

    def _still_worded(self, at: int) -> Sequence[Finding] | None:
        """The findings as they were worded, if nothing else was found since, and no waiver has ended."""
        worded = self._worded
        if worded is None or worded.version != self._broken.version:
            return None
        return None if self._existing.written.waivers.lapse(worded.at, at) else worded.findings

    def _changed(self, view: LedgerView, until: Instant, most: float = inf) -> Changed:
        """What changed after what is known, up to an instant; not all of it, if it is more than `most` statements."""
        existing = self._existing
        triples: dict[Triple, None] = {}
        gone: list[Fact] = []
        for fact in view.facts_recorded(self._as_of, until):
            triple = triple_of(fact.content)
            if fact.statement.graph in EVERYTHING and existing.notices(triple):
                triples[triple] = None
                gone += [fact] * (fact.superseded is not None)
            if len(triples) >= most:
                return Changed(tuple(triples))
        evidence = view.evidence_recorded(self._as_of, until)
        for identifier in list(dict.fromkeys(item.content.fact for item, graph in evidence if graph in EVERYTHING)):
            held = view.fact(identifier)
            if held is not None and existing.notices(triple_of(held.content)):
                triples[triple_of(held.content)] = None
        return Changed(tuple(triples), tuple(gone))


def _as_it_stands(view: FactsView, gone: Iterable[Fact], scope: Scope, *, only_after: bool) -> Overlay:
    return Overlay(view, gone=gone, scope=scope, only_after=only_after)


def _batches(triples: Sequence[Triple]) -> Iterator[Sequence[Triple]]:
    return (triples[start : start + BATCH] for start in range(0, len(triples), BATCH))


class Own(Protocol):
    """What a plan itself changes."""

    @property
    def triples(self) -> Sequence[Triple]:
        """Statements of the data that come or go, or for which evidence comes."""
        ...

    def overlay(self, gone: Iterable[Fact], scope: Scope, *, only_after: bool) -> Overlay:
        """The data of some graphs as the plan leaves it; beside it what goes, and facts that went before."""
        ...


@dataclass(frozen=True, slots=True)
class OfPlan:
    """What a plan changes that is not in the view."""

    plan: Plan
    view: FactsView

    @property
    def triples(self) -> Sequence[Triple]:
        """As the protocol has it."""
        plan = self.plan
        supported = (self.view.fact(item.fact) for item in plan.evidence)
        contents = [
            *plan.record,
            *(fact.content for fact in plan.supersede),
            *(fact.content for fact in supported if fact is not None),
        ]
        return [triple_of(content) for content in contents if content.statement.graph in EVERYTHING]

    def overlay(self, gone: Iterable[Fact], scope: Scope, *, only_after: bool) -> Overlay:
        """As the protocol has it."""
        plan = self.plan
        superseded = (fact.id for fact in plan.supersede)
        return Overlay(
            self.view,
            coming=plan.record,
            superseded=superseded,
            gone=gone,
            evidence=brought_by(plan),
            scope=scope,
            only_after=only_after,
        )


@dataclass(frozen=True, slots=True)
class OfLoad:
    """What a load session brought, and is in the view."""

    load: Loaded
    view: FactsView

    @property
    def triples(self) -> Sequence[Triple]:
        """As the protocol has it."""
        return [triple_of(content) for content in self.load.noticed if content.statement.graph in EVERYTHING]

    def overlay(self, gone: Iterable[Fact], scope: Scope, *, only_after: bool) -> Overlay:
        """As the protocol has it."""
        return Overlay(self.view, gone=gone, brought_by=self.load.certificate, scope=scope, only_after=only_after)


def newly_broken(existing: Existing, own: Own) -> list[Violation]:
    """What is newly broken, judged as a whole, of the data as a plan leaves it."""
    judging = existing.over(partial(own.overlay, ()), Budget(patience=Patience(IN_TURN)))
    broken = Broken()
    for pair in dict.fromkeys(existing.targets(own.overlay((), existing.written.scope, only_after=True))):
        broken.put(pair, judging.judge(pair))
    return list(broken.violations({}))


class ShapesPreparer:
    """Begins preparations: a `kernel.writing.preparing.ShapePreparer`.

    Args:
        ledger: of the base.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def prepare(self, plan: Plan, view: FactsView, previous: Prepared | None) -> Preparation | None:
        """A preparation for the shapes that a plan writes, the previous one if it will do; None: it writes none."""
        if not writes_shapes(plan):
            return None
        facts = tuple(view.believed(graph=SHAPES_GRAPH))
        document = written_by(plan, facts, view)
        known = of_here(previous)
        if known is not None and known.fits(facts, document):
            return known
        in_force = Shapes(document_of(facts, (), (), view)) if facts else None
        usable = None if in_force is None or in_force.problems else in_force
        return Preparation(self._ledger, frozenset(fact.id for fact in facts), usable, Shapes(document))


def of_here(preparation: Prepared | None) -> Preparation | None:
    """A preparation, if it was made here; others say nothing that could be used."""
    return preparation if isinstance(preparation, Preparation) else None


def writes_shapes(plan: Plan) -> bool:
    """Whether a plan changes the shapes."""
    for content in plan.record:
        if content.statement.graph == SHAPES_GRAPH:
            return True
    return any(fact.statement.graph == SHAPES_GRAPH for fact in plan.supersede)


def written_by(plan: Plan, facts: Iterable[Fact], view: FactsView) -> ShapesDocument:
    """The shapes as they are after a plan.

    Args:
        plan: it.
        facts: the shapes before it.
        view: where the evidence for them is.
    """
    gone = {fact.id for fact in plan.supersede}
    return document_of([fact for fact in facts if fact.id not in gone], in_shapes(plan.record), plan.evidence, view)


def in_shapes(contents: Iterable[FactContent]) -> list[FactContent]:
    """The facts that are in the shapes graph."""
    return [content for content in contents if content.statement.graph == SHAPES_GRAPH]
