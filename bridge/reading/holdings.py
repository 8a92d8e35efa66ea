"""Everything that is held of a node: what it is told who asks for what is kept about them, or before a purge.

Rules
-----
* All facts whose statements name the node, believed or superseded, of every valid time and graph, each with all of its
  evidence; and facts for which a piece of evidence cites the node. It is what a purge of the node would look at.
* How many certificates a purge would take something from is told with it, for there may be such where no fact is held:
  refused, in review, or rejected.
* The whole ledger is read. Only administrators of the whole base ask.

Example
-------
::

    page = holdings(base.ledger, administrator, Iri("https://example.org/ann"), limit=100)
    page.facts.found[0].evidence, page.facts.more, page.quoted_by
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.reading.facts import FactPage, FoundFact
from kernel.purging.purger import require_purger
from kernel.purging.quoting import quotes_of
from kernel.purging.search import Search
from kernel.purging.targets import Target, TargetKind, held_of

if TYPE_CHECKING:
    from uuid import UUID

    from kernel.access import Principal
    from kernel.ports.ledger import Ledger
    from kernel.terms import Iri


@dataclass(frozen=True, slots=True)
class Holdings:
    """A page of facts; and how many certificates, applied or not, write or quote the node."""

    facts: FactPage
    quoted_by: int


def holdings(ledger: Ledger, principal: Principal, node: Iri, *, limit: int, after: UUID | None = None) -> Holdings:
    """Up to `limit` of the facts, in the order of their ids, from beyond a fact on.

    Raises:
        Forbidden: whoever asks is no administrator of the whole base.
        TooManyChanges: there are more than one purge would take.
    """
    require_purger(principal)
    with ledger.reading() as view:
        target = Target(TargetKind.NODE, node)
        held = held_of(view, target)
        search = Search(view, target, held, quotes_of(view, target, held)[0])
        quoted = {certificate for certificate, _, _ in search.items()} | {*search.waiting()}
        cited = {item.content.fact for item, _ in held.evidence} - {fact.id for fact in held.facts}
        told = [fact for fact in map(view.fact, cited) if fact is not None]
        facts = sorted([*held.facts, *told], key=lambda fact: fact.id.bytes)
        wanted = [fact for fact in facts if after is None or fact.id.bytes > after.bytes]
        evidence = view.evidence_of([fact.id for fact in wanted[:limit]])
    found = tuple(FoundFact(fact, tuple(evidence.get(fact.id, ()))) for fact in wanted[:limit])
    return Holdings(FactPage(found, more=len(wanted) > limit), len(quoted))
