"""The data graph before and after a plan, as facts.

Rules
-----
* The data graph is every graph but the reserved ones, or those that the shapes are bound to (`Scope`), and the
  ontology graph: `m:ontology` is always part of it.
* A fact that the plan supersedes is there before, one that it records is there after, every other one both times.
  Facts of all valid times are read; which of them matter is for the reader to say.
* For a load session the facts recorded, and the evidence that came with them, are in the view already. What a view
  believes no more can be shown as if it went just now.
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
from typing import TYPE_CHECKING, Final, Self

from bridge.shapes.evidence import brought_by, described
from kernel.terms import Iri, Literal, Term
from kernel.vocabulary import GOVERNANCE, ONTOLOGY_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from uuid import UUID

    from bridge.shapes.data import Spellings
    from bridge.shapes.document import Triple
    from kernel.facts import Evidence, Fact, FactContent
    from kernel.ports.facts import FactsView
    from kernel.time.intervals import Interval
    from kernel.writing.plan import Plan

_OUTSIDE: Final = GOVERNANCE - {ONTOLOGY_GRAPH}


@dataclass(frozen=True, slots=True)
class Scope:
    """The graphs that data is taken from.

    Args:
        graphs: those that shapes are bound to; None: all of them together.
    """

    graphs: frozenset[Iri] | None = None

    def __contains__(self, graph: Iri) -> bool:
        """Whether the graph is part of the data graph."""
        if self.graphs is None:
            return graph not in _OUTSIDE
        return graph in self.graphs or graph == ONTOLOGY_GRAPH


EVERYTHING: Final = Scope()
"""What shapes judge that are bound to no graphs."""


def is_data(graph: Iri) -> bool:
    """Whether the graph is data to shapes that are bound to no graphs."""
    return graph in EVERYTHING


def triple_of(content: FactContent) -> Triple:
    """What a fact says, whatever its graph."""
    statement = content.statement
    return statement.subject, statement.predicate, statement.object


@dataclass(frozen=True, slots=True)
class Seen:
    """A fact of the data graph, and on which sides of the plan it is believed.

    Args:
        content: the fact.
        certificate: the one that brought it; None for what a plan has yet to bring.
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
        coming: the facts that come, and are not in the view.
        superseded: the facts of the view that go.
        gone: facts that went, and that the view believes no more.
        evidence: what comes with the facts, and is not in the view.
        brought_by: the certificate whose facts and evidence come, and are in the view already.
        scope: the graphs that are looked at.
        only_after: whether what goes, or went, is left out.
    """

    def __init__(
        self,
        view: FactsView,
        *,
        coming: Iterable[FactContent] = (),
        superseded: Iterable[UUID] = (),
        gone: Iterable[Fact] = (),
        evidence: Iterable[Evidence] = (),
        brought_by: UUID | None = None,
        scope: Scope = EVERYTHING,
        only_after: bool = False,
    ) -> None:
        self._view = view
        self._scope = scope
        self._superseded = frozenset(superseded)
        self._only_after = only_after
        self._brought_by = brought_by
        self._evidence: dict[UUID, list[Evidence]] = {}
        for item in evidence:
            self._evidence.setdefault(item.content.fact, []).append(item)
        self._by_subject: dict[Iri, list[Seen]] = {}
        self._by_object: dict[Term, list[Seen]] = {}
        for content in coming:
            self._add(Seen(content, before=False, after=True, certificate=None))
        for fact in () if only_after else gone:
            self._add(Seen(fact.content, before=True, after=False, certificate=fact.certificate))

    @classmethod
    def of_plan(cls, plan: Plan, view: FactsView, scope: Scope = EVERYTHING) -> Self:
        """What a plan that is not yet in the view does to it."""
        superseded = (fact.id for fact in plan.supersede)
        return cls(view, coming=plan.record, superseded=superseded, evidence=brought_by(plan), scope=scope)

    def _add(self, seen: Seen) -> None:
        statement = seen.content.statement
        if statement.graph in self._scope:
            self._by_subject.setdefault(statement.subject, []).append(seen)
            self._by_object.setdefault(statement.object, []).append(seen)

    def match(
        self,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the term's name in RDF
        *,
        coming_first: bool = False,
    ) -> Iterator[Seen]:
        """The facts that match. By predicate alone the whole base is gone through."""
        held, beside = self._held(subject, predicate, object), self._beside(subject, predicate, object)
        if not beside:
            return held
        return chain(beside, held) if coming_first else chain(held, beside)

    def _held(self, subject: Iri | None, predicate: Iri | None, value: Term | None) -> Iterator[Seen]:
        """The facts of the view that match."""
        scope, brought_by, superseded = self._scope, self._brought_by, self._superseded
        for fact in self._view.believed(subject=subject, predicate=predicate, object=value):
            content = fact.content
            if content.statement.graph in scope:
                comes = brought_by is not None and fact.certificate == brought_by
                goes = bool(superseded) and content.id in superseded
                if goes and self._only_after:
                    continue
                yield Seen(content, not comes, not goes, fact.certificate)

    def _beside(self, subject: Iri | None, predicate: Iri | None, value: Term | None) -> list[Seen]:
        """The facts that match and are not in the view."""
        return [
            seen
            for seen in self._indexed(subject, value)
            if predicate in (None, seen.content.statement.predicate) and value in (None, seen.content.statement.object)
        ]

    def _indexed(self, subject: Iri | None, value: Term | None) -> Iterable[Seen]:
        """The facts beside the view, as far as they may match."""
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
            said, coming = self._sides(identifier, known)
            old = [item for item in said if item.content.spelling.object is not None]
            own = _spellings(coming)
            before = _spellings(old)
            own_fact = seen.certificate in (None, self._brought_by)
            brought = any(item.certificate == seen.certificate for item in old) or (own_fact and own)
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
            old, own = self._sides(identifier, known)
            before, after = (
                dict(said for item in side for said in described(item, triple)) for side in (old, [*old, *own])
            )
            if after:
                found[identifier] = Supported(before, after)
        return found

    def _sides(self, fact: UUID, known: Mapping[UUID, list[Evidence]]) -> tuple[list[Evidence], list[Evidence]]:
        """The evidence for a fact that is there before, and what comes."""
        held = known.get(fact, [])
        coming = self._evidence.get(fact, [])
        if self._brought_by is None:
            return held, coming
        before = [item for item in held if item.certificate != self._brought_by]
        return before, [*(item for item in held if item.certificate == self._brought_by), *coming]


def _spellings(evidence: Iterable[Evidence]) -> frozenset[Literal]:
    """The spellings of a literal that evidence has."""
    spelled = (item.content.spelling.object for item in evidence)
    return frozenset(each for each in spelled if each is not None)
