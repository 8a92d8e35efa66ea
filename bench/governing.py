"""Shapes that are written over a full base while writers go on: how long that takes, and what it costs the writers.

Rules
-----
* Each subject of the base is a target. Two writers write one fact after another, before, while the shapes are judged,
  and shortly afterwards; what they write has targets, too.
* The shapes are such that every subject conforms, or such that each breaks them: a finding each.
* Shown is how long writes took: before, meanwhile, and within half a second of the instant at which the shapes came
  into force.

Example
-------
::

    Console().print(governing_table(10_000, governed(Path("scratch"), 10_000, Shape.BROKEN)))
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from statistics import median
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from rich.table import Table

from api.collector import relieve
from bench import workload
from bench.ours import WRITER, accepted, load, prepared, write
from bench.workload import EX, RDF, SH, Kind
from certificates.certificate import Verdict
from kernel.changes import Assert, Request
from kernel.terms import Iri, Literal, Statement
from kernel.vocabulary import SHAPES_GRAPH
from kernel.writing.submitting import Submission

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
    (f"{EX}Stricter", f"{RDF}type", Iri(f"{SH}NodeShape")),
    (f"{EX}Stricter", f"{SH}targetSubjectsOf", Iri(_FIRST)),
    (f"{EX}Stricter", f"{SH}property", Iri(f"{EX}StricterValue")),
    (f"{EX}StricterValue", f"{SH}path", Iri(_FIRST)),
)
"""Every subject is a target."""


class Shape(Enum):
    """What the shapes ask of values, and whether those that are there have it."""

    KEPT = (f"{SH}nodeKind", Iri(f"{SH}Literal"))
    BROKEN = (f"{SH}pattern", Literal("^value [0-9]{9}$"))


@dataclass(frozen=True, slots=True)
class Governed:
    """What was measured.

    Args:
        findings: what the shapes were found to break.
        seconds: from the request for shapes to its answer.
        writes: how long writes took, in seconds, by when they were.
    """

    findings: int
    seconds: float
    writes: dict[str, Sequence[float]]


def governed(directory: Path, size: int, shape: Shape) -> Governed:
    """Fills a base, and writes shapes in it while writers go on."""
    directory.mkdir()
    relieve()
    with prepared(directory / "base") as base:
        load(base, directory, size)
        with _writers(base) as taken:
            time.sleep(BEFORE)
            began = time.perf_counter()
            findings = _write_shapes(base, shape)
            ended = time.perf_counter()
            time.sleep(NEAR)
    return Governed(
        findings,
        ended - began,
        {
            "before": [took for at, took in taken if at < began],
            "while the shapes were judged": [took for at, took in taken if began <= at < ended],
            "as they were written": [took for at, took in taken if abs(at - ended) <= NEAR],
        },
    )


def governing_table(size: int, measured: Governed) -> Table:
    """A line for each time."""
    title = f"Shapes written over {size:,} facts in {measured.seconds:.1f} s, {measured.findings:,} findings"
    table = Table(title=f"{title}, {WRITERS} writers beside")
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
        facts = workload.facts(Kind.PLAIN, 100_000_000 * (number + 1), 10_000_000)
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


def _write_shapes(base: Base, shape: Shape) -> int:
    """Writes them, which an editor has to approve where they are broken; answers how many findings there are."""
    said = [
        Assert(Statement(Iri(subject), Iri(predicate), value, SHAPES_GRAPH))
        for subject, predicate, value in (*_STRICTER, (f"{EX}StricterValue", *shape.value))
    ]
    request = Request(tuple(said), None, None, WRITER.id)
    outcome = base.submit(Submission(request, WRITER, None, b"", dry_run=False)).result()
    if outcome.verdict is Verdict.REFUSED:
        raise RuntimeError(f"refused: {outcome.findings}")
    return len(outcome.findings)
