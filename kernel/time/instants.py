"""Instants: points on the time line, read from and written as xsd:dateTime.

Rules
-----
* An instant is an integer: microseconds from 1970-01-01T00:00:00Z in the proleptic Gregorian calendar of XSD 1.1, where
  year 0 is 1 BCE. It lies between `EARLIEST` and `LATEST`, the first and last microsecond of the years ±290,000.
* `BEGINNING` and `FOREVER` are the two ends of the extended time line. They order before and after every instant, fit
  a signed 64-bit column, and are never printed.
* Text is the lexical form of XSD 1.1 Part 2, section 3.3.7, letter by letter, with three things refused on purpose: a
  time without zone (unless the request names one), more than six fractional digits, and the year `-0000`, which the
  grammar allows but which only repeats `0000`. `24:00:00` is the start of the next day; there are no leap seconds.
* The canonical print is in UTC, its fraction without trailing zeros.

Example
-------
>>> ides = parse_instant("-0043-03-15T12:00:00.500+01:00", field="validFrom")
>>> print_instant(ides)
'-0043-03-15T11:00:00.5Z'
>>> parse_instant("2024-02-30T00:00:00Z", field="when")
Traceback (most recent call last):
kernel.errors.InvalidTime: when: '2024-02-30T00:00:00Z' cannot be used: 2024-02 has no day 30 (give a day from 01 to 29)
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NewType, TypeAlias

from kernel.errors import InvalidTime
from kernel.time.gregorian import civil_from_days, days_from_civil, days_in_month

Instant = NewType("Instant", int)
"""Microseconds from 1970-01-01T00:00:00Z."""

Zone: TypeAlias = int | str | None
"""What a request names as the zone of times without one: minutes east of UTC, "Z", "+hh:mm", "-hh:mm", or nothing."""

SECOND: Final = 1_000_000
MINUTE: Final = 60 * SECOND
DAY: Final = 86_400 * SECOND

MAX_YEAR: Final = 290_000
EARLIEST: Final = Instant(days_from_civil(-MAX_YEAR, 1, 1) * DAY)
LATEST: Final = Instant(days_from_civil(MAX_YEAR + 1, 1, 1) * DAY - 1)
BEGINNING: Final = Instant(-(2**63))
FOREVER: Final = Instant(2**63 - 1)

YEAR_PATTERN: Final = r"((?!-0000)-?(?:[1-9]\d{3,5}|0\d{3}))"
ZONE_PATTERN: Final = r"(Z|[+-]\d\d:\d\d)?"

_DATE_TIME = re.compile(
    YEAR_PATTERN + r"-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?" + ZONE_PATTERN,
    re.ASCII,
)
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)", re.ASCII)
_MAX_OFFSET = 14 * 60
_SHOWN = 80
_NO_ZONE = "it has no time zone"

# What is wrong with a text that has no readable form, most telling fault first.
_FAULTS: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern, re.ASCII), reason, remedy)
    for pattern, reason, remedy in (
        (r"\Z", "it is empty", "give a time, or leave the member out"),
        (
            r"(?i:.*\b(?:BCE?|CE|AD)\b)",
            "an era is not part of a time",
            "write years BCE with a sign, and with a year 0000: 44 BCE is -0043",
        ),
        (
            r"\d{1,2}[./]\d{1,2}[./]\d{4}",
            "the year does not come first",
            "write it as in 2024-05-06, year, month and day",
        ),
        (r"(?s:.*\s)", "it has white space in it", "take the white space out"),
        (r"\+", "a year has no plus sign", "take the plus sign out"),
        (r"-?\d{1,3}(?![\d#])", "a year has at least four digits", "pad the year with zeros, as in 0987"),
        (r"-?0\d{4,}", "a year of more than four digits has no leading zero", "take the leading zeros out"),
        (r"-0000(?!\d)", "there is no year -0000", "write 0000 for 1 BCE, -0001 for 2 BCE"),
        (r"\d{8}(?=T|Z|\Z)", "its date has no hyphens", "write it as in 2024-05-06"),
        (r"-?[1-9]\d{6,}", f"its year is beyond {MAX_YEAR}", f"give a year from -{MAX_YEAR} to {MAX_YEAR}"),
        (r".*\d[tz]", "T and Z are upper case in XSD", "write T and Z in upper case"),
        (r".*\.\d{7,}", "it has more than six fractional digits", "round it to microseconds"),
    )
)


def refused_time(field: str, text: str, reason: str, remedy: str) -> InvalidTime:
    """The error for a text that cannot be used as a time in the field named."""
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return InvalidTime(f"{shown!r} cannot be used: {reason}", remedy=remedy, where=field, text=shown, reason=reason)


def unreadable_time(field: str, text: str, expected: str) -> InvalidTime:
    """The error for a text without readable form: the known fault it shows, else that it is not what was expected."""
    for pattern, reason, remedy in _FAULTS:
        if pattern.match(text):
            return refused_time(field, text, reason, remedy)
    return refused_time(field, text, f"it is not {expected.partition(' such as ')[0]}", f"give {expected}")


def name_zone(error: InvalidTime, how: str) -> None:
    """Adds to the remedy for a missing zone how a request names one for all its times; only where one can be named."""
    if error.data.get("reason") == _NO_ZONE:
        error.remedy += f", or {how}"


def parse_offset(offset: str, field: str, text: str) -> int:
    """Minutes east of UTC of "Z", "+hh:mm" or "-hh:mm", as part of `text`, at most 14:00. Raises `InvalidTime`."""
    minutes = _minutes_east(offset)
    if minutes is None:
        remedy = "give Z, or an offset from -14:00 to +14:00 such as +02:00"
        raise refused_time(field, text, f"there is no zone {offset}", remedy)
    return minutes


def parse_zone(zone: int | str, *, field: str = "zone") -> int:
    """Minutes east of UTC of a zone that a request names. Raises `InvalidTime`."""
    if isinstance(zone, str):
        return parse_offset(zone, field, zone)
    if abs(zone) > _MAX_OFFSET:
        raise refused_time(field, str(zone), "it is more than 14 hours from UTC", "give minutes from -840 to 840")
    return zone


def print_offset(minutes: int) -> str:
    """The offset as XSD writes it: "Z" for none, else "+hh:mm" or "-hh:mm"."""
    if minutes == 0:
        return "Z"
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"


def parse_day(field: str, text: str, year: int, month: int, day: int) -> int:
    """The day number of a date read from `text`. Raises `InvalidTime` when there is no such day."""
    if not 1 <= month <= 12:
        raise refused_time(field, text, f"there is no month {month:02d}", "give a month from 01 to 12")
    if not 1 <= day <= 28 and not 1 <= day <= days_in_month(year, month):
        last = days_in_month(year, month)
        raise refused_time(
            field, text, f"{print_year(year)}-{month:02d} has no day {day:02d}", f"give a day from 01 to {last}"
        )
    return days_from_civil(year, month, day)


def parse_instant(text: str, *, field: str = "time", zone: Zone = None) -> Instant:
    """Read an xsd:dateTime (XSD 1.1 Part 2, section 3.3.7).

    Args:
        text: the lexical form.
        field: where it was given, for the error.
        zone: the zone that the request names for times that have none.

    Raises:
        InvalidTime: the text is not an xsd:dateTime, has no zone, does not exist, or is beyond ±290,000 years.
    """
    return _read(text, field, zone)


def print_instant(instant: Instant) -> str:
    """The canonical xsd:dateTime of an instant, in UTC. Raises `ValueError` for `BEGINNING`, `FOREVER` and beyond."""
    return _print(instant)


def print_year(year: int) -> str:
    """The year with its sign, padded to four digits."""
    return f"{year:04d}" if year >= 0 else f"-{-year:04d}"


@lru_cache(maxsize=2_048)
def _minutes_east(offset: str) -> int | None:
    if offset == "Z":
        return 0
    match = _OFFSET.fullmatch(offset)
    if match is None:
        return None
    sign, hours, minutes = match.groups()
    total = int(hours) * 60 + int(minutes)
    if total > _MAX_OFFSET or int(minutes) > 59:
        return None
    return -total if sign == "-" else total


@lru_cache(maxsize=16_384)
def _read(text: str, field: str, zone: Zone) -> Instant:
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        raise unreadable_time(field, text, "an xsd:dateTime such as 2024-05-06T15:00:00Z")
    year, month, day, hour, minute, second, fraction, offset = match.groups()
    days = parse_day(field, text, int(year), int(month), int(day))
    microseconds = int(fraction.ljust(6, "0")) if fraction else 0
    microseconds += SECOND * _second_of_day(field, text, int(hour), int(minute), int(second), microseconds)
    if offset != "Z":
        microseconds -= MINUTE * _offset_or_zone(field, text, offset, zone)
    instant = days * DAY + microseconds
    if not EARLIEST <= instant <= LATEST:
        raise out_of_range(field, text)
    return Instant(instant)


def out_of_range(field: str, text: str) -> InvalidTime:
    """The error for a time outside `EARLIEST` to `LATEST`."""
    return refused_time(
        field, text, f"it reaches beyond the years ±{MAX_YEAR}", f"give a time from -{MAX_YEAR} to {MAX_YEAR}, in UTC"
    )


def _second_of_day(field: str, text: str, hour: int, minute: int, second: int, microseconds: int) -> int:
    """Seconds from midnight; 24:00:00 exactly is the end of the day."""
    if minute > 59:
        raise refused_time(field, text, f"there is no minute {minute}", "give a minute from 00 to 59")
    if second > 59:
        reason = "leap seconds are not counted" if second == 60 else f"there is no second {second}"
        raise refused_time(field, text, reason, "give a second from 00 to 59")
    if hour > 23 and (hour, minute, second, microseconds) != (24, 0, 0, 0):
        raise refused_time(field, text, "no time of day is after 24:00:00", "give an hour from 00 to 23, or 24:00:00")
    return hour * 3_600 + minute * 60 + second


def _offset_or_zone(field: str, text: str, offset: str | None, zone: Zone) -> int:
    if offset is not None:
        return parse_offset(offset, field, text)
    if zone is None:
        raise refused_time(field, text, _NO_ZONE, "end it with Z or an offset such as +02:00")
    return parse_zone(zone)


@lru_cache(maxsize=16_384)
def _print(instant: int) -> str:
    if not EARLIEST <= instant <= LATEST:
        raise ValueError(f"{instant} is not an instant between EARLIEST and LATEST")
    days, microseconds = divmod(instant, DAY)
    year, month, day = civil_from_days(days)
    seconds, fraction = divmod(microseconds, SECOND)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    tail = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{print_year(year)}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}{tail}Z"
