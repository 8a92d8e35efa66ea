"""What is asked of whoever evaluates the WHERE of an operation, and what is answered.

Rules
-----
* A WHERE is evaluated at one state, and over what the operations before it came to: what they deleted is not there, and
  what they inserted is.
* It is a query, and takes what a query takes. So it is asked of somebody who can be stopped: of a worker
  (`bridge.replicas.solving`), never in the threads that read and write.

Example
-------
::

    solved = solver.solve(Asked("SELECT * { ?s ?p ?o }", dataset, now, 41, clock))
    for row in solved.rows: ...
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kernel.errors import StateMoved

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyoxigraph as ox

    from bridge.sparql.dataset import Dataset
    from kernel.time.instants import Instant


@dataclass(frozen=True, slots=True)
class Laid:
    """What is laid over a store: what it is to be without, and what it is to have besides, in N-Quads."""

    removed: str = ""
    added: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A WHERE.

    Args:
        text: as a query of all its variables.
        dataset: what its caller may read.
        now: what NOW() stands for.
        head: the head that it is to be answered for.
        clock: up to where the stores have to stand in valid time.
        laid: what the operations before it came to; None while that is nothing.
    """

    text: str
    dataset: Dataset
    now: Instant
    head: int | None
    clock: Instant
    laid: Laid | None = None

    def require_at(self, head: int | None, clock: Instant) -> None:
        """Raises `StateMoved` unless this is the state that it is asked for."""
        if (head, clock) != (self.head, self.clock):
            raise moved()


@dataclass(frozen=True, slots=True)
class Solved:
    """The solutions: their variables, and row by row the terms, as a store has them. They are read once."""

    variables: tuple[str, ...]
    rows: Iterator[ox.QuerySolution]


class Solver(Protocol):
    """Evaluates a WHERE."""

    def solve(self, asked: Asked) -> Solved:
        """The solutions.

        Raises:
            QueryRefused: it cannot be parsed or evaluated.
            QueryLimit: it takes more than it may; so may reading the rows.
            StateMoved: the stores stand elsewhere than is asked.
            StoreUnavailable: a store cannot be read.
        """
        ...


def moved() -> StateMoved:
    """What to raise where the base is no longer what an update was evaluated for."""
    return StateMoved("the base moved on while the update was evaluated", remedy="send the update again")
