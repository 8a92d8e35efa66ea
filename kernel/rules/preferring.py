"""Which of two facts is preferred, by what speaks for each.

Rules
-----
* `PreferCredible`: the one whose most credible source is more credible. Sources are the episodes of its evidence, and
  `m:rules` says how credible they are; a fact of whose sources nothing is said is not preferred, nor is the other.
* `PreferRecent`: the one for which evidence came in later. What a plan brings, it brings now; if it also supports the
  fact held, neither is preferred.
* `PreferConfident`: the one asserted with more confidence; without any stated, that is without doubt, 1.
* `PreferArgued`: the one for which more speaks where the two first contradict each other (`kernel.rules.argued`).
* Of two that come out even neither is preferred.

Example
-------
::

    Weighing(plan, view, table).preferred(conflict)      # the Side, or None
"""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kernel.rules.argued import speaking_for
from kernel.rules.kinds import Proposal
from kernel.time.instants import FOREVER

if TYPE_CHECKING:
    from uuid import UUID

    from kernel.facts import Evidence, EvidenceContent
    from kernel.ports.facts import FactsView
    from kernel.rules.contradictions import Conflict, Side
    from kernel.rules.table import RuleTable
    from kernel.writing.plan import Plan

_CERTAIN: Final = Decimal(1)


class Weighing:
    """Weighs facts that a plan sets against each other."""

    def __init__(self, plan: Plan, view: FactsView, table: RuleTable) -> None:
        self._plan = plan
        self._view = view
        self._table = table
        self._held: dict[UUID, list[Evidence]] = {}

    def preferred(self, conflict: Conflict) -> Side | None:
        """The side that the rule prefers; None: it prefers none, or neither of these."""
        proposal = conflict.group.rule.proposal
        if not proposal.prefers:
            return None
        one, other = self.weight(conflict, conflict.new), self.weight(conflict, conflict.other)
        if one is None or other is None or one == other:
            return None
        return conflict.new if one > other else conflict.other

    def weight(self, conflict: Conflict, side: Side) -> Decimal | None:
        """What counts for one of the sides of a contradiction; None: that is not known."""
        proposal = conflict.group.rule.proposal
        if proposal is Proposal.PREFER_ARGUED:
            at = conflict.parts[0].start
            found = speaking_for(side.content.statement, at, self._plan, self._view, self._table.arguments)
            return None if found is None else Decimal(found)
        if proposal is Proposal.PREFER_RECENT:
            return Decimal(self._recent(side))
        evidence = self._evidence(side)
        if proposal is Proposal.PREFER_CONFIDENT:
            return max((item.confidence for item in evidence if item.confidence is not None), default=_CERTAIN)
        said = [self._table.credible(item.episode) for item in evidence if item.episode is not None]
        return max((credible for credible in said if credible is not None), default=None)

    def _recent(self, side: Side) -> int:
        if side.fact is None or side.content.id in self._brought:
            return FOREVER
        return max([side.fact.recorded_at, *(item.recorded_at for item in self._of_held(side.fact.id))])

    def _evidence(self, side: Side) -> list[EvidenceContent]:
        held = [] if side.fact is None else [item.content for item in self._of_held(side.fact.id)]
        return held + self._brought.get(side.content.id, [])

    def _of_held(self, fact: UUID) -> list[Evidence]:
        if fact not in self._held:
            self._held[fact] = self._view.evidence_of([fact]).get(fact, [])
        return self._held[fact]

    @cached_property
    def _brought(self) -> dict[UUID, list[EvidenceContent]]:
        """What the plan says for facts."""
        brought: dict[UUID, list[EvidenceContent]] = {}
        for item in self._plan.evidence:
            brought.setdefault(item.fact, []).append(item)
        return brought
