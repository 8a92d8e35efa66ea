"""What is answered at once is answered as it would be otherwise, and nothing that could take long is."""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.base import Base
from bridge.reading import brief
from bridge.reading.moments import Moment
from bridge.reading.reader import QueryRequest, Question
from bridge.sparql.templates import placeholder
from kernel.access import Principal, Role
from kernel.changes import Assert
from kernel.terms import Iri, Literal, Statement
from tests.bridge.writing import WRITER, write

A, B = Iri("urn:g:a"), Iri("urn:g:b")
HUB = 600


def fact(subject: str, predicate: str, value: str | int, graph: Iri = A) -> Assert:
    term = Literal(str(value), "http://www.w3.org/2001/XMLSchema#integer") if isinstance(value, int) else Iri(value)
    return Assert(Statement(Iri(subject), Iri(predicate), term, graph))


@pytest.fixture(scope="module")
def base() -> Iterator[Base]:
    with Base.open(None) as opened:
        write(
            opened,
            *(fact("urn:hub", "urn:p", number) for number in range(HUB)),
            *(fact("urn:ten", "urn:p", number) for number in range(10)),
            *(fact("urn:ten", f"urn:q{number}", f"urn:o{number}", B) for number in range(10)),
            fact("urn:one", "urn:p", "urn:ten"),
            fact("urn:one", "urn:p", 7, B),
            fact("http://one/", "urn:p", "http://two/"),
            Assert(Statement(Iri("urn:long"), Iri("urn:p"), Literal("x" * 40_000), A)),
        )
        opened.stores.settle()
        yield opened


def asked(base: Base, text: str, caller: Principal = WRITER, **more: object) -> Question:
    return base.reader.question(QueryRequest(caller, text, **more))  # type: ignore[arg-type]


def at_once(base: Base, text: str, caller: Principal = WRITER, **more: object) -> bytes | None:
    found = brief.answered(base.stores, asked(base, text, caller, **more), 2**20)
    return None if found is None else found[0]


BRIEF = [
    "SELECT ?o { <urn:one> <urn:p> ?o }",
    "SELECT * WHERE { <urn:ten> ?p ?o }",
    "ASK { <urn:one> <urn:p> <urn:ten> }",
    "ASK { <urn:one> <urn:p> <urn:none> . }",
    "ASK { <urn:hub> <urn:p> ?o }",
    "SELECT ?o { <urn:hub> <urn:p> ?o } LIMIT 3",
    "SELECT ?s { ?s ?p ?o } LIMIT 1",
    "ASK {}",
    "PREFIX : <urn:> SELECT DISTINCT ?o ?v { :one :p ?o . ?o :q3 ?v . :one :p ?w } LIMIT 3",
    "SELECT ?s FROM <urn:g:b> { ?s <urn:p> 7 ; ?q ?o }",
    "SELECT ?s { ?s <urn:q3> <urn:o3> , ?x }",
    "SELECT * { <http://one/> ?p <http://two/> }",
    "SELECT ?p { ?s ?p 'nothing'@en }",
]


@pytest.mark.parametrize("text", BRIEF)
@pytest.mark.parametrize("accept", [None, "application/sparql-results+xml", "text/csv"])
def test_what_is_short_is_answered_as_it_would_be_otherwise(base: Base, text: str, accept: str | None) -> None:
    found = at_once(base, text, accept=accept)
    assert found is not None
    assert found == base.reader.query(QueryRequest(WRITER, text, accept)).body


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p ?o }",
        "SELECT * { <urn:hub> ?p ?o }",
        "SELECT DISTINCT ?p { <urn:hub> ?p ?o }",
        "SELECT REDUCED ?p { <urn:hub> ?p ?o }",
        "SELECT * { <urn:hub> <urn:p> ?o } OFFSET 590",
        "SELECT * { <urn:hub> ?p ?o } OFFSET 590 LIMIT 1",
        "SELECT ?x { <urn:hub> <urn:p> ?o } LIMIT 1",
        "SELECT * { ?x ?p ?x }",
        "ASK { ?x <urn:p> ?x }",
        "SELECT * { <urn:ten> <urn:p> ?a , ?b , ?c }",
        "SELECT * { <urn:one> <urn:p> ?o . ?s <urn:p> ?o }",
        "SELECT * { <urn:long> <urn:p> ?o }",
        "SELECT * { <urn:one> <urn:p> ?o . ?o <urn:p> ?v }",
        "SELECT * { <urn:one> <urn:p>* ?o }",
        "SELECT * { <urn:one> ^<urn:p> ?o }",
        "SELECT * { <urn:one> !<urn:p> ?o }",
        "SELECT * { <urn:one> <urn:p>/<urn:p> ?o }",
        "SELECT * { <urn:one> <urn:p> ?o FILTER(?o = 7) }",
        "SELECT * { <urn:one> <urn:p> ?o OPTIONAL { ?o ?q ?r } }",
        "SELECT * { GRAPH <urn:g:a> { <urn:one> <urn:p> ?o } }",
        "SELECT (CONCAT(?o, ?o) AS ?x) { <urn:one> <urn:p> ?o }",
        "SELECT (COUNT(*) AS ?n) { <urn:one> <urn:p> ?o }",
        "SELECT * { <urn:one> <urn:p> ?o } ORDER BY ?o",
        "SELECT * { <urn:one> <urn:p> ?o } VALUES ?o { 7 }",
        "SELECT * { { <urn:one> <urn:p> ?o } }",
        "SELECT * { BIND(1 AS ?x) }",
        "SELECT ?p { <urn:one> ?p [] }",
        "CONSTRUCT { ?s ?p ?o } WHERE { <urn:one> <urn:p> ?o }",
        "DESCRIBE <urn:one>",
        f"SELECT * {{ <urn:one> <urn:p> {' , '.join(f'?o{number}' for number in range(9))} }}",
        f"PREFIX p: <{placeholder(0)}> SELECT * {{ p: ?p ?o . <http://one/> ?q ?r . ?s ?p ?x }}",
        f"SELECT * {{ <{placeholder(0)}> ?p ?o . <http://one/> ?q ?r . ?a ?b ?c }}",
        "SELECT * { <urn:one> <urn:p> ?o , }",
        "SELECT * { <urn:one> <relative> ?o }",
    ],
)
def test_nothing_else_is_answered_at_once(base: Base, text: str) -> None:
    here = "http://here/" if "relative" in text else None
    assert brief.answered(base.stores, base.reader.question(QueryRequest(WRITER, text, base=here)), 2**20) is None


def test_what_is_counted_are_the_terms_that_stand_there(base: Base) -> None:
    """Texts that differ in their IRIs alone have the form in common, and not what they match."""
    assert at_once(base, "SELECT * { <http://one/> ?p ?o }") is not None
    hub = Iri("http://hub/")
    with Base.open(None) as other:
        write(other, *(Assert(Statement(hub, Iri("urn:p"), Literal(str(each)), A)) for each in range(HUB)))
        other.stores.settle()
        assert at_once(other, "SELECT * { <http://hub/> ?p ?o }") is None
        for forged in (f"PREFIX p: <{placeholder(0)}>", f"PREFIX p: <{placeholder(0)[:-1]}> PREFIX q: <http://hub/>"):
            assert at_once(other, f"{forged} SELECT * {{ <http://one/> ?p ?o . <http://hub/> ?q ?r }}") is None
        assert at_once(other, "SELECT * { <http://one/> ?p ?o }") is not None


def test_a_moment_and_blank_nodes_that_are_restored_are_for_workers(base: Base) -> None:
    assert at_once(base, BRIEF[0], restore=True) is None
    past = base.reader.question(QueryRequest(WRITER, BRIEF[0]), Moment(valid_at=base.reader.head().clock))
    assert brief.answered(base.stores, past, 2**20) is None


def test_a_limit_of_size_below_that_of_the_answer_is_for_a_worker_to_tell(base: Base) -> None:
    assert brief.answered(base.stores, asked(base, BRIEF[0]), 5) is None


def test_what_waits_to_be_written_is_not_waited_for() -> None:
    with Base.open(None) as base:
        write(base, fact("urn:one", "urn:p", 1))
        base.stores.settle()
        before = at_once(base, BRIEF[0])
        write(base, fact("urn:one", "urn:p", 2))
        waiting, now = base.stores.unsettled, at_once(base, BRIEF[0])
        assert now is None if waiting else now != before, "never what was there before"
        base.stores.settle()
        after = at_once(base, BRIEF[0])
        assert after is not None
        assert after == base.reader.query(QueryRequest(WRITER, BRIEF[0])).body != before


def test_a_caller_of_some_graphs_sees_those_alone(base: Base) -> None:
    one, other = (Principal("reader", Role.READER, frozenset({graph})) for graph in (A, B))
    for caller, expected in ((one, b"urn:ten"), (other, b'"7"')):
        found = at_once(base, BRIEF[0], caller)
        assert found is not None
        assert expected in found
        assert found == base.reader.query(QueryRequest(caller, BRIEF[0])).body
    nobody = at_once(base, BRIEF[0], Principal("reader", Role.READER, frozenset()))
    assert nobody == b'{"head":{"vars":["o"]},"results":{"bindings":[]}}'
    many = Principal("reader", Role.READER, frozenset({A, B, *(Iri(f"urn:g:{each}") for each in range(9))}))
    with Base.open(None) as several:
        write(several, *(fact("urn:one", "urn:p", 1, graph) for graph in many.graphs or ()))
        several.stores.settle()
        assert at_once(several, BRIEF[0], many) is None


@pytest.fixture(scope="module")
def small() -> Iterator[tuple[Base, ox.Store]]:
    """A base of three facts, and the same in a store of the engine."""
    store = ox.Store()
    with Base.open(None) as opened:
        facts = fact("urn:one", "urn:p", 7), fact("urn:one", "urn:p", "http://one/"), fact("http://one/", "urn:p", 7)
        write(opened, *facts)
        opened.stores.settle()
        for each in facts:
            store.update(f"INSERT DATA {{ {each.statement.subject.n3} <urn:p> {each.statement.object.n3} }}")
        yield opened, store


@given(st.lists(st.sampled_from(["<urn:one>", "<http://one/>", "?a", "?b", "<urn:p>", "7", ".", ";"]), max_size=12))
def test_whatever_is_put_together_has_the_answer_of_the_engine_or_none(
    small: tuple[Base, ox.Store], parts: list[str]
) -> None:
    text = f"SELECT * {{ {' '.join(parts)} }}"
    found = at_once(small[0], text)
    if found is not None:
        results = small[1].query(text)
        assert isinstance(results, ox.QuerySolutions)
        assert sorted(found) == sorted(results.serialize(format=ox.QueryResultsFormat.JSON) or b"")
