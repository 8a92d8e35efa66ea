"""What a constraint is made from, and what it says of the values of a shape at a focus.

Rules
-----
* A check is made once, when shapes are compiled, and then only reads data.
* It tells faults; which shape, component, focus and severity they are of is known to whoever runs it.

Example
-------
::

    for component, check in checks_of(parameters):
        for fault in check(data, focus, values):
            fault.value
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from kernel.terms import Iri, Literal, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bridge.shapes.data import Data, Nodes, Spellings
    from bridge.shapes.document import ShapesDocument


@dataclass(frozen=True, slots=True)
class Fault:
    """Something at which a constraint fails.

    Args:
        value: the value at fault, in its stored form, if it is one.
        spelled: the value as it was submitted.
        path: the predicate at fault, where it is not the shape's own path.
        messages: what the constraint says of it in words of its own.
        unanswered: another number for each time that the constraint could not be judged; 0: it was.
    """

    value: Term | None = None
    spelled: Literal | None = None
    path: Iri | None = None
    messages: tuple[Literal, ...] = ()
    unanswered: int = 0


class Check(Protocol):
    """A constraint, compiled."""

    def __call__(self, data: Data, focus: Term, values: Nodes, /) -> Iterable[Fault]:
        """The faults of the values of a shape at a focus."""
        ...


class Conforms(Protocol):
    """Whether a node conforms to a shape, by the shape's node."""

    def __call__(self, shape: Iri, data: Data, node: Term, spellings: Spellings) -> bool:
        """Whether it does."""
        ...


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a shape says, for the components that read it.

    Args:
        document: the shapes graph.
        node: the shape.
        conforms: judges by another shape.
    """

    document: ShapesDocument
    node: Iri
    conforms: Conforms

    def values(self, parameter: Iri) -> list[Term]:
        """The values of a parameter, in their stored form."""
        return self.document.objects(self.node, parameter)

    def nodes(self, parameter: Iri) -> list[Iri]:
        """Those that are nodes."""
        return self.document.nodes(self.node, parameter)

    def literals(self, parameter: Iri) -> list[Literal]:
        """Those that are literals, as they were submitted."""
        return [
            self.document.spelling((self.node, parameter, value)) or value
            for value in self.values(parameter)
            if isinstance(value, Literal)
        ]

    def lists(self, parameter: Iri) -> list[list[Term]]:
        """The members of each list."""
        return [self.document.items(head) or [] for head in self.values(parameter)]

    def is_true(self, parameter: Iri) -> bool:
        """Whether the boolean true is among the values."""
        return self.document.is_true(self.node, parameter)


Components: TypeAlias = "Iterator[tuple[str, Check]]"
"""Checks, each with the short name of its component."""


def each_value(fits: Callable[[Data, Term], bool]) -> Check:
    """A check that a value fails which does not fit."""

    def check(data: Data, _focus: Term, values: Nodes) -> Iterator[Fault]:
        for value, spellings in values.items():
            if not fits(data, value):
                yield fault_of(value, spellings)

    return check


def each_form(fits: Callable[[Literal], bool], node_fits: Callable[[Iri], bool] = lambda _: False) -> Check:
    """A check that a literal fails of which any spelling does not fit, and any other node that does not.

    What is neither, a triple term, fails it.
    """

    def check(_data: Data, _focus: Term, values: Nodes) -> Iterator[Fault]:
        for value, spellings in values.items():
            if isinstance(value, Literal):
                for form in spellings or (value,):
                    if not fits(form):
                        yield Fault(value, form)
                        break
            elif not (isinstance(value, Iri) and node_fits(value)):
                yield Fault(value)

    return check


def fault_of(value: Term, spellings: Spellings) -> Fault:
    """The fault at a value, shown in its first spelling."""
    return Fault(value, spellings[0] if spellings else None)
