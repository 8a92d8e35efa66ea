"""YASGUI in a browser, on a page of another origin, pointed at the endpoint with a token and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree
from threading import Thread
from typing import Final

import pytest
from playwright.sync_api import Page, Route, sync_playwright

from api.settings import Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.serving import Served, served
from tests.requirements import require

pytestmark = [pytest.mark.node, pytest.mark.browser]

PAGE: Final = """<!doctype html><meta charset="utf-8"><title>YASGUI</title>
<link rel="stylesheet" href="yasgui/yasgui.min.css"><div id="yasgui"></div><script src="yasgui/yasgui.min.js"></script>
"""
POINTED: Final = """([endpoint, token]) => {
    window.yasgui = new Yasgui(document.getElementById("yasgui"), {
        requestConfig: {endpoint, headers: () => ({Authorization: `Bearer ${token}`})},
        persistenceId: null,
    });
}"""
ASKED: Final = """query => {
    const tab = window.yasgui.getTab();
    tab.yasqe.setValue(query);
    return tab.yasqe.query().then(answer => answer.status, failure => String(failure));
}"""
SHOWN: Final = ".yasr .dataTable tbody tr, .yasr table tbody tr"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
        pass


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The origin of the page."""
    folder = tmp_path_factory.mktemp("yasgui")
    copytree(require("node") / "node_modules" / "@zazuko" / "yasgui" / "build", folder / "yasgui")
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def service(*origins: str) -> Iterator[Served]:
    with Base.open(None) as base, served(base, Settings(query_spares=0, cors_origins=origins)) as running:
        made = request(change("ada", "name", {"@value": "Ada"}), change("mary", "name", {"@value": "Curaçao"}))
        assert running.writer.post("/changes", json=made).status_code == 201
        yield running


@pytest.fixture(scope="module")
def page(elsewhere: str) -> Iterator[Page]:
    """The page; what it would ask of other hosts, such as for prefixes, it is not given."""

    def local_alone(route: Route) -> None:
        if route.request.url.startswith("http://127.0.0.1:"):
            route.continue_()
        else:
            route.abort()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=require("browser"))
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.route("**/*", local_alone)
        page.goto(f"{elsewhere}/index.html")
        yield page
        browser.close()


def test_yasgui_asks_and_updates(page: Page, elsewhere: str, tmp_path: Path) -> None:
    with service(elsewhere) as running:
        page.goto(f"{elsewhere}/index.html")
        page.evaluate(POINTED, [f"{running.url}/sparql", running.token(Role.WRITER)])
        assert page.evaluate(ASKED, f"SELECT ?s ?n {{ ?s <{EX}name> ?n }} ORDER BY ?n") == 200
        page.wait_for_selector(SHOWN)
        shown = page.inner_text(".yasr")
        assert "Ada" in shown
        assert "Curaçao" in shown
        assert page.evaluate(ASKED, f"CONSTRUCT {{ ?s <urn:n> ?n }} WHERE {{ ?s <{EX}name> ?n }}") == 200
        assert page.evaluate(ASKED, f"ASK {{ <{EX}ada> ?p ?o }}") == 200
        assert page.evaluate(ASKED, f'INSERT DATA {{ <{EX}eve> <{EX}name> "Eve" }}') == 200
        told = running.writer.get("/sparql", params={"query": f'ASK {{ <{EX}eve> <{EX}name> "Eve" }}'})
        assert told.json()["boolean"] is True
        mistake = page.evaluate(ASKED, "SELECT * {")
        assert "400" in str(mistake) or "Bad Request" in str(mistake)


def test_a_page_of_an_origin_that_is_not_listed_reads_nothing(page: Page, elsewhere: str) -> None:
    with service("https://yasgui.example.org") as running:
        page.goto(f"{elsewhere}/index.html")
        page.evaluate(POINTED, [f"{running.url}/sparql", running.token(Role.READER)])
        assert page.evaluate(ASKED, f"SELECT * {{ ?s <{EX}name> ?n }}") != 200
        assert "Curaçao" not in page.inner_text(".yasr")
