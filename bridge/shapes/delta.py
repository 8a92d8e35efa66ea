"""What a plan changes in the data graph, as far as a shape may notice.

Rules
-----
* A change is a statement and the time in which it comes or goes. What a plan supersedes and records again is no
  change for the time that both cover, unless its literal is spelled anew.
* A new spelling of a literal that is held is a change too, for as long as the fact holds. Where a shape looks at
  evidence for what a predicate says, so is any evidence for it, and what is superseded and recorded again.
* In a load session every fact recorded comes, and so does the evidence for facts held before; what evidence came is not
  looked up.
* A property shape need not be judged by itself where the one shape that hands its results on has to be judged anyway.

Example
-------
::

    for change in changes_of_plan(plan, model, view, scope):
        change.triple, change.parts
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bridge.shapes.overlay import EVERYTHING, triple_of
from kernel.terms import Literal
from kernel.time.instants import Instant
from kernel.time.intervals import Interval, elementary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from bridge.shapes.document import Triple
    from bridge.shapes.model import ShapesModel
    from bridge.shapes.neighbourhood import Pair
    from bridge.shapes.overlay import Scope
    from kernel.facts import FactContent
    from kernel.ports.checks import Loaded
    from kernel.ports.facts import FactsView
    from kernel.terms import Iri
    from kernel.writing.plan import Plan


@dataclass(frozen=True, slots=True)
class Change:
    """A statement that comes or goes.

    Args:
        parts: when, in order and disjoint.
        graphs: where.
        plain: whether it is known to be spelled as it is stored, before and after, and nothing else is new about it.
        comes: whether it goes at no time.
    """

    triple: Triple
    parts: tuple[Interval, ...]
    graphs: frozenset[Iri]
    plain: bool
    comes: bool


@dataclass(slots=True)
class _Sides:
    """When a statement comes, when it goes, when what is known beside it changes, and where."""

    coming: list[Interval] = field(default_factory=list)
    going: list[Interval] = field(default_factory=list)
    anew: list[Interval] = field(default_factory=list)
    graphs: set[Iri] = field(default_factory=set)

    def parts(self) -> list[Interval]:
        """The time in which something changes, in order."""
        every = [*self.coming, *self.going, *self.anew]
        return every if len(every) == 1 else fused([*self._differing(every)])

    def _differing(self, every: Sequence[Interval]) -> Iterator[Interval]:
        for part in elementary(every):
            comes, goes, anew = (
                any(interval.contains(Instant(part.start)) for interval in intervals)
                for intervals in (self.coming, self.going, self.anew)
            )
            if anew or comes != goes:
                yield part


def changes_of_plan(plan: Plan, model: ShapesModel, view: FactsView, scope: Scope = EVERYTHING) -> list[Change]:
    """The changes of a plan that is not yet in the view."""
    spelled = {item.fact for item in plan.evidence if item.spelling.object is not None} if plan.evidence else ()
    found: dict[Triple, _Sides] = {}

    def is_anew(content: FactContent) -> bool:
        return content.id in spelled or content.statement.predicate in model.reified

    for content in plan.record:
        sides = _noticed(content, model, found, scope)
        if sides is not None:
            (sides.anew if is_anew(content) else sides.coming).append(content.interval)
    for fact in plan.supersede:
        sides = _noticed(fact.content, model, found, scope)
        if sides is not None:
            (sides.anew if is_anew(fact.content) else sides.going).append(fact.interval)
    for content in supported_anew(plan, model, view) if plan.evidence else ():
        sides = _noticed(content, model, found, scope)
        if sides is not None:
            sides.anew.append(content.interval)
    changes = [_change(triple, sides) for triple, sides in found.items()]
    return [change for change in changes if change.parts]


def _change(triple: Triple, sides: _Sides) -> Change:
    # What goes may have been spelled in several ways.
    plain = not isinstance(triple[2], Literal) or not (sides.anew or sides.going)
    comes = not (sides.anew or sides.going)
    return Change(triple, tuple(sides.parts()), frozenset(sides.graphs), plain, comes)


def supported_anew(plan: Plan, model: ShapesModel, view: FactsView) -> Iterator[FactContent]:
    """The facts held that a plan brings evidence for which shapes may notice: a spelling, or any that they look at."""
    spelled = {item.fact for item in plan.evidence if item.spelling.object is not None}
    supported = {item.fact for item in plan.evidence} if model.reified else spelled
    for identifier in supported.difference(content.id for content in plan.record):
        held = view.fact(identifier)
        if held is not None and (identifier in spelled or held.statement.predicate in model.reified):
            yield held.content


def changes_of_load(load: Loaded, model: ShapesModel, scope: Scope = EVERYTHING) -> Iterable[Change]:
    """The changes of a load session whose facts are in the view."""
    if not load.gone:
        return _brought(load.noticed, model, scope)
    found: dict[Triple, _Sides] = {}
    for content in load.noticed:
        sides = _noticed(content, model, found, scope)
        if sides is not None:
            (sides.anew if _may_be_anew(content, model) else sides.coming).append(content.interval)
    for fact in load.gone:
        sides = _noticed(fact.content, model, found, scope)
        if sides is not None:
            (sides.anew if _may_be_anew(fact.content, model) else sides.going).append(fact.interval)
    changes = [_change(triple, sides) for triple, sides in found.items()]
    return [change for change in changes if change.parts]


def _brought(contents: Iterable[FactContent], model: ShapesModel, scope: Scope) -> Iterator[Change]:
    """The changes where nothing goes: not all of them are held at a time."""
    for content in contents:
        if content.statement.graph in scope and model.notices(triple_of(content)):
            triple = triple_of(content)
            plain = not isinstance(triple[2], Literal)  # of a literal, spellings may have come with it
            yield Change(triple, (content.interval,), frozenset([content.statement.graph]), plain, comes=True)


def _may_be_anew(content: FactContent, model: ShapesModel) -> bool:
    """Whether evidence may have come with a fact that shapes look at."""
    return isinstance(content.statement.object, Literal) or content.statement.predicate in model.reified


def together(changes: Iterable[Change]) -> Iterable[list[Change]]:
    """The changes that are of one time and of the same graphs: what they concern is sought together."""
    found: dict[tuple[tuple[Interval, ...], frozenset[Iri]], list[Change]] = {}
    for change in changes:
        found.setdefault((change.parts, change.graphs), []).append(change)
    return found.values()


class Concerned:
    """The pairs that changes concern, when, and through which graphs."""

    def __init__(self, model: ShapesModel) -> None:
        self._model = model
        self._found: dict[Pair, tuple[list[Interval], set[Iri]]] = {}

    def add(self, pairs: Iterable[Pair], parts: Iterable[Interval], graphs: Iterable[Iri]) -> None:
        """Notes what changes concern that are of one time and of the same graphs."""
        for pair in pairs:
            known, through = self._found.setdefault(pair, ([], set()))
            known.extend(parts)
            through.update(graphs)

    def pairs(self) -> Iterator[tuple[Pair, list[Interval], frozenset[Iri]]]:
        """Each pair that has to be judged, with its time and its graphs."""
        if len(self._found) < 2:
            for pair, (parts, graphs) in self._found.items():
                yield pair, fused(parts), frozenset(graphs)
            return
        fused_parts = {pair: fused(parts) for pair, (parts, _) in self._found.items()}
        covering = {pair: self._covering(pair, fused_parts) for pair in fused_parts}
        for pair, wider in covering.items():
            if wider is not None:
                self._found[wider][1].update(self._found[pair][1])
        for pair, parts in fused_parts.items():
            if covering[pair] is None:
                yield pair, parts, frozenset(self._found[pair][1])

    def _covering(self, pair: Pair, parts: Mapping[Pair, list[Interval]]) -> Pair | None:
        """A pair whose results include those of this one, if it has to be judged in the same time anyway."""
        shape, focus = pair
        for outer in self._model.outer.get(shape, ()):
            wider = (outer.node, focus)
            same_targets = self._model.since[outer.node] == self._model.since[shape]
            if shape in outer.handed_on and same_targets and parts.get(wider) == parts[pair]:
                return wider
        return None


def fused(intervals: Collection[Interval]) -> list[Interval]:
    """The same time in as few intervals as can be, in order."""
    if len(intervals) == 1:
        return [*intervals]
    found: list[Interval] = []
    for interval in sorted(intervals):
        if found and interval.start <= found[-1].end:
            found[-1] = Interval(found[-1].start, max(found[-1].end, interval.end))
        else:
            found.append(interval)
    return found


def _noticed(content: FactContent, model: ShapesModel, found: dict[Triple, _Sides], scope: Scope) -> _Sides | None:
    """Where to note a fact; None when no shape can notice it."""
    statement = content.statement
    triple = triple_of(content)
    if not model.notices(triple) or statement.graph not in scope:
        return None
    sides = found.setdefault(triple, _Sides())
    sides.graphs.add(statement.graph)
    return sides
