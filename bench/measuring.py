"""How a contestant is measured: so many calls from so many threads, each timed, within a limit of time.

Rules
-----
* Wall time is that of all the calls together and of each alone; CPU time is what the contestant says of its process.
* A call is answered before its thread makes the next (a closed loop).
* No call begins after the limit; the sample says how many were made.

Example
-------
>>> import time
>>> sample = timed(lambda number: None, range(5), time.process_time)
>>> sample.count
5
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Sample:
    """What one measurement came to.

    Args:
        count: calls made, or facts loaded or exported.
        wall: seconds for all of them.
        cpu: CPU seconds of the contestant's process, all threads, for all of them; None where it cannot be told.
        median: the median of the single calls, in seconds.
        peak: the most memory that the process had so far, in MB; None where that is not asked for.
    """

    count: int
    wall: float
    cpu: float | None
    median: float
    peak: float | None = None

    @property
    def rate(self) -> float:
        """Calls, or facts, a second."""
        return self.count / self.wall


class _Numbers:
    """Hands out numbers to threads, until there are none or it is too late."""

    def __init__(self, numbers: Sequence[int], limit: float) -> None:
        self._numbers = iter(numbers)
        self._lock = Lock()
        self._until = time.perf_counter() + limit

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        with self._lock:
            if time.perf_counter() > self._until:
                raise StopIteration
            return next(self._numbers)


def timed(
    call: Callable[[int], object],
    numbers: Sequence[int],
    cpu: Callable[[], float | None],
    *,
    threads: int = 1,
    limit: float = 60.0,
) -> Sample:
    """Makes one call a number.

    Args:
        call: what is measured; what it raises ends the measurement.
        numbers: its arguments, handed out in order.
        cpu: the CPU seconds of the process measured, so far.
        threads: how many call at once.
        limit: seconds after which no call begins.

    A call that raises ends its thread, and in the end the measurement.
    """
    each: list[float] = []
    left = _Numbers(numbers, limit)

    def work() -> None:
        for number in left:
            began = time.perf_counter()
            call(number)
            each.append(time.perf_counter() - began)

    cpu_before, began = cpu(), time.perf_counter()
    _in_threads(work, threads)
    wall, cpu_after = time.perf_counter() - began, cpu()
    spent = None if cpu_before is None or cpu_after is None else cpu_after - cpu_before
    return Sample(len(each), wall, spent, sorted(each)[len(each) // 2])


def cpu_of(process: int) -> float:
    """CPU seconds of a process so far, all threads, without its children."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def once(call: Callable[[], object], count: int, cpu: Callable[[], float | None]) -> Sample:
    """Times one call that loads or exports so many facts."""
    whole = timed(lambda _: call(), range(1), cpu)
    return Sample(count, whole.wall, whole.cpu, whole.median)


def _in_threads(work: Callable[[], None], threads: int) -> None:
    if threads == 1:
        work()
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work) for _ in range(threads)]:
            done.result()
