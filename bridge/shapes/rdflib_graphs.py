"""Shapes and data as rdflib graphs.

Rules
-----
* A shapes graph is the document as submitted, with each shape's type said outright and its path written anew:
  inverses at single steps, sequences in nested pairs.
* A data graph holds what was read, each literal in one of its spellings: the n-th, or the last if it has fewer.

Example
-------
::

    shapes = shapes_graph(document)
    data = DataGraph({triple: (literal,)}, 0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import rdflib

from bridge.shapes.model import NODE_SHAPE, PATH, PROPERTY_SHAPE, shapes_of
from bridge.shapes.paths import Alternative, Repeat, Sequence, Step, halved, read_path
from bridge.shapes.rdflib_terms import to_rdflib
from bridge.shapes.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, sh
from kernel.terms import Literal, Term

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.shapes.document import ShapesDocument, Triple
    from bridge.shapes.paths import Path
    from kernel.terms import Iri

Node = rdflib.URIRef | rdflib.BNode

_REPEATS: Final = {
    (False, True): sh("zeroOrMorePath"),
    (True, True): sh("oneOrMorePath"),
    (False, False): sh("zeroOrOnePath"),
}


def shapes_graph(document: ShapesDocument) -> rdflib.Graph:
    """The graph of a well-formed document."""
    graph = rdflib.Graph(bind_namespaces="none")
    for triple in document:
        subject, predicate, value = triple
        if predicate != PATH:
            graph.add((to_rdflib(subject), to_rdflib(predicate), to_rdflib(value, document.spelling(triple))))
    for shape in shapes_of(document):
        node = to_rdflib(shape)
        paths = [read_path(document, value) for value in document.objects(shape, PATH)]
        for path in paths:
            if not isinstance(path, str):
                graph.add((node, to_rdflib(PATH), _write(graph, halved(path))))
        graph.add((node, to_rdflib(RDF_TYPE), to_rdflib(PROPERTY_SHAPE if paths else NODE_SHAPE)))
    return graph


class DataGraph:
    """A small graph of what was read.

    Args:
        triples: the statements, each with the spellings of its literal.
        turn: which of the spellings is shown.

    Attributes:
        graph: the graph.
    """

    def __init__(self, triples: Mapping[Triple, tuple[Literal, ...]], turn: int) -> None:
        self.graph = rdflib.Graph(store="SimpleMemory", bind_namespaces="none")
        self._nodes: dict[Term, rdflib.term.Identifier] = {}
        for (subject, predicate, value), spellings in triples.items():
            shown = to_rdflib(value, spellings[min(turn, len(spellings) - 1)] if spellings else None)
            self._nodes[value] = shown
            self.graph.add((self.node(subject), self.node(predicate), shown))

    def node(self, term: Term) -> rdflib.term.Identifier:
        """The term as it is in the graph."""
        found = self._nodes.get(term)
        if found is None:
            found = self._nodes[term] = to_rdflib(term)
        return found


def _write(graph: rdflib.Graph, path: Path) -> rdflib.term.Identifier:
    match path:
        case Step(predicate, inverse):
            return _described(graph, sh("inversePath"), to_rdflib(predicate)) if inverse else to_rdflib(predicate)
        case Sequence(parts):
            return _list(graph, parts)
        case Alternative(parts):
            return _described(graph, sh("alternativePath"), _list(graph, parts))
        case Repeat(inner, once, unbounded):
            return _described(graph, _REPEATS[once, unbounded], _write(graph, inner))


def _described(graph: rdflib.Graph, predicate: Iri, value: rdflib.term.Identifier) -> rdflib.BNode:
    node = rdflib.BNode()
    graph.add((node, to_rdflib(predicate), value))
    return node


def _list(graph: rdflib.Graph, parts: tuple[Path, ...]) -> rdflib.term.Identifier:
    rest: rdflib.term.Identifier = to_rdflib(RDF_NIL)
    for part in reversed(parts):
        cell = _described(graph, RDF_FIRST, _write(graph, part))
        graph.add((cell, to_rdflib(RDF_REST), rest))
        rest = cell
    return rest
