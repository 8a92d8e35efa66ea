"""The keys of a base, one after another, as its log tells of them.

Rules
-----
* A log says nothing of the first key: whoever verifies knows one key, and follows the rotations from it or to it. What
  an event at a position was signed with is the key that the last rotation before it brought.
* Each rotation goes on from the key before, and to a key that was none of the base's; a revocation is of a key that was
  rotated away, once, and signed by the one that signs then. Everything else breaks the history.

Example
-------
>>> from certificates.keys import SigningKey
>>> old, new = SigningKey.from_bytes(bytes(32)), SigningKey.from_bytes(bytes([1] * 32))
>>> rotated = KeyRotated.signed(UUID(int=7), old, new, "2026-05-06T07:08:09Z")
>>> history = KeyHistory.follow([(5, rotated)], UUID(int=7), new.public)
>>> history.at(5) == old.public, history.at(6) == new.public
(True, True)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self
from uuid import UUID

from certificates.checkpoints import Checkpoint, verify_checkpoint
from certificates.errors import BadSignature, WrongKey
from certificates.events import KeyEvent
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.keys import VerifyingKey


@dataclass(frozen=True, slots=True)
class HeldKey:
    """A key that a base signs with, or did.

    Attributes:
        key: it.
        rotated: the position of the event that ended its use; None while it signs.
        revoked: the event that revoked it; None for a key that may be trusted.
    """

    key: VerifyingKey
    rotated: int | None = None
    revoked: KeyRevoked | None = None


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """All keys of a base, the oldest first; at least one."""

    keys: tuple[HeldKey, ...]

    @classmethod
    def of(cls, key: VerifyingKey) -> Self:
        """The history of a base that never had another key."""
        return cls((HeldKey(key),))

    @classmethod
    def follow(cls, events: Iterable[tuple[int, KeyEvent]], base: UUID, last: VerifyingKey) -> Self:
        """The history that a log tells.

        Args:
            events: all key events of the log with their positions, in order.
            base: whose log.
            last: the key that signs after all of them.

        Raises:
            WrongKey: the events do not go on from one another, are of another base, or lead to another key.
            BadSignature: one is not signed by the keys that it names.
        """
        held: list[HeldKey] = []
        for position, event in events:
            event.verify()
            if event.base != base:
                raise _broken(position, f"it is about the keys of another base, {event.base}")
            if not held:
                held.append(HeldKey(event.previous if isinstance(event, KeyRotated) else event.by))
            if isinstance(event, KeyRotated):
                _rotate(held, position, event)
            else:
                _revoke(held, position, event)
        held = held or [HeldKey(last)]
        if held[-1].key != last:
            raise WrongKey(
                f"the keys that the log tells of end with {held[-1].key.multibase}",
                remedy=f"expected {last.multibase}; name the key that the base signs with now",
                where="keys",
            )
        return cls(tuple(held))

    @property
    def current(self) -> VerifyingKey:
        """The key that signs."""
        return self.keys[-1].key

    def at(self, position: int) -> VerifyingKey:
        """The key that the event at a position, and what it names, was signed with."""
        ends = [held.rotated for held in self.keys if held.rotated is not None]
        return self.keys[bisect_left(ends, position)].key

    def verify_checkpoint(self, note: str, origin: str) -> Checkpoint:
        """The checkpoint in a note, if a key of the base signed it while it was the one that signs, or signs now.

        Raises as `checkpoints.verify_checkpoint` does.
        """
        refusal: BadSignature | None = None
        for held in reversed(self.keys):
            try:
                checkpoint = verify_checkpoint(note, origin, held.key)
            except BadSignature as error:
                refusal = refusal or error
                continue
            if held.rotated is None or checkpoint.size <= held.rotated:
                return checkpoint
        raise refusal or WrongKey(
            "it is signed by a key that did not sign any more at its size", remedy="fetch one of now", where=origin
        )

    def named_by(self, method: str) -> HeldKey | None:
        """The key that a proof's verification method names, under whatever DID; None when the base never had it."""
        return next((held for held in self.keys if held.key.multibase == method.rpartition("#")[2]), None)

    def held(self, did: str) -> HeldKey | None:
        """The key of a DID; None when the base never had it."""
        return next((held for held in self.keys if held.key.did == did), None)


def _rotate(held: list[HeldKey], position: int, event: KeyRotated) -> None:
    if event.previous != held[-1].key:
        raise _broken(position, f"it goes on from {event.previous.multibase}, and {held[-1].key.multibase} signed")
    if any(each.key == event.key for each in held):
        raise _broken(position, f"{event.key.multibase} was a key of this base before")
    held[-1] = replace(held[-1], rotated=position)
    held.append(HeldKey(event.key))


def _revoke(held: list[HeldKey], position: int, event: KeyRevoked) -> None:
    place = next((number for number, each in enumerate(held) if each.key == event.key), None)
    if place is None or event.by != held[-1].key:
        raise _broken(position, "it revokes a key that the base never had, or is by one that did not sign then")
    if held[place].revoked is not None:
        raise _broken(position, f"{event.key.multibase} was revoked before")
    held[place] = replace(held[place], revoked=event)


def _broken(position: int, message: str) -> WrongKey:
    return WrongKey(message, remedy="audit the base: its log was forged", where=f"events {position}")
