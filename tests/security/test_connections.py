"""What comes before there is a request: heads without end, what is no HTTP, clients that take their time."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import httpx2
import pytest

from api import server
from api.http import connections
from api.settings import Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.serving import Served, served

GET: Final = b"GET /health HTTP/1.1\r\nHost: x\r\n"


@contextmanager
def connected(running: Served) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", urlsplit(running.url).port or 0), timeout=30) as connection:
        yield connection


def answered(connection: socket.socket) -> bytes:
    """All that comes until the service closes the connection."""
    told = b""
    try:
        while data := connection.recv(65_536):
            told += data
    except ConnectionResetError:
        pass
    return told


def refused(told: bytes, status: int, code: str) -> None:
    head, _, body = told.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), told[:300]
    assert b"content-type: application/problem+json" in head
    problem: dict[str, Any] = json.loads(body)
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["remedy"]
    assert problem["requestId"]


@pytest.mark.parametrize(
    "sent",
    [
        GET + b"".join(b"X-%d: y\r\n" % number for number in range(200)) + b"\r\n",
        GET + b"X-Long: " + b"y" * 70_000 + b"\r\n\r\n",
        b"GET /health?" + b"y" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["many headers", "a long header", "a long URL"],
)
def test_a_head_beyond_the_limit_is_431(attacked: Served, sent: bytes) -> None:
    with connected(attacked) as connection:
        connection.sendall(sent)
        refused(answered(connection), 431, "head-too-large")


@pytest.mark.parametrize(
    "begun",
    [
        GET + b"X-Long: ",
        b"GET /",
        b"POST /changes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;extension=",
        b"POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: ",
    ],
    ids=["header", "URL", "extension of a chunk", "trailer"],
)
def test_what_has_no_end_is_not_gathered(attacked: Served, begun: bytes) -> None:
    with connected(attacked) as connection:
        connection.sendall(begun)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            connection.sendall(b"y" * 100 * 2**20)


def test_an_answer_before_the_body_is_whole_is_read_by_who_sends_it_all_first(attacked: Served) -> None:
    """As urllib does, and with it SPARQLWrapper and rdflib's store: the connection is to end with the answer."""
    writer = attacked.token(Role.WRITER)
    for body, token, status in ((b" " * (Settings().body_limit + 1), writer, 413), (b" " * 2**22, "nobody's", 401)):
        request = Request(f"{attacked.url}/sparql", body, {"Content-Type": "application/sparql-update"})
        request.add_header("Authorization", f"Bearer {token}")
        with pytest.raises(HTTPError) as caught:
            urlopen(request, timeout=30)
        assert (caught.value.code, json.load(caught.value)["status"]) == (status, status)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100,
        b"GET /health HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"GET /he\x00alth HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /h\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /sparql HTTP/1.1\r\nHost: a> b\r\n\r\n",
        b"GET /sparql HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health\r\n\r\n",
        b"POST /changes HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345",
        b"POST /changes HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /changes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnothing\r\n",
    ],
    ids=[
        "TLS",
        "NUL header",
        "NUL URL",
        "not ASCII",
        "no URL",
        "no host",
        "two hosts",
        "no Host",
        "no version",
        "two lengths",
        "length and chunks",
        "no chunk",
    ],
)
def test_what_is_no_http_is_a_problem_document(attacked: Served, sent: bytes) -> None:
    with connected(attacked) as connection:
        connection.sendall(sent)
        told = answered(connection)
    if told.startswith(b"HTTP/1.1 401"):  # the head is well, and wants a token before its body is looked at
        assert b"application/problem+json" in told
    else:
        refused(told, 400, "unreadable-request")


def test_a_trailer_is_no_header(attacked: Served) -> None:
    """A token that comes after the body lets nobody in."""
    token = attacked.token(Role.WRITER)
    trailer = f"0\r\nAuthorization: Bearer {token}\r\n\r\n"
    head = "POST /sparql HTTP/1.1\r\nHost: x\r\nContent-Type: application/sparql-query\r\n"
    with connected(attacked) as connection:
        connection.sendall(
            f"{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n6\r\nASK {{}}\r\n{trailer}".encode()
        )
        assert answered(connection).startswith(b"HTTP/1.1 401")


def test_a_head_that_does_not_end_is_408_and_a_silent_client_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.5)
    monkeypatch.setattr(connections, "BODY_SECONDS", 1.5)
    monkeypatch.setattr(connections, "_LOOK", 0.1)
    with Base.open(None) as base, served(base) as running:
        with connected(running) as silent, connected(running) as slow, connected(running) as stuck:
            slow.sendall(GET)
            head = "POST /changes HTTP/1.1\r\nHost: x\r\nContent-Type: text/turtle\r\nContent-Length: 100\r\n"
            stuck.sendall(f"{head}Authorization: Bearer {running.token(Role.WRITER)}\r\n\r\n<urn:a>".encode())
            refused(answered(slow), 408, "too-slow")
            assert answered(silent) == b""
            assert answered(stuck) == b""
        # Who has asked, and may ask again, is not left: idle connections have their own time.
        with httpx2.Client(base_url=running.url, trust_env=False) as client:
            assert client.get("/health").status_code == 200
            time.sleep(2)
            assert client.get("/health").status_code == 200


def test_so_many_connections_and_no_more() -> None:
    with Base.open(None) as base, served(base, Settings(query_spares=0, connections=2)) as running:
        with connected(running) as one, connected(running) as two:
            for each in (one, two):
                each.sendall(GET + b"\r\n")
                assert each.recv(100).startswith(b"HTTP/1.1 200")
            with connected(running) as third:
                refused(answered(third), 503, "too-many-connections")
        with connected(running) as again:
            again.sendall(GET + b"Connection: close\r\n\r\n")
            assert answered(again).startswith(b"HTTP/1.1 200")


# --- clients that mean no good ----------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A service that waits for nobody for long."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "SEND_SECONDS"):
        monkeypatch.setattr(connections, name, 0.5)
    monkeypatch.setattr(connections, "_LOOK", 0.1)
    monkeypatch.setattr(server, "KEEP_ALIVE", 1)
    with Base.open(None) as base, served(base) as running:
        yield running


def posted(running: Served, length: int, token: bool = True) -> bytes:
    allowed = f"Authorization: Bearer {running.token(Role.WRITER)}\r\n" if token else ""
    head = f"POST /changes HTTP/1.1\r\nHost: x\r\nContent-Type: text/turtle\r\nContent-Length: {length}\r\n{allowed}"
    return f"{head}\r\n".encode()


def drip(connection: socket.socket) -> None:
    for _ in range(300):
        connection.sendall(b" ")
        time.sleep(0.1)


def test_no_connection_is_held_without_being_used(impatient: Served) -> None:
    """Each of these was held for ever, by whoever liked."""
    with connected(impatient) as unread, connected(impatient) as blank, connected(impatient) as slow:
        unread.sendall(posted(impatient, 1_000, token=False) + b"<urn")
        assert unread.recv(65_536).startswith(b"HTTP/1.1 401")
        unread.sendall(b":")  # what is answered is not read on, and nobody would wait for the rest
        blank.sendall(GET + b"\r\n")
        assert blank.recv(65_536).startswith(b"HTTP/1.1 200")
        blank.sendall(b"\r\n")  # which is no request, and may stand before one
        slow.sendall(posted(impatient, 1_000))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            drip(slow)
        assert answered(unread) == b""
        assert answered(blank) == b""


def test_who_takes_nothing_is_left_and_what_waits_is_bounded(impatient: Served) -> None:
    path = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    size = len(httpx2.get(f"{impatient.url}/openapi.json", trust_env=False).content)
    with connected(impatient) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**18)
        deaf.sendall(path * 30)
        time.sleep(2)
        assert len(answered(deaf)) < 30 * size, "it was given up with most of it unsent"
    with connected(impatient) as eager:
        eager.sendall((GET + b"\r\n") * 5_000)
        assert answered(eager).count(b"HTTP/1.1 200") < 100
    with connected(impatient) as together:
        together.sendall((GET + b"\r\n") * 20)
        assert answered(together).count(b"HTTP/1.1 200") == 20


def test_what_comes_after_the_last_request_is_not_answered(impatient: Served) -> None:
    for after in (GET + b"\r\n", posted(impatient, 1_000) + b"<urn:a> ", b"nothing\r\n\r\n"):
        with connected(impatient) as connection:
            connection.sendall(GET + b"Connection: close\r\n\r\n" + after)
            told = answered(connection)
            assert (told.startswith(b"HTTP/1.1 200"), told.count(b"HTTP/1.1 ")) == (True, 1)


def test_a_client_that_sends_no_more_does_no_harm(impatient: Served) -> None:
    """Half-closed, reset, or gone amid a body: the others are answered, and nothing is kept of it."""
    for sent in (GET + b"\r\n", GET, posted(impatient, 1_000) + b"<urn:a> <urn:p> 1 .", (GET + b"\r\n") * 20):
        with connected(impatient) as half:
            half.sendall(sent)
            half.shutdown(socket.SHUT_WR)
            told = answered(half)
            assert told == b"" or told.startswith(b"HTTP/1.1 200")
        with connected(impatient) as reset:
            reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            reset.sendall(sent)
    assert impatient.client(Role.READER).get("/health").json()["head"] is None
