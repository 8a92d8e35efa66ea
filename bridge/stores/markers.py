"""Markers: how a store knows what state it stands at.

Rules
-----
* A marker is an empty named graph whose name says instant, clock and head. No triple pattern matches anything in it, so
  that it shows in no union; only `GRAPH ?g {}`, which asks for names alone, lists it.
* It is added after the quads of its state and to the same log on disk, which is read back up to some point and never
  past a hole: so a store that shows a marker has everything up to it, and perhaps more.
* States of one base are totally ordered: instant and clock both only grow. The highest marker counts.

Example
-------
>>> marker_of(StoreState(head=7, instant=Instant(1_700_000_000_000_000), clock=Instant(1_700_000_000_000_001)))
<NamedNode value=https://w3id.org/muniment/marker/1700000000000000/1700000000000001/7>
>>> state_of(_.value).head
7
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from kernel.errors import DamagedBase
from kernel.time.instants import BEGINNING, Instant
from kernel.vocabulary import MARKER

if TYPE_CHECKING:
    from kernel.ports.stores import StoreDelta

_COORDINATES: Final = re.compile(r"(-|-?\d{1,19})/(-?\d{1,19})/(-|\d{1,19})", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoreState:
    """What the quads of a store are the quads of.

    Args:
        head: log position of the last certificate applied; None before the first.
        instant: its transaction instant; None before the first.
        clock: the valid-time instant up to which the current graphs stand.
    """

    head: int | None
    instant: Instant | None
    clock: Instant

    @classmethod
    def after(cls, delta: StoreDelta) -> StoreState:
        """The state that a delta leads to."""
        return cls(delta.head, delta.instant, delta.clock)

    @property
    def order(self) -> tuple[int, int]:
        """What states are ordered by."""
        return (BEGINNING if self.instant is None else self.instant, self.clock)


NOTHING: Final = StoreState(None, None, BEGINNING)
"""The state of a store without marker."""


def marker_of(state: StoreState) -> ox.NamedNode:
    """The name of the empty graph that stands for a state."""
    instant = "-" if state.instant is None else state.instant
    head = "-" if state.head is None else state.head
    return ox.NamedNode(f"{MARKER}{instant}/{state.clock}/{head}")


def is_marker(graph: str) -> bool:
    """Whether the IRI names a marker."""
    return graph.startswith(MARKER)


def state_of(graph: str) -> StoreState:
    """The state that a marker stands for. Raises `DamagedBase` for one that cannot be read."""
    match = _COORDINATES.fullmatch(graph.removeprefix(MARKER))
    if match is None:
        raise DamagedBase(f"a store has a marker that cannot be read: {graph}", remedy="run muniment rebuild")
    instant, clock, head = match.groups()
    return StoreState(
        None if head == "-" else int(head), None if instant == "-" else Instant(int(instant)), Instant(int(clock))
    )
