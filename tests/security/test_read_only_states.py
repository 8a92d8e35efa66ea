"""A service whose disk is full, whose ledger another process has, or whose stores fail.

It says so, reads go on as far as they can, and it recovers by itself once the fault is gone.
"""

from __future__ import annotations

import resource
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import httpx2
import pytest

from bridge.base import Base
from bridge.stores import transactions
from tests.api.bodies import EX, change, request
from tests.api.console import run, serving
from tests.api.processes import until
from tests.api.serving import served

REMEDY: Final = "send it again later; "
MEGABYTE: Final = 2**20


def write(client: httpx2.Client, subject: str, value: str = "x") -> httpx2.Response:
    return client.post("/changes", json=request(change(subject, "p", {"@value": value})))


def reads(client: httpx2.Client, subject: str) -> None:
    """What was written is read, from stores and ledger."""
    answer = client.get("/sparql", params={"query": f"ASK {{ <{EX}{subject}> ?p ?o }}"})
    assert answer.json()["boolean"] is True
    assert len(client.get("/facts", params={"subject": EX + subject}).json()["items"]) == 1
    assert client.get("/certificates").status_code == 200


def refused(answer: httpx2.Response, cause: str) -> None:
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["cause"]) == (503, "read-only", cause), problem
    assert problem["remedy"].startswith(REMEDY)
    assert "reading goes on" in problem["detail"]
    assert int(answer.headers["Retry-After"]) > 0


def health(client: httpx2.Client) -> tuple[int, str, str | None]:
    answer = client.get("/health")
    told: dict[str, Any] = answer.json()
    return answer.status_code, told["status"], told["reason"]


def recovers(client: httpx2.Client, subject: str) -> None:
    until(lambda: health(client) == (200, "ok", None))
    assert write(client, subject).status_code == 201
    reads(client, subject)


# --- the disk is full -------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(path: Path) -> Iterator[Path]:
    """A file system of 16 MB, where one may be mounted."""
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", path], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def fill(file: Path) -> None:
    """Takes all the room that is left."""
    with file.open("wb", buffering=0) as filler:
        try:
            while filler.write(b"\0" * 4_096):
                pass
        except OSError:
            pass


def test_a_full_disk_is_read_only_until_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk, Base.open(disk / "base") as base, served(base) as running:
        client = running.writer
        assert write(client, "before").status_code == 201
        reads(client, "before")
        filler = disk / "filler"

        def full() -> bool:
            fill(filler)
            answer = write(client, "never", "x" * MEGABYTE)
            return answer.status_code == 503 and health(client) == (200, "read-only", "disk-full")

        until(full)
        refused(write(client, "never", "y" * MEGABYTE), "full")
        reads(client, "before")
        assert client.get("/facts", params={"subject": f"{EX}never"}).json()["items"] == []
        filler.unlink()
        recovers(client, "after")


def test_files_that_may_not_grow_are_read_only_until_they_may(tmp_path: Path) -> None:
    """The limit of the process on its files, which it meets as an error of its disk."""
    data = tmp_path / "base"
    token = run("token", "create", "--data", data, "--role", "writer").output.strip()
    with (
        serving(data) as (process, url),
        httpx2.Client(
            base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False
        ) as client,
    ):
        assert write(client, "before").status_code == 201
        before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4_096, before[1]))

        def limited() -> bool:
            return write(client, "never", "x" * MEGABYTE).status_code == 503 and health(client)[1] == "read-only"

        until(limited)
        refused(write(client, "never", "x" * MEGABYTE), "disk")
        reads(client, "before")
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)
        recovers(client, "after")


# --- another process has the ledger -----------------------------------------------------------------------------------


def test_a_ledger_that_another_process_has_is_read_only_until_it_lets_go(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Base.open(tmp_path / "base") as base, served(base) as running:
        client = running.writer
        assert write(client, "before").status_code == 201
        base.ledger._writer.execute("PRAGMA busy_timeout = 200")  # type: ignore[attr-defined] # not to wait for 30 s
        other = sqlite3.connect(tmp_path / "base" / "ledger.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        refused(write(client, "never"), "locked")
        until(lambda: health(client) == (200, "read-only", "ledger-locked"))
        # Nobody waits for what is known to be held.
        refused(write(client, "never"), "locked")
        refused(client.post("/sparql", data={"update": f"INSERT DATA {{ <{EX}never> <urn:p> 1 }}"}), "locked")
        reads(client, "before")
        other.execute("ROLLBACK")
        other.close()
        recovers(client, "after")
        assert client.get("/facts", params={"subject": f"{EX}never"}).json()["items"] == []
    told = [record.getMessage() for record in caplog.records if "written" in record.getMessage()]
    assert sum("nothing can be written" in line for line in told) == 1, "once, however often it is tried"


# --- the stores fail --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError("IO error: No space left on device"), RuntimeError("a defect")])
def test_stores_that_fail_are_behind_until_they_are_brought_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """What was acknowledged is in the ledger, and is read there; queries, which would be too old, are not answered."""
    with Base.open(tmp_path / "base") as base, served(base) as running:
        client = running.writer
        assert write(client, "before").status_code == 201

        def fail(*_: object) -> NoReturn:
            raise error

        with monkeypatch.context() as broken:
            for name in ("apply", "settle", "load"):
                broken.setattr(base.stores, name, fail)
            assert write(client, "meanwhile").status_code == 201
            until(lambda: health(client) == (503, "unavailable", "stores-behind"))
            assert len(client.get("/facts", params={"subject": f"{EX}meanwhile"}).json()["items"]) == 1
            assert write(client, "also").status_code == 201
        recovers(client, "after")
        reads(client, "meanwhile")
        reads(client, "also")


def test_stores_that_fail_as_they_are_written_answer_no_query_that_would_be_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Base.open(tmp_path / "base") as base, served(base) as running:
        client = running.writer
        assert write(client, "before").status_code == 201

        def fail(*_: object) -> NoReturn:
            raise OSError("IO error: a fault of the disk")

        with monkeypatch.context() as broken:
            broken.setattr(transactions.Backlog, "write", fail)
            assert write(client, "meanwhile").status_code == 201
            until(lambda: health(client)[0] == 503)
            answer = client.get("/sparql", params={"query": f"ASK {{ <{EX}meanwhile> ?p ?o }}"})
            if answer.status_code == 200:
                assert answer.json()["boolean"] is True, "no stale read"
            else:
                assert (answer.status_code, answer.json()["code"]) == (503, "store-unavailable")
                assert answer.json()["remedy"]
        recovers(client, "after")
        reads(client, "meanwhile")
