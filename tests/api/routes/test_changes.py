"""`POST /changes`: from a request to a certificate."""

import gzip
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from api.settings import Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, SHAPES, XSD, M, change, request
from tests.api.serving import Served, served

TURTLE = {"content-type": "text/turtle"}


def ask(client: httpx2.Client, query: str, **parameters: str) -> bool:
    answer = client.get("/sparql", params={"query": query, **parameters})
    assert answer.status_code == 200, answer.text
    result: bool = answer.json()["boolean"]
    return result


def holds(client: httpx2.Client, subject: str, predicate: str, value: str, **parameters: str) -> bool:
    return ask(client, f"ASK {{ <{EX}{subject}> <{EX}{predicate}> <{EX}{value}> }}", **parameters)


def head(client: httpx2.Client) -> int | None:
    position: int | None = client.get("/health").json()["head"]
    return position


# --- what becomes of a request ----------------------------------------------------------------------------------------


def test_a_clear_change_is_applied_and_read_back(any_server: Served) -> None:
    writer = any_server.writer
    answer = writer.post("/changes", json=request(change("ada", "lives", "london"), reason="census"))
    assert answer.status_code == 201
    outcome = answer.json()
    assert (outcome["verdict"], outcome["state"], outcome["findings"]) == ("clear", "applied", [])
    assert outcome["head"] == head(writer)
    assert answer.headers["location"] == f"/certificates/{UUID(outcome['certificate'])}"
    assert writer.get(answer.headers["location"]).json()["certificate"] == outcome["certificate"]
    assert holds(writer, "ada", "lives", "london")


def test_a_doubtful_change_waits(server: Served) -> None:
    writer = server.writer
    answer = writer.post("/changes", json=request(change("ada", "lives", "london", confidence=0.2)))
    assert answer.status_code == 202
    outcome = answer.json()
    assert (outcome["verdict"], outcome["state"], outcome["head"]) == ("review", "pending", None)
    (finding,) = outcome["findings"]
    assert (finding["code"], finding["severity"]) == ("low-confidence", "warning")
    assert (finding["focus"], finding["path"]) == (f"{EX}ada", f"{EX}lives")
    assert finding["value"] == {"@id": f"{EX}london"}
    assert "location" in answer.headers
    assert not holds(writer, "ada", "lives", "london")


def test_a_change_that_a_shape_refuses_is_recorded_and_answered_with_its_findings(server: Served) -> None:
    administrator = server.client(Role.ADMINISTRATOR)
    shaped = administrator.post("/changes", params={"graph": f"{M}shapes"}, content=SHAPES, headers=TURTLE)
    assert shaped.status_code == 201, shaped.text
    a_person = change("ada", "x", "y") | {
        "predicate": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "object": {"@id": f"{EX}Person"},
    }
    answer = server.writer.post("/changes", json=request(a_person, change("ada", "age", {"@value": "old"})))
    assert answer.status_code == 422
    outcome = answer.json()
    assert (outcome["verdict"], outcome["state"], outcome["head"]) == ("refused", "refused", None)
    (finding,) = outcome["findings"]
    assert finding["code"] == "shape-violation"
    assert (finding["focus"], finding["path"], finding["value"]) == (f"{EX}ada", f"{EX}age", {"@value": "old"})
    assert finding["component"] == "http://www.w3.org/ns/shacl#DatatypeConstraintComponent"
    assert "an age is a whole number" in finding["message"]
    assert answer.headers["location"] == f"/certificates/{UUID(outcome['certificate'])}"
    assert not ask(server.writer, "ASK { ?s ?p ?o }")


def test_a_dry_run_leaves_no_trace(server: Served) -> None:
    writer = server.writer
    before = head(writer)
    body = request(change("ada", "lives", "london", confidence=0.2))
    answer = writer.post("/changes", params={"dry-run": "true"}, json=body, headers={"idempotency-key": "k"})
    assert answer.status_code == 200
    outcome = answer.json()
    assert outcome["verdict"] == "review"
    assert [finding["code"] for finding in outcome["findings"]] == ["low-confidence"]
    assert (outcome["certificate"], outcome["state"], outcome["head"]) == (None, None, None)
    assert "location" not in answer.headers
    assert head(writer) == before
    assert writer.get("/certificates").json()["items"] == []
    assert writer.post("/changes", json=body, headers={"idempotency-key": "k"}).status_code == 202


def test_several_values_in_one_change_are_all_readable(server: Served) -> None:
    """Case 41."""
    writer = server.writer
    changes = [change("ada", "knows", f"p{number}") for number in range(5)]
    assert writer.post("/changes", json=request(*changes)).status_code == 201
    assert all(holds(writer, "ada", "knows", f"p{number}") for number in range(5))


def test_a_fact_dated_ahead_is_not_current(server: Served) -> None:
    """Case 41."""
    writer = server.writer
    body = request(change("ada", "lives", "london", validFrom="9030"))
    assert writer.post("/changes", json=body).status_code == 201
    assert not holds(writer, "ada", "lives", "london")
    assert holds(writer, "ada", "lives", "london", **{"valid-at": "9031"})


def test_end_revise_and_retract_do_what_they_say(server: Served) -> None:
    writer = server.writer
    writer.post("/changes", json=request(change("ada", "lives", "london", validFrom="2019")))
    ended = writer.post("/changes", json=request(change("ada", "lives", "london", "end", at="2022-05-06")))
    assert ended.status_code == 201
    assert holds(writer, "ada", "lives", "london", **{"valid-at": "2022-05-05"})
    assert not holds(writer, "ada", "lives", "london", **{"valid-at": "2022-05-06"})
    fact = writer.get("/facts", params={"subject": f"{EX}ada", "valid-at": "2020"}).json()["items"][0]["fact"]
    revised = request({"op": "revise", "fact": fact, "object": {"@id": f"{EX}paris"}})
    assert writer.post("/changes", json=revised).status_code == 201
    assert holds(writer, "ada", "lives", "paris", **{"valid-at": "2020"})
    again = writer.post("/changes", json=revised)
    assert (again.status_code, again.json()["code"]) == (409, "stale-fact")
    assert writer.post("/changes", json=request(change("ada", "lives", "paris", "retract"))).status_code == 201
    assert not holds(writer, "ada", "lives", "paris", **{"valid-at": "2020"})


@pytest.mark.parametrize(
    ("body", "status", "code", "where"),
    [
        (change("nobody", "p", "b", "end"), 422, "nothing-to-end", "/changes/0"),
        (change("nobody", "p", "b", "retract"), 422, "nothing-to-retract", "/changes/0"),
        ({"op": "retract", "fact": "01890a5d-ac96-774b-bcce-b302099a8057"}, 404, "not-found", "/changes/0"),
        (change("a", "p", "b", graph=f"{M}shapes", validFrom="2020"), 422, "reserved-graph", "/changes/0"),
        (change("a", "p", "b", "asert"), 400, "invalid-change", "/changes/0/op"),
        (change("a", "p", "b", validform="2020"), 400, "invalid-change", "/changes/0/validform"),
        (change("a", "p", "b", validFrom="2024-02-30"), 400, "invalid-time", "/changes/0/validFrom"),
        (change("a", "p", "b", validFrom="2024-05-06T10:00:00"), 400, "invalid-time", "/changes/0/validFrom"),
        (change("a", "p", {"@id": "not an iri"}), 400, "invalid-term", "/changes/0/object/@id"),
        (change("a", "p", "b", confidence=2), 400, "invalid-change", "/changes/0/confidence"),
    ],
)
def test_what_cannot_be_planned_is_told_where_and_leaves_no_trace(
    shared: Served, body: dict[str, Any], status: int, code: str, where: str
) -> None:
    administrator = shared.client(Role.ADMINISTRATOR)
    before = administrator.get("/certificates").json()
    answer = administrator.post("/changes", json=request(body))
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["where"]) == (status, code, where)
    assert problem["remedy"]
    assert administrator.get("/certificates").json() == before


def test_an_end_on_the_same_day_points_at_valid_through(server: Served) -> None:
    """Case 25."""
    writer = server.writer
    day = {"validFrom": "2026-05-06", "validTo": "2026-05-06"}
    answer = writer.post("/changes", json=request(change("a", "p", "b", **day)))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-interval")
    assert "validThrough" in answer.json()["remedy"]
    through = {"validFrom": "2026-05-06", "validThrough": "2026-05-06"}
    assert writer.post("/changes", json=request(change("a", "p", "b", **through))).status_code == 201
    assert holds(writer, "a", "p", "b", **{"valid-at": "2026-05-06T15:00:00Z"})


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"changes": []}', b"\xff", b'{"changes": 1, "changes": 2}']
)
def test_a_body_that_is_no_request_is_refused(shared: Served, body: bytes) -> None:
    answer = shared.writer.post("/changes", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["code"] in {"invalid-document", "invalid-change"}


# --- documents --------------------------------------------------------------------------------------------------------

TRIPLE = f"<{EX}ada> <{EX}lives> <{EX}london>"
DOCUMENTS = {
    "text/turtle": f"@prefix ex: <{EX}> . ex:ada ex:lives ex:london .",
    "application/n-triples": f"{TRIPLE} .",
    "application/n-quads": f"{TRIPLE} .",
    "application/trig": f"{TRIPLE} .",
    "application/ld+json": json.dumps({"@id": f"{EX}ada", f"{EX}lives": {"@id": f"{EX}london"}}),
    "application/rdf+xml": (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        f'xmlns:ex="{EX}"><rdf:Description rdf:about="{EX}ada"><ex:lives rdf:resource="{EX}london"/>'
        "</rdf:Description></rdf:RDF>"
    ),
}


@pytest.mark.parametrize("media_type", DOCUMENTS)
def test_a_document_is_asserted_whole(server: Served, media_type: str) -> None:
    writer = server.writer
    headers = {"content-type": f"{media_type}; charset=UTF-8"}
    parameters = {"graph": "urn:g", "valid-from": "2019", "valid-through": "2021", "reason": "census"}
    answer = writer.post("/changes", params=parameters, content=DOCUMENTS[media_type], headers=headers)
    assert answer.status_code == 201, answer.text
    assert ask(writer, f"ASK {{ GRAPH <urn:g> {{ {TRIPLE} }} }}", **{"valid-at": "2021-12-31"})
    assert not ask(writer, f"ASK {{ {TRIPLE} }}", **{"valid-at": "2022"})
    body = writer.get(answer.headers["location"]).json()["plan"]["items"][0]["body"]
    assert body["reason"] == "census"


@pytest.mark.parametrize("media_type", ["application/trig", "application/n-quads"])
def test_a_document_with_graphs_goes_to_them(server: Served, media_type: str) -> None:
    writer = server.writer
    graphs = f"GRAPH <urn:g1> {{ {TRIPLE} }}" if media_type.endswith("trig") else f"{TRIPLE} <urn:g1> ."
    headers = {"content-type": media_type}
    answer = writer.post("/changes", content=graphs, headers=headers)
    assert answer.status_code == 201
    assert ask(writer, f"ASK {{ GRAPH <urn:g1> {{ {TRIPLE} }} }}")
    both = writer.post("/changes", params={"graph": "urn:g2"}, content=graphs, headers=headers)
    assert (both.status_code, both.json()["code"]) == (400, "invalid-document")


def test_parameters_say_what_json_says_with_members(server: Served) -> None:
    writer = server.writer
    parameters = {
        "valid-from": "2019-01-01T00:00:00",
        "zone": "+05:00",
        "episode": "urn:census",
        "confidence": "0.85",
    }
    answer = writer.post("/changes", params=parameters, content=f"{TRIPLE} .", headers=TURTLE)
    assert answer.status_code == 201, answer.text
    (fact,) = writer.get("/facts", params={"subject": f"{EX}ada"}).json()["items"]
    assert fact["from"] == "2018-12-31T19:00:00Z"
    assert fact["validFrom"] == "2019-01-01T00:00:00+05:00"
    (evidence,) = fact["evidence"]
    assert (evidence["episode"], evidence["confidence"]) == ("urn:census", 0.85)


@pytest.mark.parametrize(
    ("parameters", "code", "where"),
    [
        ({"grpah": "urn:g"}, "unknown-parameter", "grpah"),
        ({"graph": "no iri"}, "invalid-term", "graph"),
        ({"episode": "no iri"}, "invalid-term", "episode"),
        ({"valid-from": "2024-02-30"}, "invalid-time", "valid-from"),
        ({"valid-from": "2024-01-01T00:00:00"}, "invalid-time", "valid-from"),
        ({"valid-to": "2024", "valid-through": "2024"}, "invalid-parameter", "valid-through"),
        ({"valid-from": "2024", "valid-to": "2024"}, "invalid-interval", "valid-to"),
        ({"valid-from": "2024", "valid-through": "2023"}, "invalid-interval", "valid-through"),
        ({"zone": "+25:00"}, "invalid-time", "zone"),
        ({"confidence": "1.5"}, "invalid-parameter", "confidence"),
        ({"confidence": "nan"}, "invalid-parameter", "confidence"),
        ({"dry-run": "maybe"}, "invalid-parameter", "dry-run"),
        ({"reason": ""}, "invalid-parameter", "reason"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named(
    shared: Served, parameters: dict[str, str], code: str, where: str
) -> None:
    answer = shared.writer.post("/changes", params=parameters, content=f"{TRIPLE} .", headers=TURTLE)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["where"]) == (400, code, where)


def test_a_parameter_that_stands_twice_is_refused(shared: Served) -> None:
    answer = shared.writer.post("/changes?reason=a&reason=b", content=f"{TRIPLE} .", headers=TURTLE)
    assert (answer.status_code, answer.json()["where"]) == (400, "reason")


@pytest.mark.parametrize("name", ["graph", "reason", "zone", "valid-from", "episode", "confidence"])
def test_json_has_members_for_what_parameters_say_of_documents(shared: Served, name: str) -> None:
    answer = shared.writer.post("/changes", params={name: "x"}, json=request(change("a", "p", "b")))
    assert (answer.status_code, answer.json()["code"], answer.json()["where"]) == (400, "unknown-parameter", name)


def test_an_error_in_a_document_names_line_and_column(shared: Served) -> None:
    answer = shared.writer.post("/changes", content=f"{TRIPLE} .\n<{EX}ada> lives .", headers=TURTLE)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-document")
    assert answer.json()["where"].startswith("line 2, column")


def test_a_statement_that_may_not_be_written_is_named_by_its_number(shared: Served) -> None:
    quads = f"{TRIPLE} <urn:g1> .\n{TRIPLE} <urn:g2> ."
    writer = shared.client(Role.WRITER, "urn:g1")
    answer = writer.post("/changes", content=quads, headers={"content-type": "application/n-quads"})
    assert (answer.status_code, answer.json()["where"]) == (403, "statement 2")


def test_a_document_that_says_nothing_is_refused(shared: Served) -> None:
    answer = shared.writer.post("/changes", content=b"# nothing\n", headers=TURTLE)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-document")


def test_a_large_document_is_taken(server: Served) -> None:
    writer = server.writer
    document = "".join(f"<{EX}s{number}> <{EX}p> <{EX}o> .\n" for number in range(2_000))
    answer = writer.post("/changes", content=document, headers={"content-type": "application/n-triples"})
    assert answer.status_code == 201
    counted = writer.get("/sparql", params={"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"}).json()
    assert counted["results"]["bindings"][0]["n"]["value"] == "2000"


# --- bodies that are not taken ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("media_type", ["text/plain", "application/xml", "application/x-www-form-urlencoded", "json"])
def test_another_format_is_refused_with_those_there_are(shared: Served, media_type: str) -> None:
    answer = shared.writer.post("/changes", content=b"x", headers={"content-type": media_type})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported-media-type")
    assert answer.json()["where"] == "Content-Type"


def test_a_body_without_a_type_is_refused(shared: Served) -> None:
    assert shared.writer.post("/changes", content=b"{}").status_code == 415


def test_a_compressed_body_is_refused(shared: Served) -> None:
    body = gzip.compress(json.dumps(request(change("a", "p", "b"))).encode())
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = shared.writer.post("/changes", content=body, headers=headers)
    assert (answer.status_code, answer.json()["where"]) == (415, "Content-Encoding")


@pytest.fixture
def narrow() -> Iterator[Served]:
    """A base behind a service that takes 4 KiB."""
    with Base.open(None) as base, served(base, Settings(body_limit=4096)) as running:
        yield running


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_beyond_the_limit_is_refused_with_the_way_out(narrow: Served, chunked: bool) -> None:
    writer = narrow.writer
    body = f"{TRIPLE} .\n".encode() * 100
    content = iter([body[:2_000], body[2_000:]]) if chunked else body
    answer = writer.post("/changes", content=content, headers=TURTLE)
    assert (answer.status_code, answer.json()["code"], answer.json()["limit"]) == (413, "too-large", 4096)
    assert "muniment load" in answer.json()["remedy"]
    assert writer.post("/changes", content=f"{TRIPLE} .", headers=TURTLE).status_code == 201


# --- idempotency ------------------------------------------------------------------------------------------------------


def test_a_key_sent_again_gets_the_same_certificate(any_server: Served) -> None:
    """Case 35."""
    writer = any_server.writer
    body = request(change("ada", "lives", "london"))
    first, again = (writer.post("/changes", json=body, headers={"idempotency-key": "k-1"}) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert first.headers["location"] == again.headers["location"]
    assert len(writer.get("/certificates").json()["items"]) == 1


def test_a_key_sent_again_with_another_body_is_refused(server: Served) -> None:
    """Case 35."""
    writer = server.writer
    key = {"idempotency-key": "k-1"}
    writer.post("/changes", json=request(change("ada", "lives", "london")), headers=key)
    other = writer.post("/changes", json=request(change("ada", "lives", "paris")), headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency-mismatch")


def test_other_parameters_are_another_request_and_their_order_is_not(server: Served) -> None:
    writer = server.writer
    headers = TURTLE | {"idempotency-key": "k-1"}
    first = writer.post("/changes?graph=urn:g&reason=a", content=f"{TRIPLE} .", headers=headers)
    same = writer.post("/changes?reason=a&graph=urn:g", content=f"{TRIPLE} .", headers=headers)
    other = writer.post("/changes?graph=urn:h&reason=a", content=f"{TRIPLE} .", headers=headers)
    assert (first.status_code, same.json(), other.status_code) == (201, first.json(), 422)


def test_a_key_sent_concurrently_gets_one_certificate(any_server: Served) -> None:
    """Case 35."""
    body = request(change("ada", "lives", "london"))
    writer = any_server.writer
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda _: writer.post("/changes", json=body, headers={"idempotency-key": "k"}), range(16))
        )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["certificate"] for answer in answers}) == 1
    assert len(writer.get("/certificates").json()["items"]) == 1


def test_a_key_belongs_to_its_caller(server: Served) -> None:
    body = request(change("ada", "lives", "london"))
    one, other = (server.writer.post("/changes", json=body, headers={"idempotency-key": "k"}).json() for _ in range(2))
    assert one["certificate"] != other["certificate"]


def test_a_key_outlives_a_restart(tmp_path: Path) -> None:
    """Case 35."""
    body = request(change("ada", "lives", "london"))
    with Base.open(tmp_path / "data") as base, served(base) as running:
        token = running.token(Role.WRITER)
        headers = {"authorization": f"Bearer {token}", "idempotency-key": "k"}
        first = running.client(None).post("/changes", json=body, headers=headers)
    with Base.open(tmp_path / "data") as base, served(base) as running:
        again = running.client(None).post("/changes", json=body, headers=headers)
        assert holds(running.writer, "ada", "lives", "london")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()


@pytest.mark.parametrize("key", ["", "a b", "k" * 256, "ä"])
def test_a_key_is_visible_ascii(shared: Served, key: str) -> None:
    headers = [(b"idempotency-key", key.encode("latin-1")), (b"content-type", b"application/json")]
    body = json.dumps(request(change("a", "p", "b")))
    answer = shared.writer.post("/changes", content=body, headers=headers)
    assert (answer.status_code, answer.json()["where"]) == (400, "Idempotency-Key")


def test_one_key_is_enough(shared: Served) -> None:
    keys = [("idempotency-key", "a"), ("idempotency-key", "b")]
    answer = shared.writer.post("/changes", json=request(change("a", "p", "b")), headers=keys)
    assert (answer.status_code, answer.json()["where"]) == (400, "Idempotency-Key")


def test_the_longest_key_is_taken(shared: Served) -> None:
    headers = {"idempotency-key": "~" * 255}
    assert shared.writer.post("/changes", json=request(change("a", "p", "b")), headers=headers).status_code == 201


# --- many at once -----------------------------------------------------------------------------------------------------


def test_many_writers_are_all_applied(any_server: Served) -> None:
    clients = [any_server.writer for _ in range(8)]

    def write(number: int) -> httpx2.Response:
        return clients[number % 8].post("/changes", json=request(change(f"s{number}", "p", "o")))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(write, range(64)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["head"] for answer in answers}) == 64
    query = f"SELECT (COUNT(*) AS ?n) {{ ?s <{EX}p> <{EX}o> }}"
    counted = clients[0].get("/sparql", params={"query": query}).json()
    assert counted["results"]["bindings"][0]["n"]["value"] == "64"


def test_a_literal_comes_back_as_it_was_submitted(server: Served) -> None:
    writer = server.writer
    submitted = {"@value": "007", "@type": f"{XSD}int"}
    writer.post("/changes", json=request(change("bond", "number", submitted)))
    (fact,) = writer.get("/facts", params={"subject": f"{EX}bond"}).json()["items"]
    assert fact["statement"]["object"] == submitted


def test_a_missing_zone_is_asked_for_where_it_can_be_given(server: Served) -> None:
    writer, end = server.writer, "end it with Z or an offset such as +02:00"
    naive = "2024-05-06T15:00:00"
    record = f'<urn:a> <urn:p> <urn:b> {{| <{M}validFrom> "{naive}"^^<{XSD}dateTime> |}} .'
    turtle = {"Content-Type": "text/turtle"}
    remedies = [
        writer.post("/changes", json=request(change("ann", "lives", "rome", validFrom=naive))),
        writer.post("/changes", params={"valid-to": naive}, content="<urn:a> <urn:p> 1 .", headers=turtle),
        writer.post("/changes", params={"zone": "Z"}, content=record, headers=turtle),
        writer.get("/facts", params={"subject": "urn:a", "valid-at": naive}),
    ]
    assert [answer.json()["remedy"] for answer in remedies] == [
        f"{end}, or give the request a zone",
        f"{end}, or add the parameter zone",
        end,
        end,
    ]


def test_a_reason_is_one_that_people_read(shared: Served) -> None:
    writer = shared.writer
    kept = writer.post("/changes", json=request(change("ada", "read", "this"), reason="x" * 10_000))
    assert kept.status_code == 201
    for answer in (
        writer.post("/changes", json=request(change("ada", "read", "that"), reason="x" * 10_001)),
        writer.post(
            "/changes",
            params={"reason": "x" * 10_001},
            content="<urn:a> <urn:p> <urn:o> .",
            headers={"Content-Type": "text/turtle"},
        ),
        writer.post("/sparql", data={"update": "INSERT DATA { <urn:a> <urn:p> <urn:o> }", "reason": "x" * 10_001}),
    ):
        problem = answer.json()
        assert (answer.status_code, problem["where"]) == (400, "reason")
        assert "10,001 characters" in problem["detail"]


@pytest.mark.parametrize("written", ["1e-101", "1e-999999999", f"0.{1:0101}"])
def test_a_confidence_that_is_short_to_send_and_long_to_write_out_is_refused(shared: Served, written: str) -> None:
    said = json.dumps(request(change("ada", "lives", "rome", confidence=0.5))).replace("0.5", written)
    record = f"<{EX}a> <{EX}p> 1 {{| <https://w3id.org/muniment#confidence> {written} |}} ."
    writer, turtle = shared.writer, {"Content-Type": "text/turtle"}
    for answer in (
        writer.post("/changes", content=said, headers={"Content-Type": "application/json"}),
        writer.post("/changes", content=record, headers=turtle),
        writer.post("/changes", content=f"<{EX}a> <{EX}p> 1 .", params={"confidence": written}, headers=turtle),
    ):
        assert (answer.status_code, len(answer.content) < 1_000) == (400, True)
        assert "at most 100 digits after the point" in answer.json()["detail"]
