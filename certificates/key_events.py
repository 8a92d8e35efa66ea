"""Events about the keys of a base: another one signs from now on, or one is not to be trusted any more.

Rules
-----
* A rotation is signed twice, over the same bytes: by the key before, so that whoever knows that one can follow to the
  new one, and by the new one, so that nobody can make up a past for a key that is not theirs.
* A revocation names a key that was rotated away, an instant since when it is not to be trusted, and a reason. The key
  that signs by then signs it.
* What is signed is the event's canonical JSON without its signatures. The base's id is in it: it is worth nothing in
  another log.
* Whether the signatures are right is asked by `verify`, which building an event does not do.

Example
-------
>>> from certificates.keys import SigningKey
>>> old, new = SigningKey.from_bytes(bytes(32)), SigningKey.from_bytes(bytes([1] * 32))
>>> event = KeyRotated.signed(UUID(int=7), old, new, "2026-05-06T07:08:09Z")
>>> event.verify(), event.key == new.public, event.previous == old.public
(None, True, True)
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass
from typing import Final, Self
from uuid import UUID

from certificates import closed
from certificates.canonical import canonical_json
from certificates.errors import BadSignature, InvalidValue, UnreadableKey
from certificates.fields import instant
from certificates.ids import urn
from certificates.keys import SigningKey, VerifyingKey
from certificates.log_entries import LogEntry
from certificates.revocation import RevocationReason

_COMMON: Final = frozenset({"event", "base", "at", "key"})
_SIGNATURE_SIZE: Final = 64


@dataclass(frozen=True, slots=True)
class KeyRotated(LogEntry):
    """From the next event on, another key signs.

    Attributes:
        base: whose key.
        key: the new one.
        previous: the one before.
        at: when: a canonical XSD dateTime in UTC.
        endorsed: the signature by the one before, 64 bytes.
        accepted: the signature by the new one, 64 bytes.
    """

    base: UUID
    key: VerifyingKey
    previous: VerifyingKey
    at: str
    endorsed: bytes
    accepted: bytes

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        instant(self.at, "at")
        _signature(self.endorsed, "endorsed")
        _signature(self.accepted, "accepted")
        if self.key == self.previous:
            raise InvalidValue("it is the key before", remedy="rotate to a new key", where="key")

    @classmethod
    def signed(cls, base: UUID, previous: SigningKey, key: SigningKey, at: str) -> Self:
        """The event, signed with both keys. Raises `InvalidValue` when they are one, or `at` is not canonical."""
        data = canonical_json(_rotation(base, previous.public, key.public, at))
        return cls(base, key.public, previous.public, at, previous.sign(data), key.sign(data))

    def verify(self) -> None:
        """Raises `BadSignature` unless both keys have signed it."""
        data = canonical_json(_rotation(self.base, self.previous, self.key, self.at))
        _require(self.previous.verify(self.endorsed, data), "endorsed", self.previous)
        _require(self.key.verify(self.accepted, data), "accepted", self.key)

    def members(self) -> dict[str, object]:
        """The JSON members."""
        signatures = {"endorsed": _printed(self.endorsed), "accepted": _printed(self.accepted)}
        return _rotation(self.base, self.previous, self.key, self.at) | signatures

    @classmethod
    def from_members(cls, value: object) -> Self:
        """The event whose `members` these are; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(value, "", _COMMON | {"previous", "endorsed", "accepted"})
        return cls(
            base=closed.identifier(members, "base", ""),
            key=_key(members, "key"),
            previous=_key(members, "previous"),
            at=closed.text(members, "at", ""),
            endorsed=_bytes(members, "endorsed"),
            accepted=_bytes(members, "accepted"),
        )


@dataclass(frozen=True, slots=True)
class KeyRevoked(LogEntry):
    """A key that signed before is not to be trusted from an instant on.

    Attributes:
        base: whose key.
        key: the one that is revoked.
        since: from when on it may have been used by others: a canonical XSD dateTime in UTC, as `at`.
        reason: why.
        by: the key that signs by now.
        at: when it was revoked.
        attested: the signature by that key, 64 bytes.
    """

    base: UUID
    key: VerifyingKey
    since: str
    reason: RevocationReason
    by: VerifyingKey
    at: str
    attested: bytes

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        instant(self.at, "at")
        instant(self.since, "since")
        _signature(self.attested, "attested")
        if self.key == self.by:
            raise InvalidValue("it is the key that signs", remedy="rotate to a new key first", where="key")

    @classmethod
    def signed(
        cls, base: UUID, key: VerifyingKey, since: str, reason: RevocationReason, by: SigningKey, at: str
    ) -> Self:
        """The event, signed. Raises `InvalidValue` for a key that revokes itself, or an instant not canonical."""
        data = canonical_json(_revocation(base, key, since, reason, by.public, at))
        return cls(base, key, since, reason, by.public, at, by.sign(data))

    def verify(self) -> None:
        """Raises `BadSignature` unless the key that it names has signed it."""
        data = canonical_json(_revocation(self.base, self.key, self.since, self.reason, self.by, self.at))
        _require(self.by.verify(self.attested, data), "attested", self.by)

    def members(self) -> dict[str, object]:
        """The JSON members."""
        members = _revocation(self.base, self.key, self.since, self.reason, self.by, self.at)
        return members | {"attested": _printed(self.attested)}

    @classmethod
    def from_members(cls, value: object) -> Self:
        """The event whose `members` these are; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(value, "", _COMMON | {"since", "reason", "by", "attested"})
        return cls(
            base=closed.identifier(members, "base", ""),
            key=_key(members, "key"),
            since=closed.text(members, "since", ""),
            reason=closed.choice(members, "reason", "", RevocationReason),
            by=_key(members, "by"),
            at=closed.text(members, "at", ""),
            attested=_bytes(members, "attested"),
        )


def _rotation(base: UUID, previous: VerifyingKey, key: VerifyingKey, at: str) -> dict[str, object]:
    return {
        "event": "key-rotated",
        "base": urn(base),
        "key": key.multibase,
        "previous": previous.multibase,
        "at": at,
    }


def _revocation(
    base: UUID, key: VerifyingKey, since: str, reason: RevocationReason, by: VerifyingKey, at: str
) -> dict[str, object]:
    return {
        "event": "key-revoked",
        "base": urn(base),
        "key": key.multibase,
        "since": since,
        "reason": reason.value,
        "by": by.multibase,
        "at": at,
    }


def _require(verified: bool, name: str, key: VerifyingKey) -> None:
    if not verified:
        raise BadSignature(
            f"{key.multibase} has not signed this event", remedy="fetch it again; it was forged", where=name
        )


def _signature(value: bytes, name: str) -> None:
    if len(value) != _SIGNATURE_SIZE:
        raise InvalidValue(f"{len(value)} bytes are no Ed25519 signature", remedy="give its 64 bytes", where=name)


def _printed(signature: bytes) -> str:
    return b64encode(signature).decode()


def _bytes(members: dict[str, object], name: str) -> bytes:
    try:
        return b64decode(closed.text(members, name, ""), validate=True)
    except (Base64Error, ValueError):
        raise closed.malformed("is not in base64", name) from None


def _key(members: dict[str, object], name: str) -> VerifyingKey:
    try:
        return VerifyingKey.from_multikey(_multibase(closed.text(members, name, ""), name))
    except UnreadableKey as error:
        raise closed.malformed(error.message, name) from None


def _multibase(value: str, name: str) -> str:
    """Of the ways to write a key, only this one."""
    if not value.startswith("z"):
        raise closed.malformed("is no key in multibase, which begins with z", name)
    return value
