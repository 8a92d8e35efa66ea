"""Memento (RFC 7089) around what is read: dates, links, timemaps, and how long an answer may be kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.http.memento import LONG, LONGEST, without_as_of
from api.http.moments import http_date, spell_date
from bridge.base import Base
from bridge.reading.mementos import around, state_at
from kernel.access import Role
from kernel.changes import Assert
from kernel.errors import InvalidParameter
from kernel.time.instants import SECOND, Instant, parse_instant
from tests.api.bodies import EX, change, request
from tests.api.serving import Served, served
from tests.bridge.writing import HOUR, NOON, OSLO, SetClock, living, person, submission

QUERY: Final = f"SELECT ?o {{ <{EX}ann> <{EX}is> ?o }}"
FIRST, SECOND_ONE, THIRD = (
    "Wed, 06 May 2026 12:00:00 GMT",
    "Wed, 06 May 2026 13:00:00 GMT",
    "Wed, 06 May 2026 14:00:00 GMT",
)
LINK: Final = re.compile(r'<([^>]*)>((?:; [a-z]+="[^"]*")+)')


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """Three heads, an hour apart from noon on."""
    clock = SetClock()
    with Base.open(None, host=clock) as base, served(base) as running:
        for value in ("one", "two", "three"):
            assert running.writer.post("/changes", json=request(change("ann", "is", value))).status_code == 201
            clock.move(HOUR)
        yield running


@pytest.fixture(scope="module")
def client(server: Served) -> httpx2.Client:
    return server.client(Role.READER)


def at(client: httpx2.Client, date: str, **more: str) -> httpx2.Response:
    return client.get("/sparql", params={"query": QUERY, **more}, headers={"accept-datetime": date})


def links(answer: httpx2.Response | str) -> dict[str, tuple[str, dict[str, str]]]:
    """The links of an answer by each of their relations, with their attributes."""
    text = answer if isinstance(answer, str) else answer.headers["link"]
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for url, rest in LINK.findall(text):
        attributes = dict(re.findall(r'; ([a-z]+)="([^"]*)"', rest))
        for rel in attributes["rel"].split():
            found.setdefault(rel, (url, attributes))
    return found


def said(answer: httpx2.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return sorted(row["o"]["value"].removeprefix(EX) for row in answer.json()["results"]["bindings"])


@pytest.mark.parametrize(
    ("date", "values", "told"),
    [
        ("Tue, 01 Jan 2008 00:00:00 GMT", ["one"], FIRST),
        (FIRST, ["one"], FIRST),
        ("Wed, 06 May 2026 12:59:59 GMT", ["one"], "Wed, 06 May 2026 12:59:59 GMT"),
        (SECOND_ONE, ["one", "two"], SECOND_ONE),
        (THIRD, ["one", "three", "two"], THIRD),
        ("Fri, 31 Dec 9999 23:59:59 GMT", ["one", "three", "two"], THIRD),
    ],
)
def test_a_date_finds_the_state_of_then(client: httpx2.Client, date: str, values: list[str], told: str) -> None:
    answer = at(client, date)
    assert said(answer) == values
    assert answer.headers["memento-datetime"] == told
    assert "Accept-Datetime" in answer.headers["vary"]
    stays = client.get(answer.headers["content-location"])
    assert said(stays) == values
    assert stays.headers["memento-datetime"] == told


def test_links_lead_to_the_others(client: httpx2.Client) -> None:
    found = links(at(client, SECOND_ONE))
    original = str(client.base_url).rstrip("/") + "/sparql?query="
    assert set(found) == {"original", "timegate", "timemap", "memento", "first", "prev", "next", "last"}
    assert found["original"] == found["timegate"]
    assert found["original"][0].startswith(original)
    dates = {rel: found[rel][1]["datetime"] for rel in ("first", "prev", "memento", "next", "last")}
    assert dates == {"first": FIRST, "prev": FIRST, "memento": SECOND_ONE, "next": THIRD, "last": THIRD}
    for rel, values in {"first": ["one"], "memento": ["one", "two"], "next": ["one", "three", "two"]}.items():
        answer = client.get(found[rel][0])
        assert said(answer) == values
        assert answer.headers["memento-datetime"] == dates[rel]
        assert links(answer)["original"] == found["original"]


def test_what_has_an_as_of_takes_no_date(client: httpx2.Client) -> None:
    answer = at(client, FIRST, **{"as-of": "2026-05-06T13:30:00Z"})
    assert said(answer) == ["one", "two"]
    assert answer.headers["memento-datetime"] == "Wed, 06 May 2026 13:30:00 GMT"
    assert links(answer)["original"] == links(at(client, FIRST))["original"]


def test_a_path_of_a_moment_is_a_memento_too(client: httpx2.Client) -> None:
    answer = client.get("/at/2026-05-06T13:30:00%2B00:00/2026-05-06T12:00:00+00:00/sparql", params={"query": QUERY})
    assert said(answer) == ["one", "two"]
    original = links(answer)["original"][0]
    assert said(client.get(original)) == ["one", "three", "two"]
    assert said(at(client, FIRST, **{"valid-at": "2026"})) == ["one"]
    assert "valid-at=2026-05-06T12:00:00%2B00:00" in original
    hidden = client.get("/at/2026-05-06T13:30:00Z%2F2020/sparql", params={"query": QUERY})
    assert links(hidden)["original"][0].endswith("&valid-at=2020"), "a slash that is escaped is one all the same"


def test_the_present_is_no_memento(client: httpx2.Client) -> None:
    answer = client.get("/sparql", params={"query": QUERY})
    assert "memento-datetime" not in answer.headers
    assert set(links(answer)) == {"original", "timegate", "timemap"}
    assert "Accept-Datetime" in answer.headers["vary"]
    assert client.get("/sparql", params={"query": QUERY, "valid-at": "2020"}).headers.get("memento-datetime") is None


def test_posts_are_negotiated_and_have_no_address(client: httpx2.Client) -> None:
    answer = client.post("/sparql", data={"query": QUERY}, headers={"accept-datetime": FIRST})
    assert said(answer) == ["one"]
    assert answer.headers["memento-datetime"] == FIRST
    assert not {"link", "content-location"} & set(answer.headers)


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/facts", {"subject": f"{EX}ann"}),
        (f"/exports/{quote('https://w3id.org/muniment#default', safe='')}", {}),
        ("/graphs", {"default": ""}),
    ],
)
def test_whatever_is_read_has_mementos(client: httpx2.Client, path: str, parameters: dict[str, str]) -> None:
    answer = client.get(path, params=parameters, headers={"accept-datetime": SECOND_ONE})
    assert answer.headers["memento-datetime"] == SECOND_ONE
    stays = client.get(links(answer)["memento"][0])
    assert (stays.content, stays.headers["memento-datetime"]) == (answer.content, SECOND_ONE)
    assert stays.content != client.get(path, params=parameters).content
    listed = client.get(links(answer)["timemap"][0])
    assert len([each for each in LINK.findall(listed.text) if "memento" in each[1]]) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        "", "now", "2026-05-06T12:00:00Z", "Wed, 6 May 2026 12:00:00 GMT", "Tue, 06 May 2026 12:00:00 GMT",
        "Mon, 30 Feb 2026 12:00:00 GMT", "Wed, 06 May 2026 24:00:00 GMT", "Wed, 06 May 2026 12:00:00 +0000",
        "Wednesday, 06-May-26 12:00:00 GMT",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused(client: httpx2.Client, wrong: str) -> None:
    answer = at(client, wrong)
    assert (answer.status_code, answer.json()["where"]) == (400, "Accept-Datetime")


def test_two_dates_are_refused(client: httpx2.Client) -> None:
    twice = [("accept-datetime", FIRST), ("accept-datetime", THIRD)]
    assert client.get("/sparql", params={"query": QUERY}, headers=twice).status_code == 400


def test_nothing_has_no_state_to_find() -> None:
    with Base.open(None) as base, served(base) as server:
        answer = at(server.client(Role.READER), FIRST)
        assert said(answer) == []
        assert "memento-datetime" not in answer.headers
        listed = server.client(Role.READER).get("/timemap", params={"of": "/sparql"})
        assert "memento" not in links(listed.text)


@pytest.mark.parametrize(("length", "rels"), [(LONG, 3), (LONGEST, 0)])
def test_addresses_that_are_long_are_named_less_often(client: httpx2.Client, length: int, rels: int) -> None:
    answer = client.get("/sparql", params={"query": f"{QUERY} # {'x' * length}"}, headers={"accept-datetime": FIRST})
    assert said(answer) == ["one"]
    assert len(answer.headers.get("link", "").split(", <")) == max(rels, 1)
    assert sum(len(name) + len(value) for name, value in answer.headers.items()) < 8_000


# --- timemaps ---------------------------------------------------------------------------------------------------------


def test_what_has_no_timemap_is_told_what_has(client: httpx2.Client) -> None:
    refused = client.get("/timemap", params={"of": "/health"})
    assert refused.json()["remedy"] == "name one of /sparql, /facts, /graphs, /exports"


def test_a_timemap_lists_the_heads_page_by_page(client: httpx2.Client) -> None:
    asked = {"of": f"/sparql?as-of=head:3&query={quote(QUERY)}", "limit": "2"}
    first = client.get("/timemap", params=asked)
    assert first.headers["content-type"] == "application/link-format"
    found = links(first.text)
    assert found["self"][1]["from"] == FIRST
    assert found["self"][1]["until"] == SECOND_ONE
    second = links(client.get(found["next"][0]).text)
    assert (found["first"][1]["datetime"], second["last"][1]["datetime"]) == (FIRST, THIRD)
    assert not {"next", "first"} & set(second)
    assert said(client.get(second["last"][0])) == ["one", "three", "two"]
    assert said(client.get(found["original"][0])) == ["one", "three", "two"]


def test_a_timemap_comes_as_json(client: httpx2.Client) -> None:
    answer = client.get("/timemap", params={"of": "/facts?subject=x"}, headers={"accept": "application/json"}).json()
    assert [each["datetime"] for each in answer["mementos"]] == [FIRST, SECOND_ONE, THIRD]
    assert answer["next"] is None
    heads = [each["head"] for each in answer["mementos"]]
    assert heads == sorted(heads)
    assert answer["mementos"][0]["uri"].endswith(f"/facts?subject=x&as-of=head:{heads[0]}")


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"of": "/certificates"}, {"of": "https://elsewhere.example/sparql"}, {"of": "//elsewhere/sparql"},
        {"of": "/sparql#x"}, {"of": "/sparql", "limit": "0"}, {"of": "/sparql", "after": "-1"},
        {"of": "/sparql", "form": "json"},
    ],
)  # fmt: skip
def test_a_timemap_of_what_is_not_read_here_is_refused(client: httpx2.Client, wrong: dict[str, str]) -> None:
    assert client.get("/timemap", params=wrong).status_code == 400


def test_no_url_breaks_out_of_its_link(client: httpx2.Client) -> None:
    answer = client.get("/timemap", params={"of": '/facts?subject=a>; rel="original", <urn:x'})
    assert links(answer.text)["original"][0].endswith("/facts?subject=a%3E;%20rel=%22original%22,%20%3Curn:x")


# --- endpoints of the past --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/sparql-update", "CLEAR DEFAULT"),
        ("application/x-www-form-urlencoded", "update=CLEAR%20DEFAULT"),
    ],
)
@pytest.mark.parametrize("path", ["/at/2026-05-06T13:30:00Z/sparql", "/at/2026-05-06T13:30:00Z/2026/sparql"])
def test_the_past_takes_no_updates(server: Served, path: str, kind: str, body: str) -> None:
    answer = server.writer.post(path, content=body, headers={"content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")
    assert "/sparql" in answer.json()["remedy"]


def test_an_endpoint_of_the_past_describes_itself(client: httpx2.Client) -> None:
    path = "/at/2026-05-06T13:30:00Z/sparql"
    described = client.get(path, headers={"accept": "application/n-triples"}).text
    assert f"#endpoint> <{client.base_url}{path}>" in described
    assert "SPARQL11Update" not in described
    assert "SPARQL11Update" in client.get("/sparql", headers={"accept": "application/n-triples"}).text


@pytest.mark.parametrize("name", ["as-of", "valid-at"])
def test_a_path_of_a_moment_takes_no_other_moment(client: httpx2.Client, name: str) -> None:
    answer = client.get("/at/2026-05-06T13:30:00Z/sparql", params={"query": QUERY, name: "2026-05-06"})
    assert (answer.status_code, answer.json()["where"]) == (400, name)


def test_iris_are_relative_to_one_endpoint_at_every_moment(client: httpx2.Client) -> None:
    query = {"query": "SELECT ?x { BIND(<here> AS ?x) }"}
    answers = [client.get(path, params=query).json() for path in ("/sparql", "/at/2026-05-06T13:30:00Z/sparql")]
    assert answers[0]["results"]["bindings"][0]["x"]["value"] == f"{client.base_url}/here"
    assert answers[0] == answers[1]


# --- what may be kept -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "parameters"), [("/sparql", {"query": QUERY}), ("/facts", {"subject": f"{EX}ann", "valid-at": "any"})]
)
def test_a_fixed_moment_is_kept_for_a_while(client: httpx2.Client, path: str, parameters: dict[str, str]) -> None:
    fixed = client.get(path, params={**parameters, "as-of": "2026-05-06T13:30:00Z"})
    assert fixed.headers["cache-control"] == "private, max-age=3600"
    held = {"if-none-match": fixed.headers["etag"]}
    same = client.get(path, params={**parameters, "as-of": "2026-05-06T13:30:00Z"}, headers=held)
    assert same.status_code == 304
    assert {name: same.headers.get(name) for name in ("cache-control", "vary", "link", "memento-datetime")} == {
        name: fixed.headers.get(name) for name in ("cache-control", "vary", "link", "memento-datetime")
    }
    # Since the last head nothing is fixed: should the clock step back, something may still be recorded then.
    for moment in ({"as-of": "2026-05-06T14:30:00Z"}, {"valid-at": "2020"}, {}):
        loose = client.get(path, params={**parameters, **moment})
        assert loose.headers["cache-control"] == "private, no-cache"
    negotiated = client.get(path, params=parameters, headers={"accept-datetime": FIRST})
    assert negotiated.headers["cache-control"] == "private, no-cache"
    other = client.get(
        path,
        params=parameters,
        headers={"accept-datetime": SECOND_ONE, "if-none-match": negotiated.headers["etag"]},
    )
    assert other.status_code == 200


def test_what_changes_by_itself_is_not_kept_at_a_fixed_moment_either(client: httpx2.Client) -> None:
    answer = client.get("/sparql", params={"query": "SELECT (RAND() AS ?x) {}", "as-of": "2026-05-06T13:30:00Z"})
    assert answer.headers["cache-control"] == "no-store"


# --- the rules by themselves ------------------------------------------------------------------------------------------


@given(st.integers(min_value=-62135596800, max_value=253402300799))
def test_a_date_is_read_as_it_is_written(second: int) -> None:
    instant = Instant(second * SECOND)
    assert http_date(spell_date(instant) or "") == instant
    assert spell_date(Instant(instant + SECOND - 1)) == spell_date(instant)


@pytest.mark.parametrize("instant", ["-0044-03-15T00:00:00Z", "0000-12-31T00:00:00Z", "10000-01-01T00:00:00Z"])
def test_a_time_that_http_has_no_date_for_has_none(instant: str) -> None:
    assert spell_date(parse_instant(instant)) is None


@given(st.text(max_size=20))
def test_no_other_text_is_a_date(text: str) -> None:
    with pytest.raises(InvalidParameter):
        http_date(text)


@given(st.lists(st.sampled_from(["a=1", "as-of=2", "as%2Dof=3", "b", "as-offset=4", ""]), max_size=5))
def test_nothing_but_the_as_of_is_left_out(parts: list[str]) -> None:
    assert without_as_of("&".join(parts)) == "&".join(p for p in parts if p not in {"as-of=2", "as%2Dof=3"})


@settings(max_examples=10)
@given(st.lists(st.integers(0, 20), unique=True, min_size=1, max_size=4), st.integers(-3, 30))
def test_the_state_that_a_date_finds_is_the_one_that_stood(seconds: list[int], asked: int) -> None:
    """Against a plain model: of the heads by the end of the second the last, or the first of all."""
    clock = SetClock()
    with Base.open(None, host=clock) as base:
        instants = []
        for number, second in enumerate(sorted(seconds)):
            clock.at = Instant(NOON + second * SECOND + 250_000)
            instants.append(clock.at)
            base.submit(submission(Assert(living(OSLO, person(number))))).result(30)
        with base.ledger.reading() as view:
            found = state_at(view, Instant(NOON + asked * SECOND))
            assert found is not None
            by_then = [each for each in instants if each < NOON + (asked + 1) * SECOND]
            assert view.head_at(found) == view.head_at(by_then[-1] if by_then else instants[0])
            near = around(view, found)
        assert near is not None
        assert (near.first.instant, near.last.instant) == (instants[0], instants[-1])
        until, later = [i for i in instants if i <= found], [i for i in instants if i > found]
        assert (near.previous and near.previous.instant) == (until[-2] if until[1:] else None)
        assert (near.following and near.following.instant) == (later[0] if later else None)
