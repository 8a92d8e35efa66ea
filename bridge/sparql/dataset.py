"""What a caller may read with a query: the one place where that is turned into a dataset.

Rules
-----
* Two stores: the *current* one holds data graphs only, the *complete* one also governance and history. A query runs on
  the complete one when a governance or history graph that its caller may read is in its dataset.
* Without FROM: the default graph is the union of the data graphs that the caller may read; never governance, never
  history. `GRAPH` reaches those graphs, with a variable or by their name also the governance graphs, and the history
  graphs where the text mentions history.
* Strictly, the default graph is `m:default` alone, if the caller may read it, and `GRAPH` does not reach that one.
* With FROM or FROM NAMED, or the parameters of the SPARQL 1.1 Protocol (section 2.1.4), which override both: what is
  asked for, as far as it exists and may be read. Nothing left means nothing to read, not everything.
* A graph that the caller may not read is as one that does not exist. Markers and the like are never listed.
* The engine always gets both lists: it then goes by those alone, and ignores FROM. The union of everything is said by
  `union` where it can be, because a long list of graphs makes every look-up slow.

Example
-------
>>> from bridge.sparql.scan import scan
>>> from kernel.access import Role
>>> reader = Principal("p", Role.READER, frozenset({Iri("urn:g")}))
>>> known = frozenset({Iri("urn:g"), Iri("urn:secret")})
>>> dataset_for(reader, scan("SELECT * FROM <urn:secret> { ?s ?p ?o }"), known).default_graphs
()
>>> dataset_for(reader, scan("SELECT * { GRAPH ?g { ?s ?p ?o } }"), known).named_graphs
(Iri(value='urn:g'),)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kernel.access import Principal
from kernel.errors import InvalidParameter, InvalidTerm
from kernel.terms import Iri
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE, graph_of_history, history_graph, is_history, is_ours

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bridge.sparql.scan import QueryShape

_CACHED: Final = 1_024


@dataclass(frozen=True, slots=True)
class Dataset:
    """The graphs that a query is answered from.

    Args:
        complete: it takes the complete store; else the current one will do.
        union: the default graph is all there is in a store of data graphs alone, and `default_graphs` lists the same.
        default_graphs: the graphs whose union is the default graph.
        named_graphs: the graphs that GRAPH reaches.
    """

    complete: bool
    union: bool
    default_graphs: tuple[Iri, ...]
    named_graphs: tuple[Iri, ...]

    def __post_init__(self) -> None:
        if self.complete and self.union:
            raise ValueError("the union of the complete store is for nobody: it has history in it")

    @property
    def history(self) -> bool:
        """Whether a history graph is among them."""
        return self.complete and any(map(is_history, (*self.default_graphs, *self.named_graphs)))


def dataset_for(
    principal: Principal,
    shape: QueryShape,
    known: frozenset[Iri],
    default_uris: tuple[str, ...] = (),
    named_uris: tuple[str, ...] = (),
    *,
    strict: bool = False,
) -> Dataset:
    """The dataset of a query for one caller.

    Args:
        principal: the caller.
        shape: what its query asks for.
        known: every graph that a fact was ever recorded in.
        default_uris: the `default-graph-uri` parameters of the request.
        named_uris: its `named-graph-uri` parameters.
        strict: whether the default graph of a query that names no dataset is `m:default` alone.

    Raises:
        InvalidParameter: a parameter that is not an IRI.
    """
    return _dataset_for(principal, shape, known, default_uris, named_uris, strict)


@lru_cache(maxsize=_CACHED)
def _dataset_for(
    principal: Principal,
    shape: QueryShape,
    known: frozenset[Iri],
    default_uris: tuple[str, ...],
    named_uris: tuple[str, ...],
    strict: bool,
) -> Dataset:
    readable = _Readable(principal, known)
    if default_uris or named_uris:
        asked_default = [_parameter("default-graph-uri", uri) for uri in default_uris]
        return readable.asked_for(asked_default, [_parameter("named-graph-uri", uri) for uri in named_uris])
    if shape.from_default or shape.from_named:
        return readable.asked_for(shape.from_default, shape.from_named)
    return _strictly(readable.unasked(shape)) if strict else readable.unasked(shape)


def _strictly(dataset: Dataset) -> Dataset:
    default = tuple(graph for graph in dataset.default_graphs if graph == DEFAULT_GRAPH)
    named = tuple(graph for graph in dataset.named_graphs if graph != DEFAULT_GRAPH)
    return Dataset(dataset.complete, False, default, named)


class _Readable:
    """The graphs that a caller may read, by their kinds."""

    def __init__(self, principal: Principal, known: frozenset[Iri]) -> None:
        readable = [graph for graph in sorted(known, key=_value) if principal.may_read(graph)]
        self.everything = principal.reads_everything
        self.data = tuple(graph for graph in readable if graph == DEFAULT_GRAPH or not is_ours(graph))
        self.governance = tuple(graph for graph in readable if graph in GOVERNANCE)

    def unasked(self, shape: QueryShape) -> Dataset:
        """The dataset of a query that names none."""
        named = self.data if shape.graph else ()
        if shape.mentions_governance or shape.graph_variable or shape.mentions_history:
            named = self.data + self.governance
        if shape.mentions_history:
            named += tuple(map(history_graph, self.data + self.governance))
        complete = len(named) > len(self.data)
        return Dataset(complete, self.everything and not complete, self.data, named)

    def asked_for(self, default: Iterable[Iri], named: Iterable[Iri]) -> Dataset:
        """The dataset of a query that names one, as far as the caller may read it."""
        chosen = [tuple(dict.fromkeys(graph for graph in graphs if self._has(graph))) for graphs in (default, named)]
        complete = any(graph in GOVERNANCE or is_history(graph) for graphs in chosen for graph in graphs)
        return Dataset(complete, False, *chosen)

    def _has(self, graph: Iri) -> bool:
        return graph in self.data or graph in self.governance or self._has_history(graph)

    def _has_history(self, graph: Iri) -> bool:
        try:
            source = graph_of_history(graph)
        except InvalidTerm:
            return False
        return source is not None and history_graph(source) == graph and not is_history(source) and self._has(source)


def _parameter(name: str, uri: str) -> Iri:
    try:
        return Iri(uri)
    except InvalidTerm as error:
        raise InvalidParameter(error.message, remedy=error.remedy, where=name) from error


def _value(graph: Iri) -> str:
    return graph.value
