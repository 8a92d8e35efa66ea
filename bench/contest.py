"""The contest: everyone comes up at every size, then round after round does what is asked, in turn.

Rules
-----
* All are up at once, and only one of them works.
* Everyone warms up: what is imported, compiled or cached at first is in nobody's figures.
* Whoever drops out is out at every size; the others go on. What it did before that stays in the results.

Example
-------
::

    with Contest(entries, sizes, effort, directory, say) as contest:
        contest.run()
    contest.results
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Self

from bench.contestants import WARM_UP, Measure
from bench.entrant import Entrant
from bench.environments import Unavailable
from bench.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.contestants import Effort, Entry
    from bench.workload import Kind


class Contest:
    """A contest.

    Args:
        entries: who takes part; ours first.
        sizes: facts in the stores.
        effort: how much is done.
        directory: for the stores; empty.
        say: told what is going on.
        results: of other contests, to which these are added.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        sizes: Sequence[int],
        effort: Effort,
        directory: Path,
        say: Callable[[str], None],
        results: Results | None = None,
    ) -> None:
        self.results = Results() if results is None else results
        self._entries = entries
        self._sizes = sizes
        self._effort = effort
        self._directory = directory
        self._say = say
        self._measures = [measure for measure in Measure if any(measure in entry.measures for entry in entries)]
        self._entrants: dict[tuple[int, str], Entrant] = {}
        self._next: defaultdict[tuple[int, Kind], int] = defaultdict(int)

    def run(self) -> None:
        """Opens all stores, then asks for everything: a little of it first, which does not count.

        Whole graphs are validated before that, while the memory of whoever does it holds nothing else.
        """
        for entry, size in product(self._entries, self._sizes):
            self._open(entry, size)
        whole = [measure for measure in self._measures if measure is Measure.VALIDATION]
        others = [measure for measure in self._measures if measure is not Measure.VALIDATION]
        self._ask_by_rounds(whole)
        for size, measure in product(self._sizes, others):
            if measure is not Measure.BULK:
                self._say(f"warming up: {size:,} facts, {measure.value}")
                self._ask_all(size, measure, WARM_UP, None)
        self._ask_by_rounds(others)

    def _ask_by_rounds(self, measures: Sequence[Measure]) -> None:
        for number in range(self._effort.rounds):
            for size, measure in product(self._sizes, measures):
                if not measure.of_facts or (measure is Measure.BULK) <= number < self._effort.loads:
                    self._say(f"round {number + 1} of {self._effort.rounds}: {size:,} facts, {measure.value}")
                    self._ask_all(size, measure, self._effort, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for entrant in self._entrants.values():
            entrant.stop()

    def _open(self, entry: Entry, size: int) -> None:
        if entry.name in self.results.failures:
            return
        self._say(f"{entry.title}: {entry.held(size):,} facts")
        exchange = self._directory / f"exchange-{size}"
        exchange.mkdir(exist_ok=True)
        arguments = [str(entry.held(size)), *([str(exchange)] if entry.exchanges else []), *entry.arguments]
        try:
            entrant = Entrant.start(
                entry.command(), self._directory / f"{entry.name}-{size}", arguments, dict(entry.env)
            )
        except Unavailable as error:
            self.results.fail(entry.name, str(error))
            return
        self._entrants[size, entry.name] = entrant
        if entrant.opened is not None and Measure.BULK in entry.measures:
            self.results.add(size, entry.name, Measure.BULK, 0, entrant.opened)

    def _ask_all(self, size: int, measure: Measure, effort: Effort, number: int | None) -> None:
        """Asks everyone in turn, and keeps the samples of the round, if it is one."""
        asked = effort.ask(measure, size, self._next[size, measure.kind], number or 0)
        if measure.writes:
            self._next[size, measure.kind] += asked.count
        for entry in self._entries:
            if measure in entry.measures and entry.name not in self.results.failures:
                try:
                    sample = self._entrants[size, entry.name].ask(asked)
                except Unavailable as error:
                    self.results.fail(entry.name, f"{measure.value}, {size:,} facts: {error}")
                else:
                    if number is not None:
                        self.results.add(size, entry.name, measure, number, sample)
