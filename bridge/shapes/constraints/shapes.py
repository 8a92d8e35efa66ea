"""Constraints by other shapes: logical ones, sh:node and qualified counts (SHACL sections 4.6, 4.7.1, 4.7.3).

Rules
-----
* A node conforms to a shape that gives no result for it, of whatever severity (section 3.4.1); a deactivated shape
  gives none.
* What reifies a value's statement must conform to every sh:reifierShape; with sh:reificationRequired there must be
  something (SHACL 1.2 Core). The result is about the value, as in the working group's tests, not about the reifier.
* sh:property is not among these: the results of a property shape are its own.

Example
-------
::

    for component, check in shape_checks(parameters, siblings):
        ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.shapes.constraints.checks import Check, Fault, fault_of
from bridge.shapes.model import PATH, REIFIER, REQUIRED
from bridge.shapes.vocabulary import sh
from kernel.terms import Iri, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bridge.shapes.constraints.checks import Components, Conforms, Parameters
    from bridge.shapes.data import Data, Nodes

_LOGICAL: Final[dict[str, Callable[[int, int], bool]]] = {
    "and": lambda met, asked: met == asked,
    "or": lambda met, _: met > 0,
    "xone": lambda met, _: met == 1,
}
"""Whether it holds, from how many of the shapes are met, of how many."""


def shape_checks(said: Parameters, siblings: Sequence[Iri]) -> Components:
    """The checks by other shapes that a shape asks for.

    Args:
        said: by the shape.
        siblings: the qualified shapes that no value counted may conform to (section 4.7.3).
    """
    conforms = said.conforms
    for shape in said.nodes(sh("node")):
        yield "Node", _counted(conforms, [shape], lambda met, _: met == 1)
    for shape in said.nodes(sh("not")):
        yield "Not", _counted(conforms, [shape], lambda met, _: met == 0)
    for name, holds in _LOGICAL.items():
        for members in said.lists(sh(name)):
            shapes = [each for each in members if isinstance(each, Iri)]
            yield name.capitalize(), _counted(conforms, shapes, holds)
    for shape in said.nodes(sh("qualifiedValueShape")):
        yield from _qualified(said, shape, [each for each in siblings if each != shape])
    reifiers, required = said.nodes(REIFIER), said.is_true(REQUIRED)
    for predicate in said.nodes(PATH) if reifiers or required else ():
        yield "ReifierShape", _reified(conforms, predicate, reifiers, required=required)


def _counted(conforms: Conforms, shapes: Sequence[Iri], holds: Callable[[int, int], bool]) -> Check:
    def check(data: Data, _focus: Term, values: Nodes) -> Iterator[Fault]:
        for value, spellings in values.items():
            met = sum(conforms(shape, data, value, spellings) for shape in shapes)
            if not holds(met, len(shapes)):
                yield fault_of(value, spellings)

    return check


def _reified(conforms: Conforms, predicate: Iri, shapes: Sequence[Iri], *, required: bool) -> Check:
    def check(data: Data, focus: Term, values: Nodes) -> Iterator[Fault]:
        for value, spellings in values.items():
            reifiers = data.reifiers(focus, predicate, value)
            met = all(conforms(shape, data.evidence, each, ()) for shape in shapes for each in reifiers)
            if not met or (required and not reifiers):
                yield fault_of(value, spellings)

    return check


def _qualified(said: Parameters, shape: Iri, siblings: Sequence[Iri]) -> Components:
    conforms = said.conforms

    def count(data: Data, values: Nodes) -> int:
        return sum(
            conforms(shape, data, value, spellings)
            and not any(conforms(sibling, data, value, spellings) for sibling in siblings)
            for value, spellings in values.items()
        )

    for least in said.literals(sh("qualifiedMinCount")):
        yield "QualifiedMinCount", _if(lambda met, limit: met >= limit, count, int(least.lexical))
    for most in said.literals(sh("qualifiedMaxCount")):
        yield "QualifiedMaxCount", _if(lambda met, limit: met <= limit, count, int(most.lexical))


def _if(holds: Callable[[int, int], bool], count: Callable[[Data, Nodes], int], limit: int) -> Check:
    def check(data: Data, _focus: Term, values: Nodes) -> Iterator[Fault]:
        if not holds(count(data, values), limit):
            yield Fault()

    return check
