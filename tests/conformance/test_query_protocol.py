"""The W3C suite of the SPARQL 1.1 Protocol, as far as it is about queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
import pyoxigraph as ox
import pytest

from bridge.base import Base
from kernel.access import Role
from tests.api.serving import served
from tests.conformance.exchanges import Exchange, exchanges

TESTS: Final = [test for test in exchanges("protocol/manifest.ttl") if "update" not in test.name]

FORMATS: Final = {
    "boolean": {"application/sparql-results+json", "application/sparql-results+xml"},
    "tabular": {
        *("application/sparql-results+json", "application/sparql-results+xml"),
        *("text/csv", "text/tab-separated-values"),
    },
    "RDF": {"text/turtle", "application/n-triples", "application/rdf+xml"},
}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    """A client of a base that has the data of all tests."""
    with Base.open(None) as base, served(base) as running:
        quads = {quad for test in TESTS for quad in test.data.quads()}
        body = ox.serialize(quads, format=ox.RdfFormat.N_QUADS)
        written = running.writer.post("/changes", content=body, headers={"content-type": "application/n-quads"})
        assert written.status_code == 201, written.text
        yield running.client(Role.READER)


@pytest.mark.parametrize("test", TESTS, ids=str)
def test_queries_are_taken_as_the_protocol_says(client: httpx2.Client, test: Exchange) -> None:
    for step in test.steps:
        path = step.path.replace("/sparql/", "/sparql", 1)
        encoding = "utf-16" if test.name == "bad_query_non_utf8" else "utf-8"
        content = None if step.body is None else step.body.encode(encoding)
        answer = client.request(step.method, path, content=content, headers=step.headers)
        assert answer.status_code in step.status, (step.method, path, answer.text)
        if step.truth is not None:
            assert answer.json()["boolean"] is step.truth
        if step.format is not None:
            assert answer.headers["content-type"].partition(";")[0] in FORMATS[step.format]


def test_all_of_them_are_here() -> None:
    assert len(TESTS) == 20
    assert sum(step.format is not None for test in TESTS for step in test.steps) >= 12
