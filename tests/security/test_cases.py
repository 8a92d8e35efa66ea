"""Cases 11 to 18 one by one, each as it is told, through a real server. What stands elsewhere at length is short."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final
from urllib.parse import quote, urlencode

import httpx2
import pytest

from kernel.access import Role
from tests.api.serving import Served

ONE: Final = "urn:cases:one"
TWO: Final = "urn:cases:two"
H_TWO: Final = "https://w3id.org/muniment/history/" + quote(TWO, safe="")
UPDATE: Final = {"content-type": "application/sparql-update"}
QUERY: Final = {"content-type": "application/sparql-query"}


@pytest.fixture(scope="module")
def writer(attacked: Served) -> httpx2.Client:
    """A client that writes everywhere, once there is something in two graphs."""
    client = attacked.writer
    text = f"""INSERT DATA {{ GRAPH <{ONE}> {{ <urn:a> <urn:says> "Curaçao" . <urn:a> <urn:n> 1 }}
        GRAPH <{TWO}> {{ <urn:b> <urn:says> "hidden" . <urn:b> <urn:knows> <urn:a> . <urn:hidden> <urn:n> 5 }} }}"""
    assert client.post("/sparql", content=text.encode(), headers=UPDATE).status_code == 200
    return client


def asked(client: httpx2.Client, query: str, **parameters: str) -> httpx2.Response:
    return client.get("/sparql", params={"query": query, **parameters})


def truth(client: httpx2.Client, query: str) -> bool:
    told: bool = asked(client, query).json()["boolean"]
    return told


# --- 11 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accept", "formats"),
    [
        ("text/*", {"text/csv", "text/tab-separated-values"}),
        ("text/*;q=0.5, application/nothing", {"text/csv", "text/tab-separated-values"}),
        (None, {"application/sparql-results+json"}),
        ("*/*", {"application/sparql-results+json"}),
    ],
)
def test_case_11_the_format_is_one_that_is_accepted(
    writer: httpx2.Client, accept: str | None, formats: set[str]
) -> None:
    # The client's own Accept is taken away, where there is to be none at all.
    request = writer.build_request("GET", "/sparql", params={"query": "SELECT * { ?s ?p ?o }"})
    del request.headers["accept"]
    if accept is not None:
        request.headers["accept"] = accept
    answer = writer.send(request)
    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] in formats


def test_case_11_what_cannot_be_given_is_406(writer: httpx2.Client) -> None:
    answer = writer.get("/sparql", params={"query": "SELECT * {}"}, headers={"accept": "image/*"})
    assert (answer.status_code, answer.json()["code"]) == (406, "not-acceptable")


# --- 12 ---------------------------------------------------------------------------------------------------------------


def test_case_12_a_query_in_utf_8_matches_however_it_is_posted(writer: httpx2.Client) -> None:
    query = 'SELECT ?s { ?s <urn:says> ?n FILTER(?n = "Curaçao") }'
    form = writer.post("/sparql", data={"query": query})
    direct = writer.post("/sparql", content=query.encode(), headers=QUERY)
    for answer in (form, direct, asked(writer, query)):
        assert [row["s"]["value"] for row in answer.json()["results"]["bindings"]] == ["urn:a"]


# --- 13 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accept", ["text/csv", "text/tab-separated-values", "application/sparql-results+json"])
def test_case_13_a_query_that_is_cut_off_has_an_error_status(attacked: Served, accept: str) -> None:
    values = " ".join(map(str, range(100)))
    product = " ".join(f"VALUES ?v{each} {{ {values} }}" for each in range(6))
    query = f"SELECT (COUNT(*) AS ?n) {{ {product} }}"
    answer = attacked.client(Role.READER).get("/sparql", params={"query": query}, headers={"accept": accept})
    assert (answer.status_code, answer.json()["code"], answer.json()["of"]) == (422, "query-limit", "time")


def test_case_13_what_has_begun_breaks_with_its_chunked_coding_unfinished(attacked: Served) -> None:
    values = " ".join(map(str, range(300)))
    query = f"SELECT * {{ VALUES ?a {{ {values} }} VALUES ?b {{ {values} }} VALUES ?c {{ {values} }} }}"
    with pytest.raises(httpx2.RemoteProtocolError):
        attacked.client(Role.READER).get("/sparql", params={"query": query})


# --- 14 and 15 --------------------------------------------------------------------------------------------------------


def test_case_14_a_blank_node_is_not_deleted_and_a_triple_is_wherever_it_is(writer: httpx2.Client) -> None:
    refused = writer.post("/sparql", content="DELETE DATA { _:b <urn:p> 1 }", headers=UPDATE)
    assert (refused.status_code, refused.json()["code"]) == (400, "query-refused")
    assert "blank node" in refused.json()["detail"]
    inserted = "INSERT DATA { GRAPH <urn:cases:other> { <urn:d> <urn:gone> 1 } }"
    assert writer.post("/sparql", content=inserted, headers=UPDATE).status_code == 200
    deleted = writer.post("/sparql", content="DELETE WHERE { ?s <urn:gone> ?o }", headers=UPDATE)
    assert deleted.status_code == 200
    assert not truth(writer, "ASK { GRAPH ?g { ?s <urn:gone> ?o } }")
    certificate = writer.get(deleted.headers["Location"]).json()
    assert certificate["graphs"] == ["urn:cases:other"], "and it says where"


def test_case_15_each_where_sees_the_operations_before_it_and_is_evaluated_once(writer: httpx2.Client) -> None:
    text = """INSERT DATA { <urn:e> <urn:m> 1 , 2 } ;
        DELETE { ?s <urn:m> ?n } INSERT { ?s <urn:m> ?k } WHERE { ?s <urn:m> ?n BIND(?n + 1 AS ?k) } ;
        INSERT DATA { <urn:e> <urn:left> 1 } ; DELETE WHERE { <urn:e> <urn:left> ?o }"""
    assert writer.post("/sparql", content=text, headers=UPDATE).status_code == 200
    found = asked(writer, "SELECT ?n { <urn:e> <urn:m> ?n } ORDER BY ?n").json()["results"]["bindings"]
    assert [row["n"]["value"] for row in found] == ["2", "3"]
    assert not truth(writer, "ASK { <urn:e> <urn:left> ?o }")


# --- 16 ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def listening() -> Iterator[tuple[str, list[str]]]:
    """A server that nobody may ask, and what it was asked."""
    asked_of_it: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            asked_of_it.append("asked")
            super().handle_one_request()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", asked_of_it
        server.shutdown()


def test_case_16_nothing_is_asked_of_others_on_any_path(
    writer: httpx2.Client, listening: tuple[str, list[str]]
) -> None:
    url, asked_of_it = listening
    patterns = [
        f"SERVICE <{url}> {{ ?s ?p ?o }}",
        f"SERVICE SILENT <{url}> {{ ?s ?p ?o }}",
        "SERVICE x:a { ?s ?p ?o }",
        f"VALUES ?x {{ <{url}> }} SERVICE ?x {{ ?s ?p ?o }}",
        f"{{ SELECT * {{ service<{url}>{{}} }} }}",
        f"FILTER EXISTS {{ SERVICE <{url}> {{}} }}",
    ]
    for pattern in patterns:
        prefixed = f"PREFIX x: <{url}> "
        for query in (
            f"{prefixed}SELECT * {{ {pattern} }}",
            f"{prefixed}CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {pattern} }}",
        ):
            for answer in (asked(writer, query), asked(writer, query, **{"as-of": "head:0"})):
                assert answer.json()["code"] in {"query-refused", "invalid-parameter"}
                assert answer.status_code == 400
        update = f"{prefixed}INSERT {{ ?s <urn:q> ?o }} WHERE {{ {pattern} }}"
        answer = writer.post("/sparql", content=update, headers=UPDATE)
        assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")
    for load in (f"LOAD <{url}>", f"LOAD SILENT <{url}> INTO GRAPH <urn:g>", f"PREFIX x: <{url}> load x:a"):
        answer = writer.post("/sparql", content=load, headers=UPDATE)
        assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")
    assert asked_of_it == []


# --- 17 ---------------------------------------------------------------------------------------------------------------


def test_case_17_a_reader_of_one_graph_gets_nothing_of_another(attacked: Served, writer: httpx2.Client) -> None:
    assert truth(writer, f"ASK {{ GRAPH <{TWO}> {{ ?s ?p ?o }} }}")
    reader = attacked.client(Role.READER, ONE)
    nothing = [
        f"SELECT * FROM <{TWO}> {{ ?s ?p ?o }}",
        f"SELECT * FROM NAMED <{TWO}> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
        f"SELECT * {{ GRAPH <{TWO}> {{ ?s ?p ?o }} }}",
        f"SELECT * {{ GRAPH <{H_TWO}> {{ ?s ?p ?o }} }}",
        f"SELECT * FROM NAMED <{H_TWO}> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
        "SELECT * { <urn:b> (<urn:knows>|^<urn:knows>)+ ?x }",
        "SELECT * { ?s <urn:knows>* <urn:b> FILTER(?s != <urn:b>) }",
    ]
    for query in nothing:
        assert asked(reader, query).json()["results"]["bindings"] == [], query
    for parameters in ({"default-graph-uri": TWO}, {"named-graph-uri": TWO}, {"default-graph-uri": H_TWO}):
        answer = asked(reader, "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }", **parameters)
        assert answer.json()["results"]["bindings"] == []
    (count,) = asked(reader, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").json()["results"]["bindings"]
    assert count["n"]["value"] == "2"
    graphs = asked(reader, "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }").json()["results"]["bindings"]
    assert TWO not in {row["g"]["value"] for row in graphs}
    for path in (f"/graphs?{urlencode({'graph': TWO})}", f"/exports/{quote(TWO, safe='')}"):
        assert reader.get(path).status_code == 404
    unknown = reader.get(f"/exports/{quote('urn:cases:never', safe='')}").json()
    known = reader.get(f"/exports/{quote(TWO, safe='')}").json()
    same = [
        json.dumps({**each, "requestId": "", "where": ""}).replace("urn:cases:never", TWO) for each in (unknown, known)
    ]
    assert same[0] == same[1], "what may not be read is as what is not there"
    for name in ("subject", "graph"):
        assert reader.get("/facts", params={name: TWO if name == "graph" else "urn:b"}).json()["items"] == []
    assert "hidden" not in reader.get("/certificates").text


# --- 18 ---------------------------------------------------------------------------------------------------------------


def test_case_18_filters_follow_the_algebra(writer: httpx2.Client) -> None:
    """A filter is for the whole of its group, wherever it stands; within NOT EXISTS it sees what is bound outside."""
    data = "INSERT DATA { GRAPH <urn:cases:18> { <urn:x> <urn:v> 1 . <urn:y> <urn:v> 2 . <urn:y> <urn:w> 2 } }"
    assert writer.post("/sparql", content=data, headers=UPDATE).status_code == 200
    scope = "FROM <urn:cases:18>"
    left = asked(writer, f"SELECT ?s {scope} {{ FILTER(BOUND(?w)) ?s <urn:v> ?v OPTIONAL {{ ?s <urn:w> ?w }} }}")
    assert [row["s"]["value"] for row in left.json()["results"]["bindings"]] == ["urn:y"]
    within = f"SELECT ?s {scope} {{ ?s <urn:v> ?v OPTIONAL {{ ?s <urn:w> ?w FILTER(?v = 1) }} }}"
    assert len(asked(writer, within).json()["results"]["bindings"]) == 2
    absent = f"SELECT ?s {scope} {{ ?s <urn:v> ?v FILTER NOT EXISTS {{ ?t <urn:w> ?w FILTER(?w = ?v) }} }}"
    assert [row["s"]["value"] for row in asked(writer, absent).json()["results"]["bindings"]] == ["urn:x"]
    minus = f"SELECT ?s {scope} {{ ?s <urn:v> ?v MINUS {{ ?t <urn:w> ?w FILTER(?w = ?v) }} }}"
    assert len(asked(writer, minus).json()["results"]["bindings"]) == 2, "there it sees nothing of what is outside"
