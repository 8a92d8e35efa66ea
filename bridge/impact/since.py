"""What moved of what a query minds since an answer to it: by certificates, by the clock, or by a purge.

Rules
-----
* An answer is of a head and of a valid time. From there the clock went to the first certificate that moved something,
  from each to the next, and from the last to now. Each certificate is judged at its own instant, so a fact that begins
  or ends *between* two of them moves the answer by the clock: whatever became of it later, and also if it is not
  believed any more.
* A fact of which the answer knew is looked at from the answer's valid time on, one that came later from its record on;
  both until they were superseded. An answer of a time ahead goes back to the first certificate before it goes on.
* A query for a moment is judged at that moment alone: the clock moves it if the answer is of another valid time.
* A purge leaves nothing that could be compared. What it took is told by the certificates that had asked for it: where
  one of them is of a graph of the query, the answer may be another.
* More than `MOST` facts are not looked at.

Example
-------
::

    moved = moved_since(view, Compiled(query), Held(instant, valid_at))
    moved.certificates, moved.clock, moved.purged
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import UUID

from kernel.time.instants import Instant
from kernel.time.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.impact.compiled import Compiled
    from kernel.facts import Fact
    from kernel.ports.ledger import LedgerView
    from kernel.queries import RegisteredQuery

MOST: Final = 20_000
"""Facts that are looked at for one answer."""


class TooMuchError(Exception):
    """More has moved than is looked at."""


@dataclass(frozen=True, slots=True)
class Held:
    """The state of an answer that somebody holds: of which head, and as true when."""

    instant: Instant | None
    valid_at: Instant


@dataclass(slots=True)
class Moved:
    """What moved of what a query minds.

    Args:
        certificates: that recorded or superseded something, each with its instant, in their order.
        clock: whether something began or ended by itself.
        purged: whether a purge may have taken something.
    """

    certificates: dict[UUID, Instant] = field(default_factory=dict)
    clock: bool = False
    purged: bool = False


def moved_since(view: LedgerView, query: Compiled, held: Held) -> Moved:
    """What moved between the state of an answer and that of the view.

    Raises:
        TooMuchError: more than `MOST` facts.
        LedgerUnavailable: the ledger cannot be read.
    """
    clock, moment = view.head().clock, query.query.moment
    recorded = [fact for fact in _bounded(_recorded(view, held)) if query.minds(fact.statement)]
    first = min((at for fact in recorded for _, at in _movers(fact, held.instant)), default=clock)
    turn = first if moment is None else moment
    begins, ends = min(held.valid_at, turn), max(held.valid_at, clock if moment is None else moment)
    asked = Interval(begins if moment is None else moment, Instant((ends if moment is None else moment) + 1))
    movers = {
        certificate: at
        for fact in recorded
        if query.minded is None or fact.interval.overlaps(asked)
        for certificate, at in _movers(fact, held.instant)
    }
    due = _bounded(view.facts_due(begins, ends)) if begins < ends else iter(())
    return Moved(
        dict(sorted(movers.items(), key=lambda each: each[1])),
        any(_falls_due(fact, held, begins, ends, moment) for fact in recorded)
        or any(query.minds(fact.statement) and _falls_due(fact, held, begins, ends, moment) for fact in due),
        _purged(view, query.query, held),
    )


def _bounded(facts: Iterator[Fact]) -> Iterator[Fact]:
    for looked, fact in enumerate(facts):
        if looked >= MOST:
            raise TooMuchError
        yield fact


def _recorded(view: LedgerView, held: Held) -> Iterator[Fact]:
    head = view.head().instant
    if head is not None and (held.instant is None or held.instant < head):
        yield from view.facts_recorded(held.instant, head)


def _movers(fact: Fact, after: Instant | None) -> Iterator[tuple[UUID, Instant]]:
    if after is None or fact.recorded_at > after:
        yield fact.certificate, fact.recorded_at
    if fact.superseded is not None and (after is None or fact.superseded.at > after):
        yield fact.superseded.certificate, fact.superseded.at


def _falls_due(fact: Fact, held: Held, begins: Instant, ends: Instant, moment: Instant | None) -> bool:
    """Whether a fact began or ended by the clock while it was believed."""
    known = held.instant is not None and fact.recorded_at <= held.instant
    if moment is not None and not known:
        return False
    after, until = (begins if known else fact.recorded_at), ends
    if fact.superseded is not None and moment is None:
        until = max(fact.superseded.at, held.valid_at) if known else fact.superseded.at
    return any(after < bound <= until for bound in (fact.interval.start, fact.interval.end))


def _purged(view: LedgerView, query: RegisteredQuery, held: Held) -> bool:
    """Whether a purge since took something that a certificate had asked for in a graph of the query."""
    for purge in view.purges():
        carried_out = view.certificate(purge.id)
        if carried_out is None or carried_out.instant is None:
            continue
        if held.instant is not None and carried_out.instant <= held.instant:
            continue
        for certificate in {certificate for certificate, _, _ in view.erased(purge.id)[1]}:
            asked = view.certificate(UUID(bytes=certificate))
            if asked is None or not query.graphs or {*query.graphs} & {*asked.graphs}:
                return True
    return False
