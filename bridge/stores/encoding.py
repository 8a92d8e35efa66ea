r"""Facts and evidence as RDF 1.2 text.

Rules
-----
* A statement that holds now is a quad of its graph g. Facts and evidence live in the history graph H(g), in which the
  statement is quoted by a triple term and not asserted: a past fact is not claimed.
* Every text here is one `GRAPH` block, which TriG and SPARQL's `INSERT DATA` and `DELETE DATA` read alike: a load, a
  bulk load and an update take the same text. (It is half as long as N-Quads, and loads as fast or faster.)
* What was recorded (`fact_text`) and what was superseded (`supersession_text`) are told apart, because the second comes
  later, and because a moment in the past knows only the first. Both are only ever added.
* `m:validFrom` and `m:validTo` are left out where there is no bound. `m:fromPrecision` and `m:toPrecision` are left out
  where they say nothing: a bound without one is exact to the microsecond, a missing bound without one is unbounded. So
  they are `m:day`, `m:month`, `m:year`, `m:decade`, `m:century`, or, with no bound beside it, `m:unknown`.
* `m:object` is there when the object is an IRI. It and `m:subject` are for look-ups: nothing is indexed inside a triple
  term.
* A submitted literal that a store would rewrite is kept in parts, since as a literal it would be rewritten again:
  `m:spelling` is its lexical form as a string, `m:spellingDatatype` its datatype, `m:spellingLanguage` its language tag
  as a string.
* Every instant that the kernel has is an `xsd:dateTime` that Oxigraph holds by value, orders and prints as it was.

Example
-------
>>> from kernel.terms import parse_iri
>>> s, p, o, g = map(parse_iri, ("<urn:s>", "<urn:p>", "<urn:o>", "<urn:g>"))
>>> statement_text(Statement(s, p, o, g))
'GRAPH <urn:g> { <urn:s> <urn:p> <urn:o> }\n'

A fact of it, recorded today, valid since 2024::

    GRAPH <https://w3id.org/muniment/history/urn%3Ag> {
      <urn:uuid:F> rdf:reifies <<( <urn:s> <urn:p> <urn:o> )>> ; m:subject <urn:s> ; m:object <urn:o> ;
        m:validFrom "2024-01-01T00:00:00Z"^^xsd:dateTime ; m:fromPrecision m:year ;
        m:recordedAt "…"^^xsd:dateTime ; m:family <urn:uuid:…> ; m:certificate <urn:uuid:…> }
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final
from uuid import UUID

from kernel.terms import RDF, XSD, XSD_STRING, Literal, Statement, parse_iri
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.time.precision import Precision
from kernel.vocabulary import M, history_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.facts import Evidence, Fact, Spelling
    from kernel.ports.texts import FactTexts, HistoryCounts
    from kernel.terms import Iri

PROV: Final = "http://www.w3.org/ns/prov#"

_DATE_TIME: Final = f"^^<{XSD}dateTime>"
_DECIMAL: Final = f"^^<{XSD}decimal>"
_SILENT: Final = frozenset({Precision.INSTANT, Precision.UNBOUNDED})

# What is said of each, whatever it is.
_OF_A_FACT: Final = 5
_SUPERSEDED: Final = 2
_OF_EVIDENCE: Final = 3


def statement_text(statement: Statement) -> str:
    """The quad of a statement that holds now."""
    return quad_text(statement.subject.n3, statement.predicate.n3, statement.object.n3, statement.graph.n3)


def quad_text(subject: str, predicate: str, value: str, graph: str) -> str:
    """The same of its terms in their N-Triples form."""
    return f"GRAPH {graph} {{ {subject} {predicate} {value} }}\n"


def fact_text(fact: Fact) -> str:
    """The quads of a fact as it was recorded, whether or not it was superseded since."""
    content = fact.content
    statement, validity = content.statement, content.validity
    return _recorded(
        history_graph(statement.graph).n3,
        f"<urn:uuid:{content.id}>",
        (statement.subject.n3, statement.predicate.n3, statement.object.n3),
        _bounds(validity.interval.start, validity.interval.end, validity.start_precision, validity.end_precision),
        f"<{M}recordedAt> {_date_time(fact.recorded_at)}"
        f" ; <{M}family> <urn:uuid:{content.family}> ; <{M}certificate> {_certificate(fact.certificate)}",
    )


def supersession_text(fact: Fact) -> str:
    """The quads that a fact gains by being superseded. Raises `ValueError` for one that is believed."""
    superseded = fact.superseded
    if superseded is None:
        raise ValueError(f"fact {fact.id} is not superseded")
    graph, by = history_graph(fact.statement.graph).n3, _certificate(superseded.certificate)
    return _superseded(graph, f"<urn:uuid:{fact.id}>", superseded.at, by)


def stored_fact_text(fact: FactTexts) -> str:
    """As `fact_text`, of a fact as the ledger has it."""
    return _recorded(
        _history_of(fact.graph),
        _uuid(fact.id),
        (fact.subject, fact.predicate, fact.object),
        _bounds(fact.valid_from, fact.valid_to, fact.from_precision, fact.to_precision),
        f"<{M}recordedAt> {_date_time(fact.recorded)}"
        f" ; <{M}family> {_uuid(fact.family)} ; <{M}certificate> {_certificate_of(fact.certificate)}",
    )


def stored_supersession_text(fact: FactTexts) -> str:
    """As `supersession_text`, of a fact as the ledger has it. Raises `ValueError` for one that is believed."""
    if fact.superseded_by is None:
        raise ValueError("the fact is not superseded")
    return _superseded(_history_of(fact.graph), _uuid(fact.id), fact.superseded, _certificate_of(fact.superseded_by))


def evidence_text(evidence: Evidence, graph: Iri) -> str:
    """The quads of a piece of evidence for a fact in the graph."""
    content = evidence.content
    source = "" if content.episode is None else f" ; <{PROV}wasDerivedFrom> {content.episode.n3}"
    confidence = "" if content.confidence is None else f' ; <{M}confidence> "{content.confidence:f}"{_DECIMAL}'
    return (
        f"GRAPH {history_graph(graph).n3} {{ <urn:uuid:{content.id}> <{M}supports> <urn:uuid:{content.fact}>"
        f" ; <{M}recordedAt> {_date_time(evidence.recorded_at)} ; <{M}certificate> {_certificate(evidence.certificate)}"
        f"{source}{confidence}{''.join(_spelling(content.spelling))} }}\n"
    )


def history_quads(told: HistoryCounts) -> int:
    """How many quads the texts above are of so many facts and pieces of evidence."""
    of_facts = _OF_A_FACT * told.facts + told.of_nodes + told.bounds + told.precisions + _SUPERSEDED * told.superseded
    return of_facts + _OF_EVIDENCE * told.evidence + told.details


def _recorded(graph: str, fact: str, statement: tuple[str, str, str], bounds: str, how: str) -> str:
    subject, predicate, value = statement
    is_node = value[0] == "<" and not value.startswith("<<(")
    helper = f" ; <{M}object> {value}" if is_node else ""
    return (
        f"GRAPH {graph} {{ {fact} <{RDF}reifies> <<( {subject} {predicate} {value} )>>"
        f" ; <{M}subject> {subject}{helper}{bounds} ; {how} }}\n"
    )


def _superseded(graph: str, fact: str, at: int, by: str) -> str:
    return f"GRAPH {graph} {{ {fact} <{M}supersededAt> {_date_time(at)} ; <{M}supersededBy> {by} }}\n"


def _bounds(start: int, end: int, start_precision: Precision, end_precision: Precision) -> str:
    text = ""
    if start != BEGINNING:
        text += f" ; <{M}validFrom> {_date_time(start)}"
    if start_precision not in _SILENT:
        text += f" ; <{M}fromPrecision> <{M}{start_precision}>"
    if end != FOREVER:
        text += f" ; <{M}validTo> {_date_time(end)}"
    if end_precision not in _SILENT:
        text += f" ; <{M}toPrecision> <{M}{end_precision}>"
    return text


def _spelling(spelling: Spelling) -> Iterator[str]:
    if spelling.object is not None:
        yield f" ; <{M}spelling> {Literal(spelling.object.lexical).n3}"
        if spelling.object.language is not None:
            yield f" ; <{M}spellingLanguage> {Literal(spelling.object.language).n3}"
        elif spelling.object.datatype != XSD_STRING:
            yield f" ; <{M}spellingDatatype> <{spelling.object.datatype}>"
    if spelling.valid_from is not None:
        yield f" ; <{M}validFromSpelling> {Literal(spelling.valid_from).n3}"
    if spelling.valid_to is not None:
        yield f" ; <{M}validToSpelling> {Literal(spelling.valid_to).n3}"


@lru_cache(maxsize=16_384)
def _date_time(instant: int) -> str:
    return f'"{print_instant(Instant(instant))}"{_DATE_TIME}'


@lru_cache(maxsize=4_096)
def _certificate(certificate: UUID) -> str:
    return f"<urn:uuid:{certificate}>"


@lru_cache(maxsize=4_096)
def _certificate_of(certificate: bytes) -> str:
    return _uuid(certificate)


@lru_cache(maxsize=4_096)
def _history_of(graph: str) -> str:
    return history_graph(parse_iri(graph)).n3


def _uuid(identifier: bytes) -> str:
    digits = identifier.hex()
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}>"
