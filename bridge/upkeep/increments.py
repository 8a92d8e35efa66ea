"""What a ledger has that another of the same base has not: rows that were added or changed, and keys of rows that went.

Rules
-----
* Rows are compared by table and primary key, whatever they mean: what is in no log, tokens and idempotency keys, is
  taken along like the rest, and so is what was purged in between: its rows are among those that went.
* An increment is a SQLite file of its own: a table for each of the ledger's, one for the keys that went of it, and the
  schema, by which tables and indexes are made that the older ledger had not.
* Applied to the older ledger, it gives the rows of the newer one, and none besides. The file is written anew, so that
  nothing is left in it of what went.

Example
-------
::

    write_increment(Path("tuesday.sqlite"), since=Path("monday.sqlite"), into=Path("changes.sqlite"))
    apply_increment(Path("copy-of-monday.sqlite"), Path("changes.sqlite"))     # has what tuesday.sqlite has
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bridge.ledger.session import unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SCHEMA: Final = "SELECT type, name, sql FROM {of}.sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC"
_TABLES: Final = "SELECT name FROM {of}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the ledger, whose names are our own."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def same_key(self) -> str:
        """That a row of each has the same key."""
        return " AND ".join(f'older."{each}" = newer."{each}"' for each in self.key)

    @property
    def same(self) -> str:
        """That both are the same."""
        return " AND ".join([self.same_key, *(f'older."{each}" IS newer."{each}"' for each in self.columns)])

    @property
    def keyed(self) -> str:
        return _listed(self.key)


def write_increment(ledger: Path, since: Path, into: Path) -> None:
    """Writes what a ledger has that an older one has not.

    Args:
        ledger: the newer one, which nobody writes to.
        since: the older one.
        into: the file to make.

    Raises:
        LedgerUnavailable: one of the files cannot be read or written.
    """
    try:
        with closing(sqlite3.connect(into, isolation_level=None)) as connection:
            _attach(connection, newer=ledger, older=since)
            connection.execute("BEGIN")
            version = connection.execute("PRAGMA newer.user_version").fetchone()[0]
            connection.execute("CREATE TABLE schema (type TEXT, name TEXT, sql TEXT)")
            connection.execute(f"INSERT INTO schema {_SCHEMA.format(of='newer')}")
            before = {name for (name,) in connection.execute(_TABLES.format(of="older"))}
            for table in _tables(connection, "newer"):
                _compare(connection, table, new=table.name not in before)
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise unavailable(error) from error


def apply_increment(ledger: Path, increment: Path) -> None:
    """Brings an older ledger to what the newer one has.

    Args:
        ledger: the older one, which is changed.
        increment: what `write_increment` made.

    Raises:
        LedgerUnavailable: one of the files cannot be read or written.
    """
    try:
        with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
            _attach(connection, changes=increment)
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("BEGIN")
            _make_missing(connection)
            for table in _tables(connection, "main"):
                _apply(connection, table)
            version = connection.execute("PRAGMA changes.user_version").fetchone()[0]
            connection.execute(f"PRAGMA main.user_version = {version}")
            connection.execute("COMMIT")
            connection.execute("DETACH changes")
            connection.execute("VACUUM")
    except sqlite3.Error as error:
        raise unavailable(error) from error


def _compare(connection: sqlite3.Connection, table: _Table, *, new: bool) -> None:
    """Keeps the rows that are not in the older table as they are, and the keys of those that are only there."""
    name = table.name
    changed = f'SELECT * FROM newer."{name}" AS newer'  # noqa: S608 - names of our own tables
    gone = f'SELECT {table.keyed} FROM newer."{name}" WHERE 0'  # noqa: S608 - names of our own tables
    if not new:
        changed += f' WHERE NOT EXISTS (SELECT 1 FROM older."{name}" AS older WHERE {table.same})'  # noqa: S608 - names of our own tables
        gone = f'SELECT {table.keyed} FROM older."{name}" AS older'  # noqa: S608 - names of our own tables
        gone += f' WHERE NOT EXISTS (SELECT 1 FROM newer."{name}" AS newer WHERE {table.same_key})'  # noqa: S608 - names of our own tables
    connection.execute(f'CREATE TABLE "{name}" AS {changed}')
    connection.execute(f'CREATE TABLE "gone {name}" AS {gone}')


def _apply(connection: sqlite3.Connection, table: _Table) -> None:
    """Takes out what went and what is to be written anew, then writes: no constraint is in the way."""
    for source in (f"gone {table.name}", table.name):
        connection.execute(
            f'DELETE FROM main."{table.name}" WHERE ({table.keyed}) IN (SELECT {table.keyed} FROM changes."{source}")'  # noqa: S608 - names of our own tables
        )
    columns = _listed(table.columns)
    connection.execute(f'INSERT INTO main."{table.name}" ({columns}) SELECT {columns} FROM changes."{table.name}"')  # noqa: S608 - names of our own tables


def _make_missing(connection: sqlite3.Connection) -> None:
    there = {name for (name,) in connection.execute("SELECT name FROM main.sqlite_schema")}
    for _, name, sql in connection.execute("SELECT type, name, sql FROM changes.schema").fetchall():
        if name not in there:
            connection.execute(sql)


def _tables(connection: sqlite3.Connection, of: str) -> Iterator[_Table]:
    for (name,) in connection.execute(_TABLES.format(of=of)).fetchall():
        told = connection.execute(f'PRAGMA {of}.table_info("{name}")').fetchall()
        columns, keyed = tuple(column[1] for column in told), sorted(told, key=lambda column: int(column[5]))
        key = tuple(column[1] for column in keyed if column[5])
        if not key:
            raise sqlite3.DatabaseError(f"the table {name} has no key")
        yield _Table(name, columns, key)


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(f'"{each}"' for each in columns)


def _attach(connection: sqlite3.Connection, **files: Path) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    for name, path in files.items():
        connection.execute(f"ATTACH ? AS {name}", (str(path),))
