"""Contradictions that stand: let in by an editor, and settled by nobody since.

Rules
-----
* Where two statements contradict each other is worked out from what is believed and from the rules in force, not kept:
  once one of the two is retracted, corrected or ended before the other begins, or the rule is gone, nothing stands.
* What a finding says is no more than which two statements, and under which kind of rule.

Example
-------
::

    standing_parts(finding.code, statement, against, table, view)     # [Interval(…)]; []: it is settled
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.rules.contradictions import clash, group_of, shared
from kernel.rules.proposals import fused

if TYPE_CHECKING:
    from certificates.findings import FindingCode
    from kernel.ports.facts import FactsView
    from kernel.rules.table import RuleTable
    from kernel.terms import Statement
    from kernel.time.intervals import Interval


def standing_parts(
    code: FindingCode, one: Statement, other: Statement, table: RuleTable, view: FactsView
) -> list[Interval]:
    """When two statements contradict each other as things are believed, by time; empty: they do not."""
    rules = [
        rule
        for rule in table.of(one.predicate)
        if rule.kind.code is code
        and rule in table.of(other.predicate)
        and group_of(rule, one) == group_of(rule, other) is not None
        and clash(rule, one, other)
    ]
    if not rules:
        return []
    mine, theirs = view.believed_of(one), view.believed_of(other)
    return fused(
        part
        for rule in rules
        for first in mine
        for second in theirs
        if (part := shared(rule, first.content.validity, second.content.validity)) is not None
    )
