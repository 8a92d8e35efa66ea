"""A group: certificates that share one ledger transaction, and so one fsync.

Rules (OneSequencer, AllOrNothing, ClockMonotonic)
-----
* Each member is planned against the durable head plus the members before it: the open transaction is that head.
* Each apply has its own instant, later than every one before, also when the host's clock steps back.
* Facts begin and end by themselves: an apply moves the clock to its instant, and what fell due in between moves too.
* A statement appears if a fact recorded for it holds; one may vanish only if a fact of it was superseded, or fell due.
* The ledger's commit is the apply. What the stores must do for it is told by `close`, and done after the commit.

Example
-------
::

    group = Group(tx, host, due)
    position = group.apply(certificate, plan, leaves, group.instant())
    delta = group.close()
    tx.commit()
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from certificates.events import Applied
from kernel.facts import Evidence, Fact, Supersession
from kernel.ports.heads import Head
from kernel.ports.stores import StoreDelta
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.time.transaction_clock import next_instant
from kernel.vocabulary import GOVERNANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from kernel.facts import FactContent
    from kernel.ports.outside import HostClock
    from kernel.ports.purges import Erasure
    from kernel.ports.writing import LedgerTransaction
    from kernel.terms import Iri, Statement
    from kernel.writing.plan import Plan


class Group:
    """An open group.

    Args:
        tx: the ledger transaction that holds it.
        host: the host's clock.
        due: the first instant after the clock at which a believed fact begins or ends, as far as is known; None: never.
        head: what the ledger's head is, where that is known; by default it is read.
    """

    def __init__(self, tx: LedgerTransaction, host: HostClock, due: Instant | None, head: Head | None = None) -> None:
        self.tx = tx
        self.due = due
        self.head = self._opened_at = tx.head() if head is None else head
        self._state = self.head.state
        self.governs = False
        self._host = host
        self._recorded: list[Fact] = []
        self._superseded: dict[UUID, Fact] = {}
        self._evidence: list[tuple[Evidence, Iri]] = []
        self._touched: dict[Statement, None] = {}
        self._erased: list[Fact] = []
        self._faded: list[tuple[Evidence, Iri]] = []

    def instant(self) -> Instant:
        """The instant at which the next member is issued, or applied."""
        return next_instant(self.head.instant, self._host.now())

    def apply(self, plan: Plan, leaves: Sequence[bytes], at: Instant, recheck: str | None = None) -> int:
        """Applies a plan within the transaction; answers the new head's position.

        Args:
            plan: a plan made against this group.
            leaves: the leaf hashes of all its items, in their order.
            at: an instant that `instant` gave.
            recheck: digest of the signed re-check, when the certificate was approved.
        """
        self.take(plan, leaves[1:], at)
        self._recorded += [
            Fact(content, plan.certificate, at, None, leaf)
            for content, leaf in zip(plan.record, leaves[1:], strict=False)
        ]
        if plan.supersede:
            self._note_superseded(plan, at)
        if plan.evidence:
            self._note_evidence(plan, at)
        return self.certify(plan.certificate, at, recheck)

    def take(self, plan: Plan, leaves: Sequence[bytes], at: Instant) -> None:
        """Puts what a plan does into the transaction and the state digest; `certify` makes it the head.

        `leaves` are the leaf hashes of what it does, its request apart.
        """
        facts = list(zip(plan.record, leaves, strict=False))
        self.tx.record(plan.certificate, at, facts)
        if plan.supersede:
            self.tx.supersede(plan.certificate, at, (fact.id for fact in plan.supersede))
        if plan.evidence:
            self.tx.add_evidence(plan.certificate, at, plan.evidence)
        self._state = self._state.add_many((fact.id.bytes, leaf) for fact, leaf in facts)
        if plan.supersede:
            self._state = self._state.remove_many((fact.id.bytes, fact.leaf) for fact in plan.supersede)
        self.governs = self.governs or not plan.graphs.isdisjoint(GOVERNANCE)
        self._expect(plan.record)

    def certify(self, certificate: UUID, at: Instant, recheck: str | None) -> int:
        """Logs that a certificate whose plan was taken is applied; answers the new head's position."""
        event = Applied(certificate, print_instant(at), self.head.position, self._state.hexdigest(), recheck)
        position = self.tx.append_event(event.encode())
        self.head = Head(position, at, Instant(max(self.head.clock, at)), self._state)
        return position

    def erase(self, purge: UUID, erasure: Erasure) -> None:
        """Takes what is purged out of the transaction and the state digest; `certify` makes that the head."""
        believed = [fact for fact in erasure.facts if fact.superseded is None]
        self.tx.erase(purge, erasure)
        self._state = self._state.remove_many((fact.id.bytes, fact.leaf) for fact in believed)
        self.governs = self.governs or any(fact.statement.graph in GOVERNANCE for fact in believed)
        self._touched.update((fact.statement, None) for fact in believed)
        self._erased += erasure.facts
        self._faded += erasure.evidence

    def give_back(self, certificate: UUID) -> None:
        """Takes back what was taken for a certificate that is not to be applied after all."""
        self.tx.unrecord(certificate)
        self._state = self.head.state

    def advance(self, clock: Instant) -> None:
        """Moves the clock; the head stays."""
        self.head = replace(self.head, clock=Instant(max(self.head.clock, clock)))

    def close(self) -> StoreDelta | None:
        """Writes the head and says what the stores must do once the transaction is committed; None for nothing."""
        if self.head == self._opened_at:
            return None
        self._fall_due()
        self.tx.set_head(self.head)
        superseded = list(self._superseded.values())
        recorded = list(map(self._as_it_stands, self._recorded)) if superseded else self._recorded
        clock = self.head.clock
        appear = dict.fromkeys(fact.statement for fact in recorded if fact.holds_at(clock))
        vanish: list[Statement] = []
        for statement in self._touched:
            if any(fact.holds_at(clock) for fact in self.tx.believed_of(statement)):
                appear[statement] = None
            else:
                vanish.append(statement)
        return StoreDelta(
            self.head.position,
            self.head.instant,
            self.head.clock,
            recorded,
            superseded,
            self._evidence,
            list(appear),
            vanish,
            self._erased,
            self._faded,
        )

    def _fall_due(self) -> None:
        """Facts that begin or end between the clocks move with those that were changed."""
        if self.due is not None and self.due <= self.head.clock:
            for fact in self.tx.facts_due(self._opened_at.clock, self.head.clock):
                self._touched[fact.statement] = None
            self.due = self.tx.next_due(self.head.clock)

    def _note_superseded(self, plan: Plan, at: Instant) -> None:
        supersession = Supersession(at, plan.certificate)
        for fact in plan.supersede:
            self._superseded[fact.id] = replace(fact, superseded=supersession)
            self._touched[fact.statement] = None

    def _note_evidence(self, plan: Plan, at: Instant) -> None:
        graphs = {fact.id: fact.statement.graph for fact in plan.record}
        for content in plan.evidence:
            graph = graphs.get(content.fact) or self._graph_of(content.fact)
            self._evidence.append((Evidence(content, plan.certificate, at), graph))

    def _graph_of(self, identifier: UUID) -> Iri:
        fact = self.tx.fact(identifier)
        if fact is None:
            raise ValueError(f"evidence for {identifier}, which is not in the ledger")
        return fact.statement.graph

    def _as_it_stands(self, fact: Fact) -> Fact:
        """A fact that was recorded here, with its supersession if that came here too."""
        later = self._superseded.get(fact.id)
        return fact if later is None else replace(fact, superseded=later.superseded)

    def _expect(self, contents: Iterable[FactContent]) -> None:
        """Keeps the next due instant right as facts are recorded."""
        for content in contents:
            for boundary in (content.interval.start, content.interval.end):
                if BEGINNING < boundary < FOREVER and boundary > self._opened_at.clock:
                    self.due = Instant(boundary if self.due is None else min(self.due, boundary))
