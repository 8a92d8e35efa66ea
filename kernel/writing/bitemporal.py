"""The bitemporal core: what a change does to the believed facts of one statement, as arithmetic on intervals.

Rules (Disjoint: the believed facts of one statement in one graph have pairwise disjoint valid intervals)
-----
* Asserting over an interval adds what is not covered; what is covered is supported, never believed twice. Adjacent
  intervals are not fused.
* Ending at t cuts the one interval that contains t; t at its start would leave nothing and is refused.
* Retracting removes every interval, or the part of each within a given one.
* Revising moves one interval; onto another one of the statement is refused.

Everything is pure and total over what a `Disjoint` set of intervals can be.

Example
-------
>>> held = [Interval(20, 22)]
>>> uncovered(held, Interval(21, 24))
[Interval(start=22, end=24)]
>>> cuts(held, Interval(20, 21))
[Cut(held=Interval(start=20, end=22), residues=(Interval(start=21, end=22),))]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.time.intervals import Interval, gaps, remainders

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Cut:
    """A held interval that is no longer believed as it is, and the parts of it that still are."""

    held: Interval
    residues: tuple[Interval, ...]


def uncovered(held: Sequence[Interval], wanted: Interval) -> list[Interval]:
    """The parts of the wanted interval that nothing held covers, in order."""
    return gaps(wanted, held)


def overlapping(held: Sequence[Interval], wanted: Interval) -> list[Interval]:
    """The held intervals that share an instant with the wanted one."""
    return [interval for interval in held if interval.overlaps(wanted)]


def containing(held: Sequence[Interval], instant: int) -> Interval | None:
    """The held interval that contains the instant: at most one, by Disjoint."""
    return next((interval for interval in held if interval.contains(instant)), None)


def ended(held: Interval, at: int) -> Interval | None:
    """What is left of an interval that ended at an instant within it; None when that is its very start."""
    return Interval(held.start, at) if held.start < at else None


def cuts(held: Sequence[Interval], within: Interval | None) -> list[Cut]:
    """What retracting does: every held interval goes, or the part of each that lies within."""
    if within is None:
        return [Cut(interval, ()) for interval in held]
    return [Cut(interval, tuple(remainders(interval, within))) for interval in overlapping(held, within)]
