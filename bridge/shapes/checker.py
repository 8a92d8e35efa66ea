"""The check of plans by shapes: SHACL Core on the neighbourhood of what changes.

Rules
-----
* Cheap exit: a plan that no shape can notice reads nothing. Without shapes there is nothing to do.
* Otherwise every pair of a shape and a node that the change concerns is judged before and after it, throughout the
  time in which the change matters (`neighbourhood`, `slices`); what is new is found. Equal findings of adjacent
  slices are one. A pair is judged on the whole plan, and so once, however many of its changes concern it.
* At most `limit` statements are read, and `JUDGED` times as many judged slice by slice, for each hundred statements
  that change. Beyond that the finding is `neighbourhood-exceeded`, and nothing else is said of those changes: fail
  closed.
* A plan that writes shapes is told what is wrong with them as they would be, or what they newly break of the data that
  is there (`existing`), most of which was judged beforehand (`preparing`). Ill-formed shapes in force are a finding
  on every plan that touches data. A plan is judged by the shapes believed before it.
* Each set of shapes (`application`) is judged by on its own.
* The mode of the shapes that find something (`application`) says how it is told: as it is, as a `reviewable-violation`,
  or as a warning at most. What a plan breaks is told in the mode in force; what shapes that are written break, in the
  mode that is written with them. What a waiver covers (`waivers`) is told as waived in every mode.
* The same plan and view give the same findings in the same order. A checker serves one thread.

Example
-------
::

    checker = CoreChecker()
    checker.findings(plan, view)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from bridge.shapes.application import Mode
from bridge.shapes.delta import Change, Concerned, changes_of_load, changes_of_plan, fused, supported_anew, together
from bridge.shapes.existing import each_beside
from bridge.shapes.neighbourhood import Walk
from bridge.shapes.overlay import Overlay, is_data, triple_of
from bridge.shapes.preparing import OfLoad, OfPlan, in_shapes, newly_broken, of_here, writes_shapes, written_by
from bridge.shapes.reader import Budget, NeighbourhoodExceeded, Reader
from bridge.shapes.registry import Registry, Shapes, document_of
from bridge.shapes.reports.telling import Telling
from bridge.shapes.slices import Looked, Slices, Violation
from bridge.shapes.sparql.patience import IN_TURN, Patience
from bridge.shapes.telling import Teller, at_most, by_key, n3_of
from certificates.findings import Finding, FindingCode, Severity
from kernel.governance import GovernedView
from kernel.time.intervals import Interval, gaps
from kernel.vocabulary import SHAPES_GRAPH
from kernel.writing.preparing import Unprepared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.neighbourhood import Pair
    from bridge.shapes.preparing import Own, Preparation
    from bridge.shapes.results import ResultKey
    from bridge.shapes.wellformed import Problem
    from kernel.facts import Fact, FactContent
    from kernel.ports.checks import Loaded
    from kernel.ports.facts import FactsView
    from kernel.terms import Iri
    from kernel.writing.plan import Plan
    from kernel.writing.preparing import Preparation as Prepared

LIMIT: Final = 10_000
JUDGED: Final = 50
_PACE: Final = 100
_CHUNK: Final = 500
_NAMED: Final = 3
_NOTHING_SAID: Final = "a shape refers to one of which nothing is said, and that judges nothing"


class CoreChecker:
    """Judges plans by the shapes of a base: a `kernel.ports.checks.ShapeChecker`.

    Args:
        limit: how many statements are read at most for each hundred that change.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._registry = Registry()

    def findings(self, plan: Plan, view: FactsView, preparation: Prepared | None = None) -> Sequence[Finding]:
        """full(after) − full(before) for a plan that is not yet in the view.

        Raises:
            Unprepared: the preparation is of no use any more.
        """
        facts = _governing(view)
        written = writes_shapes(plan)
        if not facts and not written:
            return ()
        found: list[Finding] = []
        if written:
            own = OfPlan(plan, view)
            document = written_by(plan, facts, view)
            prepared = of_here(preparation)
            shapes = _written(facts, document, prepared)
            found += self._of_written(_Write(facts, shapes, own, plan.issued_at), view, prepared)
            gone = {fact.id for fact in plan.supersede}
            stay = [*(fact.id for fact in facts if fact.id not in gone), *(each.id for each in in_shapes(plan.record))]
            self._registry.adopt(frozenset(stay), shapes)
        if facts:
            in_force = self._registry.of(facts, view)
            if in_force.problems:
                contents = (*plan.record, *(fact.content for fact in plan.supersede))
                found += _of_unusable(in_force, contents)
            else:
                for each in in_force.sets:
                    changes = changes_of_plan(plan, each.model, view, each.scope)
                    if changes:
                        overlay = Overlay.of_plan(plan, view, each.scope)
                        found += self._of_changes(each, changes, overlay, plan.issued_at)
        return found

    def noticed(self, plan: Plan, view: FactsView, preparation: Prepared | None = None) -> Sequence[FactContent]:
        """The shapes among the facts, and those of the data that shapes may see, or see evidence for.

        Of shapes that cannot be used, all data is as good as any: the first is enough to refuse it.
        """
        written = in_shapes(plan.record)
        facts = _governing(view)
        in_force = self._registry.of(facts, view) if facts else None
        prepared = of_here(preparation)
        coming = () if prepared is None or prepared.written.problems else prepared.written.sets
        if in_force is not None and in_force.problems:
            data = (content for content in plan.record if is_data(content.statement.graph))
            return [*written, *islice(data, 1)]
        seen = {
            content.id: content
            for shapes in (*coming, *(() if in_force is None else in_force.sets))
            for content in (*plan.record, *supported_anew(plan, shapes.model, view))
            if is_data(content.statement.graph) and shapes.model.notices(triple_of(content))
        }
        return [*written, *seen.values()]

    def missed(self, plan: Plan, view: FactsView) -> Sequence[Fact]:
        """Those of the data that a chunk supersedes which shapes may see; of shapes that cannot be used, the first."""
        facts = _governing(view) if plan.supersede else ()
        if not facts:
            return ()
        in_force = self._registry.of(facts, view)
        data = (fact for fact in plan.supersede if is_data(fact.statement.graph))
        if in_force.problems:
            return [*islice(data, 1)]
        models = [shapes.model for shapes in in_force.sets]
        return [fact for fact in data if any(model.notices(triple_of(fact.content)) for model in models)]

    def load_findings(self, load: Loaded, view: FactsView, preparation: Prepared | None = None) -> Sequence[Finding]:
        """The same for a load session, judged whole, whose facts and evidence are in the view."""
        facts = tuple(fact for fact in _governing(view) if fact.certificate != load.certificate)
        found: list[Finding] = []
        new_shapes = in_shapes(load.noticed)
        if new_shapes:
            known = view.evidence_of([content.id for content in new_shapes])
            evidence = [item.content for items in known.values() for item in items]
            document = document_of(facts, new_shapes, evidence, view)
            prepared = of_here(preparation)
            write = _Write(facts, _written(facts, document, prepared), OfLoad(load, view), load.issued_at)
            found += self._of_written(write, view, prepared)
        if facts:
            in_force = self._registry.of(facts, view)
            if in_force.problems:
                found += _of_unusable(in_force, (*load.noticed, *(fact.content for fact in load.gone)))
            else:
                for each in in_force.sets:
                    changes = changes_of_load(load, each.model, each.scope)
                    overlay = Overlay(view, gone=load.gone, brought_by=load.certificate, scope=each.scope)
                    found += self._of_changes(each, changes, overlay, load.issued_at)
        return found

    def _of_written(self, write: _Write, view: FactsView, preparation: Preparation | None) -> list[Finding]:
        """What is wrong with shapes as they would be, or else what data that is there they newly break."""
        written = write.shapes
        if written.problems:
            return _malformed(written)
        in_force = self._registry.of(write.facts, view) if write.facts else None
        usable = None if in_force is None or in_force.problems else in_force
        beside = [*_undescribed(usable, written), *_idle(usable, written)]
        if preparation is not None and preparation.written is written:
            return [*beside, *preparation.told(write.own, write.at)]
        for each in each_beside(usable, written):
            teller = Teller(each.written, FindingCode.EXISTING_VIOLATION)
            beside += teller.told(by_key(newly_broken(each, write.own)), write.at)
        return beside

    def _of_changes(self, shapes: Shapes, changes: Iterable[Change], overlay: Overlay, at: int) -> list[Finding]:
        waiting = iter(changes)
        found: list[Finding] = []
        violations: dict[ResultKey, list[Violation]] = {}
        judged, patience = _Judged(), Patience(IN_TURN)
        while chunk := list(islice(waiting, _CHUNK)):
            judged.settle()
            try:
                for violation in list(self._violations(shapes, chunk, overlay, judged, patience)):
                    violations.setdefault(violation.result.key, []).append(violation)
            except NeighbourhoodExceeded:
                judged.drop()
                found.append(self._exceeded(chunk, shapes))
        if not violations:
            return found
        code = FindingCode.REVIEWABLE_VIOLATION if shapes.mode is Mode.REVIEW else FindingCode.SHAPE_VIOLATION
        return [*found, *Teller(shapes, code).told(violations, at)]

    def _violations(
        self, shapes: Shapes, changes: Sequence[Change], overlay: Overlay, judged: _Judged, patience: Patience
    ) -> Iterator[Violation]:
        model = shapes.model
        allowed = self._limit * -(-len(changes) // _PACE)
        reader = Reader(overlay, Budget(allowed))
        slices = Slices(model, shapes.engine, reader, Budget(JUDGED * allowed, patience))
        concerned = Concerned(model)
        for alike in together(changes):
            first = alike[0]
            walk = Walk(model, reader, Interval(first.parts[0].start, first.parts[-1].end))
            pairs = walk.concerned([change.triple for change in alike], Looked(slices, alike))
            concerned.add(pairs, first.parts, first.graphs)
        for pair, parts, graphs in concerned.pairs():
            if not judged.before(pair, parts, graphs):
                yield from slices.violations(pair, parts, graphs)

    def _exceeded(self, changes: Sequence[Change], shapes: Shapes) -> Finding:
        asking = ", ".join(each.n3 for each in shapes.model.seeing_anywhere()[:_NAMED])
        why = f"; a query of {asking} may see any of them, whatever its focus" if asking else ""
        return Finding(
            code=FindingCode.NEIGHBOURHOOD_EXCEEDED,
            severity=at_most(Severity.VIOLATION, shapes.mode),
            message=(
                f"the shapes were not applied: more than {self._limit} statements would have to be read or judged for "
                f"what changes here ({len(changes)} statements); smaller changes would be judged{why}"
            ),
            graphs=tuple({graph.value for change in changes for graph in change.graphs}),
        )


def _governing(view: FactsView) -> tuple[Fact, ...]:
    """The believed facts of `m:shapes`; the same tuple while they stay, from a view that keeps them."""
    return view.governing(SHAPES_GRAPH) if isinstance(view, GovernedView) else tuple(view.believed(graph=SHAPES_GRAPH))


class _Judged:
    """What one plan has had judged so far: whole, as the plan is, whichever of its changes asked for it."""

    def __init__(self) -> None:
        self._settled: dict[Pair, tuple[Sequence[Interval], frozenset[Iri]]] = {}
        self._open: list[tuple[Pair, Sequence[Interval], frozenset[Iri]]] = []

    def before(self, pair: Pair, parts: Sequence[Interval], graphs: frozenset[Iri]) -> bool:
        """Whether a pair was judged in this time and for these graphs; else it is taken to be judged now."""
        if self._settled:
            then, by = self._settled.get(pair, ((), frozenset()))
            if graphs <= by and not any(gaps(part, then) for part in parts):
                return True
            parts, graphs = fused([*then, *parts]), graphs | by
        self._open.append((pair, parts, graphs))
        return False

    def settle(self) -> None:
        """What was to be judged has been."""
        self._settled.update((pair, (parts, graphs)) for pair, parts, graphs in self._open)
        self._open.clear()

    def drop(self) -> None:
        """What was to be judged has not been, or not all of it."""
        self._open.clear()


@dataclass(frozen=True, slots=True)
class _Write:
    """Shapes that are written.

    Args:
        facts: the shapes in force.
        shapes: as they would be.
        own: what else the plan changes.
        at: when it was issued.
    """

    facts: tuple[Fact, ...]
    shapes: Shapes
    own: Own
    at: int


def _written(facts: Sequence[Fact], document: ShapesDocument, preparation: Preparation | None) -> Shapes:
    """The shapes as they would be, those that were made ready beforehand if they are these. Raises `Unprepared`."""
    if preparation is None:
        return Shapes(document)
    if preparation.fits(facts, document):
        return preparation.written
    if preparation.insists:
        return Shapes(document)
    raise Unprepared


# --- shapes themselves ------------------------------------------------------------------------------------------------


def _of_unusable(shapes: Shapes, contents: Iterable[FactContent]) -> list[Finding]:
    """Fail closed: data is not written past shapes that cannot be applied."""
    if not any(is_data(content.statement.graph) for content in contents):
        return []
    return _malformed(shapes)


def _undescribed(in_force: Shapes | None, written: Shapes) -> list[Finding]:
    """What newly refers to shapes that are not there."""
    known = () if in_force is None else in_force.undescribed
    return [
        _of_shapes(problem, FindingCode.UNDESCRIBED_SHAPE, Severity.WARNING, f"{_NOTHING_SAID}: {n3_of(problem.value)}")
        for problem in written.undescribed
        if problem not in known
    ]


def _idle(in_force: Shapes | None, written: Shapes) -> list[Finding]:
    """What is newly said, and has no effect."""
    known = () if in_force is None else in_force.idle
    telling = Telling(written.document)
    return [
        _of_shapes(
            problem,
            FindingCode.WITHOUT_EFFECT,
            Severity.WARNING,
            f"what the shapes say has no effect, at {telling.place(problem.place)}: {telling.reason(problem)}",
        )
        for problem in written.idle
        if problem not in known
    ]


def _malformed(shapes: Shapes) -> list[Finding]:
    telling = Telling(shapes.document)
    return [
        _of_shapes(
            problem,
            FindingCode.MALFORMED_SHAPES,
            Severity.VIOLATION,
            f"the shapes cannot be used, at {telling.place(problem.place)}: {telling.reason(problem)}",
        )
        for problem in shapes.problems
    ]


def _of_shapes(problem: Problem, code: FindingCode, severity: Severity, message: str) -> Finding:
    """A finding about the shapes themselves, at the place of a problem."""
    return Finding(
        code=code,
        severity=severity,
        message=message,
        graphs=(SHAPES_GRAPH.value,),
        focus=problem.place.n3,
        path=n3_of(problem.predicate),
        value=n3_of(problem.value),
    )
