"""The pages of registered queries and of branches, filled: light and wide, dark and narrow, for everybody."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, change
from tests.api.pages.world import World
from tests.api.serving import served
from tests.browser.visiting import Scheme, visiting

pytestmark = [pytest.mark.browser, pytest.mark.node]

_TOP = "document.querySelector('.top').offsetHeight"
LONG = "SELECT ?office ?holder { ?office <" + EX + "heldBy> ?holder " + "FILTER (?holder != <urn:x>) " * 9 + "}"


@pytest.fixture
def paths() -> Iterator[tuple[World, dict[str, str]]]:
    """A base with registered queries, and three branches: one with much, one in the way of something, one submitted."""
    with Base.open(None) as base, served(base) as server:
        admin = server.client(Role.ADMINISTRATOR)
        said = {"query": LONG, "owner": "protocol-office", "contact": "protocol@demo.example", "graphs": [EX + "g"]}
        queries = {"in-office": {**said, "weight": 10}, "a-" + "long-name-" * 8: {**said, "moment": "2020"}}
        assert admin.post("/queries", json={"queries": queries}).status_code == 201
        held = change("office", "heldBy", "ann", graph=EX + "g")
        assert admin.post("/changes", json={"changes": [held]}).status_code == 202
        gone = change("office", "heldBy", "bob", graph=EX + "h")
        admin.post("/changes", json={"changes": [gone]})
        plans = [
            {
                "changes": [change("office", "heldBy", f"holder{n}", graph=EX + "g") for n in range(3)],
                "reason": "because " * 40,
            },
            {"changes": [{**gone, "op": "retract"}]},
            {"changes": [change("other", "name", {"@value": "x" * 300}, graph=EX + "h", validFrom="2019")]},
        ]
        found = [admin.post("/what-if", json=each).json()["branch"] for each in plans]
        admin.post("/changes", json={"changes": [{**gone, "op": "retract"}]})
        assert admin.post(f"/what-if/{found[2]}/submit").status_code == 201
        names = ("branch", "branch-in-vain", "branch-submitted")
        shown = {name: f"/branches/{each}" for name, each in zip(names, found, strict=True)}
        yield World(server), {"registered": "/registered", "branches": "/branches", **shown}


def test_pages_of_queries_and_branches_can_be_used_by_everybody(
    chromium: Browser, paths: tuple[World, dict[str, str]], axe: str, pictures: Path
) -> None:
    world, shown = paths
    looks: tuple[tuple[int, Scheme], ...] = ((1280, "light"), (360, "dark"))
    for width, scheme in looks:
        with visiting(chromium, world, width=width, scheme=scheme) as visit:
            visit.sign_in(Role.ADMINISTRATOR)
            for name, path in [*shown.items()][: 3 if width > 360 else None]:
                visit.page.goto(path)
                visit.page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")
                assert visit.faults(axe) == [], (name, width)
                assert visit.overflow() <= 0, (name, width)
                assert width < 1280 or visit.page.evaluate(_TOP) < 80, "what an administrator has to choose from wraps"
                visit.page.screenshot(path=pictures / f"{name}-{scheme}-{width}.png", full_page=True)
