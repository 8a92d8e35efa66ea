"""Reading certificates, for one caller.

Rules (NothingLeaks)
-----
* A certificate is seen by those who may read every graph that it touches, and by nobody else, not even by whoever asked
  for it. To others it is not there: pages are filled without it, and no count tells of it.
* A finding is seen by those who may read every graph that it was drawn from. Of an item that is withheld or purged its
  leaf hash is left, so that those who see the others can still prove them by the root that was signed.
* Items come in slices: a load has as many as it has facts, and as many findings as it breaks shapes.
* Lists follow the ids, newest first or oldest first.

Example
-------
::

    reader = CertificateReader(base.ledger)
    page = reader.page(principal, CertificateFilter(state=CertificateState.PENDING), limit=20)
    page.records, page.after
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from certificates.findings import Finding
from certificates.items import ItemKind
from kernel.errors import NotFound
from kernel.terms import Iri
from kernel.time.instants import DAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from certificates.certificate import Verdict
    from certificates.contradictions import ContradictionKind
    from certificates.items import SaltedItem
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.records import CertificateRecord, CertificateState, DecisionRecord
    from kernel.time.instants import Instant

_LARGEST_CHUNK: Final = 1_024
"""Certificates read at a time while a page is filled, at most."""

_SLACK: Final = DAY
"""By how much the order of issuing may differ from that of ids, which are made by the host's own clock."""


@dataclass(frozen=True, slots=True)
class CertificateFilter:
    """Which certificates; None: whatever theirs is.

    Args:
        graph: one of the graphs that they touch.
        since: issued at that instant or later.
        before: issued before that instant.
        kind: that bring a contradiction of this kind, which the caller may see.
    """

    state: CertificateState | None = None
    verdict: Verdict | None = None
    graph: Iri | None = None
    since: Instant | None = None
    before: Instant | None = None
    kind: ContradictionKind | None = None

    def fits(self, record: CertificateRecord) -> bool:
        """Whether a certificate of the state and verdict is one of them."""
        return (
            (self.graph is None or self.graph in record.graphs)
            and (self.since is None or self.since <= record.issued_at)
            and (self.before is None or record.issued_at < self.before)
        )

    def may_follow(self, record: CertificateRecord, *, oldest_first: bool) -> bool:
        """Whether one that comes after this one in the order can still fit."""
        if oldest_first:
            return self.before is None or record.issued_at < self.before + _SLACK
        return self.since is None or record.issued_at >= self.since - _SLACK


@dataclass(frozen=True, slots=True)
class CertificatePage:
    """Certificates in the order asked for, and the one after which the next page begins; None at the end."""

    records: tuple[CertificateRecord, ...]
    after: UUID | None


@dataclass(frozen=True, slots=True)
class Window:
    """Up to `limit` ordinals from `first` on."""

    first: int
    limit: int


@dataclass(frozen=True, slots=True)
class ItemSlice:
    """Some items of one kind.

    Args:
        first: the ordinal of the first leaf.
        leaves: their leaf hashes, by ordinal.
        items: those that the caller may see and that are still kept, by ordinal.
        following: the ordinal after the last leaf; None at the end.
    """

    first: int
    leaves: tuple[bytes, ...]
    items: dict[int, SaltedItem]
    following: int | None


@dataclass(frozen=True, slots=True)
class CertificateDetail:
    """A certificate with what it commits to, as far as the caller may see it, and asked for it.

    Args:
        findings: those among `finding_items`.
    """

    record: CertificateRecord
    findings: tuple[Finding, ...]
    plan: ItemSlice
    finding_items: ItemSlice
    decisions: tuple[DecisionRecord, ...]


class CertificateReader:
    """Answers reads of certificates; safe from any thread, and never waits for the writer."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def page(
        self,
        principal: Principal,
        wanted: CertificateFilter,
        *,
        limit: int,
        after: UUID | None = None,
        oldest_first: bool = False,
    ) -> CertificatePage:
        """Up to `limit` certificates that the caller may see, from just beyond `after` on."""
        with self._ledger.reading() as view:
            listed = _listed(view, wanted, after, limit + 1, oldest_first=oldest_first)
            fitting = (
                each
                for each in listed
                if may_see(principal, each) and wanted.fits(each) and _contradicts(view, principal, each, wanted.kind)
            )
            seen = [*islice(fitting, limit + 1)]
        return CertificatePage(tuple(seen[:limit]), seen[limit - 1].id if len(seen) > limit else None)

    def one(self, principal: Principal, certificate: UUID) -> CertificateRecord:
        """A certificate by its id. Raises `NotFound`, also for one that the caller may not see."""
        with self._ledger.reading() as view:
            return visible(view, principal, certificate)

    def detail(self, principal: Principal, certificate: UUID, *, planned: Window, found: Window) -> CertificateDetail:
        """A certificate with its decisions, and some of its plan items and findings. Raises `NotFound`."""
        with self._ledger.reading() as view:
            record = visible(view, principal, certificate)
            told = [
                (finding, item)
                for item in _within(view, certificate, ItemKind.FINDING, found)
                for finding in [Finding.from_body(json.loads(item.body))]
                if _may_read(principal, finding.graphs)
            ]
            return CertificateDetail(
                record,
                tuple(finding for finding, _ in told),
                _slice(view, certificate, ItemKind.PLAN, planned, _within(view, certificate, ItemKind.PLAN, planned)),
                _slice(view, certificate, ItemKind.FINDING, found, [item for _, item in told]),
                tuple(view.decisions(certificate)),
            )


def may_see(principal: Principal, record: CertificateRecord) -> bool:
    """Whether the caller may know of the certificate; of one that touches no graph, those who read all of them."""
    return all(map(principal.may_read, record.graphs)) if record.graphs else principal.reads_everything


def readable_findings(principal: Principal, findings: Iterable[Finding]) -> list[Finding]:
    """The findings that the caller may see."""
    return [finding for finding in findings if _may_read(principal, finding.graphs)]


def _contradicts(
    view: LedgerView, principal: Principal, record: CertificateRecord, kind: ContradictionKind | None
) -> bool:
    """Whether a finding that the caller may see is of a contradiction of the kind; of no kind: yes."""
    if kind is None:
        return True
    first = 0
    while items := view.items(record.id, ItemKind.FINDING, first=first, limit=_LARGEST_CHUNK):
        for item in items:
            if b'"kind"' in item.body:
                finding = Finding.from_body(json.loads(item.body))
                said = finding.contradiction
                if said is not None and said.kind is kind and _may_read(principal, finding.graphs):
                    return True
        first = items[-1].ordinal + 1
    return False


def _may_read(principal: Principal, graphs: Iterable[str]) -> bool:
    return all(principal.may_read(Iri(graph)) for graph in graphs)


def visible(view: LedgerView, principal: Principal, certificate: UUID) -> CertificateRecord:
    """A certificate that the caller may see. Raises `NotFound` for others and for none."""
    record = view.certificate(certificate)
    if record is None or not may_see(principal, record):
        raise NotFound("there is no such certificate", remedy="list them with GET /certificates")
    return record


def _listed(
    view: LedgerView, wanted: CertificateFilter, after: UUID | None, chunk: int, *, oldest_first: bool
) -> Iterator[CertificateRecord]:
    """Every certificate that may fit, in chunks that grow as more are asked for."""
    while True:
        records = view.certificates(
            state=wanted.state, verdict=wanted.verdict, after=after, limit=chunk, oldest_first=oldest_first
        )
        yield from records
        if len(records) < chunk or not wanted.may_follow(records[-1], oldest_first=oldest_first):
            return
        after = records[-1].id
        chunk = min(2 * chunk, _LARGEST_CHUNK)


def _within(view: LedgerView, certificate: UUID, kind: ItemKind, wanted: Window) -> list[SaltedItem]:
    """The items of those ordinals that are left."""
    until = wanted.first + wanted.limit
    items = view.items(certificate, kind, first=wanted.first, limit=wanted.limit)
    return [item for item in items if item.ordinal < until]


def _slice(
    view: LedgerView, certificate: UUID, kind: ItemKind, wanted: Window, items: Iterable[SaltedItem]
) -> ItemSlice:
    leaves, until = view.leaves(certificate, kind), wanted.first + wanted.limit
    shown = {item.ordinal: item for item in items}
    return ItemSlice(wanted.first, tuple(leaves[wanted.first : until]), shown, until if until < len(leaves) else None)
