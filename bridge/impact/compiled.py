"""A registered query made ready: what it reads, and which statements it minds.

Rules
-----
* A query is asked of graphs of data alone: those that it was registered with, or all; FROM narrows that.
* What a query finds in its data is told by its patterns (`bridge.slices.patterns`). A statement that matches none of
  them, wherever it stands, is in no solution and rules none out: the answer is the same with it and without it. So the
  query minds those alone that match one.
* Of a query whose patterns cannot be told, every statement of its graphs is minded.
* Two readings of one text are one: patterns have terms as a store holds them.

Example
-------
>>> from kernel.terms import Statement
>>> from kernel.vocabulary import DEFAULT_GRAPH
>>> query = RegisteredQuery("ages", "SELECT ?a { <urn:ann> <urn:age> ?a }", "desk", "desk@city.example")
>>> p = Iri("urn:age")
>>> Compiled(query).minds(Statement(Iri("urn:ann"), p, p, DEFAULT_GRAPH))
True
>>> Compiled(query).minds(Statement(Iri("urn:bob"), p, p, DEFAULT_GRAPH))
False
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from bridge.shapes.paths import Step, predicates
from bridge.slices.patterns import blocks_of
from bridge.sparql.algebra import Variable
from bridge.sparql.dataset import dataset_for
from bridge.sparql.scan import runnable, scan
from kernel.access import Principal, Role
from kernel.queries import RegisteredQuery
from kernel.terms import Iri
from kernel.vocabulary import QUERIES_GRAPH, is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.slices.patterns import Block, Pattern
    from bridge.sparql.algebra import Node
    from bridge.sparql.dataset import Dataset
    from kernel.terms import Statement, Term

MOST_GRAPHS: Final = 64
"""Graphs that a finding names; one that is drawn from more is for those who read the registry, and read everything."""

_SEVERAL: Final = 32
"""Values of a variable that are told apart."""

_Terms = frozenset["Term"] | None
"""What can stand in a place; None: anything."""


class Mind(NamedTuple):
    """What statements have to be to match one pattern."""

    subjects: _Terms
    predicates: _Terms
    values: _Terms
    graphs: _Terms

    def matches(self, statement: Statement) -> bool:
        """Whether a statement is so."""
        return (
            (self.subjects is None or statement.subject in self.subjects)
            and (self.predicates is None or statement.predicate in self.predicates)
            and (self.values is None or statement.object in self.values)
            and (self.graphs is None or statement.graph in self.graphs)
        )


class Compiled:
    """A registered query, made ready.

    Args:
        query: one that `bridge.impact.admission` admits.

    Raises:
        QueryRefused: it is none of these, and cannot even be scanned.
    """

    def __init__(self, query: RegisteredQuery) -> None:
        self.query = query
        self._shape = scan(query.text)
        self._asker = Principal("registered", Role.READER, frozenset(query.graphs) if query.graphs else None)
        named = (*self._shape.from_default, *self._shape.from_named)
        self._from = frozenset(named) if named else None

    @cached_property
    def runnable(self) -> str:
        """The text as it is run."""
        return runnable(self.query.text)

    @cached_property
    def minded(self) -> tuple[Mind, ...] | None:
        """What it minds, pattern by pattern; None where that cannot be told."""
        blocks = blocks_of(self.query.text)
        return None if blocks is None else tuple(mind for block in blocks for mind in _minds(block))

    def reads(self, graph: Iri) -> bool:
        """Whether it is asked of a graph."""
        return (
            is_data(graph)
            and (not self.query.graphs or graph in self.query.graphs)
            and (self._from is None or graph in self._from)
        )

    def minds(self, statement: Statement) -> bool:
        """Whether its answer may depend on whether a statement holds."""
        minded = self.minded
        return self.reads(statement.graph) and (minded is None or any(each.matches(statement) for each in minded))

    def dataset(self, known: frozenset[Iri]) -> Dataset:
        """What it is asked of where these graphs of data are known."""
        return dataset_for(self._asker, self._shape, known)

    def drawn_from(self, known: frozenset[Iri]) -> tuple[str, ...]:
        """The graphs that a finding about it is drawn from: those that it was registered with, or all."""
        graphs = self.query.graphs or tuple(filter(self.reads, known))
        return tuple(graph.value for graph in graphs) if 0 < len(graphs) <= MOST_GRAPHS else (QUERIES_GRAPH.value,)


def _minds(block: Block) -> Iterator[Mind]:
    values: dict[str, frozenset[Term]] = {}
    for name, terms in block.values:
        values[name] = values.get(name, terms) & terms
    for pattern in block.patterns:
        yield _mind(pattern, values)


def _mind(pattern: Pattern, values: dict[str, frozenset[Term]]) -> Mind:
    graphs = None if pattern.graph is None else _of(pattern.graph, values)
    if isinstance(pattern.path, Variable | Step):
        along = pattern.path if isinstance(pattern.path, Variable) else pattern.path.predicate
        return Mind(_of(pattern.subject, values), _of(along, values), _of(pattern.value, values), graphs)
    return Mind(None, frozenset(predicates(pattern.path)), None, graphs)  # what lies between its ends is any node


def _of(node: Node, values: dict[str, frozenset[Term]]) -> _Terms:
    if not isinstance(node, Variable):
        return frozenset((node,))
    known = values.get(node.name)
    return known if known is None or len(known) <= _SEVERAL else None


def compiled(queries: Iterable[RegisteredQuery]) -> list[Compiled]:
    """The queries made ready, by name."""
    return [Compiled(query) for query in sorted(queries, key=lambda query: query.name)]
