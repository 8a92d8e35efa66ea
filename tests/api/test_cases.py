"""The small cases that broke other systems, each sent to a real server and read back over HTTP."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from bridge.base import Base
from kernel.access import Role
from kernel.time.instants import SECOND, Instant, parse_instant, print_instant
from tests.api.bodies import EX, XSD, M, change, request
from tests.api.serving import Served, served
from tests.bridge.writing import HOUR, SetClock

TURTLE: Final = {"content-type": "text/turtle"}
ALL_OF_IT: Final = "MINUS { ?any <urn:never>* ?other FILTER(false) }"
"""Takes nothing away, and no slice is enough for it."""

ONE_HOME: Final = (
    f"<urn:rule> a <{M}SingleValuedBySubject> ; <{M}predicate> <{EX}livesIn> ; <{M}propose> <{M}EndOlder> ."
)
ONE_NAME: Final = f"""
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <{EX}> . @prefix xsd: <{XSD}> .
ex:NamedShape a sh:NodeShape ; sh:targetClass ex:Person ; sh:property ex:oneName .
ex:oneName sh:path ex:name ; sh:maxCount 1 ; sh:message "a person has one name" .
ex:CodeShape a sh:NodeShape ; sh:targetSubjectsOf ex:code ; sh:property ex:code .
ex:code sh:path ex:code ; sh:datatype xsd:int ; sh:pattern "^0" ; sh:in ( "007"^^xsd:int ) .
"""


def post(client: httpx2.Client, *changes: dict[str, Any], status: int = 201, **more: object) -> dict[str, Any]:
    answer = client.post("/changes", json=request(*changes, **more))
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    return body


def govern(server: Served, graph: str, turtle: str) -> httpx2.Client:
    """An administrator, after it has put a document into a reserved graph."""
    client = server.client(Role.ADMINISTRATOR)
    answer = client.post("/changes", params={"graph": M + graph}, content=turtle, headers=TURTLE)
    assert answer.status_code == 201, answer.text
    return client


def values(client: httpx2.Client, subject: str, predicate: str, **moment: str) -> list[str]:
    """The objects, by each of the ways in which a moment is answered: from a slice, and from a snapshot."""
    pattern = f"<{EX}{subject}> <{EX}{predicate}> ?o"
    found, whole = (objects(client, each, **moment) for each in (pattern, f"{pattern} {ALL_OF_IT}"))
    assert found == whole
    return found


def objects(client: httpx2.Client, patterns: str, **moment: str) -> list[str]:
    query = f"SELECT ?o {{ {patterns} }} ORDER BY ?o"
    parameters = {"query": query} | {name.replace("_", "-"): value for name, value in moment.items()}
    answer = client.get("/sparql", params=parameters, headers={"accept": "application/sparql-results+json"})
    assert answer.status_code == 200, answer.text
    return [row["o"]["value"].removeprefix(EX) for row in answer.json()["results"]["bindings"]]


def facts(client: httpx2.Client, **parameters: str) -> list[dict[str, Any]]:
    answer = client.get("/facts", params={name.replace("_", "-"): value for name, value in parameters.items()})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def spans(client: httpx2.Client, subject: str) -> list[tuple[str | None, str | None]]:
    return [(fact.get("from"), fact.get("to")) for fact in facts(client, subject=EX + subject, valid_at="any")]


def test_case_06_a_violation_names_everything(server: Served) -> None:
    admin = govern(server, "shapes", ONE_NAME)
    post(admin, change("ann", "name", {"@value": "Ann"}))
    post(admin, {**change("ann", "x", f"{EX}Person"), "predicate": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
                 "object": {"@id": f"{EX}Person"}})  # fmt: skip
    refused = post(admin, change("ann", "name", {"@value": "Anne"}), status=422)
    assert (refused["verdict"], refused["state"], refused["head"]) == ("refused", "refused", None)
    (finding,) = refused["findings"]
    assert finding == {
        "code": "shape-violation",
        "severity": "violation",
        "message": "a person has one name",
        "focus": f"{EX}ann",
        "path": f"{EX}name",
        "shape": f"{EX}oneName",
        "component": "http://www.w3.org/ns/shacl#MaxCountConstraintComponent",
    }
    kept = admin.get(f"/certificates/{refused['certificate']}").json()
    assert [each["message"] for each in kept["findings"]] == ["a person has one name"]


def test_case_23_and_30_the_same_instant_in_other_words(server: Served) -> None:
    writer = server.writer
    post(writer, change("ann", "livesIn", "paris", validFrom="2024-01-01T00:00:00+05:00"))
    assert values(writer, "ann", "livesIn", valid_at="2023-12-31T19:00:00Z") == ["paris"]
    assert values(writer, "ann", "livesIn", valid_at="2023-12-31T18:59:59.999999Z") == []
    post(writer, change("bob", "livesIn", "rome", validFrom="2024-01-01T00:00:00.100000Z"))
    for spelling in ("2024-01-01T00:00:00.1Z", "2024-01-01T00:00:00.100000Z", "2024-01-01T05:00:00.100+05:00"):
        assert values(writer, "bob", "livesIn", valid_at=spelling) == ["rome"]
    assert values(writer, "bob", "livesIn", valid_at="2024-01-01T00:00:00.099999Z") == []
    (fact,) = facts(writer, subject=f"{EX}bob")
    assert "00.100000Z" in str(fact), "as it was submitted"


def test_case_25_and_26_a_day_through_and_a_day_to(server: Served) -> None:
    writer = server.writer
    day = "2026-05-06"
    empty = post(writer, change("ann", "is", "away", validFrom=day, validTo=day), status=400)
    assert "validThrough" in str(empty)
    post(writer, change("ann", "is", "away", validFrom="2026-05-07", validTo=day), status=400)
    post(writer, change("ann", "is", "away", validFrom=day, validThrough=day))
    there = {
        "2026-05-05T23:59:59.999999Z": [],
        "2026-05-06T00:00:00Z": ["away"],
        "2026-05-06T15:00:00Z": ["away"],
        "2026-05-06T23:59:59.999999Z": ["away"],
        "2026-05-06T24:00:00Z": [],
    }
    assert {at: values(writer, "ann", "is", valid_at=at) for at in there} == there


def test_case_31_the_hosts_clock_steps_back_between_two_writes() -> None:
    clock = SetClock()
    with Base.open(None, host=clock) as base, served(base) as server:
        writer = server.writer
        first = post(writer, change("ann", "livesIn", "paris"))
        clock.move(-HOUR)
        second = post(writer, change("ann", "livesIn", "rome"))
        recorded = sorted((fact["recordedAt"] for fact in facts(writer, subject=f"{EX}ann")), key=parse_instant)
        assert len(set(recorded)) == 2
        assert values(writer, "ann", "livesIn", as_of=f"head:{first['head']}") == ["paris"]
        assert values(writer, "ann", "livesIn", as_of=recorded[0]) == ["paris"]
        assert values(writer, "ann", "livesIn", as_of=f"head:{second['head']}") == ["paris", "rome"]


def test_case_27_the_same_statement_in_two_intervals_is_two_facts(server: Served) -> None:
    writer = server.writer
    one = change("ann", "livesIn", "paris", validFrom="2001", validTo="2003")
    post(writer, one, change("ann", "livesIn", "paris", validFrom="2010", validTo="2012"))
    assert spans(writer, "ann") == [
        ("2001-01-01T00:00:00Z", "2003-01-01T00:00:00Z"),
        ("2010-01-01T00:00:00Z", "2012-01-01T00:00:00Z"),
    ]
    found = [values(writer, "ann", "livesIn", valid_at=year) for year in ("2000", "2002", "2005", "2011", "2012")]
    assert found == [[], ["paris"], [], ["paris"], []]


def test_case_28_the_ides_of_march_from_end_to_end(server: Served) -> None:
    writer = server.writer
    post(writer, change("caesar", "is", "alive", validFrom="-0099-07-12", validTo="-0043-03-15"))
    assert values(writer, "caesar", "is", valid_at="-0043-03-14T23:59:59.999999Z") == ["alive"]
    assert values(writer, "caesar", "is", valid_at="-0043-03-15") == []
    (fact,) = facts(writer, subject=f"{EX}caesar", valid_at="any")
    assert (fact["validFrom"], fact["validTo"]) == ("-0099-07-12", "-0043-03-15")


@pytest.mark.parametrize(
    "when", ["2024-02-30", "2024-01-01T23:59:60Z", "2024-01-01T00:00:00.1234567Z", "2024-01-01T10:00"]
)
def test_case_29_and_24_impossible_times_and_times_without_zone_name_their_field(shared: Served, when: str) -> None:
    answer = shared.writer.post("/changes", json=request(change("ann", "livesIn", "rome", validFrom=when)))
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["where"]) == (400, "invalid-time", "/changes/0/validFrom")
    assert problem["remedy"]


def test_case_36_what_nobody_knows_is_named_and_never_ignored(shared: Served) -> None:
    writer = shared.writer
    key = writer.post("/changes", json=request(change("ann", "livesIn", "rome", validForm="2024"))).json()
    assert "validForm" in key["detail"] + key["where"]
    assert "validFrom" in key["remedy"]
    for path in ("/facts?subjcet=urn:a", "/certificates?stat=pending", "/sparql?query=ASK%7B%7D&valid_at=2024"):
        answer = writer.get(path)
        assert (answer.status_code, answer.json()["code"]) == (400, "unknown-parameter"), path


def test_case_38_the_two_extra_years_are_believed_and_said_to_be_new(server: Served) -> None:
    writer = server.writer
    post(writer, change("ann", "livesIn", "paris", validFrom="2020", validTo="2022"))
    wider = post(writer, change("ann", "livesIn", "paris", validFrom="2021", validTo="2024"))
    assert values(writer, "ann", "livesIn", valid_at="2023") == ["paris"]
    items = writer.get(f"/certificates/{wider['certificate']}").json()["plan"]["items"]
    recorded = [item["body"] for item in items if item["body"]["op"] == "record"]
    assert [(body["from"], body["to"]) for body in recorded] == [("2022-01-01T00:00:00Z", "2024-01-01T00:00:00Z")]


def test_case_39_a_late_older_fact_ends_where_the_held_one_starts(server: Served) -> None:
    admin = govern(server, "rules", ONE_HOME)
    post(admin, change("ann", "livesIn", "paris", validFrom="2024"))
    late = post(admin, change("ann", "livesIn", "rome", validFrom="2019"), status=202)
    assert values(admin, "ann", "livesIn", valid_at="2020") == []
    decided = admin.post(
        f"/certificates/{late['certificate']}/decision", json={"decision": "approve", "comment": "yes"}
    )
    assert decided.json()["state"] == "applied", decided.text
    assert [values(admin, "ann", "livesIn", valid_at=year) for year in ("2020", "2025")] == [["rome"], ["paris"]]
    assert spans(admin, "ann") == [("2019-01-01T00:00:00Z", "2024-01-01T00:00:00Z"), ("2024-01-01T00:00:00Z", None)]


def test_case_40_and_45_what_was_believed_before_a_correction(server: Served) -> None:
    writer = server.writer
    first = post(writer, change("ann", "livesIn", "paris", validFrom="2024"))
    (fact,) = facts(writer, subject=f"{EX}ann")
    post(writer, {"op": "revise", "fact": fact["fact"], "object": {"@id": f"{EX}rome"}})
    before = {"as_of": f"head:{first['head']}"}
    assert values(writer, "ann", "livesIn", valid_at="2025", **before) == ["paris"]
    assert values(writer, "ann", "livesIn", valid_at="2025") == ["rome"]
    recorded = fact["recordedAt"]
    assert values(writer, "ann", "livesIn", as_of=recorded) == ["paris"], "valid-at is the as-of instant"
    for text in ("2024", "7"):
        answer = writer.get("/sparql", params={"query": "ASK {}", "as-of": text})
        assert (answer.status_code, answer.json()["where"]) == (400, "as-of")


def test_case_41_a_fact_of_2090_is_not_current_and_several_values_are_all_readable(server: Served) -> None:
    writer = server.writer
    post(writer, change("ann", "livesIn", "mars", validFrom="2090"))
    post(writer, *(change("ann", "knows", name) for name in ("bob", "cyd", "dan")))
    assert values(writer, "ann", "livesIn") == []
    assert values(writer, "ann", "livesIn", valid_at="2091") == ["mars"]
    assert values(writer, "ann", "knows") == ["bob", "cyd", "dan"]
    assert facts(writer, subject=f"{EX}ann", predicate=f"{EX}livesIn") == []


def test_case_46_a_value_that_the_store_rewrites_is_judged_and_exported_as_submitted(tmp_path: Path) -> None:
    seven = {"@value": "007", "@type": f"{XSD}int"}
    with Base.open(tmp_path / "data") as base, served(base) as server:
        writer = govern(server, "shapes", ONE_NAME)
        post(writer, change("bond", "code", seven))
        post(writer, change("bond", "code", {"@value": "7", "@type": f"{XSD}int"}), status=422)
    with Base.open(tmp_path / "data") as base, served(base) as server:
        writer = server.writer
        post(writer, change("bond", "knows", "moneypenny"), change("bond", "code", seven))
        (fact,) = facts(writer, subject=f"{EX}bond", predicate=f"{EX}code")
        assert fact["statement"]["object"] == seven


def test_case_35_one_key_sent_by_many_at_once_is_one_certificate(server: Served) -> None:
    client = server.writer
    body = request(change("ann", "livesIn", "paris"))
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(client.post, "/changes", json=body, headers={"Idempotency-Key": "k"}) for _ in range(16)]
        answers = [each.result().json()["certificate"] for each in sent]
    assert len(set(answers)) == 1
    other = client.post("/changes", json=request(change("ann", "livesIn", "rome")), headers={"Idempotency-Key": "k"})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency-mismatch")
    assert values(client, "ann", "livesIn") == ["paris"]


def test_case_47_a_boundary_passes_without_a_write(server: Served) -> None:
    writer = server.writer
    assert values(writer, "ann", "is") == []  # there is a worker now
    soon = print_instant(Instant(server.base.host.now() + 2 * SECOND))
    post(writer, change("ann", "is", "here", validTo=soon), change("ann", "is", "away", validFrom=soon))
    assert values(writer, "ann", "is") == ["here"]
    head = writer.get("/sparql", params={"query": "ASK {}"}).headers
    deadline = time.monotonic() + 20
    while objects(writer, f"<{EX}ann> <{EX}is> ?o") != ["away"]:
        assert time.monotonic() < deadline
    assert values(writer, "ann", "is") == ["away"]
    after = writer.get("/sparql", params={"query": "ASK {}"}).headers
    assert after["muniment-head"] == head["muniment-head"]
    assert after["muniment-valid-at"] > head["muniment-valid-at"]


def test_case_48_an_old_violation_blocks_nobody_and_a_new_one_is_refused(server: Served) -> None:
    writer = server.writer
    person = {**change("ann", "x", "x"), "predicate": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
              "object": {"@id": f"{EX}Person"}}  # fmt: skip
    post(writer, person, change("ann", "name", {"@value": "Ann"}), change("ann", "name", {"@value": "Anne"}))
    admin = server.client(Role.ADMINISTRATOR)
    written = admin.post("/changes", params={"graph": M + "shapes"}, content=ONE_NAME, headers=TURTLE)
    assert written.status_code == 202
    [found] = written.json()["findings"]
    assert (found["code"], found["focus"]) == ("existing-violation", f"{EX}ann")
    decided = admin.post(f"{written.headers['Location']}/decision", json={"decision": "approve"})
    assert decided.json()["state"] == "applied"
    post(admin, change("ann", "livesIn", "paris"))
    post(admin, change("ann", "code", {"@value": "8", "@type": f"{XSD}int"}), status=422)


def test_a_verdict_that_rests_on_unseen_graphs_says_so_and_no_more(server: Served) -> None:
    admin = govern(server, "shapes", ONE_NAME.replace("sh:targetClass ex:Person", "sh:targetSubjectsOf ex:name"))
    post(admin, change("ann", "name", {"@value": "Secret"}, graph="urn:hidden"))
    held = server.client(Role.WRITER, "urn:mine")
    refused = post(held, change("ann", "name", {"@value": "Ann"}, graph="urn:mine"), status=422)
    assert (refused["verdict"], refused["findings"]) == ("refused", [])
    assert "may not read" in refused["why"]
    assert "Secret" not in str(refused)
    assert "hidden" not in str(refused)
