r"""What of a ledger a store holds, and the text that brings it there.

Rules
-----
* The current projection has the statements that hold, but for those of the governance graphs: its native union is what
  a reader of everything sees. The complete one has the statements that hold in every graph, and the history graphs.
* A delta becomes text to take away and text to add, each of `GRAPH` blocks (`encoding`). Added to sets and taken
  from sets, they may be applied again.

Example
-------
>>> from kernel.time.instants import Instant
>>> from kernel.ports.stores import StoreDelta
>>> from kernel.terms import Iri, Statement
>>> gone = Statement(Iri("urn:s"), Iri("urn:p"), Iri("urn:o"), Iri("urn:g"))
>>> removed_text(Projection.CURRENT, StoreDelta(1, Instant(1), Instant(1), vanish=[gone]))
'GRAPH <urn:g> { <urn:s> <urn:p> <urn:o> }\n'
"""

from __future__ import annotations

from enum import StrEnum
from itertools import chain, starmap
from typing import TYPE_CHECKING

from bridge.stores.encoding import evidence_text, fact_text, statement_text, supersession_text
from kernel.vocabulary import GOVERNANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kernel.ports.stores import StoreDelta
    from kernel.terms import Iri, Statement


class Projection(StrEnum):
    """Which of the two."""

    COMPLETE = "complete"
    CURRENT = "current"

    def shows(self, graph: Iri) -> bool:
        """Whether the statements that hold in the graph are in it."""
        return self is Projection.COMPLETE or graph not in GOVERNANCE


def added_text(projection: Projection, delta: StoreDelta) -> str:
    """What a delta adds."""
    current = _statements(projection, delta.appear)
    if projection is Projection.CURRENT:
        return "".join(current)
    history = chain(
        map(fact_text, delta.recorded),
        map(supersession_text, delta.superseded),
        starmap(evidence_text, delta.evidence),
    )
    return "".join(chain(current, history))


def removed_text(projection: Projection, delta: StoreDelta) -> str:
    """What a delta takes away: statements that hold no more, and history that was purged; else that only grows."""
    if not delta.vanish and not delta.erases:  # as with most writes
        return ""
    current = _statements(projection, delta.vanish)
    if projection is Projection.CURRENT or not delta.erases:
        return "".join(current)
    superseded = (fact for fact in delta.erased if fact.superseded is not None)
    history = chain(
        map(fact_text, delta.erased), map(supersession_text, superseded), starmap(evidence_text, delta.faded)
    )
    return "".join(chain(current, history))


def _statements(projection: Projection, statements: Iterable[Statement]) -> Iterator[str]:
    return (statement_text(statement) for statement in statements if projection.shows(statement.graph))
