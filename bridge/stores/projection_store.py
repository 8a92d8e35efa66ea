"""One projection of the ledger: a store that deltas bring up, and the marker that says how far it has come.

Rules
-----
* A store is the sum of the deltas applied to it, and the marker of the last. A delta applied again changes nothing, so
  a store whose marker lags is mended by applying from the marker on. Quads go first, the marker after them.
* What a transaction costs is shared: deltas wait until somebody reads, until much waits, or until `settle`. Readers see
  every delta that was applied before they came, and nobody sees that any ever waited.
* A load is many transactions, and readers stay on a checkpoint of the state before it.
* A write that fails leaves the store torn: not read, unless from a checkpoint, until a load from the marker on is done.

Example
-------
::

    store = ProjectionStore(Projection.CURRENT, None)
    store.apply(DeltaText(delta))
    solutions, state = store.read(lambda store: store.query("SELECT …"))
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Final, Self, TypeVar

import pyoxigraph as ox

from bridge.stores import transactions
from bridge.stores.errors import store_errors
from bridge.stores.markers import NOTHING, StoreState, is_marker, marker_of, state_of
from bridge.stores.projections import Projection, added_text, removed_text
from bridge.stores.serving import ServedStore
from kernel.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from bridge.stores.checkpoints import Seed
    from bridge.stores.feed import DeltaText
    from kernel.ports.stores import StoreDelta

T = TypeVar("T")

CHUNK: Final = 8 * 2**20
"""Characters of text that a load gathers before it writes: some 100,000 quads, some 150 MB while they are written."""

BULK: Final = 2**19
"""Characters from which a bulk load, which takes 30 ms to get going, is quicker than a transaction."""


WAITING: Final = 100
"""Facts, statements and pieces of evidence that wait at most: what is shared is won long before, and who reads next
waits for them to be written, some 10 ms."""


class ProjectionStore:
    """One of the two stores. `read`, `glance`, `seed` and `settle` may be called from any thread, all else from one.

    Args:
        projection: what it holds.
        path: its directory; None for memory.

    Raises:
        BaseInUse: the directory is open in another process.
        DamagedBase: a marker cannot be read.
        StoreUnavailable: the directory cannot be opened.
    """

    def __init__(self, projection: Projection, path: Path | None) -> None:
        self._projection = projection
        self._path = path
        self._served = ServedStore(path)
        self._backlog = transactions.Backlog()
        self._waiting: list[DeltaText] = []
        self._settling = Lock()
        self._taken = 0  # weight of all deltas; of the one thread that applies them
        self._written = 0  # of those that are written; under the lock
        self._torn = False
        self._retried = False  # whether a load was tried since the store was torn
        with store_errors():
            self._state = _settled(self._served.store)

    @property
    def path(self) -> Path | None:
        """Its directory; None for memory."""
        return self._path

    @property
    def state(self) -> StoreState:
        """The state that the store has reached, at least."""
        return self._state

    @property
    def torn(self) -> bool:
        """Whether a write failed, so that there may be more or less in the store than its state says."""
        return self._torn

    @property
    def waiting(self) -> bool:
        """Whether there are deltas that are not written yet."""
        return bool(self._waiting)

    def apply(self, delta: DeltaText) -> None:
        """Takes a delta from where the store stands: whoever reads from now on finds it there.

        Raises:
            StoreUnavailable: it cannot be written, or what waited before it; then the store is torn.
        """
        self._waiting.append(delta)
        self._taken += delta.weight
        if self._taken - self._written >= WAITING or self._state.instant is None:
            self.settle()  # the first at once: while a store holds no write, it is brought up from nothing

    def settle(self) -> None:
        """Writes what waits. Raises `StoreUnavailable`: the store is torn then, and the ledger has what waited."""
        if self._waiting:
            with self._settling:
                self._write(self._waiting[:])

    def mend(self) -> None:
        """Makes a store that is torn ready for a load; what waited is given up.

        The first time it is tried with what is open; if that fails as well, the store is opened anew.

        Raises:
            StoreUnavailable: it cannot be opened, or a query has it open still.
        """
        self._give_up()
        if self._retried:
            self._served.open_anew()
            with store_errors():
                self._state = _settled(self._served.store)
        self._retried = True

    def begin_load(self) -> Load:
        """Freezes what readers see, and answers what takes the deltas of a load. Raises `StoreUnavailable`."""
        if self._torn:
            self._give_up()
        else:
            self.settle()
        self._torn = True
        self._served.freeze()
        return Load(self._projection, self._served.store)

    def finish_load(self, load: Load, state: StoreState) -> None:
        """Writes the rest and lets readers see the store, at the state it has come to. Raises `StoreUnavailable`."""
        load.finish()
        with self._served.changing() as store:
            store.flush()
            self._arrive(store, state)
        self._served.sweep()

    def clear(self, *, reading: bool) -> bool:
        """Takes everything out, also the marker; answers whether there was anything.

        Args:
            reading: whether readers stay on what they see until the store is brought up.

        Raises:
            StoreUnavailable: it cannot be written.
        """
        self._give_up()
        if self._state == NOTHING and not self._served.store:
            return False
        if reading:
            self._served.freeze()
        with self._served.changing() as store:
            self._torn = True
            store.remove_graph(marker_of(self._state))  # first: no marker may outlive what it stands for
            store.clear()
            self._state = NOTHING
            self._torn = False
        return True

    def read(self, start: Callable[[ox.Store], T]) -> tuple[T, StoreState]:
        """As `ServedStore.read`."""
        self.settle()
        return self._served.read(start)

    def glance(self, start: Callable[[ox.Store], T]) -> tuple[T, StoreState] | None:
        """As `ServedStore.glance`; None also where something waits to be written."""
        return None if self._waiting else self._served.glance(start)

    def seed(self) -> Seed:
        """As `ServedStore.seed`."""
        self.settle()
        return self._served.seed()

    def optimize(self) -> None:
        """Sorts what is on disk for reading; takes a second per million quads. Raises `StoreUnavailable`."""
        with store_errors():
            self._served.store.optimize()

    def sweep(self) -> None:
        """As `ServedStore.sweep`."""
        self._served.sweep()

    def close(self) -> None:
        """Writes what waits, if it can, and closes the store as soon as the last query on it is done."""
        with suppress(StoreUnavailable):  # the ledger has it
            self.settle()
        self._served.close()

    def _write(self, deltas: Sequence[DeltaText]) -> None:
        """Brings the store up by deltas that wait; they wait until readers see them, so that nobody passes them by."""
        if not deltas:
            return
        if self._torn:
            raise StoreUnavailable("an earlier write to a store failed", remedy="load from their position on")
        with self._served.changing() as store:
            try:
                for removed, added in _joined(delta.of(self._projection) for delta in deltas):
                    self._backlog.write(store, removed, added)
                self._arrive(store, max((delta.state for delta in deltas), key=lambda state: state.order))
            except BaseException:
                self._torn = True
                raise
            del self._waiting[: len(deltas)]
            self._written += sum(delta.weight for delta in deltas)
        with store_errors():
            self._backlog.write_out(self._served.store)

    def _give_up(self) -> None:
        """Forgets what waits: it is brought up from the ledger, or is of no use any more."""
        self._waiting.clear()
        self._written = self._taken

    def _arrive(self, store: ox.Store, state: StoreState) -> None:
        """Marks the state, or the higher one that the store has reached before, and serves it."""
        if state.order >= self._state.order:
            store.add_graph(marker_of(state))
            if self._state not in {state, NOTHING}:
                store.remove_graph(marker_of(self._state))
            self._state = state
        self._torn = self._retried = False
        self._served.serve(self._state)


class Load:
    """Takes the deltas of a load and writes them in chunks, one while the next is gathered.

    Leaving its context waits for what is being written, so that nothing is written behind anybody's back.
    """

    def __init__(self, projection: Projection, store: ox.Store) -> None:
        self._projection = projection
        self._store = store
        self._texts: list[str] = []
        self._size = 0
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"load-{projection}")
        self._writing: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.shutdown()

    def take(self, delta: StoreDelta) -> None:
        """Takes a delta, after the ones before it. Raises `StoreUnavailable`."""
        removed = removed_text(self._projection, delta)
        if removed:
            self.finish()
            with store_errors():
                transactions.write(self._store, removed, "")
        added = added_text(self._projection, delta)
        self._texts.append(added)
        self._size += len(added)
        if self._size >= CHUNK:
            self._flush()

    def finish(self) -> None:
        """Returns once all that was taken is written. Raises `StoreUnavailable`."""
        self._flush()
        self._wait()

    def _flush(self) -> None:
        """Has what is gathered written, as soon as what went before is."""
        self._wait()
        text = "".join(self._texts)
        self._texts.clear()
        self._size = 0
        self._writing = self._writer.submit(_write_much, self._store, text)

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()


def _joined(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What is taken away and added, in order; what is only added, together: it is loaded, which is quicker than SPARQL.

    >>> list(_joined([("", "a"), ("", "b"), ("a", "c"), ("", "d"), ("", "e")]))
    [('', 'ab'), ('a', 'c'), ('', 'de')]
    """
    together = ""
    for removed, added in texts:
        if removed:
            yield "", together
            yield removed, added
            together = ""
        else:
            together += added
    yield "", together


def _write_much(store: ox.Store, text: str) -> None:
    with store_errors():
        if len(text) < BULK:
            transactions.write(store, "", text)
        else:
            store.bulk_load(text, ox.RdfFormat.TRIG)


def _settled(store: ox.Store) -> StoreState:
    """The state of the highest marker; lower ones, which a killed process left, are removed."""
    names = [graph for graph in store.named_graphs() if isinstance(graph, ox.NamedNode) and is_marker(graph.value)]
    states = sorted((state_of(name.value) for name in names), key=lambda state: state.order)
    for lower in states[:-1]:
        store.remove_graph(marker_of(lower))
    return states[-1] if states else NOTHING
