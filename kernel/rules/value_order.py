"""Which of two values is surely the later or greater one, by value and not by spelling.

Rules
-----
* Numbers are compared with numbers, whatever their XSD type; NaN with nothing.
* Times are compared with times, a coarse one (xsd:date, xsd:gYearMonth, xsd:gYear) as all that it covers: it is surely
  later only if its first instant is later than the last one of the other.
* Of two times of which one alone has a zone, the other may be up to 14 hours off (XSD 1.1 Part 2, section D.2.1).
* Whatever else two terms are, neither is surely later.

Example
-------
>>> from kernel.terms import XSD, Literal
>>> year, day = Literal("1920", XSD + "gYear"), Literal("1920-05-01", XSD + "date")
>>> surely_after(day, year), surely_after(day, Literal("1919", XSD + "gYear"))
(False, True)
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from kernel.errors import MunimentError
from kernel.terms import XSD, Literal
from kernel.time.instants import MINUTE
from kernel.time.timevalues import parse_time

if TYPE_CHECKING:
    from kernel.terms import Term

_INTEGERS: Final = (
    "integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
    "negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte",
)  # fmt: skip
_NUMBERS: Final = frozenset(XSD + name for name in (*_INTEGERS, "decimal", "double", "float"))
_TIMES: Final = frozenset(XSD + name for name in ("dateTime", "dateTimeStamp", "date", "gYearMonth", "gYear"))
_ZONED: Final = re.compile(r".*(?:Z|[+-]\d\d:\d\d)")
_FARTHEST: Final = 14 * 60 * MINUTE


def surely_after(one: Term, other: Term) -> bool:
    """Whether `one` is later or greater than `other`, however coarse they are."""
    numbers = _number(one), _number(other)
    if numbers[0] is not None and numbers[1] is not None:
        return numbers[0] > numbers[1]
    time, other_time = _time(one), _time(other)
    if time is None or other_time is None:
        return False
    first, last = time[0], other_time[1]
    return first - last > (0 if time[2] == other_time[2] else _FARTHEST)


def _number(term: Term) -> Decimal | None:
    if not isinstance(term, Literal) or term.datatype not in _NUMBERS:
        return None
    try:
        number = Decimal(term.lexical.replace("INF", "Infinity"))
    except InvalidOperation:
        return None
    return None if number.is_nan() else number


def _time(term: Term) -> tuple[int, int, bool] | None:
    """First and last instant that a time covers, and whether it has a zone."""
    if not isinstance(term, Literal) or term.datatype not in _TIMES:
        return None
    try:
        value = parse_time(term.lexical, zone="Z")
    except MunimentError:
        return None
    return value.first, value.after - 1, _ZONED.fullmatch(term.lexical) is not None
