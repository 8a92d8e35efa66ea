"""`GET /exports/{graph}`, as partners have it."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from threading import Condition, Event, Lock
from time import perf_counter
from typing import Any, Final
from urllib.parse import quote, urlsplit

import httpx2
import pyoxigraph as ox
import pytest
from pyld import jsonld

from api.http import streaming
from bridge.base import Base
from bridge.exporting import exporter
from bridge.exporting.chunks import chunks
from bridge.exporting.credential import verify
from bridge.exporting.exporter import Format
from bridge.ledger.reading import SqliteView
from bridge.ledger.sqlite import SqliteLedger
from kernel.access import Role
from kernel.errors import LedgerUnavailable
from kernel.facts import Fact
from kernel.ports.ledger import LedgerView
from kernel.terms import Iri
from kernel.time.instants import print_instant
from tests.api.bodies import EX, SHAPES, XSD, M, change, request
from tests.api.serving import Served, served
from tests.bridge.exporting.drawing import G, known

GRAPH: Final = G.value
JSON_LD: Final = "application/ld+json"
HANGS: Final = 30
"""Seconds: what is not bounded takes hours, however quick the machine."""

TURTLE: Final = """
@prefix ex: <https://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:ann a ex:Person, "a literal" ; ex:age "007"^^xsd:int ; ex:size 1.50 ; ex:colour "grey"@en-GB, "rmad"@ar--rtl ;
    ex:at "2024-01-01T00:00:00.100000+05:00"^^xsd:dateTime ; ex:knows _:bob ; ex:said <<( ex:ann ex:knows _:bob )>> .
_:bob ex:name "Bob" .
"""


def path(graph: str = GRAPH) -> str:
    return f"/exports/{quote(graph, safe='')}"


def exported(client: httpx2.Client, accept: str = JSON_LD, graph: str = GRAPH, **parameters: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in parameters.items()}
    answer = client.get(path(graph), params=named, headers={"Accept": accept})
    assert answer.status_code == 200, answer.text
    return answer


def sent(client: httpx2.Client, body: str | bytes, media_type: str, **parameters: str) -> httpx2.Response:
    return client.post("/changes", params=parameters, content=body, headers={"Content-Type": media_type})


def stated(client: httpx2.Client, turtle: str = TURTLE, graph: str = GRAPH, **parameters: str) -> None:
    named = {name.replace("_", "-"): value for name, value in parameters.items()}
    answer = sent(client, turtle, "text/turtle", graph=graph, **named)
    assert answer.status_code == 201, answer.text


def triples(document: str, written: ox.RdfFormat) -> set[str]:
    """The triples of a document, by a parser that is not ours; blank nodes have one label."""
    return {
        str(quad.triple).replace(label, "_:b")
        for quad in ox.parse(document.encode(), written)
        for label in [_bob(document)]
    }


def _bob(document: str) -> str:
    at = document.index("_:")
    return document[at : at + 35]


def values(document: dict[str, Any], predicate: str) -> list[Any]:
    return [value for node in document["@graph"] for value in node.get(predicate, [])]


# --- what is written --------------------------------------------------------------------------------------------------


def test_json_ld_is_the_default_and_gives_back_what_was_submitted(server: Served) -> None:
    stated(server.writer)
    answer = server.client(Role.READER).get(path())
    assert answer.headers["content-type"] == JSON_LD
    document = answer.json()
    assert (document["@context"], document["@id"]) == ({}, GRAPH)
    assert values(document, EX + "age") == [{"@value": "007", "@type": f"{XSD}int"}]
    assert values(document, EX + "size") == [{"@value": "1.50", "@type": f"{XSD}decimal"}]
    assert values(document, EX + "colour") == [
        {"@value": "grey", "@language": "en-GB"},
        {"@value": "rmad", "@language": "ar", "@direction": "rtl"},
    ]
    assert values(document, EX + "at") == [{"@value": "2024-01-01T00:00:00.100000+05:00", "@type": f"{XSD}dateTime"}]


def test_only_an_iri_is_written_as_type(server: Served) -> None:
    stated(server.writer)
    document = exported(server.client(Role.READER)).json()
    assert values(document, "@type") == [EX + "Person"]
    assert values(document, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type") == [{"@value": "a literal"}]


def test_blank_nodes_are_blank_nodes_again_and_the_same_one_throughout(server: Served) -> None:
    stated(server.writer)
    document = exported(server.client(Role.READER)).json()
    (bob,) = [node["@id"] for node in document["@graph"] if EX + "name" in node]
    assert values(document, EX + "knows") == [{"@id": bob}]
    assert values(document, EX + "said")[0] == {
        "@value": f"<<( <{EX}ann> <{EX}knows> {bob} )>>",
        "@type": f"{M}tripleTerm",
    }
    assert "genid" not in json.dumps(document)


@pytest.mark.parametrize(
    ("media_type", "written"),
    [
        ("text/turtle", ox.RdfFormat.TURTLE),
        ("application/trig", ox.RdfFormat.TRIG),
        ("application/n-quads", ox.RdfFormat.N_QUADS),
    ],
)
def test_other_parsers_read_the_same_triples(server: Served, media_type: str, written: ox.RdfFormat) -> None:
    stated(server.writer)
    answer = exported(server.client(Role.READER), media_type)
    assert answer.headers["content-type"] == media_type
    assert triples(answer.text, written) == triples(TURTLE.replace("_:bob", "_:" + 33 * "b"), ox.RdfFormat.TURTLE)
    if written != ox.RdfFormat.TURTLE:
        assert {str(quad.graph_name) for quad in ox.parse(answer.content, written)} == {f"<{GRAPH}>"}


def test_other_libraries_read_the_json_ld(server: Served) -> None:
    stated(server.writer, "<urn:a> <urn:p> <urn:b>, '1.50'^^<urn:d>, 'x'@de ; a <urn:T>, 'x' .")
    text = jsonld.to_rdf(exported(server.client(Role.READER)).json(), {"format": "application/n-quads"})
    assert set(text.splitlines()) == {
        f"<urn:a> {rest} <{GRAPH}> ."
        for rest in (
            "<urn:p> <urn:b>",
            '<urn:p> "1.50"^^<urn:d>',
            '<urn:p> "x"@de',
            "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:T>",
            '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "x"',
        )
    }


def test_annotations_say_when_by_whom_and_why(server: Served) -> None:
    body = request(
        change("ann", "lives", "rome", validFrom="2019", validThrough="2023-05", confidence=0.75),
        episode=EX + "census",
        graph=GRAPH,
    )
    told = server.writer.post("/changes", json=body).json()
    document = exported(server.client(Role.READER), annotations="true", valid_at="2020").json()
    (record,) = [node for node in document["@graph"] if "validFrom" in node]
    assert (
        record.items()
        >= {
            "subject": EX + "ann",
            "predicate": EX + "lives",
            "object": {"@id": EX + "rome"},
            "validFrom": "2019-01-01T00:00:00Z",
            "fromPrecision": "year",
            "validTo": "2023-06-01T00:00:00Z",
            "toPrecision": "month",
            "confidence": "0.75",
            "certificate": told["certificate"],
        }.items()
    )
    (evidence,) = record["evidence"]
    assert (evidence["episode"], evidence["confidence"]) == (EX + "census", "0.75")
    fact = (
        server.client(Role.READER).get("/facts", params={"subject": EX + "ann", "valid-at": "any"}).json()["items"][0]
    )
    assert (record["@id"], record["recordedAt"]) == (fact["fact"], fact["recordedAt"])


def test_a_record_can_be_asked_for_as_the_history_can(server: Served) -> None:
    stated(server.writer, "<urn:a> <urn:p> <urn:b> .", valid_from="-0043-03-15", valid_through="199#")
    store = ox.Store()
    text = exported(server.client(Role.READER), "application/trig", annotations="true", valid_at="any").text
    store.load(text.encode(), ox.RdfFormat.TRIG)
    query = f"""PREFIX m: <{M}> SELECT ?s ?o ?from ?how {{ GRAPH ?g {{
        ?fact rdf:reifies <<( ?s ?p ?o )>> ; m:validFrom ?from ; m:toPrecision ?how }} }}"""
    prefixed = f"PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> {query}"
    solutions = store.query(prefixed)
    assert isinstance(solutions, ox.QuerySolutions)
    (row,) = solutions
    assert [str(term) for term in row] == [
        "<urn:a>",
        "<urn:b>",
        f'"-0043-03-15T00:00:00Z"^^<{XSD}dateTime>',
        f"<{M}decade>",
    ]
    claimed = store.query(f"{prefixed.partition('SELECT')[0]} ASK {{ GRAPH ?g {{ <urn:a> <urn:p> <urn:b> }} }}")
    assert not claimed  # what is over is quoted, not claimed


# --- signed -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("media_type", [JSON_LD, "application/vc"])
def test_a_signed_export_is_a_credential_of_the_base(server: Served, media_type: str) -> None:
    stated(server.writer)
    answer = exported(server.client(Role.READER, GRAPH), media_type, signed="true", annotations="true")
    assert answer.headers["content-type"] == media_type
    heading = verify(answer.content, server.base.key.public).heading
    assert (heading.graph.value, str(heading.head)) == (GRAPH, answer.headers["muniment-head"])
    assert print_instant(heading.valid_at) == answer.headers["muniment-valid-at"]


def test_case_37_linked_blank_nodes_are_signed_within_a_second(server: Served) -> None:
    links = " ".join(f"_:n{one} <urn:p> _:n{other} ." for one in range(9) for other in range(9) if one != other)
    stated(server.writer, links)
    began = perf_counter()
    answer = exported(server.client(Role.READER), signed="true")
    assert perf_counter() - began < HANGS
    assert verify(answer.content, server.base.key.public).statements == 72
    assert server.client(None).get("/health").status_code == 200


def test_what_verifiers_would_read_differently_is_not_signed(server: Served) -> None:
    stated(server.writer, '<urn:a> <urn:p> "NaN"^^<http://www.w3.org/2001/XMLSchema#double> .')
    reader = server.client(Role.READER)
    answer = reader.get(path(), params={"signed": "true"})
    assert (answer.status_code, answer.json()["code"], answer.json()["where"]) == (422, "cannot-sign", "signed")
    assert exported(reader).json()["@graph"] != []


# --- when -------------------------------------------------------------------------------------------------------------


def test_what_is_exported_is_of_the_moment_asked_for(server: Served) -> None:
    writer = server.writer
    first = writer.post(
        "/changes", json=request(change("ann", "lives", "rome", validFrom="2019", validTo="2022"), graph=GRAPH)
    ).json()
    writer.post(
        "/changes", json=request(change("ann", "lives", "rome", "end", at="2020"), graph=GRAPH)
    ).raise_for_status()
    reader = server.client(Role.READER)

    def homes(**parameters: str) -> list[Any]:
        return values(exported(reader, **parameters).json(), EX + "lives")

    rome = [{"@id": EX + "rome"}]
    assert homes() == []
    assert homes(valid_at="2019-06") == rome
    assert homes(valid_at="2021") == []
    assert homes(valid_at="2021", as_of=f"head:{first['head']}") == rome
    answer = exported(reader, valid_at="2021", as_of=f"head:{first['head']}")
    assert (answer.headers["muniment-head"], answer.headers["muniment-valid-at"]) == (
        str(first["head"]),
        "2021-01-01T00:00:00Z",
    )
    past = exported(reader, annotations="true", valid_at="any", as_of=f"head:{first['head']}").json()
    assert [node["validTo"] for node in past["@graph"]] == ["2022-01-01T00:00:00Z"]


def test_what_is_written_meanwhile_is_not_in_it(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter, "chunks", partial(chunks, size=100))
    writer = server.writer
    stated(writer, "".join(f"<urn:a{number}> <urn:p> 'x' .\n" for number in range(3_000)))
    with writer.stream("GET", path(), headers={"Accept": "application/n-quads"}) as answer:
        lines = answer.iter_lines()
        first = next(lines)
        stated(writer, "<urn:late> <urn:p> 'x' .")
        rest = list(lines)
    assert first.startswith("<urn:a0>")
    assert len(rest) == 2_999
    assert "late" not in "".join(rest)
    assert len(exported(writer, "application/n-quads").text.splitlines()) == 3_001


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_graph_that_one_may_not_read_is_as_unknown_as_one_that_never_was(server: Served) -> None:
    stated(server.writer)
    stated(server.writer, "<urn:a> <urn:p> 'secret' .", graph="urn:other")
    reader = server.client(Role.READER, GRAPH)
    assert exported(reader).status_code == 200
    for graph in ("urn:other", "urn:never", f"{M}rules", "https://w3id.org/muniment/history/urn%3Aother"):
        answer = reader.get(path(graph))
        assert answer.status_code == 404
        told = {name: value for name, value in answer.json().items() if name != "requestId"}
        assert json.dumps(told).replace(graph, "X") == json.dumps(
            {name: value for name, value in reader.get(path("urn:nothing")).json().items() if name != "requestId"}
        ).replace("urn:nothing", "X")


def test_evidence_from_other_graphs_is_not_in_it(server: Served) -> None:
    writer = server.writer
    for graph in (GRAPH, "urn:other"):
        body = request(change("ann", "lives", "rome"), episode=f"urn:episode:{graph}", graph=graph)
        writer.post("/changes", json=body).raise_for_status()
    text = exported(server.client(Role.READER, GRAPH), annotations="true").text
    assert f"urn:episode:{GRAPH}" in text
    assert "urn:other" not in text


@pytest.mark.parametrize(
    ("graph", "parameters", "accept", "status", "code", "where"),
    [
        (GRAPH, {"annotation": "true"}, JSON_LD, 400, "unknown-parameter", "annotation"),
        (GRAPH, {"annotations": "yes"}, JSON_LD, 400, "invalid-parameter", "annotations"),
        (GRAPH, {"valid-at": "any"}, JSON_LD, 400, "invalid-parameter", "valid-at"),
        (GRAPH, {"valid-at": "someday"}, JSON_LD, 400, "invalid-time", "valid-at"),
        (GRAPH, {"as-of": "2024"}, JSON_LD, 400, "invalid-parameter", "as-of"),
        (GRAPH, {"as-of": "head:999"}, JSON_LD, 400, "invalid-parameter", "as-of"),
        (GRAPH, {}, "application/rdf+xml", 406, "not-acceptable", "Accept"),
        (GRAPH, {"signed": "true"}, "text/turtle", 406, "not-acceptable", "Accept"),
        ("no iri", {}, JSON_LD, 400, "invalid-term", "graph"),
        ("", {}, JSON_LD, 400, "invalid-term", "graph"),
    ],
)
def test_what_cannot_be_exported_is_explained(
    shared: Served, graph: str, parameters: dict[str, str], accept: str, status: int, code: str, where: str
) -> None:
    answer = shared.client(Role.READER).get(path(graph), params=parameters, headers={"Accept": accept})
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["where"]) == (status, code, where)


def test_nobody_exports_without_a_token(shared: Served) -> None:
    assert shared.client(None).get(path()).status_code == 401


def test_the_default_graph_is_there_from_the_first_day(server: Served) -> None:
    answer = exported(server.client(Role.READER), graph=f"{M}default")
    assert answer.json()["@graph"] == []
    assert answer.headers["muniment-head"] == "none"


def test_head_says_the_same_without_a_body(server: Served) -> None:
    stated(server.writer)
    answer = server.client(Role.READER).head(path())
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["muniment-head"] == exported(server.client(Role.READER)).headers["muniment-head"]


# --- what breaks ------------------------------------------------------------------------------------------------------


@contextmanager
def failing_after(facts: int) -> Iterator[None]:
    """The ledger cannot be read any more after so many facts."""
    believed = SqliteView.believed

    def some(view: SqliteView, *, graph: Iri) -> Iterator[Fact]:
        for number, fact in enumerate(believed(view, graph=graph)):
            if number == facts:
                raise LedgerUnavailable("the disk is gone", remedy="look at it")
            yield fact

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteView, "believed", some)
        yield


@pytest.mark.parametrize("media_type", [each.value for each in Format])
def test_an_export_that_fails_on_the_way_never_looks_complete(server: Served, media_type: str) -> None:
    stated(server.writer, "".join(f"<urn:a{number}> <urn:p> '{'x' * 100}' .\n" for number in range(3_000)))
    reader = server.client(Role.READER)
    with failing_after(2_500), reader.stream("GET", path(), headers={"Accept": media_type}) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx2.RemoteProtocolError):
            list(answer.iter_bytes())
    assert exported(reader, media_type).status_code == 200


@pytest.mark.parametrize("media_type", [each.value for each in Format])
def test_even_without_chunked_coding_what_came_does_not_parse(server: Served, media_type: str) -> None:
    stated(server.writer, "".join(f"<urn:a{number}> <urn:p> '{'x' * 100}' .\n" for number in range(3_000)))
    address = urlsplit(server.url)
    with failing_after(2_500), socket.create_connection((address.hostname, address.port)) as connection:
        lines = (
            f"GET {path()} HTTP/1.0",
            f"Authorization: Bearer {server.token(Role.READER)}",
            f"Accept: {media_type}",
            "",
            "",
        )
        connection.sendall("\r\n".join(lines).encode())
        received = b"".join(iter(lambda: connection.recv(2**16), b""))
    head, _, body = received.partition(b"\r\n\r\n")
    assert b" 200 " in head
    assert body
    with pytest.raises((SyntaxError, ValueError)):
        parsed(body, media_type)


def parsed(body: bytes, media_type: str) -> object:
    written = ox.RdfFormat.from_media_type(media_type)
    return json.loads(body) if media_type == JSON_LD or written is None else list(ox.parse(body, written))


def test_one_that_fails_at_once_is_an_error_like_others(server: Served) -> None:
    stated(server.writer)
    with failing_after(0):
        answer = server.client(Role.READER).get(path())
    assert (answer.status_code, answer.json()["code"]) == (503, "ledger-unavailable")


class Reads:
    """How many reads of a ledger are open."""

    def __init__(self) -> None:
        self._open = 0
        self._changed = Condition()

    @contextmanager
    def counted(self, read: AbstractContextManager[LedgerView]) -> Iterator[LedgerView]:
        self._count(1)
        try:
            with read as view:
                yield view
        finally:
            self._count(-1)

    def _count(self, step: int) -> None:
        with self._changed:
            self._open += step
            self._changed.notify_all()

    def wait_until(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._open == count, timeout=5), self._open


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    reads, reading = Reads(), SqliteLedger.reading
    monkeypatch.setattr(SqliteLedger, "reading", lambda ledger: reads.counted(reading(ledger)))
    return reads


LARGE: Final = "".join(f"<urn:a{number}> <urn:p> '{'x' * 100_000}' .\n" for number in range(150))
"""More than what lies between a server and a client that does not read."""


@contextmanager
def slow_client(server: Served) -> Iterator[socket.socket]:
    """A client that has asked for the export, and has no room for all of it."""
    address = urlsplit(server.url)
    lines = (f"GET {path()} HTTP/1.1", "Host: x", f"Authorization: Bearer {server.token(Role.READER)}", "", "")
    with socket.socket() as connection:
        connection.settimeout(30)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((address.hostname, address.port))
        connection.sendall("\r\n".join(lines).encode())
        assert connection.recv(20).startswith(b"HTTP/1.1 200")
        yield connection


def test_a_client_that_goes_away_leaves_nothing_open(server: Served, reads: Reads) -> None:
    stated(server.writer, LARGE)
    with slow_client(server):
        reads.wait_until(1)
    reads.wait_until(0)


def test_a_client_that_takes_nothing_is_given_up(server: Served, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "PATIENCE", 0.5)
    stated(server.writer, LARGE)
    with slow_client(server):
        reads.wait_until(1)
        reads.wait_until(0)


def test_the_first_chunk_is_sent_before_the_last_fact_is_read(server: Served) -> None:
    stated(server.writer, LARGE)
    with failing_after(149), server.client(Role.READER).stream("GET", path()) as answer:
        assert answer.status_code == 200
        assert next(answer.iter_bytes()).startswith(b'{"@context"')


class Chunks:
    """Which chunks are made, by the export's graph, and how many at once; they wait until `go` is set."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.most = 0
        self.go = Event()
        self._making = 0
        self._lock = Lock()

    def of(self, view: SqliteView, graph: Iri) -> Iterator[Fact]:
        for _ in range(200):
            with self._lock:
                self._making += 1
                self.most = max(self.most, self._making)
                self.made.append(graph.value)
            assert self.go.wait(30)
            with self._lock:
                self._making -= 1
            yield from BELIEVED(view, graph=graph)


BELIEVED: Final = SqliteView.believed


@contextmanager
def slow_chunks() -> Iterator[Chunks]:
    slow = Chunks()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporter, "chunks", partial(chunks, size=1))
        patch.setattr(SqliteView, "believed", lambda view, *, graph: slow.of(view, graph))
        yield slow


def test_exports_take_turns_and_hold_up_no_short_read(server: Served) -> None:
    graphs = [f"urn:g{number}" for number in range(6)]
    for graph in graphs:
        stated(server.writer, "<urn:a> <urn:p> 'x' .", graph=graph)
    reader = server.client(Role.READER)
    with slow_chunks() as slow, ThreadPoolExecutor(len(graphs)) as clients:
        documents = [clients.submit(exported, reader, "application/n-quads", graph) for graph in graphs]
        try:
            first = reader.get("/certificates", timeout=5)  # while six exports want their chunks, and none gets on
        finally:
            slow.go.set()
        assert first.status_code == 200
        assert {document.result().text.count("\n") for document in documents} == {200}
    assert slow.most == 1
    # All have come a good part of the way when the first is there.
    ended = min(len(slow.made) - slow.made[::-1].index(graph) for graph in graphs)
    assert {graph: slow.made[:ended].count(graph) > 20 for graph in graphs} == dict.fromkeys(graphs, True)


# --- round trip -------------------------------------------------------------------------------------------------------


def told(server: Served) -> set[str]:
    """Facts without blank nodes, as `GET /facts` tells them: statements and times."""
    parameters = {"graph": GRAPH, "valid-at": "any"}
    facts = server.client(Role.READER).get("/facts", params=parameters).json()["items"]
    members = ("statement", "validFrom", "validTo", "validThrough")
    texts = (json.dumps({name: fact[name] for name in members if name in fact}) for fact in facts)
    return {text for text in texts if "genid" not in text}


@pytest.mark.parametrize("media_type", [each.value for each in Format])
def test_an_export_with_annotations_tells_another_base_the_same(server: Served, media_type: str) -> None:
    writer = server.writer
    stated(writer, valid_from="2019-05")
    stated(writer, "<urn:a> <urn:p> <urn:b> .", valid_from="-0043-03-15", valid_to="0044")
    stated(writer, "<urn:a> <urn:p> <urn:b> .", valid_from="2024-01-01T00:00:00.100000+05:00", valid_to="unknown")
    document = exported(writer, media_type, annotations="true", valid_at="any")
    with Base.open(None) as base, served(base) as other:
        parameters = {"graph": GRAPH} if media_type == "text/turtle" else {}
        answer = sent(other.writer, document.content, media_type, **parameters)
        assert answer.status_code == 201, answer.text
        facts, again = told(server), told(other)
        assert again == facts
        assert len(known(base)) == len(known(server.base))
        assert any('"2024-01-01T00:00:00.100000+05:00", "validTo": "unknown"' in fact for fact in again)


def test_shapes_come_back_too(server: Served) -> None:
    admin, shapes = server.client(Role.ADMINISTRATOR), f"{M}shapes"
    assert sent(admin, SHAPES, "text/turtle", graph=shapes).status_code == 201
    document = exported(server.client(Role.READER), graph=shapes, annotations="true", valid_at="any")
    with Base.open(None) as base, served(base) as other:
        assert sent(other.client(Role.ADMINISTRATOR), document.content, JSON_LD).status_code == 201
        before, after = (exported(each.writer, graph=shapes).json()["@graph"] for each in (server, other))
        assert [list(node) for node in after] == [list(node) for node in before]  # in the order of the document
        person = {**change("ann", "x", "Person"), "predicate": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"}
        body = request(person, change("ann", "age", {"@value": "old"}))
        assert other.writer.post("/changes", json=body).status_code == 422


M_PREFIX: Final = f"PREFIX m: <{M}> PREFIX xsd: <{XSD}> "


@pytest.mark.parametrize(
    ("annotation", "complaint"),
    [
        ("m:validForm '2019-01-01T00:00:00Z'^^xsd:dateTime ; m:confidence 1.0", "m:validFrom"),
        ("<urn:note> 'x' ; m:recordedAt '2019-01-01T00:00:00Z'^^xsd:dateTime", "urn:note"),
        ("m:supersededAt '2019-01-01T00:00:00Z'^^xsd:dateTime ; m:confidence 1.0", "supersededAt"),
        ("m:validFrom '2019'", "xsd:gYear"),
        ("m:validFrom '2019-01-01T00:00:00'^^xsd:dateTime", "zone"),
        ("m:validFrom '2019'^^xsd:gYear ; m:fromPrecision m:day", "precision"),
        ("m:validFrom '2019'^^xsd:gYear ; m:validTo '2018'^^xsd:gYear", "inverted"),
        ("m:validFrom '2019'^^xsd:gYear ; m:validFromSpelling '2020'", "spelling"),
        ("m:validFrom '2019'^^xsd:gYear, '2020'^^xsd:gYear", "more than once"),
        ("m:fromPrecision m:year", "no time"),
        ("m:confidence 7", "0 to 1"),
        ("m:spelling '8' ; m:spellingDatatype xsd:int", "another object"),
        ("m:supports <urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057> ; m:confidence 1.0", "rdf"),
    ],
)
def test_a_record_that_cannot_be_read_is_explained(shared: Served, annotation: str, complaint: str) -> None:
    answer = sent(shared.writer, f"{M_PREFIX}<urn:a> <urn:p> 7 {{| {annotation} |}} .", "text/turtle")
    assert answer.status_code == 400
    assert complaint in answer.text


def test_a_record_of_nothing_is_refused(shared: Served) -> None:
    answer = sent(shared.writer, f"{M_PREFIX}<urn:a> m:validFrom '2019'^^xsd:gYear .", "text/turtle")
    assert answer.status_code == 400
    assert "rdf:reifies" in answer.json()["remedy"]


def test_other_annotations_are_data_as_ever(server: Served) -> None:
    stated(server.writer, "<urn:a> <urn:p> <urn:b> {| <urn:source> <urn:c> |} .")
    assert len(known(server.base)) == 3


# --- JSON-LD that comes in --------------------------------------------------------------------------------------------


def test_case_19_no_context_is_fetched(server: Served) -> None:
    with socket.create_server(("127.0.0.1", 0)) as endpoint:
        endpoint.settimeout(0)
        port = endpoint.getsockname()[1]
        for context in (f"http://127.0.0.1:{port}/ctx", "file:///etc/passwd"):
            answer = sent(server.writer, json.dumps({"@context": context, "@id": "urn:a", "p": "x"}), JSON_LD)
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid-document")
            assert "nothing is fetched" in answer.json()["detail"]
        with pytest.raises(BlockingIOError):
            endpoint.accept()


def test_cases_20_to_22_what_is_meant_comes_back_or_is_refused(server: Served) -> None:
    def sending(value: str) -> httpx2.Response:
        rdf_type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
        terms = {"p": "urn:p", "type": rdf_type, "l": {"@id": "urn:l", "@container": "@language"}}
        context = json.dumps(terms)
        return sent(server.writer, f'{{"@context": {context}, "@graph": [{{"@id": "urn:a", {value}}}]}}', JSON_LD)

    assert sending('"p": [42.0, "x"], "type": {"@value": "x"}, "l": {"en-GB": "grey", "de": "grau"}').status_code == 201
    for refused in ('"p": 2.0000000000000001', '"l": [{"en": "grey"}]', '"undefined": "x"'):
        assert sending(refused).status_code == 400
    document = exported(server.client(Role.READER), graph=f"{M}default").json()
    assert values(document, "urn:p") == [{"@value": "42", "@type": f"{XSD}integer"}, {"@value": "x"}]
    assert values(document, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type") == [{"@value": "x"}]
    assert [each["@language"] for each in values(document, "urn:l")] == ["de", "en-GB"]
