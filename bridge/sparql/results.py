"""The formats that answers come in, and which one a client gets.

Rules
-----
* Negotiation is that of RFC 9110, section 12.5.1: of our formats the one with the highest quality, each judged by the
  most specific range that matches it; among equals the one that comes first here. No Accept: the first.
* A few clients ask for a format by a more general name (`application/json`). They get it under that name, and only if
  they name it: `text/*` is CSV or TSV, never XML.
* What a format cannot carry is refused, not mangled: a control character in XML, a predicate without a local name in
  RDF/XML, a triple term in JSON-LD. That shows while an answer is written, perhaps late in it (`may_not_carry`).
* A part of CSV or TSV passes for the whole (`parses_in_part`): nobody is to get a part of it.

Example
-------
>>> negotiate("text/*", Form.SELECT).media_type
'text/csv; charset=utf-8'
>>> negotiate("text/turtle;q=0.5, application/n-triples", Form.CONSTRUCT).media_type
'application/n-triples'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import IO, TYPE_CHECKING, Final, Protocol, TypeAlias, cast

import pyoxigraph as ox

from bridge.sparql.restoring import restored, restored_triples
from bridge.sparql.scan import Form
from kernel.errors import NotAcceptable, QueryRefused

if TYPE_CHECKING:
    from collections.abc import Iterable

Results: TypeAlias = ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples

_CACHED: Final = 1_024
_QUALITY: Final = re.compile(r"[01](?:\.[0-9]{0,3})?")
_CONTROLS: Final = bytes({*range(32)} - {*b"\t\n\r"})
_NO_CHARACTERS: Final = (b"\xef\xbf\xbe", b"\xef\xbf\xbf")
_NO_LOCAL_NAME: Final = b"<oxprefix: "


@dataclass(frozen=True, slots=True)
class Format:
    """A format of answers.

    Args:
        media_type: the Content-Type, with its parameters.
        written: the library's format: of result sets, or of graphs.
        alias: it is given only to those who ask for it by name.
    """

    media_type: str
    written: ox.QueryResultsFormat | ox.RdfFormat
    alias: bool = False

    @property
    def essence(self) -> str:
        """The media type without parameters."""
        return self.media_type.partition(";")[0]

    @property
    def parses_in_part(self) -> bool:
        """Whether the beginning of an answer is an answer to whoever reads it."""
        return self.written in {_TABLE.CSV, _TABLE.TSV}

    @property
    def may_not_carry(self) -> bool:
        """Whether it may show late that it cannot carry an answer."""
        return self.written in {_TABLE.XML, _GRAPH.RDF_XML, _GRAPH.JSON_LD}


_TABLE = ox.QueryResultsFormat
_GRAPH = ox.RdfFormat

RESULT_SETS: Final = (
    Format("application/sparql-results+json", _TABLE.JSON),
    Format("application/sparql-results+xml", _TABLE.XML),
    Format("text/csv; charset=utf-8", _TABLE.CSV),
    Format("text/tab-separated-values; charset=utf-8", _TABLE.TSV),
    Format("application/json", _TABLE.JSON, alias=True),
    Format("application/xml", _TABLE.XML, alias=True),
    Format("text/xml", _TABLE.XML, alias=True),
)
"""The formats of SELECT and ASK, the default first."""

GRAPHS: Final = (
    Format("text/turtle; charset=utf-8", _GRAPH.TURTLE),
    Format("application/n-triples", _GRAPH.N_TRIPLES),
    Format("application/ld+json", _GRAPH.JSON_LD),
    Format("application/rdf+xml", _GRAPH.RDF_XML),
    Format("application/n-quads", _GRAPH.N_QUADS),
    Format("application/trig", _GRAPH.TRIG),
    Format("application/json", _GRAPH.JSON_LD, alias=True),
    Format("application/xml", _GRAPH.RDF_XML, alias=True),
    Format("text/xml", _GRAPH.RDF_XML, alias=True),
)
"""The formats of CONSTRUCT and DESCRIBE, the default first."""

FORMATS: Final = (*RESULT_SETS, *GRAPHS)
"""All of them; a format is known by its place here."""


class Sink(Protocol):
    """Where an answer is written to."""

    def write(self, data: bytes, /) -> int:
        """Takes a piece; what it raises ends the writing."""
        ...

    def flush(self) -> None:
        """Is called now and then."""
        ...


@lru_cache(maxsize=_CACHED)
def negotiate(accept: str | None, form: Form) -> Format:
    """The format that a client gets.

    Args:
        accept: the Accept header; None or blank for none.
        form: the query's form. What is no query gets a format too, so that what is wrong with it can be said.

    Raises:
        NotAcceptable: none of the formats that the client accepts can be produced.
    """
    if form in {Form.UPDATE, Form.UNKNOWN}:
        return RESULT_SETS[0]
    formats = GRAPHS if form in {Form.CONSTRUCT, Form.DESCRIBE} else RESULT_SETS
    if accept is None or not accept.strip():
        return formats[0]
    ranges = _ranges(accept)
    best = max(formats, key=lambda each: _quality(each, ranges))
    if _quality(best, ranges) == 0:
        offered = [each.essence for each in formats if not each.alias]
        raise NotAcceptable(
            f"none of {accept!r} can be produced here",
            remedy=f"accept one of {', '.join(offered)}",
            where="Accept",
            offered=offered,
        )
    return best


def serialise(results: Results, written: Format, *, restore: bool = False) -> bytes:
    """An answer as bytes, whole. Raises as `serialise_to` does."""
    whole = BytesIO()
    serialise_to(results, written, whole, restore=restore)
    return whole.getvalue()


def serialise_to(results: Results, written: Format, sink: Sink, *, restore: bool = False) -> None:
    """Writes an answer piece by piece.

    Args:
        results: what is written.
        written: how.
        sink: where to.
        restore: whether Skolem IRIs become blank nodes again; a table is then held whole before it is written.

    Raises:
        NotAcceptable: the format cannot carry something in the answer; some of it may be written by then.
        QueryRefused: the format is not one for this form of query.
    """
    target = written.written
    # All that the library asks of a file is to be written to.
    checked = cast("IO[bytes]", _Checked(sink, written) if target in {_TABLE.XML, _GRAPH.RDF_XML} else sink)
    if isinstance(results, ox.QueryTriples):
        if isinstance(target, ox.RdfFormat):
            _write_triples(results, target, written, checked, restore=restore)
            return
    elif isinstance(target, ox.QueryResultsFormat):
        table = restored(results) if restore and isinstance(results, ox.QuerySolutions) else results
        table.serialize(checked, format=target)
        return
    raise QueryRefused(
        f"{written.essence} is no format for this form of query", remedy="accept a format that fits the form"
    )


def serialise_graph(triples: Iterable[ox.Triple], written: Format) -> bytes:
    """Triples as a document, whole. Raises `NotAcceptable`: the format cannot carry something in them."""
    target = written.written
    if not isinstance(target, ox.RdfFormat):
        raise TypeError("a graph is written in a format of graphs")
    whole = BytesIO()
    sink = cast("IO[bytes]", _Checked(whole, written)) if target is _GRAPH.RDF_XML else whole
    try:
        ox.serialize(triples, sink, target)
    except (OSError, ValueError) as error:
        raise _cannot_carry(written, str(error)) from error
    return whole.getvalue()


def _write_triples(
    triples: ox.QueryTriples, target: ox.RdfFormat, written: Format, sink: IO[bytes], *, restore: bool
) -> None:
    try:
        if restore:
            ox.serialize(restored_triples(triples), sink, format=target)
        else:
            triples.serialize(sink, format=target)
    except OSError as error:
        if "does not support" not in str(error):
            raise
        raise _cannot_carry(written, "a triple term") from error


class _Checked:
    """Passes on what XML can hold; a piece is looked at together with the end of the one before."""

    def __init__(self, sink: Sink, written: Format) -> None:
        self._sink = sink
        self._written = written
        self._before = b""

    def write(self, data: bytes) -> int:
        seen = self._before + data
        if not _is_xml(seen):
            raise _cannot_carry(self._written, "a control character, which XML cannot hold")
        if self._written.written is _GRAPH.RDF_XML and _NO_LOCAL_NAME in seen:
            raise _cannot_carry(self._written, "a predicate whose IRI ends in no name, which RDF/XML cannot write")
        self._before = seen[1 - len(_NO_LOCAL_NAME) :]
        return self._sink.write(data)

    def flush(self) -> None:
        self._sink.flush()


def _is_xml(text: bytes) -> bool:
    """Whether each character is one that XML 1.0 has (section 2.2)."""
    # A regular expression takes twice as long for this as the engine does for all else.
    return len(text.translate(None, _CONTROLS)) == len(text) and not any(each in text for each in _NO_CHARACTERS)


def _cannot_carry(written: Format, what: str) -> NotAcceptable:
    return NotAcceptable(
        f"the answer holds {what}, so it cannot be given as {written.essence}",
        remedy="accept another format, such as JSON for result sets or Turtle for graphs",
        where="Accept",
    )


def _ranges(accept: str) -> list[tuple[str, str, float]]:
    """The media ranges, as type, subtype and quality; a member that cannot be read is passed over."""
    found = []
    for member in accept.lower().split(","):
        media, *parameters = (part.strip() for part in member.split(";"))
        kind, slash, subtype = media.partition("/")
        quality = next((value.strip() for name, _, value in map(_parted, parameters) if name.strip() == "q"), "1")
        if slash and kind and subtype and _QUALITY.fullmatch(quality):
            found.append((kind, subtype, min(float(quality), 1.0)))
    return found


def _parted(parameter: str) -> tuple[str, str, str]:
    return parameter.partition("=")


def _quality(each: Format, ranges: list[tuple[str, str, float]]) -> float:
    """By the most specific range that matches; 0 when none does."""
    kind, _, subtype = each.essence.partition("/")
    candidates = [(kind, subtype)] if each.alias else [(kind, subtype), (kind, "*"), ("*", "*")]
    for candidate in candidates:
        qualities = [quality for *media, quality in ranges if tuple(media) == candidate]
        if qualities:
            return max(qualities)
    return 0.0
