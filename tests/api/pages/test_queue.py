"""The list of certificates: filters, order, pages, and what is not for everybody."""

from itertools import count
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from bridge.base import Base
from kernel.access import Role
from kernel.time.instants import SECOND, Instant, print_instant
from kernel.writing.preparing import Progress
from tests.api.bodies import EX, XSD, M, change
from tests.api.pages.world import RDFS, Page, World
from tests.api.serving import Served


def listed(client: httpx2.Client, path: str) -> list[str]:
    """The certificates of all pages, by following the links."""
    found: list[str] = []
    for _ in range(100):
        page = Page.of(client.get(path))
        found += [
            given["href"].rpartition("/")[2]
            for tag, given in page.tags
            if tag == "a" and given.get("href", "").startswith("/queue/")
        ]
        following = page.links.get("Further ones")
        if following is None:
            return found
        path = following
    raise AssertionError("there is no end of pages")


def names(world: World, client: httpx2.Client, path: str) -> list[str]:
    """The same, by the names of the certificates that have one."""
    by_id = {str(identifier): name for name, identifier in world.certificates.items()}
    return [by_id[each] for each in listed(client, path) if each in by_id]


def test_what_waits_comes_first_and_says_what_it_would_change(still: World) -> None:
    client = still.signed_in(Role.EDITOR)
    assert names(still, client, "/queue") == ["successor", "doubt", "correct"]
    text = Page.of(client.get("/queue")).text
    assert "Chancellor of Germany held by Olaf Scholz" in text
    assert "since 8 December 2021" in text
    assert "heard on the radio" in text
    assert "1 violation" in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?state=any", ["successor", "doubt", "correct", "held"]),
        ("?state=any&order=oldest", ["held", "correct", "doubt", "successor"]),
        ("?state=applied", ["held"]),
        ("?state=pending&verdict=clear", []),
        ("?state=any&verdict=clear&from=&to=", ["held"]),
        ("?state=any&graph=https://w3id.org/muniment%23default", ["successor", "doubt", "correct", "held"]),
        ("?state=any&graph=urn:other", []),
        ("?state=any&from=2999", []),
        ("?state=any&to=2999", ["successor", "doubt", "correct", "held"]),
        ("?state=any&to=1999", []),
    ],
)
def test_filters(still: World, query: str, expected: list[str]) -> None:
    assert names(still, still.signed_in(Role.EDITOR), f"/queue{query}") == expected


def test_dates_include_the_day_that_they_name(still: World) -> None:
    client = still.signed_in(Role.EDITOR)
    with still.server.base.ledger.reading() as view:
        record = view.certificate(still.certificates["held"])
    assert record is not None
    day = print_instant(record.issued_at)[:10]
    assert "held" in names(still, client, f"/queue?state=any&from={day}&to={day}")


def test_times_to_the_minute_are_in_utc_and_have_all_their_seconds(still: World) -> None:
    client = still.signed_in(Role.EDITOR)
    with still.server.base.ledger.reading() as view:
        record = view.certificate(still.certificates["held"])
    assert record is not None
    minute = print_instant(record.issued_at)[:16]
    for spelled in (minute, minute.replace("T", " "), minute + "Z", minute + ":00Z"):
        assert "held" in names(still, client, f"/queue?state=any&from={spelled}&to={minute}")
    second = print_instant(record.issued_at)[:19]
    before = print_instant(Instant(record.issued_at - 60 * SECOND))[:16]
    assert "held" not in names(still, client, f"/queue?state=any&to={before}")
    assert "held" in names(still, client, f"/queue?state=any&from={second}Z")


@pytest.mark.parametrize(
    ("first", "last"), [("2026-06", "2026-05"), ("2026-05-07", "2026-05-06"), ("2026-05-06T12:01", "2026-05-06T12:00")]
)
def test_a_list_that_would_begin_after_its_end_is_an_error_in_words(still: World, first: str, last: str) -> None:
    answer = still.signed_in(Role.EDITOR).get("/queue", params={"from": first, "to": last})
    assert answer.status_code == 400
    assert "Exchange the two dates" in Page.of(answer).text
    same = still.signed_in(Role.EDITOR).get("/queue", params={"from": last, "to": last})
    assert same.status_code == 200


def test_what_a_certificate_names_itself_is_called_so_in_the_list(world: World) -> None:
    named = {"predicate": {"@id": RDFS + "label"}}
    world.ask(
        "named",
        change("s1", "p", "newcomer", confidence=0.1),
        change("newcomer", "", {"@value": "Somebody New"}, confidence=0.1) | named,
    )
    assert "s1 p Somebody New" in Page.of(world.signed_in(Role.EDITOR).get("/queue")).text


@pytest.mark.parametrize(
    "query", ["?stat=any", "?state=maybe", "?verdict=ok", "?order=random", "?from=soon", "?after=x"]
)
def test_what_nothing_knows_is_an_error(still: World, query: str) -> None:
    answer = still.signed_in(Role.EDITOR).get(f"/queue{query}")
    assert answer.status_code == 400
    assert query[1:].partition("=")[0] in Page.of(answer).text


@pytest.mark.parametrize("state", ["pending", "applied", "stale"])
def test_an_empty_list_says_what_to_do(server: Served, state: str) -> None:
    client = World(server).signed_in(Role.EDITOR)
    page = Page.of(client.get(f"/queue?state={state}"))
    assert "Look at every certificate" in page.text
    assert "any" in parse_qs(urlsplit(page.links["Look at every certificate"]).query)["state"]


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("mine", [19, 20, 21, 45])
def test_pages_give_each_certificate_once_and_none_that_is_not_for_the_reader(
    server: Served, monkeypatch: pytest.MonkeyPatch, order: str, mine: int
) -> None:
    world, numbers = World(server), count()
    expected = []
    for number in range(mine):
        if number % 3 == 0:
            world.ask("hidden", change(f"s{next(numbers)}", "p", "o", graph="urn:hidden", confidence=0.1))
        expected.append(str(world.ask("mine", change(f"s{next(numbers)}", "p", "o", graph="urn:mine", confidence=0.1))))
    expected = expected if order == "oldest" else expected[::-1]
    client = world.signed_in(Role.EDITOR, "urn:mine")
    assert listed(client, f"/queue?order={order}") == expected
    assert listed(client, f"/queue?order={order}&state=any&graph=urn:mine") == expected
    assert listed(client, f"/queue?order={order}&graph=urn:hidden") == []


def test_a_waiver_that_has_ended_stands_above_what_waits_until_it_is_removed(world: World) -> None:
    administrator = world.server.client(Role.ADMINISTRATOR)
    waiver = f"""@prefix m: <{M}> . @prefix ex: <{EX}> . @prefix xsd: <{XSD}> .
        ex:waiver a m:Waiver ; m:waives ex:PersonShape ; m:reason "ages are being gathered" ;
            m:until "{{}}"^^xsd:date ."""
    world.post(administrator, waiver.format("2020-01-01"), graph=M + "shapes")
    for role, graphs in ((Role.EDITOR, ()), (Role.READER, ("urn:other",))):
        text = Page.of(world.signed_in(role, *graphs).get("/queue")).text
        assert "Waivers that have ended" in text
        assert "a waiver ended at 2020-01-01T00:00:00Z (ages are being gathered)" in text
    client = world.signed_in(Role.EDITOR)
    for elsewhere in ("?state=any", "?verdict=review"):
        assert "Waivers" not in Page.of(client.get(f"/queue{elsewhere}")).text
    until = {"subject": {"@id": f"{EX}waiver"}, "predicate": {"@id": f"{M}until"}, "graph": f"{M}shapes"}
    given = [{**until, "object": {"@value": day, "@type": f"{XSD}date"}} for day in ("2020-01-01", "2999-01-01")]
    changes = [{"op": "retract", **given[0]}, {"op": "assert", **given[1]}]
    assert administrator.post("/changes", json={"changes": changes}).status_code == 201
    assert "Waivers" not in Page.of(client.get("/queue")).text


def test_how_far_the_judging_of_shapes_is_stands_above_what_waits_for_administrators_of_everything(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Base, "preparing", (Progress(2_400, 10_000),))
    text = Page.of(world.signed_in(Role.ADMINISTRATOR).get("/queue")).text
    assert "Of 10,000 nodes in the data, 2,400 are judged." in text
    for role, graphs in ((Role.EDITOR, ()), (Role.ADMINISTRATOR, ("urn:other",))):
        assert "10,000" not in Page.of(world.signed_in(role, *graphs).get("/queue")).text
