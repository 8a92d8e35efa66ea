"""What a load session will change of what registered queries mind, told before its turn from what is staged.

Rules
-----
* A load asserts; at a moment come the statements that hold then by one of its assertions, and do not hold without. That
  is all that `kernel.impact` finds of its facts once they are planned. What else is staged is not foreseen.
* Whether it is so is found out in its turn: an answer counts only if the plan changes the same of what its query minds
  (`bridge.impact.foreseeing`).

Example
-------
::

    expected = expecting(chunks, index, view, clock)     # None: more than is kept, or not assertions alone
    expected.changes[None].added
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.changes import Assert
from kernel.impact import Changes
from kernel.vocabulary import is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bridge.impact.touch import QueryIndex
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Iri, Statement
    from kernel.time.instants import Instant


@dataclass(frozen=True, slots=True)
class Expected:
    """What a load will change at each moment that queries are asked for, None being now, and the graphs it writes."""

    changes: dict[Instant | None, Changes]
    graphs: frozenset[Iri]


def expecting(
    chunks: Iterable[Sequence[object]], index: QueryIndex, view: LedgerView, clock: Instant, most: int
) -> Expected | None:
    """What is staged, held against what is committed.

    Args:
        chunks: of the load.
        index: the queries in force.
        view: what is committed.
        clock: the instant that is now.
        most: how many statements are kept.

    Returns:
        None where more are minded, or other things are staged than assertions.
    """
    added: dict[Instant | None, set[Statement]] = {each.query.moment: set() for each in index}
    graphs: set[Iri] = set()
    kept = 0
    for chunk in chunks:
        for change in chunk:
            if not isinstance(change, Assert) or kept > most:
                return None
            said = change.statement
            if not is_data(said.graph):
                continue
            graphs.add(said.graph)
            if not index.minding((said,)):
                continue
            kept += 1
            held = [fact.interval for fact in view.believed_of(said)]
            for moment, statements in added.items():
                at = clock if moment is None else moment
                if change.validity.interval.contains(at) and not any(each.contains(at) for each in held):
                    statements.add(said)
    return Expected({at: Changes(frozenset(each), frozenset()) for at, each in added.items()}, frozenset(graphs))
