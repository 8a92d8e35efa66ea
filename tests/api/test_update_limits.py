"""What the WHERE of an update may take, through the real server: runaways, lost workers, updates that are overtaken.

The example base has a thousand statements: a product of three is a thousand million rows.
"""

import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Final
from urllib.parse import urlsplit

import httpx2
import pytest

from api.callers.roles import RoleName
from api.routes import sparql_update
from api.routes.sparql_update import UPDATE
from api.settings import RoleLimits
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.processes import is_worker, seconds, until, workers
from tests.api.serving import Served
from tests.api.test_limits import MEGABYTE, cheap, filled, limited

COUNTED: Final = "{ SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f } }"
SORTED: Final = "{ SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f } ORDER BY ?b ?d ?f }"
MANY: Final = "?a ?p ?b . ?c ?q ?d"
NEVER: Final = f"INSERT {{ <{EX}never> <{EX}n> ?n }} WHERE {COUNTED}"
FIRST: Final = f"INSERT DATA {{ <{EX}first> <{EX}p> 'there' }} ; "
"""After it a WHERE is evaluated over what it did."""

COUNT: Final = (
    f"DELETE {{ <{EX}count> <{EX}is> ?n }} INSERT {{ <{EX}count> <{EX}is> ?m }} "
    f"WHERE {{ <{EX}count> <{EX}is> ?n BIND(?n + 1 AS ?m) }}"
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


def update(client: httpx2.Client, text: str) -> httpx2.Response:
    return client.post("/sparql", content=text, headers={"content-type": UPDATE})


def done(client: httpx2.Client, text: str) -> None:
    answer = update(client, text)
    assert answer.status_code == 200, answer.text


def counted(client: httpx2.Client) -> int:
    answer = client.get("/sparql", params={"query": f"SELECT ?n {{ <{EX}count> <{EX}is> ?n }}"})
    return int(answer.json()["results"]["bindings"][0]["n"]["value"])


def untouched(client: httpx2.Client) -> None:
    """Nothing of a runaway is there, in the service or in what its workers have."""
    for node in ("first", "never"):
        answer = client.get("/sparql", params={"query": f"ASK {{ <{EX}{node}> ?p ?o }}"})
        assert answer.json()["boolean"] is False
        assert client.get("/facts", params={"subject": EX + node}).json()["items"] == []


@contextmanager
def running(*asked: tuple[httpx2.Client, str]) -> Iterator[list[Future[httpx2.Response]]]:
    """Updates that are under way."""
    with ThreadPoolExecutor(len(asked)) as pool:
        yield [pool.submit(update, client, text) for client, text in asked]


@pytest.fixture(scope="module")
def strict() -> Iterator[Served]:
    """Small limits; time is short for editors alone."""
    hurried = {RoleName.EDITOR: RoleLimits(seconds=1.5)}
    with filled(
        query_limits=hurried, query_memory=32 * MEGABYTE, query_result=2 * MEGABYTE, query_seconds=60
    ) as served:
        done(served.writer, f"INSERT DATA {{ <{EX}count> <{EX}is> 0 }}")
        yield served


@pytest.mark.parametrize("first", ["", FIRST], ids=["first", "second"])
@pytest.mark.parametrize(
    ("where", "role", "of"),
    [(COUNTED, Role.EDITOR, "time"), (SORTED, Role.WRITER, "memory"), (MANY, Role.WRITER, "size")],
    ids=["time", "memory", "size"],
)
def test_a_runaway_is_ended_and_its_neighbours_never_notice(
    strict: Served, first: str, where: str, role: Role, of: str
) -> None:
    client = strict.writer
    text = f"{first}INSERT {{ <{EX}never> <{EX}n> ?n , ?b , ?d }} WHERE {{ {where} }}"
    with running((strict.client(role), text)) as [ended]:
        asked = 0
        while not ended.done() or not asked:
            cheap(client)
            before = counted(client)
            done(client, COUNT)
            assert counted(client) == before + 1
            asked += 1
        limited(ended.result(), of)
    untouched(client)


def test_the_runaways_of_one_are_not_waited_for_by_another(strict: Served) -> None:
    """More than there are workers, twice: another's update goes before those that wait."""
    greedy, other = strict.client(Role.EDITOR), strict.writer
    with running(*[(greedy, NEVER)] * 10) as runaways:
        until(lambda: len(workers(os.getpid())) >= 4)
        time.sleep(0.5)  # by now all of them are asked
        before = counted(other)
        done(other, COUNT)
        assert counted(other) == before + 1
        assert sum(each.done() for each in runaways) < 9
        for each in runaways:
            limited(each.result(), "time")
    untouched(other)


def test_a_value_that_is_too_long_to_be_taken_along_is_told() -> None:
    """Sixteen megabytes that a few words make: the reader of solutions has no room for it."""
    with filled() as served:
        client = served.writer
        longer = " ".join(f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(18))
        found = f"SELECT ?x18 {{ BIND('{'x' * 64}' AS ?x0) {longer} }}"
        limited(update(client, f"INSERT {{ <{EX}never> <{EX}n> ?x18 }} WHERE {{ {{ {found} }} }}"), "size")
        shorter = f"INSERT {{ <{EX}never> <{EX}n> ?x15 }} WHERE {{ {{ {found.replace('?x18 {', '?x15 {')} }} }}"
        answer = update(client, shorter)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid-term"), answer.text
        untouched(client)


def test_a_long_value_is_not_put_everywhere(strict: Served) -> None:
    """Half a megabyte that a few words make, in very many places."""
    client = strict.writer
    longer = " ".join(f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(13))
    places = " ".join(f"<{EX}never> <{EX}p{n}> ?x13 ." for n in range(140))
    answer = update(client, f"INSERT {{ {places} }} WHERE {{ BIND('{'x' * 64}' AS ?x0) {longer} }}")
    assert (answer.status_code, answer.json()["code"]) == (422, "too-many-changes"), answer.text
    assert "64 MB" in answer.json()["detail"]
    untouched(client)


def busiest() -> int:
    """The worker that has been busy for longest, once it has."""
    until(lambda: any(seconds(each) > 1 for each in workers(os.getpid())))
    return max(workers(os.getpid()), key=seconds)


def test_a_worker_that_is_killed_leaves_nothing_half_done() -> None:
    with filled(query_workers=2, query_seconds=600) as served:
        client = served.writer
        cheap(client)
        for text in (NEVER, FIRST + NEVER):
            with running((client, text)) as [lost]:
                os.kill(busiest(), signal.SIGKILL)
                answer = lost.result()
            assert (answer.status_code, answer.json()["code"]) == (503, "store-unavailable")
            assert "Retry-After" in answer.headers
            untouched(client)
            done(client, f"{FIRST} DELETE {{ ?s ?p ?o }} WHERE {{ BIND(<{EX}first> AS ?s) ?s ?p ?o }}")
            untouched(client)


# --- overtaken --------------------------------------------------------------------------------------------------------

SLOW: Final = f"{COUNT} ; INSERT {{ <{EX}slow> <{EX}n> ?n }} WHERE {{ {{ SELECT (COUNT(*) AS ?n) {{ {MANY} }} }} }}"
"""A million rows are counted."""


@contextmanager
def writing(served: Served) -> Iterator[list[float]]:
    """Somebody writes without a pause; how long each write took."""
    stop, client, took = Event(), served.writer, list[float]()

    def write() -> None:
        while not stop.is_set():
            began = time.monotonic()
            answer = client.post("/changes", json=request(change("other", "n", f"v{len(took)}")))
            assert answer.status_code == 201, answer.text
            took.append(time.monotonic() - began)

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        try:
            yield took
        finally:
            stop.set()
            writer.result()


def test_who_is_overtaken_each_time_has_others_wait_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparql_update, "HELD", 60.0)  # on a slow machine too
    with filled() as served:
        client = served.writer
        done(client, f"INSERT DATA {{ <{EX}count> <{EX}is> 0 }}")
        with writing(served):
            done(client, SLOW)
        assert counted(client) == 1


def test_who_takes_too_long_for_that_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparql_update, "HELD", 0.01)
    with filled() as served:
        client = served.writer
        done(client, f"INSERT DATA {{ <{EX}count> <{EX}is> 0 }}")
        with writing(served) as took:
            answer = update(client, SLOW)
        assert (answer.status_code, answer.json()["code"]) == (409, "state-moved")
        assert int(answer.headers["Retry-After"]) > 0
        assert len(took) > 3
        assert counted(client) == 0


# --- nobody there -----------------------------------------------------------------------------------------------------


def begun(served: Served) -> socket.socket:
    """A connection on which an update was sent that never ends."""
    text = FIRST + NEVER
    head = f"POST /sparql HTTP/1.1\r\nHost: x\r\nContent-Type: {UPDATE}\r\nContent-Length: {len(text)}\r\n"
    connection = socket.create_connection(("127.0.0.1", urlsplit(served.url).port or 0))
    connection.sendall(f"{head}Authorization: Bearer {served.token(Role.WRITER)}\r\n\r\n{text}".encode())
    return connection


def test_a_client_that_hangs_up_is_not_worked_for() -> None:
    with filled(query_seconds=600) as served:
        with begun(served):
            worker = busiest()
        until(lambda: not is_worker(worker))
        untouched(served.writer)


def test_a_service_ends_while_a_where_is_evaluated() -> None:
    with filled(query_seconds=600) as served, begun(served):
        worker = busiest()
    assert not is_worker(worker)
