"""A stretch of valid time laid out across a drawing, with a few round marks on it.

Rules
-----
* Places are percentages of the width, so that a drawing is as wide as its page and its letters stay as large.
* The stretch holds every bound that there is, with room on both sides for what has none.
* Marks are round years, months, days or hours, about five of them. A year before the first is counted as people do.

Example
-------
>>> from kernel.time.instants import parse_instant
>>> scale = Scale.over([parse_instant(f"{year}-01-01T00:00:00Z") for year in (2005, 2021)])
>>> [mark.label for mark in scale.marks]
['2005', '2010', '2015', '2020']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from kernel.time.gregorian import civil_from_days, days_from_civil
from kernel.time.instants import BEGINNING, DAY, EARLIEST, FOREVER, LATEST, Instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kernel.time.intervals import Interval

_MARGIN: Final = 0.08
_ROOM: Final = 0.2
"""The same where something goes on without end: it has a name that wants to be read."""

_MARKS: Final = 5
_YEAR: Final = 365.2425 * DAY
_HOUR: Final = DAY // 24
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ROUND: Final = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on the axis: where, in percent, and what it says."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Extent:
    """Where an interval lies, in percent, and on which sides it goes on; there it reaches beyond what is drawn."""

    left: float
    width: float
    open_left: bool
    open_right: bool

    @property
    def seen_left(self) -> float:
        """Where the part of it begins that is drawn."""
        return max(self.left, 0.0)

    @property
    def seen_width(self) -> float:
        """How wide that part is."""
        return round(min(self.left + self.width, 100.0) - self.seen_left, 2)


@dataclass(frozen=True, slots=True)
class Scale:
    """The stretch from one instant to another."""

    first: int
    last: int

    @classmethod
    def over(cls, bounds: Iterable[int]) -> Self:
        """A stretch that holds every one of the bounds; those at the ends of time are none."""
        listed = set(bounds)
        finite = [each for each in listed if EARLIEST <= each <= LATEST] or [0]
        least, greatest = min(finite), max(finite)
        length = greatest - least
        before, after = (int(length * (_ROOM if end in listed else _MARGIN)) for end in (BEGINNING, FOREVER))
        least_margin = DAY if length else int(_YEAR)
        return cls(least - max(before, least_margin), greatest + max(after, least_margin))

    def place(self, instant: int) -> float:
        """Where an instant is, in percent; beyond the stretch, its end."""
        within = min(max(instant, self.first), self.last)
        return round(100 * (within - self.first) / (self.last - self.first), 2)

    def extent(self, interval: Interval) -> Extent:
        """Where an interval is; never so narrow that it cannot be seen."""
        open_left, open_right = interval.start < self.first, interval.end > self.last
        left = -2.0 if open_left else min(self.place(interval.start), 99.4)
        right = 102.0 if open_right else self.place(interval.end)
        return Extent(left, max(round(right - left, 2), 0.6), open_left, open_right)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks on it."""
        found = (Mark(self.place(instant), label) for instant, label in self._marked())
        return tuple(mark for mark in found if 0 < mark.place < 100)

    def _marked(self) -> Iterator[tuple[int, str]]:
        length = self.last - self.first
        if length > 3 * _YEAR:
            return self._years(_step(length / _YEAR / _MARKS))
        if length > 75 * DAY:
            return self._months(next(step for step in (1, 2, 3, 6, 12) if length / (30 * DAY) / step <= _MARKS + 2))
        if length > 3 * DAY:
            return self._days(_step(length / DAY / _MARKS))
        return self._hours(next(step for step in (1, 2, 3, 6, 12, 24) if length / _HOUR / step <= _MARKS + 1))

    def _years(self, step: int) -> Iterator[tuple[int, str]]:
        low, high = (civil_from_days(each // DAY)[0] for each in (self.first, self.last))
        for number in range(low // step, high // step + 2):
            # Years up to 0 are 1 BCE and before: round is what people count, not what XSD does.
            year = number * step if number > 0 else number * step + 1
            if year < 1 and number < 0:
                yield days_from_civil(year, 1, 1) * DAY, f"{1 - year} BCE"
            elif number > 0:
                yield days_from_civil(year, 1, 1) * DAY, str(year)

    def _months(self, step: int) -> Iterator[tuple[int, str]]:
        year, month, _ = civil_from_days(self.first // DAY)
        at = year * 12 + (month - 1) // step * step
        while (instant := days_from_civil(at // 12, at % 12 + 1, 1) * DAY) <= self.last:
            yield instant, f"{_MONTHS[at % 12]} {_year(at // 12)}"
            at += step

    def _days(self, step: int) -> Iterator[tuple[int, str]]:
        for number in range(self.first // DAY // step * step, self.last // DAY + 1, step):
            _, month, day = civil_from_days(number)
            yield number * DAY, f"{day} {_MONTHS[month - 1]}"

    def _hours(self, step: int) -> Iterator[tuple[int, str]]:
        for number in range(self.first // _HOUR // step * step, self.last // _HOUR + 1, step):
            _, month, day = civil_from_days(number // 24)
            label = f"{number % 24:02d}:00" if number % 24 else f"{day} {_MONTHS[month - 1]}"
            yield number * _HOUR, label


def _step(about: float) -> int:
    """The round number just above."""
    power = 1
    while True:
        for digit in _ROUND:
            if digit * power >= about:
                return digit * power
        power *= 10


def _year(year: int) -> str:
    return str(year) if year > 0 else f"{1 - year} BCE"


def bounds_of(intervals: Iterable[Interval]) -> list[Instant]:
    """Every end of some intervals."""
    return [Instant(bound) for interval in intervals for bound in (interval.start, interval.end)]
