"""Large updates over HTTP beside a load of the same statements: CPU time, and memory.

Rules
-----
* What is compared is CPU time of the process that does it, all threads: of a service that is sent the update, and of a
  load in a process of its own, from a file of N-Quads. Each round has a base of its own for both.
* Memory is the most that the service held meanwhile, without what it held before.
* The same is deleted then, as data; and inserted and deleted once more, by a WHERE.

Example
-------
::

    Console().print(updates_table(200_000, updated(Path("scratch"), 200_000)))
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Final

from rich.table import Table

from bench import workload
from bench.asking import Client
from bench.load import served_base, token_for
from bench.measuring import cpu_of
from bench.ours import load
from bench.workload import Kind
from bridge.base import Base

if TYPE_CHECKING:
    from collections.abc import Mapping

ROUNDS: Final = 3
AIM: Final = 2.0
"""As many times the CPU of a load an insertion may take."""

_UPDATE: Final = {"Content-Type": "application/sparql-update"}
_SETTINGS: Final = {
    "MUNIMENT_BODY_LIMIT": f"{2**26}",
    "MUNIMENT_QUERY_SECONDS": "600",
    "MUNIMENT_QUERY_PATIENCE": "120",
}
"""So that nothing is refused here for its size, or because much else runs."""

_INSERT: Final = "INSERT DATA"
_MEASURED: Final = (_INSERT, "DELETE DATA", "DELETE WHERE")


@dataclass(slots=True)
class Updated:
    """CPU seconds of each round, and megabytes; of updates, by operation."""

    size: int = 0
    loaded: list[float] = field(default_factory=list)
    spent: dict[str, list[float]] = field(default_factory=lambda: {each: [] for each in _MEASURED})
    held: dict[str, list[float]] = field(default_factory=lambda: {each: [] for each in _MEASURED})


def updated(directory: Path, count: int, *, rounds: int = ROUNDS) -> Updated:
    """Loads, inserts and deletes so many statements.

    Args:
        directory: to be made.
        count: how many.
        rounds: how often.
    """
    directory.mkdir(parents=True)
    came = Updated()
    data = "\n".join(fact.triple for fact in workload.facts(Kind.SEED, 0, count))
    came.size = len(data)
    for number in range(rounds):
        scratch = directory / str(number)
        scratch.mkdir()
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            came.loaded.append(pool.submit(_loaded, scratch, count).result())
        _update(came, scratch, data)
    return came


def updates_table(count: int, came: Updated) -> Table:
    """The medians, and their ratio to what a load takes."""
    title = f"Updates of {count:,} statements, {came.size / 1e6:,.1f} MB"
    table = Table(title=title, title_justify="left")
    for column in ("", "CPU", "of a load", "aim", "memory beyond"):
        table.add_column(column, justify="right" if column else "left")
    loaded = median(came.loaded)
    table.add_row("load of N-Triples", f"{loaded:,.1f} s", "1.00")
    for name in _MEASURED:
        spent = median(came.spent[name])
        aim = f"at most {AIM:g}" if name == _INSERT else ""
        memory = f"{max(came.held[name]):,.0f} MB"
        table.add_row(f"{name} over HTTP", f"{spent:,.1f} s", f"{spent / loaded:.2f}", aim, memory)
    return table


def _loaded(scratch: Path, count: int) -> float:
    """CPU seconds of a load, in a process of its own."""
    with Base.open(scratch / "loaded") as base:
        began = process_time()
        load(base, scratch, count)
        return process_time() - began


def _update(came: Updated, scratch: Path, data: str) -> None:
    base = scratch / "updated"
    with Base.open(base):
        token = token_for(base, "writer")
    headers = {"Authorization": f"Bearer {token}", **_UPDATE}
    insert, delete = (f"{operation} DATA {{\n{data}\n}}".encode() for operation in ("INSERT", "DELETE"))
    with served_base(base, scratch / "log.txt", _SETTINGS) as (process, port):

        def measured(name: str, body: bytes) -> None:
            Path(f"/proc/{process.pid}/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
            before, burnt = _megabytes(process.pid, "VmRSS"), cpu_of(process.pid)
            asyncio.run(_sent(port, headers, body))
            came.spent[name].append(cpu_of(process.pid) - burnt)
            came.held[name].append(_megabytes(process.pid, "VmHWM") - before)

        measured(_INSERT, insert)
        measured("DELETE DATA", delete)
        asyncio.run(_sent(port, headers, insert))
        measured("DELETE WHERE", b"DELETE WHERE { ?s ?p ?o }")


async def _sent(port: int, headers: Mapping[str, str], body: bytes) -> None:
    client = Client(port, headers)
    answer = await client.ask("POST", "/sparql", body)
    client.close()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {answer.body[:500]!r}")


def _megabytes(process: int, name: str) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(status.partition(f"{name}:")[2].split()[0]) / 1_024
