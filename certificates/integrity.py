"""Data Integrity proofs (W3C VC Data Integrity 1.0 and its EdDSA Cryptosuites 1.0), in the two suites used here.

Rules
-----
* What is signed is SHA-256 of the canonical proof options followed by SHA-256 of the canonical document without its
  proof (EdDSA Cryptosuites sections 3.2.4 and 3.3.4); the signature is base58btc multibase in `proofValue`.
* The options are `type`, `cryptosuite`, `created`, `verificationMethod` and `proofPurpose`, always these five, always
  for `assertionMethod`. `eddsa-rdfc-2022` canonicalises them as N-Quads about one blank node, which RDFC-1.0 names
  `_:c14n0`; `eddsa-jcs-2022` as RFC 8785 JSON.
* A proof is read as a closed object. Its verification method must be the key, as its issuer calls it (`dids`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from hashlib import sha256
from typing import Final

from certificates import closed
from certificates.canonical import canonical_json
from certificates.context import RDF_TYPE, SECURITY, XSD
from certificates.dids import require_method
from certificates.errors import BadSignature, WrongKey
from certificates.fields import instant
from certificates.keys import SigningKey, VerifyingKey
from certificates.multibase import decode, encode

_ORDER: Final = ("type", "cryptosuite", "created", "verificationMethod", "proofPurpose", "proofValue")
_OPTIONS: Final = frozenset(_ORDER)
_TYPE: Final = "DataIntegrityProof"
_PURPOSE: Final = "assertionMethod"
_PROOF: Final = "proof"
_SIGNATURE_SIZE: Final = 64
_MULTIBASE: Final = re.compile(r"z[1-9A-HJ-NP-Za-km-z]{64,88}")  # 64 bytes have 64 to 88 digits


class Cryptosuite(StrEnum):
    """How the document and the proof options are canonicalised."""

    RDFC = "eddsa-rdfc-2022"
    JCS = "eddsa-jcs-2022"


def sign(canonical_document: bytes, suite: Cryptosuite, key: SigningKey, created: str) -> dict[str, str]:
    """The `proof` member for a document whose canonical form is given.

    Raises:
        InvalidValue: `created` is not a canonical XSD dateTime in UTC.
    """
    instant(created, "proof.created")
    data = _signed_data(canonical_document, suite, key.verification_method, created)
    proof = _options(suite, key.verification_method, created)
    proof["proofValue"] = encode(key.sign(data))
    return proof


def verify(
    canonical_document: bytes, proof: object, suite: Cryptosuite, key: VerifyingKey, issuer: str | None = None
) -> None:
    """Return if `proof` is the key's over the document whose canonical form is given.

    Args:
        canonical_document: what was signed.
        proof: the member.
        suite: how it was made canonical.
        key: to verify with.
        issuer: that the document names; None where it names none.

    Raises:
        MalformedDocument: the proof is not one of ours.
        InvalidValue: its `created` is not a canonical instant.
        WrongKey: it names another key.
        BadSignature: the signature does not fit.
    """
    members = closed.closed(proof, _PROOF, _OPTIONS)
    created = instant(closed.text(members, "created", _PROOF), "proof.created")
    closed.exactly(members, "type", _PROOF, _TYPE)
    closed.exactly(members, "cryptosuite", _PROOF, suite.value)
    closed.exactly(members, "proofPurpose", _PROOF, _PURPOSE)
    method = closed.text(members, "verificationMethod", _PROOF)
    require_method(method, key, issuer, "proof.verificationMethod")
    signature = _decode(closed.text(members, "proofValue", _PROOF))
    if not key.verify(signature, _signed_data(canonical_document, suite, method, created)):
        raise BadSignature(
            "the signature does not fit the document",
            remedy="it was altered after it was signed; fetch it again from its issuer",
            where=_PROOF,
        )


def in_order(proof: object) -> dict[str, str]:
    """The members of a verified proof in the order in which `sign` gives them."""
    members = closed.closed(proof, _PROOF, _OPTIONS)
    return {name: closed.text(members, name, _PROOF) for name in _ORDER}


def require_key(named: str, expected: str, where: str) -> None:
    """Return if the document names the key given; else `WrongKey`."""
    if named != expected:
        raise WrongKey(
            f"names {named[:140]!r}, not the key given",
            remedy="verify with the key of the issuer it names",
            where=where,
        )


def options_nquads(created: str, verification_method: str) -> str:
    """The canonical N-Quads of the `eddsa-rdfc-2022` proof options (section 3.2.5)."""
    return (
        f'_:c14n0 <http://purl.org/dc/terms/created> "{created}"^^<{XSD}dateTime> .\n'
        f"_:c14n0 <{RDF_TYPE}> <{SECURITY}DataIntegrityProof> .\n"
        f'_:c14n0 <{SECURITY}cryptosuite> "{Cryptosuite.RDFC}"^^<{SECURITY}cryptosuiteString> .\n'
        f"_:c14n0 <{SECURITY}proofPurpose> <{SECURITY}assertionMethod> .\n"
        f"_:c14n0 <{SECURITY}verificationMethod> <{verification_method}> .\n"
    )


def _options(suite: Cryptosuite, method: str, created: str) -> dict[str, str]:
    return {
        "type": _TYPE,
        "cryptosuite": suite.value,
        "created": created,
        "verificationMethod": method,
        "proofPurpose": _PURPOSE,
    }


def _signed_data(canonical_document: bytes, suite: Cryptosuite, method: str, created: str) -> bytes:
    if suite is Cryptosuite.RDFC:
        options = options_nquads(created, method).encode()
    else:
        options = canonical_json(_options(suite, method, created))
    return sha256(options).digest() + sha256(canonical_document).digest()


def _decode(multibase: str) -> bytes:
    signature = decode(multibase) if _MULTIBASE.fullmatch(multibase) else b""
    if len(signature) != _SIGNATURE_SIZE:
        raise BadSignature(
            "no signature of 64 bytes in base58btc", remedy="fetch the document again", where="proof.proofValue"
        )
    return signature
