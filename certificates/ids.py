"""Identifiers: random ones for certificates, derived ones for what a certificate brings.

Rules
-----
* A certificate's id is a UUIDv7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, then 74 random bits. Ids made in
  the same millisecond are in no particular order.
* Families, facts, evidence and plans have a UUIDv8 (section 5.8): the first 122 free bits of SHA-256 over the
  certificate's 16 bytes, the ordinal as 8 bytes (big-endian) and the kind's name. It is known when the plan is signed,
  never collides, and says nothing of the content.
* URNs are the lower-case form of RFC 9562 section 4; no other spelling is read.

Example
-------
>>> certificate = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
>>> urn(derived_id(certificate, "fact", 0))
'urn:uuid:1fc3a271-86ff-87b5-bd2d-f88a44550c28'
"""

from __future__ import annotations

import os
import re
import time
from functools import lru_cache
from hashlib import sha256
from typing import Final
from uuid import UUID, SafeUUID

from certificates.errors import InvalidValue

_SIZE: Final = 16
_new: Final = object.__new__
_UNKNOWN: Final = SafeUUID.unknown  # looked up once: members of an enumeration are found by calls
_put: Final = object.__setattr__  # its own refuses, so that ids stay as they are

_URN: Final = re.compile(r"urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VARIANT: Final = 0b10 << 62
_FREE_BITS: Final = (1 << 128) - 1 ^ (0xF << 76) ^ (0b11 << 62)
_VERSION_7: Final = 7 << 76 | _VARIANT
_VERSION_8: Final = 8 << 76 | _VARIANT


def uuid7() -> UUID:
    """A new random id that sorts by the millisecond it was made in."""
    instant = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(10))
    return _of(((instant & (1 << 48) - 1) << 80 | noise) & _FREE_BITS | _VERSION_7)


def derived_id(certificate: UUID, kind: str, ordinal: int) -> UUID:
    """The id of the `ordinal`-th thing of `kind` (0 ≤ ordinal < 2^64) that `certificate` brings.

    Raises:
        OverflowError: the ordinal is negative, or 2^64 or more.
    """
    digest = sha256(certificate.bytes + ordinal.to_bytes(8) + kind.encode()).digest()
    return _of(int.from_bytes(digest[:16]) & _FREE_BITS | _VERSION_8)


def read_uuid(data: bytes) -> UUID:
    """The id of 16 bytes: what `UUID(bytes=data)` gives, in less than half the time.

    Raises:
        ValueError: there are not 16 bytes.
    """
    if len(data) != _SIZE:
        raise ValueError(f"an id has {_SIZE} bytes, not {len(data)}")
    return _of(int.from_bytes(data))


def _of(number: int) -> UUID:
    """The id of 128 bits. Its own constructor looks at six ways to be called, and ids are read with every fact."""
    identifier = _new(UUID)
    _put(identifier, "int", number)
    _put(identifier, "is_safe", _UNKNOWN)
    return identifier


@lru_cache(maxsize=1024)  # a write names its certificate, and what that brings, several times
def urn(identifier: UUID) -> str:
    """The URN of an id: `urn:uuid:` and the lower-case form."""
    return f"urn:uuid:{identifier}"


def parse_urn(text: str) -> UUID:
    """The id that a URN names.

    Raises:
        InvalidValue: `text` is not `urn:uuid:` followed by a UUID in lower case.
    """
    if not _URN.fullmatch(text):
        raise InvalidValue(f"{text[:60]!r} is no UUID URN", remedy='write "urn:uuid:" and the UUID in lower case')
    return UUID(text[9:])
