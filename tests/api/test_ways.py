"""The cases of time, asked through every way in to a moment: by URL, by date, of facts and exports, by command.

One base for all of them, whose clock goes when it is told to; each case has a subject of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx2
import pyoxigraph as ox
import pytest

from api.http.moments import spell_date
from bridge.base import Base
from kernel.access import Role
from kernel.time.instants import SECOND, Instant, parse_instant, print_instant
from kernel.vocabulary import DEFAULT_GRAPH
from tests.api.bodies import EX, M, change, request
from tests.api.console import run
from tests.api.serving import Served, served
from tests.bridge.writing import HOUR, SetClock, until

WAYS: Final = (
    "parameters",
    "form",
    "body",
    "path",
    "path-form",
    "date",
    "facts",
    "export",
    "graph",
    "command",
)
TRIPLES: Final = {"accept": "application/n-triples"}
QUADS: Final = {"accept": "application/n-quads"}
ROWS: Final = {"accept": "application/sparql-results+json"}
RULE: Final = f"<urn:rule> a <{M}SingleValuedBySubject> ; <{M}predicate> <{EX}livesIn> ; <{M}propose> <{M}EndOlder> ."


@dataclass(frozen=True, slots=True)
class Asking:
    """One way in to a moment."""

    way: str
    server: Served
    client: httpx2.Client

    def values(self, subject: str, as_of: str | None = None, valid_at: str | None = None) -> list[str]:
        """What is said of a subject, by its values."""
        answer = self.ask(subject, as_of, valid_at)
        assert answer.status_code == 200, answer.text
        return sorted(each.removeprefix(EX) for each in self._read(answer, EX + subject))

    def ask(self, subject: str, as_of: str | None = None, valid_at: str | None = None) -> httpx2.Response:
        """The answer, whatever it is."""
        query = f"SELECT ?o {{ <{EX}{subject}> ?p ?o }}"
        moment = {name: text for name, text in (("as-of", as_of), ("valid-at", valid_at)) if text is not None}
        timeless = {name: text for name, text in moment.items() if name == "valid-at"}
        graph = quote(DEFAULT_GRAPH.value, safe="")
        path, beside = "/sparql", timeless
        if as_of is not None:
            path, beside = f"/at/{'/'.join(quote(each) for each in moment.values())}/sparql", {}
        dated = {} if as_of is None or self.way != "date" else {"accept-datetime": self._date(as_of)}
        send = self.client.request
        kind = {"content-type": "application/sparql-query"}
        ways = {
            "parameters": lambda: send("GET", "/sparql", params={"query": query, **moment}, headers=ROWS),
            "form": lambda: send("POST", "/sparql", data={"query": query, **moment}, headers=ROWS),
            "body": lambda: send("POST", "/sparql", params=moment, content=query, headers=ROWS | kind),
            "path": lambda: send("GET", path, params={"query": query, **beside}, headers=ROWS),
            "path-form": lambda: send("POST", path, data={"query": query, **beside}, headers=ROWS),
            "date": lambda: send("GET", "/sparql", params={"query": query, **timeless}, headers=ROWS | dated),
            "facts": lambda: send("GET", "/facts", params={"subject": EX + subject, **moment}),
            "export": lambda: send("GET", f"/exports/{graph}", params=moment, headers=QUADS),
            "graph": lambda: send("GET", "/graphs", params={"default": "", **moment}, headers=TRIPLES),
            "command": lambda: self._command(moment, "query", query, "--format", "json"),
        }
        return ways[self.way]()

    def _command(self, moment: dict[str, str], *words: str) -> httpx2.Response:
        """What a command prints, or complains about, as if it were an answer."""
        options = [word for name, text in moment.items() for word in (f"--{name}", text)]
        token = self.client.headers["authorization"].removeprefix("Bearer ")
        ended = run(*words, *options, "--url", self.server.url, "--token-env", "TOKEN", TOKEN=token)
        if ended.status == 0:
            return httpx2.Response(200, text=ended.output)
        where, _, complaint = ended.errors.removeprefix("muniment: ").partition(": ")
        return httpx2.Response(400, json={"where": where, "remedy": complaint.partition("(")[2]})

    def _date(self, as_of: str) -> str:
        if not as_of.startswith("head:"):
            return spell_date(parse_instant(as_of)) or ""
        with self.server.base.ledger.reading() as view:
            instant = view.recorded_in(int(as_of.removeprefix("head:")))
        return spell_date(instant or Instant(0)) or ""

    def _read(self, answer: httpx2.Response, subject: str) -> list[str]:
        if self.way == "facts":
            objects = [item["statement"]["object"] for item in answer.json()["items"]]
            return [each.get("@id") or each["@value"] for each in objects]
        if self.way in {"export", "graph"}:
            form = ox.RdfFormat.N_TRIPLES if self.way == "graph" else ox.RdfFormat.N_QUADS
            quads = ox.parse(answer.content, form)
            return [quad.object.value for quad in quads if quad.subject.value == subject]
        return [row["o"]["value"] for row in answer.json()["results"]["bindings"]]


@dataclass(frozen=True, slots=True)
class World:
    """The base that all cases share."""

    server: Served
    clock: SetClock
    client: httpx2.Client

    def write(self, *changes: dict[str, Any], status: int = 201) -> str:
        """Writes at a second of its own, and answers the head as `as-of` has it."""
        self.clock.move(10 * SECOND)
        answer = self.client.post("/changes", json=request(*changes))
        assert answer.status_code == status, answer.text
        return f"head:{answer.json()['head']}"


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    clock = SetClock()
    with Base.open(None, host=clock) as base, served(base) as server:
        client = server.client(Role.ADMINISTRATOR)
        rules = client.post(
            "/changes", params={"graph": f"{M}rules"}, content=RULE, headers={"content-type": "text/turtle"}
        )
        assert rules.status_code == 201
        yield World(server, clock, client)


@pytest.fixture(params=WAYS)
def asking(request: pytest.FixtureRequest, world: World) -> Asking:
    return Asking(request.param, world.server, world.client)


@pytest.fixture
def one(request: pytest.FixtureRequest, asking: Asking) -> str:
    """A subject of its own for each test and way."""
    return f"{request.node.originalname}-{asking.way}"


def test_case_23_an_offset_is_the_same_instant(world: World, asking: Asking, one: str) -> None:
    world.write(change(one, "is", "here", validFrom="2024-01-01T00:00:00+05:00"))
    assert asking.values(one, valid_at="2023-12-31T19:00:00Z") == ["here"]
    assert asking.values(one, valid_at="2024-01-01T00:00:00+05:00") == ["here"]
    assert asking.values(one, valid_at="2023-12-31T18:59:59.999999Z") == []


@pytest.mark.parametrize(
    "wrong", ["2024-05-06T10:00:00", "2016-12-31T23:59:60Z", "2024-02-30", "2024-01-01T00:00:00.1234567Z", "soon"]
)
def test_cases_24_and_29_what_is_no_time_is_named(asking: Asking, wrong: str) -> None:
    answer = asking.ask("ann", valid_at=wrong)
    assert (answer.status_code, answer.json()["where"]) == (400, "valid-at")
    assert answer.json()["remedy"]


def test_case_25_the_last_day_is_within(world: World, asking: Asking, one: str) -> None:
    world.write(change(one, "is", "here", validFrom="2026-05-06", validThrough="2026-05-06"))
    assert asking.values(one, valid_at="2026-05-06T15:00:00Z") == ["here"]
    assert asking.values(one, valid_at="2026-05-07") == []


def test_cases_26_and_27_two_intervals_to_the_microsecond(world: World, asking: Asking, one: str) -> None:
    world.write(
        change(one, "is", "here", validFrom="2001", validTo="2003"),
        change(one, "is", "here", validFrom="2010", validTo="2012"),
    )
    inside = ("2001-01-01T00:00:00Z", "2002-12-31T23:59:59.999999Z", "2010", "2011-12-31T23:59:59.999999Z")
    outside = ("2000-12-31T23:59:59.999999Z", "2003", "2009-12-31T23:59:59.999999Z", "2012-01-01T00:00:00Z")
    assert [asking.values(one, valid_at=each) for each in inside] == [["here"]] * 4
    assert [asking.values(one, valid_at=each) for each in outside] == [[]] * 4


def test_case_28_the_ides_of_march(world: World, asking: Asking, one: str) -> None:
    world.write(change(one, "is", "alive", validFrom="-0099-07-12", validTo="-0043-03-15"))
    assert asking.values(one, valid_at="-0043-03-14T23:59:59Z") == ["alive"]
    assert asking.values(one, valid_at="-0043-03-15") == []


def test_cases_29_and_30_spellings_of_one_instant(world: World, asking: Asking, one: str) -> None:
    world.write(change(one, "is", "here", validFrom="2024-05-06T24:00:00Z", validTo="2024-05-08T00:00:00.100000Z"))
    assert asking.values(one, valid_at="2024-05-07") == ["here"]
    assert asking.values(one, valid_at="2024-05-06T23:59:59.999999Z") == []
    assert asking.values(one, valid_at="2024-05-08T00:00:00.1Z") == []
    assert asking.values(one, valid_at="2024-05-08T00:00:00.099999Z") == ["here"]


def test_case_31_the_clock_steps_back(world: World, asking: Asking, one: str) -> None:
    first = world.write(change(one, "is", "here"))
    world.clock.move(-HOUR)
    second = world.client.post("/changes", json=request(change(one, "was", "there"))).json()["head"]
    world.clock.move(HOUR)
    with world.server.base.ledger.reading() as view:
        earlier, later = (view.recorded_in(each) for each in (int(first.removeprefix("head:")), second))
    assert earlier is not None
    assert later is not None
    assert earlier < later
    assert asking.values(one, as_of=f"head:{second}") == ["here", "there"]
    if asking.way != "date":  # to which both are of one second
        assert asking.values(one, as_of=first) == ["here"]


def test_case_38_the_two_extra_years(world: World, asking: Asking, one: str) -> None:
    before = world.write(change(one, "is", "here", validFrom="2020", validTo="2022"))
    world.write(change(one, "is", "here", validFrom="2021", validTo="2024"))
    assert asking.values(one, valid_at="2023") == ["here"]
    assert asking.values(one, as_of=before, valid_at="2023") == []


def test_case_39_a_late_older_fact(world: World, asking: Asking, one: str) -> None:
    before = world.write(change(one, "livesIn", "paris", validFrom="2024"))
    world.clock.move(10 * SECOND)
    late = world.client.post("/changes", json=request(change(one, "livesIn", "rome", validFrom="2019")))
    path = f"/certificates/{late.json()['certificate']}/decision"
    world.client.post(path, json={"decision": "approve", "comment": "yes"})
    assert asking.values(one, valid_at="2020") == ["rome"]
    assert asking.values(one, valid_at="2025") == ["paris"]
    assert asking.values(one, as_of=before, valid_at="2020") == []


def test_cases_40_and_45_before_the_correction(world: World, asking: Asking, one: str) -> None:
    before = world.write(change(one, "was", "paris", validFrom="2024"))
    (fact,) = world.client.get("/facts", params={"subject": EX + one}).json()["items"]
    world.write({"op": "revise", "fact": fact["fact"], "object": {"@id": f"{EX}rome"}})
    assert asking.values(one, as_of=before, valid_at="2025") == ["paris"]
    assert asking.values(one, valid_at="2025") == ["rome"]
    assert asking.values(one, as_of=before) == ["paris"], "valid-at is the as-of instant"
    assert asking.values(one, as_of=fact["recordedAt"]) == ["paris"]


def test_case_45_an_end_that_was_recorded_and_passed_since(world: World, asking: Asking, one: str) -> None:
    soon = Instant(world.clock.at + 2 * HOUR)
    before = world.write(change(one, "is", "here", validTo=print_instant(soon)))
    world.clock.move(3 * HOUR)
    until(world.server.base, lambda: world.server.base.reader.head().clock >= soon)
    assert asking.values(one) == []
    assert asking.values(one, as_of=before) == ["here"]
    # A date between: the same head, before and after the boundary.
    assert asking.values(one, as_of=print_instant(Instant(soon - SECOND))) == ["here"]
    assert asking.values(one, as_of=print_instant(soon)) == []


@pytest.mark.parametrize("asking", [way for way in WAYS if way != "date"], indirect=True)
@pytest.mark.parametrize(
    "wrong", ["2024", "7", "head:0", "head:999999", "head:x", "2999-01-01", "290000-12-31", "HEAD"]
)
def test_case_45_what_is_no_as_of_is_named(asking: Asking, wrong: str) -> None:
    answer = asking.ask("ann", as_of=wrong)
    assert (answer.status_code, answer.json()["where"]) == (400, "as-of")


def test_case_41_a_fact_of_2090_is_not_current(world: World, asking: Asking, one: str) -> None:
    world.write(change(one, "is", "mars", validFrom="2090"), *(change(one, "has", each) for each in ("a", "b", "c")))
    assert asking.values(one) == ["a", "b", "c"]
    assert asking.values(one, valid_at="2091") == ["a", "b", "c", "mars"]


def test_case_47_a_boundary_passes_with_no_write(world: World, asking: Asking, one: str) -> None:
    soon = Instant(world.clock.at + HOUR)
    world.write(
        change(one, "is", "here", validTo=print_instant(soon)), change(one, "is", "away", validFrom=print_instant(soon))
    )
    assert asking.values(one) == ["here"]
    first = asking.ask(one)
    world.clock.move(HOUR)
    until(world.server.base, lambda: world.server.base.reader.head().clock >= soon)
    assert asking.values(one) == ["away"]
    if "etag" in first.headers:
        again = asking.client.get(
            str(first.url), headers=dict(first.request.headers) | {"if-none-match": first.headers["etag"]}
        )
        assert again.status_code == 200
        assert again.headers["etag"] != first.headers["etag"]


def test_the_first_and_the_last_instant(world: World, asking: Asking, one: str) -> None:
    first, last = "-290000-01-01T00:00:00Z", "290000-12-31T23:59:59.999999Z"
    world.write(
        change(one, "is", "always"),
        change(one, "is", "since", validFrom=last),
        change(one, "is", "until", validTo="-290000-01-01T00:00:00.000001Z"),
    )
    assert asking.values(one, valid_at=first) == ["always", "until"]
    assert asking.values(one, valid_at="-290000-01-01T00:00:00.000001Z") == ["always"]
    assert asking.values(one, valid_at="290000-12-31T23:59:59.999998Z") == ["always"]
    assert asking.values(one, valid_at=last) == ["always", "since"]
    for beyond in ("-290001-12-31T23:59:59.999999Z", "290001-01-01"):
        answer = asking.ask(one, valid_at=beyond)
        assert (answer.status_code, answer.json()["where"]) == (400, "valid-at")


@pytest.mark.parametrize("asking", [way for way in WAYS if way not in {"date", "graph"}], indirect=True)
def test_before_the_first_head_nothing_was_believed(world: World, asking: Asking, one: str) -> None:
    world.write(change(one, "is", "always"))
    for before in ("1066-10-14", "-290000-01-01"):
        assert asking.values(one, as_of=before) == []
        assert asking.values(one, as_of=before, valid_at="2090") == []


def test_the_present_is_asked_by_no_moment_at_all(world: World, asking: Asking, one: str) -> None:
    world.write(change(one, "is", "here"))
    assert asking.values(one) == ["here"]
