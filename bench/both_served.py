"""Ours and `oxigraph serve`, each as an endpoint of SPARQL over the same triples.

Rules
-----
* Both serve from a disk, on this machine. Ours has callers with tokens, and states, and runs queries in workers; theirs
  has none of it.
* CPU time is of the process that serves and, of ours, of its workers.

Example
-------
::

    with both_served(Path("scratch"), 100_000) as (ours, theirs):
        ours.port, theirs.cpu()
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One of the two: its port and process, its path, and what is sent with each query."""

    port: int
    process: int
    path: str
    headers: dict[str, str]

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        return cpu_of(self.process)

    def cpu_of_workers(self) -> float:
        """CPU seconds so far of the processes that it started, those that live."""
        children = Path(f"/proc/{self.process}/task/{self.process}/children").read_text(encoding="ascii")
        return sum(cpu_of(int(each)) for each in children.split())


@contextmanager
def both_served(directory: Path, facts: int) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Ours and theirs, until the context is left.

    Args:
        directory: to be made.
        facts: that both hold.

    Raises:
        Unavailable: Oxigraph cannot be installed.
    """
    directory.mkdir(parents=True)
    with ExitStack() as stack:
        theirs = stack.enter_context(_theirs(directory, facts))
        yield stack.enter_context(_ours(directory, facts)), theirs


@contextmanager
def _ours(directory: Path, facts: int) -> Iterator[Endpoint]:
    data = directory / "ours"
    with Base.open(data) as base:
        load(base, directory, facts)
    token = token_for(data, "reader")
    # Where much else runs, its first worker may take longer to start than a query waits.
    with served_base(data, directory / "ours.txt", {"MUNIMENT_QUERY_PATIENCE": "120"}) as (process, port):
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
