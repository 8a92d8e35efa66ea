"""Workers for threads that wait: what they answer, how they end, and that none is left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from bridge.replicas.direct import KEPT, WORKERS, Asked, DirectWorker, DirectWorkers
from bridge.replicas.limits import Limits
from bridge.replicas.process import FailedFrameError, WorkerEndedError

if TYPE_CHECKING:
    from collections.abc import Iterator

AMPLE: Final = Limits(seconds=60, memory=256 * 2**20, result=2**20)
_JOINED = " . ".join(f"?s{each} ?p{each} ?o{each}" for each in range(20))
_ALL = ", ".join(f"str(?o{each})" for each in range(20))
ENDLESS: Final = f"SELECT * {{ {_JOINED} FILTER (strlen(CONCAT({_ALL})) < 0) }}"
TEXT: Final = "".join(f"<urn:s> <urn:p> <urn:o{each}> .\n" for each in range(50)).encode()


@pytest.fixture
def workers() -> Iterator[DirectWorkers]:
    made = DirectWorkers()
    yield made
    made.close()


def test_each_answer_sees_what_stands_beside_it_alone_and_labels_stay(workers: DirectWorkers) -> None:
    asked = Asked("ASK { ?s <urn:p> 'x' }", ["", '_:b1 <urn:p> "x" .', ""], AMPLE)
    text = "SELECT ?s { ?s <urn:q> 1 . ?s <urn:p> ?o }"
    with workers.one() as worker:
        assert [b"true" in each for each in worker.answers(asked, b"")] == [False, True, False]
        [answer] = worker.answers(
            Asked(text, ["_:b7 <urn:p> <urn:o> ."], AMPLE),
            b'_:b7 <urn:q> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n',
        )
    assert b'"type":"bnode","value":"b7"' in answer


def test_one_that_is_too_slow_or_takes_too_much_is_gone_and_another_comes(workers: DirectWorkers) -> None:
    with workers.one() as worker:
        first = worker.pid
        with pytest.raises(TimeoutError):
            worker.answers(Asked(ENDLESS, [""], Limits(0.2)), TEXT)
        assert worker.ended
    grouped = "SELECT (GROUP_CONCAT(CONCAT(?a, ?b, ?c, ?d)) AS ?all) { " + " ".join(
        f"?s{each} ?p{each} ?o{each} BIND (str(?o{each}) AS ?{each})" for each in "abcd"
    )
    with workers.one() as worker:
        second = worker.pid
        with pytest.raises(WorkerEndedError) as caught:
            worker.answers(Asked(grouped + " }", [""], Limits(300, 32 * 2**20)), TEXT)
        assert caught.value.out_of_memory
    with workers.one() as worker:
        assert len({first, second, worker.pid}) == 3
        assert len(worker.answers(Asked("ASK {}", [""], AMPLE), b"")) == 1
    for pid in (first, second):
        assert not Path(f"/proc/{pid}").exists()


def test_what_cannot_be_evaluated_and_what_is_too_large_leaves_the_worker(workers: DirectWorkers) -> None:
    with workers.one() as worker:
        with pytest.raises(FailedFrameError, match="syntax"):
            worker.answers(Asked("ASK {", [""], AMPLE), b"")
        with pytest.raises(FailedFrameError, match="size"):
            worker.answers(Asked("SELECT * { ?s ?p ?o }", [""] * 3, Limits(60, AMPLE.memory, 9_000)), TEXT)
        assert len(worker.answers(Asked("SELECT * { ?s ?p ?o }", [""], AMPLE), TEXT)[0]) > 3_000


def test_one_that_was_killed_by_somebody_is_not_given_out(workers: DirectWorkers) -> None:
    with workers.one() as worker:
        first = worker
    os.kill(first.pid, signal.SIGKILL)
    os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)
    with workers.one() as worker:
        assert worker is not first
        assert worker.answers(Asked("ASK {}", [""], AMPLE), b"") == [b'{"head":{},"boolean":true}']


def test_threads_get_their_own_answers_and_few_workers_stay(workers: DirectWorkers) -> None:
    used: set[DirectWorker] = set()

    def ask(number: int) -> bool:
        with workers.one() as worker:
            used.add(worker)
            [answer] = worker.answers(
                Asked("SELECT ?o { ?s ?p ?o }", [""], AMPLE), f"<u:s> <u:p> <u:{number}> .".encode()
            )
        return f'"u:{number}"'.encode() in answer

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(40)))
    assert sum(not worker.ended for worker in used) <= KEPT


def test_none_outlives_the_process_that_asks() -> None:
    program = (
        "from bridge.replicas.direct import WORKERS\nimport sys, time\n"
        "with WORKERS.one() as worker:\n    print(worker.pid, flush=True)\n    time.sleep(600)"
    )
    asking = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    with asking:
        assert asking.stdout is not None
        pid = int(asking.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        asking.kill()
    until = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()


def test_those_of_this_process_are_used_again() -> None:
    with WORKERS.one() as worker:
        first = worker.pid
    with WORKERS.one() as worker:
        assert worker.pid == first
