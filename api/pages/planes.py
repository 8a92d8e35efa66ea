"""Facts as rectangles: valid time across, transaction time up, one plane for what is of one kind.

Rules
-----
* A rectangle reaches across from when a fact begins to when it ends, and up from when it was recorded to when it was
  superseded; what is still believed reaches the top. What is believed no longer is hatched.
* All planes share valid time. Each has transaction time of its own, in steps and not to scale: one for each time at
  which something of it was recorded or superseded.
* Each fact has its whole name, and no two rectangles or names lie on one another (`api.pages.apart`).
* Where that would take more than `MOST_STEPS` in all, the kinds with the most facts are drawn small: each fact a thin
  bar, without names. A link leads to them alone.
* A drawing never says what a table beside it does not.

Example
-------
::

    drawing = planes([Plotted(predicate, family, "lives in", drawn, until=None, more="/node/timeline?…"), …], [clock])
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from api.pages.apart import Row, apart, laid
from api.pages.scale import Extent, Mark, Scale, bounds_of
from api.pages.times import at

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from api.pages.apart import Name, Plotted
    from api.pages.drawing import Role
    from kernel.time.instants import Instant

MOST_NAMED: Final = 40
"""Facts that all have names, whatever their times."""

MOST_STEPS: Final = 2 * MOST_NAMED
"""Steps, on all planes, up to which facts have names: each fact makes two at most."""

MOST_KINDS: Final = 24
"""Kinds that are drawn; of others there is a table."""

_STEPS: Final = 3
"""Steps of a plane, unless versions of one assertion take more; where it is drawn small, one."""

_HEADING: Final = 24
_STEP: Final = 22
"""Pixels, with room for a name."""

_SMALL: Final = 5.0
_SMALLEST: Final = 1.5
_ALL_SMALL: Final = 400.0
"""Pixels that a kind that is drawn small should take at most: steps are smaller where there are more."""

_GAP: Final = 6
_TOP: Final = 24
_FOOT: Final = 40


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Where a fact is drawn, from the top of the drawing; it has no name where it is drawn small."""

    name: Name | None
    title: str
    role: Role
    extent: Extent
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class Plane:
    """One plane with its rectangles.

    Args:
        y: where it begins, its heading not counted.
        height: of it.
        steps: where something was recorded or superseded; none where it is small.
    """

    y: float
    height: float
    rectangles: tuple[Rectangle, ...]
    steps: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class KindShown:
    """Planes of one kind, below a heading, which says how many facts these are and when they were recorded.

    Args:
        small: whether its facts have no names.
        more: where they have; None where it is not small, or nowhere.
    """

    heading: str
    y: float
    count: int
    recorded: str
    small: bool
    more: str | None
    planes: tuple[Plane, ...]


@dataclass(frozen=True, slots=True)
class Planes:
    """A drawing."""

    height: int
    bottom: int
    kinds: tuple[KindShown, ...]
    left_out: int
    marks: tuple[Mark, ...]
    lines: tuple[float, ...]

    @property
    def small(self) -> bool:
        """Whether anything is drawn small."""
        return any(kind.small for kind in self.kinds)


def planes(facts: Sequence[Plotted], lines: Sequence[Instant]) -> Planes:
    """The facts on their planes, those of one kind together, in the order in which they are given.

    Args:
        facts: to draw.
        lines: valid times at which a line goes up.
    """
    kinds: dict[Hashable, list[Plotted]] = {}
    for fact in facts:
        kinds.setdefault(fact.kind, []).append(fact)
    shown = [*kinds.values()][:MOST_KINDS]
    scale = Scale.over([*bounds_of(fact.drawn.interval for group in shown for fact in group), *lines])
    y, drawn_kinds = float(_TOP), []
    for group, rows in zip(shown, _named([_rows(group, scale) for group in shown]), strict=True):
        kind = _kind(group, rows, scale, y)
        drawn_kinds.append(kind)
        y = kind.planes[-1].y + kind.planes[-1].height + _GAP
    left_out, bottom = len(facts) - sum(map(len, shown)), round(y)
    return Planes(bottom + _FOOT, bottom, tuple(drawn_kinds), left_out, scale.marks, tuple(map(scale.place, lines)))


def _rows(group: Sequence[Plotted], scale: Scale) -> list[Row] | None:
    """The facts of one kind, with their names; None: they take too much room."""
    facts = [laid(fact, scale.extent(fact.drawn.interval), named=True) for fact in group]
    return apart(facts, most=_STEPS, rows=MOST_STEPS)


def _small_rows(group: Sequence[Plotted], scale: Scale) -> list[Row]:
    """The same without names."""
    return apart([laid(fact, scale.extent(fact.drawn.interval), named=False) for fact in group], most=1) or []


def _named(groups: list[list[Row] | None]) -> list[list[Row] | None]:
    """The groups that have steps enough for names; None in the place of others, the largest first."""
    kept = [*groups]
    steps = [sum(len(row.steps) for row in group or ()) for group in groups]
    for number in sorted(range(len(groups)), key=lambda each: -steps[each]):
        if sum(each for each, group in zip(steps, kept, strict=True) if group is not None) <= MOST_STEPS:
            break
        kept[number] = None
    return kept


def _kind(group: Sequence[Plotted], named: list[Row] | None, scale: Scale, y: float) -> KindShown:
    small = named is None
    rows = _small_rows(group, scale) if named is None else named
    step = _small_step(rows) if small else float(_STEP)
    found, below = [], y + _HEADING
    for row in rows:
        plane = _plane(row, below, step, small=small)
        found.append(plane)
        below += plane.height + (1 if small else _GAP)
    more = group[0].more if small else None
    return KindShown(group[0].heading, y, len(group), _recorded(group), small, more, tuple(found))


def _small_step(rows: Sequence[Row]) -> float:
    return min(max(_ALL_SMALL / sum(len(row.steps) for row in rows), _SMALLEST), _SMALL)


def _recorded(group: Sequence[Plotted]) -> str:
    instants = [fact.drawn.believed_from for fact in group]
    first, last = (at(each).text.partition(",")[0] for each in (min(instants), max(instants)))
    return f"recorded {first}" if first == last else f"recorded {first} to {last}"


def _plane(row: Row, y: float, step: float, *, small: bool) -> Plane:
    steps = row.steps
    height = len(steps) * step

    def y_of(instant: Instant | None) -> float:
        return round(y + height - (len(steps) if instant is None else bisect_left(steps, instant)) * step, 2)

    rectangles = []
    for each in row.facts:
        drawn = each.fact.drawn
        top, bottom = y_of(each.fact.until), y_of(drawn.believed_from)
        rectangles.append(Rectangle(each.name, drawn.sentence, drawn.role, each.extent, top, round(bottom - top, 2)))
    lines = () if small else tuple(map(y_of, steps[1:]))
    return Plane(y, height, tuple(rectangles), lines)
