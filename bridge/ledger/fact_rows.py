"""Facts and evidence as rows, and back.

Rules
-----
* A term is its canonical N-Triples text. Its key is a 64-bit hash of that text: it finds rows, and proves nothing.
* The numbers of precisions are part of the format: none is ever given another meaning.

Example
-------
>>> term_key("<urn:a>")
6832776739945377687
>>> PRECISION_NUMBER[Precision.UNBOUNDED]
7
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final
from uuid import UUID

from bridge.ledger.damage import sound
from certificates.ids import read_uuid
from kernel.facts import Evidence, EvidenceContent, Fact, FactContent, Spelling, Supersession, Validity
from kernel.ports.texts import FactTexts
from kernel.terms import Iri, Statement, parse_iri, parse_literal, parse_term
from kernel.time.instants import FOREVER, Instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bridge.ledger.session import Value

PRECISION_NUMBER: Final = {
    Precision.INSTANT: 0,
    Precision.DAY: 1,
    Precision.MONTH: 2,
    Precision.YEAR: 3,
    Precision.DECADE: 4,
    Precision.CENTURY: 5,
    Precision.UNKNOWN: 6,
    Precision.UNBOUNDED: 7,
}
_PRECISIONS: Final = {number: precision for precision, number in PRECISION_NUMBER.items()}

FACT_COLUMNS: Final = (
    "id, family, subject, predicate, object, graph, valid_from, valid_to, from_precision, to_precision,"
    " certificate, recorded, superseded, superseded_by, leaf"
)
FactRow = tuple[bytes, bytes, str, str, str, str, int, int, int, int, bytes, int, int, bytes | None, bytes]
"""A row of `FACT_COLUMNS`."""

FACT_TEXT_COLUMNS: Final = FACT_COLUMNS.removesuffix(", leaf")
FactTextRow = tuple[bytes, bytes, str, str, str, str, int, int, int, int, bytes, int, int, bytes | None]
"""A row of `FACT_TEXT_COLUMNS`."""

EVIDENCE_COLUMNS: Final = (
    "evidence.id, evidence.fact, evidence.episode, evidence.confidence, evidence.object, evidence.valid_from,"
    " evidence.valid_to, evidence.certificate, evidence.recorded"
)
EvidenceRow = tuple[bytes, bytes, str | None, str | None, str | None, str | None, str | None, bytes, int]
"""A row of `EVIDENCE_COLUMNS`."""

GraphedEvidenceRow = tuple[
    bytes, bytes, str | None, str | None, str | None, str | None, str | None, bytes, int, str
]  # fmt: skip
"""The same, followed by the graph of the fact."""


@lru_cache(maxsize=65_536)
def term_key(text: str) -> int:
    """The 64-bit hash of a term's text, as a signed integer."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), signed=True)


def fact_rows(
    facts: Iterable[tuple[FactContent, bytes]],
    certificate: UUID,
    at: Instant,
    key: Callable[[str], int],
    graphs: set[str],
) -> Iterator[tuple[Value, ...]]:
    """The rows to insert into `facts`, without row number; puts the text of every graph into `graphs`."""
    brought_by = certificate.bytes
    for fact, leaf in facts:
        statement, validity = fact.statement, fact.validity
        interval = validity.interval
        subject, predicate = statement.subject.n3, statement.predicate.n3
        value, graph = statement.object.n3, statement.graph.n3
        graphs.add(graph)
        yield (
            fact.id.bytes,
            fact.family.bytes,
            subject,
            predicate,
            value,
            graph,
            key(subject),
            key(predicate),
            key(value),
            key(graph),
            interval.start,
            interval.end,
            PRECISION_NUMBER[validity.start_precision],
            PRECISION_NUMBER[validity.end_precision],
            at,
            FOREVER,
            brought_by,
            None,
            leaf,
        )


@sound("a fact")
def statement_of(row: tuple[str, str, str, str] | tuple[str, str, str, str, int]) -> Statement:
    """The statement in a row that begins with subject, predicate, object and graph. Raises `DamagedBase`."""
    subject, predicate, value, graph = row[:4]
    return Statement(parse_iri(subject), parse_iri(predicate), parse_term(value), parse_iri(graph))


@sound("a fact")
def fact_of(row: FactRow) -> Fact:
    """The fact in a row. Raises `DamagedBase`."""
    (
        identifier, family, subject, predicate, value, graph, start, end, start_precision, end_precision,
        certificate, recorded, superseded, superseded_by, leaf,
    ) = row  # fmt: skip
    own = read_uuid(identifier)
    return Fact(
        FactContent(
            own,
            own if family == identifier else read_uuid(family),
            Statement(parse_iri(subject), parse_iri(predicate), parse_term(value), parse_iri(graph)),
            validity_of(start, end, start_precision, end_precision),
        ),
        _certificate(certificate),
        Instant(recorded),
        None if superseded_by is None else Supersession(Instant(superseded), _certificate(superseded_by)),
        leaf,
    )


@sound("a fact")
def texts_of(row: FactTextRow) -> FactTexts:
    """The fact in a row as it is stored. Raises `DamagedBase` for precisions that there are not."""
    return FactTexts(*row[:8], _PRECISIONS[row[8]], _PRECISIONS[row[9]], *row[10:])


def evidence_row(evidence: EvidenceContent, certificate: UUID, at: Instant) -> tuple[Value, ...]:
    """The row to insert into `evidence`, without row number."""
    spelling = evidence.spelling
    return (
        evidence.id.bytes,
        evidence.fact.bytes,
        None if evidence.episode is None else evidence.episode.n3,
        None if evidence.confidence is None else str(evidence.confidence),
        None if spelling.object is None else spelling.object.n3,
        spelling.valid_from,
        spelling.valid_to,
        certificate.bytes,
        at,
    )


@sound("evidence")
def evidence_of(row: EvidenceRow) -> Evidence:
    """The evidence in a row. Raises `DamagedBase`."""
    identifier, fact, episode, confidence, value, valid_from, valid_to, certificate, recorded = row
    return Evidence(
        EvidenceContent(
            read_uuid(identifier),
            read_uuid(fact),
            None if episode is None else parse_iri(episode),
            None if confidence is None else Decimal(confidence),
            Spelling(None if value is None else parse_literal(value), valid_from, valid_to),
        ),
        _certificate(certificate),
        Instant(recorded),
    )


@sound("evidence")
def graphed_evidence_of(row: GraphedEvidenceRow) -> tuple[Evidence, Iri]:
    """The evidence in a row, and the graph of its fact. Raises `DamagedBase`."""
    return evidence_of(row[:9]), parse_iri(row[9])


@lru_cache(maxsize=1_024)
def _certificate(identifier: bytes) -> UUID:
    """Many facts share one."""
    return read_uuid(identifier)


@lru_cache(maxsize=8_192)
def validity_of(start: int, end: int, start_precision: int, end_precision: int) -> Validity:
    """The valid time in a row: instants and the numbers of precisions. Raises what tells of one that makes no sense."""
    return Validity(Interval(start, end), _PRECISIONS[start_precision], _PRECISIONS[end_precision])
