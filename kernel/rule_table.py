"""The contradiction rules of a base, read from the believed facts of `m:rules`.

Rules
-----
* A rule is a subject with exactly one of the types `m:SingleValuedBySubject` and `m:SingleValuedByObject`, exactly one
  `m:predicate`, an IRI, and at most one `m:propose`: `m:EndOlder`, `m:KeepBoth` or `m:Ask` (which is also the default).
* A predicate has at most one rule of each kind.
* What uses the vocabulary `m:` in any other way is an invalid rule, with its place and its reason; nothing is ignored.
  Labels, comments and whatever else is not of that vocabulary are free.
* A table is read once for the same tuple of facts.

Example
-------
::

    :r a m:SingleValuedBySubject ; m:predicate :livesIn ; m:propose m:EndOlder .

    read_rules(facts).by_subject[Iri("…livesIn")].proposal is Proposal.END_OLDER
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kernel.terms import RDF, Iri
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kernel.facts import Fact
    from kernel.terms import Statement, Term

RDF_TYPE: Final = Iri(RDF + "type")
PREDICATE: Final = Iri(M + "predicate")
PROPOSE: Final = Iri(M + "propose")


class RuleKind(StrEnum):
    """What a predicate may have only one of at a time."""

    BY_SUBJECT = "SingleValuedBySubject"
    BY_OBJECT = "SingleValuedByObject"


class Proposal(StrEnum):
    """What a rule proposes when two facts contradict each other."""

    END_OLDER = "EndOlder"
    KEEP_BOTH = "KeepBoth"
    ASK = "Ask"


_KINDS: Final[Mapping[Term, RuleKind]] = {Iri(M + kind): kind for kind in RuleKind}
_PROPOSALS: Final[Mapping[Term, Proposal]] = {Iri(M + proposal): proposal for proposal in Proposal}


@dataclass(frozen=True, slots=True)
class Rule:
    """A predicate that is single-valued in one direction."""

    node: Iri
    kind: RuleKind
    predicate: Iri
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class InvalidRule:
    """A rule that cannot be applied.

    Args:
        node: the rule.
        reason: what is wrong with it, and what to write instead.
        predicates: the predicates that it names, as far as can be told; empty: any write may be meant.
    """

    node: Iri
    reason: str
    predicates: frozenset[Iri]


@dataclass(frozen=True, slots=True)
class RuleTable:
    """The rules in force, by predicate."""

    by_subject: Mapping[Iri, Rule] = field(default_factory=dict)
    by_object: Mapping[Iri, Rule] = field(default_factory=dict)
    invalid: tuple[InvalidRule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.by_subject or self.by_object or self.invalid)

    def of(self, predicate: Iri) -> list[Rule]:
        """The rules on a predicate."""
        return [table[predicate] for table in (self.by_subject, self.by_object) if predicate in table]


NO_RULES: Final = RuleTable()


def read_rules(facts: tuple[Fact, ...]) -> RuleTable:
    """The table of the believed facts of `m:rules`; total, and remembered for the tuple given."""
    return _read(_Same(facts)) if facts else NO_RULES


def rules_of(statements: Iterable[Statement]) -> RuleTable:
    """The table of statements, whatever their graph."""
    described: dict[Iri, dict[Iri, list[Term]]] = {}
    for statement in statements:
        terms = described.setdefault(statement.subject, {}).setdefault(statement.predicate, [])
        if statement.object not in terms:
            terms.append(statement.object)
    read = [_rule(node, terms) for node, terms in sorted(described.items(), key=lambda item: item[0].value)]
    return _table([rule for rule in read if isinstance(rule, Rule)], [no for no in read if isinstance(no, InvalidRule)])


class _Same:
    """A key that is equal for the very same tuple only: facts are not hashed again for each plan."""

    __slots__ = ("facts",)

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self.facts = facts

    def __hash__(self) -> int:
        return id(self.facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.facts is other.facts


@lru_cache(maxsize=16)
def _read(key: _Same) -> RuleTable:
    return rules_of(fact.statement for fact in key.facts)


def _rule(node: Iri, terms: Mapping[Iri, list[Term]]) -> Rule | InvalidRule | None:
    """The rule that a node describes; None when it uses nothing of our vocabulary."""
    types = [term for term in terms.get(RDF_TYPE, ()) if isinstance(term, Iri) and term.value.startswith(M)]
    ours = [predicate for predicate in terms if predicate.value.startswith(M)]
    if not types and not ours:
        return None
    fault = _fault(types, ours, terms)
    if fault is not None:
        named = frozenset(term for term in terms.get(PREDICATE, ()) if isinstance(term, Iri))
        return InvalidRule(node, fault, named)
    (predicate,) = (term for term in terms[PREDICATE] if isinstance(term, Iri))
    (proposal,) = terms.get(PROPOSE) or (Iri(M + Proposal.ASK),)
    return Rule(node, _KINDS[types[0]], predicate, _PROPOSALS[proposal])


def _fault(types: list[Iri], ours: list[Iri], terms: Mapping[Iri, list[Term]]) -> str | None:
    """What keeps a node from being a rule."""
    kinds = " or ".join(f"m:{kind}" for kind in RuleKind)
    if strange := [term.n3 for term in types if term not in _KINDS]:
        return f"there is no kind of rule {strange[0]}: write {kinds}"
    if len(types) != 1:
        return f"a rule has one type, this one has {len(types) or 'none'}: write {kinds}"
    if strange := [term.n3 for term in ours if term not in (PREDICATE, PROPOSE)]:
        return f"a rule has no {strange[0]}: write m:predicate and m:propose"
    predicates = terms.get(PREDICATE, [])
    if len(predicates) != 1 or not isinstance(predicates[0], Iri):
        return "a rule has exactly one m:predicate, an IRI: make a rule for each predicate"
    proposals = terms.get(PROPOSE, [])
    if len(proposals) > 1 or any(term not in _PROPOSALS for term in proposals):
        return f"a rule has at most one m:propose: write {', '.join(f'm:{each}' for each in Proposal)}"
    return None


def _table(rules: list[Rule], invalid: list[InvalidRule]) -> RuleTable:
    tables: dict[RuleKind, dict[Iri, Rule]] = {kind: {} for kind in RuleKind}
    for rule in rules:
        first = tables[rule.kind].setdefault(rule.predicate, rule)
        if first is not rule:
            reason = f"{rule.predicate.n3} has this kind of rule already, {first.node.n3}: keep one of them"
            invalid.append(InvalidRule(rule.node, reason, frozenset({rule.predicate})))
    return RuleTable(tables[RuleKind.BY_SUBJECT], tables[RuleKind.BY_OBJECT], tuple(invalid))
