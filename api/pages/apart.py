"""Facts laid apart: which lie on one plane, and where their names stand, so that none lies on another.

Rules
-----
* A fact takes the room of its rectangle, and of its name where that stands beside it. Two facts that were believed at
  one time may not be in the same place; else one lies above the other, in transaction time.
* A plane has a step for each time at which something on it was recorded or superseded. Facts that are put together keep
  to a number of steps; versions of one assertion lie on one plane, if they can, however many these are.
* Each goes on the first plane that has room for it.
* A name stands where it can be read in whole on a screen of 360 pixels: in its rectangle, if that is wide enough there,
  else after it, else before it. Only one that would take half of such a screen is cut.

Example
-------
>>> name_beside("Ada", Extent(90.0, 5.0, False, False)).side
<Side.BEFORE: 'before'>
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from unicodedata import east_asian_width

from api.pages.scale import Extent

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from api.pages.drawing import Drawn
    from kernel.time.instants import Instant

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
class Laid:
    """A fact, where it lies, its name, and from where to where both of them take room."""

    fact: Plotted
    extent: Extent
    name: Name | None
    left: float
    right: float


def laid(fact: Plotted, extent: Extent, *, named: bool) -> Laid:
    """A fact where it lies."""
    left, right = extent.left, extent.left + extent.width
    if not named:
        return Laid(fact, extent, None, left, right)
    name = name_beside(fact.drawn.label, extent)
    return Laid(fact, extent, name, min(left, name.left), max(right, name.left + name.width))


def name_beside(text: str, extent: Extent) -> Name:
    """Where a name can be read on a narrow screen."""
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


class Row:
    """What lies on one plane."""

    def __init__(self, facts: Iterable[Laid]) -> None:
        self.facts = [*facts]
        self._instants, self._believed = _instants(self.facts)

    @property
    def steps(self) -> list[Instant]:
        """When its steps begin, the lowest first: what is superseded last of all leaves none above it."""
        instants = sorted(self._instants)
        return instants if self._believed else instants[:-1]

    def took(self, more: Row, most: int) -> bool:
        """Takes what lies on another plane, if it has room for that with so many steps, or as many as either has."""
        instants, believed = self._instants | more._instants, self._believed or more._believed
        if len(instants) - (not believed) > max(most, self._count, more._count):
            return False
        if any(_collide(one, other) for one in more.facts for other in self.facts):
            return False
        self.facts += more.facts
        self._instants, self._believed = instants, believed
        return True

    @property
    def _count(self) -> int:
        return len(self._instants) - (not self._believed)


def apart(facts: Sequence[Laid], *, most: int, rows: int | None = None) -> list[Row] | None:
    """The facts on as many planes as it takes; None: they would take more than there may be.

    Args:
        facts: those of one family need not follow each other.
        most: steps of one plane, unless the versions of one assertion take more.
        rows: how many there may be.
    """
    families: dict[Hashable, list[Laid]] = {}
    for each in facts:
        families.setdefault(each.fact.family, []).append(each)
    found: list[Row] = []
    for family in families.values():
        for row in [Row(family)] if not _lie_on_another(family) else [Row([each]) for each in family]:
            if not any(each.took(row, most) for each in found):
                found.append(row)
        if rows is not None and len(found) > rows:
            return None
    return found


def _instants(facts: Iterable[Laid]) -> tuple[frozenset[Instant], bool]:
    """When any of the facts was recorded or superseded, and whether any is still believed."""
    begun = {each.fact.drawn.believed_from for each in facts}
    ended = {each.fact.until for each in facts}
    return frozenset(begun | {each for each in ended if each is not None}), None in ended


def _lie_on_another(family: Iterable[Laid]) -> bool:
    """Whether any two do: each is held against those that were believed when it was recorded."""
    believed: list[Laid] = []
    for each in sorted(family, key=lambda one: one.fact.drawn.believed_from):
        believed = [one for one in believed if _believed_together(one, each)]
        if any(_collide(one, each) for one in believed):
            return True
        believed.append(each)
    return False


def _collide(one: Laid, other: Laid) -> bool:
    """Whether two facts that were believed at one time would be in the same place."""
    return min(one.right, other.right) - max(one.left, other.left) > _TOUCH and _believed_together(one, other)


def _believed_together(one: Laid, other: Laid) -> bool:
    first, second = one.fact, other.fact
    return (first.until is None or second.drawn.believed_from < first.until) and (
        second.until is None or first.drawn.believed_from < second.until
    )
