"""Drawings of facts: on both time axes, before and after a certificate; and one under the other along valid time.

Rules
-----
* A drawing is geometry and words: places across in percent (`api.pages.scale`), heights in pixels, and what a template
  needs for SVG without styles of its own.
* Valid time goes across. Transaction time goes up, in steps and not to scale: one for each time that something was
  recorded, the last of them the certificate's.
* In one drawing no two boxes lie on one another. Facts that would, go into drawings of their own.
* A drawing never says what a table beside it does not.

Example
-------
::

    drawings = before_and_after([Drawn("Merkel", fact, Role.OLD), …], at=certificate_instant)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Final

from api.pages.scale import Extent, Mark, Scale, bounds_of
from api.pages.times import Words, at

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from kernel.time.instants import Instant
    from kernel.time.intervals import Interval

_STEP: Final = 64
_HEAD: Final = 26
_FOOT: Final = 34
_LANE: Final = 40
_STEPS: Final = 3
"""Steps that are drawn below the certificate's."""

MOST_DRAWINGS: Final = 8
MOST_LANES: Final = 40


class Role(StrEnum):
    """What a certificate does with a fact, or what became of it."""

    OLD = "old"  # superseded
    NEW = "new"  # recorded
    KEPT = "kept"  # held, and left as it is


@dataclass(frozen=True, slots=True)
class Drawn:
    """A fact to draw.

    Args:
        key: facts with the same key go into one drawing, if they can.
        heading: what facts with this key have in common.
        label: what the box says.
        believed_from: when it was recorded.
    """

    key: Hashable
    heading: str
    label: str
    role: Role
    interval: Interval
    believed_from: Instant
    sentence: str


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    label: str
    role: Role
    extent: Extent
    top: int
    height: int


@dataclass(frozen=True, slots=True)
class Step:
    """A line across, at which something was recorded."""

    y: int
    words: Words
    is_certificate: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of both axes."""

    heading: str
    sentences: tuple[str, ...]
    height: int
    bottom: int
    boxes: tuple[Box, ...]
    steps: tuple[Step, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A picture of valid time, one lane a fact."""

    height: int
    bottom: int
    boxes: tuple[Box, ...]
    marks: tuple[Mark, ...]
    now: float | None


def before_and_after(facts: Iterable[Drawn], certificate: Instant) -> list[Drawing]:
    """The facts that a certificate is about, on both axes; what has no bound and no past is not worth a drawing."""
    panels: dict[Hashable, list[list[Drawn]]] = {}
    for fact in facts:
        group = panels.setdefault(fact.key, [])
        panel = next((panel for panel in group if not any(_collide(fact, other) for other in panel)), None)
        if panel is None:
            group.append([fact])
        else:
            panel.append(fact)
    worth = (panel for group in panels.values() for panel in group if _says_something(panel))
    return [_drawing(panel, certificate) for panel in islice(worth, MOST_DRAWINGS)]


def timeline(facts: Sequence[Drawn], clock: Instant) -> Timeline:
    """Facts one under the other."""
    shown = facts[:MOST_LANES]
    scale = Scale.over([*bounds_of(fact.interval for fact in shown), clock])
    boxes = tuple(
        Box(fact.label, fact.role, scale.extent(fact.interval), number * _LANE, _LANE)
        for number, fact in enumerate(shown)
    )
    bottom = max(len(shown), 1) * _LANE + 6
    return Timeline(bottom + _FOOT, bottom, boxes, scale.marks, scale.place(clock))


def _says_something(panel: list[Drawn]) -> bool:
    return any(fact.role is not Role.NEW for fact in panel) or len(bounded(panel)) > 0


def bounded(panel: Iterable[Drawn]) -> list[Drawn]:
    """Those with a start or an end."""
    return [fact for fact in panel if any(map(_is_finite, (fact.interval.start, fact.interval.end)))]


def _is_finite(bound: int) -> bool:
    return abs(bound) < 2**63 - 1


def _collide(one: Drawn, other: Drawn) -> bool:
    """Whether two facts were, or would be, believed and true at the same time."""
    apart = {one.role, other.role} == {Role.OLD, Role.NEW}
    return not apart and one.interval.intersect(other.interval) is not None


def _drawing(panel: list[Drawn], certificate: Instant) -> Drawing:
    scale = Scale.over(bounds_of(fact.interval for fact in panel))
    past = sorted({fact.believed_from for fact in panel if fact.role is not Role.NEW})[-_STEPS:]
    levels = max(len(past), 1)
    line = _HEAD + _STEP
    bottom = line + levels * _STEP

    def y_of(instant: Instant) -> int:
        """Where what was recorded then begins; what is older than every step, at the bottom."""
        later = sum(1 for each in past if each > instant)
        return line + (later + 1) * _STEP if past else bottom

    boxes = []
    for fact in panel:
        low = line if fact.role is Role.NEW else min(y_of(fact.believed_from), bottom)
        high = line if fact.role is Role.OLD else _HEAD
        boxes.append(Box(fact.label, fact.role, scale.extent(fact.interval), high, low - high))
    steps = [Step(y_of(instant), at(instant), is_certificate=False) for instant in past]
    steps.append(Step(line, at(certificate), is_certificate=True))
    sentences = tuple(fact.sentence for fact in panel)
    return Drawing(panel[0].heading, sentences, bottom + _FOOT, bottom, tuple(boxes), tuple(steps), scale.marks)
