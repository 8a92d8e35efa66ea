"""Logs: lines as JSON, with the ids of requests and certificates; and no secret in any of them, whatever fails."""

from __future__ import annotations

import io
import json
import logging
import socket
from collections.abc import Iterator
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

import httpx2
import pytest

from api.http.request_log import configure_logging
from api.settings import Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import change, request
from tests.api.pages.world import Page
from tests.api.serving import Served, served

SECRET: Final = "s3cr3t-that-nobody-may-read"
"""Content: in queries, bodies, addresses and headers of requests that fail."""


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is logged, as JSON, down to the smallest things; the logging of the tests is put back afterwards."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    configure_logging("debug", as_json=True)
    for noisy in ("httpx2", "httpcore2", "asyncio"):  # the client's, which is no part of the service
        monkeypatch.setattr(logging.getLogger(noisy), "disabled", True)
    yield written
    root.handlers[:], root.level = before


def told(lines: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def test_a_line_is_a_json_object_with_the_ids_of_request_and_certificate(lines: io.StringIO) -> None:
    with Base.open(None) as base, served(base, Settings(query_spares=0)) as running:
        answer = running.writer.post(
            "/changes", json=request(change("a", "p", "b")), headers={"X-Request-Id": "trace-1"}
        )
        updated = running.writer.post("/sparql", data={"update": "INSERT DATA { <urn:a> <urn:p> 1 }"})
    found = [each for each in told(lines) if each["logger"] == "muniment.http" and each.get("method") == "POST"]
    assert [each["path"] for each in found] == ["/changes", "/sparql"]
    first = found[0]
    assert first["requestId"] == "trace-1"
    assert first["certificate"] == answer.json()["certificate"].removeprefix("urn:uuid:")
    assert found[1]["certificate"] == updated.json()["certificate"].removeprefix("urn:uuid:")
    assert (first["status"], first["level"], first["principal"][:7]) == (201, "info", "writer-")
    assert isinstance(first["milliseconds"], float)
    assert first["message"].endswith(f"certificate={first['certificate']}")
    assert first["time"]


def test_an_error_is_one_line_too(lines: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    with Base.open(None) as base, served(base, Settings(query_spares=0)) as running:

        def fail(*_: object) -> NoReturn:
            raise RuntimeError("a defect\nin two lines")

        monkeypatch.setattr(base, "submit", fail)
        answer = running.writer.post("/changes", json=request(change("a", "p", "b")))
        assert answer.status_code == 500
        assert "defect" not in answer.text
    found = [each for each in told(lines) if "error" in each and each["requestId"] == answer.json()["requestId"]]
    assert any("RuntimeError: a defect\nin two lines" in each["error"] for each in found)


def test_no_secret_is_logged_whatever_fails(lines: io.StringIO) -> None:
    """Tokens, known and unknown, and what is in queries, bodies, forms and addresses, on every way that fails."""
    with Base.open(None) as base, served(base, Settings(query_spares=0, failed_tokens="4/year")) as running:
        tokens = [running.token(role) for role in Role]
        unknown = f"unknown-{SECRET}"
        for token in (*tokens, unknown):
            _fail_in_every_way(running, token)
        _fail_before_a_request(running, tokens[0])
        _fail_to_sign_in(running, unknown)
    log = lines.getvalue()
    assert len(told(lines)) > 100
    for secret in (*tokens, unknown, SECRET):
        assert secret not in log


def _fail_in_every_way(running: Served, token: str) -> None:
    client = httpx2.Client(base_url=running.url, headers={"Authorization": f"Bearer {token}"}, trust_env=False)
    running.enter(client)
    turtle, update = {"content-type": "text/turtle"}, {"content-type": "application/sparql-update"}
    for query in (f"ASK {{ <urn:{SECRET}>", f"ASK {{ SERVICE <http://{SECRET}.invalid/> {{}} }}", f"INSERT {SECRET}"):
        client.get("/sparql", params={"query": query})
        client.post("/sparql", data={"query": query, "update": query})
        client.post("/sparql", content=query, headers=update)
    client.post("/sparql", content=f"LOAD <http://{SECRET}.invalid/>", headers=update)
    client.post("/sparql", content=f"INSERT DATA {{ <urn:{SECRET}> <urn:p> <urn:a\u202eb> }}".encode(), headers=update)
    for body in (f"<urn:a> <urn:p> '{SECRET} .", f"<urn:{SECRET}> <urn:p> _:b:c .", "\udcff" + SECRET):
        client.post("/changes", content=body.encode(errors="surrogateescape"), headers=turtle)
    for members in ({"changes": SECRET}, {SECRET: 1}, request({"op": SECRET}), request(change("a", "p", {SECRET: 1}))):
        client.post("/changes", json=members)
    client.post("/changes", content=f'{{"a": "{SECRET}', headers={"content-type": "application/json"})
    client.post(
        "/changes",
        content=f'{{"@context": "http://{SECRET}.invalid/"}}',
        headers={"content-type": "application/ld+json"},
    )
    client.put("/graphs", params={"graph": "urn:g"}, content=SECRET, headers=turtle)
    for name in ("subject", "after", "limit", "valid-at", SECRET):
        client.get("/facts", params={name: f"<{SECRET}"})
    client.get("/certificates", params={"state": SECRET})
    client.get("/certificates/01a22c9c-62df-710b-baa6-692223590beb/report", headers={"accept": SECRET})
    client.post(
        "/certificates/01a22c9c-62df-710b-baa6-692223590beb/decision", json={"decision": "approve", "comment": SECRET}
    )
    client.get("/metrics", params={"x": SECRET})
    client.get("/health", params={"token": token})
    client.get("/sparql", params={"query": "ASK {}"}, headers={"Muniment-Min-Head": SECRET, "If-None-Match": SECRET})


def _fail_before_a_request(running: Served, token: str) -> None:
    for sent in (f"GET / HTTP/1.1\r\nAuthorization: Bearer {token}\r\nX: \0\r\n\r\n", f"BAD {SECRET}\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", urlsplit(running.url).port or 0), timeout=30) as connection:
            connection.sendall(sent.encode())
            connection.recv(1_000)


def _fail_to_sign_in(running: Served, token: str) -> None:
    client = httpx2.Client(base_url=running.url, headers={"Accept": "text/html"}, trust_env=False)
    running.enter(client)
    for name in ("token", "code"):
        form = Page.of(client.get("/sign-in")).forms[-1]
        client.post("/sign-in", data={**form, name: token})
    client.get("/sign-in", params={"code": token, "next": f"/query?query={SECRET}"})
