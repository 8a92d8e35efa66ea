"""What a query may take, and how many are answered at a time.

Example
-------
>>> Limits(seconds=10).memory // 2**20
1024
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one query.

    Args:
        seconds: that a worker spends on it, from when it takes it up; `inf` for no limit.
        memory: bytes of memory that it takes beyond what the replica has.
        result: bytes of its answer.
    """

    seconds: float = 30.0
    memory: int = 1024 * 2**20
    result: int = 256 * 2**20


NO_HURRY = Limits(seconds=inf)
"""For who waits at a terminal, and can end the wait."""

NO_LIMITS = Limits(seconds=inf, memory=2**50, result=2**50)
"""More of each than any host has."""


@dataclass(frozen=True, slots=True)
class PoolSize:
    """How much is answered at a time.

    Args:
        workers: queries that run at the same time.
        spares: workers beyond them, started before they are needed.
        queue: queries that may wait.
        patience: seconds that they may.
    """

    workers: int = 4
    spares: int = 1
    queue: int = 256
    patience: float = 10.0


STANDARD = PoolSize()
