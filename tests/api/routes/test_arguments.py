"""`GET /arguments` and the page of a node: what is argued about a claim, by whom, for whom, and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import httpx2
import pytest

from bridge.base import Base
from kernel.access import Role
from kernel.terms import RDF
from kernel.vocabulary import RULES_GRAPH, M
from tests.api.pages.world import Page
from tests.api.serving import Served, served
from tests.bridge.writing import SetClock

Json = dict[str, Any]

G, H = "urn:g", "urn:h"
MURDER: Final = {"subject": {"@id": "urn:bob"}, "predicate": {"@id": "urn:killed"}, "object": {"@id": "urn:cid"}}
# Bob was seen in town (a fact); the alibi, a mere claim, opposes that he was there, which the murder implies.
CLAIMS: Final = f"""
PREFIX m: <{M}> PREFIX rdf: <{RDF}>
<urn:murder> rdf:reifies <<( <urn:bob> <urn:killed> <urn:cid> )>> ; m:implies <urn:presence> .
<urn:presence> rdf:reifies <<( <urn:bob> <urn:was> <urn:town> )>> .
<urn:alibi> rdf:reifies <<( <urn:eve> <urn:saw> <urn:bob> )>> ; m:opposes <urn:presence> .
"""


@pytest.fixture(scope="module")
def service() -> Iterator[Served]:
    with Base.open(None, host=SetClock()) as base, served(base) as service:
        admin = service.client(Role.ADMINISTRATOR)
        loaded = admin.post("/changes", params={"graph": G}, content=CLAIMS, headers={"Content-Type": "text/turtle"})
        assert loaded.status_code == 201, loaded.text
        yield service


@pytest.fixture(scope="module")
def admin(service: Served) -> httpx2.Client:
    return service.client(Role.ADMINISTRATOR)


def say(client: httpx2.Client, subject: str, predicate: str, value: str, graph: str = G, **more: str) -> None:
    said = {"op": "assert", "subject": subject, "predicate": predicate, "object": {"@id": value}, "graph": graph}
    answer = client.post("/changes", json={"changes": [{**said, **more}]})
    assert answer.status_code == 201, answer.text


def fact_of(client: httpx2.Client, subject: str, predicate: str) -> str:
    [found] = client.get("/facts", params={"subject": subject, "predicate": predicate, "valid-at": "any"}).json()[
        "items"
    ]
    named: str = found["fact"]
    return named


def arguments(client: httpx2.Client, fact: str, **asked: str) -> Json:
    answer = client.get("/arguments", params={"fact": fact, **asked})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def against(found: Json) -> list[str]:
    """The names of what opposes a claim."""
    claims = [found["claims"][found["steps"][step]["claim"]] for step in found["opposedBy"]]
    return [claim["names"][0] for claim in claims]


def test_an_argument_about_what_is_no_claim_is_refused(admin: httpx2.Client) -> None:
    said = {"op": "assert", "subject": "urn:alibi", "predicate": M + "supports", "object": {"@value": "x"}, "graph": G}
    refused = admin.post("/changes", json={"changes": [said]})
    assert (refused.status_code, refused.json()["code"], refused.json()["where"]) == (
        400,
        "invalid-change",
        "/changes/0",
    )
    assert "rdf:reifies" in refused.json()["remedy"]


def test_what_is_attacked_is_told_with_its_proof_and_by_whom(admin: httpx2.Client) -> None:
    found = arguments(admin, "urn:murder")
    asked = found["claims"][0]
    assert asked["claim"] == {"@triple": MURDER}
    assert (asked["names"], asked["believed"], found["complete"]) == (["urn:murder"], [], True)
    [implied] = found["implies"]
    assert found["steps"][implied]["stated"]["by"] == asked["claimed"][0]["by"] is not None
    assert found["steps"][implied]["stated"]["fact"]["certificate"].startswith("urn:uuid:")
    [opposed] = found["opposedBy"]
    step = found["steps"][opposed]
    assert step["rule"] == {"first": "opposes", "then": "implies", "back": True, "gives": "opposes"}
    assert [found["steps"][each]["relation"] for each in step["premises"]] == ["opposes", "implies"]
    assert all(each < opposed for each in step["premises"])
    assert against(found) == ["urn:alibi"]


def test_a_triple_names_the_same_claim_and_so_does_a_fact_whatever_took_its_place(
    service: Served, admin: httpx2.Client
) -> None:
    say(admin, "urn:ann", "urn:owns", "urn:gun")
    first = fact_of(admin, "urn:ann", "urn:owns")
    say(admin, first, M + "supports", "urn:murder")
    ended = {"op": "end", "fact": first, "at": "2030-01-01"}
    assert admin.post("/changes", json={"changes": [ended]}).status_code == 201
    second = fact_of(admin, "urn:ann", "urn:owns")
    assert second != first
    triple = {"subject": "urn:ann", "predicate": "urn:owns", "object": "urn:gun"}
    answers = [arguments(admin, first), arguments(admin, second), admin.get("/arguments", params=triple).json()]
    assert answers[0] == answers[1] == answers[2]
    assert {first, second} == set(answers[0]["claims"][0]["names"])
    assert [each["fact"] for each in answers[0]["claims"][0]["believed"]] == [second]
    assert len(answers[0]["supports"]) == 2, "what supports the murder supports what it implies"


def test_a_rule_of_the_table_has_more_follow(service: Served, admin: httpx2.Client) -> None:
    say(admin, "urn:forger", M + "opposes", "urn:deed")
    say(admin, "urn:expert", M + "opposes", "urn:forger")
    assert arguments(admin, "urn:deed")["supportedBy"] == []
    words = {RDF + "type": "ArgumentRule", M + "first": "opposes", M + "then": "opposes", M + "gives": "supports"}
    rule = [
        {"subject": "urn:r", "predicate": word, "object": {"@id": M + value}, "graph": RULES_GRAPH.value}
        for word, value in words.items()
    ]
    for operation in ("assert", "retract"):
        changed = admin.post("/changes", json={"changes": [{"op": operation, **each} for each in rule]})
        assert changed.status_code == 201, changed.text
        found = arguments(service.client(Role.READER, G), "urn:deed")
        assert len(found["supportedBy"]) == (operation == "assert")


def test_an_annotation_with_nothing_but_an_argument_is_one(service: Served, admin: httpx2.Client) -> None:
    text = f"PREFIX m: <{M}> <urn:fay> <urn:heard> <urn:shot> {{| m:supports <urn:murder> |}} ."
    sent = admin.post("/changes", params={"graph": G}, content=text, headers={"Content-Type": "text/turtle"})
    assert sent.status_code == 201, sent.text
    triple = {"subject": "urn:fay", "predicate": "urn:heard", "object": "urn:shot"}
    found = admin.get("/arguments", params=triple).json()
    assert len(found["supports"]) == 2
    assert len(found["claims"][0]["believed"]) == 1


def test_nothing_that_is_argued_is_believed(admin: httpx2.Client) -> None:
    assert admin.get("/facts", params={"subject": "urn:bob"}).json()["items"] == []
    asked = admin.get("/sparql", params={"query": "ASK { <urn:bob> <urn:was> <urn:town> }"})
    assert asked.json()["boolean"] is False


def test_arguments_hold_in_their_time_and_were_known_since_they_were_stated(admin: httpx2.Client) -> None:
    head = admin.get("/health").json()["head"]
    say(admin, "urn:witness", M + "opposes", "urn:alibi", validFrom="2000-01-01", validTo="2010-01-01")
    assert against(arguments(admin, "urn:alibi")) == []
    assert against(arguments(admin, "urn:alibi", **{"valid-at": "2005"})) == ["urn:witness"]
    assert against(arguments(admin, "urn:alibi", **{"valid-at": "2005", "as-of": f"head:{head}"})) == []


def test_nobody_learns_of_arguments_or_claims_of_other_graphs(service: Served, admin: httpx2.Client) -> None:
    say(admin, "urn:dan", "urn:hates", "urn:cid", H)
    secret = fact_of(admin, "urn:dan", "urn:hates")
    say(admin, secret, M + "supports", "urn:presence")
    say(admin, "urn:liar", M + "opposes", "urn:alibi", H)
    reader, both = service.client(Role.READER, G), service.client(Role.READER, G, H)
    hidden, shown = (arguments(client, "urn:presence") for client in (reader, both))
    assert {"@id": secret} in [claim["claim"] for claim in hidden["claims"]]
    assert not any("urn:dan" in str(claim) for claim in hidden["claims"])
    assert any("urn:dan" in str(claim) for claim in shown["claims"])
    assert (against(arguments(reader, "urn:alibi")), against(arguments(both, "urn:alibi"))) == ([], ["urn:liar"])
    unknown = "urn:uuid:01970000-0000-8000-8000-000000000000"
    of_secret, of_none = (str(arguments(reader, fact)).replace(fact, "?") for fact in (secret, unknown))
    assert "hates" not in of_secret
    assert "'names': ['?']" in of_none
    assert arguments(service.client(Role.READER, H), "urn:murder")["steps"] == []


def test_the_page_of_a_claim_tells_what_is_argued_about_it(service: Served, admin: httpx2.Client) -> None:
    reader = service.enter(httpx2.Client(base_url=service.url, timeout=60, trust_env=False, verify=False))
    form = Page.of(reader.get("/sign-in")).forms[-1]
    reader.post("/sign-in", data={**form, "token": service.token(Role.READER, G)})
    page = reader.get("/node", params={"iri": "urn:murder"})
    assert page.status_code == 200
    text = Page.of(page).text
    assert "Opposed by" in text
    assert "not believed" in text
    assert re.search(
        "for «eve saw bob» opposes «bob was town», certificate.*and «bob killed cid» implies «bob was town»", text
    )
    plain = reader.get("/node", params={"iri": "urn:town"})
    assert "Arguments" not in plain.text


def test_what_is_asked_wrongly_is_told(admin: httpx2.Client) -> None:
    for asked in ({}, {"subject": "urn:a"}, {"fact": "urn:a", "subject": "urn:b"}, {"fact": "urn:a", "odd": "1"}):
        answer = admin.get("/arguments", params=asked)
        assert answer.status_code == 400, answer.text
    assert admin.get("/arguments", params={"fact": "urn:a"}).json()["steps"] == []
