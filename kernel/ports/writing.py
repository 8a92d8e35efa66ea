"""The one write transaction of a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kernel.ports.ledger import LedgerView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from certificates.items import SaltedItem
    from kernel.facts import EvidenceContent, FactContent
    from kernel.ports.heads import Head
    from kernel.ports.purges import Erasure, PurgeRecord
    from kernel.ports.records import CertificateRecord, CertificateState, DecisionRecord, IdempotencyEntry
    from kernel.time.instants import Instant


class LedgerTransaction(LedgerView, Protocol):
    """The one write transaction of a ledger; it reads its own writes."""

    def changes(self) -> int:
        """Grows with every write, whatever it writes; so that one can tell that nothing was written."""
        ...

    def issue(self, record: CertificateRecord) -> None:
        """Adds a certificate."""
        ...

    def add_items(self, certificate: UUID, items: Sequence[SaltedItem]) -> None:
        """Adds items of one kind with their leaf hashes; may be called again with higher ordinals."""
        ...

    def settle(
        self,
        certificate: UUID,
        state: CertificateState,
        *,
        head: int | None = None,
        instant: Instant | None = None,
        successor: UUID | None = None,
    ) -> None:
        """Moves a certificate to another state; forgets its request unless it is still pending.

        Raises:
            NotFound: it was not issued.
        """
        ...

    def add_decision(self, decision: DecisionRecord) -> None:
        """Adds a signed decision or re-check."""
        ...

    def append_event(self, event: bytes) -> int:
        """Appends an event to the log and answers its position, from 0."""
        ...

    def record(self, certificate: UUID, at: Instant, facts: Iterable[tuple[FactContent, bytes]]) -> None:
        """Records facts, each with its leaf hash."""
        ...

    def supersede(self, certificate: UUID, at: Instant, facts: Iterable[UUID]) -> None:
        """Supersedes believed facts. Raises `StaleFact` for one that is not believed."""
        ...

    def add_evidence(self, certificate: UUID, at: Instant, evidence: Iterable[EvidenceContent]) -> None:
        """Adds evidence."""
        ...

    def unrecord(self, certificate: UUID) -> None:
        """Takes back what this transaction recorded, superseded and added as evidence for a certificate."""
        ...

    def remember(self, principal: str, key: str, entry: IdempotencyEntry) -> None:
        """Keeps what an idempotency key was used for; the last use counts."""
        ...

    def use_key(self, multibase: str, at: Instant) -> None:
        """From now on certificates are signed with this key, and no more with the one before."""
        ...

    def unstage(self, session: str) -> None:
        """Drops the chunks of a load session together with what is committed."""
        ...

    def erase(self, purge: UUID, erasure: Erasure) -> None:
        """Deletes what is to be purged, and keeps of facts and items what proves that they were there."""
        ...

    def bury(self, purge: UUID, tombstones: Iterable[tuple[str, bytes]]) -> None:
        """Puts up tombstones, by kind and hash."""
        ...

    def lift(self, purge: UUID) -> int:
        """Takes the tombstones of a purge away; answers how many there were."""
        ...

    def put_purge(self, record: PurgeRecord) -> None:
        """Adds a purge, or puts it in the place of the one of its id."""
        ...

    def set_head(self, head: Head) -> None:
        """Sets position, instant, clock and state digest."""
        ...

    def commit(self) -> None:
        """Makes everything durable (fsync) before it returns. Raises `LedgerUnavailable`; nothing is kept then."""
        ...
