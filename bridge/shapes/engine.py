"""SHACL Core, compiled: judging one shape at one focus over what holds.

Rules
-----
* Each active shape of a well-formed document is compiled once into checks (`constraints`), its path into what is
  followed. Judging reads data, and nothing else; it cannot fail.
* The results of a property shape are its own, at each value of the shape that has it (SHACL section 4.7.2). Other
  shapes within a shape are only asked whether a value conforms.
* Before the instant that a shape applies from it is as a deactivated one: it gives no results, and everything conforms.
* A result is told once, by its key, in the spelling of its value that was found at fault first.

Example
-------
::

    engine = Engine(document, model)
    engine.judge_in(Data({triple: (spelling,)}, instant), shape, focus, ())
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.shapes.constraints.checks import Parameters
from bridge.shapes.constraints.sets import set_checks
from bridge.shapes.constraints.shapes import shape_checks
from bridge.shapes.constraints.values import value_checks
from bridge.shapes.model import PROPERTY, siblings
from bridge.shapes.paths import text
from bridge.shapes.results import Result
from bridge.shapes.vocabulary import sh

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bridge.shapes.constraints.checks import Check, Fault
    from bridge.shapes.data import Data, Spellings
    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.model import Shape, ShapesModel
    from bridge.shapes.results import ResultKey
    from kernel.terms import Iri, Term


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A shape, ready to judge by.

    Args:
        path: as it is shown in results; None for a node shape.
        checks: its constraints, each with its component.
        properties: its property shapes.
    """

    shape: Shape
    path: str | None
    severity: Iri | None
    checks: Sequence[tuple[Iri, Check]]
    properties: Sequence[Iri]

    def result(self, focus: Term, component: Iri, fault: Fault) -> Result:
        """The result for a fault at a focus."""
        path = self.path if fault.path is None else fault.path.n3
        return Result(self.shape.node, focus, path, fault.value, component, self.severity, fault.spelled)


class Engine:
    """Judges by one shapes graph.

    Args:
        document: a well-formed one.
        model: of the same document.
    """

    def __init__(self, document: ShapesDocument, model: ShapesModel) -> None:
        self._shapes = {shape.node: self._compile(document, shape) for shape in model.shapes.values()}

    def judge_in(self, data: Data, shape: Iri, focus: Term, spellings: Spellings) -> list[Result]:
        """The results of a shape at a focus, each once.

        Args:
            data: whatever the results depend on, or more.
            shape: an active shape of the model.
            focus: the node to judge, whether or not it is a target.
            spellings: of the focus, if it is a literal; none: as it is.
        """
        found: dict[ResultKey, Result] = {}
        for result in self._results(self._shapes[shape], data, focus, spellings):
            found.setdefault(result.key, result)
        return list(found.values())

    def _results(self, shape: _Compiled, data: Data, focus: Term, spellings: Spellings) -> Iterator[Result]:
        if data.at < shape.shape.applies_from:
            return
        path = shape.shape.path
        nodes = {focus: spellings}
        values = nodes if path is None else data.follow(path, nodes)
        for component, check in shape.checks:
            for fault in check(data, focus, values):
                yield shape.result(focus, component, fault)
        for node in shape.properties:
            for value, spelled in values.items():
                yield from self._results(self._shapes[node], data, value, spelled)

    def _conforms(self, shape: Iri, data: Data, node: Term, spellings: Spellings) -> bool:
        compiled = self._shapes.get(shape)  # none of a deactivated one
        return compiled is None or next(self._results(compiled, data, node, spellings), None) is None

    def _compile(self, document: ShapesDocument, shape: Shape) -> _Compiled:
        said = Parameters(document, shape.node, self._conforms)
        checks = (
            *value_checks(said),
            *set_checks(said, shape.open_to),
            *shape_checks(said, siblings(document, shape.node)),
        )
        return _Compiled(
            shape,
            None if shape.path is None else text(shape.path),
            next(iter(said.nodes(sh("severity"))), None),
            [(sh(f"{name}ConstraintComponent"), check) for name, check in checks],
            [node for node in said.nodes(PROPERTY) if node in shape.inner],
        )
