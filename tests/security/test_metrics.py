"""Metrics: what is counted, who may see it, and that no label has anything of what is sent or kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.app import create_app
from api.errors import InvalidSetting
from api.settings import Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import change, request
from tests.api.serving import Served, served

TOKEN: Final = "a-token-for-scraping-alone"


def scraped(client: httpx2.Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def requests(found: dict[tuple[str, frozenset[tuple[str, str]]], float], route: str, method: str, status: int) -> float:
    labels = frozenset({("route", route), ("method", method), ("status", str(status))})
    return found.get(("muniment_requests_total", labels), 0.0)


def test_requests_are_counted_by_route_and_status_and_levels_are_told() -> None:
    with Base.open(None) as base, served(base, Settings(query_spares=0)) as running:
        admin, writer = running.client(Role.ADMINISTRATOR), running.writer
        assert writer.post("/changes", json=request(change("a", "p", "b"))).status_code == 201
        for _ in range(3):
            writer.get("/sparql", params={"query": "ASK {}"})
        writer.get("/sparql", params={"query": "ASK {"})
        writer.get("/exports/urn:secret-graph")
        writer.get("/secret-path")
        running.client(None).get("/certificates")
        running.client(None).request("PROPFIND", "/secret-path")
        found = scraped(admin)
        assert requests(found, "/changes", "POST", 201) == 1
        assert requests(found, "/sparql", "GET", 200) == 3
        assert requests(found, "/sparql", "GET", 400) == 1
        assert requests(found, "/certificates", "GET", 401) == 1
        assert requests(found, "other", "GET", 404) == 1
        assert requests(found, "other", "other", 404) + requests(found, "other", "other", 405) == 1
        assert found["muniment_problems_total", frozenset({("code", "query-refused")})] == 1
        assert found["muniment_request_seconds_count", frozenset({("route", "/sparql")})] == 4
        with base.ledger.reading() as view:
            assert found["muniment_head", frozenset()] == view.head().position
        levels = {name: value for (name, labels), value in found.items() if not labels}
        assert levels["muniment_workers"] == 1
        assert levels["muniment_workers_busy"] == levels["muniment_queries_waiting"] == 0
        assert levels["muniment_read_only"] == levels["muniment_stores_behind"] == levels["muniment_stores_lag"] == 0
        assert levels["muniment_ledger_up"] == 1
        assert levels["muniment_clock_seconds"] > 1_700_000_000
        assert levels["process_resident_memory_bytes"] > 0


def test_labels_have_nothing_of_what_is_sent() -> None:
    """However many paths, graphs, queries and callers there are, there are no more series."""
    with Base.open(None) as base, served(base, Settings(query_spares=0)) as running:
        admin = running.client(Role.ADMINISTRATOR)

        def ask(number: int) -> None:
            client = running.client(Role.READER)
            client.get(f"/secret-{number}")
            client.get(f"/exports/urn:secret-{number}")
            client.get("/facts", params={"subject": f"urn:secret-{number}"})
            client.get("/sparql", params={"query": f"ASK {{ <urn:secret-{number}> ?p ?o }}"})

        ask(0)
        before = scraped(admin)
        for number in range(1, 6):
            ask(number)
        scraped(admin)
        after = admin.get("/metrics").text
        assert "secret" not in after
        assert not re.search(r"(?:reader|administrator)-", after)
        assert {key[1] for key in scraped(admin)} - {key[1] for key in before} <= {
            frozenset({("route", "/metrics"), ("method", "GET"), ("status", "200")}),
            *(labels for _, labels in scraped(admin) if ("route", "/metrics") in labels),
        }


def test_metrics_are_for_administrators_of_the_base(attacked: Served) -> None:
    assert attacked.client(None).get("/metrics").status_code == 401
    for client in (attacked.writer, attacked.client(Role.EDITOR), attacked.client(Role.ADMINISTRATOR, "urn:g")):
        answer = client.get("/metrics")
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert attacked.client(Role.ADMINISTRATOR).get("/metrics").status_code == 200
    assert attacked.client(Role.ADMINISTRATOR).get("/metrics", params={"x": "1"}).status_code == 400


def test_a_token_of_their_own_opens_metrics_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    with Base.open(None) as base, served(base, Settings(query_spares=0, metrics_token_file=file)) as running:
        scraper = running.client_with(TOKEN)
        assert scraped(scraper)
        assert scraper.get("/certificates").status_code == 401
        assert running.client_with(TOKEN[:-1]).get("/metrics").status_code == 401


def test_a_token_that_is_short_or_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("x")
    for file in (tmp_path / "short", tmp_path / "missing"):
        settings = Settings(query_spares=0, metrics_token_file=file)
        with Base.open(None) as base, pytest.raises(InvalidSetting) as refusal:
            create_app(base, settings)
        assert refusal.value.where == "metrics_token_file"
