"""A node's page: statements at a moment, and its history."""

import re
from urllib.parse import urlencode

import httpx2
import pytest

from kernel.access import Role
from kernel.time.instants import parse_instant
from tests.api.bodies import EX, change
from tests.api.pages.world import Page, World
from tests.api.serving import Served


def of(name: str, **parameters: str) -> str:
    return "/node?" + urlencode({"iri": EX + name, **parameters})


def said(client: httpx2.Client, path: str) -> str:
    """What stands before the history."""
    return Page.of(client.get(path)).text.partition("History Everything")[0]


@pytest.mark.parametrize(
    ("moment", "holder"),
    [("1990", "Helmut Kohl"), ("2000-01", "Gerhard Schröder"), ("", "Angela Merkel"), ("1949", None)],
)
def test_statements_are_those_of_the_moment(still: World, moment: str, holder: str | None) -> None:
    text = said(still.signed_in(Role.READER), of("chancellor", **{"valid-at": moment}))
    names = ("Helmut Kohl", "Gerhard Schröder", "Angela Merkel")
    assert [name for name in names if name in text] == ([] if holder is None else [holder])


@pytest.mark.parametrize(
    "path", [of("chancellor"), "/query?" + urlencode({"query": "SELECT ?s { ?s ?p ?o }"})], ids=["node", "query"]
)
def test_without_a_time_it_is_the_present_that_is_shown(still: World, path: str) -> None:
    client = still.signed_in(Role.READER)
    before = still.server.base.reader.head().clock
    shown = re.search(r'rue at\s*<time datetime="([^"]+)"', client.get(path).text)
    assert shown is not None
    assert parse_instant(shown[1]) > before


def test_what_leads_to_a_node_is_listed_too(still: World) -> None:
    page = Page.of(still.signed_in(Role.READER).get(of("merkel")))
    assert "What leads here" in page.text
    assert page.links["Chancellor of Germany"] == of("chancellor")


def test_the_history_has_every_fact_and_marks_what_is_no_longer_believed(world: World) -> None:
    client = world.signed_in(Role.EDITOR)
    form = Page.of(client.get(world.path("successor"))).forms[-1]
    client.post(f"{world.path('successor')}/decision", data={**form, "decision": "approve"})
    page = Page.of(client.get(of("chancellor")))
    bars = [given["class"] for tag, given in page.tags if tag == "rect" and given["class"].startswith("box")]
    assert bars.count("box old") == 1
    assert len(bars) == 7, "kind, name, Kohl, Schröder, Merkel as it was and as it is, Scholz"
    past = [given for tag, given in page.tags if tag == "tr" and given.get("class") == "past"]
    assert len(past) == 1
    with world.server.base.ledger.reading() as view:
        held = view.certificate(world.certificates["held"])
    assert held is not None
    before = Page.of(client.get(of("chancellor", **{"as-of": f"head:{held.head}"})))
    assert "as it was known at" in before.text
    assert "Olaf Scholz" not in before.text


def test_the_history_names_the_certificate_that_ended_a_fact_by_what_it_did(server: Served) -> None:
    world = World(server)
    world.ask("recorded", *(change("ada", verb, "x", validFrom="2001") for verb in ("ends", "moves", "goes", "stays")))
    facts = {
        each["statement"]["predicate"]["@id"].removeprefix(EX): each["fact"]
        for each in server.writer.get("/facts", params={"subject": EX + "ada"}).json()["items"]
    }
    world.ask("ended", {"op": "end", "fact": facts["ends"], "at": "2005"})
    world.ask("corrected", {"op": "revise", "fact": facts["moves"], "object": {"@id": EX + "y"}})
    world.ask("withdrawn", {"op": "retract", "fact": facts["goes"]})
    client = world.signed_in(Role.READER)
    for node in ("ada", "x"):
        links = [
            (given["aria-label"].partition(" by ")[0], given["aria-label"].split()[-5:-2], given["href"])
            for tag, given in Page.of(client.get(of(node))).tags
            if tag == "a" and "the certificate of: " in given.get("aria-label", "")
        ]
        for word, verb in (("ended", "ends"), ("corrected", "moves"), ("withdrawn", "goes")):
            found = [href for said, sentence, href in links if said == word]
            assert found == [world.path(word)], (node, word, links)
            assert any(verb in sentence for said, sentence, _ in links if said == word)
        assert [said for said, _, _ in links].count("recorded") == len(links) - 3


def test_a_node_of_which_nothing_is_known_says_so(still: World) -> None:
    text = Page.of(still.signed_in(Role.READER).get("/node?iri=urn:nobody")).text
    assert "nobody has said anything of it that you may read" in text


def test_nothing_of_a_graph_that_one_may_not_read_is_shown(server: Served) -> None:
    world = World(server)
    world.ask("open", change("ada", "lives", "rome", graph="urn:open"))
    world.ask(
        "secret",
        change("ada", "lives", "paris", graph="urn:secret"),
        change("trudy", "knows", "ada", graph="urn:secret"),
    )
    text = Page.of(world.signed_in(Role.READER, "urn:open").get(of("ada"))).text
    assert "rome" in text
    assert "paris" not in text
    assert "trudy" not in text
    whole = Page.of(world.signed_in(Role.READER).get(of("ada"))).text
    assert "paris" in whole
    assert "trudy" in whole


def test_a_hub_is_shown_a_page_at_a_time_and_each_link_once(server: Served) -> None:
    world = World(server)
    lines = "".join(f"<{EX}s{number:04d}> <{EX}knows> <{EX}hub> .\n" for number in range(1_120))
    world.post(server.writer, lines)
    client, path = world.signed_in(Role.READER), of("hub")
    found: list[str] = []
    for _ in range(100):
        answer = client.get(path)
        assert len(answer.content) < 200_000
        page = Page.of(answer)
        found += re.findall(r">(s\d{4})<", answer.text.partition('id="history"')[0])
        following = page.links.get("Further ones")
        if following is None:
            break
        path = following
    assert len(found) == len(set(found)) == 1_120
    assert "There is more than is drawn here" in Page.of(client.get(of("hub"))).text


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("", "iri"),
        ("?iri=x", "iri"),
        ("?iri=urn:a&valid-at=soon", "valid-at"),
        ("?iri=urn:a&as-of=41", "as-of"),
        ("?iri=urn:a&out-after=x", "out-after"),
    ],
)
def test_what_cannot_be_used_is_named(still: World, query: str, where: str) -> None:
    answer = still.signed_in(Role.READER).get(f"/node{query}")
    assert answer.status_code == 400
    assert where in Page.of(answer).text
