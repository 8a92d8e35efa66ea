"""Precision: how exactly a time is known, and the calendar values that it counts in.

Rules
-----
* A calendar value (day, month, year, decade, century) runs from midnight to midnight in one zone.
* A decade is the years whose spelling begins with the same digits: `199#` is 1990 to 1999, `-004#` is -0040 to -0049,
  running backwards; a century (`18##`, `-00##`) likewise. Year 0 belongs to `000#` and `00##`, so that `-000#` has nine
  years and `-00##` ninety-nine: decades and centuries leave no year out and share none.
* A bound at a precision has one canonical spelling. It is the calendar value bounded there, in the zone in which that
  begins at midnight, from -11:59 to +12:00, UTC unwritten (XSD's recoverable time zone, XSD 1.0 Part 2, section
  3.2.9); where there is none it is the exact instant, so that the instant itself is never lost.

Example
-------
>>> midnight = Instant(days_from_civil(2024, 5, 1) * DAY)
>>> canonical_spelling(midnight, Precision.MONTH, inclusive=False)
'2024-05'
>>> canonical_spelling(midnight, Precision.MONTH, inclusive=True)
'2024-04'
>>> canonical_spelling(midnight, Precision.YEAR, inclusive=True)
'2024-04-30T23:59:59.999999Z'
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Final

from kernel.time.gregorian import civil_from_days, days_from_civil
from kernel.time.instants import DAY, EARLIEST, LATEST, MINUTE, Instant, print_instant, print_offset, print_year


class Precision(StrEnum):
    """How exactly an end of a fact is known."""

    INSTANT = "instant"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"
    UNKNOWN = "unknown"
    UNBOUNDED = "unbounded"


COARSE: Final = frozenset({Precision.DAY, Precision.MONTH, Precision.YEAR, Precision.DECADE, Precision.CENTURY})
"""The precisions that are calendar values."""


@lru_cache(maxsize=16_384)
def canonical_spelling(instant: Instant, precision: Precision, *, inclusive: bool) -> str | None:
    """The canonical text of a bound at a precision.

    Args:
        instant: the bound.
        precision: how exactly it is known.
        inclusive: False: the value whose first instant it is; True: the value that it is the first instant after.

    Returns:
        The text, as an exact instant when no calendar value of that precision is bounded there; None when unbounded.

    Raises:
        ValueError: `BEGINNING` or `FOREVER` at a precision that is neither unknown nor unbounded.
    """
    if precision is Precision.UNBOUNDED:
        return None
    if precision is Precision.UNKNOWN:
        return precision.value
    if precision in COARSE:
        midnight = _midnight_of(instant, precision)
        if midnight is not None:
            day, offset = midnight
            date = civil_from_days(day - inclusive)
            first, after = days_of(precision, *date)
            if within_range(first * DAY - offset * MINUTE, after * DAY - offset * MINUTE):
                return _print_period(precision, *date) + (print_offset(offset) if offset else "")
    return print_instant(Instant(instant - inclusive))


def within_range(first: int, after: int) -> bool:
    """Whether [first, after) lies within ±290,000 years."""
    return first >= EARLIEST and after <= LATEST + 1


def days_of(precision: Precision, year: int, month: int, day: int) -> tuple[int, int]:
    """Day numbers of the first day, and of the first one after, of the calendar value that covers a date.

    Args:
        precision: a coarse one.
        year: of the date, as are month and day.
        month: 1 to 12.
        day: a day that the month has.
    """
    if precision is Precision.DAY:
        number = days_from_civil(year, month, day)
        return number, number + 1
    if precision is Precision.MONTH:
        following = (year, month + 1) if month < 12 else (year + 1, 1)
        return days_from_civil(year, month, 1), days_from_civil(*following, 1)
    first, after = year, year + 1
    if precision is not Precision.YEAR:
        first, after = _years_of(10 if precision is Precision.DECADE else 100, year)
    return days_from_civil(first, 1, 1), days_from_civil(after, 1, 1)


def _years_of(length: int, year: int) -> tuple[int, int]:
    """First year, and first year after, of the decade or century: years whose spelling begins with the same digits."""
    rest = abs(year) % length
    if year >= 0:
        return year - rest, year - rest + length
    nearest = year + rest
    return nearest - length + 1, min(nearest + 1, 0)


def _print_period(precision: Precision, year: int, month: int, day: int) -> str:
    written = print_year(year)
    if precision is Precision.DAY:
        return f"{written}-{month:02d}-{day:02d}"
    if precision is Precision.MONTH:
        return f"{written}-{month:02d}"
    if precision is Precision.YEAR:
        return written
    return f"{written[:-1]}#" if precision is Precision.DECADE else f"{written[:-2]}##"


def _midnight_of(instant: int, precision: Precision) -> tuple[int, int] | None:
    """The day that begins at the instant, and the offset (-11:59 to +12:00) where it does; None: no value begins so."""
    minutes, rest = divmod(instant, MINUTE)
    day, minute = divmod(minutes, 24 * 60)
    offset = -minute
    if minute >= 12 * 60:
        day, offset = day + 1, 24 * 60 - minute
    if rest or days_of(precision, *civil_from_days(day))[0] != day:
        return None
    return day, offset
