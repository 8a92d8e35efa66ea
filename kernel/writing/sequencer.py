"""The sequencer: one writer a base, group commit, and the clock.

Rules (OneSequencer)
-----
* Jobs run one after another on one thread. Those that wait when it turns to them form a group: one ledger transaction,
  one fsync, one delta for the stores. A load session is a group of its own. Where the last group was of several, the
  next waits a little for as many: groups that come in two halves, one while the other is written, cost twice.
* While the thread runs, the head is its own: what it committed last need not be read again.
* Answers follow the commit. Before them, the stores are given its delta, so that whoever has an answer reads what was
  written; they write deltas together, at the latest when nothing is asked for a moment.
* A job that would hold up the others may step back (`kernel.writing.stepping_back`): what it needs is done on another
  thread, and then it is queued again.
* A job that meets a caller's error before it wrote anything leaves the group as it was; any other failure discards the
  group, fails that job, and plans the others again.
* If the commit fails, the whole group is discarded and planned again, once; then its jobs fail, and the base is read
  only until something was written again: each job tries, and so does the clock every `LONGEST_WAIT`. Where another
  process has the ledger, which takes long to be found out, jobs fail at once while that is so.
* What is committed is answered as such, whatever becomes of the stores: they are behind then, and brought up later.
  What was purged the ledger cannot tell them any more: stores that may have missed it begin with nothing.
* When nothing is asked, the clock still moves: facts that begin or end are brought in or out as they fall due.
* Nothing stops the thread but `close`, which finishes what is queued. What failed is tried again after a pause.

Example
-------
::

    sequencer = Sequencer(ledger, stores, host)
    sequencer.start()
    outcome = sequencer.enqueue(lambda group: submitter.submit(group, submission)).result()
    sequencer.close()
"""

from __future__ import annotations

import logging
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition, Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeVar

from kernel.errors import LedgerUnavailable, ReadOnly, ShuttingDown
from kernel.time.instants import SECOND, Instant
from kernel.time.transaction_clock import refuse_if_ahead
from kernel.writing.group import Group
from kernel.writing.jobs import Discarded, Job, fail, give
from kernel.writing.projection import delta_between
from kernel.writing.stepping_back import STEPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.ports.heads import Head
    from kernel.ports.ledger import Ledger
    from kernel.ports.outside import HostClock
    from kernel.ports.stores import StoreDelta, Stores

T = TypeVar("T")

GROUP_SIZE = 128
"""How many jobs share a commit at most: what one fsync is worth is won long before."""

UNSETTLED_WAIT = 0.01
"""Seconds without a job after which the stores are told to write what they were given."""

GATHERING = 0.002
"""Seconds for which a group waits at most for those whose jobs were in the last: they were answered together, and most
will write again, but not all at once. Whoever writes alone never waits."""

LONGEST_WAIT = 1.0
"""Seconds after which the thread looks at the clock again, for the host's clock may have been set; and after which it
tries again what failed."""

LOCKED: Final = "locked"
"""The cause where another process has the ledger: only waiting tells, as long as the ledger's patience is."""

_CAUSES: Final = {
    LOCKED: ("is locked by another process", "whoever runs the service ends what holds it"),
    "full": ("has no room left on its disk", "whoever runs the service makes room"),
    "disk": ("cannot be written on its disk", "whoever runs the service looks at the disk"),
    "read-only": ("may not be written", "whoever runs the service makes its folder writable"),
}

log = logging.getLogger("muniment.sequencer")


class Sequencer:
    """Runs jobs against the head, one after another.

    Args:
        ledger: the base's ledger.
        stores: its stores, brought up after every commit.
        host: the host's clock.
        on_discard: called when a group is discarded, so that what was read from it is read anew.
    """

    def __init__(self, ledger: Ledger, stores: Stores, host: HostClock, on_discard: Callable[[], None]) -> None:
        self._ledger = ledger
        self._stores = stores
        self._host = host
        self._on_discard = on_discard
        self._jobs: deque[Job[object]] = deque()
        self._changed = Condition()
        self._closing = False
        self._thread: Thread | None = None
        self._aside = ThreadPoolExecutor(1, "aside")
        self._due: Instant | None = None
        self._head: Head | None = None
        self._together = 1
        self._wanted = 1
        self._behind = False
        self._unwritable: ReadOnly | None = None
        self._not_before = 0.0

    @property
    def read_only(self) -> str | None:
        """Why nothing could be written the last time, in a word; None while writing works."""
        unwritable = self._unwritable
        return None if unwritable is None else str(unwritable.data["cause"])

    @property
    def behind(self) -> bool:
        """Whether the stores could not be brought up to the ledger; tried again with the next group."""
        return self._behind

    def start(self, *, accept_clock: bool = False) -> None:
        """Brings the stores up to ledger and clock, and starts the thread.

        Raises:
            ClockAhead: the base stands more than 5 s ahead of the host.
            DamagedBase: the stores hold what the ledger does not know.
            StoreUnavailable: the stores cannot be brought up.
        """
        with self._ledger.reading() as view:
            refuse_if_ahead(view.head().clock, self._host.now(), accept=accept_clock)
        self._catch_up()
        self._advance()
        self._thread = Thread(target=self._work, name="sequencer", daemon=True)
        self._thread.start()

    def enqueue(
        self, run: Callable[[Group], T], *, alone: bool = False, then: Callable[[T], None] | None = None
    ) -> Future[T]:
        """Queues a job; its future answers once all is durable and in the stores.

        Args:
            run: the job.
            alone: in a group of its own.
            then: is done with its answer once that is durable, before the next group and before the future has it.
        """
        future: Future[T] = Future()
        if self.read_only == LOCKED:
            future.set_exception(_refusal(LOCKED))
            return future
        with self._changed:
            if self._closing:
                raise _shutting_down()
            self._jobs.append(Job(run, future, alone, then))  # type: ignore[arg-type] # a queue of jobs of every answer type
            if len(self._jobs) >= self._wanted:
                self._changed.notify()
        return future

    def close(self) -> None:
        """Finishes what is queued and stops the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
        self._aside.shutdown()

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (jobs := self._take()) is not None:
            if jobs:
                self._run_group(jobs)
            self._tick(idle=not jobs)

    def _take(self) -> list[Job[object]] | None:
        """The jobs of the next group; empty when the clock wants looking at; None once all is done, when closing."""
        with self._changed:
            if not self._jobs and not self._closing:
                self._changed.wait(self._patience())
            if not self._jobs and self._closing:
                return None
            self._gather()
            jobs: list[Job[object]] = []
            while self._jobs and len(jobs) < GROUP_SIZE and not (jobs and (jobs[-1].alone or self._jobs[0].alone)):
                job = self._jobs.popleft()
                if job.steps or job.future.set_running_or_notify_cancel():
                    jobs.append(job)
            self._together = len(jobs) or self._together
            return jobs

    def _gather(self) -> None:
        """Waits a little until as many jobs are there as the last group had, once the first is."""
        self._wanted = self._together
        until = monotonic() + GATHERING
        while self._jobs and len(self._jobs) < self._wanted and not self._closing and (left := until - monotonic()) > 0:
            self._changed.wait(left)
        self._wanted = 1

    def _patience(self) -> float:
        """Seconds to wait for a job."""
        pause = self._not_before - monotonic()
        if pause > 0:
            return pause
        longest = UNSETTLED_WAIT if self._stores.unsettled else LONGEST_WAIT
        return longest if self._due is None else min(longest, max(0.0, (self._due - self._host.now()) / SECOND))

    def _run_group(self, jobs: list[Job[object]]) -> None:
        """Gives each job its turn, and those that stepped back to whoever prepares them."""
        self._try(jobs)
        for job in jobs:
            if job.turned is not None:
                job.turned.set()
            elif job.stepped is not None:
                self._aside.submit(self._prepare, job)

    def _try(self, jobs: list[Job[object]]) -> None:
        """Tries until every job has its answer or its error, or stepped back; a discarded group is planned anew."""
        commits_left = 2
        while jobs:
            try:
                self._attempt(jobs)
            except Discarded:
                self._on_discard()
            except LedgerUnavailable as error:
                self._on_discard()
                commits_left -= 1
                if not commits_left or _cause(error) == LOCKED:
                    fail(jobs, self._refuse(error))
            except BaseException as error:
                log.exception("a group of writes failed")
                self._on_discard()
                fail(jobs, error)
            jobs = [job for job in jobs if not job.future.done() and job.stepped is None]

    def _attempt(self, jobs: list[Job[object]]) -> None:
        """Runs the jobs in one transaction, commits it, has the stores take what it changes, and answers."""
        answers, delta = self._committed(
            lambda group: [(job, job.take(group, insists=self._closing or job.steps >= STEPS)) for job in jobs]
        )
        self._bring_up(delta, alone=jobs[0].alone)
        give(answers)

    def _committed(self, run: Callable[[Group], T]) -> tuple[T, StoreDelta | None]:
        """What was done in a group, in a transaction of its own, and what the stores must do for it; durable by now."""
        head, self._head = self._head, None  # only what was committed is known
        with self._ledger.transaction() as tx:
            group = Group(tx, self._host, self._due, head)
            done = run(group)
            delta = group.close()
            tx.commit()
        self._head, self._due = group.head, group.due
        self._wrote()
        return done, delta

    def _prepare(self, job: Job[object]) -> None:
        """Prepares a job that stepped back, and queues it again, until it has had a turn to its end."""
        while (step := job.stepped) is not None and not job.future.done():
            job.stepped, job.steps, job.turned = None, job.steps + 1, Event()
            try:
                if not self._closing:
                    step.prepare()
            except BaseException:
                log.exception("what a write needs could not be prepared")
                job.steps = STEPS
            with self._changed:
                if self._closing:
                    job.future.set_exception(_shutting_down())
                    return
                self._jobs.append(job)
                self._changed.notify()
            job.turned.wait()

    def _bring_up(self, delta: StoreDelta | None, *, alone: bool = False) -> None:
        """Brings the stores up after a commit; when they fail, however, they are behind."""
        erases = delta is not None and delta.erases
        if erases and self._behind:
            self._stores.start_over()
        if self._behind and monotonic() < self._not_before:
            return
        if self._behind or (alone and not erases):
            self._or_behind(self._catch_up, erases=erases)
        elif delta is not None:
            self._or_behind(lambda: self._stores.apply(delta), erases=erases)

    def _or_behind(self, step: Callable[[], None], *, erases: bool = False) -> None:
        """Does what leaves the stores behind the ledger if it fails."""
        try:
            step()
        except BaseException:
            log.exception("the stores are behind the ledger; tried again shortly")
            if erases:
                self._stores.start_over()
            self._behind = True
            self._pause()

    def _catch_up(self) -> None:
        """Brings the stores from wherever they stand to the ledger's head and clock."""
        with self._ledger.reading() as view:
            self._due = view.next_due(view.head().clock)
            self._stores.load(delta_between(view, *self._stores.position()))
        self._behind = False

    def _tick(self, *, idle: bool) -> None:
        """Brings up stores that are behind, and moves the clock when something is due."""
        if idle and not self._behind and self._stores.unsettled:
            self._or_behind(self._stores.settle)
        if monotonic() < self._not_before:
            return
        try:
            if self._unwritable is not None or (self._due is not None and self._due <= self._host.now()):
                self._advance()
            if self._behind:
                self._catch_up()
        except LedgerUnavailable as error:
            self._refuse(error)
        except BaseException:
            log.exception("the clock or the stores could not be brought up; tried again shortly")
            self._pause()

    def _pause(self) -> None:
        """Nothing is tried again at once: what fails now would fail again and again."""
        self._not_before = monotonic() + LONGEST_WAIT

    def _advance(self) -> None:
        """Moves the clock to the host's time, durably, and then the stores."""
        _, delta = self._committed(lambda group: group.advance(self._host.now()))
        self._bring_up(delta)

    def _refuse(self, error: LedgerUnavailable) -> ReadOnly:
        """Notes that nothing can be written, and says so once; answers what to tell."""
        refusal = _refusal(_cause(error))
        if self._unwritable is None:
            log.error("nothing can be written, and reading goes on; tried again every second", exc_info=error)
        self._unwritable = refusal
        self._pause()
        return refusal

    def _wrote(self) -> None:
        if self._unwritable is not None:
            log.info("writing works again")
            self._unwritable = None


def _cause(error: LedgerUnavailable) -> str:
    return str(error.data.get("cause", "failed"))


def _refusal(cause: str) -> ReadOnly:
    what, remedy = _CAUSES.get(cause, ("cannot be written", "whoever runs the service finds the reason in its log"))
    return ReadOnly(
        f"nothing can be written now: the ledger {what}; reading goes on",
        remedy=f"send it again later; {remedy}",
        cause=cause,
    )


def _shutting_down() -> ShuttingDown:
    return ShuttingDown("the base is closing", remedy="send the request again once it is served")
