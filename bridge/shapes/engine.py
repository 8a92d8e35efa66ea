"""pySHACL, asked about one shape at one focus.

It is asked below `pyshacl.validate`, by the method that validates a shape at given foci: `validate` has no way to
name them. Its `focus_nodes` also filters the nodes at which shapes within shapes are judged, its `use_shapes` skips
named property shapes, and it reads the shapes graph anew each time. That both give the same results is tested.

Rules
-----
* The shapes graph is read once. Its paths are written anew, because pySHACL takes the inverse of a/b for ^a/^b, and
  follows ten levels at most.
* Nothing is inferred, imported or fetched, no advanced feature is on, the data is not touched.
* Where a value has several spellings it is judged in each.
* What pySHACL raises becomes a result that says that the shape cannot be judged there.
* pySHACL's texts are not used, and are cleared: it keeps those of blank nodes for ever, under keys that come again.

Example
-------
::

    engine = Engine(document, model)
    engine.judge(shape, focus, {triple: (spelling,)})
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final

import rdflib
from pyshacl.errors import ConstraintLoadError, ReportableRuntimeError, ShapeLoadError, ValidationFailure
from pyshacl.pytypes import SHACLExecutor
from pyshacl.rdfutil.stringify import stringify_blank_node
from pyshacl.shapes_graph import ShapesGraph

from bridge.shapes.paths import text
from bridge.shapes.rdflib_graphs import DataGraph, shapes_graph
from bridge.shapes.rdflib_terms import SpelledLiteral, to_rdflib, to_term
from bridge.shapes.results import Result
from bridge.shapes.vocabulary import sh
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bridge.shapes.document import ShapesDocument, Triple
    from bridge.shapes.model import ShapesModel
    from bridge.shapes.results import ResultKey
    from kernel.terms import Literal, Term

_DEEPEST: Final = 1_000
"""How many shapes within shapes pySHACL may go; `wellformed` allows far fewer."""

_OWN_ERRORS: Final = (ConstraintLoadError, ReportableRuntimeError, ShapeLoadError, ValidationFailure)
_ERRORS: Final = (
    *_OWN_ERRORS,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    re.error,
)
"""What pySHACL raises, of its own and of others', for shapes and values that it cannot deal with."""

_log = logging.getLogger("muniment.shapes.pyshacl")
_log.setLevel(logging.CRITICAL + 1)  # what it complains of is reported as a finding, to those who may see it

_FOCUS, _VALUE, _PATH, _SHAPE, _COMPONENT, _SEVERITY = (
    to_rdflib(sh(name))
    for name in ("focusNode", "value", "resultPath", "sourceShape", "sourceConstraintComponent", "resultSeverity")
)
_CLOSED: Final = sh("ClosedConstraintComponent")


class UnusableShapes(Exception):
    """pySHACL refuses the shapes graph."""


class Engine:
    """Judges by one shapes graph.

    Raises:
        UnusableShapes: pySHACL cannot load it.
    """

    def __init__(self, document: ShapesDocument, model: ShapesModel) -> None:
        self._model = model
        self._executor = SHACLExecutor(max_validation_depth=_DEEPEST)
        try:
            self._shapes = ShapesGraph(shapes_graph(document), debug=False, logger=_log)
            self._nodes = {shape.node: shape for shape in self._shapes.shapes}
        except _ERRORS as error:
            raise UnusableShapes(_reason(error)) from error

    def judge(self, shape: Iri, focus: Term, triples: Mapping[Triple, tuple[Literal, ...]]) -> list[Result]:
        """The results of a shape at a focus, each once.

        Args:
            shape: a shape of the model.
            focus: the node to judge, whether or not it is a target.
            triples: every statement that the results depend on, each with the spellings of its literal.
        """
        found: dict[ResultKey, Result] = {}
        turns = max([1, *map(len, triples.values())])
        for turn in range(turns):
            for result in self._judge(shape, focus, DataGraph(triples, turn)):
                found.setdefault(result.key, result)
        return list(found.values())

    def faults(self) -> Iterator[tuple[Iri, str]]:
        """The shapes that pySHACL cannot apply even to a node without statements, and why."""
        for node in self._model.shapes:
            for result in self._judge(node, sh("this"), DataGraph({}, 0)):
                if result.reason is not None:
                    yield node, result.reason

    def _judge(self, shape: Iri, focus: Term, data: DataGraph) -> list[Result]:
        try:
            _, reports = self._nodes[to_rdflib(shape)].validate(self._executor, data.graph, focus=[data.node(focus)])
        except _ERRORS as error:
            return [Result(shape, focus, None, None, None, None, None, _reason(error))]
        if reports:
            vars(stringify_blank_node)["dict_cache"].clear()
        return [self._result(node, parts) for _, node, parts in reports]

    def _result(self, node: rdflib.BNode, parts: list[tuple[rdflib.term.Node, rdflib.term.Node, object]]) -> Result:
        """The result from what pySHACL would put into its report; parts of other results are those nested in it."""
        said = {predicate: value for subject, predicate, value in parts if subject == node}
        shape, component = _iri(said[_SHAPE]), _iri(said[_COMPONENT])
        path = self._model.shapes[shape].path
        value = _node(said[_VALUE]) if _VALUE in said else None
        if component == _CLOSED:
            shown: str | None = to_term(_node(said[_PATH])).n3
        else:
            shown = None if path is None else text(path)
        return Result(
            shape=shape,
            focus=to_term(_node(said[_FOCUS])),
            path=shown,
            value=None if value is None else to_term(value),
            component=component,
            severity=_iri(said[_SEVERITY]),
            spelled=value.spelled if isinstance(value, SpelledLiteral) else None,
        )


def _node(value: object) -> rdflib.term.Node:
    """A node, from how pySHACL names it: alone, or with the graph that it is of."""
    node = value[1] if isinstance(value, tuple) else value
    if not isinstance(node, rdflib.term.Node):
        raise TypeError(f"{node!r} is no node")
    return node


def _iri(value: object) -> Iri:
    term = to_term(_node(value))
    if not isinstance(term, Iri):
        raise TypeError(f"{term.n3} is no IRI")
    return term


def _reason(error: Exception) -> str:
    """What went wrong, in the words of pySHACL if they are its own; those of others' errors may be any."""
    first = str(error).strip().splitlines()
    return first[0] if isinstance(error, _OWN_ERRORS) and first else f"pySHACL fails with {type(error).__name__}"
