"""How a snapshot is made: from what is there today and what differs, or afresh from the ledger.

Rules
-----
* A snapshot of a moment has the statements believed at its as-of and true at its valid-at, in the same two projections
  as the stores of the head: so that the same query with the same dataset runs on either.
* The complete one also has the history graphs as they were at as-of, if they are asked for: what was recorded by then,
  without supersessions that came later; `valid-at` does not touch history. Where they are not asked for, it may have
  history of any other moment: no dataset of a query that asks for none reaches it.
* From a checkpoint of a store of today it takes away what did not hold and adds what held, where that is quicker than
  to read all there was (`bridge.snapshots.choosing`). The checkpoint may be a step behind what the ledger says that
  differs, and never ahead: it is taken first. It has everything up to as-of, or is not used.
* Little is made in memory. Nothing is made from stores that a purge has not reached yet.
* One that was made from a checkpoint is counted, and so is what the ledger says that it has, before anybody uses it
  (`bridge.snapshots.counting`). If they do not agree it is made afresh.

Example
-------
::

    made = SnapshotMaker(ledger, stores, directory).make(Wanted(head, as_of, valid_at, Projection.CURRENT))
    made.store.query("SELECT …")
"""

from __future__ import annotations

import logging
import shutil
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, TypeVar

import pyoxigraph as ox

from bridge.snapshots.choosing import IN_MEMORY, counted, differs_little
from bridge.snapshots.counting import is_all_there
from bridge.snapshots.texts import differences, moment_texts, pieces
from bridge.snapshots.wanted import Made
from bridge.stores.errors import open_store, store_errors
from bridge.stores.transactions import Backlog
from kernel.errors import ShuttingDown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from bridge.snapshots.wanted import Wanted
    from bridge.stores.pair import OxigraphStores
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.time.instants import Instant

T = TypeVar("T")

CHUNK: Final = 4_096
"""Blocks of text that are written at once."""

_AT_ONCE: Final = 16
"""Pieces that are loaded at once into a directory: a bulk load takes 30 ms to get going."""

MUCH: Final = 2**21
"""Characters from which what is added to a copy is loaded in bulk, some 20,000 statements. It has the engine sort anew
what it has on disk, of history too: so what is taken away goes before it, which takes half as long (decision 52)."""

log = logging.getLogger("muniment.snapshots")


class SnapshotMaker:
    """Makes snapshots, in one thread.

    Args:
        ledger: the truth.
        stores: of today.
        directory: gives a name for a directory that nothing has; None: all is in memory.
    """

    def __init__(self, ledger: Ledger, stores: OxigraphStores, directory: Callable[[], Path] | None) -> None:
        self._ledger = ledger
        self._stores = stores
        self._directory = directory
        self._stopped = False

    def stop(self) -> None:
        """Has whatever is being made fail soon, with `ShuttingDown`."""
        self._stopped = True

    def make(self, wanted: Wanted, *, from_stores: bool = True) -> Made:
        """Makes one.

        Args:
            wanted: which.
            from_stores: whether the stores of today may be used.

        Raises:
            StoreUnavailable: it cannot be made.
            LedgerUnavailable: the ledger cannot be read.
            ShuttingDown: it was stopped.
        """
        as_of = wanted.as_of
        if wanted.head is None or as_of is None:
            return Made(ox.Store(), None)
        with store_errors():
            there = self._changing_is_quicker(wanted, as_of) if from_stores and self._directory is not None else None
            made = None if there is None else self._from_checkpoint(wanted, as_of, there)
            return self._afresh(wanted, as_of) if made is None else made

    # --- afresh -------------------------------------------------------------------------------------------------------

    def _afresh(self, wanted: Wanted, as_of: Instant) -> Made:
        with self._ledger.reading() as view:
            texts = self._going(pieces(moment_texts(view, wanted, as_of), CHUNK))
            first = [*islice(texts, IN_MEMORY // CHUNK)]
            more = [*islice(texts, 1)]
            if more and self._directory is not None:
                return self._on_disk(chain(first, more, texts), self._directory())
            store = ox.Store()
            for text in chain(first, more, texts):
                store.load(text, ox.RdfFormat.TRIG)
            return Made(store, None)

    def _on_disk(self, texts: Iterator[str], directory: Path) -> Made:
        with _gone_if_it_fails(directory):
            store = open_store(directory)
            while text := "".join(islice(texts, _AT_ONCE)):
                store.bulk_load(text, ox.RdfFormat.TRIG)
        return Made(store, directory)

    def _going(self, pieces: Iterable[T]) -> Iterator[T]:
        for piece in pieces:
            if self._stopped:
                raise ShuttingDown("the base is closing", remedy="ask again once it is served")
            yield piece

    # --- from what is there today -------------------------------------------------------------------------------------

    def _changing_is_quicker(self, wanted: Wanted, as_of: Instant) -> int | None:
        """How many statements held, if it is quicker to change a copy of today's store than to read all there was."""
        state = self._stores.feed.state
        if state.head is None or wanted.head is None or state.head < wanted.head:
            return None  # it has not got there
        with self._ledger.reading() as view:
            there = counted(view, wanted, as_of)
            return there.there if differs_little(view, wanted, as_of, state.clock, there) else None

    def _from_checkpoint(self, wanted: Wanted, as_of: Instant, there: int) -> Made | None:
        """A copy of today's store, changed to what it was at the moment; None: it did not come out right."""
        clock = self._stores.feed.state.clock
        seed = self._stores.seed(wanted.projection)
        if seed.path is None or self._directory is None:
            return None
        directory = seed.path.rename(self._directory())
        with _gone_if_it_fails(directory):
            store = open_store(directory)
            with self._ledger.reading() as view:  # after the copy: it knows all that is in it
                self._change(store, view, wanted, as_of, clock)
                if is_all_there(store, view, wanted, as_of, there):
                    return Made(store, directory)
        log.error("a snapshot of head %s does not agree with the ledger: it is made afresh", wanted.head)
        del store
        shutil.rmtree(directory, ignore_errors=True)
        return None

    def _change(self, store: ox.Store, view: LedgerView, wanted: Wanted, as_of: Instant, clock: Instant) -> None:
        backlog = Backlog()
        come, gone = differences(view, wanted, as_of, clock)
        for removed in self._going(pieces(gone, CHUNK)):
            backlog.write(store, removed, "")
            backlog.write_out(store)
        for added in self._going(pieces(come, CHUNK * _AT_ONCE)):
            if len(added) < MUCH:
                backlog.write(store, "", added)
            else:
                store.bulk_load(added, ox.RdfFormat.TRIG)


@contextmanager
def _gone_if_it_fails(directory: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
