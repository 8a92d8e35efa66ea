"""Events about keys: what is signed by whom."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from certificates.canonical import canonical_json
from certificates.errors import BadSignature, InvalidValue, MalformedDocument
from certificates.events import decode_event
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.revocation import RevocationReason
from tests.certificates.strategies import KEY, NEXT_KEY, NOW, STRANGER

BASE = UUID(int=7)
ROTATED = KeyRotated.signed(BASE, KEY, NEXT_KEY, NOW)
REVOKED = KeyRevoked.signed(BASE, KEY.public, NOW, RevocationReason.COMPROMISED, NEXT_KEY, NOW)
Event = KeyRotated | KeyRevoked


def test_members_are_as_the_log_has_them() -> None:
    members = json.loads(ROTATED.encode())
    assert len(members.pop("endorsed")) == len(members.pop("accepted")) == 88
    assert members == {
        "event": "key-rotated",
        "base": f"urn:uuid:{BASE}",
        "key": NEXT_KEY.public.multibase,
        "previous": KEY.public.multibase,
        "at": NOW,
    }
    members = json.loads(REVOKED.encode())
    assert len(members.pop("attested")) == 88
    assert members == {
        "event": "key-revoked",
        "base": f"urn:uuid:{BASE}",
        "key": KEY.public.multibase,
        "since": NOW,
        "reason": "compromised",
        "by": NEXT_KEY.public.multibase,
        "at": NOW,
    }


@pytest.mark.parametrize("event", [ROTATED, REVOKED])
def test_what_is_signed_verifies_and_nothing_else_does(event: Event) -> None:
    event.verify()
    members = event.members()
    stranger = STRANGER.public.multibase
    for name, other in (
        ("base", f"urn:uuid:{UUID(int=8)}"),
        ("key", stranger),
        ("previous", stranger),
        ("by", stranger),
        ("at", "2031-01-01T00:00:00Z"),
        ("since", "2031-01-01T00:00:00Z"),
        ("reason", "unspecified"),
    ):
        if name in members:
            changed = decode_event(canonical_json({**members, name: other}))
            assert isinstance(changed, KeyRotated | KeyRevoked)
            with pytest.raises(BadSignature):
                changed.verify()


def test_neither_key_rotates_alone() -> None:
    """Otherwise a past with a stranger's key could be put before a key, or a stranger's after it."""
    before = KeyRotated.signed(BASE, STRANGER, NEXT_KEY, NOW)
    for forged in (
        KeyRotated(BASE, NEXT_KEY.public, STRANGER.public, NOW, before.endorsed, ROTATED.accepted),
        KeyRotated(BASE, NEXT_KEY.public, KEY.public, NOW, before.endorsed, ROTATED.accepted),
    ):
        with pytest.raises(BadSignature):
            forged.verify()


@pytest.mark.parametrize(
    ("event", "change", "where"),
    [
        (ROTATED, {"key": "z6MkNothing"}, "key"),
        (ROTATED, {"previous": '{"publicKeyMultibase":"x"}'}, "previous"),
        (ROTATED, {"endorsed": "!"}, "endorsed"),
        (ROTATED, {"accepted": "AAAA"}, "accepted"),
        (ROTATED, {"key": KEY.public.multibase}, "key"),
        (REVOKED, {"reason": "tired"}, "reason"),
        (REVOKED, {"since": "today"}, "since"),
        (REVOKED, {"key": NEXT_KEY.public.multibase}, "key"),
        (REVOKED, {"attested": ""}, "attested"),
        (REVOKED, {"comment": ""}, "comment"),
    ],
)
def test_members_that_are_wrong_are_named(event: Event, change: dict[str, Any], where: str) -> None:
    with pytest.raises(MalformedDocument) as caught:
        decode_event(canonical_json(event.members() | change))
    assert caught.value.where == where


@pytest.mark.parametrize(
    "make",
    [
        lambda: KeyRotated.signed(BASE, KEY, KEY, NOW),
        lambda: KeyRevoked.signed(BASE, KEY.public, NOW, RevocationReason.UNSPECIFIED, KEY, NOW),
        lambda: KeyRotated.signed(BASE, KEY, NEXT_KEY, "now"),
    ],
)
def test_events_that_cannot_be_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        make()
