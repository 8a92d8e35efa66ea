"""The data graph before and after a plan, as facts.

Rules
-----
* The data graph is every graph but the reserved ones, and the ontology graph: `m:ontology` is part of it.
* A fact that the plan supersedes is there before, one that it records is there after, every other one both times.
  Facts of all valid times are read; which of them matter is for the reader to say.
* For a load session the facts recorded are in the view already.
* A literal counts in each spelling that it was submitted in, and in its stored form if the fact was asserted so: a
  fact has no evidence of another spelling from the certificate that brought it.
* What evidence says of a fact, the view's and the plan's, is read for shapes of evidence alone.

Example
-------
::

    overlay = Overlay.of_plan(plan, view)
    [seen.before for seen in overlay.match(subject=focus, predicate=name)]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Self

from bridge.shapes.evidence import brought_by, described
from kernel.terms import Iri, Literal, Term
from kernel.vocabulary import GOVERNANCE, ONTOLOGY_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from uuid import UUID

    from bridge.shapes.data import Spellings
    from bridge.shapes.document import Triple
    from kernel.facts import Evidence, FactContent
    from kernel.intervals import Interval
    from kernel.plan import Plan
    from kernel.ports import FactsView

_OUTSIDE = GOVERNANCE - {ONTOLOGY_GRAPH}


def is_data(graph: Iri) -> bool:
    """Whether the graph is part of the data graph."""
    return graph not in _OUTSIDE


def triple_of(content: FactContent) -> Triple:
    """What a fact says, whatever its graph."""
    statement = content.statement
    return statement.subject, statement.predicate, statement.object


@dataclass(frozen=True, slots=True)
class Seen:
    """A fact of the data graph, and on which sides of the plan it is believed.

    Args:
        content: the fact.
        certificate: the one that brought it; None for the plan's own.
    """

    content: FactContent
    before: bool
    after: bool
    certificate: UUID | None

    @property
    def interval(self) -> Interval:
        """When it holds."""
        return self.content.interval

    @property
    def triple(self) -> Triple:
        """What it says, whatever its graph."""
        return triple_of(self.content)


@dataclass(frozen=True, slots=True)
class Spelled:
    """The spellings of a fact's literal before and after the plan."""

    before: frozenset[Literal]
    after: frozenset[Literal]


@dataclass(frozen=True, slots=True)
class Supported:
    """What evidence says of a fact before and after the plan."""

    before: Mapping[Triple, Spellings]
    after: Mapping[Triple, Spellings]


class Overlay:
    """Reads the facts of a view as they are before and after a change of them.

    Args:
        view: the facts believed at the head.
        recorded: the facts that come.
        in_view: whether they are in the view already.
        superseded: the facts that go.
        evidence: what comes with the plan.
    """

    def __init__(
        self,
        view: FactsView,
        recorded: Iterable[FactContent],
        *,
        in_view: bool,
        superseded: Iterable[UUID] = (),
        evidence: Iterable[Evidence] = (),
    ) -> None:
        self._view = view
        self._superseded = frozenset(superseded)
        self._recorded = {content.id for content in recorded}
        self._evidence: dict[UUID, list[Evidence]] = {}
        for item in evidence:
            self._evidence.setdefault(item.content.fact, []).append(item)
        self._by_subject: dict[Iri, list[FactContent]] = {}
        self._by_object: dict[Term, list[FactContent]] = {}
        for content in () if in_view else recorded:
            if is_data(content.statement.graph):
                self._by_subject.setdefault(content.statement.subject, []).append(content)
                self._by_object.setdefault(content.statement.object, []).append(content)

    @classmethod
    def of_plan(cls, plan: Plan, view: FactsView) -> Self:
        """What a plan that is not yet in the view does to it."""
        superseded = (fact.id for fact in plan.supersede)
        return cls(view, plan.record, in_view=False, superseded=superseded, evidence=brought_by(plan))

    def match(
        self,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the term's name in RDF
        *,
        coming_first: bool = False,
    ) -> Iterator[Seen]:
        """The facts that match. By predicate alone the whole base is gone through."""
        sides = [self._held(subject, predicate, object), self._recording(subject, predicate, object)]
        return chain.from_iterable(reversed(sides) if coming_first else sides)

    def _held(self, subject: Iri | None, predicate: Iri | None, value: Term | None) -> Iterator[Seen]:
        """The facts of the view that match."""
        for fact in self._view.believed(subject=subject, predicate=predicate, object=value):
            if is_data(fact.statement.graph):
                identifier = fact.id
                comes, goes = identifier in self._recorded, identifier in self._superseded
                yield Seen(fact.content, not comes, not goes, fact.certificate)

    def _recording(self, subject: Iri | None, predicate: Iri | None, value: Term | None) -> Iterator[Seen]:
        """The facts that the plan records and that match."""
        for content in self._coming(subject, value):
            statement = content.statement
            if predicate in (None, statement.predicate) and value in (None, statement.object):
                yield Seen(content, before=False, after=True, certificate=None)

    def _coming(self, subject: Iri | None, value: Term | None) -> Iterable[FactContent]:
        """The facts that come, as far as they may match."""
        if subject is not None:
            return self._by_subject.get(subject, ())
        if value is not None:
            return self._by_object.get(value, ())
        return chain.from_iterable(self._by_subject.values())

    def spelled(self, facts: Iterable[Seen]) -> dict[UUID, Spelled]:
        """The spellings of those facts whose literal has any that differs from the stored one."""
        literal = {seen.content.id: seen for seen in facts if isinstance(seen.content.statement.object, Literal)}
        held = [identifier for identifier, seen in literal.items() if seen.certificate is not None]
        known = self._view.evidence_of(held) if held else {}
        found: dict[UUID, Spelled] = {}
        for identifier, seen in literal.items():
            stored = seen.content.statement.object
            old = [item for item in known.get(identifier, ()) if item.content.spelling.object is not None]
            own = _spellings(self._evidence.get(identifier, ()))
            before = _spellings(old)
            brought = any(item.certificate == seen.certificate for item in old) or (seen.certificate is None and own)
            if not brought and isinstance(stored, Literal):
                before |= {stored}
            after = before.union(own)
            if before != {stored} or after != {stored}:
                found[identifier] = Spelled(before, after)
        return found

    def supported(self, facts: Iterable[Seen]) -> dict[UUID, Supported]:
        """What evidence says of those facts that have any."""
        triples = {seen.content.id: seen.triple for seen in facts}
        known = self._view.evidence_of(list(triples))
        found: dict[UUID, Supported] = {}
        for identifier, triple in triples.items():
            old, own = known.get(identifier, ()), self._evidence.get(identifier, ())
            before, after = (
                dict(said for item in side for said in described(item, triple)) for side in (old, [*old, *own])
            )
            if after:
                found[identifier] = Supported(before, after)
        return found


def _spellings(evidence: Iterable[Evidence]) -> frozenset[Literal]:
    """The spellings of a literal that evidence has."""
    spelled = (item.content.spelling.object for item in evidence)
    return frozenset(each for each in spelled if each is not None)
