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
UT: Final = Namespace("http://www.w3.org/2009/sparql/tests/test-update#")


@dataclass(frozen=True)
class Contents:
    """A graph store: files by the IRI of their graph; None for the default graph."""

    files: Mapping[str | None, Path] = field(default_factory=dict)

    def quads(self) -> list[ox.Quad]:
        """What the files say, as a store holds it."""
        store = ox.Store()
        for graph, path in self.files.items():
            name = ox.DefaultGraph() if graph is None else ox.NamedNode(graph)
            store.load(path=path, base_iri=path.as_uri(), to_graph=name)
        return list(store)


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


def suite() -> Path:
    """The folder of the SPARQL 1.1 suites."""
    return require("shared") / "suites" / "sparql" / "sparql11"


def update_tests() -> list[UpdateTest]:
    """Every test of the update suite."""
    return [test for manifest in _included(suite() / "manifest-sparql11-update.ttl") for test in _tests(manifest)]


def _included(path: Path) -> Iterator[Path]:
    graph = Graph().parse(path, publicID=path.as_uri())
    for listed in graph.objects(URIRef(path.as_uri()), MF.include):
        for each in Collection(graph, listed):
            yield Path(str(each).removeprefix("file://"))


def _tests(path: Path) -> Iterator[UpdateTest]:
    graph = Graph().parse(path, publicID=path.as_uri())
    for listed in graph.objects(URIRef(path.as_uri()), MF.entries):
        for test in Collection(graph, listed):
            yield _test(graph, test)


def _test(graph: Graph, test: Node) -> UpdateTest:
    action, result = graph.value(test, MF.action), graph.value(test, MF.result)
    kind = str(graph.value(test, RDF.type)).rpartition("#")[2]
    name = str(test).rpartition("#")[2]
    if isinstance(action, URIRef):
        return UpdateTest(name, kind, _path(action))
    return UpdateTest(
        name, kind, _path(graph.value(action, UT.request)), _contents(graph, action), _contents(graph, result)
    )


def _contents(graph: Graph, node: Node | None) -> Contents:
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
