"""`/queries` over HTTP: registering, who may see what, what a change does to answers, and how an answer stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

import httpx2
import pytest

from bridge.base import Base
from kernel.access import Principal, Role
from kernel.terms import Iri
from kernel.time.instants import SECOND, parse_instant
from tests.api.console import Ended, run
from tests.api.serving import Served, served
from tests.bridge.writing import PATIENCE, SetClock

Json = dict[str, Any]

G, H = "urn:g", "urn:h"
NAMES: Final = {
    "query": "SELECT ?who ?name { ?who <urn:name> ?name }",
    "owner": "city-desk",
    "contact": "desk@city.example",
    "graphs": [G],
    "action": "review",
}


@pytest.fixture(scope="module")
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="module")
def service(clock: SetClock) -> Iterator[Served]:
    with Base.open(None, host=clock) as base, served(base) as service:
        yield service


@pytest.fixture(scope="module")
def admin(service: Served) -> httpx2.Client:
    return service.client(Role.ADMINISTRATOR)


def change(
    client: httpx2.Client, subject: str, value: str, graph: str = G, predicate: str = "urn:name", **more: str
) -> Json:
    said = {"op": "assert", "subject": subject, "predicate": predicate, "object": {"@value": value}, "graph": graph}
    answer = client.post("/changes", json={"changes": [{**said, **more}]})
    assert answer.status_code in {201, 202, 422}, answer.text
    told: Json = answer.json()
    return told


def state(client: httpx2.Client) -> dict[str, str]:
    answer = client.get("/sparql", params={"query": "ASK {}"})
    return {"held-head": answer.headers["Muniment-Head"], "held-valid-at": answer.headers["Muniment-Valid-At"]}


def standing(client: httpx2.Client, name: str, held: dict[str, str]) -> Json:
    answer = client.get(f"/queries/{name}", params=held)
    assert answer.status_code == 200, answer.text
    stands: Json = answer.json()["standing"]
    return stands


@pytest.fixture
def names(admin: httpx2.Client) -> Iterator[str]:
    assert admin.put("/queries/names", json=NAMES).status_code == 201
    yield "names"
    assert admin.delete("/queries/names").status_code == 200


def test_a_query_is_registered_replaced_and_taken_away_by_certificates(admin: httpx2.Client) -> None:
    first = admin.put("/queries/one", json=NAMES)
    assert first.status_code == 201
    assert first.headers["Location"].startswith("/certificates/")
    again = admin.put("/queries/one", json=NAMES)
    assert (again.status_code, again.json()["certificate"]) == (200, None)
    head = admin.get("/health").json()["head"]
    assert admin.put("/queries/one", json={**NAMES, "weight": 7, "moment": "2024"}).status_code == 200
    found = admin.get("/queries/one").json()
    assert (found["weight"], found["moment"], found["action"]) == (7, "2024-01-01T00:00:00Z", "review")
    assert len(found["certificates"]) == 2
    before = admin.get("/queries/one", params={"as-of": f"head:{head}"}).json()
    assert (before["weight"], before["moment"]) == (1, "now")
    assert [each["name"] for each in admin.get("/queries").json()["items"]] == ["one"]
    assert admin.delete("/queries/one").status_code == 200
    assert admin.get("/queries/one").status_code == 404
    assert admin.delete("/queries/one").status_code == 404


def test_a_certificate_names_the_queries_that_it_was_judged_by(admin: httpx2.Client, names: str) -> None:
    def judged_by() -> str:
        told = change(admin, "urn:a", "x", predicate="urn:other")
        certificate = admin.get(f"/certificates/{told['certificate'].removeprefix('urn:uuid:')}").json()
        digest: str = certificate["credential"]["credentialSubject"]["queriesDigest"]
        return digest

    before = judged_by()
    assert judged_by() == before
    admin.put(f"/queries/{names}", json={**NAMES, "weight": 9})
    assert judged_by() != before


def test_several_are_registered_under_one_certificate_or_none_of_them(admin: httpx2.Client) -> None:
    bad = admin.post("/queries", json={"queries": {"a": NAMES, "b": {**NAMES, "query": "SELECT (NOW() AS ?t) {}"}}})
    assert bad.status_code == 400
    assert bad.json()["where"] == "b: query"
    assert admin.get("/queries").json()["items"] == []
    good = admin.post("/queries", json={"queries": {"a": NAMES, "b": {**NAMES, "query": "ASK { ?s <urn:q> ?o }"}}})
    assert good.status_code == 201
    assert [each["name"] for each in admin.get("/queries").json()["items"]] == ["a", "b"]
    for name in "ab":
        assert admin.get(f"/queries/{name}").json()["certificates"][0]["certificate"] == good.json()["certificate"]
        admin.delete(f"/queries/{name}")


@pytest.mark.parametrize(
    ("members", "where"),
    [
        ({"query": "SELECT * { ?s ?p"}, "query"),
        ({"query": "SELECT (RAND() AS ?x) {}"}, "query"),
        ({"query": "SELECT (UUID() AS ?x) {}"}, "query"),
        ({"query": "SELECT (STRUUID() AS ?x) {}"}, "query"),
        ({"query": "SELECT (BNODE() AS ?x) {}"}, "query"),
        ({"query": "SELECT * { SERVICE <http://example.org/> { ?s ?p ?o } }"}, "query"),
        ({"query": "SELECT (SAMPLE(?s) AS ?x) { ?s ?p ?o }"}, "query"),
        ({"query": "SELECT * { ?s ?p ?o } LIMIT 3"}, "query"),
        ({"query": "SELECT * { { SELECT * { ?s ?p ?o } LIMIT 3 } } ORDER BY ?s"}, "query"),
        ({"query": "CONSTRUCT { [] ?p ?o } WHERE { ?s ?p ?o }"}, "query"),
        ({"query": "INSERT DATA { <urn:a> <urn:b> <urn:c> }"}, "query"),
        ({"query": "SELECT * { GRAPH <https://w3id.org/muniment#shapes> { ?s ?p ?o } }"}, "query"),
        ({"query": "SELECT * { <a> ?p ?o }"}, "query"),
        ({"weight": 101}, "/weight"),
        ({"weight": 1.5}, "/weight"),
        ({"action": "shout"}, "/action"),
        ({"graphs": ["not an iri"]}, "/graphs"),
        ({"graphs": ["https://w3id.org/muniment#rules"]}, "/graphs"),
        ({"moment": "soon"}, "/moment"),
        ({"owner": " "}, "/owner"),
        ({"owner": "desk\u0000"}, "/owner"),
        ({"contact": "desk\u202emoc.elpmaxe"}, "/contact"),
        ({"note": "x"}, "/note"),
    ],
)
def test_what_cannot_be_registered_is_refused_with_its_place(
    admin: httpx2.Client, members: dict[str, object], where: str
) -> None:
    answer = admin.put("/queries/bad", json={**NAMES, **members})
    assert answer.status_code == 400, answer.text
    assert where in answer.json()["where"]
    assert answer.json()["remedy"]
    assert admin.get("/queries/bad").status_code == 404


def test_a_registered_query_written_as_statements_is_held_against_the_same_rules(admin: httpx2.Client) -> None:
    node, graph = "https://w3id.org/muniment/query/raw", "https://w3id.org/muniment#queries"
    said = {"subject": node, "predicate": "https://w3id.org/muniment#queryText", "object": {"@value": "ASK {}"}}
    answer = admin.post("/changes", json={"changes": [{"op": "assert", "graph": graph, **said}]})
    assert answer.status_code == 422
    assert [each["code"] for each in answer.json()["findings"]] == ["invalid-query"]


def test_registering_takes_an_administrator_and_seeing_takes_one_or_the_owner(
    service: Served, admin: httpx2.Client, names: str
) -> None:
    for role in (Role.READER, Role.EDITOR):
        client = service.client(role)
        assert client.put("/queries/mine", json=NAMES).status_code == 403
        assert client.delete(f"/queries/{names}").status_code == 403
        assert client.get(f"/queries/{names}").status_code == 404
        assert client.get("/queries").json()["items"] == []
    owner = service.client_of(Principal("city-desk", Role.READER))
    assert owner.get(f"/queries/{names}").json()["contact"] == "desk@city.example"
    assert [each["name"] for each in owner.get("/queries").json()["items"]] == [names]
    assert owner.put(f"/queries/{names}", json={**NAMES, "action": "note"}).status_code == 403


def test_a_change_says_whose_answer_it_changes_and_waits(admin: httpx2.Client, names: str) -> None:
    told = change(admin, "urn:a", "Ann")
    assert (told["verdict"], told["state"]) == ("review", "pending")
    (finding,) = told["findings"]
    assert (finding["code"], finding["severity"]) == ("impact", "warning")
    assert (finding["query"], finding["owner"]) == (names, "city-desk")
    assert (finding["gained"], finding["lost"]) == (1, 0)
    row = {"who": {"@id": "urn:a"}, "name": {"@value": "Ann"}}
    assert finding["sample"] == [{"change": "gained", "times": 1, "row": row}]
    certificate = told["certificate"].removeprefix("urn:uuid:")
    held = state(admin)
    approved = admin.post(f"/certificates/{certificate}/decision", json={"decision": "approve"})
    assert approved.json()["state"] == "applied"
    stands = standing(admin, names, held)
    assert (stands["freshness"], stands["certificates"]) == ("changed", [told["certificate"]])


def test_case_42_an_unrelated_change_leaves_an_answer_fresh(admin: httpx2.Client, names: str) -> None:
    held = state(admin)
    for told in (
        change(admin, "urn:a", "x", predicate="urn:other"),
        change(admin, "urn:a", "Ann", graph=H),
        change(admin, "urn:b", "Bob", validFrom="2090"),
    ):
        assert (told["verdict"], told["findings"]) == ("clear", [])
    assert standing(admin, names, held)["freshness"] == "fresh"


def test_an_action_may_refuse_and_may_only_note(admin: httpx2.Client) -> None:
    admin.put("/queries/strict", json={**NAMES, "graphs": ["urn:strict"], "action": "refuse"})
    admin.put("/queries/mild", json={**NAMES, "graphs": ["urn:mild"], "action": "note"})
    assert change(admin, "urn:a", "Ann", "urn:strict")["state"] == "refused"
    noted = change(admin, "urn:a", "Ann", "urn:mild")
    assert (noted["state"], noted["findings"][0]["severity"]) == ("applied", "info")
    for name in ("strict", "mild"):
        admin.delete(f"/queries/{name}")


def test_impact_is_shown_to_those_alone_who_may_read_all_that_it_was_drawn_from(
    service: Served, admin: httpx2.Client
) -> None:
    both = {**NAMES, "graphs": ["urn:mine", "urn:secret"], "action": "note", "owner": "both-desk"}
    admin.put("/queries/both", json=both)
    writer = service.client(Role.WRITER, "urn:mine")
    told = change(writer, "urn:c", "Cid", "urn:mine")
    assert (told["state"], told["findings"], told.get("why")) == ("applied", [], None)
    seen = admin.get(f"/certificates/{told['certificate'].removeprefix('urn:uuid:')}").json()
    assert [each["query"] for each in seen["findings"]] == ["both"]
    owner = service.client_of(Principal("both-desk", Role.READER, frozenset({Iri("urn:mine")})))
    assert "standing" not in owner.get("/queries/both", params=state(owner)).json()
    admin.delete("/queries/both")


def test_an_answer_is_possibly_stale_once_something_begins_by_itself(
    service: Served, admin: httpx2.Client, clock: SetClock, names: str
) -> None:
    soon = clock.now() + 5 * SECOND
    held_until = parse_instant("2026-05-06T13:00:00Z")
    assert soon < held_until
    told = change(admin, "urn:soon", "Soon", validFrom="2026-05-06T13:00:00Z")
    assert told["verdict"] == "clear"
    held = state(admin)
    assert standing(admin, names, held)["freshness"] == "fresh"
    clock.at = held_until
    until = monotonic() + PATIENCE
    while (stands := standing(admin, names, held))["freshness"] == "fresh":  # no write is needed
        assert monotonic() < until
        sleep(0.05)
    assert (stands["freshness"], stands["clock"], stands["certificates"]) == ("possibly-stale", True, [])


def test_a_dry_run_tells_impact_and_keeps_nothing(admin: httpx2.Client, names: str) -> None:
    said = {"op": "assert", "subject": "urn:dry", "predicate": "urn:name", "object": {"@value": "Dry"}, "graph": G}
    answer = admin.post("/changes", params={"dry-run": "true"}, json={"changes": [said]})
    assert answer.json()["findings"][0]["gained"] == 1
    update = admin.post(
        "/sparql",
        params={"dry-run": "true"},
        content=f'INSERT DATA {{ GRAPH <{G}> {{ <urn:u> <urn:name> "U" , "V" }} }}',
        headers={"Content-Type": "application/sparql-update"},
    )
    assert update.json()["findings"][0]["gained"] == 2


def test_a_team_registers_its_files_in_one_go(service: Served, admin: httpx2.Client, tmp_path: Path) -> None:
    token = service.token(Role.ADMINISTRATOR)

    def queries(*words: str | Path) -> Ended:
        return run("queries", *words, "--url", service.url, "--token-env", "QUERIES_TOKEN", QUERIES_TOKEN=token)

    head = "# owner: city-desk\n# contact: desk@city.example\n"
    first, second = tmp_path / "first.rq", tmp_path / "other.rq"
    first.write_text(f"{head}# action: note\n# A comment of any kind.\nSELECT * {{ ?s <urn:name> ?o }}\n")
    second.write_text(f"{head}# name: second\n# graph: {G}\n# graph: {H}\n# moment: 2024\nASK {{ ?s ?p ?o }}\n")
    loaded = queries("load", first, second)
    assert loaded.status == 0, loaded.errors
    assert loaded.value("state") == "applied"
    assert admin.get("/queries/second").json()["graphs"] == [G, H]
    assert queries("load", first, second).output.startswith("nothing to change")
    assert [line.split()[:2] for line in queries("list").lines] == [
        ["first", "note"],
        ["second", "review"],
    ]
    second.write_text(f"{head}# colour: blue\nASK {{}}\n")
    wrong = queries("load", first, second)
    assert (wrong.status, "other.rq" in wrong.errors, "colour" in wrong.errors) == (1, True, True)
    assert queries("put", "third", first).status == 0
    for name in ("first", "second", "third"):
        assert queries("remove", name).status == 0
    assert queries("list").output == ""
