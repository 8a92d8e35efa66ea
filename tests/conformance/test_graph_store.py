"""The W3C suite of the Graph Store Protocol, over HTTP: graphs named by their URL, and by a parameter.

The suite's host is the server's address, and its path `/gsp` is `/graphs`. A graph that comes back is compared without
regard to which nodes were blank: they are asked for as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import httpx2
import pyoxigraph as ox
import pytest
from rdflib import Graph, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from bridge.base import Base
from kernel.access import Role
from tests.api.serving import served
from tests.conformance.manifests import MF, same, suite

HT: Final = Namespace("http://www.w3.org/2011/http#")
CNT: Final = Namespace("http://www.w3.org/2011/content#")
STATUS: Final = {
    "OK": {200},
    "Created": {201},
    "NoContent": {204},
    "NotFound": {404},
    "StatusCode2xx": set(range(200, 300)),
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


@dataclass(frozen=True)
class StoreTest:
    """A test of the suite."""

    name: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        """Its name."""
        return self.name


def store_tests() -> Iterator[StoreTest]:
    for name in ("manifest-direct.ttl", "manifest-indirect.ttl"):
        path = suite() / "graph-store-protocol" / name
        graph = Graph().parse(path, publicID=path.as_uri())
        for listed in graph.objects(URIRef(path.as_uri()), MF.entries):
            for test in Collection(graph, listed):
                requests = graph.value(graph.value(test, MF.action), HT.requests)
                assert requests is not None
                steps = tuple(_step(graph, each) for each in Collection(graph, requests))
                yield StoreTest(str(test).rpartition("#")[2], steps)


def _step(graph: Graph, node: Node) -> Step:
    answer = graph.value(node, HT.resp)
    statuses = [STATUS[str(each).rpartition("#")[2]] for each in graph.objects(answer, MF.expectedStatus)]
    location = graph.value(answer, MF.expectedLocation)
    return Step(
        str(graph.value(node, HT.methodName)),
        str(graph.value(node, HT.absolutePath)),
        _headers(graph, node),
        _body(graph, node),
        frozenset().union(*statuses),
        _body(graph, answer),
        None if location is None else str(location),
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


TESTS: Final = list(store_tests())


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    """A client whose answers are not held to the OpenAPI document: it has no paths of several segments."""
    with Base.open(None) as base, served(base) as running:
        headers = {"Authorization": f"Bearer {running.token(Role.WRITER)}"}
        yield running.enter(httpx2.Client(base_url=running.url, headers=headers, timeout=60, trust_env=False))


@pytest.mark.parametrize("test", TESTS, ids=str)
def test_a_graph_store_does_what_the_suite_says(client: httpx2.Client, test: StoreTest) -> None:
    empty = client.post("/sparql", content="DROP ALL", headers={"content-type": "application/sparql-update"})
    assert empty.status_code == 200
    own = f"http://{client.base_url.netloc.decode()}/graphs"
    known = {"http://www.example/gsp": own, quote("http://www.example/gsp", safe=""): quote(own, safe="")}
    for step in test.steps:
        path = _filled(step.path, known)
        path = f"/graphs{path.removeprefix('/gsp')}" if path.startswith("/gsp") else path
        if step.method == "GET":
            path += "&bnodes=restore" if "?" in path else "?bnodes=restore"
        body = None if step.body is None else _filled(step.body, known).encode()
        answer = client.request(step.method, path, content=body, headers=step.headers)
        assert answer.status_code in step.status, (step.method, path, answer.text)
        if step.graph is not None:
            said = [_triples(text, str(answer.request.url)) for text in (_filled(step.graph, known), answer.text)]
            assert same(*said), answer.text
        if step.location is not None:
            known[step.location] = answer.headers["location"]


def _filled(text: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        text = text.replace(name, value)
    return text


def _triples(text: str, base: str) -> list[ox.Quad]:
    return list(ox.parse(text.encode(), ox.RdfFormat.TURTLE, base_iri=base))


def test_the_whole_suite_is_here() -> None:
    assert len(TESTS) == 13
    assert all(step.status for test in TESTS for step in test.steps)
