"""The check of plans by shapes: SHACL Core on the neighbourhood of what changes.

Rules
-----
* Cheap exit: a plan that no shape can notice reads nothing. Without shapes there is nothing to do.
* Otherwise every pair of a shape and a node that the change concerns is judged before and after it, throughout the
  time in which the change matters (`neighbourhood`, `slices`); what is new is found. Equal findings of adjacent
  slices are one.
* At most `limit` statements are read, and `JUDGED` times as many judged slice by slice, for each hundred statements
  that change. Beyond that the finding is `neighbourhood-exceeded`, and nothing else is said of those changes: fail
  closed.
* A plan that writes shapes is told what is wrong with them as they would be, or what they newly break of the data that
  is there (`existing`). Ill-formed shapes in force are a finding
  on every plan that touches data. A plan is judged by the shapes believed before it.
* The mode of the shapes that find something (`application`) says how it is told: as it is, as a `reviewable-violation`,
  or as a warning at most. What a plan breaks is told in the mode in force; what shapes that are written break, in the
  mode that is written with them.
* The same plan and view give the same findings in the same order. A checker serves one thread.

Example
-------
::

    checker = CoreChecker()
    checker.findings(plan, view)
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from bridge.shapes.application import Mode
from bridge.shapes.delta import Change, Concerned, changes_of_load, changes_of_plan, fused
from bridge.shapes.existing import Existing
from bridge.shapes.messages import message_of
from bridge.shapes.neighbourhood import Budget, NeighbourhoodExceeded, Reader, Walk
from bridge.shapes.overlay import Overlay, is_data, triple_of
from bridge.shapes.registry import Registry, Shapes, document_of
from bridge.shapes.slices import Slices, Violation
from bridge.shapes.vocabulary import sh
from certificates.findings import Finding, FindingCode, Severity
from kernel.governance import GovernedView
from kernel.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.intervals import Interval
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bridge.shapes.results import ResultKey
    from bridge.shapes.wellformed import Problem
    from kernel.facts import Fact, FactContent
    from kernel.plan import Plan
    from kernel.ports import FactsView
    from kernel.terms import Term

LIMIT: Final = 10_000
EXISTING: Final = 100_000
JUDGED: Final = 50
_PACE: Final = 100
_CHUNK: Final = 500

_SEVERITIES: Final = {sh("Warning"): Severity.WARNING, sh("Info"): Severity.INFO}


class CoreChecker:
    """Judges plans by the shapes of a base: a `kernel.ports.ShapeChecker`.

    Args:
        limit: how many statements are read at most for each hundred that change.
        existing: how many, when shapes are written, of the data that is there.
    """

    def __init__(self, limit: int = LIMIT, existing: int = EXISTING) -> None:
        self._limit = limit
        self._existing = existing
        self._registry = Registry()

    def findings(self, plan: Plan, view: FactsView) -> Sequence[Finding]:
        """full(after) − full(before) for a plan that is not yet in the view."""
        facts = _governing(view)
        writes_shapes = _writes_shapes(plan)
        if not facts and not writes_shapes:
            return ()
        found: list[Finding] = []
        if writes_shapes:
            gone = {fact.id for fact in plan.supersede}
            left = [fact for fact in facts if fact.id not in gone]
            written = Shapes(document_of(left, _in_shapes(plan.record), plan.evidence, view))
            found += self._of_written(facts, written, Overlay.of_plan(plan, view), view)
        if facts:
            shapes = self._registry.of(facts, view)
            if shapes.problems:
                contents = (*plan.record, *(fact.content for fact in plan.supersede))
                found += _of_unusable(shapes, contents)
            else:
                changes = changes_of_plan(plan, shapes.model, view)
                found += self._of_changes(shapes, changes, Overlay.of_plan(plan, view)) if changes else ()
        return found

    def noticed(self, recorded: Sequence[FactContent], view: FactsView) -> Sequence[FactContent]:
        """The shapes among the facts, and those of the data that shapes in force may see.

        Of shapes that cannot be used, all data is as good as any: the first is enough to refuse it.
        """
        written = _in_shapes(recorded)
        facts = _governing(view)
        if not facts:
            return written
        shapes = self._registry.of(facts, view)
        data = (content for content in recorded if is_data(content.statement.graph))
        if shapes.problems:
            return [*written, *islice(data, 1)]
        return [*written, *(content for content in data if shapes.model.notices(triple_of(content)))]

    def load_findings(self, recorded: Sequence[FactContent], view: FactsView) -> Sequence[Finding]:
        """The same for a load session, judged whole, whose facts are in the view."""
        new = {content.id for content in recorded}
        facts = tuple(fact for fact in _governing(view) if fact.id not in new)
        found: list[Finding] = []
        new_shapes = _in_shapes(recorded)
        if new_shapes:
            known = view.evidence_of([content.id for content in new_shapes])
            evidence = [item.content for items in known.values() for item in items]
            written = Shapes(document_of(facts, new_shapes, evidence, view))
            found += self._of_written(facts, written, Overlay(view, recorded, in_view=True), view)
        if facts:
            shapes = self._registry.of(facts, view)
            if shapes.problems:
                found += _of_unusable(shapes, recorded)
            else:
                changes = changes_of_load(recorded, shapes.model)
                found += self._of_changes(shapes, changes, Overlay(view, recorded, in_view=True))
        return found

    def _of_written(self, facts: tuple[Fact, ...], written: Shapes, overlay: Overlay, view: FactsView) -> list[Finding]:
        """What is wrong with shapes as they would be, or else what data that is there they newly break."""
        if written.problems:
            return list(map(_malformed, written.problems))
        in_force = self._registry.of(facts, view) if facts else None
        usable = None if in_force is None or in_force.problems else in_force
        violations: dict[ResultKey, list[Violation]] = {}
        try:
            for violation in Existing(usable, written, overlay, Budget(self._existing)).violations():
                violations.setdefault(violation.result.key, []).append(violation)
        except NeighbourhoodExceeded:
            return [*_undescribed(usable, written), _not_all_judged(self._existing, written.mode)]
        return [*_undescribed(usable, written), *_told(written, violations, FindingCode.EXISTING_VIOLATION)]

    def _of_changes(self, shapes: Shapes, changes: Iterable[Change], overlay: Overlay) -> list[Finding]:
        waiting = iter(changes)
        found: list[Finding] = []
        violations: dict[ResultKey, list[Violation]] = {}
        while chunk := list(islice(waiting, _CHUNK)):
            try:
                for violation in list(self._violations(shapes, chunk, overlay)):
                    violations.setdefault(violation.result.key, []).append(violation)
            except NeighbourhoodExceeded:
                found.append(self._exceeded(chunk, shapes.mode))
        code = FindingCode.REVIEWABLE_VIOLATION if shapes.mode is Mode.REVIEW else FindingCode.SHAPE_VIOLATION
        return [*found, *_told(shapes, violations, code)]

    def _violations(self, shapes: Shapes, changes: Sequence[Change], overlay: Overlay) -> Iterator[Violation]:
        model = shapes.model
        allowed = self._limit * -(-len(changes) // _PACE)
        reader = Reader(overlay, Budget(allowed))
        slices = Slices(model, shapes.engine, reader, Budget(JUDGED * allowed))
        concerned = Concerned(model)
        for change in changes:
            horizon = Interval(change.parts[0].start, change.parts[-1].end)
            concerned.add(change, Walk(model, reader, horizon).concerned(change.triple))
        for pair, parts, graphs in concerned.pairs():
            yield from slices.violations(pair, parts, graphs)

    def _exceeded(self, changes: Sequence[Change], mode: Mode) -> Finding:
        return Finding(
            code=FindingCode.NEIGHBOURHOOD_EXCEEDED,
            severity=_at_most(Severity.VIOLATION, mode),
            message=(
                f"the shapes were not applied: more than {self._limit} statements would have to be read or judged for "
                f"what changes here ({len(changes)} statements); smaller changes would be judged"
            ),
            graphs=tuple({graph.value for change in changes for graph in change.graphs}),
        )


def _governing(view: FactsView) -> tuple[Fact, ...]:
    """The believed facts of `m:shapes`; the same tuple while they stay, from a view that keeps them."""
    return view.governing(SHAPES_GRAPH) if isinstance(view, GovernedView) else tuple(view.believed(graph=SHAPES_GRAPH))


def _writes_shapes(plan: Plan) -> bool:
    for content in plan.record:
        if content.statement.graph == SHAPES_GRAPH:
            return True
    return any(fact.statement.graph == SHAPES_GRAPH for fact in plan.supersede)


# --- shapes themselves ------------------------------------------------------------------------------------------------


def _in_shapes(contents: Iterable[FactContent]) -> list[FactContent]:
    return [content for content in contents if content.statement.graph == SHAPES_GRAPH]


def _of_unusable(shapes: Shapes, contents: Iterable[FactContent]) -> list[Finding]:
    """Fail closed: data is not written past shapes that cannot be applied."""
    if not any(is_data(content.statement.graph) for content in contents):
        return []
    return list(map(_malformed, shapes.problems))


def _at_most(severity: Severity, mode: Mode) -> Severity:
    """The severity that a finding has in a mode."""
    return Severity.WARNING if mode is Mode.WARN and severity is Severity.VIOLATION else severity


def _not_all_judged(allowed: int, mode: Mode) -> Finding:
    return Finding(
        code=FindingCode.NEIGHBOURHOOD_EXCEEDED,
        severity=_at_most(Severity.VIOLATION, mode),
        message=(
            f"the data that is there was not judged by these shapes: more than {allowed} statements would have to be "
            "read; in force they judge what is written from then on; narrower targets would be judged"
        ),
        graphs=(SHAPES_GRAPH.value,),
    )


def _undescribed(in_force: Shapes | None, written: Shapes) -> list[Finding]:
    """What newly refers to shapes that are not there."""
    known = () if in_force is None else in_force.undescribed
    return [
        Finding(
            code=FindingCode.UNDESCRIBED_SHAPE,
            severity=Severity.WARNING,
            message=f"a shape refers to one of which nothing is said, so that it judges nothing: {_n3(problem.value)}",
            graphs=(SHAPES_GRAPH.value,),
            focus=problem.place.n3,
            path=_n3(problem.predicate),
            value=_n3(problem.value),
        )
        for problem in written.undescribed
        if problem not in known
    ]


def _malformed(problem: Problem) -> Finding:
    return Finding(
        code=FindingCode.MALFORMED_SHAPES,
        severity=Severity.VIOLATION,
        message=f"the shapes cannot be used, at {problem.place.n3}: {problem.reason}",
        graphs=(SHAPES_GRAPH.value,),
        focus=problem.place.n3,
        path=_n3(problem.predicate),
        value=_n3(problem.value),
    )


# --- violations -------------------------------------------------------------------------------------------------------


def _told(shapes: Shapes, violations: dict[ResultKey, list[Violation]], code: FindingCode) -> list[Finding]:
    """The findings, in an order that does not depend on how they came about."""
    found = [finding for same in violations.values() for finding in _merged(shapes, same, code)]
    return sorted(found, key=lambda each: tuple(text or "" for text in (*each.key[1:], each.start, each.end)))


def _merged(shapes: Shapes, same: Sequence[Violation], code: FindingCode) -> Iterator[Finding]:
    """One finding for each stretch of time in which the same result is new."""
    for stretch in fused(violation.part for violation in same):
        within = [violation for violation in same if violation.part.overlaps(stretch)]
        first = min(within, key=_in_order)
        graphs = {graph.value for violation in within for graph in violation.graphs}
        yield _finding(shapes, code, first, stretch, graphs)


def _finding(shapes: Shapes, code: FindingCode, violation: Violation, stretch: Interval, graphs: set[str]) -> Finding:
    result = violation.result
    severity = _SEVERITIES.get(result.severity, Severity.VIOLATION) if result.severity else Severity.VIOLATION
    return Finding(
        code=code,
        severity=_at_most(severity, shapes.mode),
        message=message_of(shapes.document, result),
        graphs=tuple(graphs),
        focus=result.focus.n3,
        path=result.path,
        value=_n3(result.value),
        shape=result.shape.n3,
        component=result.component.n3,
        start=print_instant(Instant(stretch.start)) if stretch.start != BEGINNING else None,
        end=print_instant(Instant(stretch.end)) if stretch.end != FOREVER else None,
    )


def _in_order(violation: Violation) -> tuple[Interval, str]:
    """Which of several violations of one key is told: the first one, and of one time the first spelling."""
    return violation.part, _n3(violation.result.spelled) or ""


def _n3(term: Term | None) -> str | None:
    return None if term is None else term.n3
