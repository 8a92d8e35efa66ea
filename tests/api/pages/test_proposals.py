"""What a rule proposes is told apart from what was asked for."""

import pytest

from kernel.access import Role
from tests.api.bodies import EX, change
from tests.api.pages.world import RULE, Page, World, term_of
from tests.api.serving import Served

MARK = "proposed by a rule"


@pytest.fixture
def ruled(server: Served) -> World:
    world = World(server)
    world.post(server.client(Role.ADMINISTRATOR), RULE, graph="https://w3id.org/muniment#rules")
    return world


def told(world: World, name: str) -> str:
    return Page.of(world.signed_in(Role.EDITOR).get(world.path(name))).text


@pytest.mark.parametrize("offices", [1, 7])
def test_every_end_that_a_rule_proposes_is_marked(ruled: World, offices: int) -> None:
    names = [f"office{number}" for number in range(offices)]
    ruled.ask("held", *(term_of("first", "2001", None, office=name) for name in names))
    ruled.ask("next", *(term_of("second", "2005", None, office=name) for name in names))
    text = told(ruled, "next")
    assert text.count(f"Ended stopped being true {MARK}") == offices
    assert text.count("Gained was not believed before " + names[0]) == 1
    assert text.count(MARK) == offices


def test_what_was_asked_for_is_not_marked_beside_it(ruled: World) -> None:
    ruled.ask("held", term_of("first", "2001", None), term_of("one", "2001", None, office="other"))
    facts = ruled.server.writer.get("/facts", params={"object": EX + "one"}).json()["items"]
    ruled.ask(
        "next",
        {"op": "end", "fact": facts[0]["fact"], "at": "2005"},
        term_of("second", "2005", None),
        change("ada", "lives", "rome", confidence=0.1),
    )
    text = told(ruled, "next")
    assert text.count("Ended stopped being true") == 2
    assert text.count(MARK) == 1
    assert "Ended stopped being true Before other held by one" in text


def test_the_end_of_a_fact_that_arrives_late_is_marked(ruled: World) -> None:
    ruled.ask("held", term_of("second", "2005", None))
    ruled.ask("late", term_of("first", "2001", None))
    text = told(ruled, "late")
    assert f"Gained was not believed before its end is {MARK}" in text
    assert "held by first, from 2001 until the end of 2004" in text
    assert "and left as it is" in text, "what is drawn stands in the table too"
