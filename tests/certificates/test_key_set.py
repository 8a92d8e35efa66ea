"""The published keys of a base."""

import json
from base64 import urlsafe_b64decode
from uuid import UUID

import pytest
from joserfc.jwk import KeySet, OKPKey

from certificates.errors import BadSignature, MalformedDocument, WrongKey
from certificates.events import KeyEvent
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.key_history import KeyHistory
from certificates.key_set import key_set, read_key_set
from certificates.revocation import RevocationReason
from tests.certificates.strategies import KEY, NEXT_KEY, NOW, STRANGER

BASE = UUID(int=7)
EVENTS: list[tuple[int, KeyEvent]] = [(5, KeyRotated.signed(BASE, KEY, NEXT_KEY, NOW))]
REVOKED: list[tuple[int, KeyEvent]] = [
    *EVENTS,
    (9, KeyRevoked.signed(BASE, KEY.public, NOW, RevocationReason.COMPROMISED, NEXT_KEY, NOW)),
]


def published(events: list[tuple[int, KeyEvent]]) -> bytes:
    return json.dumps(key_set(KeyHistory.follow(events, BASE, NEXT_KEY.public), events)).encode()


def test_another_library_reads_the_keys_and_verifies_with_them() -> None:
    keys = KeySet.import_key_set(json.loads(published(EVENTS))).keys
    assert [key.kid for key in keys] == [NEXT_KEY.public.verification_method, KEY.public.verification_method]
    for key, signer in zip(keys, (NEXT_KEY, KEY), strict=True):
        assert isinstance(key, OKPKey)
        key.public_key.verify(signer.sign(b"deed"), b"deed")  # type: ignore[union-attr]
        assert urlsafe_b64decode(str(key.as_dict()["x"]) + "=") == signer.public.raw


def test_a_revoked_key_is_not_among_them() -> None:
    assert [key["kid"] for key in json.loads(published(REVOKED))["keys"]] == [NEXT_KEY.public.verification_method]


@pytest.mark.parametrize("events", [EVENTS, REVOKED])
def test_whoever_knows_one_key_knows_all(events: list[tuple[int, KeyEvent]]) -> None:
    for known in (KEY.public, NEXT_KEY.public):
        history = read_key_set(published(events), known)
        assert history == KeyHistory.follow(events, BASE, NEXT_KEY.public)
    with pytest.raises(WrongKey, match="none of these"):
        read_key_set(published(events), STRANGER.public)


def test_what_was_altered_is_refused() -> None:
    document = json.loads(published(EVENTS))
    document["events"][0]["event"]["at"] = "2031-01-01T00:00:00Z"
    with pytest.raises(BadSignature):
        read_key_set(json.dumps(document).encode(), KEY.public)


@pytest.mark.parametrize("text", ["", "[]", '{"keys": []}', '{"keys": [], "events": 7}', '{"keys": [], "events": [7]}'])
def test_what_is_no_set_is_refused(text: str) -> None:
    with pytest.raises(MalformedDocument):
        read_key_set(text.encode(), KEY.public)
