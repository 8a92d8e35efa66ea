"""A base as it stands, as a data graph to be checked whole: what `muniment check --data` judges.

Rules
-----
* Judged is what is believed at the head and true at the instant, in the graphs that the shapes are bound to, the
  ontology included, each literal in every spelling that it was submitted in: as on a write.
* The shapes are those in force, or others that are given: so that one can see what they would say before they are
  written.
* It is read from the ledger alone, in one consistent read, so that a base may be served meanwhile.
* What no shape can notice is passed over. All else is held in memory, some 400 bytes a statement.

Example
-------
::

    material = base_material(ledger, None, instant)
    Validations(material.judged).results()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.checking.files import Material
from bridge.shapes.data import Data
from bridge.shapes.evidence import described
from bridge.shapes.overlay import triple_of
from bridge.shapes.registry import Shapes, document_of
from kernel.terms import Literal
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from bridge.shapes.data import Spellings
    from bridge.shapes.document import Triple
    from kernel.facts import Evidence, Fact
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.time.instants import Instant


def base_material(ledger: Ledger, given: Material | None, instant: Instant) -> Material:
    """What a base holds, and the shapes to check it by.

    Args:
        ledger: of the base.
        given: shapes from files; None: those in force.
        instant: what is true then is checked.

    Raises:
        LedgerUnavailable: the ledger cannot be read.
    """
    with ledger.reading() as view:
        shapes = Shapes(document_of(tuple(view.believed(graph=SHAPES_GRAPH)), (), (), view))
        if given is not None:
            shapes = given.shapes
        sets = () if shapes.problems else shapes.sets
        return Material([(each, _Reading(view, each, instant).data()) for each in sets], shapes, {}, 0)


class _Reading:
    """Reads the data graph of a base within one view."""

    def __init__(self, view: LedgerView, shapes: Shapes, instant: Instant) -> None:
        self._view = view
        self._shapes = shapes
        self._instant = instant
        self._as_of = view.head().instant
        self._spelled: dict[UUID, list[Evidence]] = {}
        self._supporting: dict[UUID, list[Evidence]] = {}

    def data(self) -> Data:
        """What the shapes can notice of what holds."""
        evidence = Data({}, self._instant)
        data = Data({}, self._instant, evidence)
        if self._as_of is None:
            return data
        self._read_evidence()
        model, scope = self._shapes.model, self._shapes.scope
        for fact in self._view.facts_at(self._as_of, self._instant):
            triple = triple_of(fact.content)
            if fact.statement.graph in scope and model.notices(triple):
                data.add(triple, self._spellings(fact))
                for said, spellings in self._said_of(fact):
                    evidence.add(said, spellings)
        return data

    def _read_evidence(self) -> None:
        """Keeps the evidence that something looks at: other spellings, and all of it where a shape asks for some."""
        if self._as_of is None:
            return
        reified = bool(self._shapes.model.reified)
        for item, _ in self._view.evidence_recorded(None, self._as_of):
            if item.content.spelling.object is not None:
                self._spelled.setdefault(item.content.fact, []).append(item)
            if reified:
                self._supporting.setdefault(item.content.fact, []).append(item)

    def _spellings(self, fact: Fact) -> Spellings:
        """The ways in which a fact's literal was submitted; its stored form, if it was asserted so."""
        stored = fact.statement.object
        if not isinstance(stored, Literal):
            return ()
        items = self._spelled.get(fact.id, ())
        found = {item.content.spelling.object for item in items if item.content.spelling.object is not None}
        if not any(item.certificate == fact.certificate for item in items):
            found.add(stored)
        return tuple(sorted(found, key=_text))

    def _said_of(self, fact: Fact) -> Iterable[tuple[Triple, Spellings]]:
        if fact.statement.predicate not in self._shapes.model.reified:
            return ()
        triple = triple_of(fact.content)
        return (said for item in self._supporting.get(fact.id, ()) for said in described(item, triple))


def _text(literal: Literal) -> str:
    return literal.n3
