"""Load sessions: many changes under one certificate, with bounded memory.

Rules
-----
* The changes are staged in the ledger before, in chunks, deletions before assertions (`kernel.writing.deferred`).
* Chunks are planned in order. Each chunk's facts go into the transaction at once, so that the next chunk sees them; if
  the whole is not clear they are taken back before anything is committed.
* The whole is judged once, when all of it is there: a file whose first half refers to its second half is clear. It is
  judged by the shapes and rules of the head that it is planned against, also where it brings new ones.
* Contradictions are found as for any plan, but nothing is proposed: a load that has them waits for an editor as it is.
* Where nothing that is to be deleted is there, and nothing is asserted, there is no certificate.
* The same session from the same principal gives the certificate it gave before.
* The staged chunks are dropped by the transaction that settles the load: applied, refused, or decided by an editor.
* An approval plans the staged chunks again and compares them with the items that were signed.

Example
-------
::

    outcome = loader.load(group, LoadRequest(request, principal, progress))
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from certificates.certificate import Verdict
from certificates.findings import Finding
from certificates.ids import uuid7
from certificates.items import ItemKind, ItemTree, salt_items
from kernel.changes import Assert, Request
from kernel.errors import NotFound
from kernel.ports.checks import Loaded
from kernel.ports.records import CertificateRecord, CertificateState, IdempotencyEntry
from kernel.vocabulary import SHAPES_GRAPH
from kernel.writing.deferred import resolved
from kernel.writing.issuing import EMPTY, Trees, issued_event
from kernel.writing.plan import effect_bodies, request_body
from kernel.writing.planner import Planner
from kernel.writing.submitting import NOTHING, Outcome, asked_by, findings_of, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from uuid import UUID

    from kernel.access import Principal
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Iri
    from kernel.time.instants import Instant
    from kernel.writing.deferred import Deferred
    from kernel.writing.group import Group
    from kernel.writing.issuing import Notary
    from kernel.writing.judging import Gathered, Judge
    from kernel.writing.plan import Plan
    from kernel.writing.preparing import Preparation


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """A staged session to apply.

    Args:
        request: who asks and why; its `session` names the chunks.
        principal: who asks.
        progress: told how many changes are planned so far.
        require: raises where the base is not any more what the session was staged for.
    """

    request: Request
    principal: Principal
    progress: Callable[[int], None]
    require: Callable[[Group, Instant], None] = lambda _group, _at: None


@dataclass(slots=True)
class _Load:
    """What planning the chunks has come to so far."""

    certificate: UUID
    leaves: list[bytes]
    seen: Gathered
    graphs: set[Iri] = field(default_factory=set)


def session_key(session: str) -> str:
    """The idempotency key of a session: whose entry names the certificate that the session got."""
    return f"load:{session}"


class Loader:
    """Applies load sessions.

    Args:
        chunks: gives the staged changes of a session, in order.
    """

    def __init__(self, judge: Judge, notary: Notary, chunks: Callable[[str], Iterator[Sequence[Deferred]]]) -> None:
        self._judge = judge
        self._notary = notary
        self._chunks = chunks

    def foresee(self, view: LedgerView, wanted: LoadRequest, at: Instant) -> Plan | None:
        """The shapes that a session would write at the head of the view; None: it was answered before."""
        key = session_key(wanted.request.session or "")
        if view.idempotent(wanted.principal.id, key) is not None:
            return None
        return self.shapes_of(view, wanted, at)

    def shapes_of(self, view: LedgerView, wanted: LoadRequest, at: Instant) -> Plan:
        """A plan of no more than the shapes that a session would write."""
        chunks = self._chunks(wanted.request.session or "")
        shapes = tuple(
            change
            for chunk in chunks
            for change in chunk
            if isinstance(change, Assert) and change.statement.graph == SHAPES_GRAPH
        )
        asked = wanted.request
        request = Request(shapes, asked.reason, asked.episode, asked.principal)
        return Planner(uuid7(), at, view, wanted.principal).plan(request)

    def load(self, group: Group, wanted: LoadRequest, preparation: Preparation | None = None) -> Outcome:
        """Plans, judges and, if clear, applies a session; the group must hold nothing else.

        Args:
            group: the open one.
            wanted: the session.
            preparation: what was judged beforehand, if it writes shapes.

        Raises:
            Unprepared: what was judged beforehand is out of date; nothing was written.
            NotFound: nothing is staged under the session's name.
            CallerError: a change that cannot be planned; nothing is kept then.
        """
        key = session_key(wanted.request.session or "")
        before = group.tx.idempotent(wanted.principal.id, key)
        known = before and group.tx.certificate(before.certificate)
        if known:
            return outcome_of(group.tx, known)
        wanted = replace(wanted, request=asked_by(wanted.request, wanted.principal))
        at = group.instant()
        wanted.require(group, at)
        self._judge.hold(group.tx, preparation)
        self._foreseen(group, wanted)
        load = self._plan(group, wanted, at, preparation)
        if not load.leaves:
            self.forget(group, wanted.request)
            return NOTHING
        judged = self._judge.judge_load(
            group.tx, _told(load.certificate, at, load.seen, wanted.request), load.seen, preparation
        )
        record = self._issue(group, wanted.request, load, judged, at)
        group.tx.remember(wanted.principal.id, key, IdempotencyEntry(b"", record.id))
        if record.request is None:
            self.forget(group, wanted.request)
        if judged[1] is not Verdict.CLEAR:
            group.give_back(record.id)
            return Outcome(record.id, record.verdict, record.state, None, judged[0])
        head = group.certify(record.id, at, None)
        group.tx.settle(record.id, CertificateState.APPLIED, head=head, instant=at)
        if group.governs:
            self._judge.forget()
        return Outcome(record.id, record.verdict, CertificateState.APPLIED, head, judged[0])

    def forget(self, group: Group, request: Request) -> None:
        """Drops the chunks of a session that is decided; of a request that is none, nothing."""
        if request.session is not None:
            group.tx.unstage(request.session)

    def load_again(
        self,
        group: Group,
        record: CertificateRecord,
        wanted: LoadRequest,
        at: Instant,
        preparation: Preparation | None = None,
    ) -> bool:
        """Plans a waiting session again, into the transaction; False, and nothing kept, unless all is as signed."""
        signed = group.tx.items(record.id, ItemKind.PLAN)
        position = 1
        self._judge.hold(group.tx, preparation)
        self._foreseen(group, wanted)
        seen = self._judge.begin_load(group.tx)
        for plan in self._plans(group, wanted, record.id, record.issued_at, seen, preparation):
            bodies = list(effect_bodies(plan))
            held = signed[position : position + len(bodies)]
            position += len(bodies)
            if [item.body for item in held] != bodies:
                break
            group.take(plan, [item.leaf for item in held], at)
        else:
            loaded = _told(record.id, record.issued_at, seen, wanted.request)
            judged, verdict = self._judge.judge_load(group.tx, loaded, seen, preparation)
            if (position, judged, verdict) == (len(signed), findings_of(group.tx, record.id), record.verdict):
                return True
        group.give_back(record.id)
        return False

    def _foreseen(self, group: Group, wanted: LoadRequest) -> None:
        session = wanted.request.session or ""
        self._judge.before_load(group.tx, session, lambda: self._chunks(session))

    def _plan(self, group: Group, wanted: LoadRequest, at: Instant, preparation: Preparation | None) -> _Load:
        load = _Load(uuid7(), [], self._judge.begin_load(group.tx))
        staged, changes = False, 0
        for plan in self._plans(group, wanted, load.certificate, at, load.seen, preparation):
            staged = True
            if plan.request.changes:
                self._take(group, load, plan, wanted.request, at)
                changes += len(plan.request.changes)
                wanted.progress(changes)
        if not staged:
            raise NotFound("nothing is staged under this name", remedy="stage the files again")
        return load

    def _take(self, group: Group, load: _Load, plan: Plan, asked: Request, at: Instant) -> None:
        """Keeps what is planned of a chunk, after what was asked."""
        if not load.leaves:
            request = salt_items(ItemKind.PLAN, [request_body(asked)])
            group.tx.add_items(load.certificate, request)
            load.leaves.append(request[0].leaf)
        items = salt_items(ItemKind.PLAN, effect_bodies(plan), len(load.leaves))
        leaves = [item.leaf for item in items]
        group.tx.add_items(load.certificate, items)
        group.take(plan, leaves, at)
        load.leaves += leaves
        load.graphs |= plan.graphs

    def _plans(
        self,
        group: Group,
        wanted: LoadRequest,
        certificate: UUID,
        issued_at: Instant,
        seen: Gathered,
        preparation: Preparation | None,
    ) -> Iterator[Plan]:
        """A plan a chunk, each made when the ones before are in the transaction; what is seen of it goes to `seen`."""
        facts = evidence = 0
        request = wanted.request
        for chunk in self._chunks(request.session or ""):
            changes = resolved(chunk, group.tx, issued_at, wanted.principal)
            planner = Planner(
                certificate, issued_at, group.tx, wanted.principal, facts_from=facts, evidence_from=evidence
            )
            plan = planner.plan(replace(request, changes=changes, session=None))
            facts, evidence = planner.facts_made, planner.evidence_made
            self._judge.gather(plan, group.tx, seen, preparation)
            yield plan

    def _issue(
        self, group: Group, request: Request, load: _Load, judged: tuple[tuple[Finding, ...], Verdict], at: Instant
    ) -> CertificateRecord:
        findings, verdict = judged
        items = salt_items(ItemKind.FINDING, [finding.canonical() for finding in findings])
        trees = Trees(ItemTree.of(load.leaves), ItemTree.of([item.leaf for item in items]) if items else EMPTY)
        document = self._notary.sign(group, load.certificate, verdict, self._judge.digests(group.tx), trees, at)
        event = issued_event(load.certificate, document, verdict, at)
        record = CertificateRecord(
            id=load.certificate,
            document=document,
            verdict=verdict,
            state=CertificateState.REFUSED if verdict is Verdict.REFUSED else CertificateState.PENDING,
            principal=request.principal,
            graphs=tuple(sorted(load.graphs, key=lambda graph: graph.value)),
            issued_at=at,
            base_head=group.head.position,
            issued=self._notary.log(group, event, [items]),
            request=request if verdict is Verdict.REVIEW else None,
        )
        group.tx.issue(record)
        return record


def _told(certificate: UUID, issued_at: Instant, seen: Gathered, request: Request) -> Loaded:
    """What was seen of the chunks, as far as shapes judge it once all of it is there."""
    return Loaded(certificate, issued_at, seen.noticed, seen.gone, request.partial)
