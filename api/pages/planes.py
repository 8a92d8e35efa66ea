"""Facts as rectangles: valid time across, transaction time up, one plane for what is of one kind.

Rules
-----
* A rectangle reaches across from when a fact begins to when it ends, and up from when it was recorded to when it was
  superseded; what is still believed reaches the top. What is believed no longer is hatched.
* All planes share valid time. Each has transaction time of its own, in steps and not to scale: one for each time at
  which something of it was recorded or superseded.
* Each fact has its whole name, also on a screen of 360 pixels: within its rectangle where that is wide enough there,
  else beside it. Only a name that would take half of such a screen is cut.
* On one plane no two rectangles or names lie on one another: facts that would, lie on planes one below the other; so do
  those that would give a plane more than `_STEPS` steps. Versions of one assertion lie on one plane, if they can.
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
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from unicodedata import east_asian_width

from api.pages.drawing import Role
from api.pages.scale import Extent, Mark, Scale, bounds_of
from api.pages.times import at

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from api.pages.drawing import Drawn
    from kernel.instants import Instant

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

_NARROW: Final = 328.0
"""Pixels that a drawing is wide where the screen has 360."""

_LETTER: Final = 7.8
_MARGIN: Final = 14.0
_ARROW: Final = 8.0
"""Pixels that the letter of a name takes, the space around it, and an arrow where a fact has no bound."""

_MOST_NAME: Final = 44.0
"""Percent of the drawing that a name takes at most, but for one that is in a rectangle."""

_TOUCH: Final = 0.05
"""Percent by which neighbours may lie on another: places are rounded."""


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


class Side(StrEnum):
    """Where a name stands beside its rectangle, or in it."""

    BEFORE = "before"
    WITHIN = "within"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Name:
    """Where the name of a fact stands, in percent.

    Args:
        side: of its rectangle.
    """

    text: str
    left: float
    width: float
    side: Side


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


@dataclass(frozen=True, slots=True)
class _Laid:
    """A fact, where it lies, and its name."""

    fact: Plotted
    extent: Extent
    name: Name | None

    @property
    def reach(self) -> tuple[float, float]:
        """From where to where it takes room."""
        extent, name = self.extent, self.name
        left, right = extent.left, extent.left + extent.width
        return (left, right) if name is None else (min(left, name.left), max(right, name.left + name.width))


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
    for group, apart in zip(shown, _named([_apart(group, scale, _name) for group in shown]), strict=True):
        kind = _kind(group, apart, scale, y)
        drawn_kinds.append(kind)
        y = kind.planes[-1].y + kind.planes[-1].height + _GAP
    left_out, bottom = len(facts) - sum(map(len, shown)), round(y)
    return Planes(bottom + _FOOT, bottom, tuple(drawn_kinds), left_out, scale.marks, tuple(map(scale.place, lines)))


def _apart(group: Sequence[Plotted], scale: Scale, name: Callable[[str, Extent], Name | None]) -> list[list[_Laid]]:
    """The facts such that none in one list would lie on another; each family in the first where all of it can."""
    families: dict[Hashable, list[_Laid]] = {}
    for fact in group:
        extent = scale.extent(fact.drawn.interval)
        families.setdefault(fact.family, []).append(_Laid(fact, extent, name(fact.drawn.label, extent)))
    apart: list[list[_Laid]] = []
    for family in families.values():
        for laid in [family] if not _lie_on_another(family) else [[each] for each in family]:
            place = next((each for each in apart if _has_room(each, laid)), None)
            if place is None:
                apart.append(laid)
            else:
                place += laid
    return apart


def _has_room(plane: Sequence[_Laid], laid: Sequence[_Laid]) -> bool:
    """Whether facts may lie on a plane: nothing lies on another then, and it is not cut into too many steps."""
    if any(_collide(one, other) for one in laid for other in plane):
        return False
    most = max(1 if laid[0].name is None else _STEPS, len(_steps(plane)), len(_steps(laid)))
    return len(_steps([*plane, *laid])) <= most


def _steps(laid: Iterable[_Laid]) -> list[Instant]:
    """When the steps of a plane begin, the lowest first: what is superseded last of all leaves none above it."""
    facts = [each.fact for each in laid]
    begun, ended = ({fact.drawn.believed_from for fact in facts}, {fact.until for fact in facts})
    instants = sorted(begun | {each for each in ended if each is not None})
    return instants if None in ended else instants[:-1]


def _lie_on_another(family: Sequence[_Laid]) -> bool:
    return any(_collide(one, other) for number, one in enumerate(family) for other in family[:number])


def _collide(one: _Laid, other: _Laid) -> bool:
    """Whether two facts that were believed at one time would be in the same place."""
    (left, right), (others_left, others_right) = one.reach, other.reach
    if min(right, others_right) - max(left, others_left) <= _TOUCH:
        return False
    first, second = one.fact, other.fact
    return (first.until is None or second.drawn.believed_from < first.until) and (
        second.until is None or first.drawn.believed_from < second.until
    )


def _named(groups: list[list[list[_Laid]]]) -> list[list[list[_Laid]] | None]:
    """The groups that have steps enough for names; None in the place of others, the largest first."""
    kept: list[list[list[_Laid]] | None] = [*groups]
    steps = [sum(len(_steps(plane)) for plane in group) for group in groups]
    for number in sorted(range(len(groups)), key=lambda each: -steps[each]):
        if sum(each for each, group in zip(steps, kept, strict=True) if group is not None) <= MOST_STEPS:
            break
        kept[number] = None
    return kept


def _kind(group: Sequence[Plotted], named: list[list[_Laid]] | None, scale: Scale, y: float) -> KindShown:
    small = named is None
    apart = _apart(group, scale, _no_name) if named is None else named
    height = _small_step(apart) if small else float(_STEP)
    found, below = [], y + _HEADING
    for laid in apart:
        plane = _plane(laid, below, height, small=small)
        found.append(plane)
        below += plane.height + (1 if small else _GAP)
    more = group[0].more if small else None
    return KindShown(group[0].heading, y, len(group), _recorded(group), small, more, tuple(found))


def _small_step(apart: Sequence[Sequence[_Laid]]) -> float:
    return min(max(_ALL_SMALL / sum(len(_steps(laid)) for laid in apart), _SMALLEST), _SMALL)


def _recorded(group: Sequence[Plotted]) -> str:
    instants = [fact.drawn.believed_from for fact in group]
    first, last = (at(each).text.partition(",")[0] for each in (min(instants), max(instants)))
    return f"recorded {first}" if first == last else f"recorded {first} to {last}"


def _plane(laid: Sequence[_Laid], y: float, step: float, *, small: bool) -> Plane:
    steps = _steps(laid)
    height = len(steps) * step

    def y_of(instant: Instant | None) -> float:
        return round(y + height - (len(steps) if instant is None else bisect_left(steps, instant)) * step, 2)

    rectangles = []
    for each in laid:
        drawn = each.fact.drawn
        top, bottom = y_of(each.fact.until), y_of(drawn.believed_from)
        rectangles.append(Rectangle(each.name, drawn.sentence, drawn.role, each.extent, top, round(bottom - top, 2)))
    lines = () if small else tuple(map(y_of, steps[1:]))
    return Plane(y, height, tuple(rectangles), lines)


def _no_name(_text: str, _extent: Extent) -> None:
    """What is drawn small has none."""


def _name(text: str, extent: Extent) -> Name:
    """Where a name can be read on a narrow screen: in its rectangle, after it, or before it."""
    left, right = extent.seen_left, extent.seen_left + extent.seen_width
    letters = sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
    margins = _MARGIN + _ARROW * (extent.open_left + extent.open_right)
    needed = min((letters * _LETTER + margins) * 100 / _NARROW, _MOST_NAME)
    if extent.seen_width >= needed:
        return Name(text, left, extent.seen_width, Side.WITHIN)
    if right + needed <= 100 or 100 - right >= left:
        return Name(text, right, round(min(needed, 100 - right), 2), Side.AFTER)
    width = round(min(needed, left), 2)
    return Name(text, round(left - width, 2), width, Side.BEFORE)
