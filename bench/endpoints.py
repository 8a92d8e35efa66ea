"""Ours and `oxigraph serve`, each as an endpoint of SPARQL (`bench.both_served`): how many queries a second.

Rules
-----
* Each is asked, one after the other in each round, and figures are ratios of the rounds.
* Beside the rates there is the CPU time of an answer, of the process that serves: where others keep the machine busy,
  it says more than a rate does.
* `wrk` asks, with one thread and 1, 8 and 64 connections: point look-ups of facts drawn anew from all, the same of a
  hundred that are asked for again and again, which ours keeps the answers of, joins of three patterns of a subject, and
  a count of all triples by predicate. A round in which one of them did not answer any has no ratio.

Example
-------
::

    with both_served(Path("scratch"), 100_000) as both:
        Console().print(endpoints_table(compared(both, Path("scratch"), 100_000)))
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from rich.table import Table

from bench import workload
from bench.environments import Unavailable
from bench.workload import Kind

if TYPE_CHECKING:
    from bench.both_served import Endpoint

CLIENTS: Final = (1, 8, 64)
SECONDS: Final = 3
ROUNDS: Final = 3
DRAWN: Final = 1_000
"""Queries that are drawn for a join."""

MOST_DRAWN: Final = 100_000
"""Queries that are drawn for a look-up: more than there is room for to keep their answers."""

AGAIN: Final = 100
"""Queries that are asked again and again."""

AIMS: Final = {"look-up, 1": 0.35, "look-up, 8": 0.25, "look-up, 64": 0.25}
"""The least that ours is to come to, as a share of theirs."""

_RATE: Final = re.compile(r"Requests/sec:\s+([0-9.]+)")
_WRONG: Final = re.compile(r"Non-2xx or 3xx responses:\s+([0-9]+)|Socket errors: (.*)")
_PREDICATES: Final = [workload.fact(Kind.SEED, number).predicate for number in range(3)]


@dataclass(slots=True)
class Compared:
    """The rounds by what was asked, for ours and theirs.

    Args:
        rates: answers a second.
        cpu: of an answer, in microseconds.
    """

    rates: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    cpu: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


def compared(
    both: tuple[Endpoint, Endpoint], directory: Path, facts: int, *, seconds: int = SECONDS, rounds: int = ROUNDS
) -> Compared:
    """Asks both.

    Args:
        both: ours and theirs.
        directory: for what wrk is told.
        facts: that both hold.
        seconds: for which each is asked each thing.
        rounds: how often.

    Raises:
        Unavailable: wrk is not there.
    """
    wrk = shutil.which("wrk")
    if wrk is None:
        raise Unavailable("is not on PATH; on Debian, apt-get install wrk")
    came = Compared()
    for _ in range(rounds):
        for kind, queries in _queries(facts).items():
            for clients in CLIENTS:
                ours, theirs = (_rate(wrk, directory, each, queries, clients, seconds) for each in both)
                came.rates.setdefault(f"{kind}, {clients}", []).append((ours[0], theirs[0]))
                came.cpu.setdefault(f"{kind}, {clients}", []).append((ours[1], theirs[1]))
    return came


def endpoints_table(came: Compared) -> Table:
    """The medians, their ratios, and what they are to come to."""
    table = Table(title="Ours beside oxigraph serve, on the same triples", title_justify="left")
    for column in ("", "ours", "theirs", "ratio", "aim", "CPU, ours", "CPU, theirs"):
        table.add_column(column, justify="left" if not column else "right")
    for name, rounds in came.rates.items():
        ratios = [ours / theirs for ours, theirs in rounds if theirs]
        shown = [f"{median(each):,.0f} /s" for each in zip(*rounds, strict=True)]
        spent = [f"{median(each):,.0f} µs" for each in zip(*came.cpu[name], strict=True)]
        ratio = f"{median(ratios):.2f}" if ratios else ""
        table.add_row(name, *shown, ratio, f"{AIMS[name]}" if name in AIMS else "", *spent)
    return table


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


def _rate(
    wrk: str, directory: Path, asked: Endpoint, queries: list[str], clients: int, seconds: int
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
    command = [wrk, "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "30s", "-s", str(script)]
    burnt = asked.cpu()
    said = subprocess.run(
        [*command, f"http://127.0.0.1:{asked.port}/"], check=True, capture_output=True, text=True, timeout=300
    ).stdout
    rate, wrong = _RATE.search(said), _WRONG.search(said)
    if rate is None or wrong is not None:
        raise RuntimeError(f"not every query was answered:\n{said}")
    answered = max(1.0, float(rate[1]) * seconds)
    return float(rate[1]), 1e6 * (asked.cpu() - burnt) / answered
