"""What shapes that are written newly break, as far as it is known, target by target; and the targets that wait.

Rules
-----
* A target that is judged anew takes the place of what was known of it. Where that makes a difference, `version` grows.
* Targets that wait lie in a temporary file, each once, in an order of their own.

Example
-------
::

    broken = Broken()
    broken.put(pair, judging.judge(pair))
    stale = broken.concerned(judging.concerned(triples))
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from kernel.terms import parse_iri, parse_term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bridge.shapes.existing import Concerned, Judged
    from bridge.shapes.neighbourhood import Pair
    from bridge.shapes.results import ResultKey
    from bridge.shapes.slices import Violation
    from kernel.terms import Term


class Broken:
    """What was found, by target.

    Attributes:
        version: another one for as long as what was found is another.
    """

    def __init__(self) -> None:
        self.version = 0
        self._found: dict[Pair, Judged] = {}
        self._with_key: dict[ResultKey, set[Pair]] = {}
        self._held_against: dict[Term, set[Pair]] = {}

    def put(self, pair: Pair, judged: Judged | None) -> None:
        """Keeps what was found at a target, in the place of what was; None: nothing."""
        before = self._found.pop(pair, None)
        self.version += before != judged
        if before is not None:
            for key in before.keys:
                self._with_key[key].discard(pair)
            for other in before.held_against:
                self._held_against[other].discard(pair)
        if judged is not None:
            self._found[pair] = judged
            for key in judged.keys:
                self._with_key.setdefault(key, set()).add(pair)
            for other in judged.held_against:
                self._held_against.setdefault(other, set()).add(pair)

    def differing(self, judged: Mapping[Pair, Judged | None]) -> dict[Pair, Judged | None]:
        """Those targets at which something else was found now than is known."""
        return {pair: anew for pair, anew in judged.items() if self._found.get(pair) != anew}

    def concerned(self, change: Concerned) -> set[Pair]:
        """The targets that have to be judged anew after a change."""
        found = set(change.targets)
        for other in change.in_force:
            found |= self._held_against.get(other, set())
        for key in change.keys:
            found |= self._with_key.get(key, set())
        return found

    def violations(self, instead: Mapping[Pair, Judged | None]) -> Iterator[Violation]:
        """All that is newly broken, with what was found at some targets instead of what is known of them."""
        for pair, judged in self._found.items():
            if pair not in instead:
                yield from judged.violations
        for anew in instead.values():
            yield from () if anew is None else anew.violations


class Waiting:
    """Targets that wait to be judged, on disk where they are many."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute("CREATE TABLE targets (shape TEXT, node TEXT, PRIMARY KEY (shape, node)) WITHOUT ROWID")

    @classmethod
    @contextmanager
    def of(cls, targets: Iterable[Pair]) -> Iterator[Self]:
        """Keeps targets until the context is left."""
        connection = sqlite3.connect("", isolation_level=None)  # SQLite's name for a temporary file of its own
        try:
            waiting = cls(connection)
            connection.execute("BEGIN")
            connection.executemany(
                "INSERT OR IGNORE INTO targets VALUES (?, ?)", ((shape.n3, node.n3) for shape, node in targets)
            )
            connection.execute("COMMIT")
            yield waiting
        finally:
            connection.close()

    def __len__(self) -> int:
        """How many there are."""
        (count,) = self._connection.execute("SELECT count(*) FROM targets").fetchone()
        return int(count)

    def batches(self, size: int) -> Iterator[list[Pair]]:
        """All of them, so many at a time."""
        rows = self._connection.execute("SELECT shape, node FROM targets ORDER BY shape, node")
        while batch := rows.fetchmany(size):
            yield [(parse_iri(shape), parse_term(node)) for shape, node in batch]
