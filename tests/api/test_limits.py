"""What a query may take, through the real server: runaways, cut-offs, clients that go, workers that are lost.

The example base has a thousand statements: a product of three is a thousand million rows.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

import httpx2
import pytest

from api.callers.roles import RoleName
from api.settings import RoleLimits, Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.console import run, serving
from tests.api.pages.world import Page
from tests.api.processes import is_worker, seconds, until, workers
from tests.api.serving import Served, served
from tests.requirements import require

MANY: Final = 1_000
NEVER: Final = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }"
LARGE: Final = "SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f } ORDER BY ?b ?d ?f"
LONG: Final = "SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }"
NUMBERS: Final = count()
MEGABYTE: Final = 2**20

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


@contextmanager
def filled(**settings: object) -> Iterator[Served]:
    """A served base of a thousand statements."""
    with Base.open(None) as base, served(base, Settings.model_validate({"query_patience": 60, **settings})) as running:
        fill(running.writer)
        yield running


def fill(writer: httpx2.Client) -> None:
    triples = "".join(f'<{EX}s{number}> <{EX}p> "value {number}" .\n' for number in range(MANY))
    answer = writer.post("/changes", content=triples, headers={"content-type": "application/n-triples"})
    assert answer.status_code == 201, answer.text


def cheaply() -> str:
    """A query that takes a worker, if little of it, and that nobody has asked yet."""
    return f"SELECT ?o {{ <{EX}s7> <{EX}p> ?o FILTER(true) }} # {next(NUMBERS)}"


def cheap(client: httpx2.Client) -> None:
    answer = client.get("/sparql", params={"query": cheaply()})
    assert answer.status_code == 200, answer.text
    assert answer.json()["results"]["bindings"] == [{"o": {"type": "literal", "value": "value 7"}}]


def limited(answer: httpx2.Response, of: str) -> None:
    assert (answer.status_code, answer.json()["code"], answer.json()["of"]) == (422, "query-limit", of), answer.text
    assert "Muniment-Head" not in answer.headers


@pytest.fixture(scope="module")
def strict() -> Iterator[Served]:
    """Small limits; whoever asks something honest has more than enough. Time is short for readers alone."""
    hurried = {RoleName.READER: RoleLimits(seconds=1.5)}
    with filled(
        query_limits=hurried, query_memory=32 * MEGABYTE, query_result=2 * MEGABYTE, query_seconds=60
    ) as running:
        yield running


# --- runaways ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "role", "of"),
    [(NEVER, Role.READER, "time"), (LARGE, Role.WRITER, "memory"), (LONG, Role.WRITER, "size")],
    ids=["time", "memory", "size"],
)
@pytest.mark.parametrize("moment", [{}, {"valid-at": "2300"}], ids=["now", "later"])
def test_a_runaway_is_ended_and_its_neighbours_never_notice(
    strict: Served, query: str, role: Role, of: str, moment: dict[str, str]
) -> None:
    client, runaway = strict.writer, strict.client(role)
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(runaway.get, "/sparql", params={"query": query, **moment}, headers={"accept": "text/csv"})
        asked = 0
        while not ended.done() or not asked:
            cheap(client)
            asked += 1
        limited(ended.result(), of)
    cheap(client)


def test_a_query_that_asks_history_has_the_same_limits(strict: Served) -> None:
    client = strict.client(Role.READER)
    history = "https://w3id.org/muniment/history/" + quote("https://w3id.org/muniment#default", safe="")
    query = f"SELECT (COUNT(*) AS ?n) {{ GRAPH <{history}> {{ ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }} }}"
    limited(client.get("/sparql", params={"query": query}), "time")
    few = client.get("/sparql", params={"query": f"ASK {{ GRAPH <{history}> {{ ?f ?p <{EX}s7> }} }}"})
    assert few.json()["boolean"] is True


def test_what_several_runaways_leave_is_for_the_others(strict: Served) -> None:
    """Three times as many as there are workers, from one caller: another's query goes before those that wait."""
    greedy, other = strict.client(Role.READER), strict.writer
    with ThreadPoolExecutor(12) as pool:
        runaways = [pool.submit(greedy.get, "/sparql", params={"query": NEVER}) for _ in range(12)]
        until(lambda: len(workers(os.getpid())) >= 4)
        time.sleep(0.5)  # by now all of them are asked
        cheap(other)
        assert sum(each.done() for each in runaways) < 9
        for each in runaways:
            limited(each.result(), "time")


def test_limits_go_by_role() -> None:
    limits = {RoleName.READER: RoleLimits(result=2_000)}
    with filled(query_limits=limits, query_spares=0) as running:
        query = {"query": "SELECT * { ?s ?p ?o } LIMIT 100"}
        limited(running.client(Role.READER).get("/sparql", params=query), "size")
        assert running.client(Role.EDITOR).get("/sparql", params=query).status_code == 200


def test_the_page_is_held_to_the_limits(strict: Served) -> None:
    client = httpx2.Client(base_url=strict.url, headers={"Accept": "text/html"}, timeout=60, trust_env=False)
    strict.enter(client)
    form = Page.of(client.get("/sign-in")).forms[-1]
    client.post("/sign-in", data={**form, "token": strict.token(Role.WRITER)})
    answer = client.get("/query", params={"query": LARGE})
    assert answer.status_code == 422
    assert "limit of" in answer.text


# --- clean cut-offs (case 13) -----------------------------------------------------------------------------------------


def large_json(strict: Served) -> tuple[str, str]:
    """The URL of an answer that is cut off after it has begun, and a token."""
    return f"{strict.url}/sparql?{urlencode({'query': LONG})}", strict.token(Role.WRITER)


def test_an_answer_that_is_cut_off_is_a_failure_to_python(strict: Served) -> None:
    url, token = large_json(strict)
    with pytest.raises(httpx2.RemoteProtocolError):
        strict.writer.get(url)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request("GET", url, headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    assert answer.status == 200
    with pytest.raises(http.client.IncompleteRead):
        answer.read()
    connection.close()
    cheap(strict.writer)


def test_an_answer_that_is_cut_off_is_a_failure_to_curl(strict: Served) -> None:
    url, token = large_json(strict)
    command = [
        "curl",
        "--silent",
        "--noproxy",
        "*",
        "--output",
        os.devnull,
        "-H",
        f"Authorization: Bearer {token}",
        url,
    ]
    partial = {18, 56}
    assert subprocess.run(command, check=False, timeout=60).returncode in partial
    small = [*command[:-1], f"{strict.url}/sparql?{urlencode({'query': cheaply()})}"]
    assert subprocess.run(small, check=False, timeout=60).returncode == 0


@pytest.mark.node
def test_an_answer_that_is_cut_off_is_a_failure_to_fetch(strict: Served) -> None:
    require("node")
    url, token = large_json(strict)
    program = """
      const [url, token] = process.argv.slice(1);
      const answer = await fetch(url, {headers: {authorization: `Bearer ${token}`}});
      let outcome = "whole";
      try { await answer.text(); } catch { outcome = "failed"; }
      console.log(answer.status, outcome);
    """
    command = ["node", "--input-type=module", "-e", program, url, token]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    assert told.split() == ["200", "failed"]


@pytest.mark.parametrize("accept", ["text/csv", "text/tab-separated-values", "application/sparql-results+xml"])
def test_a_format_that_would_pass_for_whole_is_an_error_status(strict: Served, accept: str) -> None:
    answer = strict.writer.get("/sparql", params={"query": LONG}, headers={"accept": accept})
    limited(answer, "size")


@pytest.mark.parametrize(
    "accept",
    ["application/sparql-results+json", "application/sparql-results+xml", "text/csv", "text/tab-separated-values"],
)
def test_a_large_answer_is_whole(strict: Served, accept: str) -> None:
    query = "SELECT * { ?a ?p ?b . ?c ?q ?d } LIMIT 3000"
    answer = strict.writer.get("/sparql", params={"query": query}, headers={"accept": accept})
    assert answer.status_code == 200
    assert len(answer.content) > 256 * 1024
    if "json" in accept:
        assert len(answer.json()["results"]["bindings"]) == 3000
    elif "xml" in accept:
        assert answer.text.count("<result>") == 3000
    else:
        assert len(answer.text.splitlines()) == 3001


def test_a_client_that_reads_slowly_holds_no_worker() -> None:
    with filled(query_workers=1, query_spares=0) as running:
        query = "SELECT * { ?a ?p ?b . ?c ?q ?d } LIMIT 60000"
        head = f"GET /sparql?{urlencode({'query': query})} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        with socket.create_connection(("127.0.0.1", urlsplit(running.url).port or 0)) as slow:
            slow.sendall(f"{head}Authorization: Bearer {running.token(Role.READER)}\r\n\r\n".encode())
            began = slow.recv(20)
            assert began.startswith(b"HTTP/1.1 200")
            cheap(running.writer)
            rest = began
            while data := slow.recv(2**20):
                rest += data
        assert rest.endswith(b"0\r\n\r\n")
        assert rest.count(b'"a":') == 60_000


# --- who waits --------------------------------------------------------------------------------------------------------


def test_too_many_that_wait_are_told_when_to_come_again() -> None:
    with filled(query_workers=1, query_spares=0, query_queue=1, query_patience=3, query_seconds=8) as running:
        client = running.writer
        # Until there is a worker: on a busy machine the first takes longer than anybody may wait here.
        until(lambda: client.get("/sparql", params={"query": cheaply()}).status_code == 200)
        with ThreadPoolExecutor(4) as pool:
            runaway = pool.submit(client.get, "/sparql", params={"query": NEVER})
            until(lambda: any(seconds(each) > 0.5 for each in workers(os.getpid()) - OTHERS))
            waiting = [pool.submit(client.get, "/sparql", params={"query": cheaply()}) for _ in range(3)]
            for each in waiting:
                answer = each.result()
                assert (answer.status_code, answer.json()["code"]) == (503, "busy")
                assert int(answer.headers["Retry-After"]) > 0
            assert {each.result().json()["detail"] for each in waiting} == {
                "too many queries are waiting",
                "no worker was free within 3 s",
            }
            limited(runaway.result(), "time")
        cheap(client)


def test_a_client_that_hangs_up_is_not_worked_for() -> None:
    with filled(query_workers=1, query_spares=0, query_seconds=600, query_patience=60) as running:
        head = f"GET /sparql?{urlencode({'query': NEVER})} HTTP/1.1\r\nHost: x\r\n"
        asked = f"{head}Authorization: Bearer {running.token(Role.READER)}\r\n\r\n".encode()
        for behind in (b"", b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"):
            cheap(running.writer)
            (worker,) = workers(os.getpid()) - OTHERS
            with socket.create_connection(("127.0.0.1", urlsplit(running.url).port or 0)) as gone:
                gone.sendall(asked + behind)
                until(lambda: seconds(worker) > 0.5)  # noqa: B023 - called at once
            until(lambda: not is_worker(worker))  # noqa: B023 - called at once
        cheap(running.writer)


OTHERS: Final[set[int]] = set()
"""Workers of servers that other tests share."""


@pytest.fixture(autouse=True)
def _others() -> None:
    OTHERS.clear()
    OTHERS.update(workers(os.getpid()))


# --- workers that are lost --------------------------------------------------------------------------------------------


def test_a_worker_that_is_killed_is_replaced() -> None:
    with filled(query_workers=2, query_seconds=600) as running:
        client = running.writer
        cheap(client)
        for _ in range(3):
            for worker in workers(os.getpid()) - OTHERS:
                os.kill(worker, signal.SIGKILL)
            until(lambda: client.get("/sparql", params={"query": cheaply()}).status_code == 200)
        with ThreadPoolExecutor(1) as pool:
            lost = pool.submit(client.get, "/sparql", params={"query": NEVER})
            until(lambda: any(seconds(each) > 0.5 for each in workers(os.getpid()) - OTHERS))
            busy = max(workers(os.getpid()) - OTHERS, key=seconds)
            os.kill(busy, signal.SIGKILL)
            answer = lost.result()
        assert (answer.status_code, answer.json()["code"]) == (503, "store-unavailable")
        assert "Retry-After" in answer.headers
        cheap(client)


def test_nothing_is_left_of_a_service_that_ends() -> None:
    with ThreadPoolExecutor(1) as pool:
        with filled(query_seconds=600) as running:
            url, token = running.url, running.token(Role.READER)
            client = httpx2.Client(headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=60)
            endless = pool.submit(client.get, f"{url}/sparql", params={"query": NEVER})
            until(lambda: any(seconds(each) > 0.5 for each in workers(os.getpid()) - OTHERS))
            left = workers(os.getpid()) - OTHERS
        assert endless.result().is_server_error
    assert left
    assert not {each for each in left if is_worker(each)}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_worker_outlives_its_service(tmp_path: Path, number: signal.Signals) -> None:
    data = tmp_path / "base"
    token = run("token", "create", "--data", data, "--role", "writer").output.strip()
    headers = {"Authorization": f"Bearer {token}"}
    with serving(data, MUNIMENT_QUERY_SECONDS="600") as (process, url):
        with httpx2.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
            fill(client)
            cheap(client)
        with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0)) as endless:
            head = f"GET /sparql?{urlencode({'query': NEVER})} HTTP/1.1\r\nHost: x\r\n"
            endless.sendall(f"{head}Authorization: Bearer {token}\r\n\r\n".encode())
            until(lambda: any(seconds(each) > 1 for each in workers(process.pid)))
            left = workers(process.pid)
            process.send_signal(number)
            process.wait(60)
            until(lambda: not any(map(is_worker, left)))
    with Base.open(data):
        assert not [*(data / "stores").glob("*.checkpoint-*")], "what workers had is gone"


# --- read your writes -------------------------------------------------------------------------------------------------


def head_of(answer: httpx2.Response) -> int:
    assert answer.status_code == 200, answer.text
    return int(answer.headers["Muniment-Head"])


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
def test_who_has_the_answer_to_a_write_reads_it(tmp_path: Path, disk: bool) -> None:
    """Under load, by a worker that is in the middle of things; heads never go back."""
    stop = Event()

    def watch(client: httpx2.Client) -> int:
        heads = [0]
        while not stop.is_set():
            heads.append(head_of(client.get("/sparql", params={"query": "ASK { ?s ?p ?o }"})))
        assert heads == sorted(heads)
        return len(heads)

    def write(client: httpx2.Client, writer: int) -> None:
        for number in range(25):
            subject = f"w{writer}-{number}"
            written = client.post("/changes", json=request(change(subject, "p", "o")))
            assert written.status_code == 201, written.text
            head = written.json()["head"]
            least = {"Muniment-Min-Head": str(head)} if number % 2 else {}
            read = client.get("/sparql", params={"query": f"ASK {{ <{EX}{subject}> ?p ?o }}"}, headers=least)
            assert read.json()["boolean"] is True
            assert head_of(read) >= head
            history = f"ASK {{ GRAPH ?h {{ ?f <https://w3id.org/muniment#subject> <{EX}{subject}> }} # history\n}}"
            if number % 5 == 0:
                answer = client.get("/sparql", params={"query": history.replace("# history", "# muniment/history/")})
                assert answer.json()["boolean"] is True

    with Base.open(tmp_path / "base" if disk else None) as base, served(base, Settings(query_workers=2)) as running:
        fill(running.writer)
        clients = [running.writer for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            watching = pool.submit(watch, clients[0])
            writing = [pool.submit(write, client, number) for number, client in enumerate(clients[1:])]
            try:
                for each in writing:
                    each.result()
            finally:
                stop.set()
            assert watching.result() > 1


def test_a_head_that_is_not_reached_is_said(strict: Served) -> None:
    client = strict.writer
    head = client.get("/sparql", params={"query": "ASK {}"}).headers["Muniment-Head"]
    for least in (head, "0", "none"):
        answer = client.get("/sparql", params={"query": "ASK {}"}, headers={"Muniment-Min-Head": least})
        assert answer.status_code == 200
    began = time.monotonic()
    late = client.get("/sparql", params={"query": "ASK {}"}, headers={"Muniment-Min-Head": "999999"})
    assert (late.status_code, late.json()["code"], late.json()["where"]) == (504, "not-reached", "Muniment-Min-Head")
    assert f"head {head}" in late.json()["detail"]
    assert time.monotonic() - began < 30
    odd = client.get("/sparql", params={"query": "ASK {}"}, headers={"Muniment-Min-Head": "soon"})
    assert (odd.status_code, odd.json()["where"]) == (400, "Muniment-Min-Head")


def test_a_head_that_is_waited_for_is_read(server: Served) -> None:
    client, other = server.writer, server.writer
    client.post("/changes", json=request(change("a", "p", "b")))
    head = int(client.get("/sparql", params={"query": "ASK {}"}).headers["Muniment-Head"])
    with ThreadPoolExecutor(1) as pool:
        least = {"Muniment-Min-Head": str(head + 1)}
        waiting = pool.submit(other.get, "/sparql", params={"query": "ASK { ?s ?p ?o }"}, headers=least)
        time.sleep(0.1)
        assert client.post("/changes", json=request(change("c", "p", "d"))).status_code == 201
        assert head_of(waiting.result()) > head


def test_the_log_and_the_answers_tell_nothing_of_workers(strict: Served, caplog: pytest.LogCaptureFixture) -> None:
    answer = strict.client(Role.READER).get("/sparql", params={"query": NEVER})
    limited(answer, "time")
    assert "worker" not in json.dumps(answer.json())
    assert not [record for record in caplog.records if record.exc_info]
