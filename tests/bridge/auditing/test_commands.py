"""Tampering with a base by hand, as an operator reads of it: `muniment audit` of the folder, and of what is served."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final
from unittest.mock import patch

import pyoxigraph as ox
import pytest

from api.commands.application import run
from bridge.base import Base
from bridge.lock import DirectoryLock
from bridge.signing.log import LogReader
from kernel.access import Role
from kernel.time.instants import DAY, Instant
from tests.api.serving import served
from tests.bridge.auditing.history import copy, edit, ledger_of, tamper
from tests.bridge.writing import NOON, SetClock

RUBBISH: Final = ox.Quad(*(ox.NamedNode(f"urn:{name}") for name in "spog"))
LAST: Final = "(SELECT max(position) FROM events)"

EDITS: Final = {
    "an edited event": (
        ("UPDATE events SET event = CAST(replace(event, 'issued', 'Issued') AS BLOB) WHERE position = 4",),
        "events 4",
    ),
    "a log without its last row": ((f"DELETE FROM events WHERE position = {LAST}",), "events "),
    "a log without a row amid it": (("DELETE FROM events WHERE position = 7",), "events 7"),
    "a log that was truncated": (("DELETE FROM events WHERE position > 13",), "events 14"),
    "rows that were swapped": (
        tuple(
            f"UPDATE events SET position = {target} WHERE position = {source}"
            for source, target in ((5, -1), (15, 5), (-1, 15))
        ),
        "events 5",
    ),
    "a salt": (
        ("UPDATE items SET salt = zeroblob(length(salt)) WHERE kind = 'plan' AND ordinal = 1",),
        "items ",
    ),
    "a certificate": (
        ("UPDATE certificates SET document = CAST(replace(document, 'clear', 'clean') AS BLOB) WHERE head = 1",),
        "certificate ",
    ),
}  # fmt: skip
"""What is done to the ledger, and what the first place that is named begins with."""


def without_time_index(base: Path) -> None:
    """The index of times has an entry that its table has not."""
    with ledger_of(base) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'facts_by_time'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute("PRAGMA journal_mode = DELETE")
    content = bytearray((base / "ledger.sqlite").read_bytes())
    content[page * size - 12] ^= 0x40
    (base / "ledger.sqlite").write_bytes(content)


def with_another_quad(base: Path) -> None:
    tamper(base, "complete", add=RUBBISH)


def with_a_damaged_file(base: Path) -> None:
    file = max((base / "stores" / "current").glob("*.sst"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


FILES: Final = {
    "the time index": (without_time_index, "ledger.sqlite"),
    "a quad": (with_another_quad, f"stores/complete {RUBBISH}"),
    "a file of a store": (with_a_damaged_file, "stores/current/"),
}


def audited(*arguments: str | Path) -> tuple[int, str]:
    """The exit status, and what was said."""
    said = StringIO()
    with (
        patch.object(sys, "argv", ["muniment", "audit", *map(str, arguments)]),
        redirect_stdout(said),
        redirect_stderr(said),
    ):
        return run(), said.getvalue()


def fault_in(output: str, place: str) -> bool:
    """Whether a line of what an operator reads names a place that begins so."""
    return any(line.startswith(f"fault       {place}") for line in output.splitlines())


@pytest.mark.parametrize("edited", EDITS)
def test_what_was_edited_in_the_ledger_is_read_of_a_folder(base: Path, edited: str) -> None:
    statements, place = EDITS[edited]
    for statement in statements:
        edit(base, statement)
    with DirectoryLock(base / "lock"):  # as if it were served: stores take most of the time, and are of no matter here
        status, said = audited("--data", base)
    assert (status, fault_in(said, place)) == (1, True), said


@pytest.mark.parametrize("edited", FILES)
def test_what_was_edited_in_other_files_is_read_of_a_folder(base: Path, edited: str) -> None:
    do, place = FILES[edited]
    do(base)
    status, said = audited("--data", base)
    assert (status, fault_in(said, place)) == (1, True), said


@contextmanager
def undone(ledger: Path) -> Iterator[sqlite3.Connection]:
    """A connection past everything that watches over a ledger that is served; all is as before after it."""
    tables = ("events", "items", "certificates")
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for table in tables:
            connection.execute(f"CREATE TEMP TABLE kept_{table} AS SELECT * FROM {table}")
        yield connection
        for table in tables:
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
            connection.execute(f"DELETE FROM {table}")
            connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM kept_{table}")


def test_what_was_edited_in_the_ledger_is_read_of_a_service_from_afar(pristine: Path, tmp_path: Path) -> None:
    """What is no longer there at all, as the last rows of a log, is known by a checkpoint that was kept."""
    data, token, key, kept = (
        copy(pristine, tmp_path / "served"),
        *(tmp_path / name for name in ("token", "key", "kept")),
    )
    with Base.open(data, host=SetClock(Instant(NOON + 2 * DAY))) as base, served(base) as running:
        token.write_text(running.token(Role.ADMINISTRATOR))
        token.chmod(0o600)
        key.write_text(base.key.public.multibase)
        kept.write_text(LogReader(base.ledger, base.key).checkpoint())
        asked = ("--url", running.url, "--token-file", token, "--key", key, "--checkpoint", kept)
        status, said = audited(*asked)
        assert status == 0, said
        for edited, (statements, _) in EDITS.items():
            with undone(data / "ledger.sqlite") as connection:
                for statement in statements:
                    connection.execute(statement)
                status, said = audited(*asked)
            assert status, (edited, said)
            assert "fault " in said or said.startswith("muniment: "), (edited, said)
        assert audited(*asked)[0] == 0
