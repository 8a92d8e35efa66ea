"""Which format a client gets, and what it looks like."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree as ET

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyld import jsonld
from rdflib import Graph
from rdflib.compare import isomorphic

from bridge.sparql.results import GRAPHS, RESULT_SETS, Format, negotiate, serialise
from bridge.sparql.scan import Form
from kernel.errors import NotAcceptable, QueryRefused

JSON, XML, CSV, TSV = RESULT_SETS[:4]
TURTLE, NTRIPLES, JSONLD, RDFXML, NQUADS, TRIG = GRAPHS[:6]
QUERY_FORMS = [Form.SELECT, Form.ASK, Form.CONSTRUCT, Form.DESCRIBE]


def offered(form: Form) -> tuple[Format, ...]:
    return RESULT_SETS if form in {Form.SELECT, Form.ASK} else GRAPHS


def results(text: str, *quads: ox.Quad) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
    store = ox.Store()
    store.extend(quads)
    return store.query(text)


# --- negotiation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accept", ["text/*", "text/*;q=0.3", "text/*, image/png", " TEXT/* "])
def test_case_11_text_is_csv_or_tsv(accept: str) -> None:
    assert negotiate(accept, Form.SELECT) in {CSV, TSV}
    assert negotiate(accept, Form.ASK) in {CSV, TSV}


@pytest.mark.parametrize("accept", [None, "", "  ", "*/*"])
def test_case_11_no_preference_is_the_default(accept: str | None) -> None:
    assert negotiate(accept, Form.SELECT) == JSON
    assert negotiate(accept, Form.ASK) == JSON
    assert negotiate(accept, Form.CONSTRUCT) == TURTLE
    assert negotiate(accept, Form.DESCRIBE) == TURTLE


@pytest.mark.parametrize(
    ("accept", "form", "expected"),
    [
        ("text/csv", Form.SELECT, CSV),
        ("text/csv;q=0.9, application/sparql-results+xml;q=0.95", Form.SELECT, XML),
        ("application/sparql-results+json;q=0, */*", Form.SELECT, XML),
        ("*/*;q=0.1, text/tab-separated-values", Form.ASK, TSV),
        ("application/*", Form.SELECT, JSON),
        ("application/json", Form.SELECT, RESULT_SETS[4]),
        ("application/json, */*", Form.SELECT, JSON),
        ("text/xml", Form.SELECT, RESULT_SETS[6]),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Form.SELECT, RESULT_SETS[5]),
        ("text/csv ; header=present ; Q=1.0", Form.SELECT, CSV),
        ("application/ld+json, text/turtle;q=0.9", Form.CONSTRUCT, JSONLD),
        ("application/rdf+xml", Form.DESCRIBE, RDFXML),
        ("text/*", Form.CONSTRUCT, TURTLE),
        ("application/n-quads", Form.CONSTRUCT, NQUADS),
        ("application/trig, junk, /, a/b/c;q=x", Form.CONSTRUCT, TRIG),
    ],
)
def test_the_format_of_the_highest_quality(accept: str, form: Form, expected: Format) -> None:
    assert negotiate(accept, form) == expected


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("text/html", Form.SELECT),
        ("text/turtle", Form.SELECT),
        ("text/csv", Form.CONSTRUCT),
        ("*/*;q=0", Form.ASK),
        ("junk", Form.ASK),
        ("text/csv;q=2", Form.ASK),
        ("text/csv;q=0.1234", Form.ASK),
        ("text/*;q=0, image/*", Form.SELECT),
    ],
)
def test_case_11_else_the_error_lists_what_there_is(accept: str, form: Form) -> None:
    with pytest.raises(NotAcceptable) as caught:
        negotiate(accept, form)
    assert caught.value.where == "Accept"
    assert all(each.essence in caught.value.remedy for each in offered(form) if not each.alias)


@pytest.mark.parametrize("form", [Form.UPDATE, Form.UNKNOWN])
def test_what_is_no_query_gets_a_format_to_be_refused_in(form: Form) -> None:
    assert negotiate("image/png", form) == JSON


_TYPES = [each.essence for each in (*RESULT_SETS, *GRAPHS)]
_RANGES = st.tuples(
    st.sampled_from([*_TYPES, "text/*", "application/*", "*/*", "image/png"]), st.sampled_from([None, 0, 0.001, 0.5, 1])
)


@given(st.lists(_RANGES, min_size=1, max_size=5, unique_by=lambda each: each[0]), st.sampled_from(QUERY_FORMS))
def test_negotiation_against_a_naive_reading_of_rfc_9110(ranges: list[tuple[str, float | None]], form: Form) -> None:
    accept = ", ".join(media if quality is None else f"{media};q={quality}" for media, quality in ranges)
    given_qualities = {media: 1 if quality is None else quality for media, quality in ranges}

    def quality(each: Format) -> float:
        for media in (each.essence, each.essence.split("/")[0] + "/*", "*/*"):
            if media in given_qualities and not (each.alias and "*" in media):
                return given_qualities[media]
        return 0

    best = max(map(quality, offered(form)))
    if best == 0:
        with pytest.raises(NotAcceptable):
            negotiate(accept, form)
    else:
        chosen = negotiate(accept, form)
        assert quality(chosen) == best
        assert chosen in offered(form)


# --- what is written -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", RESULT_SETS, ids=lambda each: each.media_type)
def test_solutions_in_every_format(form: Format) -> None:
    body = serialise(results("SELECT ?x ?y { VALUES (?x ?y) { (<urn:é> 'a,\"b'@en) (1 UNDEF) } }"), form)
    if form.written == ox.QueryResultsFormat.JSON:
        assert [*json.loads(body)["results"]["bindings"][0]] == ["x", "y"]
    elif form.written == ox.QueryResultsFormat.XML:
        assert len(ET.fromstring(body).findall(".//{*}result")) == 2
    elif form == CSV:
        assert [*csv.reader(io.StringIO(body.decode()))] == [["x", "y"], ["urn:é", 'a,"b'], ["1", ""]]
    else:
        assert body.decode().splitlines() == ["?x\t?y", '<urn:é>\t"a,\\"b"@en', "1\t"]


@pytest.mark.parametrize("form", RESULT_SETS, ids=lambda each: each.media_type)
@pytest.mark.parametrize(("text", "expected"), [("ASK {}", b"true"), ("ASK { FILTER(false) }", b"false")])
def test_booleans_in_every_format(form: Format, text: str, expected: bytes) -> None:
    assert expected in serialise(results(text), form)


@pytest.mark.parametrize("form", GRAPHS, ids=lambda each: each.media_type)
def test_graphs_in_every_format_are_read_back_as_they_are(form: Format) -> None:
    text = "CONSTRUCT { <urn:a> <urn:p> 1.5, 'é'@en, [ <urn:q> <urn:b> ] } {}"
    body = serialise(results(text), form)
    names = {TRIG: "trig", NQUADS: "nquads", JSONLD: "json-ld", RDFXML: "xml", TURTLE: "turtle", NTRIPLES: "nt"}
    name = next(names[each] for each in names if each.written == form.written)
    expected = Graph().parse(data=serialise(results(text), NTRIPLES), format="nt")
    assert isomorphic(_read(body, name), expected)


def _read(body: bytes, name: str) -> Graph:
    if name == "json-ld":  # by another library, for rdflib's own warns of itself
        quads = jsonld.to_rdf(json.loads(body), {"format": "application/n-quads"})
        return Graph().parse(data=quads, format="nt")
    flat = {"nquads": "nt", "trig": "turtle"}  # these have the default graph alone
    return Graph().parse(data=body, format=flat.get(name, name))


def test_case_21_a_literal_type_is_not_written_as_a_type() -> None:
    body = serialise(results("CONSTRUCT { <urn:a> a 'x', <urn:T> } {}"), JSONLD)
    quads = {str(quad.object) for quad in ox.parse(body, ox.RdfFormat.JSON_LD)}
    assert quads == {'"x"', "<urn:T>"}
    assert b'"@type":["x"]' not in body


_CONTROL = ox.Quad(ox.NamedNode("urn:a"), ox.NamedNode("urn:p"), ox.Literal("a\x0bb"))


@pytest.mark.parametrize(
    ("text", "form", "what"),
    [
        ("SELECT ?o { ?s ?p ?o }", XML, "control character"),
        ("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", RDFXML, "control character"),
        ("SELECT ?o { BIND('\ufffe' AS ?o) }", XML, "control character"),
        ("CONSTRUCT { <urn:a> <urn:p/> 1 } {}", RDFXML, "ends in no name"),
        ("CONSTRUCT { <urn:a> <urn:1> 1 } {}", RDFXML, "ends in no name"),
        ("CONSTRUCT { <urn:a> <urn:p> <<( <urn:a> <urn:b> 1 )>> } {}", JSONLD, "triple term"),
    ],
)
def test_what_a_format_cannot_carry_is_refused(text: str, form: Format, what: str) -> None:
    with pytest.raises(NotAcceptable, match=what):
        serialise(results(text, _CONTROL), form)


def test_what_xml_can_carry_is_let_through() -> None:
    assert "a\tb\nc€<oxprefix: " in (
        ET.fromstring(serialise(results("SELECT ?o { BIND('a\\tb\\nc€<oxprefix: ' AS ?o) }"), XML)).findtext(
            ".//{*}literal"
        )
        or ""
    )
    serialise(results("CONSTRUCT { <urn:a> <urn:p> '<oxprefix: ' } {}"), RDFXML)


@pytest.mark.parametrize(("text", "form"), [("ASK {}", TURTLE), ("CONSTRUCT {} {}", JSON), ("SELECT * {}", JSONLD)])
def test_a_format_of_another_form_is_refused(text: str, form: Format) -> None:
    with pytest.raises(QueryRefused, match="no format for this form"):
        serialise(results(text), form)
