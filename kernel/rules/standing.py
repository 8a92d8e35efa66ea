"""Contradictions that stand: let in by an editor, and settled by nobody since.

Rules
-----
* Where two statements contradict each other is worked out from what is believed and from the rules in force, not kept:
  once one of the two is retracted, corrected or ended before the other begins, or the rule is gone, nothing stands.
* What a finding says is no more than which two statements, under which kind of rule, and from when to when.
* What was settled stays so: of the time that was let in, that part stands over which the two were believed together at
  every moment since. What contradicts again, or at other times, was let in by another certificate, and stands by that:
  so nothing is listed twice.

Example
-------
::

    standing_parts(finding.code, statement, against, let_in, table, view)     # [Interval(…)]; []: it is settled
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.rules.contradictions import clash, group_of, shared
from kernel.rules.proposals import fused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from certificates.findings import FindingCode
    from kernel.facts import Fact
    from kernel.ports.facts import FactsView
    from kernel.rules.table import RuleTable
    from kernel.terms import Statement
    from kernel.time.instants import Instant
    from kernel.time.intervals import Interval


@dataclass(frozen=True, slots=True)
class LetIn:
    """When somebody let two statements contradict each other, and for which parts of valid time."""

    at: Instant
    parts: Sequence[Interval]


def standing_parts(
    code: FindingCode, one: Statement, other: Statement, let_in: LetIn, table: RuleTable, view: FactsView
) -> list[Interval]:
    """While two statements contradict each other as they were let in to, by time; empty: they do not any more."""
    rules = [
        rule
        for rule in table.of(one.predicate)
        if rule.kind.code is code
        and rule in table.of(other.predicate)
        and group_of(rule, one) == group_of(rule, other) is not None
        and clash(rule, one, other)
    ]
    mine, theirs = ([*view.ever_of(each)] for each in (one, other)) if rules else ([], [])
    moments = {at for fact in (*mine, *theirs) for at in _bounds(fact) if at > let_in.at}
    parts = fused(let_in.parts)
    for moment in (let_in.at, *sorted(moments)):
        together = fused(
            part
            for rule in rules
            for first in mine
            for second in theirs
            if _believed(first, moment) and _believed(second, moment)
            if (part := shared(rule, first.content.validity, second.content.validity)) is not None
        )
        parts = [both for part in parts for each in together if (both := part.intersect(each)) is not None]
    return parts


def _bounds(fact: Fact) -> Iterator[Instant]:
    yield fact.recorded_at
    if fact.superseded is not None:
        yield fact.superseded.at


def _believed(fact: Fact, at: Instant) -> bool:
    return fact.recorded_at <= at and (fact.superseded is None or at < fact.superseded.at)
