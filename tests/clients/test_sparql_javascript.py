"""JavaScript's SPARQL clients read and write the endpoint as it comes, with nothing but the token set."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.serving import Served, served
from tests.clients.javascript import Ask, answering

pytestmark = pytest.mark.node

CLIENTS: Final = ("comunica", "sparql-http-client")


@pytest.fixture(scope="module")
def javascript() -> Iterator[Ask]:
    yield from answering("sparql_clients.mjs")


@pytest.fixture
def service() -> Iterator[Served]:
    with Base.open(None) as base, served(base) as running:
        made = request(
            change("ada", "name", {"@value": "Ada"}, graph=f"{EX}people"),
            change("mary", "name", {"@value": "Curaçao"}),
        )
        assert running.writer.post("/changes", json=made).status_code == 201
        yield running


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_reads_every_form(service: Served, javascript: Ask, client: str) -> None:
    common = {"client": client, "endpoint": f"{service.url}/sparql", "token": service.token(Role.READER)}

    def ask(form: str, query: str) -> dict[str, Any]:
        return javascript({**common, "form": form, "query": query})

    name = f"<{EX}name>"
    selected = ask("select", f'SELECT ?s {{ ?s {name} ?n FILTER(?n = "Curaçao") }}')
    assert selected == {"rows": [{"s": f"{EX}mary"}]}
    assert ask("select", f"SELECT ?g {{ GRAPH ?g {{ <{EX}ada> {name} ?n }} }}") == {"rows": [{"g": f"{EX}people"}]}
    assert ask("ask", f"ASK {{ <{EX}ada> {name} ?n }}") == {"truth": True}
    constructed = ask("construct", f"CONSTRUCT {{ ?s {name} ?n }} WHERE {{ ?s {name} ?n }}")
    assert sorted(constructed["quads"]) == [[f"{EX}ada", f"{EX}name", "Ada"], [f"{EX}mary", f"{EX}name", "Curaçao"]]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_writes_and_reads_what_it_wrote(service: Served, javascript: Ask, client: str) -> None:
    answer = javascript(
        {
            "client": client,
            "endpoint": f"{service.url}/sparql",
            "token": service.token(Role.WRITER),
            "update": f'INSERT DATA {{ <{EX}new> <{EX}name> "New" }}',
            "form": "select",
            "query": f"SELECT ?n {{ <{EX}new> <{EX}name> ?n }}",
        }
    )
    assert answer == {"rows": [{"n": "New"}]}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_refusal_reaches_the_client(service: Served, javascript: Ask, client: str) -> None:
    answer = javascript(
        {
            "client": client,
            "endpoint": f"{service.url}/sparql",
            "token": "no-token",
            "form": "select",
            "query": "SELECT * { ?s ?p ?o }",
        }
    )
    assert set(answer) == {"error"}
