"""Debian's Chromium, driven by Playwright, which downloads none; pictures are kept in `build/screenshots`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.api.pages.world import World, a_world
from tests.browser.visiting import ask_what_deceives
from tests.requirements import REPOSITORY, require

PICTURES: Final = REPOSITORY / "build" / "screenshots"


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The browser, started once, and ended before other tests: Playwright keeps an event loop of its own running."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=require("browser"))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which judges whether pages can be used by everybody."""
    return (require("node") / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where pictures of pages go."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    return PICTURES


@pytest.fixture
def world() -> Iterator[World]:
    """A filled base of its own."""
    with a_world() as filled:
        yield filled


@pytest.fixture(scope="session")
def still() -> Iterator[World]:
    """One filled base for tests that only look; with texts that are long, and that would deceive."""
    with a_world() as filled:
        ask_what_deceives(filled)
        yield filled
