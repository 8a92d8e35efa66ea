"""The W3C suite of the Graph Store Protocol, over HTTP: graphs named by their URL, and by a parameter.

The suite's host is the server's address, and its path `/gsp` is `/graphs`. A graph that comes back is compared without
regard to which nodes were blank: they are asked for as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import httpx2
import pyoxigraph as ox
import pytest

from bridge.base import Base
from kernel.access import Role
from tests.api.serving import served
from tests.conformance.exchanges import Exchange, exchanges
from tests.conformance.manifests import same

TESTS: Final = list(exchanges("graph-store-protocol/manifest-direct.ttl", "graph-store-protocol/manifest-indirect.ttl"))


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    """A client whose answers are not held to the OpenAPI document: it has no paths of several segments."""
    with Base.open(None) as base, served(base) as running:
        headers = {"Authorization": f"Bearer {running.token(Role.WRITER)}"}
        yield running.enter(httpx2.Client(base_url=running.url, headers=headers, timeout=60, trust_env=False))


@pytest.mark.parametrize("test", TESTS, ids=str)
def test_a_graph_store_does_what_the_suite_says(client: httpx2.Client, test: Exchange) -> None:
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
