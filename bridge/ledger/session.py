"""One use of a connection to the ledger, and what becomes of SQLite's errors.

Rules
-----
* A `Session` is one transaction or one read. Once it is left, nothing that came from it works any more, also an
  iterator that was not read to its end: it would hold an old state, or read another's.
* Rows may be queued, to be inserted many in one statement: a call of SQLite costs as much as some rows do. They are in
  before anything else is executed or read, unless that says that it goes past them.
* Every `sqlite3.Error` becomes `LedgerUnavailable`, which says whether the ledger is locked, full, corrupt, ….

Example
-------
>>> session = Session(sqlite3.connect(":memory:", isolation_level=None))
>>> session.one("SELECT ? + 1", (1,), lambda row: int(row[0]))
2
>>> session.leave()
>>> session.execute("SELECT 1")
Traceback (most recent call last):
kernel.errors.LedgerUnavailable: the ledger is not open any more (use a view within the context that gave it)
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from functools import cache
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeVar

from kernel.errors import LedgerUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

TOGETHER: Final = 32
"""Rows in one INSERT at most."""

LOOKED: Final = 10_000
"""Instructions of SQLite's machine between looks at the clock: some tenths of a millisecond."""

QUEUED: Final = 1_024
"""Rows of one table that are queued at most."""

R = TypeVar("R")
T = TypeVar("T")
Value = str | int | bytes | None
"""What a column holds."""

_CLOSED: Final = ("closed", "is not open any more", "use a view within the context that gave it")
_OTHER: Final = ("failed", "cannot be used", "see the log; if it stays so, restore a backup")
_CAUSES: Final = {
    sqlite3.SQLITE_BUSY: ("locked", "is locked by another writer", "wait for that to finish, then try again"),
    sqlite3.SQLITE_LOCKED: ("locked", "is locked by another reader or writer", "try again"),
    sqlite3.SQLITE_FULL: ("full", "has no room left on its disk", "make room on the disk, then try again"),
    sqlite3.SQLITE_IOERR: ("disk", "cannot be read or written on its disk", "look at the disk, then try again"),
    sqlite3.SQLITE_CORRUPT: ("corrupt", "is corrupt", "stop the service and restore the ledger from a backup"),
    sqlite3.SQLITE_NOTADB: ("corrupt", "is no database", "stop the service and restore the ledger from a backup"),
    sqlite3.SQLITE_READONLY: ("read-only", "cannot be written", "make the data folder writable for its owner"),
    sqlite3.SQLITE_CANTOPEN: ("cannot-open", "cannot be opened", "check that the data folder exists and is yours"),
    sqlite3.SQLITE_NOMEM: ("memory", "ran out of memory", "give the service more memory, then try again"),
    sqlite3.SQLITE_INTERRUPT: ("interrupted", "was read for longer than there is time", "ask for less"),
    sqlite3.SQLITE_CONSTRAINT: ("constraint", "refused what breaks a rule of its own", "report this as a defect"),
}


def unavailable(error: sqlite3.Error) -> LedgerUnavailable:
    """What an error of SQLite means to whoever runs the service; its `data` has the `cause` as a word."""
    code = getattr(error, "sqlite_errorcode", 0)  # the module itself complains without one: of what is closed
    if not code:
        return closed()
    return _unavailable(*_CAUSES.get(code & 0xFF, _OTHER), detail=f": {error}")


def closed() -> LedgerUnavailable:
    """The error for a session, view or ledger that was left."""
    return _unavailable(*_CLOSED)


def locked() -> LedgerUnavailable:
    """The error for a lock that was not to be had in time."""
    return _unavailable(*_CAUSES[sqlite3.SQLITE_BUSY])


def _unavailable(cause: str, trouble: str, remedy: str, detail: str = "") -> LedgerUnavailable:
    return LedgerUnavailable(f"the ledger {trouble}{detail}", remedy=remedy, cause=cause)


class Session:
    """One use of a connection, by one thread. Every method raises `LedgerUnavailable`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._streams: set[sqlite3.Cursor] = set()
        self._queues: dict[str, list[Sequence[Value]]] = {}

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> int:
        """Runs one statement; answers how many rows it changed."""
        return self._run(sql, parameters).rowcount

    def queue(self, into: str, rows: Iterable[Sequence[Value]]) -> None:
        """Queues rows, all of one length, drawing them one by one; `into` is the table, with columns if need be."""
        self._open()
        queued = self._queues.setdefault(into, [])
        for row in rows:
            queued.append(row)
            if len(queued) == QUEUED:
                self._insert(into, queued)

    def queued(self, into: str) -> Sequence[Sequence[Value]]:
        """The rows that are queued for a table."""
        return self._queues.get(into, ())

    def one(self, sql: str, parameters: Sequence[Value], decode: Callable[[R], T]) -> T | None:
        """The first row, decoded; None when there is none."""
        self._insert_queued()
        try:
            row = self._open().execute(sql, parameters).fetchone()
        except sqlite3.Error as error:
            raise unavailable(error) from error
        return None if row is None else decode(row)

    def all(self, sql: str, parameters: Sequence[Value], decode: Callable[[R], T]) -> list[T]:
        """Every row, decoded."""
        self._insert_queued()
        return self.all_but_queued(sql, parameters, decode)

    def all_but_queued(self, sql: str, parameters: Sequence[Value], decode: Callable[[R], T]) -> list[T]:
        """The same, of tables for which no row is queued, or none that matters."""
        try:
            rows = self._open().execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise unavailable(error) from error
        return list(map(decode, rows))

    def stream(self, sql: str, parameters: Sequence[Value], decode: Callable[[R], T]) -> Iterator[T]:
        """Every row, decoded as it is asked for; the statement begins at once."""
        cursor = self._run(sql, parameters)
        self._streams.add(cursor)
        return self._decoded(cursor, decode)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Ends whatever is read for longer: that is `interrupted`, also amid a statement that finds nothing."""
        connection, until = self._open(), monotonic() + seconds
        connection.set_progress_handler(lambda: monotonic() > until, LOOKED)
        try:
            yield
        finally:
            connection.set_progress_handler(None, 0)

    def changes(self) -> int:
        """How many rows this connection has changed so far, queued ones too."""
        return self._open().total_changes + sum(map(len, self._queues.values()))

    def commit(self) -> None:
        """Makes everything durable and leaves; keeps nothing when that fails."""
        self._insert_queued()
        connection = self._open()
        self.leave()
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise unavailable(error) from error

    def leave(self) -> None:
        """Ends every stream that is still open; nothing works through this session any more."""
        self._connection = None
        while self._streams:
            self._streams.pop().close()

    def _insert_queued(self) -> None:
        if self._queues:
            for into, rows in self._queues.items():
                self._insert(into, rows)
            self._queues.clear()

    def _insert(self, into: str, rows: list[Sequence[Value]]) -> None:
        """Inserts rows that are queued, as many together as may be, and takes them off the queue."""
        try:
            for start in range(0, len(rows), TOGETHER):
                part = rows[start : start + TOGETHER]
                self._open().execute(_insertion(into, len(part), len(part[0])), [*chain.from_iterable(part)])
        except sqlite3.Error as error:
            raise unavailable(error) from error
        rows.clear()

    def _run(self, sql: str, parameters: Sequence[Value]) -> sqlite3.Cursor:
        self._insert_queued()
        try:
            return self._open().execute(sql, parameters)
        except sqlite3.Error as error:
            raise unavailable(error) from error

    def _decoded(self, cursor: sqlite3.Cursor, decode: Callable[[R], T]) -> Iterator[T]:
        try:
            yield from map(decode, cursor)
        except sqlite3.Error as error:
            raise unavailable(error) from error
        finally:
            cursor.close()
            self._streams.discard(cursor)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise closed()
        return self._connection


@cache
def _insertion(into: str, rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return f"INSERT INTO {into} VALUES {', '.join([row] * rows)}"  # noqa: S608 - our own tables


def roll_back(connection: sqlite3.Connection) -> None:
    """Undoes what is open on a connection, if anything; raises `LedgerUnavailable`."""
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise unavailable(error) from error
