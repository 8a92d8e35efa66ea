"""The ledger on SQLite: the contract on disk, in memory and with a bad hash; and what is peculiar to the file."""

from __future__ import annotations

import sqlite3
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from bridge.ledger.connection import connect_writer
from bridge.ledger.schema import APPLICATION_ID, VERSION, prepare
from bridge.ledger.seal import SUFFIX
from bridge.ledger.sqlite import SqliteLedger
from certificates.items import ItemKind, salt_items
from certificates.merkle import leaf_hash
from kernel.access import Principal, Role
from kernel.changes import Request
from kernel.errors import DamagedBase, LedgerUnavailable
from kernel.ports.records import CertificateState, DecisionRecord
from kernel.terms import Iri
from kernel.time.instants import BEGINNING, FOREVER, Instant
from tests.bridge.ledger.contract import (
    LEAF,
    STATEMENT,
    LedgerContract,
    StubClock,
    apply,
    certificate,
    content,
    snapshot,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bridge.ledger.reading import SqliteView
    from kernel.ports.ledger import Ledger, LedgerView


class TestLedgerOnDisk(LedgerContract):
    def open(self, folder: Path) -> Ledger:
        return SqliteLedger.open(folder / "ledger.sqlite", self.clock)


class TestLedgerInMemory(LedgerContract):
    def open(self, folder: Path) -> Ledger:
        return SqliteLedger.open(None, self.clock)


class TestLedgerWhoseHashesCollide(LedgerContract):
    """Hashes find rows and prove nothing: with one hash for all terms, every answer is the same."""

    def open(self, folder: Path) -> Ledger:
        return SqliteLedger(folder / "ledger.sqlite", self.clock, durable=False, key=lambda _: 0)


def test_what_another_process_logged_is_found_out_and_nothing_is_put_in_its_place(tmp_path: Path) -> None:
    path, clock = tmp_path / "ledger.sqlite", StubClock()
    with closing(SqliteLedger(path, clock, durable=False)) as ours, closing(SqliteLedger(path, clock)) as theirs:
        write(ours, 1, content(1))
        write(theirs, 2, content(2))
        logged = _log(theirs)
        with pytest.raises(LedgerUnavailable):
            write(ours, 3, content(3))
        assert _log(ours) == logged
        write(ours, 3, content(3))
        assert _log(ours)[: len(logged)] == logged
        assert len(_log(ours)) == len(logged) // 2 * 3


def _log(ledger: Ledger) -> list[bytes]:
    with ledger.reading() as view:
        return list(view.events(0, view.log_size()))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Iterator[SqliteLedger]:
    with closing(SqliteLedger.open(path)) as ledger:
        yield ledger


def first(row: tuple[int | str]) -> int | str:
    return row[0]


def sql(path: Path, statement: str) -> list[tuple[object, ...]]:
    """What another program reads from the file, or writes to it; without a seal, which would tell."""
    path.with_suffix(SUFFIX).unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


# --- the file ---------------------------------------------------------------------------------------------------------


def test_everything_is_there_when_it_is_opened_again(path: Path) -> None:
    with closing(SqliteLedger.open(path)) as ledger:
        write(ledger, 1, content(1))
        ledger.stage("session", 0, b"chunk")
        ledger.add_principal(Principal("p1", Role.WRITER), LEAF)
        before, base = snapshot(ledger), ledger.base_id()
    with closing(SqliteLedger.open(path)) as ledger:
        assert (snapshot(ledger), ledger.base_id()) == (before, base)
        assert list(ledger.staged("session")) == [b"chunk"]
        assert ledger.principal_of(LEAF) == Principal("p1", Role.WRITER)
        assert write(ledger, 2).position == 3


def test_the_files_are_their_owners_alone(path: Path) -> None:
    path.touch(0o666)
    path.chmod(0o666)
    with closing(SqliteLedger.open(path)) as ledger, ledger.reading() as view:
        view.head()
        write(ledger, 1)
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    files = ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.seal")
    assert modes == dict.fromkeys(files, 0o600)


def test_commits_are_durable_and_deletions_overwrite(ledger: SqliteLedger) -> None:
    with ledger.transaction() as tx:
        settings = {
            name: tx._session.one(f"PRAGMA {name}", (), first)
            for name in ("synchronous", "journal_mode", "secure_delete", "foreign_keys")
        }
    assert settings == {"synchronous": 2, "journal_mode": "wal", "secure_delete": 1, "foreign_keys": 1}


def test_a_ledger_in_memory_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with closing(SqliteLedger.open(None)) as ledger:
        write(ledger, 1, content(1))
        assert list(tmp_path.iterdir()) != []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", [0, VERSION + 1])
def test_a_ledger_of_another_version_is_not_opened(path: Path, version: int) -> None:
    SqliteLedger.open(path).close()
    sql(path, f"PRAGMA user_version = {version}")
    with pytest.raises(DamagedBase, match=f"format {version}.*release that wrote it") as refused:
        SqliteLedger.open(path)
    assert refused.value.where == str(path)


@pytest.mark.parametrize("statement", ["CREATE TABLE t (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"])
def test_a_database_of_another_program_is_left_as_it_is(path: Path, statement: str) -> None:
    sql(path, statement)
    before = path.read_bytes()
    with pytest.raises(DamagedBase, match="no ledger"):
        SqliteLedger.open(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_as_it_is(path: Path) -> None:
    path.write_text("Dear diary, " * 1_000)
    with pytest.raises(DamagedBase, match="no database"):
        SqliteLedger.open(path)
    assert path.read_text().startswith("Dear diary")


def test_tables_that_another_makes_meanwhile_are_not_made_again(path: Path) -> None:
    path.touch()
    looked = Event()
    with (
        closing(connect_writer(path, patience=60.0, durable=False)) as slow,
        closing(sqlite3.connect(path, isolation_level=None)) as fast,
        ThreadPoolExecutor(1) as other,
    ):
        slow.set_trace_callback(lambda statement: looked.set() if statement.startswith("BEGIN") else None)
        fast.execute("PRAGMA journal_mode = WAL")
        fast.execute("BEGIN IMMEDIATE")
        preparing = other.submit(prepare, slow, UUID(int=1), str(path))
        looked.wait()
        fast.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        fast.execute(f"PRAGMA user_version = {VERSION}")
        fast.execute("COMMIT")
        preparing.result()
        assert fast.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)


def test_a_sqlite_that_is_too_old_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 9))
    with pytest.raises(LedgerUnavailable, match=r"3\.37"):
        SqliteLedger.open(path)
    assert not path.exists()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable) as refused:
        SqliteLedger.open(tmp_path / "missing" / "ledger.sqlite")
    assert refused.value.where == str(tmp_path / "missing" / "ledger.sqlite")


# --- what is stored ---------------------------------------------------------------------------------------------------


def test_events_have_the_leaf_hash_of_their_bytes(ledger: SqliteLedger, path: Path) -> None:
    events = [b'{"type":"issued"}', b'{"type":"applied"}', b"{}"]
    with ledger.transaction() as tx:
        for event in events:
            tx.append_event(event)
        tx.commit()
    stored = sql(path, "SELECT position, event, leaf FROM events ORDER BY position")
    assert stored == [(position, event, leaf_hash(event)) for position, event in enumerate(events)]


def test_an_item_can_be_deleted_and_its_leaf_stays(ledger: SqliteLedger, path: Path) -> None:
    items = salt_items(ItemKind.PLAN, [b"first", b"second"])
    comment = salt_items(ItemKind.COMMENT, [b"comment"])[0]
    record = certificate()
    with ledger.transaction() as tx:
        tx.issue(record)
        tx.add_items(record.id, items)
        tx.add_decision(DecisionRecord(record.id, "decision", b"{}", comment))
        tx.commit()
    sql(path, "DELETE FROM items WHERE ordinal = 0")
    with ledger.reading() as view:
        assert view.items(record.id, ItemKind.PLAN) == items[1:]
        assert view.leaves(record.id, ItemKind.PLAN) == [item.leaf for item in items]
        assert view.decisions(record.id) == [DecisionRecord(record.id, "decision", b"{}", None)]


def test_what_is_deleted_is_in_no_file_after_a_clean_close(path: Path) -> None:
    secret = "the reason that nobody shall read"
    with closing(SqliteLedger.open(path)) as ledger:
        record = certificate(request=Request((), secret, None, "p1"))
        with ledger.transaction() as tx:
            tx.issue(record)
            tx.commit()
        ledger.stage("session", 0, secret.encode() * 1_000)
        with ledger.transaction() as tx:
            tx.settle(record.id, CertificateState.REJECTED)
            tx.commit()
        ledger.unstage("session")
    assert {file.name for file in path.parent.iterdir()} == {"ledger.sqlite", "ledger.seal"}
    assert secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("damage", "read"),
    [
        ("UPDATE facts SET subject = 'nonsense'", lambda view: list(view.believed())),
        ("UPDATE facts SET subject = '\"literal\"'", lambda view: list(view.believed())),
        ("UPDATE facts SET from_precision = 99", lambda view: list(view.facts_at(Instant(1), Instant(10)))),
        ("UPDATE evidence SET confidence = 'high'", lambda view: view.evidence_of([UUID(int=1)])),
        ("UPDATE evidence SET object = '<urn:o>'", lambda view: view.evidence_of([UUID(int=1)])),
        ("UPDATE certificates SET verdict = 'perhaps'", lambda view: view.certificates()),
        ("UPDATE certificates SET graphs = '['", lambda view: view.certificate(UUID(int=1))),
        ("UPDATE items SET salt = x'00'", lambda view: view.items(UUID(int=1), ItemKind.PLAN)),
        ("UPDATE state SET digest = x'00'", lambda view: view.head()),
        ("DELETE FROM state", lambda view: view.head()),
    ],
)
def test_what_makes_no_sense_is_damage(
    ledger: SqliteLedger, path: Path, damage: str, read: Callable[[LedgerView], object]
) -> None:
    with ledger.transaction() as tx:
        apply(tx, 1, content(1))
        tx._session.execute("INSERT INTO evidence VALUES (1, zeroblob(16), ?, 0, 0, 0, 0, 0, zeroblob(16), 1)",
                            (UUID(int=1).bytes,))  # fmt: skip
        tx.commit()
    sql(path, damage)
    with ledger.reading() as view, pytest.raises(DamagedBase, match="restore the ledger from a backup"):
        read(view)


# --- trouble ----------------------------------------------------------------------------------------------------------


def test_a_ledger_locked_by_another_process_says_so(path: Path) -> None:
    with (
        closing(SqliteLedger(path, StubClock(), others=0.01)) as ledger,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        write(ledger, 1)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable) as refused, ledger.transaction():
            pass
        assert refused.value.data["cause"] == "locked"
        assert len(snapshot(ledger)) > 0
        other.execute("ROLLBACK")
        write(ledger, 2)


def test_a_ledger_locked_by_another_thread_says_so(path: Path) -> None:
    with closing(SqliteLedger(path, StubClock(), patience=0.01)) as ledger:
        begun, done = Event(), Event()

        def hold() -> None:
            with ledger.transaction():
                begun.set()
                done.wait()

        holder = Thread(target=hold)
        holder.start()
        begun.wait()
        with pytest.raises(LedgerUnavailable) as refused:
            ledger.stage("session", 0, b"")
        done.set()
        holder.join()
        assert refused.value.data["cause"] == "locked"


def test_a_full_disk_keeps_nothing_and_the_ledger_goes_on(ledger: SqliteLedger) -> None:
    write(ledger, 1)
    before = snapshot(ledger)
    with ledger.transaction() as tx:
        pages = tx._session.one("PRAGMA page_count", (), first)
        tx._session.execute(f"PRAGMA max_page_count = {pages}")
        apply(tx, 2)
        tx.add_items(UUID(int=2), salt_items(ItemKind.FINDING, [bytes(100_000)]))
        with pytest.raises(LedgerUnavailable) as refused:
            tx.commit()
    assert refused.value.data["cause"] == "full"
    assert snapshot(ledger) == before
    with ledger.transaction() as tx:
        tx._session.execute("PRAGMA max_page_count = 1000000")
    assert write(ledger, 2).position == 3


def test_a_commit_that_fails_keeps_nothing_and_the_ledger_goes_on(ledger: SqliteLedger) -> None:
    before = snapshot(ledger)
    with ledger.transaction() as tx:
        tx._session.execute("PRAGMA defer_foreign_keys = ON")  # a decision on nothing is found out at the commit
        apply(tx, 1, content(1))
        tx.add_decision(DecisionRecord(UUID(int=77), "decision", b"{}", None))
        with pytest.raises(LedgerUnavailable) as refused:
            tx.commit()
    assert refused.value.data["cause"] == "constraint"
    assert snapshot(ledger) == before
    assert write(ledger, 1).position == 1


@pytest.mark.parametrize("start", [0.1, 0.9])
def test_a_corrupt_file_says_so(path: Path, start: float) -> None:
    def use() -> None:
        with closing(SqliteLedger.open(path)) as ledger:
            snapshot(ledger)

    with closing(SqliteLedger.open(path)) as ledger:
        write(ledger, 1, *(content(number, replace(STATEMENT, object=Iri(f"urn:{number}"))) for number in range(500)))
    path.with_suffix(SUFFIX).unlink()  # which would tell of it before SQLite does
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(int(size * start))
        file.write(b"\xaa" * (size - file.tell()))
    with pytest.raises(LedgerUnavailable) as refused:
        use()
    assert refused.value.data["cause"] == "corrupt"


# --- cost -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large() -> Iterator[SqliteLedger]:
    """8,000 facts in one graph, all but two superseded facts believed, and four in a small graph."""
    large, small = Iri("urn:large"), Iri("urn:small")
    with closing(SqliteLedger.open(None)) as ledger:
        with ledger.transaction() as tx:
            many = [
                content(
                    number,
                    replace(STATEMENT, subject=Iri(f"urn:{number // 4}"), object=Iri(f"urn:o:{number}"), graph=large),
                )
                for number in range(1, 8_001)
            ]
            apply(tx, 1, *many)
            apply(tx, 2, *(content(number, replace(STATEMENT, graph=small)) for number in range(9_001, 9_005)))
            tx.supersede(UUID(int=3), Instant(3), [UUID(int=1), UUID(int=2)])
            tx.commit()
        yield ledger


@pytest.mark.parametrize(
    "read",
    [
        lambda view: view.believed_of(STATEMENT),
        lambda view: list(view.believed(subject=Iri("urn:7"))),
        lambda view: list(view.believed(subject=Iri("urn:7"), graph=Iri("urn:small"))),
        lambda view: list(view.believed(object=Iri("urn:o:70"))),
        lambda view: list(view.believed(graph=Iri("urn:small"))),
        lambda view: list(view.believed(graph=Iri("urn:none"), predicate=STATEMENT.predicate)),
        lambda view: view.fact(UUID(int=500)),
        lambda view: view.evidence_of([UUID(int=500)]),
        lambda view: view.graphs(),
        lambda view: view.next_due(BEGINNING),
        lambda view: view.next_due(Instant(15)),
        lambda view: view.next_due(Instant(20)),
        lambda view: list(view.facts_due(Instant(10), Instant(19))),
        lambda view: list(view.facts_due(Instant(20), FOREVER)),
        lambda view: list(view.facts_recorded(Instant(2), Instant(3))),
        lambda view: list(view.facts_recorded(Instant(1), Instant(2))),
        lambda view: list(view.facts_at(BEGINNING, Instant(15))),
        lambda view: list(view.evidence_recorded(Instant(1), FOREVER)),
        lambda view: view.head_at(Instant(2)),
        lambda view: view.recorded_in(3),
    ],
)
def test_a_look_up_does_not_read_the_whole_ledger(large: SqliteLedger, read: Callable[[SqliteView], object]) -> None:
    """A thousand steps of SQLite's machine would be an eighth of a scan at the least."""
    hundreds = 0

    def count() -> int:
        nonlocal hundreds
        hundreds += 1
        return 0

    with large.reading() as view:
        connection = view._session._connection
        assert connection is not None
        connection.set_progress_handler(count, 100)
        read(view)
        connection.set_progress_handler(None, 100)
    assert hundreds < 10
