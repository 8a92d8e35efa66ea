"""What all entries of the log have in common.

Rules
-----
* An entry is canonical JSON (RFC 8785) with a member `event` that names its kind.
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

from certificates.canonical import canonical_json
from certificates.merkle import leaf_hash


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
