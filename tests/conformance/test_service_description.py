"""The W3C suite of SPARQL 1.1 Service Description: three tests that say in words what is to be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
import pyoxigraph as ox
import pytest

from bridge.base import Base
from bridge.sparql.description import SD
from kernel.access import Role
from tests.api.serving import served

ENTAILMENT: Final = "http://www.w3.org/ns/entailment/"
RL: Final = "http://www.w3.org/ns/owl-profile/RL"
TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
KINDS: Final = {
    "endpoint": ("Service", None),
    "supportedLanguage": ("Service", {f"{SD}SPARQL11Query", f"{SD}SPARQL11Update"}),
    "resultFormat": ("Service", None),
    "feature": ("Service", {f"{SD}UnionDefaultGraph", f"{ENTAILMENT}RDFS", f"{ENTAILMENT}OWL-RDF-Based", RL}),
    "defaultEntailmentRegime": ("Service", {f"{ENTAILMENT}Simple"}),
    "defaultDataset": ("Service", "Dataset"),
    "defaultGraph": ("Dataset", "Graph"),
    "namedGraph": ("Dataset", "NamedGraph"),
    "name": ("NamedGraph", None),
    "graph": ("NamedGraph", "Graph"),
}
"""The properties of the vocabulary that may be there: whose they are, and of which class or values."""


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with Base.open(None) as base, served(base) as running:
        written = running.writer.post(
            "/changes", content='<urn:a> <urn:p> "1" <urn:g> .', headers={"content-type": "application/n-quads"}
        )
        assert written.status_code == 201
        yield running.client(Role.READER)


def described(client: httpx2.Client, accept: str = "text/turtle") -> list[tuple[str, str, str]]:
    answer = client.get("/sparql", headers={"accept": accept})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == accept
    form = ox.RdfFormat.from_media_type(accept)
    assert form is not None
    quads = ox.parse(answer.content, form)
    return [(str(quad.subject), quad.predicate.value.removeprefix(SD), _bare(str(quad.object))) for quad in quads]


def _bare(term: str) -> str:
    return term.removeprefix("<").removesuffix(">")


@pytest.mark.parametrize(
    "accept", ["text/turtle", "application/n-triples", "application/rdf+xml", "application/ld+json"]
)
def test_the_endpoint_returns_rdf(client: httpx2.Client, accept: str) -> None:
    assert described(client, accept)


def test_the_endpoint_is_in_its_description(client: httpx2.Client) -> None:
    endpoints = [value for _, name, value in described(client) if name == "endpoint"]
    assert endpoints == [str(client.base_url.join("/sparql"))]


def test_the_description_keeps_to_the_schema(client: httpx2.Client) -> None:
    triples = described(client)
    kinds = {node: kind.removeprefix(SD) for node, name, kind in triples if name == TYPE}
    assert set(kinds.values()) == {"Service", "Dataset", "Graph", "NamedGraph"}
    for node, name, value in triples:
        if name != TYPE:
            domain, range_ = KINDS[name]
            assert kinds[node] == domain
            assert range_ is None or (value in range_ if isinstance(range_, set) else kinds[value] == range_)
    assert {name for _, name, _ in triples} == {TYPE, *KINDS}
