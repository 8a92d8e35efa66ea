"""What the samples come to: medians over the rounds, and ratios of two contestants, round by round.

Rules
-----
* A figure is the median over the rounds. A ratio is the median of the ratios of each round, so that what slowed a
  machine in one round is in both of its sides.
* Where there is no sample there is no figure, and no ratio.

Example
-------
>>> results = Results()
>>> results.add(10_000, "ours", Measure.SINGLE, 0, Sample(100, wall=0.2, cpu=0.1, median=0.002))
>>> results.add(10_000, "fluree", Measure.SINGLE, 0, Sample(100, wall=0.5, cpu=0.4, median=0.005))
>>> results.ratio((10_000, "ours", Measure.SINGLE), (10_000, "fluree", Measure.SINGLE))
2.5
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from bench.contestants import Measure
from bench.measuring import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

Cell = tuple[int, str, Measure]
"""Facts, contestant, measure."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Medians over the rounds.

    Args:
        rate: calls or facts a second.
        wall: of a call, in seconds; for a load or export, of a fact.
        cpu: of a call, in seconds; for a load or export, of a fact. None where it cannot be told.
        peak: the most memory, in MB; None where that was not asked for.
    """

    rate: float
    wall: float
    cpu: float | None
    peak: float | None


class Results:
    """Samples, by cell and round."""

    def __init__(self) -> None:
        self._samples: defaultdict[Cell, dict[int, Sample]] = defaultdict(dict)
        self.failures: dict[str, str] = {}

    def add(self, size: int, name: str, measure: Measure, number: int, sample: Sample) -> None:
        """Keeps a sample of a round."""
        self._samples[size, name, measure][number] = sample

    def fail(self, name: str, reason: str) -> None:
        """Keeps why a contestant is out."""
        self.failures.setdefault(name, reason)

    def figures(self, cell: Cell) -> Figures | None:
        """The medians of a cell."""
        samples = list(self._samples.get(cell, {}).values())
        if not samples:
            return None
        cpu = [sample.cpu / sample.count for sample in samples if sample.cpu is not None]
        wall = [sample.wall / sample.count if cell[2].of_facts else sample.median for sample in samples]
        peaks = [sample.peak for sample in samples if sample.peak is not None]
        rate = median(sample.rate for sample in samples)
        return Figures(rate, median(wall), median(cpu) if cpu else None, max(peaks, default=None))

    def ratio(self, over: Cell, under: Cell) -> float | None:
        """How often as fast the one is as the other."""
        return self._paired(over, under, lambda a, b: a.rate / b.rate)

    def cpu_ratio(self, over: Cell, under: Cell) -> float | None:
        """How often the CPU of the other the one takes for a call."""
        return self._paired(over, under, lambda a, b: _cpu(a) / _cpu(b))

    def _paired(self, over: Cell, under: Cell, ratio: Callable[[Sample, Sample], float]) -> float | None:
        ours, theirs = self._samples.get(over, {}), self._samples.get(under, {})
        ratios = [ratio(ours[number], theirs[number]) for number in ours if number in theirs]
        return median(ratios) if ratios else None


def _cpu(sample: Sample) -> float:
    """Seconds of CPU a call; of wall time where the system does not tell CPU time."""
    return (sample.wall if sample.cpu is None else sample.cpu) / sample.count
