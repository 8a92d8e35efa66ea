"""The second phase of purges: what was purged is erased from wherever copies of it are left, while writes go on.

Rules
-----
* It goes in rounds, in a thread of its own. A round makes both stores anew from the ledger, in another directory; when
  they are level with it they take the place of the old ones, which takes as long as opening them. The ledger's file is
  written anew, for which writes wait, and the write-ahead log is emptied. Then what is left is unlinked: directories of
  stores, checkpoints of them, snapshots that there were.
* A round ends those purges that the first view of the ledger has which the stores are made from: nothing of them was
  ever in these. What is purged after that is taken out of the stores before they are served
  (`bridge.stores.successor`); but their files have had it, so its receipt waits for the next round.
* So every round ends, however many purges come meanwhile, and no purge waits for more than the round that is going on
  and the one after.
* It is tried for as long as it takes: a query that does not end may hold an old store.
* After a kill everything is taken up again at the next start, and more simply: stores are made anew before anything is
  answered.

Example
-------
::

    eraser.note(record)      # carried out, and durable
"""

from __future__ import annotations

import logging
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from threading import Event, Lock
from typing import TYPE_CHECKING, Final, TypeVar

from bridge.stores.pair import OxigraphStores
from bridge.stores.places import ANEW, sweep
from bridge.stores.successor import Successor
from kernel.errors import ShuttingDown
from kernel.ports.purges import PurgeState
from kernel.writing.projection import delta_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path
    from uuid import UUID

    from bridge.snapshots.cache import Outdated, Snapshots
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.purges import PurgeRecord
    from kernel.ports.stores import StoreDelta
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.sequencer import Sequencer

T = TypeVar("T")

PAUSE: Final = 0.25
"""Seconds between two looks at whether somebody still has an old directory open."""

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 300.0
"""Seconds after which what failed is tried again: at first, and at most, for it is much work."""

log = logging.getLogger("muniment.purges")


def begin_anew(ledger: Ledger, stores: Path | None) -> None:
    """Unlinks the stores of a base in which a purge was not erased yet: they are made anew from the ledger.

    Args:
        ledger: the base's.
        stores: their directory; None for memory.
    """
    if stores is None:
        return
    with ledger.reading() as view:
        unfinished = pending(view)
    if unfinished:
        log.warning("a purge is not erased yet: the stores are made anew")
        shutil.rmtree(stores, ignore_errors=True)
    sweep(stores)


def pending(view: LedgerView) -> list[UUID]:
    """The purges that are carried out and not erased."""
    return [record.id for record in view.purges() if record.state is PurgeState.PENDING]


class Eraser:
    """Erases what was purged of one base.

    Args:
        ledger: the base's.
        stores: its stores.
        snapshots: those of the past.
        sequencer: its one writer.
        directory: in which the stores lie; None for memory.
        end: writes that a purge has ended.
    """

    def __init__(
        self,
        ledger: Ledger,
        stores: OxigraphStores,
        snapshots: Snapshots,
        sequencer: Sequencer,
        directory: Path | None,
        end: Callable[[Group, UUID], None],
    ) -> None:
        self._ledger = ledger
        self._stores = stores
        self._snapshots = snapshots
        self._sequencer = sequencer
        self._directory = directory
        self._end = end
        self._thread = ThreadPoolExecutor(1, "erasing")
        self._lock = Lock()
        self._wanted = False
        self._stopped = Event()
        self._numbers = count(1)
        self._outdated: dict[UUID, Outdated | int] = {}
        self._listeners: list[Callable[[], None]] = []

    def listen(self, forget: Callable[[], None]) -> None:
        """Has it called once something was purged, and once stores were made anew; see `Purges.listen`."""
        self._listeners.append(forget)

    def note(self, record: PurgeRecord) -> None:
        """Has everything forgotten that was read before a purge, which was just carried out, and what is left erased.

        Whatever fails of that is done by the round that erases it.
        """
        try:
            self._have_forgotten()
            if record.head is not None:
                self._outdated[record.id] = record.head
                self._list_outdated([record.id])
        finally:
            self.wake()

    def wake(self) -> None:
        """Has what was purged erased, unless that is to be begun already."""
        with self._lock:
            if self._wanted:
                return
            self._wanted = True
        try:
            self._thread.submit(self._erase)
        except RuntimeError:  # it is closing
            log.info("a purge is erased at the next start")

    def resume(self) -> None:
        """Takes up what was interrupted, before anything is purged: the stores have been made anew by now."""
        with self._ledger.reading() as view:
            unfinished = pending(view)
        if unfinished:
            self._thread.submit(self._resumed, unfinished)

    def close(self) -> None:
        """Ends what is going on; the next start takes it up again."""
        self._stopped.set()
        self._thread.shutdown(cancel_futures=True)

    def settled(self) -> None:
        """Returns once nothing more is being erased; for those who wait for a receipt."""
        self._thread.submit(lambda: None).result()

    def _list_outdated(self, purges: Sequence[UUID]) -> list[Outdated]:
        """What the purges have outdated that were carried out since the base was opened."""
        listed = []
        for purge in purges:
            found = self._outdated.get(purge)
            if isinstance(found, int):
                found = self._outdated[purge] = self._snapshots.invalidate(found)
            if found is not None:
                listed.append(found)
        return listed

    def _have_forgotten(self) -> None:
        for forget in self._listeners:
            forget()

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _resumed(self, purges: Sequence[UUID]) -> None:
        try:
            self._finish(purges)
        except ShuttingDown:
            return
        except Exception:  # as in a round: it is tried again, and the base is served meanwhile
            log.exception("what was purged cannot be erased; tried again")
            self.wake()

    def _erase(self) -> None:
        """Goes through a round, as often as it fails."""
        pause = FIRST_PAUSE
        while not self._stopped.is_set():
            with self._lock:
                self._wanted = False
            try:
                self._round()
            except ShuttingDown:
                return
            except Exception:  # whatever it was, nobody else would try again
                log.exception("what was purged cannot be erased; tried again in %g s", pause)
                self._stopped.wait(pause)
                pause = min(LONGEST_PAUSE, 2 * pause)
                continue
            return

    def _round(self) -> None:
        with self._ledger.reading() as view:
            unfinished = pending(view)
        if unfinished:
            self._finish(self._make_anew())

    def _make_anew(self) -> list[UUID]:
        """Puts stores that are made anew in the place of those in use; answers of which purges they never had a byte.

        Where more is purged meanwhile than can be kept, they are made again.
        """
        ended: list[UUID] | None = None
        while ended is None:
            ended = self._in_memory() if self._directory is None else self._on_disk(self._directory)
        self._have_forgotten()  # who copied a store since the purge holds a copy of the one that went
        return ended

    def _in_memory(self) -> list[UUID]:
        def swap(group: Group) -> list[UUID]:
            self._stores.swap(None, _series(group))
            self._snapshots.stores_made_anew()
            return pending(group.tx)

        return self._sequencer.enqueue(swap, alone=True).result()

    def _on_disk(self, directory: Path) -> list[UUID] | None:
        """None: too much was purged meanwhile."""
        successor = Successor(directory / f"{ANEW}-{next(self._numbers)}")
        shutil.rmtree(successor.path, ignore_errors=True)
        try:
            with self._stores.succeeded_by(successor):
                ended = self._made(successor)
                swapped = self._sequencer.enqueue(partial(self._swap, successor=successor), alone=True).result()
        finally:
            shutil.rmtree(successor.path, ignore_errors=True)
        return ended if swapped else None

    def _made(self, successor: Successor) -> list[UUID]:
        """Makes both stores, and closes them; answers what had been purged before they were begun."""
        fresh = OxigraphStores.open(successor.path)
        try:
            ended = self._bring_up(fresh, successor)
            fresh.optimize()
            self._bring_up(fresh, successor)
        finally:
            fresh.close()
        return ended

    def _bring_up(self, fresh: OxigraphStores, successor: Successor) -> list[UUID]:
        """Brings stores up to the ledger; answers what it had purged by then."""
        with self._ledger.reading() as view:
            for missed in successor.due(view.head().instant):
                fresh.take_out(missed)
            fresh.load(self._going(delta_between(view, *fresh.position())))
            return pending(view)

    def _swap(self, group: Group, successor: Successor) -> bool:
        """Puts the stores in the place of those in use, unless too much was purged since they were begun."""
        if successor.lost:
            return False
        self._stores.swap(successor, _series(group))
        if successor.clean:
            self._snapshots.stores_made_anew()
        return True

    def _finish(self, purges: Sequence[UUID]) -> None:
        """Writes the ledger's file anew, waits for what is still open, and signs the receipts."""
        self._ledger.compact()
        while not self._is_gone(purges):
            if self._stopped.wait(PAUSE):
                return
        for purge in purges:
            self._sequencer.enqueue(self._ending(purge), alone=True).result()
            self._outdated.pop(purge, None)

    def _ending(self, purge: UUID) -> Callable[[Group], None]:
        return lambda group: self._end(group, purge)

    def _is_gone(self, purges: Sequence[UUID]) -> bool:
        """Whether nothing is left that was there before these purges."""
        return (
            self._stores.unlink_outdated()
            and all(self._snapshots.is_gone(each) for each in self._list_outdated(purges))
            and self._ledger.forget_log()
        )

    def _going(self, series: Iterable[T]) -> Iterator[T]:
        for each in series:
            if self._stopped.is_set():
                raise ShuttingDown("the base is closing", remedy="what was purged is erased at the next start")
            yield each


def _series(group: Group) -> Callable[[Instant | None, Instant], Iterable[StoreDelta]]:
    """What brings stores up to the head of a group."""
    view: LedgerView = group.tx
    return lambda after, clock: delta_between(view, after, clock)
