"""Shapes that are written, judged on the data that is there.

Rules
-----
* Found is what the shapes as they would be say of the data as it would be, at any valid time, and the shapes in force
  do not: what the shapes newly break, not what is broken.
* Only targets of shapes that are written, or that refer to such, are judged; a shape that is only taken away breaks
  nothing.
* Whatever is read counts against a budget; `NeighbourhoodExceeded` says that not all was judged.

Example
-------
::

    for violation in Existing(in_force, written, overlay, budget).violations():
        violation.result, violation.part
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bridge.shapes.model import siblings
from bridge.shapes.neighbourhood import Reader, reach_all
from bridge.shapes.slices import Slices, Violation
from bridge.shapes.vocabulary import RDF_TYPE, SUBCLASS_OF
from kernel.intervals import ALWAYS, Interval, gaps
from kernel.terms import Iri, Literal
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.shapes.document import ShapesDocument, Triple
    from bridge.shapes.model import Targets
    from bridge.shapes.neighbourhood import Budget
    from bridge.shapes.overlay import Overlay
    from bridge.shapes.registry import Shapes
    from bridge.shapes.results import ResultKey
    from kernel.terms import Term

_Said: TypeAlias = "frozenset[tuple[Triple, Literal | None]]"
"""Statements of a shapes graph, as they were submitted."""


class Existing:
    """Judges data by shapes that are written.

    Args:
        in_force: the shapes so far; None: none, or none that can be used.
        written: the shapes as they would be.
        overlay: the data; what a plan does to it counts as done.
        budget: how much may be read and judged.
    """

    def __init__(self, in_force: Shapes | None, written: Shapes, overlay: Overlay, budget: Budget) -> None:
        self._in_force = in_force
        self._written = written
        self._reader = Reader(overlay, budget)
        self._slices = Slices(written.model, written.engine, self._reader, budget)
        self._before = None if in_force is None else Slices(in_force.model, in_force.engine, self._reader, budget)

    def violations(self) -> Iterator[Violation]:
        """What is newly broken. Raises `NeighbourhoodExceeded`."""
        for root in self._written.model.roots:
            if self._is_new(root.node):
                for focus in self._foci(root.targets):
                    yield from self._newly(root.node, focus)

    def _is_new(self, root: Iri) -> bool:
        """Whether anything that the shape says, or a shape that it refers to, is not said so far."""
        document = self._written.document
        return self._in_force is None or _said(document, root) != _said(self._in_force.document, root)

    def _newly(self, root: Iri, focus: Term) -> Iterator[Violation]:
        found = list(self._slices.standing((root, focus), ALWAYS))
        before = self._held_against(focus) if found else {}
        for violation in found:
            for part in gaps(violation.part, before.get(violation.result.key, ())):
                yield Violation(violation.result, part, violation.graphs | {SHAPES_GRAPH})

    def _held_against(self, focus: Term) -> dict[ResultKey, list[Interval]]:
        """When the shapes in force give which results for the node."""
        found: dict[ResultKey, list[Interval]] = {}
        if self._in_force is not None and self._before is not None:
            for root in self._in_force.model.roots:
                for violation in self._before.standing((root.node, focus), ALWAYS):
                    found.setdefault(violation.result.key, []).append(violation.part)
        return found

    # --- foci (SHACL section 2.1.3) -----------------------------------------------------------------------------------

    def _foci(self, targets: Targets) -> dict[Term, None]:
        """Every node that is a target at some time, each once."""
        found: dict[Term, None] = dict.fromkeys(targets.nodes)
        for each in self._below(set(targets.classes)):
            found.update(dict.fromkeys(self._subjects(RDF_TYPE, each)))
        for predicate in targets.subjects_of:
            found.update(dict.fromkeys(self._subjects(predicate, None)))
        for predicate in targets.objects_of:
            found.update((seen.content.statement.object, None) for seen in self._reader.stream(None, predicate, None))
        return found

    def _below(self, classes: set[Iri]) -> set[Iri]:
        """The classes and all below them."""
        return reach_all(classes, lambda each: self._subjects(SUBCLASS_OF, each))

    def _subjects(self, predicate: Iri, value: Term | None) -> Iterator[Iri]:
        return (seen.content.statement.subject for seen in self._reader.stream(None, predicate, value))


def _said(document: ShapesDocument, root: Iri) -> _Said:
    """All that a shapes graph says of a shape, and of whatever it refers to."""
    return frozenset(
        (triple, document.spelling(triple))
        for node in reach_all({root}, lambda each: _referred(document, each))
        for predicate, values in document.described(node).items()
        for value in values
        for triple in [(node, predicate, value)]
    )


def _referred(document: ShapesDocument, node: Iri) -> list[Iri]:
    nodes = [value for values in document.described(node).values() for value in values if isinstance(value, Iri)]
    return nodes + siblings(document, node)
