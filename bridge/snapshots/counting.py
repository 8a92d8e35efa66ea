"""What a snapshot has to have, counted in the ledger, and what it has.

Rules
-----
* Every statement that held is there once: believed facts of one statement have disjoint intervals. The current
  projection has all of them but those of governance graphs.
* Of history each quad is counted, where it is wanted: a fact has one for each thing that is said of it
  (`bridge.stores.encoding`). Where it is not, the complete projection may have any, and what else is in it is counted.

Example
-------
::

    if not is_all_there(store, view, wanted, as_of, there=41):
        ...  # it came out wrong
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.stores.encoding import history_quads
from bridge.stores.projections import Projection
from bridge.terms import node
from kernel.vocabulary import GOVERNANCE

if TYPE_CHECKING:
    from bridge.snapshots.wanted import Wanted
    from kernel.ports.ledger import LedgerView
    from kernel.time.instants import Instant

_COUNT: Final = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"


def is_all_there(store: ox.Store, view: LedgerView, wanted: Wanted, as_of: Instant, there: int) -> bool:
    """Whether a snapshot has as many quads as the ledger says.

    Args:
        store: it.
        view: the ledger.
        wanted: which it is to be.
        as_of: of its moment.
        there: statements that held then, in all graphs.
    """
    if wanted.projection is Projection.CURRENT:
        governed = view.count_at(as_of, wanted.valid_at, graphs=sorted(GOVERNANCE, key=lambda graph: graph.value))
        return len(store) == there - governed
    if wanted.history:
        return len(store) == there + history_quads(view.history_at(as_of))
    return _count(store, [node(graph) for graph in view.graphs()]) == there


def _count(store: ox.Store, graphs: list[ox.NamedNode | ox.BlankNode]) -> int:
    results = store.query(_COUNT, named_graphs=graphs)
    if not isinstance(results, ox.QuerySolutions):
        raise TypeError("a SELECT has solutions")
    (row,) = results
    return int(row["n"].value)
