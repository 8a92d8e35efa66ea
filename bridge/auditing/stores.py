"""Both stores, against quads derived from the facts and the clock.

Rules
-----
* A store that stands behind the ledger is brought up when the base is opened: so it is here, and what it has then is
  compared. One that stands ahead knows of writes that the ledger has not: an older ledger was put in its place.
* Files that are damaged are told by the list that was written when the base was closed (`stores.seal`).
* Nothing is written to the stores: what is looked at is a checkpoint of them, in a folder that is gone afterwards.
  Checkpoints share their files, so the folder lies in the base's own.
* Quads are derived from the facts batch by batch and looked up, in constant memory. If each is there, and there are as
  many as were derived, the stores hold these and no others: facts are disjoint, so that no quad is derived twice. If
  not, or if the ledger itself has faults, stores are made anew from it and compared quad by quad, to name what differs.

Example
-------
::

    look_at_stores(view, Path("data"), found)
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyoxigraph as ox

from bridge.stores.errors import open_store, store_errors
from bridge.stores.markers import StoreState
from bridge.stores.pair import OxigraphStores, rebuild
from bridge.stores.places import store_directory
from bridge.stores.projection_store import ProjectionStore
from bridge.stores.projections import Projection, added_text
from bridge.stores.seal import SEALED, damaged_files
from kernel.time.instants import BEGINNING
from kernel.writing.projection import delta_between

if TYPE_CHECKING:
    from bridge.auditing.faults import Faults
    from kernel.ports.ledger import LedgerView


def look_at_stores(view: LedgerView, directory: Path, found: Faults, *, names: bool = True) -> None:
    """Compares the stores of a base that nobody has open with what its ledger says.

    Args:
        view: the ledger.
        directory: the base's.
        found: takes what is found.
        names: whether each quad that differs is named, for which stores are made anew; else quads are just not counted.
    """
    with (
        TemporaryDirectory(prefix="audit-", dir=directory) as folder,
        found.reading("stores"),
        store_errors(),
    ):
        _look_at_files(directory / "stores", found)
        kept, anew = Path(folder) / "kept", Path(folder) / "anew"
        copied = [_copied(directory / "stores", projection, kept / projection, found) for projection in Projection]
        if not all(copied):
            return
        with closing(_Pair(kept)) as pair:
            if not pair.look_at_states(view, found):
                return
            pair.bring_up(view)
            follows = not found.total and pair.holds_just_what_follows(view, found)
            if names and not follows:
                rebuild(view, anew)
                for projection in Projection:
                    pair.compare(projection, open_store(anew / projection), found)


def _look_at_files(stores: Path, found: Faults) -> None:
    """Files that were damaged where nothing that is compared below reads them."""
    with found.reading(f"stores/{SEALED}"):
        for name in damaged_files(stores):
            found.add(f"stores/{name}", "is not as it was when the base was closed")


def _copied(stores: Path, projection: Projection, into: Path, found: Faults) -> bool:
    """Takes a checkpoint of a store; False, and a fault, where there is none to be had."""
    place, store = f"stores/{projection}", store_directory(stores, projection)
    if not store.is_dir():
        found.add(place, "is not there")
        return False
    before = found.total
    with found.reading(place), store_errors():
        into.parent.mkdir(exist_ok=True)
        open_store(store).backup(into)
    return found.total == before


class _Pair:
    """Checkpoints of both stores."""

    def __init__(self, path: Path) -> None:
        self._each = {projection: ProjectionStore(projection, path / projection) for projection in Projection}
        self._stores = OxigraphStores(self._each[Projection.COMPLETE], self._each[Projection.CURRENT])

    def close(self) -> None:
        """Closes them."""
        self._stores.close()

    def look_at_states(self, view: LedgerView, found: Faults) -> bool:
        """Whether neither stands where the ledger has not been."""
        head = view.head()
        ledger = StoreState(head.position, head.instant, head.clock)
        may_compare = True
        for projection, store in self._each.items():
            state = store.state
            if state.order > ledger.order or (state.order == ledger.order and state != ledger):
                what = f"is ahead of the ledger: it stands at {_shown(state)}, and the ledger at {_shown(ledger)}"
                found.add(f"stores/{projection}", what)
                may_compare = False
            elif state != ledger:
                found.notes.append(f"the {projection} store is behind the ledger; opening the base brings it up")
        return may_compare

    def bring_up(self, view: LedgerView) -> None:
        """What opening the base does to its stores."""
        self._stores.load(delta_between(view, *self._stores.position()))

    def holds_just_what_follows(self, view: LedgerView, found: Faults) -> bool:
        """Whether each quad that follows from a ledger without faults is there, and no other."""
        stores = {projection: self._stores.read(projection, _itself)[0] for projection in Projection}
        derived = dict.fromkeys(Projection, 0)
        for delta in delta_between(view, None, BEGINNING):
            for projection, store in stores.items():
                for quad in ox.parse(added_text(projection, delta), ox.RdfFormat.TRIG):
                    if quad not in store:
                        return False
                    derived[projection] += 1
        if any(len(store) != derived[projection] for projection, store in stores.items()):
            return False
        found.counts.complete, found.counts.current = derived[Projection.COMPLETE], derived[Projection.CURRENT]
        return True

    def compare(self, projection: Projection, expected: ox.Store, found: Faults) -> None:
        """Names the quads in which a store differs from one made anew."""
        kept, _ = self._stores.read(projection, _itself)
        same = 0
        for quad in kept:
            if quad in expected:
                same += 1
            else:
                found.add(f"stores/{projection} {quad}", "is in the store, and does not follow from the ledger")
        for quad in expected:
            if quad not in kept:
                found.add(f"stores/{projection} {quad}", "follows from the ledger, and is not in the store")
        if projection is Projection.COMPLETE:
            found.counts.complete = same
        else:
            found.counts.current = same


def _itself(store: ox.Store) -> ox.Store:
    return store


def _shown(state: StoreState) -> str:
    head = "no head" if state.head is None else f"head {state.head}"
    return f"{head}, clock {state.clock}"
