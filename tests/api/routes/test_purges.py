"""`/purges` and `muniment purge`: previewed, carried out, shown and restored, by administrators alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from bridge.base import Base
from certificates.receipt import ReceiptStatus, verify
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.console import run
from tests.api.serving import FRUGAL, Served, served

QUERY = "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
TURTLE = {"Content-Type": "text/turtle"}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """One for all: each test has a subject of its own."""
    with Base.open(None) as base, served(base) as running:
        yield running


def tell(client: httpx2.Client, name: str, value: str, **more: object) -> str:
    """Writes what is to be purged; answers the fact's id."""
    answer = client.post("/changes", json=request(change(name, "says", {"@value": value}), **more))
    assert answer.status_code == 201, answer.text
    (fact,) = client.get("/facts", params={"subject": EX + name}).json()["items"]
    identifier: str = fact["fact"]
    return identifier


def previewed(client: httpx2.Client, **target: str) -> dict[str, Any]:
    answer = client.post("/purges", json={"preview": True, **target})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def purged(client: httpx2.Client, **target: str) -> dict[str, Any]:
    digest = previewed(client, **target)["digest"]
    answer = client.post("/purges", json={"reason": "it has to go", "digest": digest, **target})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/purges/{answer.json()['purge'].removeprefix('urn:uuid:')}"
    told: dict[str, Any] = answer.json()
    return told


def rows(client: httpx2.Client, **parameters: str) -> str:
    answer = client.get("/sparql", params={"query": QUERY, **parameters}, headers={"accept": "text/csv"})
    assert answer.status_code == 200, answer.text
    return answer.text


def test_what_is_purged_is_answered_no_more_and_not_taken_again(server: Served) -> None:
    admin, writer = server.client(Role.ADMINISTRATOR), server.writer
    fact = tell(writer, "ada", "xyzzy one")
    head = writer.get("/sparql", params={"query": "ASK {}"}).headers["muniment-head"]
    assert "xyzzy one" in rows(writer)
    assert "xyzzy one" in rows(writer, **{"as-of": f"head:{head}", "valid-at": "2001"})
    told = previewed(admin, fact=fact)
    assert (told["facts"], told["planItems"]) == (1, 2)
    assert "xyzzy" not in json.dumps(told)
    done = purged(admin, fact=fact)
    assert "xyzzy one" not in rows(writer)
    assert "xyzzy one" not in rows(writer, **{"as-of": f"head:{head}", "valid-at": "2001"})
    assert writer.get("/facts", params={"subject": EX + "ada", "valid-at": "any"}).json()["items"] == []
    again = change("ada", "says", {"@value": "xyzzy one"}, validFrom="1999")
    turtle = f'<{EX}ada> <{EX}says> "xyzzy one" .'
    sent = [
        writer.post("/changes", json=request(again)),
        writer.post("/changes", json=request(again), params={"dry-run": "true"}),
        writer.post("/changes", content=turtle, headers=TURTLE),
        writer.post("/sparql", data={"update": f"INSERT DATA {{ {turtle} }}"}),
        writer.post(
            "/sparql", data={"update": f'INSERT {{ <{EX}ada> <{EX}says> ?v }} WHERE {{ BIND("xyzzy one" AS ?v) }}'}
        ),
        writer.post("/graphs?default", content=turtle, headers=TURTLE),
        writer.post(
            "/changes",
            content=json.dumps({"@id": EX + "ada", EX + "says": "xyzzy one"}),
            headers={"Content-Type": "application/ld+json"},
        ),
    ]
    assert [(each.status_code, each.json()["code"]) for each in sent] == [(422, "purged")] * len(sent)
    assert not any("xyzzy" in each.text for each in sent)
    assert writer.post("/changes", json=request(change("bob", "says", {"@value": "xyzzy one"}))).status_code == 201
    certificate = admin.get(f"/certificates/{done['purge']}").json()
    assert [item["body"]["op"] for item in certificate["plan"]["items"]] == ["request", "purge"]
    assert (
        admin.get("/log/proof/inclusion", params={"certificate": done["purge"], "event": "applied"}).status_code == 200
    )


def test_what_only_waited_is_purged(server: Served) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    sent = request(change("lou", "says", {"@value": "xyzzy seven"}, confidence=0.2))
    waiting = server.writer.post("/changes", json=sent)
    assert (waiting.status_code, waiting.json()["state"]) == (202, "pending")
    holds = admin.get("/holdings", params={"node": EX + "lou"}).json()
    assert (holds["items"], holds["quotedBy"]) == ([], 1)
    told = previewed(admin, node=EX + "lou")
    assert (told["facts"], told["rejected"], told["graphStays"]) == (0, 1, False)
    purged(admin, node=EX + "lou")
    shown = admin.get(waiting.headers["location"])
    assert (shown.json()["state"], "xyzzy" in shown.text) == ("rejected", False)
    assert server.writer.post("/changes", json=sent).json()["code"] == "purged"


def test_the_graph_of_a_nodes_name_stays_and_that_is_told(server: Served, tmp_path: Path) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    for each in (change("mo", "knows", "ned"), change("ned", "knows", "pat", graph=EX + "mo")):
        assert admin.post("/changes", json=request(each)).status_code == 201
    assert previewed(admin, node=EX + "mo")["graphStays"] is True
    token = tmp_path / "token"
    token.write_text(server.token(Role.ADMINISTRATOR))
    token.chmod(0o600)
    shown = run("purge", "preview", "--node", EX + "mo", "--url", server.url, "--token-file", token)
    assert "the graph of this name stays: purge it as a graph" in shown.output
    receipt = purged(admin, node=EX + "mo")["receipt"]["credentialSubject"]
    assert "the graph of this name - purge it as a graph" in receipt["notReached"]
    assert EX + "pat" in rows(server.writer)


def test_the_receipt_is_a_credential(server: Served, tmp_path: Path) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    tell(server.writer, "cyd", "xyzzy two")
    done = purged(admin, node=EX + "cyd")
    server.base.purges.settled()
    path = f"/purges/{done['purge']}"
    told = admin.get(path).json()
    assert (told["state"], told["receipt"]["credentialSubject"]["status"]) == ("complete", "complete")
    signed = admin.get(path, headers={"accept": "application/vc"})
    receipt = verify(signed.content, server.base.key.public)
    assert (receipt.status, receipt.facts) == (ReceiptStatus.COMPLETE, 1)
    file, key = tmp_path / "receipt.json", tmp_path / "key.txt"
    file.write_bytes(signed.content)
    key.write_text(server.base.key.public.multibase)
    verified = run("verify", file, "--key", key)
    assert (verified.status, "status      complete" in verified.output) == (0, True), verified
    file.write_bytes(signed.content.replace(b'"complete"', b'"pending"'))
    assert run("verify", file, "--key", key).status == 1
    assert next(each["purge"] for each in admin.get("/purges").json()["items"]) == done["purge"]
    assert admin.get(path, headers={"accept": "text/turtle"}).status_code == 406


@pytest.mark.parametrize(
    ("body", "status", "code", "where"),
    [
        ({"reason": "x"}, 400, "invalid-parameter", "/graph"),
        ({"node": EX + "a", "graph": EX + "g", "preview": True}, 400, "invalid-parameter", "/graph"),
        ({"node": EX + "a", "reason": "x"}, 400, "invalid-parameter", "/digest"),
        ({"node": EX + "a", "digest": "0" * 64}, 400, "invalid-parameter", "/reason"),
        ({"node": EX + "a", "reason": "x", "digest": "0" * 64, "preview": True}, 400, "invalid-parameter", "/digest"),
        ({"node": "no iri", "preview": True}, 400, "invalid-term", "/node"),
        ({"fact": "no id", "preview": True}, 400, "invalid-parameter", "/fact"),
        ({"nodes": EX + "a", "preview": True}, 400, "unknown-parameter", "/nodes"),
        ({"node": EX + "nobody", "preview": True}, 422, "nothing-to-purge", "node"),
        ({"graph": "https://w3id.org/muniment#shapes", "preview": True}, 422, "reserved-graph", "/graph"),
        ({"node": "http://www.w3.org/2002/07/owl#Class", "preview": True}, 422, "reserved-term", "node"),
        ({"node": "https://w3id.org/muniment#x", "reason": "x", "digest": "0" * 64}, 422, "reserved-term", "node"),
        ({"fact": "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057", "preview": True}, 404, "not-found", "fact"),
    ],
)
def test_what_cannot_be_purged_is_told(
    server: Served, body: dict[str, Any], status: int, code: str, where: str
) -> None:
    answer = server.client(Role.ADMINISTRATOR).post("/purges", json=body)
    assert (answer.status_code, answer.json()["code"], answer.json().get("where")) == (status, code, where)


def test_a_preview_that_is_out_of_date_is_refused(server: Served) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    tell(server.writer, "dan", "xyzzy three")
    digest = previewed(admin, node=EX + "dan")["digest"]
    assert server.writer.post("/changes", json=request(change("dan", "knows", "eve"))).status_code == 201
    answer = admin.post("/purges", json={"node": EX + "dan", "reason": "x", "digest": digest})
    assert (answer.status_code, answer.json()["code"]) == (409, "preview-outdated")
    assert "xyzzy three" in rows(server.writer)


def test_others_learn_nothing_of_purges(server: Served) -> None:
    held = server.client(Role.ADMINISTRATOR, EX + "g")
    for client in (server.writer, server.client(Role.EDITOR), held):
        told = {
            client.post("/purges", json={"node": EX + name, "preview": True}).json()["detail"] for name in ("ada", "no")
        }
        told |= {
            client.get(path).json()["detail"] for path in ("/purges", "/purges/01890a5d-ac96-774b-bcce-b302099a8057")
        }
        assert len(told) == 1
        assert client.get("/purges").status_code == 403


def test_the_certificate_of_a_purge_is_for_administrators_of_the_base(server: Served) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    fact = tell(server.writer, "nan", "xyzzy nine", graph={"@id": EX + "hidden"})
    identifier = purged(admin, fact=fact)["purge"]
    restored = admin.post(f"/purges/{identifier[9:]}/restore", json={"reason": "xyzzy"}).json()["restoredBy"]
    for certificate in (identifier[9:], restored[9:]):
        assert admin.get(f"/certificates/{certificate}").json()["verdict"] == "clear"
        for client in (server.client(Role.READER), server.client(Role.EDITOR), server.client(Role.ADMINISTRATOR, EX)):
            assert client.get(f"/certificates/{certificate}").status_code == 404
            proof = {"certificate": certificate, "event": "applied"}
            assert client.get("/log/proof/inclusion", params=proof).status_code == 404
            assert certificate not in client.get("/certificates", params={"limit": "500"}).text


def test_purges_are_listed_in_pages(server: Served) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    made = [purged(admin, fact=tell(server.writer, f"list{number}", "xyzzy ten"))["purge"] for number in range(3)]
    whole = [each["purge"] for each in admin.get("/purges", params={"limit": "500"}).json()["items"]]
    assert whole[:3] == made[::-1]
    told, after = list[str](), dict[str, str]()
    while True:
        page = admin.get("/purges", params={"limit": "2", **after}).json()
        assert len(page["items"]) <= 2
        told += [each["purge"] for each in page["items"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert told == whole
    assert admin.get("/purges", params={"after": str(UUID(int=7))}).json()["where"] == "after"
    for parameters in ({"limit": "0"}, {"after": "x"}, {"of": "node"}):
        assert admin.get("/purges", params=parameters).status_code == 400


def test_what_is_no_id_of_a_purge_is_told_so_and_what_was_purged_is_not_called_evidence(server: Served) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    for method, path in (("GET", "/purges/x"), ("POST", "/purges/x/restore"), ("POST", "/purges/x/decision")):
        told = admin.request(method, path).json()
        assert (told["status"], told["detail"]) == (404, "there is no such purge"), path
    wrong = admin.post("/purges", json={"node": f"{EX}x", "digest": "0" * 64, "reason": 5}).json()
    assert (wrong["where"], "missing" in wrong["detail"]) == ("/reason", False)
    tell(server.writer, "reverted", "xyzzy reverted")
    (record,) = admin.get("/certificates", params={"limit": "1"}).json()["items"]
    purged(admin, node=f"{EX}reverted")
    told = admin.post(f"/certificates/{record['certificate']}/revert").json()
    assert (told["code"], "was purged" in told["detail"]) == ("nothing-to-revert", True)


def test_a_tombstone_is_lifted_by_its_purge(server: Served) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    fact = tell(server.writer, "fay", "xyzzy four")
    path = f"/purges/{purged(admin, fact=fact)['purge']}"
    restored = admin.post(f"{path}/restore", json={"reason": "the wrong one"})
    assert restored.status_code == 200
    assert "restoredBy" in restored.json()
    assert admin.post(f"{path}/restore", json={"reason": "again"}).status_code == 409
    tell(server.writer, "fay", "xyzzy four")


def test_with_a_second_person_a_purge_waits() -> None:
    with Base.open(None) as base, served(base, FRUGAL.model_copy(update={"purge_second_person": True})) as server:
        one, other = server.client(Role.ADMINISTRATOR), server.client(Role.ADMINISTRATOR)
        fact = tell(server.writer, "gus", "xyzzy five")
        digest = previewed(one, fact=fact)["digest"]
        waiting = one.post("/purges", json={"fact": fact, "reason": "why", "digest": digest})
        assert (waiting.status_code, waiting.json()["waiting"]["reason"]) == (202, "why")
        path = waiting.headers["location"]
        approve = {"decision": "approve"}
        assert one.post(f"{path}/decision", json=approve).status_code == 403
        assert one.get(path, headers={"accept": "application/vc"}).status_code == 400
        assert "xyzzy five" in rows(server.writer)
        done = other.post(f"{path}/decision", json=approve)
        assert done.status_code == 200
        assert "waiting" not in done.json()
        assert done.json()["decidedBy"] != done.json()["askedBy"]
        assert other.post(f"{path}/decision", json=approve).status_code == 409
        assert "xyzzy five" not in rows(server.writer)


def test_the_command_line_purges_a_served_base(server: Served, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(server.token(Role.ADMINISTRATOR))
    token.chmod(0o600)
    tell(server.writer, "hal", "xyzzy six")
    at = ("--url", server.url, "--token-file", token)
    shown = run("purge", "preview", "--node", EX + "hal", *at)
    assert shown.status == 0
    digest = shown.output.split("digest ")[1].strip()
    done = run("purge", "run", "--node", EX + "hal", "--reason", "asked for", "--digest", digest, *at)
    assert (done.status, "xyzzy" in done.output) == (0, False)
    identifier = done.output.split()[0]
    server.base.purges.settled()
    assert json.loads(run("purge", "show", identifier, *at).output)["state"] == "complete"
    assert identifier in run("purge", "list", *at).output
    assert run("purge", "restore", identifier, "--reason", "back", *at).status == 0
    assert run("purge", "preview", *at).status == 1
    assert run("purge", "run", "--node", EX + "hal", "--reason", "x", "--digest", digest, *at).status == 1


def test_what_quotes_it_and_stays_is_told_and_no_reason_quotes_it(server: Served, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(server.token(Role.ADMINISTRATOR))
    token.chmod(0o600)
    admin = server.client(Role.ADMINISTRATOR)
    tell(server.writer, "kay", "xyzzy seven")
    tell(server.writer, "mia", f"as {EX}kay has it")
    would = previewed(admin, node=EX + "kay")
    assert would["stays"] == ["literals of other statements"]
    shown = run("purge", "preview", "--node", EX + "kay", "--url", server.url, "--token-file", token)
    assert "what quotes it stays: literals of other statements" in shown.output
    asked = {"node": EX + "kay", "digest": would["digest"]}
    refused = admin.post("/purges", json={**asked, "reason": f"{EX}kay has asked for it"})
    assert (refused.status_code, refused.json()["where"]) == (400, "reason")
    assert EX not in refused.text
    path = admin.post("/purges", json={**asked, "reason": "a request of today"}).headers["location"]
    server.base.purges.settled()
    receipt = admin.get(path, headers={"accept": "application/vc"}).json()
    assert "literals of other statements - what quotes it there stays" in receipt["credentialSubject"]["notReached"]


def test_everything_that_is_held_of_a_node_is_told(server: Served, tmp_path: Path) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    sent = [
        request(change("ivy", "says", {"@value": "first"}, validFrom="1990"), episode=EX + "letter"),
        request(change("ivy", "says", {"@value": "first"}, op="end", at="2000")),
        request(change("jim", "knows", "ivy", graph=EX + "g")),
        request(change("jim", "knows", "kim", confidence=0.9), episode=EX + "ivy"),
        request(change("jim", "knows", "lee")),
    ]
    for body in sent:
        assert admin.post("/changes", json=body).status_code == 201
    first = admin.get("/holdings", params={"node": EX + "ivy", "limit": "3"}).json()
    rest = admin.get("/holdings", params={"node": EX + "ivy", "after": first["next"]}).json()
    facts = [*first["items"], *rest["items"]]
    assert (len(first["items"]), rest["next"]) == (3, None)
    assert sorted(fact["statement"]["object"].get("@id", "first").removeprefix(EX) for fact in facts) == [
        "first", "first", "ivy", "kim",
    ]  # fmt: skip
    assert sum("supersededAt" in fact for fact in facts) == 1
    assert {item.get("episode") for fact in facts for item in fact["evidence"]} >= {EX + "letter", EX + "ivy"}
    assert admin.get("/holdings", params={"node": EX + "nobody"}).json() == {"items": [], "next": None, "quotedBy": 0}
    assert admin.get("/holdings").status_code == 400
    assert server.writer.get("/holdings", params={"node": EX + "ivy"}).status_code == 403
    token = tmp_path / "token"
    token.write_text(server.token(Role.ADMINISTRATOR))
    token.chmod(0o600)
    told = run("purge", "held", EX + "ivy", "--url", server.url, "--token-file", token)
    assert [json.loads(line)["fact"] for line in told.output.splitlines()] == [fact["fact"] for fact in facts]
    assert told.errors.strip() == "quoted by 4 certificates"
