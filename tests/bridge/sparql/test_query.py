"""Queries on a store: answers, refusals and their places."""

from __future__ import annotations

import json

import pyoxigraph as ox
import pytest

from bridge.sparql.dataset import Dataset
from bridge.sparql.query import evaluate, finish
from bridge.sparql.results import negotiate
from bridge.sparql.scan import scan
from kernel.errors import QueryRefused
from kernel.terms import Iri
from kernel.time.instants import Instant

G = Iri("urn:g")
DATASET = Dataset(complete=False, union=False, default_graphs=(G,), named_graphs=())


def ask(text: str, *quads: ox.Quad, dataset: Dataset = DATASET, now: Instant | None = None) -> bytes:
    store = ox.Store()
    store.extend(quads)
    form = negotiate("text/csv, text/turtle", scan(text).form)
    return finish(evaluate(store, text, dataset, now=now), form)


def quad(value: str) -> ox.Quad:
    return ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal(value), ox.NamedNode("urn:g"))


def test_case_12_text_in_utf_8_matches() -> None:
    assert ask('SELECT ?s { ?s ?p ?n FILTER(?n = "Curaçao") }', quad("Curaçao"), quad("Curacao")) == b"s\r\nurn:s\r\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT DATA { <urn:a> <urn:b> 1 }", "this is an update"),
        ("DELETE WHERE { ?s ?p ?o }", "this is an update"),
        ("LOAD <file:///etc/passwd>", "LOAD is not served"),
        ("ASK { SERVICE SILENT <http://127.0.0.1:1/> { ?s ?p ?o } }", "SERVICE is not served"),
        ("", "not a query"),
        ("PREFIX : <urn:x>", "not a query"),
        ("SHOW TABLES", "not a query"),
    ],
)
def test_case_16_what_is_not_served_is_refused(text: str, message: str) -> None:
    with pytest.raises(QueryRefused, match=message) as caught:
        ask(text)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("SELECT ?s {\n  ?s ?p }", "line 2, column 9"),
        ("SELECT * { ?s ex:p ?o }", "line 1, column 15"),
        ("SELECT * { ?s ?p 'a }", "line 1, column 18"),
        ("SELECT (COUNT(*) AS ?n) ?s { ?s ?p ?o }", "line 1, column 40"),
        ("SELECT * {} SELECT * {}", None),
    ],
)
def test_a_query_that_cannot_be_parsed_says_where(text: str, where: str | None) -> None:
    with pytest.raises(QueryRefused) as caught:
        ask(text)
    assert caught.value.where is not None
    assert where is None or caught.value.where.startswith(where.partition(",")[0])
    assert len(str(caught.value)) < 600


def test_a_query_that_cannot_be_evaluated_says_why() -> None:
    with pytest.raises(QueryRefused, match="custom function <urn:f>"):
        ask("SELECT (<urn:f>(1) AS ?x) {}")


def test_comparisons_without_spaces_are_read_as_the_grammar_has_it() -> None:
    with pytest.raises(QueryRefused) as caught:
        ask("SELECT * { ?s ?p ?x FILTER(?x<5&&?x>3) }")
    assert "spaces around <" in caught.value.remedy
    assert ask("SELECT ?x { BIND(4 AS ?x) FILTER(?x < 5 && ?x > 3) }") == b"x\r\n4\r\n"


def test_the_dataset_given_is_all_there_is() -> None:
    other = ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal("b"), ox.NamedNode("urn:other"))
    text = "SELECT ?o FROM <urn:other> { ?s ?p ?o }"
    assert ask(text, quad("a"), other) == b"o\r\na\r\n"
    assert ask(text, quad("a"), other, dataset=Dataset(False, False, (), ())) == b"o\r\n"
    union = Dataset(complete=False, union=True, default_graphs=(G, Iri("urn:other")), named_graphs=())
    assert sorted(ask("SELECT ?o { ?s ?p ?o }", quad("a"), other, dataset=union).split()) == [b"a", b"b", b"o"]
    assert ask("SELECT ?g { GRAPH ?g { ?s ?p ?o } }", quad("a"), dataset=union) == b"g\r\n"


def test_now_is_what_it_is_said_to_be() -> None:
    text = "SELECT (YEAR(NOW()) AS ?y) {}"
    assert ask(text, now=Instant(0)) == b"y\r\n1970\r\n"
    assert ask(text) > b"y\r\n2023"


def test_starting_and_finishing_apart_sees_the_store_as_it_was_at_the_start() -> None:
    store = ox.Store()
    store.add(quad("a"))
    results = evaluate(store, "SELECT ?o { ?s ?p ?o }", DATASET)
    store.add(quad("b"))
    body = finish(results, negotiate(None, scan("SELECT * {}").form))
    assert [each["o"]["value"] for each in json.loads(body)["results"]["bindings"]] == ["a"]
