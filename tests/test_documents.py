"""The pages name what there is: commands with their options, routes, settings; and their RDF is RDF.

What `tests/test_tour.py` and `tests/test_history.py` run is run there. The other pages show commands that need a base
of the reader's own: of these it is held that each could be run as it stands.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from pyoxigraph import RdfFormat, parse
from typer.core import TyperGroup
from typer.main import get_command

from api.app import create_app
from api.commands.application import app as commands
from api.settings import Settings
from bridge.base import Base
from tests.requirements import REPOSITORY
from tests.test_tour import PAGES

_FENCED: Final = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SPAN: Final = re.compile(r"`([^`\n]+)`")
_INDENTED: Final = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)
_COMMAND: Final = re.compile(r"(?:^|\| |\$ |\$\()(?:\.venv/bin/)?(muniment [a-z].*)$")
_SHELL: Final = re.compile(r" [|>&]|;|  #")
"""What ends a command."""

_ROUTE: Final = re.compile(r"\b(GET|HEAD|PUT|POST|DELETE) (/[^\s`?,;…]*)")
_VARIABLE: Final = re.compile(r"MUNIMENT_[A-Z_]*[A-Z]")

BESIDES: Final = {"MUNIMENT_URL", "MUNIMENT_TOKEN_FILE", "MUNIMENT_CONFIG", "MUNIMENT_REQUIRE"}
"""Variables that are no settings of a service."""

PREFIXES: Final = """\
@prefix ex: <https://example.org/> . @prefix m: <https://w3id.org/muniment#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix prov: <http://www.w3.org/ns/prov#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""


def lines(page: Path) -> Iterator[str]:
    """Whatever a page sets in another type: spans of code, and lines of blocks, joined where one goes on."""
    text = page.read_text(encoding="utf-8")
    for _, body in _FENCED.findall(text):
        yield from body.replace("\\\n", " ").splitlines()
    rest = _FENCED.sub("", text)
    yield from _INDENTED.findall(rest)
    yield from _SPAN.findall(rest)


def commands_of(page: Path) -> Iterator[list[str]]:
    """The words of each command of ours that a page shows, without what a shell would make of them."""
    for line in lines(page):
        found = _COMMAND.search(line.strip())
        if found is not None:
            yield _SHELL.split(found[1])[0].rstrip(")").split()[1:]


@cache
def tree() -> TyperGroup:
    """All commands."""
    found = get_command(commands)
    assert isinstance(found, TyperGroup)
    return found


def slip(words: list[str]) -> str | None:
    """What no command of ours has, of a command line that a page shows."""
    command: Any = tree()  # a group has no type in common with its commands
    rest = list(words)
    while isinstance(command, TyperGroup) and rest and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            return None if command.invoke_without_command else f"there is no command {rest[0]}"
        command = command.commands[rest.pop(0)]
    known = {option for each in command.params for option in each.opts} | {"--help"}
    given = (word.partition("=")[0] for word in rest if word.startswith("--"))
    return next((f"{command.name} has no {option}" for option in given if option not in known), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_have_the_options_that_pages_give_them(page: Path) -> None:
    assert [(words, said) for words in commands_of(page) if (said := slip(words)) is not None] == []


def test_a_slip_is_found() -> None:
    assert slip(["query", "ASK {}", "--valid-at", "1999"]) is None
    assert slip(["key", "rotate", "--url", "u"]) is None
    assert slip(["querry", "ASK {}"]) == "there is no command querry"
    assert slip(["query", "ASK {}", "--validat=1999"]) == "query has no --validat"
    assert sum(1 for page in PAGES for _ in commands_of(page)) > 80


def test_variables_are_settings() -> None:
    known = {f"MUNIMENT_{name.upper()}" for name in Settings.model_fields} | BESIDES
    for page in PAGES:
        named = {name for name in _VARIABLE.findall(page.read_text(encoding="utf-8")) if f"{name}_" not in known}
        assert named - known == set(), page.name


@pytest.fixture(scope="module")
def routes() -> list[tuple[str, re.Pattern[str]]]:
    """What is served: methods, and patterns of paths."""
    with Base.open(None) as base:
        document: dict[str, Any] = create_app(base, Settings()).openapi()
    return [
        (method.upper(), re.compile(re.sub(r"\\\{[^}]*\\\}", ".+", re.escape(path))))
        for path, operations in document["paths"].items()
        for method in operations
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_routes_are_served(page: Path, routes: list[tuple[str, re.Pattern[str]]]) -> None:
    missing = [
        (method, path)
        for method, path in _ROUTE.findall(page.read_text(encoding="utf-8"))
        if path not in ("/openapi.json", "/log/")
        and not any(
            ("GET" if method == "HEAD" else method) == served and pattern.fullmatch(path.rstrip(".)"))
            for served, pattern in routes
        )
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_turtle_is_turtle(page: Path) -> None:
    for marked, body in _FENCED.findall(page.read_text(encoding="utf-8")):
        if marked == "turtle":
            list(parse(PREFIXES + body.replace("…", ""), format=RdfFormat.TURTLE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_link_to_a_section_leads_to_one(page: Path) -> None:
    for path, section in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", page.read_text(encoding="utf-8")):
        target = page.parent / path if path else page
        text = target.read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert section in slugs | set(re.findall(r'<a id="([^"]+)">', text)), f"{path}#{section}"


def test_decisions_are_listed() -> None:
    listed = (REPOSITORY / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    for path in re.findall(r"\]\(([\w.-]+)\)", listed):
        assert (REPOSITORY / "docs" / "decisions" / path).exists(), path
    assert "(0001-record-decisions.md)" in listed
