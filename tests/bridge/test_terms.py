"""Terms as Oxigraph holds them."""

from concurrent.futures import ThreadPoolExecutor

import pyoxigraph as ox
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bridge.terms import LONGEST, OxigraphCanonicaliser, OxTerm, from_oxigraph, to_oxigraph
from kernel.errors import InvalidTerm
from kernel.terms import XSD, XSD_STRING, Iri, Literal, Term, TripleTerm
from kernel.time.instants import EARLIEST, LATEST, Instant, print_instant
from tests.kernel.time_strategies import date_times, dates, instants, written_year

CANONICALISER = OxigraphCanonicaliser()

_DATATYPES = [
    *("string", "boolean", "decimal", "integer", "double", "float", "date", "time", "dateTime", "dateTimeStamp"),
    *("gYear", "gMonth", "gDay", "gYearMonth", "gMonthDay", "duration", "yearMonthDuration", "dayTimeDuration"),
    *("byte", "short", "int", "long", "unsignedByte", "unsignedShort", "unsignedInt", "unsignedLong"),
    *("positiveInteger", "nonNegativeInteger", "negativeInteger", "nonPositiveInteger"),
    *("hexBinary", "base64Binary", "anyURI", "language", "normalizedString", "token", "NMTOKEN", "Name", "NCName"),
]
datatypes = st.sampled_from([XSD + name for name in _DATATYPES] + ["http://example.org/own"])

_signed = st.sampled_from(["", "-", "+"])
_digits = st.text("0123456789", min_size=1, max_size=25)
_numbers = st.builds(
    "{}{}{}{}".format,
    _signed,
    _digits,
    st.one_of(st.just(""), _digits.map(".{}".format)),
    st.one_of(st.just(""), st.builds("{}{}{}".format, st.sampled_from("eE"), _signed, st.integers(0, 400))),
)
_durations = st.builds(
    "{}P{}".format,
    st.sampled_from(["", "-"]),
    st.sampled_from(["0D", "1Y", "14M", "1Y2M3DT4H5M6.70S", "T0S", "T36H", "3DT0.000S", "T90M", "0Y0M", "M"]),
)
_dates = dates().map(lambda date: f"{written_year(date[0])}-{date[1]:02d}-{date[2]:02d}")
_lexicals = st.one_of(
    _numbers,
    _durations,
    _dates,
    date_times().map(lambda written: written.text),
    st.sampled_from(["true", "false", "1", "0", "TRUE", "NaN", "INF", "+INF", "-INF", "-0", "", " 5 ", "24:00:00"]),
    st.sampled_from(
        ["2024", "-0044", "--02-29", "---31", "2024-02+05:00", "2024-02-30", "0aF0", "YQ==", "00:00:00.0Z"]
    ),
    st.text(max_size=20),
)
_languages = st.sampled_from(
    ["en", "EN", "en-GB", "de-Latn-DE-1996", "zh-cmn-Hans-CN", "x-Own", "i-klingon", "sl-rozaj"]
)

literals = st.one_of(
    st.builds(Literal, _lexicals, datatypes),
    st.builds(Literal, st.text(max_size=20)),
    st.builds(
        lambda lexical, language, direction: Literal(lexical, language=language, direction=direction),
        st.text(max_size=20),
        _languages,
        st.sampled_from([None, "ltr", "rtl"]),
    ),
)
iris = st.one_of(
    st.sampled_from(["http://example.org/a", "urn:uuid:1", "http://é.example/ü?ä#ö", "mailto:a@b", "x:", "urn:a%20b"]),
    st.text(st.characters(min_codepoint=33), max_size=20).map("http://example.org/{}".format),
    st.text("ab:/?#[]@!$&'()*+,;=%0é", max_size=12).map("urn:{}".format),
    st.text("ab:/?#[]@!$&'()*+,;=%0é", max_size=12).map("http://{}".format),
)


@st.composite
def _any_iris(draw: st.DrawFn) -> Iri:
    text = draw(iris)
    try:
        return Iri(text)
    except InvalidTerm:
        assume(False)
        raise


terms: st.SearchStrategy[Term] = st.recursive(
    st.one_of(literals, _any_iris()),
    lambda inner: st.builds(TripleTerm, _any_iris(), _any_iris(), inner),
    max_leaves=3,
)


def loaded(term: Term) -> OxTerm:
    """What a store has after a strict load of the term as N-Quads."""
    store = ox.Store()
    store.load(f"<urn:s> <urn:p> {term.n3} <urn:g> .\n", ox.RdfFormat.N_QUADS, lenient=False)
    return next(store.quads_for_pattern(None, None, None)).object


@given(terms)
@example(Literal("1e400", XSD + "double"))
@example(Literal("0.1234567890123456789", XSD + "decimal"))
@example(Literal("a\\u0041\\\\\x00\x7f￾", "http://example.org/own"))
def test_what_is_accepted_loads_and_comes_back_as_it_is(term: Term) -> None:
    try:
        held = CANONICALISER.canonical(term)
    except InvalidTerm:
        with pytest.raises(SyntaxError):
            loaded(term)
        return
    assert from_oxigraph(loaded(term)) == held
    assert from_oxigraph(loaded(held)) == held
    assert CANONICALISER.canonical(held) == held


@given(terms)
def test_the_other_routes_into_a_store_agree(term: Term) -> None:
    try:
        held = CANONICALISER.canonical(term)
    except InvalidTerm:
        with pytest.raises(InvalidTerm):
            to_oxigraph(term)
        return
    updated, added = ox.Store(), ox.Store()
    updated.update(f"INSERT DATA {{ GRAPH <urn:g> {{ <urn:s> <urn:p> {term.n3} }} }}")
    added.add(ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), _object(term), ox.NamedNode("urn:g")))
    assert [from_oxigraph(quad.object) for quad in (*updated, *added)] == [held, held]
    updated.update(f"DELETE DATA {{ GRAPH <urn:g> {{ <urn:s> <urn:p> {held.n3} }} }}")
    assert not updated


def _object(term: Term) -> ox.NamedNode | ox.Literal | ox.Triple:
    converted = to_oxigraph(term)
    assert not isinstance(converted, ox.BlankNode)
    return converted


@given(terms)
def test_conversion_there_and_back_is_the_same_term(term: Term) -> None:
    try:
        held = CANONICALISER.canonical(term)
    except InvalidTerm:
        return
    assert from_oxigraph(to_oxigraph(held)) == held


@pytest.mark.parametrize(
    ("submitted", "held"),
    [
        (Literal("007", XSD + "int"), Literal("7", XSD + "integer")),
        (Literal("5", XSD + "nonNegativeInteger"), Literal("5", XSD + "integer")),
        (Literal("1.50", XSD + "decimal"), Literal("1.5", XSD + "decimal")),
        (Literal("2020-01-01T00:00:00.100Z", XSD + "dateTime"), Literal("2020-01-01T00:00:00.1Z", XSD + "dateTime")),
        (Literal("colour", language="en-GB"), Literal("colour", language="en-gb")),
        (Literal("x", language="AR", direction="rtl"), Literal("x", language="ar", direction="rtl")),
        (Literal("2024-02-30", XSD + "date"), Literal("2024-02-30", XSD + "date")),
        (Literal("x", XSD + "integer"), Literal("x", XSD + "integer")),
        (Literal("007"), Literal("007")),
    ],
)
def test_spellings_become_values_and_what_has_no_value_stays(submitted: Literal, held: Literal) -> None:
    assert CANONICALISER.canonical(submitted) == held


def test_two_spellings_of_one_value_are_one_term() -> None:
    spelled = [Literal("1.50", XSD + "decimal"), Literal("+01.5", XSD + "decimal"), Literal("1.5", XSD + "decimal")]
    assert len({CANONICALISER.canonical(literal) for literal in spelled}) == 1


@given(instants)
@example(EARLIEST)
@example(LATEST)
def test_every_instant_is_held_as_printed(instant: Instant) -> None:
    printed = Literal(print_instant(instant), XSD + "dateTime")
    assert CANONICALISER.canonical(printed) == printed


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (Iri("http://example.org:port/"), "not a valid IRI"),
        (Iri("urn:a%zz"), "percent encoding"),
        (Literal("x", "http://[::1"), "not a valid IRI"),
        (Literal("x", language="a"), "not a language tag"),
        (TripleTerm(Iri("urn:s"), Iri("urn:p"), Iri("urn:%")), "percent encoding"),
        (TripleTerm(Iri("urn:%"), Iri("urn:p"), Literal("x")), "percent encoding"),
        (Literal("x" * (LONGEST + 1)), "literal of 1,048,577 characters"),
        (Literal("x" * (LONGEST + 1), XSD + "integer"), "literal of 1,048,577 characters"),
        (TripleTerm(Iri("urn:s"), Iri("urn:p"), Literal("x" * (LONGEST + 1))), "literal of 1,048,577 characters"),
    ],
)
def test_what_a_store_would_refuse_is_refused_with_the_reason(term: Term, message: str) -> None:
    with pytest.raises(InvalidTerm, match=message) as refused:
        CANONICALISER.canonical(term)
    assert refused.value.remedy


def test_a_long_literal_is_held_too() -> None:
    long = "x" * 100_000
    assert CANONICALISER.canonical(Literal(long, XSD + "integer")) == Literal(long, XSD + "integer")


@pytest.mark.parametrize("character", ["\x01", "\U0001f600"])
def test_the_longest_literal_is_read_back_from_statements_and_answers(character: str) -> None:
    longest = CANONICALISER.canonical(Literal(character * LONGEST))
    (quad,) = ox.parse(f"<urn:s> <urn:p> {longest.n3} .", ox.RdfFormat.N_QUADS)
    assert from_oxigraph(quad.object) == longest
    store = ox.Store()
    store.add(quad)
    found = store.query("SELECT ?o { ?s ?p ?o }")
    assert isinstance(found, ox.QuerySolutions)
    answer = found.serialize(format=ox.QueryResultsFormat.JSON)
    assert answer is not None
    read = ox.parse_query_results(answer, ox.QueryResultsFormat.JSON)
    assert isinstance(read, ox.QuerySolutions)
    assert [from_oxigraph(row["o"]) for row in read] == [longest]


def test_threads_get_their_own_answers() -> None:
    literals = [Literal(f"0{number}", XSD + "int") for number in range(2_000)]
    with ThreadPoolExecutor(8) as pool:
        held = list(pool.map(CANONICALISER.canonical, literals))
    assert held == [Literal(str(number), XSD + "integer") for number in range(2_000)]


@pytest.mark.parametrize(
    "term", [ox.BlankNode(), ox.Triple(ox.BlankNode(), ox.NamedNode("urn:p"), ox.Literal("x"))], ids=["node", "inside"]
)
def test_blank_nodes_are_not_converted(term: OxTerm) -> None:
    with pytest.raises(InvalidTerm, match="blank node"):
        from_oxigraph(term)


def test_strings_are_never_rewritten() -> None:
    text = Literal(" 01 \r\n ", XSD_STRING)
    assert from_oxigraph(loaded(text)) == text == CANONICALISER.canonical(text)
