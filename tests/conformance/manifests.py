"""The manifests of the W3C SPARQL suites, and graphs compared as they ask for.

Example
-------
::

    for test in tests_of("manifest-sparql11-update.ttl"):
        test.name, test.kind, test.action, test.result
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyoxigraph as ox
from rdflib import RDF, RDFS, Graph, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from tests.requirements import require

MF: Final = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
QT: Final = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")
UT: Final = Namespace("http://www.w3.org/2009/sparql/tests/test-update#")


@dataclass(frozen=True)
class Contents:
    """A graph store: files by the IRI of their graph; None for the default graph."""

    files: Mapping[str | None, Path] = field(default_factory=dict)

    def quads(self) -> list[ox.Quad]:
        """What the files say. A file for the default graph may have graphs of its own in it."""
        quads = []
        for graph, path in self.files.items():
            for quad in ox.parse(path=path, base_iri=path.as_uri(), rename_blank_nodes=True):
                name = quad.graph_name if graph is None else ox.NamedNode(graph)
                quads.append(ox.Quad(quad.subject, quad.predicate, quad.object, name))
        return quads


@dataclass(frozen=True)
class UpdateTest:
    """A test of the update suite; a syntax test has a request alone."""

    name: str
    kind: str
    request: Path
    before: Contents = field(default_factory=Contents)
    after: Contents = field(default_factory=Contents)

    def __str__(self) -> str:
        """Its folder and its name."""
        return f"{self.request.parent.name}/{self.name}"


@dataclass(frozen=True)
class QueryTest:
    """A test of a query suite; a syntax test has a query alone. `services`: what endpoints hold, by their IRIs."""

    name: str
    kind: str
    query: Path
    data: Contents = field(default_factory=Contents)
    result: Path | None = None
    services: Mapping[str, Path] = field(default_factory=dict)

    def __str__(self) -> str:
        """Its suite, its folder and its name."""
        return f"{self.query.parent.parent.name}/{self.query.parent.name}/{self.name}"


def suite(version: str = "sparql11") -> Path:
    """The folder of the suites of SPARQL 1.1, or 1.2."""
    return require("shared") / "suites" / "sparql" / version


def query_tests(path: Path) -> list[QueryTest]:
    """Every test of a query in the manifests that one includes."""
    return [test for manifest in _included(path) for test in _query_tests(manifest)]


def _query_tests(path: Path) -> Iterator[QueryTest]:
    graph = Graph().parse(path, publicID=path.as_uri())
    for listed in graph.objects(predicate=MF.entries):
        for test in Collection(graph, listed):
            kind = str(graph.value(test, RDF.type)).rpartition("#")[2]
            if "Update" not in kind:
                yield _query_test(graph, test, kind)


def _query_test(graph: Graph, test: Node, kind: str) -> QueryTest:
    action, result = graph.value(test, MF.action), graph.value(test, MF.result)
    name = str(test).rpartition("#")[2]
    if isinstance(action, URIRef):
        return QueryTest(name, kind, _path(action))
    data = graph.value(action, QT.data)
    files: dict[str | None, Path] = {} if data is None else {None: _path(data)}
    files |= {str(each): _path(each) for each in graph.objects(action, QT.graphData)}
    services = {
        str(graph.value(each, QT.endpoint)): _path(graph.value(each, QT.data))
        for each in graph.objects(action, QT.serviceData)
    }
    query, expected = _path(graph.value(action, QT.query)), None if result is None else _path(result)
    return QueryTest(name, kind, query, Contents(files), expected, services)


def update_tests(path: Path) -> list[UpdateTest]:
    """Every test of an update in the manifests that one includes."""
    return [test for manifest in _included(path) for test in _tests(manifest)]


def _included(path: Path) -> Iterator[Path]:
    graph = Graph().parse(path, publicID=path.as_uri())
    for listed in graph.objects(predicate=MF.include):
        for each in Collection(graph, listed):
            yield Path(str(each).removeprefix("file://"))


def _tests(path: Path) -> Iterator[UpdateTest]:
    graph = Graph().parse(path, publicID=path.as_uri())
    for listed in graph.objects(predicate=MF.entries):
        for test in Collection(graph, listed):
            action = graph.value(test, MF.action)
            if graph.value(action, UT.request) or str(action).endswith(".ru"):
                yield _test(graph, test)


def _test(graph: Graph, test: Node) -> UpdateTest:
    action, result = graph.value(test, MF.action), graph.value(test, MF.result)
    kind = str(graph.value(test, RDF.type)).rpartition("#")[2]
    name = str(test).rpartition("#")[2]
    if isinstance(action, URIRef):
        return UpdateTest(name, kind, _path(action))
    return UpdateTest(
        name, kind, _path(graph.value(action, UT.request)), contents(graph, action), contents(graph, result)
    )


def contents(graph: Graph, node: Node | None) -> Contents:
    """What a node of a manifest says that a graph store holds."""
    data = graph.value(node, UT.data)
    files: dict[str | None, Path] = {} if data is None else {None: _path(data)}
    for each in graph.objects(node, UT.graphData):
        files[str(graph.value(each, RDFS.label))] = _path(graph.value(each, UT.graph))
    return Contents(files)


def _path(node: Node | None) -> Path:
    return Path(str(node).removeprefix("file://"))


def same(one: Iterable[ox.Quad], other: Iterable[ox.Quad]) -> bool:
    """Whether two datasets are isomorphic."""
    first, second = ox.Dataset(one), ox.Dataset(other)
    for each in (first, second):
        each.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return first == second
