"""The JSON of what differs between two moments.

Example
-------
>>> side: DiffSide = {"asOf": "…", "head": 7, "validAt": "…"}
"""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from api.models.facts import Fact
from api.models.values import Instant, Position, Urn


class DiffSide(TypedDict):
    """One of the two moments of a diff; `head` is the last one by then, null before the first."""

    asOf: Instant
    head: Position | None
    validAt: Instant


class DiffEntry(TypedDict):
    """One thing that differs: the fact that held at the earlier moment, that which holds at the later one, or both."""

    change: Literal["gained", "lost", "corrected"]
    certificates: list[Urn]
    before: NotRequired[Fact]
    after: NotRequired[Fact]


DiffPage = TypedDict(
    "DiffPage",
    {
        "axis": Literal["as-of", "valid-at"],
        "from": DiffSide,
        "to": DiffSide,
        "gained": int,
        "lost": int,
        "corrected": int,
        "items": list[DiffEntry],
        "next": str | None,
    },
)
