"""Which snapshot is wanted, and one that was made.

Example
-------
>>> one, other = (Wanted(7, Instant(at), Instant(5), Projection.CURRENT) for at in (8, 9))
>>> one == other  # between two heads every as-of is the same moment
True
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bridge.stores.projections import Projection
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from pathlib import Path

    import pyoxigraph as ox

    from bridge.entailment.regimes import Entailed


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which snapshot. Between two heads every as-of is the same moment.

    Args:
        head: the last head by as-of; None before the first certificate, when nothing was believed.
        as_of: as believed when.
        valid_at: as true when.
        projection: which graphs.
        history: whether the complete projection is to have its history graphs, which are most of it.
        entailed: what it is to have beside what is asserted; None: nothing.
    """

    head: int | None
    as_of: Instant | None = field(compare=False)
    valid_at: Instant
    projection: Projection
    history: bool = False
    entailed: Entailed | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A snapshot: a store that is only read, and its directory; None: it is in memory."""

    store: ox.Store
    directory: Path | None
