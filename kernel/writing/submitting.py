"""Submitting: the write path of one request, from changes to an applied, waiting or refused certificate.

Rules (OnlyCertifiedWrites, Idempotent)
-----
* plan → judge → issue → apply, all within the group's transaction. `clear` is applied at once, `review` waits,
  `refused` is recorded; a dry run stops before anything is issued.
* What cannot be planned is the caller's error and leaves no trace.
* The same key from the same principal gives the certificate it gave before; with another body it is refused.
* A draft says what to change only once it is planned, from the state of that moment. If that is nothing, there is no
  certificate, and its key is not used up.

Example
-------
::

    outcome = Submitter(judge, notary).submit(group, Submission(request, principal, None, b"…", dry_run=False))
    outcome.verdict, outcome.state, outcome.head
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from certificates.certificate import Verdict
from certificates.findings import Finding
from certificates.ids import uuid7
from certificates.items import ItemKind
from kernel.errors import IdempotencyMismatch
from kernel.ports.records import IdempotencyEntry
from kernel.writing.planner import Planner

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from kernel.access import Principal
    from kernel.changes import Request
    from kernel.ports.ledger import LedgerView
    from kernel.ports.records import CertificateRecord, CertificateState
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.issuing import Notary
    from kernel.writing.judging import Judge
    from kernel.writing.plan import Plan
    from kernel.writing.preparing import Preparation


class Keyed(Protocol):
    """A request that may be sent again."""

    @property
    def principal(self) -> Principal:
        """Who asks."""
        ...

    @property
    def key(self) -> str | None:
        """The idempotency key, if any."""
        ...

    @property
    def body_digest(self) -> bytes:
        """SHA-256 of what was sent, so that the same key with another body shows."""
        ...


@dataclass(frozen=True, slots=True)
class Submission:
    """A request as it came in.

    Args:
        request: the changes.
        principal: who asks.
        key: the idempotency key, if any.
        body_digest: SHA-256 of what was sent, so that the same key with another body shows.
        dry_run: judge only; nothing is signed or kept.
    """

    request: Request
    principal: Principal
    key: str | None
    body_digest: bytes
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """A request that depends on the state it is planned at; members that `Submission` has are as there.

    Args:
        request: gives the changes, within the group and as issued at an instant; None where there are none.
    """

    request: Callable[[Group, Instant], Request | None]
    principal: Principal
    key: str | None
    body_digest: bytes
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request or a decision.

    Args:
        certificate: its id; None for a dry run, and where there was nothing to change.
        state: None where there is no certificate.
        head: the head it was applied at; None while it is not.
        successor: the certificate that took its place, once stale.
        why: for a stale certificate without successor, why it cannot be planned any more.
    """

    certificate: UUID | None
    verdict: Verdict
    state: CertificateState | None
    head: int | None
    findings: tuple[Finding, ...]
    successor: UUID | None = None
    why: str | None = None


NOTHING: Final = Outcome(None, Verdict.CLEAR, None, None, ())
"""The outcome of a draft that changes nothing."""


class Submitter:
    """The write path."""

    def __init__(self, judge: Judge, notary: Notary) -> None:
        self._judge = judge
        self._notary = notary

    def foresee(self, view: LedgerView, submission: Submission, at: Instant) -> Plan | None:
        """What a request would do at the head of the view; None: it was answered before."""
        if submission.key is not None and view.idempotent(submission.principal.id, submission.key) is not None:
            return None
        return Planner(uuid7(), at, view, submission.principal).plan(submission.request)

    def submit(self, group: Group, submission: Submission | Draft, preparation: Preparation | None = None) -> Outcome:
        """Plans, judges, issues and, if clear, applies one request.

        Args:
            group: to plan against, and to apply in.
            submission: the request.
            preparation: what was judged beforehand, if it writes shapes.

        Raises:
            CallerError: what cannot be planned, or is not the caller's to ask.
            Unprepared: what was judged beforehand is out of date; nothing was written.
        """
        before = self.answered_before(group, submission)
        if before is not None:
            return before
        at = group.instant()
        request = submission.request if isinstance(submission, Submission) else submission.request(group, at)
        if request is None:
            return NOTHING
        outcome = self.certify(
            group, request, submission.principal, dry_run=submission.dry_run, at=at, preparation=preparation
        )
        self.remember(group, submission, outcome)
        return outcome

    def certify(
        self,
        group: Group,
        request: Request,
        principal: Principal,
        *,
        dry_run: bool = False,
        predecessor: UUID | None = None,
        at: Instant | None = None,
        preparation: Preparation | None = None,
    ) -> Outcome:
        """The same without idempotency.

        Args:
            group: to plan against, and to apply in.
            request: what is asked.
            principal: who asks.
            dry_run: judge only.
            predecessor: the stale certificate whose place this one takes.
            at: the issue instant, if the group has given one for it.
            preparation: what was judged beforehand, if shapes are written.
        """
        at = group.instant() if at is None else at
        asked = asked_by(request, principal) if predecessor is None else request
        plan = Planner(uuid7(), at, group.tx, principal).plan(asked)
        judgement = self._judge.judge(plan, group.tx, preparation)
        if dry_run:
            return Outcome(None, judgement.verdict, None, None, judgement.findings)
        issued = self._notary.issue(group, judgement, at, predecessor)
        head = None
        if judgement.verdict is Verdict.CLEAR:
            head = group.apply(judgement.plan, issued.leaves, at)
            if group.governs:
                self._judge.forget()
        record = issued.record(head)
        group.tx.issue(record)
        return Outcome(record.id, record.verdict, record.state, record.head, judgement.findings)

    def answered_before(self, group: Group, submission: Keyed) -> Outcome | None:
        """What the same key got before. Raises `IdempotencyMismatch`."""
        if submission.key is None:
            return None
        entry = group.tx.idempotent(submission.principal.id, submission.key)
        if entry is None:
            return None
        if entry.body_digest != submission.body_digest:
            raise IdempotencyMismatch(
                "this Idempotency-Key was used before, with another body, format or parameter",
                remedy="use a new key for a new request",
            )
        record = group.tx.certificate(entry.certificate)
        return None if record is None else outcome_of(group.tx, record)

    def remember(self, group: Group, submission: Keyed, outcome: Outcome) -> None:
        """Keeps what the key got."""
        if submission.key is not None and outcome.certificate is not None:
            entry = IdempotencyEntry(submission.body_digest, outcome.certificate)
            group.tx.remember(submission.principal.id, submission.key, entry)


def asked_by(request: Request, principal: Principal) -> Request:
    """The request with the role of who asks, and whether they read everything."""
    return replace(request, role=principal.highest, partial=not principal.reads_everything)


def outcome_of(view: LedgerView, record: CertificateRecord) -> Outcome:
    """The outcome of a certificate as the ledger has it now."""
    return Outcome(record.id, record.verdict, record.state, record.head, findings_of(view, record.id), record.successor)


def findings_of(view: LedgerView, certificate: UUID) -> tuple[Finding, ...]:
    """The findings of a certificate that are still kept."""
    return tuple(Finding.from_body(json.loads(item.body)) for item in view.items(certificate, ItemKind.FINDING))
