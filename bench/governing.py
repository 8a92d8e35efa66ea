"""Shapes that are written over a full base while writers go on: how long that takes, and what it costs the writers.

Rules
-----
* Each subject of the base is a target. Two writers write one fact after another, before, while the shapes are judged,
  and shortly afterwards; what they write has targets, too.
* Shown is how long writes took: before, meanwhile, and within half a second of the instant at which the shapes came
  into force.

Example
-------
::

    Console().print(governing_table(10_000, governed(Path("scratch"), 10_000)))
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from rich.table import Table

from bench import workload
from bench.ours import WRITER, accepted, load, prepared, write
from bench.workload import EX, RDF, SH, Kind
from kernel.changes import Assert, Request
from kernel.submitting import Submission
from kernel.terms import Iri, Statement
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bridge.base import Base

WRITERS: Final = 2
BEFORE: Final = 3.0
"""Seconds in which writers have the base to themselves."""

NEAR: Final = 0.5
"""Seconds before and after the shapes come into force."""

_FIRST: Final = workload.fact(Kind.SEED, 0).predicate
_STRICTER: Final = (
    (f"{EX}Stricter", f"{RDF}type", f"{SH}NodeShape"),
    (f"{EX}Stricter", f"{SH}targetSubjectsOf", _FIRST),
    (f"{EX}Stricter", f"{SH}property", f"{EX}StricterValue"),
    (f"{EX}StricterValue", f"{SH}path", _FIRST),
    (f"{EX}StricterValue", f"{SH}nodeKind", f"{SH}Literal"),
)
"""Every subject is a target."""


@dataclass(frozen=True, slots=True)
class Governed:
    """What was measured.

    Args:
        seconds: from the request for shapes to its answer.
        writes: how long writes took, in seconds, by when they were.
    """

    seconds: float
    writes: dict[str, Sequence[float]]


def governed(directory: Path, size: int) -> Governed:
    """Fills a base, and writes shapes in it while writers go on."""
    directory.mkdir()
    with prepared(directory / "base") as base:
        load(base, directory, size)
        with _writers(base) as taken:
            time.sleep(BEFORE)
            began = time.perf_counter()
            _write_shapes(base)
            ended = time.perf_counter()
            time.sleep(NEAR)
    return Governed(
        ended - began,
        {
            "before": [took for at, took in taken if at < began],
            "while the shapes were judged": [took for at, took in taken if began <= at < ended],
            "as they came into force": [took for at, took in taken if abs(at - ended) <= NEAR],
        },
    )


def governing_table(size: int, measured: Governed) -> Table:
    """A line for each time."""
    table = Table(title=f"Shapes written over {size:,} facts in {measured.seconds:.1f} s, {WRITERS} writers beside")
    table.add_column("writes")
    for name in ("answered", "median, ms", "longest, ms"):
        table.add_column(name, justify="right")
    for when, taken in measured.writes.items():
        times = [f"{1e3 * median(taken):.1f}", f"{1e3 * max(taken):.1f}"] if taken else ["", ""]
        table.add_row(when, f"{len(taken):,}", *times)
    return table


@contextmanager
def _writers(base: Base) -> Iterator[list[tuple[float, float]]]:
    """Writers that go on until the context is left; for each write when it was answered, and how long it took."""
    taken: list[tuple[float, float]] = []
    enough = Event()

    def go_on(number: int) -> None:
        facts = workload.facts(Kind.PLAIN, number * 10_000_000, 10_000_000)
        while not enough.is_set():
            began = time.perf_counter()
            accepted(write(base, next(facts)))
            ended = time.perf_counter()
            taken.append((ended, ended - began))

    threads = [Thread(target=go_on, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        yield taken
    finally:
        enough.set()
        for thread in threads:
            thread.join()


def _write_shapes(base: Base) -> None:
    said = [
        Assert(Statement(Iri(subject), Iri(predicate), Iri(value), SHAPES_GRAPH))
        for subject, predicate, value in _STRICTER
    ]
    request = Request(tuple(said), None, None, WRITER.id)
    accepted(base.submit(Submission(request, WRITER, None, b"", dry_run=False)).result())
