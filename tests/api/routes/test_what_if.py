"""`/what-if` over HTTP: plans held as a branch, judged, queried, added to, submitted or dropped; unseen by others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import uuid4

import httpx2
import pytest

from api.settings import Settings
from bridge.base import Base
from bridge.reading.reader import QueryRequest, Question
from bridge.review.branching import BranchReader, Over
from kernel.access import Principal, Role
from kernel.time.instants import SECOND
from kernel.writing.branches import Branch
from tests.api.console import Ended, run
from tests.api.serving import Served, served
from tests.bridge.writing import SetClock

Json = dict[str, Any]

G, H = "urn:g", "urn:h"
M: Final = "https://w3id.org/muniment#"
HISTORY: Final = "https://w3id.org/muniment/history/urn%3Ag"
NAMES: Final = {
    "query": "SELECT ?who ?name { ?who <urn:name> ?name }",
    "owner": "city-desk",
    "contact": "desk@city.example",
    "graphs": [G],
    "action": "note",
}


@pytest.fixture(scope="module")
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="module")
def service(clock: SetClock) -> Iterator[Served]:
    settings = Settings(query_spares=0, query_patience=60, what_if_branches=3, what_if_changes=20, what_if_seconds=600)
    with Base.open(None, host=clock) as base, served(base, settings) as service:
        yield service


@pytest.fixture(scope="module")
def admin(service: Served) -> httpx2.Client:
    return service.client(Role.ADMINISTRATOR)


@pytest.fixture
def writer(service: Served) -> httpx2.Client:
    return service.client(Role.WRITER)


def named(subject: str, value: str, op: str = "assert", graph: str = G, **more: object) -> Json:
    said = {"op": op, "subject": subject, "predicate": "urn:name", "object": {"@value": value}, "graph": graph}
    return said | more


def hold(client: httpx2.Client, *changes: Json, **more: object) -> Json:
    answer = client.post("/what-if", json={"changes": changes, **more})
    assert answer.status_code == 201, answer.text
    told: Json = answer.json()
    assert answer.headers["Location"] == f"/what-if/{told['branch']}"
    return told


def names(client: httpx2.Client, path: str, **parameters: str) -> list[str]:
    asked = {"query": "SELECT ?name { ?s <urn:name> ?name }", **parameters}
    answer = client.get(f"{path}/sparql", params=asked, headers={"Accept": "text/csv"})
    assert answer.status_code == 200, answer.text
    return sorted(answer.text.split()[1:])


def within(told: Json) -> str:
    return f"/what-if/{told['branch']}"


def write(client: httpx2.Client, *changes: Json) -> Json:
    answer = client.post("/changes", json={"changes": changes})
    assert answer.status_code == 201, answer.text
    written: Json = answer.json()
    return written


def test_a_branch_is_judged_queried_and_submitted_under_one_certificate(
    admin: httpx2.Client, writer: httpx2.Client
) -> None:
    assert admin.put("/queries/names", json=NAMES).status_code == 201
    write(admin, named("urn:a1", "ann"))
    head = admin.get("/health").json()["head"]
    told = hold(writer, named("urn:b1", "bob"), reason="first")
    assert (told["state"], told["plans"], told["changes"], told["head"]) == ("open", 1, 1, head)
    assert [(each["code"], each["gained"], each["lost"]) for each in told["findings"]] == [("impact", 1, 0)]
    more = {"changes": [named("urn:a1", "ann", "retract"), named("urn:b1", "bob", "retract"), named("urn:c1", "cid")]}
    told = writer.post(f"{within(told)}/plans", json={**more, "reason": "second"}).json()
    assert (told["plans"], told["changes"], told["verdict"]) == (2, 4, "clear")
    assert [(each["gained"], each["lost"]) for each in told["findings"]] == [(1, 1)]
    assert names(writer, within(told)) == ["cid"]
    assert names(writer, "") == ["ann"]
    assert admin.get("/health").json()["head"] == head
    answer = writer.post(f"{within(told)}/submit")
    assert answer.status_code == 201, answer.text
    assert answer.json()["since"] == {"head": head, "verdict": "clear", "found": [], "gone": []}
    assert names(writer, "") == ["cid"]
    certificate = answer.json()["certificate"]
    kept = admin.get(f"/certificates/{certificate.removeprefix('urn:uuid:')}").json()
    assert kept["plan"]["items"][0]["body"]["reason"] == "first\nsecond"
    again = writer.post(f"{within(told)}/submit")
    assert (again.status_code, again.json()["certificate"]) == (201, certificate)
    shown = writer.get(within(told)).json()
    assert (shown["state"], shown["plans"], shown["certificate"]) == ("submitted", 0, certificate)
    assert writer.get(f"{within(told)}/sparql", params={"query": "ASK {}"}).status_code == 409
    assert writer.post(f"{within(told)}/plans", json=more).status_code == 409
    write(admin, named("urn:c1", "cid", "retract"))
    assert admin.delete("/queries/names").status_code == 200


NO_IDS: Final = "FILTER (?p NOT IN (m:certificate, m:family, m:supersededBy))"
"""A branch has those of its own."""

QUERIES: Final = (
    "SELECT ?s ?n { ?s <urn:name> ?n }",
    "SELECT ?g ?s ?n { GRAPH ?g { ?s ?p ?n } }",
    "SELECT (COUNT(*) AS ?c) { ?s ?p ?n }",
    "SELECT ?s { ?s <urn:name> 'n1' FILTER NOT EXISTS { ?s <urn:name> 'n2' } }",
    f"PREFIX m: <{M}> SELECT ?s ?p ?o {{ GRAPH <{HISTORY}> {{ ?f m:subject ?s ; ?p ?o {NO_IDS} }} }}",
)
MOMENTS: Final[tuple[dict[str, str], ...]] = ({}, {"valid-at": "2010"}, {"valid-at": "2031"})


def asked(client: httpx2.Client, path: str, query: str, moment: dict[str, str]) -> list[str]:
    answer = client.get(f"{path}/sparql", params={"query": query, **moment}, headers={"Accept": "text/csv"})
    assert answer.status_code == 200, answer.text
    return sorted(answer.text.splitlines())


def test_what_a_branch_answers_is_what_the_base_answers_once_it_is_submitted(
    admin: httpx2.Client, clock: SetClock
) -> None:
    """The oracle of a branch is its submission: at the present, the past and the future, and of history."""
    random = Random(8)
    known: set[tuple[str, str, str]] = set()
    changed = 0
    for _ in range(8):
        changes = []
        for _ in range(random.randint(1, 4)):
            one = (f"urn:s{random.randint(0, 3)}", f"n{random.randint(0, 2)}", random.choice((G, H, "urn:new")))
            if one in known and random.random() < 0.6:
                known.discard(one)
                kind = random.choice(("retract", "end"))
                changes.append(named(one[0], one[1], "retract", one[2]) if kind == "retract" else ended(one))
            elif one not in known:
                known.add(one)
                times = random.choice(({}, {"validFrom": "2005"}, {"validTo": "2020"}, {"validFrom": "2030"}))
                changes.append(named(one[0], one[1], graph=one[2], **times))
        if not changes:
            continue
        told = admin.post("/what-if", json={"changes": changes})
        if told.status_code == 422:  # nothing of it holds now, so nothing ends
            continue
        branch = within(told.json())
        pairs = [(query, moment) for query in QUERIES for moment in random.sample(MOMENTS, 2)]
        before = [asked(admin, "", *pair) for pair in pairs]
        of_branch = [asked(admin, branch, *pair) for pair in pairs]
        assert [asked(admin, "", *pair) for pair in pairs] == before
        assert admin.post(f"{branch}/submit").status_code == 201
        assert of_branch == [asked(admin, "", *pair) for pair in pairs]
        changed += of_branch != before
        clock.move(SECOND)
    assert changed > 3


def ended(one: tuple[str, str, str]) -> Json:
    return named(one[0], one[1], "end", one[2])


def test_as_of_is_answered_without_the_branch(admin: httpx2.Client, writer: httpx2.Client) -> None:
    head = admin.get("/health").json()["head"]
    told = hold(writer, named("urn:asof", "only here"))
    query = {"query": "ASK { <urn:asof> ?p ?o }"}
    assert writer.get(f"{within(told)}/sparql", params=query).json()["boolean"] is True
    then = writer.get(f"{within(told)}/sparql", params={**query, "as-of": f"head:{head}"})
    assert then.json()["boolean"] is False
    assert then.headers["Cache-Control"] == "no-store"
    writer.delete(within(told))


def test_a_branch_follows_the_base_and_says_what_stands_in_its_way(
    admin: httpx2.Client, writer: httpx2.Client, clock: SetClock
) -> None:
    write(admin, named("urn:f", "here", graph="urn:follow"))
    told = hold(writer, named("urn:f", "here", "retract", "urn:follow"), named("urn:f", "new", graph="urn:follow"))
    clock.move(SECOND)
    write(admin, named("urn:f", "later", graph="urn:follow"))
    only = {"default-graph-uri": "urn:follow"}
    assert names(writer, within(told), **only) == ["later", "new"]
    looked = writer.get(within(told)).json()
    assert looked["head"] == admin.get("/health").json()["head"] > told["head"]
    write(admin, named("urn:f", "here", "retract", "urn:follow"))
    looked = writer.get(within(told)).json()
    assert (looked["verdict"], looked["findings"]) == (None, [])
    assert looked["why"] == "it cannot be planned any more: /plans/0/changes/0: nothing of this is believed"
    refused = writer.get(f"{within(told)}/sparql", params={"query": "ASK {}"})
    assert (refused.status_code, refused.json()["code"]) == (422, "nothing-to-retract")
    more = writer.post(f"{within(told)}/plans", json={"changes": [named("urn:f", "more", graph="urn:follow")]})
    submitted = writer.post(f"{within(told)}/submit")
    assert [each.status_code for each in (more, submitted)] == [422, 422]
    assert {each.json()["where"] for each in (refused, more, submitted)} == {"/plans/0/changes/0"}, "by every route"
    write(admin, named("urn:f", "here", graph="urn:follow"))
    assert writer.get(within(told)).json()["verdict"] == "clear"
    assert writer.delete(within(told)).status_code == 200
    assert writer.get(within(told)).status_code == 404


def test_what_moves_while_it_is_asked_is_asked_again(
    service: Served, admin: httpx2.Client, writer: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the planning of a branch and the answer of a worker the very fact is withdrawn that the branch keeps."""
    told = hold(writer, named("urn:m", "there", graph="urn:moving"))
    settle, times = BranchReader.question, []

    def question(
        self: BranchReader, branch: Branch, request: QueryRequest, as_of: str | None, valid_at: str | None
    ) -> tuple[Question, Over | None]:
        found = settle(self, branch, request, as_of, valid_at)
        times.append(found)
        if len(times) == 1:
            write(admin, named("urn:m", "meanwhile", graph="urn:moving"))
        elif len(times) == 2:
            write(admin, named("urn:elsewhere", "of no concern", graph="urn:moving"))
        return found

    monkeypatch.setattr(BranchReader, "question", question)
    only = {"default-graph-uri": "urn:moving"}
    assert names(writer, within(told), **only) == ["concern", "meanwhile", "no", "of", "there"]
    assert len(times) == 2
    writer.delete(within(told))


def test_what_the_rules_propose_is_part_of_a_branch(admin: httpx2.Client, writer: httpx2.Client) -> None:
    said = (
        ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", M + "SingleValuedBySubject"),
        (M + "predicate", "urn:home"),
        (M + "propose", M + "EndOlder"),
    )
    rule = [
        {"op": "assert", "subject": "urn:rule", "predicate": p, "object": {"@id": o}, "graph": M + "rules"}
        for p, o in said
    ]
    write(admin, *rule)

    def home(value: str, since: str) -> Json:
        said = {"op": "assert", "subject": "urn:r", "predicate": "urn:home", "object": {"@id": value}, "graph": G}
        return {**said, "validFrom": since}

    write(admin, home("urn:rome", "2019"))
    told = hold(writer, home("urn:paris", "2024"))
    asks = {"query": "SELECT ?h { <urn:r> <urn:home> ?h }"}
    csv = {"Accept": "text/csv"}
    assert writer.get(f"{within(told)}/sparql", params=asks, headers=csv).text.split() == ["h", "urn:paris"]
    then = {**asks, "valid-at": "2022"}
    assert writer.get(f"{within(told)}/sparql", params=then, headers=csv).text.split() == ["h", "urn:rome"]
    writer.delete(within(told))
    write(admin, *({**each, "op": "retract"} for each in rule))


def test_submitting_says_what_is_otherwise_than_when_it_was_looked_at(
    admin: httpx2.Client, writer: httpx2.Client
) -> None:
    told = hold(writer, named("urn:o", "one"))
    head = told["head"]
    assert told["findings"] == []
    assert admin.put("/queries/names", json=NAMES | {"action": "review"}).status_code == 201
    answer = writer.post(f"{within(told)}/submit", params={"reason": "enough"})
    assert answer.status_code == 202
    since = answer.json()["since"]
    assert (since["head"], since["verdict"], since["gone"]) == (head, "clear", [])
    assert [each["query"] for each in since["found"]] == ["names"]
    admin.put("/queries/names", json=NAMES | {"action": "refuse"})
    told = hold(writer, named("urn:o", "two"))
    refused = writer.post(f"{within(told)}/submit")
    assert refused.status_code == 422
    assert writer.get(within(told)).json()["state"] == "open"
    admin.delete("/queries/names")
    assert writer.post(f"{within(told)}/submit").status_code == 201
    write(admin, named("urn:o", "two", "retract"))


def routes(branch: str) -> Iterator[tuple[str, str, Json]]:
    plan = {"changes": [named("urn:x", "x")]}
    yield "GET", f"/what-if/{branch}", {}
    yield "POST", f"/what-if/{branch}/plans", {"json": plan}
    yield "GET", f"/what-if/{branch}/sparql", {"params": {"query": "SELECT * { ?s ?p ?o }"}}
    yield "POST", f"/what-if/{branch}/sparql", {"data": {"query": "ASK {}"}}
    yield "POST", f"/what-if/{branch}/submit", {}
    yield "DELETE", f"/what-if/{branch}", {}


def test_for_all_others_a_branch_is_as_one_that_never_was(
    service: Served, admin: httpx2.Client, writer: httpx2.Client
) -> None:
    before = admin.get("/certificates").json(), admin.get("/log/checkpoint").text, service.base.stores.feed.position
    told = hold(writer, named("urn:secret", "secret"), reason="secret plans")
    same = {"X-Request-Id": "one"}
    for other in (service.client(Role.EDITOR), service.client(Role.WRITER), service.client(Role.READER)):
        assert other.get("/what-if").json() == {"items": []}
        for (verb, path, more), (_, never, _) in zip(routes(told["branch"]), routes(str(uuid4())), strict=True):
            one, two = (other.request(verb, each, headers=same, **more) for each in (path, never))
            assert (one.status_code, one.text) == (two.status_code, two.text)
            assert one.status_code == 404, path
        assert other.get("/what-if/not-an-id").status_code == 404
    assert "secret" not in admin.get("/metrics").text
    after = admin.get("/certificates").json(), admin.get("/log/checkpoint").text, service.base.stores.feed.position
    assert after == before
    mine = writer.get("/what-if").json()["items"]
    assert [each["branch"] for each in mine] == [told["branch"]]
    assert mine == [each for each in admin.get("/what-if").json()["items"] if each["branch"] == told["branch"]]
    assert admin.get(within(told)).json()["verdict"] == "clear"
    assert "secret" in names(admin, within(told))
    assert admin.delete(within(told)).status_code == 200
    assert writer.get(within(told)).status_code == 404


def test_whoever_asks_a_branch_reads_the_graphs_that_they_may_read(service: Served, admin: httpx2.Client) -> None:
    write(admin, named("urn:hidden", "hidden", graph="urn:hidden-graph"))
    client = service.client(Role.WRITER, "urn:mine")
    told = hold(client, named("urn:mine-s", "mine", graph="urn:mine"))
    assert names(client, within(told)) == ["mine"]
    graphs = asked(client, within(told), "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }", {})
    assert graphs == ["g", "urn:mine"]
    assert client.post("/what-if", json={"changes": [named("urn:x", "x", graph=H)]}).status_code == 403
    more = client.post(f"{within(told)}/plans", json={"changes": [named("urn:x", "x", graph=H)]})
    assert (more.status_code, more.json()["where"]) == (403, "/changes/0")
    assert client.get(within(told)).json()["plans"] == 1
    assert service.client(Role.READER).post("/what-if", json={"changes": [named("urn:x", "x")]}).status_code == 403


def test_branches_are_bounded_in_number_size_and_time(service: Served, admin: httpx2.Client, clock: SetClock) -> None:
    client = service.client(Role.WRITER)
    held = [hold(client, named(f"urn:bound{number}", "x")) for number in range(3)]
    full = client.post("/what-if", json={"changes": [named("urn:bound", "x")]})
    assert (full.status_code, full.json()["state"]) == (409, "full")
    assert client.post(f"{within(held[0])}/submit").status_code == 201
    hold(client, named("urn:bound", "x"))
    many = {"changes": [named(f"urn:many{number}", "x") for number in range(20)]}
    much = client.post(f"{within(held[1])}/plans", json=many)
    assert (much.status_code, much.json()["code"]) == (422, "too-many-changes")
    assert client.get(within(held[1])).json()["changes"] == 1
    wrong = client.post(
        f"{within(held[1])}/plans", json={"changes": [named("urn:never", "x", "retract")], "reason": "no"}
    )
    assert (wrong.status_code, wrong.json()["where"]) == (422, "/changes/0")
    cites = {"changes": [named("urn:c", "x")], "episode": "urn:episode:1"}
    assert client.post(f"{within(held[1])}/plans", json=cites).json()["where"] == "/episode"
    long = {"changes": [named("urn:c", "x")], "reason": "r" * 9_000}
    assert client.post(f"{within(held[1])}/plans", json=long).status_code == 200
    too_long = client.post(f"{within(held[1])}/plans", json=long | {"reason": "s" * 2_000})
    assert (too_long.status_code, too_long.json()["where"]) == (400, "/reason")
    clock.move(599 * SECOND)
    assert client.get(within(held[1])).status_code == 200
    clock.move(2 * SECOND)
    assert client.get(within(held[1])).status_code == 404
    assert client.get("/what-if").json() == {"items": []}


def test_a_branch_takes_documents_and_no_updates_and_calls_nobody(admin: httpx2.Client, writer: httpx2.Client) -> None:
    body = '<urn:doc> <urn:name> "of a document" .'
    answer = writer.post("/what-if", params={"graph": G}, content=body, headers={"Content-Type": "text/turtle"})
    assert (answer.status_code, answer.json()["verdict"]) == (201, "clear")
    path = within(answer.json())
    update = writer.post(
        f"{path}/sparql", content="DELETE WHERE { ?s ?p ?o }", headers={"Content-Type": "application/sparql-update"}
    )
    assert (update.status_code, update.json()["code"]) == (400, "query-refused")
    service = writer.get(f"{path}/sparql", params={"query": "SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } }"})
    assert (service.status_code, service.json()["code"]) == (400, "query-refused")
    assert writer.post(f"{path}/sparql", data={"query": "ASK { <urn:doc> ?p ?o }"}).json()["boolean"] is True
    writer.delete(path)


def test_a_purge_leaves_no_branch(service: Served, admin: httpx2.Client, writer: httpx2.Client) -> None:
    write(admin, named("urn:purged", "to be purged"))
    told, other = hold(writer, named("urn:purged", "to be purged", "end")), hold(writer, named("urn:p", "x"))
    preview = admin.post("/purges", json={"preview": True, "node": "urn:purged"}).json()
    purged = admin.post("/purges", json={"node": "urn:purged", "reason": "asked to", "digest": preview["digest"]})
    assert purged.status_code in {201, 202}, purged.text
    assert [writer.get(within(each)).status_code for each in (told, other)] == [404, 404]
    again = writer.post("/what-if", json={"changes": [named("urn:purged", "to be purged")]})
    assert (again.status_code, again.json()["code"]) == (422, "purged")
    assert writer.get("/what-if").json() == {"items": []}


def test_a_token_that_cites_tries_freely_and_cites_with_submitting(service: Served) -> None:
    client = service.client_of(Principal(f"agent-{uuid4()}", Role.WRITER, cites=True))
    told = hold(client, named("urn:cited", "cited"))
    assert client.post(f"{within(told)}/plans", json={"changes": [named("urn:cited2", "cited")]}).status_code == 200
    assert client.post(f"{within(told)}/submit").status_code in {403, 409, 428}
    state = client.get(f"{within(told)}/sparql", params={"query": "ASK {}"}).headers["Muniment-Read-State"]
    done = client.post(f"{within(told)}/submit", headers={"Muniment-Read-State": state})
    assert done.status_code == 201
    assert client.delete(within(told)).status_code == 200


def test_the_command_holds_shows_submits_and_drops(service: Served, tmp_path: Path) -> None:
    plan, token = tmp_path / "plan.json", tmp_path / "token"
    plan.write_text(json.dumps({"changes": [named("urn:cli", "by command")]}))
    token.write_text(service.token(Role.WRITER))
    token.chmod(0o600)
    at = ("--url", service.url, "--token-file", str(token))

    def ran(*arguments: str) -> Ended:
        return run("what-if", *arguments, *at)

    held = ran("hold", str(plan))
    assert (held.status, "verdict      clear" in held.output) == (0, True), held
    branch = held.output.split()[1]
    plan.write_text(json.dumps({"changes": [named("urn:cli", "by another")]}))
    assert "2 changes in 2 plans" in ran("add", branch, str(plan)).output
    assert branch in ran("list").output
    assert ran("show", branch).status == 0
    asks = "SELECT ?n { <urn:cli> <urn:name> ?n } ORDER BY ?n"
    answer = run("query", asks, "--url", f"{service.url}/what-if/{branch}", "--token-file", str(token))
    assert ("by another" in answer.output, "by command" in answer.output) == (True, True), answer
    submitted = ran("submit", branch)
    assert (submitted.status, "applied" in submitted.output) == (0, True)
    assert ran("drop", branch).status == 0
    gone = ran("show", branch)
    assert (gone.status, "there is no such branch" in gone.errors) == (1, True)
