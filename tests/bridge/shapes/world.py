"""A small base for tests of shapes: facts in a naive view, changes written in Turtle, planned as any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.shapes.checker import CoreChecker
from bridge.terms import OxigraphCanonicaliser
from certificates.ids import uuid7
from kernel.access import Principal, Role
from kernel.changes import Assert, Change, Request, Retract
from kernel.facts import Fact, FactContent, Spelling, Validity
from kernel.ports.checks import Loaded
from kernel.terms import Iri, Literal, Statement, Term
from kernel.time.instants import BEGINNING, FOREVER, Instant, parse_instant
from kernel.time.intervals import Interval
from kernel.time.timevalues import Precision
from kernel.vocabulary import GENID, ONTOLOGY_GRAPH, SHAPES_GRAPH
from kernel.writing.planner import Planner
from tests.kernel.memory_view import MemoryView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from certificates.findings import Finding
    from kernel.writing.plan import Plan

G: Final = Iri("urn:g")
NOW: Final = Instant(1_000)
ADMIN: Final = Principal("admin", Role.ADMINISTRATOR)
ALWAYS: Final = Validity.always()
PREFIXES: Final = """
@prefix : <urn:x:> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix m: <https://w3id.org/muniment#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""
_CANONICAL: Final = OxigraphCanonicaliser()


def years(start: int | None = None, end: int | None = None) -> Validity:
    """Valid from one year until another; None is unbounded."""
    return Validity(
        Interval(
            BEGINNING if start is None else parse_instant(f"{start:04d}-01-01T00:00:00Z"),
            FOREVER if end is None else parse_instant(f"{end:04d}-01-01T00:00:00Z"),
        ),
        Precision.UNBOUNDED if start is None else Precision.YEAR,
        Precision.UNBOUNDED if end is None else Precision.YEAR,
    )


def term_of(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Term:
    """The kernel's term, blank nodes skolemised."""
    if isinstance(term, ox.NamedNode):
        return Iri(term.value)
    if isinstance(term, ox.BlankNode):
        return Iri(GENID + term.value)
    if isinstance(term, ox.Literal):
        if term.language is not None:
            return Literal(term.value, language=term.language)
        return Literal(term.value, term.datatype.value)
    raise TypeError(term)


def iri_of(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Iri:
    """The same for subjects and predicates."""
    found = term_of(term)
    if not isinstance(found, Iri):
        raise TypeError(term)
    return found


def read(turtle: str) -> list[tuple[Iri, Iri, Term]]:
    """Triples as submitted."""
    quads = ox.parse((PREFIXES + turtle).encode(), format=ox.RdfFormat.TURTLE, base_iri="urn:x:")
    return [(iri_of(quad.subject), iri_of(quad.predicate), term_of(quad.object)) for quad in quads]


def asserts(turtle: str, validity: Validity = ALWAYS, graph: Iri = G) -> list[Change]:
    """What asserts everything that a Turtle text says, spellings kept where the store would change them."""
    found: list[Change] = []
    for subject, predicate, value in read(turtle):
        stored = _CANONICAL.canonical(value)
        spelling = Spelling(value if isinstance(value, Literal) and value != stored else None)
        found.append(Assert(Statement(subject, predicate, stored, graph), validity, spelling))
    return found


def retracts(turtle: str, within: Validity | None = None, graph: Iri = G) -> list[Change]:
    """What retracts everything that a Turtle text says."""
    part = None if within is None else within.interval
    return [
        Retract(Statement(subject, predicate, _CANONICAL.canonical(value), graph), part)
        for subject, predicate, value in read(turtle)
    ]


class CountingView(MemoryView):
    """A naive view with an index over subjects and objects, which counts what is read of the data."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.facts_read = 0
        self._index: dict[Term, list[Fact]] = {}
        self._believed: list[Fact] = []

    def apply(self, plan: Plan, at: Instant) -> None:
        """Records and supersedes as the plan says."""
        super().apply(plan, at)
        self._believed = [fact for fact in self.facts if fact.superseded is None]
        self._index = {}
        for fact in self._believed:
            for term in {fact.statement.subject, fact.statement.object}:
                self._index.setdefault(term, []).append(fact)

    def believed(
        self,
        *,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the port's name
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """As the port has it."""
        self.reads += graph is None
        key = subject or object
        for fact in self._believed if key is None else self._index.get(key, ()):
            held = fact.statement
            wanted = ((subject, held.subject), (predicate, held.predicate), (object, held.object), (graph, held.graph))
            if all(want is None or want == have for want, have in wanted):
                self.facts_read += graph is None
                yield fact


class World:
    """Facts, and a checker that judges what is planned against them."""

    def __init__(self, shapes: str = "", data: str = "", ontology: str = "", limit: int = 10_000) -> None:
        self.view = CountingView()
        self.now = NOW
        self.checker = CoreChecker(limit)
        self.hold(*asserts(shapes, graph=SHAPES_GRAPH))
        self.hold(*asserts(ontology, graph=ONTOLOGY_GRAPH))
        self.hold(*asserts(data))

    def plan(self, *changes: Change) -> Plan:
        """A plan, not applied."""
        return Planner(uuid7(), NOW, self.view, ADMIN).plan(Request(changes, None, None, ADMIN.id))

    def hold(self, *changes: Change) -> Plan:
        """Applies changes without judging them."""
        plan = self.plan(*changes)
        self.view.apply(plan, NOW)
        return plan

    def load(self, *chunks: list[Change], episode: Iri | None = None) -> list[Finding]:
        """What the checker finds of a load session, which is in the view afterwards."""
        certificate, noticed, facts, evidence = uuid7(), list[FactContent](), 0, 0
        for chunk in chunks:
            planner = Planner(certificate, NOW, self.view, ADMIN, facts_from=facts, evidence_from=evidence)
            plan = planner.plan(Request(tuple(chunk), None, episode, ADMIN.id))
            facts, evidence = planner.facts_made, planner.evidence_made
            noticed += self.checker.noticed(plan, self.view)
            self.view.apply(plan, NOW)
        return list(self.checker.load_findings(Loaded(certificate, NOW, noticed), self.view))

    def judge(self, *changes: Change) -> list[Finding]:
        """What the checker finds of changes, which are not applied."""
        return list(self.checker.findings(self.plan(*changes), self.view))
