"""The shapes in force, and shapes that are to be: read, checked and made ready once.

Rules
-----
* Shapes are the believed facts of `m:shapes`, each literal in the spelling that it was first submitted in.
* They are kept by the ids of their facts. A view that keeps the facts of the reserved graphs gives the same tuple
  each time, and then nothing is compared.
* They are compiled when a shape is first judged by.
* What is judged by are its sets (`application`): mostly there is one, the graph as a whole.
* A shapes graph that cannot be used is kept with its problems: nothing is judged by half of it.

Example
-------
::

    shapes = registry.of(facts, view)
    shapes.problems or shapes.engine
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from bridge.shapes.application import Mode, mode_of, scope_of, sets_of
from bridge.shapes.document import ShapesDocument
from bridge.shapes.engine import Engine
from bridge.shapes.model import ShapesModel, targeting_only
from bridge.shapes.sparql.conformance import misuses
from bridge.shapes.sparql.declared import Declarations
from bridge.shapes.waivers import Waivers
from bridge.shapes.wellformed import Problem, idle, problems, undescribed
from kernel.terms import Literal
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from bridge.shapes.overlay import Scope
    from kernel.facts import EvidenceContent, Fact, FactContent
    from kernel.ports.facts import FactsView
    from kernel.terms import Iri

_KEPT = 4


class Shapes:
    """A shapes graph, checked, and made ready to judge by when it is first needed.

    Attributes:
        document: the graph.
        of: the node that mode and graphs are said of: the graph itself, or a set in it.
        problems: what is not well formed about it; empty: it is.
    """

    def __init__(self, document: ShapesDocument) -> None:
        self.document = document
        self.of = SHAPES_GRAPH
        self.problems: Sequence[Problem] = problems(document) or self._misuses(Declarations(document))

    @cached_property
    def sets(self) -> Sequence[Shapes]:
        """What judges by itself: the shapes in no set, and each set; only of shapes without problems."""
        gathered = sets_of(self.document)
        if not gathered:
            return (self,)
        anywhere = frozenset().union(*gathered.values())
        rest = frozenset(root.node for root in self.model.roots) - anywhere
        return tuple(self._set(of, contained) for of, contained in ({SHAPES_GRAPH: rest} | gathered).items())

    def _set(self, of: Iri, contained: frozenset[Iri]) -> Shapes:
        """The shapes, of which only those contained have targets."""
        found = Shapes.__new__(Shapes)
        found.document = targeting_only(self.document, contained)
        found.of = of
        found.problems = ()
        return found

    def _misuses(self, declarations: Declarations) -> list[Problem]:
        if not declarations.components:
            return []
        return [Problem(*fault) for fault in misuses(self.document, declarations, self.model, self.engine)]

    @cached_property
    def model(self) -> ShapesModel:
        """What the shapes look at; only of shapes without problems."""
        return ShapesModel(self.document)

    @cached_property
    def idle(self) -> Sequence[Problem]:
        """What is said and has no effect."""
        return idle(self.document)

    @cached_property
    def undescribed(self) -> Sequence[Problem]:
        """What refers to shapes that are not there, and so judge nothing."""
        return undescribed(self.document)

    @cached_property
    def mode(self) -> Mode:
        """What becomes of a change that they find fault with; only of shapes without problems."""
        return mode_of(self.document, self.of)

    @cached_property
    def scope(self) -> Scope:
        """The graphs that they are bound to; only of shapes without problems."""
        return scope_of(self.document, self.of)

    @cached_property
    def waivers(self) -> Waivers:
        """What they let through; only of shapes without problems."""
        return Waivers(self.document)

    @cached_property
    def engine(self) -> Engine:
        """What judges by the shapes; only of shapes without problems."""
        return Engine(self.document, self.model)


class Registry:
    """Keeps the shapes that were last in force."""

    def __init__(self) -> None:
        self._latest: tuple[tuple[Fact, ...], Shapes] | None = None
        self._known: dict[frozenset[UUID], Shapes] = {}

    def of(self, facts: tuple[Fact, ...], view: FactsView) -> Shapes:
        """The shapes that these facts hold; they must be believed in the view."""
        if self._latest is not None and self._latest[0] is facts:
            return self._latest[1]
        key = frozenset(fact.id for fact in facts)
        shapes = self._known.get(key)
        if shapes is None:
            shapes = Shapes(document_of(facts, (), (), view))
            self.adopt(key, shapes)
        self._latest = (facts, shapes)
        return shapes

    def adopt(self, facts: frozenset[UUID], shapes: Shapes) -> None:
        """Keeps shapes that are made ready already, for when these facts are believed, if ever they are."""
        while len(self._known) >= _KEPT:
            del self._known[next(iter(self._known))]
        self._known[facts] = shapes


def document_of(
    held: Sequence[Fact], written: Sequence[FactContent], evidence: Iterable[EvidenceContent], view: FactsView
) -> ShapesDocument:
    """The document that facts hold.

    Args:
        held: facts believed in the view.
        written: facts that come to them.
        evidence: what is said of those.
        view: where the evidence for the facts held is.
    """
    brought = {fact.id: fact.certificate for fact in held if isinstance(fact.statement.object, Literal)}
    known = view.evidence_of(list(brought)) if brought else {}
    coming = {content.id for content in written}
    said = [item.content for each, items in known.items() for item in items if item.certificate == brought[each]]
    said += [item for item in evidence if item.fact in coming]
    return ShapesDocument(
        [*(fact.content for fact in held), *written],
        {item.fact: item.spelling.object for item in said if item.spelling.object is not None},
    )
