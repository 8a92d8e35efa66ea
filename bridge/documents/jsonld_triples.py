"""Expanded JSON-LD as triples (JSON-LD 1.1 API, section 8), with nothing skipped and nothing rounded.

Rules
-----
* Where the specification skips something in silence, here it is an error: relative IRIs, blank nodes as properties.
  Graphs named by blank nodes are refused as well, for a graph needs a name that lasts.
* A base direction is kept, as an rdf:dirLangString; it needs a language.
* Numbers are those of `json_text`. A value of type `@json` is an rdf:JSON in canonical form (RFC 8785).

Example
-------
>>> from bridge.documents.skolem import Skolem
>>> conversion = Conversion(Skolem())
>>> conversion.node({"@id": "urn:a", "urn:p": [{"@value": True}, {"@list": []}]}, None).value
'urn:a'
>>> [value.n3[-18:] for _, _, value, _ in conversion.triples]
['XMLSchema#boolean>', 'rdf-syntax-ns#nil>']
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyld.jsonld import canonicalize

from bridge.documents.json_text import Json, native_literal
from kernel.errors import InvalidDocument, InvalidTerm
from kernel.terms import RDF, XSD, XSD_STRING, Iri, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Triple: TypeAlias = tuple[Iri, Iri, Iri | Literal, Iri | None]
"""Subject, predicate, object as submitted, and graph; None for the default graph."""

Expanded: TypeAlias = dict[str, Any]
"""A node, value, list or graph object as expansion makes it: what its members are depends on their names."""

RELATIVE: Final = "http://relative.invalid/"
"""The base of documents that name none. RFC 2606 keeps the domain free, so what begins like this was relative."""

_TYPE: Final = Iri(RDF + "type")
_FIRST: Final = Iri(RDF + "first")
_REST: Final = Iri(RDF + "rest")
_NIL: Final = Iri(RDF + "nil")
_JSON: Final = RDF + "JSON"
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


class Conversion:
    """From expanded JSON-LD to triples (JSON-LD 1.1 API, section 8.1)."""

    def __init__(self, skolem: Callable[[str], Iri]) -> None:
        self.triples: list[Triple] = []
        self._skolem = skolem
        self._unnamed = 0

    def node(self, item: Expanded, graph: Iri | None) -> Iri:
        """Adds the triples of a node object; gives the node.

        Args:
            item: the node, graph or top-level object.
            graph: the graph that it stands in; None for the default graph.

        Raises:
            InvalidDocument: something in it is no RDF.
            InvalidTerm: a term that RDF does not allow, or a number that would lose digits.
        """
        if "@value" in item or "@list" in item:
            raise _refused("a value stands alone", "give it to a property of a node")
        node = self._reference(item["@id"], "@id") if "@id" in item else self._blank()
        for name, values in item.items():
            if name not in {"@id", "@index"}:
                self._member(node, item, name, values, graph)
        return node

    def _member(self, node: Iri, item: Expanded, name: str, values: list[Any], graph: Iri | None) -> None:
        if name == "@reverse":
            self._reverse(node, item[name], graph)
        elif name in {"@graph", "@included"}:
            within = self._graph(item) if name == "@graph" else graph
            for each in values:
                self.node(each, within)
        else:
            for each in values:
                if name == "@type":
                    self._add(node, _TYPE, self._reference(each, "@type"), graph)
                else:
                    self._add(node, self._property(name), self._value(each, graph, name), graph)

    def _reverse(self, node: Iri, members: Expanded, graph: Iri | None) -> None:
        for name, subjects in members.items():
            for each in subjects:
                self._add(self.node(each, graph), self._property(name), node, graph)

    def _add(self, subject: Iri, predicate: Iri, value: Iri | Literal, graph: Iri | None) -> None:
        self.triples.append((subject, predicate, value, graph))

    def _value(self, item: Expanded, graph: Iri | None, name: str) -> Iri | Literal:
        if "@list" in item:
            return self._list(item["@list"], graph, name)
        return _literal(item, name) if "@value" in item else self.node(item, graph)

    def _list(self, items: list[Expanded], graph: Iri | None, name: str) -> Iri:
        head = _NIL
        for each in reversed([self._value(item, graph, name) for item in items]):
            cell = self._blank()
            self._add(cell, _FIRST, each, graph)
            self._add(cell, _REST, head, graph)
            head = cell
        return head

    def _graph(self, item: Expanded) -> Iri:
        name = item.get("@id")
        if name is None or name.startswith("_:"):
            raise _refused("a named graph has no IRI", "give the graph an IRI as its @id")
        return self._reference(name, "@id")

    def _property(self, name: str) -> Iri:
        if name.startswith("_:"):
            raise _refused(f"{name} is a blank node, and stands as a property", "give the property an IRI")
        return self._reference(name, "a property")

    def _reference(self, reference: str | None, where: str) -> Iri:
        if reference is None:
            raise _refused(f"{where} is something that looks like a keyword", "give an IRI")
        if reference.startswith("_:"):
            return self._skolem(reference.removeprefix("_:"))
        return Iri(_absolute(reference, where))

    def _blank(self) -> Iri:
        self._unnamed += 1
        return self._skolem(f" {self._unnamed}")


def _literal(item: Expanded, where: str) -> Literal:
    value, datatype, language = item["@value"], item.get("@type"), item.get("@language")
    if datatype == "@json":
        return Literal(canonicalize(_plain(value, where)).decode(), _JSON)
    if language is not None or "@direction" in item:
        if language is None:
            raise InvalidTerm("there is a base direction, but no language", remedy="give @language too", where=where)
        return Literal(str(value), language=str(language), direction=item.get("@direction"))
    if isinstance(value, str):
        return Literal(str(value), XSD_STRING if datatype is None else _absolute(datatype, "a datatype"))
    return native_literal(value, None if datatype is None else _absolute(datatype, "a datatype"), where=where)


def _absolute(reference: str, where: str) -> str:
    if reference.startswith(RELATIVE) or not _ABSOLUTE.match(reference):
        raise _refused(
            f"{reference.removeprefix(RELATIVE)!r}, as {where}, is relative",
            "give the IRI in full, or a @base or @vocab in the context",
        )
    return str(reference)


def _plain(value: Json, where: str) -> object:
    """JSON with its numbers as canonical JSON knows them: doubles."""
    if isinstance(value, dict):
        return {str(name): _plain(each, where) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, where) for each in value]
    if isinstance(value, Decimal):
        native_literal(value, XSD + "double", where=where)
        return float(value)
    return value


def _refused(message: str, remedy: str) -> InvalidDocument:
    return InvalidDocument(message, remedy=remedy)
