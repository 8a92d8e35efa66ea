"""`GET /facts`: what is believed, with both times and the evidence."""

from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from api.callers.roles import RoleName
from api.routes.facts import place_text
from api.settings import RoleLimits, Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, XSD, M, change, request
from tests.api.serving import Served, served


def write(client: httpx2.Client, *changes: dict[str, Any], **more: object) -> int:
    answer = client.post("/changes", json=request(*changes, **more))
    assert answer.status_code == 201, answer.text
    head: int = answer.json()["head"]
    return head


def facts(client: httpx2.Client, **parameters: str | int) -> list[dict[str, Any]]:
    answer = client.get("/facts", params={name.replace("_", "-"): value for name, value in parameters.items()})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def objects(client: httpx2.Client, **parameters: str | int) -> list[str]:
    return [fact["statement"]["object"]["@id"].removeprefix(EX) for fact in facts(client, **parameters)]


def test_a_fact_says_all_that_is_known_of_it(server: Served) -> None:
    writer = server.writer
    submitted = {"@value": "036", "@type": f"{XSD}int"}
    made = change("ada", "age", submitted, validFrom="1851", validThrough="1851-12", confidence=0.875)
    answer = writer.post("/changes", json=request(made, episode="urn:census"))
    certificate = writer.get(answer.headers["location"]).json()
    (fact,) = facts(writer, subject=f"{EX}ada", valid_at="any")
    (evidence,) = fact.pop("evidence")
    assert fact.pop("fact") != fact.pop("family")
    assert fact == {
        "statement": {
            "subject": {"@id": f"{EX}ada"},
            "predicate": {"@id": f"{EX}age"},
            "object": submitted,
            "graph": {"@id": f"{M}default"},
        },
        "from": "1851-01-01T00:00:00Z",
        "to": "1852-01-01T00:00:00Z",
        "validFrom": "1851",
        "validThrough": "1851-12",
        "fromPrecision": "year",
        "toPrecision": "month",
        "recordedAt": certificate["instant"],
        "certificate": certificate["certificate"],
    }
    assert evidence.pop("evidence").startswith("urn:uuid:")
    assert evidence == {
        "certificate": certificate["certificate"],
        "recordedAt": certificate["instant"],
        "episode": "urn:census",
        "confidence": 0.875,
        "object": submitted,
    }


@pytest.mark.parametrize(
    "value",
    [
        {"@id": f"{EX}o"},
        {"@value": "plain"},
        {"@value": "colour", "@language": "en-GB"},
        {"@value": "שלום", "@language": "he", "@direction": "rtl"},
        {"@value": "1.50", "@type": f"{XSD}decimal"},
        {"@value": "not a number", "@type": f"{XSD}integer"},
        {"@value": "2024-05-06T10:00:00.100000+02:00", "@type": f"{XSD}dateTime"},
    ],
)
def test_a_term_comes_back_as_it_was_sent(server: Served, value: dict[str, str]) -> None:
    write(server.writer, change("a", "p", value))
    (fact,) = facts(server.writer, subject=f"{EX}a")
    assert fact["statement"]["object"] == value


@pytest.mark.parametrize(
    "times",
    [
        {},
        {"validFrom": "2024"},
        {"validTo": "2024-05-06T15:00:00.5Z"},
        {"validFrom": "199#", "validThrough": "2024-05-06"},
        {"validFrom": "18##"},
        {"validFrom": "unknown", "validTo": "unknown"},
        {"validFrom": "2024-01-01T00:00:00+05:00"},
        {"validTo": "2024"},
        {"validThrough": "2024-05-06T15:00:00.100000Z"},
    ],
)
def test_times_come_back_as_they_were_sent(server: Served, times: dict[str, str]) -> None:
    """Cases 23 and 30."""
    write(server.writer, change("a", "p", "o", **times))
    (fact,) = facts(server.writer, subject=f"{EX}a", valid_at="any")
    assert {name: fact[name] for name in ("validFrom", "validTo", "validThrough") if name in fact} == times


def test_a_triple_term_is_told(server: Served) -> None:
    turtle = f"<{EX}a> <{EX}says> <<( <{EX}b> <{EX}p> 5 )>> ."
    answer = server.writer.post("/changes", content=turtle, headers={"content-type": "text/turtle"})
    assert answer.status_code == 201, answer.text
    (fact,) = facts(server.writer, subject=f"{EX}a")
    assert fact["statement"]["object"] == {
        "@triple": {
            "subject": {"@id": f"{EX}b"},
            "predicate": {"@id": f"{EX}p"},
            "object": {"@value": "5", "@type": f"{XSD}integer"},
        }
    }


def test_facts_are_found_by_each_of_their_terms(server: Served) -> None:
    writer = server.writer
    write(
        writer,
        change("ada", "lives", "london", graph="urn:g1"),
        change("ada", "knows", "mary", graph="urn:g2"),
        change("mary", "lives", "london", graph="urn:g2"),
        change("mary", "age", {"@value": "007", "@type": f"{XSD}int"}, graph="urn:g2"),
    )
    assert sorted(objects(writer, subject=f"{EX}ada")) == ["london", "mary"]
    assert objects(writer, subject=f"{EX}ada", predicate=f"{EX}lives") == ["london"]
    assert objects(writer, object=f"{EX}mary") == ["mary"]
    assert objects(writer, object=f"<{EX}mary>") == ["mary"]
    assert objects(writer, object=f"{EX}london", graph="urn:g2") == ["london"]
    assert len(facts(writer, graph="urn:g2")) == 3
    assert len(facts(writer, object=f'"7"^^<{XSD}integer>')) == 1
    assert len(facts(writer, object=f'"0007"^^<{XSD}int>')) == 1
    assert facts(writer, object='"7"') == []
    assert facts(writer, subject=f"{EX}nobody") == []


def test_facts_are_those_true_at_the_moment(server: Served) -> None:
    writer = server.writer
    write(
        writer,
        change("ada", "lives", "rome", validTo="2019"),
        change("ada", "lives", "paris", validFrom="2019", validTo="2024"),
        change("ada", "lives", "london", validFrom="2024"),
    )
    assert objects(writer, subject=f"{EX}ada") == ["london"]
    assert objects(writer, subject=f"{EX}ada", valid_at="2020") == ["paris"]
    assert objects(writer, subject=f"{EX}ada", valid_at="2019") == ["paris"]
    assert objects(writer, subject=f"{EX}ada", valid_at="any") == ["rome", "paris", "london"]


def test_with_as_of_facts_are_those_true_then(server: Served) -> None:
    """Case 45."""
    writer = server.writer
    head = write(writer, change("ada", "lives", "rome"))
    write(writer, change("ada", "lives", "rome", "end"))
    assert objects(writer, subject=f"{EX}ada") == []
    assert objects(writer, subject=f"{EX}ada", as_of=f"head:{head}") == ["rome"]
    assert objects(writer, subject=f"{EX}ada", as_of=f"head:{head}", valid_at="any") == ["rome"]


def test_facts_are_those_believed_then(server: Served) -> None:
    """Case 40."""
    writer = server.writer
    before = write(writer, change("ada", "lives", "rome"))
    (old,) = facts(writer, subject=f"{EX}ada")
    after = write(writer, {"op": "revise", "fact": old["fact"], "object": {"@id": f"{EX}paris"}})
    (new,) = facts(writer, subject=f"{EX}ada")
    assert new["family"] == old["family"]
    assert facts(writer, subject=f"{EX}ada", as_of=f"head:{before}") == [old]
    assert facts(writer, subject=f"{EX}ada", as_of=f"head:{after}") == [new]
    assert objects(writer, subject=f"{EX}ada", as_of=old["recordedAt"]) == ["rome"]
    assert objects(writer, subject=f"{EX}ada", as_of=new["recordedAt"]) == ["paris"]


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 100])
def test_pages_give_every_fact_once(shared: Served, limit: int) -> None:
    writer = shared.writer
    graph, hub = f"urn:pages:{limit}", f"hub{limit}"
    years = [2024, 2019, 2024, 1999, 2019, 2001]
    head = write(writer, *[change(f"s{n}", "p", hub, graph=graph, validFrom=str(year)) for n, year in enumerate(years)])
    write(writer, change("s9", "q", hub, graph=graph, validFrom="2000"), change("s9", "p", "o", graph="urn:other"))

    def paged(**parameters: str) -> list[str]:
        asked, found = {"limit": str(limit)} | {name.replace("_", "-"): value for name, value in parameters.items()}, []
        while True:
            page = writer.get("/facts", params=asked).json()
            assert len(page["items"]) == limit or page["next"] is None
            found += [fact["validFrom"] for fact in page["items"]]
            if page["next"] is None:
                return found
            asked["after"] = page["next"]

    told = list(map(str, years))
    assert paged(graph=graph) == [*told, "2000"], "as they were recorded"
    assert paged(graph=graph, predicate=f"{EX}p") == told
    assert paged(graph=graph, as_of=f"head:{head}") == told
    assert paged(graph=graph, valid_at="2010") == ["1999", "2001", "2000"]
    assert paged(graph=graph, as_of=f"head:{head}", valid_at="2010") == ["1999", "2001"]
    assert paged(graph=graph, valid_at="any") == [*told, "2000"]
    assert paged(object=f"{EX}{hub}") == sorted([*told, "2000"]), "by start"


def test_a_page_of_a_graph_goes_on_although_its_last_fact_is_gone(server: Served) -> None:
    writer = server.writer
    write(writer, *[change("a", "p", f"o{number}", graph="urn:g") for number in range(4)])
    page = writer.get("/facts", params={"graph": "urn:g", "limit": 2}).json()
    write(writer, change("a", "p", "o1", "retract", graph="urn:g"))
    assert objects(writer, graph="urn:g", after=page["next"]) == ["o2", "o3"]


def test_a_page_goes_on_although_its_last_fact_is_gone(server: Served) -> None:
    writer = server.writer
    write(writer, *[change("a", "p", f"o{number}", validFrom=f"200{number}") for number in range(4)])
    page = writer.get("/facts", params={"subject": f"{EX}a", "limit": 2}).json()
    write(writer, change("a", "p", "o1", "retract"))
    assert objects(writer, subject=f"{EX}a", after=page["next"]) == ["o2", "o3"]


def test_a_place_that_is_in_no_list_is_said_to_be_none(server: Served) -> None:
    writer = server.writer
    write(writer, change("a", "p", "o", graph="urn:g"))
    nowhere = place_text((0, 1, 2, bytes(16)))
    answer = writer.get("/facts", params={"graph": "urn:g", "after": nowhere})
    assert (answer.status_code, answer.json()["where"]) == (400, "after")


def test_graphs_that_the_caller_may_not_read_are_as_if_empty(server: Served) -> None:
    writer = server.writer
    write(writer, change("ada", "lives", "london", graph="urn:g1"), change("ada", "owes", "money", graph="urn:g2"))
    reader = server.client(Role.READER, "urn:g1")
    assert objects(reader, subject=f"{EX}ada") == ["london"]
    for graph in ("urn:g2", "urn:g9"):
        assert reader.get("/facts", params={"graph": graph}).json() == {"items": [], "next": None}


@pytest.mark.parametrize(
    ("query", "code", "where"),
    [
        ("", "invalid-parameter", "subject"),
        ("predicate=urn:p", "invalid-parameter", "subject"),
        ("subjct=urn:a", "unknown-parameter", "subjct"),
        ("subject=ada", "invalid-term", "subject"),
        ("subject=", "invalid-parameter", "subject"),
        ("subject=urn:a&subject=urn:b", "invalid-parameter", "subject"),
        (f"object={quote(chr(34) + 'open')}", "invalid-term", "object"),
        ("object=text", "invalid-term", "object"),
        ("graph=no graph", "invalid-term", "graph"),
        ("subject=urn:a&limit=0", "invalid-parameter", "limit"),
        ("subject=urn:a&after=x", "invalid-parameter", "after"),
        ("subject=urn:a&after=AAAAAAAA", "invalid-parameter", "after"),
        ("subject=urn:a&as-of=2024", "invalid-parameter", "as-of"),
        ("subject=urn:a&valid-at=2024-02-30", "invalid-time", "valid-at"),
        ("subject=urn:a&valid-at=2024-01-01T00:00:00+05:00", "invalid-parameter", "valid-at"),
    ],
)
def test_a_filter_that_cannot_be_used_is_named(shared: Served, query: str, code: str, where: str) -> None:
    """Case 36."""
    answer = shared.writer.get(f"/facts?{query}")
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["where"]) == (400, code, where)


def test_a_look_at_all_that_was_recorded_has_a_limit_of_time() -> None:
    limits = {RoleName.READER: RoleLimits(seconds=1e-6)}
    with Base.open(None) as base, served(base, Settings(query_limits=limits)) as running:
        writer = running.writer
        assert writer.post("/changes", json=request(change("ada", "lives", "rome"))).status_code == 201
        head = writer.get("/sparql", params={"query": "ASK {}"}).headers["Muniment-Head"]
        asked = {"subject": f"{EX}ada", "as-of": f"head:{head}"}
        assert len(writer.get("/facts", params=asked).json()["items"]) == 1
        late = running.client(Role.READER).get("/facts", params=asked)
        assert (late.status_code, late.json()["code"], late.json()["of"]) == (422, "query-limit", "time")
        assert "as-of" in late.json()["remedy"]


def test_so_has_a_look_through_a_graph_in_which_nothing_is_found() -> None:
    limits = {RoleName.READER: RoleLimits(seconds=1e-6)}
    with Base.open(None) as base, served(base, Settings(query_limits=limits)) as running:
        triples = "".join(f"<{EX}s{number}> <{EX}p> {number} .\n" for number in range(2_000))
        writer = running.writer
        put = writer.put("/graphs", params={"graph": EX}, content=triples, headers={"content-type": "text/turtle"})
        assert put.status_code in {200, 201}, put.text
        asked = {"graph": EX, "valid-at": "1999-01-01"}
        assert writer.get("/facts", params=asked).json()["items"] == []
        late = running.client(Role.READER).get("/facts", params=asked)
        assert (late.status_code, late.json()["code"], late.json()["of"]) == (422, "query-limit", "time")
        assert writer.get("/facts", params=asked).json()["items"] == [], "and nobody else's reading is ended"
