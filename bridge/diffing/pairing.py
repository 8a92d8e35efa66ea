"""Facts of two sides, brought together: what was gained, lost and corrected, however many there are.

Rules
-----
* A fact of the first side and one of the second are one entry if they state the same, else if they are of one family:
  something took the place of something. What is left over was lost, or gained.
* At one moment a statement has one fact at most, so a statement has one counterpart; members of a family that holds
  several at once are paired by their start.
* Entries come in the order in which they were recorded, the newer of two facts counting.
* Facts are kept as ids and hashes, in a database that SQLite makes for this and takes away again: in memory while they
  are few, else in a file without a name.

Example
-------
>>> with Pairing() as pairing:
...     pairing.gather([])
...     pairing.counts()
Counts(gained=0, lost=0, corrected=0)
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Self
from uuid import UUID

from kernel.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from kernel.facts import Fact

_TABLES: Final = """
CREATE TABLE found (
    place INTEGER PRIMARY KEY, second INTEGER NOT NULL, fact BLOB NOT NULL, said BLOB NOT NULL, family BLOB NOT NULL,
    start INTEGER NOT NULL, recorded INTEGER NOT NULL, partner INTEGER
);
CREATE TABLE entries (place INTEGER PRIMARY KEY, first BLOB, second BLOB);
"""
_PAIR: Final = """
CREATE INDEX by_statement ON found (said, second);
UPDATE found SET partner = (
    SELECT place FROM found AS other WHERE other.said = found.said AND other.second <> found.second);
CREATE TABLE kin AS
    SELECT place, second, family, row_number() OVER (PARTITION BY family, second ORDER BY start, place) AS number
    FROM found WHERE partner IS NULL;
CREATE INDEX kin_by_place ON kin (place);
CREATE INDEX by_family ON kin (family, number, second);
UPDATE found SET partner = (
    SELECT other.place FROM kin JOIN kin AS other USING (family, number)
    WHERE kin.place = found.place AND other.second <> kin.second)
    WHERE partner IS NULL;
"""
_ENTER: Final = """
INSERT INTO entries (first, second)
    SELECT first.fact, second.fact
    FROM found AS any_of
    LEFT JOIN found AS first ON first.place = CASE any_of.second WHEN 0 THEN any_of.place ELSE any_of.partner END
    LEFT JOIN found AS second ON second.place = CASE any_of.second WHEN 1 THEN any_of.place ELSE any_of.partner END
    WHERE any_of.second = 0 OR any_of.partner IS NULL
    ORDER BY max(ifnull(first.recorded, any_of.recorded), ifnull(second.recorded, any_of.recorded)), any_of.place;
"""
_DROP_SAME: Final = "DELETE FROM found WHERE said IN (SELECT said FROM found GROUP BY said HAVING count(*) > 1);"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many entries of each kind there are."""

    gained: int
    lost: int
    corrected: int


class Pairing:
    """The facts of two sides while they are compared; for one thread at a time."""

    def __init__(self) -> None:
        # The name of a database that is nobody else's and is gone once it is closed (SQLite, "In-Memory Databases").
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")

    def gather(self, facts: Iterable[tuple[bool, Fact]], *, restated: bool = True) -> None:
        """Takes all facts that are on one side alone, each with whether that is the second, and pairs them.

        Args:
            facts: the facts.
            restated: whether a statement that both sides have, by one fact each, is an entry.

        Raises:
            StoreUnavailable: there is no room for them.
        """
        try:
            insert = "INSERT INTO found (second, fact, said, family, start, recorded) VALUES (?, ?, ?, ?, ?, ?)"
            self._database.execute("BEGIN")
            self._database.executemany(insert, map(_row, facts))
            self._database.execute("COMMIT")
            self._database.executescript(("" if restated else _DROP_SAME) + _PAIR + _ENTER)
        except sqlite3.Error as error:
            raise StoreUnavailable(
                f"there is no room to compare in: {error}", remedy="make room where temporary files are kept"
            ) from error

    def counts(self) -> Counts:
        """How many entries there are."""
        sql = "SELECT count(*), count(first), count(second) FROM entries"
        entries, first, second = self._database.execute(sql).fetchone()
        return Counts(entries - first, entries - second, first + second - entries)

    def entries(self, first: int = 0, limit: int | None = None) -> Iterator[tuple[UUID | None, UUID | None]]:
        """The entries from a number on, each by its fact of the first side and of the second."""
        sql = "SELECT first, second FROM entries WHERE place > ? ORDER BY place LIMIT ?"
        with closing(self._database.execute(sql, (first, -1 if limit is None else limit))) as rows:
            for one, other in rows:
                yield (None if one is None else UUID(bytes=one)), (None if other is None else UUID(bytes=other))

    def close(self) -> None:
        """Takes everything away."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _row(found: tuple[bool, Fact]) -> tuple[bool, bytes, bytes, bytes, int, int]:
    second, fact = found
    statement = fact.statement
    parts = (statement.subject, statement.predicate, statement.object, statement.graph)
    said = blake2b("\n".join(part.n3 for part in parts).encode(), digest_size=16).digest()
    return second, fact.id.bytes, said, fact.content.family.bytes, fact.interval.start, fact.recorded_at
