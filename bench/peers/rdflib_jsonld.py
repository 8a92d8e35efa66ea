"""rdflib's JSON-LD serialiser, on a graph in memory.

Rules
-----
* The graph is made before anything is timed; the document goes to a file.

Example
-------
::

    python -m bench.peers.rdflib_jsonld DIRECTORY FACTS
"""

from __future__ import annotations

import sys
from pathlib import Path

from rdflib import Graph

from bench import workload
from bench.serving import Contestant, serve
from bench.workload import Kind


class RdflibJsonLd(Contestant):
    """A graph."""

    def __init__(self, directory: Path, facts: int) -> None:
        self.facts = facts
        self._file = directory / "export.jsonld"
        text = "\n".join(fact.triple for fact in workload.facts(Kind.SEED, 0, facts))
        self._graph = Graph().parse(data=text, format="nt")

    def jsonld(self) -> None:
        """Serialises the graph."""
        self._graph.serialize(self._file, format="json-ld")


if __name__ == "__main__":
    serve(lambda: RdflibJsonLd(Path(sys.argv[1]), int(sys.argv[2])))
