"""Tests of the W3C that are requests over HTTP and what they should get.

Example
-------
::

    for test in exchanges("protocol/manifest.ttl"):
        for step in test.steps:
            step.method, step.path, step.status
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rdflib import Graph, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from tests.conformance.manifests import MF, Contents, contents, suite

HT: Final = Namespace("http://www.w3.org/2011/http#")
CNT: Final = Namespace("http://www.w3.org/2011/content#")
STATUS: Final = {
    "OK": {200},
    "Created": {201},
    "NoContent": {204},
    "NotFound": {404},
    "StatusCode2xx": set(range(200, 300)),
    "StatusCode3xx": set(range(300, 400)),
    "StatusCode4xx": set(range(400, 500)),
}


@dataclass(frozen=True)
class Step:
    """A request and what it should get."""

    method: str
    path: str
    headers: dict[str, str]
    body: str | None
    status: frozenset[int]
    graph: str | None
    location: str | None
    truth: bool | None
    format: str | None


@dataclass(frozen=True)
class Exchange:
    """A test of the suite."""

    name: str
    steps: tuple[Step, ...]
    data: Contents

    def __str__(self) -> str:
        """Its name."""
        return self.name


def exchanges(*manifests: str) -> Iterator[Exchange]:
    """The tests of manifests, named by their paths in the suite."""
    for name in manifests:
        path = suite() / name
        graph = Graph().parse(path, publicID=path.as_uri())
        for listed in graph.objects(URIRef(path.as_uri()), MF.entries):
            for test in Collection(graph, listed):
                requests = graph.value(graph.value(test, MF.action), HT.requests)
                assert requests is not None
                steps = tuple(_step(graph, each) for each in Collection(graph, requests))
                yield Exchange(str(test).rpartition("#")[2], steps, contents(graph, test))


def _step(graph: Graph, node: Node) -> Step:
    answer = graph.value(node, HT.resp)
    statuses = [STATUS[str(each).rpartition("#")[2]] for each in graph.objects(answer, MF.expectedStatus)]
    location, truth = graph.value(answer, MF.expectedLocation), graph.value(answer, MF.expectedBoolean)
    form = graph.value(answer, MF.expectedFormat)
    return Step(
        str(graph.value(node, HT.methodName)),
        str(graph.value(node, HT.absolutePath)),
        _headers(graph, node),
        _body(graph, node),
        frozenset().union(*statuses),
        _body(graph, answer),
        None if location is None else str(location),
        None if truth is None else str(truth) == "true",
        None if form is None else str(form),
    )


def _headers(graph: Graph, node: Node) -> dict[str, str]:
    listed = graph.value(node, HT.headers)
    return {
        str(graph.value(each, HT.fieldName)): str(graph.value(each, HT.fieldValue))
        for each in ([] if listed is None else Collection(graph, listed))
    }


def _body(graph: Graph, node: Node | None) -> str | None:
    body = graph.value(node, HT.body)
    return None if body is None else str(graph.value(body, CNT.chars))
