"""Where a ledger stands: its head, and the heads that it had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from certificates.lthash import LatticeHash
    from kernel.time.instants import Instant


@dataclass(frozen=True, slots=True)
class Head:
    """The state of a base as its ledger has it.

    Args:
        position: log position of the last applied event; None before the first.
        instant: its transaction instant; None before the first.
        clock: the valid-time instant up to which the current graphs stand.
        state: the lattice hash over the facts believed.
    """

    position: int | None
    instant: Instant | None
    clock: Instant
    state: LatticeHash


@dataclass(frozen=True, slots=True)
class AppliedHead:
    """A head: the log position of an applied event, and its transaction instant."""

    position: int
    instant: Instant
