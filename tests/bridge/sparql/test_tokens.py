"""Tokens: read as the engine reads them, and no deeper than it survives."""

from __future__ import annotations

import string
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from threading import Thread

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sparql import tokens
from bridge.sparql.tokens import MAX_DEPTH, MAX_OPERATORS, decode, pieces, settle, tokenise
from kernel.errors import QueryRefused


def texts(query: str) -> list[str]:
    return [token.text for token in tokenise(query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ASK{?s:p?o}", ["ASK", "{", "?s", ":p", "?o", "}"]),
        ("1service:x", ["1", "service:x"]),
        ("a:b.c. ", ["a:b.c", "."]),
        (r"a:b\'c'd'", [r"a:b\'c", "'d'"]),
        (r"a:%20\#x #y", [r"a:%20\#x"]),
        ("'''a'b''\\'''' x", ["'''a'b''\\''''", "x"]),
        ("'' ''''''", ["''", "''''''"]),
        ('"a\\"b" c', ['"a\\"b"', "c"]),
        ("'x'@en-GB--ltr y", ["'x'", "@en-GB--ltr", "y"]),
        ("'x'^^a:b", ["'x'", "^", "^", "a:b"]),
        ("?a<?b && ?c>?d", ["?a", "<", "?b", "&", "&", "?c", ">", "?d"]),
        ("?a <urn:b> 'c'", ["?a", "<urn:b>", "'c'"]),
        (r"<urn:\u0061\U00000062>", [r"<urn:\u0061\U00000062>"]),
        ("# <urn:a> 'b\rc # d\ne", ["c", "e"]),
        ("_:a.b _:1", ["_:a.b", "_:1"]),
        ("1.5e-3 .5 1.", ["1.5e-3", ".5", "1", "."]),
        ("<<( ?s ?p 1 )>>", ["<", "<", "(", "?s", "?p", "1", ")", ">", ">"]),
    ],
)
def test_tokens_are_those_of_the_grammar(query: str, expected: list[str]) -> None:
    assert texts(query) == expected


@pytest.mark.parametrize(
    ("query", "where", "hint"),
    [
        ("ASK {\n  ?s ?p 'a\n' }", "line 2, column 9", "close the quote"),
        ('ASK { ?s ?p """a\n\' }', "line 1, column 15", "close the quote"),
        (r"ASK { \u003Fs ?p ?o }", "line 1, column 7", "escapes stand only"),
        ("ASK\r\n{}\r\n§", "line 3, column 1", "take it out"),
        ("ASK { ?s ?p ?o } \x00", "line 1, column 18", "take it out"),
    ],
)
def test_what_starts_no_token_is_refused_with_its_place(query: str, where: str, hint: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        tokenise(query)
    assert caught.value.where == where
    assert hint in caught.value.remedy


@given(st.text("aA0:.?<>'\"\\#{}()@-_/\n u%é", max_size=40))
def test_every_token_is_where_it_says_and_nothing_else_is_but_space_and_comments(query: str) -> None:
    try:
        tokens = tokenise(query)
    except QueryRefused:
        return
    rest = query
    for token in reversed(tokens):
        assert query[token.start : token.end] == token.text
        rest = rest[: token.start] + rest[token.end :]
    uncommented = [line.partition("#")[0] for line in rest.split("\n")]
    assert not "".join(uncommented).strip()


@given(st.from_regex(r"(urn:|http://h/|[?=/]?)[a-z:/'()#?=&,;+*!$%\[\]é\ue000-]{0,12}", fullmatch=True))
def test_a_settled_iri_is_read_as_the_iri_or_not_at_all(iri: str) -> None:
    """Whatever stands before it, and whatever the engine would like to take it for."""
    store = ox.Store()
    settled = settle(f"BASE <http://b/> SELECT ?o {{ BIND(<{iri}> AS ?o) }}")
    absolute = settle(f"BASE <http://b/> ASK {{ FILTER(COALESCE(1<{iri}>2,true)) }}")
    with pytest.raises(SyntaxError):
        store.query(absolute)
    try:
        node = ox.NamedNode(iri)
    except ValueError:
        return
    solutions = store.query(settled)
    assert isinstance(solutions, ox.QuerySolutions)
    assert [solution["o"] for solution in solutions] == [node]


def test_long_divisions_do_not_hide_in_an_iri() -> None:
    settled = settle(f"ASK {{ FILTER(1<1{'/1' * 20_000}>1) }}")
    assert "/" not in settled


def test_pieces_leave_out_what_is_to_be_replaced() -> None:
    query = "ASK { <urn:(> ?p NOW() }"
    tokens = tokenise(query)
    start = query.index("NOW")
    assert pieces(query, tokens, {start: start + 5}) == ["ASK { <urn:\\u0028> ?p ", " }"]


@given(st.text())
def test_decoding_leaves_text_without_escapes_alone(text: str) -> None:
    assert decode(text.replace("\\", "")) == text.replace("\\", "")


def test_escapes_are_decoded_once() -> None:
    assert decode(r"\u0053\U00000045\u005Cu0041") == r"SE\u0041"


NESTED: dict[str, Callable[[int], str]] = {
    "groups": lambda n: "ASK " + "{" * n + "}" * n,
    "brackets": lambda n: "ASK { FILTER" + "(" * n + "1" + ")" * n + "}",
    "paths": lambda n: "ASK { ?s " + "(" * n + "<urn:p>" + ")*" * n + " ?o }",
    "triple terms": lambda n: "ASK { ?s ?p " + "<<( ?s ?p " * n + "1" + ")>>" * n + "}",
    "selects": lambda n: "ASK {" + "{ SELECT * {" * (n // 2) + "}}" * (n // 2) + "}",
    "functions": lambda n: "ASK { FILTER(" + "STR(" * n + "1" + ")" * n + ")}",
    "conditions": lambda n: "ASK { FILTER(" + "IF(EXISTS{ FILTER(" * (n // 3) + "1" + ")},1,1)" * (n // 3) + ")}",
}
LONG: dict[str, Callable[[int], str]] = {
    "sums": lambda n: "ASK { FILTER(1" + " +1" * n + ")}",
    "alternatives": lambda n: "ASK { FILTER(1" + "||1" * n + ")}",
    "negations": lambda n: "ASK { FILTER(" + "!" * n + "1)}",
    "unions": lambda n: "ASK { {}" + " UNION {}" * n + "}",
    "optionals": lambda n: "ASK {" + " OPTIONAL {}" * n + "}",
    "bindings": lambda n: "ASK {" + " ".join(f"BIND(1 AS ?v{i})" for i in range(n)) + "}",
    "orders": lambda n: "SELECT * {} ORDER BY" + " (1)" * n,
    "paths": lambda n: "ASK { ?s <urn:p>" + "|<urn:p>" * n + " ?o }",
}


@pytest.mark.parametrize("deep", NESTED.values(), ids=NESTED)
def test_what_is_nested_too_deep_is_refused(deep: Callable[[int], str]) -> None:
    with pytest.raises(QueryRefused, match=f"more than {MAX_DEPTH} deep"):
        tokenise(deep(10_000))
    tokenise(deep(MAX_DEPTH - 10))


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
def test_what_has_too_many_operators_is_refused(long: Callable[[int], str]) -> None:
    with pytest.raises(QueryRefused, match=f"more than {MAX_OPERATORS} operators"):
        tokenise(long(10_000))
    tokenise(long(MAX_OPERATORS // 5))


SURVIVAL = """
import sys, threading, pyoxigraph as ox
def run(query):
    results = ox.Store().query(query)
    return bool(results) if isinstance(results, ox.QueryBoolean) else list(results)
for query in sys.stdin.read().split("\\0"):
    thread = threading.Thread(target=run, args=(query,))
    thread.start()
    thread.join()
"""


def test_the_engine_survives_what_is_let_through() -> None:
    """In a process of its own, for what it does not survive ends the process."""
    queries = [deep(MAX_DEPTH - 10) for deep in NESTED.values()]
    for long in LONG.values():
        most = max(n for n in range(50, MAX_OPERATORS, 50) if _passes(long(n)))
        queries.append(long(most))
    text = "\0".join(queries)
    done = subprocess.run([sys.executable, "-c", SURVIVAL], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def _passes(query: str) -> bool:
    try:
        tokenise(query)
    except QueryRefused:
        return False
    return True


def test_long_lists_of_values_are_no_operators() -> None:
    rows = " ".join(f"(<urn:{i}> 'a{{b')" for i in range(5_000))
    assert _passes(
        f"SELECT * {{ VALUES (?x ?y) {{ {rows} }} ?x ?p ?o FILTER(?o IN ({', '.join(map(str, range(5_000)))})) }}"
    )


def test_a_query_has_so_many_tokens_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them is no query yet, which a limit of time could end."""
    monkeypatch.setattr(tokens, "MAX_TOKENS", 100)
    assert _passes("ASK { VALUES ?x {" + " 1" * 93 + "} }")
    with pytest.raises(QueryRefused, match="more than 100 words") as caught:
        tokenise("ASK { VALUES ?x {" + " 1" * 94 + "} }")
    assert caught.value.where == "line 1, column 208"


LONG_TOKENS = {
    "a string": '"' + "a" * 4_000_000 + '"',
    "a string of escapes": '"' + (r"\u0061\n" + "a" * 32) * 50_000 + '"',
    "a long string": "'''" + ("ab\n" * 10 + "'c") * 50_000 + "'''",
    "an IRI": "<http://h/" + "a" * 4_000_000 + ">",
    "a name": "a:" + ("b" * 96 + ".%20") * 20_000 + "b",
}


@pytest.mark.parametrize("token", LONG_TOKENS.values(), ids=LONG_TOKENS)
def test_a_long_token_is_found_in_few_steps(token: str) -> None:
    """Nobody else is served meanwhile. Its steps cannot be counted, so what they remember is."""
    tracemalloc.start()
    try:
        assert texts(f"ASK {{ ?s ?p {token} }}") == ["ASK", "{", "?s", "?p", token, "}"]
        assert tracemalloc.get_traced_memory()[1] < 20 * len(token)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("iri", ["urn:'" * 1_000, "urn:é%20" * 500, "urn:" + r"\u0061'\U0001F600" * 99, "urn:😀)"])
def test_a_rewritten_iri_is_the_same_iri(iri: str) -> None:
    settled = settle(f"ASK {{ <{iri}> ?p ?o }}")
    (written,) = [token for token in texts(settled) if token[0] == "<"]
    assert decode(written[1:-1]) == decode(iri)
    assert set(written) <= set(f"<>\\{string.ascii_letters}{string.digits}:._~%")


@pytest.mark.parametrize(
    "unit", ["a-", "b.", "a.", "a:", "a...", "'", '"', '"""a', "<", "<a", "_:a.", "?", "1.", "é.", "#", "{}"]
)
def test_hostile_text_is_read_in_linear_time(unit: str) -> None:
    """Twenty thousand repeats in a moment; what backtracks takes minutes. The timeout of the thread is the test's."""
    text = unit * 20_000
    thread = Thread(target=_passes, args=(text,), daemon=True)
    thread.start()
    thread.join(timeout=20)
    assert not thread.is_alive()
