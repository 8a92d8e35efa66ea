"""rdflib's SPARQLStore reads the endpoint as it comes, with nothing but the token set."""

from collections.abc import Iterator
from typing import Final
from typing import Literal as OneOf

import pytest
from rdflib import Graph, Literal, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLStore

from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.serving import Served, served

NAME: Final = URIRef(f"{EX}name")
KNOWS: Final = URIRef(f"{EX}knows")
ADA: Final = URIRef(f"{EX}ada")
CURACAO: Final = URIRef(f"{EX}curacao")
PEOPLE: Final = URIRef("urn:people")

Method = OneOf["GET", "POST", "POST_FORM"]
METHODS: Final[tuple[Method, ...]] = ("GET", "POST", "POST_FORM")


@pytest.fixture(scope="module")
def service() -> Iterator[Served]:
    with Base.open(None) as base, served(base) as running:
        made = request(
            change("curacao", "name", {"@value": "Curaçao"}),
            change("ada", "name", {"@value": "Ada", "@language": "en"}, graph=str(PEOPLE)),
            change("ada", "knows", "mary", graph=str(PEOPLE)),
            change("ada", "knows", "nobody", graph=str(PEOPLE), validTo="1815"),
        )
        assert running.writer.post("/changes", json=made).status_code == 201
        yield running


def store_of(service: Served, method: Method, *graphs: str, **parameters: str) -> SPARQLStore:
    headers = {"Authorization": f"Bearer {service.token(Role.READER, *graphs)}"}
    return SPARQLStore(f"{service.url}/sparql", method=method, headers=headers, params=parameters)


@pytest.mark.parametrize("method", METHODS)
def test_triples_are_read(service: Served, method: Method) -> None:
    graph = Graph(store_of(service, method))
    assert set(graph.triples((None, NAME, None))) == {
        (CURACAO, NAME, Literal("Curaçao")),
        (ADA, NAME, Literal("Ada", lang="en")),
    }
    assert graph.value(CURACAO, NAME) == Literal("Curaçao")
    assert (ADA, KNOWS, URIRef(f"{EX}mary")) in graph
    assert (ADA, KNOWS, URIRef(f"{EX}nobody")) not in graph
    assert len(graph) == 3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("result_format", ["xml", "json", "csv", "tsv"])
def test_queries_are_answered_in_each_format(service: Served, method: Method, result_format: str) -> None:
    store = store_of(service, method)
    store.returnFormat = result_format
    rows = Graph(store).query(f"SELECT ?s {{ ?s <{NAME}> ?n }} ORDER BY ?s")
    assert [str(row[0]) for row in rows if isinstance(row, tuple)] == [str(ADA), str(CURACAO)]


def test_a_query_that_asks_or_constructs_is_answered(service: Served) -> None:
    graph = Graph(store_of(service, "GET"))
    assert graph.query(f"ASK {{ ?s <{NAME}> 'Curaçao' }}").askAnswer is True
    made = graph.query(f"CONSTRUCT {{ ?s <{NAME}> ?n }} WHERE {{ ?s <{NAME}> ?n }}").graph
    assert made is not None
    assert len(made) == 2


def test_a_named_graph_is_read_by_its_name(service: Served) -> None:
    people = Graph(store_of(service, "GET"), identifier=PEOPLE)
    assert set(people.subjects()) == {ADA}
    assert set(people.objects(ADA, KNOWS)) == {URIRef(f"{EX}mary")}


@pytest.mark.parametrize("method", METHODS)
def test_another_moment_is_asked_for(service: Served, method: Method) -> None:
    graph = Graph(store_of(service, method, **{"valid-at": "1800"}))
    assert set(graph.objects(ADA, KNOWS)) == {URIRef(f"{EX}mary"), URIRef(f"{EX}nobody")}


def test_a_caller_reads_its_own_graphs_only(service: Served) -> None:
    graph = Graph(store_of(service, "GET", "urn:elsewhere"))
    assert list(graph) == []
