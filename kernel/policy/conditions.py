"""Conditions: what a policy asks of a plan and of what was found, in small parts that compose.

Rules
-----
* Of findings: `HasCode`, `Contradicts`, `Concerns`, `AtLeast`, `Weighs`, `Rows`. Of the plan itself: `AskedBy`,
  `RoleAtMost`, `Touches`, `Changes`, `ConfidenceBelow`. Of others: `AnyOf`, `AllOf`, `Not`.
* Each describes itself canonically: that description is what a policy document says, and its digest has it in it.
* A condition names a finding if it has an opinion on its kind. `Not` names none: that something is asked not to be
  there does not mean that it may be.
* Fail closed: whose role is not known has none, and so at most any.

Example
-------
>>> by_agents = AllOf((RoleAtMost(Role.WRITER), Touches("urn:register")))
>>> by_agents.holds((), About("agent-7", Role.WRITER, frozenset({"urn:register"}), 1, None))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Protocol

from certificates.contradictions import ContradictionKind
from certificates.findings import Finding, FindingCode, Severity
from kernel.access import Role
from kernel.policy.about import NOTHING, About

_RANK: Final = {Severity.INFO: 0, Severity.WARNING: 1, Severity.VIOLATION: 2}


class Condition(Protocol):
    """Something that a plan and its findings fulfil or not."""

    @property
    def asks(self) -> bool:
        """Whether it may hold where nothing was found."""
        ...

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:
        """Whether a plan with these findings, which is about this, fulfils it."""
        ...

    def names(self, finding: Finding) -> bool:
        """Whether the condition has an opinion on findings of this kind: of this code and kind of contradiction."""
        ...

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        ...


class _OfFindings:
    """Asks of findings, and names no kind of them unless it says so."""

    __slots__ = ()

    @property
    def asks(self) -> bool:
        """No."""
        return False

    def names(self, finding: Finding) -> bool:  # noqa: ARG002 - whatever it is
        """Never."""
        return False


class _OfPlans:
    """Asks what a plan is about."""

    __slots__ = ()

    @property
    def asks(self) -> bool:
        """Yes."""
        return True

    def names(self, finding: Finding) -> bool:  # noqa: ARG002 - whatever it is
        """Never."""
        return False


# --- of findings ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HasCode(_OfFindings):
    """At least one finding of the code, at least as severe."""

    code: FindingCode
    severity: Severity = Severity.WARNING

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of findings
        """Whether there is such a finding."""
        code, least = self.code, _RANK[self.severity]
        return any(finding.code is code and _RANK[finding.severity] >= least for finding in findings)

    def names(self, finding: Finding) -> bool:
        """Whether the finding has the code."""
        return finding.code == self.code

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"hasCode": self.code.value, "severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class AtLeast(_OfFindings):
    """So many findings, of whatever kind, at least as severe."""

    count: int
    severity: Severity = Severity.WARNING

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of findings
        """Whether there are so many."""
        return sum(_RANK[finding.severity] >= _RANK[self.severity] for finding in findings) >= self.count

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"atLeast": self.count, "severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class Weighs(_OfFindings):
    """Registered queries whose answers change, or may, weigh so much together."""

    total: int

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of findings
        """Whether they do."""
        return sum(each.impact.weight for each in findings if each.impact is not None) >= self.total

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"weighs": self.total}


@dataclass(frozen=True, slots=True)
class Rows(_OfFindings):
    """Answers to registered queries gain and lose so many rows together."""

    total: int

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of findings
        """Whether they do; rows that nobody could count are not."""
        impacts = [each.impact for each in findings if each.impact is not None]
        return sum((each.gained or 0) + (each.lost or 0) for each in impacts) >= self.total

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"rows": self.total}


@dataclass(frozen=True, slots=True)
class Contradicts(_OfFindings):
    """At least one contradiction of the kind; one that is only information is left out."""

    kind: ContradictionKind

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of findings
        """Whether there is one."""
        return any(map(self.names, findings))

    def names(self, finding: Finding) -> bool:
        """Whether the finding is such a contradiction."""
        said = finding.contradiction
        return said is not None and said.kind is self.kind and finding.severity is not Severity.INFO

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"contradicts": self.kind.value}


@dataclass(frozen=True, slots=True)
class Concerns(_OfFindings):
    """At least one finding that was drawn from the graph, at least as severe."""

    graph: str
    severity: Severity = Severity.WARNING

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of findings
        """Whether there is one."""
        return any(
            self.graph in finding.graphs and _RANK[finding.severity] >= _RANK[self.severity] for finding in findings
        )

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"concerns": self.graph, "severity": self.severity.value}


# --- of the plan ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AskedBy(_OfPlans):
    """A principal asked for it, by id."""

    principal: str

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of the plan
        """Whether it was that one."""
        return about.principal == self.principal

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"askedBy": self.principal}


@dataclass(frozen=True, slots=True)
class RoleAtMost(_OfPlans):
    """Whoever asked had no higher role than this one anywhere."""

    role: Role

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of the plan
        """Whether they had none."""
        return about.role is None or about.role <= self.role

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"roleAtMost": self.role.name.lower()}


@dataclass(frozen=True, slots=True)
class Touches(_OfPlans):
    """It records or supersedes facts of the graph, or supports some."""

    graph: str

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of the plan
        """Whether it does."""
        return self.graph in about.graphs

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"touches": self.graph}


@dataclass(frozen=True, slots=True)
class Changes(_OfPlans):
    """It records and supersedes so many facts together."""

    facts: int

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of the plan
        """Whether they are so many."""
        return about.facts >= self.facts

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"changes": self.facts}


@dataclass(frozen=True, slots=True)
class ConfidenceBelow(_OfPlans):
    """Something is asserted with less confidence, a decimal in text; without any stated, nothing is."""

    confidence: str

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:  # noqa: ARG002 - it asks of the plan
        """Whether something is."""
        return about.confidence is not None and about.confidence < Decimal(self.confidence)

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"confidenceBelow": self.confidence}


# --- of others --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of the conditions."""

    conditions: tuple[Condition, ...]

    @property
    def asks(self) -> bool:
        """Whether one of them does."""
        return any(condition.asks for condition in self.conditions)

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:
        """Whether one holds."""
        return any(condition.holds(findings, about) for condition in self.conditions)

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

    @property
    def asks(self) -> bool:
        """Whether all of them do."""
        return all(condition.asks for condition in self.conditions)

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:
        """Whether all hold."""
        return all(condition.holds(findings, about) for condition in self.conditions)

    def names(self, finding: Finding) -> bool:
        """Whether one of them names it."""
        return any(condition.names(finding) for condition in self.conditions)

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"allOf": [condition.describe() for condition in self.conditions]}


@dataclass(frozen=True, slots=True)
class Not(_OfPlans):
    """Not the condition. It names no finding, whatever that one names."""

    condition: Condition

    def holds(self, findings: Sequence[Finding], about: About = NOTHING) -> bool:
        """Whether it does not hold."""
        return not self.condition.holds(findings, about)

    def describe(self) -> dict[str, object]:
        """The condition as canonical JSON members."""
        return {"not": self.condition.describe()}
