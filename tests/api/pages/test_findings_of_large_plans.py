"""A finding lists the facts that it is about, whichever page of a plan's changes is looked at."""

import pytest

from kernel.access import Role
from tests.api.bodies import EX, change
from tests.api.pages.world import Page, World
from tests.api.serving import Served


@pytest.mark.parametrize("page", ["", "?from-change=201"])
def test_a_finding_about_a_change_of_another_page_lists_its_fact(server: Served, page: str) -> None:
    world = World(server)
    sure = [change(f"s{number:03d}", "p", "o") for number in range(398)]
    first = change("first", "doubts", "one", confidence=0.1)
    last = change("last", "doubts", "two", confidence=0.2, validFrom="2001")
    world.ask("large", first, *sure, last, episode=EX + "register")
    client = world.signed_in(Role.EDITOR)
    found = Page.of(client.get(world.path("large") + page)).text.partition("What the checks found")[2]
    assert "first doubts one, at all times" in found
    assert "last doubts two, since 2001" in found
    assert found.count("register") >= 2, "with their evidence"


def test_and_of_facts_that_end(server: Served) -> None:
    world = World(server)
    world.ask("held", *(change(f"s{number:03d}", "p", "o") for number in range(250)))
    facts = server.writer.get("/facts", params={"predicate": EX + "p", "object": EX + "o", "limit": "500"}).json()
    ends = [{"op": "end", "fact": each["fact"], "at": "2005"} for each in facts["items"]]
    world.ask("large", *ends, change("doubtful", "p", "o", confidence=0.1))
    client = world.signed_in(Role.EDITOR)
    for page in ("", "?from-change=201"):
        found = Page.of(client.get(world.path("large") + page)).text.partition("What the checks found")[2]
        assert "doubtful p o, at all times" in found
