"""Case 43: an acknowledged write has been fsynced before the answer. System calls are counted by strace.

Rules
-----
* The ledger's write-ahead log is *dirty* once something was written to it, until a sync that began after that is done.
* What is told is told by a `write` to standard output, or, over HTTP, by one to a socket.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import pairwise
from json import dumps
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from tests.api.console import ENVIRONMENT, PATIENCE, SCRIPT, run
from tests.requirements import REPOSITORY, require

pytestmark = pytest.mark.strace

CALLS: Final = "fsync,fdatasync,write,writev,pwrite64,send,sendto,sendmsg"
_CALL: Final = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<arguments>.*)")
_RESUMED: Final = re.compile(r"(?P<pid>\d+) +<\.\.\. (?P<name>\w+) resumed>")
_ON_LOG: Final = re.compile(r"\d+<[^>]*/ledger\.sqlite-wal>")

_TOLD: Final = re.compile(r'"(?:told (?=\d)|(?=HTTP/1\.1 201))([\w./]+)')
_ASKED: Final = re.compile(r'"asked ([\d/]+)')


@dataclass
class Trace:
    """What happened, in order.

    Attributes:
        syncs: of the ledger's log that are done.
        told: for each answer, what it is to; how many syncs were done by then; and whether the log was dirty.
        asked: for each request, how many syncs were done when it was asked.
    """

    syncs: int = 0
    told: list[tuple[str, int, bool]] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)
    _dirty: bool = False
    _syncing: dict[str, bool] = field(default_factory=dict)

    def take(self, line: str) -> None:
        """Takes in a line of strace's."""
        call, resumed = _CALL.match(line), _RESUMED.match(line)
        if call is not None:
            self._called(call["pid"], call["name"], call["arguments"])
        elif resumed is not None and self._syncing.pop(resumed["pid"], False):
            self.syncs += 1

    def _called(self, pid: str, name: str, arguments: str) -> None:
        if _ON_LOG.match(arguments):
            if name not in {"fsync", "fdatasync"}:
                self._dirty = True
            elif arguments.endswith("<unfinished ...>"):
                self._dirty, self._syncing[pid] = False, True
            else:
                self._dirty, self.syncs = False, self.syncs + 1
        elif told := _TOLD.search(arguments):
            self.told.append((told[1], self.syncs, self._dirty or any(self._syncing.values())))
        elif asked := _ASKED.search(arguments):
            self.asked[asked[1]] = self.syncs


def read_trace(path: Path) -> Trace:
    trace = Trace()
    for line in path.read_text(errors="replace").splitlines():
        trace.take(line)
    return trace


def strace(to: Path) -> list[str]:
    """The beginning of a command that is to be traced."""
    return [str(require("strace")), "-f", "-y", "-s", "48", "-e", f"trace={CALLS}", "-o", str(to)]


def traced_writers(folder: Path, writers: int, writes: int) -> Trace:
    command = [sys.executable, "-m", "tests.crash.synced", str(folder / "base"), str(writers), str(writes)]
    subprocess.run(
        [*strace(folder / "trace"), *command], cwd=REPOSITORY, check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL
    )
    trace = read_trace(folder / "trace")
    assert len(trace.told) == len(trace.asked) == writers * writes
    return trace


def test_every_single_write_is_synced_before_it_is_told(tmp_path: Path) -> None:
    trace = traced_writers(tmp_path, 1, 12)
    for told, syncs, dirty in trace.told:
        assert syncs > trace.asked[told]
        assert not dirty
    assert trace.told[-1][1] - trace.asked["0/0"] >= 12


def test_writes_that_come_at_once_are_synced_before_they_are_told_and_share_syncs(tmp_path: Path) -> None:
    trace = traced_writers(tmp_path, 16, 8)
    for told, syncs, _ in trace.told:
        assert syncs > trace.asked[told]
    shared = trace.told[-1][1] - min(trace.asked.values())
    assert shared < 16 * 8 / 2


@contextmanager
def traced_server(data: Path, to: Path) -> Iterator[str]:
    """A server under strace, and its URL; it is told to stop, and has stopped, when the context is left."""
    command = [*strace(to), SCRIPT, "serve", "--data", str(data), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=ENVIRONMENT) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert told
        try:
            yield told.split()[-1]
        finally:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
            os.kill(int(children), signal.SIGTERM)
            assert process.wait(PATIENCE) == 0


def test_every_write_over_http_is_synced_before_it_is_answered(tmp_path: Path) -> None:
    data = tmp_path / "base"
    token = run("token", "create", "--data", data, "--role", "writer").output.strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with traced_server(data, tmp_path / "trace") as url:
        connection = HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
        for number in range(6):
            value = {"@value": f"{number}"}
            change = {"op": "assert", "subject": {"@id": "urn:a"}, "predicate": {"@id": "urn:p"}, "object": value}
            connection.request("POST", "/changes", dumps({"changes": [change]}), headers)
            response = connection.getresponse()
            body = response.read()
            assert response.status == 201, body
        connection.close()
    trace = read_trace(tmp_path / "trace")
    assert len(trace.told) == 6
    assert not any(dirty for _, _, dirty in trace.told)
    counts = [syncs for _, syncs, _ in trace.told]
    assert all(later > earlier for earlier, later in pairwise(counts))
