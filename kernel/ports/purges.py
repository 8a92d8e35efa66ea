"""What a ledger keeps of purges, what it takes to find what is to be purged, and how both are read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from uuid import UUID

    from certificates.items import ItemKind, SaltedItem
    from kernel.facts import Evidence, Fact
    from kernel.terms import Iri, Statement, Term
    from kernel.time.instants import Instant


class PurgeState(StrEnum):
    """How far a purge has come."""

    WAITING = "waiting"
    PENDING = "pending"
    COMPLETE = "complete"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class PurgeRecord:
    """A purge as the ledger keeps it.

    Args:
        id: that of its certificate, once it is carried out.
        kind: of what.
        asked_by: the principal who asked for it.
        asked_at: when.
        digest: of what the preview said.
        target: what is to go, and `reason` why; kept only while it waits for a second person.
        decided_by: the second person, where there had to be one.
        head: at which it was carried out.
        report: what was gone where, as JSON; None before.
        receipt: the signed receipt as it stands; None before.
        restored_by: the certificate that lifted its tombstones.
    """

    id: UUID
    state: PurgeState
    kind: str
    asked_by: str
    asked_at: Instant
    digest: str
    target: str | None = None
    reason: str | None = None
    decided_by: str | None = None
    head: int | None = None
    report: bytes | None = None
    receipt: bytes | None = None
    restored_by: UUID | None = None


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a purge takes.

    Args:
        facts: all of them, believed or not.
        evidence: of those facts, and else from what is purged; each with its fact's graph.
        items: by certificate, kind and ordinal.
        certificates: whose idempotency keys are forgotten.
        sessions: staged load sessions.
        keys: idempotency keys that quote it, each after the name of whose it is.
        graph: to be struck out of the lists of graphs, too.
    """

    facts: Sequence[Fact]
    evidence: Sequence[tuple[Evidence, Iri]]
    items: Sequence[tuple[UUID, ItemKind, int]]
    certificates: Sequence[UUID]
    sessions: Sequence[str]
    keys: Sequence[tuple[str, str]]
    graph: Iri | None


class PurgesView(Protocol):
    """What a purge has to find, and what there was of purges."""

    def facts_ever(
        self,
        *,
        statement: Statement | None = None,
        family: UUID | None = None,
        node: Iri | None = None,
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Every fact, believed or not, of a statement, a family, a node or a graph: of what is given.

        A node is meant wherever a statement names it. But for a statement, the whole ledger is read.
        """
        ...

    def facts_saying(self, text: str) -> Iterator[Fact]:
        """Every fact, believed or not, whose object has a text in it; the whole ledger is read."""
        ...

    def names_kept(self, *, graphs: bool) -> Iterator[tuple[str, str]]:
        """What callers named things, and no purge takes, each with the place where it is kept, in words.

        Args:
            graphs: whether the lists of graphs are wanted that certificates and tokens have.
        """
        ...

    def keys_kept(self) -> Iterator[tuple[str, str]]:
        """Every idempotency key, after the name of whose it is."""
        ...

    def mentions(self, term: Term) -> int:
        """How many facts, believed or not, have the term as subject or object."""
        ...

    def evidence_citing(self, episodes: Collection[Iri]) -> list[tuple[Evidence, Fact]]:
        """All evidence from some episodes, each with the fact that it is for. The whole ledger is read."""
        ...

    def sourced_before(self, fact: UUID, certificate: UUID) -> bool:
        """Whether a certificate brought evidence for a fact that was purged since."""
        ...

    def items_in_words(self) -> Iterator[tuple[UUID, SaltedItem]]:
        """Every item that may quote what others say, with its certificate; by certificate, kind and ordinal.

        Those are what was asked and why, findings, impact and comments of all certificates, and all else of those that
        were not applied. The whole ledger is read.
        """
        ...

    def purge(self, purge: UUID) -> PurgeRecord | None:
        """A purge by its id."""
        ...

    def purges(self) -> list[PurgeRecord]:
        """Every purge, oldest first."""
        ...

    def tombstones(self) -> list[tuple[UUID, str, bytes]]:
        """What stands: the purge that put it up, the kind and the hash of each."""
        ...

    def erased(self, purge: UUID) -> tuple[Iterator[tuple[bytes, bytes]], Iterator[tuple[bytes, str, int]]]:
        """What a purge took, as `certificates.purge_events.erasure_digest` has it."""
        ...
