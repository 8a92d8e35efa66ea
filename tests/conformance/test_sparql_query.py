"""The W3C suites of queries in SPARQL 1.1 and 1.2, and of the formats of answers, over HTTP.

The data comes in as one document, by a certified write; the default graph is strictly its own; blank nodes come
as such; and each answer is asked for in the format of the file that it is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx2
import pyoxigraph as ox
import pytest

from bridge.base import Base
from tests.api.serving import served
from tests.conformance.manifests import Contents, QueryTest, query_tests, suite
from tests.conformance.solutions import GRAPHS, TABLES, is_table, read_answer, read_table, same_answer

SPARQL_11: Final = query_tests(suite() / "manifest-sparql11-query.ttl")
RESULTS: Final = query_tests(suite() / "manifest-sparql11-results.ttl")
SPARQL_12: Final = query_tests(suite("sparql12") / "manifest.ttl")
TESTS: Final = SPARQL_11 + RESULTS + SPARQL_12

EVALUATED: Final = [test for test in TESTS if test.kind in {"QueryEvaluationTest", "CSVResultFormatTest"}]
STRICT: Final = {"default-graph": "strict", "bnodes": "restore"}

_CONCATENATION: Final = "the engine keeps the language of what GROUP_CONCAT puts together"
_GRAPH_JOIN: Final = "the engine gives a graph pattern no solutions for graphs in which nothing matches"
_ZERO: Final = "a path of length zero between two values that are in no triple"
_SORTED_AS_IRIS: Final = "what was a blank node is an IRI while it is sorted"

FAILING: Final = {
    "sparql11/aggregates/agg-groupconcat-04": _CONCATENATION,
    "sparql11/aggregates/agg-groupconcat-06": _CONCATENATION,
    "sparql11/aggregates/agg-empty-group-count-graph": _GRAPH_JOIN,
    "sparql11/bindings/graph": _GRAPH_JOIN,
    "sparql11/negation/graph-minus": _GRAPH_JOIN,
    "sparql11/functions/bnode01": "BNODE of the same text is the same node in every solution",
    "sparql11/property-path/zero_or_more_set_start": _ZERO,
    "sparql11/property-path/zero_or_more_set_end": _ZERO,
    "sparql11/property-path/zero_or_one_set_start": _ZERO,
    "sparql11/property-path/zero_or_one_set_end": _ZERO,
    "sparql11/csv-tsv-res/csv03": "CSV has no datatypes by which 1.0E6 and 1000000 were the same",
    "sparql12/grouping/group01": "001 is the integer 1 in a store, and so in its group",
    "sparql12/grouping/select-variable-reuse": "the engine refuses it",
    "sparql12/eval-triple-terms/order-1": _SORTED_AS_IRIS,
    "sparql12/eval-triple-terms/order-2": _SORTED_AS_IRIS,
}
"""Evaluation tests that fail, and why that is so."""

BY_VALUE: Final = {
    *(f"sparql11/aggregates/agg-{name}" for name in ("sum-02", "avg-02", "min-01", "min-02", "max-01", "max-02")),
    *(f"sparql11/aggregates/agg-{name}" for name in ("err-02", "max-distinct", "min-distinct")),
    *(f"sparql11/cast/cast-{name}" for name in ("bool", "int", "float", "double", "decimal", "string")),
    *(f"sparql11/functions/{name}" for name in ("plus-1-corrected", "plus-2-corrected", "coalesce01")),
    "sparql11/csv-tsv-res/tsv03",
    "sparql12/eval-triple-terms/op-2",
}
"""Those whose answer is the expected one by value alone: a store has one spelling for each number."""

NOT_REFUSED: Final = {
    "sparql12/syntax-triple-terms-negative/tripleterm-subject-03": "the engine takes a triple term for a subject",
    "sparql12/syntax-triple-terms-negative/tripleterm-subject-06": "the engine takes a triple term for a subject",
    "sparql12/syntax/nested-aggregate-functions": "the engine takes an aggregate of an aggregate",
}
"""What is no query, and is answered all the same."""

UNKNOWN_FUNCTION: Final = {"sparql11/syntax-query/test_4"}
"""What is read, but not evaluated: the engine refuses a query with a function that it does not know."""


class Holding:
    """A served base that holds the data of one test after another; what the next one shares stays."""

    def __init__(self, client: httpx2.Client) -> None:
        self.client = client
        self._held: dict[str | None, Path] = {}

    def hold(self, wanted: Contents) -> None:
        if dict(wanted.files) == self._held:
            return
        gone = self.client.post("/sparql", content="DROP ALL", headers={"content-type": "application/sparql-update"})
        assert gone.status_code == 200, gone.text
        if quads := wanted.quads():
            body = ox.serialize(quads, format=ox.RdfFormat.N_QUADS)
            answer = self.client.post("/changes", content=body, headers={"content-type": "application/n-quads"})
            assert answer.status_code == 201, answer.text
        self._held = dict(wanted.files)

    def ask(self, test: QueryTest, accept: str) -> httpx2.Response:
        text = f"BASE <{test.query.as_uri()}>\n{test.query.read_text(encoding='utf-8')}"
        headers = {"content-type": "application/sparql-query", "accept": accept}
        return self.client.post("/sparql", params=STRICT, content=text.encode(), headers=headers)


@pytest.fixture(scope="module")
def holding() -> Iterator[Holding]:
    with Base.open(None) as base, served(base) as running:
        yield Holding(running.writer)


@pytest.mark.shared
@pytest.mark.parametrize("test", EVALUATED, ids=str)
def test_a_query_is_answered_as_the_suite_says(holding: Holding, test: QueryTest) -> None:
    assert test.result is not None
    holding.hold(test.data)
    suffix = "srj" if is_table(test.result) else test.result.suffix[1:]
    answer = holding.ask(test, (TABLES | GRAPHS)[suffix][1])
    as_expected = answer.status_code == 200 and _compared(test, answer.content, suffix, by_value=False)
    if str(test) in FAILING:
        assert not as_expected, f"it does not fail any more: {FAILING[str(test)]}"
    elif str(test) in BY_VALUE:
        assert not as_expected
        assert _compared(test, answer.content, suffix, by_value=True), answer.text
    else:
        assert as_expected, answer.text


def _compared(test: QueryTest, body: bytes, suffix: str, *, by_value: bool) -> bool:
    assert test.result is not None
    base = test.result.as_uri()
    expected = read_table(test.result) if is_table(test.result) else read_answer(test.result.read_bytes(), suffix, base)
    ordered = "ORDER BY" in test.query.read_text(encoding="utf-8").upper()
    return same_answer(read_answer(body, suffix, base), expected, ordered=ordered, by_value=by_value)


@pytest.mark.shared
@pytest.mark.parametrize("test", [each for each in TESTS if each.kind.startswith("Positive")], ids=str)
def test_a_text_that_is_a_query_is_read(holding: Holding, test: QueryTest) -> None:
    answer = holding.ask(test, "*/*")
    if str(test) in UNKNOWN_FUNCTION:
        assert "<http://example/function> is not supported" in answer.json()["detail"]
    else:
        assert answer.status_code == 200, answer.text


@pytest.mark.shared
@pytest.mark.parametrize("test", [each for each in TESTS if each.kind.startswith("Negative")], ids=str)
def test_a_text_that_is_no_query_is_refused(holding: Holding, test: QueryTest) -> None:
    answer = holding.ask(test, "*/*")
    if str(test) in NOT_REFUSED:
        assert answer.status_code == 200, f"it does not fail any more: {NOT_REFUSED[str(test)]}"
    else:
        assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")


def test_the_whole_suites_are_here() -> None:
    assert [len(each) for each in (SPARQL_11, RESULTS, SPARQL_12)] == [328, 10, 246]
    assert {*FAILING, *BY_VALUE, *NOT_REFUSED, *UNKNOWN_FUNCTION} <= set(map(str, TESTS))
