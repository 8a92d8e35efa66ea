"""Securing a certificate, and verifying one offline.

Rules
-----
* A secured certificate is the credential's JSON with a Data Integrity proof, cryptosuite `eddsa-rdfc-2022`: what is
  signed are its RDF statements, so that it still verifies after it has been through an RDF store, and any other
  verifier of Verifiable Credentials can check it.
* `verify` accepts documents of exactly our shape. It builds the certificate anew from them and checks the signature
  over the statements of *that*: nothing that was not checked reaches the caller.
* Issuer and verification method must be the key's, or a `did:web` and the key under that name (`dids`). Whether that
  key is to be trusted is the caller's question.

Example
-------
    secured = secure(certificate, key, created="2026-05-06T07:08:09Z")
    assert verify(secured, key.public) == certificate
"""

from __future__ import annotations

import orjson

from certificates import integrity
from certificates.certificate import Certificate
from certificates.closed import closed_document
from certificates.dids import require_issuer
from certificates.errors import InvalidValue, MalformedDocument
from certificates.integrity import Cryptosuite, require_key
from certificates.keys import SigningKey, VerifyingKey


def secure(certificate: Certificate, key: SigningKey, created: str) -> bytes:
    """The certificate with its proof, as JSON.

    Args:
        certificate: what to sign.
        key: the key of the issuer that the certificate names.
        created: when the proof is made: a canonical XSD dateTime in UTC.

    Raises:
        WrongKey: the certificate names another issuer.
        InvalidValue: `created` is not a canonical instant.
    """
    require_key(certificate.issuer, key.did, "issuer")
    document = certificate.document()
    document["proof"] = integrity.sign(_canonical(certificate), Cryptosuite.RDFC, key, created)
    return orjson.dumps(document)


def verify(document: bytes, key: VerifyingKey) -> Certificate:
    """The certificate in `document`, if `key` signed it and nothing was changed since.

    Raises:
        MalformedDocument: it is not a certificate of ours; the error names the member.
        WrongKey: it was issued by, or names, another key.
        BadSignature: it was altered.
    """
    try:
        members, proof = closed_document(document)
        certificate = Certificate.from_document(members)
        require_issuer(certificate.issuer, key)
        integrity.verify(_canonical(certificate), proof, Cryptosuite.RDFC, key, certificate.issuer)
    except InvalidValue as error:
        raise MalformedDocument(error.message, remedy=error.remedy, where=error.where) from None
    return certificate


def as_signed(document: bytes, key: VerifyingKey) -> tuple[Certificate, bytes]:
    """The certificate in `document`, and the bytes that the base signed and logged, however it is laid out here.

    Raises as `verify` does.
    """
    certificate = verify(document, key)
    _, proof = closed_document(document)
    return certificate, orjson.dumps(certificate.document() | {"proof": integrity.in_order(proof)})


def _canonical(certificate: Certificate) -> bytes:
    return "\n".join([*certificate.nquads(), ""]).encode()
