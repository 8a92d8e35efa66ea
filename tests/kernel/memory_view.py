"""A naive store of facts, for tests of what is planned: lists, and no index."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from kernel.facts import Evidence, Fact, Supersession
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernel.terms import Iri, Statement, Term
    from kernel.writing.plan import Plan


class MemoryView:
    """A `FactsView` to which plans are applied at once."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.evidence: list[Evidence] = []

    def apply(self, plan: Plan, at: Instant) -> None:
        """Records and supersedes as the plan says, at a transaction instant."""
        gone = {fact.id for fact in plan.supersede}
        supersession = Supersession(at, plan.certificate)
        self.facts = [replace(fact, superseded=supersession) if fact.id in gone else fact for fact in self.facts]
        self.facts += [Fact(content, plan.certificate, at, None, bytes(32)) for content in plan.record]
        self.evidence += [Evidence(content, plan.certificate, at) for content in plan.evidence]

    def believed_of(self, statement: Statement) -> Sequence[Fact]:
        """As the port has it."""
        found = [fact for fact in self.facts if fact.superseded is None and fact.statement == statement]
        return sorted(found, key=lambda fact: fact.interval)

    def ever_of(self, statement: Statement) -> Iterator[Fact]:
        """As the port has it."""
        return (fact for fact in self.facts if fact.statement == statement)

    def believed(
        self,
        *,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the port's name
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """As the port has it."""
        for fact in self.facts:
            held = fact.statement
            wanted = ((subject, held.subject), (predicate, held.predicate), (object, held.object), (graph, held.graph))
            if fact.superseded is None and all(want in (None, have) for want, have in wanted):
                yield fact

    def fact(self, fact: UUID) -> Fact | None:
        """As the port has it."""
        return next((held for held in self.facts if held.id == fact), None)

    def evidence_of(self, facts: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
        """As the port has it."""
        found: dict[UUID, list[Evidence]] = {}
        for item in self.evidence:
            if item.content.fact in facts:
                found.setdefault(item.content.fact, []).append(item)
        return found
