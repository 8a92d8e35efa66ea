"""Roles in single graphs, and tokens that are taken away, as their callers meet them."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from unittest.mock import patch

import httpx2
import pytest

from api.callers import welcome
from bridge.base import Base
from kernel.access import Grant, Principal, Role
from kernel.terms import Iri
from tests.api.bodies import EX, change, request
from tests.api.serving import Served, served

G1, G2, G3 = "urn:g1", "urn:g2", "urn:g3"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """A base with a fact in each of three graphs, the last of them in review as well."""
    with Base.open(None) as base, served(base) as running:
        body = request(*(change(graph[-2:], "in", graph[-2:], graph=graph) for graph in (G1, G2, G3)))
        assert running.writer.post("/changes", json=body).status_code == 201
        yield running


def granted(server: Served, identifier: str, role: Role | None, *grants: tuple[Role, str]) -> httpx2.Client:
    """A client with a role in the base, if any, and roles in single graphs."""
    given = frozenset(Grant(each, Iri(graph)) for each, graph in grants)
    principal = Principal(identifier, role or Role.READER, None if role else frozenset(), given)
    return server.client_of(principal)


def subjects(client: httpx2.Client, where: str = "?s ?p ?o") -> set[str]:
    answer = client.get("/sparql", params={"query": f"SELECT ?s {{ {where} }}"})
    return {row["s"]["value"].removeprefix(EX) for row in answer.json()["results"]["bindings"]}


def status(client: httpx2.Client, graph: str) -> int:
    return client.post("/changes", json=request(change("new", "in", "x", graph=graph))).status_code


def test_a_token_may_read_one_graph_and_write_another(server: Served) -> None:
    client = granted(server, "mixed", None, (Role.READER, G1), (Role.WRITER, G2))
    assert subjects(client, "?s ?p ?o FILTER(?s != ex:new)".replace("ex:new", f"<{EX}new>")) == {"g1", "g2"}
    assert [status(client, graph) for graph in (G1, G2, G3)] == [403, 201, 403]
    assert client.get("/graphs", params={"graph": G3}).status_code == 404
    update = f"INSERT {{ GRAPH <{G2}> {{ ?s <{EX}copied> ?o }} }} WHERE {{ GRAPH ?g {{ ?s <{EX}in> ?o }} }}"
    assert client.post("/sparql", data={"update": update}).status_code == 200
    assert subjects(server.client(Role.READER), f"GRAPH <{G2}> {{ ?s <{EX}copied> ?o }}") == {"g1", "g2", "new"}


def test_a_role_in_the_base_is_raised_in_a_graph(server: Served) -> None:
    client = granted(server, "raised", Role.READER, (Role.WRITER, G1))
    assert subjects(client) >= {"g1", "g2", "g3"}
    assert [status(client, graph) for graph in (G1, G2, "https://w3id.org/muniment#rules")] == [201, 403, 403]


def test_what_is_changed_without_naming_a_graph_is_changed_where_one_writes(server: Served) -> None:
    writer = server.writer
    assert (
        writer.post("/changes", json=request(*(change("d", "in", "d", graph=g) for g in (G1, G2)))).status_code == 201
    )
    client = granted(server, "deleter", None, (Role.READER, G1), (Role.WRITER, G2))
    assert client.post("/sparql", data={"update": f"DELETE WHERE {{ <{EX}d> ?p ?o }}"}).status_code == 200
    assert subjects(writer, f"GRAPH <{G1}> {{ ?s ?p <{EX}d> }}") == {"d"}
    assert subjects(writer, f"GRAPH <{G2}> {{ ?s ?p <{EX}d> }}") == set()


def test_an_editor_of_one_graph_decides_there_alone(server: Served) -> None:
    body = [request(change("r", "in", "r", graph=graph, confidence=0.1)) for graph in (G1, G2)]
    waiting = [server.writer.post("/changes", json=each) for each in body]
    assert [answer.status_code for answer in waiting] == [202, 202]
    client = granted(server, "decider", Role.READER, (Role.EDITOR, G1))
    paths = [f"{answer.headers['location']}/decision" for answer in waiting]
    assert [client.post(path, json={"decision": "approve"}).status_code for path in paths] == [200, 403]


def test_an_administrator_of_some_graphs_does_not_see_how_the_base_is_governed(server: Served) -> None:
    for client in (server.client(Role.ADMINISTRATOR, G1), granted(server, "a", Role.READER, (Role.ADMINISTRATOR, G1))):
        assert client.get("/graphs", params={"graph": "https://w3id.org/muniment#rules"}).status_code == 404
        assert status(client, "https://w3id.org/muniment#shapes") == 403


@contextmanager
def revoked_on_the_way(base: Base) -> Iterator[None]:
    """Whoever gets an answer is looked up for each part of it; after the second they are revoked."""
    parts = count()

    def clock() -> float:
        if next(parts) == 2:
            base.ledger.revoke("leaver")
        return 0.0

    with patch.object(welcome, "RECHECKED", 0.0), patch.object(welcome, "monotonic", clock):
        yield


@pytest.mark.parametrize("path", [f"/exports/{G1}", "/sparql?query=SELECT*{?a ?b ?c. ?d ?e ?f}"])
def test_an_answer_breaks_off_when_its_token_is_revoked(path: str) -> None:
    with Base.open(None) as base, served(base) as server:
        text = "".join(f"<urn:s{number}> <urn:p> '{'x' * 400}' .\n" for number in range(2_000))
        stated = server.writer.post(f"/changes?graph={G1}", content=text, headers={"Content-Type": "text/turtle"})
        assert stated.status_code == 201
        client = server.client_of(Principal("leaver", Role.READER))
        accept = {"Accept": "text/turtle, application/sparql-results+json"}
        with revoked_on_the_way(base), pytest.raises(httpx2.RemoteProtocolError):
            client.get(path, headers=accept)
        assert client.get("/certificates").status_code == 401
