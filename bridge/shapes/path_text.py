"""Reading a path from the text that findings have of it: the other way round of `paths.text`.

Rules
-----
* What `paths.text` writes is read as the same path; of SPARQL's property paths nothing else is.
* Anything else is answered as None: a finding may name a path that an earlier version wrote.

Example
-------
>>> from bridge.shapes.paths import text
>>> path = parse_path("(<urn:a>/^<urn:b>|(<urn:c>)*)")
>>> path and text(path)
'(<urn:a>/^<urn:b>|(<urn:c>)*)'
>>> parse_path("<urn:a> and <urn:b>")
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bridge.shapes.paths import Alternative, Repeat, Sequence, Step
from kernel.errors import InvalidTerm
from kernel.terms import parse_iri

if TYPE_CHECKING:
    from bridge.shapes.paths import Path

_TOKEN: Final = re.compile(r"<[^<>]*>|[()|/^*+?]")
_MARKS: Final = {"*": (False, True), "+": (True, True), "?": (False, False)}


def parse_path(text: str) -> Path | None:
    """The path that a text writes; None if it writes none."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text:
        return None
    reader = _Reader(tokens)
    try:
        path = reader.alternatives()
    except (IndexError, InvalidTerm, RecursionError):
        return None
    return path if reader.is_done else None


class _Reader:
    """Takes tokens one by one; raises `IndexError` when there are none, and `InvalidTerm` for those out of place."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._next = 0

    @property
    def is_done(self) -> bool:
        return self._next == len(self._tokens)

    def alternatives(self) -> Path:
        parts = [self._sequence()]
        while self._took("|"):
            parts.append(self._sequence())
        return Alternative(tuple(parts)) if len(parts) > 1 else parts[0]

    def _sequence(self) -> Path:
        parts = [self._part()]
        while self._took("/"):
            parts.append(self._part())
        return Sequence(tuple(parts)) if len(parts) > 1 else parts[0]

    def _part(self) -> Path:
        if not self._took("("):
            inverse = self._took("^")
            return Step(parse_iri(self._take()), inverse)
        inner = self.alternatives()
        if not self._took(")"):
            raise IndexError
        mark = next((each for each in _MARKS if self._took(each)), None)
        return inner if mark is None else Repeat(inner, *_MARKS[mark])

    def _take(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1]

    def _took(self, token: str) -> bool:
        if not self.is_done and self._tokens[self._next] == token:
            self._next += 1
            return True
        return False
