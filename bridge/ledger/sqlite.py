"""The ledger of a base in one SQLite file.

Rules
-----
* One connection writes, for whoever holds the lock of this object; others wait, up to `PATIENCE`. Other processes wait
  for the lock of the file, as long. Readers wait for nobody.
* Of a token, only its SHA-256 is kept.
* A file that is closed is sealed, and one whose bytes are others than the seal says is not opened (`ledger.seal`).
* A temporary ledger is a file too, in a folder of its own that goes when it is closed. It keeps every promise but one:
  its commits do not wait for the disk.

Example
-------
::

    ledger = SqliteLedger.open(data / "ledger.sqlite", host_clock)
    with ledger.reading() as view:
        view.head().position
    ledger.close()
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Final, Self
from uuid import UUID

from bridge.host import SystemClock
from bridge.ledger.certificate_rows import principal_of, principal_record_of, principal_row
from bridge.ledger.connection import (
    ReaderPool,
    cannot_open,
    connect_reader,
    connect_writer,
    create_file,
    refuse_old_sqlite,
)
from bridge.ledger.fact_rows import term_key
from bridge.ledger.reading import SqliteView
from bridge.ledger.schema import not_a_ledger, prepare
from bridge.ledger.seal import Seal
from bridge.ledger.session import Session, closed, locked, roll_back, unavailable
from bridge.ledger.soundness import require_sound
from bridge.ledger.writing import DROP_CHUNKS, Known, SqliteTransaction
from certificates.ids import uuid7
from kernel.errors import Conflict, DamagedBase, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bridge.ledger.certificate_rows import PrincipalRecord
    from kernel.access import Principal
    from kernel.ports.outside import HostClock
    from kernel.time.instants import Instant

log = logging.getLogger("muniment.ledger")

PATIENCE: Final = 60.0
"""Seconds to wait for a lock: far longer than a group of writes takes, about as long as judging a large load does."""

_ADD_PRINCIPAL: Final = """INSERT OR IGNORE INTO principals (id, role, graphs, token_hash, created, expires)
    VALUES (?, ?, ?, ?, ?, ?)"""
_PRINCIPAL_OF: Final = """SELECT id, role, graphs FROM principals
    WHERE token_hash = ? AND revoked IS NULL AND (expires IS NULL OR expires > ?)"""
_PRINCIPALS: Final = "SELECT id, role, graphs, created, expires, revoked FROM principals ORDER BY created, id"
_REVOKE: Final = "UPDATE principals SET revoked = coalesce(revoked, ?) WHERE id = ?"


class SqliteLedger:
    """A `kernel.ports.ledger.Ledger`, for any number of threads; `open` makes one.

    Args:
        path: of the file.
        host_clock: tells which tokens have expired.
        durable: whether a commit waits for the disk.
        patience: seconds to wait for whoever writes in this process.
        others: seconds to wait for a process that writes beside this one.
        key: the hash of the statement indexes; the same for every opening of a file.
    """

    def __init__(
        self,
        path: Path,
        host_clock: HostClock,
        *,
        durable: bool = True,
        patience: float = PATIENCE,
        others: float = PATIENCE,
        key: Callable[[str], int] = term_key,
    ) -> None:
        self._host_clock = host_clock
        self._patience = patience
        self._others = others
        self._key = key
        self._name = str(path)
        self._lock = Lock()
        self._known = Known()
        self._on_close = ExitStack()
        refuse_old_sqlite()
        create_file(path)
        self._writer: sqlite3.Connection | None = _prepared(path, others, durable=durable)
        self._readers = ReaderPool(lambda: connect_reader(path, patience=others))

    @classmethod
    def open(cls, path: Path | None, host_clock: HostClock | None = None, *, others: float = PATIENCE) -> Self:
        """The ledger in a file; None: a new one that is gone when it is closed, for tests and tries.

        Args:
            path: of the file; made, with an id for the base, when it is not there.
            host_clock: the system's by default.
            others: as above.

        Raises:
            DamagedBase: the file is no ledger, or one of another version, or not as it was closed.
            LedgerUnavailable: it cannot be opened.
        """
        clock = host_clock or SystemClock()
        if path is not None:
            return cls._sealed(path, clock, others)
        folder = TemporaryDirectory(prefix="muniment-")
        ledger = cls(Path(folder.name) / "ledger.sqlite", clock, durable=False)
        ledger._on_close.callback(folder.cleanup)
        return ledger

    @classmethod
    def _sealed(cls, path: Path, clock: HostClock, others: float) -> Self:
        seal = Seal(path)
        try:
            with seal.broken():
                ledger = cls(path, clock, others=others)
        except OSError as error:
            raise cannot_open(path, error) from error
        ledger._on_close.callback(_seal_again, seal)
        return ledger

    @contextmanager
    def transaction(self) -> Iterator[SqliteTransaction]:
        """Begins the one write transaction; leaving the context without `commit` rolls it back."""
        with self._writing() as session:
            yield SqliteTransaction(session, self._key, self._known)

    @contextmanager
    def reading(self) -> Iterator[SqliteView]:
        """A consistent read of the last committed state."""
        with self._readers.borrow() as session:
            session.execute("BEGIN")
            yield SqliteView(session, self._key)

    def principal_of(self, token_hash: bytes) -> Principal | None:
        """Whose token has this SHA-256; None when unknown, expired or revoked."""
        with self._readers.borrow() as session:
            return session.one(_PRINCIPAL_OF, (token_hash, self._host_clock.now()), principal_of)

    def add_principal(self, principal: Principal, token_hash: bytes, *, expires: Instant | None = None) -> None:
        """Keeps a principal and the SHA-256 of its token. Raises `Conflict` when the id or the token is taken."""
        now = self._host_clock.now()
        with self._writing() as session:
            if not session.execute(_ADD_PRINCIPAL, (*principal_row(principal), token_hash, now, expires)):
                raise Conflict("there is a principal of this id or token", remedy="use a new id and a new token")
            session.commit()

    def principals(self) -> list[PrincipalRecord]:
        """Every principal that there ever was, oldest first."""
        with self._readers.borrow() as session:
            return session.all(_PRINCIPALS, (), principal_record_of)

    def revoke(self, principal: str) -> None:
        """From now on the principal's token is worth nothing. Raises `NotFound` for an id that nobody has."""
        with self._writing() as session:
            if not session.execute(_REVOKE, (self._host_clock.now(), principal)):
                raise NotFound("there is no such principal", remedy="give the id of one that is there", where=principal)
            session.commit()

    def register_key(self, principal: str, multibase: str | None) -> None:
        """From now on an editor signs with this key, if with any; None: with none."""
        with self._writing() as session:
            session.execute("DELETE FROM editor_keys WHERE principal = ?", (principal,))
            if multibase is not None:
                now = self._host_clock.now()
                session.execute("INSERT INTO editor_keys VALUES (?, ?, ?)", (principal, multibase, now))
            session.commit()

    def assign_contradiction(self, certificate: UUID, finding: int, owner: str) -> None:
        """From now on somebody looks after a contradiction that a certificate was found to bring."""
        with self._writing() as session:
            given = (certificate.bytes, finding, owner)
            session.execute("INSERT OR REPLACE INTO contradiction_owners VALUES (?, ?, ?)", given)
            session.commit()

    def base_id(self) -> UUID:
        """The base's own id."""
        with self._readers.borrow() as session:
            base = session.one("SELECT value FROM meta WHERE name = 'base'", (), _base_of)
        if base is None:
            raise DamagedBase("the ledger has no id", remedy="restore the ledger from a backup")
        return base

    def signing_key(self) -> str | None:
        """The key that certificates are signed with, in multibase; None before there was one."""
        with self.reading() as view:
            return view.signing_key()

    def use_key(self, multibase: str, event: bytes | None = None) -> None:
        """From now on certificates are signed with this key, and no more with the one before; an event says so."""
        with self.transaction() as tx:
            tx.use_key(multibase, self._host_clock.now())
            if event is not None:
                tx.append_event(event)
            tx.commit()

    def tombstone_check(self) -> bytes | None:
        """What tells the key of the tombstones from any other; None before there was one."""
        with self._readers.borrow() as session:
            return session.one("SELECT value FROM meta WHERE name = 'tombstones'", (), _data_of)

    def keep_tombstone_check(self, check: bytes) -> None:
        """Keeps that; once."""
        with self._writing() as session:
            session.execute("INSERT INTO meta VALUES ('tombstones', ?)", (check,))
            session.commit()

    def compact(self) -> None:
        """Writes the file anew, so that nothing is left in it of what was deleted; nobody writes meanwhile.

        SQLite overwrites what it deletes, but copies stay in pages that were split before. The write-ahead log goes as
        soon as no reader needs it (`forget_log`). Raises `LedgerUnavailable`.
        """
        if not self._lock.acquire(timeout=self._patience):
            raise locked()
        try:
            if self._writer is None:
                raise closed()
            self._writer.execute("PRAGMA temp_store = FILE")  # all of it is copied, which may be more than memory has
            try:
                self._writer.execute("VACUUM")
            finally:
                self._writer.execute("PRAGMA temp_store = MEMORY")
        except sqlite3.Error as error:
            raise unavailable(error) from error
        finally:
            self._lock.release()

    def forget_log(self) -> bool:
        """Empties the write-ahead log, unless a reader needs it still; answers whether it did."""
        if not self._lock.acquire(timeout=self._patience):
            raise locked()
        try:
            if self._writer is None:
                raise closed()
            self._writer.execute("PRAGMA busy_timeout = 0")
            try:
                busy, _, _ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {round(self._others * 1000)}")
        except sqlite3.Error as error:
            raise unavailable(error) from error
        finally:
            self._lock.release()
        return not busy

    def require_sound(self) -> None:
        """Passes a ledger whose head, log and certificates agree. Raises `DamagedBase`: see `ledger.soundness`."""
        with self._readers.borrow() as session:
            session.execute("BEGIN")
            require_sound(session, SqliteView(session, self._key).head(), self._name)

    def stage(self, session: str, chunk: int, data: bytes) -> None:
        """Keeps a chunk of a load session durably, in the place of one of the same number."""
        with self._writing() as writing:
            writing.execute("INSERT OR REPLACE INTO staged VALUES (?, ?, ?)", (session, chunk, data))
            writing.commit()

    def staged(self, session: str) -> Iterator[bytes]:
        """The chunks of a load session, in order, read one by one."""
        with self._readers.borrow() as reading:
            yield from reading.stream("SELECT data FROM staged WHERE session = ? ORDER BY chunk", (session,), _data_of)

    def staged_chunks(self, session: str) -> int:
        """How many chunks of a load session are kept."""
        with self._readers.borrow() as reading:
            return reading.one("SELECT count(*) FROM staged WHERE session = ?", (session,), _count_of) or 0

    def staged_sessions(self) -> list[str]:
        """The load sessions of which chunks are kept."""
        with self._readers.borrow() as reading:
            return reading.all("SELECT DISTINCT session FROM staged", (), _text_of)

    def unstage(self, session: str) -> None:
        """Drops the chunks of a load session."""
        with self._writing() as writing:
            writing.execute(DROP_CHUNKS, (session,))
            writing.commit()

    def close(self) -> None:
        """Closes every connection, once the open transaction has ended; reads that go on are closed as they end."""
        self._readers.close()
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
        self._on_close.close()

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        """The writing connection in a transaction, which is rolled back unless it was committed."""
        if not self._lock.acquire(timeout=self._patience):
            raise locked()
        try:
            if self._writer is None:
                raise closed()
            session = Session(self._writer)
            session.execute("BEGIN IMMEDIATE")
            try:
                yield session
            finally:
                session.leave()
                roll_back(self._writer)
        finally:
            self._lock.release()


def _seal_again(seal: Seal) -> None:
    """Seals what was closed; a ledger without a seal is opened as well."""
    try:
        seal.put()
    except OSError:
        log.warning("the ledger was closed without a seal", exc_info=True)


def _prepared(path: Path, patience: float, *, durable: bool) -> sqlite3.Connection:
    """A writing connection to a file that is a ledger, if need be from now on."""
    with ExitStack() as on_error:
        try:
            connection = connect_writer(path, patience=patience, durable=durable)
            on_error.callback(connection.close)
            prepare(connection, uuid7(), str(path))
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                raise not_a_ledger("the file is no database", str(path)) from error
            raise unavailable(error) from error
        on_error.pop_all()
    return connection


def _base_of(row: tuple[bytes]) -> UUID:
    return UUID(bytes=row[0])


def _data_of(row: tuple[bytes]) -> bytes:
    return row[0]


def _text_of(row: tuple[str]) -> str:
    return row[0]


def _count_of(row: tuple[int]) -> int:
    return row[0]
