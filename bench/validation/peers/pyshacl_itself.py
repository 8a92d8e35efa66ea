"""pySHACL: a whole graph; and, for one change, the node at fault (`focus_nodes`) on what is around it.

Rules
-----
* What is around the change was taken out of the graph before anything is timed: only judging it is.

Example
-------
::

    python -m bench.validation.peers.pyshacl_itself DIRECTORY TRIPLES
"""

from __future__ import annotations

import logging
import sys

import pyshacl
from rdflib import RDF, Graph, Namespace, URIRef

from bench.serving import Contestant, Work, serve
from bench.validation import workload
from bench.validation.workload import Judged

SH = Namespace("http://www.w3.org/ns/shacl#")

logging.getLogger("rdflib.term").setLevel(logging.CRITICAL)  # of each ill-typed date it would log a stack


class PySHACL(Contestant):
    """A graph in memory, and those around changes."""

    def __init__(self, triples: int) -> None:
        self.facts = triples
        self._shapes = Graph().parse(data=workload.SHAPES, format="turtle")
        self._graph: Graph | None = None
        self._around: dict[int, tuple[Graph, URIRef]] = {}

    def load(self) -> None:
        """Reads the graph."""
        self._graph = Graph().parse(data="".join(workload.triples(self.facts)), format="nt")

    def validate(self) -> None:
        """Validates it."""
        if self._graph is None:
            raise RuntimeError("nothing is loaded")
        _, report, _ = pyshacl.validate(self._graph, shacl_graph=self._shapes, inplace=True)
        self._graph = None
        workload.require(sum(1 for _ in report.subjects(RDF.type, SH.ValidationResult)), self.facts)

    def ready(self, work: Work, first: int, count: int) -> None:
        """Reads what is around the changes."""
        kind = Judged(work)
        self._around = {number: _around(kind, number, self.facts) for number in range(first, first + count)}

    def judge(self, work: Work, number: int) -> None:
        """Judges one."""
        graph, focus = self._around[number]
        conforms, _, text = pyshacl.validate(
            graph, shacl_graph=self._shapes, inplace=True, focus_nodes=[focus], use_js=False
        )
        if not conforms:
            raise ValueError(f"{work} {number}: {text}")


def _around(kind: Judged, number: int, triples: int) -> tuple[Graph, URIRef]:
    changed = workload.changed(kind, number, triples)
    lines = [*workload.around(kind, number, triples), *([] if kind is Judged.ENDED else [changed])]
    return Graph().parse(data="".join(lines), format="nt"), URIRef(changed.partition(">")[0][1:])


if __name__ == "__main__":
    serve(lambda: PySHACL(int(sys.argv[2])))
