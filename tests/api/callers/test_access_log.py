"""Who read what, as those who run a base find it."""

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from api.callers.access_log import AccessFile, AccessLogged
from api.callers.auth import token_hash
from bridge.base import Base
from kernel.access import Principal, Role
from kernel.terms import Iri
from tests.api.bodies import EX, change, request
from tests.api.console import run
from tests.api.serving import FRUGAL, Served, served

G1, G2 = "urn:g1", "urn:g2"
QUERY: Final = "SELECT * { ?s ?p 'a very private question' }"


@contextmanager
def logged(data: Path, kept: AccessLogged, **more: object) -> Iterator[Served]:
    settings = FRUGAL.model_copy(update={"data": data, "access_log": kept, **more})
    with Base.open(data) as base, served(base, settings) as server:
        body = request(*(change(graph[-2:], "in", graph[-2:], graph=graph) for graph in (G1, G2)))
        assert server.writer.post("/changes", json=body).status_code == 201
        yield server


def reader(server: Served, *graphs: str) -> httpx2.Client:
    held = frozenset(map(Iri, graphs)) if graphs else None
    return server.client_of(Principal("ada", Role.READER, held))


def lines(data: Path, *options: str) -> list[dict[str, Any]]:
    printed = run("access", "--data", data, *options)
    assert printed.status == 0, printed.errors
    return [json.loads(line) for line in printed.lines]


def test_who_asked_what_of_which_graphs_at_which_state(tmp_path: Path) -> None:
    with logged(tmp_path, AccessLogged.REQUESTS) as server:
        ada = reader(server, G1)
        asked = ada.get("/sparql", params={"query": QUERY})
        ada.post("/sparql", data={"query": QUERY.replace("SELECT *", f"SELECT * FROM <{G1}> FROM <{G2}>")})
        ada.get("/facts", params={"subject": EX + "g1"})
        ada.get(f"/exports/{G1}")
        ada.get(f"/exports/{G2}")
        assert server.client(Role.READER).get("/sparql", params={"query": QUERY}).status_code == 200
        assert ada.get("/certificates/nothing").status_code == 404
        head = asked.headers["muniment-head"]
    found = lines(tmp_path, "--principal", "ada")
    assert [(line["method"], line["route"], line["status"], line["graphs"]) for line in found] == [
        ("GET", "/sparql", 200, [G1]),
        ("POST", "/sparql", 200, [G1]),
        ("GET", "/facts", 200, [G1]),
        ("GET", "/exports/{graph}", 200, [G1]),
        ("GET", "/exports/{graph}", 404, [G2]),
        ("GET", "/certificates/{certificate}", 404, [G1]),
    ]
    assert {line["head"] for line in found} == {head}
    assert found[0]["request"] == asked.headers["x-request-id"]
    assert found[0]["validAt"] == asked.headers["muniment-valid-at"]
    assert {line["principal"].split("-")[0] for line in lines(tmp_path, "--asked", QUERY)} == {"ada", "reader"}
    assert lines(tmp_path, "--asked", QUERY)[-1]["graphs"] == "all"
    assert {line["principal"].split("-")[0] for line in lines(tmp_path, "--graph", G2)} == {"ada", "reader", "writer"}
    assert lines(tmp_path, "--since", "2500") == []
    assert len(lines(tmp_path, "--since", "2020-01-01")) == len(lines(tmp_path))


def test_no_content_and_no_secret_is_kept_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    with logged(tmp_path, AccessLogged.REQUESTS) as server:
        ada = reader(server)
        ada.get("/sparql", params={"query": QUERY})
        ada.post("/sparql", content=QUERY, headers={"Content-Type": "application/sparql-query"})
        ada.get("/facts", params={"subject": EX + "private"})
        sent = ada.headers["authorization"].removeprefix("Bearer ")
        server.client_with("unknown-token").get("/sparql", params={"query": QUERY})
        with httpx2.Client(base_url=server.url, trust_env=False, verify=False) as browser:
            cookie = server.sessions.begin(token_hash(sent))
            browser.get("/query", params={"query": QUERY}, headers={"Cookie": f"muniment-session={cookie}"})
            browser.get("/sign-in?code=one-time-code")
    folder = tmp_path / "access"
    text = "".join(path.read_text() for path in folder.iterdir())
    for secret in ("private", "unknown-token", sent, cookie, "one-time-code"):
        assert secret not in text
    assert '"route": "/query"' in text
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_the_text_of_queries_is_kept_where_that_is_wanted(tmp_path: Path) -> None:
    with logged(tmp_path, AccessLogged.QUERIES) as server:
        ada = reader(server)
        ada.get("/sparql", params={"query": QUERY})
        ada.post("/sparql", data={"query": QUERY + "#" * 10_000})
        ada.get("/facts", params={"subject": EX + "g1"})
    asked = [line["asked"] for line in lines(tmp_path, "--principal", "ada")]
    assert asked[0] == QUERY
    assert len(asked[1]) == 4_000
    assert "subject=" in asked[2]


def test_it_is_bounded(tmp_path: Path) -> None:
    with logged(tmp_path, AccessLogged.REQUESTS, access_log_bytes=4_096, access_log_files=2) as server:
        ada = reader(server)
        for number in range(60):
            ada.get(f"/certificates?limit={number + 1}")
    files = [*(tmp_path / "access").iterdir()]
    assert len(files) == 3
    assert all(path.stat().st_size <= 4_096 for path in files)
    found = lines(tmp_path)
    assert 0 < len(found) < 60
    assert [line["at"] for line in found] == sorted(line["at"] for line in found)


def test_a_line_that_cannot_be_written_keeps_nobody_from_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with logged(tmp_path, AccessLogged.REQUESTS) as server, monkeypatch.context() as fault:
        fault.setattr(AccessFile, "flush", full)
        assert reader(server).get("/certificates").status_code == 200
    assert "who read what cannot be written" in caplog.text


def test_nothing_is_kept_by_default(tmp_path: Path) -> None:
    with logged(tmp_path, AccessLogged.NOTHING) as server:
        reader(server).get("/certificates")
    assert not (tmp_path / "access").exists()
    assert lines(tmp_path) == []
