"""The W3C suite of the SPARQL 1.1 Protocol, as far as it is about updates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
import pytest

from bridge.base import Base
from kernel.access import Role
from tests.api.serving import served
from tests.conformance.exchanges import Exchange, exchanges

TESTS: Final = [test for test in exchanges("protocol/manifest.ttl") if "update" in test.name]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with Base.open(None) as base, served(base) as running:
        yield running.client(Role.WRITER)


@pytest.mark.parametrize("test", TESTS, ids=str)
def test_updates_are_taken_as_the_protocol_says(client: httpx2.Client, test: Exchange) -> None:
    for step in test.steps:
        path = step.path.replace("/sparql/", "/sparql", 1)
        content = None if step.body is None else step.body.encode()
        answer = client.request(step.method, path, content=content, headers=step.headers)
        assert answer.status_code in step.status, (step.method, path, answer.text)
        if step.truth is not None:
            assert answer.json()["boolean"] is step.truth


def test_all_of_them_are_here() -> None:
    assert len(TESTS) == 14
