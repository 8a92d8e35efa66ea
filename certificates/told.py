"""What a service tells beside a certificate, held against what is signed.

Rules
-----
* `GET /certificates/{id}` answers with a JSON object that is not itself signed: the credential is one of its members.
  Members that say again what is signed have to say the same. Any member may be missing.
* An item's salt and body have the leaf hash beside them, and the leaf hashes of a kind have the root that is signed.
  Of a large plan or of many findings only a part is told at a time: that has no root, so it is not verified, and is
  counted as such. A part is without gaps, and says that it is one: from a whole nothing can be left out.
* Decisions are verified each, and are about these very bytes; a comment has the leaf hash that its decision names. One
  by a key that is not known, or not trusted, is counted as not verified.
* Where all findings are there, `findings` says in other words what their items say: whoever can put them so compares.

Example
-------
::

    told = hold_told(document, certificate, signed, key_of)
    assert told.plan.whole
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from certificates import closed
from certificates.canonical import canonical_json, digest_hex
from certificates.certificate import Certificate
from certificates.errors import BadSignature
from certificates.ids import urn
from certificates.items import SALT_SIZE, ItemTree
from certificates.keys import VerifyingKey
from certificates.merkle import leaf_hash
from certificates.records import Decision, verify_record

_PAGE: Final = frozenset({"items", "next"})
_ITEM: Final = frozenset({"ordinal", "leaf"})
_OPENED: Final = frozenset({"salt", "body"})
_RECORD: Final = frozenset({"kind", "record"})


@dataclass(frozen=True, slots=True)
class ToldItems:
    """Items of one kind.

    Attributes:
        signed: how many the certificate has.
        told: of how many the leaf hash is told.
        bodies: those that are not withheld, by ordinal.
    """

    signed: int
    told: int
    bodies: dict[int, object]

    @property
    def whole(self) -> bool:
        """Whether all are told, and so have the root that is signed."""
        return self.told == self.signed


@dataclass(frozen=True, slots=True)
class Told:
    """What was found to fit what is signed.

    Attributes:
        plan: its items.
        findings: those too.
        decisions: how many decisions and re-checks are told.
        verified: how many of them are verified.
        names: the members of the document that are, all of them, as they were signed.
    """

    plan: ToldItems
    findings: ToldItems
    decisions: int
    verified: int
    names: frozenset[str]


def hold_told(
    document: Mapping[str, object],
    certificate: Certificate,
    signed: bytes,
    key_of: Callable[[Mapping[str, object]], VerifyingKey | None],
) -> Told:
    """What of a document is as it was signed.

    Args:
        document: what `GET /certificates/{id}` answered.
        certificate: that in it, verified.
        signed: the bytes that the base signed (`proof.as_signed`).
        key_of: the key to verify a decision with; None if that is not known, or not trusted.

    Raises:
        BadSignature: something is not what was signed; the error names the member.
        MalformedDocument: a member is of another kind.
    """
    plan = _items(document, "plan", certificate.plan)
    findings = _items(document, "findingItems", certificate.findings)
    decisions = document.get("decisions", [])
    if not isinstance(decisions, list):
        raise closed.malformed("not a list", "decisions")
    verified = sum(
        _decision_holds(each, f"decisions.{number}", certificate, signed, key_of)
        for number, each in enumerate(decisions)
    )
    whole = {"plan": plan.whole, "findingItems": findings.whole, "decisions": verified == len(decisions)}
    names = _repeated(document, certificate, plan) | {name for name, holds in whole.items() if holds}
    return Told(plan, findings, len(decisions), verified, names)


def differs(where: str) -> BadSignature:
    """The error for a member that is not what was signed."""
    return BadSignature(
        "it is not what was signed", remedy="it was altered after it was issued: fetch it again", where=where
    )


def _repeated(document: Mapping[str, object], certificate: Certificate, plan: ToldItems) -> frozenset[str]:
    """The members that say again what is signed."""
    predecessor = certificate.predecessor
    expected: dict[str, object] = {
        "certificate": urn(certificate.id),
        "verdict": certificate.verdict.value,
        "issuedAt": certificate.issued_at,
        "predecessor": None if predecessor is None else urn(predecessor),
    }
    asked = plan.bodies.get(0) if plan.whole else None
    if isinstance(asked, dict) and asked.get("op") == "request":
        expected["principal"] = asked.get("principal")
    for name in expected.keys() & document.keys():
        if document[name] != expected[name]:
            raise differs(name)
    return frozenset(expected)


def _items(document: Mapping[str, object], name: str, tree: ItemTree) -> ToldItems:
    if name not in document:
        return ToldItems(tree.count, 0, {})
    page = closed.closed(document[name], name, _PAGE)
    listed = page["items"]
    if not isinstance(listed, list):
        raise closed.malformed("not a list", f"{name}.items")
    bodies: dict[int, object] = {}
    leaves: dict[int, bytes] = {}
    for number, each in enumerate(listed):
        where = f"{name}.items.{number}"
        ordinal, leaf, body = _item(each, where)
        if ordinal in leaves or not 0 <= ordinal < tree.count:
            raise differs(f"{where}.ordinal")
        leaves[ordinal] = leaf
        if body is not None:
            bodies[ordinal] = body
    if leaves and max(leaves) - min(leaves) + 1 != len(leaves):
        raise differs(f"{name}.items")
    if page["next"] is None and leaves and max(leaves) + 1 != tree.count:
        raise differs(f"{name}.next")
    if len(leaves) == tree.count and ItemTree.of([leaves[ordinal] for ordinal in range(tree.count)]) != tree:
        raise differs(name)
    return ToldItems(tree.count, len(leaves), bodies)


def _item(value: object, where: str) -> tuple[int, bytes, object]:
    """Ordinal, leaf hash and body of an item, the last None if it is withheld."""
    members = closed.closed(value, where, _ITEM, _OPENED)
    ordinal, leaf = closed.integer(members, "ordinal", where), _hexadecimal(members, "leaf", where)
    if not members.keys() & _OPENED:
        return ordinal, leaf, None
    closed.closed(value, where, _ITEM | _OPENED)
    salt = _hexadecimal(members, "salt", where)
    if len(salt) != SALT_SIZE or leaf_hash(salt + canonical_json(members["body"])) != leaf:
        raise differs(where)
    return ordinal, leaf, members["body"]


def _decision_holds(
    value: object,
    where: str,
    certificate: Certificate,
    signed: bytes,
    key_of: Callable[[Mapping[str, object]], VerifyingKey | None],
) -> bool:
    """Whether a decision is verified; raises where it is not what was signed."""
    members = closed.closed(value, where, _RECORD, frozenset({"comment"}))
    document = members["record"]
    if not isinstance(document, dict):
        raise closed.malformed("not an object", f"{where}.record")
    key = key_of(document)
    if key is None:
        return False
    record = verify_record(canonical_json(document), key)
    kind = "decision" if isinstance(record, Decision) else "recheck"
    if members["kind"] != kind:
        raise differs(f"{where}.kind")
    if record.certificate != certificate.id or (
        isinstance(record, Decision) and record.certificate_digest != digest_hex(signed)
    ):
        raise differs(f"{where}.record")
    if "comment" in members:
        _, leaf, _ = _item(members["comment"], f"{where}.comment")
        if not isinstance(record, Decision) or record.comment != leaf.hex():
            raise differs(f"{where}.comment")
    return True


def _hexadecimal(members: dict[str, object], name: str, where: str) -> bytes:
    try:
        return bytes.fromhex(closed.text(members, name, where))
    except ValueError:
        raise closed.malformed("not hexadecimal", closed.path(where, name)) from None
