"""How often somebody may ask, through the real server. Times are long: nothing comes back while a test runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from api.callers import rate_limits
from api.callers.rate_limits import MOST_KEPT, RateLimits
from api.errors import InvalidSetting, RateLimited
from api.settings import Settings, read_settings
from bridge.base import Base
from kernel.access import Principal, Role
from tests.api.bodies import change, request
from tests.api.pages.world import Page
from tests.api.serving import Served, served


@contextmanager
def limited(**settings: object) -> Iterator[Served]:
    with Base.open(None) as base, served(base, Settings.model_validate({"query_spares": 0, **settings})) as running:
        yield running


def refused(answer: httpx2.Response) -> None:
    assert (answer.status_code, answer.json()["code"]) == (429, "rate-limited"), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert 0 < int(answer.headers["Retry-After"]) <= 86_400


def test_each_caller_of_a_class_may_ask_so_often() -> None:
    with limited(rate_limits={"reader": "3/day", "writer": "5/day"}) as running:
        reader, other, writer = running.client(Role.READER), running.client(Role.READER), running.writer
        asked = {"query": "ASK {}"}
        for path, parameters in (("/sparql", asked), ("/facts", {"subject": "urn:x"}), ("/certificates", {})):
            assert reader.get(path, params=parameters).status_code == 200
        for path, parameters in (("/sparql", asked), ("/facts", {"subject": "urn:x"}), ("/log/checkpoint", {})):
            refused(reader.get(path, params=parameters))
        refused(reader.post("/sparql", data=asked))
        assert reader.head("/certificates").status_code == 429
        # Another of the class, another class, and what nobody has to say who they are for, are as they were.
        assert other.get("/certificates").status_code == 200
        assert reader.get("/health").status_code == 200
        for number in range(5):
            assert writer.post("/changes", json=request(change(f"a{number}", "p", "b"))).status_code == 201
        refused(writer.post("/changes", json=request(change("z", "p", "b"))))
        assert not other.get("/sparql", params={"query": "ASK { <https://example.org/z> ?p ?o }"}).json()["boolean"]
        for _ in range(8):
            assert running.client(Role.EDITOR).get("/certificates").status_code == 200


def test_who_has_no_token_is_told_from_others_by_address() -> None:
    with limited(rate_limits={"anonymous": "2/day"}, anonymous_graphs=["*"]) as running:
        clients = [running.client(None) for _ in range(3)]
        for client in clients[:2]:
            assert client.get("/certificates").status_code == 200
        refused(clients[2].get("/certificates"))
        assert running.client(Role.READER).get("/certificates").status_code == 200


def test_pages_are_limited_as_routes_are() -> None:
    with limited(rate_limits={"reader": "3/day"}) as running:
        client = httpx2.Client(base_url=running.url, headers={"Accept": "text/html"}, timeout=60, trust_env=False)
        running.enter(client)
        form = Page.of(client.get("/sign-in")).forms[-1]
        client.post("/sign-in", data={**form, "token": running.token(Role.READER)})
        told = [client.get("/queue") for _ in range(5)]
        assert [each.status_code for each in told] == [200, 200, 200, 429, 429]
        assert told[-1].headers["content-type"].startswith("text/html")
        assert "A reader may ask 3 per 1 day" in told[-1].text


def test_an_address_that_tries_tokens_is_told_to_wait_and_others_there_are_let_in() -> None:
    with limited(failed_tokens="3/day") as running:
        unknown = running.client(None)
        told = [unknown.get("/certificates", headers={"authorization": f"Bearer guess-{each}"}) for each in range(6)]
        assert [each.status_code for each in told] == [401, 401, 401, 429, 429, 429]
        refused(told[-1])
        assert "token" not in told[-1].headers.get("www-authenticate", "")
        # Without a token nothing was tried, and a token that is known is no guess.
        assert unknown.get("/certificates").status_code == 401
        assert running.client(Role.READER).get("/certificates").status_code == 200


def test_addresses_of_one_host_are_one_and_what_is_kept_is_bounded() -> None:
    rates = RateLimits({"reader": "1/day"}, "1/day")
    known = Principal("known", Role.READER)
    rates.admit(known, "192.0.2.1")
    assert rates.failed("2001:db8::1") is None
    assert rates.failed("2001:db8::ffff") is not None
    assert rates.failed("2001:db8:1::1") is None
    for number in range(MOST_KEPT * 2):
        rates.failed(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(rate_limits._kept(rates._counts["failed"])) <= MOST_KEPT + 2
    rates.admit(Principal("free", Role.EDITOR), "192.0.2.1")
    # Whoever floods one class forgives nobody in another.
    with pytest.raises(RateLimited):
        rates.admit(known, "192.0.2.1")


@pytest.mark.parametrize("value", ['{"reader": "often"}', '{"nobody": "1/day"}', "{"])
def test_a_rate_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MUNIMENT_RATE_LIMITS", value)
    with pytest.raises(InvalidSetting) as refusal:
        read_settings()
    assert refusal.value.where == "MUNIMENT_RATE_LIMITS"
