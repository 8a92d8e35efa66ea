"""Each module can be imported alone, and first: no import leads back to where it began, packages among them."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOME: Final = Path(__file__).parent.parent
PACKAGES: Final = ("api", "bridge", "certificates", "kernel")


def named() -> dict[str, Path]:
    """Where each module lies."""
    files = (path for package in PACKAGES for path in (HOME / package).rglob("*.py"))
    return {".".join(path.relative_to(HOME).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imported(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """What is imported as a module is: not for types alone, and not within functions."""
    for statement in statements:
        match statement:
            case ast.Import():
                yield from (each.name for each in statement.names)
            case ast.ImportFrom(module=str(module)):
                yield from (f"{module}.{each.name}" for each in statement.names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from imported(statement.orelse)
            case ast.If() | ast.Try() | ast.With() | ast.ClassDef():
                yield from imported(statement.body)
            case _:
                pass  # whatever else is no import, or waits until it is called


def above(name: str) -> list[str]:
    """The name, and the packages that it is in: they are imported before it."""
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def test_no_import_leads_back_to_where_it_began() -> None:
    modules = named()
    graph = {}
    for name, path in modules.items():
        found = {each for told in imported(ast.parse(path.read_bytes()).body) for each in above(told)}
        # A module that imports a neighbour needs their package no more than it does already.
        graph[name] = ({*above(name)} - {name}) | {each for each in found & modules.keys() if each not in above(name)}
    assert len(graph) > 300
    TopologicalSorter(graph).prepare()  # names the modules of a circle
