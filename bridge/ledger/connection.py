"""Connections to the ledger's file.

Rules
-----
* The file is its owner's alone (mode 0600), and so are the files that SQLite puts beside it.
* WAL, so that readers never wait for the writer; `synchronous=FULL`, so that a commit is on the disk when it returns;
  `secure_delete`, so that what is deleted is overwritten.
* A reading connection is lent to one user at a time and kept for the next, whatever thread that is.

Example
-------
::

    create_file(path)
    writer = connect_writer(path, patience=30.0, durable=True)
    readers = ReaderPool(lambda: connect_reader(path, patience=30.0))
    with readers.borrow() as session:
        session.one("SELECT count(*) FROM facts", (), count)
"""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final

from bridge.ledger.session import Session, closed, roll_back, unavailable
from kernel.errors import LedgerUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

OLDEST_SQLITE: Final = (3, 37)
OWNER_ONLY: Final = 0o600
SIDE_FILES: Final = ("-wal", "-shm")

_IDLE_READERS: Final = 16

_WRITER: Final = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA cache_size = -131072",  # KiB, taken as needed: the random index pages of a large load stay in it
    "PRAGMA journal_size_limit = 67108864",
)
_READER: Final = ("PRAGMA query_only = ON", "PRAGMA cache_size = -16384")
_BOTH: Final = ("PRAGMA trusted_schema = OFF", "PRAGMA temp_store = MEMORY", "PRAGMA mmap_size = 2147418112")


def refuse_old_sqlite() -> None:
    """Raises `LedgerUnavailable` when Python was built with a SQLite that knows no STRICT tables."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise LedgerUnavailable(
            f"the ledger cannot be used with SQLite {sqlite3.sqlite_version}",
            remedy="run a Python that has SQLite 3.37 or later",
            cause="too-old",
        )


def create_file(path: Path) -> None:
    """Makes the file if it is not there, and takes what is there from the eyes of others.

    Raises:
        LedgerUnavailable: its folder is missing, or belongs to somebody else.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, OWNER_ONLY))
        for file in (path, *(path.with_name(path.name + suffix) for suffix in SIDE_FILES)):
            if file.exists():
                file.chmod(OWNER_ONLY)
        _sync_folder(path.parent)
    except OSError as error:
        raise cannot_open(path, error) from error


def cannot_open(path: Path, error: OSError) -> LedgerUnavailable:
    """The error for a file that cannot be made or opened."""
    return LedgerUnavailable(
        f"the ledger cannot be opened: {error.strerror}",
        remedy="check that the data folder exists and is yours",
        where=str(path),
        cause="cannot-open",
    )


def connect_writer(path: Path, *, patience: float, durable: bool) -> sqlite3.Connection:
    """A connection that writes; raises `sqlite3.Error`.

    Args:
        path: of a file that is there.
        patience: seconds to wait for another process's lock.
        durable: whether a commit waits for the disk.
    """
    return _connect(path, patience, (f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}", *_WRITER, *_BOTH))


def connect_reader(path: Path, *, patience: float) -> sqlite3.Connection:
    """A connection that only reads; raises `sqlite3.Error`."""
    return _connect(path, patience, (*_READER, *_BOTH))


class ReaderPool:
    """Reading connections.

    Args:
        connect: makes one more; may raise `sqlite3.Error`.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._idle: deque[sqlite3.Connection] = deque()
        self._lock = Lock()
        self._closed = False

    @contextmanager
    def borrow(self) -> Iterator[Session]:
        """Lends a connection; a transaction that was begun on it ends with the loan. Raises `LedgerUnavailable`."""
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
                raise closed()
            if self._idle:
                return self._idle.pop()
        try:
            return self._connect()
        except sqlite3.Error as error:
            raise unavailable(error) from error

    def _give_back(self, connection: sqlite3.Connection) -> None:
        try:
            roll_back(connection)
        except LedgerUnavailable:
            connection.close()
            raise
        with self._lock:
            if self._closed or len(self._idle) >= _IDLE_READERS:
                connection.close()
            else:
                self._idle.append(connection)


def _connect(path: Path, patience: float, pragmas: Iterable[str]) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        for pragma in pragmas:
            connection.execute(pragma)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
