r"""Turtle, TriG, N-Triples and N-Quads as text: what has to be done before their parser sees it.

Rules
-----
* The parser writes language tags in lower case, and a tag is to come back as it was submitted. So a tag with capitals
  is marked first, with a private-use subtag (RFC 5646, section 2.2.7) that says which letters they are: `@en-GB` goes
  in as `@en-GB-x-mcase-00-11`. `unmarked` undoes it. A tag that looks like a marked one is marked as well.
* Irregular tags (`en-GB-oed`, `i-klingon`) cannot be marked; the store has them in lower case, as it has all tags.
* The parser builds triple terms by recursion, and a deep one ends the process: at most `MAX_NESTING` lie in each other.

Example
-------
>>> prepared(b'<urn:s> <urn:p> "colour"@en-GB, "@EN" .')
(b'<urn:s> <urn:p> "colour"@en-GB-x-mcase-00-11, "@EN" .', True)
>>> unmarked("en-gb-x-mcase-00-11")
'en-GB'
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from kernel.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

MAX_NESTING: Final = 64

_MARK: Final = "-x-mcase-"
_TAG: Final = r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*(?=--(?:ltr|rtl)|(?![A-Za-z0-9\-]))"

# What is found here only starts the search proper: it may lie in a string or a comment.
_CANDIDATE: Final = re.compile(rb"[\"'][ \t\r\n]*@[A-Za-z0-9\-]*(?:[A-Z]|" + _MARK.encode() + rb")")

# Possessive: a long string is gone through once, and nothing of it is kept to go back to.
_TOKEN: Final = re.compile(
    rb"""
      \#[^\r\n]*+
    | (?P<open> <<\( ) | (?P<close> \)>> )
    | <[^<>\x00-\x20]*+>
    | (?: \"\"\"(?:[^"\\]++|\\.|"{1,2}(?!"))*+\"\"\" | '''(?:[^'\\]++|\\.|'{1,2}(?!'))*+'''
        | "(?:[^"\\\r\n]++|\\.)*+" | '(?:[^'\\\r\n]++|\\.)*+' )
      (?:[ \t\r\n]*+@(?P<tag>"""
    + _TAG.encode()
    + rb"""))?
    | \\.
    """,
    re.VERBOSE | re.DOTALL,
)
_OPEN: Final = re.compile(rb"<<\(")
_LINE_FEED: Final = re.compile(rb"\n")
_IRREGULAR: Final = frozenset({b"en-gb-oed", b"sgn-be-fr", b"sgn-be-nl", b"sgn-ch-de"})


def prepared(data: bytes) -> tuple[bytes, bool]:
    """The text as the parser is to have it, and whether there are marks in it.

    Raises:
        InvalidDocument: triple terms that are nested too deep.
    """
    pieces = marked_pieces(data)
    return (data, False) if pieces is None else (b"".join(pieces), True)


def marked_pieces(data: bytes | mmap) -> Iterator[bytes] | None:
    """The same piece by piece, for a file that is mapped into memory; None if it can be parsed as it is."""
    if next(islice(_OPEN.finditer(data), MAX_NESTING, None), None) is not None:
        _require_shallow(data)
    return None if _CANDIDATE.search(data) is None else _pieces(data)


def line_at(data: bytes | mmap, position: int) -> str:
    """The line of a position, in words."""
    return f"line {sum(1 for _ in _LINE_FEED.finditer(data, 0, position)) + 1}"


def mark(tag: str) -> str:
    """The tag, marked if it has to be."""
    lower = tag.lower().encode()
    if (tag == tag.lower() and _MARK not in tag) or lower in _IRREGULAR or lower.startswith(b"i-"):
        return tag
    return tag + _MARK + "".join(_bit(character) for character in tag)


@lru_cache(maxsize=4_096)
def unmarked(language: str) -> str:
    """The tag that was marked, in lower case since, as it was; any other tag as it is."""
    tag, _, bits = language.rpartition(_MARK)
    if len(tag) != len(bits) or not tag:
        return language
    return "".join(each.upper() if bit == "1" else each for each, bit in zip(tag, bits, strict=True))


def _bit(character: str) -> str:
    return "-" if character == "-" else "01"[character.isupper()]


def _pieces(data: bytes | mmap) -> Iterator[bytes]:
    copied = 0
    for match in _TOKEN.finditer(data):
        if match["tag"] is not None:
            yield data[copied : match.start("tag")]
            yield mark(match["tag"].decode()).encode()
            copied = match.end()
    yield data[copied:]


def _require_shallow(data: bytes | mmap) -> None:
    depth = 0
    for match in _TOKEN.finditer(data):
        depth += (match["open"] is not None) - (match["close"] is not None)
        if depth > MAX_NESTING:
            raise InvalidDocument(
                f"triple terms are nested more than {MAX_NESTING} deep",
                remedy="nest them less",
                where=line_at(data, match.start()),
            )
