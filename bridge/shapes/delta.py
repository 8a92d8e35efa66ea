"""What a plan changes in the data graph, as far as a shape may notice.

Rules
-----
* A change is a statement and the time in which it comes or goes. What a plan supersedes and records again is no
  change for the time that both cover, unless its literal is spelled anew.
* A new spelling of a literal that is held is a change too, for as long as the fact holds.
* In a load session every fact recorded comes.

Example
-------
::

    for change in changes_of_plan(plan, model, view):
        change.triple, change.parts
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bridge.shapes.overlay import is_data, triple_of
from kernel.instants import Instant
from kernel.intervals import Interval, elementary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.shapes.document import Triple
    from bridge.shapes.model import ShapesModel
    from kernel.facts import FactContent
    from kernel.plan import Plan
    from kernel.ports import FactsView
    from kernel.terms import Iri


@dataclass(frozen=True, slots=True)
class Change:
    """A statement that comes or goes.

    Args:
        parts: when, in order and disjoint.
        graphs: where.
    """

    triple: Triple
    parts: tuple[Interval, ...]
    graphs: frozenset[Iri]


@dataclass(slots=True)
class _Sides:
    """When a statement comes, when it goes, and where."""

    coming: list[Interval] = field(default_factory=list)
    going: list[Interval] = field(default_factory=list)
    respelled: list[Interval] = field(default_factory=list)
    graphs: set[Iri] = field(default_factory=set)

    def parts(self) -> Iterator[Interval]:
        """The time in which something changes."""
        for part in elementary([*self.coming, *self.going, *self.respelled]):
            comes, goes, respelled = (
                any(interval.contains(Instant(part.start)) for interval in intervals)
                for intervals in (self.coming, self.going, self.respelled)
            )
            if respelled or comes != goes:
                yield part


def changes_of_plan(plan: Plan, model: ShapesModel, view: FactsView) -> list[Change]:
    """The changes of a plan that is not yet in the view."""
    spelled = {item.fact for item in plan.evidence if item.spelling.object is not None}
    found: dict[Triple, _Sides] = {}
    for content in plan.record:
        sides = _noticed(content, model, found)
        if sides is not None:
            (sides.respelled if content.id in spelled else sides.coming).append(content.interval)
    for fact in plan.supersede:
        sides = _noticed(fact.content, model, found)
        if sides is not None:
            sides.going.append(fact.interval)
    for identifier in spelled.difference(content.id for content in plan.record):
        held = view.fact(identifier)
        sides = _noticed(held.content, model, found) if held is not None else None
        if held is not None and sides is not None:
            sides.respelled.append(held.interval)
    changes = (Change(each, tuple(fused(sides.parts())), frozenset(sides.graphs)) for each, sides in found.items())
    return [change for change in changes if change.parts]


def changes_of_load(recorded: Iterable[FactContent], model: ShapesModel) -> Iterator[Change]:
    """The changes of a load session that recorded these facts."""
    for content in recorded:
        if is_data(content.statement.graph) and model.notices(triple_of(content)):
            yield Change(triple_of(content), (content.interval,), frozenset([content.statement.graph]))


def fused(intervals: Iterable[Interval]) -> list[Interval]:
    """The same time in as few intervals as can be, in order."""
    found: list[Interval] = []
    for interval in sorted(intervals):
        if found and interval.start <= found[-1].end:
            found[-1] = Interval(found[-1].start, max(found[-1].end, interval.end))
        else:
            found.append(interval)
    return found


def _noticed(content: FactContent, model: ShapesModel, found: dict[Triple, _Sides]) -> _Sides | None:
    """Where to note a fact; None when no shape can notice it."""
    statement = content.statement
    triple = triple_of(content)
    if not model.notices(triple) or not is_data(statement.graph):
        return None
    sides = found.setdefault(triple, _Sides())
    sides.graphs.add(statement.graph)
    return sides
