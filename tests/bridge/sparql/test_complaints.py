"""What somebody is told whose query cannot be parsed: what is wrong, where, and how to mend it; no list of grammar."""

import pyoxigraph as ox
import pytest

from bridge.sparql.dataset import Dataset
from bridge.sparql.query import evaluate, finish
from bridge.sparql.results import negotiate
from bridge.sparql.scan import Form
from kernel.errors import QueryRefused
from kernel.terms import Iri

NOTHING = Dataset(complete=False, union=False, default_graphs=(Iri("urn:g"),), named_graphs=())


def told(text: str) -> QueryRefused:
    with pytest.raises(QueryRefused) as refused:
        evaluate(ox.Store(), text, NOTHING)
    assert "\\u{" not in str(refused.value)
    assert len(str(refused.value)) < 300
    return refused.value


@pytest.mark.parametrize(
    ("text", "what", "where", "remedy"),
    [
        ("ASK { ?x a foaf:Person }", "prefix foaf: is not declared", "1, column 12", "<http://xmlns.com/foaf/0.1/>"),
        ("ASK {\n  ?x ex:p 1 }", "prefix ex: is not declared", "2, column 6", "PREFIX ex: <…>"),
        ("PREFIX a: <urn:> ASK { a:x :p 1 }", "prefix : is not declared", "1, column 28", "PREFIX : <…>"),
        ("PREFIX ex <urn:> ASK { ?x ex:p 1 }", "prefix ex: is not declared", "1, column 27", "PREFIX ex: <"),
        ("ASK { ?x ?p 1", "'{' is never closed", "1, column 5", "close it"),
        ("ASK { ?x ?p 1 }}", "'}' closes nothing", "1, column 16", "take it out"),
        ("ASK { FILTER(1 = 2 }", "'}' closes nothing", "1, column 20", "take it out"),
        ("ASK { ?x <p> 1 }", "<p> is not an absolute IRI", "1, column 10", "BASE"),
        ("ASK { ?x <urn:p q> 1 }", "an IRI cannot be read", "1, column ", "percent-encode"),
        ("SELECT ?x (COUNT(?y) AS ?n) { ?x ?p ?y }", "neither grouped nor", "1, column 41", "such as MIN"),
        ("SELECT ?x { ?x ?p ?o } LIMIT x", "after 'SELECT ?x { ?x ?p ?o } LIMIT'", "1, column 30", "correct it"),
        ("SELECT ?x\nWHERE (?x)", "after 'SELECT ?x WHERE'; { is missing there", "2, column 7", "correct it"),
        ("SELECT * { ?s ?p ?o } LIMIT 5;", "not complete, or something earlier", "1, column 31", "correct it"),
        ("ASK { ?x ?p 'a }", '"\'" starts nothing', "1, column 13", "close the quote"),
    ],
)
def test_what_is_wrong_is_told_where_it_is(text: str, what: str, where: str, remedy: str) -> None:
    error = told(text)
    assert what in error.message
    assert (error.where or "").startswith(f"line {where}")
    assert remedy in error.remedy


@pytest.mark.parametrize("text", ["ASK {}", "BASE <urn:> ASK { ?x <p> 1 }", "PREFIX : <urn:> ASK { :a :b _:c }"])
def test_what_is_right_is_answered(text: str) -> None:
    evaluate(ox.Store(), text, NOTHING)


@pytest.mark.parametrize("verb", ["<< ?o <urn:p> <urn:a> ~ ?f >> <urn:q> ?v", "?f <urn:q> <<( ?o <urn:p> <urn:a> )>>"])
def test_a_value_that_no_triple_term_can_have_is_told_with_what_helps(verb: str) -> None:
    """SPARQL finds nothing there; the engine stops."""
    store = ox.Store()
    store.update("INSERT DATA { GRAPH <urn:g> { <urn:s> <urn:r> 1, <urn:o> . <urn:o> <urn:p> <urn:a> ~ <urn:f> } }")
    store.update("INSERT DATA { GRAPH <urn:g> { <urn:f> <urn:q> 2, <<( <urn:o> <urn:p> <urn:a> )>> } }")
    asked = Dataset(complete=False, union=False, default_graphs=(Iri("urn:g"),), named_graphs=())
    text = "SELECT * {{ <urn:s> <urn:r> ?o . {} {} }}"
    with pytest.raises(QueryRefused, match="cannot stand there") as refused:
        finish(evaluate(store, text.format("", verb), asked), negotiate("text/csv", Form.SELECT))
    assert "FILTER(isIRI(?x))" in refused.value.remedy
    del refused  # it knows this frame, and the engine's solutions, which may be let go in their own thread alone
    mended = evaluate(store, text.format("FILTER(isIRI(?o))", verb), asked)
    assert finish(mended, negotiate("text/csv", Form.SELECT)).count(b"\r\n") >= 2
