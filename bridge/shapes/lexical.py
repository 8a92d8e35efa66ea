"""Literals of XML Schema: whether they are well formed, and how their values compare.

rdflib's own reading will not do: it takes `"maybe"^^xsd:boolean` for false and `"1_0"^^xsd:integer` for ten, knows no
year before 1 or after 9999, and logs what it cannot read.

Rules
-----
* Lexical forms are those of XSD 1.1 Part 2, without the white space that XML would collapse: RDF does not (RDF 1.1
  Concepts, section 5.1). A form that is outside its datatype's lexical space, or that names a day there is not, or a
  number out of range, is ill-typed. Of a datatype that is not listed nothing is known.
* Values compare as SPARQL's operators have it (SPARQL 1.1, section 17.3): numbers across their types, strings by code
  point, booleans, dateTimes on the time line, and also dates, times, years and months with their own kind. A time
  with zone and one without compare only if they are more than 14 hours apart (XSD 1.1 Part 2, section 3.3.7.2). All
  else, NaN too, is incomparable.

Example
-------
>>> read("-0043-03-15", XSD + "date").well_formed, read("2024-02-30", XSD + "date").well_formed
(True, False)
>>> compare(read("5", XSD + "byte"), read("5.5", XSD + "decimal"))
-1
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from kernel.terms import XSD, XSD_STRING
from kernel.time.gregorian import days_from_civil, days_in_month

if TYPE_CHECKING:
    from collections.abc import Callable

Number: TypeAlias = int | Decimal | float


@dataclass(frozen=True, slots=True)
class Moment:
    """A point on the time line, or in a day, in seconds; without zone it is where it would be in UTC."""

    seconds: Fraction
    zoned: bool


Content: TypeAlias = Number | bool | str | Moment | None


@dataclass(frozen=True, slots=True)
class Value:
    """What a lexical form means.

    Args:
        well_formed: None when nothing is known of the datatype.
        kind: values of one kind compare with each other; None for those that do not compare.
        content: the value, as far as it is needed to compare.
    """

    well_formed: bool | None
    kind: str | None
    content: Content


ILL_TYPED: Final = Value(False, None, None)
UNKNOWN: Final = Value(None, None, None)
_OPAQUE: Final = Value(True, None, None)
_DIGITS_AT_ONCE = 4_000
_ZONE_SPREAD = 14 * 3_600


@lru_cache(maxsize=8_192)
def read(lexical: str, datatype: str) -> Value:
    """The value of a lexical form of a datatype, given by its IRI."""
    reader = _READERS.get(datatype)
    return UNKNOWN if reader is None else reader(lexical)


def compare(one: Value, other: Value) -> int | None:
    """Negative, 0 or positive as the one is less than, equal to or greater than the other; None: incomparable."""
    if one.kind is None or one.kind != other.kind:
        return None
    first, second = one.content, other.content
    if isinstance(first, Moment) and isinstance(second, Moment):
        return _compare_moments(first, second)
    if isinstance(first, str) and isinstance(second, str):
        return (first > second) - (first < second)
    if isinstance(first, int | Decimal | float) and isinstance(second, int | Decimal | float):
        return None if first != first or second != second else (first > second) - (first < second)  # noqa: PLR0124 - NaN
    return None


def _compare_moments(one: Moment, other: Moment) -> int | None:
    apart = one.seconds - other.seconds
    if one.zoned != other.zoned and abs(apart) <= _ZONE_SPREAD:
        return None
    return (apart > 0) - (apart < 0)


# --- reading ----------------------------------------------------------------------------------------------------------

_ZONE = r"(Z|[+-](?:0\d|1[0-3]):[0-5]\d|[+-]14:00)?"
_YEAR = r"(-?(?:[1-9]\d{3,}|0\d{3}))"
_TIME = r"(?:([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?|24:00:00(?:\.0+)?)"
_DURATION = r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.ASCII)


_INTEGER = _pattern(r"[+-]?\d+")
_DECIMAL = _pattern(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_DOUBLE = _pattern(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|INF)|NaN")
_DATE_TIME = _pattern(f"{_YEAR}-(\\d\\d)-(\\d\\d)T{_TIME}{_ZONE}")
_DATE = _pattern(f"{_YEAR}-(\\d\\d)-(\\d\\d){_ZONE}")
_YEAR_MONTH = _pattern(f"{_YEAR}-(\\d\\d){_ZONE}")
_YEAR_ALONE = _pattern(f"{_YEAR}{_ZONE}")
_TIME_ALONE = _pattern(f"{_TIME}{_ZONE}")


def _integer(least: int | None = None, most: int | None = None) -> Callable[[str], Value]:
    def reader(lexical: str) -> Value:
        if not _INTEGER.fullmatch(lexical):
            return ILL_TYPED
        # int() refuses text of more digits, to guard against its own slowness.
        number = Decimal(lexical) if len(lexical) > _DIGITS_AT_ONCE else int(lexical)
        fits = (least is None or number >= least) and (most is None or number <= most)
        return Value(True, "number", number) if fits else ILL_TYPED

    return reader


def _decimal(lexical: str) -> Value:
    return Value(True, "number", Decimal(lexical)) if _DECIMAL.fullmatch(lexical) else ILL_TYPED


def _double(lexical: str) -> Value:
    return Value(True, "number", float(lexical)) if _DOUBLE.fullmatch(lexical) else ILL_TYPED


def _boolean(lexical: str) -> Value:
    known = {"true": True, "1": True, "false": False, "0": False}
    return Value(True, "boolean", known[lexical]) if lexical in known else ILL_TYPED


def _string(lexical: str) -> Value:
    # No version of XML has U+0000 (XSD 1.1 part 2, section 3.3.1); the other controls are XML 1.1's.
    return ILL_TYPED if "\0" in lexical else Value(True, "string", lexical)


def _matching(text: str) -> Callable[[str], Value]:
    pattern = _pattern(text)
    return lambda lexical: _OPAQUE if pattern.fullmatch(lexical) else ILL_TYPED


def _date_time(lexical: str) -> Value:
    match = _DATE_TIME.fullmatch(lexical)
    if match is None:
        return ILL_TYPED
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    return _moment("dateTime", _day(year, month, day), _seconds(hour, minute, second, fraction), zone)


def _date(lexical: str) -> Value:
    match = _DATE.fullmatch(lexical)
    return ILL_TYPED if match is None else _moment("date", _day(*match.groups()[:3]), Fraction(0), match[4])


def _year_month(lexical: str) -> Value:
    match = _YEAR_MONTH.fullmatch(lexical)
    return ILL_TYPED if match is None else _moment("gYearMonth", _day(match[1], match[2], "01"), Fraction(0), match[3])


def _year(lexical: str) -> Value:
    match = _YEAR_ALONE.fullmatch(lexical)
    return ILL_TYPED if match is None else _moment("gYear", _day(match[1], "01", "01"), Fraction(0), match[2])


def _time(lexical: str) -> Value:
    match = _TIME_ALONE.fullmatch(lexical)
    if match is None:
        return ILL_TYPED
    hour, minute, second, fraction, zone = match.groups()
    return _moment("time", 0, _seconds(hour, minute, second, fraction) % 86_400, zone)


def _day(year: str, month: str, day: str) -> int | None:
    """The day number; None for a day there is not."""
    if len(year) > _DIGITS_AT_ONCE or not 1 <= int(month) <= 12:
        return None
    if not 1 <= int(day) <= days_in_month(int(year), int(month)):
        return None
    return days_from_civil(int(year), int(month), int(day))


def _seconds(hour: str | None, minute: str | None, second: str | None, fraction: str | None) -> Fraction:
    """Seconds from midnight; 24:00:00 has none of the parts."""
    if hour is None or minute is None or second is None:
        return Fraction(86_400)
    whole = int(hour) * 3_600 + int(minute) * 60 + int(second)
    return whole + (Fraction(f"0.{fraction}") if fraction and len(fraction) <= _DIGITS_AT_ONCE else Fraction(0))


def _moment(kind: str, day: int | None, seconds: Fraction, zone: str | None) -> Value:
    if day is None:
        return ILL_TYPED
    minutes = 0
    if zone is not None and zone != "Z":
        minutes = int(zone[1:3]) * 60 + int(zone[4:6])
        minutes = -minutes if zone[0] == "-" else minutes
    return Value(True, kind, Moment(day * 86_400 + seconds - minutes * 60, zone is not None))


_BOUNDS: Final[dict[str, tuple[int | None, int | None]]] = {
    "integer": (None, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-128, 127),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 255),
}

_READERS: Final[dict[str, Callable[[str], Value]]] = {
    **{XSD + name: _integer(*bounds) for name, bounds in _BOUNDS.items()},
    XSD + "decimal": _decimal,
    XSD + "double": _double,
    XSD + "float": _double,
    XSD + "boolean": _boolean,
    XSD_STRING: _string,
    XSD + "dateTime": _date_time,
    XSD + "dateTimeStamp": lambda lexical: _date_time(lexical) if _has_zone(lexical) else ILL_TYPED,
    XSD + "date": _date,
    XSD + "time": _time,
    XSD + "gYear": _year,
    XSD + "gYearMonth": _year_month,
    XSD + "gMonth": _matching(f"--(?:0[1-9]|1[0-2]){_ZONE}"),
    XSD + "gDay": _matching(f"---(?:0[1-9]|[12]\\d|3[01]){_ZONE}"),
    XSD + "gMonthDay": _matching(
        f"--(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2\\d)|(?:0[13-9]|1[0-2])-30|(?:0[13578]|1[02])-31){_ZONE}"
    ),
    XSD + "duration": _matching(_DURATION),
    XSD + "dayTimeDuration": _matching(r"-?P(?=.)(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"),
    XSD + "yearMonthDuration": _matching(r"-?P(?=.)(?:\d+Y)?(?:\d+M)?"),
    XSD + "hexBinary": _matching(r"(?:[0-9a-fA-F]{2})*"),
    XSD + "base64Binary": _matching(
        r"(?:(?:[A-Za-z0-9+/] ?){4})*(?:(?:[A-Za-z0-9+/] ?){3}[A-Za-z0-9+/]"
        r"|(?:[A-Za-z0-9+/] ?){2}[AEIMQUYcgkosw048] ?=|[A-Za-z0-9+/] ?[AQgw] ?= ?=)?"
    ),
    XSD + "language": _matching(r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*"),
    XSD + "normalizedString": lambda lexical: ILL_TYPED if re.search(r"[\t\n\r]", lexical) else _OPAQUE,
    XSD + "token": lambda lexical: ILL_TYPED if re.search(r"[\t\n\r]|  |^ | $", lexical) else _OPAQUE,
}


def _has_zone(lexical: str) -> bool:
    match = _DATE_TIME.fullmatch(lexical)
    return match is not None and match[8] is not None
