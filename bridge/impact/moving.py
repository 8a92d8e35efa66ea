"""What moved in a base between two of its states: statements that hold at the later one, or do not, and who moved them.

Rules
-----
* Facts that were recorded or superseded since, and those that began or ended as the clock went on, say which statements
  may have moved. Whether one holds is asked of the ledger as it is seen: in a transaction, with what that wrote.
* A store at the first state that loses and gains this, or one between the two, stands at the second.
* Each statement comes with the certificates that moved it, by their instants, and the instant of the clock if that did.

Example
-------
::

    moved = moved_between(view, after, until, old_clock, new_clock)
    store.bring_up(moved.removed, moved.added)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

from kernel.vocabulary import is_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.facts import Fact
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Statement
    from kernel.time.instants import Instant

MOST: Final = 20_000
"""Facts that are looked at: beyond, a store is made anew sooner than brought up."""

Mover = tuple[int, str]
"""When something moved, and by which certificate; or by the clock, from when to when."""


class TooMuchMovedError(Exception):
    """More than `MOST` facts."""


@dataclass(slots=True)
class Moved:
    """What moved.

    Args:
        removed: statements that do not hold.
        added: statements that hold.
        movers: by whom each of them was moved.
    """

    removed: list[Statement] = field(default_factory=list)
    added: list[Statement] = field(default_factory=list)
    movers: dict[Statement, set[Mover]] = field(default_factory=dict)


def moved_between(view: LedgerView, after: Instant | None, until: Instant, old_clock: Instant, clock: Instant) -> Moved:
    """What moved between two states.

    Args:
        view: that sees the second.
        after: the transaction instant of the first; None: nothing was recorded.
        until: that of the second.
        old_clock: the valid time of the first.
        clock: that of the second.

    Raises:
        TooMuchMovedError: too much for single steps.
        LedgerUnavailable: the ledger cannot be read.
    """
    moved = Moved()
    for looked, (fact, mover) in enumerate(_moves(view, after, until, old_clock, clock)):
        if looked >= MOST:
            raise TooMuchMovedError
        if is_data(fact.statement.graph):
            moved.movers.setdefault(fact.statement, set()).add(mover)
    for statement in moved.movers:
        holds = any(fact.holds_at(clock) for fact in view.believed_of(statement))
        (moved.added if holds else moved.removed).append(statement)
    return moved


def _moves(
    view: LedgerView, after: Instant | None, until: Instant, old_clock: Instant, clock: Instant
) -> Iterator[tuple[Fact, Mover]]:
    recorded = view.facts_recorded(after, until) if after is None or after < until else ()
    due = view.facts_due(old_clock, clock) if old_clock < clock else ()
    return chain(
        ((fact, mover) for fact in recorded for mover in _of_fact(fact, after, until)),
        ((fact, (clock, f"clock {old_clock} {clock}")) for fact in due),
    )


def _of_fact(fact: Fact, after: Instant | None, until: Instant) -> Iterator[Mover]:
    if after is None or fact.recorded_at > after:
        yield fact.recorded_at, str(fact.certificate)
    if fact.superseded is not None and (after is None or after < fact.superseded.at <= until):
        yield fact.superseded.at, str(fact.superseded.certificate)
