"""SERVICE: endpoints that are listed are called, and what they answer is joined; nobody else ever is (case 16)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final
from urllib.parse import parse_qs

import httpx2
import pytest

from api.callers.roles import RoleName
from api.routes import federation
from api.settings import RoleLimits, Settings
from bridge.base import Base
from bridge.sparql import federation as calls
from kernel.access import Role
from tests.api.serving import Served, served
from tests.security.elsewhere import Elsewhere, elsewhere

UPDATE: Final = {"content-type": "application/sparql-update"}
SECRET: Final = "urn:a-secret-of-this-base"
World = tuple[Served, Elsewhere]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A service that may call what is under `/listed/` there, and nothing else."""
    with ExitStack() as stack:
        host, base = stack.enter_context(elsewhere()), stack.enter_context(Base.open(None))
        settings = Settings(query_spares=0, outbound=(f"{host.url}/listed/",))
        running = stack.enter_context(served(base, settings))
        text = f"<urn:a> <urn:p> 1 . <urn:b> <urn:p> 2 . <urn:a> <urn:at> <{host.url}/listed/e> , <{SECRET}> ."
        headers = {"content-type": "text/turtle"}
        put = running.writer.put("/graphs", params={"graph": "urn:g"}, content=text, headers=headers)
        assert put.status_code in {200, 201}, put.text
        yield running, host


def gives(host: Elsewhere, *rows: dict[str, str], variables: str = "s v", path: str = "/listed/e") -> str:
    """An endpoint there that answers rows of IRIs, or of numbers."""
    bindings = [{name: _term(value) for name, value in row.items()} for row in rows]
    body = json.dumps({"head": {"vars": variables.split()}, "results": {"bindings": bindings}}).encode()
    host.gives[path] = (200, {"Content-Type": "application/sparql-results+json"}, body)
    host.asked.clear()
    host.forms.clear()
    host.headers.clear()
    return f"<{host.url}{path}>"


def _term(value: str) -> dict[str, str]:
    if value.startswith("_:"):
        return {"type": "bnode", "value": value[2:]}
    if ":" in value:
        return {"type": "uri", "value": value}
    return {"type": "literal", "value": value}


def ask(running: Served, text: str, **more: str) -> httpx2.Response:
    return running.writer.get("/sparql", params={"query": text, **more})


def rows(answer: httpx2.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    found = [{name: term["value"] for name, term in row.items()} for row in answer.json()["results"]["bindings"]]
    return sorted(found, key=str)


def refused(answer: httpx2.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert "root:" not in answer.text, "nothing of what another host says"


def test_what_an_endpoint_answers_is_joined_with_what_is_here(world: World) -> None:
    running, host = world
    at = gives(host, {"s": "urn:a", "v": 'he said "SERVICE <x> {" \\u0022 \n'}, {"s": "urn:c", "v": "nowhere here"})
    text = f"PREFIX : <urn:> SELECT ?s ?n ?v {{ ?s :p ?n SERVICE {at} {{ ?s :q ?v # }}\n }} }}"
    assert rows(ask(running, text)) == [{"s": "urn:a", "n": "1", "v": 'he said "SERVICE <x> {" \\u0022 \n'}]
    assert host.asked == ["/listed/e"]
    assert parse_qs(host.forms[0]) == {"query": ["PREFIX : <urn:>\nSELECT * { ?s :q ?v # }\n }"]}


def test_an_endpoint_hears_nothing_but_the_text(world: World) -> None:
    running, host = world
    at = gives(host)
    assert rows(ask(running, f"SELECT * {{ ?s <urn:at> ?o SERVICE {at} {{ ?s ?q ?v }} }}")) == []
    heard = "".join((*host.asked, *host.forms, *host.headers))
    assert SECRET not in heard
    assert "uthorization" not in heard


def test_optional_and_several_calls(world: World) -> None:
    running, host = world
    one, other = gives(host, {"s": "urn:a", "v": "1"}), gives(host, {"v": "1"}, {"v": "2"}, path="/listed/f")
    gives(host, {"s": "urn:a", "v": "1"})
    text = f"SELECT * {{ ?s <urn:p> ?n OPTIONAL {{ SERVICE {one} {{ ?s ?q ?v }} }} }}"
    assert rows(ask(running, text)) == [{"n": "1", "s": "urn:a", "v": "1"}, {"n": "2", "s": "urn:b"}]
    both = f"SELECT (COUNT(*) AS ?c) {{ SERVICE {one} {{ ?s ?q ?v }} SERVICE {other} {{ ?x ?y ?v }} }}"
    assert rows(ask(running, both)) == [{"c": "1"}]


def test_solutions_without_bindings_and_without_values_count_as_they_are(world: World) -> None:
    running, host = world
    at = gives(host, {}, {}, variables="v")
    assert len(rows(ask(running, f"SELECT * {{ SERVICE {at} {{ ?v <urn:q> [] }} }}"))) == 2
    at = gives(host, {}, {}, {}, variables="")
    assert len(rows(ask(running, f"SELECT * {{ ?s <urn:p> 1 SERVICE {at} {{ <urn:x> <urn:q> [] }} }}"))) == 3
    at = gives(host, variables="")
    assert rows(ask(running, f"SELECT * {{ ?s <urn:p> 1 SERVICE {at} {{ <urn:x> <urn:q> [] }} }}")) == []


def test_blank_nodes_of_two_answers_are_never_the_same(world: World) -> None:
    running, host = world
    at, other = gives(host, {"s": "_:b0", "v": "1"}), gives(host, {"s": "_:b0", "v": "1"}, path="/listed/f")
    gives(host, {"s": "_:b0", "v": "1"})
    joined = f"SELECT * {{ SERVICE {at} {{ ?s ?q ?v }} SERVICE {other} {{ ?s ?r ?w }} }}"
    assert rows(ask(running, joined)) == []
    answer = ask(running, f"SELECT ?s {{ SERVICE {at} {{ ?s ?q ?v }} }}", bnodes="restore")
    assert [row["s"]["type"] for row in answer.json()["results"]["bindings"]] == ["bnode"]


def test_a_variable_stands_for_the_endpoints_that_it_is_bound_to_here(world: World) -> None:
    running, host = world
    gives(host, {"v": "1"}, variables="v", path="/listed/f")
    at = gives(host, {"v": "2"}, variables="v")
    values = f"VALUES ?e {{ {at} <{host.url}/listed/f> }}"
    found = rows(ask(running, f"SELECT ?e ?v {{ {values} SERVICE ?e {{ ?x ?y ?v }} }}"))
    assert found == [{"e": f"{host.url}/listed/e", "v": "2"}, {"e": f"{host.url}/listed/f", "v": "1"}]
    kept = "SELECT ?v { { ?s <urn:at> ?e FILTER(CONTAINS(STR(?e), '/listed/')) } SERVICE ?e { ?x ?y ?v } }"
    assert rows(ask(running, kept)) == [{"v": "2"}]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { SERVICE ?e { ?x ?y ?v } VALUES ?e { <AT> } }",
        "SELECT * { ?s <urn:at> ?e FILTER(CONTAINS(STR(?e), ?v)) SERVICE ?e { ?x ?y ?v } }",
        "SELECT * { GRAPH <urn:g> { ?s <urn:at> ?e SERVICE ?e { ?x ?y ?v } } }",
        "SELECT * { ?s <urn:p> ?e SERVICE ?e { ?x ?y ?v } }",
        "SELECT * { ?e <urn:p> 1 FILTER EXISTS { ?e <urn:p> 1 SERVICE ?e { ?x ?y ?v } } }",
        "SELECT * { SERVICE <rel ative> { ?x ?y ?v } }",
        "SELECT * { SERVICE nobody:knows { ?x ?y ?v } }",
        "SELECT * { SERVICE <AT> }",
        "SELECT * { trueSERVICE <AT> { ?s ?p ?o } }",
        "PREFIX service: <AT> SELECT * { SERVICE: { ?s ?p ?o } }",
    ],
)
def test_a_call_of_which_it_is_not_known_whom_it_calls_is_refused(world: World, text: str) -> None:
    running, host = world
    at = gives(host, {"v": "1"}, variables="v")
    refused(ask(running, text.replace("<AT>", at)), 400, "query-refused")
    assert host.asked == []


@pytest.mark.parametrize("silent", ["", "SILENT "])
@pytest.mark.parametrize("endpoint", ["<AT/../secret>", "<AT/other>", "<http://127.0.0.1:9/>", "x:"])
def test_nobody_is_called_who_is_not_listed(world: World, silent: str, endpoint: str) -> None:
    running, host = world
    gives(host)
    endpoint = endpoint.replace("AT", host.url)
    text = f"PREFIX x: <{host.url}/> SELECT * {{ ?s ?p ?o SERVICE {silent}{endpoint} {{ ?s ?q ?v }} }}"
    refused(ask(running, text), 403, "not-listed")
    bound = f"SELECT * {{ VALUES ?e {{ <{host.url}/other> }} SERVICE {silent}?e {{ ?s ?q ?v }} }}"
    refused(ask(running, bound), 403, "not-listed")
    assert host.asked == []


def test_a_redirect_leads_to_what_is_listed_alone(world: World) -> None:
    running, host = world
    gives(host)
    host.gives["/listed/away"] = (307, {"Location": f"{host.url}/other"}, b"")
    refused(ask(running, f"SELECT * {{ SERVICE <{host.url}/listed/away> {{ ?s ?q ?v }} }}"), 403, "not-listed")
    assert host.asked == ["/listed/away"]


FAILING: Final = {
    "nothing is there": (404, {}, b"root:x:0:0"),
    "it is no result set": (200, {"Content-Type": "text/html"}, b"<p>root:x:0:0"),
    "it is broken": (200, {"Content-Type": "application/sparql-results+json"}, b'{"head": root:'),
    "it is an answer to ASK": (200, {"Content-Type": "application/sparql-results+json"}, b'{"head":{},"boolean":true}'),
    "it names no IRI": (
        *(200, {"Content-Type": "application/sparql-results+json"}),
        b'{"head":{"vars":["v"]},"results":{"bindings":[{"v":{"type":"uri","value":"> } SERVICE <x> {"}}]}}',
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_an_endpoint_that_fails_fails_the_query_unless_it_is_silent(world: World, name: str) -> None:
    running, host = world
    gives(host)
    host.gives["/listed/e"] = FAILING[name]
    text = f"SELECT * {{ ?s <urn:p> ?n SERVICE <{host.url}/listed/e> {{ ?s ?q ?v }} }}"
    refused(ask(running, text), 502, "fetch-failed")
    assert len(rows(ask(running, text.replace("SERVICE", "SERVICE SILENT")))) == 2
    bound = f"SELECT ?e ?v {{ VALUES ?e {{ <{host.url}/listed/e> }} SERVICE SILENT ?e {{ ?s ?q ?v }} }}"
    assert rows(ask(running, bound)) == [{"e": f"{host.url}/listed/e"}]


def test_calls_and_answers_are_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    running, host = world
    at = gives(host, {"v": "1"}, {"v": "2"}, {"v": "3"}, variables="v")
    text = f"SELECT * {{ SERVICE {at} {{ ?x ?y ?v }} }}"
    with monkeypatch.context() as patched:
        patched.setattr(calls, "MOST_ROWS", 2)
        refused(ask(running, text), 502, "fetch-failed")
    with monkeypatch.context() as patched:
        patched.setattr(federation, "LARGEST", 20)
        refused(ask(running, text), 502, "fetch-failed")
    with monkeypatch.context() as patched:
        patched.setattr(federation, "MOST_CALLS", 1)
        refused(ask(running, f"SELECT * {{ {f'SERVICE {at} {{ ?x ?y ?v }} ' * 2} }}"), 400, "query-refused")
    refused(ask_long(running, f"{text} #{'x' * 70_000}"), 400, "query-refused")
    assert len(rows(ask(running, text))) == 3


def test_calls_have_as_long_as_a_query_has() -> None:
    """The endpoint answers when the test is over, and not before."""
    with ExitStack() as stack:
        host, base = stack.enter_context(elsewhere()), stack.enter_context(Base.open(None))
        limits = {RoleName.READER: RoleLimits(seconds=0.2)}
        settings = Settings(query_spares=0, outbound=(f"{host.url}/",), query_limits=limits)
        running = stack.enter_context(served(base, settings))
        text = f"SELECT * {{ SERVICE SILENT <{host.url}/never> {{ ?s ?p ?o }} }}"
        late = running.client(Role.READER).get("/sparql", params={"query": text})
        refused(late, 422, "query-limit")
        assert late.json()["of"] == "time"


def ask_long(running: Served, text: str) -> httpx2.Response:
    return running.writer.post("/sparql", content=text, headers={"content-type": "application/sparql-query"})


def test_an_update_calls_endpoints_in_its_where(world: World) -> None:
    running, host = world
    at = gives(host, {"s": "urn:a", "v": "9"})
    text = f"PREFIX : <urn:> INSERT {{ ?s :got ?v }} WHERE {{ ?s :p ?n SERVICE {at} {{ ?s :q ?v }} }}"
    answer = running.writer.post("/sparql", content=text, headers=UPDATE)
    assert answer.status_code == 200, answer.text
    assert rows(ask(running, "SELECT ?v { <urn:a> <urn:got> ?v }")) == [{"v": "9"}]
    unbound = text.replace(f"SERVICE {at}", "SERVICE ?e")
    refused(running.writer.post("/sparql", content=unbound, headers=UPDATE), 400, "query-refused")
    other = text.replace("/listed/", "/other/")
    refused(running.writer.post("/sparql", content=other, headers=UPDATE), 403, "not-listed")


def write_more(running: Served) -> None:
    changes = [{"op": "assert", "subject": "urn:later", "predicate": "urn:p", "object": {"@id": "urn:o"}}]
    assert running.writer.post("/changes", json={"changes": changes}).status_code == 201


def test_what_others_answered_is_kept_nowhere(world: World) -> None:
    running, host = world
    at = gives(host, {"v": "1"}, variables="v")
    text = f"SELECT ?v {{ SERVICE {at} {{ ?x ?y ?v }} }}"
    assert rows(ask(running, text)) == [{"v": "1"}]
    gives(host, {"v": "2"}, variables="v")
    assert rows(ask(running, text)) == [{"v": "2"}]
    head = running.base.reader.head().position
    write_more(running)
    past = ask(running, text, **{"as-of": f"head:{head}"})
    assert rows(past) == [{"v": "2"}]
    assert "max-age" not in past.headers["cache-control"]
    assert "etag" not in past.headers


def test_a_reader_of_nothing_finds_no_endpoint(world: World) -> None:
    running, host = world
    gives(host, {"v": "1"}, variables="v")
    text = "SELECT * { ?s <urn:at> ?e SERVICE ?e { ?x ?y ?v } }"
    answer = running.client(Role.READER, "urn:other").get("/sparql", params={"query": text})
    assert rows(answer) == []
    assert host.asked == []


def test_the_description_says_that_endpoints_are_called(world: World) -> None:
    running, _ = world
    told = running.writer.get("/sparql", headers={"accept": "application/n-triples"}).text
    assert "sparql-service-description#BasicFederatedQuery" in told
