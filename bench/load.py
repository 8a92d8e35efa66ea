"""Many clients that read and write at the same time, with runaway queries among them: what fails, and what is stale.

Rules
-----
* `muniment serve`, as it comes, on a base with facts in it. Each client asks one thing after another: mostly point
  look-ups; now and then it writes a fact, and reads it back at once, with `Muniment-Min-Head`.
* Every few seconds somebody whose queries have `RUNAWAY_LIMIT` seconds asks one without an end. That one is to be
  ended; nobody else is to notice.
* Counted is what failed of what is honest, what was read that is older than was insisted on, or not there; times as
  clients see them; and memory of the service and its workers, four times on the way: it is to come to a level.

Example
-------
::

    Console().print(load_table(loaded(Path("scratch"), 10_000)))
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from rich.table import Table

from bench import workload
from bench.asking import Client
from bench.ours import load
from bench.workload import Kind
from bridge.base import Base

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CLIENTS: Final = 64
SECONDS: Final = 120.0
EVERY: Final = 5.0
"""Seconds between runaways."""

RUNAWAY_LIMIT: Final = 3
WRITES: Final = 0.1
"""The share of what is asked that is a write, and a read of it."""

COMMAND: Final = (sys.executable, "-m", "api.cli")
ENDLESS: Final = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h }"
LOOKS: Final = 4

_JSON: Final = {"Content-Type": "application/json"}
_RESULTS: Final = {"Accept": "application/sparql-results+json"}


@dataclass(slots=True)
class Loaded:
    """What came of it.

    Attributes:
        reads: seconds that each look-up took.
        writes: seconds that each write took.
        failed: what honest clients got that is no answer, in words.
        stale: what was read that is older than it may be, in words.
        ended: runaways that were ended by their limit of time.
        endless: what runaways got else.
        memory: megabytes of the service and its workers, on the way.
    """

    reads: list[float] = field(default_factory=list)
    writes: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    ended: int = 0
    endless: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


def loaded(
    directory: Path,
    facts: int,
    *,
    clients: int = CLIENTS,
    seconds: float = SECONDS,
    every: float = EVERY,
    least: int = 0,
    patience: int = 10,
) -> Loaded:
    """Serves a base of so many facts, and has it asked.

    Args:
        directory: to be made.
        facts: in the base at first.
        clients: how many ask at a time.
        seconds: for how long.
        every: seconds between runaways.
        least: requests of each client, however long they take.
        patience: seconds that a query waits for a worker.
    """
    directory.mkdir(parents=True)
    data = directory / "data"
    with Base.open(data) as base:
        load(base, directory, facts)
    honest, runaway = token_for(data, "writer"), token_for(data, "reader")
    limits = json.dumps({"reader": {"seconds": RUNAWAY_LIMIT}})
    settings = {"MUNIMENT_QUERY_LIMITS": limits, "MUNIMENT_QUERY_PATIENCE": str(patience)}
    with served_base(data, directory / "server.txt", settings) as (process, port):
        world = _World(port, facts, least, honest, runaway, Loaded())
        asyncio.run(world.run(process.pid, clients, seconds, every))
    return world.came_of_it


def load_table(came: Loaded) -> Table:
    """The figures."""
    table = Table(
        title=f"{len(came.reads):,} reads and {len(came.writes):,} writes beside runaways", title_justify="left"
    )
    for column in ("", "number", "p50 ms", "p99 ms"):
        table.add_column(column, justify="left" if not column else "right")
    for name, taken in (("look-ups", came.reads), ("writes", came.writes)):
        table.add_row(name, f"{len(taken):,}", *_milliseconds(taken))
    table.add_row("runaways that were ended", str(came.ended))
    table.add_row("runaways that got something else", str(len(came.endless)))
    table.add_row("honest requests that failed", str(len(came.failed)))
    table.add_row("stale reads", str(len(came.stale)))
    table.add_row("memory in MB, on the way", " ".join(f"{each:,.0f}" for each in came.memory))
    return table


def _milliseconds(taken: list[float]) -> list[str]:
    if len(taken) < 2:
        return ["", ""]
    cut = quantiles(taken, n=100)
    return [f"{1e3 * cut[49]:.1f}", f"{1e3 * cut[98]:.1f}"]


@dataclass(frozen=True, slots=True)
class _World:
    port: int
    facts: int
    least: int
    honest: str
    runaway: str
    came_of_it: Loaded

    async def run(self, pid: int, clients: int, seconds: float, every: float) -> None:
        until = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(self._go_on(number, until))
            group.create_task(self._run_away(until, every))
            group.create_task(self._look(pid, seconds))

    async def _go_on(self, number: int, until: float) -> None:
        client = Client(self.port, {"Authorization": f"Bearer {self.honest}"})
        drawn = random.Random(number)
        written = asked = 0
        while time.monotonic() < until or asked < self.least:
            asked += 1
            try:
                if drawn.random() < WRITES:
                    await self._write_and_read(client, number * 1_000_000 + written)
                    written += 1
                else:
                    await self._look_up(client, drawn.randrange(self.facts))
            except (OSError, EOFError) as error:
                self.came_of_it.failed.append(repr(error))
        client.close()

    async def _look_up(self, client: Client, number: int) -> None:
        began = time.perf_counter()
        answer = await client.ask("GET", _asked(workload.query(workload.fact(Kind.SEED, number))), headers=_RESULTS)
        self.came_of_it.reads.append(time.perf_counter() - began)
        if answer.status != 200 or answer.body.count(b'"o":') < 1:
            self.came_of_it.failed.append(f"a look-up: {answer.status} {answer.body[:200]!r}")

    async def _write_and_read(self, client: Client, number: int) -> None:
        subject, value = f"{workload.EX}w{number}", f"written {number}"
        change = {"op": "assert", "subject": {"@id": subject}, "predicate": {"@id": f"{workload.EX}w"}}
        body = json.dumps({"changes": [{**change, "object": {"@value": value}}]}).encode()
        began = time.perf_counter()
        written = await client.ask("POST", "/changes", body, _JSON)
        self.came_of_it.writes.append(time.perf_counter() - began)
        if written.status != 201:
            self.came_of_it.failed.append(f"a write: {written.status} {written.body[:200]!r}")
            return
        head = json.loads(written.body)["head"]
        read = await client.ask(
            "GET", _asked(f"SELECT ?o {{ <{subject}> ?p ?o }}"), headers={**_RESULTS, "Muniment-Min-Head": str(head)}
        )
        if read.status != 200:
            self.came_of_it.failed.append(f"a read of what was written: {read.status} {read.body[:200]!r}")
        elif value.encode() not in read.body or int(read.headers["muniment-head"]) < head:
            self.came_of_it.stale.append(f"{value} at head {head}: {read.headers['muniment-head']} {read.body[:200]!r}")

    async def _run_away(self, until: float, every: float) -> None:
        async with asyncio.TaskGroup() as group:
            while time.monotonic() + RUNAWAY_LIMIT < until:
                group.create_task(self._endless())
                await asyncio.sleep(every)

    async def _endless(self) -> None:
        client = Client(self.port, {"Authorization": f"Bearer {self.runaway}"})
        try:
            answer = await client.ask("GET", _asked(ENDLESS), headers=_RESULTS)
        except (OSError, EOFError) as error:
            self.came_of_it.endless.append(repr(error))
            return
        finally:
            client.close()
        if answer.status == 422 and json.loads(answer.body).get("of") == "time":
            self.came_of_it.ended += 1
        else:
            self.came_of_it.endless.append(f"{answer.status} {answer.body[:200]!r}")

    async def _look(self, pid: int, seconds: float) -> None:
        for _ in range(LOOKS):
            await asyncio.sleep(seconds / LOOKS)
            self.came_of_it.memory.append(_resident(pid))


def _asked(query: str) -> str:
    return f"/sparql?query={quote(query)}"


def _resident(pid: int) -> float:
    """Megabytes that a process and its children have, what they share counted once; 0 where nobody tells."""
    pids, total = [pid], 0
    for each in pids:
        with suppress(OSError):
            pids += map(int, Path(f"/proc/{each}/task/{each}/children").read_text().split())
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    return total / 1_024


def token_for(data: Path, role: str) -> str:
    """A new token of a base that is not served."""
    command = [*COMMAND, "token", "create", "--data", str(data), "--role", role]
    return subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL, env=_plain()).strip()


@contextmanager
def served_base(data: Path, log: Path, settings: Mapping[str, str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Serves a base as `muniment serve` does, until the context is left: the process, and its port."""
    environment = _plain() | {"MUNIMENT_LOG_LEVEL": "warning", **settings}
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--data", data, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            text=True,
        )
        try:
            assert process.stdout is not None
            url = next((word for line in process.stdout for word in line.split() if "://" in word), None)
            if url is None:
                raise RuntimeError(f"the service did not come up: {log.read_text(encoding='utf-8')[-500:]}")
            yield process, int(url.rstrip("/.").rpartition(":")[2])
        finally:
            process.terminate()
            process.communicate(timeout=60)


def _plain() -> dict[str, str]:
    """The environment without settings: what is measured is a service as it comes."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MUNIMENT_")}
