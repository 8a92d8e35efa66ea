"""Log events: what happened to a certificate, or to the keys of a base (`key_events`), as leaves of the Merkle log.

Rules
-----
* An event is canonical JSON (RFC 8785) with a member `event` that names its kind. It holds ids, digests, instants and
  log positions, nothing that could have to be purged, and is far below the 64 KiB that a log entry may have.
* Its leaf is the RFC 9162 leaf hash of these bytes. So only the canonical bytes are read back: every other spelling
  would be another leaf.
* What is purged has events of its own (`purge_events`), which follow on the one by which it was applied.
* The head is the log position of the last applied event. Each applied event names the one before it (None for the
  first) and the digest of the state that it leads to (`lthash`).

Example
-------
>>> event = Stale(UUID(int=1), successor=UUID(int=2), at="2026-05-06T07:08:09Z")
>>> event.encode()[:50]
b'{"at":"2026-05-06T07:08:09Z","certificate":"urn:uu'
>>> decode_event(event.encode()) == event
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self
from uuid import UUID

from certificates import closed
from certificates.certificate import Verdict
from certificates.errors import InvalidValue, MalformedDocument
from certificates.fields import count, digest, instant
from certificates.ids import urn
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.log_entries import OF_A_CERTIFICATE, LogEntry, of_a_certificate
from certificates.purge_events import Erased, Purged, Restored
from certificates.records import DecisionKind


@dataclass(frozen=True, slots=True)
class Issued(LogEntry):
    """A certificate was signed.

    Attributes:
        certificate: its id.
        digest: SHA-256 of its secured bytes, in hexadecimal.
        verdict: what it says.
        at: when: a canonical XSD dateTime in UTC, as in every event.
    """

    certificate: UUID
    digest: str
    verdict: Verdict
    at: str

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        digest(self.digest, "digest")
        instant(self.at, "at")

    def members(self) -> dict[str, object]:
        """The JSON members."""
        return {
            **of_a_certificate("issued", self.certificate, self.at),
            "digest": self.digest,
            "verdict": self.verdict.value,
        }

    @classmethod
    def from_members(cls, value: object) -> Self:
        """The event whose `members` these are; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(value, "", OF_A_CERTIFICATE | {"digest", "verdict"})
        return cls(
            certificate=closed.identifier(members, "certificate", ""),
            digest=closed.text(members, "digest", ""),
            verdict=closed.choice(members, "verdict", "", Verdict),
            at=closed.text(members, "at", ""),
        )


@dataclass(frozen=True, slots=True)
class Decided(LogEntry):
    """An editor decided on a certificate in review.

    Attributes:
        certificate: its id.
        digest: SHA-256 of the secured decision record, in hexadecimal.
        decision: approve or reject.
        at: when.
    """

    certificate: UUID
    digest: str
    decision: DecisionKind
    at: str

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        digest(self.digest, "digest")
        instant(self.at, "at")

    def members(self) -> dict[str, object]:
        """The JSON members."""
        return {
            **of_a_certificate("decided", self.certificate, self.at),
            "digest": self.digest,
            "decision": self.decision.value,
        }

    @classmethod
    def from_members(cls, value: object) -> Self:
        """The event whose `members` these are; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(value, "", OF_A_CERTIFICATE | {"digest", "decision"})
        return cls(
            certificate=closed.identifier(members, "certificate", ""),
            digest=closed.text(members, "digest", ""),
            decision=closed.choice(members, "decision", "", DecisionKind),
            at=closed.text(members, "at", ""),
        )


@dataclass(frozen=True, slots=True)
class Applied(LogEntry):
    """A certificate's plan became part of the base.

    Attributes:
        certificate: its id.
        at: the transaction instant of everything the plan records.
        previous: the log position of the applied event before this one; None for the first of a base.
        state: the digest of the facts believed from now on (`lthash`), in hexadecimal.
        recheck: SHA-256 of the secured re-check record, in hexadecimal; None if it was applied as issued.
    """

    certificate: UUID
    at: str
    previous: int | None
    state: str
    recheck: str | None

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        instant(self.at, "at")
        digest(self.state, "state")
        if self.previous is not None:
            count(self.previous, "previous")
        if self.recheck is not None:
            digest(self.recheck, "recheck")

    def members(self) -> dict[str, object]:
        """The JSON members."""
        members = {**of_a_certificate("applied", self.certificate, self.at), "state": self.state}
        if self.previous is not None:
            members["previous"] = self.previous
        if self.recheck is not None:
            members["recheck"] = self.recheck
        return members

    @classmethod
    def from_members(cls, value: object) -> Self:
        """The event whose `members` these are; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(value, "", OF_A_CERTIFICATE | {"state"}, frozenset({"previous", "recheck"}))
        return cls(
            certificate=closed.identifier(members, "certificate", ""),
            at=closed.text(members, "at", ""),
            previous=closed.optional_integer(members, "previous", ""),
            state=closed.text(members, "state", ""),
            recheck=closed.optional_text(members, "recheck", ""),
        )


@dataclass(frozen=True, slots=True)
class Stale(LogEntry):
    """A re-check of a certificate in review came to something else.

    Attributes:
        certificate: the stale one's id.
        successor: the id of the one that takes its place; None if nothing does (a load has to be repeated).
        at: when.
    """

    certificate: UUID
    successor: UUID | None
    at: str

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        instant(self.at, "at")

    def members(self) -> dict[str, object]:
        """The JSON members."""
        members = of_a_certificate("stale", self.certificate, self.at)
        if self.successor is not None:
            members["successor"] = urn(self.successor)
        return members

    @classmethod
    def from_members(cls, value: object) -> Self:
        """The event whose `members` these are; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(value, "", OF_A_CERTIFICATE, frozenset({"successor"}))
        return cls(
            certificate=closed.identifier(members, "certificate", ""),
            successor=closed.optional_identifier(members, "successor", ""),
            at=closed.text(members, "at", ""),
        )


PurgeEvent = Purged | Erased | Restored
CertificateEvent = Issued | Decided | Applied | Stale | PurgeEvent
KeyEvent = KeyRotated | KeyRevoked
Event = CertificateEvent | KeyEvent
_KINDS: Final[
    dict[str, type[Issued | Decided | Applied | Stale | Purged | Erased | Restored | KeyRotated | KeyRevoked]]
] = {
    "issued": Issued, "decided": Decided, "applied": Applied, "stale": Stale,
    "purged": Purged, "erased": Erased, "restored": Restored,
    "key-rotated": KeyRotated, "key-revoked": KeyRevoked,
}  # fmt: skip


def decode_event(data: bytes) -> Event:
    """The event whose `encode` gave `data`.

    Raises:
        MalformedDocument: `data` is no event, or not in its canonical form.
    """
    members = closed.parse(data)
    kind = _KINDS.get(str(members.get("event"))) if isinstance(members, dict) else None
    if kind is None:
        raise closed.malformed(f"none of {', '.join(_KINDS)}", "event")
    try:
        event = kind.from_members(members)
    except InvalidValue as error:
        raise MalformedDocument(error.message, remedy=error.remedy, where=error.where) from None
    if event.encode() != data:
        raise closed.malformed("not in the canonical form of RFC 8785")
    return event
