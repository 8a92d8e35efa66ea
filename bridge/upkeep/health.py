"""Whether a base can answer: a real read of everything that answers are made from.

Example
-------
::

    head = probe(base.ledger, base.stores)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.stores.projections import Projection

if TYPE_CHECKING:
    from bridge.stores.pair import OxigraphStores
    from kernel.ports.heads import Head
    from kernel.ports.ledger import Ledger

_QUERY: Final = "ASK { GRAPH ?g { ?s ?p ?o } }"


def probe(ledger: Ledger, stores: OxigraphStores) -> Head:
    """The head, once the ledger has given it and both stores have answered a query.

    Raises:
        LedgerUnavailable: the ledger cannot be read.
        StoreUnavailable: a store cannot be read.
    """
    for projection in Projection:
        stores.read(projection, lambda store: store.query(_QUERY))
    with ledger.reading() as view:
        return view.head()
