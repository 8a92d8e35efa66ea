"""What a plan changes at one instant of valid time: the statements that come, and those that go.

Rules (Disjoint)
-----
* The believed facts of a statement have disjoint intervals. So a statement held at an instant if a fact of the plan
  supersedes one that did, and holds afterwards if the plan records one that does: nothing else has to be looked at.
* What does both, as evidence or a fact that is cut elsewhere, changes nothing at that instant.

Example
-------
::

    changed = changes_at(plan.record, plan.supersede, clock)
    changed.added, changed.removed
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.vocabulary import is_data

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.facts import Fact, FactContent
    from kernel.terms import Statement
    from kernel.time.instants import Instant


@dataclass(frozen=True, slots=True)
class Changes:
    """Statements of data that hold only afterwards, and only before."""

    added: frozenset[Statement]
    removed: frozenset[Statement]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def changes_at(record: Iterable[FactContent], supersede: Iterable[Fact], at: Instant) -> Changes:
    """What recording and superseding these facts changes at an instant."""
    after = {each.statement for each in record if each.interval.contains(at) and is_data(each.statement.graph)}
    before = {each.statement for each in supersede if each.interval.contains(at) and is_data(each.statement.graph)}
    return Changes(frozenset(after - before), frozenset(before - after))
