"""Ours and `oxigraph serve`, each as an endpoint of SPARQL: how many queries a second, and how long large answers take.

Rules
-----
* Both serve the same triples from a disk, on this machine, one after the other in each round, and figures are ratios of
  the rounds. Ours has callers with tokens, and states, and runs queries in workers; theirs has none of it.
* Beside the rates there is the CPU time of an answer, of the process that serves: where others keep the machine busy,
  it says more than a rate does.
* `wrk` asks, with one thread and 1, 8 and 64 connections: point look-ups of facts drawn anew from all, the same of a
  hundred that are asked for again and again, which ours keeps the answers of, joins of three patterns of a subject, and
  a count of all triples by predicate. A round in which one of them did not answer any has no ratio.
* Large answers of 100,000 rows are asked for one after another, in each format, and read to their end.
* Without `wrk`, or where Oxigraph cannot be installed, this says so and does the rest.

Example
-------
::

    Console().print(endpoints_table(compared(Path("scratch"), 100_000)))
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from rich.table import Table

from bench import workload
from bench.asking import Client
from bench.environments import environment, home, same_as_ours
from bench.load import served_base, token_for
from bench.measuring import cpu_of
from bench.ours import load
from bench.ours_http import free_port
from bench.workload import Kind
from bridge.base import Base

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENTS: Final = (1, 8, 64)
SECONDS: Final = 3
ROUNDS: Final = 3
ROWS: Final = 100_000
DRAWN: Final = 1_000
"""Queries that are drawn for a join."""

MOST_DRAWN: Final = 100_000
"""Queries that are drawn for a look-up: more than there is room for to keep their answers."""

AGAIN: Final = 100
"""Queries that are asked again and again."""

FORMATS: Final = (
    "application/sparql-results+json",
    "application/sparql-results+xml",
    "text/csv",
    "text/tab-separated-values",
)
AIMS: Final = {"look-up, 1": 0.35, "look-up, 8": 0.25, "look-up, 64": 0.25} | dict.fromkeys(FORMATS, 0.9)
"""The least that ours is to come to, as a share of theirs."""

_RATE: Final = re.compile(r"Requests/sec:\s+([0-9.]+)")
_WRONG: Final = re.compile(r"Non-2xx or 3xx responses:\s+([0-9]+)|Socket errors: (.*)")
_PREDICATES: Final = [workload.fact(Kind.SEED, number).predicate for number in range(3)]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One of the two: its port and process, its path, and what is sent with each query."""

    port: int
    process: int
    path: str
    headers: dict[str, str]


@dataclass(slots=True)
class Compared:
    """The rounds by what was asked, for ours and theirs: queries a second, or seconds. What was left out, and why.

    Args:
        rates: a second; or seconds, of large answers.
        cpu: of an answer, in microseconds.
        left_out: what, and why.
    """

    rates: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    cpu: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def compared(directory: Path, facts: int, *, seconds: int = SECONDS, rounds: int = ROUNDS) -> Compared:
    """Serves and asks both.

    Args:
        directory: to be made.
        facts: that both hold.
        seconds: for which each is asked each thing.
        rounds: how often.

    Raises:
        Unavailable: Oxigraph cannot be installed.
    """
    directory.mkdir(parents=True)
    came = Compared()
    with ExitStack() as stack:
        theirs = stack.enter_context(_theirs(directory, facts))
        ours = stack.enter_context(_ours(directory, facts))
        wrk = shutil.which("wrk")
        if wrk is None:
            came.left_out.append("queries a second: wrk is not on PATH; on Debian, apt-get install wrk")
        for _ in range(rounds):
            if wrk is not None:
                _ask_both(came, Path(wrk), directory, (ours, theirs), facts, seconds)
            _read_both(came, (ours, theirs), min(facts, ROWS))
    return came


def endpoints_table(came: Compared) -> Table:
    """The medians, their ratios, and what they are to come to."""
    table = Table(title="Ours beside oxigraph serve, on the same triples", title_justify="left")
    for column in ("", "ours", "theirs", "ratio", "aim", "CPU, ours", "CPU, theirs"):
        table.add_column(column, justify="left" if not column else "right")
    for name, rounds in came.rates.items():
        large = name in FORMATS
        unit = "s" if large else "/s"
        ours, theirs = (median(each[side] for each in rounds) for side in (0, 1))
        ratios = [theirs / ours if large else ours / theirs for ours, theirs in rounds if ours and theirs]
        ratio = f"{median(ratios):.2f}" if ratios else ""
        shown = [f"{each:,.2f} {unit}" if large else f"{each:,.0f} {unit}" for each in (ours, theirs)]
        aim = AIMS.get(name)
        spent = [f"{median(each):,.0f} µs" for each in zip(*came.cpu.get(name, ()), strict=True)]
        table.add_row(f"large, {name}" if large else name, *shown, ratio, "" if aim is None else f"{aim}", *spent)
    for each in came.left_out:
        table.add_row(f"left out: {each}")
    return table


# --- queries a second -------------------------------------------------------------------------------------------------


def _queries(facts: int) -> dict[str, list[str]]:
    drawn, looked_up = _drawn(facts, DRAWN), _drawn(facts, MOST_DRAWN)
    joined = " ; ".join(f"<{predicate}> ?v{number}" for number, predicate in enumerate(_PREDICATES))
    return {
        "look-up": [workload.query(fact) for fact in looked_up],
        "look-up again": [workload.query(fact) for fact in looked_up[:AGAIN]],
        "join": [f"SELECT * {{ <{fact.subject}> {joined} }}" for fact in drawn],
        "aggregate": ["SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p"],
    }


def _drawn(facts: int, most: int) -> list[workload.BenchFact]:
    return [workload.fact(Kind.SEED, number) for number in range(0, facts, max(1, facts // most))]


def _ask_both(
    came: Compared, wrk: Path, directory: Path, both: tuple[Endpoint, Endpoint], facts: int, seconds: int
) -> None:
    for kind, queries in _queries(facts).items():
        for clients in CLIENTS:
            ours, theirs = (_rate(wrk, directory, each, queries, clients, seconds) for each in both)
            came.rates.setdefault(f"{kind}, {clients}", []).append((ours[0], theirs[0]))
            came.cpu.setdefault(f"{kind}, {clients}", []).append((ours[1], theirs[1]))


def _rate(
    wrk: Path, directory: Path, asked: Endpoint, queries: list[str], clients: int, seconds: int
) -> tuple[float, float]:
    """Answers a second, and microseconds of CPU of one. Raises `RuntimeError` where one was no answer."""
    script = directory / "ask.lua"
    paths = ",\n".join(f'"{asked.path}?query={quote(query)}"' for query in queries)
    headers = "".join(f'wrk.headers["{name}"] = "{value}"\n' for name, value in asked.headers.items())
    script.write_text(
        f"local paths = {{{paths}}}\n{headers}"
        "request = function() return wrk.format('GET', paths[math.random(#paths)]) end\n",
        encoding="utf-8",
    )
    command = [str(wrk), "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "30s", "-s", str(script)]
    burnt = cpu_of(asked.process)
    said = subprocess.run(
        [*command, f"http://127.0.0.1:{asked.port}/"], check=True, capture_output=True, text=True, timeout=300
    ).stdout
    rate, wrong = _RATE.search(said), _WRONG.search(said)
    if rate is None or wrong is not None:
        raise RuntimeError(f"not every query was answered:\n{said}")
    answered = max(1.0, float(rate[1]) * seconds)
    return float(rate[1]), 1e6 * (cpu_of(asked.process) - burnt) / answered


# --- large answers ----------------------------------------------------------------------------------------------------


def _read_both(came: Compared, both: tuple[Endpoint, Endpoint], rows: int) -> None:
    for form in FORMATS:
        taken = [asyncio.run(_taken(each, form, rows)) for each in both]
        came.rates.setdefault(form, []).append((taken[0], taken[1]))


async def _taken(asked: Endpoint, form: str, rows: int) -> float:
    client = Client(asked.port, {**asked.headers, "Accept": form})
    path = f"{asked.path}?query={quote(f'SELECT * {{ ?s ?p ?o }} LIMIT {rows}')}"
    try:
        await client.ask("GET", path)
        began = time.perf_counter()
        answer = await client.ask("GET", path)
        taken = time.perf_counter() - began
    finally:
        client.close()
    if answer.status != 200 or len(answer.body) < 10 * rows:
        raise RuntimeError(f"{answer.status}, {len(answer.body)} bytes as {form}")
    return taken


# --- the two ----------------------------------------------------------------------------------------------------------


@contextmanager
def _ours(directory: Path, facts: int) -> Iterator[Endpoint]:
    data = directory / "ours"
    with Base.open(data) as base:
        load(base, directory, facts)
    token = token_for(data, "reader")
    with served_base(data, directory / "ours.txt", {}) as (process, port):
        yield Endpoint(port, process.pid, "/sparql", {"Authorization": f"Bearer {token}"})


@contextmanager
def _theirs(directory: Path, facts: int) -> Iterator[Endpoint]:
    program = environment(home(), "oxigraph", _their_version()).parent / "oxigraph"
    location, triples = directory / "theirs", directory / "triples.nt"
    with triples.open("w", encoding="utf-8") as file:
        file.writelines(f"{workload.fact(Kind.SEED, number).triple}\n" for number in range(facts))
    subprocess.run([program, "load", "--location", location, "--file", triples], check=True, capture_output=True)
    port = free_port()
    with (directory / "theirs.txt").open("w", encoding="utf-8") as log:
        command = [str(program), "serve", "--location", str(location), "--bind", f"127.0.0.1:{port}"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _await(port)
            yield Endpoint(port, process.pid, "/query", {})
        finally:
            process.terminate()
            process.wait(60)


def _their_version() -> list[str]:
    """Of the server, which has the number of the library."""
    return [each.replace("pyoxigraph", "oxigraph") for each in same_as_ours("pyoxigraph")]


def _await(port: int) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            asyncio.run(Client(port).ask("GET", "/"))
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return
