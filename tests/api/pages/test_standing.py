"""The page of contradictions that stand: what is listed, how old it is, and who looks after it."""

from collections.abc import Iterator

import pytest

from bridge.base import Base
from kernel.access import Role
from kernel.time.instants import DAY, SECOND
from tests.api.bodies import EX, M
from tests.api.pages.world import Page, World, term_of
from tests.api.serving import served
from tests.bridge.writing import SetClock


@pytest.fixture(scope="module")
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="module")
def world(clock: SetClock) -> Iterator[World]:
    with Base.open(None, host=clock) as base, served(base) as server:
        yield World(server)


def test_what_was_let_in_is_listed_with_age_and_owner_and_can_be_given_away(world: World, clock: SetClock) -> None:
    admin = world.server.client(Role.ADMINISTRATOR)
    rule = f"<{EX}r> a <{M}SingleValuedBySubject> ; <{M}predicate> <{EX}heldBy> ; <{M}propose> <{M}KeepBoth> ."
    world.post(admin, rule, graph=M + "rules")
    world.ask("held", term_of("kohl", "1982", "1998"))
    certificate = world.ask("both", term_of("schroeder", "1990", "2005"))
    browser = world.signed_in(Role.EDITOR)
    assert "Nothing that you may see contradicts anything." in Page.of(browser.get("/standing")).text
    waiting = Page.of(browser.get("/queue?kind=value")).text
    assert "schroeder" in waiting
    assert "No certificate fits" in Page.of(browser.get("/queue?kind=type")).text
    assert admin.post(f"/certificates/{certificate}/decision", json={"decision": "approve"}).status_code == 200
    clock.move(3 * DAY + SECOND)

    page = Page.of(browser.get("/standing"))
    assert "schroeder contradicts kohl, held from 1 January 1982 until 1 January 1998" in page.text
    assert "for 3 days, since" in page.text
    assert "looked after by administrator-" in page.text
    assert "Give it to somebody" not in Page.of(world.signed_in(Role.READER).get("/standing")).text
    given = browser.post(
        f"/standing/{certificate}/0", data={"owner": "dora", "forgery-token": page.forms[0]["forgery-token"]}
    )
    assert given.status_code == 303
    assert "looked after by dora" in Page.of(browser.get("/standing?owner=dora")).text
    assert "No contradiction fits these filters." in Page.of(browser.get("/standing?kind=temporal")).text
    assert browser.post(f"/standing/{certificate}/0", data={"owner": "dora"}).status_code == 403
