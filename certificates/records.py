"""Signed service records: an editor's decision, and the re-check that precedes a late apply.

Rules
-----
* A record is a small JSON object with a Data Integrity proof, cryptosuite `eddsa-jcs-2022`: it is a record of the
  service, not linked data, and has no context. The service's key signs it; a decision names the editor who made it.
* A decision names the certificate and the digest of its secured bytes, so that it cannot be carried over to another.
  The comment is a salted item (`items`, kind `comment`); the record holds its leaf hash alone, and the text can be
  purged.
* A re-check says that at head `at_head` the same plan, findings and verdict came out as the certificate has.

Example
-------
    decision = Decision(certificate.id, digest_hex(secured), DecisionKind.APPROVE, editor="ada",
                        decided_at="2026-05-06T07:08:09Z", comment=None)
    assert verify_record(secure_record(decision, key, created="2026-05-06T07:08:09Z"), key.public) == decision
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self
from uuid import UUID

from certificates import closed, integrity
from certificates.canonical import canonical_json
from certificates.errors import InvalidValue, MalformedDocument
from certificates.fields import count, digest, instant
from certificates.ids import urn
from certificates.integrity import Cryptosuite
from certificates.keys import SigningKey, VerifyingKey

_DECISION: Final = "Decision"
_DECISION_REQUIRED: Final = frozenset({"type", "certificate", "certificateDigest", "decision", "editor", "decidedAt"})
_DECISION_OPTIONAL: Final = frozenset({"comment"})
_RECHECK: Final = "Recheck"
_RECHECK_REQUIRED: Final = frozenset({"type", "certificate", "planRoot", "findingsRoot", "recheckedAt"})
_RECHECK_OPTIONAL: Final = frozenset({"atHead"})
_MAX_EDITOR: Final = 256


class DecisionKind(StrEnum):
    """What an editor says of a certificate in review."""

    APPROVE = "approve"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Decision:
    """An editor's decision.

    Attributes:
        certificate: the certificate decided on.
        certificate_digest: SHA-256 of its secured bytes, in hexadecimal.
        decision: approve or reject.
        editor: the id of the principal who decided; 1 to 256 printable characters.
        decided_at: when: a canonical XSD dateTime in UTC.
        comment: the leaf hash of the comment's salted item, in hexadecimal; None if there is no comment.
    """

    certificate: UUID
    certificate_digest: str
    decision: DecisionKind
    editor: str
    decided_at: str
    comment: str | None

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        digest(self.certificate_digest, "certificateDigest")
        if not (0 < len(self.editor) <= _MAX_EDITOR and self.editor.isprintable()):
            raise InvalidValue(
                f"an editor {self.editor[:40]!r}", remedy=f"use 1 to {_MAX_EDITOR} printable characters", where="editor"
            )
        instant(self.decided_at, "decidedAt")
        if self.comment is not None:
            digest(self.comment, "comment")

    def document(self) -> dict[str, object]:
        """The record without its proof."""
        comment: dict[str, object] = {} if self.comment is None else {"comment": self.comment}
        return {
            "type": _DECISION,
            "certificate": urn(self.certificate),
            "certificateDigest": self.certificate_digest,
            "decision": self.decision.value,
            "editor": self.editor,
            "decidedAt": self.decided_at,
            **comment,
        }

    @classmethod
    def from_document(cls, document: object) -> Self:
        """The decision whose `document` this is; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(document, "", _DECISION_REQUIRED, _DECISION_OPTIONAL)
        return cls(
            certificate=closed.identifier(members, "certificate", ""),
            certificate_digest=closed.text(members, "certificateDigest", ""),
            decision=closed.choice(members, "decision", "", DecisionKind),
            editor=closed.text(members, "editor", ""),
            decided_at=closed.text(members, "decidedAt", ""),
            comment=closed.optional_text(members, "comment", ""),
        )


@dataclass(frozen=True, slots=True)
class Recheck:
    """A re-check that came to what the certificate says.

    Attributes:
        certificate: the certificate checked again.
        at_head: the log position of the last certificate applied before; None if there is none.
        plan_root: the root of its plan items, in hexadecimal.
        findings_root: the root of its findings, in hexadecimal.
        rechecked_at: when: a canonical XSD dateTime in UTC.
    """

    certificate: UUID
    at_head: int | None
    plan_root: str
    findings_root: str
    rechecked_at: str

    def __post_init__(self) -> None:
        """Refuse members that are not what they should be."""
        if self.at_head is not None:
            count(self.at_head, "atHead")
        digest(self.plan_root, "planRoot")
        digest(self.findings_root, "findingsRoot")
        instant(self.rechecked_at, "recheckedAt")

    def document(self) -> dict[str, object]:
        """The record without its proof."""
        head: dict[str, object] = {} if self.at_head is None else {"atHead": self.at_head}
        return {
            "type": _RECHECK,
            "certificate": urn(self.certificate),
            **head,
            "planRoot": self.plan_root,
            "findingsRoot": self.findings_root,
            "recheckedAt": self.rechecked_at,
        }

    @classmethod
    def from_document(cls, document: object) -> Self:
        """The re-check whose `document` this is; raises `MalformedDocument` or `InvalidValue`."""
        members = closed.closed(document, "", _RECHECK_REQUIRED, _RECHECK_OPTIONAL)
        return cls(
            certificate=closed.identifier(members, "certificate", ""),
            at_head=closed.optional_integer(members, "atHead", ""),
            plan_root=closed.text(members, "planRoot", ""),
            findings_root=closed.text(members, "findingsRoot", ""),
            rechecked_at=closed.text(members, "recheckedAt", ""),
        )


Record = Decision | Recheck
_KINDS: Final[dict[str, type[Decision | Recheck]]] = {_DECISION: Decision, _RECHECK: Recheck}


def secure_record(record: Record, key: SigningKey, created: str) -> bytes:
    """The record with its proof, as canonical JSON.

    Raises:
        InvalidValue: `created` is not a canonical XSD dateTime in UTC.
    """
    document = record.document()
    document["proof"] = integrity.sign(canonical_json(document), Cryptosuite.JCS, key, created)
    return canonical_json(document)


def verify_record(document: bytes, key: VerifyingKey) -> Record:
    """The record in `document`, if `key` signed it and nothing was changed since.

    Raises:
        MalformedDocument: it is not a record of ours; the error names the member.
        WrongKey: its proof names another key.
        BadSignature: it was altered.
    """
    try:
        members, proof = closed.closed_document(document)
        kind = _KINDS.get(closed.text(members, "type", "")) if "type" in members else None
        if kind is None:
            raise closed.malformed(f"none of {', '.join(_KINDS)}", "type")
        record = kind.from_document(members)
        integrity.verify(canonical_json(record.document()), proof, Cryptosuite.JCS, key)
    except InvalidValue as error:
        raise MalformedDocument(error.message, remedy=error.remedy, where=error.where) from None
    return record
