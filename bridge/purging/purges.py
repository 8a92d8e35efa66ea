"""Purges of a base: previewed, decided on, carried out; what is left of them is erased after that.

Rules
-----
* The first phase is one ledger transaction and what follows on it at once: the stores lose the quads, and snapshots are
  forgotten with what replicas have of them.
* The second phase goes on beside (`bridge.purging.eraser`). The receipt is pending until nothing is left.

Example
-------
::

    survey = purges.preview(target)
    record = purges.purge(PurgeRequest(target, "asked by its subject", administrator, survey.digest)).result()
    purges.one(administrator, record.id).receipt
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.ledger.fact_rows import term_key
from bridge.purging.eraser import Eraser
from bridge.purging.receipts import receipt_of
from certificates.canonical import digest_hex
from certificates.purge_events import Erased
from certificates.receipt import ReceiptStatus
from kernel.errors import InvalidParameter, NotFound
from kernel.ports.purges import PurgeState
from kernel.purging.purger import require_purger
from kernel.purging.tombstones import TombstoneKind
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from uuid import UUID

    from bridge.purging.graves import Graves
    from bridge.snapshots.cache import Snapshots
    from bridge.stores.pair import OxigraphStores
    from certificates.records import DecisionKind
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger
    from kernel.ports.purges import PurgeRecord
    from kernel.purging.purger import Purger, PurgeRequest
    from kernel.purging.surveying import Survey
    from kernel.purging.targets import Target
    from kernel.purging.tombstones import Stone
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.issuing import Notary
    from kernel.writing.sequencer import Sequencer


class Purges:
    """The purges of one base that is open.

    Args:
        ledger: the base's.
        stores: its stores.
        snapshots: those of the past.
        purger: the rules.
        graves: its tombstones, and its directory.
        notary: signs receipts.
        sequencer: its one writer.
    """

    def __init__(
        self,
        ledger: Ledger,
        stores: OxigraphStores,
        snapshots: Snapshots,
        purger: Purger,
        graves: Graves,
        notary: Notary,
        sequencer: Sequencer,
    ) -> None:
        self._ledger = ledger
        self._purger = purger
        self._graves = graves
        self._notary = notary
        self._sequencer = sequencer
        directory = graves.directory and graves.directory / "stores"
        self.eraser = Eraser(ledger, stores, snapshots, sequencer, directory, self._complete)

    # --- what is asked ------------------------------------------------------------------------------------------------

    def preview(self, principal: Principal, target: Target) -> Survey:
        """What a purge would take. Raises as `Purger.survey` does, and `Forbidden`."""
        require_purger(principal)
        with self._ledger.reading() as view:
            return self._purger.survey(view, target)

    def ask(self, wanted: PurgeRequest) -> Future[PurgeRecord]:
        """Keeps a purge for a second person to decide on."""
        return self._sequencer.enqueue(lambda group: self._purger.ask(group, wanted), alone=True)

    def purge(self, wanted: PurgeRequest) -> Future[PurgeRecord]:
        """Carries a purge out; the future has it once nothing of it is answered any more."""
        return self._carried_out(lambda group: self._purger.purge(group, wanted))

    def decide(self, purge: UUID, decision: DecisionKind, principal: Principal) -> Future[PurgeRecord]:
        """Has a second person approve a purge, which is then carried out, or reject it."""
        return self._carried_out(lambda group: self._purger.decide(group, purge, decision, principal))

    def again(self, stones: Sequence[Stone], principal: Principal) -> Future[PurgeRecord]:
        """Purges what later tombstones of this base stand for, after an older state of it was put back."""
        return self._carried_out(lambda group: self._purger.purge_again(group, stones, principal))

    def tombstones(self, principal: Principal) -> list[Stone]:
        """Those that stand: what `again` takes, kept elsewhere. Raises `Forbidden`."""
        require_purger(principal)
        with self._ledger.reading() as view:
            return sorted({(TombstoneKind(kind), stone) for _, kind, stone in view.tombstones()})

    def restore(self, purge: UUID, reason: str, principal: Principal) -> Future[PurgeRecord]:
        """Lifts the tombstones of a purge."""

        def restored(group: Group) -> PurgeRecord:
            return self._purger.restore(group, purge, reason, principal)

        return self._sequencer.enqueue(restored, alone=True, then=lambda _: self._graves.read_anew())

    def listed(self, principal: Principal, *, limit: int | None = None, after: UUID | None = None) -> list[PurgeRecord]:
        """Purges, newest first.

        Args:
            principal: who asks.
            limit: how many at most; None for all.
            after: the purge that stands before them in the list; None to begin with the newest.

        Raises:
            Forbidden: whoever asks is no administrator of the base.
            InvalidParameter: there is no purge `after`.
        """
        require_purger(principal)
        with self._ledger.reading() as view:
            records = view.purges()[::-1]
        first = 0
        if after is not None:
            first = 1 + next((place for place, record in enumerate(records) if record.id == after), len(records))
            if first > len(records):
                raise InvalidParameter("there is no such purge", remedy="give the `next` of a page", where="after")
        return records[first:][:limit]

    def one(self, principal: Principal, purge: UUID) -> PurgeRecord:
        """A purge by its id. Raises `Forbidden`, and `NotFound` where there is none."""
        require_purger(principal)
        with self._ledger.reading() as view:
            record = view.purge(purge)
        if record is None:
            raise NotFound("there is no such purge", remedy="list them with GET /purges")
        return record

    def listen(self, forget: Callable[[], None]) -> None:
        """Has it called whenever something was purged, before that is answered, and once stores were made anew.

        It is for who keeps what was read, or holds a copy of a store.
        """
        self.eraser.listen(forget)

    def settled(self) -> None:
        """Returns once nothing more is being erased; for those who wait for a receipt."""
        self.eraser.settled()

    # --- how it is carried out ----------------------------------------------------------------------------------------

    def _carried_out(self, work: Callable[[Group], PurgeRecord]) -> Future[PurgeRecord]:
        def run(group: Group) -> PurgeRecord:
            record = work(group)
            if record.state is PurgeState.PENDING:
                at = group.head.instant or group.instant()
                record = replace(record, receipt=self._receipt(record, ReceiptStatus.PENDING, at))
                group.tx.put_purge(record)
            return record

        return self._sequencer.enqueue(run, alone=True, then=self._purged)

    def _purged(self, record: PurgeRecord) -> None:
        """Once it is durable, before anything else is written, or answered of it."""
        if record.state is not PurgeState.PENDING:
            return
        term_key.cache_clear()
        try:
            self._graves.read_anew()
        finally:
            self.eraser.note(record)

    def _complete(self, group: Group, purge: UUID) -> None:
        """Writes that nothing is left of a purge."""
        record = group.tx.purge(purge)
        if record is None or record.state is not PurgeState.PENDING:
            return
        at = group.instant()
        receipt = self._receipt(record, ReceiptStatus.COMPLETE, at)
        group.tx.put_purge(replace(record, state=PurgeState.COMPLETE, receipt=receipt))
        group.tx.append_event(Erased(purge, digest_hex(receipt), print_instant(at)).encode())

    def _receipt(self, record: PurgeRecord, status: ReceiptStatus, at: Instant) -> bytes:
        directory = self._graves.directory
        access_log = directory is not None and (directory / "access").exists()
        return receipt_of(record, status, at, self._notary, access_log=access_log)
