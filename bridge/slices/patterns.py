"""What a query has to find in the facts of a moment: which queries a slice is enough for.

Rules
-----
* A slice is some of the statements of a moment, and the unmodified query runs on it. For the answer to be the same,
  each group of triple patterns must have the same solutions on the slice as on all of it.
* A `Block` is the patterns that are joined with each other: those of a group, of plain groups within it, and of `GRAPH`
  within it. What one of them rules out, no other has to be read for: a group's result is the sum of the results of each
  single solution of its patterns, and MINUS, OPTIONAL, BIND and FILTER look at one solution after the other
  (SPARQL 1.1, section 18.5).
* Nothing is ruled out across OPTIONAL, MINUS, EXISTS, UNION or a query within the query: these are blocks of their own,
  of which everything is read.
* Eligible are SELECT, ASK and CONSTRUCT of triple patterns and of paths of one step or more. A path of no step leads
  from every node there is to itself, a negated set to what nobody has named, `GRAPH ?g` without a triple pattern lists
  graphs, and DESCRIBE goes by what is around a node: for these it takes all there is.
* VALUES rules out, too, where it has a value in every row.

Example
-------
>>> text = "PREFIX : <urn:> SELECT ?n { :a :knows+ ?x . ?x :name ?n OPTIONAL { ?x :age ?age } }"
>>> [len(block.patterns) for block in blocks_of(text)]
[1, 2]
>>> blocks_of("ASK { ?s <urn:p>* ?o }") is None
True
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from bridge.shapes.paths import ANY, Step, is_nullable, predicates, replaced
from bridge.sparql.algebra import (
    Bind,
    Filter,
    Group,
    InGraph,
    Minus,
    Optional,
    Select,
    Triple,
    Union,
    Values,
    Variable,
)
from bridge.sparql.parsing import QueryParser
from bridge.sparql.templates import placeholder, template_of
from kernel.errors import CallerError
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bridge.shapes.paths import Path
    from bridge.sparql.algebra import Node, Part
    from kernel.terms import Term

_CACHED: Final = 1_024
_LONGEST: Final = 16_384
"""Characters of a query that is looked at; so that what is remembered is bounded, too."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A triple pattern or path.

    Args:
        subject: where it starts.
        path: a variable, a step forwards, or a path of several.
        value: where it ends.
        graph: where it is looked for; None: in the default graph.
    """

    subject: Node
    path: Path | Variable
    value: Node
    graph: Node | None


@dataclass(frozen=True, slots=True)
class Block:
    """Patterns that are joined with each other.

    Args:
        patterns: in their order.
        values: the variables that can have no other values than these.
    """

    patterns: tuple[Pattern, ...]
    values: tuple[tuple[str, frozenset[Term]], ...]


def blocks_of(text: str, base: str | None = None) -> tuple[Block, ...] | None:
    """The blocks of a query; None where no slice is enough for it, or that cannot be told.

    Args:
        text: the query.
        base: what its relative IRIs are relative to where it has no BASE.
    """
    if len(text) > _LONGEST:
        return None
    template = template_of(text)
    if template is None:
        return _blocks_of(text, base)
    blocks = _blocks_of(template.text, base)
    iris = {Iri(placeholder(number)): Iri(iri) for number, iri in enumerate(template.iris)}
    return None if blocks is None else tuple(_filled(block, iris) for block in blocks)


@lru_cache(maxsize=_CACHED)
def _blocks_of(text: str, base: str | None) -> tuple[Block, ...] | None:
    gathered: list[Block] = []
    try:
        _gather(QueryParser(text, base).query(), gathered)
    except (CallerError, _IneligibleError):
        return None
    return tuple(gathered)


class _IneligibleError(Exception):
    """A slice is not enough."""


@dataclass(slots=True)
class _Block:
    """A block as it grows."""

    patterns: list[Pattern] = field(default_factory=list)
    values: list[tuple[str, frozenset[Term]]] = field(default_factory=list)


def _gather(query: Select, into: list[Block]) -> None:
    for group in (query.group, *query.groups):
        _whole(group, None, into)


def _whole(group: Group, graph: Node | None, into: list[Block]) -> None:
    """A group of which nothing is ruled out by others."""
    block = _Block()
    _join(group.parts, graph, block, into)
    into.append(Block(tuple(block.patterns), tuple(block.values)))


def _join(parts: Iterable[Part], graph: Node | None, block: _Block, into: list[Block]) -> None:
    for part in parts:
        match part:
            case Triple():
                block.patterns.append(_pattern(part, graph))
            case Values():
                block.values += _certain(part)
            case Group(inner):
                _join(inner, graph, block, into)
            case InGraph(name, group):
                if not any(isinstance(each, Triple) for each in group.parts):
                    raise _IneligibleError
                _join(group.parts, name, block, into)
            case _:
                for group in _apart(part):
                    _whole(group, graph, into)


def _apart(part: Optional | Minus | Union | Filter | Bind | Select) -> tuple[Group, ...]:
    """The groups of a part that is not just joined."""
    match part:
        case Optional(group) | Minus(group):
            return (group,)
        case Union(groups) | Filter(groups) | Bind(_, _, groups):
            return groups
        case Select(_, group, groups):
            return (group, *groups)


def _pattern(triple: Triple, graph: Node | None) -> Pattern:
    path = triple.path
    if not isinstance(path, Variable) and (is_nullable(path) or ANY in predicates(path)):
        raise _IneligibleError
    if isinstance(path, Step) and path.inverse:
        return Pattern(triple.value, Step(path.predicate), triple.subject, graph)
    return Pattern(triple.subject, path, triple.value, graph)


def _filled(block: Block, iris: Mapping[Iri, Iri]) -> Block:
    """A block of a template, with IRIs in the places of numbers."""

    def put(node: Node) -> Node:
        return iris.get(node, node) if isinstance(node, Iri) else node

    def path(of: Path | Variable) -> Path | Variable:
        return of if isinstance(of, Variable) else replaced(of, iris)

    patterns = (
        Pattern(put(each.subject), path(each.path), put(each.value), each.graph and put(each.graph))
        for each in block.patterns
    )
    values = (
        (name, frozenset(iris.get(term, term) if isinstance(term, Iri) else term for term in terms))
        for name, terms in block.values
    )
    return Block(tuple(patterns), tuple(values))


def _certain(values: Values) -> Iterator[tuple[str, frozenset[Term]]]:
    """The variables that have a value in every row."""
    for place, name in enumerate(values.variables):
        column = [row[place] for row in values.rows]
        terms = frozenset(term for term in column if term is not None)
        if None not in column:
            yield name, terms
