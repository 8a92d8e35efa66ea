"""The policy of a base, as `m:policy` has it.

Rules
-----
* There is at most one: `m:policy m:document "…"`, a JSON text (`kernel.policy.document`). It holds from the plan after
  the one that writes it, and goes away as it came: by a change. What it holds approvals to comes on top of what is
  configured: whoever writes it takes no pair of eyes away.
* Whatever else `m:policy` says in the vocabulary `m:`, a second document, and one that cannot be read, is an
  `invalid-policy` on the plan that writes it. If one is in force all the same, every plan waits for an editor at least.
* A policy that would refuse that whoever writes it takes it away again is an `invalid-policy`, too: nobody locks the
  base by a slip.
* `UnsafeAutoApprove` is a switch of whoever runs the base: no policy of the base takes its place, and each plan says
  so.

Example
-------
::

    in_force(facts, configured).verdict(findings)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from certificates.certificate import Verdict
from certificates.findings import Finding, FindingCode, Severity
from kernel.errors import InvalidDocument
from kernel.policy.about import NOTHING, About
from kernel.policy.approval import both
from kernel.policy.document import policy_of
from kernel.policy.verdicts import Policy, UnsafeAutoApprove
from kernel.terms import Iri, Literal
from kernel.vocabulary import DEFAULT_GRAPH, POLICY_GRAPH, M

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernel.facts import Fact
    from kernel.policy.approval import ApprovalRule
    from kernel.ports.facts import FactsView
    from kernel.terms import Statement
    from kernel.writing.judging import VerdictPolicy
    from kernel.writing.plan import Plan

DOCUMENT: Final = Iri(M + "document")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a policy that cannot be read: what the configured one would let through waits for an editor."""

    configured: VerdictPolicy

    @property
    def confidence(self) -> str:
        """The configured one."""
        return self.configured.confidence

    @property
    def approval(self) -> ApprovalRule:
        """The configured one."""
        return self.configured.approval

    def verdict(self, findings: Sequence[Finding], about: About = NOTHING) -> Verdict:
        """Review at least."""
        verdict = self.configured.verdict(findings, about)
        return Verdict.REVIEW if verdict is Verdict.CLEAR else verdict

    def reasons(self, findings: Sequence[Finding], about: About = NOTHING) -> list[tuple[str, dict[str, object]]]:
        """Those of the configured one, or that nobody can read what is in force."""
        return self.configured.reasons(findings, about) or [("review", self.describe())]

    def describe(self) -> dict[str, object]:
        """The policy as canonical JSON members."""
        return {"unreadable": True}

    def digest(self) -> str:
        """That of the configured one: there is no other."""
        return self.configured.digest()


def in_force(facts: Sequence[Fact], configured: VerdictPolicy) -> VerdictPolicy:
    """The policy of the believed facts of `m:policy`; without any, the configured one.

    Args:
        facts: them.
        configured: what approvals are held to by it, they are in any case.
    """
    if not facts or isinstance(configured, UnsafeAutoApprove):
        return configured
    try:
        policy = policy_in(fact.statement for fact in facts)
    except InvalidDocument:
        return Unreadable(configured)
    return configured if policy is None else replace(policy, approval=both(configured.approval, policy.approval))


def policy_in(statements: Iterable[Statement]) -> Policy | None:
    """The policy that statements of `m:policy` say. Raises `InvalidDocument`; None: they say none."""
    texts = []
    for statement in statements:
        if not statement.predicate.value.startswith(M):
            continue
        said = statement.object
        if statement.predicate != DOCUMENT or statement.subject != POLICY_GRAPH or not isinstance(said, Literal):
            raise InvalidDocument(
                f"{statement.predicate.n3} of {statement.subject.n3} is no policy",
                remedy=f"write {POLICY_GRAPH.n3} {DOCUMENT.n3} and the policy as a string",
            )
        texts.append(said.lexical)
    read = [
        _read(text) for text in sorted(texts)
    ]  # what is wrong with one is told first: to retract the other is no help
    if len(read) > 1:
        raise InvalidDocument("there would be two policies", remedy="retract the one before in the same change")
    return read[0] if read else None


def written_policy(plan: Plan, view: FactsView) -> list[Finding]:
    """What is wrong with the policy as it would be, if the plan writes it."""
    written = [content.statement for content in plan.record if content.statement.graph == POLICY_GRAPH]
    gone = {fact.id for fact in plan.supersede if fact.statement.graph == POLICY_GRAPH}
    if not written and not gone:
        return []
    held = [fact.statement for fact in view.believed(graph=POLICY_GRAPH) if fact.id not in gone]
    try:
        policy = policy_in([*held, *written])
        if policy is not None:
            _require_way_out(policy, plan)
    except InvalidDocument as error:
        at = f" at {error.where}" if error.where else ""
        message = f"{error.message}{at}: {error.remedy}"
        return [Finding(FindingCode.INVALID_POLICY, Severity.VIOLATION, message, (POLICY_GRAPH.value,))]
    return []


def _require_way_out(policy: Policy, plan: Plan) -> None:
    """Raises `InvalidDocument` for a policy that would refuse its own end to whoever writes it."""
    ending = replace(About.of(plan), graphs=frozenset({POLICY_GRAPH.value}), facts=1, confidence=None)
    if policy.verdict((), ending) is Verdict.REFUSED:
        raise InvalidDocument(
            "it would refuse that you take it away again",
            remedy="refuse less, or have it wait for review",
            where="/refuse",
        )


def remarks(plan: Plan, configured: VerdictPolicy) -> list[Finding]:
    """What the policy says of itself."""
    if not isinstance(configured, UnsafeAutoApprove):
        return []
    graphs = tuple(graph.value for graph in plan.graphs) or (DEFAULT_GRAPH.value,)
    message = "UnsafeAutoApprove lets everything through, whatever was found"
    return [Finding(FindingCode.UNSAFE_AUTO_APPROVE, Severity.INFO, message, graphs)]


def once(findings: Sequence[Finding]) -> list[Finding]:
    """Findings of the chunks of a load, with what the policy says of itself said once for the same graphs."""
    said: set[tuple[str, ...]] = set()
    kept = []
    for finding in findings:
        if finding.code is FindingCode.UNSAFE_AUTO_APPROVE:
            if finding.graphs in said:
                continue
            said.add(finding.graphs)
        kept.append(finding)
    return kept


@lru_cache(maxsize=64)
def _read(text: str) -> Policy:
    return policy_of(text)
