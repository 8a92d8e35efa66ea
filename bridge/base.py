"""A base: one tenant's ledger, stores, keys, head and clock, opened from a directory and closed again.

Rules
-----
* One process holds a base, by a lock on its directory; another is told so.
* The ledger is the truth. Opening brings the stores up to it, and the clock to the host's time, before anything is
  answered.
* The signing key is made with the base and is readable by its owner alone. The ledger knows which one it is.
* What does not fit together is not opened: a ledger whose head is not what its log says, stores that know more than the
  ledger, another signing key.
* What was purged and is not erased yet is erased first: stores are made anew before anything is answered.
* Without a directory everything is in memory, and gone on closing.

Example
-------
::

    with Base.open(Path("data")) as base:
        outcome = base.submit(submission).result()

The directory holds `ledger.sqlite`, `stores/` (made anew by `muniment rebuild`), `keys/` and `lock`.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self, TypeVar
from uuid import UUID

from bridge.entailment.foreseeing import Foreseer
from bridge.host import SystemClock
from bridge.impact.checker import QueryImpact
from bridge.impact.registering import Registrar
from bridge.impact.staging import Staging
from bridge.ledger.sqlite import SqliteLedger
from bridge.loading.staging import decode_changes
from bridge.lock import DirectoryLock
from bridge.purging.eraser import begin_anew
from bridge.purging.graves import Graves
from bridge.purging.purges import Purges
from bridge.reading.reader import Reader
from bridge.shapes.checker import CoreChecker
from bridge.shapes.preparing import ShapesPreparer
from bridge.signing.changes import KeyChanges
from bridge.signing.keys import SIGNING_KEY, KeyPlace, signing_key
from bridge.snapshots.cache import Snapshots
from bridge.stores.pair import OxigraphStores
from bridge.stores.seal import require_whole, seal_stores
from bridge.terms import OxigraphCanonicaliser
from bridge.updating.path import WritePath
from bridge.updating.updates import Updates
from kernel.changes import Assert, Reinstate, Revise
from kernel.errors import LedgerUnavailable
from kernel.governance import Governance
from kernel.policy.verdicts import DEFAULT_POLICY
from kernel.purging.purger import Purger
from kernel.vocabulary import SHAPES_GRAPH
from kernel.writing.branches import Foretold
from kernel.writing.deciding import Decider
from kernel.writing.issuing import Notary
from kernel.writing.judging import Judge
from kernel.writing.loading import Loader
from kernel.writing.preparing import Preparer
from kernel.writing.sequencer import Sequencer
from kernel.writing.submitting import Submitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path
    from types import TracebackType

    from bridge.review.standing import Clashing
    from bridge.signing.keys import GivenKey
    from certificates.keys import SigningKey
    from kernel.access import Principal
    from kernel.changes import End, Request, Retract
    from kernel.ports.heads import Head
    from kernel.ports.ledger import Ledger
    from kernel.ports.outside import HostClock
    from kernel.ports.records import CertificateRecord
    from kernel.terms import Statement
    from kernel.writing.deciding import DecisionRequest
    from kernel.writing.deferred import Deferred
    from kernel.writing.group import Group
    from kernel.writing.judging import VerdictPolicy
    from kernel.writing.loading import LoadRequest
    from kernel.writing.preparing import Preparation, Progress
    from kernel.writing.submitting import Outcome, Submission

T = TypeVar("T")

SNAPSHOTS: Final = "stores/snapshots"

OTHERS: Final = 5.0
"""Seconds to wait for another process that writes to the ledger: one that adds a token is done sooner, and whoever asks
for a write is told why it cannot be done, rather than kept waiting."""

LARGE: Final = 10_000
"""Changes above which a request is brought into the stores as a load is: in chunks, not in one transaction."""

_NAMES_SHAPES = SHAPES_GRAPH.n3.encode()
"""Without it in its bytes, a staged chunk writes no shapes."""


class Base:
    """An open base; made by `open`."""

    def __init__(
        self,
        ledger: Ledger,
        stores: OxigraphStores,
        snapshots: Snapshots,
        key: SigningKey,
        policy: VerdictPolicy,
        host: HostClock,
        keys: KeyPlace,
        graves: Graves,
    ) -> None:
        self.ledger = ledger
        self.stores = stores
        self.canonicaliser = OxigraphCanonicaliser()
        self.host = host
        self.snapshots = snapshots
        self.reader = Reader(ledger, stores, self.snapshots, host)
        self._resources = ExitStack()
        impact = self._impact = QueryImpact(ledger, Staging(ledger, stores, snapshots))
        self._foreseer = Foreseer(ledger, stores)
        judge = Judge(CoreChecker(), impact, self._foreseer, policy, Governance(policy.digest()), graves.stones)
        notary = self._notary = Notary(ledger.base_id(), key)
        self._submitter = Submitter(judge, notary)
        self._loader = Loader(judge, notary, self._staged)
        self._decider = Decider(judge, notary, self._submitter, self._loader)
        self._sequencer = Sequencer(ledger, stores, host, self._forget)
        self.keys = KeyChanges(notary, keys, self._sequencer, host)
        self._preparer = Preparer(ledger, ShapesPreparer(ledger), self._sequencer)
        write_path = WritePath(self._submitter, self._sequencer.enqueue, self._preparer.enqueue, self.load, host)
        self.updates = Updates(ledger, write_path)
        self._judge, self._graves = judge, graves
        purger = Purger(judge, notary, self._decider, graves.stones, self._all_staged)
        self.purges = Purges(ledger, stores, snapshots, purger, graves, notary, self._sequencer)
        self.purges.listen(impact.forget)
        self.purges.listen(self._foreseer.forget)
        self.queries = Registrar(self._submitter, self._sequencer.enqueue, self.canonicaliser)

    @classmethod
    def open(
        cls,
        directory: Path | None,
        *,
        policy: VerdictPolicy = DEFAULT_POLICY,
        accept_clock: bool = False,
        host: HostClock | None = None,
        key: GivenKey | None = None,
        issuer: str | None = None,
    ) -> Self:
        """Opens a base, making it if it is not there.

        Args:
            directory: where it lies; None for memory.
            policy: from findings to verdicts.
            accept_clock: count on from where the base stands even if that lies ahead of the host.
            host: the host's clock; the system's by default.
            key: that it signs with, or the file that it lies in; by default one of its own, in the directory.
            issuer: the DID under which it signs; by default that of the key.

        Raises:
            BaseInUse: another process holds it.
            ClockAhead: the base stands more than 5 s ahead of the host.
            DamagedBase: what is there does not fit together.
            LedgerUnavailable: the directory or the ledger cannot be made, read or written.
            StoreUnavailable: a store cannot be opened, or brought up to the ledger.
        """
        with ExitStack() as opened:
            if directory is not None:
                _prepare(directory)
                opened.enter_context(DirectoryLock(directory / "lock"))
            ledger = SqliteLedger.open(directory and directory / "ledger.sqlite", host, others=OTHERS)
            opened.callback(ledger.close)
            ledger.require_sound()
            begin_anew(ledger, directory and directory / "stores")
            if directory is not None:
                require_whole(directory / "stores")
            stores = OxigraphStores.open(directory and directory / "stores")
            if directory is not None:
                opened.callback(seal_stores, directory / "stores")
            opened.callback(stores.close)
            snapshots = Snapshots(ledger, stores, directory and directory / SNAPSHOTS)
            opened.callback(snapshots.close)
            place = KeyPlace.of(directory, key)
            signer = signing_key(place, ledger).under(issuer)
            graves = Graves.of(directory, ledger)
            base = cls(ledger, stores, snapshots, signer, policy, host or SystemClock(), place, graves)
            opened.callback(base._impact.close)
            opened.callback(base._foreseer.close)
            base._sequencer.start(accept_clock=accept_clock)
            opened.callback(base._sequencer.close)
            opened.callback(base.updates.close)
            opened.callback(base._preparer.close)
            opened.callback(base.purges.eraser.close)
            base.purges.eraser.resume()
            base._resources = opened.pop_all()
        return base

    def submit(self, submission: Submission) -> Future[Outcome]:
        """Queues a request; the future has its outcome, or the error it met, once that is durable.

        What writes shapes is judged on the data that is there before it is queued (`kernel.writing.preparing`).
        """
        return self._submit(submission, lambda _, outcome: outcome)

    def foretell(self, submission: Submission) -> Future[Foretold]:
        """Queues a dry run, as `submit` does; the future has the head as well that it was judged at."""
        return self._submit(replace(submission, key=None, dry_run=True), lambda head, outcome: Foretold(outcome, head))

    def _submit(self, submission: Submission, told: Callable[[Head, Outcome], T]) -> Future[T]:
        def run(group: Group, preparation: Preparation | None = None) -> T:
            head = group.head
            return told(head, self._submitter.submit(group, submission, preparation))

        if self._may_write_shapes(submission.request):
            return self._preparer.enqueue(lambda view: self._submitter.foresee(view, submission, self.host.now()), run)
        return self._sequencer.enqueue(run, alone=len(submission.request.changes) > LARGE)

    def decide(self, wanted: DecisionRequest) -> Future[Outcome]:
        """Queues a decision; the approval of shapes as `submit` does."""
        with self.ledger.reading() as view:
            record = view.certificate(wanted.certificate)
        if record is not None and SHAPES_GRAPH in record.graphs:
            return self._preparer.enqueue(
                lambda view: self._decider.foresee(view, wanted),
                lambda group, preparation: self._decider.decide(group, wanted, preparation),
                alone=True,
            )
        return self._sequencer.enqueue(lambda group: self._decider.decide(group, wanted), alone=True)

    def approval_by(self, editor: Principal, record: CertificateRecord) -> tuple[int, str | None]:
        """How many approvals of others it takes besides an editor's, and why theirs is not taken; None: it is."""
        with self.ledger.reading() as view:
            return self._decider.standing(view, record, editor)

    def load(self, wanted: LoadRequest) -> Future[Outcome]:
        """Queues a load session whose chunks are staged; one that brings shapes as `submit` does."""
        if any(_NAMES_SHAPES in chunk for chunk in self.ledger.staged(wanted.request.session or "")):
            return self._preparer.enqueue(
                lambda view: self._loader.foresee(view, wanted, self.host.now()),
                lambda group, preparation: self._loader.load(group, wanted, preparation),
                alone=True,
            )
        return self._sequencer.enqueue(lambda group: self._loader.load(group, wanted), alone=True)

    def _may_write_shapes(self, request: Request) -> bool:
        """Whether a request names the shapes graph, or a fact of it."""
        named = []
        for change in request.changes:
            target = change.statement if isinstance(change, Assert) else _target(change)
            if isinstance(target, UUID):
                named.append(target)
            elif target.graph == SHAPES_GRAPH:
                return True
        if not named:
            return False
        with self.ledger.reading() as view:
            facts = map(view.fact, named)
            return any(fact is not None and fact.statement.graph == SHAPES_GRAPH for fact in facts)

    @property
    def clashing(self) -> Clashing:
        """Tells which statements cannot both be, by what follows now."""
        return self._foreseer.clashing

    @property
    def preparing(self) -> tuple[Progress, ...]:
        """How far the judging is of shapes that are to be written: of each, targets judged and all of them."""
        return self._preparer.going

    @property
    def key(self) -> SigningKey:
        """The key that it signs with, now: another one after a rotation."""
        return self._notary.key

    @property
    def behind(self) -> bool:
        """Whether the stores could not be brought up to the ledger."""
        return self._sequencer.behind

    @property
    def read_only(self) -> str | None:
        """Why nothing can be written at present, in a word; None while writing works."""
        return self._sequencer.read_only

    def close(self) -> None:
        """Finishes what is queued, and closes ledger and stores."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _forget(self) -> None:
        """A group of writes was given up: what was read from it is read anew."""
        self._judge.forget()
        with suppress(LedgerUnavailable):  # then more may be refused than has to be, and nothing less
            self._graves.read_anew()

    def _all_staged(self) -> Iterator[tuple[str, Sequence[Deferred]]]:
        for session in self.ledger.staged_sessions():
            for chunk in self._staged(session):
                yield session, chunk

    def _staged(self, session: str) -> Iterator[Sequence[Deferred]]:
        return (decode_changes(chunk) for chunk in self.ledger.staged(session))


def _target(change: End | Retract | Revise | Reinstate) -> Statement | UUID:
    return change.fact if isinstance(change, Revise | Reinstate) else change.target


def _prepare(directory: Path) -> None:
    """Makes the folders; opening the ledger then makes their names durable."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        (directory / SIGNING_KEY).parent.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise LedgerUnavailable(
            f"the data folder cannot be made: {error.strerror}",
            remedy="name a folder that you may write to",
            where=str(directory),
        ) from error
