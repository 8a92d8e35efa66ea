"""A ledger as lists, and histories to write into one: the oracle of the ledger's tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final
from uuid import UUID

from hypothesis import strategies as st

from certificates.ids import derived_id
from kernel.facts import Evidence, EvidenceContent, Fact, FactContent, Spelling, Supersession, Validity
from kernel.ports.texts import FactTexts
from kernel.terms import XSD, Iri, Literal, Statement, Term, TripleTerm
from kernel.time.instants import BEGINNING, FOREVER, Instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernel.ports.writing import LedgerTransaction

SUBJECTS: Final = (Iri("urn:a"), Iri("urn:b"))
PREDICATES: Final = (Iri("urn:p"), Iri("urn:q"))
OBJECTS: Final[tuple[Term, ...]] = (
    Iri("urn:b"),
    Literal('the "first"\n\x00line'),
    Literal("5", XSD + "integer"),
    TripleTerm(Iri("urn:a"), Iri("urn:p"), Literal("été", language="fr", direction="ltr")),
)
GRAPHS: Final = (Iri("urn:g"), Iri("urn:h"))
LAST_MOMENT: Final = 12
"""Bounds of facts are drawn from 0 to this; transaction instants from 1 on, so that both lines cross."""

MOMENTS: Final = (BEGINNING, *(Instant(moment) for moment in range(-1, LAST_MOMENT + 2)), FOREVER)


def stored(fact: Fact) -> FactTexts:
    """The fact as a ledger has it."""
    content, validity = fact.content, fact.content.validity
    superseded = fact.superseded
    return FactTexts(
        content.id.bytes,
        content.family.bytes,
        fact.statement.subject.n3,
        fact.statement.predicate.n3,
        fact.statement.object.n3,
        fact.statement.graph.n3,
        validity.interval.start,
        validity.interval.end,
        validity.start_precision,
        validity.end_precision,
        fact.certificate.bytes,
        fact.recorded_at,
        FOREVER if superseded is None else superseded.at,
        None if superseded is None else superseded.certificate.bytes,
    )


@dataclass(frozen=True, slots=True)
class Step:
    """One certificate's worth; numbers pick among the facts that there are, and wrap around."""

    records: Sequence[tuple[Statement, Validity]]
    supersedes: Sequence[int]
    supports: Sequence[tuple[int, EvidenceContent]]


@st.composite
def _validities(draw: st.DrawFn) -> Validity:
    start, end = sorted(draw(st.sets(st.integers(0, LAST_MOMENT), min_size=2, max_size=2)))
    unknown = st.sampled_from([Precision.UNKNOWN, Precision.UNBOUNDED])
    known = st.sampled_from([precision for precision in Precision if precision not in {"unknown", "unbounded"}])
    open_start, open_end = draw(st.booleans()), draw(st.booleans())
    return Validity(
        Interval(BEGINNING if open_start else start, FOREVER if open_end else end),
        draw(unknown if open_start else known),
        draw(unknown if open_end else known),
    )


statements: Final = st.builds(Statement, *map(st.sampled_from, (SUBJECTS, PREDICATES, OBJECTS, GRAPHS)))

_supports = st.tuples(
    st.integers(0, 9),
    st.builds(
        EvidenceContent,
        id=st.just(UUID(int=0)),
        fact=st.just(UUID(int=0)),
        episode=st.sampled_from([None, Iri("urn:episode")]),
        confidence=st.sampled_from([None, Decimal("0.50"), Decimal(1), Decimal("1E-3")]),
        spelling=st.builds(
            Spelling,
            object=st.sampled_from([None, Literal("05", XSD + "int"), Literal("x\ny", language="en-GB")]),
            valid_from=st.sampled_from([None, "1970-01-01T05:00:00.100+05:00"]),
            valid_to=st.sampled_from([None, "199#"]),
        ),
    ),
)

steps: Final = st.builds(
    Step,
    records=st.lists(st.tuples(statements, _validities()), max_size=3),
    supersedes=st.lists(st.integers(0, 9), max_size=2),
    supports=st.lists(_supports, max_size=2),
)

histories: Final = st.lists(steps, min_size=1, max_size=7)


class LedgerModel:
    """Facts and evidence, in the order in which they were recorded."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.evidence: list[Evidence] = []
        self._written = 0

    def write(self, tx: LedgerTransaction, step: Step, *, take_back: bool = False) -> None:
        """Writes a step into a transaction and, unless it is taken back at once, into the model."""
        self._written += 1
        certificate, at = UUID(int=self._written), Instant(self._written)
        before, before_evidence = list(self.facts), list(self.evidence)
        gone = self._supersede(step, certificate, at)
        recorded = [
            Fact(_content(certificate, number, *record), certificate, at, None, bytes([self._written]) * 32)
            for number, record in enumerate(step.records)
        ]
        self.facts += recorded
        said = [
            replace(said, id=derived_id(certificate, "evidence", number), fact=self.facts[index % len(self.facts)].id)
            for number, (index, said) in enumerate(step.supports)
            if self.facts
        ]
        self.evidence += [Evidence(content, certificate, at) for content in said]
        tx.record(certificate, at, ((fact.content, fact.leaf) for fact in recorded))
        tx.supersede(certificate, at, gone)
        tx.add_evidence(certificate, at, iter(said))
        if take_back:
            tx.unrecord(certificate)
            self.facts, self.evidence = before, before_evidence

    def _supersede(self, step: Step, certificate: UUID, at: Instant) -> list[UUID]:
        believed = [fact.id for fact in self.facts if fact.superseded is None]
        gone = list(dict.fromkeys(believed[index % len(believed)] for index in step.supersedes)) if believed else []
        supersession = Supersession(at, certificate)
        self.facts = [replace(fact, superseded=supersession) if fact.id in gone else fact for fact in self.facts]
        return gone

    @property
    def instants(self) -> list[Instant | None]:
        """Transaction instants worth asking about: each one, those around, and none at all."""
        return [None, *(Instant(moment) for moment in range(self._written + 2))]

    def believed(self, *wanted: Term | None) -> Iterator[Fact]:
        """The believed facts of these terms; None: whatever."""
        for fact in self.facts:
            held = fact.statement
            have = (held.subject, held.predicate, held.object, held.graph)
            if fact.superseded is None and all(want in (None, term) for want, term in zip(wanted, have, strict=True)):
                yield fact

    def facts_at(self, as_of: Instant, valid_at: Instant) -> Iterator[Fact]:
        """As the port has it."""
        for fact in self.facts:
            believed = fact.recorded_at <= as_of and (fact.superseded is None or as_of < fact.superseded.at)
            if believed and fact.interval.start <= valid_at < fact.interval.end:
                yield fact

    def facts_of_graph(
        self, graph: Iri, predicate: Iri | None, as_of: Instant | None, valid_at: Instant | None
    ) -> Iterator[Fact]:
        """As the port has it, from the first on."""
        for fact in self.facts:
            ended = FOREVER if fact.superseded is None else fact.superseded.at
            believed = ended == FOREVER if as_of is None else fact.recorded_at <= as_of < ended
            valid = valid_at is None or fact.interval.contains(valid_at)
            if believed and valid and graph == fact.statement.graph and predicate in (None, fact.statement.predicate):
                yield fact

    def facts_recorded(self, after: Instant | None, until: Instant) -> list[Fact]:
        """As the port has it."""
        since = BEGINNING if after is None else after
        return [
            fact
            for fact in self.facts
            if since < fact.recorded_at <= until
            or (fact.superseded is not None and since < fact.superseded.at <= until)
        ]

    def boundaries(self, fact: Fact) -> list[int]:
        """When a fact begins and ends, if it does."""
        return [moment for moment in (fact.interval.start, fact.interval.end) if BEGINNING < moment < FOREVER]

    def facts_due(self, after: Instant, until: Instant) -> list[Fact]:
        """As the port has it."""
        return [
            fact
            for fact in self.facts
            if fact.superseded is None and any(after < moment <= until for moment in self.boundaries(fact))
        ]

    def next_due(self, after: Instant) -> Instant | None:
        """As the port has it."""
        believed = [fact for fact in self.facts if fact.superseded is None]
        later = [moment for fact in believed for moment in self.boundaries(fact) if moment > after]
        return Instant(min(later)) if later else None

    def graph_of(self, identifier: UUID) -> Iri:
        """The graph of a fact."""
        return next(fact.statement.graph for fact in self.facts if fact.id == identifier)


def _content(certificate: UUID, number: int, statement: Statement, validity: Validity) -> FactContent:
    identifier, family = (derived_id(certificate, kind, number) for kind in ("fact", "family"))
    return FactContent(identifier, family, statement, validity)
