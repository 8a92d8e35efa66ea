"""Signed service records: an editor's decision, and the re-check that precedes a late apply.

Rules
-----
* A record is a small JSON object with a Data Integrity proof, cryptosuite `eddsa-jcs-2022`: it is a record of the
  service, not linked data, and has no context. The service's key signs it; a decision names the editor who made it.
* A decision names the certificate and the digest of its secured bytes, so that it cannot be carried over to another.
  An editor may sign it as well, with a key of their own: over type, certificate, digest and decision, in canonical JSON
  (`editor_statement`). Key and signature are in the record; whose the key is, the service says with its own signature.
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

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self
from uuid import UUID

from certificates import closed, integrity
from certificates.canonical import canonical_json
from certificates.errors import BadSignature, InvalidValue, MalformedDocument, UnreadableKey
from certificates.fields import count, digest, instant
from certificates.ids import urn
from certificates.integrity import Cryptosuite
from certificates.keys import SigningKey, VerifyingKey

_DECISION: Final = "Decision"
_DECISION_REQUIRED: Final = frozenset({"type", "certificate", "certificateDigest", "decision", "editor", "decidedAt"})
_DECISION_OPTIONAL: Final = frozenset({"comment", "editorKey", "editorSignature"})
_SIGNATURE_SIZE: Final = 64
_RECHECK: Final = "Recheck"
_RECHECK_REQUIRED: Final = frozenset({"type", "certificate", "planRoot", "findingsRoot", "recheckedAt"})
_RECHECK_OPTIONAL: Final = frozenset({"atHead"})
_MAX_EDITOR: Final = 256


class DecisionKind(StrEnum):
    """What an editor says of a certificate in review."""

    APPROVE = "approve"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class EditorSignature:
    """An editor's own signature over a decision (`editor_statement`).

    Attributes:
        key: theirs.
        signature: 64 bytes.
    """

    key: VerifyingKey
    signature: bytes

    def __post_init__(self) -> None:
        """Refuse what is no signature."""
        if len(self.signature) != _SIGNATURE_SIZE:
            raise InvalidValue(
                f"{len(self.signature)} bytes are no Ed25519 signature",
                remedy="give its 64 bytes",
                where="editorSignature",
            )

    def members(self) -> dict[str, object]:
        """The JSON members of a decision that has it."""
        return {"editorKey": self.key.multibase, "editorSignature": b64encode(self.signature).decode()}


def editor_statement(certificate: UUID, certificate_digest: str, decision: DecisionKind) -> bytes:
    """What an editor signs who decides so (RFC 8785)."""
    return canonical_json(
        {
            "type": _DECISION,
            "certificate": urn(certificate),
            "certificateDigest": certificate_digest,
            "decision": decision.value,
        }
    )


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
        signed: the editor's own signature, if there is one.
    """

    certificate: UUID
    certificate_digest: str
    decision: DecisionKind
    editor: str
    decided_at: str
    comment: str | None
    signed: EditorSignature | None = None

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
            **({} if self.signed is None else self.signed.members()),
        }

    def verify_editor(self) -> None:
        """Raises `BadSignature` where the editor's own signature does not fit; passes a decision without one."""
        if self.signed is None:
            return
        statement = editor_statement(self.certificate, self.certificate_digest, self.decision)
        if not self.signed.key.verify(self.signed.signature, statement):
            raise BadSignature(
                f"the editor's key, {self.signed.key.multibase}, has not signed this decision",
                remedy="fetch it again; if it stays so, it was altered",
                where="editorSignature",
            )

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
            signed=_signed(members),
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
        if isinstance(record, Decision):
            record.verify_editor()
    except InvalidValue as error:
        raise MalformedDocument(error.message, remedy=error.remedy, where=error.where) from None
    return record


def _signed(members: dict[str, object]) -> EditorSignature | None:
    key, signature = (closed.optional_text(members, name, "") for name in ("editorKey", "editorSignature"))
    if key is None and signature is None:
        return None
    try:
        return EditorSignature(VerifyingKey.from_multikey(key or "z"), b64decode(signature or "", validate=True))
    except UnreadableKey as error:
        raise closed.malformed(error.message, "editorKey") from None
    except (Base64Error, ValueError):
        raise closed.malformed("is not in base64", "editorSignature") from None
