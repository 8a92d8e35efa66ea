"""The list of routes in `docs/http.md` is that of the service, both ways."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from api.app import create_app
from api.settings import Settings
from bridge.base import Base

PAGE: Final = Path(__file__).parents[2] / "docs" / "http.md"
VERBS: Final = {"GET", "POST", "PUT", "DELETE"}
ANY_VERB: Final = frozenset(VERBS)
UNTOLD: Final = {"/openapi.json"}
"""Told in another place of the page."""


@pytest.fixture(scope="module")
def app() -> FastAPI:
    with Base.open(None) as base:
        return create_app(base, Settings())


def rows() -> list[tuple[frozenset[str], str]]:
    """The routes of the table: verbs and path, parameters as `{}`; what goes by many names ends in `…`."""
    told: list[tuple[frozenset[str], str]] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("| `"):
            continue
        verbs: set[str] = set()
        for span in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
            *words, path = span.split()
            if path in VERBS:  # the path comes with a later one
                verbs.add(path)
                continue
            verbs |= set(words)
            if path.startswith("…"):
                verbs_before, before = told[-1]
                verbs, path = set(verbs_before), before.rpartition("/")[0] + path.removeprefix("…")
            told.append((frozenset(verbs) or ANY_VERB, re.sub(r"\{[^}]*\}", "{}", path.partition("?")[0])))
            verbs = set()
    return told


def test_every_route_is_told(app: FastAPI) -> None:
    served = {
        re.sub(r"\{[^}]*\}", "{}", path): {verb.upper() for verb in operations}
        for path, operations in app.openapi()["paths"].items()
    }
    told: dict[str, set[str]] = {}
    for verbs, path in rows():
        meant = [each for each in served if each.startswith(path[:-1])] if path.endswith("…") else [path]
        for each in meant:
            told.setdefault(each, set()).update(verbs & served.get(each, set(verbs)))
    below_graphs = {path: verbs for path, verbs in served.items() if path == "/graphs/{}"}  # told in its own section
    assert told | below_graphs == served


def test_every_page_is_told(app: FastAPI) -> None:
    [paragraph] = [each for each in PAGE.read_text(encoding="utf-8").split("\n\n") if each.startswith("Beside these")]
    told = {span for span in re.findall(r"`([^`]+)`", paragraph) if span.startswith("/")}
    documented = app.openapi()["paths"].keys() | UNTOLD
    paths = {route.path for route in app.routes if isinstance(route, APIRoute) and "HEAD" in (route.methods or ())}
    first = {path for path in paths if re.fullmatch(r"/[^/{]*", path)}
    assert told == first - documented
