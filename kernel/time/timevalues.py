"""Times as people give them: a day, a month, a year, a decade, a century, an instant, or not known.

Rules
-----
* A time value covers [first, after): the first instant of it, and the first one after it. An instant covers one
  microsecond. `unknown` (also `####`) covers everything.
* Read are xsd:dateTime, xsd:date, xsd:gYearMonth and xsd:gYear (XSD 1.1 Part 2, sections 3.3.7 to 3.3.12), decades
  (`199#`) and centuries (`18##`), a `#` standing for any digit. An instant needs a zone; a calendar value without one
  is in the zone that the request names, else in UTC: a date is not a naive time. Decades and centuries may have a zone
  too. Which years `-004#` and `-00##` cover is said in `kernel.time.precision`.
* A bound is one end of a fact. `validFrom` and `validTo` take the first instant of a value, `validThrough` the first
  instant after it. No text is unbounded, and so is `unbounded`, which says it of a fact that had a bound. An unknown
  start is `BEGINNING`, an unknown end `FOREVER` (it reads as still valid); their precision tells them from unbounded.
* A spelling is complete: where the request's zone was used it is written into it, so that it reads the same anywhere.
* A bound keeps its spelling only when it is not the canonical one: the instant in UTC; for a coarse value the calendar
  form, as `validFrom` for a start and as `validThrough` for an end. A kept spelling tells by its value whether it was
  given as `validTo` or as `validThrough`: the bound is its first instant, or the one after it, which are never equal.

Example
-------
>>> valid_through("2024-05-06", field="validThrough")
Bound(instant=1715040000000000, precision=<Precision.DAY: 'day'>, spelling=None)
>>> spell_end(_), spell_end(valid_to("2024-05-07"))
(('validThrough', '2024-05-06'), ('validTo', '2024-05-07'))
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from kernel.errors import InvalidInterval
from kernel.time.instants import (
    BEGINNING,
    DAY,
    EARLIEST,
    FOREVER,
    LATEST,
    MINUTE,
    YEAR_PATTERN,
    ZONE_PATTERN,
    Instant,
    Zone,
    out_of_range,
    parse_day,
    parse_instant,
    parse_offset,
    parse_zone,
    print_offset,
    refused_time,
    unreadable_time,
)
from kernel.time.intervals import Interval
from kernel.time.precision import COARSE, Precision, canonical_spelling, days_of, within_range

__all__ = [
    "NO_END",
    "NO_START",
    "Bound",
    "EndKey",
    "Precision",
    "TimeValue",
    "canonical_spelling",
    "exact",
    "interval_between",
    "parse_point",
    "parse_time",
    "spell_end",
    "spell_start",
    "valid_from",
    "valid_through",
    "valid_to",
]

EndKey: TypeAlias = Literal["validTo", "validThrough"]
"""The member that an end is given as: exclusive or inclusive."""

_NOWHERE: Final = frozenset({Precision.UNKNOWN, Precision.UNBOUNDED})
_OPEN: Final = (None, "unbounded")
_UNKNOWN_TEXTS: Final = frozenset({"unknown", "####"})

_CALENDAR = re.compile(YEAR_PATTERN + r"(?:-(\d\d)(?:-(\d\d))?)?" + ZONE_PATTERN, re.ASCII)
_YEARS = re.compile(r"(-?)(?:([1-9]\d{2,4}|0\d\d)#|([1-9]\d{1,3}|0\d)##)" + ZONE_PATTERN, re.ASCII)
A_YEAR: Final = "2024"
"""The year that remedies give as an example."""

_A_POINT: Final = f"a time such as 2024-05-06T15:00:00Z, 2024-05-06, 2024-05, {A_YEAR}, 199# or 18##"
_A_TIME: Final = f"a time such as 2024-05-06T15:00:00Z, 2024-05-06, 2024-05, {A_YEAR}, 199#, 18## or unknown"
"""What could be given instead of what cannot be read."""


@dataclass(frozen=True, slots=True)
class TimeValue:
    """A time as it was given.

    Attributes:
        first: its first instant; `BEGINNING` when it is unknown.
        after: the first instant after it, at most `LATEST` + 1; `FOREVER` when it is unknown.
        precision: how exactly it says when; never unbounded.
        spelling: the text, with the request's zone written in where that was used.
    """

    first: Instant
    after: Instant
    precision: Precision
    spelling: str

    def __post_init__(self) -> None:
        if not self.first < self.after or self.precision is Precision.UNBOUNDED:
            raise ValueError(f"[{self.first}, {self.after}) of precision {self.precision} is not a time value")


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a fact.

    Attributes:
        instant: the instant itself; `BEGINNING` or `FOREVER` when it is unknown or unbounded.
        precision: how exactly it is known.
        spelling: how it was given, when that is not the canonical spelling.

    Raises:
        ValueError: the three do not fit: a spelling of another instant or precision, an unknown end within the line.
    """

    instant: Instant
    precision: Precision
    spelling: str | None

    def __post_init__(self) -> None:
        nowhere = self.precision in _NOWHERE
        fits = self.instant in {BEGINNING, FOREVER} if nowhere else EARLIEST <= self.instant <= LATEST
        if fits and self.spelling is not None:
            value = parse_time(self.spelling, field="spelling")
            fits = value.precision is self.precision and self.instant in {value.first, value.after}
        if not fits:
            raise ValueError(f"{self.instant} spelled {self.spelling!r} is not a bound of precision {self.precision}")


NO_START: Final = Bound(BEGINNING, Precision.UNBOUNDED, None)
NO_END: Final = Bound(FOREVER, Precision.UNBOUNDED, None)


def exact(instant: Instant) -> Bound:
    """The bound at an instant that is known exactly, such as the issue instant."""
    return Bound(instant, Precision.INSTANT, None)


def parse_time(text: str, *, field: str = "time", zone: Zone = None) -> TimeValue:
    """Read a time of any precision.

    Args:
        text: xsd:dateTime, xsd:date, xsd:gYearMonth, xsd:gYear, a decade, a century, `unknown` or `####`.
        field: where it was given, for the error.
        zone: the zone that the request names for times that have none.

    Raises:
        InvalidTime: it is none of these, does not exist, or reaches beyond ±290,000 years; an instant has no zone.
    """
    return _read(text, field, zone, _A_TIME)


def parse_point(text: str, *, field: str = "time", zone: Zone = None) -> Instant:
    """Read a point; a coarse one (`valid-at=2025`) is its first instant. Raises `InvalidTime`, also for `unknown`."""
    value = _read(text, field, zone, _A_POINT)
    if value.precision is Precision.UNKNOWN:
        raise refused_time(field, text, "an unknown time is no point", "give a time, or leave the parameter out")
    return value.first


def valid_from(text: str | None, *, field: str = "validFrom", zone: Zone = None) -> Bound:
    """The start of a fact: the first instant of the value; None is unbounded. Raises `InvalidTime`."""
    if text in _OPEN:
        return NO_START
    value = parse_time(text, field=field, zone=zone)
    canonical = canonical_spelling(value.first, value.precision, inclusive=False)
    return Bound(value.first, value.precision, None if value.spelling == canonical else value.spelling)


def valid_to(text: str | None, *, field: str = "validTo", zone: Zone = None) -> Bound:
    """The exclusive end of a fact: the first instant of the value; None is unbounded. Raises `InvalidTime`."""
    if text in _OPEN:
        return NO_END
    value = parse_time(text, field=field, zone=zone)
    return _end(FOREVER if value.precision is Precision.UNKNOWN else value.first, value)


def valid_through(text: str | None, *, field: str = "validThrough", zone: Zone = None) -> Bound:
    """The inclusive end of a fact: the first instant after the value; None is unbounded. Raises `InvalidTime`."""
    if text in _OPEN:
        return NO_END
    value = parse_time(text, field=field, zone=zone)
    if LATEST < value.after < FOREVER:
        raise out_of_range(field, text)
    return _end(value.after, value)


def interval_between(start: Bound, end: Bound, *, field: str) -> Interval:
    """The interval of two bounds. Raises `InvalidInterval`, naming the field, when it is empty or inverted."""
    try:
        return Interval(start.instant, end.instant)
    except InvalidInterval as error:
        error.where = field
        raise


def spell_start(start: Bound) -> str | None:
    """How a start is written on export, as `validFrom`; None when it is unbounded. `valid_from` reads it back."""
    return start.spelling or canonical_spelling(start.instant, start.precision, inclusive=False)


def spell_end(end: Bound) -> tuple[EndKey, str] | None:
    """How an end is written on export, and as which member; None when it is unbounded. What reads it gives it back."""
    if end.spelling is None:
        return _canonical_end(end.instant, end.precision)
    value = parse_time(end.spelling, field="spelling")
    through = value.precision is not Precision.UNKNOWN and value.after == end.instant
    return ("validThrough" if through else "validTo"), end.spelling


def _canonical_end(instant: Instant, precision: Precision) -> tuple[EndKey, str] | None:
    """Coarse ends are canonical as inclusive, save at `EARLIEST`, before which nothing can be written."""
    inclusive = precision in COARSE and instant > EARLIEST
    text = canonical_spelling(instant, precision, inclusive=inclusive)
    return None if text is None else (("validThrough" if inclusive else "validTo"), text)


def _end(instant: Instant, value: TimeValue) -> Bound:
    canonical = _canonical_end(instant, value.precision)
    differs = canonical is None or value.spelling != canonical[1]
    return Bound(instant, value.precision, value.spelling if differs else None)


@lru_cache(maxsize=16_384)
def _read(text: str, field: str, zone: Zone, expected: str) -> TimeValue:
    if text in _UNKNOWN_TEXTS:
        return TimeValue(BEGINNING, FOREVER, Precision.UNKNOWN, text)
    if "T" in text:
        return _read_instant(text, field, zone)
    match = _CALENDAR.fullmatch(text)
    if match is not None:
        year, month, day, offset = match.groups()
        precision = Precision.DAY if day else Precision.MONTH if month else Precision.YEAR
        parse_day(field, text, int(year), int(month or 1), int(day or 1))
        return _covering(text, field, zone, offset, precision, (int(year), int(month or 1), int(day or 1)))
    match = _YEARS.fullmatch(text)
    if match is None:
        raise unreadable_time(field, text, expected)
    sign, decade, century, offset = match.groups()
    start = int(decade) * 10 if decade else int(century) * 100
    # -000# begins at year -1, for there is no year -0.
    year_within = min(-start, -1) if sign else start
    return _covering(text, field, zone, offset, Precision.DECADE if decade else Precision.CENTURY, (year_within, 1, 1))


def _read_instant(text: str, field: str, zone: Zone) -> TimeValue:
    first = parse_instant(text, field=field, zone=zone)
    zoned = text[-1] == "Z" or text[-6] in "+-"
    spelling = text if zoned or zone is None else text + print_offset(parse_zone(zone))
    return TimeValue(first, Instant(first + 1), Precision.INSTANT, spelling)


def _covering(
    text: str, field: str, zone: Zone, offset: str | None, precision: Precision, date: tuple[int, int, int]
) -> TimeValue:
    """The calendar value that covers a date, in the zone written, else in the request's, else in UTC."""
    spelling = text
    minutes = 0
    if offset is not None:
        minutes = parse_offset(offset, field, text)
    elif zone is not None:
        minutes = parse_zone(zone)
        spelling = text + print_offset(minutes) if minutes else text
    first, after = (Instant(number * DAY - minutes * MINUTE) for number in days_of(precision, *date))
    if not within_range(first, after):
        raise out_of_range(field, text)
    return TimeValue(first, after, precision, spelling)
