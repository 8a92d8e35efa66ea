"""Shapes that are written, judged on the data that is there, target by target.

Rules
-----
* Found is what the shapes as they would be say of the data, at any valid time, and the shapes in force do not: what the
  shapes newly break, not what is broken. Results are compared by their keys, whichever target led to them.
* Each set of shapes is judged by itself, and held against the same set as it is in force.
* Only targets of shapes that are written, or that refer to such, are judged; a shape that is only taken away breaks
  nothing. Where the graphs that shapes are bound to change, all of them count as written.
* A change of the data concerns the targets that a shape written may see it from, and those whose results are held
  against results that a shape in force may see it from. All others stay as they were judged.

Example
-------
::

    existing = Existing(in_force, written)
    judging = existing.over(overlay_of, Budget())
    for pair in existing.targets(overlay_of(written.scope, only_after=True)):
        judging.judge(pair)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bridge.shapes.model import siblings
from bridge.shapes.neighbourhood import Walk, every_focus, reach_all
from bridge.shapes.reader import Reader
from bridge.shapes.slices import Slices, Violation
from kernel.terms import Iri, Literal
from kernel.time.intervals import ALWAYS, gaps
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.shapes.document import Triple
    from bridge.shapes.neighbourhood import Pair
    from bridge.shapes.overlay import Overlay, Scope
    from bridge.shapes.reader import Budget
    from bridge.shapes.registry import Shapes
    from bridge.shapes.results import Result, ResultKey
    from kernel.terms import Term

_Said: TypeAlias = "frozenset[tuple[Triple, Literal | None]]"
"""Statements of a shapes graph, as they were submitted."""


class OverlayOf(Protocol):
    """Gives the data of the graphs of a scope: what is there afterwards, and beside it what was there before."""

    def __call__(self, scope: Scope, *, only_after: bool) -> Overlay:
        """The data, or only what is there afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found at one target.

    Args:
        violations: what is newly broken.
        keys: the results of shapes that are in force too, newly broken or not.
        held_against: the nodes at which shapes in force were asked whether they say the same.
    """

    violations: tuple[Violation, ...]
    keys: frozenset[ResultKey]
    held_against: frozenset[Term]


def each_beside(in_force: Shapes | None, written: Shapes) -> list[Existing]:
    """Each set of shapes that are written, without problems, beside the same set in force, if there is one."""
    before = {} if in_force is None else {each.of: each for each in in_force.sets}
    return [Existing(before.get(each.of), each) for each in written.sets]


class Existing:
    """Shapes that are written beside those in force.

    Args:
        in_force: the shapes so far; None: none, or none that can be used.
        written: the shapes as they would be, without problems.

    Attributes:
        in_force: the same.
        written: the same.
    """

    def __init__(self, in_force: Shapes | None, written: Shapes) -> None:
        self.in_force = in_force
        self.written = written
        self._roots = tuple(root for root in written.model.roots if self._is_new(root.node))
        self._by_node = {root.node: root for root in self._roots}

    def over(self, overlay_of: OverlayOf, budget: Budget) -> Judging:
        """What judges targets on some data, as it is after whatever changes; it remembers what it has read.

        Args:
            overlay_of: gives the data of the graphs of a scope.
            budget: how much may be read and judged.
        """
        return Judging(self, overlay_of, budget)

    def targets(self, overlay: Overlay) -> Iterator[Pair]:
        """Every target, at any time, of the shapes to be judged; some may come several times.

        Args:
            overlay: the data in the scope of the shapes written.
        """
        for root in self._roots:
            for focus in every_focus(root.targets, overlay.match):
                yield root.node, focus

    def roots_at(self, shape: Iri) -> Iterator[Iri]:
        """The shapes to be judged whose results at a node include those of a shape at the same node."""
        waiting = [shape]
        for node in waiting:
            if node in self._by_node:
                yield node
            outer = self.written.model.outer.get(node, ())
            waiting += [each.node for each in outer if node in each.handed_on and each.node not in waiting]

    def notices(self, triple: Triple) -> bool:
        """Whether shapes written or in force may see a statement."""
        return self.written.model.notices(triple) or (self.in_force is not None and self.in_force.model.notices(triple))

    def _is_new(self, root: Iri) -> bool:
        """Whether anything that the shape says, or a shape that it refers to, is not said so far."""
        if self.in_force is None or self.in_force.scope != self.written.scope:
            return True
        return _said(self.written, root) != _said(self.in_force, root)


class Judging:
    """Judges targets on one state of the data; made by `Existing.over`."""

    def __init__(self, existing: Existing, overlay_of: OverlayOf, budget: Budget) -> None:
        self._existing = existing
        self._overlay_of = overlay_of
        self._budget = budget
        written, in_force = existing.written, existing.in_force
        self._reader = Reader(overlay_of(written.scope, only_after=True), budget)
        self._slices = Slices(written.model, written.engine, self._reader, budget)
        self._in_force = in_force
        if in_force is not None:
            same = in_force.scope == written.scope
            self._old_reader = self._reader if same else Reader(overlay_of(in_force.scope, only_after=True), budget)
            self._old_slices = Slices(in_force.model, in_force.engine, self._old_reader, budget)
        self._standing: dict[Pair, list[Violation]] = {}

    def judge(self, pair: Pair) -> Judged | None:
        """What is newly broken at a target; None: nothing is found there at all.

        Raises:
            NeighbourhoodExceeded: the budget is spent.
        """
        found = list(self._slices.standing(pair, ALWAYS))
        if not found:
            return None
        violations: list[Violation] = []
        keys: set[ResultKey] = set()
        held_against: set[Term] = set()
        for violation in found:
            others = self._in_force_at(violation.result)
            if others is not None:
                keys.add(violation.result.key)
                held_against.update(focus for _, focus in others)
            held = [
                each.part
                for other in others or ()
                for each in self._held(other)
                if each.result.key == violation.result.key
            ]
            graphs = violation.graphs | {SHAPES_GRAPH}
            violations += [Violation(violation.result, part, graphs) for part in gaps(violation.part, held)]
        return Judged(tuple(violations), frozenset(keys), frozenset(held_against))

    def concerned(self, triples: Iterable[Triple]) -> Concerned:
        """What changed statements concern, by the data before and after."""
        written, in_force = self._existing.written, self._in_force
        walk, old_walk = self._walk(written), None if in_force is None else self._walk(in_force)
        found = Concerned(set(), set(), set())
        every = [*triples]
        for shape, focus in walk.concerned([triple for triple in every if written.model.notices(triple)]):
            found.targets.update((root, focus) for root in self._existing.roots_at(shape))
        if old_walk is not None and in_force is not None:
            for pair in old_walk.concerned([triple for triple in every if in_force.model.notices(triple)]):
                # By the node: a property shape and the shape that hands its results on are two pairs with the same.
                found.in_force.add(pair[1])
                found.keys.update(violation.result.key for violation in self._held(pair))
        return found

    def _walk(self, shapes: Shapes) -> Walk:
        return Walk(shapes.model, Reader(self._overlay_of(shapes.scope, only_after=False), self._budget), ALWAYS)

    def _in_force_at(self, result: Result) -> set[Pair] | None:
        """The targets of shapes in force that may give the same result; None: no shape in force could."""
        in_force = self._in_force
        if in_force is None or result.shape not in in_force.model.targets:
            return None
        walk = Walk(in_force.model, self._old_reader, ALWAYS)
        return walk.outward(in_force.model.shapes[result.shape], {result.focus})

    def _held(self, pair: Pair) -> list[Violation]:
        """What the shapes in force say at a target of theirs."""
        known = self._standing.get(pair)
        if known is None:
            known = self._standing[pair] = list(self._old_slices.standing(pair, ALWAYS))
        return known


@dataclass(slots=True)
class Concerned:
    """What a change may have an effect on.

    Args:
        targets: targets of shapes to be judged.
        in_force: nodes at which shapes in force are to be asked again.
        keys: what those say after the change.
    """

    targets: set[Pair]
    in_force: set[Term]
    keys: set[ResultKey]


# --- what is written --------------------------------------------------------------------------------------------------


def _said(shapes: Shapes, root: Iri) -> _Said:
    """All that a shapes graph says of a shape, and of whatever it refers to or uses."""
    document = shapes.document
    return frozenset(
        (triple, document.spelling(triple))
        for node in reach_all({root}, lambda each: _referred(shapes, each))
        for predicate, values in document.described(node).items()
        for value in values
        for triple in [(node, predicate, value)]
    )


def _referred(shapes: Shapes, node: Iri) -> list[Iri]:
    document, shape = shapes.document, shapes.model.shapes.get(node)
    nodes = [value for values in document.described(node).values() for value in values if isinstance(value, Iri)]
    components = [] if shape is None else [query.component for query in shape.queries]
    return nodes + siblings(document, node) + components
