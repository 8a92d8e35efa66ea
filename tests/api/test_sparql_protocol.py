"""`/sparql` as any client finds it: blank nodes, what the service says of itself, caches, compression, other origins."""

from typing import Any, Final

import httpx2
import pyoxigraph as ox
import pytest

from tests.api.bodies import EX, change, request
from tests.api.serving import Served

ANY: Final = "SELECT * { ?s ?p ?o }"


def ask(client: httpx2.Client, query: str = ANY, accept: str = "*/*", **parameters: str) -> httpx2.Response:
    answer = client.get("/sparql", params={"query": query, **parameters}, headers={"accept": accept})
    assert answer.status_code == 200, answer.text
    return answer


def write(client: httpx2.Client, *changes: dict[str, Any]) -> int:
    answer = client.post("/changes", json=request(*changes))
    assert answer.status_code == 201, answer.text
    head: int = answer.json()["head"]
    return head


# --- blank nodes ------------------------------------------------------------------------------------------------------

TURTLE: Final = """
PREFIX : <https://example.org/>
:a :p [ :q 1 , "x"@ar--rtl , <<( _:n :r <<( _:m :s "t" )>> )>> ] . _:n :p _:m .
"""


@pytest.fixture
def blank(server: Served) -> httpx2.Client:
    """A client of a base with nodes that came as blank nodes."""
    client = server.writer
    assert client.post("/changes", content=TURTLE, headers={"content-type": "text/turtle"}).status_code == 201
    return client


TABLES: Final = {
    "application/sparql-results+json": ox.QueryResultsFormat.JSON,
    "application/sparql-results+xml": ox.QueryResultsFormat.XML,
    "text/tab-separated-values": ox.QueryResultsFormat.TSV,
}


@pytest.mark.parametrize("accept", TABLES)
def test_nodes_that_were_blank_come_as_blank_nodes(blank: httpx2.Client, accept: str) -> None:
    kept, restored = (
        ox.parse_query_results(ask(blank, ANY, accept, bnodes=how).content, TABLES[accept])
        for how in ("keep", "restore")
    )
    rows = [tuple(str(row[name]) for name in "spo") for row in restored]
    assert sorted(rows) == sorted(tuple(_as_blank(str(row[name])) for name in "spo") for row in kept)
    assert sum("_:" in term for row in rows for term in row) > 5
    assert any('"x"@ar--rtl' in term for row in rows for term in row)


def _as_blank(term: str) -> str:
    head, *rest = term.split("<https://w3id.org/muniment/.well-known/genid/")
    return head + "".join(f"_:b{part.replace('>', '', 1)}" for part in rest)


def test_csv_has_blank_nodes_too(blank: httpx2.Client) -> None:
    query = f"SELECT ?b ?none {{ <{EX}a> ?p ?b OPTIONAL {{ ?b <{EX}none> ?none }} }}"
    header, row, _ = ask(blank, query, "text/csv", bnodes="restore").text.split("\r\n")
    assert (header, row[:3], row[-1]) == ("b,none", "_:b", ",")


@pytest.mark.parametrize("accept", ["text/turtle", "application/n-triples", "application/n-quads"])
def test_graphs_come_with_blank_nodes(blank: httpx2.Client, accept: str) -> None:
    got = ask(blank, "CONSTRUCT WHERE { ?s ?p ?o }", accept, bnodes="restore")
    form = ox.RdfFormat.from_media_type(accept)
    one, other = (
        ox.Dataset(ox.parse(text, each)) for text, each in ((got.content, form), (TURTLE.encode(), ox.RdfFormat.TURTLE))
    )
    for each in (one, other):
        each.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    assert one == other


def test_asking_whether_has_no_nodes(blank: httpx2.Client) -> None:
    assert ask(blank, "ASK { ?s ?p ?o }", bnodes="restore").json()["boolean"] is True
    answer = blank.get("/sparql", params={"query": ANY, "bnodes": "white"})
    assert (answer.status_code, answer.json()["where"]) == (400, "bnodes")
