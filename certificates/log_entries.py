"""What all entries of the log have in common.

Rules
-----
* An entry is canonical JSON (RFC 8785) with a member `event` that names its kind.
* An event about a certificate says which, and when: a canonical XSD dateTime in UTC.
* Its leaf is the RFC 9162 leaf hash of these bytes.

Example
-------
>>> class Rung(LogEntry):
...     def members(self) -> dict[str, object]:
...         return {"event": "rung"}
>>> Rung().encode(), len(Rung().leaf)
(b'{"event":"rung"}', 32)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

from certificates.canonical import canonical_json
from certificates.ids import urn
from certificates.merkle import leaf_hash

if TYPE_CHECKING:
    from uuid import UUID

OF_A_CERTIFICATE: Final = frozenset({"event", "certificate", "at"})
"""The members that every event about a certificate has."""


def of_a_certificate(kind: str, certificate: UUID, at: str) -> dict[str, object]:
    """These members."""
    return {"event": kind, "certificate": urn(certificate), "at": at}


class LogEntry(ABC):
    """What all events can do."""

    __slots__ = ()

    @abstractmethod
    def members(self) -> dict[str, object]:
        """The JSON members."""

    def encode(self) -> bytes:
        """The event as canonical JSON: the bytes that the log holds."""
        return canonical_json(self.members())

    @property
    def leaf(self) -> bytes:
        """The 32-byte leaf hash of the event."""
        return leaf_hash(self.encode())
