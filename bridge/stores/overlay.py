r"""Statements laid over a store for a while, for a query that is to see what has not been written.

Rules
-----
* Within, the store holds what it is told to hold and does not hold what it is told to lack. Afterwards it is as it was,
  quad for quad and graph for graph: only what makes a difference is taken away or added, and later the other way round.
* Others who read the store meanwhile see it too. So this is for a store that one reader has.
* Where the store cannot be put back, what is raised says so, and nobody is to read it any more.

Example
-------
>>> store = ox.Store()
>>> with laid_over(store, b"", b"<urn:s> <urn:p> <urn:o> <urn:g> .\n"):
...     len(store)
1
>>> len(store), [*store.named_graphs()]
(0, [])
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyoxigraph as ox

if TYPE_CHECKING:
    from collections.abc import Iterator


class NotRestoredError(BaseException):
    """A store could not be put back to what it was; no error that anybody handles, for there is nothing to handle."""


@contextmanager
def laid_over(store: ox.Store, removed: bytes, added: bytes) -> Iterator[None]:
    """Within it the store is without some statements, and has some others.

    Args:
        store: that nobody else reads.
        removed: what it is to be without, in N-Quads.
        added: what it is to have, in N-Quads; whatever is in both.

    Raises:
        NotRestoredError: it could not be put back.
    """
    kept = dict.fromkeys(_quads(added))
    gone = [quad for quad in dict.fromkeys(_quads(removed)) if quad in store and quad not in kept]
    come = [quad for quad in kept if quad not in store]
    named = {quad.graph_name for quad in come if isinstance(quad.graph_name, ox.NamedNode)}
    new = [graph for graph in named if not store.contains_named_graph(graph)]
    try:
        for quad in gone:
            store.remove(quad)
        store.extend(come)
        yield
    finally:
        try:
            for quad in come:
                store.remove(quad)
            for graph in new:
                store.remove_graph(graph)
            store.extend(gone)
        except BaseException as error:
            raise NotRestoredError("a store is not what it was") from error


def _quads(text: bytes) -> Iterator[ox.Quad]:
    return ox.parse(text, ox.RdfFormat.N_QUADS)
