"""Judging one shape at one focus over valid time, before and after a change.

Rules (SequencedValidity, IncrementalEqualsFull)
-----
* The time in which the change may matter is cut wherever a fact of the surroundings begins or ends, and where a shape
  begins to apply: throughout a slice the same statements hold and the same shapes judge. A slice in which the change
  makes no difference is not judged.
* New are the results after the change without those before it, by key. A slice that is clear after it is not judged
  before; and what made a node a focus before is read only if something is found after it, so that of very many pointers
  at one node, or types of it, the new one is enough.
* What a shape says of a node within others is judged by itself first: where it says the same before and after, those
  who refer to the node are not read, however many they are.
* A result inside a shape (of a property shape within a property shape) may have been there already through another
  focus: before it counts as new, every other pair that can give it is judged as it was.

Example
-------
::

    for violation in Slices(model, engine, reader, budget).violations(pair, parts, graphs):
        violation.part, violation.result
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.shapes.data import Data
from bridge.shapes.neighbourhood import Told, Walk
from bridge.shapes.reader import NeighbourhoodExceeded
from kernel.terms import Iri, Literal
from kernel.time.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from uuid import UUID

    from bridge.shapes.data import Spellings
    from bridge.shapes.delta import Change
    from bridge.shapes.document import Triple
    from bridge.shapes.engine import Engine
    from bridge.shapes.model import Shape, ShapesModel, Targets
    from bridge.shapes.neighbourhood import Pair
    from bridge.shapes.overlay import Seen, Spelled, Supported
    from bridge.shapes.reader import Budget, Reader
    from bridge.shapes.results import Result, ResultKey
    from kernel.terms import Term

BRIEFLY: Final = 200
"""Statements that are read, and judged, of one value before its focus is looked at."""

_Said: TypeAlias = "dict[Triple, Spellings]"
"""Statements, each with the spellings of its literal."""


@dataclass(frozen=True, slots=True)
class Holding:
    """What holds throughout a slice.

    Args:
        data: the statements.
        evidence: what evidence for them says, as far as a shape looks at it.
    """

    data: _Said
    evidence: _Said


@dataclass(frozen=True, slots=True)
class Violation:
    """A result that a change brings.

    Args:
        part: when it does.
        graphs: the graphs of the facts that it was drawn from.
    """

    result: Result
    part: Interval
    graphs: frozenset[Iri]


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What is known of one pair."""

    pair: Pair
    facts: Sequence[Seen]
    spelled: Mapping[UUID, Spelled]
    supported: Mapping[UUID, Supported]

    def holding(self, instant: int, *, after: bool) -> Holding:
        """What holds at an instant, before or after the change."""
        found: _Said = {}
        evidence: _Said = {}
        for seen in self.facts:
            if (seen.after if after else seen.before) and seen.interval.contains(instant):
                spellings = self._spellings(seen, after=after)
                known = found.setdefault(seen.triple, spellings)
                if known != spellings:
                    found[seen.triple] = _in_order({*known, *spellings})
                support = self.supported.get(seen.content.id) if self.supported else None
                if support is not None:
                    evidence.update(support.after if after else support.before)
        return Holding(found, evidence)

    def _spellings(self, seen: Seen, *, after: bool) -> Spellings:
        value = seen.content.statement.object
        if not isinstance(value, Literal):
            return ()
        known = self.spelled.get(seen.content.id) if self.spelled else None
        return (value,) if known is None else _in_order(known.after if after else known.before)

    def differ(self, instant: int) -> bool:
        """Whether what holds at an instant is another after the change, or may be: mostly no more need be known."""
        coming, going = (
            {
                seen.triple
                for seen in self.facts
                if seen.before != seen.after is side and seen.interval.contains(instant)
            }
            for side in (True, False)
        )
        if coming != going:
            return True
        # Facts that are only cut anew say the same as before, if it is spelled the same, and supported.
        known = bool(coming or self.spelled or self.supported)
        return known and self.holding(instant, after=True) != self.holding(instant, after=False)


class Slices:
    """Judges pairs by the shapes of a model.

    Args:
        budget: how many statements may be looked at and judged, slice by slice, in all.
    """

    def __init__(self, model: ShapesModel, engine: Engine, reader: Reader, budget: Budget) -> None:
        self._model = model
        self._engine = engine
        self._reader = reader
        self._budget = budget
        self._keys: dict[tuple[Pair, Interval], set[ResultKey]] = {}
        self._same: dict[tuple[Iri, Iri, tuple[Interval, ...]], bool] = {}

    def violations(self, pair: Pair, parts: Sequence[Interval], graphs: frozenset[Iri]) -> Iterator[Violation]:
        """The results of a pair that are new in any of the parts of time.

        Args:
            pair: a shape with targets, and a node.
            parts: when the change may matter to the pair, in order.
            graphs: the graphs of the statements that change.

        Raises:
            NeighbourhoodExceeded: too much would have to be read or judged.
        """
        walk = Walk(self._model, self._reader, Interval(parts[0].start, parts[-1].end))
        around = self._surroundings(walk, pair, afterwards=True)
        if around is None:
            return
        differing = list(self._differing(pair, parts, around))
        targets = self._model.targets[pair[0]]
        if differing and (targets.objects_of or targets.classes):
            around = self._surroundings(walk, pair) or around
            differing = list(self._differing(pair, parts, around))
        for part, found in differing:
            before = around.holding(part.start, after=False)
            old = {result.key for result in self._results(pair, before, part.start)}
            for result in found:
                if result.key not in old:
                    drawn = graphs | self._drawn_from(walk, around, result, part.start)
                    for new in self._new_parts(result, pair, part):
                        yield Violation(result, new, drawn)

    def _differing(
        self, pair: Pair, parts: Sequence[Interval], around: _Surroundings
    ) -> Iterator[tuple[Interval, list[Result]]]:
        """The slices in which the change makes a difference, and there are results after it: each with these."""
        for part in self._slices(parts, [around]):
            self._budget.spend(len(around.facts))
            if around.differ(part.start):
                found = self._results(pair, around.holding(part.start, after=True), part.start)
                if found:
                    yield part, found

    def says_the_same(self, shape: Iri, node: Term, parts: tuple[Interval, ...]) -> bool:
        """Whether a shape gives the same results at a node before and after, in these parts of time; False if in doubt.

        Then nothing new depends on what judges by it, however many nodes refer to this one.
        """
        if not isinstance(node, Iri) or self._model.is_reified(shape) or self._model.is_asking(shape):
            return False
        key = (shape, node, parts)
        known = self._same.get(key)
        if known is None:
            try:
                with self._reader.budget.at_most(BRIEFLY), self._budget.at_most(BRIEFLY):
                    known = self._says_the_same((shape, node), parts)
            except NeighbourhoodExceeded:
                known = False
            self._same[key] = known
        return known

    def _says_the_same(self, pair: Pair, parts: tuple[Interval, ...]) -> bool:
        walk = Walk(self._model, self._reader, Interval(parts[0].start, parts[-1].end))
        around = self._known(pair, walk.inside(*pair))
        return all(
            self._keys_inside(around, part, after=False) == self._keys_inside(around, part, after=True)
            for part in self._slices(parts, [around])
            if around.differ(part.start)
        )

    def _keys_inside(self, around: _Surroundings, part: Interval, *, after: bool) -> set[ResultKey]:
        shape, focus = around.pair
        data = self._data(shape, around.holding(part.start, after=after), part.start)
        return {result.key for result in self._engine.judge_in(data, shape, focus, ())}

    def passes(self, shape: Shape, change: Change) -> bool:
        """Whether the value of a statement is at no fault to a shape, before or after the change; False if in doubt.

        Then nothing new depends on whether the path of the shape leads to it.

        Args:
            shape: its path may follow the statement.
            change: of the statement; `plain`.
        """
        subject, _, value = change.triple
        engine, node, parts = self._engine, shape.node, change.parts
        comes = change.comes and node in self._model.outermost
        if not engine.judges_by_value(node, comes=comes) or self._model.is_reified(node):
            return False
        if engine.passes_alone(node, value):
            return True
        if not (shape.classes or shape.inner or shape.beside or shape.open_to is not None):
            return False
        try:
            with self._reader.budget.at_most(BRIEFLY), self._budget.at_most(BRIEFLY):
                return self._passes(shape, subject, value, parts)
        except NeighbourhoodExceeded:
            return False  # there may be no need to know: its focus may be no target

    def _passes(self, shape: Shape, focus: Term, value: Term, parts: Sequence[Interval]) -> bool:
        walk = Walk(self._model, self._reader, Interval(parts[0].start, parts[-1].end))
        if walk.is_sound(shape, focus, value) and self._engine.passes_itself(shape.node, value):
            return True
        around = self._known((shape.node, focus), walk.around_value(shape, focus, value))
        return all(
            self._engine.passes(shape.node, data, focus, value)
            for part in self._slices(parts, [around])
            for after in ((True, False) if around.differ(part.start) else (True,))
            for data in [self._data(shape.node, around.holding(part.start, after=after), part.start)]
        )

    def standing(self, pair: Pair, part: Interval) -> Iterator[Violation]:
        """Every result of a pair after the change, also one that was there before.

        Raises:
            NeighbourhoodExceeded: too much would have to be read or judged.
        """
        walk = Walk(self._model, self._reader, part)
        around = self._surroundings(walk, pair, afterwards=True)
        if around is None:
            return
        for each in self._slices([part], [around]):
            for result in self._results(pair, around.holding(each.start, after=True), each.start):
                yield Violation(result, each, self._drawn_from(walk, around, result, each.start))

    def _surroundings(self, walk: Walk, pair: Pair, *, afterwards: bool = False) -> _Surroundings | None:
        facts = walk.surroundings(*pair, afterwards=afterwards)
        return None if facts is None else self._known(pair, facts)

    def _known(self, pair: Pair, facts: Sequence[Seen]) -> _Surroundings:
        model, overlay = self._model, self._reader.overlay
        spelled = overlay.spelled(facts) if model.is_lexical(pair[0]) else {}
        reified = [seen for seen in facts if seen.triple[1] in model.reified] if model.is_reified(pair[0]) else []
        return _Surroundings(pair, facts, spelled, overlay.supported(reified) if reified else {})

    def _slices(self, parts: Iterable[Interval], around: Sequence[_Surroundings]) -> Iterator[Interval]:
        """The parts, cut wherever something around begins or ends, or a shape begins to apply."""
        cuts = {cut for each in around for seen in each.facts for cut in (seen.interval.start, seen.interval.end)}
        cuts.update(*(self._model.starts(each.pair[0]) for each in around))
        for part in parts:
            within = sorted({part.start, part.end, *(cut for cut in cuts if part.contains(cut))})
            for start, end in pairwise(within):
                yield Interval(start, end)

    def _results(self, pair: Pair, holding: Holding, instant: int) -> list[Result]:
        shape, focus = pair
        data = self._data(shape, holding, instant)
        targets = self._model.targets_at(shape, instant)
        if not _is_target(targets, focus, data):
            return []
        return self._engine.judge_in(data, shape, focus, targets.spellings(focus, data))

    def _data(self, shape: Iri, holding: Holding, instant: int) -> Data:
        """What holds, as data to judge; of a budget."""
        self._budget.spend(len(holding.data) + len(holding.evidence))
        evidence = Data(holding.evidence, instant) if self._model.is_reified(shape) else None
        return Data(holding.data, instant, evidence, self._budget.patience)

    def _new_parts(self, result: Result, pair: Pair, part: Interval) -> Iterable[Interval]:
        """The part of time without those in which another pair gave the same result before the change."""
        walk = Walk(self._model, self._reader, part)
        others = walk.outward(self._model.shapes[result.shape], {result.focus}) - {pair}
        if not others:
            return [part]
        surroundings = [around for other in others if (around := self._surroundings(walk, other)) is not None]
        slices = self._slices([part], surroundings)
        return [
            each for each in slices if not any(result.key in self._keys_before(near, each) for near in surroundings)
        ]

    def _keys_before(self, around: _Surroundings, part: Interval) -> set[ResultKey]:
        key = (around.pair, part)
        known = self._keys.get(key)
        if known is None:
            results = self._results(around.pair, around.holding(part.start, after=False), part.start)
            known = self._keys[key] = {result.key for result in results}
        return known

    def _drawn_from(self, walk: Walk, around: _Surroundings, result: Result, instant: int) -> frozenset[Iri]:
        """The graphs of what a result depends on: the target's facts, and those of its own shape at its own focus."""
        shape, focus = around.pair
        facts = list(around.facts)
        if result.focus == focus:
            facts = [*walk.target_facts(shape, focus), *walk.inside(result.shape, focus)]
        return frozenset(seen.content.statement.graph for seen in facts if seen.interval.contains(instant))


class Looked(Told):
    """Changes of the same time of which some things are found out by looking at little.

    Args:
        slices: judges.
        changes: the changes, of which there is at least one.
    """

    def __init__(self, slices: Slices, changes: Iterable[Change]) -> None:
        self._slices = slices
        self._changes = {change.triple: change for change in changes}
        self._parts = next(iter(self._changes.values())).parts

    def __bool__(self) -> bool:
        return True

    def is_indifferent(self, shape: Shape, triple: Triple) -> bool:
        """As `Told` has it."""
        change = self._changes[triple]
        return change.plain and self._slices.passes(shape, change)

    def says_the_same(self, shape: Iri, node: Term) -> bool:
        """As `Told` has it."""
        return self._slices.says_the_same(shape, node, self._parts)


def _is_target(targets: Targets, focus: Term, data: Data) -> bool:
    """Whether the node is a focus where this holds (SHACL section 2.1.3)."""
    return (
        focus in targets.nodes
        or any(data.is_instance(focus, each) for each in targets.classes)
        or any(data.objects(focus, each) for each in targets.subjects_of)
        or any(data.subjects(each, focus) for each in targets.objects_of)
    )


def _in_order(spellings: Iterable[Literal]) -> Spellings:
    return tuple(sorted(spellings, key=_text))


def _text(literal: Literal) -> str:
    return literal.n3
