"""Policy: from findings to a verdict.

Rules
-----
* A policy says when a plan is refused and when it is held for review; what is neither is clear. Refusal goes first.
* Conditions are small and compose: `HasCode`, `Contradicts`, `Concerns`, `AtLeast`, `Weighs`, `Rows`, `AnyOf`, `AllOf`.
  Each describes itself canonically, and the digest of that description is named by every certificate.
* `reasons` says which clauses decided, in the words of that description: the parts of an `AnyOf` that hold, one by one.
* Fail closed: a finding whose code no condition names is held for review, unless it is only a warning or information.
* The policy that lets everything through is called `UnsafeAutoApprove`, is never the default, and says its name in a
  finding on every plan that it lets through.

Example
-------
>>> Policy(refuse=HasCode(FindingCode.SHAPE_VIOLATION), review=HasCode(FindingCode.LOW_CONFIDENCE)).verdict([]).value
'clear'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from certificates.canonical import canonical_json
from certificates.certificate import Verdict
from certificates.contradictions import ContradictionKind
from certificates.findings import Finding, FindingCode, Severity
from kernel.approval import ANY_EDITOR, ApprovalRule
from kernel.queries import HEAVIEST
from kernel.rule_kinds import CONTRADICTION_CODES


class Condition(Protocol):
    """Something that findings fulfil or not."""

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether the findings fulfil it."""
        ...

    def names(self, finding: Finding) -> bool:
        """Whether the condition has an opinion on findings of this kind."""
        ...

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        ...


@dataclass(frozen=True, slots=True)
class HasCode:
    """At least one finding of the code, at least as severe."""

    code: FindingCode
    severity: Severity = Severity.WARNING

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether there is such a finding."""
        return any(self.names(finding) and _RANK[finding.severity] >= _RANK[self.severity] for finding in findings)

    def names(self, finding: Finding) -> bool:
        """Whether the finding has the code."""
        return finding.code == self.code

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"hasCode": self.code.value, "severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class AtLeast:
    """So many findings, of whatever kind, at least as severe."""

    count: int
    severity: Severity = Severity.WARNING

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether there are so many."""
        return sum(_RANK[finding.severity] >= _RANK[self.severity] for finding in findings) >= self.count

    def names(self, finding: Finding) -> bool:  # noqa: ARG002 - it speaks of numbers, not of kinds
        """Never: a threshold names no kind."""
        return False

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"atLeast": self.count, "severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class Weighs:
    """Registered queries whose answers change, or may, weigh so much together."""

    total: int

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether they do."""
        return sum(each.impact.weight for each in findings if each.impact is not None) >= self.total

    def names(self, finding: Finding) -> bool:  # noqa: ARG002 - it speaks of weights, not of kinds
        """Never: a threshold names no kind."""
        return False

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"weighs": self.total}


@dataclass(frozen=True, slots=True)
class Rows:
    """Answers to registered queries gain and lose so many rows together."""

    total: int

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether they do; rows that nobody could count are not."""
        impacts = [each.impact for each in findings if each.impact is not None]
        return sum((each.gained or 0) + (each.lost or 0) for each in impacts) >= self.total

    def names(self, finding: Finding) -> bool:  # noqa: ARG002 - it speaks of rows, not of kinds
        """Never: a threshold names no kind."""
        return False

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"rows": self.total}


@dataclass(frozen=True, slots=True)
class Contradicts:
    """At least one contradiction of the kind."""

    kind: ContradictionKind

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether there is one."""
        return any(map(self.names, findings))

    def names(self, finding: Finding) -> bool:
        """Whether the finding is such a contradiction."""
        return finding.contradiction is not None and finding.contradiction.kind is self.kind

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"contradicts": self.kind.value}


@dataclass(frozen=True, slots=True)
class Concerns:
    """At least one finding that was drawn from the graph, at least as severe."""

    graph: str
    severity: Severity = Severity.WARNING

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether there is one."""
        return any(
            self.graph in finding.graphs and _RANK[finding.severity] >= _RANK[self.severity] for finding in findings
        )

    def names(self, finding: Finding) -> bool:  # noqa: ARG002 - it speaks of graphs, not of kinds
        """Never: a graph names no kind."""
        return False

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"concerns": self.graph, "severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of the conditions."""

    conditions: tuple[Condition, ...]

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether one holds."""
        return any(condition.holds(findings) for condition in self.conditions)

    def names(self, finding: Finding) -> bool:
        """Whether one of them names it."""
        return any(condition.names(finding) for condition in self.conditions)

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"anyOf": [condition.describe() for condition in self.conditions]}


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every one of the conditions."""

    conditions: tuple[Condition, ...]

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether all hold."""
        return all(condition.holds(findings) for condition in self.conditions)

    def names(self, finding: Finding) -> bool:
        """Whether one of them names it."""
        return any(condition.names(finding) for condition in self.conditions)

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"allOf": [condition.describe() for condition in self.conditions]}


@dataclass(frozen=True, slots=True)
class Policy:
    """Refuses, holds for review, or lets through.

    Args:
        refuse: when a plan is refused.
        review: when it waits for an editor.
        confidence: facts asserted with less than this confidence, a decimal in text, become `low-confidence` findings.
        approval: what approvals of a plan that waits are held to.
    """

    refuse: Condition
    review: Condition
    confidence: str = "0.5"
    approval: ApprovalRule = ANY_EDITOR

    def verdict(self, findings: Sequence[Finding]) -> Verdict:
        """The verdict on a plan with these findings."""
        if not findings:
            return Verdict.CLEAR
        if self.refuse.holds(findings):
            return Verdict.REFUSED
        if self.review.holds(findings) or any(map(self._unforeseen, findings)):
            return Verdict.REVIEW
        return Verdict.CLEAR

    def reasons(self, findings: Sequence[Finding]) -> list[tuple[str, dict[str, object]]]:
        """The clauses that decide on a plan with these findings, each as *refuse* or *review*; none: it is clear."""
        if not findings:
            return []
        for name, condition in (("refuse", self.refuse), ("review", self.review)):
            if held := _held(condition, findings):
                return [(name, clause.describe()) for clause in held]
        unforeseen = {finding.code.value for finding in findings if self._unforeseen(finding)}
        return [("review", {"unforeseen": code}) for code in sorted(unforeseen)]

    def describe(self) -> dict[str, object]:
        """The policy as canonical JSON members."""
        described: dict[str, object] = {
            "refuse": self.refuse.describe(),
            "review": self.review.describe(),
            "confidence": self.confidence,
        }
        if self.approval != ANY_EDITOR:
            described["approval"] = self.approval.describe()
        return described

    def digest(self) -> str:
        """SHA-256, in hexadecimal, of the canonical description."""
        return _digest(self.describe())

    def _unforeseen(self, finding: Finding) -> bool:
        named = self.refuse.names(finding) or self.review.names(finding)
        return not named and finding.severity is Severity.VIOLATION


@dataclass(frozen=True, slots=True)
class UnsafeAutoApprove:
    """Lets every plan through, whatever was found: for throw-away bases and measurements only."""

    confidence: str = "0"
    approval: ApprovalRule = ANY_EDITOR

    def verdict(self, findings: Sequence[Finding]) -> Verdict:  # noqa: ARG002 - that is what is unsafe about it
        """Clear."""
        return Verdict.CLEAR

    def reasons(self, findings: Sequence[Finding]) -> list[tuple[str, dict[str, object]]]:  # noqa: ARG002 - as above
        """It alone, whatever was found."""
        return [("clear", self.describe())]

    def describe(self) -> dict[str, object]:
        """The policy as canonical JSON members."""
        return {"unsafeAutoApprove": True}

    def digest(self) -> str:
        """SHA-256, in hexadecimal, of the canonical description."""
        return _digest(self.describe())


DEFAULT_POLICY = Policy(
    refuse=AnyOf(
        (
            HasCode(FindingCode.SHAPE_VIOLATION, Severity.VIOLATION),
            HasCode(FindingCode.MALFORMED_SHAPES),
            HasCode(FindingCode.INVALID_RULE),
            HasCode(FindingCode.EDGE_SIGNATURE, Severity.VIOLATION),
            HasCode(FindingCode.NOT_ADMITTED, Severity.VIOLATION),
            HasCode(FindingCode.VOCABULARY_FULL, Severity.VIOLATION),
            HasCode(FindingCode.INVALID_QUERY),
            HasCode(FindingCode.INVALID_POLICY),
            HasCode(FindingCode.IMPACT, Severity.VIOLATION),
        )
    ),
    review=AnyOf(
        (
            *map(HasCode, sorted(CONTRADICTION_CODES)),
            HasCode(FindingCode.EDGE_SIGNATURE),
            HasCode(FindingCode.NOT_ADMITTED),
            HasCode(FindingCode.VOCABULARY_FULL),
            HasCode(FindingCode.REVIEWABLE_VIOLATION, Severity.VIOLATION),
            HasCode(FindingCode.NEIGHBOURHOOD_EXCEEDED, Severity.VIOLATION),
            HasCode(FindingCode.EXISTING_VIOLATION, Severity.VIOLATION),
            HasCode(FindingCode.UNDESCRIBED_SHAPE),
            HasCode(FindingCode.WITHOUT_EFFECT),
            HasCode(FindingCode.LOW_CONFIDENCE),
            HasCode(FindingCode.IMPACT),
            HasCode(FindingCode.IMPACT_UNKNOWN),
            Weighs(HEAVIEST),
        )
    ),
)

_RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.VIOLATION: 2}


def _held(condition: Condition, findings: Sequence[Finding]) -> list[Condition]:
    """The parts of a condition that make it hold; it, where it has no alternatives; none where it does not hold."""
    if isinstance(condition, AnyOf):
        return [clause for part in condition.conditions for clause in _held(part, findings)]
    return [condition] if condition.holds(findings) else []


def _digest(description: dict[str, object]) -> str:
    return sha256(canonical_json(description)).hexdigest()
