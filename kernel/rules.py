"""Rules: what contradicts what, and what is proposed to settle it.

Rules
-----
* Rules are read from the believed facts of `m:rules` (`rule_table`), contradictions are found by `contradictions`, and
  what `m:EndOlder` proposes (`proposals`) becomes part of the plan. `m:KeepBoth` and `m:Ask` propose no change.
* Each contradiction is a finding over the time of the overlap. It names the other fact and since when it holds, what is
  proposed, and whatever is then no longer believed although nothing takes its place.
* An invalid rule is a finding on the plan that writes it; one that is in force all the same is a finding on every plan
  that touches its predicate, or, where that cannot be told, on every plan.

Example
-------
Held: lives in Paris from 2024. Asserted: lives in Rome from 2019. The plan then records Rome for [2019, 2024), and the
finding names Paris, held since 2024::

    plan, findings = amend(plan, read_rules(facts), view)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from certificates.findings import Finding, FindingCode, Severity
from kernel.contradictions import Conflict, conflicts, groups, value_of
from kernel.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.proposals import ProposedEnd, proposed_ends, shortened
from kernel.rule_table import InvalidRule, Proposal, RuleKind, RuleTable, read_rules, rules_of
from kernel.vocabulary import GOVERNANCE, RULES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from kernel.facts import FactContent
    from kernel.intervals import Interval
    from kernel.plan import Plan
    from kernel.ports import FactsView
    from kernel.terms import Iri, Term

__all__ = ["amend", "proposes", "read_rules"]

_CODES: Final = {
    RuleKind.BY_SUBJECT: FindingCode.SINGLE_VALUED_BY_SUBJECT,
    RuleKind.BY_OBJECT: FindingCode.SINGLE_VALUED_BY_OBJECT,
}
_SHOWN: Final = 120


def amend(plan: Plan, table: RuleTable, view: FactsView) -> tuple[Plan, list[Finding]]:
    """The plan with what the rules propose, and what they find.

    Args:
        plan: a plan whose facts are not in the view.
        table: the rules in force.
        view: the facts believed at the head.
    """
    findings = _of_written_rules(plan, view)
    if not table:
        return plan, findings
    findings += _of_invalid_rules(plan, table.invalid)
    ruled = [content for content in plan.record if _is_ruled(table, content.statement.predicate)]
    if not ruled:
        return plan, findings
    gone = {fact.id for fact in plan.supersede}
    found = [each for group, own in groups(ruled, table).items() for each in conflicts(group, own, gone, view)]
    if not found:
        return plan, findings
    ends = proposed_ends(found)
    findings += [finding for conflict in found for finding in _contradiction(conflict, ends)]
    return (shortened(plan, ends.values(), view) if ends else plan), findings


def proposes(finding: Finding, content: FactContent) -> bool:
    """Whether a finding of a contradiction proposes the end that a fact of the plan has."""
    statement = content.statement
    by_subject = finding.code is _CODES[RuleKind.BY_SUBJECT]
    ends: tuple[Term, Term] = (statement.subject, statement.object)
    anchor, value = ends if by_subject else ends[::-1]
    return (
        finding.code in _CODES.values()
        and finding.focus == anchor.n3
        and finding.path == statement.predicate.n3
        and statement.graph.value in finding.graphs
        and content.interval.end != FOREVER
        and _ending(value, Instant(content.interval.end)) in finding.message
    )


def _is_ruled(table: RuleTable, predicate: Iri) -> bool:
    return predicate in table.by_subject or predicate in table.by_object


# --- rules themselves -------------------------------------------------------------------------------------------------


def _of_written_rules(plan: Plan, view: FactsView) -> list[Finding]:
    """What is wrong with the rules as they would be, if the plan writes any."""
    for content in plan.record:
        if content.statement.graph == RULES_GRAPH:
            break
    else:
        if not any(fact.statement.graph == RULES_GRAPH for fact in plan.supersede):
            return []
    gone = {fact.id for fact in plan.supersede}
    held = [fact.statement for fact in view.believed(graph=RULES_GRAPH) if fact.id not in gone]
    written = [content.statement for content in plan.record if content.statement.graph == RULES_GRAPH]
    return [_invalid(rule, "") for rule in rules_of([*held, *written]).invalid]


def _of_invalid_rules(plan: Plan, invalid: Sequence[InvalidRule]) -> list[Finding]:
    """Fail closed: a rule that nobody can read may be about the predicate that is written."""
    if not invalid:
        return []
    statements = [*(content.statement for content in plan.record), *(fact.statement for fact in plan.supersede)]
    written = {statement.predicate for statement in statements if statement.graph not in GOVERNANCE}
    return [
        _invalid(rule, "; until it is mended, nothing that it may be about is let through")
        for rule in invalid
        if written and (not rule.predicates or not written.isdisjoint(rule.predicates))
    ]


def _invalid(rule: InvalidRule, consequence: str) -> Finding:
    return Finding(
        code=FindingCode.INVALID_RULE,
        severity=Severity.VIOLATION,
        message=f"the rule {rule.node.n3} cannot be applied: {rule.reason}{consequence}",
        graphs=(RULES_GRAPH.value,),
        focus=rule.node.n3,
    )


# --- words ------------------------------------------------------------------------------------------------------------


def _contradiction(conflict: Conflict, ends: dict[UUID, ProposedEnd]) -> Iterator[Finding]:
    rule, statement = conflict.group.rule, conflict.new.content.statement
    message = f"{_claim(conflict)}; {_proposal(conflict, ends)}"
    for part in conflict.parts:
        yield Finding(
            code=_CODES[rule.kind],
            severity=Severity.VIOLATION,
            message=message,
            graphs=(statement.graph.value,),
            focus=conflict.group.anchor.n3,
            path=rule.predicate.n3,
            value=value_of(rule, statement).n3,
            start=print_instant(Instant(part.start)) if part.start != BEGINNING else None,
            end=print_instant(Instant(part.end)) if part.end != FOREVER else None,
        )


def _claim(conflict: Conflict) -> str:
    rule = conflict.group.rule
    other = conflict.other
    standing = "held" if other.fact is not None else "asserted with it"
    limit = (
        f"{_show(conflict.group.anchor)} has one {_show(rule.predicate)} at a time"
        if rule.kind is RuleKind.BY_SUBJECT
        else f"{_show(conflict.group.anchor)} is the {_show(rule.predicate)} of one subject at a time"
    )
    return (
        f"{_show(value_of(rule, conflict.new.content.statement))} contradicts "
        f"{_show(value_of(rule, other.content.statement))}, {standing} {_when(other.content.interval)}: {limit}"
    )


def _proposal(conflict: Conflict, ends: dict[UUID, ProposedEnd]) -> str:
    rule = conflict.group.rule
    if rule.proposal is Proposal.KEEP_BOTH:
        return "it is proposed to keep both"
    if rule.proposal is Proposal.ASK:
        return "nothing is proposed: decide which one holds"
    if not conflict.proposes_an_end:
        return "both start at the same moment, so nothing is proposed: decide which one holds"
    end = ends[conflict.older.content.id]
    value = value_of(rule, end.side.content.statement)
    lost = " and ".join(_when(part) for part in end.lost)
    return _ending(value, end.at) + (f", and so is no longer believed {lost}" if lost else "")


def _ending(value: Term, at: Instant) -> str:
    return f"it is proposed that {_show(value)} ends at {print_instant(at)}"


def _when(interval: Interval) -> str:
    start = None if interval.start == BEGINNING else print_instant(Instant(interval.start))
    end = None if interval.end == FOREVER else print_instant(Instant(interval.end))
    if start is None:
        return f"until {end}" if end else "at all times"
    return f"from {start} until {end}" if end else f"since {start}"


def _show(term: Term) -> str:
    return term.n3 if len(term.n3) <= _SHOWN else term.n3[:_SHOWN] + "…"
