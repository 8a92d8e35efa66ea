"""The moment that a request asks for: one reading for every route that takes one, whatever way it is named.

Rules
-----
* `valid-at` and `as-of` name it, as parameters or in the path (`/at/{as-of}/{valid-at}/…`); each is optional, but for
  the `as-of` of a path. `valid-at=any`, where a route takes it, is every valid time.
* A request for the present may have `Accept-Datetime` (RFC 7089, section 2.1.1): a date and time as HTTP has them, by
  which transaction time is negotiated. Which state that finds: `bridge.reading.mementos`. What has an `as-of` already
  ignores it, as that section says (4.5.1).
* What is answered is fixed for ever, purges aside, once a head was made at its `as-of` or later: transaction times only
  increase, so nothing will be recorded before that head. An `as-of` since the last head is not fixed yet.

Example
-------
>>> http_date("Tue, 06 May 2026 07:08:09 GMT")
Traceback (most recent call last):
kernel.errors.InvalidParameter: Accept-Datetime: 6 May 2026 was a Wednesday, not a Tue (write Wed, or another date)
>>> spell_date(http_date("Wed, 06 May 2026 07:08:09 GMT"))
'Wed, 06 May 2026 07:08:09 GMT'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from api.http.parameters import Parameter
from api.service import Service
from bridge.reading.mementos import state_at
from kernel.errors import InvalidParameter
from kernel.time.instants import SECOND, Instant, print_instant

if TYPE_CHECKING:
    from starlette.requests import Request

    from api.http.parameters import Parameters
    from bridge.reading.moments import Moment
    from bridge.reading.reader import Reader

_TEXT: Final[dict[str, object]] = {"type": "string"}

AS_OF: Final = Parameter(
    "as-of",
    "as known when: an instant or calendar value of transaction time, or `head:N`. By default the present head",
    _TEXT,
    "head:41",
)
VALID_AT: Final = Parameter(
    "valid-at",
    "as true when: an instant, or a calendar value, which stands for its first instant. By default the as-of instant, "
    "or the present",
    _TEXT,
    "2024-05-06",
)
ANY: Final = "any"

ACCEPT_DATETIME: Final = "Accept-Datetime"
DATETIME_HEADER: Final[dict[str, tuple[str, dict[str, object]]]] = {
    ACCEPT_DATETIME: (
        "as known when, as Memento asks for it (RFC 7089): an HTTP date; one before the first state finds the first",
        {"type": "string"},
    ),
}

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATE: Final = re.compile(
    rf"({'|'.join(_DAYS)}), ([0-9]{{2}}) ({'|'.join(_MONTHS)}) ([0-9]{{4}}) ([0-9]{{2}}):([0-9]{{2}}):([0-9]{{2}}) GMT"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AskedMoment:
    """A moment as a request names it; None is what is left open.

    Args:
        as_of: as known when.
        valid_at: as true when.
        negotiated: whether `as_of` was found by a date.
    """

    as_of: str | None = None
    valid_at: str | None = None
    negotiated: bool = False

    @property
    def every_time(self) -> bool:
        """Whether facts of every valid time are asked for."""
        return self.valid_at == ANY

    @property
    def is_present(self) -> bool:
        """Whether neither time is named."""
        return self.as_of is None and self.valid_at is None

    def of(self, reader: Reader) -> Moment:
        """The moment itself, of a route that takes `any`. Raises as `Reader.moment` does."""
        return reader.moment(self.as_of, None if self.every_time else self.valid_at)


async def asked_moment(request: Request, parameters: Parameters) -> AskedMoment:
    """The moment that a request asks for, by its parameters or its date.

    Raises:
        InvalidParameter: a time without the plus of its zone, or a date that is none.
    """
    as_of, valid_at = parameters.time(AS_OF), parameters.time(VALID_AT)
    wanted = request.headers.getlist(ACCEPT_DATETIME)
    if as_of is not None or not wanted:
        return AskedMoment(as_of, valid_at)
    if len(wanted) > 1:
        raise _malformed("it is given more than once")
    second, service = http_date(wanted[0]), Service.of(request)
    found = await service.read(lambda: _found(service, second))
    return AskedMoment(None if found is None else print_instant(found), valid_at, negotiated=found is not None)


def _found(service: Service, second: Instant) -> Instant | None:
    with service.base.ledger.reading() as view:
        return state_at(view, second)


def is_fixed(as_of: Instant | None, latest: Instant | None) -> bool:
    """Whether what was known then is settled: whatever is written after the `latest` head is recorded later still."""
    return as_of is not None and latest is not None and as_of <= latest


def http_date(text: str) -> Instant:
    """The instant of a date as HTTP writes it (RFC 9110, section 5.6.7, in the form that is not obsolete).

    Raises:
        InvalidParameter: it is none.
    """
    match = _DATE.fullmatch(text.strip(" \t"))
    if match is None:
        raise _malformed(f"{text[:60]!r} is no date")
    weekday, day, month, year, hour, minute, second = match.groups()
    try:
        found = datetime(int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError as error:
        raise _malformed(f"there is no {text[:60]!r}: {error}") from error
    if _DAYS[found.weekday()] != weekday:
        right = _DAYS[found.weekday()]
        raise InvalidParameter(
            f"{int(day)} {month} {year} was a {found:%A}, not a {weekday}",
            remedy=f"write {right}, or another date",
            where=ACCEPT_DATETIME,
        )
    return Instant(int((found - _EPOCH).total_seconds()) * SECOND)


def spell_date(instant: Instant) -> str | None:
    """The second of an instant as HTTP writes a date; None for one outside the years 1 to 9999."""
    try:
        found = datetime.fromtimestamp(instant // SECOND, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    clock = f"{found.hour:02}:{found.minute:02}:{found.second:02}"
    return f"{_DAYS[found.weekday()]}, {found.day:02} {_MONTHS[found.month - 1]} {found.year:04} {clock} GMT"


def _malformed(message: str) -> InvalidParameter:
    return InvalidParameter(message, remedy="write it as in Wed, 06 May 2026 07:08:09 GMT", where=ACCEPT_DATETIME)
