"""Oxigraph alone, writing the quads that ours made of the same facts, into two stores as ours has them.

Rules
-----
* Nothing is planned, checked, signed or flushed: this is what writing the quads costs by itself.
* One `extend` a fact and store; a load is one `bulk_extend` a store, of quads that a generator makes.
* The quads come as text in files (`exchange`); those of single writes are parsed before anything is timed.

Example
-------
::

    python -m bench.peers.raw_pyoxigraph DIRECTORY FACTS EXCHANGE
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyoxigraph as ox

from bench import workload
from bench.exchange import Exchange
from bench.measuring import once
from bench.serving import Contestant, serve
from bench.workload import Kind

if TYPE_CHECKING:
    from bench.measuring import Sample


class _Quads(NamedTuple):
    complete: list[ox.Quad]
    current: list[ox.Quad]


class _Stores:
    """A complete and a current store."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True)
        self.complete = ox.Store(path / "complete")
        self.current = ox.Store(path / "current")

    def load(self, exchange: Exchange) -> None:
        for store, path in ((self.complete, exchange.complete), (self.current, exchange.current)):
            store.bulk_extend(ox.parse(path=path, format=ox.RdfFormat.N_QUADS))


class RawPyoxigraph(Contestant):
    """Two stores, and the quads to come."""

    def __init__(self, directory: Path, facts: int, exchange: Exchange) -> None:
        self.facts = facts
        self._directory = directory
        self._exchange = exchange
        self._stores, self.opened = self._loaded(directory / "data", facts)
        self._prepared: dict[int, _Quads] = {}

    def bulk(self, count: int) -> Sample:
        """`bulk_extend` of the whole exchange, twice."""
        path = self._directory / "bulk"
        _, sample = self._loaded(path, count)
        shutil.rmtree(path)
        return sample

    def prepare(self, kind: Kind, first: int, count: int) -> int:
        """Parses what ours made of the facts to come."""
        written = enumerate(self._exchange.take(kind, first)[:count], first)
        self._prepared = {number: _Quads(_parsed(each.complete), _parsed(each.current)) for number, each in written}
        return len(self._prepared)

    def write(self, kind: Kind, number: int) -> None:
        """One `extend` a store, of what was prepared."""
        del kind
        quads = self._prepared[number]
        self._stores.complete.extend(quads.complete)
        self._stores.current.extend(quads.current)

    def look_up(self, number: int) -> int:
        """A SELECT over the union of the current store's graphs, its rows taken."""
        query = workload.query(workload.fact(Kind.SEED, number))
        found = self._stores.current.query(query, use_default_graph_as_union=True)
        return len([row[0] for row in found]) if isinstance(found, ox.QuerySolutions) else 0

    def close(self) -> None:
        """Oxigraph closes what nobody holds."""

    def _loaded(self, path: Path, count: int) -> tuple[_Stores, Sample]:
        stores = _Stores(path)
        return stores, once(lambda: stores.load(self._exchange), count, self.cpu)


def _parsed(text: str) -> list[ox.Quad]:
    return list(ox.parse(text, format=ox.RdfFormat.N_QUADS))


if __name__ == "__main__":
    serve(lambda: RawPyoxigraph(Path(sys.argv[1]), int(sys.argv[2]), Exchange(Path(sys.argv[3]))))
