"""Rules: what contradicts what, and what is proposed to settle it.

Rules
-----
* Rules are read from the believed facts of `m:rules` (`rule_table`), contradictions are found by `contradictions`, and
  what is proposed (`proposals`) becomes part of the plan. `m:KeepBoth` and `m:Ask` propose no change.
* Each contradiction is a finding over the time of the overlap (`conflict_words`). It names the other fact and since
  when it holds, what is proposed, and whatever is then no longer believed although nothing takes its place.
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
from kernel.rules.conflict_words import told
from kernel.rules.contradictions import conflicts, groups
from kernel.rules.preferring import Weighing
from kernel.rules.proposals import proposed_trims, shortened
from kernel.rules.table import InvalidRule, RuleTable, read_rules, rules_of
from kernel.rules.vocabularies import declared_by, grown, not_admitted
from kernel.vocabulary import GOVERNANCE, ONTOLOGY_GRAPH, RULES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernel.facts import Fact
    from kernel.ports.facts import FactsView
    from kernel.terms import Iri, Statement
    from kernel.writing.plan import Plan

__all__ = ["amend", "beyond_vocabularies", "read_rules"]

_DECLARING: Final = frozenset({RULES_GRAPH, ONTOLOGY_GRAPH})
"""Where vocabularies, and what they admit, are declared."""


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
    ruled = [content for content in plan.record if table.of(content.statement.predicate)]
    if not ruled:
        return plan, findings
    gone = {fact.id for fact in plan.supersede}
    found = [each for group, own in groups(ruled, table).items() for each in conflicts(group, own, gone, view)]
    if not found:
        return plan, findings
    weighing = Weighing(plan, view, table)
    trims = proposed_trims(found, weighing)
    findings += [finding for conflict in found for finding in told(conflict, trims, weighing)]
    return (shortened(plan, trims.values(), view) if trims else plan), findings


def beyond_vocabularies(plan: Plan, table: RuleTable, ontology: tuple[Fact, ...], view: FactsView) -> Iterator[Finding]:
    """What the vocabularies of graphs find: terms that may not be used there, and that one admits too many.

    Args:
        plan: a plan whose facts are not in the view.
        table: the rules in force.
        ontology: the believed facts of `m:ontology` in force.
        view: the facts believed at the head, those of the load session so far included.
    """
    yield from not_admitted(plan, table.vocabularies, ontology)
    if _DECLARING.isdisjoint(plan.graphs):
        return
    if table.vocabularies or RULES_GRAPH in plan.graphs:
        (rules, rules_then), (axioms, axioms_then) = (
            _before_and_after(plan, graph, view) for graph in (RULES_GRAPH, ONTOLOGY_GRAPH)
        )
        yield from grown(
            rules_of(rules).vocabularies,
            declared_by(axioms),
            rules_of(rules_then).vocabularies,
            declared_by(axioms_then),
        )


# --- rules themselves -------------------------------------------------------------------------------------------------


def _of_written_rules(plan: Plan, view: FactsView) -> list[Finding]:
    """What is wrong with the rules as they would be, if the plan writes any."""
    for content in plan.record:
        if content.statement.graph == RULES_GRAPH:
            break
    else:
        if not any(fact.statement.graph == RULES_GRAPH for fact in plan.supersede):
            return []
    return [_invalid(rule, "") for rule in rules_of(_before_and_after(plan, RULES_GRAPH, view)[1]).invalid]


def _before_and_after(plan: Plan, graph: Iri, view: FactsView) -> tuple[list[Statement], list[Statement]]:
    """What is believed in a graph, and what would be."""
    gone = {fact.id for fact in plan.supersede}
    held = list(view.believed(graph=graph))
    left = [fact.statement for fact in held if fact.id not in gone]
    written = [content.statement for content in plan.record if content.statement.graph == graph]
    return [fact.statement for fact in held], [*left, *written]


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
