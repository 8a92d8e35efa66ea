"""What is aimed at, and whether it is met. Nothing fails on it: machines differ, and so does the hour.

Example
-------
>>> [aim.text for aim in AIMS][0]
'CPU of a write that no shape targets, in process: at most 1.5 ms'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench.contestants import FLUREE, HTTP, OURS, RAW, WRITERS, Measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.results import Results

SMALL: Final = 10_000
LARGE: Final = 100_000
MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Aim:
    """An aim.

    Args:
        text: in the report.
        value: what was measured at a size; None where it was not.
        bound: what it is held against.
        at_most: whether the value is to be at most the bound, rather than at least.
        unit: of the value.
    """

    text: str
    value: Callable[[Results, int], float | None]
    bound: float
    at_most: bool
    unit: str

    def met(self, value: float) -> bool:
        """Whether a value meets it."""
        return value <= self.bound if self.at_most else value >= self.bound


def _cpu_ms(name: str, measure: Measure = Measure.SINGLE) -> Callable[[Results, int], float | None]:
    def value(results: Results, size: int) -> float | None:
        figures = results.figures((size, name, measure))
        return None if figures is None or figures.cpu is None else figures.cpu * 1e3

    return value


def against(peer: str, measure: Measure) -> Callable[[Results, int], float | None]:
    """How many times a peer's rate is ours."""
    return lambda results, size: results.ratio((size, OURS, measure), (size, peer, measure))


def _shared_sync(name: str) -> Callable[[Results, int], float | None]:
    return lambda results, size: results.ratio((size, name, Measure.MANY), (size, name, Measure.SINGLE))


def growth(measure: Measure) -> Callable[[Results, int], float | None]:
    """How many times the CPU of ours at the small size is that at the large one."""

    def value(results: Results, size: int) -> float | None:
        large = size == LARGE
        return results.cpu_ratio((LARGE, OURS, measure), (SMALL, OURS, measure)) if large else None

    return value


def _wall(measure: Measure, unit: float, *, of_all: bool = False) -> Callable[[Results, int], float | None]:
    """Wall time of a call, or of a whole graph; of the largest size that the aim is for."""

    def value(results: Results, size: int) -> float | None:
        figures = results.figures((size, OURS, measure))
        if figures is None or (of_all and size != MILLION):
            return None
        return figures.wall * unit * (size if of_all else 1)

    return value


def _peak(results: Results, size: int) -> float | None:
    figures = results.figures((size, OURS, Measure.VALIDATION))
    return None if figures is None or size != MILLION else figures.peak


def _to_small(measure: Measure) -> Callable[[Results, int], float | None]:
    def value(results: Results, size: int) -> float | None:
        large, small = (results.figures((each, OURS, measure)) for each in (size, SMALL))
        return None if large is None or small is None or size == SMALL else large.wall / small.wall

    return value


def _to_leaf(results: Results, size: int) -> float | None:
    hub, leaf = (results.figures((size, OURS, measure)) for measure in (Measure.HUB, Measure.LEAF))
    return None if hub is None or leaf is None else hub.wall / leaf.wall


VALIDATION_AIMS: Final = (
    Aim("one fact judged: at most 100 µs, the median", _wall(Measure.FACT, 1e6), 100, True, " µs"),
    Aim("the same: at most 1.25 times what it takes at 10 k", _to_small(Measure.FACT), 1.25, True, " x"),
    Aim("the same: at least 15 times pySHACL on what is around it", against("pyshacl", Measure.FACT), 15, False, " x"),
    Aim("a pointer at a hub: at most 1.25 times what it takes at 10 k", _to_small(Measure.HUB), 1.25, True, " x"),
    Aim("the same: at most 1.25 times one at a node that nothing points at", _to_leaf, 1.25, True, " x"),
    Aim("1 M triples validated: at most 15 s", _wall(Measure.VALIDATION, 1, of_all=True), 15, True, " s"),
    Aim("a graph validated: at least 7 times pySHACL", against("pyshacl", Measure.VALIDATION), 7, False, " x"),
    Aim("1 M triples validated: at most 700 MB", _peak, 700, True, " MB"),
)

AIMS: Final = (
    Aim("CPU of a write that no shape targets, in process: at most 1.5 ms", _cpu_ms(OURS), 1.5, True, " ms"),
    Aim("CPU of a write that no shape targets, over HTTP: at most 2.5 ms", _cpu_ms(HTTP), 2.5, True, " ms"),
    Aim("such writes, in process: at least 2 times fluree", against(FLUREE, Measure.SINGLE), 2.0, False, " x"),
    Aim(
        "CPU of a write that a shape targets, in process: at most 2 ms", _cpu_ms(OURS, Measure.SHAPED), 2.0, True, " ms"
    ),
    Aim("such writes, in process: at least 2.5 times fluree", against(FLUREE, Measure.SHAPED), 2.5, False, " x"),
    Aim(f"{WRITERS} writers, in process: at least 2.5 times one", _shared_sync(OURS), 2.5, False, " x"),
    Aim(f"{WRITERS} writers, over HTTP: at least 2.5 times one", _shared_sync(HTTP), 2.5, False, " x"),
    Aim("bulk: at least 0.35 of bulk_extend of the same quads", against(RAW, Measure.BULK), 0.35, False, " x"),
    Aim("CPU of such a write at 100 k facts: at most 1.25 times 10 k", growth(Measure.SINGLE), 1.25, True, " x"),
    Aim("CPU of a look-up at 100 k facts: at most 1.25 times 10 k", growth(Measure.LOOK_UP), 1.25, True, " x"),
)
