"""rdflib's SPARQLUpdateStore writes to the endpoint as it comes, with nothing but the token set."""

from collections.abc import Iterator
from typing import Final
from urllib.error import HTTPError

import pytest
from rdflib import Dataset, Graph, Literal, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.plugins.stores.sparqlstore import SPARQLUpdateStore

from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX
from tests.api.serving import Served, served

NAME: Final = URIRef(f"{EX}name")
ADA: Final = URIRef(f"{EX}ada")
BOB: Final = URIRef(f"{EX}bob")
PEOPLE: Final = URIRef("urn:people")


@pytest.fixture
def service() -> Iterator[Served]:
    with Base.open(None) as base, served(base) as running:
        yield running


def store_of(service: Served, role: Role = Role.WRITER, *, autocommit: bool = True) -> SPARQLUpdateStore:
    headers = {"Authorization": f"Bearer {service.token(role)}"}
    endpoint = f"{service.url}/sparql"
    return SPARQLUpdateStore(endpoint, endpoint, headers=headers, method="POST", autocommit=autocommit)


def default(store: SPARQLUpdateStore) -> Graph:
    """The default graph, by the name that rdflib has for it."""
    return Graph(store, identifier=DATASET_DEFAULT_GRAPH_ID)


def test_triples_are_added_and_removed(service: Served) -> None:
    graph = default(store_of(service))
    graph.add((ADA, NAME, Literal("Ada", lang="en")))
    graph.add((BOB, NAME, Literal('Bob "the builder"\n')))
    assert set(graph) == {(ADA, NAME, Literal("Ada", lang="en")), (BOB, NAME, Literal('Bob "the builder"\n'))}
    graph.remove((ADA, NAME, None))
    assert set(graph) == {(BOB, NAME, Literal('Bob "the builder"\n'))}
    graph.set((BOB, NAME, Literal("Robert")))
    assert graph.value(BOB, NAME) == Literal("Robert")


def test_a_named_graph_is_written_by_its_name(service: Served) -> None:
    store = store_of(service)
    people = Graph(store, identifier=PEOPLE)
    people.add((ADA, NAME, Literal("Ada")))
    assert len(people) == 1
    assert len(Graph(store, identifier=URIRef("urn:others"))) == 0
    people.remove((None, None, None))
    assert len(people) == 0


def test_what_is_committed_together_is_one_certificate(service: Served) -> None:
    store = store_of(service, autocommit=False)
    graph = default(store)
    for number in range(20):
        graph.add((ADA, NAME, Literal(number)))
    store.commit()
    assert len(graph) == 20
    assert len(service.writer.get("/certificates").json()["items"]) == 1


def test_an_update_is_sent_as_it_is(service: Served) -> None:
    store = store_of(service)
    graph = default(store)
    graph.add((ADA, NAME, Literal("Ada")))
    store.update(f"DELETE {{ ?s <{NAME}> ?n }} INSERT {{ ?s <{NAME}> 'Augusta' }} WHERE {{ ?s <{NAME}> ?n }}")
    assert graph.value(ADA, NAME) == Literal("Augusta")


def test_a_reader_is_refused(service: Served) -> None:
    graph = default(store_of(service, Role.READER))
    with pytest.raises(HTTPError, match="403"):
        graph.add((ADA, NAME, Literal("Ada")))


def test_a_dataset_is_written_graph_by_graph(service: Served) -> None:
    dataset = Dataset(store_of(service), default_union=True)
    people = dataset.graph(PEOPLE)  # with CREATE GRAPH, which fails once there is something in it
    people.add((ADA, NAME, Literal("Ada")))
    assert set(people) == {(ADA, NAME, Literal("Ada"))}
    with pytest.raises(HTTPError, match="409"):
        dataset.graph(PEOPLE)
