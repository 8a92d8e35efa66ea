"""oxilite: a SPARQL store on SQLite that is read at any past version; valid time is for whoever models it.

Rules
-----
* A version for each step. A fact is a node that has subject, value and the ends of its valid interval, for there is no
  other place for a valid time; a look-up joins and filters them.
* Dates are strings, which compare as they should.

Example
-------
::

    python -m bench.peers.oxilite DIRECTORY FACTS
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from oxilite import Literal, NamedNode, Quad, Store

from bench import times
from bench.serving import Contestant, serve

if TYPE_CHECKING:
    from bench.times import TimedFact


class Oxilite(Contestant):
    """A store in a file, versioned from its first write on."""

    def __init__(self, directory: Path, facts: int) -> None:
        self.facts = facts
        self._store = Store(str(directory / "data.sqlite"), versioning="log", as_of_index=True)
        self._versions: list[int] = []
        for load in range(times.LOADS):
            for group in range(times.CORRECTIONS if load == times.BEFORE else 0):
                self._correct(group)
            self._store.extend([quad for fact in times.loaded(facts, load) for quad in _quads(fact)])
            self._noted()

    def look_up(self, number: int) -> int:
        """How many of its rows are the value asked for."""
        wanted = times.look_up(number, self.facts)
        text = (
            f"SELECT ?o {{ ?f <{times.EX}of> <{times.iri(wanted.subject)}> ; <{times.EX}is> ?o ; <{times.EX}from> ?a ;"
            f' <{times.EX}to> ?b FILTER(?a <= "{wanted.valid_at}" && ?b > "{wanted.valid_at}") }}'
        )
        rows = self._store.query(text, as_of=f"#{self._versions[wanted.step - 1]}")
        return [row["o"].value for row in rows].count(wanted.value)

    def _correct(self, group: int) -> None:
        changed = [*times.corrected(self.facts, group)]
        gone = " ".join(f"<{_node(fact)}>" for fact, _ in changed)
        come = " ".join(
            f"{quad.subject} {quad.predicate} {quad.object} ." for _, fact in changed for quad in _quads(fact)
        )
        self._store.update(f"DELETE {{ ?f ?p ?o }} INSERT {{ {come} }} WHERE {{ VALUES ?f {{ {gone} }} ?f ?p ?o }}")
        self._noted()

    def _noted(self) -> None:
        self._versions.append(self._store.versioning().head)


def _node(fact: TimedFact) -> str:
    return f"{fact.subject}/{fact.value.replace(' ', '-')}"


def _quads(fact: TimedFact) -> list[Quad]:
    said = {"is": fact.value, "from": fact.valid_from, "to": fact.valid_to}
    node = NamedNode(_node(fact))
    quads = [Quad(node, NamedNode(times.EX + name), Literal(value)) for name, value in said.items()]
    return [Quad(node, NamedNode(f"{times.EX}of"), NamedNode(fact.subject)), *quads]


if __name__ == "__main__":
    serve(lambda: Oxilite(Path(sys.argv[1]), int(sys.argv[2])))
