"""The keys of a base, one after another."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.errors import BadSignature, CertificateError, WrongKey
from certificates.events import KeyEvent
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.key_history import KeyHistory
from certificates.keys import SigningKey
from certificates.revocation import RevocationReason
from tests.certificates.strategies import NOW

BASE = UUID(int=7)
KEYS = [SigningKey.from_bytes(bytes([number]) * 32) for number in range(5)]


def rotated(old: int, new: int, base: UUID = BASE) -> KeyRotated:
    return KeyRotated.signed(base, KEYS[old], KEYS[new], NOW)


def revoked(key: int, by: int) -> KeyRevoked:
    return KeyRevoked.signed(BASE, KEYS[key].public, NOW, RevocationReason.COMPROMISED, KEYS[by], NOW)


def follow(*events: KeyEvent, last: int, step: int = 10) -> KeyHistory:
    return KeyHistory.follow([(step * (n + 1), event) for n, event in enumerate(events)], BASE, KEYS[last].public)


@given(st.integers(0, 4), st.integers(1, 3))
def test_every_position_has_the_key_that_signed_then(rotations: int, step: int) -> None:
    history = follow(*(rotated(number, number + 1) for number in range(rotations)), last=rotations, step=step)
    assert history.current == KEYS[rotations].public
    signing = 0
    for position in range(step * 6):
        assert history.at(position) == KEYS[signing].public
        if position and position % step == 0 and signing < rotations:
            signing += 1
    assert [held.rotated for held in history.keys] == [step * (n + 1) for n in range(rotations)] + [None]


def test_a_revoked_key_is_told_with_the_event() -> None:
    event = revoked(0, 1)
    history = follow(rotated(0, 1), event, rotated(1, 2), last=2)
    assert [held.revoked for held in history.keys] == [event, None, None]
    assert history.held(KEYS[0].public.did) == history.keys[0]
    assert history.held(KEYS[4].public.did) is None


@pytest.mark.parametrize(
    ("events", "last"),
    [
        ([rotated(0, 1)], 0),
        ([rotated(0, 1)], 2),
        ([rotated(0, 1), rotated(0, 2)], 2),
        ([rotated(0, 1), rotated(1, 0)], 0),
        ([rotated(0, 1, UUID(int=8))], 1),
        ([revoked(0, 1)], 1),
        ([rotated(0, 1), revoked(3, 1)], 1),
        ([rotated(0, 1), rotated(1, 2), revoked(0, 1)], 2),
        ([rotated(0, 1), revoked(0, 1), revoked(0, 1)], 1),
    ],
)
def test_what_does_not_go_on_from_what_was_is_no_history(events: list[KeyEvent], last: int) -> None:
    with pytest.raises(WrongKey):
        follow(*events, last=last)


def test_an_event_that_is_not_signed_is_no_history() -> None:
    event = rotated(0, 1)
    forged = KeyRotated(BASE, event.key, KEYS[3].public, NOW, event.endorsed, event.accepted)
    with pytest.raises(BadSignature):
        follow(forged, last=1)
    with pytest.raises(CertificateError):
        follow(rotated(3, 4), rotated(0, 1), last=1)
