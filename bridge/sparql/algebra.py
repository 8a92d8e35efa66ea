"""What a query is made of, as far as what it reads depends on it.

Rules
-----
* A group is its parts in their order (SPARQL 1.1, section 18.2.2): triples and groups are joined, an OPTIONAL goes by
  what stands before it, a FILTER by the whole group.
* Of an expression nothing is kept but the groups of its EXISTS, and whether it is a bare variable or term.
* A blank node of a query is a variable that cannot be projected.

Example
-------
::

    Select(("this",), Group((Triple(Variable("this"), Step(name), Variable("name")),)), ())
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bridge.shapes.paths import Path
from kernel.terms import Term


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, by its name without the mark; that of a blank node begins with `_:`."""

    name: str


Node: TypeAlias = Variable | Term


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple pattern, or a path between two nodes."""

    subject: Node
    path: Path | Variable
    value: Node


@dataclass(frozen=True, slots=True)
class Group:
    """What stands in braces."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """One group or another."""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Optional:
    """OPTIONAL and its group."""

    group: Group


@dataclass(frozen=True, slots=True)
class Minus:
    """MINUS and its group."""

    group: Group


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES: its variables, and its rows; None in a row is UNDEF."""

    variables: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """A FILTER: the groups of every EXISTS in it."""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    """BIND.

    Args:
        value: what is bound, if the expression is no more than that.
        groups: of every EXISTS in the expression.
    """

    variable: Variable
    value: Node | None
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class InGraph:
    """GRAPH, its name and its group."""

    name: Node
    group: Group


@dataclass(frozen=True, slots=True)
class Select:
    """A query, or one within another.

    Args:
        projected: the variables that it gives as they are; None for all (`*`).
        group: what stands after WHERE.
        groups: of every EXISTS in what is selected, grouped or ordered by.
    """

    projected: tuple[str, ...] | None
    group: Group
    groups: tuple[Group, ...]


Part: TypeAlias = Triple | Group | Union | Optional | Minus | Values | Filter | Bind | InGraph | Select
