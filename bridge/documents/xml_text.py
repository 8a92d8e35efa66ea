r"""RDF/XML as text: what has to be done before its parser sees it.

Rules
-----
* As in `turtle_text`, language tags with capitals are marked: the values of `xml:lang`, in tags alone, not in
  text, comments or other attributes. An XML literal keeps what is inside of it as text: `without_marks` cleans it.
* Elements may be nested `MAX_NESTING` deep: the parser's time grows with the square of it.
* The parser puts in entities without limit, and entities made of entities fill all memory. A document type may declare
  entities of mere text, which many ontologies do for their namespaces, and they may put in `MAX_PUT_IN` bytes in all.
* The parser does not say where XML is broken; `place_of_fault` does.

Example
-------
>>> prepared(b"<a xml:lang='en-GB' b='xml:lang=EN'>xml:lang='EN'</a>")
(b"<a xml:lang='en-GB-x-mcase-00-11' b='xml:lang=EN'>xml:lang='EN'</a>", True)
>>> place_of_fault(b"<a>\n</b>")
'line 2, column 3'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from bridge.documents.turtle_text import line_at, mark
from kernel.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

MAX_NESTING: Final = 256

MAX_PUT_IN: Final = 16 * 2**20

_ENTITY: Final = rb"<!ENTITY\s+(?P<name>[A-Za-z_][\w.\-]*+)\s++\"(?P<value>[^\"&%<]*+)\"\s*+>"
_DECLARED: Final = re.compile(rb"<!ENTITY")
_REFERENCE: Final = re.compile(rb"&([^&;]++);")
_DOCUMENT_TYPE: Final = re.compile(
    rb"(?:\s|<\?.*?\?>|<!--.*?-->)*+<!DOCTYPE\s++[^\s\[>]++\s*+\[(?P<entities>(?:\s|<!--.*?-->|"
    + re.sub(rb"\?P<\w+>", b"?:", _ENTITY)
    + rb")*+)\]\s*+>",
    re.DOTALL,
)

# Each alternative goes to the end if it has to, so that nothing is tried over and over.
_TOKEN: Final = re.compile(
    rb"""
      <!--.*?(?:-->|\Z) | <!\[CDATA\[.*?(?:\]\]>|\Z) | <\?.*?(?:\?>|\Z)
    | (?P<end> </[^>]*+(?:>|\Z) )
    | (?P<tag> <[^\s<>/!?'"=](?:[^<>'"]++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z|(?=<)) )
    """,
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(
    rb"""(?P<name>[^\s'"=<>/]{1,64}+)\s*+=\s*+(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)')""", re.DOTALL
)
_TAG: Final = re.compile(rb"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_NOT_XML: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_CANDIDATE: Final = re.compile(rb"xml:lang\s*=\s*[\"'][a-z0-9\-]*(?:[A-Z]|-x-mcase-)")
_MARKED: Final = re.compile(r"(?<=[A-Za-z0-9])-x-mcase-[01\-]+(?=[\"'])")


def prepared(data: bytes) -> tuple[bytes, bool]:
    """The text as the parser is to have it, and whether there are marks in it.

    Raises:
        InvalidDocument: characters that XML has not; elements nested too deep; entities that are more than text, or
            put in too much.
    """
    pieces = marked_pieces(data)
    return (data, False) if pieces is None else (b"".join(pieces), True)


def marked_pieces(data: bytes | mmap) -> Iterator[bytes] | None:
    """The same piece by piece, for a file that is mapped into memory; None if it can be parsed as it is."""
    if (control := _NOT_XML.search(data)) is not None:
        raise InvalidDocument(
            f"XML has no character U+{ord(control.group()):04X}",
            remedy="take it out",
            where=line_at(data, control.start()),
        )
    _require_shallow(data)
    if data.find(b"<!ENTITY") >= 0:
        _require_plain_entities(data)
    return None if _CANDIDATE.search(data) is None else _pieces(data)


def without_marks(literal: str) -> str:
    """The text of an XML literal, as it was before it was marked."""
    return _MARKED.sub("", literal)


def place_of_fault(data: bytes | mmap) -> str | None:
    """Line and column of the first place where the text is not well-formed XML; None if there is none."""
    parser = expat.ParserCreate()
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        return f"line {error.lineno}, column {error.offset + 1}"
    return None


def _require_shallow(data: bytes | mmap) -> None:
    depth = 0
    for match in _TOKEN.finditer(data):
        if match["end"] is not None:
            depth -= 1
        elif match["tag"] is not None and not match["tag"].endswith(b"/>"):
            depth += 1
        if depth > MAX_NESTING:
            raise InvalidDocument(
                f"elements are nested more than {MAX_NESTING} deep",
                remedy="refer to nodes by rdf:nodeID instead of nesting them",
                where=line_at(data, match.start()),
            )


def _require_plain_entities(data: bytes | mmap) -> None:
    declared = _DOCUMENT_TYPE.match(data)
    entities = [*re.finditer(_ENTITY, declared["entities"])] if declared else []
    if len(entities) != sum(1 for _ in _DECLARED.finditer(data)):
        raise InvalidDocument(
            "the document type declares more than entities of plain text",
            remedy="write what they stand for in their place",
            where="the DOCTYPE",
        )
    longest = _longest(entities)
    put_in = sum(longest.get(reference[1], 0) for reference in _REFERENCE.finditer(data))
    if put_in > MAX_PUT_IN:
        raise InvalidDocument(
            f"entities put in more than {MAX_PUT_IN:,} bytes", remedy="declare shorter ones", where="the DOCTYPE"
        )


def _longest(entities: list[re.Match[bytes]]) -> dict[bytes, int]:
    """The length of the longest value that each name is declared with."""
    lengths: dict[bytes, int] = {}
    for entity in entities:
        lengths[entity["name"]] = max(len(entity["value"]), lengths.get(entity["name"], 0))
    return lengths


def _pieces(data: bytes | mmap) -> Iterator[bytes]:
    copied = 0
    for match in _TOKEN.finditer(data):
        if match["tag"] is None or b"xml:lang" not in match["tag"]:
            continue
        for attribute in _ATTRIBUTE.finditer(data, match.start(), match.end()):
            group = "double" if attribute["double"] is not None else "single"
            if attribute["name"] == b"xml:lang" and _TAG.fullmatch(attribute[group]):
                yield data[copied : attribute.start(group)]
                yield mark(attribute[group].decode()).encode()
                copied = attribute.end(group)
    yield data[copied:]
