"""What registered queries cost a write of one fact: a thousand that it cannot touch, and ten that it does.

Rules
-----
* Three copies of one base with facts in it: one without registered queries, one with a thousand whose predicates nobody
  writes, one with ten that every write touches. They are written to in turns, in the same run.
* All of it is CPU time, of the service and of the processes that it has: another one answers the ten. What these add is
  told beside what asking them twice takes on the store itself.
* Half of the ten look something up, the other half count or rank what the writes go to.
* How many writes others get applied while one is judged by a query that takes long: a count, for time alone says little
  where other work shares the machine.

Example
-------
::

    Console().print(impact_table(10_000, impact(Path("scratch"), 10_000)))
"""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final, cast

from rich.table import Table

from bench import workload
from bench.ours import WRITER, accepted, load, prepared, write
from bench.workload import EX, Kind
from bridge.base import Base
from bridge.impact.registering import Asking
from bridge.stores.projections import Projection
from kernel.queries import Action, RegisteredQuery

if TYPE_CHECKING:
    import pyoxigraph as ox

TURNS: Final = 100
"""Writes to each base."""

WARM: Final = 10
"""Writes before these."""

UNTOUCHED: Final = 1_000
FIRST: Final = workload.fact(Kind.PLAIN, 0).predicate
AIM_UNTOUCHED: Final = 0.3
AIM_TOUCHED: Final = 1.2


@dataclass(frozen=True, slots=True)
class Measured:
    """What a write takes, in the median, in milliseconds of CPU time.

    Args:
        cpu: by how many queries are registered.
        twice: to ask the ten twice.
        passed: writes of others that were applied while one was judged by a query that takes long.
    """

    cpu: dict[int, float]
    twice: float
    passed: int

    @property
    def untouched(self) -> float:
        """What a thousand queries that cannot be touched add."""
        return self.cpu[UNTOUCHED] - self.cpu[0]

    @property
    def touched(self) -> float:
        """What ten that are touched add, in parts of asking them twice."""
        return (self.cpu[len(_TEN)] - self.cpu[0]) / self.twice


def impact(directory: Path, size: int) -> Measured:
    """Fills a base, and writes to three copies of it in turns."""
    directory.mkdir(parents=True)
    with prepared(directory / "filled") as filled:
        load(filled, directory, size)
    with ExitStack() as opened:
        bases: dict[int, Base] = {}
        for queries in ((), _thousand(), _TEN):
            copied = shutil.copytree(directory / "filled", directory / str(len(queries)))
            base = bases[len(queries)] = opened.enter_context(Base.open(copied))
            if queries:
                accepted(base.queries.put(queries, Asking(WRITER)).result()[0])
        cpu: dict[int, list[float]] = {count: [] for count in bases}
        twice = []
        for turn in range(WARM + TURNS):
            children = _children()
            for count, base in bases.items():
                began = _busy(children)
                accepted(write(base, workload.fact(Kind.PLAIN, turn * workload.FACTS_A_SUBJECT)))
                cpu[count].append(_busy(children) - began)
            began = time.process_time()
            for _ in range(2):
                _ask(bases[len(_TEN)])
            twice.append(time.process_time() - began)
        passed = _passing(bases[0])
    medians = {count: 1e3 * median(each[WARM:]) for count, each in cpu.items()}
    return Measured(medians, 1e3 * median(twice[WARM:]), passed)


def impact_table(size: int, measured: Measured) -> Table:
    """A line for each aim."""
    table = Table(title=f"A write of one fact over {size:,}, with registered queries")
    for name in ("registered", "a write, ms of CPU", "added", "aim"):
        table.add_column(name, justify="right")
    rows = {
        0: ("", ""),
        UNTOUCHED: (f"{measured.untouched:.2f} ms", f"{AIM_UNTOUCHED} ms"),
        len(_TEN): (f"{measured.touched:.2f} times {measured.twice:.2f} ms", f"{AIM_TOUCHED} times asking twice"),
    }
    for count, told in rows.items():
        table.add_row(f"{count:,}", f"{measured.cpu[count]:.2f}", *told)
    table.add_row("a long one", "", f"{measured.passed:,} writes of others pass", "others do not wait")
    return table


def _passing(base: Base) -> int:
    """Writes that are applied, one after the other, while another one is judged by a query that takes long."""
    accepted(base.queries.put([_LONG], Asking(WRITER)).result()[0])
    passed = 0
    with ThreadPoolExecutor(1) as other:
        judged = other.submit(write, base, workload.fact(Kind.PLAIN, (WARM + TURNS) * workload.FACTS_A_SUBJECT))
        while not judged.done():
            accepted(write(base, workload.fact(Kind.AGED, passed)))
            passed += 1
        accepted(judged.result())
    return passed


def _children() -> list[str]:
    """The processes that this one started, and that are there (proc(5))."""
    own, found = str(os.getpid()), []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            if stat.read_text().rpartition(")")[2].split()[1] == own:
                found.append(stat.parent.name)
    return found


def _busy(children: list[str]) -> float:
    """Seconds of CPU time of this process and of those that it started."""
    times = (int(Path(f"/proc/{child}/schedstat").read_text().split()[0]) for child in children)
    return time.process_time() + sum(times) / 1e9


def _ask(base: Base) -> None:
    """Asks the ten of the store itself, to the end of their answers."""
    for query in _TEN:
        results, _ = base.stores.read(Projection.CURRENT, partial(_started, query.text))
        for _row in results:
            pass


def _started(text: str, store: ox.Store) -> ox.QuerySolutions:
    return cast("ox.QuerySolutions", store.query(text, use_default_graph_as_union=True))  # each is a SELECT


def _registered(name: str, text: str) -> RegisteredQuery:
    return RegisteredQuery(name, text, "bench", "bench", action=Action.NOTE)


def _thousand() -> tuple[RegisteredQuery, ...]:
    return tuple(
        _registered(f"q{n}", f"SELECT * {{ ?s <{EX}never{n % 100}> ?x . ?x <{EX}neither{n}> ?y }}")
        for n in range(UNTOUCHED)
    )


_LONG: Final = _registered(
    "long", f"SELECT (COUNT(*) AS ?n) {{ ?a <{FIRST}> ?x . ?b <{FIRST}> ?y FILTER (STR(?x) < STR(?y)) }}"
)
"""It goes through every pair: what there is of the predicate, squared."""

_TEN: Final = (
    *(_registered(f"look-up-{n}", f"SELECT ?s {{ ?s <{FIRST}> 'value {n * 100}' }}") for n in range(5)),
    *(_registered(f"count-{n}", f"SELECT (COUNT(?s) + {n} AS ?n) {{ ?s <{FIRST}> ?o }}") for n in range(3)),
    _registered("top", f"SELECT ?o (COUNT(?s) AS ?n) {{ ?s <{FIRST}> ?o }} GROUP BY ?o ORDER BY DESC(?n) ?o LIMIT 5"),
    _registered("without", f"SELECT ?s {{ ?s <{FIRST}> 'value 0' FILTER NOT EXISTS {{ ?s <{FIRST}> 'value 1' }} }}"),
)
