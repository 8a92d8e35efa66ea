"""Secured certificates: accepted as they are, refused after any edit."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.certificate import Certificate
from certificates.errors import BadSignature, InvalidValue, MalformedDocument, WrongKey
from certificates.proof import secure, verify
from tests.certificates.edits import EDITS, edited
from tests.certificates.strategies import EXAMPLE, KEY, NOW, STRANGER, certificates, instants

_SECURED = secure(EXAMPLE, KEY, NOW)
_REFUSALS = (MalformedDocument, WrongKey, BadSignature)


@given(certificates, instants)
def test_a_secured_certificate_is_verified_and_read_back(certificate: Certificate, created: str) -> None:
    assert verify(secure(certificate, KEY, created), KEY.public) == certificate


def test_securing_twice_gives_the_same_bytes() -> None:
    assert secure(EXAMPLE, KEY, NOW) == _SECURED


def test_layout_and_order_of_the_json_do_not_matter() -> None:
    reordered = json.dumps(dict(reversed(json.loads(_SECURED).items())), indent=4)
    assert verify(reordered.encode(), KEY.public) == EXAMPLE


@pytest.mark.parametrize("name", EDITS)
def test_any_edit_is_refused(name: str) -> None:
    with pytest.raises(_REFUSALS):
        verify(edited(_SECURED, name), KEY.public)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("no verdict", "credentialSubject.verdict"),
        ("a verdict that is none", "credentialSubject.verdict"),
        ("a name for the plan", "credentialSubject.name"),
        ("no findings counted", "credentialSubject.findingRoot"),
        ("another plan", "credentialSubject.id"),
        ("a digest in upper case", "shapesDigest"),
        ("a description", "description"),
        ("another context", "@context"),
        ("never issued", "issuedAt"),
        ("two predecessors", "predecessor"),
        ("proof with a nonce", "proof.nonce"),
        ("proof for another purpose", "proof.proofPurpose"),
        ("no proofs", "proof"),
        ("no proof", "proof"),
    ],
)
def test_the_member_that_is_wrong_is_named(name: str, where: str) -> None:
    with pytest.raises(MalformedDocument) as caught:
        verify(edited(_SECURED, name), KEY.public)
    assert caught.value.where == where
    assert where in str(caught.value)
    assert caught.value.remedy in str(caught.value)


@given(st.integers(0, len(_SECURED) - 1), st.integers(0, 255))
def test_no_byte_can_be_changed_to_another_meaning(place: int, value: int) -> None:
    changed = _SECURED[:place] + bytes([value]) + _SECURED[place + 1 :]
    try:
        accepted = verify(changed, KEY.public)
    except _REFUSALS:
        return
    assert accepted == EXAMPLE


def test_a_certificate_of_another_issuer_is_refused() -> None:
    by_stranger = secure(replace(EXAMPLE, issuer=STRANGER.public.did), STRANGER, NOW)
    assert verify(by_stranger, STRANGER.public).issuer == STRANGER.public.did
    with pytest.raises(WrongKey, match="issuer"):
        verify(by_stranger, KEY.public)


def test_a_stranger_cannot_sign_in_the_issuers_name() -> None:
    forged = json.loads(_SECURED)
    forged["proof"] = json.loads(secure(replace(EXAMPLE, issuer=STRANGER.public.did), STRANGER, NOW))["proof"]
    with pytest.raises(WrongKey, match=r"proof\.verificationMethod"):
        verify(json.dumps(forged).encode(), KEY.public)
    forged["proof"]["verificationMethod"] = KEY.public.verification_method
    with pytest.raises(BadSignature):
        verify(json.dumps(forged).encode(), KEY.public)


def test_a_certificate_is_secured_by_its_issuer_only() -> None:
    with pytest.raises(WrongKey, match="issuer"):
        secure(EXAMPLE, STRANGER, NOW)


def test_a_proof_needs_a_canonical_instant() -> None:
    with pytest.raises(InvalidValue, match=r"proof\.created"):
        secure(EXAMPLE, KEY, "2026-05-06T07:08:09.10Z")


def _with(old: bytes, new: bytes) -> bytes:
    assert old in _SECURED
    return _SECURED.replace(old, new, 1)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (b"", "not JSON"),
        (b"null", "not an object"),
        (b"[]", "not an object"),
        (b"\xff\xfe{\x00}\x00", "not JSON in UTF-8"),
        (b"\x89PNG" + b"[{" * 100_000, "not JSON in UTF-8: it begins with"),
        (_SECURED[:-1], "not JSON"),
        (_SECURED + b"{}", "not JSON"),
        (b"[" * 100_000, "65536 bytes"),
        (b"[" * 60_000, "64 objects and arrays"),
        (b'{"a":' * 60 + b"1" + b"}" * 60, "proof: the member is missing"),
        (_SECURED + b" " * 65536, "65536 bytes"),
        (_with(b'"baseHead":41', b'"baseHead":41.0'), "41.0 is no integer"),
        (_with(b'"baseHead":41', b'"baseHead":4.1e1'), "4.1e1 is no integer"),
        (_with(b'"baseHead":41', b'"baseHead":NaN'), "NaN is no integer"),
        (_with(b'"baseHead":41', b'"baseHead":' + b"9" * 5000), "not JSON"),
        (_with(b'"baseHead":41', b'"baseHead":"41"'), "baseHead: not an integer"),
        (_with(b'"baseHead":41', b'"baseHead":true'), "baseHead: not an integer"),
        (_with(b'"baseHead":41', b'"baseHead":-41'), "baseHead: -41 is not a count"),
        (_with(b'"verdict":"review"', b'"verdict":"clear","verdict":"review"'), "verdict: the member is given twice"),
        (_with(b'"verdict":"review"', b'"verdict":"\\ud800"'), "verdict"),
        (_with(b'"issuedAt":"', b'"issuedAt":"\\ud800'), "issuedAt"),
    ],
)
def test_what_is_not_one_of_ours_is_refused_with_the_reason(document: bytes, words: str) -> None:
    with pytest.raises(MalformedDocument) as caught:
        verify(document, KEY.public)
    assert words in str(caught.value)
