"""JSON-LD: PyLD's reading where that loses nothing, and an error where it would."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyld import jsonld

from bridge.documents.jsonld import read_jsonld
from bridge.documents.jsonld_triples import Triple
from bridge.documents.skolem import Skolem
from kernel.errors import CallerError, InvalidDocument, InvalidTerm
from kernel.terms import RDF, XSD, Iri, Literal
from kernel.vocabulary import GENID
from tests.bridge.sparql.endpoint import Endpoint, listening

VOCAB = {"@vocab": "http://v/"}


def read(document: object) -> list[Triple]:
    text = document if isinstance(document, str) else json.dumps(document)
    return read_jsonld(text.encode(), Skolem())


def objects(document: object) -> list[str]:
    return sorted(value.n3 for _, _, value, _ in read(document))


def refused(document: object) -> InvalidDocument:
    with pytest.raises(InvalidDocument) as caught:
        read(document)
    return caught.value


# --- case 19: contexts elsewhere -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with listening() as found:
        yield found


@pytest.mark.parametrize(
    "url", ["URL", "URLctx.jsonld", "file:///etc/passwd", "ctx.jsonld", "../ctx", "urn:ctx", "", "https://schema.org"]
)
@pytest.mark.parametrize(
    "document",
    [
        '{"@context": "X", "@id": "urn:a", "p": 1}',
        '{"@context": [{}, "X"], "@id": "urn:a", "p": 1}',
        '{"@context": {"@import": "X"}, "@id": "urn:a", "p": 1}',
        '{"@context": {"T": {"@id": "urn:T", "@context": "X"}}, "@id": "urn:a", "@type": "T"}',
        '{"@context": {"p": {"@id": "urn:p", "@context": ["X"]}}, "@id": "urn:a", "p": {"q": 1}}',
        '{"@id": "urn:a", "urn:p": {"@context": "X", "@id": "urn:b", "q": 1}}',
        '[{"@context": "X", "@id": "urn:a", "p": 1}]',
    ],
)
def test_case_19_nothing_is_fetched(document: str, url: str, endpoint: Endpoint) -> None:
    url = url.replace("URL", endpoint.url)
    error = refused(document.replace("X", url))
    assert repr(url.removeprefix("../")) in error.message
    assert "put the context itself" in error.remedy
    assert endpoint.calls == 0


def test_case_19_nor_taken_from_what_others_have_fetched() -> None:
    """PyLD keeps contexts for everyone in the process."""
    document = {"@context": VOCAB}
    context = {"contextUrl": None, "documentUrl": "http://h/ctx", "document": document, "tag": "static"}
    jsonld.expand({"@context": "http://h/ctx", "p": 1}, {"documentLoader": lambda url, options: context})
    assert (
        "'http://h/ctx' is not in the document" in refused({"@context": "http://h/ctx", "@id": "urn:a", "p": 1}).message
    )


def test_case_19_a_document_that_is_an_address_is_no_document() -> None:
    assert "an object or an array" in refused('"http://127.0.0.1/doc"').message


# --- cases 20 to 22 --------------------------------------------------------------------------------------------------


def test_case_20_numbers() -> None:
    values = '[42.0, 1.50, true, 1e21, {"@value": 7, "@type": "urn:d"}]'
    text = f'{{"@context": {{"@vocab": "http://v/"}}, "@id": "urn:a", "p": {values}}}'
    assert objects(text) == sorted(
        [
            f'"42"^^<{XSD}integer>',
            f'"1.5E0"^^<{XSD}double>',
            f'"true"^^<{XSD}boolean>',
            f'"1.0E21"^^<{XSD}double>',
            '"7"^^<urn:d>',
        ]
    )


def test_case_20_a_number_that_would_lose_digits() -> None:
    with pytest.raises(InvalidTerm, match=r"cannot hold 2\.0000000000000001 exactly") as caught:
        read('{"@id": "urn:a", "urn:p": 2.0000000000000001}')
    assert caught.value.where == "urn:p"


@pytest.mark.parametrize("value", ["x", {"@value": "x"}, {"@value": "x", "@language": "en"}, 5])
def test_case_21_a_literal_type_is_a_literal(value: object) -> None:
    ((_, predicate, given_value, _),) = read({"@id": "urn:a", RDF + "type": value})
    assert predicate == Iri(RDF + "type")
    assert isinstance(given_value, Literal)


LABEL = {"label": {"@id": "http://v/label", "@container": "@language"}}


@pytest.mark.parametrize(
    "context", [LABEL, LABEL | VOCAB, {"label": {"@id": "http://v/label", "@container": ["@language", "@set"]}}]
)
def test_case_22_a_language_map_in_an_array_is_refused(context: dict[str, object]) -> None:
    error = refused({"@context": context, "@id": "urn:a", "label": ["x", {"en": "colour"}]})
    assert error.where == "/label/1"
    assert "language map" in error.message


@pytest.mark.parametrize(
    "value",
    [
        {"en-GB": ["colour", None], "@none": "x"},
        [{"@value": "colour", "@language": "en-GB"}, {"@value": "x"}],
        [{"v": "colour", "@language": "en-GB"}, "x"],
    ],
)
def test_case_22_what_it_should_be(value: object) -> None:
    document = {"@context": {**LABEL, "v": "@value"}, "@id": "urn:a", "label": value}
    assert objects(document) == ['"colour"@en-GB', '"x"']


# --- what expansion would drop ---------------------------------------------------------------------------------------

SCOPED = {"T": {"@id": "urn:T", "@context": {"n": "urn:n"}}, "U": {"@id": "urn:U", "@context": {"m": "urn:m"}}}


@pytest.mark.parametrize(
    ("document", "where", "term"),
    [
        ({"@id": "urn:a", "nmae": "x"}, "/nmae", "nmae"),
        ({"@id": "urn:a", "urn:p": [{"x/y": 1}]}, "/urn:p/0/x~1y", "x/y"),
        ({"@context": SCOPED, "@id": "urn:a", "@type": "T", "n": 1, "m": 2}, "/m", "m"),
        ({"@context": SCOPED, "@id": "urn:a", "@type": ["T", "U"], "n": 1, "m": 2, "o": 3}, "/o", "o"),
        ({"@context": SCOPED, "@id": "urn:a", "@type": "T", "n": {"n": 1}}, "/n", "n"),
        ({"@context": {"nest": "@nest"}, "@id": "urn:a", "nest": {"x": 1}}, "/nest/x", "x"),
        ({"@context": {"r": {"@reverse": "urn:r"}}, "@id": "urn:a", "r": {"x": 1}}, "/r/x", "x"),
        ({"@id": "urn:a", "@reverse": {"x": {"@id": "urn:b"}}}, "/@reverse/x", "x"),
        ({"@id": "urn:a", "@included": [{"@id": "urn:b", "x": 1}]}, "/@included/0/x", "x"),
        (
            {"@context": {"i": {"@id": "urn:i", "@container": "@index"}}, "@id": "urn:a", "i": {"k": {"x": 1}}},
            "/i/k/x",
            "x",
        ),
    ],
)
def test_terms_that_no_context_defines_are_named(document: object, where: str, term: str) -> None:
    error = refused(document)
    assert (error.where, repr(term) in error.message) == (where, True)


def test_all_undefined_terms_are_told_at_once() -> None:
    error = refused({"@id": "urn:a", **{f"t{number}": 1 for number in range(7)}})
    assert error.message == "no context defines the terms 't0', 't1', 't2', 't3', 't4' and 2 more"


def test_two_type_scoped_contexts_lose_nothing() -> None:
    document = {"@context": SCOPED, "@id": "urn:a", "@type": ["T", "U"], "n": "x", "m": "y"}
    assert objects(document) == ['"x"', '"y"', "<urn:T>", "<urn:U>"]


def test_a_term_that_the_context_leaves_out_is_left_out() -> None:
    assert objects({"@context": {"p": "urn:p", "q": None}, "@id": "urn:a", "p": "x", "q": "y"}) == ['"x"']


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"@id": "urn:a", "@annotation": {"urn:p": 1}}, "no keyword @annotation"),
        ({"@id": "urn:a", "@Type": "urn:T"}, "no keyword @Type"),
        ({"@id": "a", "urn:p": 1}, "'a', as @id, is relative"),
        ({"@context": {"@base": "x/"}, "@id": "a", "urn:p": 1}, "'x/a', as @id, is relative"),
        ({"@context": {"@base": None}, "@id": "a", "urn:p": 1}, "'a', as @id, is relative"),
        ({"@id": "urn:a", "@type": "Person"}, "'Person', as @type, is relative"),
        ({"@id": "urn:a", "urn:p": {"@id": "b"}}, "'b', as @id, is relative"),
        ({"@id": "urn:a", "urn:p": {"@value": "x", "@type": "date"}}, "'date', as a datatype, is relative"),
        ({"@context": {"@vocab": "v#"}, "@id": "urn:a", "p": 1}, "'v#p', as a property, is relative"),
        ({"@id": "@foo", "urn:p": 1}, "looks like a keyword"),
        ({"@id": "urn:a", "_:p": 1}, "stands as a property"),
        ({"@id": "_:g", "@graph": [{"@id": "urn:a", "urn:p": 1}]}, "a named graph has no IRI"),
        ({"@id": "urn:a", "urn:p": {"@graph": [{"@id": "urn:b", "urn:p": 1}]}}, "a named graph has no IRI"),
        ({"@graph": ["x"]}, "a value stands alone"),
        ({"@context": {"g": "@graph"}, "g": ["x"]}, "a value stands alone"),
        ({"@graph": [{"@value": "x"}]}, "a value stands alone"),
        ({"@graph": [{"@list": ["x"]}]}, "a value stands alone"),
        (["x"], "a value stands alone"),
        ({"@id": "urn:a", "urn:p": {"@language": "en"}}, "a language, but no value"),
        ({"@context": {"l": "@language"}, "@id": "urn:a", "urn:p": [{"l": "en"}]}, "a language, but no value"),
    ],
)
def test_nothing_is_dropped_in_silence(document: object, message: str) -> None:
    assert message in refused(document).message


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"@context": 5}, "invalid local context"),
        ({"@id": 5, "urn:p": 1}, "invalid @id value"),
        ({"@id": "urn:a", "urn:p": {"@value": "x", "urn:q": 1}}, "invalid value object"),
        ({"@context": {"p": {"@id": "urn:p", "@container": "@foo"}}, "@id": "urn:a"}, "invalid container mapping"),
        ({"@context": {"a": {"@id": "b:x"}, "b": {"@id": "a:y"}}, "@id": "urn:a", "a": 1}, "cyclic IRI mapping"),
    ],
)
def test_what_is_no_json_ld_says_why(document: object, message: str) -> None:
    assert message in refused(document).message


MANY = {f"t{number}": "urn:t" for number in range(10_001)}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"@context": [{f"t{number}": "urn:t"} for number in range(5_000)], "@id": "urn:a"},
            "contexts within contexts",
        ),
        ({"@context": MANY, "@graph": [{"@context": {"x": "urn:x"}}] * 1_000}, "contexts within contexts"),
        ({"@context": {f"t{n}": f"t{n + 1}:x" for n in range(2_000)}, "@id": "urn:a", "t0": 1}, "not JSON-LD"),
    ],
)
def test_contexts_have_bounds(document: object, message: str) -> None:
    assert message in refused(document).message


def test_many_documents_in_an_array_may_each_have_a_context() -> None:
    assert (
        len(read([{"@context": VOCAB | LABEL, "@id": f"urn:{number}", "p": number} for number in range(2_000)]))
        == 2_000
    )


def test_a_direction_needs_a_language() -> None:
    assert objects({"@id": "urn:a", "urn:p": {"@value": "x", "@language": "AR", "@direction": "rtl"}}) == [
        '"x"@AR--rtl'
    ]
    with pytest.raises(InvalidTerm, match="no language"):
        read({"@id": "urn:a", "urn:p": {"@value": "x", "@direction": "rtl"}})


@pytest.mark.parametrize(
    "context",
    [
        {"p": {"@id": "urn:p", "@language": "en-GB"}},
        {"@language": "en-GB", "p": "urn:p"},
        {"@language": "en-GB", "p": {"@id": "urn:p", "@container": "@set"}},
    ],
)
def test_case_46_tags_of_contexts_keep_their_capitals(context: dict[str, object]) -> None:
    assert objects({"@context": context, "@id": "urn:a", "p": "colour"}) == ['"colour"@en-GB']


def test_json_literals_are_canonical() -> None:
    value = '{"b": [1.0, 1.50, {"@foo": "EN"}], "a": "é"}'
    text = '{"@context": {"j": {"@id": "urn:j", "@type": "@json"}}, "@id": "urn:a", "j": %s}' % value  # noqa: UP031
    assert objects(text) == [Literal('{"a":"é","b":[1,1.5,{"@foo":"EN"}]}', RDF + "JSON").n3]
    with pytest.raises(InvalidTerm, match="exactly"):
        read(text.replace("1.50", "0.1000000000000000000001"))


def test_blank_nodes_are_the_same_throughout_a_document() -> None:
    document = {"@id": "_:x", "urn:p": [{"@id": "_:x"}, {"@id": "_:y"}, {}, {"@list": [1]}]}
    triples = read(document)
    nodes = {node for subject, _, value, _ in triples for node in (subject, value) if isinstance(node, Iri)}
    assert len({node for node in nodes if node.value.startswith(GENID)}) == 4
    assert {subject for subject, _, _, _ in triples} & {subject for subject, _, _, _ in read(document)} == set()


# --- PyLD's own conversion, where it loses nothing -------------------------------------------------------------------

_ids = st.sampled_from(["urn:a", "urn:b", "_:x", "_:y", "http://h/c"])
_values = st.one_of(
    st.sampled_from(["x", "", "EN", 'é\n"\\']),
    st.booleans(),
    st.integers(-5, 5),
    st.sampled_from([1.5, 2.0, -0.25]),
    st.builds(
        lambda v, t: {"@value": v, "@type": t}, st.sampled_from(["x", "1"]), st.sampled_from([XSD + "date", "urn:t"])
    ),
    st.builds(
        lambda v, t: {"@value": v, "@language": t}, st.sampled_from(["x", "y"]), st.sampled_from(["en", "de-at"])
    ),
    st.builds(lambda i: {"@id": i}, _ids),
)


def _nodes(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    members = st.one_of(
        inner, st.lists(inner, max_size=3), st.builds(lambda items: {"@list": items}, st.lists(inner, max_size=3))
    )
    return st.builds(
        lambda identity, types, properties, reverse: {
            **({"@id": identity} if identity else {}),
            **({"@type": types} if types else {}),
            **properties,
            **({"@reverse": {"r": reverse}} if reverse else {}),
        },
        st.one_of(st.none(), _ids),
        st.lists(st.sampled_from(["T", "urn:U", "_:t"]), max_size=2),
        st.dictionaries(st.sampled_from(["p", "q", "ref", "lang", "s:x"]), members, max_size=3),
        st.lists(st.builds(lambda i: {"@id": i}, _ids), max_size=2),
    )


_CONTEXT = {
    "@vocab": "http://v/",
    "s": "http://s/",
    "r": "http://v/r",
    "ref": {"@id": "http://v/ref", "@container": "@set"},
}


@given(st.lists(st.recursive(_nodes(_values), _nodes, max_leaves=3), max_size=3), st.booleans())
def test_triples_are_those_of_pyld(nodes: list[object], named: bool) -> None:
    document: dict[str, object] = {"@context": _CONTEXT, "@graph": nodes}
    if named:
        document["@id"] = "urn:g"
    lines = [" ".join(written(term) for term in triple if term is not None) + " ." for triple in read(document)]
    text = jsonld.to_rdf(document, {"format": "application/n-quads"})
    assert canonical("\n".join(lines)) == canonical(text)


def written(term: Iri | Literal) -> str:
    if isinstance(term, Iri) and term.value.startswith(GENID):
        return term.value.replace(GENID, "_:")
    return term.n3


def canonical(text: str) -> set[str]:
    dataset = ox.Dataset(ox.parse(text.encode(), ox.RdfFormat.N_QUADS))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return set(map(str, dataset))


_NAMES = [
    *(
        "@id",
        "@type",
        "@value",
        "@language",
        "@direction",
        "@list",
        "@set",
        "@graph",
        "@context",
        "@reverse",
        "@included",
    ),
    *("@nest", "@index", "@base", "@vocab", "@container", "@import", "@version", "p", "urn:p", "x:y", "@foo", "_:b"),
]
_SCALARS = ["@id", "x", "urn:a", "_:b", "@json", "en", ""]
_junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from(_SCALARS)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_NAMES), inner, max_size=4)),
    max_leaves=12,
)


@given(_junk)
def test_whatever_comes_is_read_or_refused(document: object) -> None:
    try:
        triples = read(document)
    except CallerError:
        return
    for subject, predicate, value, _ in triples:
        assert isinstance(subject, Iri)
        assert isinstance(predicate, Iri)
        assert "relative.invalid" not in f"{subject.value}{predicate.value}{value.n3}"
