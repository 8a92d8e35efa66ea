"""The pages of branches: what they would change and what was found, and their two buttons."""

from collections.abc import Iterator

import httpx2
import pytest

from bridge.base import Base
from kernel.access import Principal, Role
from tests.api.bodies import EX
from tests.api.pages.world import Page, World
from tests.api.serving import served

NAMES = {"query": f"SELECT ?who ?n {{ ?who <{EX}name> ?n }}", "owner": "city-desk", "contact": "x", "action": "note"}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Base.open(None) as base, served(base) as server:
        yield World(server)


def signed_in(world: World, token: str) -> httpx2.Client:
    client = world.visitor()
    form = Page.of(client.get("/sign-in")).forms[-1]
    assert client.post("/sign-in", data={**form, "token": token}).status_code == 303
    return client


@pytest.fixture
def token(world: World) -> str:
    return world.server.token(Role.EDITOR)


def named(subject: str, name: str, op: str = "assert", **more: object) -> dict[str, object]:
    return {"op": op, "subject": EX + subject, "predicate": EX + "name", "object": {"@value": name}} | more


def hold(client: httpx2.Client, *changes: dict[str, object], **more: object) -> str:
    answer = client.post("/what-if", json={"changes": changes, **more})
    assert answer.status_code == 201, answer.text
    return f"/branches/{answer.json()['branch']}"


def test_a_branch_is_shown_with_what_it_changes_and_submitted_by_a_form(world: World, token: str) -> None:
    admin, client, browser = (
        world.server.client(Role.ADMINISTRATOR),
        world.server.client_with(token),
        signed_in(world, token),
    )
    assert admin.put("/queries/names", json=NAMES).status_code == 201
    assert client.post("/changes", json={"changes": [named("a", "Old <b>")]}).status_code == 201
    path = hold(client, named("a", "Old <b>", "retract"), named("a", "New"), reason="a new name")
    listed = Page.of(browser.get("/branches"))
    assert listed.links["a new name"] == path
    page = Page.of(browser.get(path))
    assert "What if 2 changes were made?" in page.text
    assert "It would be applied at once. Judged at head" in page.text
    assert "No longer believed as it is" in page.text
    assert "“Old <b>”" in page.text
    assert "Believed from then on" in page.text
    assert "The answer to names, which city-desk relies on, gains 1 row and loses 1 row" in page.text
    other = world.signed_in(Role.EDITOR)
    assert other.get(path).status_code == 404
    assert path not in other.get("/branches").text
    forged = browser.post(f"{path}/submit", data={"forgery-token": "guessed"})
    assert forged.status_code == 403
    form = next(each for each in page.forms if "forgery-token" in each)
    done = browser.post(f"{path}/submit", data=form)
    assert done.status_code == 303
    shown = Page.of(browser.get(done.headers["location"]))
    assert "Submitted, and applied: it can be read at once." in shown.text
    assert browser.post(f"{path}/submit", data=form).headers["location"] == done.headers["location"]
    assert "This branch was submitted" in Page.of(browser.get(path)).text
    admin.delete("/queries/names")


def test_a_branch_that_cannot_be_carried_out_says_why_and_is_dropped(world: World, token: str) -> None:
    client, browser = world.server.client_with(token), signed_in(world, token)
    client.post("/changes", json={"changes": [named("b", "there")]})
    path = hold(client, named("b", "there", "retract"))
    client.post("/changes", json={"changes": [named("b", "there", "retract")]})
    page = Page.of(browser.get(path))
    assert "This cannot be carried out any more" in page.text
    assert "nothing of this is believed" in page.text
    form = next(each for each in page.forms if "forgery-token" in each)
    assert browser.post(f"{path}/submit", data=form).status_code == 422
    assert browser.post(f"{path}/drop", data=form).headers["location"] == "/branches"
    assert "The branch was dropped." in Page.of(browser.get("/branches")).text
    assert browser.get(path).status_code == 404


def test_what_rules_would_end_in_a_graph_that_its_reader_may_not_read_is_not_shown(world: World) -> None:
    admin = world.server.client(Role.ADMINISTRATOR)
    token = world.server.token(Role.WRITER, EX + "mine")
    client, browser = world.server.client_with(token), signed_in(world, token)
    admin.post("/changes", json={"changes": [named("c", "hidden", graph=EX + "hidden")]})
    path = hold(client, named("c", "mine", graph=EX + "mine"))
    text = Page.of(browser.get(path)).text
    assert "“mine”" in text
    assert "hidden" not in text


def test_the_owner_of_a_query_is_led_to_no_certificate_that_they_may_not_see(world: World) -> None:
    admin = world.server.client(Role.ADMINISTRATOR)
    assert admin.put("/queries/owned", json=NAMES | {"owner": "the-owner"}).status_code == 201
    certificate = admin.get("/queries/owned").json()["certificates"][0]["certificate"].removeprefix("urn:uuid:")
    server = world.server
    client = server.client_of(Principal("the-owner", Role.READER))
    browser = signed_in(world, client.headers["Authorization"].removeprefix("Bearer "))
    shown = browser.get("/registered").text
    assert "owned" in shown
    assert certificate not in shown
    assert certificate in world.signed_in(Role.ADMINISTRATOR).get("/registered").text
    admin.delete("/queries/owned")
