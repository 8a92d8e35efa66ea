"""What a query may take.

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
