"""Inputs that are meant to hurt: each gets a problem document, and leaves the server well (`conftest`).

What is bounded elsewhere is tried with much more of it than the bound. Where RDF allows something odd, such as a NUL
in a literal, it is data, and comes back as it was sent.
"""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import quote

import httpx2
import pyoxigraph as ox
import pytest

from bridge.long_iris import LONG, MAX_LONG
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.serving import Served

DEEP: Final = 50_000
JSON: Final = "application/json"
JSON_LD: Final = "application/ld+json"
TURTLE: Final = "text/turtle"
XML: Final = "application/rdf+xml"
UPDATE: Final = "application/sparql-update"
QUERY: Final = "application/sparql-query"
BIDI: Final = ("\u202e", "\u2066", "\u200f", "\u061c")

RDF: Final = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e#">'
SAID: Final = RDF + b'<rdf:Description rdf:about="urn:a"><e:p>%s</e:p></rdf:Description></rdf:RDF>'
LAUGHS: Final = b'<!ENTITY a "ha">' + b"".join(
    b'<!ENTITY %c "%s">' % (98 + each, b"&%c;" % (97 + each) * 10) for each in range(9)
)
TYPE: Final = b"<!DOCTYPE r [%s]>"
PREFIX: Final = b"x" * 2**20
TERMS: Final = b"<<( <urn:a> <urn:p> "
DECLARED: Final = b"PREFIX a: <urn:" + PREFIX + b"> "


def refused(answer: httpx2.Response, *codes: str) -> dict[str, object]:
    """The problem document of a caller's error, with all that one needs."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text[:500]
    problem: dict[str, object] = answer.json()
    assert 400 <= answer.status_code < 500
    assert problem["status"] == answer.status_code
    assert problem["code"] in codes, problem
    assert problem["remedy"]
    assert len(answer.content) < 4_000, "an answer does not repeat what was sent"
    return problem


@pytest.fixture(scope="module")
def admin(attacked: Served) -> httpx2.Client:
    return attacked.client(Role.ADMINISTRATOR)


def iris(count: int) -> bytes:
    return b", ".join(b"a:%d" % each for each in range(count))


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        pytest.param(b"[" * DEEP, JSON, id="deep array"),
        pytest.param(b'{"a":' * DEEP + b"1" + b"}" * DEEP, JSON, id="deep object"),
        pytest.param(b'{"changes":' + b"[" * DEEP + b"]" * DEEP + b"}", JSON, id="deep changes"),
        pytest.param(b'{"changes":' + b"9" * 100_000 + b"}", JSON, id="long number"),
        pytest.param(b'{"changes":[1e99999999999]}', JSON, id="large exponent"),
        pytest.param(b'{"changes":[],"changes":[]}', JSON, id="member given twice"),
        pytest.param(b'{"changes":[NaN]}', JSON, id="NaN"),
        pytest.param(b'{"\\ud800":1}', JSON, id="surrogate in a key"),
        pytest.param(b'{"changes":"\xed\xa0\x80"}', JSON, id="surrogate in UTF-8"),
        pytest.param(b'{"a\\u0000b":1}', JSON, id="NUL in a key"),
        pytest.param(b'{"@id":"urn:a","urn:p":' * DEEP + b"1" + b"}" * DEEP, JSON_LD, id="deep nodes"),
        pytest.param(b'{"urn:p":' + b'{"@list":[' * DEEP + b"]}" * DEEP + b"}", JSON_LD, id="deep lists"),
        pytest.param(b'{"@id":"urn:a","urn:p":"\\udfff"}', JSON_LD, id="surrogate in JSON-LD"),
        pytest.param(b'{"@context":{"a":"urn:' + PREFIX + b'"},"a:b":1}', JSON_LD, id="prefix bomb in JSON-LD"),
        pytest.param(b'{"@context":{"@vocab":"urn:' + PREFIX + b'"},"b":1}', JSON_LD, id="vocabulary bomb"),
        pytest.param(DECLARED + b"<urn:s> <urn:p> " + iris(1_000) + b" .", TURTLE, id="prefix bomb"),
        pytest.param(b"@base <urn:" + PREFIX + b"/>. <s> <p> " + b"<o>, " * 1_000 + b"<o> .", TURTLE, id="base bomb"),
        pytest.param(DECLARED + b"<urn:s> <urn:p> " + b'"1"^^a:b, ' * 1_000 + b"1 .", TURTLE, id="datatype bomb"),
        pytest.param(b"<urn:s> <urn:p> " + TERMS * DEEP, TURTLE, id="deep triple terms"),
        pytest.param(b'<urn:s> <urn:p> "\\ud800" .', TURTLE, id="surrogate in Turtle"),
        pytest.param(b"<urn:\\u0000> <urn:p> 1 .", TURTLE, id="NUL in an IRI"),
        pytest.param(b"\x00" * 1_000, TURTLE, id="NULs"),
        pytest.param(b"\x1f\x8b\x08" + b"\xff" * 1_000, TURTLE, id="compressed"),
        pytest.param(RDF + b"<e:a><e:p>" * DEEP, XML, id="deep elements"),
        pytest.param(TYPE % LAUGHS + SAID % b"&j;", XML, id="entities of entities"),
        pytest.param(TYPE % (b'<!ENTITY a "' + PREFIX + b'">') + SAID % (b"&a;" * 100), XML, id="large entity"),
        pytest.param(TYPE % b'<!ENTITY a SYSTEM "file:///etc/passwd">' + SAID % b"&a;", XML, id="entity in a file"),
        pytest.param(TYPE % b'<!ENTITY % a SYSTEM "http://127.0.0.1/"> %a;' + SAID % b"", XML, id="entity elsewhere"),
        pytest.param(SAID % b"a\x00b", XML, id="NUL in XML"),
        pytest.param(b"INSERT DATA { <urn:s> <urn:p> " + TERMS * DEEP, UPDATE, id="update, deep terms"),
        pytest.param(b"DELETE { ?s ?p ?o } WHERE " + b"{" * DEEP, UPDATE, id="update, deep groups"),
        pytest.param(b"CLEAR GRAPH <urn:x>;" * DEEP, UPDATE, id="update, many operations"),
        pytest.param(DECLARED + b"INSERT DATA { <urn:s> <urn:p> " + iris(1_000) + b" }", UPDATE, id="update, prefixes"),
        pytest.param(b'INSERT DATA { <urn:a> <urn:p> "\\ud800" }', UPDATE, id="update, surrogate"),
        pytest.param(b"INSERT DATA { <urn:\x00> <urn:p> 1 }", UPDATE, id="update, NUL"),
        pytest.param(b"SELECT * " + b"{" * DEEP, QUERY, id="query, deep groups"),
        pytest.param(b"SELECT * { FILTER(" + b"(" * DEEP, QUERY, id="query, deep expression"),
        pytest.param(b"SELECT * { FILTER(" + b"!" * DEEP, QUERY, id="query, many operators"),
        pytest.param(b"SELECT * { ?s " + b"(" * DEEP, QUERY, id="query, deep path"),
        pytest.param(b"SELECT * { ?s " + b"/".join([b"<urn:p>*"] * DEEP) + b" ?o }", QUERY, id="query, long path"),
        pytest.param(b"SELECT * {{}" + b" UNION {}" * DEEP + b"}", QUERY, id="query, many unions"),
        pytest.param(b"SELECT * { FILTER EXISTS " * DEEP, QUERY, id="query, deep EXISTS"),
        pytest.param(b"ASK " + b"FROM <urn:g> " * DEEP + b"{}", QUERY, id="query, many graphs"),
        pytest.param(DECLARED + b"ASK { VALUES ?x { " + b"a:1 " * 1_000 + b"} }", QUERY, id="query, prefix bomb"),
        pytest.param(b"ASK { \x00 }", QUERY, id="query, NUL"),
        pytest.param(b'ASK { ?s ?p "\\ud800" }', QUERY, id="query, surrogate"),
        pytest.param(b"ASK { ?s ?p '\xed\xa0\x80' }", QUERY, id="query, surrogate in UTF-8"),
    ],
)  # fmt: skip
def test_a_text_that_is_meant_to_hurt_is_refused(admin: httpx2.Client, body: bytes, media_type: str) -> None:
    path = "/sparql" if media_type in {UPDATE, QUERY} else "/changes"
    answer = admin.post(path, content=body, headers={"content-type": media_type})
    refused(answer, "invalid-document", "invalid-term", "invalid-change", "query-refused", "unknown-parameter")


@pytest.mark.parametrize("sign", BIDI, ids=[f"U+{ord(sign):04X}" for sign in BIDI])
def test_no_iri_turns_the_direction_of_text(admin: httpx2.Client, sign: str) -> None:
    """One that does looks like another on a page, and is approved for it."""
    iri = f"urn:a{sign}b"
    sent = {
        TURTLE: f"<{iri}> <urn:p> 1 .",
        "application/n-quads": f"<urn:a> <urn:p> <{iri}> .",
        JSON: json.dumps(request(change(f"a{sign}b", "p", "o"))),
        JSON_LD: json.dumps({"@id": iri, "urn:p": "x"}),
        XML: f'{RDF.decode()}<rdf:Description rdf:about="{iri}"><e:p>1</e:p></rdf:Description></rdf:RDF>',
    }
    for media_type, body in sent.items():
        answer = admin.post("/changes", content=body.encode(), headers={"content-type": media_type})
        refused(answer, "invalid-term", "invalid-document")
    answer = admin.post(
        "/sparql", content=f"INSERT DATA {{ <{iri}> <urn:p> 1 }}".encode(), headers={"content-type": UPDATE}
    )
    refused(answer, "query-refused")
    for path in (f"/graphs?graph={quote(iri)}", f"/facts?subject={quote(iri)}", f"/exports/{quote(iri, safe='')}"):
        refused(admin.get(path), "invalid-term", "invalid-parameter", "not-found")


@pytest.mark.parametrize(
    "path",
    [
        "/facts?subject=urn:a%00b",
        "/facts?subject=%ff",
        "/facts?subject=%ed%a0%80",
        "/facts?after=" + "A" * 10_000,
        "/facts?limit=" + "9" * 10_000,
        "/sparql?query=ASK%20%7B%7D&as-of=" + "9" * 10_000,
        "/sparql?query=ASK%20%7B%7D&valid-at=2024-01-01T00:00:00.%00Z",
        "/sparql?query=ASK%20%7B%7D&format=" + "x" * 10_000,
        "/sparql?" + "&".join(f"default-graph-uri=urn:{each}" for each in range(1_100)),
        "/exports/" + quote("../../etc/passwd", safe=""),
        "/exports/%00",
        "/certificates/" + "x" * 10_000,
        "/certificates/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/log/tile/0/" + "x" * 1_000,
        "/" + "a/" * 10_000,
        "/%00",
        "/nothing/%ed%a0%80",
    ],
)  # fmt: skip
def test_an_address_that_is_meant_to_hurt_is_refused(admin: httpx2.Client, path: str) -> None:
    codes = ("invalid-parameter", "invalid-term", "invalid-time", "not-found", "unknown-path", "unknown-parameter")
    assert "root:" not in json.dumps(refused(admin.get(path), *codes))


def test_a_bearer_token_of_any_kind_is_refused_alike(attacked: Served) -> None:
    for token in (b"\xff" * 100, b"x" * 60_000, b"..", b"e30.e30.", b"' OR 1=1 --"):
        answer = attacked.client(None).get("/facts", headers=[(b"authorization", b"Bearer " + token)])
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


def test_the_largest_of_bodies_are_413(admin: httpx2.Client) -> None:
    for path, media_type in (("/changes", TURTLE), ("/changes", JSON), ("/sparql", UPDATE), ("/sparql", QUERY)):
        answer = admin.post(path, content=b" " * (17 * 2**20), headers={"content-type": media_type})
        assert (answer.status_code, answer.json()["code"]) == (413, "too-large")


# --- what is well formed, and takes much ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        pytest.param(
            "SELECT (COUNT(*) AS ?n) { ?a (<urn:k>/<urn:k>)*/(<urn:k>|^<urn:k>)+/(<urn:k>*/<urn:k>*)* ?b }",
            ("query-limit",),
            id="path bomb",
        ),
        pytest.param(
            "SELECT (STRLEN(?x9) AS ?l) { BIND('aaaaaaaaaaaaaaaa' AS ?x0) "
            + " ".join(f"BIND(CONCAT({','.join([f'?x{each}'] * 12)}) AS ?x{each + 1})" for each in range(9))
            + " }",
            ("query-limit",),
            id="strings of strings",
        ),
        pytest.param(
            "SELECT (STRLEN(?x6) AS ?l) { BIND('aaaaaaaaaaaaaaaa' AS ?x0) "
            + " ".join(f"BIND(REPLACE(?x{each}, '.', '{'$0' * 40}') AS ?x{each + 1})" for each in range(6))
            + " }",
            ("query-limit",),
            id="REPLACE of REPLACE",
        ),
    ],
)  # fmt: skip
def test_a_query_that_takes_too_much_is_ended(attacked: Served, query: str, codes: tuple[str, ...]) -> None:
    client = attacked.client(Role.READER)
    linked = "".join(f"<urn:n{a}> <urn:k> <urn:n{b}> .\n" for a in range(100) for b in range(0, 200, 2))
    attacked.writer.put(
        "/graphs", params={"graph": "urn:bomb"}, content=linked, headers={"content-type": "application/n-triples"}
    )
    refused(client.post("/sparql", content=query, headers={"content-type": QUERY}), *codes)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|a)*b", "(.*)*x", "(((a{1,100}){1,100}){1,100})"])
def test_a_regular_expression_takes_no_longer_than_its_text(attacked: Served, pattern: str) -> None:
    """The engine's has no backtracking; what is too large for it is no match."""
    query = f'ASK {{ FILTER(REGEX("{"a" * 5_000}!", "{pattern}")) }}'
    answer = attacked.client(Role.READER).post("/sparql", content=query, headers={"content-type": QUERY})
    assert answer.status_code == 200


def test_a_regular_expression_of_a_shape_takes_no_longer_either(admin: httpx2.Client) -> None:
    """It judges whoever writes: one that backtracks would stop all writing."""
    shape = f"""@prefix sh: <http://www.w3.org/ns/shacl#> .
        <urn:S> a sh:NodeShape ; sh:targetSubjectsOf <{EX}name> ; sh:property <urn:S#name> .
        <urn:S#name> sh:path <{EX}name> ; sh:pattern "^(a+)+$" ."""
    shapes = {"graph": "https://w3id.org/muniment#shapes"}
    written = admin.post("/changes", params=shapes, content=shape, headers={"content-type": TURTLE})
    assert written.status_code == 201, written.text
    bad = admin.post("/changes", json=request(change("ann", "name", {"@value": "a" * 5_000 + "!"})))
    assert (bad.status_code, bad.json()["verdict"]) == (422, "refused")
    well = admin.post("/changes", json=request(change("ann", "name", {"@value": "a" * 5_000})))
    assert well.status_code == 201


def test_a_long_literal_is_kept_and_told_by_its_beginning(attacked: Served) -> None:
    value = "x" * 2**20
    written = attacked.writer.post("/changes", json=request(change("long", "p", {"@value": value})))
    assert written.status_code == 201
    query = f"SELECT ?o {{ <{EX}long> <{EX}p> ?o }}"
    answer = attacked.client(Role.READER).get("/sparql", params={"query": query})
    assert answer.json()["results"]["bindings"][0]["o"]["value"] == value


def test_a_nul_in_a_literal_is_data(attacked: Served) -> None:
    """RDF allows it. Formats that cannot carry it are refused, and no other text has one."""
    client = attacked.writer
    written = client.post("/changes", content=b'<urn:nul> <urn:p> "a\\u0000b" .', headers={"content-type": TURTLE})
    assert written.status_code == 201
    query = {"query": "SELECT ?o { <urn:nul> <urn:p> ?o }"}
    answer = client.get("/sparql", params=query)
    assert answer.json()["results"]["bindings"][0]["o"]["value"] == "a\0b"
    xml = client.get("/sparql", params=query, headers={"accept": "application/sparql-results+xml"})
    refused(xml, "not-acceptable")


def test_long_iris_within_the_bound_are_taken(attacked: Served) -> None:
    count = MAX_LONG // (LONG + 10) - 1
    assert count > 10_000
    long = b"<urn:s> <urn:p> <urn:" + b"y" * (5 * LONG) + b"> ."
    answer = attacked.writer.post("/changes", content=long, headers={"content-type": TURTLE})
    assert answer.status_code == 201


@pytest.mark.parametrize(
    "path", ["/at/2020-01-01T00%3A00%3A00%2B01%3A00/sparql", "/at/2020-01-01T00:00:00Z/199%39/sparql"]
)
def test_the_address_of_an_endpoint_is_told_as_an_iri(attacked: Served, path: str) -> None:
    answer = attacked.client(Role.READER).get(path, headers={"accept": "application/n-triples"})
    assert answer.status_code == 200
    assert list(ox.parse(answer.content, ox.RdfFormat.N_TRIPLES))


@pytest.mark.parametrize("path", ["/at/%17%25%F2%A6%B0%8B6K/sparql", "/at/a>b|/sparql", "/at/a%3Eb/2020%0A/sparql"])
def test_an_address_that_is_no_moment_is_no_endpoint(attacked: Served, path: str) -> None:
    answer = attacked.client(Role.READER).get(path, headers={"accept": "application/n-triples"})
    refused(answer, "invalid-time")
