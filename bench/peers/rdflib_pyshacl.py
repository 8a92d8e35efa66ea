"""rdflib and pySHACL by hand: validate the new fact with what is known of its subject, log it durably, add it.

Rules
-----
* A graph in memory and a log of lines on disk, one fsync a fact. The valid interval is in the log alone.
* What is validated is a small graph: the facts of the subject, and the new one. That finds what is wrong with the
  subject, and misses what the change breaks elsewhere.
* rdflib takes one writer at a time: there is a lock.

Example
-------
::

    python -m bench.peers.rdflib_pyshacl DIRECTORY FACTS
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import pyshacl
from rdflib import Graph, Literal, URIRef

from bench import workload
from bench.serving import Contestant, serve
from bench.workload import Kind

if TYPE_CHECKING:
    from bench.workload import BenchFact


class RdflibPyshacl(Contestant):
    """A graph, its shapes and its log."""

    def __init__(self, directory: Path, facts: int) -> None:
        self.facts = facts
        self._graph = Graph()
        self._shapes = Graph().parse(data=workload.SHAPE_TEXT, format="nt")
        self._log = (directory / "log").open("a", encoding="utf-8")
        self._lock = Lock()
        for fact in workload.facts(Kind.SEED, 0, facts):
            self._graph.add(_triple(fact))
        self._must_refuse()

    def write(self, kind: Kind, number: int) -> None:
        """Validates, logs with an fsync, adds."""
        self._write(workload.fact(kind, number))

    def look_up(self, number: int) -> int:
        """A SELECT, its rows taken."""
        return len(list(self._graph.query(workload.query(workload.fact(Kind.SEED, number)))))

    def close(self) -> None:
        """Closes the log."""
        self._log.close()

    def _write(self, fact: BenchFact) -> None:
        triple = _triple(fact)
        with self._lock:
            around = Graph()
            for known in self._graph.triples((triple[0], None, None)):
                around.add(known)
            around.add(triple)
            conforms, _, text = pyshacl.validate(around, shacl_graph=self._shapes, inplace=True)
            if not conforms:
                raise ValueError(text)
            self._log.write(f"{fact.triple} # {workload.VALID_FROM} {workload.VALID_TO}\n")
            self._log.flush()
            os.fsync(self._log.fileno())
            self._graph.add(triple)

    def _must_refuse(self) -> None:
        try:
            self._write(workload.BROKEN)
        except ValueError:
            return
        raise RuntimeError("a fact that breaks the shape was accepted")


def _triple(fact: BenchFact) -> tuple[URIRef, URIRef, Literal]:
    datatype = None if fact.datatype is None else URIRef(fact.datatype)
    return URIRef(fact.subject), URIRef(fact.predicate), Literal(fact.lexical, datatype=datatype)


if __name__ == "__main__":
    serve(lambda: RdflibPyshacl(Path(sys.argv[1]), int(sys.argv[2])))
