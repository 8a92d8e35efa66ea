"""Names under which a base signs: what they are made from, what verifies under them, and what does not."""

import json
from dataclasses import replace
from uuid import UUID

import pytest

from certificates.dids import DID, did_document, did_web, document_path, method_of
from certificates.errors import CertificateError, InvalidValue
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.key_history import KeyHistory
from certificates.proof import secure, verify
from certificates.records import Decision, DecisionKind, secure_record, verify_record
from certificates.revocation import RevocationReason
from tests.certificates.strategies import EXAMPLE, KEY, NOW, STRANGER

WEB = "did:web:kg.example.org:b:one"


@pytest.mark.parametrize(
    ("url", "did", "path"),
    [
        ("https://example.org", "did:web:example.org", "/.well-known/did.json"),
        ("https://Example.org/", "did:web:example.org", "/.well-known/did.json"),
        ("https://example.org:8443/b/one/", "did:web:example.org%3A8443:b:one", "/b/one/did.json"),
    ],
)
def test_a_name_is_made_from_a_url(url: str, did: str, path: str) -> None:
    assert (did_web(url), document_path(url)) == (did, path)
    assert DID.fullmatch(did)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org", "example.org", "https://192.0.2.1", "https://[::1]/", "https://a@example.org",
        "https://example.org/?q", "https://example.org/#f", "https://example.org/a b", "https://example.org/..",
        "https://example.org:port", "https://", "https://exa_mple.org",
    ],
)  # fmt: skip
def test_no_name_is_made_from_anything_else(url: str) -> None:
    with pytest.raises(InvalidValue, match="public URL"):
        did_web(url)


def test_what_is_signed_under_a_name_verifies_with_the_key_and_no_other() -> None:
    named = KEY.under(WEB)
    document = secure(replace(EXAMPLE, issuer=WEB), named, NOW)
    assert json.loads(document)["proof"]["verificationMethod"] == f"{WEB}#{KEY.public.multibase}"
    assert verify(document, KEY.public) == replace(EXAMPLE, issuer=WEB)
    with pytest.raises(CertificateError):
        verify(document, STRANGER.public)
    record = Decision(UUID(int=1), "0" * 64, DecisionKind.APPROVE, "ada", NOW, None)
    assert verify_record(secure_record(record, named, NOW), KEY.public) == record


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("issuer", "did:web:example.com"),
        ("issuer", KEY.public.did),
        ("issuer", STRANGER.public.did),
        ("method", KEY.public.verification_method),
        ("method", f"did:web:example.com#{KEY.public.multibase}"),
        ("method", f"{WEB}#{STRANGER.public.multibase}"),
        ("method", WEB),
    ],
)
def test_another_name_is_refused(member: str, value: str) -> None:
    """Issuer and proof say the same, and the signature is over both."""
    document = json.loads(secure(replace(EXAMPLE, issuer=WEB), KEY.under(WEB), NOW))
    if member == "issuer":
        document["issuer"] = value
    else:
        document["proof"]["verificationMethod"] = value
    with pytest.raises(CertificateError):
        verify(json.dumps(document).encode(), KEY.public)


def test_a_key_does_not_sign_what_names_another_issuer() -> None:
    for issuer, key in ((WEB, KEY), (KEY.public.did, KEY.under(WEB))):
        with pytest.raises(CertificateError, match="issuer"):
            secure(replace(EXAMPLE, issuer=issuer), key, NOW)


def test_the_document_has_all_keys_and_says_which_are_revoked() -> None:
    base, keys = UUID(int=7), (STRANGER, KEY)
    rotated = KeyRotated.signed(base, *keys, NOW)
    revoked = KeyRevoked.signed(base, STRANGER.public, NOW, RevocationReason.COMPROMISED, KEY, NOW)
    document = did_document(WEB, KeyHistory.follow([(3, rotated), (4, revoked)], base, KEY.public))
    now, before = (method_of(WEB, key.public) for key in (KEY, STRANGER))
    methods = document["verificationMethod"]
    assert isinstance(methods, list)
    assert [(each["id"], each.get("revoked")) for each in methods] == [(now, None), (before, NOW)]
    assert document["assertionMethod"] == [now]
    assert document["id"] == WEB
