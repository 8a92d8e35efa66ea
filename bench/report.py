"""The report: a table a measure, then the aims, then who was not there and why.

Example
-------
::

    report(Console(), machine, entries, sizes, results, AIMS)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.markup import escape
from rich.table import Table

from bench.contestants import OURS, Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from bench.aims import Aim
    from bench.contestants import Entry
    from bench.machine import Machine
    from bench.results import Results

MISSING: Final = "–"
FEWER: Final = "*"
DISTURBED: Final = 1.0
"""The load from which figures say more about the hour than about the contestants."""


def report(
    console: Console,
    machine: Machine,
    entries: Sequence[Entry],
    sizes: Sequence[int],
    results: Results,
    aims: Sequence[Aim],
) -> None:
    """Prints what was measured."""
    console.print(f"[bold]{escape(machine.text)}[/bold]")
    if machine.load > DISTURBED:
        console.print("Others were using this machine: CPU times are too high, also, as caches and cores are shared.")
    for measure in Measure:
        if any(measure in entry.measures for entry in entries):
            console.print(measure_table(measure, entries, sizes, results))
    console.print(aims_table(sizes, results, aims))
    for entry in entries:
        if _mark(entry, max(sizes)):
            console.print(f"{FEWER} {escape(entry.title)}: of {entry.most:,} where there are more; --in-full: of all")
    for name, reason in results.failures.items():
        console.print(f"[bold]{name}[/bold] is out: {escape(reason)}")


def measure_table(measure: Measure, entries: Sequence[Entry], sizes: Sequence[int], results: Results) -> Table:
    """A row a contestant; for each size wall and CPU time of a call (of a fact loaded), calls a second, the ratio."""
    table = Table(title=measure.value, title_justify="left", title_style="bold")
    table.add_column("")
    for size in sizes:
        for heading in _headings(measure, size):
            table.add_column(heading, justify="right")
    for entry in entries:
        if measure in entry.measures:
            cells = [cell for size in sizes for cell in _cells(measure, entry, size, results)]
            table.add_row(entry.title, *cells)
    return table


def aims_table(sizes: Sequence[int], results: Results, aims: Sequence[Aim]) -> Table:
    """A row an aim."""
    table = Table(title="aims", title_justify="left", title_style="bold")
    table.add_column("")
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    for aim in aims:
        table.add_row(aim.text, *(_judged(aim, aim.value(results, size)) for size in sizes))
    return table


def _headings(measure: Measure, size: int) -> list[str]:
    headings = [f"{size:,}: wall ms", "CPU ms", "a second", "ours / it"]
    return [*headings, "MB"] if measure is Measure.VALIDATION else headings


def _cells(measure: Measure, entry: Entry, size: int, results: Results) -> list[str]:
    name = entry.name
    figures = results.figures((size, name, measure))
    if figures is None:
        return [MISSING] * len(_headings(measure, size))
    ratio = results.ratio((size, OURS, measure), (size, name, measure))
    peak = [] if measure is not Measure.VALIDATION else [MISSING if figures.peak is None else f"{figures.peak:,.0f}"]
    return [
        f"{figures.wall * 1e3:.3f}",
        MISSING if figures.cpu is None else f"{figures.cpu * 1e3:.3f}",
        f"{figures.rate:,.0f}",
        MISSING if ratio is None or name == OURS else f"{ratio:.2f}{_mark(entry, size)}",
        *peak,
    ]


def _mark(entry: Entry, size: int) -> str:
    """After a ratio to a contestant that held fewer facts than ours."""
    return FEWER if entry.held(size) < size else ""


def _judged(aim: Aim, value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:.2f}{aim.unit} {'[green]met[/green]' if aim.met(value) else '[red]not met[/red]'}"
