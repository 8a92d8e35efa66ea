"""`POST /certificates/{id}/revert`: what a certificate did is undone, and nothing else."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kernel.access import Role
from tests.api.bodies import EX, SHAPES, change, request
from tests.api.console import run
from tests.api.serving import Served


def write(client: httpx2.Client, *changes: dict[str, Any]) -> dict[str, Any]:
    answer = client.post("/changes", json=request(*changes))
    assert answer.status_code in {201, 202}, answer.text
    outcome: dict[str, Any] = answer.json()
    return outcome


def revert(client: httpx2.Client, outcome: dict[str, Any], **parameters: str) -> httpx2.Response:
    return client.post(f"/certificates/{outcome['certificate']}/revert", params=parameters)


def believed(client: httpx2.Client, subject: str = "ada") -> list[tuple[str, str | None, str | None, str]]:
    """What is believed of a subject: object, both times, and family."""
    answer = client.get("/facts", params={"subject": EX + subject, "valid-at": "any"})
    facts: list[dict[str, Any]] = answer.json()["items"]
    return sorted(
        (fact["statement"]["object"]["@id"], fact.get("from"), fact.get("to"), fact["family"]) for fact in facts
    )


def test_an_assertion_an_end_and_a_revision_are_undone_one_after_the_other(server: Served) -> None:
    writer = server.writer
    states, certificates = [believed(writer)], []
    certificates.append(
        write(writer, change("ada", "lives", "london", validFrom="1835"), change("ada", "knows", "bob"))
    )
    states.append(believed(writer))
    certificates.append(write(writer, change("ada", "lives", "london", op="end", at="1852")))
    states.append(believed(writer))
    found = writer.get("/facts", params={"subject": f"{EX}ada", "predicate": f"{EX}lives", "valid-at": "1840"})
    [fact] = [item["fact"] for item in found.json()["items"]]
    certificates.append(write(writer, {"op": "revise", "fact": fact, "validFrom": "1836"}))
    while certificates:
        assert revert(writer, certificates.pop()).status_code == 201
        assert believed(writer) == states.pop()


def test_what_was_reverted_can_be_put_back_by_reverting_that(server: Served) -> None:
    writer = server.writer
    made = write(writer, change("ada", "knows", "bob", validFrom="1835"))
    state = believed(writer)
    undone = revert(writer, made).json()
    assert believed(writer) == []
    assert revert(writer, undone).status_code == 201
    assert believed(writer) == state


def test_evidence_comes_back_with_the_fact(server: Served) -> None:
    writer = server.writer
    asked = request(change("ada", "knows", "bob", confidence=0.9), episode="urn:letter")
    assert writer.post("/changes", json=asked).status_code == 201
    gone = write(writer, change("ada", "knows", "bob", op="retract"))
    assert revert(writer, gone).status_code == 201
    (fact,) = writer.get("/facts", params={"subject": f"{EX}ada"}).json()["items"]
    (evidence,) = fact["evidence"]
    assert (evidence["episode"], evidence["confidence"]) == ("urn:letter", 0.9)


def test_a_later_certificate_stands_in_the_way_and_is_named(server: Served) -> None:
    writer = server.writer
    first = write(writer, change("ada", "knows", "bob"))
    later = write(writer, change("ada", "knows", "bob", op="end", at="2000"))
    state = believed(writer)
    refused = revert(writer, first)
    assert refused.status_code == 409
    assert later["certificate"] in refused.json()["detail"]
    assert believed(writer) == state


def test_what_is_believed_by_now_is_not_overwritten(server: Served) -> None:
    writer = server.writer
    write(writer, change("ada", "knows", "bob"))
    gone = write(writer, change("ada", "knows", "bob", op="retract"))
    write(writer, change("ada", "knows", "bob", validFrom="2000"))
    refused = revert(writer, gone)
    assert (refused.status_code, refused.json()["code"]) == (422, "overlap")


def test_a_revert_is_judged_like_any_other_change(server: Served) -> None:
    admin = server.client(Role.ADMINISTRATOR)
    age = {"@value": "old"}
    assert admin.post("/changes", json=request(change("ada", "age", age))).status_code == 201
    person = f"<{EX}ada> a <{EX}Person> ."
    gone = write(admin, change("ada", "age", age, op="retract"))
    assert admin.post("/changes", content=person, headers={"Content-Type": "text/turtle"}).status_code == 201
    shapes = admin.post(
        "/changes?graph=https%3A%2F%2Fw3id.org%2Fmuniment%23shapes",
        content=SHAPES,
        headers={"Content-Type": "text/turtle"},
    )
    assert shapes.status_code == 201, shapes.text
    refused = revert(admin, gone)
    assert (refused.status_code, refused.json()["verdict"]) == (422, "refused")
    assert revert(admin, shapes.json()).status_code == 201
    assert revert(admin, gone).status_code == 201


def test_nothing_is_undone_of_what_was_not_applied_or_brought_evidence_alone(server: Served) -> None:
    editor = server.client(Role.EDITOR)
    waiting = write(editor, change("ada", "knows", "bob", confidence=0.1))
    assert revert(editor, waiting).status_code == 409
    write(editor, change("ada", "knows", "cyd"))
    again = write(editor, change("ada", "knows", "cyd", confidence=0.9))
    refused = revert(editor, again)
    assert (refused.status_code, refused.json()["code"]) == (422, "nothing-to-revert")


def test_it_is_done_once_and_can_be_tried_before(server: Served) -> None:
    writer = server.writer
    made = write(writer, change("ada", "knows", "bob"))
    tried = writer.post(f"/certificates/{made['certificate']}/revert?dry-run=true")
    assert (tried.status_code, tried.json()["certificate"]) == (200, None)
    assert believed(writer)
    key = {"Idempotency-Key": "undo"}
    path = f"/certificates/{made['certificate']}/revert?reason=twice"
    answers = [writer.post(path, headers=key) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["certificate"] == answers[1].json()["certificate"]
    assert revert(writer, made).status_code == 409


@pytest.mark.parametrize("role", [Role.READER, None])
def test_who_may_not_write_does_not_revert(server: Served, role: Role | None) -> None:
    made = write(server.writer, change("ada", "knows", "bob"))
    assert revert(server.client(role), made).status_code == (401 if role is None else 403)


def test_what_a_caller_may_not_see_is_not_there_to_revert(server: Served) -> None:
    made = write(server.writer, change("ada", "knows", "bob", graph={"@id": f"{EX}hidden"}))
    other = server.client(Role.WRITER, f"{EX}open")
    assert revert(other, made).status_code == 404


@pytest.mark.parametrize(("query", "body"), [("?force=true", b""), ("", b"{}")])
def test_what_a_revert_has_not_is_refused(server: Served, query: str, body: bytes) -> None:
    made = write(server.writer, change("ada", "knows", "bob"))
    answer = server.writer.post(f"/certificates/{made['certificate']}/revert{query}", content=body)
    assert answer.status_code == 400


def test_of_many_who_revert_at_once_one_does_and_the_others_learn_which(server: Served) -> None:
    made = write(server.writer, *(change("ada", "knows", f"b{number}") for number in range(50)))
    clients = [server.client(Role.WRITER) for _ in range(6)]
    with ThreadPoolExecutor(len(clients)) as pool:
        answers = [*pool.map(lambda client: revert(client, made), clients)]
    (done,) = [answer for answer in answers if answer.status_code == 201]
    others = [answer.json() for answer in answers if answer is not done]
    assert {(other["code"], other.get("later")) for other in others} == {("conflict", done.json()["certificate"])}


def test_a_place_is_one_that_the_caller_knows(server: Served) -> None:
    made = write(server.writer, change("ada", "knows", "bob"))
    refused = revert(server.client(Role.READER), made)
    assert (refused.status_code, refused.json()["where"]) == (403, "certificate")


def test_the_command_says_what_became_of_it(server: Served, tmp_path: Path) -> None:
    made = write(server.writer, change("ada", "knows", "bob"))
    token = tmp_path / "token"
    token.write_text(server.token(Role.WRITER))
    token.chmod(0o600)
    words = ("revert", made["certificate"], "--url", server.url, "--token-file", str(token), "--reason", "twice")
    tried = run(*words, "--dry-run")
    assert (tried.status, len(believed(server.writer))) == (0, 1)
    done = run(*words)
    assert (done.status, believed(server.writer)) == (0, [])
    again = run(*words)
    assert (again.status, "later certificate" in again.errors) == (1, True)
