"""Deciding: an editor approves or rejects a certificate in review.

Rules (BoundToState)
-----
* Only a certificate that is waiting can be decided, once, by someone who may write every graph that it touches.
* The decision is signed and logged, naming editor and certificate; the comment is a salted item apart from it. Editors
  who have a key that is registered for them may sign as well: a signature that does not fit is refused.
* Approvals are held to a rule (`kernel.policy.approval`). Where it takes more than one, those before the last are kept,
  and the certificate goes on waiting.
* An approval plans and judges again at the head of that moment. The same plan, findings and verdict are applied with a
  signed re-check. Anything else makes the certificate stale, and a successor is issued for what the request means now;
  if it means nothing any more, there is none, and the answer says why.

Example
-------
::

    wanted = DecisionRequest(certificate, DecisionKind.APPROVE, None, editor)
    outcome = Decider(judge, notary, submitter, loader).decide(group, wanted)
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from certificates.canonical import canonical_json, digest_hex
from certificates.events import Decided, Stale
from certificates.items import ItemKind, ItemTree, salt_items
from certificates.keys import VerifyingKey
from certificates.records import (
    Decision,
    DecisionKind,
    EditorSignature,
    Recheck,
    editor_statement,
    secure_record,
)
from kernel.errors import AlreadyDecided, Forbidden, InvalidParameter, NotFound, PlanError
from kernel.policy.approval import Case
from kernel.ports.records import CertificateState, DecisionRecord
from kernel.time.instants import print_instant
from kernel.writing.loading import LoadRequest
from kernel.writing.planner import Planner
from kernel.writing.submitting import Outcome, findings_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from certificates.findings import Finding
    from kernel.access import Principal
    from kernel.changes import Request
    from kernel.ports.ledger import LedgerView
    from kernel.ports.records import CertificateRecord
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.issuing import Notary
    from kernel.writing.judging import Judge, Judgement
    from kernel.writing.loading import Loader
    from kernel.writing.plan import Plan
    from kernel.writing.preparing import Preparation
    from kernel.writing.submitting import Submitter


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """What an editor decided, and why."""

    certificate: UUID
    decision: DecisionKind
    comment: str | None
    editor: Principal
    signature: bytes | None = None


class Decider:
    """Takes decisions."""

    def __init__(self, judge: Judge, notary: Notary, submitter: Submitter, loader: Loader) -> None:
        self._judge = judge
        self._notary = notary
        self._submitter = submitter
        self._loader = loader

    def foresee(self, view: LedgerView, wanted: DecisionRequest) -> Plan | None:
        """What an approval would do at the head of the view, as far as it writes shapes; None: nothing is approved."""
        record, request = _waiting(view, wanted)
        if wanted.decision is DecisionKind.REJECT or self._missing(view, record, wanted):
            return None
        if request.session is not None:
            load = LoadRequest(request, wanted.editor, lambda _: None)
            return self._loader.shapes_of(view, load, record.issued_at)
        return Planner(record.id, record.issued_at, view, wanted.editor).plan(request)

    def decide(self, group: Group, wanted: DecisionRequest, preparation: Preparation | None = None) -> Outcome:
        """Records a decision, and applies an approved certificate.

        Args:
            group: the open one.
            wanted: the decision.
            preparation: what was judged beforehand, if an approval writes shapes.

        Raises:
            Unprepared: what was judged beforehand is out of date; nothing was written.
            NotFound: no certificate of that id that the editor may see.
            Forbidden: a graph that the editor may not write, or no editor at all.
            AlreadyDecided: the certificate is not waiting.
            InvalidParameter: the editor's own signature does not fit.
        """
        record, request = _waiting(group.tx, wanted)
        signed = _signature(group.tx, record, wanted)
        at = group.instant()
        if wanted.decision is DecisionKind.REJECT:
            self._enter(group, wanted, record, at, signed)
            group.tx.settle(record.id, CertificateState.REJECTED)
            self._loader.forget(group, request)
            findings = findings_of(group.tx, record.id)
            return Outcome(record.id, record.verdict, CertificateState.REJECTED, None, findings)
        if missing := self._missing(group.tx, record, wanted):
            self._enter(group, wanted, record, at, signed)
            why = f"it takes {missing} more {'approval' if missing == 1 else 'approvals'}, of other editors"
            findings = findings_of(group.tx, record.id)
            return Outcome(record.id, record.verdict, CertificateState.PENDING, None, findings, why=why)
        if request.session is not None:
            load = LoadRequest(request, wanted.editor, lambda _: None)
            return self._approve_load(group, record, load, wanted, at, preparation, signed)
        try:
            again = self._judge_again(group, record, request, wanted.editor, preparation)
        except PlanError as error:
            self._enter(group, wanted, record, at, signed)
            return self._lapse(group, record, at, None, str(error))
        self._enter(group, wanted, record, at, signed)
        if _unchanged(group, record, again):
            recheck = self._recheck(group, record, at)
            head = group.apply(again.plan, group.tx.leaves(record.id, ItemKind.PLAN), at, recheck)
            return self._applied(group, record, head, again.findings)
        successor = self._submitter.certify(
            group, request, wanted.editor, predecessor=record.id, preparation=preparation
        )
        return self._lapse(group, record, at, successor.certificate, None)

    def _approve_load(
        self,
        group: Group,
        record: CertificateRecord,
        load: LoadRequest,
        wanted: DecisionRequest,
        at: Instant,
        preparation: Preparation | None,
        signed: EditorSignature | None,
    ) -> Outcome:
        self._judge.hold(group.tx, preparation)
        self._enter(group, wanted, record, at, signed)
        unchanged = self._loader.load_again(group, record, load, at, preparation)
        self._loader.forget(group, load.request)
        if unchanged:
            head = group.certify(record.id, at, self._recheck(group, record, at))
            return self._applied(group, record, head, findings_of(group.tx, record.id))
        why = "the base has changed since the load was judged: load the files again"
        return self._lapse(group, record, at, None, why)

    def _judge_again(
        self,
        group: Group,
        record: CertificateRecord,
        request: Request,
        editor: Principal,
        preparation: Preparation | None,
    ) -> Judgement:
        plan = Planner(record.id, record.issued_at, group.tx, editor).plan(request)
        return self._judge.judge(plan, group.tx, preparation)

    def _recheck(self, group: Group, record: CertificateRecord, at: Instant) -> str:
        """Signs that plan and findings are as they were at the head of now; answers the record's digest."""
        plan, findings = (_root(group, record, kind) for kind in (ItemKind.PLAN, ItemKind.FINDING))
        moment = print_instant(at)
        recheck = Recheck(record.id, group.head.position, plan, findings, moment)
        signed = secure_record(recheck, self._notary.key, moment)
        group.tx.add_decision(DecisionRecord(record.id, "recheck", signed, None))
        return digest_hex(signed)

    def _applied(self, group: Group, record: CertificateRecord, head: int, findings: tuple[Finding, ...]) -> Outcome:
        group.tx.settle(record.id, CertificateState.APPLIED, head=head, instant=group.head.instant)
        if group.governs:
            self._judge.forget()
        return Outcome(record.id, record.verdict, CertificateState.APPLIED, head, findings)

    def _lapse(
        self, group: Group, record: CertificateRecord, at: Instant, successor: UUID | None, why: str | None
    ) -> Outcome:
        group.tx.append_event(Stale(record.id, successor, print_instant(at)).encode())
        group.tx.settle(record.id, CertificateState.STALE, successor=successor)
        findings = findings_of(group.tx, record.id)
        return Outcome(record.id, record.verdict, CertificateState.STALE, None, findings, successor, why)

    def standing(self, view: LedgerView, record: CertificateRecord, editor: Principal) -> tuple[int, str | None]:
        """How an approval by an editor, without a signature of their own, would stand at the head of the view.

        Args:
            view: of the ledger.
            record: of a certificate that waits.
            editor: whoever would approve it.

        Returns:
            How many approvals of others it would take besides; and why it would not be taken, None where it would.
        """
        rule, case = self._judge.approval(view), self._case(view, record, editor, signed=False)
        return rule.missing(case), rule.refuses(case)

    def _missing(self, view: LedgerView, record: CertificateRecord, wanted: DecisionRequest) -> int:
        """How many approvals are missing with this one. Raises `Forbidden` for one that the policy does not take."""
        rule = self._judge.approval(view)
        case = self._case(view, record, wanted.editor, signed=wanted.signature is not None)
        reason = rule.refuses(case)
        if reason is not None:
            raise Forbidden(reason, remedy="ask another editor, or sign it: see the policy of the base")
        return rule.missing(case)

    def _case(self, view: LedgerView, record: CertificateRecord, editor: Principal, *, signed: bool) -> Case:
        before = tuple(each.editor for each in _decisions(view, record) if each.decision is DecisionKind.APPROVE)
        return Case(record.principal, editor.id, before, signed=signed)

    def _enter(
        self,
        group: Group,
        wanted: DecisionRequest,
        record: CertificateRecord,
        at: Instant,
        signed: EditorSignature | None,
    ) -> None:
        """Signs the decision and puts it, its comment and its event into the transaction."""
        moment = print_instant(at)
        body = canonical_json({"comment": wanted.comment, "certificate": str(record.id)})
        comment = salt_items(ItemKind.COMMENT, [body])[0] if wanted.comment else None
        if comment is not None:
            comment = replace(comment, ordinal=len(group.tx.leaves(record.id, ItemKind.COMMENT)))
        decision = Decision(
            record.id,
            digest_hex(record.document),
            wanted.decision,
            wanted.editor.id,
            moment,
            comment.leaf.hex() if comment else None,
            signed,
        )
        document = secure_record(decision, self._notary.key, moment)
        group.tx.add_decision(DecisionRecord(record.id, "decision", document, comment))
        group.tx.append_event(Decided(record.id, digest_hex(document), wanted.decision, moment).encode())


def _waiting(view: LedgerView, wanted: DecisionRequest) -> tuple[CertificateRecord, Request]:
    """The certificate and its request, if the editor may decide on it."""
    record = view.certificate(wanted.certificate)
    if record is None or not all(map(wanted.editor.may_read, record.graphs)):
        raise NotFound("there is no such certificate", remedy="list them with GET /certificates")
    if not wanted.editor.may_decide(record.graphs):
        raise Forbidden("deciding takes an editor of every graph concerned", remedy="ask an editor of those graphs")
    if record.state is not CertificateState.PENDING or record.request is None:
        raise AlreadyDecided(
            f"the certificate is {record.state.value}, not waiting for a decision",
            remedy="look at the certificate; a stale one names its successor",
            state=record.state.value,
        )
    return record, record.request


def _decisions(view: LedgerView, record: CertificateRecord) -> Iterator[Decision]:
    """What was decided before."""
    for each in view.decisions(record.id):
        if each.kind == "decision":
            members = json.loads(each.record)
            members.pop("proof")
            yield Decision.from_document(members)


def _signature(view: LedgerView, record: CertificateRecord, wanted: DecisionRequest) -> EditorSignature | None:
    """The editor's own signature, if there is one and it fits. Raises `InvalidParameter`."""
    if wanted.signature is None:
        return None
    registered = view.editor_key(wanted.editor.id)
    if registered is None:
        raise InvalidParameter(
            "no key of yours is registered here", remedy="ask an administrator to register it", where="/signature"
        )
    key = VerifyingKey.from_multikey(registered)
    statement = editor_statement(record.id, digest_hex(record.document), wanted.decision)
    if not key.verify(wanted.signature, statement):
        raise InvalidParameter(
            f"it is not by your key, {registered}, over this decision",
            remedy="sign the canonical JSON of type, certificate, certificateDigest and decision",
            where="/signature",
        )
    return EditorSignature(key, wanted.signature)


def _root(group: Group, record: CertificateRecord, kind: ItemKind) -> str:
    return ItemTree.of(group.tx.leaves(record.id, kind)).root


def _unchanged(group: Group, record: CertificateRecord, again: Judgement) -> bool:
    """Whether plan, findings and verdict are what the certificate says."""
    plan, findings = (
        [item.body for item in group.tx.items(record.id, kind)] for kind in (ItemKind.PLAN, ItemKind.FINDING)
    )
    return (
        again.verdict is record.verdict
        and again.plan.bodies() == plan
        and [finding.canonical() for finding in again.findings] == findings
    )
