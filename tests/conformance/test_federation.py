"""The W3C suite of federated queries, with other bases as the endpoints, on the list of what may be asked.

The endpoints of the suite have other addresses here, in queries, data and answers alike; the one that is invalid there
is a port at which nobody listens. Without the list each query is refused, and nobody is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
import pytest

from api.server import listen, url_of
from api.settings import Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.serving import FRUGAL, Served, served
from tests.conformance.manifests import QueryTest, query_tests, suite
from tests.conformance.solutions import read_answer, same_answer

TESTS: Final = query_tests(suite() / "manifest-sparql11-fed.ttl")
EVALUATED: Final = [test for test in TESTS if test.kind == "QueryEvaluationTest"]
STRICT: Final = {"default-graph": "strict", "bnodes": "restore"}
INVALID: Final = "http://invalid.endpoint.org/sparql"
ENDPOINTS: Final = ("http://example2.org/sparql", "http://example1.org/sparql", "http://example.org/sparql")
"""Each may call those before it."""


@dataclass
class World:
    """The base that is asked, and the others; addresses by those of the suite."""

    asked: Served
    endpoints: dict[str, Served]
    addresses: dict[str, str]

    def here(self, text: str) -> str:
        """A text of the suite, with the addresses that there are."""
        for name, address in self.addresses.items():
            text = text.replace(f"<{name}>", f"<{address}>").replace(f">{name}<", f">{address}<")
        return text

    def hold(self, running: Served, data: Path | None) -> None:
        """Has a base hold a file, and nothing else."""
        writer = running.writer
        gone = writer.post("/sparql", content="DROP ALL", headers={"content-type": "application/sparql-update"})
        assert gone.status_code == 200, gone.text
        if data is not None:
            text = self.here(data.read_text(encoding="utf-8"))
            headers = {"content-type": "text/turtle"}
            came = writer.post("/changes", content=f"@base <{data.as_uri()}> .\n{text}".encode(), headers=headers)
            assert came.status_code in {200, 201}, came.text


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with ExitStack() as stack, listen("127.0.0.1", 0) as closed:
        addresses = {INVALID: f"{url_of(closed)}/sparql"}
        closed.close()
        endpoints: dict[str, Served] = {}

        def base(**more: object) -> Served:
            settings = replace_settings(outbound=tuple(addresses.values()), **more)
            return stack.enter_context(served(stack.enter_context(Base.open(None)), settings))

        for name in ENDPOINTS:
            endpoints[name] = base(anonymous_graphs=("*",))
            addresses[name] = f"{endpoints[name].url}/sparql"
        yield World(base(), endpoints, addresses)


def replace_settings(**changed: object) -> Settings:
    """The settings of a frugal service, but for some."""
    return Settings.model_validate({**FRUGAL.model_dump(include={"query_spares", "query_patience"}), **changed})


@pytest.mark.shared
@pytest.mark.parametrize("test", EVALUATED, ids=str)
def test_a_federated_query_is_answered_as_the_suite_says(world: World, test: QueryTest) -> None:
    assert test.result is not None
    world.hold(world.asked, test.data.files.get(None))
    for name, data in test.services.items():
        world.hold(world.endpoints[name], data)
    reader = world.asked.client(Role.READER)
    text = world.here(test.query.read_text(encoding="utf-8"))
    headers = {"content-type": "application/sparql-query", "accept": "application/sparql-results+xml"}
    answer = reader.post("/sparql", params=STRICT, content=text.encode(), headers=headers)
    assert answer.status_code == 200, answer.text
    base = test.result.as_uri()
    expected = read_answer(world.here(test.result.read_text(encoding="utf-8")).encode(), "srx", base)
    assert same_answer(read_answer(answer.content, "srx", base), expected, ordered=False), answer.text


@pytest.fixture(scope="module")
def unlisted() -> Iterator[httpx2.Client]:
    with Base.open(None) as base, served(base) as running:
        yield running.client(Role.READER)


@pytest.mark.shared
@pytest.mark.parametrize("test", TESTS, ids=str)
def test_where_nothing_is_listed_it_is_refused_as_such(unlisted: httpx2.Client, test: QueryTest) -> None:
    text = test.query.read_text(encoding="utf-8")
    answer = unlisted.post("/sparql", content=text.encode(), headers={"content-type": "application/sparql-query"})
    assert (answer.status_code, answer.json()["code"]) == (400, "query-refused"), answer.text
    assert "SERVICE" in answer.json()["detail"]


def test_the_whole_suite_is_here() -> None:
    assert (len(TESTS), len(EVALUATED)) == (10, 7)
    assert {name for test in EVALUATED for name in test.services} == set(ENDPOINTS)
