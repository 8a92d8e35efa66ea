"""What a plan is about, as far as a policy may ask: who asked, where, how much, and how surely.

Rules
-----
* The facts of a plan are those that it records or supersedes, what rules propose included. Its confidence is the lowest
  that anything in it was asserted with; without any stated, there is none.
* The role is the highest that whoever asked had anywhere when they did. It is signed with the plan, as all else here,
  so that a verdict can be explained, and is the same when an approval judges again.

Example
-------
>>> one = About("ada", Role.WRITER, frozenset({"urn:g"}), 2, None)
>>> together = one.with_more(About("ada", Role.WRITER, frozenset({"urn:h"}), 3, None))
>>> together.facts, sorted(together.graphs), together.role.name
(5, ['urn:g', 'urn:h'], 'WRITER')
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from kernel.access import Role

if TYPE_CHECKING:
    from kernel.writing.plan import Plan


@dataclass(frozen=True, slots=True)
class About:
    """What a plan is about.

    Args:
        principal: the id of who asked; None: that is not known.
        role: which they had; None: that is not known.
        graphs: which it touches.
        facts: how many it records or supersedes.
        confidence: the lowest stated.
    """

    principal: str | None
    role: Role | None
    graphs: frozenset[str]
    facts: int
    confidence: Decimal | None

    @classmethod
    def of(cls, plan: Plan) -> About:
        """What a plan is about."""
        stated = [item.confidence for item in plan.evidence if item.confidence is not None]
        return cls(
            plan.request.principal,
            plan.request.role,
            frozenset(graph.value for graph in plan.graphs),
            len(plan.record) + len(plan.supersede),
            min(stated, default=None),
        )

    def with_more(self, other: About) -> About:
        """What two chunks of one load session are about together."""
        stated = [each for each in (self.confidence, other.confidence) if each is not None]
        return About(
            self.principal, self.role, self.graphs | other.graphs, self.facts + other.facts, min(stated, default=None)
        )


NOTHING: Final = About(None, None, frozenset(), 0, None)
"""What is about nothing that is known."""
