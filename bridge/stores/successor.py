"""Stores that are made anew to take the place of those in use, and what is purged while they are made.

Rules
-----
* They are made in a directory of their own, from views of the ledger, one after another. A purge that comes after the
  first view is opened may be in them: the ledger does not say any more what of it to take away, so its delta is kept
  here and given to them before they are brought up any further. By then nothing of it is answered by them; their files
  have had its bytes all the same.
* Before, and not after: what was purged and may be written again, and was, is brought by the series that follows.
* What is kept is bounded. Beyond that, and where a delta may not have come here, they are lost, and made anew again.
  That ends, too: each time as many facts are gone for good.

Example
-------
::

    successor = Successor(Path("data/stores/anew-1"))
    with stores.succeeded_by(successor):          # it is told of what is purged from now on
        fresh = OxigraphStores.open(successor.path)
        fresh.load(delta_between(view, *fresh.position()))
        for delta in successor.due(later.head().instant):
            fresh.take_out(delta)
        fresh.load(delta_between(later, *fresh.position()))
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from kernel.ports.stores import StoreDelta
    from kernel.time.instants import Instant

MOST: Final = 250_000
"""Facts and pieces of evidence that are kept: as many as one purge takes at most."""


class Successor:
    """What is to be taken out of stores that are being made; safe from any thread.

    Args:
        path: in which directory they are made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._missed: list[StoreDelta] = []
        self._weight = 0
        self._lost = False
        self._clean = True

    @property
    def lost(self) -> bool:
        """Whether something was purged that they may have, and that nobody knows any more."""
        return self._lost

    @property
    def clean(self) -> bool:
        """Whether nothing was purged since they were begun, so that not even their files can have it."""
        return self._clean

    def miss(self, delta: StoreDelta) -> None:
        """Keeps what was purged."""
        with self._lock:
            self._clean = False
            self._missed.append(delta)
            self._weight += len(delta.erased) + len(delta.faded)
        if self._weight > MOST:
            self.lose()

    def lose(self) -> None:
        """Gives up: something was purged, and its delta is not known, or too much."""
        with self._lock:
            self._lost, self._clean = True, False
            self._missed.clear()

    def due(self, until: Instant | None) -> list[StoreDelta]:
        """What was purged up to an instant, or all of it, and was not asked for yet."""
        with self._lock:
            due = [
                each for each in self._missed if until is None or (each.instant is not None and each.instant <= until)
            ]
            self._missed = self._missed[len(due) :]  # they come in the order of their instants
        return due
