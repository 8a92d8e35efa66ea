"""The service itself: health, OpenAPI, problem documents, logging, starting and stopping."""

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, Final

import httpx2
import pytest

from api.errors import InvalidSetting
from api.server import listen, url_of
from api.settings import Settings
from bridge.base import Base
from kernel.access import Role
from kernel.errors import LedgerUnavailable, ShuttingDown, StoreUnavailable
from kernel.writing.submitting import Outcome, Submission
from tests.api.bodies import change, request
from tests.api.documented import conforms
from tests.api.serving import Served, served

HOME: Final = Path(__file__).resolve().parents[2]


# --- health -----------------------------------------------------------------------------------------------------------


def test_health_tells_head_and_clock_to_those_whom_the_base_knows(any_server: Served) -> None:
    reader = any_server.client(Role.READER)
    before = reader.get("/health").json()
    assert before | {"clock": ""} == {
        "status": "ok",
        "reason": None,
        "head": None,
        "clock": "",
        "behind": False,
    }
    head = any_server.writer.post("/changes", json=request(change("a", "p", "b"))).json()["head"]
    after = reader.get("/health").json()
    assert after["head"] == head
    assert after["clock"] >= before["clock"]
    for stranger in (any_server.client(None), any_server.client_with("unknown")):
        assert stranger.get("/health").json() == after | {"head": None, "clock": None}


@pytest.mark.parametrize("part", ["ledger", "stores"])
def test_health_is_503_when_something_cannot_be_read(server: Served, part: str) -> None:
    nobody = server.client(None)
    getattr(server.base, part).close()
    answer = nobody.get("/health")
    assert answer.status_code == 503
    reason = {"ledger": "ledger-unreadable", "stores": "store-unreadable"}[part]
    assert answer.json() | {"behind": False} == {
        "status": "unavailable",
        "reason": reason,
        "head": None,
        "clock": None,
        "behind": False,
    }


def test_health_is_503_while_the_stores_are_behind(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Base, "behind", True)
    answer = server.client(None).get("/health")
    assert (answer.status_code, answer.json()["status"], answer.json()["behind"]) == (503, "unavailable", True)
    assert server.client(Role.READER).get("/health").json()["clock"] is not None


# --- OpenAPI ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def document(shared: Served) -> dict[str, Any]:
    loaded: dict[str, Any] = httpx2.get(f"{shared.url}/openapi.json").json()
    return loaded


def test_every_route_is_described(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {
        ("POST", "/changes"),
        ("GET", "/certificates"),
        ("GET", "/certificates/{certificate}"),
        ("GET", "/certificates/{certificate}/report"),
        ("POST", "/certificates/{certificate}/decision"),
        ("POST", "/certificates/{certificate}/revert"),
        ("GET", "/exports/{graph}"),
        ("GET", "/sparql"),
        ("POST", "/sparql"),
        *((method, path) for method in ("GET", "PUT", "POST", "DELETE") for path in ("/graphs", "/graphs/{name}")),
        *(
            ("GET", f"/log/{name}")
            for name in ("checkpoint", "proof/consistency", "proof/inclusion", "tile/{path}", "tile/entries/{path}")
        ),
        ("GET", "/keys"),
        ("POST", "/keys/rotate"),
        ("POST", "/keys/{key}/revoke"),
        ("GET", "/.well-known/did.json"),
        ("GET", "/did.json"),
        ("GET", "/facts"),
        ("GET", "/arguments"),
        ("GET", "/holdings"),
        ("GET", "/purges"),
        ("POST", "/purges"),
        ("GET", "/purges/{purge}"),
        ("POST", "/purges/{purge}/decision"),
        ("POST", "/purges/{purge}/restore"),
        ("GET", "/queries"),
        ("POST", "/queries"),
        *((method, "/queries/{name}") for method in ("GET", "PUT", "DELETE")),
        ("GET", "/contradictions"),
        ("PUT", "/contradictions/{certificate}/{finding}/owner"),
        ("GET", "/timemap"),
        ("GET", "/diff"),
        ("GET", "/explain"),
        *((method, "/what-if") for method in ("GET", "POST")),
        *((method, "/what-if/{branch}") for method in ("GET", "DELETE")),
        *((method, "/what-if/{branch}/sparql") for method in ("GET", "POST")),
        *(("POST", f"/what-if/{{branch}}/{name}") for name in ("plans", "submit")),
        *((method, f"/at/{at}/sparql") for method in ("GET", "POST") for at in ("{as_of}", "{as_of}/{valid_at}")),
        ("GET", "/health"),
        ("GET", "/metrics"),
    }
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert operation["summary"]
            assert ("security" in operation) is (path not in ("/health", "/.well-known/did.json", "/did.json"))
            assert "default" in operation["responses"]
            assert all(answer["description"] for answer in operation["responses"].values())
    operations = [each["operationId"] for methods in document["paths"].values() for each in methods.values()]
    assert len(set(operations)) == len(operations)


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for each in part.values():
            yield from _references(each)
    elif isinstance(part, list):
        for each in part:
            yield from _references(each)


def test_every_schema_that_is_named_is_there_and_used(document: dict[str, Any]) -> None:
    named = {reference.removeprefix("#/components/schemas/") for reference in _references(document)}
    assert named == set(document["components"]["schemas"])


def test_the_examples_are_of_their_models(document: dict[str, Any]) -> None:
    seen = 0
    for methods in document["paths"].values():
        for operation in methods.values():
            for answer in operation["responses"].values():
                for content in answer["content"].values():
                    if "example" in content and "$ref" in content["schema"]:
                        conforms(content["example"], content["schema"]["$ref"].rpartition("/")[2])
                        seen += 1
    assert seen > 20


def test_path_parameters_are_declared(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            declared = {each["name"] for each in operation.get("parameters", []) if each["in"] == "path"}
            assert declared == set(re.findall(r"\{(\w+)\}", path))


def test_the_document_names_no_other_host_to_run_scripts_from(shared: Served) -> None:
    nobody = shared.client(None)
    assert nobody.get("/docs").status_code == nobody.get("/redoc").status_code == 404
    assert nobody.get("/openapi.json", params={"x": "1"}).status_code == 400


# --- problems ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "unknown-path"),
        ("GET", "/facts/", 404, "unknown-path"),
        ("DELETE", "/changes", 405, "method-not-allowed"),
        ("PUT", "/sparql", 405, "method-not-allowed"),
    ],
)
def test_what_is_not_served_is_a_problem_document(
    shared: Served, method: str, path: str, status: int, code: str
) -> None:
    answer = shared.client(None).request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    conforms(answer.json(), "Problem")
    assert (answer.json()["code"], answer.json()["where"]) == (code, path)
    assert ("allow" in answer.headers) is (status == 405)
    if path == "/sparql" and status == 405:
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"


@pytest.mark.parametrize("path", ["/health", "/certificates", "/facts?subject=urn:a", "/openapi.json", "/facts"])
def test_whatever_can_be_got_has_a_head(shared: Served, path: str) -> None:
    client = shared.client(Role.READER)
    got, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    assert client.head("/changes").status_code == 405


def test_a_problem_has_all_its_members(shared: Served) -> None:
    answer = shared.writer.get("/facts", params={"subjct": "urn:a"})
    problem = answer.json()
    assert problem.pop("requestId") == answer.headers["x-request-id"]
    assert problem == {
        "type": "https://w3id.org/muniment/problem/unknown-parameter",
        "title": "A name is not known here",
        "status": 400,
        "detail": "there is no such parameter here",
        "code": "unknown-parameter",
        "where": "subjct",
        "remedy": "did you mean subject?",
    }


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (LedgerUnavailable("/secret/path is full", remedy="look at /secret/path"), 503, "ledger-unavailable"),
        (StoreUnavailable("/secret/path", remedy="/secret/path"), 503, "store-unavailable"),
        (RuntimeError("/secret/path"), 500, "internal-error"),
    ],
)
def test_an_error_of_ours_tells_nothing_of_the_inside(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception, status: int, code: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    with Base.open(None) as base:
        monkeypatch.setattr(base.reader, "facts", fail)
        with served(base) as running:
            answer = running.writer.get("/facts", params={"subject": "urn:a"})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text
    assert ("retry-after" in answer.headers) is (status == 503)
    told = [str(record.exc_info) for record in caplog.records if record.exc_info]
    assert len(told) == 1, "the log has, once, what the caller has not"
    assert "secret" in told[0]


# --- those who are slow hold up nobody --------------------------------------------------------------------------------


def test_a_slow_query_holds_up_nobody() -> None:
    numbers = " ".join(map(str, range(200)))
    product = " ".join(f"VALUES ?v{each} {{ {numbers} }}" for each in range(6))
    with Base.open(None) as base, served(base, Settings(query_seconds=3, query_spares=0)) as running:
        client = running.writer
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(client.get, "/sparql", params={"query": f"SELECT (COUNT(*) AS ?n) {{ {product} }}"})
            assert client.get("/health").status_code == 200
            assert client.get("/certificates").status_code == 200
            assert client.post("/changes", json=request(change("a", "p", "b"))).status_code == 201
            assert client.get("/sparql", params={"query": "ASK { ?s ?p ?o }"}).json()["boolean"] is True
            assert not slow.done()
            assert slow.result().json()["code"] == "query-limit"


def test_a_write_that_waits_holds_up_nobody(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Event()
    future: Future[Outcome] = Future()

    def slowly(_: Submission) -> Future[Outcome]:
        asked.set()
        return future

    monkeypatch.setattr(server.base, "submit", slowly)
    client = server.writer
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.post, "/changes", json=request(change("a", "p", "b")))
        asked.wait()
        assert client.get("/health").status_code == 200
        assert client.get("/sparql", params={"query": "ASK {}"}).status_code == 200
        future.set_exception(ShuttingDown("the base is closing", remedy="wait"))
        assert slow.result().json()["code"] == "shutting-down"


def test_a_client_that_goes_away_is_no_defect(caplog: pytest.LogCaptureFixture) -> None:
    with Base.open(None) as base, served(base) as running:
        head = f"POST /changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {running.token(Role.WRITER)}\r\n"
        with socket.create_connection(("127.0.0.1", int(running.url.rpartition(":")[2]))) as connection:
            connection.sendall(f"{head}Content-Type: text/turtle\r\nContent-Length: 100\r\n\r\n<urn:a>".encode())
        assert running.client(None).get("/health").status_code == 200
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]


# --- the log ----------------------------------------------------------------------------------------------------------


def test_a_line_is_logged_for_every_request_without_what_is_secret(
    shared: Served, caplog: pytest.LogCaptureFixture
) -> None:
    token = shared.token(Role.WRITER)
    with caplog.at_level(logging.INFO, "muniment.http"):
        answer = shared.client(None).get(
            "/facts", params={"subject": "urn:private"}, headers={"authorization": f"Bearer {token}"}
        )
    assert answer.status_code == 200
    lines = [record.getMessage() for record in caplog.records if not record.name.startswith("httpx2")]  # the client's
    assert any(re.fullmatch(r"GET /facts 200 \d+\.\d ms principal=writer-[\w-]+", line) for line in lines)
    assert not any(token in line or "private" in line for line in lines)


@pytest.mark.parametrize(("given", "kept"), [("trace-1.A_b", True), ("a b", False), ("x" * 65, False), ("é", False)])
def test_a_request_id_is_kept_if_it_is_plain(shared: Served, given: str, kept: bool) -> None:
    headers = [(b"x-request-id", given.encode("latin-1"))]
    answer = shared.client(None).get("/nothing", headers=headers)
    assert (answer.headers["x-request-id"] == given) is kept
    assert answer.json()["requestId"] == answer.headers["x-request-id"]


def test_a_path_cannot_forge_a_line(shared: Served, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "muniment.http"):
        shared.client(None).get("/x%0a2026-01-01 INFO forged")
    (line,) = (record.getMessage() for record in caplog.records if record.name == "muniment.http")
    assert line.startswith("GET /x%0a2026-01-01%20INFO%20forged 404 ")


# --- starting and stopping --------------------------------------------------------------------------------------------

SERVE: Final = """
import sys
from pathlib import Path
from api.app import create_app
from api.callers.auth import token_hash
from api.server import serve
from api.settings import read_settings
from bridge.base import Base
from kernel.access import Principal, Role

with Base.open(Path(sys.argv[1])) as base:
    base.ledger.add_principal(Principal("writer", Role.WRITER), token_hash("token"))
    settings = read_settings(port=0)
    serve(create_app(base, settings), settings, announce=lambda url: print(url, flush=True))
print("closed", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_service_in_order(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", SERVE, str(tmp_path / "data")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MUNIMENT_")}
    with subprocess.Popen(
        command, cwd=HOME, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        headers = {"authorization": "Bearer token"}
        with httpx2.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
            assert client.post("/changes", json=request(change("a", "p", "b"))).status_code == 201
            process.send_signal(number)
            out, log = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "closed\n")
    assert "POST /changes 201" in log
    assert "Traceback" not in log
    with Base.open(tmp_path / "data") as base:
        assert base.reader.head().position is not None


def test_a_port_that_is_taken_is_a_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidSetting) as caught:
            listen("127.0.0.1", port)
    assert str(port) in caught.value.message
    assert caught.value.where == "port"


def test_a_host_that_is_none_is_a_clear_error() -> None:
    with pytest.raises(InvalidSetting):
        listen("no-such-host.invalid", 0)


def test_the_url_tells_the_port_that_was_free() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert url_of(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_the_base_stays_open_when_the_service_ends() -> None:
    with Base.open(None) as base:
        with served(base) as running:
            assert running.writer.post("/changes", json=request(change("a", "p", "b"))).status_code == 201
        assert base.reader.head().position is not None
        assert json.dumps(base.behind) == "false"
