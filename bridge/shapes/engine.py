"""SHACL, compiled: judging one shape at one focus over what holds.

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
from typing import TYPE_CHECKING, Final

from bridge.shapes.constraints.checks import Parameters
from bridge.shapes.constraints.sets import set_checks
from bridge.shapes.constraints.shapes import shape_checks
from bridge.shapes.constraints.sparql import sparql_check
from bridge.shapes.constraints.values import value_checks
from bridge.shapes.data import Data
from bridge.shapes.model import PROPERTY, siblings
from bridge.shapes.paths import Step, text
from bridge.shapes.results import Result
from bridge.shapes.vocabulary import sh
from kernel.terms import Iri, Literal, Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.shapes.constraints.checks import Check, Components, Fault
    from bridge.shapes.data import Nodes, Spellings
    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.model import Shape, ShapesModel
    from bridge.shapes.results import ResultKey

_NOTHING: Final = Data({})

_BY_VALUE: Final = frozenset(
    sh(f"{name}ConstraintComponent")
    for name in ("Disjoint", "LessThan", "LessThanOrEquals", "Closed", "Node", "Not", "And", "Or", "Xone")
)
"""Components that judge each value, besides those that look at nothing else."""

_CLASS: Final = sh("ClassConstraintComponent")

_HELPED: Final = frozenset(sh(f"{name}ConstraintComponent") for name in ("MinCount", "HasValue", "QualifiedMinCount"))
"""Components that do not fail because of a value more."""


@dataclass(frozen=True, slots=True)
class _By:
    """What a constraint's results are of.

    Args:
        component: the constraint component.
        severity: None for sh:Violation.
        source: the value of sh:sparql, if it is one.
    """

    component: Iri
    severity: Iri | None
    source: Iri | None = None


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A shape, ready to judge by.

    Args:
        path: as it is shown in results; None for a node shape.
        step: its path, if that is one predicate: most are.
        checks: its constraints, each with what its results are of.
        of_none: those of them that can fail where there are no values.
        of_value: those of them that are about one value that a predicate leads to, whatever other values there are;
            None: others are not, and may fail because of a value more.
        by_value: whether these are all.
        of_itself: those of them that look at that value and at nothing else.
        alone: whether these are all of them.
        properties: its property shapes.
    """

    shape: Shape
    path: str | None
    step: Iri | None
    checks: Sequence[tuple[_By, Check]]
    of_none: Sequence[tuple[_By, Check]]
    of_value: Sequence[Check] | None
    by_value: bool
    of_itself: Sequence[Check]
    alone: bool
    properties: Sequence[_Compiled]

    def values(self, data: Data, focus: Term, spellings: Spellings) -> Nodes:
        """The value nodes at a focus (SHACL section 2.1)."""
        if self.step is not None:
            return data.objects(focus, self.step)
        nodes = {focus: spellings}
        return nodes if self.shape.path is None else data.follow(self.shape.path, nodes)

    def result(self, focus: Term, by: _By, fault: Fault) -> Result:
        """The result for a fault at a focus."""
        path = self.path if fault.path is None else fault.path.n3
        return Result(
            shape=self.shape.node,
            focus=focus,
            path=path,
            value=fault.value,
            component=by.component,
            severity=by.severity,
            spelled=fault.spelled,
            constraint=by.source,
            messages=fault.messages,
            unanswered=fault.unanswered,
        )


class Engine:
    """Judges by one shapes graph.

    Args:
        document: a well-formed one.
        model: of the same document.
    """

    def __init__(self, document: ShapesDocument, model: ShapesModel) -> None:
        self._shapes: dict[Iri, _Compiled] = {}
        for shape in model.shapes.values():
            self._compile(document, model, shape)

    def judge_in(self, data: Data, shape: Iri, focus: Term, spellings: Spellings) -> list[Result]:
        """The results of a shape at a focus, each once.

        Args:
            data: whatever the results depend on, or more.
            shape: an active shape of the model.
            focus: the node to judge, whether or not it is a target.
            spellings: of the focus, if it is a literal; none: as it is.
        """
        results: list[Result] = []
        _judge(self._shapes[shape], data, focus, spellings, results, first=False)
        if len(results) < 2:
            return results
        found: dict[ResultKey, Result] = {}
        for result in results:
            found.setdefault(result.key, result)
        return list(found.values())

    def judges_by_value(self, shape: Iri, *, comes: bool) -> bool:
        """Whether a value that is at no fault by itself adds nothing to the results of a shape at a focus.

        Args:
            shape: an active shape.
            comes: whether it is enough that no result comes with it; else, that none goes with it either.
        """
        compiled = self._shapes.get(shape)
        return compiled is not None and compiled.of_value is not None and (comes or compiled.by_value)

    def passes_alone(self, shape: Iri, value: Term) -> bool:
        """Whether a value, spelled as it is stored, is at no fault to a shape that judges by value, whatever holds."""
        return self._shapes[shape].alone and self.passes_itself(shape, value)

    def passes_itself(self, shape: Iri, value: Term) -> bool:
        """Whether a value is at no fault to those constraints of such a shape that look at nothing else.

        Those that do ask for classes, compare it with other values of the focus, are closed, or of other shapes.
        """
        nodes = _as_stored(value)
        return not any(fault for check in self._shapes[shape].of_itself for fault in check(_NOTHING, value, nodes))

    def passes(self, shape: Iri, data: Data, focus: Term, value: Term) -> bool:
        """Whether it is at no fault at a focus in the data; of a shape that judges by value."""
        compiled, nodes = self._shapes[shape], _as_stored(value)
        if any(fault for check in compiled.of_value or () for fault in check(data, focus, nodes)):
            return False
        results: list[Result] = []
        for inner in compiled.properties:
            _judge(inner, data, value, nodes[value], results, first=True)
        return not results

    def _conforms(self, shape: Iri, data: Data, node: Term, spellings: Spellings) -> bool:
        compiled = self._shapes.get(shape)
        if compiled is None:
            return True  # it is deactivated
        results: list[Result] = []
        _judge(compiled, data, node, spellings, results, first=True)
        return not results

    def _compile(self, document: ShapesDocument, model: ShapesModel, shape: Shape) -> _Compiled:
        known = self._shapes.get(shape.node)
        if known is not None:
            return known
        said = Parameters(document, shape.node, self._conforms)
        severity = next(iter(said.nodes(sh("severity"))), None)
        of_values = _named(value_checks(said), severity)
        of_none = [
            *_named(set_checks(said, shape.open_to), severity),
            *_named(shape_checks(said, siblings(document, shape.node)), severity),
        ]
        for query in shape.queries:
            by = _By(query.component, query.severity or severity, query.source)
            of_none.append((by, sparql_check(query, document, on_property=shape.path is not None)))
        of_value = [*of_values, *(each for each in of_none if each[0].component in _BY_VALUE)]
        helped = [each for each in of_none if each[0].component in _HELPED]
        is_by_value = _is_step(shape) and len(of_value) + len(helped) == len(of_values) + len(of_none)
        found = self._shapes[shape.node] = _Compiled(
            shape,
            None if shape.path is None else text(shape.path),
            shape.path.predicate if isinstance(shape.path, Step) and _is_step(shape) else None,
            [*of_values, *of_none],
            of_none,
            [check for _, check in of_value] if is_by_value else None,
            is_by_value and not helped,
            [check for by, check in of_values if by.component != _CLASS],
            is_by_value and len(of_value) == len(of_values) and not (shape.classes or shape.inner),
            [
                self._compile(document, model, model.shapes[node])
                for node in said.nodes(PROPERTY)
                if node in shape.inner
            ],
        )
        return found


def _is_step(shape: Shape) -> bool:
    """Whether the path of a shape is a predicate."""
    return isinstance(shape.path, Step) and not shape.path.inverse


def _as_stored(value: Term) -> Nodes:
    return {value: (value,) if isinstance(value, Literal) else ()}


def _named(checks: Components, severity: Iri | None) -> list[tuple[_By, Check]]:
    return [(_By(sh(f"{name}ConstraintComponent"), severity), check) for name, check in checks]


def _judge(
    shape: _Compiled, data: Data, focus: Term, spellings: Spellings, results: list[Result], *, first: bool
) -> None:
    """Adds the results of a shape at a focus, or, if all that matters is whether there is one, the first."""
    if data.at < shape.shape.applies_from:
        return
    values = shape.values(data, focus, spellings)
    for by, check in shape.checks if values else shape.of_none:
        for fault in check(data, focus, values):
            results.append(shape.result(focus, by, fault))
            if first:
                return
    for inner in shape.properties:
        for value, spelled in values.items():
            _judge(inner, data, value, spelled, results, first=first)
            if first and results:
                return
