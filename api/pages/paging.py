"""Which stretch of a long list a page shows, and where the others are.

Example
-------
>>> PagerShown(51, 100, "/queue/1", "/queue/1", None).following is None
True
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PagerShown:
    """Which are shown, counted from 1, and where the others are; None where there are none."""

    first: int
    last: int
    start: str | None
    before: str | None
    following: str | None
