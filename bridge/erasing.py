"""Purges of a base: previewed, carried out, and then erased from wherever copies of it are left.

Rules
-----
* The first phase is one ledger transaction and what follows on it at once: the stores lose the quads, and snapshots are
  forgotten with what replicas have of them.
* The second phase runs in a thread of its own, while writes go on. Both stores are made anew from the ledger, in
  another directory; when they are level with it they take the place of the old ones, which takes as long as opening
  them. The ledger's file is written anew, for which writes wait, and the write-ahead log is emptied. Then what is left
  is unlinked: directories of stores, checkpoints of them, snapshots that there were. Purges that are carried out before
  the stores are made anew share that.
* The receipt is pending until nothing is left of all that. It is tried for as long as it takes: a query that does not
  end may hold an old store.
* After a kill everything is taken up again at the next start, and more simply: stores are made anew before anything is
  answered.

Example
-------
::

    survey = purges.preview(target)
    record = purges.purge(PurgeRequest(target, "asked by its subject", administrator, survey.digest)).result()
    purges.receipt(record.id)
"""

from __future__ import annotations

import json
import logging
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from threading import Event, Lock
from typing import TYPE_CHECKING, Final, TypeVar

from bridge.ledger.fact_rows import term_key
from bridge.stores.checkpoints import unlinked
from bridge.stores.pair import OxigraphStores
from bridge.stores.places import ANEW, SNAPSHOTS, sweep
from certificates.canonical import digest_hex
from certificates.ids import uuid7
from certificates.purge_events import Erased
from certificates.receipt import Receipt, ReceiptStatus, secure
from kernel.errors import InvalidParameter, MunimentError, NotFound, ShuttingDown
from kernel.ports.purges import PurgeState
from kernel.purging.purger import require_purger
from kernel.purging.tombstones import TombstoneKind
from kernel.time.instants import print_instant
from kernel.writing.projection import delta_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path
    from uuid import UUID

    from bridge.graves import Graves
    from bridge.snapshots.cache import Snapshots
    from certificates.records import DecisionKind
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.purges import PurgeRecord
    from kernel.ports.stores import StoreDelta
    from kernel.purging.purger import Purger, PurgeRequest, Survey
    from kernel.purging.targets import Target
    from kernel.purging.tombstones import Stone
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.issuing import Notary
    from kernel.writing.sequencer import Sequencer

T = TypeVar("T")

PAUSE: Final = 0.25
"""Seconds between two looks at whether somebody still has an old directory open."""

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 300.0
"""Seconds after which what failed is tried again: at first, and at most, for it is much work."""

_STORES: Final = ("complete store", "current store")
_DERIVED: Final = (*_STORES, "checkpoints of stores", "snapshots", "replicas", "write-ahead log", "free pages")
_BEYOND: Final = ("backups", "delivered exports", "what callers keep", "other hosts")
GRAPH_STAYS: Final = "the graph of this name - purge it as a graph"
"""Where a node was purged and is a graph's name, too."""

_COUNTED: Final = {
    "facts": "facts",
    "evidence": "evidence",
    "planItems": "plan items",
    "findings": "findings",
    "impactRows": "impact",
    "comments": "comments",
    "rejected": "requests in review",
    "stagedLoads": "staged loads",
}

log = logging.getLogger("muniment.purges")


def begin_anew(ledger: Ledger, stores: Path | None) -> None:
    """Unlinks the stores of a base in which a purge was not erased yet: they are made anew from the ledger.

    Args:
        ledger: the base's.
        stores: their directory; None for memory.
    """
    if stores is None:
        return
    if pending(ledger):
        log.warning("a purge is not erased yet: the stores are made anew")
        shutil.rmtree(stores, ignore_errors=True)
    sweep(stores)


def pending(ledger: Ledger) -> list[PurgeRecord]:
    """The purges that are carried out and not erased."""
    with ledger.reading() as view:
        return [record for record in view.purges() if record.state is PurgeState.PENDING]


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
        self._stores = stores
        self._snapshots = snapshots
        self._purger = purger
        self._graves = graves
        self._notary = notary
        self._sequencer = sequencer
        self._thread = ThreadPoolExecutor(1, "erasing")
        self._lock = Lock()
        self._wanted = False
        self._stopped = Event()
        self._numbers = count(1)
        self._doomed: set[Path] = set()
        self._listeners: list[Callable[[], None]] = []

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
        self._listeners.append(forget)

    # --- the first phase ----------------------------------------------------------------------------------------------

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
        if record.state is not PurgeState.PENDING or record.head is None:
            return
        self._graves.read_anew()
        directory = self._graves.directory
        if directory is not None:
            self._doomed.update(path for path in (directory / "stores" / SNAPSHOTS).iterdir() if path.is_dir())
        self._snapshots.invalidate(record.head)
        term_key.cache_clear()
        self._have_forgotten()
        self._wake()

    def _have_forgotten(self) -> None:
        for forget in self._listeners:
            forget()

    # --- the second phase ---------------------------------------------------------------------------------------------

    def resume(self) -> None:
        """Takes up what was interrupted: the stores have been made anew by now."""
        if pending(self._ledger):
            self._thread.submit(self._resumed)

    def _resumed(self) -> None:
        try:
            self._finish()
        except ShuttingDown:
            return
        except (MunimentError, OSError):
            log.exception("what was purged cannot be erased; tried again")
            self._wake()

    def close(self) -> None:
        """Ends what is going on; the next start takes it up again."""
        self._stopped.set()
        self._thread.shutdown(cancel_futures=True)

    def settled(self) -> None:
        """Returns once nothing more is being erased; for those who wait for a receipt."""
        self._thread.submit(lambda: None).result()

    def _wake(self) -> None:
        with self._lock:
            if self._wanted:
                return
            self._wanted = True
        try:
            self._thread.submit(self._erase)
        except RuntimeError:  # it is closing
            log.info("a purge is erased at the next start")

    def _erase(self) -> None:
        """Makes the stores anew, and ends every purge that was carried out before."""
        pause = FIRST_PAUSE
        while not self._stopped.is_set():
            with self._lock:
                self._wanted = False
            try:
                with self._ledger.reading() as view:
                    records = [record for record in view.purges() if record.state is PurgeState.PENDING]
                self._make_anew()
                self._finish(records)
            except ShuttingDown:
                return
            except (MunimentError, OSError):
                log.exception("what was purged cannot be erased; tried again in %g s", pause)
                self._stopped.wait(pause)
                pause = min(LONGEST_PAUSE, 2 * pause)
                continue
            return

    def _make_anew(self) -> None:
        """Makes both stores in another directory, and puts them in the place of those in use.

        Where something is purged meanwhile, they may have it: they are made again.
        """
        old: list[Path] | None = None
        while old is None:
            purged_at, made = self._snapshots.purged_at, self._made()
            swap = partial(self._swap, made=made, purged_at=purged_at)
            old = self._sequencer.enqueue(swap, alone=True).result()
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)
        self._snapshots.stores_made_anew()
        self._have_forgotten()  # who copied a store since the purge holds a copy of the one that goes
        for path in old:
            self._doomed.add(path)
            self._doomed.update(path.parent.glob(f"{path.name}.checkpoint-*"))

    def _made(self) -> Path | None:
        """Both stores, made in a directory and closed; None for a base in memory."""
        directory = self._graves.directory
        if directory is None:
            return None
        made = directory / "stores" / f"{ANEW}-{next(self._numbers)}"
        shutil.rmtree(made, ignore_errors=True)
        fresh = OxigraphStores.open(made)
        try:
            self._bring_up(fresh)
            fresh.optimize()
            self._bring_up(fresh)
        finally:
            fresh.close()
        return made

    def _swap(self, group: Group, made: Path | None, purged_at: int | None) -> list[Path] | None:
        """Puts the stores in the place of those in use; None where something was purged since they were begun."""
        if made is not None and purged_at != self._snapshots.purged_at:
            return None
        return self._stores.swap(made, _series(group))

    def _bring_up(self, fresh: OxigraphStores) -> None:
        with self._ledger.reading() as view:
            fresh.load(self._going(delta_between(view, *fresh.position())))

    def _finish(self, records: list[PurgeRecord] | None = None) -> None:
        """Writes the ledger's file anew, waits for what is still open, and signs the receipts."""
        self._ledger.compact()
        while not self._is_gone():
            if self._stopped.wait(PAUSE):
                return
        for record in pending(self._ledger) if records is None else records:
            self._sequencer.enqueue(partial(self._complete, purge=record.id), alone=True).result()

    def _is_gone(self) -> bool:
        """Whether nothing is left that was there before."""
        self._snapshots.sweep()
        for path in tuple(self._doomed):
            if not path.exists() or (".checkpoint-" not in path.name and unlinked(path)):
                self._doomed.discard(path)
        return not self._doomed and self._ledger.forget_log()

    def _complete(self, group: Group, purge: UUID) -> None:
        record = group.tx.purge(purge)
        if record is None or record.state is not PurgeState.PENDING:
            return
        at = group.instant()
        receipt = self._receipt(record, ReceiptStatus.COMPLETE, at)
        group.tx.put_purge(replace(record, state=PurgeState.COMPLETE, receipt=receipt))
        group.tx.append_event(Erased(purge, digest_hex(receipt), print_instant(at)).encode())

    def _going(self, series: Iterable[T]) -> Iterator[T]:
        for each in series:
            if self._stopped.is_set():
                raise ShuttingDown("the base is closing", remedy="what was purged is erased at the next start")
            yield each

    # --- receipts -----------------------------------------------------------------------------------------------------

    def _receipt(self, record: PurgeRecord, status: ReceiptStatus, at: Instant) -> bytes:
        """The signed receipt of a purge, as it stands."""
        report: Mapping[str, int | str | bool] = json.loads(record.report or b"{}")
        counts = {name: int(report[name]) for name in _COUNTED}
        erased = {_COUNTED[name] for name, number in counts.items() if number} | {"idempotency keys", "indexes"}
        absent = {_COUNTED[name] for name, number in counts.items() if not number}
        missed = set(_BEYOND)
        (erased if status is ReceiptStatus.COMPLETE else missed).update(_DERIVED)
        (missed if self._has_access_log else absent).add("access log")
        if not report["inWords"]:
            missed.add("texts that quote it")
        if report.get("graphStays"):
            missed.add(GRAPH_STAYS)
        receipt = Receipt(
            id=uuid7(),
            issuer=self._notary.key.did,
            issued_at=print_instant(at),
            base=self._notary.base,
            certificate=record.id,
            status=status,
            facts=counts["facts"],
            items=sum(counts[name] for name in ("planItems", "findings", "impactRows", "comments")),
            digest=str(report["erased"]),
            erased=tuple(sorted(erased)),
            absent=tuple(sorted(absent)),
            not_reached=tuple(sorted(missed)),
        )
        return secure(receipt, self._notary.key)

    @property
    def _has_access_log(self) -> bool:
        directory = self._graves.directory
        return directory is not None and (directory / "access").exists()


def _series(group: Group) -> Callable[[Instant | None, Instant], Iterable[StoreDelta]]:
    """What brings stores up to the head of a group."""
    view: LedgerView = group.tx
    return lambda after, clock: delta_between(view, after, clock)
