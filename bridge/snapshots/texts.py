"""What a moment holds, and what tells it from the stores of today, as text for a store.

Rules
-----
* Statements go from the ledger into the text as they are: the columns have the canonical form of each term, and what
  is no term any more a store refuses.
* History is what was recorded by as-of, without supersessions that came later.
* Pieces are of a bounded size.

Example
-------
>>> [*pieces(["a", "b", "c"], 2)]
['ab', 'c']
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from bridge.stores.encoding import evidence_text, quad_text, stored_fact_text, stored_supersession_text
from bridge.stores.projections import Projection
from kernel.vocabulary import GOVERNANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.snapshots.wanted import Wanted
    from kernel.ports.ledger import LedgerView
    from kernel.time.instants import Instant

_GOVERNANCE: Final = frozenset(graph.n3 for graph in GOVERNANCE)


def moment_texts(view: LedgerView, wanted: Wanted, as_of: Instant) -> Iterator[str]:
    """All that a snapshot holds, as TriG, block by block; read it within the view's context."""
    hidden = _hidden(wanted.projection)
    for subject, predicate, value, graph in view.statements_at(as_of, wanted.valid_at):
        if graph not in hidden:
            yield quad_text(subject, predicate, value, graph)
    if wanted.history:
        yield from _history(view, as_of)


def differences(
    view: LedgerView, wanted: Wanted, as_of: Instant, clock: Instant
) -> tuple[Iterator[str], Iterator[str]]:
    """What to add to a store of today, and what to take from it, block by block.

    Args:
        view: the ledger, which knows all that is in the store.
        wanted: the moment that it is to be brought to.
        as_of: of the moment.
        clock: that the store has reached, at least.
    """
    hidden = _hidden(wanted.projection)
    held: dict[str, None] = {}
    others: dict[str, None] = {}
    for (subject, predicate, value, graph), then in view.statements_since(as_of, wanted.valid_at, clock):
        if graph not in hidden:
            (held if then else others)[quad_text(subject, predicate, value, graph)] = None
    gone = (text for text in others if text not in held)
    return iter(held), chain(gone, _later(view, as_of)) if wanted.history else gone


def pieces(texts: Iterable[str], size: int) -> Iterator[str]:
    """So many blocks at a time, joined."""
    series = iter(texts)
    while text := "".join(islice(series, size)):
        yield text


def _hidden(projection: Projection) -> frozenset[str]:
    """The graphs whose statements it does not show."""
    return frozenset() if projection is Projection.COMPLETE else _GOVERNANCE


def _history(view: LedgerView, as_of: Instant) -> Iterator[str]:
    """What history had."""
    for fact in view.texts_recorded(None, as_of):
        yield stored_fact_text(fact)
        if fact.superseded <= as_of:
            yield stored_supersession_text(fact)
    for evidence, graph in view.evidence_recorded(None, as_of):
        yield evidence_text(evidence, graph)


def _later(view: LedgerView, as_of: Instant) -> Iterator[str]:
    """What history has come by since."""
    until = view.head().instant
    if until is None:
        return
    for fact in view.texts_recorded(as_of, until):
        if fact.superseded_by is not None:
            yield stored_supersession_text(fact)
        if fact.recorded > as_of:
            yield stored_fact_text(fact)
    for evidence, graph in view.evidence_recorded(as_of, until):
        yield evidence_text(evidence, graph)
