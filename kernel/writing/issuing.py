"""Issuing: a judgement becomes a signed certificate in the ledger.

Rules (CertificateFirst, BoundToState)
-----
* The certificate is signed over counts and Merkle roots; the items lie beside it, each with a salt of its own.
* It names the head, and the digests of all that it was judged by.
* The transaction instant and the new head are not in it: it is signed before it is applied.

Example
-------
::

    issued = notary.issue(group, judgement, at)
    head = group.apply(judgement.plan, issued.leaves, at)
    group.tx.issue(issued.record(head))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from certificates.canonical import digest_hex
from certificates.certificate import Certificate, Verdict
from certificates.events import Issued
from certificates.items import ItemKind, ItemTree, salt_items
from certificates.proof import secure
from kernel.ports.records import CertificateRecord, CertificateState
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from certificates.certificate import Digests
    from certificates.items import SaltedItem
    from certificates.keys import SigningKey
    from kernel.terms import Iri
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.judging import Judgement

EMPTY = ItemTree.of([])

_FIRST_STATE = {
    Verdict.CLEAR: CertificateState.PENDING,
    Verdict.REVIEW: CertificateState.PENDING,
    Verdict.REFUSED: CertificateState.REFUSED,
}
"""The state before anything is applied."""


@dataclass(frozen=True, slots=True)
class IssuedCertificate:
    """A certificate that is signed and logged, and has yet to be entered.

    Args:
        judgement: what it says.
        at: when it was issued.
        base_head: the log position of the head that it was judged at.
        document: the signed bytes.
        issued: the log position of its issued event.
        leaves: the leaf hashes of its plan items.
    """

    judgement: Judgement
    at: Instant
    base_head: int | None
    document: bytes
    issued: int
    leaves: tuple[bytes, ...]

    def record(self, head: int | None) -> CertificateRecord:
        """What is entered of it: as applied when it was issued, if there is a head that it has made."""
        plan, verdict = self.judgement.plan, self.judgement.verdict
        return CertificateRecord(
            id=plan.certificate,
            document=self.document,
            verdict=verdict,
            state=_FIRST_STATE[verdict] if head is None else CertificateState.APPLIED,
            principal=plan.request.principal,
            graphs=tuple(sorted(plan.graphs, key=_name_of)),
            issued_at=self.at,
            base_head=self.base_head,
            issued=self.issued,
            request=plan.request if verdict is Verdict.REVIEW else None,
            head=head,
            instant=None if head is None else self.at,
        )


@dataclass(frozen=True, slots=True)
class Trees:
    """What a certificate commits to."""

    plan: ItemTree
    findings: ItemTree


class Notary:
    """Signs for one base."""

    def __init__(self, base: UUID, key: SigningKey) -> None:
        self.base = base
        self.key = key

    def issue(
        self, group: Group, judgement: Judgement, at: Instant, predecessor: UUID | None = None
    ) -> IssuedCertificate:
        """Signs a judgement and puts items and event into the group's transaction; the caller enters the certificate.

        A clear certificate is applied first, so that it is entered once, as it stays.
        """
        plan = judgement.plan
        items = salt_items(ItemKind.PLAN, plan.bodies())
        findings = salt_items(ItemKind.FINDING, [finding.canonical() for finding in judgement.findings])
        leaves = tuple([item.leaf for item in items])
        trees = Trees(ItemTree.of(leaves), ItemTree.of([item.leaf for item in findings]) if findings else EMPTY)
        document = self.sign(group, plan.certificate, judgement.verdict, judgement.digests, trees, at, predecessor)
        event = issued_event(plan.certificate, document, judgement.verdict, at)
        position = self.log(group, event, [items, findings])
        return IssuedCertificate(judgement, at, group.head.position, document, position, leaves)

    def sign(
        self,
        group: Group,
        identifier: UUID,
        verdict: Verdict,
        digests: Digests,
        trees: Trees,
        at: Instant,
        predecessor: UUID | None = None,
    ) -> bytes:
        """The signed document of a certificate."""
        issued_at = print_instant(at)
        certificate = Certificate(
            id=identifier,
            issuer=self.key.did,
            base=self.base,
            issued_at=issued_at,
            verdict=verdict,
            base_head=group.head.position,
            plan=trees.plan,
            findings=trees.findings,
            impact=EMPTY,
            digests=digests,
            predecessor=predecessor,
        )
        return secure(certificate, self.key, issued_at)

    def log(self, group: Group, event: Issued, batches: Sequence[Sequence[SaltedItem]]) -> int:
        """Puts a certificate's items and its issued event into the group's transaction; answers the log position."""
        for batch in batches:
            if batch:
                group.tx.add_items(event.certificate, batch)
        return group.tx.append_event(event.encode())


def _name_of(graph: Iri) -> str:
    return graph.value


def issued_event(certificate: UUID, document: bytes, verdict: Verdict, at: Instant) -> Issued:
    """The event that a certificate with this signed document was issued."""
    return Issued(certificate, digest_hex(document), verdict, print_instant(at))
