"""Contradictions: pairs of facts that a rule says cannot both be believed.

Rules
-----
* Single-valued by subject: within one graph, two facts with the same subject and predicate and different objects
  contradict each other wherever their valid intervals overlap. Single-valued by object: the same with the ends swapped.
* A plan is told only of contradictions that it brings: where both statements were believed before, they may stay.

Example
-------
Held: lives in Paris from 2024. Recorded: lives in Rome from 2019. They contradict each other over [2024, ∞)::

    [conflict] = conflicts(group, plan.record, (), view)
    conflict.older.content.statement.object      # Rome
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.facts import Fact, FactContent
from kernel.intervals import Interval, gaps
from kernel.rule_table import Proposal, Rule, RuleKind, RuleTable
from kernel.terms import Iri, Statement, Term

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from uuid import UUID

    from kernel.ports import FactsView


@dataclass(frozen=True, slots=True)
class Side:
    """One of two facts that may contradict each other: held (with its `fact`), or recorded by the plan."""

    content: FactContent
    fact: Fact | None = None

    @property
    def start(self) -> int:
        """Where its valid interval starts."""
        return self.content.interval.start


@dataclass(frozen=True, slots=True)
class Group:
    """Facts of one predicate in one graph that share the end which a rule allows one value for."""

    rule: Rule
    graph: Iri
    anchor: Term

    def held(self, view: FactsView) -> list[Fact]:
        """Its facts that are believed."""
        predicate = self.rule.predicate
        if self.rule.kind is RuleKind.BY_OBJECT:
            return list(view.believed(predicate=predicate, object=self.anchor, graph=self.graph))
        return list(view.believed(subject=_iri(self.anchor), predicate=predicate, graph=self.graph))


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two facts that would both be believed, and where they were not both believed before."""

    group: Group
    new: Side
    other: Side
    parts: tuple[Interval, ...]

    @property
    def older(self) -> Side:
        """The one that starts earlier; the new one if they start together."""
        return min(self.new, self.other, key=lambda side: side.start)

    @property
    def later(self) -> Side:
        """The other one."""
        return self.other if self.older is self.new else self.new

    @property
    def proposes_an_end(self) -> bool:
        """Whether the rule has the older one end, and there is an older one."""
        return self.group.rule.proposal is Proposal.END_OLDER and self.new.start != self.other.start


def anchor_of(rule: Rule, statement: Statement) -> Term:
    """The end of a statement that a rule allows one value for."""
    return statement.subject if rule.kind is RuleKind.BY_SUBJECT else statement.object


def value_of(rule: Rule, statement: Statement) -> Term:
    """The end of a statement that a rule allows one of."""
    return statement.object if rule.kind is RuleKind.BY_SUBJECT else statement.subject


def _iri(term: Term) -> Iri:
    if not isinstance(term, Iri):
        raise TypeError(f"{term.n3} is the subject of no statement")
    return term


def groups(ruled: Iterable[FactContent], table: RuleTable) -> dict[Group, list[FactContent]]:
    """What a plan records under each rule, by what it may have only one of; in order of appearance."""
    found: dict[Group, list[FactContent]] = {}
    for content in ruled:
        statement = content.statement
        for rule in table.of(statement.predicate):
            found.setdefault(Group(rule, statement.graph, anchor_of(rule, statement)), []).append(content)
    return found


def conflicts(
    group: Group, recorded: Iterable[FactContent], gone: Container[UUID], view: FactsView
) -> Iterator[Conflict]:
    """Every recorded fact with each held one, or one recorded before it, that it contradicts anew.

    Args:
        group: what may have only one value.
        recorded: what the plan records in the group.
        gone: the ids of the facts that the plan supersedes.
        view: the facts believed at the head.
    """
    held = group.held(view)
    before: dict[Statement, list[Interval]] = {}
    for fact in held:
        before.setdefault(fact.statement, []).append(fact.interval)
    sides = [Side(fact.content, fact) for fact in held if fact.id not in gone]
    for content in recorded:
        new = Side(content)
        for other in sides:
            parts = _newly_shared(content, other.content, before)
            if parts:
                yield Conflict(group, new, other, parts)
        sides.append(new)


def _newly_shared(
    one: FactContent, other: FactContent, before: dict[Statement, list[Interval]]
) -> tuple[Interval, ...]:
    """Where two facts of different statements overlap, without the parts in which both were believed before."""
    shared = one.interval.intersect(other.interval) if one.statement != other.statement else None
    if shared is None:
        return ()
    old = [
        both
        for first in before.get(one.statement, ())
        for second in before.get(other.statement, ())
        if (both := first.intersect(second)) is not None
    ]
    return tuple(gaps(shared, old))
