"""Turtle and TriG.

Rules
-----
* IRIs stand in full: a prefix made up for strangers' names would say nothing. Statements of the same subject that
  follow each other are written together.
* With records, a statement that holds is annotated (RDF 1.2 Turtle, section 2.11): `s p o ~ F {| … |}`. One that does
  not hold is quoted and not claimed: `F rdf:reifies <<( s p o )>> ; …`. Evidence follows its fact.
* TriG is the same within the graph's braces.

Example
-------
::

    <urn:s> <urn:p> "007"^^<…int> ~ <urn:uuid:F> {| m:validFrom "2019-01-01T00:00:00Z"^^xsd:dateTime ; … |} .
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.exporting.nodes import RESTORED
from bridge.exporting.record import DATE_TIME, DECIMAL, evidence_record, fact_node, fact_record
from bridge.stores.encoding import PROV
from kernel.terms import RDF, XSD, Iri, Literal
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.exporting.facts import Told
    from bridge.exporting.record import Property

_PREFIXES: Final = f"PREFIX m: <{M}>\nPREFIX prov: <{PROV}>\nPREFIX rdf: <{RDF}>\nPREFIX xsd: <{XSD}>\n\n"
_TYPE: Final = RDF + "type"


def turtle(told: Iterable[Told], *, records: bool) -> Iterator[str]:
    """A Turtle document, in pieces."""
    return _annotated(told) if records else _plain(told)


def trig(told: Iterable[Told], graph: Iri, *, records: bool) -> Iterator[str]:
    """A TriG document of one graph, in pieces."""
    pieces = turtle(told, records=records)
    if records:
        yield next(pieces)  # the prefixes
    yield f"{graph.n3} {{\n"
    yield from pieces
    yield "}\n"


def _plain(told: Iterable[Told]) -> Iterator[str]:
    subject = None
    for each in told:
        statement = each.fact.statement
        said = f"{_predicate(statement.predicate)} {RESTORED.n3(each.object)}"
        if statement.subject == subject:
            yield f" ;\n    {said}"
        else:
            begun = "" if subject is None else " .\n"
            subject = statement.subject
            yield f"{begun}{RESTORED.n3(subject)} {said}"
    if subject is not None:
        yield " .\n"


def _annotated(told: Iterable[Told]) -> Iterator[str]:
    yield _PREFIXES
    for each in told:
        statement, fact = each.fact.statement, fact_node(each.fact.id).n3
        subject, predicate = RESTORED.n3(statement.subject), _predicate(statement.predicate)
        record = _properties(fact_record(each))
        if each.holds:
            yield f"{subject} {predicate} {RESTORED.n3(each.object)} ~ {fact} {{| {record} |}} .\n"
        else:
            quoted = f"<<( {subject} {statement.predicate.n3} {RESTORED.n3(each.object)} )>>"
            yield f"{fact} rdf:reifies {quoted} ; {record} .\n"
        for item in each.evidence:
            yield f"{fact_node(item.content.id).n3} m:supports {fact} ; {_properties(evidence_record(item))} .\n"


def _properties(properties: Iterable[Property]) -> str:
    return " ; ".join(f"{_name(predicate)} {_value(value)}" for predicate, value in properties)


def _value(value: Iri | Literal) -> str:
    if isinstance(value, Iri):
        ours = value.value.startswith(M) and value.value.removeprefix(M).isalpha()
        return _name(value) if ours else RESTORED.n3(value)
    if value.datatype in {DATE_TIME, DECIMAL}:
        return f'"{value.lexical}"^^xsd:{value.datatype.removeprefix(XSD)}'
    return value.n3


def _name(iri: Iri) -> str:
    """One of our own words, or PROV's."""
    return f"prov:{iri.value.removeprefix(PROV)}" if iri.value.startswith(PROV) else f"m:{iri.value.removeprefix(M)}"


def _predicate(predicate: Iri) -> str:
    return "a" if predicate.value == _TYPE else predicate.n3
