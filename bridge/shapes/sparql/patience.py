"""How long queries may take where others wait.

Rules
-----
* What is judged in the turn of a write holds up all others. So what its queries take is counted, but for `BRIEF` of
  each: many that are quick are what judging costs, a few that are not are somebody's mistake. A plan has a `Patience`.
* Somebody may send one such plan after another. So a constraint has a `Credit`: what its queries take in turns comes to
  `Credit.MOST` at once and a twelfth of the time in the long run. Without any left a query still has `LEAST`, which is
  plenty where nothing is wrong: what is slow at one node costs no other node its answer.
* Counted is time on a processor, so that nobody's query is refused because others are busy; of one that was ended, on
  the clock.

Example
-------
>>> patience = Patience(5)
>>> patience.spend(0.005)
>>> patience.spend(3.01)
>>> patience.left
2.0
>>> credit = Credit(now=0)
>>> credit.spend(4.01)
>>> credit.left(now=0), credit.left(now=12), credit.left(now=100)
(1.0, 2.0, 5.0)
"""

from __future__ import annotations

from math import inf
from typing import ClassVar, Final

BRIEF: Final = 0.01
"""Seconds of a query at a focus that are not counted."""

LEAST: Final = 0.5
"""Seconds that a query has at a focus however much others have taken."""

IN_TURN: Final = 5.0
"""Seconds that the queries about one plan may take in its turn."""


class Patience:
    """What is left of it, of whoever waits for one plan.

    Args:
        seconds: how long; without it, as long as it takes.

    Attributes:
        seconds: the same.
        left: seconds that are left; none: not even what is brief is waited for.
    """

    def __init__(self, seconds: float = inf) -> None:
        self.seconds = seconds
        self.left = seconds

    @property
    def is_endless(self) -> bool:
        """Whether nobody waits."""
        return self.seconds == inf

    def spend(self, seconds: float) -> None:
        """Takes from it what a query took."""
        self.left -= max(0.0, seconds - BRIEF)


ENDLESS: Final = Patience()
"""Where nobody waits."""


class Credit:
    """What the queries of one constraint may yet take in turns of writes.

    Args:
        now: seconds on some clock that only goes on, as everywhere here.
    """

    MOST: ClassVar[float] = 5.0
    REGAINED: ClassVar[float] = 1 / 12
    """Of each second that goes by."""

    def __init__(self, now: float) -> None:
        self._left = self.MOST
        self._at = now

    def left(self, now: float) -> float:
        """Seconds; none or less: no more than what is always there."""
        self._left = min(self.MOST, self._left + (now - self._at) * self.REGAINED)
        self._at = now
        return self._left

    def spend(self, seconds: float) -> None:
        """Takes from it what a query took."""
        self._left -= max(0.0, seconds - BRIEF)
