"""Answers to queries, compared as the W3C suites ask for: as bags of solutions whose blank nodes may have other labels.

Example
-------
::

    same_answer(read_answer(expected.read_bytes(), "srx"), read_answer(answer.content, "srj"), ordered=False)
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Final, TypeAlias

import pyoxigraph as ox
from rdflib import Graph, Namespace

from tests.conformance.manifests import same

Term: TypeAlias = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Row: TypeAlias = tuple[Term | None, ...]

TABLES: Final = {
    "srj": (ox.QueryResultsFormat.JSON, "application/sparql-results+json"),
    "srx": (ox.QueryResultsFormat.XML, "application/sparql-results+xml"),
    "tsv": (ox.QueryResultsFormat.TSV, "text/tab-separated-values"),
    "csv": (None, "text/csv"),
}
GRAPHS: Final = {
    "ttl": (ox.RdfFormat.TURTLE, "text/turtle"),
    "rdf": (ox.RdfFormat.RDF_XML, "application/rdf+xml"),
    "nt": (ox.RdfFormat.N_TRIPLES, "application/n-triples"),
}
_RESULT_SET: Final = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/result-set#")


@dataclass(frozen=True)
class Table:
    """An answer to SELECT."""

    variables: tuple[str, ...]
    rows: tuple[Row, ...]


Answer: TypeAlias = bool | Table | list[ox.Quad]


def read_answer(body: bytes, suffix: str, base: str) -> Answer:
    """An answer in the format that files with the suffix have."""
    if suffix in GRAPHS:
        return list(ox.parse(body, GRAPHS[suffix][0], base_iri=base))
    if suffix == "csv":
        return _comma_separated(body.decode())
    found = ox.parse_query_results(body, TABLES[suffix][0])
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    names = sorted(variable.value for variable in found.variables)
    return Table(tuple(names), tuple(tuple(row[name] for name in names) for row in found))


def is_table(path: Path) -> bool:
    """Whether a file describes a table as RDF."""
    return path.suffix == ".ttl" and "ResultSet" in path.read_text()


def read_table(path: Path) -> Table:
    """A table that is described as RDF, with IRIs and plain literals in it."""
    graph = Graph().parse(path, publicID=path.as_uri())
    names = sorted(str(name) for name in graph.objects(predicate=_RESULT_SET.resultVariable))
    rows = []
    for solution in graph.objects(predicate=_RESULT_SET.solution):
        bound = {}
        for binding in graph.objects(solution, _RESULT_SET.binding):
            value = graph.value(binding, _RESULT_SET.value)
            assert value is not None
            bound[str(graph.value(binding, _RESULT_SET.variable))] = next(
                ox.parse(f"<urn:s> <urn:p> {value.n3()} .", ox.RdfFormat.TURTLE)
            ).object
        rows.append(tuple(bound.get(name) for name in names))
    return Table(tuple(names), tuple(rows))


def same_answer(one: Answer, other: Answer, *, ordered: bool, by_value: bool = False) -> bool:
    """Whether two answers are the same; in their order, and with numbers by their value, if asked for."""
    if isinstance(one, Table) and isinstance(other, Table):
        return one.variables == other.variables and _same_rows(
            *(_valued(each.rows) if by_value else each.rows for each in (one, other)), ordered=ordered
        )
    if isinstance(one, list) and isinstance(other, list):
        return same(*([_valued_quad(quad) for quad in each] if by_value else each for each in (one, other)))
    return type(one) is type(other) and one == other


def _same_rows(one: tuple[Row, ...], other: tuple[Row, ...], *, ordered: bool) -> bool:
    if not any(_blank(term) for row in (*one, *other) for term in row):
        return one == other if ordered else Counter(one) == Counter(other)
    return len(one) == len(other) and same(*([*_described(rows, ordered=ordered)] for rows in (one, other)))


def _described(rows: tuple[Row, ...], *, ordered: bool) -> list[ox.Quad]:
    """The rows as triples, so that graphs that are isomorphic are tables that are the same."""
    quads = []
    for place, row in enumerate(rows):
        node = ox.BlankNode()
        quads.append(ox.Quad(node, ox.NamedNode("urn:row"), ox.Literal(place if ordered else 0)))
        for column, term in enumerate(row):
            if term is not None:
                quads.append(ox.Quad(node, ox.NamedNode(f"urn:column:{column}"), term))
    return quads


def _blank(term: Term | None) -> bool:
    if isinstance(term, ox.Triple):
        return _blank(term.subject) or _blank(term.object)
    return isinstance(term, ox.BlankNode)


def _valued(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(tuple(None if term is None else _value(term) for term in row) for row in rows)


def _valued_quad(quad: ox.Quad) -> ox.Quad:
    return ox.Quad(quad.subject, quad.predicate, _value(quad.object), quad.graph_name)


def _value(term: Term) -> Term:
    """The term as a store holds it: a number in the one spelling of its value."""
    store, node = ox.Store(), ox.NamedNode("urn:any")
    store.add(ox.Quad(node, node, term))
    held: Term = next(iter(store)).object
    return held


def _comma_separated(text: str) -> Table:
    """CSV says less: every cell is a plain text, and what starts with `_:` a blank node."""
    header, *rows = csv.reader(StringIO(text, newline=""))
    order = sorted(range(len(header)), key=header.__getitem__)
    cells = (tuple(_cell(row[each]) for each in order) for row in rows)
    return Table(tuple(sorted(header)), tuple(cells))


def _cell(text: str) -> Term | None:
    if not text:
        return None
    return ox.BlankNode(text[2:]) if text.startswith("_:") else ox.Literal(text)
