"""Ours over HTTP: `muniment serve` as a process of its own, asked over connections that are kept.

Rules
-----
* The base is a copy of the one that is measured in process, so that both stand at the same facts.
* CPU is the server's, all its threads; the client is the process here. Each calling thread has a connection, which it
  keeps for the sample.
* The bodies of requests are made before anything is timed.

Example
-------
::

    python -m bench.ours_http DIRECTORY FACTS EXCHANGE
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Final
from urllib.parse import quote

from bench import workload
from bench.exchange import Exchange
from bench.serving import Contestant, serve
from bench.workload import BenchFact, Kind

COMMAND: Final = (sys.executable, "-m", "api.cli")
PATIENCE: Final = 60.0
"""Seconds in which the server has to come up."""

APPLIED: Final = 201
OK: Final = 200


class OursHttp(Contestant):
    """A server, a token, and a connection a thread."""

    def __init__(self, directory: Path, facts: int, exchange: Exchange) -> None:
        self.facts = facts
        data = directory / "data"
        shutil.copytree(exchange.base, data)
        token = subprocess.check_output(
            [*COMMAND, "token", "create", "--data", str(data), "--role", "writer"], text=True
        )
        self._headers = {"Authorization": f"Bearer {token.strip()}"}
        self._threads = threading.local()
        self._connections: list[HTTPConnection] = []
        self._bodies: dict[int, bytes] = {}
        self._port = free_port()
        self._log = directory / "server.txt"
        with self._log.open("w", encoding="utf-8") as log:
            self._server = subprocess.Popen(
                [*COMMAND, "serve", "--data", data, "--port", str(self._port)], stdout=log, stderr=log
            )
        self._await()

    def prepare(self, kind: Kind, first: int, count: int) -> int:
        """Makes the bodies."""
        self._bodies = {number: _body(workload.fact(kind, number)) for number in range(first, first + count)}
        return count

    def write(self, kind: Kind, number: int) -> None:
        """One `POST /changes`."""
        headers = {**self._headers, "Content-Type": "application/json"}
        status, answer = self._ask("POST", "/changes", self._bodies[number], headers)
        if status != APPLIED:
            raise RuntimeError(f"{status} for {kind} fact {number}: {answer.decode()}")

    def look_up(self, number: int) -> int:
        """One `GET /sparql`, answered in JSON."""
        query = workload.query(workload.fact(Kind.SEED, number))
        headers = {**self._headers, "Accept": "application/sparql-results+json"}
        status, answer = self._ask("GET", f"/sparql?query={quote(query)}", None, headers)
        if status != OK:
            raise RuntimeError(f"{status}: {answer.decode()}")
        return answer.count(b'"o":')

    def cpu(self) -> float | None:
        """The server's CPU time."""
        return cpu_of(self._server.pid)

    def close(self) -> None:
        """Stops the server."""
        self._server.terminate()
        self._server.wait(timeout=30)

    def settle(self) -> None:
        """Closes the connections: the server would, while others are measured."""
        self._threads = threading.local()
        while self._connections:
            self._connections.pop().close()

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        connection: HTTPConnection | None = getattr(self._threads, "connection", None)
        if connection is None:
            connection = self._threads.connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
            self._connections.append(connection)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def _await(self) -> None:
        until = time.monotonic() + PATIENCE
        while not self._is_up():
            if self._server.poll() is not None or time.monotonic() > until:
                self._server.kill()
                last = self._log.read_text(encoding="utf-8").strip().splitlines()[-1:]
                raise RuntimeError(f"the server did not come up ({self._server.poll()}): {''.join(last)}")
            time.sleep(0.1)

    def _is_up(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=5)
        try:
            connection.request("GET", "/health", headers=self._headers)
            return connection.getresponse().status == OK
        except OSError:
            return False
        finally:
            connection.close()


def cpu_of(pid: int) -> float | None:
    """CPU seconds of another process, all its threads, so far; None where the system does not tell.

    On Linux every process has a CPU clock whose number follows from the process id: what clock_getcpuclockid(3)
    answers, which Python does not have.
    """
    return time.clock_gettime((~pid << 3) | 2) if sys.platform == "linux" else None


def _body(fact: BenchFact) -> bytes:
    value = {"@value": fact.lexical} if fact.datatype is None else {"@value": fact.lexical, "@type": fact.datatype}
    change = {
        "op": "assert",
        "subject": {"@id": fact.subject},
        "predicate": {"@id": fact.predicate},
        "object": value,
        "validFrom": workload.VALID_FROM,
        "validTo": workload.VALID_TO,
    }
    return json.dumps({"changes": [change]}).encode()


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    serve(lambda: OursHttp(Path(sys.argv[1]), int(sys.argv[2]), Exchange(Path(sys.argv[3]))))
