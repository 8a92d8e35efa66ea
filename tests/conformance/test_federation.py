"""The W3C suite of federated queries, which are not served: each is refused as such, silent or not, unasked.

Decision 31 says why. What the suite says of endpoints is therefore never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
import pytest

from bridge.base import Base
from kernel.access import Role
from tests.api.serving import served
from tests.conformance.manifests import QueryTest, query_tests, suite

TESTS: Final = query_tests(suite() / "manifest-sparql11-fed.ttl")


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with Base.open(None) as base, served(base) as running:
        yield running.client(Role.READER)


@pytest.mark.shared
@pytest.mark.parametrize("test", TESTS, ids=str)
def test_a_federated_query_is_refused_as_such(client: httpx2.Client, test: QueryTest) -> None:
    text = test.query.read_text(encoding="utf-8")
    headers = {"content-type": "application/sparql-query"}
    answer = client.post("/sparql", content=text.encode(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "query-refused"), answer.text
    assert "SERVICE" in answer.json()["detail"]


def test_the_whole_suite_is_here() -> None:
    assert len(TESTS) == 10
    assert sum(test.kind == "QueryEvaluationTest" for test in TESTS) == 7
