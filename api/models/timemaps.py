"""The JSON of the moments at which a URL can be had.

Example
-------
>>> memento: Memento = {"head": 7, "instant": "…", "datetime": "…", "uri": "…"}
"""

from __future__ import annotations

from typing_extensions import TypedDict

from api.models.values import Instant, Position


class Memento(TypedDict):
    """A URL as it was at a head; `datetime` is its instant as HTTP writes it, to the second."""

    head: Position
    instant: Instant
    datetime: str
    uri: str


class TimeMap(TypedDict):
    """The heads at which a URL can be had; `next` is the page that follows, null at the end."""

    original: str
    timegate: str
    timemap: str
    mementos: list[Memento]
    next: str | None
