"""Turtle and RDF/XML as text: marks say which letters were capitals, and change nothing else."""

from __future__ import annotations

import subprocess
import sys

import pyoxigraph as ox
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.documents import turtle_text, xml_text
from bridge.documents.turtle_text import MAX_NESTING, mark, prepared, unmarked
from kernel.errors import InvalidDocument

_subtags = st.from_regex(r"[A-Za-z0-9]{1,8}", fullmatch=True)
_tags = st.builds(
    lambda first, rest: "-".join([first, *rest]),
    st.from_regex(r"[A-Za-z]{2,8}", fullmatch=True),
    st.lists(_subtags, max_size=3),
)


@given(_tags)
@example("en")
@example("EN-x-mcase-11")
@example("en-x-mcase-00")
@example("x-Own")
def test_a_mark_says_what_the_tag_was(tag: str) -> None:
    assert unmarked(mark(tag).lower()) == tag


@given(_tags)
def test_a_tag_with_a_mark_is_a_tag_where_it_was_one_before(tag: str) -> None:
    """Otherwise the mark would make a good document a bad one."""
    try:
        ox.Literal("x", language=tag)
    except ValueError:
        return
    assert ox.Literal("x", language=mark(tag)).language == mark(tag).lower()


@pytest.mark.parametrize("tag", ["en-GB-oed", "i-klingon", "I-Klingon", "sgn-BE-FR", "art-LOJBAN", "zh-min-NAN"])
def test_irregular_tags_stay_good(tag: str) -> None:
    ox.Literal("x", language=mark(tag))


@pytest.mark.parametrize("language", ["", "en", "en-x-mcase-000", "x-mcase-1", "-x-mcase-"])
def test_what_is_no_mark_is_left_alone(language: str) -> None:
    assert unmarked(language) == language


_PIECES = [
    *(
        '"a"@en-GB',
        "'b'@DE",
        '"c" @FR',
        '"""d"x"""@Pt-BR',
        "'''e\n'@EN'''@en",
        '"f"',
        '"g@EN"',
        '"h\\"@EN"',
        '"i"@x-Own',
    ),
    *(
        '"j"@EN--rtl',
        '"k"^^<urn:EN>',
        "<urn:it's@EN>",
        "ex:l",
        r"ex:m\'\@EN",
        '"""n""@EN\n\\""""@EN',
        "''@EN",
        '""@EN',
    ),
]
_BETWEEN = [" , ", ",", " # it's '@EN\n , ", ' , # "@EN\n']


@given(st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from(_BETWEEN)), min_size=1, max_size=8), st.booleans())
def test_marks_change_nothing_but_the_tags(pieces: list[tuple[str, str]], graph: bool) -> None:
    objects = "".join(piece + between for piece, between in pieces) + '"end"'
    text = f"@prefix ex: <urn:@EN#'> . ex:s ex:p {objects} ."
    text = text if not graph else text.replace("ex:s", "GRAPH ex:g { ex:s") + " }"
    data = text.encode()
    marked, any_marks = prepared(data)
    before, after = (list(ox.parse(each, ox.RdfFormat.TRIG)) for each in (data, marked))
    assert any_marks or marked == data
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert (one.subject, one.predicate, one.graph_name) == (other.subject, other.predicate, other.graph_name)
        if isinstance(one.object, ox.Literal) and one.object.language is not None:
            tag = unmarked(other.object.language or "")
            assert tag.lower() == one.object.language
            assert f"@{tag}" in text
            assert (one.object.value, one.object.direction) == (other.object.value, other.object.direction)
        else:
            assert one.object == other.object


def test_each_tag_gets_its_own_spelling_back() -> None:
    data = b"<urn:s> <urn:p> 'a'@en-GB, 'b'@en-gb, 'c'@EN-gb ."
    tags = [unmarked(quad.object.language or "") for quad in ox.parse(prepared(data)[0], ox.RdfFormat.TURTLE)]
    assert tags == ["en-GB", "en-gb", "EN-gb"]


def nested(depth: int, start: str = "<<(", end: str = ")>>") -> bytes:
    return (
        b"<urn:s> <urn:p> "
        + f"{start} <urn:s> <urn:p> ".encode() * depth
        + b"<urn:o>"
        + f" {end}".encode() * depth
        + b" ."
    )


def test_triple_terms_that_would_end_the_process_are_refused() -> None:
    with pytest.raises(InvalidDocument, match="nested more than") as caught:
        prepared(nested(100_000, start="<<( # )>>\n"))
    assert caught.value.where == f"line {MAX_NESTING + 1}"
    assert len(list(ox.parse(prepared(nested(MAX_NESTING))[0], ox.RdfFormat.TURTLE))) == 1


def test_many_triple_terms_beside_each_other_are_fine() -> None:
    data = b"<urn:s> <urn:p> <<( <urn:s> <urn:p> '<<(' )>> .\n" * 1_000
    assert prepared(data) == (data, False)


def test_these_would_end_the_process() -> None:
    """So that the refusal above is about something."""
    script = "import sys, pyoxigraph as ox; list(ox.parse(sys.stdin.buffer.read(), ox.RdfFormat.TURTLE))"
    done = subprocess.run([sys.executable, "-c", script], input=nested(200_000), capture_output=True, check=False)
    assert done.returncode < 0


# --- RDF/XML ---------------------------------------------------------------------------------------------------------

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def described(inner: str, attributes: str = "") -> bytes:
    return (
        f"<?xml version='1.0'?><!-- xml:lang='EN' --><rdf:RDF xmlns:rdf='{RDF}' xmlns:e='urn:e:' {attributes}>"
        f"<rdf:Description rdf:about='urn:s'>{inner}</rdf:Description></rdf:RDF>"
    ).encode()


@pytest.mark.parametrize(
    ("inner", "attributes", "tag", "value"),
    [
        ("<e:p xml:lang='en-GB'>colour</e:p>", "", "en-GB", "colour"),
        ('<e:p xml:lang = "en-GB" >colour</e:p>', "", "en-GB", "colour"),
        ("<e:p>colour</e:p>", "xml:lang='DE'", "DE", "colour"),
        ("<e:p xml:lang='en'>xml:lang='EN'</e:p>", "", "en", "xml:lang='EN'"),
        ("<e:p xml:lang='en'><![CDATA[<e:p xml:lang='EN'>]]></e:p>", "", "en", "<e:p xml:lang='EN'>"),
        ("<!-- <e:q xml:lang='DE'> --><e:p xml:lang='EN'>a</e:p>", "", "EN", "a"),
    ],
)
def test_xml_marks(inner: str, attributes: str, tag: str, value: str) -> None:
    data, _ = xml_text.prepared(described(inner, attributes))
    (quad,) = ox.parse(data, ox.RdfFormat.RDF_XML)
    assert (unmarked(quad.object.language or ""), quad.object.value) == (tag, value)


def test_xml_literals_come_out_without_marks() -> None:
    data, marked = xml_text.prepared(described("<e:p rdf:parseType='Literal'><b xml:lang='en-GB'>x</b></e:p>"))
    assert marked
    (quad,) = ox.parse(data, ox.RdfFormat.RDF_XML)
    assert 'xml:lang="en-GB"' in xml_text.without_marks(quad.object.value)


def test_other_attributes_keep_what_they_hold() -> None:
    data, _ = xml_text.prepared(
        described("", "").replace(b"<rdf:Description", b"<rdf:Description e:p=\"xml:lang='EN'\"")
    )
    (quad,) = ox.parse(data, ox.RdfFormat.RDF_XML)
    assert quad.object.value == "xml:lang='EN'"


def test_deep_xml_is_refused() -> None:
    deep = "<e:p><rdf:Description>" * 200 + "</rdf:Description></e:p>" * 200
    with pytest.raises(InvalidDocument, match="nested more than 256 deep"):
        xml_text.prepared(described(deep))
    flat = "<e:p a='>'/>" * 1_000 + "<!-- <a> -->" * 1_000
    assert xml_text.prepared(described(flat))[0] == described(flat)


@pytest.mark.parametrize(
    ("data", "where"), [(b"<a>\n<b></a>", "line 2, column 6"), (b"<a/>", None), (b"<a>&x;</a>", "line 1, column 4")]
)
def test_the_place_of_a_fault(data: bytes, where: str | None) -> None:
    assert xml_text.place_of_fault(data) == where


@given(st.text("<>!-[]CDATA'\"= ax:lngE/?#@.\\\n()", max_size=60))
def test_any_text_is_taken_without_complaint(text: str) -> None:
    for module in (turtle_text, xml_text):
        data, marked = module.prepared(text.encode())
        assert marked or data == text.encode()
