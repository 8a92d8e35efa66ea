"""What is kept by a template is what each of its texts would give by itself."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.slices import patterns
from bridge.slices.patterns import blocks_of
from bridge.sparql import scan as scanning
from bridge.sparql.scan import runnable, scan
from bridge.sparql.templates import template_of
from kernel.errors import QueryRefused
from kernel.time.instants import Instant
from tests.bridge.slices.world import a_query

WHOLE = "<http://example.org/a>", "<urn:b:c>", "<urn:x?y>", "<relative>", "<https://w3id.org/muniment#shapes>"


def outcome(text: str) -> object:
    """What is found out about a text, or why not."""
    try:
        return scan(text), runnable(text), runnable(text, Instant(0)), blocks_of(text)
    except QueryRefused as error:
        return error.message, error.where


def by_itself(text: str) -> object:
    """The same, with no template for anything."""
    with pytest.MonkeyPatch.context() as patched:
        for module in (scanning, patterns):
            patched.setattr(module, "template_of", lambda _: None)
        scanning._prepared_briefly.cache_clear()
        found = outcome(text)
    scanning._prepared_briefly.cache_clear()
    return found


@given(st.randoms(use_true_random=False), st.lists(st.sampled_from(WHOLE), min_size=1, max_size=4))
def test_a_text_and_its_template_say_the_same(random: Random, iris: list[str]) -> None:
    text = re.sub(r"(?<=[ (!^/|]):[a-z]\b", lambda _: random.choice(iris), a_query(random))
    assert outcome(text) == by_itself(text)


@pytest.mark.parametrize(
    "text",
    [
        "ASK { <urn:a> <urn:p> '''<urn:b>''' }",
        "ASK { <urn:it's> ?p 'x <urn:a> y' . <urn:it's> ?q ?o }",
        "ASK { <urn:a> ?p ?o FILTER(?o <3 && 4> ?o) }",
        "ASK { <urn:a> <urn:p> ?o } # <urn:b>",
        "ASK { <urn:a> <urn:p\\u0020> ?o }",
        "CONSTRUCT { <urn:a> <urn:p> ?o } FROM <urn:g> WHERE { <urn:a> <urn:p> ?o }",
        "ASK { SERVICE <urn:a> { ?s ?p ?o } }",
        "ASK { SeRvIcE <urn:a> { ?s ?p ?o } }",
        "ASK { <urn:a> <urn:p> ?o FILTER(?o < NOW()) }",
        "INSERT DATA { <urn:a> <urn:p> <urn:o> }",
        "PREFIX m: <muniment-template:> ASK { <urn:a> <urn:p> m:0 }",
        "INSERT { ?s <urn:p> ?o } WHERE { ?s <urn:q> ?o }",
        "LOAD <urn:a> ; INSERT DATA { <urn:a> <urn:p> <urn:o> }",
    ],
)
def test_what_an_iri_could_mean_something_else_in_has_no_template(text: str) -> None:
    assert template_of(text) is None
    assert outcome(text) == by_itself(text)


def test_our_own_graphs_stay_in_the_template() -> None:
    history = "https://w3id.org/muniment/history/urn%3Ag"
    for own in ("https://w3id.org/muniment#shapes", history):
        text = f"ASK {{ GRAPH <{own}> {{ <urn:a> ?p ?o }} }}"
        found = template_of(text)
        assert found is not None
        assert own in found.text
        assert scan(text) == scan(text.replace("<urn:a>", "<urn:b>"))
        assert scan(text) != scan(text.replace(own, "urn:other"))
    assert scan(f"ASK {{ GRAPH <{history}> {{ <urn:a> ?p ?o }} }}").mentions_history


def test_what_is_in_a_string_or_names_a_datatype_stays_as_it_is() -> None:
    text = "ASK { <urn:a> <urn:p> 'x <urn:a> y', '1'^^<http://www.w3.org/2001/XMLSchema#int> , 'z'@en }"
    found = template_of(text)
    assert found is not None
    assert found.iris == ("urn:a", "urn:p")
    assert outcome(text) == by_itself(text)


def test_a_path_with_other_iris_is_another_path() -> None:
    blocks = [blocks_of(f"ASK {{ <urn:a> <urn:{name}>/<urn:q>+|^<urn:{name}> ?o }}") for name in ("p", "r")]
    texts = [str(each).replace("urn:r", "urn:p") for each in blocks]
    assert blocks[0] != blocks[1]
    assert texts[0] == texts[1]
