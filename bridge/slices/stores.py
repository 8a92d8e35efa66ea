r"""The store that a query on a slice runs on: small, in memory, and gone with its answer.

Example
-------
>>> len(sliced_store(b"<urn:s> <urn:p> <urn:o> <urn:g> .\n"))
1
"""

from __future__ import annotations

import pyoxigraph as ox


def sliced_store(quads: bytes) -> ox.Store:
    """A store that has the statements of a slice, in N-Quads, and nothing else. Raises what pyoxigraph raises."""
    store = ox.Store()
    if quads:
        store.load(quads, ox.RdfFormat.N_QUADS)
    return store
