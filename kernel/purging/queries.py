"""Registered queries that go with what is purged: those whose text names it, or that are asked of it.

Rules
-----
* A query names a node, an episode or a graph by writing its IRI in full, wherever that stands in its text. (What it
  writes with a prefix has no IRI in it to be erased; it stays, and finds nothing any more.) One that is asked of a
  graph names that as well.
* Of a query that is registered, all goes that is believed of it: what were left would be no query, and would refuse
  every change. Of what it was before, those texts go that name what is purged.
* It is not registered again: tombstones are held against what a query names in full (`kernel.purging.tombstones`).

Example
-------
::

    held = with_queries(view, target, held_of(view, target))
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from certificates.canonical import canonical_json
from kernel.purging.quoting import Quotes
from kernel.purging.targets import TargetKind
from kernel.queries import READS, TEXT
from kernel.terms import Literal
from kernel.vocabulary import QUERIES_GRAPH

if TYPE_CHECKING:
    from kernel.facts import Fact
    from kernel.ports.ledger import LedgerView
    from kernel.purging.targets import Held, Target
    from kernel.terms import Statement

_BY_ID: Final = frozenset({TargetKind.FACT, TargetKind.FAMILY})


class NamingQueries:
    """Knows which statements of registered queries name what is purged."""

    def __init__(self, target: Target) -> None:
        self._iri = None if target.kind in _BY_ID else target.iri
        self._quotes = Quotes([] if self._iri is None else [self._iri.value], frozenset())

    def name(self, statement: Statement) -> bool:
        """Whether a statement is of a query, and names it."""
        if self._iri is None or statement.graph != QUERIES_GRAPH:
            return False
        if statement.predicate == READS:
            return statement.object == self._iri
        value = statement.object
        return (
            statement.predicate == TEXT
            and isinstance(value, Literal)
            and self._quotes.within(canonical_json(value.lexical))
        )

    def in_quad(self, quad: str) -> bool:
        """The same of a statement in the text of a plan."""
        said = quad.endswith(f" {QUERIES_GRAPH.n3} .") and any(f" {each.n3} " in quad for each in (TEXT, READS))
        return said and self._quotes.within(canonical_json(quad))


def with_queries(view: LedgerView, target: Target, held: Held) -> Held:
    """What is held of a target, and of the queries that name it."""
    if target.kind in _BY_ID:
        return held
    naming, facts = NamingQueries(target), {fact.id: fact for fact in held.facts}
    found: dict[object, Fact] = {
        fact.id: fact for fact in view.facts_ever(graph=QUERIES_GRAPH) if naming.name(fact.statement)
    }
    broken = {
        fact.statement.subject
        for fact in (*found.values(), *held.facts)
        if fact.statement.graph == QUERIES_GRAPH and fact.superseded is None
    }
    for node in broken:
        found |= {fact.id: fact for fact in view.believed(subject=node, graph=QUERIES_GRAPH)}
    more = [fact for identifier, fact in found.items() if identifier not in facts]
    if not more:
        return held
    evidence = {item.content.id: (item, graph) for item, graph in held.evidence}
    for items in view.evidence_of([fact.id for fact in more]).values():
        evidence |= {item.content.id: (item, QUERIES_GRAPH) for item in items}
    together = sorted((*held.facts, *more), key=lambda fact: fact.id.bytes)
    return replace(held, facts=tuple(together), evidence=tuple(evidence[each] for each in sorted(evidence)))
