"""The first of an answer."""

import pyoxigraph as ox
import pytest

from bridge.sparql.sample import Blank, sample
from kernel.terms import Iri, Literal, TripleTerm

STORE = ox.Store()


def rows(number: int) -> ox.QuerySolutions:
    answered = STORE.query("SELECT ?n { VALUES ?n { " + " ".join(map(str, range(number))) + " } }")
    assert isinstance(answered, ox.QuerySolutions)
    return answered


@pytest.mark.parametrize(("there", "shown", "more"), [(0, 0, False), (4, 4, False), (5, 5, False), (6, 5, True)])
def test_no_more_rows_than_asked_for_and_whether_there_are_others(there: int, shown: int, more: bool) -> None:
    found = sample(rows(there), 5)
    assert (len(found.rows), found.more) == (shown, more)


def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    ten = " ".join(f"{{ VALUES ?v{number} {{ 0 1 2 3 4 5 6 7 8 9 }} }}" for number in range(9))
    found = sample(STORE.query(f"SELECT * {{ {ten} }}"), 3)
    assert (len(found.variables), len(found.rows), found.more) == (9, 3, True)


def test_every_kind_of_term() -> None:
    text = """SELECT * { BIND(<urn:a> AS ?iri) BIND("x"@en AS ?text) BIND(BNODE("b") AS ?blank)
        BIND(TRIPLE(<urn:a>, <urn:p>, 1) AS ?triple) BIND(TRIPLE(<urn:a>, <urn:p>, BNODE()) AS ?partly)
        OPTIONAL { ?nothing <urn:p> <urn:q> } }"""
    found = sample(STORE.query(text), 1)
    cells = dict(zip(found.variables, found.rows[0], strict=True))
    assert cells["iri"] == Iri("urn:a")
    assert cells["text"] == Literal("x", language="en")
    assert isinstance(cells["blank"], Blank)
    assert isinstance(cells["triple"], TripleTerm)
    assert isinstance(cells["partly"], str)
    assert cells["nothing"] is None


def test_graphs_and_booleans() -> None:
    found = sample(STORE.query("CONSTRUCT { <urn:a> <urn:p> 1, 2, 3 } {}"), 2)
    assert (found.graph, found.variables, len(found.rows), found.more) == (
        True,
        ("subject", "predicate", "object"),
        2,
        True,
    )
    assert [sample(STORE.query(text), 1).boolean for text in ("ASK {}", "ASK { ?s ?p ?o }")] == [True, False]
