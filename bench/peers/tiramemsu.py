"""tiramemsu: a bitemporal triple store on SQLite, in a file.

Rules
-----
* A transaction for each step, so that its numbers are the steps. A correction retracts what matches and asserts.
* A look-up is `as_of(tx=step).valid_at(date).sparql(text)`, its rows taken.

Example
-------
::

    python -m bench.peers.tiramemsu DIRECTORY FACTS
"""

from __future__ import annotations

import sys
from pathlib import Path

from tiramemsu import Database, Iri

from bench import times
from bench.serving import Contestant, serve


class Tiramemsu(Contestant):
    """A database in a file."""

    def __init__(self, directory: Path, facts: int) -> None:
        self.facts = facts
        self._predicate = Iri(times.PREDICATE)
        self._database = Database(str(directory / "data.db"))
        for load in range(times.LOADS):
            for group in range(times.CORRECTIONS if load == times.BEFORE else 0):
                self._correct(group)
            with self._database.transact() as tx:
                for fact in times.loaded(facts, load):
                    tx.assert_(  # noqa: PT009 - no assertion of a test
                        Iri(fact.subject),
                        self._predicate,
                        fact.value,
                        valid_from=fact.valid_from,
                        valid_to=fact.valid_to,
                    )

    def look_up(self, number: int) -> int:
        """How many of its rows are the value asked for."""
        wanted = times.look_up(number, self.facts)
        rows = self._database.as_of(tx=wanted.step).valid_at(wanted.valid_at).sparql(wanted.text)
        return [row["o"] for row in rows].count(wanted.value)

    def _correct(self, group: int) -> None:
        with self._database.transact() as tx:
            for gone, come in times.corrected(self.facts, group):
                subject = Iri(gone.subject)
                tx.retract_matching(s=subject, p=self._predicate, o=gone.value)
                tx.assert_(subject, self._predicate, come.value, valid_from=come.valid_from, valid_to=come.valid_to)  # noqa: PT009


if __name__ == "__main__":
    serve(lambda: Tiramemsu(Path(sys.argv[1]), int(sys.argv[2])))
