"""The kinds of contradiction rules: what each is about, and what it may propose.

Rules
-----
* A rule is about one predicate, about one or two, about exactly two, or about two classes and more. What it is about
  are its *terms*.
* `EndOlder` is no proposal where the order of values is at fault: an end would leave the values as they are.
* The preferring proposals choose by what speaks for the two facts (`kernel.rules.preferring`).

Example
-------
>>> RuleKind.ORDER.shape.words, RuleKind.ORDER.contradiction.value
('m:predicate P ; m:with Q', 'temporal')
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from certificates.contradictions import ContradictionKind
from certificates.findings import FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping


class RuleKind(StrEnum):
    """What may not be believed together."""

    BY_SUBJECT = "SingleValuedBySubject"
    BY_OBJECT = "SingleValuedByObject"
    DISJOINT = "DisjointClasses"
    BY_ENDS = "ExclusiveByEnds"
    EXCLUSIVE = "ExclusiveBySubject"
    ORDER = "ValueOrder"
    OVERLAP = "IntervalOverlap"
    ASYMMETRIC = "Asymmetric"

    @property
    def shape(self) -> Shape:
        """What such a rule is about."""
        return _SHAPES[self]

    @property
    def code(self) -> FindingCode:
        """The code of what it finds."""
        return _CODES[self]

    @property
    def contradiction(self) -> ContradictionKind:
        """The kind of contradiction that it finds."""
        return _CONTRADICTIONS[self]


class Proposal(StrEnum):
    """What a rule proposes when two facts contradict each other."""

    END_OLDER = "EndOlder"
    KEEP_BOTH = "KeepBoth"
    ASK = "Ask"
    PREFER_CREDIBLE = "PreferCredible"
    PREFER_RECENT = "PreferRecent"
    PREFER_CONFIDENT = "PreferConfident"
    PREFER_ARGUED = "PreferArgued"

    @property
    def prefers(self) -> bool:
        """Whether one of the two is chosen by what speaks for it."""
        return self in PREFERENCES

    @property
    def changes(self) -> bool:
        """Whether it may change a plan."""
        return self is Proposal.END_OLDER or self.prefers


PREFERENCES: Final = frozenset(
    {Proposal.PREFER_CREDIBLE, Proposal.PREFER_RECENT, Proposal.PREFER_CONFIDENT, Proposal.PREFER_ARGUED}
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a rule of a kind names.

    Args:
        words: how that is written.
        predicates: how many `m:predicate`.
        others: how many `m:with`, at least and at most.
        classes: how many `m:class`, at least; 0: none at all.
    """

    words: str
    predicates: int
    others: tuple[int, int]
    classes: int


_ONE: Final = Shape("m:predicate P", 1, (0, 0), 0)
_ONE_OR_TWO: Final = Shape("m:predicate P, and m:with Q where it is about two", 1, (0, 1), 0)
_TWO: Final = Shape("m:predicate P ; m:with Q", 1, (1, 1), 0)
_CLASSES: Final = Shape("m:class C, D", 0, (0, 0), 2)

_SHAPES: Final[Mapping[RuleKind, Shape]] = {
    RuleKind.BY_SUBJECT: _ONE,
    RuleKind.BY_OBJECT: _ONE,
    RuleKind.DISJOINT: _CLASSES,
    RuleKind.BY_ENDS: _TWO,
    RuleKind.EXCLUSIVE: _TWO,
    RuleKind.ORDER: _TWO,
    RuleKind.OVERLAP: _ONE_OR_TWO,
    RuleKind.ASYMMETRIC: _ONE_OR_TWO,
}
_CODES: Final[Mapping[RuleKind, FindingCode]] = {
    RuleKind.BY_SUBJECT: FindingCode.SINGLE_VALUED_BY_SUBJECT,
    RuleKind.BY_OBJECT: FindingCode.SINGLE_VALUED_BY_OBJECT,
    RuleKind.DISJOINT: FindingCode.DISJOINT_CLASSES,
    RuleKind.BY_ENDS: FindingCode.EXCLUSIVE_BY_ENDS,
    RuleKind.EXCLUSIVE: FindingCode.EXCLUSIVE_BY_SUBJECT,
    RuleKind.ORDER: FindingCode.VALUE_ORDER,
    RuleKind.OVERLAP: FindingCode.INTERVAL_OVERLAP,
    RuleKind.ASYMMETRIC: FindingCode.ASYMMETRIC,
}
_CONTRADICTIONS: Final[Mapping[RuleKind, ContradictionKind]] = {
    RuleKind.BY_SUBJECT: ContradictionKind.VALUE,
    RuleKind.BY_OBJECT: ContradictionKind.VALUE,
    RuleKind.DISJOINT: ContradictionKind.TYPE,
    RuleKind.BY_ENDS: ContradictionKind.RELATION,
    RuleKind.EXCLUSIVE: ContradictionKind.RELATION,
    RuleKind.ORDER: ContradictionKind.TEMPORAL,
    RuleKind.OVERLAP: ContradictionKind.TEMPORAL,
    RuleKind.ASYMMETRIC: ContradictionKind.LOGICAL,
}
CONTRADICTION_CODES: Final = frozenset(_CODES.values())
"""The codes of findings that set two facts against each other."""
