"""What a plan changes at one instant of valid time, the statements that come and those that go; and what at others.

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

from kernel.time.intervals import gaps
from kernel.vocabulary import is_data

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.facts import Fact, FactContent
    from kernel.terms import Statement
    from kernel.time.instants import Instant
    from kernel.time.intervals import Interval


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


def changed_elsewhen(record: Iterable[FactContent | Fact], supersede: Iterable[Fact], at: Instant) -> set[Statement]:
    """The statements that come or go over some stretch of valid time which the instant is not in."""
    before, after = _intervals(supersede), _intervals(record)
    return {
        statement
        for statement in before.keys() | after.keys()
        for one, other in ((before, after), (after, before))
        for interval in one.get(statement, ())
        for part in gaps(interval, other.get(statement, ()))
        if not part.contains(at)
    }


def _intervals(facts: Iterable[FactContent | Fact]) -> dict[Statement, list[Interval]]:
    found: dict[Statement, list[Interval]] = {}
    for each in facts:
        found.setdefault(each.statement, []).append(each.interval)
    return found
