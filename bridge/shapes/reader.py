"""Reading the facts around a change, each once and within a budget.

Rules
-----
* Every fact read counts against a `Budget`; when it is spent, `NeighbourhoodExceeded` is raised. So does judging.
* What was read whole is kept; what is only begun with, of very much, is not.

Example
-------
::

    reader = Reader(overlay, Budget(10_000))
    reader.read(predicate=Iri("urn:knows"))      # every fact of it, before and after the change
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from bridge.shapes.sparql.patience import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.shapes.overlay import Overlay, Seen
    from bridge.shapes.sparql.patience import Patience
    from kernel.terms import Iri, Term
    from kernel.time.intervals import Interval


class NeighbourhoodExceeded(Exception):
    """More would have to be read, or judged, than is allowed."""


class Budget:
    """How much may still be read or judged.

    Args:
        amount: without one, as much as there is.
        patience: of whoever waits; without it, there is no end of it.

    Attributes:
        left: how much is left of it.
        patience: the same.
    """

    def __init__(self, amount: float = inf, patience: Patience = ENDLESS) -> None:
        self.left = amount
        self.patience = patience

    def spend(self, amount: int = 1) -> None:
        """Takes from it. Raises `NeighbourhoodExceeded` when it is spent."""
        self.left -= amount
        if self.left < 0:
            raise NeighbourhoodExceeded

    @contextmanager
    def at_most(self, amount: float) -> Iterator[None]:
        """Within it no more than so much of it can be spent; what is spent counts."""
        before, allowed = self.left, min(self.left, amount)
        self.left = allowed
        try:
            yield
        finally:
            self.left = before - (allowed - max(self.left, 0))


class Reader:
    """Reads the facts of an overlay once each, within a budget.

    Attributes:
        overlay: the facts.
        budget: how much may be read.
        always: of what was asked for, whether some of it is known to hold throughout an interval, before and after.
    """

    def __init__(self, overlay: Overlay, budget: Budget) -> None:
        self.overlay = overlay
        self.budget = budget
        self._read: dict[tuple[Iri | None, Iri | None, Term | None], list[Seen]] = {}
        self.always: dict[tuple[Iri | None, Iri, Term | None, Interval], bool] = {}

    def read(
        self,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the term's name in RDF
    ) -> list[Seen]:
        """The facts that match."""
        key = (subject, predicate, object)
        found = self._read.get(key)
        if found is None:
            most = self.budget.left
            matching = self.overlay.match(subject, predicate, object)
            found = list(matching if most == inf else islice(matching, int(most) + 1))
            self.budget.spend(len(found))
            self._read[key] = found
        return found

    def some(self, subject: Iri | None, predicate: Iri | None, value: Term | None, most: int) -> list[Seen]:
        """The facts that match, so many at most; where there are no more, `read` has them from then on."""
        key = (subject, predicate, value)
        found = self._read.get(key)
        if found is None:
            found = list(islice(self.overlay.match(subject, predicate, value), most + 1))
            self.budget.spend(len(found))
            if len(found) <= most:
                self._read[key] = found
        return found[:most]

    def stream(
        self, subject: Iri | None, predicate: Iri | None, value: Term | None, *, coming_first: bool = False
    ) -> Iterator[Seen]:
        """The facts that match, as far as they are asked for."""
        for seen in self.overlay.match(subject, predicate, value, coming_first=coming_first):
            self.budget.spend()
            yield seen
