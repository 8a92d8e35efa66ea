"""Writing the ledger: the one open transaction.

Rules
-----
* Nothing is kept unless `commit` returns. A transaction is used by one thread, and is done with once it is committed.
* Log positions count from 0 without a gap. A fact is superseded once, and nothing else of it ever changes.
* Leaf hashes are kept in chunks apart from their items, so that an item can be deleted with its salt while the leaf
  that proves it stays.
* A certificate's request is forgotten as soon as the certificate is not pending any more.

Example
-------
::

    with ledger.transaction() as tx:
        tx.issue(record)
        tx.record(record.id, at, zip(plan.record, leaves))
        position = tx.append_event(event)
        tx.settle(record.id, CertificateState.APPLIED, head=position, instant=at)
        tx.set_head(Head(position, at, at, state))
        tx.commit()
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bridge.ledger import purging
from bridge.ledger.certificate_rows import certificate_row
from bridge.ledger.fact_rows import evidence_row, fact_rows
from bridge.ledger.reading import SqliteView
from bridge.ledger.request_codec import encode_request
from bridge.ledger.subtrees import keep_full_subtrees
from certificates.merkle import leaf_hash
from kernel.errors import NotFound, StaleFact
from kernel.ports.records import CertificateState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from uuid import UUID

    from bridge.ledger.session import Session
    from certificates.items import SaltedItem
    from kernel.facts import EvidenceContent, Fact, FactContent
    from kernel.ports.heads import Head
    from kernel.ports.purges import Erasure, PurgeRecord
    from kernel.ports.records import CertificateRecord, DecisionRecord, IdempotencyEntry
    from kernel.terms import Statement
    from kernel.time.instants import Instant

LEAVES_A_CHUNK: Final = 1_024

_SETTLE: Final = "UPDATE certificates SET state = ?, head = ?, instant = ?, successor = ? WHERE id = ?"
_FACTS: Final = """facts (
        id, family, subject, predicate, object, graph, subject_key, predicate_key, object_key, graph_key,
        valid_from, valid_to, from_precision, to_precision, recorded, superseded, certificate, superseded_by, leaf
    )"""
_STATEMENT: Final = slice(2, 6)
_TEXTS: Final = slice(4, 8)
"""Where a look-up of the believed facts of a statement has its terms."""
_LOOKED_THROUGH: Final = 64
"""Queued facts that are looked through at most before a statement is looked for: beyond that, they are inserted."""

_SUPERSEDE: Final = "UPDATE facts SET superseded = ?, superseded_by = ? WHERE id = ? AND superseded_by IS NULL"
_EVIDENCE: Final = "evidence (id, fact, episode, confidence, object, valid_from, valid_to, certificate, recorded)"
_UNRECORD: Final = (
    """DELETE FROM facts INDEXED BY facts_by_time
        WHERE superseded = 9223372036854775807 AND recorded = ? AND certificate = ?""",
    """UPDATE facts INDEXED BY facts_by_time SET superseded = 9223372036854775807, superseded_by = NULL
        WHERE superseded = ? AND superseded_by = ?""",
    "DELETE FROM evidence INDEXED BY evidence_by_time WHERE recorded = ? AND certificate = ?",
)
_REMEMBER: Final = """INSERT INTO idempotency VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET body_digest = excluded.body_digest, certificate = excluded.certificate"""
DROP_CHUNKS: Final = "DELETE FROM staged WHERE session = ?"
_USE_KEY: Final = """INSERT INTO keys VALUES (?, ?, NULL)
    ON CONFLICT DO UPDATE SET used_from = excluded.used_from, used_until = NULL"""
_SET_HEAD: Final = "UPDATE state SET position = ?, instant = ?, clock = ?, digest = ?"


@dataclass(slots=True)
class Known:
    """What is known of a ledger without reading it, for this process alone writes its log.

    Args:
        graphs: some of the table of graphs.
        log_size: how many events the log has; None: that has to be read.
    """

    graphs: set[str] = field(default_factory=set)
    log_size: int | None = None


class SqliteTransaction(SqliteView):
    """The open write transaction; a `kernel.ports.writing.LedgerTransaction`.

    Args:
        session: the transaction.
        key: the hash that the statement indexes are by.
        known: what is known of the ledger; of what is written, only what was committed is.
    """

    def __init__(self, session: Session, key: Callable[[str], int], known: Known) -> None:
        super().__init__(session, key)
        self._instants: dict[UUID, Instant] = {}
        self._new_graphs: dict[str, set[UUID]] = {}
        self._known = known
        self._log_size, known.log_size = known.log_size, None

    def believed_of(self, statement: Statement) -> Sequence[Fact]:
        """Every believed fact of exactly this statement, by start."""
        asking, fresh = self._asking_for(statement), self._session.queued(_FACTS)
        if fresh:
            same = asking[1][_TEXTS]
            if len(fresh) > _LOOKED_THROUGH or any(row[_STATEMENT] == same for row in fresh):
                return self._session.all(*asking)
        return self._session.all_but_queued(*asking)

    def changes(self) -> int:
        """Grows with every write."""
        return self._session.changes()

    def issue(self, record: CertificateRecord) -> None:
        """Adds a certificate, and its request while it is pending."""
        self._session.queue("certificates", [certificate_row(record)])
        if record.request is not None and record.state is CertificateState.PENDING:
            request = encode_request(record.request)
            self._session.queue("requests", [(record.id.bytes, request)])

    def add_items(self, certificate: UUID, items: Sequence[SaltedItem]) -> None:
        """Adds items of one kind, whose ordinals follow one another, with their leaf hashes."""
        if not items:
            return
        of, kind = certificate.bytes, items[0].kind.value
        self._session.queue("items", [(of, kind, item.ordinal, item.salt, item.body) for item in items])
        chunks = (items[start : start + LEAVES_A_CHUNK] for start in range(0, len(items), LEAVES_A_CHUNK))
        self._session.queue(
            "leaves", [(of, kind, chunk[0].ordinal, b"".join([item.leaf for item in chunk])) for chunk in chunks]
        )

    def settle(
        self,
        certificate: UUID,
        state: CertificateState,
        *,
        head: int | None = None,
        instant: Instant | None = None,
        successor: UUID | None = None,
    ) -> None:
        """Moves a certificate to another state; forgets its request unless it is still pending."""
        of, follows = certificate.bytes, None if successor is None else successor.bytes
        if not self._session.execute(_SETTLE, (state.value, head, instant, follows, of)):
            raise NotFound("there is no such certificate", remedy="issue it first", where=str(certificate))
        if state is not CertificateState.PENDING:
            self._session.execute("DELETE FROM requests WHERE certificate = ?", (of,))

    def add_decision(self, decision: DecisionRecord) -> None:
        """Adds a signed decision or re-check; its comment becomes an item."""
        comment = decision.comment
        if comment is not None:
            self.add_items(decision.certificate, [comment])
        self._session.execute(
            "INSERT INTO decisions (certificate, kind, record, comment) VALUES (?, ?, ?, ?)",
            (decision.certificate.bytes, decision.kind, decision.record, None if comment is None else comment.ordinal),
        )

    def append_event(self, event: bytes) -> int:
        """Appends an event to the log and answers its position."""
        position = self.log_size() if self._log_size is None else self._log_size
        self._session.queue("events", [(position, event, leaf_hash(event))])
        self._log_size = position + 1
        keep_full_subtrees(self._session, self._log_size)
        return position

    def record(self, certificate: UUID, at: Instant, facts: Iterable[tuple[FactContent, bytes]]) -> None:
        """Records facts, each with its leaf hash, drawing them one by one."""
        graphs: set[str] = set()
        self._instants[certificate] = at
        self._session.queue(_FACTS, fact_rows(facts, certificate, at, self._key, graphs))
        for graph in graphs - self._known.graphs:
            if self._session.execute("INSERT OR IGNORE INTO graphs VALUES (?)", (graph,)):
                self._new_graphs[graph] = set()
            elif graph not in self._new_graphs:
                self._known.graphs.add(graph)
            if graph in self._new_graphs:
                self._new_graphs[graph].add(certificate)

    def supersede(self, certificate: UUID, at: Instant, facts: Iterable[UUID]) -> None:
        """Supersedes believed facts; raises `StaleFact` for one that is not."""
        self._instants[certificate] = at
        by = certificate.bytes
        for fact in facts:
            if not self._session.execute(_SUPERSEDE, (at, by, fact.bytes)):
                raise StaleFact("the fact is not believed", remedy="plan the change again", where=str(fact))

    def add_evidence(self, certificate: UUID, at: Instant, evidence: Iterable[EvidenceContent]) -> None:
        """Adds evidence."""
        self._instants[certificate] = at
        self._session.queue(_EVIDENCE, (evidence_row(content, certificate, at) for content in evidence))

    def unrecord(self, certificate: UUID) -> None:
        """Takes back what this transaction recorded, superseded and cited as evidence for a certificate."""
        at = self._instants.pop(certificate, None)
        if at is None:
            return
        for statement in _UNRECORD:
            self._session.execute(statement, (at, certificate.bytes))
        for graph, brought_by in list(self._new_graphs.items()):
            brought_by.discard(certificate)
            if not brought_by:
                del self._new_graphs[graph]
                self._session.execute("DELETE FROM graphs WHERE graph = ?", (graph,))

    def remember(self, principal: str, key: str, entry: IdempotencyEntry) -> None:
        """Keeps what an idempotency key was used for; the last use counts."""
        self._session.execute(_REMEMBER, (principal, key, entry.body_digest, entry.certificate.bytes))

    def use_key(self, multibase: str, at: Instant) -> None:
        """From now on certificates are signed with this key, and no more with the one before."""
        self._session.execute("UPDATE keys SET used_until = ? WHERE used_until IS NULL", (at,))
        self._session.execute(_USE_KEY, (multibase, at))

    def unstage(self, session: str) -> None:
        """Drops the chunks of a load session together with what is committed."""
        self._session.execute(DROP_CHUNKS, (session,))

    def erase(self, purge: UUID, erasure: Erasure) -> None:
        """Deletes what is to be purged, and keeps of facts and items what proves that they were there."""
        # Those that are listed anew are looked up again; that a graph is forgotten here is not undone by a rollback.
        self._known.graphs.difference_update(purging.erase(self._session, purge, erasure))

    def bury(self, purge: UUID, tombstones: Iterable[tuple[str, bytes]]) -> None:
        """Puts up tombstones, by kind and hash."""
        purging.bury(self._session, purge, tombstones)

    def lift(self, purge: UUID) -> int:
        """Takes the tombstones of a purge away; answers how many there were."""
        return purging.lift(self._session, purge)

    def put_purge(self, record: PurgeRecord) -> None:
        """Adds a purge, or puts it in the place of the one of its id."""
        purging.put_purge(self._session, record)

    def set_head(self, head: Head) -> None:
        """Sets position, instant, clock and state digest."""
        self._session.execute(_SET_HEAD, (head.position, head.instant, head.clock, head.state.to_bytes()))

    def commit(self) -> None:
        """Makes everything durable before it returns. Raises `LedgerUnavailable`; nothing is kept then."""
        self._session.commit()
        self._known.graphs.update(self._new_graphs)
        self._known.log_size = self._log_size
