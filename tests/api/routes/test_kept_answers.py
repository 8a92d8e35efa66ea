"""Answers that are kept: given at once to who asked for them, for as long as they are right, and to nobody else.

That an answer was kept is seen by what making it takes: where no query can be settled any more, it is there still.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import Response

from api.callers.access_log import AccessLogged
from api.routes import kept_answers
from api.settings import Settings
from bridge.base import Base
from bridge.reading.reader import Reader
from bridge.stores.feed import DeltaText, Feed
from bridge.stores.markers import StoreState
from kernel.access import Principal, Role
from kernel.errors import StoreUnavailable
from kernel.ports.stores import StoreDelta
from kernel.time.instants import Instant
from tests.api.bodies import EX, change, request
from tests.api.serving import Served, served

LIVES = f"SELECT ?o {{ <{EX}ada> <{EX}lives> ?o }}"


@contextmanager
def nothing_is_made() -> Iterator[None]:
    """Within it no query is settled: what is answered was kept."""

    def refuse(*_: object, **__: object) -> None:
        raise StoreUnavailable("nothing is made any more", remedy="wait")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Reader, "question", refuse)
        yield


@pytest.fixture
def server() -> Iterator[Served]:
    with Base.open(None) as base, served(base) as running:
        wrote(running.writer, "ada", "lives", "rome")
        yield running


def wrote(client: httpx2.Client, *words: str) -> str:
    answer = client.post("/changes", json=request(change(*words)))
    assert answer.status_code == 201, answer.text
    return str(answer.json()["head"])


def ask(client: httpx2.Client, text: str = LIVES, accept: str | None = None, **headers: str) -> httpx2.Response:
    more = {} if accept is None else {"Accept": accept}
    return client.get("/sparql", params={"query": text}, headers={**headers, **more})


def is_kept(client: httpx2.Client, text: str = LIVES, accept: str | None = None, **headers: str) -> bool:
    with nothing_is_made():
        return ask(client, text, accept, **headers).status_code == 200


def test_who_asks_again_gets_the_same_without_its_being_made(server: Served) -> None:
    client = server.writer
    first = ask(client)
    assert first.json()["results"]["bindings"] == [{"o": {"type": "uri", "value": f"{EX}rome"}}]
    with nothing_is_made():
        again = ask(client)
    assert (again.status_code, again.content) == (200, first.content)
    own = {"x-request-id", "date"}
    assert {k: v for k, v in again.headers.items() if k not in own} == {
        k: v for k, v in first.headers.items() if k not in own
    }
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert ask(client, **{"If-None-Match": first.headers["ETag"]}).status_code == 304
    assert client.head("/sparql", params={"query": LIVES}).headers["ETag"] == first.headers["ETag"]


def test_what_was_written_is_read_at_once(server: Served) -> None:
    client = server.writer
    before = ask(client)
    assert is_kept(client)
    head = wrote(client, "bob", "lives", "oslo")
    assert not is_kept(client), "whatever it was that was written"
    after = ask(client)
    assert after.content == before.content
    assert after.headers["Muniment-Head"] == head != before.headers["Muniment-Head"]
    head = wrote(client, "ada", "lives", "oslo")
    assert len(ask(client, **{"Muniment-Min-Head": head}).json()["results"]["bindings"]) == 2


def test_each_caller_format_and_host_has_its_own(server: Served) -> None:
    one, other, of_nothing = server.writer, server.client(Role.READER), server.client(Role.READER, f"{EX}none")
    ask(one)
    assert is_kept(one)
    assert not is_kept(other)
    assert not is_kept(one, LIVES, "text/csv")
    assert not is_kept(one, LIVES, None, Host="elsewhere.example.org")
    assert not is_kept(one, f"{LIVES} ")
    assert ask(of_nothing).json()["results"]["bindings"] == []
    assert len(ask(other).json()["results"]["bindings"]) == 1
    assert ask(one, LIVES, "text/csv").text.split() == ["o", f"{EX}rome"]
    assert is_kept(one, LIVES, "text/csv")


def test_nobody_gets_it_who_is_let_in_no_more(server: Served) -> None:
    client, principal = server.client_of(Principal("leaving", Role.READER)), "leaving"
    ask(client)
    assert is_kept(client)
    server.base.ledger.revoke(principal)
    refused = ask(client)
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")


def test_it_counts_as_any_other_request_and_is_logged_as_such(tmp_path: Path) -> None:
    settings = Settings(
        data=tmp_path, query_spares=0, access_log=AccessLogged.QUERIES, rate_limits={"reader": "3/year"}
    )
    with Base.open(tmp_path) as base, served(base, settings) as running:
        wrote(running.writer, "ada", "lives", "rome")
        reader = running.client(Role.READER)
        assert [ask(reader).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
        metrics = running.client(Role.ADMINISTRATOR).get("/metrics").text
        assert 'muniment_requests_total{method="GET",route="/sparql",status="200"} 3.0' in metrics
    lines = [json.loads(line) for line in (tmp_path / "access" / "access.jsonl").read_text().splitlines()]
    asked = [line for line in lines if line["route"] == "/sparql" and line["status"] == 200]
    assert len(asked) == 3
    assert len({line.pop("request") for line in asked}) == 3
    assert len({str({k: v for k, v in line.items() if k != "at"}) for line in asked}) == 1
    assert asked[0]["asked"] == LIVES


@pytest.mark.parametrize(
    "text",
    [f"SELECT (NOW() AS ?n) {{ <{EX}ada> <{EX}lives> ?o }}", "SELECT (RAND() AS ?n) {}", "SELECT (UUID() AS ?u) {}"],
)
def test_what_changes_by_itself_is_not_kept(server: Served, text: str) -> None:
    client = server.writer
    assert ask(client, text).status_code == 200
    assert not is_kept(client, text)


def test_moments_posts_large_answers_and_who_has_to_cite_are_not_kept(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, citing = server.writer, server.client_of(Principal("citing", Role.WRITER, cites=True))
    states = {ask(citing).headers["Muniment-Read-State"] for _ in range(3)}
    assert len(states) == 3
    assert not is_kept(citing)
    past = {"query": LIVES, "valid-at": "2024-01-01"}
    assert client.get("/sparql", params=past).status_code == 200
    client.post("/sparql", data={"query": LIVES})
    with nothing_is_made():
        assert client.get("/sparql", params=past).status_code == 503
        assert client.post("/sparql", data={"query": LIVES}).status_code == 503
    monkeypatch.setattr(kept_answers, "LARGEST", 10)
    ask(client)
    assert not is_kept(client)


def test_it_is_compressed_for_those_who_take_that_each_time(server: Served) -> None:
    client = server.writer
    for number in range(30):
        wrote(client, "ada", "knows", f"somebody-whose-name-is-long-enough-{number}")
    text = f"SELECT * {{ <{EX}ada> ?p ?o }}"
    plain = ask(client, text, **{"Accept-Encoding": "identity"})
    assert is_kept(client, text)
    for _ in range(2):
        assert (found := ask(client, text, **{"Accept-Encoding": "gzip"})).headers["content-encoding"] == "gzip"
        assert found.content == plain.content
    assert "content-encoding" not in ask(client, text, **{"Accept-Encoding": "identity"}).headers


def test_so_much_is_kept_and_no_more(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    client = server.writer
    monkeypatch.setattr(kept_answers, "MOST", 10_000)
    texts = [f"SELECT ?o {{ <{EX}ada> <{EX}lives> ?o }} # {number}" for number in range(6)]
    for text in texts:
        ask(client, text)
    assert [is_kept(client, text) for text in (texts[0], texts[-1])] == [False, True]


def test_whatever_is_published_drops_all() -> None:
    feed = Feed()
    feed.restart(StoreState(1, Instant(5), Instant(5)))
    delta, state = DeltaText(StoreDelta(1, Instant(5), Instant(6))), StoreState(2, Instant(7), Instant(7))
    ways: tuple[Callable[[], None], ...] = (lambda: feed.publish(delta), lambda: feed.restart(state))
    for publish in ways:
        kept = kept_answers.KeptAnswers(feed)
        _keep(kept, feed.position)
        assert kept.size > 0
        publish()
        assert kept.found(_SCOPE) is None
        assert kept.size == 0
        _keep(kept, feed.position - 1)
        assert kept.found(_SCOPE) is None, "what was read before is not kept after"
    kept = kept_answers.KeptAnswers(feed)
    _keep(kept, feed.position)
    feed.fail()
    assert kept.found(_SCOPE) is None, "nothing is answered from stores of which nobody knows what they hold"


_SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/sparql",
    "root_path": "",
    "scheme": "http",
    "query_string": b"query=ASK%20%7B%7D",
    "headers": [(b"host", b"here")],
}


def _keep(kept: kept_answers.KeptAnswers, position: int) -> None:
    kept.keep(Request(_SCOPE), Principal("ada", Role.READER), position, Response(b"{}"))
