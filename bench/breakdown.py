"""Where the CPU of one write goes: plan, judge, sign, ledger, stores, and the rest.

Rules
-----
* What counts is the CPU time of the sequencer's thread, each part without the parts that it calls; the waiting of
  `fdatasync` is in none. The rest is everything else in the process: futures, threads, the interpreter's own work.
* The methods are wrapped for as long as it takes; the wrapping itself costs a few microseconds a write.

Example
-------
>>> watch = Stopwatch()
>>> outer = watch.wrap("outer", lambda: watch.wrap("inner", lambda: sum(range(10_000)))())
>>> outer()
49995000
>>> sorted(watch.spent)
['inner', 'outer']
"""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import ExitStack
from inspect import isfunction
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar
from unittest.mock import patch

from rich.table import Table

from bench import workload
from bench.ours import accepted, load, prepared, write
from bench.workload import Kind
from bridge.ledger.reading import SqliteView
from bridge.ledger.sqlite import SqliteLedger
from bridge.ledger.writing import SqliteTransaction
from bridge.stores import transactions
from bridge.stores.feed import DeltaText
from bridge.stores.projection_store import ProjectionStore
from kernel.writing.group import Group
from kernel.writing.issuing import Notary
from kernel.writing.judging import Judge
from kernel.writing.planner import Planner
from kernel.writing.submitting import Submitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

P = ParamSpec("P")
R = TypeVar("R")

WRITES: Final = 500
REST: Final = "rest"


class Stopwatch:
    """Adds up CPU time of the calling thread by label; of one thread at a time."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._within: list[float] = []

    def wrap(self, label: str, function: Callable[P, R]) -> Callable[P, R]:
        """The function, timed; time spent in what is wrapped within it is not its own."""

        def timed(*args: P.args, **kwargs: P.kwargs) -> R:
            self._within.append(0.0)
            began = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                took = time.thread_time() - began
                self.spent[label] += took - self._within.pop()
                if self._within:
                    self._within[-1] += took

        return timed


def broken_down(directory: Path, size: int) -> dict[Kind, dict[str, float]]:
    """CPU seconds of one write by part, for writes that no shape targets and for such as one does."""
    parts = {}
    with prepared(directory / "data") as base:
        load(base, directory, size)
        for kind in (Kind.PLAIN, Kind.AGED):
            watch = Stopwatch()
            with _watched(watch):
                began = time.process_time()
                for fact in workload.facts(kind, 0, WRITES):
                    accepted(write(base, fact))
                whole = time.process_time() - began
            watch.spent[REST] = whole - sum(watch.spent.values())
            parts[kind] = {label: spent / WRITES for label, spent in watch.spent.items()}
    return parts


def breakdown_table(size: int, parts: dict[Kind, dict[str, float]]) -> Table:
    """A row a part, in milliseconds of CPU a write."""
    table = Table(title=f"CPU of one write at {size:,} facts, ms", title_justify="left", title_style="bold")
    for heading in ("", "no shape targets it", "a shape targets it"):
        table.add_column(heading, justify="right" if heading else "left")
    labels = sorted(parts[Kind.PLAIN], key=lambda label: (label == REST, -parts[Kind.PLAIN][label]))
    for label in labels:
        table.add_row(label, *(f"{parts[kind][label] * 1e3:.3f}" for kind in (Kind.PLAIN, Kind.AGED)))
    table.add_section()
    table.add_row("all", *(f"{sum(parts[kind].values()) * 1e3:.3f}" for kind in (Kind.PLAIN, Kind.AGED)))
    return table


def _watched(watch: Stopwatch) -> ExitStack:
    """Has the parts of the write path wrapped until it is left."""
    stack = ExitStack()
    for label, owner, name in _parts():
        stack.enter_context(patch.object(owner, name, watch.wrap(label, vars(owner)[name])))
    return stack


def _parts() -> Iterator[tuple[str, type | ModuleType, str]]:
    yield "plan", Planner, "plan"
    yield "judge", Judge, "judge"
    yield "sign", Notary, "issue"
    yield "group", Group, "apply"
    yield "group", Group, "close"
    yield "group", Submitter, "submit"
    yield "stores", transactions, "write"
    yield "stores", DeltaText, "of"
    yield "stores", ProjectionStore, "_arrive"
    for owner in (SqliteView, SqliteTransaction, SqliteLedger):
        for name, member in vars(owner).items():
            if isfunction(member) and not name.startswith("_") and name != "close":
                yield "ledger", owner, name
