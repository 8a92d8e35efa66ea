"""Judging: a plan, amended by what the rules propose, its findings and the verdict on it.

Rules
-----
* Last comes what the plan, as it then is, does to the answers of registered queries, and what follows from it.
* What rules across graphs find for somebody who may not read all of these is kept apart (`kernel.rules.unseen`).
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

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from certificates.certificate import Verdict
from certificates.findings import Finding, FindingCode, Severity
from kernel.policy.about import NOTHING, About
from kernel.policy.graph import in_force, once, remarks, written_policy
from kernel.rules.amending import amend, beyond_vocabularies, read_rules
from kernel.rules.mismatches import mismatches, remaining, told
from kernel.rules.signatures import signatures
from kernel.rules.unseen import kept_apart, touched_by
from kernel.vocabulary import ONTOLOGY_GRAPH, POLICY_GRAPH, QUERIES_GRAPH, RULES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from uuid import UUID

    from certificates.certificate import Digests
    from kernel.facts import Fact, FactContent
    from kernel.governance import Governance
    from kernel.policy.approval import ApprovalRule
    from kernel.ports.checks import EntailmentChecker, ImpactChecker, Loaded, LoadImpactChecker, ShapeChecker
    from kernel.ports.facts import FactsView
    from kernel.ports.ledger import LedgerView
    from kernel.purging.tombstones import Tombstones
    from kernel.rules.mismatches import Mismatch
    from kernel.rules.signatures import Signatures
    from kernel.rules.table import RuleTable
    from kernel.rules.unseen import Touched
    from kernel.writing.plan import Plan
    from kernel.writing.preparing import Preparation


class VerdictPolicy(Protocol):
    """From findings to a verdict: `kernel.policy.verdicts`."""

    @property
    def confidence(self) -> str:
        """Below which confidence, a decimal in text, an assertion is a finding."""
        ...

    @property
    def approval(self) -> ApprovalRule:
        """What approvals of a plan that waits are held to: `kernel.policy.approval`."""
        ...

    def verdict(self, findings: Sequence[Finding], about: About = NOTHING) -> Verdict:
        """The verdict on a plan with these findings, which is about this."""
        ...

    def reasons(self, findings: Sequence[Finding], about: About = NOTHING) -> list[tuple[str, dict[str, object]]]:
        """The clauses that decide on a plan with these findings, which is about this."""
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


@dataclass(frozen=True, slots=True)
class InForce:
    """What plans are judged by at a head.

    Args:
        table: the rules.
        signatures: of edges.
        ontology: the believed facts of `m:ontology`.
        queries: those of `m:queries`.
        policy: from findings to a verdict.
        threshold: below which confidence an assertion is a finding.
        digests: what a certificate names all of it by.
    """

    table: RuleTable
    signatures: Signatures
    ontology: tuple[Fact, ...]
    queries: tuple[Fact, ...]
    policy: VerdictPolicy
    threshold: Decimal
    digests: Digests


@dataclass(slots=True)
class Gathered:
    """What was seen of the chunks of a load session, one by one.

    Args:
        impact: gathers what they do to the answers of registered queries.
        about: what they are about together.
        findings: what each was found to be at fault with.
        mismatched: what does not fit edge signatures, until all of it is there.
        noticed: what comes that the shapes have yet to judge.
        gone: what goes of that kind.
        touched: what is held against graphs that whoever asks may not all read.
    """

    impact: LoadImpactChecker
    about: About = NOTHING
    findings: list[Finding] = field(default_factory=list)
    mismatched: list[Mismatch] = field(default_factory=list)
    noticed: list[FactContent] = field(default_factory=list)
    gone: list[Fact] = field(default_factory=list)
    touched: Touched = field(default_factory=dict)


class Judge:
    """Applies rules, shapes, confidence threshold, impact and policy."""

    def __init__(
        self,
        shapes: ShapeChecker,
        impact: ImpactChecker,
        entailment: EntailmentChecker,
        policy: VerdictPolicy,
        governance: Governance,
        tombstones: Tombstones,
    ) -> None:
        self._tombstones = tombstones
        self._shapes = shapes
        self._impact = impact
        self._entailment = entailment
        self._policy = policy
        self._governance = governance
        self._held: InForce | None = None

    def approval(self, view: FactsView) -> ApprovalRule:
        """What approvals are held to at the head of the view; safe from any thread, for nothing is kept of it."""
        return in_force(tuple(view.believed(graph=POLICY_GRAPH)), self._policy).approval

    def _in_force(self, view: FactsView) -> InForce:
        """What plans are judged by at the head of the view; read once, until it may have changed."""
        if self._held is None:
            facts = self._governance.facts
            ontology, table = facts(ONTOLOGY_GRAPH, view), read_rules(facts(RULES_GRAPH, view))
            policy = in_force(facts(POLICY_GRAPH, view), self._policy)
            digests = self._governance.digests(view)
            self._held = InForce(
                table,
                signatures(table.signatures, table.reading, ontology),
                ontology,
                facts(QUERIES_GRAPH, view),
                policy,
                Decimal(policy.confidence),
                digests if policy is self._policy else replace(digests, policy=policy.digest()),
            )
        return self._held

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
        by = self._in_force(view)
        plan, contradictions = amend(plan, by.table, governed)
        mismatched = [told(each, by.signatures) for each in mismatches(plan, by.signatures, governed)]
        if plan.request.partial and (touched := touched_by(plan, by.table, by.signatures)):
            seen = [*contradictions, *mismatched]
            contradictions, mismatched = kept_apart(touched, seen, by.signatures, view.graphs()), []
        findings = (
            *contradictions,
            *beyond_vocabularies(plan, by.table, by.ontology, governed),
            *mismatched,
            *self._shapes.findings(plan, governed, preparation),
            *_doubts(plan, by.threshold),
            *self._impact.findings(plan, by.queries, view),
            *self._entailment.findings(plan, by.ontology, view),
            *written_policy(plan, governed),
            *remarks(plan, self._policy),
        )
        return Judgement(plan, findings, _verdict(findings, About.of(plan), by.policy), by.digests)

    def hold(self, view: LedgerView, preparation: Preparation | None) -> None:
        """Reads what governs at the head of the view: what a load brings of it does not judge the load itself.

        Raises:
            Unprepared: what was judged beforehand is out of date.
        """
        self._in_force(view)
        if preparation is not None:
            preparation.hold(view)

    def before_load(self, view: LedgerView, session: str, chunks: Callable[[], Iterable[Sequence[object]]]) -> None:
        """To be called in the turn of a load session, before anything of it is planned. Raises `StepBack`."""
        self._impact.before_load(self._governance.facts(QUERIES_GRAPH, view), session, chunks)

    def begin_load(self, view: LedgerView) -> Gathered:
        """What is gathered, chunk by chunk, of a load session; nothing so far."""
        return Gathered(self._impact.load(self._in_force(view).queries))

    def gather(self, plan: Plan, view: LedgerView, gathered: Gathered, preparation: Preparation | None) -> None:
        """Judges one chunk of a load session, as far as it can be alone; what rules would propose is left out.

        Args:
            plan: of the chunk.
            view: the transaction, with the chunks before.
            gathered: of these; more is put there.
            preparation: what was judged beforehand, if the load writes shapes.

        Raises:
            WasPurged: the chunk would write what has a tombstone.
        """
        self._tombstones.require_none(plan)
        by, governed = self._in_force(view), self._governance.over(view)
        about = About.of(plan)
        gathered.about = about if gathered.about is NOTHING else gathered.about.with_more(about)
        gathered.findings += [
            *amend(plan, by.table, governed)[1],
            *beyond_vocabularies(plan, by.table, by.ontology, view),
            *_doubts(plan, by.threshold),
            *written_policy(plan, governed),
            *remarks(plan, self._policy),
        ]
        gathered.mismatched += mismatches(plan, by.signatures, governed)
        if plan.request.partial:
            for code, graphs in touched_by(plan, by.table, by.signatures).items():
                gathered.touched.setdefault(code, set()).update(graphs)
        gathered.noticed += self._shapes.noticed(plan, governed, preparation)
        gathered.gone += self._shapes.missed(plan, governed)
        gathered.impact.take(plan)

    def judge_load(
        self, view: LedgerView, load: Loaded, gathered: Gathered, preparation: Preparation | None
    ) -> tuple[tuple[Finding, ...], Verdict]:
        """Judges a load session whole, once its facts are in the view.

        Args:
            view: the transaction; what governs at its head was held before the load's facts came into it.
            load: with what of its chunks the shapes have yet to judge.
            gathered: of its chunks.
            preparation: what was judged beforehand, if the load writes shapes.
        """
        governed, by = self._governance.over(view), self._in_force(view)
        findings = [
            *gathered.findings,
            *(told(each, by.signatures) for each in remaining(gathered.mismatched, by.signatures, governed)),
        ]
        if gathered.touched:
            findings = kept_apart(gathered.touched, findings, by.signatures, view.graphs())
        if load.noticed or load.gone:
            findings += self._shapes.load_findings(load, governed, preparation)
        findings += gathered.impact.findings(str(load.certificate), load.issued_at, view)
        findings += self._entailment.of_load(load, by.ontology, view)
        findings = once(findings)
        return tuple(findings), _verdict(findings, gathered.about, by.policy)

    def digests(self, view: FactsView) -> Digests:
        """What plans are judged by at the head of the view."""
        return self._in_force(view).digests

    def forget(self) -> None:
        """What governs may have changed: it is read anew."""
        self._governance.forget()
        self._held = None


def _verdict(findings: Sequence[Finding], about: About, policy: VerdictPolicy) -> Verdict:
    if any(finding.code is FindingCode.INVALID_POLICY for finding in findings):
        return Verdict.REFUSED
    return policy.verdict(findings, about)


def _doubts(plan: Plan, threshold: Decimal) -> list[Finding]:
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
