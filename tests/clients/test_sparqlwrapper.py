"""SPARQLWrapper reads the endpoint as it comes, with nothing but the token set."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.error import HTTPError

import pytest
from rdflib import Graph, Literal, URIRef
from SPARQLWrapper import (
    CSV,
    GET,
    JSON,
    JSONLD,
    N3,
    POST,
    POSTDIRECTLY,
    RDFXML,
    TSV,
    TURTLE,
    URLENCODED,
    XML,
    SPARQLWrapper,
)
from SPARQLWrapper.SPARQLExceptions import QueryBadFormed, Unauthorized

from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.serving import Served, served

SELECT: Final = f'SELECT ?s ?n {{ ?s <{EX}name> ?n FILTER(?n != "São Paulo") }} ORDER BY ?n'
CONSTRUCT: Final = f"CONSTRUCT {{ ?s <{EX}name> ?n }} WHERE {{ ?s <{EX}name> ?n }}"


@pytest.fixture(scope="module")
def service() -> Iterator[Served]:
    with Base.open(None) as base, served(base) as running:
        names = [change("curacao", "name", {"@value": "Curaçao"}), change("ada", "name", {"@value": "Ada"})]
        past = change("ada", "name", {"@value": "Augusta"}, validTo="1815-12-10")
        assert running.writer.post("/changes", json=request(*names, past)).status_code == 201
        yield running


@pytest.fixture
def wrapper(service: Served) -> SPARQLWrapper:
    client = SPARQLWrapper(f"{service.url}/sparql")
    client.addCustomHttpHeader("Authorization", f"Bearer {service.token(Role.READER)}")
    client.setQuery(SELECT)
    return client


def names(client: SPARQLWrapper) -> list[str]:
    client.setReturnFormat(JSON)
    found: Any = client.queryAndConvert()
    return [row["n"]["value"] for row in found["results"]["bindings"]]


def test_json_is_read(wrapper: SPARQLWrapper) -> None:
    assert names(wrapper) == ["Ada", "Curaçao"]


def test_a_form_is_posted(wrapper: SPARQLWrapper) -> None:
    wrapper.setMethod(POST)
    assert names(wrapper) == ["Ada", "Curaçao"]


def test_a_query_is_posted_directly(wrapper: SPARQLWrapper) -> None:
    wrapper.setMethod(POST)
    wrapper.setRequestMethod(POSTDIRECTLY)
    assert names(wrapper) == ["Ada", "Curaçao"]


def test_the_default_format_of_a_new_wrapper_is_read(wrapper: SPARQLWrapper) -> None:
    found: Any = wrapper.queryAndConvert()
    assert [node.firstChild.data for node in found.getElementsByTagName("literal")] == ["Ada", "Curaçao"]


@pytest.mark.parametrize(("name", "separator"), [(CSV, ","), (TSV, "\t")])
def test_tables_are_read(wrapper: SPARQLWrapper, name: str, separator: str) -> None:
    wrapper.setReturnFormat(name)
    table: Any = wrapper.queryAndConvert()
    header, first, *_ = table.decode().splitlines()
    assert header.replace("?", "").split(separator) == ["s", "n"]
    assert "Ada" in first


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")  # SPARQLWrapper uses it
@pytest.mark.parametrize("name", [TURTLE, N3, RDFXML, XML, JSONLD])
@pytest.mark.parametrize("method", [GET, POST])
def test_graphs_are_read(wrapper: SPARQLWrapper, name: str, method: str) -> None:
    wrapper.setQuery(CONSTRUCT)
    wrapper.setMethod(method)
    wrapper.setReturnFormat(name)
    found: Any = wrapper.queryAndConvert()
    graph = found if isinstance(found, Graph) else Graph().parse(data=found, format="turtle")
    assert (URIRef(f"{EX}curacao"), URIRef(f"{EX}name"), Literal("Curaçao")) in graph
    assert len(graph) == 2


def test_a_question_is_answered(wrapper: SPARQLWrapper) -> None:
    wrapper.setQuery(f"ASK {{ ?s <{EX}name> 'Ada' }}")
    wrapper.setReturnFormat(JSON)
    found: Any = wrapper.queryAndConvert()
    assert found["boolean"] is True


def test_another_moment_is_asked_for(wrapper: SPARQLWrapper) -> None:
    wrapper.addParameter("valid-at", "1800")
    assert names(wrapper) == ["Ada", "Augusta", "Curaçao"]
    head = wrapper.query().info()["muniment-valid-at"]
    assert head == "1800-01-01T00:00:00Z"


def test_a_graph_is_asked_for(wrapper: SPARQLWrapper) -> None:
    wrapper.addDefaultGraph("urn:empty")
    assert names(wrapper) == []


def test_only_content_negotiation_works_as_well(wrapper: SPARQLWrapper) -> None:
    wrapper.setOnlyConneg(True)
    assert names(wrapper) == ["Ada", "Curaçao"]


def test_errors_are_told_apart(wrapper: SPARQLWrapper, service: Served) -> None:
    wrapper.setQuery("SELECT * { ?s ?p }")
    with pytest.raises(QueryBadFormed, match="query-refused"):
        wrapper.query()
    stranger = SPARQLWrapper(f"{service.url}/sparql")
    stranger.setQuery(SELECT)
    with pytest.raises(Unauthorized, match="muniment token create"):
        stranger.query()


@pytest.mark.parametrize("request_method", [URLENCODED, POSTDIRECTLY])
def test_an_update_is_applied(service: Served, request_method: str) -> None:
    client = SPARQLWrapper(f"{service.url}/sparql")
    client.addCustomHttpHeader("Authorization", f"Bearer {service.token(Role.WRITER)}")
    client.setMethod(POST)
    client.setRequestMethod(request_method)
    client.setQuery(f"INSERT DATA {{ GRAPH <urn:updated> {{ <{EX}mary> <{EX}age> 26 }} }}")
    done = client.query()
    assert done.response.status == 200
    assert done.info()["location"].startswith("/certificates/")
    client.setQuery(f"DELETE {{ GRAPH ?g {{ ?s <{EX}age> ?n }} }} WHERE {{ GRAPH ?g {{ ?s <{EX}age> ?n }} }}")
    assert client.query().info()["link"]


def test_an_update_that_is_refused_is_an_error(wrapper: SPARQLWrapper) -> None:
    wrapper.setMethod(POST)
    wrapper.setQuery("INSERT DATA { <urn:a> <urn:p> <urn:b> }")
    with pytest.raises(HTTPError, match="Forbidden"):
        wrapper.query()
