"""The tour of an editor: signs in, reads what waits, approves, sees an answer change, rejects another."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from kernel.access import Role
from tests.api.pages.world import World
from tests.browser.visiting import HOLDERS, visiting

pytestmark = pytest.mark.browser


def ask_who_holds_the_office(page: Page) -> None:
    page.get_by_role("link", name="Query").click()
    page.get_by_label("SPARQL query").fill(HOLDERS)
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("heading", name="1 row")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_with_the_mouse(chromium: Browser, world: World, scripts: bool) -> None:
    with visiting(chromium, world, scripts=scripts) as visit:
        page = visit.page
        page.goto("/queue")
        page.get_by_label("Token").fill(world.server.token(Role.EDITOR))
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Waiting for a decision")).to_be_visible()
        expect(page.get_by_role("listitem").filter(has_text="violation")).to_have_count(1)

        ask_who_holds_the_office(page)
        expect(page.get_by_role("cell", name="Angela Merkel")).to_be_visible()

        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Queue").click()
        page.get_by_role("link", name=re.compile("held by Olaf Scholz")).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Olaf Scholz, since 8 December 2021")
        expect(page.get_by_role("img", name="what was believed before this certificate")).to_be_visible()
        page.get_by_label("Comment").fill("The gazette has it.")
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("status")).to_contain_text("Approved and applied")
        expect(page.get_by_text("The gazette has it.")).to_be_visible()

        ask_who_holds_the_office(page)
        expect(page.get_by_role("cell", name="Olaf Scholz")).to_be_visible()
        page.get_by_label("As true at").fill("2021-12-07")
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_role("cell", name="Angela Merkel")).to_be_visible()
        page.get_by_role("link", name="Angela Merkel").click()
        expect(page.get_by_role("heading", level=1, name="Angela Merkel")).to_be_visible()
        expect(page.get_by_role("img", name="The history of Angela Merkel")).to_be_visible()

        page.get_by_role("link", name="Queue").click()
        page.get_by_role("link", name="Applied").click()
        page.get_by_role("link", name=re.compile("held by Olaf Scholz")).click()
        page.get_by_role("link", name="Undo what it did").click()
        page.get_by_label("Why").fill("The gazette was misread.")
        page.get_by_role("button", name="Undo it").click()
        expect(page.get_by_role("status")).to_contain_text("Undone, by this certificate")
        expect(page.get_by_text("The gazette was misread.")).to_be_visible()
        ask_who_holds_the_office(page)
        expect(page.get_by_role("cell", name="Angela Merkel")).to_be_visible()

        page.get_by_role("link", name="Queue").click()
        page.get_by_role("link", name=re.compile("born in Hamburg")).click()
        page.get_by_label("Comment").fill("Hearsay.")
        page.get_by_role("button", name="Reject").click()
        expect(page.get_by_role("status")).to_contain_text("Rejected: nothing was changed.")
        page.get_by_role("link", name="To the next that waits").click()
        expect(page.get_by_text("was recorded otherwise")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


# --- with the keyboard alone ------------------------------------------------------------------------------------------

FOCUSED = """(focused => focused.labels?.[0]?.innerText || focused.innerText || '')(document.activeElement)"""
IS_SEEN = """
    (style => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 1)
    (getComputedStyle(document.activeElement))
"""


def tab_to(page: Page, text: str) -> None:
    """Goes on with the tab key until something that says so has the focus, which has to be seen wherever it is."""
    for _ in range(80):
        page.keyboard.press("Tab")
        said = str(page.evaluate(FOCUSED))
        if page.evaluate("document.activeElement !== document.body"):
            assert page.evaluate(IS_SEEN), f"the focus on {said!r} is not seen"
        if text in " ".join(said.split()):
            return
    raise AssertionError(f"the tab key does not lead to {text!r}")


def test_with_the_keyboard_alone(chromium: Browser, world: World) -> None:
    with visiting(chromium, world) as visit:
        page = visit.page
        page.goto("/sign-in")
        tab_to(page, "Token")
        page.keyboard.type(world.server.token(Role.EDITOR))
        page.keyboard.press("Enter")
        page.wait_for_url("**/queue")
        page.keyboard.press("Tab")
        assert "Skip to the content" in page.evaluate(FOCUSED)
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        tab_to(page, "held by Olaf Scholz")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Olaf Scholz")
        tab_to(page, "Go to the decision")
        page.keyboard.press("Enter")
        tab_to(page, "Comment")
        page.keyboard.type("Read it aloud.")
        tab_to(page, "Approve")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Approved and applied")
        tab_to(page, "Query")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Ask the graph")).to_be_visible()
        tab_to(page, "SPARQL query")
        page.keyboard.type(HOLDERS)
        tab_to(page, "Ask")
        page.keyboard.press("Space")
        expect(page.get_by_role("cell", name="Olaf Scholz")).to_be_visible()
        tab_to(page, "Queue")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Waiting for a decision")).to_be_visible()
        tab_to(page, "born in Hamburg")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Hamburg")
        tab_to(page, "Reject")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Rejected")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_comment_outlives_the_session(chromium: Browser, world: World, scripts: bool) -> None:
    with visiting(chromium, world, scripts=scripts) as visit:
        visit.sign_in(Role.EDITOR)
        page = visit.page
        page.goto(world.path("doubt"))
        page.get_by_label("Comment").fill("Heard it too.\nBut not there.")
        page.context.clear_cookies()
        page.get_by_role("button", name="Reject").click()
        expect(page.get_by_role("alert")).to_contain_text("What you wrote is kept")
        page.get_by_label("Token").fill(world.server.token(Role.EDITOR))
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_label("Comment")).to_have_value("Heard it too.\nBut not there.")
        page.get_by_role("button", name="Reject").click()
        expect(page.get_by_text("Heard it too.")).to_be_visible()


def test_a_query_too_long_for_an_address_is_answered(chromium: Browser, still: World) -> None:
    with visiting(chromium, still, scripts=False) as visit:
        visit.sign_in(Role.READER)
        page = visit.page
        page.goto("/query")
        page.get_by_label("SPARQL query").fill(f"# {'long ' * 5_000}\n{HOLDERS}")
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_role("cell", name="Angela Merkel")).to_be_visible()
        with page.expect_download() as download:
            page.get_by_role("button", name="CSV").click()
        assert download.value.suggested_filename == "answer.csv"


def test_a_form_on_another_site_does_nothing(chromium: Browser, world: World) -> None:
    """The browser itself says where a form comes from, and keeps the cookie back."""
    with visiting(chromium, world) as visit:
        visit.sign_in(Role.EDITOR)
        page = visit.page
        target = f"{world.server.url}{world.path('doubt')}/decision"
        other = world.server.url.replace("127.0.0.1", "localhost")
        page.route(
            f"{other}/trap",
            lambda route: route.fulfill(
                content_type="text/html",
                body=f"<form method=post action='{target}'><button name=decision value=approve>Go</button></form>",
            ),
        )
        page.goto(f"{other}/trap")
        page.get_by_role("button", name="Go").click()
        expect(page.get_by_text("Error 40")).to_be_visible()
        page.goto(world.path("doubt"))
        expect(page.get_by_role("button", name="Approve")).to_be_visible()


def test_of_two_windows_the_second_learns_of_the_first(chromium: Browser, world: World) -> None:
    with visiting(chromium, world) as one, visiting(chromium, world) as other:
        for visit in (one, other):
            visit.sign_in(Role.EDITOR)
            visit.page.goto(world.path("doubt"))
        one.page.get_by_role("button", name="Reject").click()
        expect(one.page.get_by_role("status")).to_contain_text("Rejected")
        other.page.get_by_role("button", name="Approve").click()
        expect(other.page.get_by_role("status")).to_contain_text("Somebody else was first")
        expect(other.page.get_by_text("rejected it")).to_be_visible()
