"""Events about what must not exist: it was purged, no copy of it is left, or it may be written again.

Rules
-----
* Each is about the certificate of the purge, and comes after the event by which that was applied. It holds digests
  alone: nothing of what was purged, and nothing by which a guess at it could be tested.
* `Purged` names the digest of all that is gone: of the list of facts and items without their content
  (`erasure_digest`). So whoever has the list can tell what was purged from what somebody took away.
* `Erased` ends the purge: the receipt whose digest it names says where nothing is left.
* `Restored` is about the certificate that lifts tombstones, and names the one of the purge that had put them up.

Example
-------
>>> event = Purged(UUID(int=1), erased="0" * 64, tombstones=1, at="2026-05-06T07:08:09Z")
>>> event.encode()[-60:]
b'00000000000000000000000000","event":"purged","tombstones":1}'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Self
from uuid import UUID

from certificates import closed
from certificates.fields import count, digest, instant
from certificates.ids import urn
from certificates.log_entries import OF_A_CERTIFICATE, LogEntry, of_a_certificate


@dataclass(frozen=True, slots=True)
class Purged(LogEntry):
    """A purge was carried out.

    Attributes:
        certificate: the purge's own.
        erased: `erasure_digest` of what is gone, in hexadecimal.
        tombstones: how many stand for it.
        at: when: a canonical XSD dateTime in UTC, as in every event.
    """

    certificate: UUID
    erased: str
    tombstones: int
    at: str

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        digest(self.erased, "erased")
        count(self.tombstones, "tombstones")
        instant(self.at, "at")

    def members(self) -> dict[str, object]:
        """The JSON members."""
        return {
            **of_a_certificate("purged", self.certificate, self.at),
            "erased": self.erased,
            "tombstones": self.tombstones,
        }

    @classmethod
    def from_members(cls, value: object) -> Self:
        """The event whose `members` these are; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(value, "", OF_A_CERTIFICATE | {"erased", "tombstones"})
        return cls(
            certificate=closed.identifier(members, "certificate", ""),
            erased=closed.text(members, "erased", ""),
            tombstones=closed.integer(members, "tombstones", ""),
            at=closed.text(members, "at", ""),
        )


@dataclass(frozen=True, slots=True)
class Erased(LogEntry):
    """Nothing of a purge is left within reach.

    Attributes:
        certificate: the purge's own.
        receipt: SHA-256 of the signed receipt, in hexadecimal.
        at: when.
    """

    certificate: UUID
    receipt: str
    at: str

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        digest(self.receipt, "receipt")
        instant(self.at, "at")

    def members(self) -> dict[str, object]:
        """The JSON members."""
        return {**of_a_certificate("erased", self.certificate, self.at), "receipt": self.receipt}

    @classmethod
    def from_members(cls, value: object) -> Self:
        """The event whose `members` these are; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(value, "", OF_A_CERTIFICATE | {"receipt"})
        return cls(
            certificate=closed.identifier(members, "certificate", ""),
            receipt=closed.text(members, "receipt", ""),
            at=closed.text(members, "at", ""),
        )


@dataclass(frozen=True, slots=True)
class Restored(LogEntry):
    """The tombstones of a purge are lifted.

    Attributes:
        certificate: the one that lifts them.
        purge: the certificate of the purge.
        at: when.
    """

    certificate: UUID
    purge: UUID
    at: str

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        instant(self.at, "at")

    def members(self) -> dict[str, object]:
        """The JSON members."""
        return {**of_a_certificate("restored", self.certificate, self.at), "purge": urn(self.purge)}

    @classmethod
    def from_members(cls, value: object) -> Self:
        """The event whose `members` these are; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(value, "", OF_A_CERTIFICATE | {"purge"})
        return cls(
            certificate=closed.identifier(members, "certificate", ""),
            purge=closed.identifier(members, "purge", ""),
            at=closed.text(members, "at", ""),
        )


def erasure_digest(facts: Iterable[tuple[bytes, bytes]], items: Iterable[tuple[bytes, str, int]]) -> str:
    """SHA-256, in hexadecimal, of what is gone, as a list without its content.

    Args:
        facts: id and leaf hash of each fact, by id.
        items: certificate, kind and ordinal of each item, in this order.
    """
    told = sha256()
    for fact, leaf in facts:
        told.update(b"fact " + fact.hex().encode() + b" " + leaf.hex().encode() + b"\n")
    for certificate, kind, ordinal in items:
        told.update(f"item {certificate.hex()} {kind} {ordinal}\n".encode())
    return told.hexdigest()
