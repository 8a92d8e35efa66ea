"""What a graph has to be for a write of it as a whole: as it was at a state that its sender read, or not there yet.

Rules
-----
* It is as it was if no certificate since then touched it, and nothing at all has begun or ended since: which graph
  something of that belongs to is not looked up.

Example
-------
::

    Required(states=((41, clock),)).check(view, view.head(), at, graph, there=True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from certificates.events import Applied, decode_event
from kernel.errors import PreconditionFailed
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from kernel.ports.heads import Head
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Iri

FOLLOWED: Final = 1_000
"""Events that are looked at for whether one of them changed a graph; where there are more, it is as if one had."""


@dataclass(frozen=True, slots=True)
class Required:
    """What a graph has to be for a write of it as a whole (RFC 9110, sections 13.1.1 and 13.1.2).

    Args:
        states: as it was at one of these heads and clocks; None for any.
        there: whether it is there; None for either.
    """

    states: tuple[tuple[int, int], ...] | None = None
    there: bool | None = None

    def check(self, view: LedgerView, head: Head, at: Instant, graph: Iri, *, there: bool) -> None:
        """Raises `PreconditionFailed` where it is not so."""
        if self.there is not None and there is not self.there:
            raise PreconditionFailed(
                "the graph is there" if there else "there is no such graph",
                remedy="read the graph, and decide anew",
                where=graph.value,
            )
        if self.states is not None and not any(_is_as_at(state, view, head, at, graph) for state in self.states):
            raise PreconditionFailed(
                "the graph has changed since it was read", remedy="read it again, and decide anew", where=graph.value
            )


NOTHING_REQUIRED: Final = Required()


def _is_as_at(state: tuple[int, int], view: LedgerView, head: Head, at: Instant, graph: Iri) -> bool:
    """Whether nothing in a graph was written since a head, and nothing at all began or ended since a clock."""
    position, clock = state
    if head.position is None or position > head.position or is_due(view, Instant(clock), at):
        return False
    length = head.position - position
    if length > FOLLOWED:
        return False
    applied = [event for event in map(decode_event, view.events(position + 1, length)) if isinstance(event, Applied)]
    records = [view.certificate(event.certificate) for event in applied]
    return not any(record is None or graph in record.graphs for record in records)


def is_due(view: LedgerView, clock: Instant, at: Instant) -> bool:
    """Whether something begins or ends after the clock, up to an instant."""
    due = view.next_due(clock)
    return due is not None and due <= at
