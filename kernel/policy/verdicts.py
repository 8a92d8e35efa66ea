"""Policy: from what a plan is about, and what was found, to a verdict.

Rules
-----
* A policy says when a plan is refused and when it is held for review; what is neither is clear. Refusal goes first.
* Its conditions are small and compose (`kernel.policy.conditions`). The digest of the canonical description of a policy
  is named by every certificate.
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
from dataclasses import dataclass, field
from hashlib import sha256

from certificates.canonical import canonical_json
from certificates.certificate import Verdict
from certificates.findings import Finding, FindingCode, Severity
from kernel.policy.about import NOTHING, About
from kernel.policy.approval import ANY_EDITOR, ApprovalRule
from kernel.policy.conditions import AnyOf, Condition, HasCode, Weighs
from kernel.queries import HEAVIEST
from kernel.rules.kinds import CONTRADICTION_CODES


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
    _asks: bool = field(init=False, repr=False, compare=False, default=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_asks", self.refuse.asks or self.review.asks)

    def verdict(self, findings: Sequence[Finding], about: About = NOTHING) -> Verdict:
        """The verdict on a plan with these findings, which is about this."""
        if not findings and not self._asks:
            return Verdict.CLEAR
        if self.refuse.holds(findings, about):
            return Verdict.REFUSED
        if self.review.holds(findings, about) or self._unforeseen(findings):
            return Verdict.REVIEW
        return Verdict.CLEAR

    def reasons(self, findings: Sequence[Finding], about: About = NOTHING) -> list[tuple[str, dict[str, object]]]:
        """The clauses that decide on a plan, each as *refuse* or *review*; none: it is clear."""
        for name, condition in (("refuse", self.refuse), ("review", self.review)):
            if held := _held(condition, findings, about):
                return [(name, clause.describe()) for clause in held]
        return [("review", {"unforeseen": code}) for code in sorted(self._unforeseen(findings))]

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

    def _unforeseen(self, findings: Sequence[Finding]) -> set[str]:
        """The codes of violations that no condition names; of many findings of one kind, one is asked about."""
        kinds = {
            (finding.code, finding.contradiction and finding.contradiction.kind): finding
            for finding in findings
            if finding.severity is Severity.VIOLATION
        }
        return {each.code.value for each in kinds.values() if not (self.refuse.names(each) or self.review.names(each))}


@dataclass(frozen=True, slots=True)
class UnsafeAutoApprove:
    """Lets every plan through, whatever was found: for throw-away bases and measurements only."""

    confidence: str = "0"
    approval: ApprovalRule = ANY_EDITOR

    def verdict(self, findings: Sequence[Finding], about: About = NOTHING) -> Verdict:  # noqa: ARG002 - that is unsafe
        """Clear."""
        return Verdict.CLEAR

    def reasons(self, findings: Sequence[Finding], about: About = NOTHING) -> list[tuple[str, dict[str, object]]]:  # noqa: ARG002
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
            HasCode(FindingCode.INCONSISTENT),
            HasCode(FindingCode.FOLLOWS_UNKNOWN),
            Weighs(HEAVIEST),
        )
    ),
)


def _held(condition: Condition, findings: Sequence[Finding], about: About) -> list[Condition]:
    """The parts of a condition that make it hold; it, where it has no alternatives; none where it does not hold."""
    if isinstance(condition, AnyOf):
        return [clause for part in condition.conditions for clause in _held(part, findings, about)]
    return [condition] if condition.holds(findings, about) else []


def _digest(description: dict[str, object]) -> str:
    return sha256(canonical_json(description)).hexdigest()
