"""Validation of a whole data graph: every target of every shape, as a stream of results.

Rules
-----
* The results are those of every active shape with targets, at every target that it has in the data (SHACL section
  3.4); the same result is told once, however many shapes lead to it.
* The order depends on the shapes graph and the data alone: shapes as they are written, foci by their N-Triples form,
  and at one focus by path, component, value and shape.
* A focus that is a literal is judged in each spelling in which the targets have it.
* Judged is what is given: nothing is read or written on the way. Besides the data, memory holds the foci, and what
  tells results apart.

Example
-------
::

    validation = Validation(shapes, Data(triples))
    for result in validation.results():
        result.focus, result.component
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from bridge.shapes.data import together
from bridge.shapes.paths import Repeat, Sequence, Step
from bridge.shapes.vocabulary import RDF_TYPE, SUBCLASS_OF
from kernel.terms import Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bridge.shapes.data import Data, Nodes, Spellings
    from bridge.shapes.model import Shape
    from bridge.shapes.registry import Shapes
    from bridge.shapes.results import Result, ResultKey

_TOLD_EVERY: Final = 256
"""Foci between two words about progress."""

_INSTANCES: Final = Sequence(
    (Repeat(Step(SUBCLASS_OF, inverse=True), once=False, unbounded=True), Step(RDF_TYPE, inverse=True))
)
"""The way from a class to its instances."""


class Validation:
    """One data graph under one shapes graph.

    Args:
        shapes: without problems.
        data: what holds.

    Attributes:
        foci: how many nodes are judged, one that several shapes target counted for each.
    """

    def __init__(self, shapes: Shapes, data: Data) -> None:
        self._shapes = shapes
        self._data = data
        self._targeted = [(root.node, _in_order(self._targets(root))) for root in shapes.model.roots]
        self.foci = sum(len(targets) for _, targets in self._targeted)

    def results(self, progress: Callable[[int, int], None] = lambda _done, _total: None) -> Iterator[Result]:
        """The results, each once.

        Args:
            progress: told how many foci are judged, and of how many.
        """
        engine, done = self._shapes.engine, 0
        seen: set[ResultKey] = set()
        for shape, targets in self._targeted:
            for focus, spellings in targets:
                found = engine.judge_in(self._data, shape, focus, spellings)
                if found:
                    yield from sorted((result for result in found if result.key not in seen), key=_place)
                    seen.update(result.key for result in found)
                done += 1
                if done % _TOLD_EVERY == 0 or done == self.foci:
                    progress(done, self.foci)

    def _targets(self, shape: Shape) -> Nodes:
        """The targets that a shape has in the data (SHACL section 2.1.3)."""
        targets, data = shape.targets, self._data
        return together(
            [
                targets.nodes,
                data.follow(_INSTANCES, dict.fromkeys(targets.classes, ())),
                *map(data.subjects_of, targets.subjects_of),
                *map(data.objects_of, sorted(targets.objects_of, key=lambda each: each.value)),
            ]
        )


class Validations:
    """Several data graphs, each under shapes of its own, one after the other: as one `Validation`.

    Args:
        each: shapes without problems, with what holds.

    Attributes:
        foci: how many nodes are judged in all.
    """

    def __init__(self, each: Iterable[tuple[Shapes, Data]]) -> None:
        self._each = [Validation(shapes, data) for shapes, data in each]
        self.foci = sum(validation.foci for validation in self._each)

    def results(self, progress: Callable[[int, int], None] = lambda _done, _total: None) -> Iterator[Result]:
        """The results of each in turn; progress as of one."""
        before = 0
        for validation in self._each:
            yield from validation.results(partial(self._further, progress, before))
            before += validation.foci

    def _further(self, progress: Callable[[int, int], None], before: int, done: int, _: int) -> None:
        progress(before + done, self.foci)


def _in_order(nodes: Nodes) -> list[tuple[Term, Spellings]]:
    return sorted(((node, spellings) for node, spellings in nodes.items()), key=lambda each: each[0].n3)


def _place(result: Result) -> tuple[str, ...]:
    return (
        result.path or "",
        result.component.value,
        "" if result.value is None else result.value.n3,
        result.shape.value,
        result.focus.n3,
    )
