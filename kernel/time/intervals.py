"""Intervals: half-open stretches [start, end) of the extended time line.

Rules
-----
* An interval holds its start and not its end. It is never empty and never inverted: such a one cannot be built.
* `BEGINNING` and `FOREVER` are ordinary ends; `ALWAYS` runs from the one to the other.
* Every function here is pure and total; lists come back in order of time, pairwise disjoint. Adjacent intervals are not
  fused.

Example
-------
>>> held = [Interval(0, 10), Interval(20, 30)]
>>> gaps(Interval(5, 40), held)
[Interval(start=10, end=20), Interval(start=30, end=40)]
>>> remainders(Interval(0, 10), Interval(3, 5))
[Interval(start=0, end=3), Interval(start=5, end=10)]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kernel.errors import InvalidInterval
from kernel.time.instants import BEGINNING, EARLIEST, FOREVER, LATEST, Instant, print_instant


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """The instants from `start` until just before `end`, in microseconds. Ordered by start, then end.

    Raises:
        InvalidInterval: end is not after start.
        ValueError: an end lies beyond `BEGINNING` or `FOREVER`.
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if not BEGINNING <= self.start < self.end <= FOREVER:
            raise _not_an_interval(self.start, self.end)

    def contains(self, instant: int) -> bool:
        """Whether the instant is in it."""
        return self.start <= instant < self.end

    def overlaps(self, other: Interval) -> bool:
        """Whether some instant is in both."""
        return self.start < other.end and other.start < self.end

    def intersect(self, other: Interval) -> Interval | None:
        """The instants in both; None when there are none."""
        start = max(self.start, other.start)
        end = min(self.end, other.end)
        return Interval(start, end) if start < end else None


ALWAYS = Interval(BEGINNING, FOREVER)


def gaps(interval: Interval, covered: Iterable[Interval]) -> list[Interval]:
    """The parts of an interval that none of the others covers; these may come in any order, and may overlap."""
    found = []
    reached = interval.start
    for held in sorted(covered):
        if held.start >= interval.end:
            break
        if held.start > reached:
            found.append(Interval(reached, held.start))
        reached = max(reached, held.end)
    if reached < interval.end:
        found.append(Interval(reached, interval.end))
    return found


def remainders(held: Interval, cut: Interval) -> list[Interval]:
    """What is left of an interval when another is cut out of it: none, one or two parts."""
    return gaps(held, (cut,))


def elementary(intervals: Sequence[Interval]) -> list[Interval]:
    """The union of the intervals, cut wherever one starts or ends: throughout a part the same ones hold."""
    steps: Counter[int] = Counter()
    for interval in intervals:
        steps[interval.start] += 1
        steps[interval.end] -= 1
    parts = []
    open_ones = 0
    for start, end in pairwise(sorted(steps)):
        open_ones += steps[start]
        if open_ones:
            parts.append(Interval(start, end))
    return parts


def _not_an_interval(start: int, end: int) -> InvalidInterval | ValueError:
    if start < BEGINNING or end > FOREVER:
        return ValueError(f"[{start}, {end}) leaves the time line")
    if start == end:
        return InvalidInterval(
            f"the interval is empty: it starts and ends at {_show(start)}, and an end is exclusive",
            remedy="to hold through the end of a day, month or year, give that as validThrough instead of validTo",
            start=_show(start),
            end=_show(end),
        )
    return InvalidInterval(
        f"the interval is inverted: it starts at {_show(start)} and ends before that, at {_show(end)}",
        remedy="give an end that is after the start",
        start=_show(start),
        end=_show(end),
    )


def _show(instant: int) -> str:
    return print_instant(Instant(instant)) if EARLIEST <= instant <= LATEST else "no bound"
