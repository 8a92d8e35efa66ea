"""Bodies of RDF as statements: nothing lost, nothing added, and errors with their place."""

from __future__ import annotations

import re
from threading import Thread

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import Graph

from bridge.documents.reader import FORMATS, JSON_LD, MEDIA_TYPES, Asserted, read_document
from bridge.documents.skolem import Skolem
from bridge.terms import OxigraphCanonicaliser
from kernel.changes import NO_SPELLING
from kernel.errors import CallerError, InvalidDocument, InvalidTerm
from kernel.terms import RDF, XSD, Iri, Literal, Statement, Term, TripleTerm
from kernel.vocabulary import DEFAULT_GRAPH, GENID
from tests.bridge.test_terms import iris, literals

CANONICALISER = OxigraphCanonicaliser()
S, P, G = Iri("urn:s"), Iri("urn:p"), Iri("urn:g")
TURTLE = "text/turtle"


def read(
    data: str | bytes, media_type: str = TURTLE, *, graph: Iri | None = None, limit: int = 1_000_000
) -> list[Asserted]:
    body = data.encode() if isinstance(data, str) else data
    return read_document(body, media_type, graph=graph, canonicaliser=CANONICALISER, limit=limit)


def refused(data: str | bytes, media_type: str = TURTLE, *, graph: Iri | None = None) -> InvalidDocument:
    with pytest.raises(InvalidDocument) as caught:
        read(data, media_type, graph=graph)
    return caught.value


@pytest.mark.parametrize("media_type", [TURTLE, "application/n-quads"])
def test_a_token_that_the_parser_has_no_room_for_is_told(media_type: str) -> None:
    with pytest.raises(InvalidDocument, match="more than 16 MB"):
        read(f'<urn:s> <urn:p> "{"x" * 17_000_000}" .', media_type, limit=20_000_000)


@pytest.mark.parametrize("media_type", ["application/ld+json", "application/rdf+xml", TURTLE])
def test_a_long_literal_is_refused_with_its_place(media_type: str) -> None:
    """Whatever the format: as a statement it could be too long to be read again."""
    long = "'" * 1_048_577
    written = {
        "application/ld+json": f'{{"@id": "urn:s", "urn:p": "{long}"}}',
        "application/rdf+xml": f'<r:RDF xmlns:r="{RDF}" xmlns="urn:"><r:Description r:about="urn:s"><p>{long}</p>'
        "</r:Description></r:RDF>",
        TURTLE: f'<urn:s> <urn:p> "{long}" .',
    }
    with pytest.raises(InvalidTerm, match="a literal of 1,048,577 characters") as caught:
        read(written[media_type], media_type, limit=2_000_000)
    assert len(str(caught.value)) < 500


# --- what is asserted ------------------------------------------------------------------------------------------------


@given(literals, st.sampled_from([each for each in FORMATS if each != "application/rdf+xml"]))
def test_case_46_a_literal_is_held_as_the_store_has_it_and_spelled_as_submitted(
    literal: Literal, media_type: str
) -> None:
    try:
        held = CANONICALISER.canonical(literal)
    except InvalidTerm:
        with pytest.raises((InvalidDocument, InvalidTerm)):
            read(f"{S.n3} {P.n3} {literal.n3} .", media_type)
        return
    ((statement, spelling),) = read(f"{S.n3} {P.n3} {literal.n3} .", media_type)
    assert statement == Statement(S, P, held, DEFAULT_GRAPH)
    assert spelling.object == (None if held == literal else literal)


@pytest.mark.parametrize(
    ("written", "held"),
    [
        ('"007"^^<http://www.w3.org/2001/XMLSchema#int>', f'"7"^^<{XSD}integer>'),
        ("1.50", f'"1.5"^^<{XSD}decimal>'),
        ('"colour"@en-GB', '"colour"@en-gb'),
        ('"x"@AR--rtl', '"x"@ar--rtl'),
        (
            '"2024-01-01T00:00:00.100Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
            f'"2024-01-01T00:00:00.1Z"^^<{XSD}dateTime>',
        ),
    ],
)
def test_case_46_the_spellings_that_a_store_rewrites(written: str, held: str) -> None:
    ((statement, spelling),) = read(f"<urn:s> <urn:p> {written} .")
    assert statement.object.n3 == held
    assert spelling.object is not None
    assert written in {spelling.object.n3, spelling.object.lexical}


# Nothing with a lone surrogate in it can be sent as UTF-8.
@given(st.lists(iris.filter(lambda text: not re.search("[\ud800-\udfff]", text)), min_size=3, max_size=3))
def test_iris_are_taken_as_the_parser_takes_them(texts: list[str]) -> None:
    line = " ".join(f"<{text}>" for text in texts) + " ."
    try:
        (quad,) = ox.parse(line, ox.RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError):
        with pytest.raises(CallerError):
            read(line, "application/n-triples")
        return
    try:
        ((statement, _),) = read(line, "application/n-triples")
    except InvalidTerm:  # the kernel is stricter: no formatting characters that turn text around
        assert re.search("[\u200e\u200f\u202a-\u202e]", line)
        return
    assert [statement.subject.value, statement.predicate.value] == [quad.subject.value, quad.predicate.value]
    assert statement.object == Iri(quad.object.value)


TRIG = """
@prefix e: <urn:e:> .
e:a e:p "x", 1 , _:b .
_:b e:q [ e:r ( 1 "x"@EN ) ] .
"""


def test_turtle_says_what_rdflib_reads_in_it() -> None:
    ours = Graph().parse(data="\n".join(line(statement) for statement, _ in read(TRIG)), format="nt")
    theirs = Graph().parse(data=TRIG.replace("@EN", "@en"), format="turtle")
    assert ours.isomorphic(theirs)


def line(statement: Statement) -> str:
    return (
        " ".join(
            re.sub(f"<{GENID}([0-9a-f]+)>", r"_:b\1", term.n3)
            for term in (statement.subject, statement.predicate, statement.object)
        )
        + " ."
    )


SAME = {
    TURTLE: '<urn:s> <urn:p> <urn:o> ; <urn:q> "x"@en-GB .',
    "application/n-triples": '<urn:s> <urn:p> <urn:o> .\n<urn:s> <urn:q> "x"@en-GB .',
    "application/trig": '<urn:s> <urn:p> <urn:o> . { <urn:s> <urn:q> "x"@en-GB }',
    "application/n-quads": '<urn:s> <urn:p> <urn:o> .\n<urn:s> <urn:q> "x"@en-GB .',
    "application/rdf+xml": (
        f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:u="urn:"><rdf:Description rdf:about="urn:s">'
        '<u:p rdf:resource="urn:o"/><u:q xml:lang="en-GB">x</u:q></rdf:Description></rdf:RDF>'
    ),
    JSON_LD: '{"@id": "urn:s", "urn:p": {"@id": "urn:o"}, "urn:q": {"@value": "x", "@language": "en-GB"}}',
}


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
@pytest.mark.parametrize("graph", [None, G])
def test_every_format_says_the_same(media_type: str, graph: Iri | None) -> None:
    asserted = read(SAME[media_type], media_type, graph=graph)
    into = graph or DEFAULT_GRAPH
    assert {statement for statement, _ in asserted} == {
        Statement(S, P, Iri("urn:o"), into),
        Statement(S, Iri("urn:q"), Literal("x", language="en-gb"), into),
    }
    assert [spelling.object for _, spelling in asserted if spelling] == [Literal("x", language="en-GB")]
    assert NO_SPELLING in [spelling for _, spelling in asserted]


def test_triple_terms_and_what_stands_for_them_are_kept() -> None:
    text = """PREFIX : <urn:>
        :s :p <<( :a :b "007"^^<http://www.w3.org/2001/XMLSchema#int> )>> .
        :a :b :c ~ :r {| :q 1 |} .
        << :a :b _:x >> :q _:x ."""
    statements = {statement for statement, _ in read(text)}
    a, b, c, r = (Iri(f"urn:{name}") for name in "abcr")
    quoted: Term = TripleTerm(a, b, Literal("7", XSD + "integer"))
    assert Statement(S, P, quoted, DEFAULT_GRAPH) in statements
    assert Statement(a, b, c, DEFAULT_GRAPH) in statements
    assert Statement(r, Iri(RDF + "reifies"), TripleTerm(a, b, c), DEFAULT_GRAPH) in statements
    inner = next(
        each.object.object for each in statements if isinstance(each.object, TripleTerm) and each.subject not in {S, r}
    )
    assert any(each.object == inner for each in statements), "a blank node in a triple term is the one outside"


@pytest.mark.parametrize(
    "media_type", ["text/turtle; charset=UTF-8", " TEXT/Turtle ;version=1.2", 'text/turtle;charset="utf-8"']
)
def test_media_types_have_parameters(media_type: str) -> None:
    assert len(read(b"\xef\xbb\xbf<urn:s> <urn:p> 1 .", media_type)) == 1


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
def test_an_empty_document_asserts_nothing(media_type: str) -> None:
    empty = {JSON_LD: "{}", "application/rdf+xml": f'<rdf:RDF xmlns:rdf="{RDF}"/>'}
    assert read(empty.get(media_type, ""), media_type) == []


@pytest.mark.parametrize("media_type", ["application/n-quads", "application/n-triples"])
@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        (b"\x00\x01\x02", "no term begins with U+0000", "neither compressed nor binary"),
        (b"\x1f\x8b\x08", "no term begins with U+001F", "neither compressed nor binary"),
        (b"\x89PNG\r\n", "Invalid UTF-8", "neither compressed nor binary"),
        (b"<a> <urn:p> <urn:b> .", "No scheme", "write IRIs in full"),
        (b"ex:a <urn:p> <urn:b> .", "must be an IRI", "correct it at or before that place"),
    ],
)
def test_formats_without_prefixes_are_told_nothing_of_them(
    media_type: str, text: bytes, message: str, remedy: str
) -> None:
    with pytest.raises(InvalidDocument, match=re.escape(message)) as caught:
        read(text, media_type)
    assert "prefix" not in caught.value.message
    assert (caught.value.where, caught.value.remedy.endswith(remedy)) == ("line 1, column 1", True)


def test_nul_is_a_character() -> None:
    ((statement, _),) = read('<urn:s> <urn:p> "a\\u0000\x00b" .')
    assert statement.object == Literal("a\0\0b")


# --- blank nodes -----------------------------------------------------------------------------------------------------


def test_a_label_is_one_node_in_a_document_and_another_in_the_next() -> None:
    text = "_:a <urn:p> _:b , _:a , [] ."
    first, second = ([*{n for s, _ in read(text) for n in (s.subject, s.object)}] for _ in range(2))
    assert len(first) == len(second) == 3
    assert not set(first) & set(second)
    assert all(isinstance(node, Iri) and re.fullmatch(GENID + "[0-9a-f]{32}", node.value) for node in first)


def test_the_same_seed_gives_the_same_nodes() -> None:
    text = b"_:a <urn:p> [ <urn:q> _:a , ( 1 2 ) ] ."
    seeds = (b"0" * 16, b"0" * 16, b"1" * 16)
    one, again, other = (
        read_document(text, TURTLE, canonicaliser=CANONICALISER, skolem=Skolem(seed)) for seed in seeds
    )
    assert one == again
    assert {s.subject for s, _ in one}.isdisjoint(s.subject for s, _ in other)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_skolemising_keeps_the_shape(edges: list[tuple[int, int]]) -> None:
    text = "\n".join(f"_:n{one} <urn:p> _:n{other} ." for one, other in edges)
    names: dict[Iri, int] = {}
    for (statement, _), (one, other) in zip(read(text), edges, strict=True):
        assert isinstance(statement.object, Iri)
        assert names.setdefault(statement.subject, one) == one
        assert names.setdefault(statement.object, other) == other
    assert len(set(names.values())) == len(names)


# --- graphs ----------------------------------------------------------------------------------------------------------

NAMED = {
    "application/trig": "<urn:s> <urn:p> 1 . GRAPH <urn:h> { <urn:s> <urn:p> 2 }",
    "application/n-quads": '<urn:s> <urn:p> "1" .\n<urn:s> <urn:p> "2" <urn:h> .',
    JSON_LD: '[{"@id": "urn:s", "urn:p": 1}, {"@id": "urn:h", "@graph": [{"@id": "urn:s", "urn:p": 2}]}]',
}


@pytest.mark.parametrize("media_type", NAMED)
def test_named_graphs_go_where_they_say(media_type: str) -> None:
    assert {statement.graph for statement, _ in read(NAMED[media_type], media_type)} == {DEFAULT_GRAPH, Iri("urn:h")}


@pytest.mark.parametrize("media_type", NAMED)
def test_a_document_with_graphs_and_a_graph_given_is_refused(media_type: str) -> None:
    error = refused(NAMED[media_type], media_type, graph=G)
    assert "urn:h" in error.message
    assert "leave the graph out" in error.remedy


@pytest.mark.parametrize(
    ("text", "media_type"),
    [("_:g { <urn:s> <urn:p> 1 }", "application/trig"), ("<urn:s> <urn:p> <urn:o> _:g .", "application/n-quads")],
)
def test_a_graph_has_an_iri(text: str, media_type: str) -> None:
    assert "has no IRI" in refused(text, media_type).message


# --- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "media_type", "where", "remedy"),
    [
        ("<urn:s> <urn:p> 1 .\n<urn:s> <urn:p>\n  foo .", TURTLE, "line 3, column 3", "at or before that place"),
        ("<urn:s> <urn:p> 'x'@en-GB , 'y'@en-GB,, .", TURTLE, "line 1, column 39", "at or before"),
        ("<urn:s> <urn:p> <o> .", TURTLE, "line 1, column 17", "declare a base"),
        ("\n<urn:s> e:p 1 .", TURTLE, "line 2, column 9", "declare the prefix"),
        ("<urn:s> <urn:p> ", TURTLE, "line 1, column 17", "send the document whole"),
        ("<urn:s> <urn:p> '\\uD800' .", TURTLE, "line 1, column 18", "at or before"),
        (b"<urn:s> <urn:p> '\xed\xa0\x80' .", TURTLE, "line 1, column 18", "at or before"),
        ("<urn:s> <urn:p> 1 <urn:g> .", "application/n-quads", "line 1, column 17", "at or before"),
        ("<urn:s> <urn:p> <urn:o> <urn:g> .", "application/n-triples", "line 1, column 25", "at or before"),
        ("<a>\n<b></a>", "application/rdf+xml", "line 2, column 6", "at or before"),
        ("<urn:s> <urn:p> 'x'@toolonglanguage .", TURTLE, "line 1, column 21", "at or before"),
        ('{"@id": "urn:s",\n "urn:p": }', JSON_LD, "line 2, column 11", "at or before"),
        ('{"@id": "urn:s", "p": 1}', JSON_LD, "/p", "define it"),
    ],
)
def test_errors_have_a_place_and_a_way_out(text: str | bytes, media_type: str, where: str, remedy: str) -> None:
    error = refused(text, media_type)
    assert (error.where, remedy in error.remedy) == (where, True)


def test_what_is_no_rdf_xml_says_after_how_many_statements() -> None:
    good = '<rdf:Description rdf:about="urn:s"><u:p>x</u:p></rdf:Description>'
    bad = '<rdf:Description rdf:about="urn:s" rdf:ID="a"/>'
    error = refused(f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:u="urn:">{good}{bad}</rdf:RDF>', "application/rdf+xml")
    assert error.where == "statement 2"


@pytest.mark.parametrize("media_type", ["text/n3", "application/json", "", "text/turtle; charset=latin-1"])
def test_formats_that_are_not_read(media_type: str) -> None:
    assert refused("", media_type).remedy


def test_a_document_that_is_too_large_is_refused_unread() -> None:
    with pytest.raises(InvalidDocument, match="11 bytes, more than 10"):
        read("not turtle!", limit=10)


def with_entities(declared: str, used: str) -> str:
    return f"<!DOCTYPE r [{declared}]>" + SAME["application/rdf+xml"].replace(">x<", f">{used}<")


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        ('<!ENTITY x SYSTEM "file:///etc/passwd">', "&x;"),
        ('<!ENTITY x "ha"><!ENTITY y "&x;&x;">', "&y;"),
        ('<!ENTITY e0 "ha">' + "".join(f'<!ENTITY e{n} "&e{n - 1};&e{n - 1};">' for n in range(1, 64)), "&e63;"),
        ('<!ENTITY x "ha"><!ENTITY y "&#38;x;">', "&y;"),
        (f'<!ENTITY x "{"ha" * 10_000}">', "&x;" * 1_000),
        ('<!ENTITY x "a"> ]><!DOCTYPE r [ <!ENTITY y "&x;">', "&y;"),
        ('<!ENTITY % x "a">', "&x;"),
    ],
)
def test_entities_are_not_fetched_nor_multiplied(declared: str, used: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read(with_entities(declared, used), "application/rdf+xml", limit=100_000)
    assert caught.value.where is not None


def test_entities_of_plain_text_are_put_in() -> None:
    text = with_entities('\n <!-- its namespace --> <!ENTITY x "http://h/"  >\n <!ENTITY y "z">', "&x;a&y;&lt;")
    asserted = read(text, "application/rdf+xml")
    assert [statement.object for statement, _ in asserted][1] == Literal("http://h/az<", language="en-gb")


_HOSTILE = ["<!-- ", "<![CDATA[", "<?", "</", "<a ", "<a '", "<a b='", "<!ENTITY ", "'''\\'", '"@A', "<<( ", "&", "_:"]


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
@pytest.mark.parametrize("unit", _HOSTILE)
def test_hostile_text_is_read_in_linear_time(unit: str, media_type: str) -> None:
    """What backtracks takes minutes. The timeout of the thread is the test's."""
    found: list[InvalidDocument] = []
    thread = Thread(target=lambda: found.append(refused(unit * 20_000, media_type)), daemon=True)
    thread.start()
    thread.join(timeout=20)
    assert found


@given(st.text("<>\"'@_:.,;()[]{}#\\ \n^urnspoEN-x1", max_size=50), st.sampled_from(MEDIA_TYPES))
def test_whatever_comes_is_read_or_refused(text: str, media_type: str) -> None:
    try:
        asserted = read(text, media_type)
    except CallerError:
        return
    assert all(isinstance(statement, Statement) for statement, _ in asserted)
