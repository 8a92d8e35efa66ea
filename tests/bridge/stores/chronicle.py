"""A ledger that tests write a history to, and what stores of it should hold, worked out fact by fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Self
from uuid import UUID

import pyoxigraph as ox
from hypothesis import strategies as st

from bridge.ledger.sqlite import SqliteLedger
from bridge.stores.projections import Projection
from bridge.terms import to_oxigraph
from certificates.certificate import Verdict
from certificates.ids import derived_id
from certificates.lthash import LatticeHash
from kernel.facts import Evidence, EvidenceContent, Fact, FactContent, Spelling, Supersession, Validity
from kernel.ports.heads import Head
from kernel.ports.records import CertificateRecord, CertificateState
from kernel.ports.stores import StoreDelta
from kernel.terms import RDF, XSD, Iri, Literal, Statement, Term, TripleTerm
from kernel.time.instants import BEGINNING, DAY, FOREVER, Instant, parse_instant, print_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE, HISTORY, SHAPES_GRAPH, M

START: Final = parse_instant("2024-01-01T00:00:00Z")
SPAN: Final = 20
"""Days after `START` within which bounds are drawn; a step of a history takes one day, or more."""

_A, _B, _P, _Q = (Iri(f"http://example.org/{name}") for name in "abpq")
_OBJECTS: Final[tuple[Term, ...]] = (
    _B,
    Literal('the "first"\nline'),
    Literal("colour", language="en-gb", direction="ltr"),
    Literal("1.5", XSD + "decimal"),
    TripleTerm(_A, _P, Literal("7", XSD + "integer")),
)
STATEMENTS: Final = tuple(
    Statement(subject, predicate, value, graph)
    for graph in (DEFAULT_GRAPH, Iri("http://example.org/graph?é=1"), SHAPES_GRAPH)
    for subject, predicate, value in ((_A, _P, _B), *((_B, _Q, value) for value in _OBJECTS))
)


def day(number: int) -> Instant:
    """The instant so many days after `START`."""
    return Instant(START + number * DAY)


Support = tuple[int, Iri | None, Decimal | None, Spelling]


@dataclass(frozen=True)
class Step:
    """One certificate's worth of history; indexes count believed facts, and wrap around."""

    records: Sequence[tuple[Statement, Validity]]
    supersedes: Sequence[int]
    supports: Sequence[Support]
    days: int


@st.composite
def _validities(draw: st.DrawFn) -> Validity:
    start = draw(st.none() | st.integers(0, SPAN - 1))
    end = draw(st.none() | st.integers(0 if start is None else start + 1, SPAN))
    known = st.sampled_from([Precision.INSTANT, Precision.DAY, Precision.YEAR])
    unknown = st.sampled_from([Precision.UNKNOWN, Precision.UNBOUNDED])
    return Validity(
        Interval(BEGINNING if start is None else day(start), FOREVER if end is None else day(end)),
        draw(unknown if start is None else known),
        draw(unknown if end is None else known),
    )


@st.composite
def _records(draw: st.DrawFn) -> tuple[Statement, Validity]:
    statement = draw(st.sampled_from(STATEMENTS))
    return statement, Validity.always() if statement.graph in GOVERNANCE else draw(_validities())


_SPELLINGS: Final = st.builds(
    Spelling,
    object=st.sampled_from(
        [None, Literal("01.50", XSD + "decimal"), Literal("x", language="en-GB", direction="ltr"), Literal("s")]
    ),
    valid_from=st.sampled_from([None, "2024-01-01T05:00:00.100+05:00"]),
    valid_to=st.sampled_from([None, "199#"]),
)
_SUPPORTS: Final = st.tuples(
    st.integers(0, 9),
    st.sampled_from([None, Iri("urn:uuid:00000000-0000-4000-8000-000000000001")]),
    st.sampled_from([None, Decimal("0.50"), Decimal(1), Decimal("1E-3")]),
    _SPELLINGS,
)

steps: Final = st.builds(
    Step,
    records=st.lists(_records(), max_size=4),
    supersedes=st.lists(st.integers(0, 9), max_size=3),
    supports=st.lists(_SUPPORTS, max_size=2),
    days=st.integers(1, 4),
)
histories: Final = st.lists(steps, min_size=1, max_size=6)


class Chronicle:
    """A ledger in memory and the facts in it, as a list."""

    def __init__(self, history: Iterable[Step] = ()) -> None:
        self.ledger = SqliteLedger.open(None)
        self.facts: list[Fact] = []
        self.evidence: list[tuple[Evidence, Iri]] = []
        self.heads: list[Head] = [Head(None, None, BEGINNING, LatticeHash())]
        for step in history:
            self.play(step)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.close()

    @property
    def head(self) -> Head:
        """The head as it is now."""
        return self.heads[-1]

    def play(self, step: Step) -> None:
        """Commits a step, some days after the one before."""
        last = START if self.head.instant is None else self.head.instant
        at = Instant(last + step.days * DAY)
        certificate = UUID(int=len(self.heads))
        believed = [fact for fact in self.facts if fact.superseded is None]
        gone = {believed[index % len(believed)].id for index in step.supersedes} if believed else set[UUID]()
        recorded = [
            Fact(
                FactContent(
                    derived_id(certificate, "fact", number), derived_id(certificate, "family", number), *record
                ),
                certificate,
                at,
                None,
                bytes(32),
            )
            for number, record in enumerate(step.records)
        ]
        self.facts = [
            replace(fact, superseded=Supersession(at, certificate)) if fact.id in gone else fact for fact in self.facts
        ] + recorded
        evidence = [self._support(certificate, at, each) for each in enumerate(step.supports)] if self.facts else []
        self.evidence += evidence
        self._commit(certificate, at, recorded, gone, [each for each, _ in evidence])

    def _support(self, certificate: UUID, at: Instant, numbered: tuple[int, Support]) -> tuple[Evidence, Iri]:
        number, (index, episode, confidence, spelling) = numbered
        fact = self.facts[index % len(self.facts)]
        identifier = derived_id(certificate, "evidence", number)
        content = EvidenceContent(identifier, fact.id, episode, confidence, spelling)
        return Evidence(content, certificate, at), fact.statement.graph

    def _commit(
        self, certificate: UUID, at: Instant, recorded: list[Fact], gone: set[UUID], evidence: list[Evidence]
    ) -> None:
        with self.ledger.transaction() as tx:
            tx.issue(_record_of(certificate, at))
            tx.record(certificate, at, ((fact.content, fact.leaf) for fact in recorded))
            tx.supersede(certificate, at, gone)
            tx.add_evidence(certificate, at, (each.content for each in evidence))
            position = tx.append_event(b"{}")
            tx.settle(certificate, CertificateState.APPLIED, head=position, instant=at)
            self.heads.append(Head(position, at, Instant(max(at, self.head.clock)), self.head.state))
            tx.set_head(self.head)
            tx.commit()

    def advance(self, clock: Instant) -> None:
        """Moves the clock, and nothing else."""
        self.heads.append(replace(self.head, clock=Instant(max(clock, self.head.clock))))
        with self.ledger.transaction() as tx:
            tx.set_head(self.head)
            tx.commit()

    def delta(self) -> StoreDelta:
        """From the head before to this one: what a writer would say that knows nothing, and so touches everything."""
        before, now = self.heads[-2], self.heads[-1]
        since = BEGINNING if before.instant is None else before.instant
        holding = {fact.statement: None for fact in self.facts if fact.holds_at(now.clock)}
        return StoreDelta(
            now.position,
            now.instant,
            now.clock,
            [fact for fact in self.facts if fact.recorded_at > since],
            [fact for fact in self.facts if fact.superseded is not None and fact.superseded.at > since],
            [(each, graph) for each, graph in self.evidence if each.recorded_at > since],
            list(holding),
            [statement for statement in STATEMENTS if statement not in holding],
        )

    def expected(
        self, projection: Projection, as_of: Instant | None = None, valid_at: Instant | None = None
    ) -> set[ox.Quad]:
        """The quads of a projection at a moment; by default at the head and its clock."""
        known = FOREVER if as_of is None else as_of
        quads = set(self._current(projection, known, self.head.clock if valid_at is None else valid_at))
        return quads | set(self._history(known)) if projection is Projection.COMPLETE else quads

    def _current(self, projection: Projection, as_of: Instant, valid_at: Instant) -> Iterator[ox.Quad]:
        for fact in self.facts:
            believed = fact.recorded_at <= as_of and (fact.superseded is None or as_of < fact.superseded.at)
            hidden = projection is Projection.CURRENT and fact.statement.graph in GOVERNANCE
            if believed and fact.interval.start <= valid_at < fact.interval.end and not hidden:
                yield quad_of(fact.statement)

    def _history(self, as_of: Instant) -> Iterator[ox.Quad]:
        for fact in self.facts:
            if fact.recorded_at <= as_of:
                yield from described(fact, as_of)
        for evidence, graph in self.evidence:
            if evidence.recorded_at <= as_of:
                yield from supporting(evidence, graph)


def quad_of(statement: Statement) -> ox.Quad:
    """The statement as a quad."""
    return ox.Quad(*_triple_of(statement), ox.NamedNode(statement.graph.value))


def described(fact: Fact, as_of: Instant = FOREVER) -> Iterator[ox.Quad]:
    """The quads of the history graph for a fact, written out by hand."""
    statement, interval, validity = fact.statement, fact.interval, fact.content.validity
    said: list[tuple[str, ox.NamedNode | ox.Literal | ox.Triple]] = [
        (RDF + "reifies", ox.Triple(*_triple_of(statement))),
        (M + "subject", ox.NamedNode(statement.subject.value)),
        (M + "recordedAt", _moment(fact.recorded_at)),
        (M + "family", _named(fact.content.family)),
        (M + "certificate", _named(fact.certificate)),
    ]
    if isinstance(statement.object, Iri):
        said.append((M + "object", ox.NamedNode(statement.object.value)))
    if interval.start != BEGINNING:
        said.append((M + "validFrom", _moment(interval.start)))
    if interval.end != FOREVER:
        said.append((M + "validTo", _moment(interval.end)))
    for name, precision in (("from", validity.start_precision), ("to", validity.end_precision)):
        if precision not in {Precision.INSTANT, Precision.UNBOUNDED}:
            said.append((f"{M}{name}Precision", ox.NamedNode(M + precision.value)))
    if fact.superseded is not None and fact.superseded.at <= as_of:
        said.append((M + "supersededAt", _moment(fact.superseded.at)))
        said.append((M + "supersededBy", _named(fact.superseded.certificate)))
    return _quads(fact.id, said, statement.graph)


def supporting(evidence: Evidence, graph: Iri) -> Iterator[ox.Quad]:
    """The quads of the history graph for a piece of evidence, written out by hand."""
    content, spelling = evidence.content, evidence.content.spelling
    said: list[tuple[str, ox.NamedNode | ox.Literal | ox.Triple]] = [
        (M + "supports", _named(content.fact)),
        (M + "recordedAt", _moment(evidence.recorded_at)),
        (M + "certificate", _named(evidence.certificate)),
    ]
    if content.episode is not None:
        said.append(("http://www.w3.org/ns/prov#wasDerivedFrom", ox.NamedNode(content.episode.value)))
    if content.confidence is not None:
        plain = f"{content.confidence.normalize():f}"
        said.append((M + "confidence", ox.Literal(plain, datatype=ox.NamedNode(XSD + "decimal"))))
    if spelling.object is not None:
        said.append((M + "spelling", ox.Literal(spelling.object.lexical)))
        if spelling.object.language is not None:
            said.append((M + "spellingLanguage", ox.Literal(spelling.object.language)))
        elif spelling.object.datatype != XSD + "string":
            said.append((M + "spellingDatatype", ox.NamedNode(spelling.object.datatype)))
    for name, text in (("From", spelling.valid_from), ("To", spelling.valid_to)):
        if text is not None:
            said.append((f"{M}valid{name}Spelling", ox.Literal(text)))
    return _quads(content.id, said, graph)


def _quads(
    identifier: UUID, said: Iterable[tuple[str, ox.NamedNode | ox.Literal | ox.Triple]], graph: Iri
) -> Iterator[ox.Quad]:
    reserved = {":": "%3A", "/": "%2F", "#": "%23", "?": "%3F", "=": "%3D", "é": "%C3%A9"}
    history = ox.NamedNode(HISTORY + "".join(reserved.get(character, character) for character in graph.value))
    return (ox.Quad(_named(identifier), ox.NamedNode(name), value, history) for name, value in said)


def _triple_of(statement: Statement) -> tuple[ox.NamedNode, ox.NamedNode, ox.NamedNode | ox.Literal | ox.Triple]:
    value = to_oxigraph(statement.object)
    assert not isinstance(value, ox.BlankNode)
    return ox.NamedNode(statement.subject.value), ox.NamedNode(statement.predicate.value), value


def _named(identifier: UUID) -> ox.NamedNode:
    return ox.NamedNode(identifier.urn)


def _moment(instant: int) -> ox.Literal:
    return ox.Literal(print_instant(Instant(instant)), datatype=ox.NamedNode(XSD + "dateTime"))


def _record_of(certificate: UUID, at: Instant) -> CertificateRecord:
    return CertificateRecord(
        id=certificate,
        document=b"{}",
        verdict=Verdict.CLEAR,
        state=CertificateState.PENDING,
        principal="p",
        graphs=(DEFAULT_GRAPH,),
        issued_at=at,
        base_head=None,
        issued=0,
        request=None,
    )
