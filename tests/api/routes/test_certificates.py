"""`/certificates`: lists, single ones, proofs, and decisions."""

import json
from typing import Any, Final
from uuid import uuid4

import httpx2
import pytest

from certificates.canonical import canonical_json
from certificates.certificate import Verdict
from certificates.items import ItemTree
from certificates.merkle import leaf_hash
from certificates.proof import verify
from certificates.records import Decision, DecisionKind, Recheck, verify_record
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.routes.test_changes import TURTLE, holds
from tests.api.serving import Served


def applied(client: httpx2.Client, *changes: dict[str, Any], **more: object) -> str:
    """The path of a certificate that was applied."""
    answer = client.post("/changes", json=request(*changes, **more))
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


def waiting(client: httpx2.Client, subject: str = "ada", **more: str) -> str:
    """The path of a certificate in review."""
    doubted = change(subject, "lives", "london") | {"confidence": 0.2} | more
    answer = client.post("/changes", json=request(doubted))
    assert answer.status_code == 202, answer.text
    return answer.headers["location"]


def listed(client: httpx2.Client, **parameters: str) -> list[str]:
    """The paths of all certificates, page by page."""
    found: list[str] = []
    while True:
        page = client.get("/certificates", params=parameters).json()
        found += ["/certificates/" + item["certificate"].removeprefix("urn:uuid:") for item in page["items"]]
        if page["next"] is None:
            return found
        parameters["after"] = page["next"]


# --- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
def test_pages_give_every_certificate_once_newest_first(server: Served, limit: int) -> None:
    writer = server.writer
    made = [applied(writer, change(f"s{number}", "p", "o")) for number in range(7)]
    assert listed(writer, limit=str(limit)) == made[::-1]


def test_the_last_page_says_that_it_is_the_last(server: Served) -> None:
    writer = server.writer
    for number in range(4):
        applied(writer, change(f"s{number}", "p", "o"))
    first = writer.get("/certificates", params={"limit": 2}).json()
    second = writer.get("/certificates", params={"limit": 2, "after": first["next"]}).json()
    assert (len(first["items"]), len(second["items"]), second["next"]) == (2, 2, None)


def test_certificates_are_listed_by_state_and_verdict(server: Served) -> None:
    writer = server.writer
    clear, review = applied(writer, change("a", "p", "b")), waiting(writer)
    assert listed(writer, state="applied") == listed(writer, verdict="clear") == [clear]
    assert listed(writer, state="pending") == listed(writer, verdict="review") == [review]
    assert listed(writer, state="pending", verdict="clear") == []
    assert listed(writer) == [review, clear]


@pytest.mark.parametrize(
    ("parameters", "where"),
    [
        ({"sate": "applied"}, "sate"),
        ({"state": "appplied"}, "state"),
        ({"verdict": "ok"}, "verdict"),
        ({"limit": "0"}, "limit"),
        ({"after": "nonsense"}, "after"),
    ],
)
def test_an_unknown_filter_is_named(shared: Served, parameters: dict[str, str], where: str) -> None:
    """Case 36."""
    answer = shared.writer.get("/certificates", params=parameters)
    assert (answer.status_code, answer.json()["where"]) == (400, where)


def test_nobody_learns_of_certificates_of_graphs_that_they_may_not_read(server: Served) -> None:
    writer = server.writer
    mine, hidden = [], []
    for number in range(6):
        mine.append(applied(writer, change(f"s{number}", "p", "o", graph="urn:mine")))
        hidden += [applied(writer, change(f"s{number}", "p", "o", graph="urn:other")) for _ in ("new", "repeated")]
        both = [change(f"t{number}", "p", "o", graph=graph) for graph in ("urn:mine", "urn:other")]
        hidden.append(applied(writer, *both))
    reader = server.client(Role.READER, "urn:mine")
    assert listed(reader) == mine[::-1]
    page = reader.get("/certificates", params={"limit": 4}).json()
    assert len(page["items"]) == 4, "a page is filled although some are left out"
    assert reader.get("/certificates", params={"limit": 2, "after": page["next"]}).json()["next"] is None
    unknown = reader.get(f"/certificates/{uuid4()}").json()
    for path in hidden:
        answer = reader.get(path)
        assert answer.status_code == 404
        assert answer.json() | {"requestId": ""} == unknown | {"requestId": ""}
        assert reader.get(path, headers={"accept": "application/vc"}).status_code == 404


def test_whoever_asked_does_not_see_more(server: Served) -> None:
    editor = server.client(Role.EDITOR, "urn:g1", "urn:g2")
    both = [change("a", "p", "o", graph=graph) for graph in ("urn:g1", "urn:g2")]
    path = applied(editor, *both)
    assert editor.get(path).status_code == 200
    assert server.client(Role.EDITOR, "urn:g1").get(path).status_code == 404


# --- one --------------------------------------------------------------------------------------------------------------


def test_a_certificate_can_be_named_in_two_ways(server: Served) -> None:
    writer = server.writer
    path = applied(writer, change("a", "p", "b"))
    urn = path.replace("/certificates/", "/certificates/urn:uuid:")
    assert writer.get(path).json() == writer.get(urn).json()


@pytest.mark.parametrize("name", ["nonsense", "urn:uuid:nonsense", "01890a5d", "%00", "a" * 5_000])
def test_what_is_no_id_names_nothing(shared: Served, name: str) -> None:
    answer = shared.writer.get(f"/certificates/{name}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


@pytest.mark.parametrize("accept", ["application/vc", "application/ld+json", "application/vc, */*;q=0.1"])
def test_the_signed_bytes_verify_offline(server: Served, accept: str) -> None:
    writer = server.writer
    path = applied(writer, change("a", "p", "b"))
    answer = writer.get(path, headers={"accept": accept})
    assert answer.headers["content-type"] == accept.partition(",")[0]
    certificate = verify(answer.content, server.base.key.public)
    assert certificate.verdict is Verdict.CLEAR
    assert json.loads(answer.content) == writer.get(path).json()["credential"]


def test_other_formats_are_not_acceptable(shared: Served) -> None:
    path = applied(shared.writer, change("a", "p", "b"))
    answer = shared.writer.get(path, headers={"accept": "text/turtle"})
    assert (answer.status_code, answer.json()["code"]) == (406, "not-acceptable")
    assert "application/vc" in answer.json()["remedy"]


def root_of(items: dict[str, Any]) -> str:
    """The Merkle root, from salts and bodies as they were served."""
    leaves = [leaf_hash(bytes.fromhex(item["salt"]) + canonical_json(item["body"])) for item in items["items"]]
    assert [leaf.hex() for leaf in leaves] == [item["leaf"] for item in items["items"]]
    return ItemTree.of(leaves).root


def test_items_prove_themselves_by_the_roots_that_were_signed(server: Served) -> None:
    writer = server.writer
    literal = {"@value": "Übermut 😀 \u2028", "@language": "de-AT"}
    path = waiting(writer)
    applied(writer, change("a", "name", literal), reason="Grüße", episode="urn:letter")
    for each in listed(writer):
        certificate = writer.get(each).json()
        subject = certificate["credential"]["credentialSubject"]
        assert root_of(certificate["plan"]) == subject["planRoot"]
        assert root_of(certificate["findingItems"]) == subject["findingRoot"]
        assert len(certificate["findings"]) == subject["findingItems"] == (each == path)


def test_items_come_in_slices(server: Served) -> None:
    writer = server.writer
    path = applied(writer, *[change(f"s{number}", "p", "o") for number in range(9)])
    whole = writer.get(path).json()["plan"]
    assert (len(whole["items"]), whole["next"]) == (10, None)
    found: list[dict[str, Any]] = []
    for first, following in ((0, 4), (4, 8), (8, None)):
        part = writer.get(path, params={"items-from": first, "items-limit": 4}).json()["plan"]
        assert part["next"] == following
        found += part["items"]
    assert found == whole["items"]
    assert writer.get(path, params={"items-from": 10}).json()["plan"] == {"items": [], "next": None}
    assert writer.get(path, params={"items-limit": 0}).json()["plan"]["items"] == []


ONE_AGE = f"""
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <{EX}> .
ex:Shape a sh:NodeShape ; sh:targetSubjectsOf ex:age ; sh:property [ sh:path ex:age ; sh:maxCount 1 ] .
"""


def test_findings_drawn_from_graphs_that_the_caller_may_not_read_are_withheld(server: Served) -> None:
    administrator = server.client(Role.ADMINISTRATOR)
    shapes = {"graph": "https://w3id.org/muniment#shapes"}
    assert administrator.post("/changes", params=shapes, content=ONE_AGE, headers=TURTLE).status_code == 201
    applied(administrator, change("ada", "age", {"@value": "secret"}, graph="urn:other"))
    writer = server.client(Role.WRITER, "urn:mine")
    body = request(change("ada", "age", {"@value": "36"}, graph="urn:mine"))
    answer = writer.post("/changes", json=body)
    assert (answer.status_code, answer.json()["findings"]) == (422, [])
    seen, whole = (client.get(answer.headers["location"]).json() for client in (writer, administrator))
    assert seen["findings"] == []
    assert len(whole["findings"]) == len(whole["findingItems"]["items"]) == 1
    leaf = whole["findingItems"]["items"][0]["leaf"]
    assert seen["findingItems"]["items"] == [{"ordinal": 0, "leaf": leaf}]
    assert "urn:other" not in json.dumps(seen) + answer.text
    dry = writer.post("/changes", params={"dry-run": "true"}, json=body)
    assert (dry.json()["verdict"], dry.json()["findings"]) == ("refused", [])
    assert administrator.post("/changes", params={"dry-run": "true"}, json=body).json()["findings"]


MANY: Final = 600
WHOLE_AGES: Final = ONE_AGE.replace("sh:maxCount 1", "sh:maxCount 1 ; sh:nodeKind sh:IRI")


def test_many_findings_come_in_parts_and_are_counted_for_whom_they_are(server: Served) -> None:
    administrator = server.client(Role.ADMINISTRATOR)
    shapes = {"graph": "https://w3id.org/muniment#shapes"}
    administrator.post("/changes", params=shapes, content=WHOLE_AGES, headers=TURTLE).raise_for_status()
    applied(administrator, *[change(f"p{each}", "age", "old", graph="urn:other") for each in range(3)])
    writer = server.client(Role.WRITER, "urn:mine")
    body = request(*[change(f"p{each}", "age", {"@value": "x"}, graph="urn:mine") for each in range(MANY)])
    dry = writer.post("/changes", params={"dry-run": "true"}, json=body).json()
    assert (len(dry["findings"]), dry["moreFindings"]) == (500, {"count": MANY - 3 - 500, "next": None})
    answer = writer.post("/changes", json=body)
    told = answer.json()
    assert (answer.status_code, len(told["findings"])) == (422, 500)
    assert told["moreFindings"]["count"] == MANY - 3 - 500
    rest = writer.get(told["moreFindings"]["next"]).json()
    assert rest["findingItems"]["next"] is None
    found = [*told["findings"], *rest["findings"]]
    assert len({each["focus"] for each in found}) == len(found) == MANY - 3
    first = writer.get(answer.headers["location"]).json()
    assert len(first["findingItems"]["items"]) == first["findingItems"]["next"] == 500
    every = administrator.get(answer.headers["location"], params={"findings-limit": 10_000}).json()
    assert len(every["findings"]) == every["credential"]["credentialSubject"]["findingItems"] == MANY + 3
    assert root_of(every["findingItems"]) == every["credential"]["credentialSubject"]["findingRoot"]


# --- decisions --------------------------------------------------------------------------------------------------------


def decide(client: httpx2.Client, path: str, decision: str, **more: object) -> httpx2.Response:
    return client.post(f"{path}/decision", json={"decision": decision, **more})


def test_an_approved_change_is_applied(any_server: Served) -> None:
    editor = any_server.client(Role.EDITOR)
    path = waiting(editor)
    answer = decide(editor, path, "approve", comment="as the register has it")
    assert answer.status_code == 200
    outcome = answer.json()
    assert (outcome["state"], outcome["verdict"], outcome["head"] is not None) == ("applied", "review", True)
    assert [finding["code"] for finding in outcome["findings"]] == ["low-confidence"]
    assert holds(editor, "ada", "lives", "london")
    certificate = editor.get(path).json()
    assert certificate["state"] == "applied"
    assert certificate["head"] == outcome["head"]
    recheck, decision = sorted(certificate["decisions"], key=lambda each: each["kind"], reverse=True)
    key = any_server.base.key.public
    assert isinstance(verify_record(canonical_json(recheck["record"]), key), Recheck)
    record = verify_record(canonical_json(decision["record"]), key)
    assert isinstance(record, Decision)
    assert record.decision is DecisionKind.APPROVE
    assert decision["comment"]["body"]["comment"] == "as the register has it"
    assert decision["comment"]["leaf"] == record.comment


def test_a_rejected_change_is_not(server: Served) -> None:
    editor = server.client(Role.EDITOR)
    path = waiting(editor)
    outcome = decide(editor, path, "reject").json()
    assert (outcome["state"], outcome["head"]) == ("rejected", None)
    assert not holds(editor, "ada", "lives", "london")
    assert editor.get(path).json()["state"] == "rejected"
    again = decide(editor, path, "approve")
    assert (again.status_code, again.json()["code"], again.json()["state"]) == (409, "not-in-review", "rejected")


def test_what_was_overtaken_becomes_stale_and_names_its_successor(server: Served) -> None:
    editor = server.client(Role.EDITOR)
    path = waiting(editor, validFrom="2019")
    applied(editor, change("ada", "lives", "london", validFrom="2020"))
    outcome = decide(editor, path, "approve").json()
    assert (outcome["state"], outcome["head"]) == ("stale", None)
    successor = editor.get("/certificates/" + outcome["successor"]).json()
    assert (successor["state"], successor["predecessor"]) == ("pending", outcome["certificate"])
    assert editor.get(path).json()["successor"] == outcome["successor"]
    assert decide(editor, "/certificates/" + outcome["successor"], "approve").json()["state"] == "applied"
    assert holds(editor, "ada", "lives", "london", **{"valid-at": "2019-06"})


def test_what_cannot_be_planned_any_more_says_why(server: Served) -> None:
    editor = server.client(Role.EDITOR)
    applied(editor, change("ada", "lives", "london"))
    fact = editor.get("/facts", params={"subject": f"{EX}ada"}).json()["items"][0]["fact"]
    revised = {"op": "revise", "fact": fact, "object": {"@id": f"{EX}paris"}, "confidence": 0.1}
    answer = editor.post("/changes", json=request(revised))
    assert answer.status_code == 202
    applied(editor, change("ada", "lives", "london", "retract"))
    outcome = decide(editor, answer.headers["location"], "approve").json()
    assert outcome["state"] == "stale"
    assert "successor" not in outcome
    assert "believed" in outcome["why"]


def test_deciding_takes_an_editor(shared: Served) -> None:
    path = waiting(shared.writer, graph="urn:g1")
    assert decide(shared.writer, path, "approve").status_code == 403
    assert decide(shared.client(Role.READER), path, "approve").status_code == 403
    hidden = decide(shared.client(Role.EDITOR, "urn:g2"), path, "approve")
    assert (hidden.status_code, hidden.json()["code"]) == (404, "not-found")
    assert decide(shared.client(Role.EDITOR, "urn:g1"), path, "reject").status_code == 200


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"decison": "approve"}, "/decison"),
        ({"decision": "aprove"}, "/decision"),
        ({"decision": None}, "/decision"),
        ({}, "/decision"),
        ({"decision": "approve", "comment": 5}, "/comment"),
        ({"decision": "approve", "comment": "x" * 10_001}, "/comment"),
        ({"decision": "approve", "coment": "x"}, "/coment"),
    ],
)
def test_a_decision_is_read_strictly(shared: Served, body: dict[str, object], where: str) -> None:
    """Case 36."""
    path = waiting(shared.writer, f"s{uuid4()}")
    answer = shared.client(Role.EDITOR).post(f"{path}/decision", json=body)
    assert (answer.status_code, answer.json()["where"]) == (400, where)
    assert shared.writer.get(path).json()["state"] == "pending"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"decision": "approve", "decision": "reject"}', b"\xff"])
def test_a_body_that_is_no_decision_is_refused(shared: Served, body: bytes) -> None:
    path = waiting(shared.writer, f"s{uuid4()}")
    headers = {"content-type": "application/json"}
    answer = shared.client(Role.EDITOR).post(f"{path}/decision", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-document")
    plain = {"content-type": "text/plain"}
    assert shared.client(Role.EDITOR).post(f"{path}/decision", content=body, headers=plain).status_code == 415


def test_only_what_is_there_is_decided(shared: Served) -> None:
    assert decide(shared.client(Role.EDITOR), f"/certificates/{uuid4()}", "approve").status_code == 404
    applied_path = applied(shared.writer, change(f"s{uuid4()}", "p", "o"))
    assert decide(shared.client(Role.EDITOR), applied_path, "approve").status_code == 409


def test_a_repeated_request_tells_what_was_decided_since(server: Served) -> None:
    editor = server.client(Role.EDITOR)
    body = request(change("ada", "lives", "london", confidence=0.2))
    key = {"idempotency-key": "k"}
    first = editor.post("/changes", json=body, headers=key)
    assert first.status_code == 202
    assert editor.post("/changes", json=body, headers=key).status_code == 202
    decide(editor, first.headers["location"], "reject")
    again = editor.post("/changes", json=body, headers=key)
    assert (again.status_code, again.json()["state"]) == (200, "rejected")
    assert again.json()["certificate"] == first.json()["certificate"]
