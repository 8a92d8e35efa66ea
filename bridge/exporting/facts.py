"""The facts of one graph that an export tells, read as a stream from one state of the ledger.

Rules
-----
* Told is what is believed, or was at the `as-of` instant. Whatever its valid time, or only what is true at `valid-at`.
* Evidence is read where there is something to read: always for records, else for literals that a store may rewrite. A
  moment in the past knows only the evidence of that time.
* Nothing is kept but the fact that is told: memory does not grow with the graph.

Example
-------
::

    with ledger.reading() as view:
        for told in told_facts(view, Telling(graph, None, view.head().clock)):
            told.object, told.holds
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.exporting.submitted import submitted_object
from kernel.terms import XSD_STRING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.facts import Evidence, Fact
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Iri, Term
    from kernel.time.instants import Instant


@dataclass(frozen=True, slots=True)
class Telling:
    """What is told.

    Args:
        graph: of which graph.
        as_of: as known when; None for the head.
        valid_at: what is claimed: what is true then.
        records: whether each fact comes with its record.
        every_time: whether the records of facts that are not true then are told too.
    """

    graph: Iri
    as_of: Instant | None
    valid_at: Instant
    records: bool = False
    every_time: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """A fact that is told.

    Args:
        fact: as it is held.
        object: of its statement, as it was submitted.
        evidence: known for it by then, oldest first; only where records are told.
        holds: whether it is true at the moment told of, and so claimed; else it is quoted alone.
    """

    fact: Fact
    object: Term
    evidence: tuple[Evidence, ...]
    holds: bool


def told_facts(view: LedgerView, telling: Telling) -> Iterator[Told]:
    """The facts to tell, in the order in which they were recorded; read them within the view's context."""
    for fact in _believed(view, telling):
        evidence: tuple[Evidence, ...] = ()
        if telling.records or _may_be_rewritten(fact):
            found = view.evidence_of([fact.id]).get(fact.id, ())
            evidence = tuple(item for item in found if _known(item, telling.as_of))
        holds = not telling.every_time or fact.interval.contains(telling.valid_at)
        yield Told(fact, submitted_object(fact, evidence), evidence if telling.records else (), holds)


def _believed(view: LedgerView, telling: Telling) -> Iterator[Fact]:
    graph, as_of, valid_at = telling.graph, telling.as_of, telling.valid_at
    if as_of is None:
        believed = view.believed(graph=graph)
        return believed if telling.every_time else (fact for fact in believed if fact.interval.contains(valid_at))
    if not telling.every_time:
        return (fact for fact in view.facts_at(as_of, valid_at) if fact.statement.graph == graph)
    recorded = view.facts_recorded(None, as_of)
    return (fact for fact in recorded if fact.statement.graph == graph and _believed_at(fact, as_of))


def _believed_at(fact: Fact, as_of: Instant) -> bool:
    return fact.superseded is None or as_of < fact.superseded.at


def _may_be_rewritten(fact: Fact) -> bool:
    value = fact.statement.object
    return isinstance(value, Literal) and value.datatype != XSD_STRING


def _known(item: Evidence, as_of: Instant | None) -> bool:
    return as_of is None or item.recorded_at <= as_of
