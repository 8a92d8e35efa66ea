"""Large answers of ours beside those of `oxigraph serve`: how long they take, and where the CPU goes.

Rules
-----
* 100,000 rows are asked for one answer after another, in each format, of both by turns, and read to their end. What is
  compared is how long each takes; a ratio is of one turn, and the median of them counts.
* The CPU of ours is told by its parts: the service, and the worker that evaluates. Theirs is one process.

Example
-------
::

    with both_served(Path("scratch"), 100_000) as both:
        Console().print(large_table(asked_large(both, 100_000)))
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from rich.table import Table

from bench.asking import Client

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.both_served import Endpoint

ROWS: Final = 100_000
ROUNDS: Final = 7
FORMATS: Final = (
    "application/sparql-results+json",
    "application/sparql-results+xml",
    "text/csv",
    "text/tab-separated-values",
)
AIM: Final = 0.9
"""The least that ours is to come to, as a share of theirs."""


class Taken(NamedTuple):
    """Seconds that one answer took: on the clock, of CPU in the process that serves, and in its workers."""

    wall: float
    cpu: float
    workers: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of each, asked right after one another."""

    form: str
    ours: Taken
    theirs: Taken


def asked_large(both: tuple[Endpoint, Endpoint], rows: int, *, rounds: int = ROUNDS) -> list[Turn]:
    """Asks both for so many rows, in each format, in each round."""
    for form in FORMATS:  # what is done for the first time is not measured
        for each in both:
            asyncio.run(_taken(each, form, rows))
    turns = []
    for _ in range(rounds):
        for form in FORMATS:
            ours, theirs = (asyncio.run(_taken(each, form, rows)) for each in both)
            turns.append(Turn(form, ours, theirs))
    return turns


def large_table(turns: list[Turn]) -> Table:
    """The medians, their ratios, and where the CPU went."""
    table = Table(title=f"Answers of {ROWS:,} rows beside those of oxigraph serve", title_justify="left")
    for column in ("", "ours", "theirs", "ratio", "aim", "CPU, service", "CPU, worker", "CPU, theirs"):
        table.add_column(column, justify="right" if column else "left")
    for form in FORMATS:
        asked = [turn for turn in turns if turn.form == form]
        ours, theirs = ([getattr(turn, side) for turn in asked] for side in ("ours", "theirs"))
        ratio = median(turn.theirs.wall / turn.ours.wall for turn in asked)
        shown = [_milliseconds(each.wall for each in side) for side in (ours, theirs)]
        spent = [_milliseconds(each) for each in ((t.cpu for t in ours), (t.workers for t in ours))]
        table.add_row(form, *shown, f"{ratio:.2f}", f"{AIM}", *spent, _milliseconds(each.cpu for each in theirs))
    return table


def _milliseconds(seconds: Iterable[float]) -> str:
    return f"{1e3 * median(seconds):,.0f} ms"


async def _taken(asked: Endpoint, form: str, rows: int) -> Taken:
    client = Client(asked.port, {**asked.headers, "Accept": form})
    await client.ask("GET", f"{asked.path}?query={quote('ASK {}')}", headers={"Accept": "*/*"})  # which connects
    path = f"{asked.path}?query={quote(f'SELECT * {{ ?s ?p ?o }} LIMIT {rows}')}"
    cpu, workers = asked.cpu(), asked.cpu_of_workers()
    began = time.perf_counter()
    answer = await client.ask("GET", path)
    wall = time.perf_counter() - began
    client.close()
    if answer.status != 200 or len(answer.body) < 10 * rows:
        raise RuntimeError(f"{answer.status}, {len(answer.body)} bytes as {form}")
    return Taken(wall, asked.cpu() - cpu, asked.cpu_of_workers() - workers)
