"""The clock: facts begin and end by themselves, and whoever reads notices, whatever was kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import httpx2
import pytest

from bridge.base import Base
from kernel.changes import Assert, Request
from kernel.facts import Validity
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import FOREVER, Instant, print_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.submitting import Submission
from tests.api.bodies import EX, change, request
from tests.api.serving import Served, served
from tests.bridge.writing import ADMINISTRATOR, HOUR, NOON, PATIENCE, SetClock

COUNT: Final = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
HOMES: Final = f"SELECT ?o {{ <{EX}ann> <{EX}livesIn> ?o }}"
WHOLE: Final = f"SELECT ?o {{ <{EX}ann> <{EX}livesIn> ?o MINUS {{ ?a <urn:never>* ?b FILTER(false) }} }}"
"""The same, of which no slice is enough."""

MANY: Final = 10_000


@pytest.fixture(scope="module")
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="module")
def server(clock: SetClock) -> Iterator[Served]:
    """A base whose host's time is set by hand; each test goes on from where the one before has left it."""
    with Base.open(None, host=clock) as base, served(base) as running:
        yield running


def got(client: httpx2.Client, query: str, tag: str | None = None, **moment: str) -> httpx2.Response:
    parameters = {"query": query} | {name.replace("_", "-"): value for name, value in moment.items()}
    headers = {"accept": "text/csv"} | ({} if tag is None else {"if-none-match": tag})
    return client.get("/sparql", params=parameters, headers=headers)


def rows(client: httpx2.Client, query: str, **moment: str) -> list[str]:
    answer = got(client, query, **moment)
    assert answer.status_code == 200, answer.text
    return sorted(line.removeprefix(EX) for line in answer.text.split()[1:])


def post(client: httpx2.Client, *changes: dict[str, object]) -> int:
    answer = client.post("/changes", json=request(*changes))
    assert answer.status_code == 201, answer.text
    head: int = answer.json()["head"]
    return head


def until(holds: Callable[[], bool]) -> None:
    """Waits until the clock, which looks at the host's once a second, has moved."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_boundary_between_two_reads_of_one_client(server: Served, clock: SetClock) -> None:
    """Case 47: answer, tag, header and what is kept by tag, all of the present; the past stands still."""
    writer = server.writer
    border = print_instant(Instant(clock.at + HOUR))
    head = post(
        writer, change("ann", "livesIn", "paris", validTo=border), change("ann", "livesIn", "rome", validFrom=border)
    )
    first = got(writer, HOMES)
    assert first.text.split() == ["o", f"{EX}paris"]
    assert got(writer, HOMES, first.headers["etag"]).status_code == 304
    fixed = {"as_of": f"head:{head}", "valid_at": first.headers["muniment-valid-at"]}
    past = got(writer, HOMES, **fixed)
    clock.move(HOUR)
    until(lambda: rows(writer, HOMES) == ["rome"])
    second = got(writer, HOMES, first.headers["etag"])
    assert second.status_code == 200, "what was kept is not the answer any more"
    assert second.text.split() == ["o", f"{EX}rome"]
    assert second.headers["etag"] != first.headers["etag"]
    assert second.headers["muniment-head"] == first.headers["muniment-head"] == str(head)
    assert second.headers["muniment-valid-at"] == border
    assert got(writer, HOMES, past.headers["etag"], **fixed).status_code == 304, "nothing was written"
    for query in (HOMES, WHOLE):
        assert rows(writer, query, **fixed) == ["paris"]
        assert rows(writer, query, as_of=f"head:{head}") == ["paris"], "what the endpoint answered then"
        assert rows(writer, query, valid_at=border) == ["rome"]


def test_ten_thousand_facts_that_fall_due_at_once(server: Served, clock: SetClock) -> None:
    """All of them in one step of the clock, and none before it."""
    before = int(rows(server.writer, COUNT)[0])
    due = Instant(clock.at + HOUR)
    validity = Validity(Interval(due, FOREVER), Precision.INSTANT, Precision.UNBOUNDED)
    changes = tuple(
        Assert(Statement(Iri(f"{EX}due/{number}"), Iri(f"{EX}is"), Literal("due"), DEFAULT_GRAPH), validity)
        for number in range(MANY)
    )
    asked = Submission(Request(changes, None, None, ADMINISTRATOR.id), ADMINISTRATOR, None, b"", dry_run=False)
    server.base.submit(asked).result(PATIENCE)
    assert int(rows(server.writer, COUNT)[0]) == before
    position = server.base.stores.feed.position
    clock.move(HOUR)
    seen: set[int] = set()

    def arrived() -> bool:
        seen.add(int(rows(server.writer, COUNT)[0]) - before)
        return MANY in seen

    until(arrived)
    assert seen <= {0, MANY}
    assert server.base.stores.feed.position == position + 1
    assert int(rows(server.writer, COUNT, valid_at=print_instant(Instant(due - 1)))[0]) == before


def test_a_server_that_is_down_over_a_boundary(tmp_path: Path) -> None:
    clock = SetClock()
    with Base.open(tmp_path / "data", host=clock) as base, served(base) as server:
        border = print_instant(Instant(NOON + HOUR))
        head = post(
            server.writer,
            change("ann", "livesIn", "paris", validTo=border),
            change("ann", "livesIn", "rome", validFrom=border),
        )
        old = got(server.writer, HOMES)
        assert old.text.split() == ["o", f"{EX}paris"]
    clock.move(2 * HOUR)
    with Base.open(tmp_path / "data", host=clock) as base, served(base) as server:
        writer = server.writer
        new = got(writer, HOMES, old.headers["etag"])
        assert (new.status_code, new.text.split()) == (200, ["o", f"{EX}rome"])
        assert new.headers["muniment-valid-at"] == print_instant(Instant(NOON + 2 * HOUR))
        for query in (HOMES, WHOLE):
            assert rows(writer, query, as_of=f"head:{head}") == ["paris"]
            assert rows(writer, query, valid_at=print_instant(Instant(NOON + HOUR - 1))) == ["paris"]
            assert rows(writer, query, valid_at=border) == ["rome"]
