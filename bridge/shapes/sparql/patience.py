"""How long the queries of one plan may take together.

Rules
-----
* What is judged in the turn of a write holds up all others. So what its queries take is counted, but for `BRIEF` of
  each: many that are quick are what judging costs, a few that are not are somebody's mistake.
* Counted is time on a processor, so that nobody's query is refused because others are busy; of one that was ended, on
  the clock.
* Where nobody waits, there is no end of it.

Example
-------
>>> patience = Patience(5)
>>> patience.spend(0.005)
>>> patience.spend(3.01)
>>> patience.left
2.0
"""

from __future__ import annotations

from math import inf
from typing import Final

BRIEF: Final = 0.01
"""Seconds of a query at a focus that cost no patience."""

IN_TURN: Final = 5.0
"""Seconds that the queries about one plan may take in its turn."""


class Patience:
    """What is left of it.

    Args:
        seconds: how long; without it, as long as it takes.

    Attributes:
        seconds: the same.
        left: seconds that are left; none: not even what is brief is waited for.
    """

    def __init__(self, seconds: float = inf) -> None:
        self.seconds = seconds
        self.left = seconds

    def spend(self, seconds: float) -> None:
        """Takes from it what a query took."""
        self.left -= max(0.0, seconds - BRIEF)


ENDLESS: Final = Patience()
"""Where nobody waits."""
