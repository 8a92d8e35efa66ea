"""Constraints on all values together (SHACL sections 4.2, 4.4.5, 4.5, 4.8.1, 4.8.2).

Rules
-----
* Sets and counts go by stored terms: two spellings of one value are one value.
* `sh:lessThan` is SPARQL's operator: what it cannot compare fails (section 4.5.3).

Example
-------
>>> from bridge.shapes.data import Data
>>> list(_at_least(1)(Data({}), Iri("urn:ann"), {}))
[Fault(value=None, spelled=None, path=None, messages=(), unanswered=0)]
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from bridge.shapes.constraints.checks import Check, Fault, fault_of
from bridge.shapes.lexical import compare, read
from bridge.shapes.vocabulary import sh
from kernel.terms import Iri, Literal, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bridge.shapes.constraints.checks import Components, Parameters
    from bridge.shapes.data import Data, Nodes

_NO_FAULT: Final = ()
_ONE_FAULT: Final = (Fault(),)


def set_checks(said: Parameters, open_to: frozenset[Iri] | None) -> Components:
    """The checks of all values together that a shape asks for.

    Args:
        said: by the shape.
        open_to: for a closed shape, the predicates that its values may have; None: it is not closed.
    """
    for least in said.literals(sh("minCount")):
        yield "MinCount", _at_least(int(least.lexical))
    for most in said.literals(sh("maxCount")):
        yield "MaxCount", _at_most(int(most.lexical))
    if said.is_true(sh("uniqueLang")):
        yield "UniqueLang", _one_a_language
    for wanted in said.values(sh("hasValue")):
        yield "HasValue", _having(wanted)
    yield from _pairs(said)
    if open_to is not None:
        yield "Closed", _closed(open_to)


def _pairs(said: Parameters) -> Components:
    for other in said.nodes(sh("equals")):
        yield "Equals", _equal(other)
    for other in said.nodes(sh("disjoint")):
        yield "Disjoint", _disjoint(other)
    for other in said.nodes(sh("lessThan")):
        yield "LessThan", _less(other, lambda order: order < 0)
    for other in said.nodes(sh("lessThanOrEquals")):
        yield "LessThanOrEquals", _less(other, lambda order: order <= 0)


def _at_least(least: int) -> Check:
    return lambda _data, _focus, values: _NO_FAULT if len(values) >= least else _ONE_FAULT


def _at_most(most: int) -> Check:
    return lambda _data, _focus, values: _NO_FAULT if len(values) <= most else _ONE_FAULT


def _one_a_language(_data: Data, _focus: Term, values: Nodes) -> tuple[Fault, ...]:
    languages = Counter(value.language.lower() for value in values if isinstance(value, Literal) and value.language)
    return _ONE_FAULT if any(count > 1 for count in languages.values()) else _NO_FAULT


def _having(wanted: Term) -> Check:
    return lambda _data, _focus, values: _NO_FAULT if wanted in values else _ONE_FAULT


def _equal(other: Iri) -> Check:
    def check(data: Data, focus: Term, values: Nodes) -> Iterator[Fault]:
        others = data.objects(focus, other)
        for value in values.keys() - others.keys():
            yield fault_of(value, values[value])
        for value in others.keys() - values.keys():
            yield fault_of(value, others[value])

    return check


def _disjoint(other: Iri) -> Check:
    def check(data: Data, focus: Term, values: Nodes) -> Iterator[Fault]:
        for value in values.keys() & data.objects(focus, other).keys():
            yield fault_of(value, values[value])

    return check


def _less(other: Iri, holds: Callable[[int], bool]) -> Check:
    def compares(one: Term, another: Term) -> bool:
        if not (isinstance(one, Literal) and isinstance(another, Literal)):
            return False
        order = compare(read(one.lexical, one.datatype), read(another.lexical, another.datatype))
        return order is not None and holds(order)

    def check(data: Data, focus: Term, values: Nodes) -> Iterator[Fault]:
        others = data.objects(focus, other)
        for value, spellings in values.items():
            if not all(compares(value, another) for another in others):
                yield fault_of(value, spellings)

    return check


def _closed(open_to: frozenset[Iri]) -> Check:
    def check(data: Data, _focus: Term, values: Nodes) -> Iterator[Fault]:
        for node in values:
            for predicate, nodes in data.outgoing(node).items():
                if predicate not in open_to:
                    for value, spellings in nodes.items():
                        yield Fault(value, spellings[0] if spellings else None, predicate)

    return check
