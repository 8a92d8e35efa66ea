"""Stepping back: a job that would hold up the others in its turn gives it up, and comes again once that was done aside.

Rules (OneSequencer)
-----
* Whatever runs in a turn may raise `StepBack`. What it was planned by is thrown away, and nothing of it was kept: it is
  planned anew in its next turn. If it had written by then, its group is planned again without it.
* What there is to prepare is done on a thread of its own, for one job at a time, until that job had its turn: two that
  would have prepared for the same state would otherwise have come too late each for the other.
* A job that has stepped back `STEPS` times, or steps back while the base is closing, insists: in its turn it does what
  is left to do, however long the others wait.

Example
-------
::

    raise StepBack(prepare=lambda: answers.take(), insisting=answers.insisting)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

STEPS: Final = 5
"""How often a job steps back at most."""


class StepBack(Exception):
    """Raised in a turn that would take long.

    Args:
        prepare: what to do aside, in another thread.
        insisting: within it, the same turn does not step back.
    """

    def __init__(self, prepare: Callable[[], None], insisting: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__("something is to be prepared first")
        self.prepare = prepare
        self.insisting = insisting
