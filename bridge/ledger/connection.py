"""Connections to the ledger's file, and what becomes of SQLite's errors.

Rules
-----
* The file is its owner's alone (mode 0600), and so are the files that SQLite puts beside it.
* WAL, so that readers never wait for the writer; `synchronous=FULL`, so that a commit is on the disk when it returns;
  `secure_delete`, so that what is deleted is overwritten.
* A `Session` is one use of a connection: a transaction or a read. Once it is left, nothing that came from it works any
  more, also an iterator that was not read to its end: it would hold an old state, or read another's.
* Every `sqlite3.Error` becomes `LedgerUnavailable`, which says whether the ledger is locked, full, corrupt, ….

Example
-------
>>> session = Session(sqlite3.connect(":memory:", isolation_level=None))
>>> session.one("SELECT ? + 1", (1,), lambda row: int(row[0]))
2
>>> session.leave()
>>> session.execute("SELECT 1")
Traceback (most recent call last):
kernel.errors.LedgerUnavailable: the ledger is not open any more (read and write within the context that gave the view)
"""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from kernel.errors import LedgerUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

R = TypeVar("R")
T = TypeVar("T")
Value = str | int | bytes | None

OWNER_ONLY: Final = 0o600
_SIDE_FILES: Final = ("", "-wal", "-shm")
_IDLE_READERS: Final = 16

_WRITER: Final = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA cache_size = -131072",  # KiB, taken as needed: random index pages of a large load stay in it
    "PRAGMA journal_size_limit = 67108864",
)
_READER: Final = ("PRAGMA query_only = ON", "PRAGMA cache_size = -16384")
_BOTH: Final = ("PRAGMA trusted_schema = OFF", "PRAGMA temp_store = MEMORY", "PRAGMA mmap_size = 2147418112")

_NOT_OPEN: Final = ("closed", "is not open any more", "read and write within the context that gave the view")
_OTHER: Final = ("failed", "cannot be used", "see the log; if it stays so, run the audit or restore a backup")
_CAUSES: Final = {
    sqlite3.SQLITE_BUSY: ("locked", "is locked by another process", "wait for that to finish, then try again"),
    sqlite3.SQLITE_LOCKED: ("locked", "is locked by another reader or writer", "try again"),
    sqlite3.SQLITE_FULL: ("full", "has no room left on its disk", "make room on the disk, then try again"),
    sqlite3.SQLITE_IOERR: ("io", "cannot be read or written on its disk", "look at the disk, then try again"),
    sqlite3.SQLITE_CORRUPT: ("corrupt", "is corrupt", "stop the service and restore the ledger from a backup"),
    sqlite3.SQLITE_NOTADB: ("corrupt", "is no database", "stop the service and restore the ledger from a backup"),
    sqlite3.SQLITE_READONLY: ("read-only", "cannot be written", "make the data folder writable for its owner"),
    sqlite3.SQLITE_CANTOPEN: ("cannot-open", "cannot be opened", "check that the data folder exists and is yours"),
    sqlite3.SQLITE_NOMEM: ("memory", "ran out of memory", "give the service more memory, then try again"),
    sqlite3.SQLITE_CONSTRAINT: ("constraint", "refused what breaks a rule of its own", "report this as a defect"),
    0: _NOT_OPEN,
}


def unavailable(error: sqlite3.Error) -> LedgerUnavailable:
    """What an error of SQLite means to whoever runs the service; its `data` has the `cause` as a word."""
    code = getattr(error, "sqlite_errorcode", 0)  # absent where the module itself complains: closed, or misused
    cause, trouble, remedy = _CAUSES.get(code & 0xFF, _OTHER)
    detail = f": {error}" if code else ""
    return LedgerUnavailable(f"the ledger {trouble}{detail}", remedy=remedy, cause=cause)


def create_file(path: Path) -> None:
    """Makes the file if it is not there, and takes what is there from the eyes of others.

    Raises:
        LedgerUnavailable: its folder is missing, or belongs to somebody else.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, OWNER_ONLY))
        for suffix in _SIDE_FILES:
            side = path.with_name(path.name + suffix)
            if side.exists():
                side.chmod(OWNER_ONLY)
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        raise LedgerUnavailable(
            f"the ledger cannot be opened: {error.strerror}",
            remedy="check that the data folder exists and is yours",
            where=str(path),
            cause="cannot-open",
        ) from error


def connect_writer(path: Path, *, patience: float, durable: bool) -> sqlite3.Connection:
    """A connection that writes; raises `sqlite3.Error`.

    Args:
        path: of a file that is there.
        patience: seconds to wait for another process's lock.
        durable: whether a commit waits for the disk.
    """
    connection = _connect(path, patience)
    connection.execute("PRAGMA journal_mode = WAL")
    _set(connection, (f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}", *_WRITER, *_BOTH))
    return connection


def connect_reader(path: Path, *, patience: float) -> sqlite3.Connection:
    """A connection that only reads; raises `sqlite3.Error`."""
    connection = _connect(path, patience)
    _set(connection, (*_READER, *_BOTH))
    return connection


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )


def _set(connection: sqlite3.Connection, pragmas: Iterable[str]) -> None:
    for pragma in pragmas:
        connection.execute(pragma)


class Session:
    """One use of a connection, by one thread; see the rules above. Every method raises `LedgerUnavailable`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._streams: set[sqlite3.Cursor] = set()

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> sqlite3.Cursor:
        """Runs one statement."""
        try:
            return self._open().execute(sql, parameters)
        except sqlite3.Error as error:
            raise unavailable(error) from error

    def execute_many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Runs one statement for each of the rows, drawing them one by one."""
        try:
            self._open().executemany(sql, rows)
        except sqlite3.Error as error:
            raise unavailable(error) from error

    def one(self, sql: str, parameters: Sequence[Value], decode: Callable[[R], T]) -> T | None:
        """The first row, decoded; None when there is none."""
        try:
            row = self._open().execute(sql, parameters).fetchone()
        except sqlite3.Error as error:
            raise unavailable(error) from error
        return None if row is None else decode(row)

    def all(self, sql: str, parameters: Sequence[Value], decode: Callable[[R], T]) -> list[T]:
        """Every row, decoded."""
        try:
            rows = self._open().execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise unavailable(error) from error
        return list(map(decode, rows))

    def stream(self, sql: str, parameters: Sequence[Value], decode: Callable[[R], T]) -> Iterator[T]:
        """Every row, decoded as it is asked for; the statement begins at once."""
        cursor = self.execute(sql, parameters)
        self._streams.add(cursor)
        return self._decoded(cursor, decode)

    def _decoded(self, cursor: sqlite3.Cursor, decode: Callable[[R], T]) -> Iterator[T]:
        try:
            yield from map(decode, cursor)
        except sqlite3.Error as error:
            raise unavailable(error) from error
        finally:
            cursor.close()
            self._streams.discard(cursor)

    def commit(self) -> None:
        """Makes everything durable and leaves; keeps nothing when that fails."""
        connection = self._open()
        self.leave()
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise unavailable(error) from error

    def leave(self) -> None:
        """Ends every stream that is still open; nothing works through this session any more."""
        self._connection = None
        for cursor in self._streams:
            cursor.close()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            _, trouble, remedy = _NOT_OPEN
            raise LedgerUnavailable(f"the ledger {trouble}", remedy=remedy, cause="closed")
        return self._connection


def end_transaction(connection: sqlite3.Connection) -> None:
    """Rolls back what is open, if anything; raises `LedgerUnavailable`."""
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise unavailable(error) from error


class ReaderPool:
    """Reading connections, each lent to one user at a time and kept for the next.

    Args:
        connect: makes one more.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._idle: deque[sqlite3.Connection] = deque()
        self._lock = Lock()
        self._closed = False

    @contextmanager
    def borrow(self) -> Iterator[Session]:
        """Lends a connection, on which the session may have begun a transaction by the end."""
        connection = self._take()
        session = Session(connection)
        try:
            yield session
        finally:
            session.leave()
            self._give_back(connection)

    def close(self) -> None:
        """Closes what is idle; what is lent is closed when it comes back."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise unavailable(sqlite3.ProgrammingError("closed"))
            if self._idle:
                return self._idle.pop()
        try:
            return self._connect()
        except sqlite3.Error as error:
            raise unavailable(error) from error

    def _give_back(self, connection: sqlite3.Connection) -> None:
        try:
            end_transaction(connection)
        except LedgerUnavailable:
            connection.close()
            raise
        with self._lock:
            if self._closed or len(self._idle) >= _IDLE_READERS:
                connection.close()
            else:
                self._idle.append(connection)
