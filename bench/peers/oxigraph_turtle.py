"""Oxigraph's Turtle serialiser, on a store that has the current quads of ours.

Rules
-----
* The store is loaded before anything is timed; the document goes to a file. A store has values, not spellings.

Example
-------
::

    python -m bench.peers.oxigraph_turtle DIRECTORY FACTS EXCHANGE
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyoxigraph as ox

from bench.exchange import Exchange
from bench.serving import Contestant, serve

GRAPH = "https://w3id.org/muniment#default"


class OxigraphTurtle(Contestant):
    """A store."""

    def __init__(self, directory: Path, facts: int, exchange: Exchange) -> None:
        self.facts = facts
        self._file = directory / "export.ttl"
        self._store = ox.Store(directory / "store")
        self._store.bulk_extend(ox.parse(path=exchange.current, format=ox.RdfFormat.N_QUADS))

    def turtle(self) -> None:
        """Dumps the graph."""
        self._store.dump(self._file, ox.RdfFormat.TURTLE, from_graph=ox.NamedNode(GRAPH))


if __name__ == "__main__":
    serve(lambda: OxigraphTurtle(Path(sys.argv[1]), int(sys.argv[2]), Exchange(Path(sys.argv[3]))))
