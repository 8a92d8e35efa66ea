"""pyshacl-turbo, an engine in Rust behind pySHACL's interface, with shapes that it compiled beforehand.

Rules
-----
* It takes rdflib's graphs. Of an Oxigraph store, which it would read directly, it finds strings in no `sh:in`.

Example
-------
::

    python -m bench.validation.peers.turbo DIRECTORY TRIPLES
"""

from __future__ import annotations

import logging
import sys

import pyshacl_turbo
from rdflib import RDF, Graph, Namespace, URIRef

from bench.serving import Contestant, Work, serve
from bench.validation import workload
from bench.validation.workload import Judged

SH = Namespace("http://www.w3.org/ns/shacl#")

logging.getLogger("rdflib.term").setLevel(logging.CRITICAL)  # of each ill-typed date it would log a stack


class Turbo(Contestant):
    """A graph in memory, and those around changes."""

    def __init__(self, triples: int) -> None:
        self.facts = triples
        self._shapes = pyshacl_turbo.compile_shapes(workload.SHAPES, shacl_graph_format="turtle")
        self._graph: Graph | None = None
        self._around: dict[int, tuple[Graph, URIRef]] = {}

    def load(self) -> None:
        """Reads the graph."""
        self._graph = Graph().parse(data="".join(workload.triples(self.facts)), format="nt")

    def validate(self) -> None:
        """Validates it."""
        _, report, _ = self._shapes.validate(self._graph)
        self._graph = None
        workload.require(sum(1 for _ in report.subjects(RDF.type, SH.ValidationResult)), self.facts)

    def ready(self, work: Work, first: int, count: int) -> None:
        """Reads what is around the changes."""
        kind = Judged(work)
        self._around = {}
        for number in range(first, first + count):
            changed = workload.changed(kind, number, self.facts)
            lines = [*workload.around(kind, number, self.facts), *([] if kind is Judged.ENDED else [changed])]
            graph = Graph().parse(data="".join(lines), format="nt")
            self._around[number] = graph, URIRef(changed.partition(">")[0][1:])

    def judge(self, work: Work, number: int) -> None:
        """Judges one."""
        graph, focus = self._around[number]
        conforms, _, text = self._shapes.validate(graph, focus_nodes=[focus])
        if not conforms:
            raise ValueError(f"{work} {number}: {text}")


if __name__ == "__main__":
    serve(lambda: Turbo(int(sys.argv[2])))
