"""The drawings on both time axes, of a few facts and of very many: how they look, and that everybody can use them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from kernel.access import Role
from tests.api.bodies import EX
from tests.api.pages.histories import FEW, MANY, write_few, write_many
from tests.api.pages.world import World, a_world
from tests.browser.test_looks import judged
from tests.browser.visiting import Scheme, visiting

pytestmark = pytest.mark.browser

_FEW: Final = {
    "timeline-5": f"/node/timeline?iri={quote(EX + FEW, safe='')}",
    "compare": "/compare",
    "compare-5": f"/compare?node={quote(EX + FEW, safe='')}&from=2020-01-01&at=2011",
}
_MANY: Final = {
    "timeline-500": f"/node/timeline?iri={quote(EX + MANY, safe='')}",
    "timeline-one-by-one": f"/node/timeline?iri={quote(EX + MANY, safe='')}&predicate={quote(EX + 'knows', safe='')}",
    "compare-500": f"/compare?node={quote(EX + MANY, safe='')}&axis=valid-at&from=1980&to=2000",
}
"""What is the same in these as in those of few is judged there: axe takes its time with each of five hundred."""

_CUT: Final = """
    [...document.querySelectorAll('.planes .label, nav a')]
        .filter(each => each.scrollWidth > each.clientWidth || each.clientHeight > 45).map(each => each.textContent)
"""
"""Names that are cut or broken."""


@pytest.fixture(scope="module")
def histories() -> Iterator[World]:
    with a_world() as filled:
        write_few(filled)
        write_many(filled)
        yield filled


@pytest.mark.node
@pytest.mark.parametrize("width", [1280, 360])
def test_they_can_be_used_by_everybody(
    chromium: Browser, histories: World, axe: str, pictures: Path, width: int
) -> None:
    with visiting(chromium, histories, width=width) as visit:
        visit.sign_in(Role.EDITOR)
        for name, path in _FEW.items():
            visit.page.emulate_media(color_scheme="light")
            visit.page.goto(path)
            judged(visit.faults(axe), visit.overflow(), name)
            assert visit.page.evaluate(_CUT) == []
            visit.page.screenshot(path=pictures / f"{name}-light-{width}.png", full_page=True)
            judged(visit.faults_in("dark"), visit.overflow(), f"{name}, dark")
            visit.page.screenshot(path=pictures / f"{name}-dark-{width}.png", full_page=True)


@pytest.mark.node
@pytest.mark.parametrize(("width", "scheme", "judging"), [(1280, "light", "timeline-500"), (360, "dark", "")])
def test_so_can_pictures_of_very_many(
    chromium: Browser, histories: World, axe: str, pictures: Path, scheme: Scheme, width: int, judging: str
) -> None:
    with visiting(chromium, histories, width=width, scheme=scheme) as visit:
        visit.sign_in(Role.EDITOR)
        for name, path in _MANY.items():
            visit.page.goto(path)
            judged(visit.faults(axe) if name == judging else [], visit.overflow(), name)
            assert visit.page.evaluate(_CUT) == []
            visit.page.screenshot(path=pictures / f"{name}-{scheme}-{width}.png")


def test_a_small_picture_leads_to_names_without_scripts(chromium: Browser, histories: World) -> None:
    with visiting(chromium, histories, scripts=False) as visit:
        visit.sign_in(Role.READER)
        visit.page.goto(_MANY["timeline-500"])
        visit.page.get_by_role("link", name="381 facts, one by one").click()
        assert visit.page.get_by_role("heading", level=1).inner_text().startswith("many: ")
        visit.page.get_by_role("link", name="The next ones").first.click()
        assert visit.page.get_by_text("41 to 80 of").first.is_visible()
        visit.page.goto(_FEW["compare"])
        visit.page.get_by_label("Node").fill(EX + FEW)
        visit.page.get_by_label("From", exact=True).fill("2020-01-01")
        visit.page.get_by_role("button", name="Compare").click()
        assert visit.page.get_by_role("heading", level=2).first.inner_text() == "2 gained, 0 lost, 0 corrected"
