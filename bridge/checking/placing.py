r"""Where a node is described: the file, and the line as near as a reader needs it.

Rules
-----
* No parser that is used here tells lines. So a file is gone through once more, as lines of text, when a line of it is
  first asked for.
* A line describes a node that it begins with (Turtle, TriG, N-Triples, N-Quads), that is its first `@id` (JSON-LD),
  that it is about (RDF/XML), or that is the subject of a change. The first such line counts; one that begins at the
  margin goes before those that are indented, which may be anything.
* What is not found so has no line. None is better than a wrong one.

Example
-------
>>> from io import StringIO
>>> text = StringIO("@prefix : <urn:x:> .\n:ann :knows\n  :bob .\n:bob :age 7 .\n")
>>> lines_of(text, ".ttl")
{'urn:x:bob': 4, 'urn:x:ann': 2}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_PREFIX: Final = re.compile(r"[ \t]*@?prefix[ \t]+([\w.\-]*):[ \t]*<([^<>\s]*)>", re.IGNORECASE)
_SUBJECT: Final = re.compile(r"([ \t]*)(?:<([^<>\s]*)>|([\w.\-]*):([\w.\-]*))(?=\s)")
_MEMBER: Final = re.compile(r'[ \t]*[\[{,]*[ \t]*"@id"[ \t]*:[ \t]*"([^"\\]+)"')
_CHANGE: Final = re.compile(r'.*?"subject"[ \t]*:[ \t]*"([^"\\]+)"')
_ABOUT: Final = re.compile(r""".*?\brdf:about[ \t]*=[ \t]*["']([^"'&]+)["']""")
_PATTERNS: Final = {".jsonld": _MEMBER, ".ndjson": _CHANGE, ".rdf": _ABOUT, ".xml": _ABOUT}


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is said.

    Args:
        path: of the file, as it was given.
        line: counted from 1; None where it is not known.
    """

    path: Path
    line: int | None

    def __str__(self) -> str:
        """As compilers write it."""
        return str(self.path) if self.line is None else f"{self.path}:{self.line}"


class Lines:
    """The lines of nodes in files, each file gone through when it is first asked about."""

    def __init__(self) -> None:
        self._known: dict[Path, dict[str, int]] = {}

    def of(self, path: Path, iri: str) -> int | None:
        """The line of a file that describes a node.

        Raises:
            OSError: the file cannot be read.
        """
        known = self._known.get(path)
        if known is None:
            with path.open(encoding="utf-8-sig", errors="replace", newline="\n") as text:
                known = self._known[path] = lines_of(text, path.suffix.lower())
        return known.get(iri)


def lines_of(text: Iterable[str], suffix: str) -> dict[str, int]:
    """The line of every node that lines of a document begin with, by its IRI."""
    pattern = _PATTERNS.get(suffix)
    found = _turtle(text) if pattern is None else _matched(text, pattern)
    indented: dict[str, int] = {}
    margin: dict[str, int] = {}
    for iri, line, is_indented in found:
        (indented if is_indented else margin).setdefault(iri, line)
    return indented | margin


def _turtle(text: Iterable[str]) -> Iterator[tuple[str, int, bool]]:
    prefixes: dict[str, str] = {}
    for number, line in enumerate(text, 1):
        if _PREFIX.match(line):
            prefixes.update(_PREFIX.findall(line))
            continue
        match = _SUBJECT.match(line)
        if match is not None:
            iri = match[2] if match[2] is not None else _expanded(match, prefixes)
            if iri is not None:
                yield iri, number, bool(match[1])


def _expanded(match: re.Match[str], prefixes: dict[str, str]) -> str | None:
    namespace = prefixes.get(match[3])
    return None if namespace is None else namespace + match[4]


def _matched(text: Iterable[str], pattern: re.Pattern[str]) -> Iterator[tuple[str, int, bool]]:
    for number, line in enumerate(text, 1):
        match = pattern.match(line)
        if match is not None:
            yield match[1], number, False
