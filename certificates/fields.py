"""What the members of certificates, records, events and findings may hold.

Rules
-----
* An instant is an XSD 1.1 dateTime in UTC and in canonical form (section 3.3.7.2): four digits of year, `Z`, at most
  six fractional digits and no trailing zero among them. An RDF store keeps that spelling, so that signed lines stay
  as they are; `00:00:00.10Z` would come back as `00:00:00.1Z`.
* A digest is SHA-256 as 64 lower-case hexadecimal digits.
* A count or a log position is an integer from 0 to below 2^53.
* Every function returns the value it was given, or raises `InvalidValue` naming the member.

Example
-------
>>> instant("2026-05-06T07:08:09.25Z", "issuedAt")
'2026-05-06T07:08:09.25Z'
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Final

from certificates.errors import InvalidValue

_INSTANT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(?:\.[0-9]{0,5}[1-9])?Z", re.ASCII
)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_COUNT_LIMIT: Final = 1 << 53


def instant(value: str, name: str) -> str:
    """`value`, if it is a canonical instant that exists."""
    if _is_instant(value):
        return value
    raise InvalidValue(
        f"{value[:40]!r} is not an instant in canonical form",
        remedy='write it in UTC as "2026-05-06T07:08:09Z", with up to six fractional digits and no trailing zero',
        where=name,
    )


def digest(value: str, name: str) -> str:
    """`value`, if it is a SHA-256 digest in hexadecimal."""
    if _DIGEST.fullmatch(value):
        return value
    raise InvalidValue(
        f"{value[:70]!r} is not a SHA-256 digest", remedy="write 64 lower-case hexadecimal digits", where=name
    )


def count(value: int, name: str) -> int:
    """`value`, if it is a count: an integer, not a boolean, and in range."""
    if type(value) is int and 0 <= value < _COUNT_LIMIT:
        return value
    raise InvalidValue(f"{value!r:.40} is not a count", remedy="use an integer from 0 to below 2^53", where=name)


@lru_cache(maxsize=256)  # a write says one instant five times
def _is_instant(value: str) -> bool:
    if not _INSTANT.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
