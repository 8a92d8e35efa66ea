"""The page of a proof: what it says, what it leads to, and the form for another."""

from collections.abc import Iterator

import pytest

from bridge.base import Base
from kernel.access import Role
from tests.api.pages.world import Page, World
from tests.api.serving import FRUGAL, served
from tests.bridge.entailment.test_entailed_queries import ANN, PERSON, POET, SUBCLASS, A, said
from tests.bridge.writing import during, write

NAMED = {"subject": ANN.value, "predicate": A.value, "object": PERSON.value, "entailment": "owl-rl"}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Base.open(None) as base, served(base, FRUGAL) as server:
        write(base, said(POET, SUBCLASS, PERSON), said(ANN, A, POET, valid=during(1980, None)))
        yield World(server)


def test_each_step_leads_to_its_premises_and_to_certificates(world: World) -> None:
    browser = world.signed_in(Role.READER)
    page = Page.of(browser.get("/proof", params=NAMED))
    assert "Follows by cax-sco from 2, 3." in page.text
    assert "holds by this proof since" in page.text
    assert page.text.count("Is asserted: in") == 2
    assert [url for url in page.links.values() if url.startswith("/queue/")], page.links
    assert {"#step-2", "#step-3"} <= set(page.links.values())
    assert [form["subject"] for form in page.forms if "subject" in form] == [ANN.value]


def test_without_a_statement_there_is_a_form(world: World) -> None:
    page = Page.of(world.signed_in(Role.READER).get("/proof"))
    assert "step-1" not in page.text
    assert any("predicate" in form for form in page.forms)


def test_what_does_not_follow_is_told_on_a_page(world: World) -> None:
    browser = world.signed_in(Role.READER)
    answer = browser.get("/proof", params={**NAMED, "valid-at": "1970"})
    assert (answer.status_code, "neither asserted nor by these rules" in Page.of(answer).text) == (404, True)
