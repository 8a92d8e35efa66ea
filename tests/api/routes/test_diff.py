"""`GET /diff` over HTTP: both axes, the three formats, pages, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx2
import pytest
import rdflib
from pyld import jsonld

from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, M, change, request
from tests.api.serving import Served, served
from tests.bridge.writing import HOUR, SetClock

GRAPH: Final = f"{EX}g"
HIDDEN: Final = f"{EX}hidden"


@dataclass(frozen=True, slots=True)
class Told:
    """A base in which something was gained, something lost, and something corrected; and its heads."""

    server: Served
    client: httpx2.Client
    heads: list[str]
    certificates: list[str]

    def diff(self, **asked: str) -> dict[str, Any]:
        named = {name.rstrip("_").replace("_", "-"): value for name, value in asked.items()}
        answer = self.client.get("/diff", params={"graph": GRAPH} | named)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    clock = SetClock()
    with Base.open(None, host=clock) as base, served(base) as server:
        client, heads, certificates = server.client(Role.WRITER), [], []

        def write(*changes: dict[str, Any]) -> None:
            clock.move(HOUR)
            answer = client.post("/changes", json=request(*changes))
            assert answer.status_code == 201, answer.text
            heads.append(f"head:{answer.json()['head']}")
            certificates.append(answer.json()["certificate"])

        write(
            change("ann", "lives", "paris", graph=GRAPH, validFrom="2020"),
            change("bob", "lives", "oslo", graph=GRAPH, validFrom="2010", validTo="2024"),
            change("cyd", "lives", "rome", graph=GRAPH),
            change("ann", "lives", "atlantis", graph=HIDDEN),
        )
        fact = client.get("/facts", params={"subject": f"{EX}ann", "graph": GRAPH}).json()["items"][0]["fact"]
        write({"op": "revise", "fact": fact, "object": {"@id": f"{EX}lyon"}})
        write(change("cyd", "lives", "rome", "retract", graph=GRAPH), change("dan", "lives", "bern", graph=GRAPH))
        yield Told(server, client, heads, certificates)


def names(entry: dict[str, Any]) -> tuple[str, str | None, str | None]:
    ends = (entry.get(side) for side in ("before", "after"))
    before, after = (each and each["statement"]["object"]["@id"].removeprefix(EX) for each in ends)
    return entry["change"], before, after


def test_what_was_believed_otherwise_comes_with_who_did_it(told: Told) -> None:
    body = told.diff(from_=told.heads[0], to=told.heads[2])
    assert [names(each) for each in body["items"]] == [
        ("lost", "rome", None),
        ("corrected", "paris", "lyon"),
        ("gained", None, "bern"),
    ]
    assert [each["certificates"] for each in body["items"]] == [
        [told.certificates[2]], [told.certificates[1]], [told.certificates[2]],
    ]  # fmt: skip
    assert (body["gained"], body["lost"], body["corrected"], body["next"]) == (1, 1, 1, None)
    assert (body["axis"], f"head:{body['from']['head']}", f"head:{body['to']['head']}") == (
        "as-of", told.heads[0], told.heads[2],
    )  # fmt: skip
    corrected = body["items"][1]
    assert corrected["before"]["family"] == corrected["after"]["family"]
    assert corrected["before"]["supersededBy"] == told.certificates[1]


def test_what_held_otherwise_is_asked_on_the_other_axis(told: Told) -> None:
    body = told.diff(axis="valid-at", from_="2015", to="2025", as_of=told.heads[0])
    assert sorted(names(each) for each in body["items"]) == [("gained", None, "paris"), ("lost", "oslo", None)]
    assert {certificate for each in body["items"] for certificate in each["certificates"]} == {told.certificates[0]}
    assert body["from"]["asOf"] == body["to"]["asOf"]


def test_one_valid_time_stands_still(told: Told) -> None:
    assert told.diff(from_=told.heads[0], valid_at="2015")["corrected"] == 0, "ann lived nowhere then"
    assert told.diff(from_=told.heads[0], valid_at="2021")["corrected"] == 1
    assert told.diff(from_="2000-01-01", to=told.heads[0], valid_at="2015")["gained"] == 2


def test_a_node_is_compared_in_every_graph_that_may_be_read(told: Told) -> None:
    asked = {"node": f"{EX}ann", "from": "2000-01-01"}
    everything = told.client.get("/diff", params=asked).json()
    assert sorted(names(each)[2] or "" for each in everything["items"]) == ["atlantis", "lyon"]
    held = told.server.client(Role.READER, GRAPH)
    assert [names(each) for each in held.get("/diff", params=asked).json()["items"]] == [("gained", None, "lyon")]
    assert held.get("/diff", params=asked | {"graph": HIDDEN}).json()["gained"] == 0
    assert held.get("/diff", params={"graph": HIDDEN, "from": "2000-01-01"}).json()["items"] == []


def test_pages_go_on(told: Told) -> None:
    first = told.diff(from_=told.heads[0], to=told.heads[2], limit="2")
    assert (len(first["items"]), first["next"], first["gained"]) == (2, "2", 1)
    second = told.diff(from_=told.heads[0], to=told.heads[2], limit="2", after=first["next"])
    assert ([names(each) for each in second["items"]], second["next"]) == ([("gained", None, "bern")], None)


def test_a_patch_is_told_as_one(told: Told) -> None:
    asked = {"graph": GRAPH, "from": told.heads[0], "to": told.heads[2]}
    answer = told.client.get("/diff", params=asked, headers={"accept": "application/rdf-patch"})
    assert answer.headers["content-type"] == "application/rdf-patch"
    head, *lines = answer.text.splitlines()
    assert head.startswith("H id <urn:uuid:")
    assert lines == [
        "TX .",
        f"D <{EX}cyd> <{EX}lives> <{EX}rome> <{GRAPH}> .",
        f"D <{EX}ann> <{EX}lives> <{EX}paris> <{GRAPH}> .",
        f"A <{EX}ann> <{EX}lives> <{EX}lyon> <{GRAPH}> .",
        f"A <{EX}dan> <{EX}lives> <{EX}bern> <{GRAPH}> .",
        "TC .",
    ]
    again = told.client.get("/diff", params=asked, headers={"accept": "application/rdf-patch"})
    assert again.text == answer.text


def test_json_ld_is_rdf(told: Told) -> None:
    asked = {"graph": GRAPH, "from": told.heads[0], "to": told.heads[2]}
    answer = told.client.get("/diff", params=asked, headers={"accept": "application/ld+json"})
    triples = jsonld.to_rdf(json.loads(answer.text), {"format": "application/n-quads"})
    graph = rdflib.Graph().parse(data=triples, format="nt")
    (corrected,) = graph.subjects(rdflib.RDF.type, rdflib.URIRef(f"{M}Corrected"))
    assert str(graph.value(corrected, rdflib.URIRef(f"{M}because"))) == told.certificates[1]
    after = graph.value(corrected, rdflib.URIRef(f"{M}after"))
    assert str(graph.value(after, rdflib.RDF.object)) == f"{EX}lyon"
    assert str(graph.value(after, rdflib.URIRef(f"{M}graph"))) == GRAPH


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({"from": "2020-01-01"}, "graph"),
        ({"graph": GRAPH}, "from"),
        ({"graph": GRAPH, "from": "2020"}, "from"),
        ({"graph": GRAPH, "from": "2020-01-01", "to": "2999-01-01"}, "to"),
        ({"graph": GRAPH, "from": "2020-01-01", "to": "2019-01-01"}, "from"),
        ({"graph": GRAPH, "from": "2020-01-01", "as-of": "2020-01-01"}, "as-of"),
        ({"graph": GRAPH, "from": "2020", "axis": "valid-at", "valid-at": "2020"}, "valid-at"),
        ({"graph": GRAPH, "from": "2020", "axis": "valid-at", "as-of": "7"}, "as-of"),
        ({"graph": GRAPH, "from": "2020-01-01", "axis": "time"}, "axis"),
        ({"graph": GRAPH, "from": "2020-01-01", "until": "2021-01-01"}, "until"),
        ({"graph": GRAPH, "from": "2020-01-01", "limit": "0"}, "limit"),
        ({"graph": GRAPH, "from": "2020-01-01", "after": "x"}, "after"),
        ({"graph": "not an iri", "from": "2020-01-01"}, "graph"),
        ({"graph": GRAPH, "from": "2020-01-01T00:00:00 02:00"}, "from"),
    ],
)
def test_what_cannot_be_compared_is_named(told: Told, asked: dict[str, str], where: str) -> None:
    answer = told.client.get("/diff", params=asked)
    assert (answer.status_code, answer.json()["where"]) == (400, where)


def test_a_document_has_no_pages(told: Told) -> None:
    asked = {"graph": GRAPH, "from": told.heads[0], "limit": "2"}
    answer = told.client.get("/diff", params=asked, headers={"accept": "application/rdf-patch"})
    assert (answer.status_code, answer.json()["where"]) == (400, "limit")


@pytest.mark.parametrize("accept", ["application/json", "application/ld+json", "application/rdf-patch"])
def test_what_has_not_changed_is_not_compared_again(told: Told, accept: str) -> None:
    asked = {"graph": GRAPH, "from": told.heads[0]}
    first = told.client.get("/diff", params=asked, headers={"accept": accept})
    held = {"accept": accept, "if-none-match": first.headers["etag"]}
    assert told.client.get("/diff", params=asked, headers=held).status_code == 304
    assert told.client.get("/diff", params=asked | {"to": told.heads[1]}, headers=held).status_code == 200
    assert told.client.head("/diff", params=asked, headers={"accept": accept}).content == b""
