"""What ours made of the facts, as files, for the contestants that start from it.

Rules
-----
* `complete.nq` and `current.nq` are the two stores whole, after the `SEED` facts were loaded; `base` is a copy of the
  base itself, closed.
* For each run of single writes there is a file of lines, a line a fact, in the order of the facts: N-Quads of what the
  fact put into the complete store and into the current one.
* Standard library only: the store that writes the same quads, with nothing checked, reads them in its own environment.

Example
-------
::

    exchange = Exchange(directory)
    exchange.give(Kind.PLAIN, 0, [Written("…", "…"), …])
    exchange.take(Kind.PLAIN, 0)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bench.workload import Kind


class Written(NamedTuple):
    """N-Quads of one fact."""

    complete: str
    current: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A directory of such files."""

    directory: Path

    @property
    def base(self) -> Path:
        """The base, after the `SEED` facts were loaded."""
        return self.directory / "base"

    @property
    def complete(self) -> Path:
        """The complete store, whole."""
        return self.directory / "complete.nq"

    @property
    def current(self) -> Path:
        """The current store, whole."""
        return self.directory / "current.nq"

    def give(self, kind: Kind, first: int, written: Iterable[Written]) -> None:
        """Writes what a run of facts came to."""
        with self._path(kind, first).open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in written)

    def take(self, kind: Kind, first: int) -> list[Written]:
        """Reads it."""
        with self._path(kind, first).open(encoding="utf-8") as file:
            return [Written(*json.loads(line)) for line in file]

    def _path(self, kind: Kind, first: int) -> Path:
        return self.directory / f"{kind}-{first}.jsonl"
