"""Both stores, against quads derived from the facts and the clock.

Rules
-----
* A store that stands behind the ledger is brought up when the base is opened: so it is here, and what it has then is
  compared. One that stands ahead knows of writes that the ledger has not: an older ledger was put in its place.
* Nothing is written to the stores: what is brought up is a checkpoint of them, beside stores made anew from the ledger,
  in a folder that is gone afterwards. Checkpoints share their files, so the folder lies in the base's own.
* Quads are compared one by one, in constant memory.

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

from bridge.stores.errors import open_store, store_errors
from bridge.stores.markers import StoreState
from bridge.stores.pair import OxigraphStores, rebuild
from bridge.stores.projection_store import ProjectionStore
from bridge.stores.projections import Projection
from kernel.projection import delta_between

if TYPE_CHECKING:
    import pyoxigraph as ox

    from bridge.auditing.faults import Faults
    from kernel.ports import LedgerView


def look_at_stores(view: LedgerView, directory: Path, found: Faults) -> None:
    """Compares the stores of a base that nobody has open with what its ledger says.

    Args:
        view: the ledger.
        directory: the base's.
        found: takes what is found.
    """
    with (
        TemporaryDirectory(prefix="audit-", dir=directory) as folder,
        found.reading("stores"),
    ):
        kept, anew = Path(folder) / "kept", Path(folder) / "anew"
        copied = [_copied(directory / "stores" / projection, kept / projection, found) for projection in Projection]
        if not all(copied):
            return
        with closing(_Pair(kept)) as pair:
            if pair.look_at_states(view, found):
                rebuild(view, anew)
                pair.bring_up(view)
                for projection in Projection:
                    pair.compare(projection, open_store(anew / projection), found)


def _copied(store: Path, into: Path, found: Faults) -> bool:
    """Takes a checkpoint of a store; False, and a fault, where there is none to be had."""
    place = f"stores/{store.name}"
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

    def compare(self, projection: Projection, expected: ox.Store, found: Faults) -> None:
        """Names the quads in which a store differs from what was derived."""
        count, _ = self._stores.read(projection, lambda store: _compare(store, expected, projection, found))
        if projection is Projection.COMPLETE:
            found.counts.complete = count
        else:
            found.counts.current = count


def _compare(kept: ox.Store, expected: ox.Store, projection: Projection, found: Faults) -> int:
    """How many quads are the same."""
    if len(kept) == len(expected) and all(one == other for one, other in zip(kept, expected, strict=True)):
        return len(kept)  # equal stores list their quads in the same order, so that each need not be looked up
    same = 0
    for quad in kept:
        if quad in expected:
            same += 1
        else:
            found.add(f"stores/{projection} {quad}", "is in the store, and does not follow from the ledger")
    for quad in expected:
        if quad not in kept:
            found.add(f"stores/{projection} {quad}", "follows from the ledger, and is not in the store")
    return same


def _shown(state: StoreState) -> str:
    head = "no head" if state.head is None else f"head {state.head}"
    return f"{head}, clock {state.clock}"
