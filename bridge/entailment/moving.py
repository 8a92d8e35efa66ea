"""What is to be told a closure, so that it stands at another moment: the statements that differ.

Rules
-----
* From an earlier moment to the head, what was recorded, superseded or fell due since is looked up by its indexes.
  Between any other two, the ledger tells what differs in each graph, for which it looks at all facts.
* A statement that holds at both moments has not moved, whichever of its facts says so.

Example
-------
::

    removed, added = moved(view, (as_of, valid_at), (later, valid_at))
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Final, TypeAlias

from kernel.time.instants import FOREVER, Instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.facts import Fact
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Statement

Moment: TypeAlias = "tuple[Instant, Instant]"
"""As-of and valid-at."""

MOST: Final = 20_000
"""Facts that are looked at: beyond, a closure is made anew sooner than moved."""


def moved(view: LedgerView, first: Moment, second: Moment) -> tuple[list[Statement], list[Statement]] | None:
    """The statements that hold at the first moment and not at the second, and the other way round; None: too many.

    Raises:
        LedgerUnavailable: the ledger cannot be read.
    """
    facts = [*islice(_differing(view, first, second), MOST + 1)]
    return None if len(facts) > MOST else _sorted(facts, first, second)


def moved_in(view: LedgerView, first: Moment, clock: Instant) -> tuple[list[Statement], list[Statement]] | None:
    """The same from a moment to all that a view has, what is not committed included, as true at an instant."""
    (as_of, valid_at), ever = first, Instant(FOREVER - 1)
    facts = [*islice(_since(view, as_of, ever, valid_at, clock), MOST + 1)]
    return None if len(facts) > MOST else _sorted(facts, first, (ever, clock))


def _sorted(facts: list[Fact], first: Moment, second: Moment) -> tuple[list[Statement], list[Statement]]:
    before, after = (dict.fromkeys(fact.statement for fact in facts if _held(fact, *at)) for at in (first, second))
    return [each for each in before if each not in after], [each for each in after if each not in before]


def _since(view: LedgerView, as_of: Instant, later: Instant, valid_at: Instant, clock: Instant) -> Iterator[Fact]:
    recorded = view.facts_recorded(as_of, later) if as_of < later else ()
    return chain(recorded, view.facts_due(valid_at, clock) if valid_at < clock else ())


def _differing(view: LedgerView, first: Moment, second: Moment) -> Iterator[Fact]:
    (as_of, valid_at), (later, clock) = first, second
    if later == view.head().instant and as_of <= later and valid_at <= clock:
        return _since(view, as_of, later, valid_at, clock)
    earlier, latter = sorted((first, second))
    return chain.from_iterable(view.facts_differing(earlier, latter, graph=graph) for graph in view.graphs())


def _held(fact: Fact, as_of: Instant, valid_at: Instant) -> bool:
    believed = fact.recorded_at <= as_of and (fact.superseded is None or as_of < fact.superseded.at)
    return believed and fact.interval.contains(valid_at)
