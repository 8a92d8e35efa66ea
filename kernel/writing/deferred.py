"""Changes that are said before the state is known at which they are planned: what a load session is staged as.

Rules
-----
* An assertion says the same at any state. What is to be deleted is looked up where it is planned: only what is current
  then ends, and what is not there is passed over.
* A deletion ends the fact from an instant on. What would be left no time at all is retracted; so is what lies in a
  reserved graph, which has no valid time.
* One that names no graph deletes wherever the statement is current among the data graphs that its principal may write.
* An insertion is believed from an instant on, in a reserved graph as such.

Example
-------
::

    staged = [Deletion(old, exact(now)), insertion(new, NO_SPELLING, exact(now), given=False)]
    Request(resolved(staged, group.tx, at, principal), None, None, principal.id)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from kernel.changes import Assert, End, Retract
from kernel.facts import Spelling, Validity
from kernel.time.instants import FOREVER
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.vocabulary import GOVERNANCE
from kernel.writing.bitemporal import containing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kernel.access import Principal
    from kernel.changes import Change
    from kernel.ports.facts import FactsView
    from kernel.terms import Iri, Statement, Term
    from kernel.time.instants import Instant
    from kernel.time.timevalues import Bound


@dataclass(frozen=True, slots=True)
class Deletion:
    """What is current of a statement is true no longer.

    Args:
        statement: which.
        end: from when on.
        anywhere: whether its graph says nothing, and it goes from every data graph that the principal may write.
    """

    statement: Statement
    end: Bound
    anywhere: bool = False


Deferred: TypeAlias = Assert | Deletion


def resolved(staged: Iterable[Deferred], view: FactsView, at: Instant, principal: Principal) -> tuple[Change, ...]:
    """The changes that they amount to at a state.

    Args:
        staged: in their order; no statement is both asserted and deleted.
        view: the facts believed there.
        at: the issue instant.
        principal: who asks.
    """
    seen: set[Statement] = set()
    changes: list[Change] = []
    for each in staged:
        if isinstance(each, Assert):
            changes.append(each)
            continue
        for statement in _meant(each, view, at, principal):
            if statement not in seen:
                seen.add(statement)
                if (change := deletion(statement, view, at, each.end)) is not None:
                    changes.append(change)
    return tuple(changes)


def current_in(view: FactsView, at: Instant, subject: Iri, predicate: Iri, value: Term) -> Iterator[Iri]:
    """The graphs in which a triple is current; one may come twice."""
    found = view.believed(subject=subject, predicate=predicate, object=value)
    return (fact.statement.graph for fact in found if fact.interval.contains(at))


def may_delete_from(graph: Iri, principal: Principal) -> bool:
    """Whether what names no graph is deleted there: from a data graph that the principal may write."""
    return graph not in GOVERNANCE and principal.may_write(graph)


def deletion(statement: Statement, view: FactsView, at: Instant, end: Bound) -> End | Retract | None:
    """What lets a statement be true no longer from a time on; None where nothing of it is current."""
    found = containing([fact.interval for fact in view.believed_of(statement)], at)
    if found is None or end.instant >= found.end:
        return None
    if statement.graph in GOVERNANCE:
        return Retract(statement)
    if found.start < end.instant:
        return End(statement, end)
    return Retract(statement, Interval(end.instant, found.end))


def insertion(statement: Statement, spelling: Spelling, start: Bound, *, given: bool) -> Assert:
    """What has a statement be true from a time on.

    Args:
        statement: which.
        spelling: how its object was submitted.
        start: from when on.
        given: whether the request says so; else a reserved graph, which has no valid time, is left without.

    Raises:
        ReservedGraph: a time was given for what has transaction time only.
    """
    if statement.graph in GOVERNANCE and not given:
        return Assert(statement, spelling=spelling)
    validity = Validity(Interval(start.instant, FOREVER), start.precision, Precision.UNBOUNDED)
    spelled = spelling if start.spelling is None else Spelling(spelling.object, start.spelling, None)
    return Assert(statement, validity, spelled)


def _meant(said: Deletion, view: FactsView, at: Instant, principal: Principal) -> Iterable[Statement]:
    if not said.anywhere:
        return (said.statement,)
    triple = said.statement
    graphs = current_in(view, at, triple.subject, triple.predicate, triple.object)
    return [replace(triple, graph=graph) for graph in graphs if may_delete_from(graph, principal)]
