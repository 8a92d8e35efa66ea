"""Fluree, embedded, its commits flushed to the disk (its default) and SHACL on (its default once there are shapes).

Rules
-----
* One fact a commit: the triple and, as annotations of it, its valid interval, so that it holds what ours holds. With
  `bare` it leaves the interval out, which is less than ours writes.
* A path that was deleted is not used again: the process still has state for it.
* Fluree indexes in the background; the next contestant waits for that, and it is in nobody's figures.

Example
-------
::

    FLUREE_STORAGE_FSYNC=1 python -m bench.peers.fluree DIRECTORY FACTS [bare]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import fluree

from bench import workload
from bench.measuring import once
from bench.serving import Contestant, serve
from bench.workload import BenchFact, Kind

if TYPE_CHECKING:
    from bench.measuring import Sample

INDEXING_PATIENCE = 30.0
"""Seconds for which the background is waited for."""


class Fluree(Contestant):
    """A ledger of one fluree database."""

    def __init__(self, directory: Path, facts: int, *, bare: bool) -> None:
        self.facts = facts
        self._directory = directory
        self._bare = bare
        self._connection = fluree.connect(directory / "data")
        source = self._source(facts)
        self.opened = once(lambda: self._connection.create("bench", source=source), facts, self.cpu)
        self._ledger = self._connection.ledger("bench")
        self._ledger.insert(workload.SHAPE_TEXT)
        self._must_refuse()

    def bulk(self, count: int) -> Sample:
        """`create` from a file, which validates nothing."""
        source, path = self._source(count), Path(tempfile.mkdtemp(dir=self._directory, prefix="bulk-"))
        with fluree.connect(path) as connection:
            sample = once(lambda: connection.create("bulk", source=source), count, self.cpu)
        shutil.rmtree(path)
        return sample

    def write(self, kind: Kind, number: int) -> None:
        """One commit."""
        self._ledger.insert(self._text(workload.fact(kind, number)))

    def look_up(self, number: int) -> int:
        """A SELECT, its rows taken."""
        return len(list(self._ledger.select(workload.query(workload.fact(Kind.SEED, number)))))

    def settle(self) -> None:
        """Waits for the index."""
        until = time.monotonic() + INDEXING_PATIENCE
        while self._ledger.index_status().phase != "idle" and time.monotonic() < until:
            time.sleep(0.05)

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _text(self, fact: BenchFact) -> str:
        return fact.triple if self._bare else fact.annotated

    def _source(self, count: int) -> Path:
        path = self._directory / f"{count}.ttl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(self._text(fact) + "\n" for fact in workload.facts(Kind.SEED, 0, count))
        return path

    def _must_refuse(self) -> None:
        try:
            self._ledger.insert(self._text(workload.BROKEN))
        except fluree.ShaclViolationError:
            return
        raise RuntimeError("SHACL is off: a fact that breaks the shape was accepted")


if __name__ == "__main__":
    serve(lambda: Fluree(Path(sys.argv[1]), int(sys.argv[2]), bare=sys.argv[3:] == ["bare"]))
