"""Whether a snapshot is quicker made from a copy of today's store or afresh: by what is counted in the ledger.

Rules
-----
* Both ways cost so much a statement and, where history is wanted, so much a fact. A copy costs something before
  anything is changed in it, and that all of it is counted afterwards.
* What there was is counted once; it is also what a snapshot has to have (`bridge.snapshots.counting`).
* Of what differs no more is counted than would still be cheaper.

Example
-------
>>> Counted(there=100_000, recorded=0).to_spare() > 80_000 * 16
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bridge.snapshots.wanted import Wanted
    from kernel.ports.ledger import LedgerView
    from kernel.time.instants import Instant

IN_MEMORY: Final = 20_000
"""Statements and facts up to which what is made afresh is kept in memory: some 20 MB."""

# Microseconds of one processor (decisions 37 and 52).
COPY: Final = 50_000.0
"""To copy a store and open it."""

_READ: Final = 14.0
"""To read a statement and load it into a directory; half as much into memory."""

_READ_FACT: Final = 80.0
"""The same of a fact, for its history."""

_CHANGED: Final = 15.0
"""To read a statement that differs, and take it away or add it."""

_CHANGED_FACT: Final = 70.0

_COUNTED: Final = 0.4
"""To count a statement, in the ledger and in a copy."""

_COUNTED_FACT: Final = 3.0


@dataclass(frozen=True, slots=True)
class Counted:
    """What there was.

    Args:
        there: statements that held.
        recorded: facts in history; 0 where that is not wanted.
    """

    there: int
    recorded: int

    def afresh(self) -> float:
        """What it takes to make it from nothing, in microseconds."""
        on_disk = self.there * _READ + self.recorded * _READ_FACT
        return on_disk / 2 if self.there + self.recorded <= IN_MEMORY else on_disk

    def to_spare(self) -> float:
        """What changing a copy may take and still be quicker, in microseconds."""
        return self.afresh() - COPY - self.there * _COUNTED - self.recorded * _COUNTED_FACT


def counted(view: LedgerView, wanted: Wanted, as_of: Instant) -> Counted:
    """What there was at a moment."""
    return Counted(view.count_at(as_of, wanted.valid_at), view.count_recorded(None, as_of) if wanted.history else 0)


def differs_little(view: LedgerView, wanted: Wanted, as_of: Instant, clock: Instant, there: Counted) -> bool:
    """Whether a copy of a store that has come to a clock is quicker changed than all there was is read."""
    left = there.to_spare()
    until = view.head().instant
    if left <= 0 or until is None:
        return False
    if wanted.history:
        left -= view.count_recorded(as_of, until, most=int(left / _CHANGED_FACT) + 1) * _CHANGED_FACT
    if left < 0:
        return False
    most = int(left / _CHANGED)
    return view.count_since(as_of, wanted.valid_at, clock, most=most) <= most
