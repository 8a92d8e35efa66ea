"""`/sparql` as any client finds it: blank nodes, what the service says of itself, tags, compression, other origins."""

import gzip
from datetime import UTC, datetime, timedelta
from threading import current_thread
from time import monotonic, sleep, time_ns
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

import httpx2
import pyoxigraph as ox
import pytest

from api.errors import InvalidSetting
from api.http import parameters
from api.settings import Settings, read_settings
from bridge.base import Base
from kernel.access import Role
from kernel.time.instants import Instant, print_instant
from tests.api.bodies import EX, change, request
from tests.api.serving import Served, served

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


@pytest.mark.parametrize("name", ["query", "update"])
def test_nobody_waits_while_a_long_form_is_decoded(server: Served, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """It is done beside the loop that serves everybody, where a short one is done."""
    decoding: dict[bool, str] = {}

    def noted(text: bytes) -> bytes:
        if b"ASK" in text or b"DATA" in text:
            decoding[len(text) > 100_000] = current_thread().name
        return unquote_to_bytes(text)

    monkeypatch.setattr(parameters, "unquote_to_bytes", noted)
    text = {"query": "ASK {}", "update": "INSERT DATA {}"}[name]
    for spaces in (1, 100_000):
        answer = server.writer.post("/sparql", data={name: text + "\t" * spaces})
        assert answer.status_code == 200, answer.text
    assert decoding[False] != decoding[True]


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
    kept, rows = (_rows(ask(blank, ANY, accept, bnodes=how).content, accept) for how in ("keep", "restore"))
    assert sorted(rows) == sorted([_as_blank(term) for term in row] for row in kept)
    assert sum("_:" in term for row in rows for term in row) > 5
    assert any('"x"@ar--rtl' in term for row in rows for term in row)


def _rows(body: bytes, media_type: str) -> list[list[str]]:
    found = ox.parse_query_results(body, TABLES[media_type])
    assert isinstance(found, ox.QuerySolutions)
    return [[str(row[name]) for name in "spo"] for row in found]


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


# --- what the service says of itself ----------------------------------------------------------------------------------


def test_the_description_lists_what_its_reader_may_read(server: Served) -> None:
    write(server.writer, change("a", "p", "b", graph=f"{EX}one"), change("a", "p", "b", graph=f"{EX}two"))
    everything, one = (
        server.client(Role.READER, *graphs).get("/sparql", headers={"accept": "text/turtle"}).text
        for graphs in ((), (f"{EX}one",))
    )
    assert f"{EX}one" in everything
    assert f"{EX}two" in everything
    assert f"{EX}one" in one
    assert f"{EX}two" not in one


def test_the_default_graph_is_described_as_it_is(server: Served) -> None:
    client, union = server.writer, "sparql-service-description#UnionDefaultGraph"
    assert union in client.get("/sparql").text
    assert union not in client.get("/sparql", params={"default-graph": "strict"}).text
    assert client.head("/sparql").status_code == 200
    assert client.get("/sparql", headers={"accept": "text/csv"}).status_code == 406
    assert server.client(None).get("/sparql").status_code == 401


@pytest.mark.parametrize("at", ["then", "9999-01-01", "head:77", "2020-01-01/then"])
def test_where_there_is_no_moment_there_is_no_endpoint_to_describe(server: Served, at: str) -> None:
    refused = server.writer.get(f"/at/{at}/sparql")
    assert (refused.status_code, refused.json()["where"]) == (400, "valid-at" if "/" in at else "as-of")
    assert server.writer.get(f"/at/{datetime.now(UTC).date() - timedelta(days=1)}/2020/sparql").status_code == 200


def test_iris_are_relative_to_the_endpoint(server: Served) -> None:
    client = server.writer
    query = "SELECT ?x { VALUES ?x { <a> } }"
    endpoint = client.base_url.join("/sparql")
    assert ask(client, query).json()["results"]["bindings"][0]["x"]["value"] == str(endpoint.join("a"))
    own = f"BASE <{EX}b/> {query}"
    assert ask(client, own).json()["results"]["bindings"][0]["x"]["value"] == f"{EX}b/a"
    write(client, change("a", "p", "b", graph=str(endpoint.join("g"))), change("a", "p", "c"))
    assert len(ask(client, "SELECT * FROM <g> { ?s ?p ?o }").json()["results"]["bindings"]) == 1


# --- tags -------------------------------------------------------------------------------------------------------------

FACTS: Final = ("/facts", {"subject": f"{EX}a"})
EXPORT: Final[tuple[str, dict[str, str]]] = (f"/exports/{quote(f'{EX}one', safe='')}", {})
QUERY: Final = ("/sparql", {"query": ANY})


@pytest.mark.parametrize(("path", "parameters"), [QUERY, FACTS, EXPORT])
def test_what_has_not_changed_is_not_sent_again(server: Served, path: str, parameters: dict[str, str]) -> None:
    client = server.writer
    write(client, change("a", "p", "b", graph=f"{EX}one"))
    first = client.get(path, params=parameters)
    assert client.get(path, params=parameters, headers={"if-none-match": "*"}).status_code == 304
    held = {"if-none-match": f'"other", {first.headers["etag"]}'}
    same = client.get(path, params=parameters, headers=held)
    assert (first.status_code, same.status_code, same.content) == (200, 304, b"")
    assert (same.headers["etag"], same.headers["cache-control"]) == (first.headers["etag"], "private, no-cache")
    write(client, change("a", "p", "c", graph=f"{EX}one"))
    later = client.get(path, params=parameters, headers=held)
    assert later.status_code == 200
    assert later.headers["etag"] != first.headers["etag"]
    assert f"{EX}c" in later.text


@pytest.mark.parametrize(("path", "parameters"), [QUERY, FACTS, EXPORT])
def test_a_tag_is_of_what_its_caller_may_read(server: Served, path: str, parameters: dict[str, str]) -> None:
    write(server.writer, change("a", "p", "b", graph=f"{EX}one"), change("a", "p", "b", graph=f"{EX}two"))
    tag = server.writer.get(path, params=parameters).headers["etag"]
    other = server.client(Role.READER, f"{EX}one").get(path, params=parameters, headers={"if-none-match": tag})
    assert other.status_code == 200
    assert other.headers["etag"] != tag


@pytest.mark.parametrize("call", ["NOW()", "RAND()", "UUID()", "STRUUID()", "BNODE()"])
def test_what_changes_by_itself_is_never_kept(server: Served, call: str) -> None:
    answer = ask(server.writer, f"SELECT ({call} AS ?x) {{}}")
    assert "etag" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"


def test_a_tag_is_of_format_and_moment(server: Served) -> None:
    client = server.writer
    head = write(client, change("a", "p", "b"))
    tags = {
        ask(client, ANY, accept, **parameters).headers["etag"]
        for accept in ("text/csv", "application/sparql-results+json")
        for parameters in ({}, {"valid-at": "2020"}, {"as-of": f"head:{head}"}, {"bnodes": "restore"})
    }
    assert len(tags) == 8


def test_the_clock_makes_another_tag(server: Served) -> None:
    """Case 47."""
    client = server.writer
    first = ask(client)
    for seconds in (1, 5, 25):  # more only where a write takes that long
        if not first.json()["results"]["bindings"]:
            soon = print_instant(Instant(time_ns() // 1_000 + seconds * 1_000_000))
            write(client, change(f"a{seconds}", "p", "b", validTo=soon))
            first = ask(client)
    held = {"if-none-match": first.headers["etag"]}
    deadline = monotonic() + 60
    while (answer := client.get("/sparql", params={"query": ANY}, headers=held)).status_code == 304:
        assert monotonic() < deadline
        sleep(0.1)
    assert answer.json()["results"]["bindings"] == []


# --- compression ------------------------------------------------------------------------------------------------------


def raw(client: httpx2.Client, accepted: str, query: str, cookie: str | None = None) -> tuple[httpx2.Headers, bytes]:
    headers = {"accept-encoding": accepted} | ({} if cookie is None else {"cookie": cookie})
    with client.stream("GET", "/sparql", params={"query": query}, headers=headers) as answer:
        return answer.headers, b"".join(answer.iter_raw())


@pytest.mark.parametrize("rows", [100, 200_000])
def test_answers_come_in_gzip_if_that_is_accepted(server: Served, rows: int) -> None:
    client = server.writer
    values = " ".join(f"({number})" for number in range(100))
    query = f"SELECT * {{ VALUES (?x) {{ {values} }} }}" if rows == 100 else _many()
    plain, small = raw(client, "identity", query), raw(client, "gzip;q=0.5, br", query)
    assert "content-encoding" not in plain[0]
    assert small[0]["content-encoding"] == "gzip"
    assert len(small[1]) < len(plain[1]) / 3
    assert gzip.decompress(small[1]) == plain[1]
    assert "accept-encoding" in small[0]["vary"].lower()


def _many() -> str:
    digits = " ".join(map(str, range(10)))
    return "SELECT * { " + " ".join(f"VALUES ?x{place} {{ {digits} }}" for place in range(5)) + " }"


def test_what_is_small_is_sent_as_it_is(server: Served) -> None:
    assert "content-encoding" not in raw(server.writer, "gzip", "ASK {}")[0]
    assert "content-encoding" not in raw(server.writer, "gzip;q=0", _many())[0]


def test_what_comes_with_a_cookie_is_never_compressed(server: Served) -> None:
    assert "content-encoding" not in raw(server.writer, "gzip", _many(), cookie="session=x")[0]
    page = httpx2.get(f"{server.url}/sign-in", headers={"accept-encoding": "gzip"})
    assert (page.status_code, page.headers.get("content-encoding")) == (200, None)


def test_a_compressed_answer_that_breaks_off_is_not_whole() -> None:
    small = Settings(query_spares=0, query_result=2**20)
    with (
        Base.open(None) as base,
        served(base, small) as running,
        pytest.raises((httpx2.RemoteProtocolError, httpx2.DecodingError)),
    ):
        ask(running.writer, _many())


# --- methods and other origins ----------------------------------------------------------------------------------------

ORIGIN: Final = "https://yasgui.example.org"
PREFLIGHT: Final = {
    "origin": ORIGIN,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type",
}


def test_options_says_which_methods_there_are(server: Served) -> None:
    answer = server.client(None).options("/sparql", headers=PREFLIGHT)
    assert (answer.status_code, answer.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert server.client(None).options("/nothing").status_code == 404


@pytest.mark.parametrize("configured", [ORIGIN, f"http://localhost:3000, {ORIGIN}", "*"])
def test_scripts_of_origins_that_are_named_read_answers(configured: str) -> None:
    with Base.open(None) as base, served(base, Settings(query_spares=0, cors_origins=configured)) as running:
        client = httpx2.Client(base_url=running.url, headers={"Authorization": f"Bearer {running.token(Role.READER)}"})
        with client:
            asked = client.options("/sparql", headers=PREFLIGHT)
            assert asked.status_code == 200
            assert "authorization" in asked.headers["access-control-allow-headers"].lower()
            got = client.get("/sparql", params={"query": "ASK {}"}, headers={"origin": ORIGIN})
            wrong = client.get("/sparql", params={"query": "ASK"}, headers={"origin": ORIGIN})
            for answer in (asked, got, wrong):
                assert answer.headers["access-control-allow-origin"] in {ORIGIN, "*"}
                assert "access-control-allow-credentials" not in answer.headers
            assert "Muniment-Head" in got.headers["access-control-expose-headers"]
            other = client.get("/sparql", params={"query": "ASK {}"}, headers={"origin": "https://evil.example"})
            assert other.headers.get("access-control-allow-origin") == ("*" if configured == "*" else None)


def test_no_other_origin_reads_anything_unless_it_is_named(server: Served) -> None:
    answer = server.writer.get("/sparql", params={"query": "ASK {}"}, headers={"origin": ORIGIN})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "wrong", ["example.org", "https://example.org/", "https://Example.org", "*, https://a.org", "null"]
)
def test_what_is_no_origin_is_refused(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("MUNIMENT_CORS_ORIGINS", wrong)
    with pytest.raises(InvalidSetting) as refused:
        read_settings()
    assert refused.value.where == "MUNIMENT_CORS_ORIGINS"


# --- algebra ----------------------------------------------------------------------------------------------------------


def test_filters_and_options_follow_the_algebra(server: Served) -> None:
    """Case 18: a FILTER of the group applies to OPTIONAL's result; one inside NOT EXISTS sees the outer solution."""
    client = server.writer
    write(client, change("a", "p", {"@value": 1}), change("a", "p", {"@value": 2}), change("a", "q", {"@value": 2}))
    p, q = f"<{EX}p>", f"<{EX}q>"

    def found(pattern: str) -> list[str]:
        rows = ask(client, f"SELECT ?x {{ {pattern} }} ORDER BY ?x").json()["results"]["bindings"]
        return [row["x"]["value"] for row in rows]

    assert found(f"?s {p} ?x OPTIONAL {{ ?s {q} ?y FILTER(?y = ?x) }} FILTER(!BOUND(?y))") == ["1"]
    assert found(f"?s {p} ?x OPTIONAL {{ ?s {q} ?y }} FILTER(?y = ?x)") == ["2"]
    assert found(f"?s {p} ?x FILTER NOT EXISTS {{ ?s {q} ?y FILTER(?y = ?x) }}") == ["1"]
    assert found(f"?s {p} ?x MINUS {{ ?s {q} ?y FILTER(?y = ?x) }}") == ["1", "2"]
