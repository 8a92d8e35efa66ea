"""Which queries are told that they look at every fact, and what they are told to write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sparql.hints import hint

M = "https://w3id.org/muniment#"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("<< <urn:ada> ?p ?o ~ ?fact >> m:validFrom ?from", f"?fact <{M}subject> <urn:ada> ."),
        ("<< ?s ?p :oslo ~ ?f >> m:validFrom ?from", f"?f <{M}object> :oslo ."),
        ("<< ?s :lives ?o >> m:validFrom ?from", f"?fact <{M}subject> <IRI> ."),
        ("?f rdf:reifies <<( :ada ?p ?o )>>", f"?f <{M}subject> :ada ."),
        ("?f m:validFrom ?x ; rdf:reifies <<( ?s ?p ?o )>> ; m:validTo ?y", f"?f <{M}subject> <IRI> ."),
        ("?f rdf:reifies <<( <urn:ä€> ?p ?o )>>", f"?f <{M}subject> <IRI> ."),
        ("FILTER(?x < 3) ?f rdf:reifies <<( ?s ?p 'x' )>>", f"?f <{M}subject> <IRI> ."),
        ("?g m:subject :ada . << :ada ?p ?o ~ ?f >> ?q ?v", f"?f <{M}subject> :ada ."),
    ],
)
def test_a_variable_in_a_quoted_pattern_is_told(pattern: str, said: str) -> None:
    told = hint(f"SELECT * {{ GRAPH ?h {{ {pattern} }} }}")
    assert told is not None
    assert told.endswith(f"such as {said}")
    assert told.isascii()


@pytest.mark.parametrize(
    "pattern",
    [
        "?f m:subject :ada . << :ada ?p ?o ~ ?f >> m:validFrom ?from",
        "<< :ada ?p ?o ~ ?f >> m:validFrom ?from ; m:subject :ada",
        "<< ?s ?p ?o >> m:certificate <urn:uuid:1>",
        "?f m:subject :ada ; rdf:reifies <<( :ada ?p ?o )>>",
        "?f rdf:reifies <<( ?s ?p ?o )>> . ?f m:object :oslo",
        "?f rdf:reifies <<( :s :p :o )>>",
        "VALUES ?f { <urn:f> } ?f rdf:reifies <<( ?s ?p ?o )>>",
        ":ada ?p ?o ~ ?f {| m:validFrom ?from |}",
        "?s ?p ?o FILTER(?o < 3) FILTER('<<( ?s ?p ?o )>>' = ?o)",
        "?s ?p ?o # <<( ?s ?p ?o )>>\n",
    ],
)
def test_what_is_found_otherwise_is_told_nothing(pattern: str) -> None:
    assert hint(f"SELECT * {{ GRAPH ?h {{ {pattern} }} }}") is None


@given(
    st.lists(
        st.sampled_from(["<<", "<<(", ")>>", ">>", "?f", ":s", "~", ";", ".", "{", "}", "VALUES", "'x'"]), max_size=20
    )
)
def test_any_words_are_taken(words: list[str]) -> None:
    told = hint(" ".join(words))
    assert told is None or told.isascii()
