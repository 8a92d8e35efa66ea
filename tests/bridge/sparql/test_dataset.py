"""NothingLeaks: an answer is what the query would say over a store with nothing else in it than the caller may read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sparql.dataset import Dataset, dataset_for
from bridge.sparql.query import evaluate
from bridge.sparql.scan import scan
from bridge.terms import node
from kernel.access import Principal, Role
from kernel.errors import InvalidParameter, QueryRefused
from kernel.terms import Iri
from kernel.vocabulary import (
    DEFAULT_GRAPH,
    GOVERNANCE,
    HISTORY,
    MARKER,
    ONTOLOGY_GRAPH,
    POLICY_GRAPH,
    RULES_GRAPH,
    SHAPES_GRAPH,
    history_graph,
    is_history,
)

ONE, TWO, THREE = (Iri(f"http://h/g{number}") for number in (1, 2, 3))
KNOWN = frozenset({ONE, TWO, DEFAULT_GRAPH, SHAPES_GRAPH, RULES_GRAPH, POLICY_GRAPH})
M = "https://w3id.org/muniment#"

EVERYTHING = Principal("everything", Role.READER)
ADMINISTRATOR = Principal("administrator", Role.ADMINISTRATOR)
OF_ONE = Principal("one", Role.READER, frozenset({ONE, THREE}))
OF_NONE = Principal("none", Role.WRITER, frozenset())

Row = tuple[str, ...]


def stores(*extra: ox.Quad) -> dict[bool, ox.Store]:
    """The two stores, complete and current, as the bridge has them: markers in both."""
    made = {True: ox.Store(), False: ox.Store()}
    for complete, store in made.items():
        store.add_graph(ox.NamedNode(f"{MARKER}1/2/3"))
        for graph in KNOWN:
            if complete or graph not in GOVERNANCE:
                store.add(quad("here", "p", f"of-{graph.value[-2:]}", graph))
                store.add(quad(f"of-{graph.value[-2:]}", "p", "shared", graph))
            if complete:
                store.add(quad("fact", "subject", f"past-{graph.value[-2:]}", history_graph(graph)))
        for each in extra:
            store.add(each)
    return made


def quad(subject: str, predicate: str, value: str, graph: Iri) -> ox.Quad:
    s, p, o = (ox.NamedNode(f"urn:{name}") for name in (subject, predicate, value))
    return ox.Quad(s, p, o, node(graph))


STORES = stores()


def read(
    principal: Principal, text: str, *, default: tuple[str, ...] = (), named: tuple[str, ...] = ()
) -> Counter[Row]:
    dataset = dataset_for(principal, scan(text), KNOWN, default, named)
    return rows(evaluate(STORES[dataset.complete], text, dataset))


def rows(results: ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples) -> Counter[Row]:
    if isinstance(results, ox.QueryBoolean):
        return Counter({(str(bool(results)),): 1})
    return Counter(tuple(map(str, each)) for each in results)


def only(principal: Principal, text: str, *, history: bool) -> Counter[Row]:
    """The same query over a store made of readable graphs alone: the naive reading of what nobody may see through."""
    store = ox.Store()
    data, named = [], []
    for graph in [*KNOWN, *map(history_graph, KNOWN)]:
        if not principal.may_read(graph) or (is_history(graph) and not history):
            continue
        store.add_graph(node(graph))
        named.append(node(graph))
        if not is_history(graph) and graph not in GOVERNANCE:
            data.append(node(graph))
        for each in STORES[True].quads_for_pattern(None, None, None, node(graph)):
            store.add(each)
    default: list[ox.NamedNode | ox.BlankNode | ox.DefaultGraph] = [*data]
    return rows(store.query(text, default_graph=default, named_graphs=[*named]))


QUERIES = [
    "SELECT * { ?s ?p ?o }",
    "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }",
    "SELECT ?g { GRAPH ?g { } }",
    "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT (COUNT(DISTINCT ?o) AS ?n) (MAX(STR(?o)) AS ?x) { <urn:here> ?p ?o } GROUP BY ?p",
    "SELECT * { ?x <urn:p>* ?y }",
    "SELECT * { ?x <urn:p>+ ?y }",
    "SELECT ?y { <urn:here> <urn:p>* ?y }",
    "SELECT ?y { <urn:of-g2> <urn:p>* ?y }",
    "ASK { <urn:of-g2> <urn:p>? <urn:of-g2> }",
    "SELECT * { ?x !<urn:q> ?y }",
    "SELECT * { ?x (<urn:p>|^<urn:p>)* ?y }",
    "SELECT * { GRAPH ?g { ?x <urn:p>* ?y } }",
    "SELECT ?g { GRAPH ?g { <urn:of-g2> <urn:p>* ?y } }",
    "DESCRIBE <urn:here>",
    "DESCRIBE <urn:of-g2>",
    "DESCRIBE * { GRAPH ?g { ?s ?p ?o } }",
    "CONSTRUCT { ?s ?p ?g } { GRAPH ?g { ?s ?p ?o } }",
    "SELECT ?s { ?s ?p ?o FILTER EXISTS { GRAPH ?g { <urn:of-g2> <urn:p> ?z } } }",
    "SELECT ?s { ?s ?p ?o FILTER NOT EXISTS { ?x <urn:p> <urn:of-g2> } }",
    "SELECT ?s { ?s ?p ?o MINUS { ?x ?p <urn:of-g2> . ?s ?q ?r } }",
    "SELECT ?n { { SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } } }",
    "SELECT ?o { BIND(IRI('http://h/g2') AS ?g) GRAPH ?g { ?s ?p ?o } }",
    "SELECT ?o { VALUES ?g { <http://h/g2> } GRAPH ?g { ?s ?p ?o } }",
    "SELECT ?o { GRAPH <http://h/g1> { ?s ?p ?o } }",
    "SELECT ?o { GRAPH <http://h/g2> { ?s ?p ?o } }",
    "ASK { GRAPH <http://h/g2> { } }",
    f"ASK {{ GRAPH <{MARKER}1/2/3> {{ }} }}",
    f"SELECT ?o {{ GRAPH <{M}shapes> {{ ?s ?p ?o }} }}",
    f"PREFIX m: <{M}> SELECT ?o {{ GRAPH m:policy {{ ?s ?p ?o }} }}",
    f"SELECT ?g ?o {{ GRAPH ?g {{ ?s ?p ?o }} FILTER(STRSTARTS(STR(?g), '{HISTORY}')) }}",
    f"SELECT ?o {{ GRAPH <{history_graph(ONE).value}> {{ ?s ?p ?o }} }}",
    f"SELECT ?o {{ GRAPH <{history_graph(TWO).value}> {{ ?s ?p ?o }} }}",
    f"SELECT ?o {{ GRAPH <{history_graph(RULES_GRAPH).value}> {{ ?s ?p ?o }} }}",
    "SELECT * { <urn:fact> ?p ?o }",
]
PRINCIPALS = [EVERYTHING, ADMINISTRATOR, OF_ONE, OF_NONE]


@pytest.mark.parametrize("principal", PRINCIPALS, ids=lambda each: each.id)
@pytest.mark.parametrize("text", QUERIES)
def test_nothing_leaks(principal: Principal, text: str) -> None:
    assert read(principal, text) == only(principal, text, history="muniment/history/" in text)


@pytest.mark.parametrize("text", QUERIES)
def test_case_17_a_reader_of_graph_1_gets_nothing_of_graph_2(text: str) -> None:
    if "?g ?s ?p ?o" in text:
        assert read(OF_ONE, text), "there is something of graph 1 to see"
    assert "of-g2" not in str(read(OF_ONE, text))
    assert "http://h/g2" not in str(read(OF_ONE, text))


_RESTRICTIONS = st.one_of(st.none(), st.frozensets(st.sampled_from([ONE, TWO, THREE, DEFAULT_GRAPH])))


@given(_RESTRICTIONS, st.sampled_from(Role), st.sampled_from(QUERIES))
def test_nothing_leaks_to_anybody(graphs: frozenset[Iri] | None, role: Role, text: str) -> None:
    principal = Principal("anybody", role, graphs)
    assert read(principal, text) == only(principal, text, history="muniment/history/" in text)


# --- FROM, and the parameters that override it -----------------------------------------------------------------------

SOURCES = [
    *(ONE, TWO, THREE, DEFAULT_GRAPH, SHAPES_GRAPH, ONTOLOGY_GRAPH, POLICY_GRAPH, Iri(f"{MARKER}1/2/3")),
    *(history_graph(ONE), history_graph(TWO), history_graph(SHAPES_GRAPH), history_graph(THREE)),
    *(history_graph(history_graph(ONE)), Iri(HISTORY + "%zz"), Iri(HISTORY), Iri(history_graph(ONE).value.lower())),
]
_SOURCES = st.lists(st.sampled_from(SOURCES), max_size=3)


def permitted(principal: Principal, asked: Iterable[Iri]) -> set[Iri]:
    there = {*KNOWN, *map(history_graph, KNOWN)}
    return {graph for graph in asked if graph in there and principal.may_read(graph)}


@given(st.sampled_from(PRINCIPALS), _SOURCES, _SOURCES, st.booleans())
def test_case_17_what_is_asked_for_is_cut_to_what_may_be_read(
    principal: Principal, default: list[Iri], named: list[Iri], by_parameter: bool
) -> None:
    if by_parameter:
        text = "SELECT * FROM <http://h/g1> FROM NAMED <http://h/g2> { ?s ?p ?o }"
        uris = tuple(graph.value for graph in default), tuple(graph.value for graph in named)
    else:
        clauses = [f"FROM <{graph.value}>" for graph in default] + [f"FROM NAMED <{graph.value}>" for graph in named]
        text = f"SELECT * {' '.join(clauses)} {{ ?s ?p ?o }}"
        uris = (), ()
    if not default and not named:
        return
    dataset = dataset_for(principal, scan(text), KNOWN, *uris)
    assert set(dataset.default_graphs) == permitted(principal, default)
    assert set(dataset.named_graphs) == permitted(principal, named)
    assert not dataset.union
    everything = {*dataset.default_graphs, *dataset.named_graphs}
    assert dataset.complete is any(is_history(graph) or graph in GOVERNANCE for graph in everything)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM <http://h/g2> { ?s ?p ?o }",
        "SELECT * FROM NAMED <http://h/g2> { GRAPH ?g { ?s ?p ?o } }",
        "SELECT * FROM NAMED <http://h/g2> { ?s ?p ?o }",
        "SELECT * FROM NAMED <http://h/g1> { ?s ?p ?o }",
        "SELECT * FROM <http://h/g1> { GRAPH ?g { ?s ?p ?o } }",
        f"SELECT * FROM <{M}policy> {{ ?s ?p ?o }}",
        f"SELECT * FROM NAMED <{MARKER}1/2/3> {{ GRAPH ?g {{}} }}",
        f"SELECT * FROM <{history_graph(TWO).value}> {{ ?s ?p ?o }}",
    ],
)
def test_case_17_an_empty_dataset_is_nothing_and_not_everything(text: str) -> None:
    assert not read(OF_ONE, text)


def test_from_reaches_governance_and_history_that_may_be_read() -> None:
    assert "of-es" in str(read(OF_ONE, f"SELECT * FROM <{M}shapes> {{ ?s ?p ?o }}"))
    assert "past-g1" in str(read(OF_ONE, f"SELECT * FROM <{history_graph(ONE).value}> {{ ?s ?p ?o }}"))


def test_the_parameters_of_the_protocol_override_from() -> None:
    text = "SELECT ?o FROM <http://h/g2> { <urn:here> ?p ?o }"
    assert read(EVERYTHING, text) == {("<urn:of-g2>",): 1}
    assert read(EVERYTHING, text, default=("http://h/g1",)) == {("<urn:of-g1>",): 1}
    assert not read(EVERYTHING, text, named=("http://h/g1",))


@pytest.mark.parametrize(("parameter", "name"), [("default", "default-graph-uri"), ("named", "named-graph-uri")])
def test_a_parameter_that_is_no_iri_is_named(parameter: str, name: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read(EVERYTHING, "ASK {}", **{parameter: ("g 1",)})
    assert caught.value.where == name


# --- which store -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("principal", "text", "complete", "union"),
    [
        (EVERYTHING, "ASK { ?s ?p ?o }", False, True),
        (EVERYTHING, "ASK { GRAPH <http://h/g1> { ?s ?p ?o } }", False, True),
        (EVERYTHING, "ASK { GRAPH ?g { ?s ?p ?o } }", True, False),
        (EVERYTHING, f"ASK {{ GRAPH <{M}shapes> {{}} }}", True, False),
        (EVERYTHING, f"ASK {{ GRAPH <{M}default> {{}} }}", False, True),
        (EVERYTHING, f"ASK {{ GRAPH <{history_graph(ONE).value}> {{}} }}", True, False),
        (EVERYTHING, "ASK FROM <http://h/g1> { ?s ?p ?o }", False, False),
        (OF_ONE, "ASK { ?s ?p ?o }", False, False),
        (OF_ONE, "ASK { GRAPH ?g { ?s ?p ?o } }", True, False),
    ],
)
def test_the_store_of_a_query(principal: Principal, text: str, complete: bool, union: bool) -> None:
    dataset = dataset_for(principal, scan(text), KNOWN)
    assert (dataset.complete, dataset.union) == (complete, union)


def test_the_current_store_will_do_where_there_is_no_governance_yet() -> None:
    dataset = dataset_for(EVERYTHING, scan("ASK { GRAPH ?g { ?s ?p ?o } }"), frozenset({ONE}))
    assert dataset == Dataset(complete=False, union=True, default_graphs=(ONE,), named_graphs=(ONE,))


def test_history_is_told() -> None:
    text = f"ASK {{ GRAPH <{history_graph(ONE).value}> {{}} }}"
    assert dataset_for(EVERYTHING, scan(text), KNOWN).history
    assert not dataset_for(EVERYTHING, scan("ASK { GRAPH ?g {} }"), KNOWN).history
    assert dataset_for(EVERYTHING, scan("ASK {}"), KNOWN, (history_graph(ONE).value,)).history


def test_the_union_of_the_complete_store_cannot_be_said() -> None:
    with pytest.raises(ValueError, match="history"):
        Dataset(complete=True, union=True, default_graphs=(), named_graphs=())


def test_case_17_errors_say_nothing_of_other_graphs() -> None:
    with pytest.raises(QueryRefused) as caught:
        read(OF_ONE, "SELECT (<urn:f>(?o) AS ?x) { GRAPH <http://h/g2> { ?s ?p ?o } }")
    assert "of-g2" not in str(caught.value)
