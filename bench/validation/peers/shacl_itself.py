"""The package `shacl`, an engine in Rust: a whole graph, and for one change what is around it.

Rules
-----
* It validates text, not a graph: reading is part of what is timed, of the whole graph and of what is around a change.
* It cannot be told which node to judge: what it finds at others, of which not all is there, is passed over.

Example
-------
::

    python -m bench.validation.peers.shacl_itself DIRECTORY TRIPLES
"""

from __future__ import annotations

import sys
from pathlib import Path

import shacl

from bench.serving import Contestant, Work, serve
from bench.validation import workload
from bench.validation.workload import Judged


class Shacl(Contestant):
    """A file with the graph, and texts around changes."""

    def __init__(self, directory: Path, triples: int) -> None:
        self.facts = triples
        self._shapes = shacl.Shapes.from_turtle(workload.SHAPES)
        self._file = directory / "graph.nt"
        self._around: dict[int, tuple[str, str]] = {}

    def load(self) -> None:
        """Writes the graph to a file."""
        with self._file.open("w", encoding="utf-8") as file:
            file.writelines(workload.triples(self.facts))

    def validate(self) -> None:
        """Reads and validates it."""
        workload.require(len(self._shapes.validate_file(str(self._file)).results), self.facts)

    def ready(self, work: Work, first: int, count: int) -> None:
        """Writes down what is around the changes."""
        kind = Judged(work)
        self._around = {}
        for number in range(first, first + count):
            changed = workload.changed(kind, number, self.facts)
            lines = [*workload.around(kind, number, self.facts), *([] if kind is Judged.ENDED else [changed])]
            self._around[number] = changed.partition(" ")[0], "".join(lines)

    def judge(self, work: Work, number: int) -> None:
        """Reads and judges one."""
        focus, text = self._around[number]
        found = [each for each in self._shapes.validate_turtle(text).results if each.focus_node == focus]
        if found:
            raise ValueError(f"{work} {number}: {found}")


if __name__ == "__main__":
    serve(lambda: Shacl(Path(sys.argv[1]), int(sys.argv[2])))
