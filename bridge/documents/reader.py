r"""Bodies of RDF as statements to assert.

Rules
-----
* Read are Turtle, TriG, N-Triples and N-Quads (RDF 1.2, so with triple terms, reifiers and annotations, which come as
  the triples that they stand for), RDF/XML, and JSON-LD 1.1 (`bridge.documents.jsonld`). All in UTF-8.
* A statement holds the term that a store will hold; the literal as submitted is its spelling where that differs. Inside
  triple terms only the term that is held is kept. JSON-LD has them as literals (`bridge.documents.triple_terms`).
* Statements of the default graph go to the graph given, else to `m:default`. A document with named graphs of its own
  goes without a graph given; and a graph has an IRI for its name.
* Blank nodes become Skolem IRIs, one for each label of the document.
* What prefixes make of a document is bounded (`bridge.long_iris`).
* What cannot be read is refused whole, with line and column where the parser tells, else with the number of the
  statement or the JSON pointer.

Example
-------
>>> from bridge.terms import OxigraphCanonicaliser
>>> document = b'<urn:s> <urn:p> "007"^^<http://www.w3.org/2001/XMLSchema#int>, "colour"@en-GB .'
>>> for statement, spelling in read_document(document, "text/turtle", canonicaliser=OxigraphCanonicaliser()):
...     print(statement.object.n3[:12], "was", spelling.object.n3[:12])
"7"^^<http:/ was "007"^^<http
"colour"@en- was "colour"@en-
>>> read_document(b"<urn:s> <urn:p> o .", "text/turtle", canonicaliser=OxigraphCanonicaliser())
Traceback (most recent call last):
kernel.errors.InvalidDocument: line 1, column 17: o is not a valid RDF object (correct it at or before that place)
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Final, TypeAlias, cast

import pyoxigraph as ox

from bridge.documents import turtle_text, xml_text
from bridge.documents.jsonld import read_jsonld
from bridge.documents.skolem import Skolem
from bridge.documents.triple_terms import TRIPLE_TERM, read_triple_term
from bridge.documents.turtle_text import unmarked
from bridge.long_iris import LongIris
from bridge.terms import LONGEST
from kernel.changes import NO_SPELLING
from kernel.errors import CallerError, InvalidDocument
from kernel.facts import Spelling
from kernel.terms import RDF, Iri, Literal, Statement, Term, TripleTerm
from kernel.vocabulary import DEFAULT_GRAPH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from mmap import mmap

    from bridge.documents.jsonld_triples import Triple
    from bridge.terms import OxTerm
    from kernel.ports.outside import TermCanonicaliser

Asserted: TypeAlias = tuple[Statement, Spelling]
"""A statement to assert, and how its object was spelled."""

LIMIT: Final = 16 * 2**20
"""Bytes of a document, unless the caller says otherwise."""

JSON_LD: Final = "application/ld+json"
FORMATS: Final = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/trig": ox.RdfFormat.TRIG,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/n-quads": ox.RdfFormat.N_QUADS,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
}
"""The parser's formats by media type; JSON-LD comes besides."""

MEDIA_TYPES: Final = (*FORMATS, JSON_LD)

_BOM: Final = b"\xef\xbb\xbf"
_CACHED: Final = 65_536
_XML_LITERAL: Final = RDF + "XMLLiteral"
_PLACE: Final = re.compile(r"Parser error at line \d+ (?:between columns \d+ and \d+|column \d+): ")
_NO_NAME: Final = re.compile(r"'(.)' is not allowed at the beginning of a prefix name", re.DOTALL)
"""What the parser says, in formats without prefixes too, of a character that begins nothing."""

_TEXT: Final = "correct it at or before that place; what is sent is text in UTF-8, neither compressed nor binary"
_ANY_REMEDIES: Final = (
    ("Unexpected end", "send the document whole"),
    ("UTF-8", _TEXT),
    ("no term begins with U+", _TEXT),
)
_LINE_REMEDIES: Final = (("No scheme", "write IRIs in full"), *_ANY_REMEDIES)
_REMEDIES: Final = (
    ("No scheme", "write IRIs in full, or declare a base"),
    ("prefix", "declare the prefix"),
    *_ANY_REMEDIES,
)
_LINES: Final = frozenset({ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS})
"""Formats that have neither prefixes nor a base."""


def read_document(
    data: bytes,
    media_type: str,
    *,
    graph: Iri | None = None,
    canonicaliser: TermCanonicaliser,
    skolem: Callable[[str], Iri] | None = None,
    limit: int = LIMIT,
    base: str | None = None,
) -> list[Asserted]:
    """What a document asserts, in its order.

    Args:
        data: the document.
        media_type: as in a Content-Type header, one of `MEDIA_TYPES`.
        graph: where its default graph goes; None for `m:default`.
        canonicaliser: knows what a store will hold.
        skolem: the names of blank nodes by label; new ones if left out.
        limit: bytes that the document may have.
        base: what relative IRIs are relative to, an absolute IRI; but for JSON-LD, which has to say so itself.

    Raises:
        InvalidDocument: it cannot be read, is of no format that is read here, is too large, or has named graphs where a
            graph is given as well.
        InvalidTerm: a term that RDF, or a store, does not allow.
    """
    essence = _essence(media_type)
    if len(data) > limit:
        raise InvalidDocument(
            f"the document has {len(data):,} bytes, more than {limit:,}", remedy="load it with muniment load"
        )
    conversion = Conversion(graph, canonicaliser, skolem or Skolem(), LongIris())
    if essence == JSON_LD:
        return conversion.of_triples(read_jsonld(data, conversion.skolem))
    return conversion.of_quads(each_quad(data.removeprefix(_BOM), FORMATS[essence], conversion, base))


def _essence(media_type: str) -> str:
    essence, *parameters = (part.strip().lower() for part in media_type.split(";"))
    if essence not in MEDIA_TYPES:
        raise InvalidDocument(
            f"{essence or 'nothing'} is not read here", remedy=f"send one of {', '.join(MEDIA_TYPES)}"
        )
    charset = next((each.partition("=")[2].strip('"') for each in parameters if each.startswith("charset=")), "utf-8")
    if charset not in {"utf-8", "utf8", "us-ascii"}:
        raise InvalidDocument(f"the document is in {charset}", remedy="send it in UTF-8")
    return essence


def each_quad(data: bytes, written: ox.RdfFormat, conversion: Conversion, base: str | None = None) -> Iterator[ox.Quad]:
    """The quads of a document as they are parsed, for the conversion. Raises `InvalidDocument`."""
    text = xml_text if written == ox.RdfFormat.RDF_XML else turtle_text
    prepared, conversion.marked = text.prepared(data)
    try:
        yield from ox.parse(prepared, written, base_iri=base if written not in _LINES else None)
    except SyntaxError as error:
        raise unreadable(error, data, written, marked=conversion.marked, base=base) from error
    except MemoryError as error:
        raise too_long() from error


def too_long() -> InvalidDocument:
    """What the parser means where it says that its buffer is full: that of one token."""
    return InvalidDocument(
        "a literal, an IRI or a comment in it has more than 16 MB",
        remedy=f"give literals of at most {LONGEST:,} characters: keep what is longer in a file, and name that by its "
        "IRI",
    )


def unreadable(
    error: SyntaxError, data: bytes | mmap, written: ox.RdfFormat, *, marked: bool, base: str | None = None
) -> InvalidDocument:
    """What the parser complained of, for people.

    Args:
        error: its complaint.
        data: the document as it was submitted.
        written: its format.
        marked: whether the parser was given a text with marks in it.
        base: what it was to take relative IRIs for relative to.
    """
    if marked:
        error = _as_submitted(error, data, written, base)
    message = _PLACE.sub("", error.msg)
    told = f"line {error.lineno}, column {error.offset}"
    where = xml_text.place_of_fault(data) if error.lineno is None else told
    if (begun := _NO_NAME.fullmatch(message)) is not None:
        character = begun[1] if begun[1].isprintable() else f"U+{ord(begun[1]):04X}"
        message = f"no term begins with {character}"
    remedies = _LINE_REMEDIES if written in _LINES else _REMEDIES
    remedy = next((remedy for words, remedy in remedies if words in message), "correct it at or before that place")
    return InvalidDocument(message, remedy=remedy, where=where)


def _as_submitted(error: SyntaxError, data: bytes | mmap, written: ox.RdfFormat, base: str | None) -> SyntaxError:
    """The same error in the text without marks, which have moved its columns."""
    text: bytes | IO[bytes] = data if isinstance(data, bytes) else cast("IO[bytes]", data)  # it has `read`
    if not isinstance(text, bytes):
        text.seek(len(_BOM) if data[: len(_BOM)] == _BOM else 0)
    try:
        for _ in ox.parse(text, written, base_iri=None if written in _LINES else base):
            pass
    except SyntaxError as same:
        return same
    return error


class Conversion:
    """From what a parser gives to what is asserted.

    Args:
        graph: where the default graph goes; None for `m:default`.
        canonicaliser: knows what a store will hold.
        skolem: the names of blank nodes by label.
        long: counts long IRIs; None for a file, whose statements are not held together.

    `marked` is to be set when the text was marked before it was parsed.
    """

    def __init__(
        self,
        graph: Iri | None,
        canonicaliser: TermCanonicaliser,
        skolem: Callable[[str], Iri],
        long: LongIris | None = None,
    ) -> None:
        self.marked = False
        self.skolem = skolem
        self._graph = graph
        self._canonical = canonicaliser.canonical
        self._count = _uncounted if long is None else long.use
        self._iris: dict[str, Iri] = {}

    def of_quads(self, quads: Iterator[ox.Quad]) -> list[Asserted]:
        """The quads of a parser, which has seen to it that IRIs are valid."""
        asserted: list[Asserted] = []
        try:
            asserted.extend(map(self.of_quad, quads))
        except CallerError as error:
            error.where = error.where or f"statement {len(asserted) + 1}"
            raise
        return asserted

    def of_quad(self, quad: ox.Quad) -> Asserted:
        """One quad of a parser. Raises `CallerError`, without a place."""
        subject, predicate, value, graph = quad
        return self._asserted(self._node(subject), self._node(predicate), self._term(value), self._named(graph))

    def of_triples(self, triples: list[Triple]) -> list[Asserted]:
        """Triples whose IRIs nobody has looked at."""
        return [
            self._asserted(
                self._valid(subject), self._valid(predicate), self._quoted(value), graph and self._valid(graph)
            )
            for subject, predicate, value, graph in triples
        ]

    def _asserted(self, subject: Iri, predicate: Iri, submitted: Term, graph: Iri | None) -> Asserted:
        if graph is not None and self._graph is not None:
            raise InvalidDocument(
                f"the document has a graph of its own, {graph.value}, and the request gives one as well",
                remedy="leave the graph out of the request, or send a document without named graphs",
            )
        held = self._canonical(submitted)
        spelling = Spelling(submitted) if held != submitted and isinstance(submitted, Literal) else NO_SPELLING
        return Statement(subject, predicate, held, graph or self._graph or DEFAULT_GRAPH), spelling

    def _quoted(self, value: Iri | Literal) -> Term:
        """The triple term, where JSON-LD has a literal in its place."""
        if isinstance(value, Iri) or value.datatype != TRIPLE_TERM:
            return value
        triple, self.marked = read_triple_term(value.lexical)
        return self._term(triple)

    def _valid(self, iri: Iri) -> Iri:
        self._canonical(iri)
        return iri

    def _node(self, term: OxTerm) -> Iri:
        if isinstance(term, ox.NamedNode):
            return self._iri(term.value)
        if isinstance(term, ox.BlankNode):
            return self.skolem(term.value)
        raise InvalidDocument(f"{term} stands where only a node may", remedy="use an IRI or a blank node there")

    def _iri(self, value: str) -> Iri:
        self._count(value)
        iri = self._iris.get(value)
        if iri is None:
            if len(self._iris) >= _CACHED:
                self._iris.clear()
            iri = self._iris[value] = Iri(value)
        return iri

    def _term(self, term: OxTerm) -> Term:
        if isinstance(term, ox.Literal):
            return self._literal(term)
        if isinstance(term, ox.Triple):
            return TripleTerm(self._node(term.subject), self._node(term.predicate), self._term(term.object))
        return self._node(term)

    def _literal(self, term: ox.Literal) -> Literal:
        language = term.language
        if language is None:
            datatype = term.datatype.value
            self._count(datatype)
            value = xml_text.without_marks(term.value) if self.marked and datatype == _XML_LITERAL else term.value
            return Literal(value, datatype)
        direction = term.direction and term.direction.value
        return Literal(term.value, language=unmarked(language) if self.marked else language, direction=direction)

    def _named(self, graph: ox.NamedNode | ox.BlankNode | ox.DefaultGraph) -> Iri | None:
        if isinstance(graph, ox.DefaultGraph):
            return None
        if isinstance(graph, ox.BlankNode):
            raise InvalidDocument(f"the graph {graph} has no IRI", remedy="give the graph an IRI")
        return self._iri(graph.value)


def _uncounted(iri: str) -> None:
    """Of a file, nothing is counted."""
