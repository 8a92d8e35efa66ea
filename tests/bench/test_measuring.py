import threading
import time

import pytest

from bench.measuring import once, timed


def test_every_number_is_called_once_whatever_the_threads() -> None:
    called: list[int] = []
    sample = timed(called.append, range(500), time.process_time, threads=16)
    assert sorted(called) == list(range(500))
    assert sample.count == 500


def test_as_many_call_at_once_as_asked_for() -> None:
    barrier = threading.Barrier(4, timeout=30)
    sample = timed(lambda _: barrier.wait(), range(4), time.process_time, threads=4)
    assert sample.count == 4


def test_no_call_begins_after_the_limit() -> None:
    moment = threading.Event()
    sample = timed(lambda _: moment.wait(0.02), range(1_000), time.process_time, limit=0.05)
    assert 1 <= sample.count <= 4


def test_what_a_call_raises_ends_the_measurement() -> None:
    def refuse(number: int) -> None:
        raise ValueError(number)

    for threads in (1, 2):
        with pytest.raises(ValueError, match=r"^[01]$"):
            timed(refuse, range(2), time.process_time, threads=threads)


def test_wall_cpu_and_median_are_those_of_the_calls() -> None:
    ticks = iter([10.0, 10.5])
    sample = timed(lambda _: None, range(3), lambda: next(ticks))
    assert sample.cpu == 0.5
    assert 0 < sample.median <= sample.wall
    assert sample.rate == 3 / sample.wall


def test_a_process_whose_cpu_cannot_be_told_has_none() -> None:
    assert timed(lambda _: None, range(3), lambda: None).cpu is None


def test_a_load_counts_facts_not_calls() -> None:
    called = []
    sample = once(lambda: called.append(1), 1_000, time.process_time)
    assert called == [1]
    assert sample.count == 1_000
