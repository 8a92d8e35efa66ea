"""Any pair of times: who takes part in look-ups at them, and what snapshots of ours take.

Rules
-----
* Look-ups are a contest as others are, of everyone who can be asked for what was true on a date as it was known then.
* A snapshot is measured on the base that the contest served: made in a process of its own from nothing that was kept,
  so and so many changes away from the present, without history and with it; then asked in a worker, and the same asked
  of the present, in turn.
* It is made once the base is at rest: what the changes left the engine to sort is no part of it, but would be counted.
* The changes are made for it, 1,000 at a time: what holds is retracted, as long as there is some, and other statements
  are asserted. Of a small base all differs.

Example
-------
::

    python -m bench --moments --size 10000,100000
"""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from resource import getpagesize
from statistics import median
from time import perf_counter, process_time, sleep
from typing import TYPE_CHECKING, Final

from rich.table import Table

from bench import times
from bench.aims import LARGE, Aim, against, growth
from bench.contestants import HTTP, OURS, Entry, Measure
from bench.ours import JSON, WRITER, accepted
from bridge.base import SNAPSHOTS, Base
from bridge.reading.reader import QueryRequest
from bridge.replicas.limits import NO_HURRY, PoolSize
from bridge.replicas.pool import ReplicaPool
from bridge.snapshots.wanted import Wanted
from bridge.stores.projections import Projection
from kernel.changes import Assert, Request, Retract
from kernel.terms import Iri, Literal, Statement
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.submitting import Submission

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.reading.moments import Moment

TIRAMEMSU: Final = "tiramemsu"
OXILITE: Final = "oxilite"

_MOMENT: Final = frozenset({Measure.MOMENT})

MOMENTS: Final = (
    Entry(OURS, "ours, in process", "bench.ours_times", _MOMENT, exchanges=True),
    Entry(HTTP, "ours, over HTTP", "bench.ours_times_http", _MOMENT, exchanges=True),
    Entry(TIRAMEMSU, "tiramemsu", "bench.peers.tiramemsu", _MOMENT, ("tiramemsu==0.7.0",)),
    # Of a million it came to 23 GB while it was asked, and was ended by the system.
    Entry(OXILITE, "oxilite, valid time by hand", "bench.peers.oxilite", _MOMENT, ("oxilite==0.9.1",), most=LARGE),
)

MOMENT_AIMS: Final = (
    Aim("at any pair of times: at least half of tiramemsu", against(TIRAMEMSU, Measure.MOMENT), 0.5, False, " x"),
    Aim("CPU of one at 100 k facts: at most 1.25 times 10 k", growth(Measure.MOMENT), 1.25, True, " x"),
)

_ASKED: Final = 60
_QUERY: Final = "SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }"
"""No slice is enough for it."""

_RELEASES: Final = 3

_NEAR: Final = 10_000
_FAR: Final = 100_000
"""Changes; only of a base of as many facts."""

_TOGETHER: Final = 1_000

_RESTING: Final = 0.5
_MOST_RESTS: Final = 120
"""Seconds, and how often they are waited at most."""


@dataclass(frozen=True, slots=True)
class _Made:
    """How a snapshot was made."""

    what: str
    away: int
    quads: int
    wall: float
    cpu: float
    disk: int
    memory: float
    aim: str


def snapshot_table(served: Path, directory: Path, facts: int) -> Table:
    """Measures snapshots of a base that the contest made.

    Args:
        served: the base, closed; it is copied.
        directory: where to.
        facts: how many it was made of.
    """
    shutil.copytree(served, directory)
    heads: list[int] = json.loads((directory / "heads.json").read_text(encoding="utf-8"))
    table = Table(title=f"snapshots at {facts:,} facts", title_justify="left", title_style="bold")
    for column in ("", "changes away", "quads", "wall ms", "CPU ms", "disk MB", "memory MB", "aim"):
        table.add_column(column, justify="right" if column else "left")
    with Base.open(directory) as base:
        for made in _cold(base, directory, facts):
            table.add_row(
                made.what,
                f"{made.away:,}",
                f"{made.quads:,}",
                f"{made.wall * 1e3:,.0f}",
                f"{made.cpu * 1e3:,.0f}",
                f"{made.disk / 2**20:,.1f}",
                f"{made.memory:,.0f}",
                made.aim,
            )
        ratio, head, past = asyncio.run(_warm(base, heads[-2]))
    table.add_row("asked when warm, of the present", "", "", f"{head * 1e3:,.2f}", "", "", "", "")
    table.add_row("asked when warm, of the snapshot", "", "", f"{past * 1e3:,.2f}", "", "", "", "")
    table.add_row("the second by the first", "", "", f"{ratio:.2f} x", "", "", "", "1.05 x")
    return table


def _cold(base: Base, directory: Path, facts: int) -> Iterator[_Made]:
    holding = _holding(facts)
    far = _changed(base, holding, _FAR - _NEAR) if facts >= _FAR else None
    near = _changed(base, holding, _NEAR)
    for history in (False, True):
        for head in (near, far):
            if head is None or (history and head == far):
                continue
            with base.ledger.reading() as view:
                as_of, now = view.recorded_in(head), view.head()
                if as_of is None or now.instant is None:
                    raise RuntimeError(f"{head} is no head")
                away = (
                    view.count_recorded(as_of, now.instant)
                    if history
                    else view.count_since(as_of, now.clock, now.clock, most=10**9)
                )
            projection = Projection.COMPLETE if history else Projection.CURRENT
            wanted = Wanted(head, as_of, now.clock, projection, history)
            _rest(base)
            before, wall, cpu = _resident(), perf_counter(), process_time()
            store = base.snapshots.at(wanted)
            wall, cpu = perf_counter() - wall, process_time() - cpu
            yield _Made(
                "made, with history" if history else "made",
                away,
                len(store),
                wall,
                cpu,
                _disk(directory / SNAPSHOTS),
                _resident() - before,
                _aim(away, history=history),
            )
            del store


def _rest(base: Base) -> None:
    """Returns once the engine has written and sorted what it was given, or after a minute."""
    for projection in Projection:
        base.stores.read(projection, lambda store: store.flush())
    for _ in range(_MOST_RESTS):
        before = process_time()
        sleep(_RESTING)
        if process_time() - before < _RESTING / 20:
            return


def _changed(base: Base, holding: Iterator[Statement], changes: int) -> int:
    """Makes so many changes; answers the head before them."""
    before = base.reader.head().position
    for first in range(0, changes, _TOGETHER):
        made: list[Assert | Retract] = [Retract(each) for each in islice(holding, _TOGETHER // 2)]
        numbers = range(first, first + _TOGETHER - len(made))
        made += [Assert(_statement(f"{times.EX}new/{before}/{number}", "new")) for number in numbers]
        request = Request(tuple(made), None, None, WRITER.id)
        accepted(base.submit(Submission(request, WRITER, None, b"", dry_run=False)).result())
    return before or 0


def _holding(facts: int) -> Iterator[Statement]:
    """What holds in these years, but for what was corrected."""
    last = f"period {times.PERIODS - 1}"
    numbers = (number for number in range(times.subjects(facts)) if not times.is_corrected(number))
    return (_statement(times.iri(number), last) for number in numbers)


def _statement(subject: str, value: str) -> Statement:
    return Statement(Iri(subject), Iri(times.PREDICATE), Literal(value), DEFAULT_GRAPH)


def _aim(away: int, *, history: bool) -> str:
    """250 ms for 10,000 changes of current graphs, 2,500 ms for 100,000; 2,000 ms for 10,000 with history."""
    return f"{away * (0.2 if history else 0.025):,.0f} ms"


async def _warm(base: Base, head: int) -> tuple[float, float, float]:
    """The median of what a query takes of a snapshot by that of the present, and both."""
    pool = ReplicaPool(base.stores, base.snapshots, PoolSize(workers=1, spares=0))
    try:
        took: dict[bool, list[float]] = {False: [], True: []}
        moments = {False: base.reader.moment(), True: base.reader.moment(f"head:{head}", "2012-05-06")}
        for _ in range(_ASKED):
            for past, moment in moments.items():
                began = perf_counter()
                await _asked(base, pool, moment)
                took[past].append(perf_counter() - began)
        present, past_one = (median(each[_RELEASES:]) for each in took.values())
        return past_one / present, present, past_one
    finally:
        await pool.close()


async def _asked(base: Base, pool: ReplicaPool, moment: Moment) -> None:
    question = base.reader.question(QueryRequest(WRITER, _QUERY, JSON), moment)
    await (await pool.answer(question, NO_HURRY, WRITER.id)).read()


def _resident() -> float:
    """MB that this process has in memory; 0 where the system does not tell."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * getpagesize() / 2**20 if statm.exists() else 0.0


def _disk(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
