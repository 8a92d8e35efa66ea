"""Facts as rectangles: valid time across, transaction time up, one plane for what is of one kind.

Rules
-----
* A rectangle reaches across from when a fact begins to when it ends, and up from when it was recorded to when it was
  superseded; what is still believed reaches the top. What is believed no longer is hatched.
* All planes share valid time. Each has transaction time of its own, in steps and not to scale: one for each time at
  which something of it was recorded or superseded.
* On one plane no two rectangles lie on one another, so each can be told by its name: facts that would, lie on planes
  one below the other. Where that would take more than `MOST_PLANES`, the kinds with the most facts are drawn dense:
  all on one plane, without names, stronger where there are more. A link leads to them alone.
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

from api.pages.drawing import Role
from api.pages.scale import Extent, Mark, Scale, bounds_of
from api.pages.times import at

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from api.pages.drawing import Drawn
    from kernel.instants import Instant

MOST_PLANES: Final = 40
"""Planes on which each fact has a name."""

MOST_KINDS: Final = 24
"""Kinds that are drawn; of others there is a table."""

_HEADING: Final = 22
_LEVEL: Final = 24
_LEAST_LEVEL: Final = 9
_PLANE: Final = 96
"""Pixels beyond which the steps of a plane come closer together instead."""

_DENSE: Final = 110
_GAP: Final = 6
_DARKEST: Final = 6.0
_TOP: Final = 24
_FOOT: Final = 40
_LABEL: Final = 17
"""Pixels that a name takes upwards."""

_LEAST_WIDTH: Final = 5.0
"""Percent of the drawing below which a name would be a letter or two, also where the drawing is wide."""


@dataclass(frozen=True, slots=True)
class Plotted:
    """A fact to draw.

    Args:
        kind: facts of one kind lie together.
        family: versions of one assertion, which lie above each other.
        heading: what the kind is called.
        drawn: its label, role, valid time, and when it was recorded.
        until: when it was superseded; None while it is believed.
        more: where facts of this kind are shown alone; None where they are.
    """

    kind: Hashable
    family: Hashable
    heading: str
    drawn: Drawn
    until: Instant | None
    more: str | None = None


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Where a fact is drawn, from the top of the drawing; `label` is empty where a name has no room."""

    label: str
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
        steps: where something was recorded or superseded.
        dense: whether rectangles lie on one another.
        shade: of each of them, from 0 to 1, where it is dense: the more there are, the lighter each.
    """

    y: int
    height: int
    rectangles: tuple[Rectangle, ...]
    steps: tuple[float, ...]
    dense: bool
    shade: float


@dataclass(frozen=True, slots=True)
class KindShown:
    """Planes of one kind, below a heading, which says how many facts these are and when they were recorded."""

    heading: str
    y: int
    count: int
    recorded: str
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
    y, drawn_kinds = _TOP, []
    for group, apart in zip(shown, _named([_apart(group) for group in shown]), strict=True):
        kind = _kind(group, apart, scale, y)
        drawn_kinds.append(kind)
        y = kind.planes[-1].y + kind.planes[-1].height + _GAP
    left_out = len(facts) - sum(map(len, shown))
    return Planes(y + _FOOT, y, tuple(drawn_kinds), left_out, scale.marks, tuple(map(scale.place, lines)))


def _apart(group: Sequence[Plotted]) -> list[list[Plotted]]:
    """The facts such that none in one list would lie on another; each family in the first where all of it can."""
    families: dict[Hashable, list[Plotted]] = {}
    for fact in group:
        families.setdefault(fact.family, []).append(fact)
    apart: list[list[Plotted]] = []
    for family in families.values():
        for facts in [family] if not _lie_on_another(family) else [[fact] for fact in family]:
            place = next(
                (each for each in apart if not any(_collide(one, other) for one in facts for other in each)), None
            )
            if place is None:
                apart.append(facts)
            else:
                place += facts
    return apart


def _lie_on_another(family: Sequence[Plotted]) -> bool:
    return any(_collide(one, other) for number, one in enumerate(family) for other in family[:number])


def _collide(one: Plotted, other: Plotted) -> bool:
    """Whether two facts were believed at one time to be true at one time."""
    believed = (one.until is None or other.drawn.believed_from < one.until) and (
        other.until is None or one.drawn.believed_from < other.until
    )
    return believed and one.drawn.interval.intersect(other.drawn.interval) is not None


def _named(groups: list[list[list[Plotted]]]) -> list[list[list[Plotted]] | None]:
    """The groups that have planes enough for names; None in the place of others, the largest first."""
    kept: list[list[list[Plotted]] | None] = [*groups]
    for number in sorted(range(len(groups)), key=lambda each: -len(groups[each])):
        if sum(len(each or [0]) for each in kept) <= MOST_PLANES:
            break
        kept[number] = None
    return kept


def _kind(group: Sequence[Plotted], apart: list[list[Plotted]] | None, scale: Scale, y: int) -> KindShown:
    instants = sorted({fact.drawn.believed_from for fact in group})
    first, last = (at(each).text.partition(",")[0] for each in (instants[0], instants[-1]))
    recorded = f"recorded {first}" if first == last else f"recorded {first} to {last}"
    found, below = [], y + _HEADING
    for facts in [group] if apart is None else apart:
        plane = _plane(facts, scale, below, dense=apart is None)
        found.append(plane)
        below += plane.height + _GAP
    more = group[0].more if apart is None else None
    return KindShown(group[0].heading, y, len(group), recorded, more, tuple(found))


def _plane(facts: Sequence[Plotted], scale: Scale, y: int, *, dense: bool) -> Plane:
    steps = sorted(
        {fact.drawn.believed_from for fact in facts} | {fact.until for fact in facts if fact.until is not None}
    )
    ends = steps if any(fact.until is None for fact in facts) else steps[:-1]
    levels = max(len(ends), 1)
    height = _DENSE if dense else max(min(levels * _LEVEL, _PLANE), levels * _LEAST_LEVEL)
    level = height / levels

    def y_of(instant: Instant | None) -> float:
        return y + height - (levels if instant is None else bisect_left(steps, instant)) * level

    rectangles = []
    for fact in facts:
        top, bottom = y_of(fact.until), y_of(fact.drawn.believed_from)
        extent = scale.extent(fact.drawn.interval)
        named = not dense and bottom - top >= _LABEL and extent.seen_width >= _LEAST_WIDTH
        label = fact.drawn.label if named else ""
        rectangles.append(
            Rectangle(label, fact.drawn.sentence, fact.drawn.role, extent, round(top, 2), round(bottom - top, 2))
        )
    lines = () if dense else tuple(round(y_of(each), 2) for each in ends[1:])
    return Plane(y, height, tuple(rectangles), lines, dense, round(max(min(_DARKEST / len(facts), 0.4), 0.015), 3))
