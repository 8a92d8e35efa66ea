"""Preparing: what takes long to judge is judged beside the sequencer, and only what changed meanwhile within it.

Rules (OneSequencer, BoundToState)
-----
* Shapes that are written are judged on all data that is there. That is done on a thread of its own, on what is
  committed, while writes go on; then the write is queued as any other, and judges what changed since.
* If too much has changed by its turn, or the shapes in force, the write steps back before it has written anything, and
  is prepared further; after `ROUNDS` turns it judges whatever is left, however long others wait for it.
* What is planned beforehand only says what to prepare for: the write plans and judges for itself. What cannot be
  planned beforehand is not prepared for, and meets its error in its turn.
* A write that is not of the state that it was worked out for is turned away, and worked out anew by whoever asked. What
  was judged for it is kept for the next write of shapes, which may be the same.
* Closing gives up what is being prepared: nothing of it was kept.

Example
-------
::

    preparer = Preparer(ledger, shapes, sequencer)
    outcome = preparer.enqueue(foresee, lambda group, preparation: submitter.submit(group, submission, preparation))
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock, get_ident
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from kernel.errors import CallerError, ShuttingDown, StateMoved

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.ports.facts import FactsView
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.writing.group import Group
    from kernel.writing.plan import Plan
    from kernel.writing.sequencer import Sequencer

T = TypeVar("T")

ROUNDS: Final = 5
"""How often a write is queued at most."""

THREADS: Final = 2
"""How many writes are prepared at a time."""

_TOLD_EVERY: Final = 5.0
"""Seconds between two words about progress."""

log = logging.getLogger("muniment.preparing")


class Unprepared(Exception):
    """Too much has changed since a write was prepared. It is raised before the write has written anything."""


def shutting_down() -> ShuttingDown:
    """The error of what is asked for too late."""
    return ShuttingDown("the base is closing", remedy="send the request again once it is served")


class Progress(NamedTuple):
    """How far a preparation is: targets in the data that are judged, and all of them."""

    done: int
    total: int


class Watch:
    """Told how preparing goes, on each thread; says whether it is to go on."""

    def __init__(self) -> None:
        self._closing = Event()
        self._told = monotonic()
        self._going: dict[int, Progress] = {}

    def close(self) -> None:
        """From now on nothing is prepared."""
        self._closing.set()

    def require_going_on(self) -> None:
        """Raises `ShuttingDown` once the base is closing."""
        if self._closing.is_set():
            raise shutting_down()

    @property
    def going(self) -> tuple[Progress, ...]:
        """How far that is which is being judged just now."""
        return tuple(self._going.copy().values())

    def rest(self) -> None:
        """Nothing is being judged on this thread any more."""
        self._going.pop(get_ident(), None)

    def tell(self, done: int, total: int) -> None:
        """Takes note of how far it is, and logs it now and then."""
        self._going[get_ident()] = Progress(done, total)
        if monotonic() - self._told >= _TOLD_EVERY or done == total > 0:
            self._told = monotonic()
            log.info("shapes that are written: %d of %d targets in the data judged", done, total)


class Preparation(Protocol):
    """What was judged beforehand, for one write of shapes."""

    def advance(self, watch: Watch) -> None:
        """Judges what is committed by now. Raises `ShuttingDown`."""
        ...

    def insist(self) -> None:
        """From now on the write judges whatever is left."""
        ...

    def hold(self, view: LedgerView) -> None:
        """Takes note of what others changed since, before the write is judged or written. Raises `Unprepared`."""
        ...


class ShapePreparer(Protocol):
    """Begins preparations."""

    def prepare(self, plan: Plan, view: FactsView, previous: Preparation | None) -> Preparation | None:
        """A preparation for the shapes that a plan writes, the previous one if it will do; None: it writes none."""
        ...


class Preparer:
    """Prepares writes of shapes, and queues them.

    Args:
        ledger: the base's ledger.
        shapes: begins preparations.
        sequencer: where the writes are queued.
    """

    def __init__(self, ledger: Ledger, shapes: ShapePreparer, sequencer: Sequencer) -> None:
        self._ledger = ledger
        self._shapes = shapes
        self._sequencer = sequencer
        self._watch = Watch()
        self._threads = ThreadPoolExecutor(THREADS, "preparing")
        self._kept = _Kept()

    def enqueue(
        self,
        foresee: Callable[[LedgerView], Plan | None],
        run: Callable[[Group, Preparation | None], T],
        *,
        alone: bool = False,
    ) -> Future[T]:
        """Prepares a job and queues it; its future answers as the sequencer's does.

        Args:
            foresee: plans what the job will plan, as far as it writes shapes; None: there is nothing to prepare.
            run: the job; it may raise `Unprepared` as long as it has written nothing.
            alone: in a group of its own.
        """
        self._watch.require_going_on()
        try:
            return self._threads.submit(self._run, foresee, run, alone)
        except RuntimeError as error:  # closed just now
            raise shutting_down() from error

    @property
    def going(self) -> tuple[Progress, ...]:
        """How far what is being prepared is."""
        return self._watch.going

    def close(self) -> None:
        """Gives up what is being prepared, and waits for what is queued."""
        self._watch.close()
        self._threads.shutdown()

    def _run(
        self,
        foresee: Callable[[LedgerView], Plan | None],
        run: Callable[[Group, Preparation | None], T],
        alone: bool,
    ) -> T:
        preparation = self._kept.take()
        for left in reversed(range(ROUNDS)):
            preparation = self._prepared(foresee, preparation)
            if preparation is not None and not left:
                preparation.insist()
            try:
                answer = self._sequencer.enqueue(_turn(run, preparation), alone=alone).result()
            except StateMoved:
                self._kept.put(preparation if left else None)
                raise
            if not isinstance(answer, Unprepared):
                return answer
        raise AssertionError("a write that insists steps back")

    def _prepared(
        self, foresee: Callable[[LedgerView], Plan | None], previous: Preparation | None
    ) -> Preparation | None:
        with self._ledger.reading() as view:
            try:
                plan = foresee(view)
            except CallerError:
                return None
            preparation = None if plan is None else self._shapes.prepare(plan, view, previous)
        if preparation is not None:
            watch = self._watch
            try:
                preparation.advance(watch)
            finally:
                watch.rest()
        return preparation


class _Kept:
    """A preparation that nobody uses at present, if there is one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._one: Preparation | None = None

    def put(self, preparation: Preparation | None) -> None:
        """Keeps one, in the place of another."""
        with self._lock:
            self._one = preparation

    def take(self) -> Preparation | None:
        """It, which is not kept any longer."""
        with self._lock:
            found, self._one = self._one, None
        return found


def _turn(
    run: Callable[[Group, Preparation | None], T], preparation: Preparation | None
) -> Callable[[Group], T | Unprepared]:
    """The job as the sequencer runs it: stepping back is an answer, for it leaves the group as it was."""

    def take(group: Group) -> T | Unprepared:
        written = group.tx.changes()
        try:
            return run(group, preparation)
        except Unprepared as error:
            if group.tx.changes() != written:
                raise
            return error

    return take
