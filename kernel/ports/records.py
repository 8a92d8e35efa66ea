"""What a ledger keeps of certificates, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from uuid import UUID

    from certificates.certificate import Verdict
    from certificates.items import ItemKind, SaltedItem
    from kernel.changes import Request
    from kernel.ports.heads import AppliedHead
    from kernel.terms import Iri
    from kernel.time.instants import Instant


class CertificateState(StrEnum):
    """What became of a certificate."""

    APPLIED = "applied"
    PENDING = "pending"
    REJECTED = "rejected"
    REFUSED = "refused"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class CertificateRecord:
    """A certificate as the ledger keeps it, beside its items and events.

    Args:
        document: the signed bytes.
        graphs: every graph that its plan touches.
        issued: log position of its issued event.
        request: what was asked, kept only while the certificate is pending.
        head: log position of its applied event, once applied.
        instant: its transaction instant, once applied.
        successor: the certificate that took its place, once stale.
    """

    id: UUID
    document: bytes
    verdict: Verdict
    state: CertificateState
    principal: str
    graphs: tuple[Iri, ...]
    issued_at: Instant
    base_head: int | None
    issued: int
    request: Request | None
    head: int | None = None
    instant: Instant | None = None
    successor: UUID | None = None


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A signed decision or re-check, as stored."""

    certificate: UUID
    kind: str
    record: bytes
    comment: SaltedItem | None


@dataclass(frozen=True, slots=True)
class IdempotencyEntry:
    """What an idempotency key of a principal was used for: a digest of the body, and the certificate it got."""

    body_digest: bytes
    certificate: UUID


class CertificatesView(Protocol):
    """Certificates, what belongs to them, and the heads that they made."""

    def certificate(self, certificate: UUID) -> CertificateRecord | None:
        """A certificate by its id."""
        ...

    def certificates(
        self,
        *,
        state: CertificateState | None = None,
        verdict: Verdict | None = None,
        after: UUID | None = None,
        limit: int = 50,
        oldest_first: bool = False,
    ) -> list[CertificateRecord]:
        """Certificates, newest first (ids are UUIDv7, so newest is greatest) or oldest first, from beyond `after`."""
        ...

    def items(self, certificate: UUID, kind: ItemKind, *, first: int = 0, limit: int | None = None) -> list[SaltedItem]:
        """The salted items that are left of a certificate, by ordinal: from ordinal `first` on, `limit` of them."""
        ...

    def leaves(self, certificate: UUID, kind: ItemKind) -> list[bytes]:
        """Every leaf hash of the kind, by ordinal, also of items that were purged."""
        ...

    def decisions(self, certificate: UUID) -> list[DecisionRecord]:
        """Decisions and re-checks of a certificate, oldest first."""
        ...

    def idempotent(self, principal: str, key: str) -> IdempotencyEntry | None:
        """What the key was used for."""
        ...

    def recorded_in(self, head: int) -> Instant | None:
        """The transaction instant of a head (a position at which a certificate was applied); None for others."""
        ...

    def head_at(self, instant: Instant) -> int | None:
        """The last head whose transaction instant is at or before the instant; None before the first."""
        ...

    def heads(self, *, after: int | None = None, limit: int = 50, newest_first: bool = False) -> list[AppliedHead]:
        """Heads in their order, from beyond `after` on, or the newest first."""
        ...

    def contradiction_owner(self, certificate: UUID, finding: int) -> str | None:
        """Who looks after a contradiction; None: nobody was given it.

        Args:
            certificate: that was found to bring it.
            finding: the ordinal of its finding there.
        """
        ...
