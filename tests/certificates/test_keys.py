"""Keys: their names, their Multikey documents and their files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from certificates.errors import KeyExists, UnreadableKey
from certificates.keys import SigningKey, VerifyingKey
from tests.certificates.strategies import KEY, STRANGER

_PUBLIC = KEY.public


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=100))
def test_what_a_key_signs_its_public_half_verifies(seed: bytes, data: bytes) -> None:
    key = SigningKey.from_bytes(seed)
    signature = key.sign(data)
    assert key.public.verify(signature, data)
    assert not key.public.verify(signature, data + b"x")
    assert not key.public.verify(signature[:-1], data)
    assert not STRANGER.public.verify(signature, data)
    assert key.to_bytes() == seed


def test_a_key_published_in_rfc_8032() -> None:
    # RFC 8032 section 7.1, test 2
    key = SigningKey.from_bytes(bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
    assert key.public.raw.hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert key.sign(b"\x72").hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )


def test_generated_keys_differ() -> None:
    assert SigningKey.generate() != SigningKey.generate()


def test_names_of_a_key_follow_from_it() -> None:
    assert _PUBLIC.multibase.startswith("z6Mk")
    assert _PUBLIC.did == f"did:key:{_PUBLIC.multibase}"
    assert _PUBLIC.verification_method == f"{_PUBLIC.did}#{_PUBLIC.multibase}"


def test_no_secret_is_printed() -> None:
    for seen in (repr(KEY), str(KEY), f"{KEY}"):
        assert KEY.to_bytes().hex() not in seen
        assert repr(KEY.to_bytes()) not in seen
        assert "Private" not in seen


@given(st.binary(min_size=32, max_size=32))
def test_a_multikey_is_read_back(raw: bytes) -> None:
    key = VerifyingKey(raw)
    document = key.multikey()
    assert VerifyingKey.from_multikey({**document}) == key
    assert VerifyingKey.from_multikey(json.dumps(document)) == key
    assert VerifyingKey.from_multikey(key.multibase) == key


_WRONG: dict[str, Callable[[dict[str, object]], object]] = {
    "publicKeyMultibase": lambda key: key.update(publicKeyMultibase="z6MkNotAKey"),
    "id": lambda key: key.update(id=STRANGER.public.verification_method),
    "controller": lambda key: key.update(controller="did:web:example.org"),
    "type": lambda key: key.update(type="JsonWebKey"),
    "secretKeyMultibase": lambda key: key.update(secretKeyMultibase="z3u2"),
    "revoked": lambda key: key.update(revoked="2026-01-01T00:00:00Z"),
    "@context": lambda key: key.update({"@context": "https://example.org/forged"}),
}


@pytest.mark.parametrize("where", _WRONG)
def test_a_multikey_that_contradicts_itself_or_says_more_is_refused(where: str) -> None:
    document: dict[str, object] = {**_PUBLIC.multikey()}
    _WRONG[where](document)
    with pytest.raises(UnreadableKey) as caught:
        VerifyingKey.from_multikey(document)
    assert caught.value.where == where


@pytest.mark.parametrize("name", ["id", "type", "controller", "publicKeyMultibase"])
def test_a_multikey_that_says_less_is_refused(name: str) -> None:
    document: dict[str, object] = {**_PUBLIC.multikey()}
    del document[name]
    with pytest.raises(UnreadableKey, match=name):
        VerifyingKey.from_multikey(json.dumps(document))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "z",
        "z0OIl",
        "zé",
        "\ud800",
        _PUBLIC.multibase + "1",
        "u" + _PUBLIC.multibase[1:],
        "z3u2en7t5LR2WtQH5PfFqMqwVHBeXouLzo6haApm8XHqvjxq",  # a secret key
        "zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv",  # a P-256 key
    ],
)
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(UnreadableKey):
        VerifyingKey.from_multikey(text)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_keys_of_another_length_are_refused(length: int) -> None:
    with pytest.raises(UnreadableKey, match=f"{length} bytes"):
        VerifyingKey(bytes(length))
    with pytest.raises(UnreadableKey, match=f"{length} bytes"):
        SigningKey.from_bytes(bytes(length))


def test_a_saved_key_is_its_owners_alone_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "signing.pem"
    KEY.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["signing.pem"]
    loaded = SigningKey.load(path)
    assert loaded.to_bytes() == KEY.to_bytes()
    assert loaded == KEY


def test_a_saved_key_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "signing.pem"
    KEY.save(path)
    with pytest.raises(KeyExists, match=r"signing\.pem"):
        STRANGER.save(path)
    assert SigningKey.load(path) == KEY
    assert [one.name for one in tmp_path.iterdir()] == ["signing.pem"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o644])
def test_a_key_that_others_can_reach_is_refused_with_the_way_out(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "signing.pem"
    KEY.save(path)
    path.chmod(mode)
    with pytest.raises(UnreadableKey, match=f"mode 0{mode:o}.*chmod 600"):
        SigningKey.load(path)


def _pkcs8(key: Ed25519PrivateKey, password: bytes | None) -> bytes:
    hidden = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden)


_P256 = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a key",
        _pkcs8(Ed25519PrivateKey.generate(), None)[:80],
        _pkcs8(Ed25519PrivateKey.generate(), b"password"),
        _P256,
    ],
    ids=["empty", "text", "cut off", "encrypted", "another kind"],
)
def test_a_file_that_holds_no_key_is_refused_without_showing_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "signing.pem"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(UnreadableKey, match=r"signing\.pem: holds no Ed25519 key") as caught:
        SigningKey.load(path)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableKey, match=r"absent\.pem: cannot be read: No such file"):
        SigningKey.load(tmp_path / "absent.pem")
