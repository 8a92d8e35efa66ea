"""The W3C suites of updates in SPARQL 1.1 and 1.2, through the certified path over HTTP.

The default graph is strictly its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
import pyoxigraph as ox
import pytest

from bridge.base import Base
from kernel.vocabulary import DEFAULT_GRAPH
from tests.api.serving import served
from tests.conformance.manifests import UpdateTest, same, suite, update_tests

REFUSED: Final = {
    "load-silent": "nothing is fetched, silently or not",
    "load-into-silent": "nothing is fetched, silently or not",
}
"""Evaluation tests that fail, and why that is so."""

DIRECT: Final = {"content-type": "application/sparql-update"}
STRICT: Final = {"default-graph": "strict"}

SPARQL_11: Final = update_tests(suite() / "manifest-sparql11-update.ttl")
SPARQL_12: Final = update_tests(suite("sparql12") / "manifest.ttl")
TESTS: Final = SPARQL_11 + SPARQL_12


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with Base.open(None) as base, served(base) as running:
        yield running.writer


def ask(client: httpx2.Client, test: UpdateTest, **parameters: str) -> httpx2.Response:
    text = f"BASE <{test.request.as_uri()}>\n{test.request.read_text()}"
    return client.post("/sparql", params=STRICT | parameters, content=text, headers=DIRECT)


def put(client: httpx2.Client, quads: list[ox.Quad]) -> None:
    for graph in {quad.graph_name for quad in quads}:
        name = {"default": ""} if isinstance(graph, ox.DefaultGraph) else {"graph": graph.value}
        triples = [quad.triple for quad in quads if quad.graph_name == graph]
        body = ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES)
        answer = client.put("/graphs", params=name, content=body, headers={"content-type": "application/n-triples"})
        assert answer.status_code in {200, 201}, answer.text


def held(client: httpx2.Client) -> list[ox.Quad]:
    listed = client.get("/sparql", params={"query": "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"}).json()
    found = []
    for graph in [row["g"]["value"] for row in listed["results"]["bindings"]]:
        name = ox.DefaultGraph() if graph == DEFAULT_GRAPH.value else ox.NamedNode(graph)
        answer = client.get(
            "/graphs", params={"graph": graph, "bnodes": "restore"}, headers={"accept": "application/n-triples"}
        )
        assert answer.status_code == 200, answer.text
        triples = (quad.triple for quad in ox.parse(answer.content, ox.RdfFormat.N_TRIPLES))
        found += [ox.Quad(each.subject, each.predicate, each.object, name) for each in triples]
    return found


@pytest.mark.shared
@pytest.mark.parametrize("test", [each for each in TESTS if each.kind == "UpdateEvaluationTest"], ids=str)
def test_an_update_comes_to_what_the_suite_says(client: httpx2.Client, test: UpdateTest) -> None:
    assert client.post("/sparql", content="DROP ALL", headers=DIRECT).status_code == 200
    put(client, test.before.quads())
    answer = ask(client, test)
    if test.name in REFUSED:
        assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")
        return
    assert answer.status_code == 200, answer.text
    assert same(held(client), test.after.quads())


@pytest.mark.shared
@pytest.mark.parametrize("test", [each for each in TESTS if each.kind.startswith("Positive")], ids=str)
def test_a_text_that_is_an_update_is_read(client: httpx2.Client, test: UpdateTest) -> None:
    answer = ask(client, test, **{"dry-run": "true"})
    if "LOAD" in test.request.read_text():
        assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")
        assert "LOAD" in answer.json()["detail"]
    else:
        assert answer.status_code == 200, answer.text


@pytest.mark.shared
@pytest.mark.parametrize("test", [each for each in TESTS if each.kind.startswith("Negative")], ids=str)
def test_a_text_that_is_no_update_is_refused(client: httpx2.Client, test: UpdateTest) -> None:
    answer = ask(client, test)
    assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")


def test_the_whole_suite_is_here() -> None:
    assert [len(each) for each in (SPARQL_11, SPARQL_12)] == [157, 23]
