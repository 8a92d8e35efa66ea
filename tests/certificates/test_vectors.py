"""The test vectors published with the EdDSA cryptosuites: our parts of the mechanism give the same bytes."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import base58
import pytest

from certificates.canonical import canonical_json
from certificates.integrity import options_nquads
from certificates.keys import SigningKey, VerifyingKey
from tests.requirements import require

pytestmark = pytest.mark.shared

_SECRET_PREFIX = b"\x80\x26"


@pytest.fixture(scope="module")
def vectors() -> Path:
    return require("shared") / "suites" / "vc-di-eddsa" / "TestVectors"


@pytest.fixture(scope="module")
def key(vectors: Path) -> SigningKey:
    pair = _json(vectors / "keyPair.json")
    secret = base58.b58decode(pair["privateKeyMultibase"][1:])
    assert secret.startswith(_SECRET_PREFIX)
    key = SigningKey.from_bytes(secret.removeprefix(_SECRET_PREFIX))
    assert key.public.multibase == pair["publicKeyMultibase"]
    return key


def _json(path: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(path.read_text())
    return parsed


def _check(key: SigningKey, options: bytes, document: bytes, proof: dict[str, Any], combined: str) -> None:
    data = sha256(options).digest() + sha256(document).digest()
    assert data.hex() == combined
    assert "z" + base58.b58encode(key.sign(data)).decode() == proof["proofValue"]
    public = VerifyingKey.from_multikey(key.public.multibase)
    assert public.verification_method == proof["verificationMethod"]
    assert public.verify(base58.b58decode(proof["proofValue"][1:]), data)


def test_jcs_vector(vectors: Path, key: SigningKey) -> None:
    folder = vectors / "eddsa-jcs-2022"
    signed = _json(folder / "signedJCS.json")
    proof = signed.pop("proof")
    document, options = canonical_json(signed), canonical_json(_json(folder / "proofConfigJCS.json"))
    assert document.decode() == (folder / "canonDocJCS.txt").read_text()
    assert options.decode() == (folder / "proofCanonJCS.txt").read_text()
    _check(key, options, document, proof, (folder / "combinedHashJCS.txt").read_text())


def test_rdfc_vector(vectors: Path, key: SigningKey) -> None:
    folder = vectors / "eddsa-rdfc-2022"
    proof = _json(folder / "signedDataInt.json")["proof"]
    options = options_nquads(proof["created"], proof["verificationMethod"])
    assert options == (folder / "proofCanonDataInt.txt").read_text()
    document = (folder / "canonDocDataInt.txt").read_bytes()
    _check(key, options.encode(), document, proof, (folder / "combinedHashDataInt.txt").read_text())
