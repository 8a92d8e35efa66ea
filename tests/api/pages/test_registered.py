"""The page of registered queries, and what a certificate's page says of their answers."""

from collections.abc import Iterator

import httpx2
import pytest

from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX
from tests.api.pages.world import Page, World
from tests.api.serving import served

NAMES = {
    "query": f"SELECT ?who ?nome_è {{ ?who <{EX}name> ?nome_è }}",
    "owner": "city-desk",
    "contact": "desk@city.example",
    "weight": 7,
}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Base.open(None) as base, served(base) as server:
        yield World(server)


@pytest.fixture(scope="module")
def admin(world: World) -> httpx2.Client:
    return world.server.client(Role.ADMINISTRATOR)


def ask(client: httpx2.Client, *names: str) -> dict[str, str]:
    changes = [
        {"op": "assert", "subject": f"{EX}p{place}", "predicate": f"{EX}name", "object": {"@value": name}}
        for place, name in enumerate(names)
    ]
    told: dict[str, str] = client.post("/changes", json={"changes": changes}).json()
    return told


def test_registered_queries_are_listed_with_what_changed_their_answers(world: World, admin: httpx2.Client) -> None:
    assert admin.put("/queries/names", json={**NAMES, "action": "note"}).status_code == 201
    browser = world.signed_in(Role.ADMINISTRATOR)
    before = Page.of(browser.get("/registered")).text
    assert "city-desk, desk@city.example" in before
    assert "is noted; weight 7" in before
    assert "changed its answer" in before
    assert ask(admin, "Ann", "Bob")["state"] == "applied"
    page = Page.of(browser.get("/registered"))
    assert "Changed lately" in page.text
    link = page.links["Ask it now"]
    assert Page.of(browser.get(link)).text.count("Ann") == 1


def test_who_may_see_none_is_told_so(world: World, admin: httpx2.Client) -> None:
    text = Page.of(world.signed_in(Role.EDITOR).get("/registered")).text
    assert "There is none that you may see" in text
    assert "city-desk" not in text


def test_a_certificate_says_whose_answer_changes_and_how(world: World, admin: httpx2.Client) -> None:
    admin.put("/queries/names", json={**NAMES, "action": "review"})
    told = ask(admin, *(f"N{number}" for number in range(8)))
    assert told["state"] == "pending"
    text = Page.of(world.signed_in(Role.EDITOR).get(f"/queue/{told['certificate'].removeprefix('urn:uuid:')}")).text
    assert "Changes an answer that somebody relies on" in text
    assert "The answer to names, which city-desk relies on, gains 8 rows" in text
    assert "query names owner city-desk weight 7" in text
    assert "nome_è" in text
    assert "“N0”" in text
    assert "and 3 more rows" in text
