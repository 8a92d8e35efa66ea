"""What proof costs: state digest and log as shares of a write, of one fact and of many; and the audit of all of it.

Rules
-----
* Shares are of the CPU time of the process, in one run: of single writes, each acknowledged before the next, and of a
  load. The rest of a write is everything else that it takes, signatures too.
* The audit is of the base that was written, closed: log, signatures, tables, and both stores quad by quad.

Example
-------
::

    python -m bench --log --size 1000000
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from time import perf_counter, process_time
from typing import TYPE_CHECKING
from unittest.mock import patch

from rich.table import Table

from bench import workload
from bench.breakdown import WRITES, Stopwatch
from bench.ours import accepted, load, prepared, write
from bench.workload import Kind
from bridge.auditing.audit import audit
from bridge.ledger.writing import SqliteTransaction
from certificates.lthash import LatticeHash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bench.workload import BenchFact
    from bridge.base import Base


def proving_table(directory: Path, size: int) -> Table:
    """Measures a base of so many facts."""
    directory.mkdir(parents=True, exist_ok=True)
    table = Table(title=f"proof at {size:,} facts", title_justify="left", title_style="bold")
    for heading in ("", "CPU", "state digest", "log"):
        table.add_column(heading, justify="right" if heading else "left")
    with prepared(directory / "data") as base:
        with _watched() as watch:
            bulk = _timed(lambda: load(base, directory, size))
        table.add_row(f"a load of {size:,} (aim of both: 25 %)", f"{bulk:.1f} s", *_shares(watch, bulk))
        facts = list(workload.facts(Kind.PLAIN, 0, WRITES))
        with _watched() as watch:
            single = _timed(lambda: _write(base, facts))
        table.add_row("a single write (aim: 10 %)", f"{single / WRITES * 1e3:.2f} ms", *_shares(watch, single))
    began, wall = process_time(), perf_counter()
    found = audit(directory / "data")
    took, waited = process_time() - began, perf_counter() - wall
    if not found.sound:
        raise RuntimeError(f"the base is not sound: {found.faults[:3]}")
    what = f"an audit of {found.counts.facts:,} facts, {found.counts.complete:,} quads (aim at 1 M: 180 s)"
    table.add_row(what, f"{took:.1f} s", f"{waited:.1f} s in all", f"{took / bulk:.2f} of the load")
    return table


def _write(base: Base, facts: list[BenchFact]) -> None:
    for fact in facts:
        accepted(write(base, fact))


def _shares(watch: Stopwatch, whole: float) -> list[str]:
    return [f"{watch.spent[name] / whole:.1%}" for name in ("digest", "log")]


def _timed(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


@contextmanager
def _watched() -> Iterator[Stopwatch]:
    watch = Stopwatch()
    with ExitStack() as stack:
        for label, owner, name in (
            ("digest", LatticeHash, "add_many"),
            ("digest", LatticeHash, "remove_many"),
            ("digest", LatticeHash, "hexdigest"),
            ("log", SqliteTransaction, "append_event"),
        ):
            stack.enter_context(patch.object(owner, name, watch.wrap(label, vars(owner)[name])))
        yield watch
