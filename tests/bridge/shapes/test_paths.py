"""Property paths, against the paths of SPARQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyoxigraph as ox
from hypothesis import given
from hypothesis import strategies as st

from bridge.shapes.paths import (
    Alternative,
    Path,
    Repeat,
    Sequence,
    Step,
    inverted,
    levels,
    reach,
    sources,
    text,
)
from kernel.terms import Iri, Term

if TYPE_CHECKING:
    from collections.abc import Iterable

NODES: Final = tuple(Iri(f"urn:n{number}") for number in range(4))
P, Q = Iri("urn:p"), Iri("urn:q")
Edge = tuple[Iri, Iri, Iri]


class Graph:
    """Edges, and the steps that they allow."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self.edges = set(edges)

    def __call__(self, predicate: Iri, node: Term, *, inverse: bool) -> list[Term]:
        if inverse:
            return [start for start, name, end in self.edges if name == predicate and end == node]
        return [end for start, name, end in self.edges if name == predicate and start == node]


def paths() -> st.SearchStrategy[Path]:
    steps: st.SearchStrategy[Path] = st.builds(Step, st.sampled_from([P, Q]), st.booleans())
    return st.recursive(
        steps,
        lambda inner: st.one_of(
            st.builds(lambda parts: Sequence(tuple(parts)), st.lists(inner, min_size=2, max_size=4)),
            st.builds(lambda parts: Alternative(tuple(parts)), st.lists(inner, min_size=2, max_size=3)),
            st.builds(
                lambda path, kind: Repeat(path, *kind),
                inner,
                st.sampled_from([(False, True), (True, True), (False, False)]),
            ),
        ),
        max_leaves=5,
    )


def graphs() -> st.SearchStrategy[Graph]:
    edges = st.tuples(st.sampled_from(NODES), st.sampled_from([P, Q]), st.sampled_from(NODES))
    return st.builds(Graph, st.lists(edges, max_size=7))


def asked(graph: Graph, path: Path, start: Iri) -> set[Term]:
    """Where SPARQL says that the path leads."""
    store = ox.Store()
    # Oxigraph finds no path of length zero at a node that no statement names.
    there = [(node, Iri("urn:there"), node) for node in NODES]
    store.extend(ox.Quad(*(ox.NamedNode(term.value) for term in edge)) for edge in [*graph.edges, *there])
    solutions = store.query(f"SELECT DISTINCT ?end {{ {start.n3} {text(path)} ?end }}")
    assert isinstance(solutions, ox.QuerySolutions)
    return {Iri(node.value) for solution in solutions if isinstance(node := solution["end"], ox.NamedNode)}


@given(graphs(), paths())
def test_paths_lead_where_sparql_says(graph: Graph, path: Path) -> None:
    for start in NODES:
        assert reach(path, {start}, graph) == asked(graph, path, start)


@given(graphs(), paths())
def test_the_inverse_leads_back(graph: Graph, path: Path) -> None:
    pairs = {(start, end) for start in NODES for end in reach(path, {start}, graph)}
    back = {(start, end) for end in NODES for start in reach(inverted(path), {end}, graph)}
    assert pairs == back
    assert inverted(inverted(path)) == path


@given(graphs(), paths(), st.tuples(st.sampled_from(NODES), st.sampled_from([P, Q]), st.sampled_from(NODES)))
def test_sources_are_all_whose_values_a_statement_may_change(graph: Graph, path: Path, edge: Edge) -> None:
    with_it, without = Graph(graph.edges | {edge}), Graph(graph.edges - {edge})
    changed = {node for node in NODES if reach(path, {node}, with_it) != reach(path, {node}, without)}
    assert changed <= sources(path, [edge], with_it)


def test_levels_count_how_deep_a_path_lies() -> None:
    step = Step(P)
    assert levels(step) == 0
    assert levels(Sequence((step,) * 8)) == 1
    assert levels(Alternative((Repeat(Repeat(step, once=False, unbounded=True), once=True, unbounded=True), step))) == 3


def test_paths_are_written_as_sparql_writes_them() -> None:
    path = Sequence((Alternative((Step(P), Step(Q, inverse=True))), Repeat(Step(P), once=False, unbounded=False)))
    assert text(path) == "(<urn:p>|^<urn:q>)/(<urn:p>)?"
