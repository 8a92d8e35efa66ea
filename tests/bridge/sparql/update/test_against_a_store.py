"""Random updates of a base come to what they come to in a store of the engine's own.

Strictly, the engine updates the store itself. It has no update whose default graph is a union; for that it finds the
solutions, and a model in a few lines does with them what the rules say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyoxigraph as ox
from hypothesis import given
from hypothesis import strategies as st

from bridge.base import Base
from bridge.stores.projections import Projection
from kernel.errors import NotFound
from tests.bridge.sparql.update.updating import DEFAULT, contents, update

NODES: Final = ("<urn:a>", "<urn:b>", "<urn:c>")
GRAPHS: Final = ("<urn:g>", "<urn:h>")
VALUES: Final = (*NODES, "1", "'x'@en")

nodes, graphs, values = st.sampled_from(NODES), st.sampled_from(GRAPHS), st.sampled_from(VALUES)
predicates = st.sampled_from(["<urn:p>", "<urn:q>"])
variables = st.sampled_from(["?x", "?y"])


def triple(subject: st.SearchStrategy[str], value: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(subject, predicates, value).map(" ".join)


Quads = list[tuple[str | None, str]]
"""Graph, or None for the default graph, and triple."""


def some(one: st.SearchStrategy[str], graph: st.SearchStrategy[str]) -> st.SearchStrategy[Quads]:
    """Some triples, each in the default graph or another."""
    return st.lists(st.tuples(st.none() | graph, one), min_size=1, max_size=3)


def written(quads: Quads) -> str:
    return " ".join(f"{triple} ." if graph is None else f"GRAPH {graph} {{ {triple} }}" for graph, triple in quads)


def quads(one: st.SearchStrategy[str], graph: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return some(one, graph).map(written)


data = quads(triple(nodes, values), graphs)
mostly = triple(st.sampled_from(["?x", "?x", "?y", "<urn:a>"]), st.sampled_from(["?y", "?y", "?x", "1", "<urn:b>"]))
templates = quads(mostly, graphs | st.just("?g"))
patterns = st.builds(
    lambda first, more, rest: f"{first} {more} {rest}",
    st.builds(
        lambda graph, predicate: f"{graph[0]} ?x {predicate} ?y . {graph[1]}",
        st.sampled_from([("", ""), ("GRAPH ?g {", "}"), ("GRAPH <urn:g> {", "}")]),
        predicates,
    ),
    st.just("") | quads(triple(nodes | variables, values | variables), graphs),
    st.sampled_from(["", "OPTIONAL { ?x <urn:q> ?z }", "FILTER(?x != <urn:a>)", "BIND(<urn:c> AS ?w)"]),
)
some_graph = graphs.map(lambda graph: f"GRAPH {graph}")

modifications = st.builds(
    lambda head, delete, insert, using, where: (
        f"{head} DELETE {{ {delete} }} INSERT {{ {insert} }} {using} WHERE {{ {where} }}"
    ),
    st.sampled_from(["", "WITH <urn:g>"]),
    templates,
    templates,
    st.sampled_from(["", "USING <urn:h>", "USING <urn:g> USING NAMED <urn:h>"]),
    patterns,
)
operations = st.one_of(
    data.map(lambda each: f"INSERT DATA {{ {each} }}"),
    data.map(lambda each: f"DELETE DATA {{ {each} }}"),
    templates.map(lambda each: f"DELETE WHERE {{ {each} }}"),
    modifications,
    st.tuples(
        st.sampled_from(["CLEAR SILENT", "DROP SILENT"]), some_graph | st.sampled_from(["DEFAULT", "NAMED", "ALL"])
    ).map(" ".join),
    st.builds(
        lambda how, source, target: f"{how} {source} TO {target}",
        st.sampled_from(["ADD", "COPY", "MOVE"]),
        some_graph | st.just("DEFAULT"),
        some_graph | st.just("DEFAULT"),
    ),
)
requests = st.lists(operations | modifications, min_size=1, max_size=4).map(" ;\n".join)
SOME: Final = (
    "INSERT DATA { <urn:a> <urn:p> <urn:b>, 1 . GRAPH <urn:g> { <urn:a> <urn:p> 1 . <urn:b> <urn:q> 'x'@en } }"
)


@given(st.lists(requests, min_size=1, max_size=3))
def test_strictly_an_update_comes_to_what_the_engine_makes_of_it(texts: list[str]) -> None:
    held: set[ox.Quad] = set()
    with Base.open(None) as base:
        for text in (SOME, *texts):
            try:
                update(base, text, strict=True)
            except NotFound:  # a graph that holds nothing is not there; to the engine it may be
                assert any(word in text for word in ("ADD", "COPY", "MOVE"))
            else:
                held = by_the_engine(held, text)
            assert contents(base) == held, text


def by_the_engine(held: set[ox.Quad], text: str) -> set[ox.Quad]:
    """What the engine makes of an update, graphs that it misses being there."""
    store = ox.Store()
    for graph in GRAPHS:
        store.add_graph(ox.NamedNode(graph[1:-1]))
    store.extend(held)
    store.update(text)
    return set(store)


# --- the union --------------------------------------------------------------------------------------------------------

templated = some(mostly, graphs | st.just("?g"))
modified = st.tuples(templated, templated, patterns)


@given(st.lists(modified, min_size=1, max_size=4), st.booleans())
def test_over_the_union_an_update_does_with_the_solutions_what_the_rules_say(
    asked: list[tuple[Quads, Quads, str]], together: bool
) -> None:
    texts = [
        f"DELETE {{ {written(old)} }} INSERT {{ {written(new)} }} WHERE {{ {where} }}" for old, new, where in asked
    ]
    with Base.open(None) as base:
        update(base, SOME)
        held = {quad if quad.graph_name != ox.DefaultGraph() else in_graph(quad, DEFAULT) for quad in contents(base)}
        for old, new, where in asked:
            held = over_the_union(held, old, new, where)
        for text in [" ;\n".join(texts)] if together else texts:
            update(base, text)
        found, _ = base.stores.read(Projection.CURRENT, set)
        assert found == held


def over_the_union(held: set[ox.Quad], old: Quads, new: Quads, where: str) -> set[ox.Quad]:
    store = ox.Store()
    store.extend(held)
    named = [DEFAULT, *(ox.NamedNode(graph[1:-1]) for graph in GRAPHS)]
    text = f"SELECT * WHERE {{ {where} }}"
    solutions = store.query(text, use_default_graph_as_union=True, named_graphs=[*named])
    assert isinstance(solutions, ox.QuerySolutions)
    names = {variable.value for variable in solutions.variables}
    bound = [{name: solution[name] for name in names} for solution in solutions]
    gone = [quad for terms in bound for quad in ground(old, terms)]
    come = [quad for terms in bound for quad in ground(new, terms)]
    for graph, each in gone:
        held = held - {in_graph(each, name) for name in (named if graph is None else [graph])}
    return held | {in_graph(each, graph or DEFAULT) for graph, each in come}


Term = ox.NamedNode | ox.Literal | None


def ground(quads: Quads, terms: dict[str, Term]) -> Iterator[tuple[ox.NamedNode | None, ox.Quad]]:
    for graph, triple in quads:
        subject, predicate, value = (term_of(text, terms) for text in triple.split(" "))
        name = None if graph is None else term_of(graph, terms)
        if not isinstance(subject, ox.NamedNode) or not isinstance(predicate, ox.NamedNode) or value is None:
            continue
        if name is None and graph is None:
            yield None, ox.Quad(subject, predicate, value)
        elif isinstance(name, ox.NamedNode):
            yield name, ox.Quad(subject, predicate, value)


def term_of(text: str, terms: dict[str, Term]) -> Term:
    if text.startswith("?"):
        return terms.get(text[1:])
    if text.startswith("<"):
        return ox.NamedNode(text[1:-1])
    return ox.Literal(1) if text == "1" else ox.Literal("x", language="en")


def in_graph(quad: ox.Quad, graph: ox.NamedNode) -> ox.Quad:
    return ox.Quad(quad.subject, quad.predicate, quad.object, graph)
