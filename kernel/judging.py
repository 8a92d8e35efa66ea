"""Judging: a plan, amended by what the rules propose, its findings and the verdict on it.

Rules
-----
* Last comes what the plan, as it then is, does to the answers of registered queries.
* Rules go first, because what they propose becomes part of the plan that edge signatures and shapes then judge.
* The same plan and view give the same judgement, in the same order: an approval compares a new one with the old.
* The policy in force is that of `m:policy`, if there is one, else the one that is configured. One that cannot be read
  is refused when it is written, whatever the policy.
* Nothing is written. What stands under a tombstone is not even judged.

Example
-------
::

    judgement = judge.judge(plan, view)
    judgement.verdict, judgement.plan, judgement.findings
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from certificates.certificate import Verdict
from certificates.findings import Finding, FindingCode, Severity
from kernel.mismatches import mismatches, remaining, told
from kernel.policy_graph import in_force, once, remarks, written_policy
from kernel.rules import amend, beyond_vocabularies, read_rules
from kernel.signatures import signatures
from kernel.vocabulary import ONTOLOGY_GRAPH, POLICY_GRAPH, QUERIES_GRAPH, RULES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from certificates.certificate import Digests
    from kernel.approval import ApprovalRule
    from kernel.facts import FactContent
    from kernel.governance import Governance
    from kernel.mismatches import Mismatch
    from kernel.plan import Plan
    from kernel.ports import FactsView, ImpactChecker, LedgerView, Loaded, LoadImpactChecker, ShapeChecker
    from kernel.preparing import Preparation
    from kernel.rule_table import RuleTable
    from kernel.signatures import Signatures
    from kernel.tombstones import Tombstones


class VerdictPolicy(Protocol):
    """From findings to a verdict: `kernel.policy`."""

    @property
    def confidence(self) -> str:
        """Below which confidence, a decimal in text, an assertion is a finding."""
        ...

    @property
    def approval(self) -> ApprovalRule:
        """What approvals of a plan that waits are held to: `kernel.approval`."""
        ...

    def verdict(self, findings: Sequence[Finding]) -> Verdict:
        """The verdict on a plan with these findings."""
        ...

    def reasons(self, findings: Sequence[Finding]) -> list[tuple[str, dict[str, object]]]:
        """The clauses that decide on a plan with these findings."""
        ...

    def describe(self) -> dict[str, object]:
        """The policy as canonical JSON members."""
        ...

    def digest(self) -> str:
        """What a certificate names the policy by."""
        ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found of a plan, and what it was judged by."""

    plan: Plan
    findings: tuple[Finding, ...]
    verdict: Verdict
    digests: Digests


class Judge:
    """Applies rules, shapes, confidence threshold, impact and policy."""

    def __init__(
        self,
        shapes: ShapeChecker,
        impact: ImpactChecker,
        policy: VerdictPolicy,
        governance: Governance,
        tombstones: Tombstones,
    ) -> None:
        self._tombstones = tombstones
        self._shapes = shapes
        self._impact = impact
        self._policy = policy
        self._governance = governance

    @property
    def approval(self) -> ApprovalRule:
        """What approvals are held to."""
        return self._policy.approval

    def _in_force(self, view: FactsView) -> VerdictPolicy:
        return in_force(self._governance.facts(POLICY_GRAPH, view), self._policy)

    def _rules(self, view: FactsView) -> RuleTable:
        return read_rules(self._governance.facts(RULES_GRAPH, view))

    def _signatures(self, table: RuleTable, view: FactsView) -> Signatures:
        return signatures(table.signatures, table.reading, self._governance.facts(ONTOLOGY_GRAPH, view))

    def _verdict(self, findings: Sequence[Finding], view: FactsView) -> Verdict:
        if any(finding.code is FindingCode.INVALID_POLICY for finding in findings):
            return Verdict.REFUSED
        return self._in_force(view).verdict(findings)

    def judge(self, plan: Plan, view: LedgerView, preparation: Preparation | None = None) -> Judgement:
        """Judges a plan whose facts are not in the view.

        Args:
            plan: it.
            view: what it was planned against.
            preparation: what was judged beforehand, if the plan writes shapes.

        Raises:
            WasPurged: the plan would write what has a tombstone.
            Unprepared: what was judged beforehand is out of date.
        """
        self._tombstones.require_none(plan)
        governed = self._governance.over(view)
        if preparation is not None:
            preparation.hold(view)
        table = self._rules(view)
        plan, contradictions = amend(plan, table, governed)
        asked = self._signatures(table, view)
        findings = (
            *contradictions,
            *beyond_vocabularies(plan, table, self._governance.facts(ONTOLOGY_GRAPH, view), governed),
            *(told(each, asked) for each in mismatches(plan, asked, governed)),
            *self._shapes.findings(plan, governed, preparation),
            *self._doubts(plan, governed),
            *self._impact.findings(plan, self._governance.facts(QUERIES_GRAPH, view), view),
            *written_policy(plan, governed),
            *remarks(plan, self._policy),
        )
        return Judgement(plan, findings, self._verdict(findings, governed), self.digests(view))

    def contradictions(self, plan: Plan, view: FactsView) -> list[Finding]:
        """What the rules find of one chunk of a load session; what they would propose is left out.

        Raises:
            WasPurged: the chunk would write what has a tombstone.
        """
        self._tombstones.require_none(plan)
        table = self._rules(view)
        governed = self._governance.over(view)
        ontology = self._governance.facts(ONTOLOGY_GRAPH, view)
        found = [*amend(plan, table, governed)[1], *beyond_vocabularies(plan, table, ontology, view)]
        found += self._doubts(plan, governed)
        return [*found, *written_policy(plan, governed), *remarks(plan, self._policy)]

    def mismatched(self, plan: Plan, view: FactsView) -> list[Mismatch]:
        """What of one chunk of a load session does not fit edge signatures; `judge_load` has to be told of it."""
        return mismatches(plan, self._signatures(self._rules(view), view), self._governance.over(view))

    def noticed(self, plan: Plan, view: LedgerView, preparation: Preparation | None) -> Sequence[FactContent]:
        """Those facts of one chunk of a load session that `judge_load` has to be told of."""
        return self._shapes.noticed(plan, self._governance.over(view), preparation)

    def hold(self, view: LedgerView, preparation: Preparation | None) -> None:
        """Reads what governs at the head of the view: what a load brings of it does not judge the load itself.

        Raises:
            Unprepared: what was judged beforehand is out of date.
        """
        self._governance.digests(view)
        self._governance.facts(POLICY_GRAPH, view)
        if preparation is not None:
            preparation.hold(view)

    def impact_of_load(self, view: LedgerView) -> LoadImpactChecker:
        """What gathers, chunk by chunk, what a load session does to the answers of registered queries."""
        return self._impact.load(self._governance.facts(QUERIES_GRAPH, view))

    def judge_load(
        self,
        view: LedgerView,
        load: Loaded,
        found: Sequence[Finding],
        mismatched: Sequence[Mismatch],
        impact: LoadImpactChecker,
        preparation: Preparation | None,
    ) -> tuple[tuple[Finding, ...], Verdict]:
        """Judges a load session whole, once its facts are in the view.

        Args:
            view: the transaction; what governs at its head was held before the load's facts came into it.
            load: with what `noticed` gave for its chunks.
            found: what its chunks were found to contradict.
            mismatched: what `mismatched` gave for its chunks.
            impact: what was gathered of them.
            preparation: what was judged beforehand, if the load writes shapes.
        """
        asked = self._signatures(self._rules(view), view)
        findings = [*found, *(told(each, asked) for each in remaining(mismatched, asked, self._governance.over(view)))]
        if load.noticed:
            findings += self._shapes.load_findings(load, self._governance.over(view), preparation)
        findings += impact.findings(str(load.certificate), load.issued_at, view)
        findings = once(findings)
        return tuple(findings), self._verdict(findings, view)

    def digests(self, view: FactsView) -> Digests:
        """What plans are judged by at the head of the view."""
        digests, policy = self._governance.digests(view), self._in_force(view)
        return digests if policy is self._policy else replace(digests, policy=policy.digest())

    def forget(self) -> None:
        """What governs may have changed: it is read anew."""
        self._governance.forget()

    def _doubts(self, plan: Plan, view: FactsView) -> list[Finding]:
        threshold = Decimal(self._in_force(view).confidence)
        doubted = [item for item in plan.evidence if item.confidence is not None and item.confidence < threshold]
        if not doubted:
            return []
        facts: dict[UUID, FactContent] = {fact.id: fact for fact in plan.record}
        return [
            _doubt(facts[item.fact], item.confidence, threshold)
            for item in doubted
            if item.fact in facts and item.confidence is not None
        ]


def _doubt(fact: FactContent, confidence: Decimal, threshold: Decimal) -> Finding:
    statement = fact.statement
    return Finding(
        code=FindingCode.LOW_CONFIDENCE,
        severity=Severity.WARNING,
        message=f"asserted with a confidence of {confidence:f}, below {threshold:f}",
        graphs=(statement.graph.value,),
        focus=statement.subject.n3,
        path=statement.predicate.n3,
        value=statement.object.n3,
    )
