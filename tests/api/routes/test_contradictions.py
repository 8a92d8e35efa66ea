"""Contradictions over HTTP and on their page: what stands, for whom, how long, whose it is, and when it is settled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import httpx2
import pytest

from bridge.base import Base
from bridge.entailment import foreseeing
from kernel.access import Role
from kernel.terms import RDF
from kernel.vocabulary import RULES_GRAPH, M
from tests.api.serving import Served, served
from tests.bridge.writing import PATIENCE, SetClock

Json = dict[str, Any]

G, H = "urn:g", "urn:h"
SINGLE: Final = {"@type": [M + "SingleValuedBySubject"], M + "predicate": "urn:livesIn", M + "propose": M + "KeepBoth"}
APART: Final = {"@type": [M + "DisjointClasses"], M + "class": ["urn:Person", "urn:Place"]}
TRUE: Final = {"@value": "true", "@type": "http://www.w3.org/2001/XMLSchema#boolean"}
ACROSS: Final = {
    "@type": [M + "SingleValuedBySubject"],
    M + "predicate": "urn:bornIn",
    M + "acrossGraphs": TRUE,
}


@pytest.fixture(scope="module")
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="module")
def service(clock: SetClock) -> Iterator[Served]:
    with Base.open(None, host=clock) as base, served(base) as service:
        admin = service.client(Role.ADMINISTRATOR)
        for node, described in (("urn:r1", SINGLE), ("urn:r2", APART), ("urn:r3", ACROSS)):
            said = []
            for predicate, values in described.items():
                name = RDF + "type" if predicate == "@type" else predicate
                for value in values if isinstance(values, list) else [values]:
                    term = value if isinstance(value, dict) else {"@id": value}
                    said.append({"subject": node, "predicate": name, "object": term, "graph": RULES_GRAPH.value})
            answer = admin.post("/changes", json={"changes": [{"op": "assert", **each} for each in said]})
            assert answer.status_code == 201, answer.text
        yield service


@pytest.fixture(scope="module")
def admin(service: Served) -> httpx2.Client:
    return service.client(Role.ADMINISTRATOR)


def say(
    client: httpx2.Client, subject: str, predicate: str, value: str, graph: str = G, **more: str
) -> httpx2.Response:
    said = {"op": "assert", "subject": subject, "predicate": predicate, "object": {"@id": value}, "graph": graph}
    return client.post("/changes", json={"changes": [{**said, **more}]})


def let_in(client: httpx2.Client, subject: str, predicate: str, value: str, graph: str = G, **more: str) -> Json:
    answer = say(client, subject, predicate, value, graph, **more)
    assert answer.status_code == 202, answer.text
    certificate = answer.headers["Location"]
    decided = client.post(f"{certificate}/decision", json={"decision": "approve"})
    assert decided.status_code == 200, decided.text
    assert decided.json()["state"] == "applied"
    told: Json = answer.json()
    return told


def standing(client: httpx2.Client, **asked: str) -> list[Json]:
    answer = client.get("/contradictions", params=asked)
    assert answer.status_code == 200, answer.text
    items: list[Json] = answer.json()["items"]
    return items


def about(client: httpx2.Client, subject: str, **asked: str) -> list[Json]:
    return [each for each in standing(client, **asked) if each["found"]["focus"] == subject]


def test_what_is_let_in_stands_until_it_is_settled(admin: httpx2.Client) -> None:
    assert say(admin, "urn:ann", "urn:livesIn", "urn:paris", validFrom="2019").status_code == 201
    told = let_in(admin, "urn:ann", "urn:livesIn", "urn:rome", validFrom="2020")
    [stands] = about(admin, "urn:ann")
    assert stands["certificate"] == told["certificate"]
    assert (stands["found"]["kind"], stands["found"]["code"]) == ("value", "single-valued-by-subject")
    assert stands["found"]["statement"] == "<urn:ann> <urn:livesIn> <urn:rome> <urn:g> ."
    assert stands["found"]["against"] == "<urn:ann> <urn:livesIn> <urn:paris> <urn:g> ."
    assert stands["during"] == [{"from": "2020-01-01T00:00:00Z"}]
    assert stands["assigned"] is False
    ending = {"op": "end", "subject": "urn:ann", "predicate": "urn:livesIn", "object": {"@id": "urn:paris"}, "graph": G}
    assert admin.post("/changes", json={"changes": [{**ending, "at": "2022"}]}).status_code == 201
    [stands] = about(admin, "urn:ann")
    assert stands["during"] == [{"from": "2020-01-01T00:00:00Z", "to": "2022-01-01T00:00:00Z"}]
    retracting = {**ending, "op": "retract"}
    assert admin.post("/changes", json={"changes": [retracting]}).status_code == 201
    assert about(admin, "urn:ann") == []


def test_what_contradicts_again_or_over_other_years_is_listed_once_for_each(admin: httpx2.Client) -> None:
    say(admin, "urn:again", "urn:livesIn", "urn:paris", validFrom="1990")
    first = let_in(admin, "urn:again", "urn:livesIn", "urn:rome", validFrom="2000", validTo="2005")
    second = let_in(admin, "urn:again", "urn:livesIn", "urn:rome", validFrom="2004", validTo="2015")
    years = [
        {"from": f"{start}-01-01T00:00:00Z", "to": f"{end}-01-01T00:00:00Z"}
        for start, end in ((2000, 2005), (2005, 2015))
    ]
    listed = [(each["certificate"], each["during"]) for each in about(admin, "urn:again")]
    assert listed == [(told["certificate"], [part]) for told, part in zip((first, second), years, strict=True)]
    undone = admin.post(f"/certificates/{second['certificate'].removeprefix('urn:uuid:')}/revert")
    assert undone.status_code == 201, undone.text
    assert [each["certificate"] for each in about(admin, "urn:again")] == [first["certificate"]]
    again = admin.post(f"{undone.headers['Location']}/revert")
    assert again.status_code == 202, again.text
    assert [each["certificate"] for each in about(admin, "urn:again")] == [first["certificate"]]
    admin.post(f"{again.headers['Location']}/decision", json={"decision": "approve"})
    listed = [(each["certificate"], each["during"]) for each in about(admin, "urn:again")]
    third = again.json()["certificate"]
    assert listed == [(first["certificate"], [years[0]]), (third, [years[1]])]


def test_what_waits_or_was_rejected_does_not_stand(admin: httpx2.Client) -> None:
    assert say(admin, "urn:bob", RDF + "type", "urn:Person").status_code == 201
    answer = say(admin, "urn:bob", RDF + "type", "urn:Place")
    assert answer.status_code == 202
    assert about(admin, "urn:bob") == []
    waiting = admin.get("/certificates", params={"state": "pending", "kind": "type"}).json()["items"]
    assert [each["certificate"] for each in waiting] == [answer.json()["certificate"]]
    assert admin.get("/certificates", params={"state": "pending", "kind": "temporal"}).json()["items"] == []
    admin.post(f"{answer.headers['Location']}/decision", json={"decision": "reject"})
    assert about(admin, "urn:bob") == []


def test_owners_are_who_approved_until_another_is_given(service: Served, admin: httpx2.Client) -> None:
    say(admin, "urn:cay", RDF + "type", "urn:Person")
    told = let_in(admin, "urn:cay", RDF + "type", "urn:Place")
    [stands] = about(admin, "urn:cay", kind="type")
    approver = stands["owner"]
    path = f"/contradictions/{told['certificate']}/{stands['finding']}/owner"
    assert about(admin, "urn:cay", kind="value") == []
    writer = service.client(Role.WRITER, G)
    assert writer.put(path, json={"owner": "me"}).status_code == 403
    answer = admin.put(path, json={"owner": "dora"})
    assert (answer.status_code, answer.json()["owner"], answer.json()["assigned"]) == (200, "dora", True)
    assert about(admin, "urn:cay", owner="dora")[0]["owner"] == "dora"
    assert about(admin, "urn:cay", owner=approver) == []
    for wrong in ({"owner": ""}, {"owner": "a b"}, {"owner": 3}, {"owners": "x"}, {}):
        assert admin.put(path, json=wrong).status_code == 400, wrong
    assert admin.put(path.replace("/0/", "/7/"), json={"owner": "x"}).status_code == 404


def test_nobody_sees_one_of_graphs_that_they_do_not_read(service: Served, admin: httpx2.Client) -> None:
    assert say(admin, "urn:eve", "urn:bornIn", "urn:oslo", H).status_code == 201
    told = let_in(admin, "urn:eve", "urn:bornIn", "urn:rome", G)
    [stands] = about(admin, "urn:eve")
    assert sorted({line.split()[3] for line in (stands["found"]["statement"], stands["found"]["against"])}) == [
        "<urn:g>",
        "<urn:h>",
    ]
    for graph in (G, H):
        reader = service.client(Role.EDITOR, graph)
        assert about(reader, "urn:eve") == []
        path = f"/contradictions/{told['certificate']}/{stands['finding']}/owner"
        assert reader.put(path, json={"owner": "x"}).status_code == 404
    assert about(service.client(Role.READER, G, H), "urn:eve") == [stands]


def test_pages_of_the_list_give_each_once(admin: httpx2.Client) -> None:
    for number in range(3):
        say(admin, f"urn:many{number}", RDF + "type", "urn:Person")
        let_in(admin, f"urn:many{number}", RDF + "type", "urn:Place")
    whole, paged, after = standing(admin), [], None
    while True:
        page = admin.get("/contradictions", params={"limit": "1", **({} if after is None else {"after": after})}).json()
        paged += page["items"]
        after = page["next"]
        if after is None:
            break
    assert paged == whole
    assert len(whole) >= 3
    assert admin.get("/contradictions", params={"after": "nothing"}).status_code == 400
    assert admin.get("/contradictions", params={"kind": "odd"}).status_code == 400


def test_what_refuses_an_edge_is_told_to_those_who_may_read_the_graphs_of_its_types(
    service: Served, admin: httpx2.Client
) -> None:
    said = [("urn:mends", M + "predicate"), ("urn:Smith", M + "subjectClass")]
    rule = [{"object": {"@id": value}, "predicate": name} for value, name in said]
    rule += [
        {"predicate": RDF + "type", "object": {"@id": M + "EdgeSignature"}},
        {"predicate": M + "acrossGraphs", "object": TRUE},
    ]
    changes = [{"op": "assert", "subject": "urn:r4", "graph": RULES_GRAPH.value, **each} for each in rule]
    assert admin.post("/changes", json={"changes": changes}).status_code == 201
    assert say(admin, "urn:ivy", RDF + "type", "urn:Tailor", H).status_code == 201
    waiting = say(service.client(Role.WRITER, G), "urn:ivy", "urn:mends", "urn:coat")
    assert (waiting.status_code, [each["severity"] for each in waiting.json()["findings"]]) == (202, ["warning"])
    assert "Tailor" not in waiting.text
    findings = say(service.client(Role.WRITER, G, H), "urn:ivy", "urn:mends", "urn:coat").json()["findings"]
    assert {each["code"] for each in findings} == {"edge-signature"}
    assert ["<urn:ivy> is of <urn:Tailor>" in each["message"] for each in findings] == [False, True]


def test_an_inconsistency_that_was_let_in_is_listed_until_it_cannot_follow_any_more(
    clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreseeing, "WAIT", PATIENCE)
    owl, rdfs = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
    ontology, kind = M + "ontology", RDF + "type"
    with Base.open(None, host=clock) as base, served(base) as service:
        admin = service.client(Role.ADMINISTRATOR)
        for subject, predicate, value in (
            (ontology, M + "entailment", "http://www.w3.org/ns/owl-profile/RL"),
            ("urn:Poet", rdfs + "subClassOf", "urn:Person"),
            ("urn:Person", owl + "disjointWith", "urn:Stone"),
        ):
            assert say(admin, subject, predicate, value, ontology).status_code == 201
        assert say(admin, "urn:ann", kind, "urn:Stone").status_code == 201
        let_in(admin, "urn:ann", kind, "urn:Poet")
        (listed,) = standing(admin, kind="logical")
        assert listed["found"]["code"] == "inconsistent"
        assert "of this change, what leads to it is <urn:ann>" in listed["found"]["message"]
        assert standing(service.client(Role.READER, "urn:elsewhere")) == []
        retracted = {"op": "retract", "subject": "urn:Poet", "predicate": rdfs + "subClassOf", "graph": ontology}
        answer = admin.post("/changes", json={"changes": [{**retracted, "object": {"@id": "urn:Person"}}]})
        assert answer.status_code == 201, answer.text
        assert standing(admin) == [], "the class above is not hers any more"
