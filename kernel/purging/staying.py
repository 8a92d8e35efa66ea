"""What quotes what is purged, and stays: no purge reaches it, and the receipt of this one says so.

Rules
-----
* The literals of other statements. A statement is purged for its terms: to take one for a part of its text would take
  what somebody else said of something else. The receipt names the graph where that governs, as a policy or a shape
  does; of data it says no more than that there are some.
* Names of callers and of their tokens: signed certificates and decisions have them.
* Lists of graphs, of certificates and of tokens, that have the IRI of a node or a source: those are other things of
  that name, as the graph itself is (`graph_stays`). Of a graph that is purged it is struck out.
* Owners of contradictions: whoever gave one gives another.
* Of data it is the IRI alone that is searched for; in all else, whatever is searched for in findings and comments.

Example
-------
::

    staying(view, target, held, quotes)      # ("literals in the policy graph",)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from certificates.canonical import canonical_json
from kernel.purging.targets import TargetKind
from kernel.terms import Literal
from kernel.vocabulary import GOVERNANCE, M

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.facts import Fact
    from kernel.ports.ledger import LedgerView
    from kernel.purging.quoting import Quotes
    from kernel.purging.targets import Held, Target
    from kernel.terms import Iri

LITERALS: Final = "literals of other statements"


def staying(view: LedgerView, target: Target, held: Held, quotes: Quotes) -> tuple[str, ...]:
    """The places in which something that stays quotes what is purged, in words."""
    gone = {fact.id for fact in held.facts}
    found = {
        _place(fact.statement.graph)
        for fact in _literals(view, target)
        if fact.id not in gone and _quotes(fact, quotes)
    }
    found |= {
        place
        for place, text in view.names_kept(graphs=target.kind is not TargetKind.GRAPH)
        if quotes.within(canonical_json(text))
    }
    return tuple(sorted(found))


def _literals(view: LedgerView, target: Target) -> Iterator[Fact]:
    """Facts that may quote it."""
    for graph in sorted(GOVERNANCE, key=lambda graph: graph.value):
        yield from view.facts_ever(graph=graph)
    if target.iri is not None:
        yield from view.facts_saying(target.iri.value)


def _quotes(fact: Fact, quotes: Quotes) -> bool:
    value = fact.statement.object
    return isinstance(value, Literal) and quotes.within(canonical_json(value.lexical))


def _place(graph: Iri) -> str:
    return f"literals in the {graph.value.removeprefix(M)} graph" if graph in GOVERNANCE else LITERALS
