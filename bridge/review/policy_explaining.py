"""Which clause of a policy decided on a certificate.

Rules
-----
* The policy is the one whose digest the certificate names: that of `m:policy` as it was believed when the certificate
  was made, or as it is, or the one that is configured, or the default. Where it is none of these, nothing is guessed.
* The clauses are worked out from the findings and the plan as they are kept. If some of them were purged since, that is
  said, and what is left may not be all that decided.

Example
-------
::

    explained(view, certificate, settings.verdict_policy).reasons     # [("review", {"hasCode": "asymmetric", …})]
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from certificates.findings import FindingCode
from certificates.items import ItemKind
from kernel.access import Role
from kernel.errors import NotFound
from kernel.policy.about import About
from kernel.policy.graph import in_force
from kernel.policy.verdicts import DEFAULT_POLICY
from kernel.vocabulary import POLICY_GRAPH
from kernel.writing.submitting import findings_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from certificates.certificate import Verdict
    from kernel.ports.ledger import LedgerView
    from kernel.ports.records import CertificateRecord
    from kernel.writing.judging import VerdictPolicy

_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a certificate has its verdict.

    Args:
        digest: of the policy, as the certificate names it.
        policy: it; None: nobody knows it any more.
        reasons: its clauses that decided, each as *refuse*, *review* or *clear*; none: nothing was against the plan.
        purged: how many findings and plan items are not kept any more.
    """

    verdict: Verdict
    digest: str
    policy: VerdictPolicy | None
    reasons: tuple[tuple[str, dict[str, object]], ...]
    purged: int


def explained(view: LedgerView, certificate: UUID, configured: VerdictPolicy) -> Explanation:
    """Which clauses decided on a certificate. Raises `NotFound` where there is none.

    Args:
        view: of the ledger.
        certificate: its id.
        configured: the policy that holds where `m:policy` has none.
    """
    record = view.certificate(certificate)
    if record is None:
        raise NotFound("there is no such certificate", remedy="give the id of one", where=str(certificate))
    said = json.loads(record.document)["credentialSubject"]
    findings = findings_of(view, certificate)
    policy = next(
        (each for each in _candidates(view, record, configured) if each.digest() == said["policyDigest"]), None
    )
    about, items = _about(view, record)
    reasons = [] if policy is None else policy.reasons(findings, about)
    if any(finding.code is FindingCode.INVALID_POLICY for finding in findings):
        reasons = [("refuse", {"hasCode": FindingCode.INVALID_POLICY.value})]
    purged = int(said["findingItems"]) - len(findings) + int(said["planItems"]) - items
    return Explanation(record.verdict, said["policyDigest"], policy, tuple(reasons), purged)


def _candidates(view: LedgerView, record: CertificateRecord, configured: VerdictPolicy) -> Iterator[VerdictPolicy]:
    """The policies that a certificate may have been judged by, the likeliest first."""
    yield in_force([*view.facts_of_graph(POLICY_GRAPH, as_of=record.issued_at)], configured)
    yield in_force([*view.believed(graph=POLICY_GRAPH)], configured)
    yield configured
    yield DEFAULT_POLICY


def _about(view: LedgerView, record: CertificateRecord) -> tuple[About, int]:
    """What a plan is about, of its items; and how many of these there are."""
    role, facts, stated, items = None, 0, [], 0
    for body in _plan_items(view, record.id):
        items += 1
        facts += body["op"] in ("record", "supersede")
        if body["op"] == "request" and "role" in body:
            role = Role[body["role"].upper()]
        if "confidence" in body:
            stated.append(Decimal(body["confidence"]))
    graphs = frozenset(graph.value for graph in record.graphs)
    return About(record.principal, role, graphs, facts, min(stated, default=None)), items


def _plan_items(view: LedgerView, certificate: UUID) -> Iterator[dict[str, str]]:
    first = 0
    while items := view.items(certificate, ItemKind.PLAN, first=first, limit=_PAGE):
        yield from (json.loads(item.body) for item in items)
        first = items[-1].ordinal + 1
