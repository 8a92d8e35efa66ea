"""What was answered aside of a turn, and whether it still is the answer in it.

Rules (BoundToState)
-----
* An answer to a query was found for a plan upon a state. It is the answer for another plan upon another state, if both
  change the same of what the query minds; if nothing that it minds has moved in between, by a certificate or the clock;
  if it is asked of the same graphs; and if nothing was purged since. This is proved by the query's patterns
  (`bridge.impact.compiled`), as that a plan cannot touch it is.
* So it is for one that could not be answered. Whatever does not fit is asked again.
* Kept is what was foreseen last: one job at a time is prepared (`kernel.writing.stepping_back`).

Example
-------
::

    foreseen = Foreseen(queries, planned, staging.compare(queries, planned, patience, index), name)
    foreseen.of(query, planned_now, staging.purged_at)      # an answer, or None
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.impact.moving import TooMuchMovedError, moved_between
from kernel.time.instants import FOREVER, Instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.impact.asked import Answered, Basis, Planned, Told
    from bridge.impact.compiled import Compiled
    from kernel.impact import Changes
    from kernel.terms import Statement

_EVER = Instant(FOREVER - 1)


class Foreseen:
    """Answers to queries about one plan, all for one moment.

    Args:
        queries: that were asked.
        planned: what they were asked about.
        answers: what each of them was answered, and upon what.
        name: under which the answers with the plan are remembered.
    """

    def __init__(self, queries: Sequence[Compiled], planned: Planned, answers: Sequence[Answered], name: str) -> None:
        self.name = name
        self._planned = planned
        self._answers = {query.query: answer for query, answer in zip(queries, answers, strict=True)}
        self._moved: tuple[Planned, Basis, frozenset[Statement] | None] | None = None

    def of(self, query: Compiled, planned: Planned, purged_at: int | None) -> Told | None:
        """The answer to a query about a plan in its turn; None where it is not known.

        Args:
            query: that is asked.
            planned: what it is asked about.
            purged_at: the head of the last purge.
        """
        told, basis = self._answers.get(query.query, (None, None))
        if told is None or basis is None or planned.moment != self._planned.moment:
            return None
        if basis.purged_at != purged_at or _minded(query, planned.changes) != _minded(query, self._planned.changes):
            return None
        if query.dataset(basis.before) != query.dataset(planned.before):
            return None
        if query.dataset(basis.after) != query.dataset(planned.after):
            return None
        moved = self._moved_since(planned, basis)
        return None if moved is None or any(map(query.minds, moved)) else told

    def _moved_since(self, planned: Planned, basis: Basis) -> frozenset[Statement] | None:
        """The statements that moved since, looked up once for each plan; None where there are too many."""
        known = self._moved
        if known is None or known[0] is not planned or known[1] != basis:
            known = self._moved = planned, basis, _moved_between(planned, basis)
        return known[2]


def _minded(query: Compiled, changes: Changes) -> tuple[frozenset[Statement], frozenset[Statement]]:
    """What a query minds of what comes and goes."""
    return frozenset(filter(query.minds, changes.added)), frozenset(filter(query.minds, changes.removed))


def _moved_between(planned: Planned, basis: Basis) -> frozenset[Statement] | None:
    now = basis.at if planned.moment is not None else planned.at
    if planned.view is None or now < basis.at:
        return None
    try:
        return frozenset(moved_between(planned.view, basis.instant, _EVER, basis.at, now).movers)
    except TooMuchMovedError:
        return None
