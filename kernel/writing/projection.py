"""From the ledger to what stores must do to stand at its head.

Rules
-----
* Quads are derived from facts and the clock, never from a list of quads. A statement is in its current graph iff some
  believed fact of it holds at the clock.
* Touched is the statement of every fact that was superseded since, that was recorded since and holds, or that is
  believed and begins or ends between the clocks. A touched statement appears or vanishes by how it stands now, not by
  what happened to it: so a store that is already part of the way there ends up the same. A fact that was recorded since
  and does not hold takes nothing away: what was there before it was brought by another fact, which was superseded or
  has ended.
* From nothing, everything was recorded since, and nothing is there that could vanish.
* The series is bounded delta by delta. Each but the last says the state it came from, because a store that has only
  some of them must start again there; the last says the state that all of them together lead to.

Example
-------
::

    for delta in delta_between(view, instant, clock):     # from (instant, clock) to the view's head and clock
        ...
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from kernel.errors import DamagedBase
from kernel.ports.stores import StoreDelta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.facts import Evidence, Fact
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Iri, Statement
    from kernel.time.instants import Instant

BATCH: Final = 10_000
"""Facts, pieces of evidence and statements in one delta, at most: a few tens of megabytes."""


def delta_between(
    view: LedgerView,
    after: Instant | None,
    old_clock: Instant,
    new_clock: Instant | None = None,
    *,
    batch: int = BATCH,
) -> Iterator[StoreDelta]:
    """What stores at (`after`, `old_clock`) must do to stand at the view's head and the new clock; one delta at least.

    Args:
        view: the ledger at one moment, read while the deltas are drawn.
        after: the transaction instant that the stores stand at; None for empty stores.
        old_clock: the clock that they stand at.
        new_clock: the clock to come to; the view's by default.
        batch: how much goes into one delta at most.

    Raises:
        DamagedBase: the stores hold what the ledger does not know: they are ahead of it, or stand at an instant that
            is none of its heads'.
    """
    head = view.head()
    clock = head.clock if new_clock is None else new_clock
    if clock < old_clock or (after is not None and (head.instant is None or head.instant < after)):
        raise _not_of_this_ledger("are ahead of the ledger")
    start = None if after is None else view.head_at(after)
    if after is not None and (start is None or view.recorded_in(start) != after):
        raise _not_of_this_ledger("hold a write that the ledger has not")
    series = _Series(view, after, clock, batch)
    for _ in chain(series.facts(head.instant), series.due(old_clock), series.evidence(head.instant)):
        if series.full:
            yield series.cut(start, after, old_clock)
    yield series.cut(head.position, head.instant, clock)


def _not_of_this_ledger(trouble: str) -> DamagedBase:
    return DamagedBase(
        f"the stores {trouble}",
        remedy="if this is the right ledger, and no older one, make the stores anew from it: muniment rebuild",
    )


class _Series:
    """Gathers deltas; each generator yields after every thing that it gathered."""

    def __init__(self, view: LedgerView, after: Instant | None, clock: Instant, batch: int) -> None:
        self._view = view
        self._after = after
        self._clock = clock
        self._batch = batch
        self._empty()

    def _empty(self) -> None:
        self._recorded: list[Fact] = []
        self._superseded: list[Fact] = []
        self._evidence: list[tuple[Evidence, Iri]] = []
        self._holds: dict[Statement, bool] = {}

    @property
    def full(self) -> bool:
        gathered = len(self._recorded) + len(self._superseded) + len(self._evidence) + len(self._holds)
        return gathered >= self._batch

    def facts(self, until: Instant | None) -> Iterator[None]:
        """Facts recorded or superseded since, and what became of their statements."""
        if until is None or until == self._after:
            return
        for fact in self._view.facts_recorded(self._after, until):
            if self._is_new(fact.recorded_at):
                self._recorded.append(fact)
            if fact.superseded is not None:
                self._superseded.append(fact)
            self._touch(fact, may_vanish=fact.superseded is not None)
            yield

    def due(self, old_clock: Instant) -> Iterator[None]:
        """What became of the statements of facts that begin or end between the clocks."""
        if self._after is None or old_clock == self._clock:
            return
        for fact in self._view.facts_due(old_clock, self._clock):
            self._touch(fact, may_vanish=True)
            yield

    def evidence(self, until: Instant | None) -> Iterator[None]:
        """Evidence recorded since."""
        if until is None or until == self._after:
            return
        for evidence in self._view.evidence_recorded(self._after, until):
            self._evidence.append(evidence)
            yield

    def cut(self, head: int | None, instant: Instant | None, clock: Instant) -> StoreDelta:
        """The delta of what is gathered, at the state given."""
        delta = StoreDelta(
            head,
            instant,
            clock,
            self._recorded,
            self._superseded,
            self._evidence,
            [statement for statement, holds in self._holds.items() if holds],
            [statement for statement, holds in self._holds.items() if not holds],
        )
        self._empty()
        return delta

    def _is_new(self, recorded_at: Instant) -> bool:
        return self._after is None or recorded_at > self._after

    def _touch(self, fact: Fact, *, may_vanish: bool) -> None:
        """Notes whether the statement holds; a fact that holds says so by itself, and from nothing only such count."""
        statement = fact.statement
        if fact.holds_at(self._clock):
            self._holds[statement] = True
        elif may_vanish and self._after is not None and statement not in self._holds:
            self._holds[statement] = any(held.holds_at(self._clock) for held in self._view.believed_of(statement))
