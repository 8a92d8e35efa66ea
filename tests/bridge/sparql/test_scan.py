"""What a query asks for, against the engine itself and against rdflib's algebra."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.parserutils import CompValue

from bridge.sparql.scan import Form, QueryShape, _by_tokens, runnable, scan
from kernel.errors import QueryRefused
from kernel.terms import Iri
from kernel.time.instants import Instant, parse_instant
from kernel.vocabulary import HISTORY, SHAPES_GRAPH, history_graph
from tests.bridge.sparql.endpoint import Endpoint, listening
from tests.requirements import require


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with listening() as found:
        yield found


# --- case 16: SERVICE ------------------------------------------------------------------------------------------------

HIDDEN = {
    "plain": "ASK { SERVICE <URL> { ?s ?p ?o } }",
    "silent": "ASK { SERVICE SILENT <URL> { ?s ?p ?o } }",
    "lower case": "ASK { service silent <URL> { ?s ?p ?o } }",
    "without space": "ASK{SERVICESILENT<URL>{?s ?p ?o}}",
    "by prefix": "PREFIX e: <URL> ASK { SERVICE e: { ?s ?p ?o } }",
    "glued to its prefix": "PREFIX : <URL> ASK { SERVICE:x { ?s ?p ?o } }",
    "as a prefix": "PREFIX : <URL> PREFIX service: <urn:> ASK { service:x { ?s ?p ?o } }",
    "within a prefix": "PREFIX s: <URL> ASK { services:x { ?s ?p ?o } }",
    "within a silent prefix": "PREFIX s: <URL> ASK { servicesilents:x { ?s ?p ?o } }",
    "by variable": "ASK { VALUES ?x { <URL> } SERVICE?x { ?s ?p ?o } }",
    "in a subquery": "ASK { { SELECT * { OPTIONAL { SERVICE <URL> { ?s ?p ?o } } } } }",
    "in a filter": "ASK { FILTER NOT EXISTS { SERVICE <URL> { ?s ?p ?o } } }",
    "after a bracket": "ASK { FILTER(true)SERVICE <URL> { ?s ?p ?o } }",
    "after a comment ended by CR": "ASK { # \rSERVICE <URL> { ?s ?p ?o } }",
    "after a long string": "ASK { BIND('''a'b\"''' AS ?x) SERVICE <URL> { ?s ?p ?o } }",
    "after an escaped backslash": "ASK { BIND('\\\\' AS ?x) SERVICE <URL> { ?s ?p ?o } }",
    "after an escape in a name": "PREFIX : <urn:> ASK { BIND(:\\' AS ?y) SERVICE <URL> { ?s ?p ?o } BIND('' AS ?z) }",
    "with comments within": "ASK { SERVICE # <urn:a> {\n <URL> # }\n { ?s ?p ?o } }",
}
DISGUISED = {
    "in what looks like a string": "ASK { FILTER(!(?a<?b&&?c='x>')) SERVICE <URL> { ?s ?p ?o } FILTER('y'!='z') } # '",
    "in what looks like an IRI": "PREFIX : <URL> ASK { FILTER(COALESCE(?a<?b,true))SERVICE:x#>\n{ ?s ?p ?o } }",
}


def refused(query: str) -> bool:
    try:
        return scan(query).service
    except QueryRefused:
        return True


@pytest.mark.parametrize("query", [*HIDDEN.values(), *DISGUISED.values()], ids=[*HIDDEN, *DISGUISED])
def test_case_16_no_service_is_called_however_it_is_written(query: str, endpoint: Endpoint) -> None:
    text = query.replace("URL", endpoint.url)
    assert refused(text) or _calls(endpoint, runnable(text)) == 0


@pytest.mark.parametrize("query", [*HIDDEN.values(), *DISGUISED.values()], ids=[*HIDDEN, *DISGUISED])
def test_case_16_the_engine_itself_would_call_it(query: str, endpoint: Endpoint) -> None:
    """So that the test above is about something."""
    assert _calls(endpoint, query.replace("URL", endpoint.url)) > 0 or "VALUES" in query


@pytest.mark.parametrize(
    "query",
    [
        r"ASK { \u0053ERVICE <urn:x> { ?s ?p ?o } }",
        r"ASK { \U00000053ERVICE <urn:x> { ?s ?p ?o } }",
        r"ASK { BIND('\u0027 AS ?x) SERVICE <urn:x> {} BIND(' ' AS ?y) }",
    ],
)
def test_case_16_escapes_as_sparql_1_1_decodes_them_are_refused_too(query: str) -> None:
    assert refused(query)


@pytest.mark.parametrize(
    "query",
    [
        "PREFIX service: <urn:> ASK { ?service service:service 'SERVICE <urn:x> {}' }",
        "PREFIX : <urn:> ASK { $service :service :service . ?s a :SERVICE }",
        "ASK { ?s ?p ?o } # SERVICE <urn:x> { ?s ?p ?o }",
        "ASK { ?s <urn:SERVICE> <http://h/service?x=SERVICE#service> }",
        "ASK { ?s ?p 'x'@service , _:service , '''SERVICE <urn:x> { }''' }",
        "SELECT ?service ?provider { ?service ?p ?provider }",
        "PREFIX myservice: <urn:> SELECT * FROM NAMED myservice:g WHERE { ?s myservice:p ?o }",
    ],
)
def test_case_16_names_and_texts_with_the_word_are_let_through(query: str) -> None:
    assert not scan(query).service
    ox.Store().query(runnable(query))


_SNIPPETS = [
    *("FILTER(!(?a<?b&&?c='x>'))", "FILTER('y'!='z')", "FILTER(COALESCE(?a<?b,true))", "BIND('''a\n'b''' AS ?v)"),
    *("# c\n", "# '\r", 'BIND("\\"" AS ?w)', "{}", "OPTIONAL { ?s ?p 1 }", "BIND(<urn:'> AS ?u)", "BIND(1>2 AS ?k)"),
    *(
        "SERVICE SILENT <URL> {}",
        "service:x {}",
        "SERVICE<URL>{ FILTER('a'='a') }",
        "BIND(:a\\'b AS ?n)",
        "BIND('\\u0027' AS ?m)",
    ),
    *("FILTER(true || ?a<?b)SERVICE<URL>{}#>\n", "FILTER(1 IN (1<2,3>4,true))", "'", '"', "<", ">", "'''", "#", " "),
]


@given(st.lists(st.sampled_from(_SNIPPETS), max_size=8), st.sampled_from(["", "#'", "#>'"]))
def test_case_16_whatever_is_run_calls_nobody(endpoint: Endpoint, snippets: list[str], end: str) -> None:
    text = f"PREFIX : <{endpoint.url}> ASK {{ {''.join(snippets)} }} {end}".replace("URL", endpoint.url)
    if not refused(text):
        assert _calls(endpoint, runnable(text)) == 0


def _calls(endpoint: Endpoint, query: str) -> int:
    before = endpoint.calls
    with suppress(SyntaxError, RuntimeError):
        bool(ox.Store().query(query))
    return endpoint.calls - before


# --- the W3C's queries -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def queries() -> dict[Path, str]:
    found = sorted((require("shared") / "suites" / "sparql").rglob("*.rq"))
    assert len(found) > 600
    return {path: path.read_text("utf-8") for path in found}


@pytest.mark.shared
def test_the_w3c_queries_that_the_engine_reads_are_read_with_their_form(queries: dict[Path, str]) -> None:
    forms = {
        ox.QuerySolutions: {Form.SELECT},
        ox.QueryBoolean: {Form.ASK},
        ox.QueryTriples: {Form.CONSTRUCT, Form.DESCRIBE},
    }
    read = 0
    for path, text in queries.items():
        if re.search("service", text, re.IGNORECASE):
            continue
        results = _results(text, path)
        if results is not None:
            read += 1
            assert scan(text).form in forms[type(results)], path
            again = _results(runnable(text), path)
            assert type(again) is type(results), path
    assert read > 400


def _results(text: str, path: Path) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples | None:
    try:
        return ox.Store().query(text, base_iri=path.as_uri())
    except (SyntaxError, RuntimeError):
        return None


@pytest.mark.shared
def test_case_16_a_service_that_rdflib_sees_is_a_service(queries: dict[Path, str]) -> None:
    seen = 0
    for path, text in queries.items():
        if not re.search("service", text, re.IGNORECASE):
            continue
        try:
            algebra = prepareQuery(text, base=path.as_uri()).algebra
        except Exception:  # noqa: BLE001 - rdflib lets what its parser meets pass through as it is
            continue
        if "ServiceGraphPattern" in set(_names(algebra)):
            seen += 1
            assert scan(text).service, path
    assert seen >= 7


def _names(part: object) -> Iterator[str]:
    if isinstance(part, CompValue):
        yield part.name
        for each in part.values():
            yield from _names(each)
    elif isinstance(part, list | tuple):
        for each in part:
            yield from _names(each)


_CLAUSES = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["<urn:a>", "e:b", ":c", "from:named", "e:", "<http://h/x#FROM>"])),
    max_size=4,
)


@given(_CLAUSES, st.sampled_from(["", "WHERE", "# FROM e:x\n"]))
def test_from_clauses_are_those_that_rdflib_reads(clauses: list[tuple[bool, str]], where: str) -> None:
    written = " ".join(f"FROM {'NAMED ' if named else ''}{iri}" for named, iri in clauses)
    text = (
        f"PREFIX e: <urn:e#> PREFIX : <urn:empty/> PREFIX from: <http://h/> SELECT * {written} {where} {{ ?s ?p ?o }}"
    )
    read = prepareQuery(text).algebra.get("datasetClause") or []
    shape = scan(text)
    assert [iri.value for iri in shape.from_default] == [str(each.default) for each in read if each.default]
    assert [iri.value for iri in shape.from_named] == [str(each.named) for each in read if each.named]


# --- the rest of the shape -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("SELECT*{}", Form.SELECT),
        ("select ?s {}", Form.SELECT),
        ("# ASK\nBASE <urn:b> PREFIX ask: <urn:> VERSION '1.2' DESCRIBE ask:x", Form.DESCRIBE),
        ("PREFIX select: <urn:s> CONSTRUCT {} {}", Form.CONSTRUCT),
        ("ASKFROM<urn:g>{}", Form.ASK),
        ("INSERT DATA {}", Form.UPDATE),
        ("PREFIX : <urn:> WITH :g DELETE {} WHERE {}", Form.UPDATE),
        ("LOAD <urn:x>", Form.UPDATE),
        ("", Form.UNKNOWN),
        ("PREFIX : <urn:>", Form.UNKNOWN),
        ("{ query }", Form.UNKNOWN),
        ("EXPLAIN SELECT * {}", Form.UNKNOWN),
    ],
)
def test_form(text: str, form: Form) -> None:
    assert scan(text).form is form


@pytest.mark.parametrize(
    ("text", "load"),
    [
        ("LOAD <urn:x>", True),
        ("load silent <urn:x> INTO GRAPH <urn:g>", True),
        ("LOADSILENT<urn:x>", True),
        ("PREFIX : <urn:> LOAD:x", True),
        ("CLEAR ALL; LOAD <urn:x>", True),
        ("PREFIX load: <urn:> INSERT DATA { load:a load:b 'LOAD <urn:x>' . load:c ?load load:d }", False),
        ("SELECT * { ?load ?p 'LOAD' }", False),
    ],
)
def test_case_16_load(text: str, load: bool) -> None:
    assert scan(text).load is load


@pytest.mark.parametrize(
    ("query", "graph", "variable"),
    [
        ("ASK { ?s ?p ?o }", False, False),
        ("ASK { GRAPH <urn:g> { ?s ?p ?o } }", True, False),
        ("ASK { graph ?g { ?s ?p ?o } }", True, True),
        ("ASK{GRAPH$g{}}", True, True),
        ("PREFIX graph: <urn:> ASK { ?graph graph:x 'GRAPH ?g' }", True, False),
        ("ASK { GRAPH # ?x\n <urn:g> {} GRAPH # c\n ?g {} }", True, True),
    ],
)
def test_graph_patterns(query: str, graph: bool, variable: bool) -> None:
    shape = scan(query)
    assert (shape.graph, shape.graph_variable) == (graph, variable)


def test_from_is_resolved_by_prefix_base_and_escapes() -> None:
    shape = scan(
        "BASE <http://h/a/b> PREFIX e: <urn:e#> PREFIX : <c/> PREFIX f: <d#>\n"
        r"SELECT * FROM e:\#x FROM <../g> FROM :y FROM <urn:\u0061> FROM NAMED f:z # FROM <urn:c>"
        "\nFROM NAMED <urn:b> { ?s ?p 'FROM <urn:d>' }"
    )
    assert shape.from_default == (Iri("urn:e##x"), Iri("http://h/g"), Iri("http://h/a/c/y"), Iri("urn:a"))
    assert shape.from_named == (Iri("http://h/a/d#z"), Iri("urn:b"))


def test_a_from_that_is_no_iri_is_refused() -> None:
    with pytest.raises(QueryRefused, match="not an absolute IRI"):
        scan(r"ASK FROM <urn:a\u0020b> {}")


_G = Iri("http://h/g")


@pytest.mark.parametrize(
    ("query", "history", "governance"),
    [
        (f"ASK {{ GRAPH <{history_graph(_G).value}> {{ ?s ?p ?o }} }}", True, False),
        (f"PREFIX h: <{HISTORY}> ASK {{ GRAPH h:http%3A%2F%2Fh%2Fg {{}} }}", True, False),
        ("PREFIX w: <https://w3id.org/> ASK { GRAPH w:muniment\\/history\\/urn%3Ag {} }", True, False),
        ("BASE <https://w3id.org/muniment/> ASK { GRAPH <history/urn%3Ag> {} }", True, False),
        ("ASK { GRAPH ?g {} FILTER(STRSTARTS(STR(?g), 'https://w3id.org/muniment/history/')) }", True, False),
        (r"ASK { GRAPH <https://w3id.org/muniment/h\u0069story/urn%3Ag> {} }", True, False),
        (f"ASK {{ GRAPH <{SHAPES_GRAPH.value}> {{}} }}", False, True),
        ("PREFIX m: <https://w3id.org/muniment#> ASK { GRAPH m:rules {} }", False, True),
        ("PREFIX m: <https://w3id.org/muniment#> ASK { GRAPH m:default { ?s m:validFrom ?o } }", False, False),
        ("ASK { ?s ?p 'history' }", False, False),
    ],
)
def test_mentions(query: str, history: bool, governance: bool) -> None:
    shape = scan(query)
    assert (shape.mentions_history, shape.mentions_governance) == (history, governance)


@pytest.mark.parametrize(
    ("query", "volatile"),
    [
        ("SELECT (NOW() AS ?x) {}", True),
        ("SELECT * { FILTER(rand () < 1) }", True),
        ("SELECT (UUID() AS ?x) {}", True),
        ("SELECT (STRUUID() AS ?x) {}", True),
        ("SELECT (BNODE('x') AS ?x) {}", True),
        ("PREFIX now: <urn:> SELECT ?now { ?now now:now 'NOW()' } # RAND()", False),
    ],
)
def test_volatile_functions(query: str, volatile: bool) -> None:
    assert scan(query).volatile is volatile


def test_the_shape_of_a_text_is_kept() -> None:
    assert scan("ASK {}") is scan("ASK {}")
    long = f"ASK {{}} # {'x' * 20_000}"
    assert isinstance(scan(long), QueryShape)
    assert scan(long) == scan("ASK {}")


# --- NOW() -----------------------------------------------------------------------------------------------------------

THEN = parse_instant("-0043-03-15T12:00:00.5Z")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (STR(NOW()) AS ?t) {}",
        "SELECT ?t { BIND(STR(now ( )) AS ?t) }",
        "SELECT (STR(MAX(?n)) AS ?t) { BIND(NOW() AS ?n) FILTER NOW() } GROUP BY NOW() HAVING NOW() ORDER BY NOW()",
        "SELECT (STR(?n) AS ?t) { VALUES ?x { 'NOW()' } BIND(COALESCE(NOW(), 1) AS ?n) FILTER(NOW() IN (1, NOW())) }",
        "SELECT (STR(NOW()) AS ?t) { BIND(<urn:'> AS ?x) } # NOW()",
    ],
)
def test_now_is_the_instant_given_wherever_it_may_stand(query: str) -> None:
    results = ox.Store().query(runnable(query.replace("FILTER NOW()", "").replace("HAVING NOW()", ""), THEN))
    ox.Store().query(runnable(query, THEN))
    assert isinstance(results, ox.QuerySolutions)
    assert [solution["t"] for solution in results] == [ox.Literal("-0043-03-15T12:00:00.5Z")]


@given(st.sampled_from(["SELECT (NOW() AS ?t) {}", "ASK { FILTER(NOW()<NOW()) }", "ASK {}"]))
def test_without_an_instant_the_text_stays_as_it_is(query: str) -> None:
    assert runnable(query) == query


@given(st.integers(-(10**15), 10**15))
def test_now_in_strings_and_comments_is_text(instant: int) -> None:
    query = "PREFIX now: <urn:> ASK { ?now now:now 'NOW()' } # NOW()"
    assert runnable(query, Instant(instant)) == query


# --- texts that are alike ---------------------------------------------------------------------------------------------

PIECES = [
    *("SELECT", "ASK", "*", "{", "}", "{", "}", "?s", "?p", ".", "FROM", "NAMED", "GRAPH", "SERVICE", "NOW()", "a"),
    *(
        "<http://a/b>",
        "<http://a/b#c?d=e&f>",
        "<https://c/>",
        "<http://muni>",
        "<https://w3id.org/mun>",
        "<x>",
        "<y:z>",
    ),
    *(
        "PREFIX p:",
        "BASE",
        "p:iment",
        "p:x",
        "'",
        '"',
        "'<http://a/>'",
        "# {",
        "# <http://a/>",
        "\n",
        "<",
        ">",
        "RAND()",
    ),
    *("\\u0027", f"<{HISTORY}http%3A//a/>", f"<{SHAPES_GRAPH.value}>", "<http://muniment/0>", "VALUES", "7", "("),
]


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.lists(st.sampled_from(PIECES), max_size=6))
@example(["?s"], ["# {", "\n", "FROM", "<http://a/b>"])  # which is not in the body
@example(["p:iment"], ["PREFIX p:", "<https://w3id.org/mun>"])
@example(["NOW()"], [])
def test_what_is_known_of_texts_that_are_alike_is_what_each_of_them_is(body: list[str], prologue: list[str]) -> None:
    text = f"{' '.join(prologue)} SELECT * {{ {' '.join(body)} }}"
    for each in (text, text.replace("http://a/", "http://b/")):
        assert _seen(partial(_known, each)) == _seen(partial(_looked_at, each))


@pytest.mark.fuzz
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_the_same_of_long_texts(pieces: list[str]) -> None:
    text = " ".join(pieces)
    assert _seen(partial(_known, text)) == _seen(partial(_looked_at, text))


def _known(text: str) -> tuple[QueryShape, str]:
    return scan(text), runnable(text)


def _looked_at(text: str) -> tuple[QueryShape, str]:
    prepared = _by_tokens(text)
    return prepared.shape, prepared.settled


def _seen(look: Callable[[], tuple[QueryShape, str]]) -> tuple[QueryShape, str] | str:
    try:
        return look()
    except QueryRefused as error:
        return str(error)
