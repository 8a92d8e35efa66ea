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
* What is purged is taken out of them at once; where that may have failed they begin with nothing (`start_over`), for
  the ledger does not know of it any more. To erase it, they are made anew beside (`succeeded_by`), and take the place
  of these (`swap`), whose directories are unlinked once nobody reads them.

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
from dataclasses import replace
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Final, Self, TypeVar

from bridge.stores.checkpoints import unlinked
from bridge.stores.errors import store_errors
from bridge.stores.feed import DeltaText, Feed
from bridge.stores.markers import NOTHING, StoreState
from bridge.stores.places import next_directory, outdated, store_directory
from bridge.stores.projection_store import ProjectionStore
from bridge.stores.projections import Projection
from kernel.errors import InvalidParameter, StoreUnavailable
from kernel.ports.stores import StoreDelta
from kernel.time.instants import BEGINNING, Instant
from kernel.writing.projection import delta_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import pyoxigraph as ox

    from bridge.stores.checkpoints import Seed
    from bridge.stores.successor import Successor
    from kernel.ports.ledger import LedgerView

T = TypeVar("T")

PIECE: Final = 5_000
"""Facts that a store loses in one transaction."""


class OxigraphStores:
    """Implements the port `Stores`, and reads. `read` may be called from any thread, all else from one."""

    def __init__(self, complete: ProjectionStore, current: ProjectionStore) -> None:
        self._stores = {Projection.COMPLETE: complete, Projection.CURRENT: current}
        self._taking = Lock()
        self._path: Path | None = None
        self._from_nothing = False
        self._successor: Successor | None = None
        self._retired: list[ProjectionStore] = []
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
                pair.append(ProjectionStore(projection, path and store_directory(path, projection)))
                opened.callback(pair[-1].close)
            opened.pop_all()
        stores = cls(*pair)
        stores._path = path
        return stores

    def position(self) -> tuple[Instant | None, Instant]:
        """The (transaction instant, clock) up to which both stores are written, at least.

        A store whose writes go on failing is opened anew to find out. Raises `StoreUnavailable` where that fails, too.
        """
        for store in self._stores.values():
            if store.torn:
                store.mend()
        if self._from_nothing:
            return None, BEGINNING
        lowest = min((store.state for store in self._stores.values()), key=lambda state: state.order)
        return lowest.instant, lowest.clock

    def apply(self, delta: StoreDelta) -> None:
        """Brings both stores up by one delta: whoever reads from now on finds it there.

        Raises:
            StoreUnavailable: a store failed, now or earlier; bring both up by loading from `position` on.
        """
        successor = self._successor
        if delta.erases and successor is not None:
            successor.miss(delta)
        if self._torn:
            raise StoreUnavailable("an earlier write to a store failed", remedy="load from their position on")
        for piece in _pieces(delta) if delta.erases else (delta,):
            text = DeltaText(piece)
            with self._taking:
                for store in reversed(self._stores.values()):
                    store.apply(text)
                self.feed.publish(text)
        if delta.erases:
            self.settle()

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

    @property
    def both(self) -> dict[Projection, ProjectionStore]:
        """The two of them."""
        return self._stores

    def start_over(self) -> None:
        """Has the next `load` begin with nothing; until then nothing is read."""
        self._from_nothing = True
        if (successor := self._successor) is not None:
            successor.lose()
        self.feed.fail()

    @contextmanager
    def succeeded_by(self, successor: Successor) -> Iterator[None]:
        """While the stores are made that are to take the place of these: it is told of whatever is purged."""
        self._successor = successor
        try:
            yield
        finally:
            self._successor = None

    def take_out(self, delta: StoreDelta) -> None:
        """Takes out what was purged, and stays at its state. Raises as `apply` does."""
        if self.position()[0] is not None:
            self.apply(
                StoreDelta(None, None, BEGINNING, vanish=delta.vanish, erased=delta.erased, faded=delta.faded)
            )  # fmt: skip

    def swap(
        self, successor: Successor | None, series: Callable[[Instant | None, Instant], Iterable[StoreDelta]]
    ) -> None:
        """Puts stores that were made anew in the place of these, which are unlinked by `unlink_outdated`.

        Readers go on with the old ones until the new ones are level with the ledger.

        Args:
            successor: where they lie, closed, and what of them is to be taken out; None: they are made here, in memory.
            series: what brings stores up from a position.

        Raises:
            StoreUnavailable: the new ones cannot be opened or brought up; then all is as before.
        """
        path = self._path
        with ExitStack() as opened:
            if path is None or successor is None:
                fresh = type(self).open(None)
            else:
                for projection in Projection:
                    (successor.path / projection).rename(next_directory(path, projection))
                fresh = type(self).open(path)
            opened.callback(fresh.close)
            for delta in () if successor is None else successor.due(None):
                fresh.take_out(delta)
            fresh.load(series(*fresh.position()))
            state = min((fresh.read(each, _nothing)[1] for each in Projection), key=lambda state: state.order)
            opened.pop_all()
        old = [*self._stores.values()]
        with self._taking:
            self._stores = fresh.both
            self._from_nothing = False
            self.feed.restart(state)
        for store in old:
            store.close()
        self._retired += old

    def unlink_outdated(self) -> bool:
        """Unlinks the stores that had the place of these, unless somebody reads them; answers whether none is left."""
        for store in self._retired:
            store.sweep()
        there = [] if self._path is None else outdated(self._path)
        left = [path for path in there if ".checkpoint-" in path.name or not unlinked(path)]
        if not left:
            self._retired.clear()
        return not left

    def load(self, deltas: Iterable[StoreDelta]) -> None:
        """Brings both stores up by many deltas with bounded memory; readers stay on the state before until it is done.

        Raises:
            StoreUnavailable: a store failed; readers are still where they were.
        """
        series = iter(deltas)
        first, second = next(series, None), next(series, None)
        if first is None:
            return
        alone = second is None and not self._torn
        self._clear_if_new(reading=not alone)
        if alone:
            self.apply(first)
        else:
            self._load(chain((first,), () if second is None else (second,), series))
        self._from_nothing = False

    def read(self, projection: Projection, start: Callable[[ox.Store], T]) -> tuple[T, StoreState]:
        """Starts a query on one of the stores, at an exact state: see `ServedStore.read`."""
        return self._of(projection, lambda store: store.read(start))

    def glance(self, projection: Projection, start: Callable[[ox.Store], T]) -> tuple[T, StoreState] | None:
        """The same at once or not at all, for who cannot wait: see `ServedStore.glance`."""
        return self._stores[projection].glance(start)

    def seed(self, projection: Projection) -> Seed:
        """What a replica begins with, which any thread may ask for: see `ServedStore.seed`.

        It stands at the position that the feed has before, or later; a replica made from it takes all deltas since.
        """
        seed = self._of(projection, ProjectionStore.seed)
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

    def _clear_if_new(self, *, reading: bool) -> None:
        """Clears both when one holds no write: what comes now comes from nothing, and lets nothing vanish.

        One may hold by half what it does not say it holds.

        Args:
            reading: whether readers stay on what they see, if they may: what comes takes long.
        """
        if self._from_nothing or any(store.state.instant is None for store in self._stores.values()):
            reading = reading and not self._from_nothing
            cleared = [store.clear(reading=reading) for store in self._stores.values()]
            if any(cleared) and not reading:
                self.feed.restart(NOTHING)

    def _of(self, projection: Projection, read: Callable[[ProjectionStore], T]) -> T:
        """What is read of a store; of the one that took its place, if it did so just then."""
        store = self._stores[projection]
        try:
            if self._from_nothing:
                raise StoreUnavailable("the stores begin anew", remedy="try again shortly")
            return read(store)
        except StoreUnavailable:
            if self._stores[projection] is store:
                raise
            return read(self._stores[projection])

    @property
    def _torn(self) -> bool:
        return any(store.torn for store in self._stores.values())


def _pieces(delta: StoreDelta) -> Iterator[StoreDelta]:
    """The delta; where much is purged, in parts, each of which a store takes in one transaction."""
    longest = max(map(len, (delta.erased, delta.faded, delta.vanish)))
    for start in range(0, longest, PIECE):
        part = slice(start, start + PIECE)
        erased, faded, vanish = delta.erased[part], delta.faded[part], delta.vanish[part]
        yield replace(delta, erased=erased, faded=faded, vanish=vanish)


def _nothing(_: ox.Store) -> None:
    """What is read to learn the state alone."""


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
