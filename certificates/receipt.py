"""The receipt of a purge: a Verifiable Credential 2.0 that says what is gone, and where.

Rules
-----
* It names the purge's certificate, how many facts and items are gone, the digest that the log has of them, and each
  place in which they may have been: as erased, as one in which there was nothing, or as one that was not reached. What
  was purged, or why, is not in it.
* It is pending while the stores are still made anew, and complete after; the log names the digest of a complete one.
* Its context is in the document, after the W3C's own; secured is it as a certificate is, with `eddsa-rdfc-2022`. It has
  no blank node: its canonical form is its N-Quads, sorted.

Example
-------
    secured = secure(receipt, key)
    assert verify(secured, key.public) == receipt
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self
from uuid import UUID

import orjson

from certificates import closed, integrity
from certificates.context import CREDENTIALS, CREDENTIALS_CONTEXT, RDF_TYPE, VOCABULARY, XSD
from certificates.dids import require_issuer
from certificates.errors import InvalidValue, MalformedDocument
from certificates.fields import count, digest, instant
from certificates.ids import derived_id, urn
from certificates.integrity import Cryptosuite, require_key
from certificates.keys import SigningKey, VerifyingKey

RECEIPT_TYPE: Final = "MunimentReceipt"
_TYPES: Final = ("VerifiableCredential", RECEIPT_TYPE)
_DATE_TIME: Final = f"{XSD}dateTime"
_INTEGER: Final = f"{XSD}integer"
CONTEXT: Final = (
    CREDENTIALS_CONTEXT,
    {
        "@protected": True,
        "MunimentReceipt": {"@id": f"{VOCABULARY}Receipt"},
        "issuedAt": {"@id": f"{VOCABULARY}issuedAt", "@type": _DATE_TIME},
        "base": {"@id": f"{VOCABULARY}base", "@type": "@id"},
        "certificate": {"@id": f"{VOCABULARY}certificate", "@type": "@id"},
        "status": {"@id": f"{VOCABULARY}status"},
        "facts": {"@id": f"{VOCABULARY}factsErased", "@type": _INTEGER},
        "items": {"@id": f"{VOCABULARY}itemsErased", "@type": _INTEGER},
        "digest": {"@id": f"{VOCABULARY}erasureDigest"},
        "erased": {"@id": f"{VOCABULARY}erasedFrom"},
        "absent": {"@id": f"{VOCABULARY}absentFrom"},
        "notReached": {"@id": f"{VOCABULARY}notReached"},
    },
)
"""What its words mean."""

_MEMBERS: Final = frozenset({"@context", "id", "type", "issuer", "issuedAt", "credentialSubject"})
_SUBJECT: Final = "credentialSubject"
_SUBJECT_REQUIRED: Final = frozenset({"id", "base", "certificate", "status", "facts", "items", "digest"})
_PLACES: Final = {"erased": "erasedFrom", "absent": "absentFrom", "notReached": "notReached"}
_PLACE: Final = re.compile(r"[a-z][a-z -]{0,98}[a-z]")
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,15}")


class ReceiptStatus(StrEnum):
    """Whether a purge has ended."""

    PENDING = "pending"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a receipt says.

    Attributes:
        id: of the credential.
        issuer: the DID of the base's key.
        issued_at: when: a canonical XSD dateTime in UTC.
        base: the base's id.
        certificate: the purge's own.
        status: whether it has ended.
        facts: how many are gone.
        items: how many are gone of certificates.
        digest: of what is gone, as the log has it.
        erased: places from which it is gone; in their order, as the two others.
        absent: places in which there was nothing of it.
        not_reached: places where it may still be.
    """

    id: UUID
    issuer: str
    issued_at: str
    base: UUID
    certificate: UUID
    status: ReceiptStatus
    facts: int
    items: int
    digest: str
    erased: tuple[str, ...]
    absent: tuple[str, ...]
    not_reached: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        instant(self.issued_at, "issuedAt")
        count(self.facts, "facts")
        count(self.items, "items")
        digest(self.digest, "digest")
        for name, places in self._places().items():
            if list(places) != sorted(set(places)) or not all(map(_PLACE.fullmatch, places)):
                raise InvalidValue(f"places {places}", remedy="give names in their order, each once", where=name)

    @property
    def subject(self) -> UUID:
        """The id of the credential's subject: what was done."""
        return derived_id(self.id, "erasure", 0)

    def document(self) -> dict[str, object]:
        """The credential without its proof."""
        places = {name: list(listed) for name, listed in self._places().items() if listed}
        return {
            "@context": list(CONTEXT),
            "id": urn(self.id),
            "type": list(_TYPES),
            "issuer": self.issuer,
            "issuedAt": self.issued_at,
            _SUBJECT: {
                "id": urn(self.subject),
                "base": urn(self.base),
                "certificate": urn(self.certificate),
                "status": self.status.value,
                "facts": str(self.facts),
                "items": str(self.items),
                "digest": self.digest,
                **places,
            },
        }

    def canonical(self) -> bytes:
        """Its canonical N-Quads (RDFC-1.0; there are no blank nodes)."""
        own, subject, m = f"<{urn(self.id)}>", f"<{urn(self.subject)}>", VOCABULARY
        lines = [
            f"{own} <{RDF_TYPE}> <{CREDENTIALS}VerifiableCredential> .",
            f"{own} <{RDF_TYPE}> <{m}Receipt> .",
            f'{own} <{m}issuedAt> "{self.issued_at}"^^<{_DATE_TIME}> .',
            f"{own} <{CREDENTIALS}credentialSubject> {subject} .",
            f"{own} <{CREDENTIALS}issuer> <{self.issuer}> .",
            f"{subject} <{m}base> <{urn(self.base)}> .",
            f"{subject} <{m}certificate> <{urn(self.certificate)}> .",
            f'{subject} <{m}status> "{self.status.value}" .',
            f'{subject} <{m}factsErased> "{self.facts}"^^<{_INTEGER}> .',
            f'{subject} <{m}itemsErased> "{self.items}"^^<{_INTEGER}> .',
            f'{subject} <{m}erasureDigest> "{self.digest}" .',
        ]
        for name, places in self._places().items():
            lines += [f'{subject} <{m}{_PLACES[name]}> "{place}" .' for place in places]
        return "".join(f"{line}\n" for line in sorted(lines)).encode()

    def _places(self) -> dict[str, tuple[str, ...]]:
        return {"erased": self.erased, "absent": self.absent, "notReached": self.not_reached}

    @classmethod
    def from_document(cls, document: object) -> Self:
        """The receipt whose `document` this is; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(document, "", _MEMBERS)
        closed.exactly(members, "@context", "", list(CONTEXT))
        closed.exactly(members, "type", "", list(_TYPES))
        said = closed.closed(members[_SUBJECT], _SUBJECT, _SUBJECT_REQUIRED, frozenset(_PLACES))
        receipt = cls(
            id=closed.identifier(members, "id", ""),
            issuer=closed.text(members, "issuer", ""),
            issued_at=closed.text(members, "issuedAt", ""),
            base=closed.identifier(said, "base", _SUBJECT),
            certificate=closed.identifier(said, "certificate", _SUBJECT),
            status=closed.choice(said, "status", _SUBJECT, ReceiptStatus),
            facts=_count(said, "facts"),
            items=_count(said, "items"),
            digest=closed.text(said, "digest", _SUBJECT),
            erased=_listed(said, "erased"),
            absent=_listed(said, "absent"),
            not_reached=_listed(said, "notReached"),
        )
        closed.exactly(said, "id", _SUBJECT, urn(receipt.subject))
        return receipt


def secure(receipt: Receipt, key: SigningKey) -> bytes:
    """The receipt with its proof, as JSON. Raises `WrongKey` where it names another issuer."""
    require_key(receipt.issuer, key.did, "issuer")
    document = receipt.document()
    document["proof"] = integrity.sign(receipt.canonical(), Cryptosuite.RDFC, key, receipt.issued_at)
    return orjson.dumps(document)


def verify(document: bytes, key: VerifyingKey) -> Receipt:
    """The receipt in `document`, if `key` signed it and nothing was changed since.

    Raises:
        MalformedDocument: it is no receipt of ours; the error names the member.
        WrongKey: it was issued by, or names, another key.
        BadSignature: it was altered.
    """
    try:
        members, proof = closed.closed_document(document)
        receipt = Receipt.from_document(members)
        require_issuer(receipt.issuer, key)
        integrity.verify(receipt.canonical(), proof, Cryptosuite.RDFC, key, receipt.issuer)
    except InvalidValue as error:
        raise MalformedDocument(error.message, remedy=error.remedy, where=error.where) from None
    return receipt


def _count(members: dict[str, object], name: str) -> int:
    text = closed.text(members, name, _SUBJECT)
    if not _NUMBER.fullmatch(text):
        raise closed.malformed("not a number", closed.path(_SUBJECT, name))
    return int(text)


def _listed(members: dict[str, object], name: str) -> tuple[str, ...]:
    listed = members.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise closed.malformed("not a list of names", closed.path(_SUBJECT, name))
    return tuple(listed)
