"""JSON-LD 1.1.

Rules
-----
* A document is one named graph. IRIs stand in full: no term and no prefix can change what one means, and without
  records the context is empty. Nothing refers to a context elsewhere.
* A triple term, for which JSON-LD 1.1 has no form, is a literal (`bridge.documents.triple_terms`).
* Values are strings with `@type` or `@language`, never numbers. An IRI that is an rdf:type stands under `@type`; a
  literal, which JSON-LD would take for an IRI there, under the property's IRI.
* Statements of the same subject that follow each other are one node object, up to `MOST` of them; a subject may have
  several node objects, as JSON-LD allows.
* With records, each fact is a node besides, its statement by `rdf:subject`, `rdf:predicate`, `rdf:object` (JSON-LD has
  no triple terms), its evidence by `m:supports` in reverse. A statement that does not hold has its record alone.

Example
-------
>>> from bridge.exporting.nodes import RESTORED
>>> from kernel.terms import XSD
>>> value_object(Literal("1.50", XSD + "decimal"), RESTORED)
'{"@value":"1.50","@type":"http://www.w3.org/2001/XMLSchema#decimal"}'
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING, Final

from bridge.documents.triple_terms import TRIPLE_TERM
from bridge.exporting.nodes import Nodes, directed
from bridge.exporting.record import (
    CERTIFICATE,
    CONFIDENCE,
    DATE_TIME,
    DECIMAL,
    DERIVED_FROM,
    FAMILY,
    FROM_PRECISION,
    FROM_SPELLING,
    RECORDED_AT,
    SILENT,
    SPELLING,
    SPELLING_DATATYPE,
    SPELLING_LANGUAGE,
    SUPPORTS,
    TO_PRECISION,
    TO_SPELLING,
    VALID_FROM,
    VALID_TO,
    evidence_record,
    fact_node,
    fact_record,
)
from kernel.terms import RDF, XSD_STRING, Iri, Literal
from kernel.time.precision import Precision
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.exporting.facts import Told
    from bridge.exporting.record import Property
    from kernel.terms import Term

MOST: Final = 100
"""Statements of one node object."""

_TYPE: Final = RDF + "type"
_TYPED: Final = {VALID_FROM: DATE_TIME, VALID_TO: DATE_TIME, RECORDED_AT: DATE_TIME, CONFIDENCE: DECIMAL}
_PLAIN: Final = (FROM_SPELLING, TO_SPELLING, SPELLING, SPELLING_LANGUAGE)
_NAMED: Final = (FAMILY, CERTIFICATE, SPELLING_DATATYPE)
_PRECISE: Final = (FROM_PRECISION, TO_PRECISION)


_PRECISIONS: Final = {each.value: {"@id": M + each} for each in (*Precision,) if each not in SILENT}


def _local(iri: Iri) -> str:
    return iri.value.rpartition("#")[2]


RECORD_CONTEXT: Final[dict[str, dict[str, object]]] = {
    **{_local(iri): {"@id": iri.value, "@type": datatype} for iri, datatype in _TYPED.items()},
    **{_local(iri): {"@id": iri.value} for iri in _PLAIN},
    **{_local(iri): {"@id": iri.value, "@type": "@id"} for iri in _NAMED},
    **{_local(iri): {"@id": iri.value, "@type": "@vocab", "@context": _PRECISIONS} for iri in _PRECISE},
    "episode": {"@id": DERIVED_FROM.value, "@type": "@id"},
    "subject": {"@id": RDF + "subject", "@type": "@id"},
    "predicate": {"@id": RDF + "predicate", "@type": "@id"},
    "object": {"@id": RDF + "object"},
    "evidence": {"@reverse": SUPPORTS.value},
}
"""What the words in records mean."""

_WORDS: Final = {DERIVED_FROM: "episode"}


def jsonld(told: Iterable[Told], graph: Iri, *, records: bool, nodes: Nodes) -> Iterator[str]:
    """A JSON-LD document, in pieces."""
    context = json.dumps(RECORD_CONTEXT if records else {}, separators=(",", ":"))
    yield f'{{"@context":{context},\n"@id":{quoted(graph.value)},\n"@graph":'
    yield from node_objects(told, records=records, nodes=nodes)
    yield "}\n"


def node_objects(told: Iterable[Told], *, records: bool, nodes: Nodes) -> Iterator[str]:
    """The array of node objects for the facts, in pieces."""
    between = "[\n"
    open_node = _Node(nodes)
    for each in told:
        if each.holds:
            statement = each.fact.statement
            for piece in open_node.add(statement.subject, statement.predicate, each.object):
                yield between + piece if piece.startswith("{") else piece
                between = ",\n" if piece.startswith("{") else between
        if records:
            yield from open_node.close()
            yield between + record_object(each, nodes)
            between = ",\n"
    yield from open_node.close()
    yield "[]" if between == "[\n" else "\n]"


def value_object(term: Term, nodes: Nodes) -> str:
    """A term as an object of JSON-LD."""
    if isinstance(term, Iri):
        return f'{{"@id":{quoted(nodes.name(term))}}}'
    literal = term if isinstance(term, Literal) else Literal(nodes.n3(term), TRIPLE_TERM)
    if not nodes.restore:
        literal = directed(literal)
    value = f'{{"@value":{quoted(literal.lexical)}'
    if literal.language is not None:
        direction = "" if literal.direction is None else f',"@direction":"{literal.direction}"'
        return f'{value},"@language":"{literal.language}"{direction}}}'
    return f"{value}}}" if literal.datatype == XSD_STRING else f'{value},"@type":{quoted(literal.datatype)}}}'


class _Node:
    """The node object that is being written: one subject, each property once."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._subject: Iri | None = None
        self._name = ""
        self._names: set[str] = set()
        self._left = 0

    def add(self, subject: Iri, predicate: Iri, value: Term) -> Iterator[str]:
        """Adds a statement, in a new node object (a piece that begins with a brace) if it does not go into this one."""
        name, written = self._member(predicate, value)
        if subject == self._subject and self._left and name == self._name:
            yield f",{written}"
        elif subject == self._subject and self._left and name not in self._names:
            yield f"],\n  {quoted(name)}:[{written}"
        else:
            yield from self.close()
            self._subject, self._names, self._left = subject, set(), MOST
            yield f'{{"@id":{quoted(self._nodes.name(subject))},\n  {quoted(name)}:[{written}'
        self._name = name
        self._names.add(name)
        self._left -= 1

    def close(self) -> Iterator[str]:
        """Ends the node object, if one is open."""
        if self._subject is not None:
            self._subject = None
            yield "]}"

    def _member(self, predicate: Iri, value: Term) -> tuple[str, str]:
        if predicate.value == _TYPE and isinstance(value, Iri):
            return "@type", quoted(self._nodes.name(value))
        return predicate.value, value_object(value, self._nodes)


def record_object(told: Told, nodes: Nodes) -> str:
    """A fact as a node object: its statement, what is said of it, its evidence; its words are of `RECORD_CONTEXT`."""
    statement = told.fact.statement
    members = [
        f'"@id":{quoted(fact_node(told.fact.id).value)}',
        f'"subject":{quoted(nodes.name(statement.subject))}',
        f'"predicate":{quoted(statement.predicate.value)}',
        f'"object":{value_object(told.object, nodes)}',
        *_members(fact_record(told), nodes),
    ]
    if told.evidence:
        evidence = ",".join(
            f'{{"@id":{quoted(fact_node(item.content.id).value)},{",".join(_members(evidence_record(item), nodes))}}}'
            for item in told.evidence
        )
        members.append(f'"evidence":[{evidence}]')
    return f"{{{','.join(members)}}}"


def _members(properties: Iterable[Property], nodes: Nodes) -> Iterator[str]:
    for predicate, value in properties:
        if predicate in _PRECISE and isinstance(value, Iri):
            text = _local(value)
        else:
            text = nodes.name(value) if isinstance(value, Iri) else value.lexical
        yield f"{quoted(_WORDS.get(predicate) or _local(predicate))}:{quoted(text)}"
