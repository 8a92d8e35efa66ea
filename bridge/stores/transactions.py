"""Transactions on a store, and the memory that they leave behind.

Rules
-----
* What a transaction writes stays in memory until the engine writes it to disk, which it does late: 0.5 GB for 100,000
  facts (decision 0017). So it is told to, after every so much text: memory does not grow with what was ever written.
* That is no part of a transaction, and readers need not wait for it.

Example
-------
>>> store = ox.Store()
>>> backlog = Backlog()
>>> backlog.write(store, "", "GRAPH <urn:g> { <urn:s> <urn:p> <urn:o> }")
>>> backlog.write_out(store)
>>> len(store)
1
"""

from __future__ import annotations

from typing import Final

import pyoxigraph as ox

UNWRITTEN: Final = 16 * 2**20
"""Characters of text after which the engine writes to disk what it holds in memory: some 25,000 facts, in 150 MB."""


class Backlog:
    """What was written to one store and is not written out. It does not hold the store, which would keep it open."""

    def __init__(self) -> None:
        self._unwritten = 0

    def write(self, store: ox.Store, removed: str, added: str) -> None:
        """Takes text away and adds text, in one transaction. Raises what the engine raises."""
        write(store, removed, added)
        self._unwritten += len(removed) + len(added)

    def write_out(self, store: ox.Store) -> None:
        """Has the engine write out what it holds of the transactions, when that is much. Raises what that raises."""
        if self._unwritten >= UNWRITTEN:
            store.flush()
            self._unwritten = 0


def write(store: ox.Store, removed: str, added: str) -> None:
    """One transaction; as SPARQL, which is slower, only where something goes."""
    if removed:
        store.update(f"DELETE DATA {{ {removed} }} ; INSERT DATA {{ {added} }}")
    elif added:
        store.load(added, ox.RdfFormat.TRIG)
