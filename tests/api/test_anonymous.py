"""Callers without a token, where some graphs are open to them, and where none are."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import httpx2
import pytest

from api.errors import InvalidSetting
from api.settings import Settings, read_settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.console import run
from tests.api.serving import FRUGAL, Served, served

OPEN, CLOSED = "urn:open", "urn:closed"
ALL: Final = "SELECT ?s { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """A base with an open graph and a closed one."""
    with Base.open(None) as base, served(base, FRUGAL.model_copy(update={"anonymous_graphs": (OPEN,)})) as running:
        for graph in (OPEN, CLOSED):
            body = request(change(graph[4:], "in", graph[4:], graph=graph), reason=f"of {graph}")
            assert running.writer.post("/changes", json=body).status_code == 201
        yield running


@pytest.fixture
def nobody(server: Served) -> httpx2.Client:
    return server.client(None)


def test_an_open_graph_is_read_without_a_token(nobody: httpx2.Client) -> None:
    for asked in (
        nobody.get("/sparql", params={"query": ALL}),
        nobody.post("/sparql", data={"query": ALL}),
        nobody.post("/sparql", content=ALL, headers={"Content-Type": "application/sparql-query"}),
    ):
        assert {row["s"]["value"] for row in asked.json()["results"]["bindings"]} == {EX + "open"}
    assert len(nobody.get("/facts", params={"graph": OPEN}).json()["items"]) == 1
    assert len(nobody.get("/certificates").json()["items"]) == 1
    assert nobody.get(f"/exports/{OPEN}").status_code == 200


def test_what_is_closed_is_as_if_it_were_not_there(nobody: httpx2.Client) -> None:
    assert nobody.get("/facts", params={"graph": CLOSED}).json()["items"] == []
    for path in (f"/exports/{CLOSED}", f"/graphs?graph={CLOSED}"):
        answer, other = nobody.get(path), nobody.get(path.replace("closed", "nosuch"))
        assert answer.status_code == other.status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [
        ("POST", "/changes", {"json": request(change("a", "p", "b", graph=OPEN))}),
        ("POST", "/changes?dry-run=true", {"json": request(change("a", "p", "b", graph=OPEN))}),
        ("POST", "/sparql", {"data": {"update": f"INSERT DATA {{ GRAPH <{OPEN}> {{ <urn:a> <urn:p> 1 }} }}"}}),
        ("PUT", f"/graphs?graph={OPEN}", {"content": b"", "headers": {"Content-Type": "text/turtle"}}),
        ("DELETE", f"/graphs?graph={OPEN}", {}),
        ("POST", "/certificates/01890a5d-ac96-774b-bcce-b302099a8057/decision", {"json": {"decision": "approve"}}),
        ("GET", "/log/tile/entries/000.p/1", {}),
    ],
)
def test_whoever_wants_more_is_asked_who_they_are(
    nobody: httpx2.Client, method: str, path: str, sent: dict[str, Any]
) -> None:
    answer = nobody.request(method, path, **sent)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == 'Bearer realm="muniment"'


@pytest.mark.parametrize("authorization", ["Bearer unknown", "Basic YTpi", "Bearer"])
def test_a_token_that_is_wrong_is_not_the_same_as_none(nobody: httpx2.Client, authorization: str) -> None:
    answer = nobody.get("/certificates", headers={"Authorization": authorization})
    assert answer.status_code == 401


def test_pages_are_open_too(server: Served) -> None:
    with httpx2.Client(base_url=server.url, trust_env=False, verify=False) as browser:
        queue = browser.get("/queue?state=any")
        assert queue.status_code == 200
        assert "of urn:open" in queue.text
        assert "urn:closed" not in queue.text
        assert 'href="/sign-in"' in queue.text
        assert "Sign out" not in queue.text
        assert browser.get("/").headers["location"] == "/queue"
        assert browser.get(f"/node?iri={EX}open").status_code == 200
        assert browser.get("/sign-in").status_code == 200
        asked = browser.post("/query", data={"query": "SELECT ?s { ?s ?p ?o }", "forgery-token": ""})
        assert asked.status_code == 303
        answered = browser.get(asked.headers["location"]).text
        assert EX + "open" in answered
        assert EX + "closed" not in answered


def test_on_pages_whoever_wants_more_is_sent_to_sign_in(server: Served) -> None:
    certificate = server.client(None).get("/certificates").json()["items"][0]["certificate"].removeprefix("urn:uuid:")
    with httpx2.Client(base_url=server.url, trust_env=False, verify=False) as browser:
        assert browser.get(f"/queue/{certificate}").status_code == 200
        undoing = browser.get(f"/queue/{certificate}/revert")
        assert undoing.headers["location"].startswith("/sign-in?next=")
        for path in (f"/queue/{certificate}/revert", f"/queue/{certificate}/decision"):
            assert browser.post(path, data={"forgery-token": ""}).status_code == 401


def test_whoever_has_a_token_is_who_they_are(server: Served) -> None:
    reader = server.client(Role.READER, CLOSED)
    found = reader.get("/sparql", params={"query": "SELECT ?s { ?s ?p ?o }"}).json()["results"]["bindings"]
    assert [row["s"]["value"] for row in found] == [EX + "closed"]


def test_all_graphs_may_be_open_and_rules_are_not() -> None:
    with Base.open(None) as base, served(base, FRUGAL.model_copy(update={"anonymous_graphs": ("*",)})) as server:
        assert server.writer.post("/changes", json=request(change("a", "p", "b"))).status_code == 201
        nobody = server.client(None)
        answer = nobody.get("/sparql", params={"query": ALL}).json()
        assert {row["s"]["value"] for row in answer["results"]["bindings"]} == {EX + "a"}
        assert nobody.get("/graphs", params={"graph": "https://w3id.org/muniment#rules"}).status_code == 404


@pytest.mark.parametrize(
    ("value", "graphs"), [("", None), ("*", "all"), ("urn:a urn:b", ["urn:a", "urn:b"]), (" urn:a\n", ["urn:a"])]
)
def test_which_graphs_are_open_is_set(value: str, graphs: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_ANONYMOUS_GRAPHS", value)
    anonymous = read_settings().anonymous
    assert (anonymous is None) is (graphs is None)
    if anonymous is not None:
        assert anonymous.role is Role.READER
        found = "all" if anonymous.graphs is None else sorted(graph.value for graph in anonymous.graphs)
        assert found == graphs
        assert replace(anonymous, id="x").is_anonymous is False


@pytest.mark.parametrize(
    "value", ["no-iri", "* urn:a", "https://w3id.org/muniment#rules", "https://w3id.org/muniment/history/urn%3Aa"]
)
def test_what_is_no_graph_to_open_is_an_error(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_ANONYMOUS_GRAPHS", value)
    with pytest.raises(InvalidSetting, match="anonymous_graphs"):
        read_settings()


def test_nothing_is_open_by_default() -> None:
    assert Settings().anonymous is None
    assert "anonymous_graphs = []" in run("config").output


def test_no_token_is_made_for_nobody(tmp_path: object) -> None:
    ended = run("token", "create", "--data", str(tmp_path), "--role", "reader", "--name", "anonymous")
    assert ended.status == 1
    assert "--name" in ended.errors
