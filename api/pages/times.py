"""Times in words, as exactly as they were given.

Rules
-----
* A calendar value keeps its precision: `2005` stays a year, `199#` is the 1990s, `-0043` is 44 BCE.
* An instant has its seconds, and what it has beyond them. Times of the service itself are shown to the second.
* `datetime` is for machines: what was given, where HTML's `time` element can say it (no BCE, no decades).
* "Until" a time is up to and without it. Where the last day, month or year was given, it is "until the end of" that.

Example
-------
>>> in_words("2005-11-22").text, in_words("199#").text, in_words("-0043-03-15").text
('22 November 2005', '1990s', '15 March 44 BCE')
>>> phrase("2005-11-22", ("validThrough", "2021-12-08"))
'from 22 November 2005 until the end of 8 December 2021'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kernel.time.instants import SECOND, Instant, print_instant
from kernel.time.timevalues import spell_end, spell_start

if TYPE_CHECKING:
    from kernel.time.timevalues import Bound, EndKey

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_INSTANT: Final = re.compile(r"(-?\d{4,6})-(\d\d)-(\d\d)T(\d\d:\d\d)(:\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d)")
_DATE: Final = re.compile(r"(-?\d{4,6})(?:-(\d\d))?(?:-(\d\d))?(Z|[+-]\d\d:\d\d)?")
_YEARS: Final = re.compile(r"(-?)(\d+)(##?)(Z|[+-]\d\d:\d\d)?")


@dataclass(frozen=True, slots=True)
class Words:
    """A time in words; `datetime` is None where HTML has no way to say it, `exact` is how it is written in XSD."""

    text: str
    datetime: str | None
    exact: str


@dataclass(frozen=True, slots=True)
class Span:
    """The valid time of a fact in words.

    Args:
        start: None where it is unbounded.
        end: None where it is unbounded.
        until: what stands before the end.
        phrase: both in one phrase, such as "since 2005".
    """

    start: Words | None
    end: Words | None
    until: str
    phrase: str


def in_words(spelled: str, *, seconds_too: bool = False) -> Words:
    """A time that was spelled as `kernel.time.timevalues` reads it; an instant also with no seconds."""
    match = _INSTANT.fullmatch(spelled)
    if match is not None:
        year, month, day, minutes, seconds, zone = match.groups()
        clock = minutes + (seconds if seconds_too or seconds.strip(":0.") else "")
        return _words(f"{_date(year, month, day)}, {clock} {_zone(zone) or 'UTC'}", spelled, common=int(year) > 0)
    match = _DATE.fullmatch(spelled)
    if match is not None:
        year, month, day, zone = match.groups()
        text = " ".join(filter(None, (_date(year, month, day), _zone(zone))))
        return _words(text, spelled, common=int(year) > 0 and zone is None)
    match = _YEARS.fullmatch(spelled)
    if match is not None:
        sign, digits, holes, zone = match.groups()
        text = _bce_years(int(digits), len(holes)) if sign else _years(int(digits), len(holes))
        return _words(" ".join(filter(None, (text, _zone(zone)))), spelled, common=False)
    return _words("an unknown time", spelled, common=False)


def at(instant: Instant) -> Words:
    """An instant of the service itself, to the second."""
    exact = print_instant(instant)
    shown = in_words(print_instant(Instant(instant - instant % SECOND)), seconds_too=True)
    return Words(shown.text, exact, exact)


def span(first: Bound, last: Bound) -> Span:
    """When a fact is valid."""
    start, end = spell_start(first), spell_end(last)
    return Span(
        None if start is None else in_words(start),
        None if end is None else in_words(end[1]),
        "" if end is None else _until(*end),
        phrase(start, end),
    )


def phrase(start: str | None, end: tuple[EndKey, str] | None) -> str:
    """A start and an end, each spelled or None, as one phrase."""
    if end is None:
        return "at all times" if start is None else f"since {in_words(start).text}"
    last = in_words(end[1]).text
    if start is None:
        return f"{_until(*end)} {last}"
    if end == ("validThrough", start):
        return f"{'on' if start.count('-') - start.startswith('-') == 2 else 'in'} {last}"
    return f"from {in_words(start).text} {_until(*end)} {last}"


def _until(key: EndKey, spelled: str) -> str:
    """What stands before an end: an instant has none of its own."""
    return "until the end of" if key == "validThrough" and _INSTANT.fullmatch(spelled) is None else "until"


def _words(text: str, spelled: str, *, common: bool) -> Words:
    return Words(text, spelled if common else None, spelled)


def _date(year: str, month: str | None, day: str | None) -> str:
    number = int(year)
    shown = f"{1 - number} BCE" if number <= 0 else f"{number} CE" if number < 1000 else str(number)
    named = _MONTHS[int(month) - 1] if month else ""
    return " ".join(filter(None, (str(int(day)) if day else "", named, shown)))


def _years(digits: int, holes: int) -> str:
    if digits == 0:
        return f"1 BCE–{10**holes - 1} CE"
    return f"{digits}0s" if holes == 1 else f"{digits * 10**holes}–{(digits + 1) * 10**holes - 1}"


def _bce_years(digits: int, holes: int) -> str:
    """The years -00D0 to -00D9 are D1 to D0+10 BCE; there is no year -0000."""
    nearest = max(digits * 10**holes, 1) + 1
    return f"{(digits + 1) * 10**holes}–{nearest} BCE"


def _zone(zone: str | None) -> str:
    return "" if zone is None else "UTC" if zone == "Z" else f"UTC{zone}"
