"""The two stores of a base: projections of its ledger that SPARQL is answered from.

Rules
-----
* The current store is what a reader of everything asks by default; the complete one has governance and history too.
* A delta that was applied is seen by whoever reads from then on; it is written when somebody reads, and else together
  with others (`ProjectionStore`). So the two may stand apart, and whoever reads one does not wait for the other.
* They may stand apart after a failure, too. Each read says what state it was answered for; `position` is
  the lower of both, from which on deltas are applied to both again. Where one has come nowhere yet, both are cleared.
* After a write that failed, single deltas are refused until a load is done: none may go missing in between.
* Each delta is on the `feed` before its write is answered: a replica that takes all of it has what was acknowledged. A
  copy has all that was on the feed when it was asked for: a delta is given to the stores first.
* The ledger is the truth: at equal head and clock, stores that came there by different ways are equal, quad for quad.

Example
-------
::

    stores = OxigraphStores.open(Path("data/stores"))
    stores.load(delta_between(view, *stores.position()))
    stores.apply(delta)
    solutions, state = stores.read(Projection.CURRENT, lambda store: store.query("SELECT …"))
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Self, TypeVar

from bridge.stores.errors import store_errors
from bridge.stores.feed import DeltaText, Feed
from bridge.stores.markers import NOTHING, StoreState
from bridge.stores.projection_store import ProjectionStore
from bridge.stores.projections import Projection
from kernel.errors import InvalidParameter, StoreUnavailable
from kernel.instants import BEGINNING, Instant
from kernel.projection import delta_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import pyoxigraph as ox

    from bridge.stores.checkpoints import Seed
    from kernel.ports import LedgerView, StoreDelta

T = TypeVar("T")


class OxigraphStores:
    """Implements the port `Stores`, and reads. `read` may be called from any thread, all else from one."""

    def __init__(self, complete: ProjectionStore, current: ProjectionStore) -> None:
        self._stores = {Projection.COMPLETE: complete, Projection.CURRENT: current}
        self._taking = Lock()
        self.feed = Feed()

    @classmethod
    def open(cls, path: Path | None) -> Self:
        """Opens the stores in `complete` and `current` under the path, making them if need be.

        Args:
            path: a directory; None for memory.

        Raises:
            BaseInUse: another process has a store open.
            DamagedBase: a marker cannot be read.
            StoreUnavailable: a store cannot be opened.
        """
        with ExitStack() as opened:
            pair = []
            for projection in (Projection.COMPLETE, Projection.CURRENT):
                pair.append(ProjectionStore(projection, path and path / projection))
                opened.callback(pair[-1].close)
            opened.pop_all()
        return cls(*pair)

    def position(self) -> tuple[Instant | None, Instant]:
        """The (transaction instant, clock) up to which both stores are written, at least.

        A store whose writes go on failing is opened anew to find out. Raises `StoreUnavailable` where that fails, too.
        """
        for store in self._stores.values():
            if store.torn:
                store.mend()
        lowest = min((store.state for store in self._stores.values()), key=lambda state: state.order)
        return lowest.instant, lowest.clock

    def apply(self, delta: StoreDelta) -> None:
        """Brings both stores up by one delta: whoever reads from now on finds it there.

        Raises:
            StoreUnavailable: a store failed, now or earlier; bring both up by loading from `position` on.
        """
        if self._torn:
            raise StoreUnavailable("an earlier write to a store failed", remedy="load from their position on")
        text = DeltaText(delta)
        with self._taking:
            for store in reversed(self._stores.values()):
                store.apply(text)
            self.feed.publish(text)

    @property
    def unsettled(self) -> bool:
        """Whether something waits to be written, or a write failed."""
        return any(store.waiting or store.torn for store in self._stores.values())

    def settle(self) -> None:
        """Writes what waits.

        Raises:
            StoreUnavailable: a store failed, now or earlier; bring both up by loading from `position` on.
        """
        if self._torn:
            raise StoreUnavailable("an earlier write to a store failed", remedy="load from their position on")
        for store in reversed(self._stores.values()):
            store.settle()

    def load(self, deltas: Iterable[StoreDelta]) -> None:
        """Brings both stores up by many deltas with bounded memory; readers stay on the state before until it is done.

        Raises:
            StoreUnavailable: a store failed; readers are still where they were.
        """
        series = iter(deltas)
        first, second = next(series, None), next(series, None)
        if first is None:
            return
        self._start_over()
        if second is None and not self._torn:
            self.apply(first)
        else:
            self._load(chain((first,), () if second is None else (second,), series))

    def read(self, projection: Projection, start: Callable[[ox.Store], T]) -> tuple[T, StoreState]:
        """Starts a query on one of the stores, at an exact state: see `ServedStore.read`."""
        return self._stores[projection].read(start)

    def seed(self, projection: Projection) -> Seed:
        """What a replica begins with, which any thread may ask for: see `ServedStore.seed`.

        It stands at the position that the feed has before, or later; a replica made from it takes all deltas since.
        """
        seed = self._stores[projection].seed()
        with self._taking:  # what is in a copy has been published by the time that it is given
            return seed

    def optimize(self) -> None:
        """Sorts what is on disk for reading, which takes a while. Raises `StoreUnavailable`."""
        for store in self._stores.values():
            store.optimize()

    def close(self) -> None:
        """Closes both stores."""
        for store in self._stores.values():
            store.close()

    def _load(self, deltas: Iterable[StoreDelta]) -> None:
        state = NOTHING
        with ExitStack() as begun:
            loads = [(store, begun.enter_context(store.begin_load())) for store in self._stores.values()]
            for delta in deltas:
                for _, load in loads:
                    load.take(delta)
                state = StoreState.after(delta)
            with self._feeding():
                for store, load in loads:
                    store.finish_load(load, state)
        self.feed.restart(state)

    @contextmanager
    def _feeding(self) -> Iterator[None]:
        """While readers move on to what is written within; if that fails, nobody knows what they have."""
        try:
            yield
        except BaseException:
            self.feed.fail()
            raise

    def _start_over(self) -> None:
        """Clears both when one holds no write: what comes now comes from nothing, and lets nothing vanish.

        One may hold by half what it does not say it holds.
        """
        if any(store.state.instant is None for store in self._stores.values()):
            cleared = [store.clear() for store in self._stores.values()]
            if any(cleared):
                self.feed.restart(NOTHING)

    @property
    def _torn(self) -> bool:
        return any(store.torn for store in self._stores.values())


def rebuild(view: LedgerView, into: Path, clock: Instant | None = None) -> None:
    """Makes both stores anew from a ledger, in a directory that is not there yet or is empty.

    Args:
        view: the ledger.
        into: the directory.
        clock: where the current graphs are to stand; by default, where the ledger has the clock.

    Raises:
        InvalidParameter: there is something in the directory.
        StoreUnavailable: a store cannot be written.
    """
    with store_errors():
        taken = into.exists() and (not into.is_dir() or any(into.iterdir()))
    if taken:
        raise InvalidParameter(f"{into} is not empty", remedy="name a directory that is not there yet", where="into")
    stores = OxigraphStores.open(into)
    try:
        stores.load(delta_between(view, None, BEGINNING, clock))
        stores.optimize()
    finally:
        stores.close()


def same_quads(one: ox.Store, other: ox.Store) -> bool:
    """Whether two stores hold the same quads, whatever their markers; exact, and in constant memory."""
    return len(one) == len(other) and all(quad in other for quad in one)
