"""Contradictions: pairs of facts that a rule says cannot both be believed.

Rules
-----
* Two facts contradict each other wherever their valid intervals overlap, and

  =====================  ===========================================================================================
  single-valued          they have the same predicate and subject (object), and different objects (subjects)
  disjoint classes       they give the same subject two of the classes
  exclusive by ends      they have the same subject and object, and each one of the two predicates
  exclusive by subject   they have the same subject, and each one of the two predicates
  value order            of the same subject, the value of the first predicate is surely after that of the second
  interval overlap       of the same subject, both are surely true: of one predicate with different objects, or of two
  asymmetric             what the one says from a to b, the other says from b to a: by the predicate, or the other one
  =====================  ===========================================================================================

* A fact is surely true in that part of its interval which how exactly its ends are known leaves no doubt of: from the
  end of the day, month or year in which it started until the start of that in which it ended.
* Facts are looked at within one graph, or within all data graphs if the rule says so.
* A plan is told only of contradictions that it brings: where both statements were believed before, they may stay.
* Looked up are the facts of the node, or of the two nodes, that a fact of the plan is about; never more.

Example
-------
Held: lives in Paris from 2024. Recorded: lives in Rome from 2019. They contradict each other over [2024, ∞)::

    [conflict] = conflicts(group, plan.record, (), view)
    conflict.older.content.statement.object      # Rome
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.facts import Fact, FactContent, Validity
from kernel.rules.kinds import Proposal, RuleKind
from kernel.rules.table import Rule, RuleTable
from kernel.rules.value_order import surely_after
from kernel.terms import Iri, Statement, Term
from kernel.time.gregorian import civil_from_days
from kernel.time.instants import DAY
from kernel.time.intervals import Interval, gaps
from kernel.time.precision import COARSE, Precision, days_of
from kernel.vocabulary import is_data

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from uuid import UUID

    from kernel.ports.facts import FactsView


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
    """The facts that a rule sets against one another.

    Args:
        graph: which they are in; None: in any of data.
        ends: the node that they share; or the two nodes, the first as subject where that matters.
    """

    rule: Rule
    graph: Iri | None
    ends: tuple[Term, ...]

    @property
    def anchor(self) -> Term:
        """The node that a contradiction is about."""
        return self.ends[0]

    def held(self, view: FactsView) -> list[Fact]:
        """Its facts that are believed."""
        found: dict[UUID, Fact] = {}
        for predicate in self.rule.predicates:
            for fact in self._looked_up(predicate, view):
                if self.graph is not None or is_data(fact.statement.graph):
                    found.setdefault(fact.id, fact)
        return [fact for fact in found.values() if group_of(self.rule, fact.statement) == self]

    def _looked_up(self, predicate: Iri, view: FactsView) -> Iterator[Fact]:
        if self.rule.kind is RuleKind.BY_OBJECT:
            yield from view.believed(predicate=predicate, object=self.anchor, graph=self.graph)
        elif len(self.ends) == 1:
            yield from view.believed(subject=_iri(self.anchor), predicate=predicate, graph=self.graph)
        else:
            one, other = self.ends
            ways = [(one, other)] if self.rule.kind is RuleKind.BY_ENDS else [(one, other), (other, one)]
            for subject, value in ways:
                yield from self._between(_iri(subject), predicate, value, view)

    def _between(self, subject: Iri, predicate: Iri, value: Term, view: FactsView) -> Iterable[Fact]:
        if self.graph is None:
            return view.believed(subject=subject, predicate=predicate, object=value)
        return view.believed_of(Statement(subject, predicate, value, self.graph))


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


def group_of(rule: Rule, statement: Statement) -> Group | None:
    """What a statement belongs to under a rule on its predicate; None: the rule is not about it."""
    ends: tuple[Term, ...] = (statement.subject,)
    if rule.kind is RuleKind.BY_OBJECT:
        ends = (statement.object,)
    elif rule.kind is RuleKind.BY_ENDS:
        ends = (statement.subject, statement.object)
    elif rule.kind is RuleKind.ASYMMETRIC:
        if not isinstance(statement.object, Iri):
            return None
        first, second = sorted((statement.subject, statement.object), key=lambda node: node.value)
        ends = (first, second)
    elif rule.kind is RuleKind.DISJOINT and statement.object not in rule.terms:
        return None
    if rule.across and not is_data(statement.graph):
        return None
    return Group(rule, None if rule.across else statement.graph, ends)


def groups(ruled: Iterable[FactContent], table: RuleTable) -> dict[Group, list[FactContent]]:
    """What a plan records under each rule, by what it is set against; in order of appearance."""
    found: dict[Group, list[FactContent]] = {}
    for content in ruled:
        for rule in table.of(content.statement.predicate):
            group = group_of(rule, content.statement)
            if group is not None:
                found.setdefault(group, []).append(content)
    return found


def conflicts(
    group: Group, recorded: Iterable[FactContent], gone: Container[UUID], view: FactsView
) -> Iterator[Conflict]:
    """Every recorded fact with each held one, or one recorded before it, that it contradicts anew.

    Args:
        group: what is set against one another.
        recorded: what the plan records in the group.
        gone: the ids of the facts that the plan supersedes.
        view: the facts believed at the head.
    """
    held = group.held(view)
    before: dict[Statement, list[Validity]] = {}
    for fact in held:
        before.setdefault(fact.statement, []).append(fact.content.validity)
    sides = [Side(fact.content, fact) for fact in held if fact.id not in gone]
    for content in recorded:
        new = Side(content)
        for other in sides:
            if clash(group.rule, content.statement, other.content.statement):
                parts = _newly_shared(group.rule, content, other.content, before)
                if parts:
                    yield Conflict(group, new, other, parts)
        sides.append(new)


def clash(rule: Rule, one: Statement, other: Statement) -> bool:
    """Whether a rule lets two statements of one group not hold at the same time; the same either way round."""
    kind, terms = rule.kind, rule.terms
    if kind in (RuleKind.BY_SUBJECT, RuleKind.DISJOINT):
        return one.object != other.object
    if kind is RuleKind.BY_OBJECT:
        return one.subject != other.subject
    named = (one.predicate, other.predicate)
    if named not in (terms, terms[::-1]) and not (len(terms) == 1 and named == terms * 2):
        return False
    if kind is RuleKind.ORDER:
        first, second = (one, other) if one.predicate == terms[0] else (other, one)
        return surely_after(first.object, second.object)
    if kind is RuleKind.ASYMMETRIC:
        turned = (one.subject, one.object) == (other.object, other.subject)
        return turned and (one.subject != one.object or len(terms) == 2)
    return len(terms) == 2 or one.object != other.object


def shared(rule: Rule, one: Validity, other: Validity) -> Interval | None:
    """Where two facts do not go together; None: nowhere."""
    if rule.kind is not RuleKind.OVERLAP:
        return one.interval.intersect(other.interval)
    mine, theirs = surely(one), surely(other)
    return None if mine is None or theirs is None else mine.intersect(theirs)


def surely(validity: Validity) -> Interval | None:
    """The part of an interval of which there is no doubt; None: there is none."""
    start, end = validity.interval.start, validity.interval.end
    if validity.start_precision in COARSE:
        start += _length(start, validity.start_precision)
    if validity.end_precision in COARSE:
        end -= _length(end - 1, validity.end_precision)
    return Interval(start, end) if start < end else None


def _length(instant: int, precision: Precision) -> int:
    """How long the calendar value is that an instant lies in, in microseconds."""
    first, after = days_of(precision, *civil_from_days(instant // DAY))
    return (after - first) * DAY


def _newly_shared(
    rule: Rule, one: FactContent, other: FactContent, before: dict[Statement, list[Validity]]
) -> tuple[Interval, ...]:
    """Where two facts do not go together, without the parts in which both were believed before."""
    both = shared(rule, one.validity, other.validity)
    if both is None:
        return ()
    old = [
        part
        for first in before.get(one.statement, ())
        for second in before.get(other.statement, ())
        if (part := shared(rule, first, second)) is not None
    ]
    return tuple(gaps(both, old))


def _iri(term: Term) -> Iri:
    if not isinstance(term, Iri):
        raise TypeError(f"{term.n3} is the subject of no statement")
    return term
