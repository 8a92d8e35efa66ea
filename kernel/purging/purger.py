"""Purging: what must not exist is taken out of a base, under a certificate; and a tombstone is lifted again.

Rules
-----
* A purge is previewed first. The preview's digest is over everything that would go; carried out is a purge only with
  that digest: if anything has changed since, it is refused, and previewed anew.
* One ledger transaction, alone in its group, takes facts, evidence, plan items, and the items that quote them
  (`kernel.purging.quoting`), puts up the tombstones (`kernel.purging.tombstones`), and certifies it all: issued,
  applied and purged follow one another in the log. So a purge is a head of its own, and whoever compares heads learns
  of it.
* Leaf hashes stay, and so do ids, instants and leaf hashes of facts: every root, proof and state can be verified as
  before. The state digest loses the facts that were believed.
* Of a certificate all of whose facts go, everything goes that was said of it: request, findings, impact, comments.
* A certificate that waits for a decision and quotes what goes is rejected in the name of whoever purges.
* What no fact is held of is purged all the same if certificates that were never applied, or staged loads, quote it.
* Only administrators of the whole base purge: what is purged may lie in any graph. Where policy asks for a second
  person, the purge waits for another administrator.
* A certificate of a purge says how much went, and nothing of what it was. It is for administrators of the whole base,
  as those of policy are: that something went, and why, says something of graphs that others may not read.
* In an older state of a base that is put back, what was purged since is found by its tombstones, and purged again.

Example
-------
::

    survey = purger.survey(view, target)
    purger.purge(group, PurgeRequest(target, "asked by its subject", administrator, survey.digest))
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from certificates.canonical import canonical_json, digest_hex
from certificates.certificate import Verdict
from certificates.ids import parse_urn, urn, uuid7
from certificates.items import ItemKind, ItemTree, salt_items
from certificates.purge_events import Purged, Restored, erasure_digest
from certificates.records import DecisionKind
from kernel.changes import Request
from kernel.errors import Conflict, Forbidden, InvalidParameter, NotFound, NothingToPurge, PreviewOutdated
from kernel.ports.purges import PurgeRecord, PurgeState
from kernel.ports.records import CertificateRecord, CertificateState
from kernel.purging.surveying import COUNTED, survey_of
from kernel.purging.targets import (
    Target,
    TargetKind,
    refuse_vocabulary,
    standing_in,
    tombstones_of,
)
from kernel.terms import Iri
from kernel.time.instants import print_instant
from kernel.vocabulary import POLICY_GRAPH
from kernel.writing.deciding import DecisionRequest
from kernel.writing.issuing import EMPTY, Trees, issued_event
from kernel.writing.plan import request_body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from uuid import UUID

    from kernel.access import Principal
    from kernel.ports.ledger import LedgerView
    from kernel.purging.quoting import Quotes
    from kernel.purging.surveying import Survey
    from kernel.purging.tombstones import Stone, Tombstones
    from kernel.time.instants import Instant
    from kernel.writing.deciding import Decider
    from kernel.writing.deferred import Deferred
    from kernel.writing.group import Group
    from kernel.writing.issuing import Notary
    from kernel.writing.judging import Judge


_FOR_ADMINISTRATORS: Final = (POLICY_GRAPH,)
"""Graphs that a purge is said to concern: whoever may read this one governs the base."""


@dataclass(frozen=True, slots=True)
class PurgeRequest:
    """A purge as it is asked for.

    Args:
        target: of what.
        reason: for those who read its certificate; what is purged had better not be in it.
        principal: who carries it out.
        digest: of the preview.
        id: of its certificate; None for a new one.
        asked_by: who asked for it, where `principal` is the second person, who approves it.
        asked_at: and when.
    """

    target: Target
    reason: str
    principal: Principal
    digest: str
    id: UUID | None = None
    asked_by: str | None = None
    asked_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of a purge: of what, why, who asked, who approved, by which preview; and when, if it had to wait."""

    kind: str
    reason: str
    asked_by: str
    approved_by: str | None
    digest: str
    asked_at: Instant | None = None


class Purger:
    """Purges one base.

    Args:
        judge: whose digests a certificate names.
        notary: signs.
        decider: rejects what waits.
        tombstones: those of the base.
        staged: gives every staged load session, chunk by chunk.
    """

    def __init__(
        self,
        judge: Judge,
        notary: Notary,
        decider: Decider,
        tombstones: Tombstones,
        staged: Callable[[], Iterator[tuple[str, Sequence[Deferred]]]],
    ) -> None:
        self._judge = judge
        self._notary = notary
        self._decider = decider
        self._tombstones = tombstones
        self._staged = staged

    def survey(self, view: LedgerView, target: Target) -> Survey:
        """What a purge would take at the head of the view.

        Raises:
            NotFound, TooManyChanges: as `held_of` does.
            NothingToPurge: nothing is held of it, and nothing quotes it.
            ReservedTerm: a node of a vocabulary by which graphs are read.
        """
        refuse_vocabulary(target)
        return survey_of(view, target, self._staged())

    def ask(self, group: Group, wanted: PurgeRequest) -> PurgeRecord:
        """Keeps a purge for a second person to decide on. Raises as `purge` does."""
        self._confirmed(group, wanted)
        at = group.instant()
        record = PurgeRecord(
            uuid7(), PurgeState.WAITING, wanted.target.kind.value, wanted.principal.id, at, wanted.digest,
            wanted.target.text, wanted.reason,
        )  # fmt: skip
        group.tx.put_purge(record)
        return record

    def purge(self, group: Group, wanted: PurgeRequest) -> PurgeRecord:
        """Carries a purge out; the group must hold nothing else.

        Raises:
            Forbidden: whoever asks is no administrator of the base.
            PreviewOutdated: what would go is not what was previewed.
            InvalidParameter: the reason quotes it.
            NotFound, NothingToPurge, ReservedTerm, TooManyChanges: as `survey` does.
        """
        survey, identifier = self._confirmed(group, wanted), wanted.id or uuid7()
        self._erase(group, identifier, survey, wanted.principal)
        texts = tombstones_of(wanted.target, survey.erasure.facts)
        stones = [(kind, self._tombstones.hash_of(kind, text)) for kind, text in texts]
        second = None if wanted.asked_by is None else wanted.principal.id
        said = _Said(
            wanted.target.kind.value, wanted.reason, wanted.asked_by or wanted.principal.id, second, wanted.digest,
            wanted.asked_at,
        )  # fmt: skip
        return self._settle(group, identifier, said, [survey], stones)

    def purge_again(self, group: Group, stones: Sequence[Stone], principal: Principal) -> PurgeRecord:
        """Purges in an older state of a base what was purged after it.

        Args:
            group: the open one, which must hold nothing else.
            stones: the tombstones of the later state.
            principal: who put the older one back.

        Raises:
            Forbidden: whoever asks is no administrator of the base.
            Conflict: no tombstone is missing.
            TooManyChanges: as `held_of` does.
        """
        require_purger(principal)
        missing = self._tombstones.missing(stones)
        if not missing:
            raise Conflict("every one of these tombstones stands", remedy="nothing is left to purge again")
        identifier = uuid7()
        surveys: list[Survey] = []
        staged = (change.statement for _, chunk in self._staged() for change in chunk)
        for target in standing_in(group.tx, self._tombstones, missing, staged):
            with suppress(NotFound, NothingToPurge):  # it went with another one
                surveys.append(survey_of(group.tx, target, self._staged()))
                self._erase(group, identifier, surveys[-1], principal)
        said = _Said("backup", "purged after the backup was taken", principal.id, None, digest_hex(b""))
        return self._settle(group, identifier, said, surveys, missing)

    def _erase(self, group: Group, identifier: UUID, survey: Survey, principal: Principal) -> None:
        for certificate in survey.rejected:
            self._decider.decide(group, DecisionRequest(certificate, DecisionKind.REJECT, None, principal))
        for record in group.tx.purges():
            if record.id != identifier and _waits_for(record, survey.quotes):
                group.tx.put_purge(_rejected(record, principal))
        group.erase(identifier, survey.erasure)

    def _settle(
        self, group: Group, identifier: UUID, said: _Said, surveys: Sequence[Survey], stones: Sequence[Stone]
    ) -> PurgeRecord:
        """Puts up the tombstones for what was erased, certifies and logs it."""
        at, digest = group.instant(), erasure_digest(*group.tx.erased(identifier))
        group.tx.bury(identifier, [(kind.value, stone) for kind, stone in stones])
        counts = {name: sum(survey.counts[name] for survey in surveys) for name in COUNTED}
        told: dict[str, object] = {
            "op": "purge", "of": said.kind, "erased": digest, "tombstones": len(stones), **counts,
        }  # fmt: skip
        if said.approved_by is not None:
            told["approvedBy"] = said.approved_by
        head = self._certify(group, identifier, said.asked_by, said.reason, told, at)
        group.tx.append_event(Purged(identifier, digest, len(stones), print_instant(at)).encode())
        report = canonical_json(
            {
                **counts,
                "tombstones": len(stones),
                "erased": digest,
                "inWords": all(survey.in_words for survey in surveys),
                "graphStays": any(survey.graph_stays for survey in surveys),
                "stays": sorted({place for survey in surveys for place in survey.stays}),
            }
        )
        record = PurgeRecord(
            identifier, PurgeState.PENDING, said.kind, said.asked_by, said.asked_at or at, said.digest,
            decided_by=said.approved_by, head=head, report=report,
        )  # fmt: skip
        group.tx.put_purge(record)
        return record

    def decide(self, group: Group, purge: UUID, decision: DecisionKind, principal: Principal) -> PurgeRecord:
        """Has a second person approve a purge that waits, which is then carried out, or reject it.

        Args:
            group: the open one.
            purge: which.
            decision: approve or reject.
            principal: the second person.

        Raises:
            NotFound: there is no such purge.
            Conflict: it does not wait, or whoever approves it asked for it.
            Forbidden, InvalidParameter, NothingToPurge, PreviewOutdated, TooManyChanges: as `purge` does.
        """
        require_purger(principal)
        record = _known(group.tx, purge)
        if record.state is not PurgeState.WAITING or record.target is None:
            raise Conflict(f"the purge is {record.state}, and does not wait", remedy="look at it", where="purge")
        if decision is DecisionKind.REJECT:
            rejected = _rejected(record, principal)
            group.tx.put_purge(rejected)
            return rejected
        if record.asked_by == principal.id:
            raise Forbidden("whoever asks for a purge does not approve it", remedy="have another administrator do so")
        target = read_target(record.kind, record.target)
        asked = PurgeRequest(
            target, record.reason or "", principal, record.digest, purge, record.asked_by, record.asked_at
        )
        return self.purge(group, asked)

    def restore(self, group: Group, purge: UUID, reason: str, principal: Principal) -> PurgeRecord:
        """Lifts the tombstones of a purge: what it took stays gone, and may be written again.

        Raises:
            Forbidden: whoever asks is no administrator of the base.
            NotFound: there is no such purge.
            Conflict: it has no tombstone that stands.
        """
        require_purger(principal)
        record = _known(group.tx, purge)
        lifted = group.tx.lift(purge)
        if not lifted:
            raise Conflict("no tombstone of this purge stands", remedy="nothing is left to lift", where="purge")
        at, identifier = group.instant(), uuid7()
        told: dict[str, object] = {"op": "restore", "purge": urn(purge), "tombstones": lifted}
        self._certify(group, identifier, principal.id, reason, told, at)
        group.tx.append_event(Restored(identifier, purge, print_instant(at)).encode())
        restored = replace(record, restored_by=identifier)
        group.tx.put_purge(restored)
        return restored

    def _confirmed(self, group: Group, wanted: PurgeRequest) -> Survey:
        """What goes, if that is what was previewed."""
        require_purger(wanted.principal)
        survey = self.survey(group.tx, wanted.target)
        if survey.digest != wanted.digest:
            raise PreviewOutdated(
                "what would be purged is not what was previewed", remedy="preview it again", where="digest"
            )
        if survey.quotes.within(canonical_json(wanted.reason)):
            raise InvalidParameter(
                "the reason quotes what is purged, and is kept", remedy="say why without naming it", where="reason"
            )
        return survey

    def _certify(
        self, group: Group, identifier: UUID, principal: str, reason: str, told: dict[str, object], at: Instant
    ) -> int:
        """Issues and applies the certificate of a purge, or of lifting a tombstone; answers the head that it makes."""
        asked = Request((), reason, None, principal)
        items = salt_items(ItemKind.PLAN, [request_body(asked), canonical_json(told)])
        trees = Trees(ItemTree.of([item.leaf for item in items]), EMPTY)
        base_head = group.head.position
        document = self._notary.sign(group, identifier, Verdict.CLEAR, self._judge.digests(group.tx), trees, at)
        issued = self._notary.log(group, issued_event(identifier, document, Verdict.CLEAR, at), [items])
        head = group.certify(identifier, at, None)
        group.tx.issue(
            CertificateRecord(
                id=identifier,
                document=document,
                verdict=Verdict.CLEAR,
                state=CertificateState.APPLIED,
                principal=principal,
                graphs=_FOR_ADMINISTRATORS,
                issued_at=at,
                base_head=base_head,
                issued=issued,
                request=None,
                head=head,
                instant=at,
            )
        )
        if group.governs:
            self._judge.forget()
        return head


def require_purger(principal: Principal) -> None:
    """Raises `Forbidden` for whoever is no administrator of the whole base."""
    if not principal.governs or principal.within is not None:
        raise Forbidden(
            "purging takes an administrator of the whole base", remedy="ask one; a purge may reach any graph"
        )


def read_target(kind: str, text: str) -> Target:
    """The target that a record names."""
    named = TargetKind(kind)
    return Target(named, parse_urn(text) if named in {TargetKind.FACT, TargetKind.FAMILY} else Iri(text))


def _waits_for(record: PurgeRecord, quotes: Quotes) -> bool:
    """Whether a purge waits that names what goes, or says why in its words."""
    texts = (record.target, record.reason)
    return record.state is PurgeState.WAITING and any(
        text is not None and quotes.within(canonical_json(text)) for text in texts
    )


def _rejected(record: PurgeRecord, principal: Principal) -> PurgeRecord:
    """A purge that is not carried out; nothing is kept of what it would have been of."""
    return replace(record, state=PurgeState.REJECTED, target=None, reason=None, decided_by=principal.id)


def _known(view: LedgerView, purge: UUID) -> PurgeRecord:
    record = view.purge(purge)
    if record is None:
        raise NotFound("there is no such purge", remedy="list them with GET /purges")
    return record
