"""The record of a fact: what a document with annotations says of it beside its statement.

Rules
-----
* The words are those of the history graphs (`bridge.stores.encoding`), so that what is asked of H(g) can be asked of an
  export: both ends of valid time as instants in UTC, how exactly they are known, when it was recorded and by which
  certificate; and each piece of evidence as a node of its own, `m:supports` the fact.
* Beside an end stands its spelling, where that is not the canonical one; beside the fact the submitted literal, where a
  store would rewrite it, and the confidence it came with. So a record can be read back without its evidence.

Example
-------
>>> from uuid import UUID
>>> fact_node(UUID(int=0)).value
'urn:uuid:00000000-0000-0000-0000-000000000000'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.exporting.submitted import submitted
from bridge.stores.encoding import PROV
from certificates.ids import urn
from kernel.terms import XSD, XSD_STRING, Iri, Literal
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.time.precision import Precision
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal
    from uuid import UUID

    from bridge.exporting.facts import Told
    from kernel.facts import Evidence
    from kernel.time.timevalues import Bound

Property = tuple[Iri, Iri | Literal]
"""A predicate and an object of a record."""

DATE_TIME: Final = XSD + "dateTime"
DECIMAL: Final = XSD + "decimal"

VALID_FROM: Final = Iri(M + "validFrom")
FROM_PRECISION: Final = Iri(M + "fromPrecision")
FROM_SPELLING: Final = Iri(M + "validFromSpelling")
VALID_TO: Final = Iri(M + "validTo")
TO_PRECISION: Final = Iri(M + "toPrecision")
TO_SPELLING: Final = Iri(M + "validToSpelling")
SPELLING: Final = Iri(M + "spelling")
SPELLING_DATATYPE: Final = Iri(M + "spellingDatatype")
SPELLING_LANGUAGE: Final = Iri(M + "spellingLanguage")
CONFIDENCE: Final = Iri(M + "confidence")
RECORDED_AT: Final = Iri(M + "recordedAt")
FAMILY: Final = Iri(M + "family")
CERTIFICATE: Final = Iri(M + "certificate")
SUPPORTS: Final = Iri(M + "supports")
DERIVED_FROM: Final = Iri(PROV + "wasDerivedFrom")

SILENT: Final = frozenset({Precision.INSTANT, Precision.UNBOUNDED})
"""Precisions that go without saying."""


def fact_node(identifier: UUID) -> Iri:
    """The node that a fact, or a piece of evidence, is in documents."""
    return Iri(urn(identifier))


def fact_record(told: Told) -> Iterator[Property]:
    """What a document says of a fact, apart from its statement."""
    fact, said = told.fact, submitted(told.fact, told.evidence)
    yield from _end(said.start, VALID_FROM, FROM_PRECISION, FROM_SPELLING)
    yield from _end(said.end, VALID_TO, TO_PRECISION, TO_SPELLING)
    if isinstance(said.object, Literal) and said.object != fact.statement.object:
        yield from _spelling(said.object)
    if said.confidence is not None:
        yield CONFIDENCE, _decimal(said.confidence)
    yield RECORDED_AT, _date_time(fact.recorded_at)
    yield FAMILY, fact_node(fact.content.family)
    yield CERTIFICATE, fact_node(fact.certificate)


def evidence_record(evidence: Evidence) -> Iterator[Property]:
    """What a document says of a piece of evidence, apart from what it supports."""
    content = evidence.content
    if content.episode is not None:
        yield DERIVED_FROM, content.episode
    if content.confidence is not None:
        yield CONFIDENCE, _decimal(content.confidence)
    if content.spelling.object is not None:
        yield from _spelling(content.spelling.object)
    if content.spelling.valid_from is not None:
        yield FROM_SPELLING, Literal(content.spelling.valid_from)
    if content.spelling.valid_to is not None:
        yield TO_SPELLING, Literal(content.spelling.valid_to)
    yield RECORDED_AT, _date_time(evidence.recorded_at)
    yield CERTIFICATE, fact_node(evidence.certificate)


def _end(bound: Bound, instant: Iri, precision: Iri, spelling: Iri) -> Iterator[Property]:
    if bound.instant not in {BEGINNING, FOREVER}:
        yield instant, _date_time(bound.instant)
    if bound.precision not in SILENT:
        yield precision, Iri(M + bound.precision)
    if bound.spelling is not None:
        yield spelling, Literal(bound.spelling)


def _spelling(literal: Literal) -> Iterator[Property]:
    yield SPELLING, Literal(literal.lexical)
    if literal.language is not None:
        yield SPELLING_LANGUAGE, Literal(literal.language)
    elif literal.datatype != XSD_STRING:
        yield SPELLING_DATATYPE, Iri(literal.datatype)


def _date_time(instant: Instant) -> Literal:
    return Literal(print_instant(instant), DATE_TIME)


def _decimal(number: Decimal) -> Literal:
    return Literal(format(number, "f"), DECIMAL)
