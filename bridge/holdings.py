"""Everything that is held of a node: what it is told who asks for what is kept about them, or before a purge.

Rules
-----
* All facts whose statements name the node, believed or superseded, of every valid time and graph, each with all of its
  evidence; and facts for which a piece of evidence cites the node. It is what a purge of the node would look at.
* The whole ledger is read. Only administrators of the whole base ask.

Example
-------
::

    page = holdings(base.ledger, administrator, Iri("https://example.org/ann"), limit=100)
    page.found[0].evidence, page.more
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.fact_reading import FactPage, FoundFact
from kernel.purge_targets import Target, TargetKind, held_of
from kernel.purging import require_purger

if TYPE_CHECKING:
    from uuid import UUID

    from kernel.access import Principal
    from kernel.ports import Ledger
    from kernel.terms import Iri


def holdings(ledger: Ledger, principal: Principal, node: Iri, *, limit: int, after: UUID | None = None) -> FactPage:
    """Up to `limit` of the facts, in the order of their ids, from beyond a fact on.

    Raises:
        Forbidden: whoever asks is no administrator of the whole base.
        TooManyChanges: there are more than one purge would take.
    """
    require_purger(principal)
    with ledger.reading() as view:
        held = held_of(view, Target(TargetKind.NODE, node))
        cited = {item.content.fact for item, _ in held.evidence} - {fact.id for fact in held.facts}
        told = [fact for fact in map(view.fact, cited) if fact is not None]
        facts = sorted([*held.facts, *told], key=lambda fact: fact.id.bytes)
        wanted = [fact for fact in facts if after is None or fact.id.bytes > after.bytes]
        evidence = view.evidence_of([fact.id for fact in wanted[:limit]])
    found = tuple(FoundFact(fact, tuple(evidence.get(fact.id, ()))) for fact in wanted[:limit])
    return FactPage(found, more=len(wanted) > limit)
