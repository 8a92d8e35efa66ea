r"""RDF 1.2 terms and statements as Muniment holds them.

Rules
-----
* A term is an `Iri`, a `Literal` or a `TripleTerm`; blank nodes are skolemised on entry and so never reach the kernel.
* A term's text is its canonical N-Triples form (RDF 1.2 N-Triples, section "Canonical form"): the same text, the same
  term. Hashes, equality and ledger columns are over that text.
* An `Iri` is absolute and holds no character that RFC 3987 forbids, a `Literal` no lone surrogate.
* What a *store* makes of a literal (`"01"^^xsd:int` becomes `"1"^^xsd:integer`) is the store's business and reaches the
  kernel through the port `TermCanonicaliser`.

Example
-------
>>> Literal("a\nb", language="en").n3
'"a\\nb"@en'
>>> parse_term('"5"^^<http://www.w3.org/2001/XMLSchema#integer>').lexical
'5'
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from kernel.errors import InvalidTerm

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD_STRING: Final = XSD + "string"
LANG_STRING: Final = RDF + "langString"
DIR_LANG_STRING: Final = RDF + "dirLangString"

# Absolute, and without the characters that RFC 3987 excludes (delimiters, controls, surrogates, bidi formatting), nor
# the bidi formatting that is newer than it: an IRI does not look like another.
_EXCLUDED: Final = r"\x00-\x20<>\"{}|^`\\\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IRI: Final = re.compile(rf"[A-Za-z][A-Za-z0-9+.\-]*:[^{_EXCLUDED}]*")
_NOT_IN_IRIS: Final = re.compile(f"[{_EXCLUDED}]")
_SHOWN: Final = 200
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_MUST_ESCAPE: Final = re.compile(r'[\x00-\x1f"\\\x7f\ufffe\uffff]')
_SHORT_ESCAPES: Final = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


@dataclass(frozen=True, slots=True)
class Iri:
    """An absolute IRI (RFC 3987). Raises `InvalidTerm` for anything else."""

    value: str

    def __post_init__(self) -> None:
        if not _IRI.fullmatch(self.value):
            raise _no_iri(self.value)

    # What a dataclass would make of these builds tuples first, and terms are looked up and compared by the million.

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Iri) and self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)

    @property
    def n3(self) -> str:
        """The N-Triples form."""
        return f"<{self.value}>"


@dataclass(frozen=True, slots=True)
class Literal:
    """An RDF 1.2 literal (RDF 1.2 Concepts, section "Literals").

    Args:
        lexical: the lexical form as a Unicode string.
        datatype: the datatype IRI; derived where a language is given.
        language: a BCP 47 tag, or None.
        direction: the base direction `ltr` or `rtl`, only with a language.

    Raises:
        InvalidTerm: lone surrogates, a bad language tag or direction, a datatype that does not fit the language.
    """

    lexical: str
    datatype: str = XSD_STRING
    language: str | None = None
    direction: str | None = None

    def __post_init__(self) -> None:
        if _SURROGATE.search(self.lexical):
            raise InvalidTerm("the literal holds a lone surrogate", remedy="send valid Unicode text")
        if self.language is not None:
            self._settle_language(self.language)
        elif self.direction is not None or self.datatype in (LANG_STRING, DIR_LANG_STRING):
            raise InvalidTerm(f"a literal of {self.datatype} needs a language", remedy="give a language tag")
        elif self.datatype is not XSD_STRING and not _is_iri(self.datatype):
            raise InvalidTerm(f"{self.datatype!r} is not an absolute IRI", remedy="give the datatype as an IRI")

    def __hash__(self) -> int:
        return hash(self.lexical)

    def _settle_language(self, language: str) -> None:
        if not _LANGUAGE.fullmatch(language):
            raise InvalidTerm(
                f"{language!r} is not a language tag", remedy="give a tag as BCP 47 has it, such as en-GB"
            )
        if self.direction not in (None, "ltr", "rtl"):
            raise InvalidTerm(f"{self.direction!r} is not a base direction", remedy="give ltr or rtl")
        fitting = LANG_STRING if self.direction is None else DIR_LANG_STRING
        if self.datatype not in (XSD_STRING, fitting):
            raise InvalidTerm("a literal with a language has no other datatype", remedy="leave the datatype out")
        object.__setattr__(self, "datatype", fitting)

    @property
    def n3(self) -> str:
        """The canonical N-Triples form."""
        quoted = f'"{_MUST_ESCAPE.sub(_escape, self.lexical)}"'
        if self.language is not None:
            return (
                f"{quoted}@{self.language}" if self.direction is None else f"{quoted}@{self.language}--{self.direction}"
            )
        return quoted if self.datatype == XSD_STRING else f"{quoted}^^<{self.datatype}>"


@dataclass(frozen=True, slots=True)
class TripleTerm:
    """A triple used as an object (RDF 1.2 Concepts, section "Triple Terms"); quoted, not asserted."""

    subject: Iri
    predicate: Iri
    object: Term

    @property
    def n3(self) -> str:
        """The canonical N-Triples form."""
        return f"<<( {self.subject.n3} {self.predicate.n3} {self.object.n3} )>>"


Term = Iri | Literal | TripleTerm


@dataclass(frozen=True, slots=True)
class Statement:
    """An RDF quad: what a fact is a fact of."""

    subject: Iri
    predicate: Iri
    object: Term
    graph: Iri

    # As of terms: without a call for each of them.

    def __hash__(self) -> int:
        return hash((self.subject.value, self.predicate.value, self.object, self.graph.value))

    @property
    def nquad(self) -> str:
        """The canonical N-Quads line, without its line end."""
        return f"{self.subject.n3} {self.predicate.n3} {self.object.n3} {self.graph.n3} ."


def _no_iri(text: str) -> InvalidTerm:
    """What keeps a text from being an absolute IRI."""
    shown = repr(text[:_SHOWN])
    forbidden = _NOT_IN_IRIS.search(text)
    if forbidden is None:
        return InvalidTerm(
            f"{shown} is not an absolute IRI: it has no scheme",
            remedy="write it in full, as in https://example.org/ann",
        )
    character = forbidden.group()
    named = f"{character!r} (U+{ord(character):04X})" if character.isprintable() else f"U+{ord(character):04X}"
    if unicodedata.category(character) in {"Cc", "Cf", "Cs"}:
        remedy = "take it out: it is not seen, and may change how what stands beside it is read"
    else:
        remedy = f"percent-encode it, as {quote(character, safe='')}"
    return InvalidTerm(f"{shown} is not an absolute IRI: it may not hold {named}", remedy=remedy)


@lru_cache(maxsize=65_536)
def _is_iri(text: str) -> bool:
    return _IRI.fullmatch(text) is not None


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04X}"


_TOKEN: Final = re.compile(
    r"""\s*(?: <(?P<iri>[^<>\x00-\x20]*)>
        | "(?P<lexical>(?:[^"\\\n\r]|\\.)*)"
          (?: @(?P<language>[A-Za-z0-9-]+?)(?:--(?P<direction>ltr|rtl))?(?![A-Za-z0-9-])
            | \^\^<(?P<datatype>[^<>\x00-\x20]*)> )?
        | (?P<open><<\() | (?P<close>\)>>) )""",
    re.VERBOSE,
)
_UNESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_LONG: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\", "'": "'"}


@lru_cache(maxsize=65_536)
def parse_term(text: str) -> Term:
    """Reads a term from its N-Triples form.

    Raises:
        InvalidTerm: when the text is not exactly one term.
    """
    term, end = _read_term(text, 0)
    if end != len(text):
        raise _unreadable(text)
    return term


@lru_cache(maxsize=65_536)
def parse_iri(text: str) -> Iri:
    """Reads an IRI from its N-Triples form; raises `InvalidTerm` for any other term."""
    term = parse_term(text)
    if not isinstance(term, Iri):
        raise InvalidTerm(f"{text} is not an IRI", remedy="give an IRI")
    return term


def parse_literal(text: str) -> Literal:
    """Reads a literal from its N-Triples form; raises `InvalidTerm` for any other term."""
    term = parse_term(text)
    if not isinstance(term, Literal):
        raise InvalidTerm(f"{text} is not a literal", remedy="give a literal")
    return term


def _read_term(text: str, position: int) -> tuple[Term, int]:
    match = _TOKEN.match(text, position)
    if match is None or match["close"]:
        raise _unreadable(text)
    if match["iri"] is not None:
        return Iri(match["iri"]), match.end()
    if match["open"]:
        return _read_triple(text, match.end())
    lexical = _UNESCAPE.sub(_unescape, match["lexical"]) if "\\" in match["lexical"] else match["lexical"]
    return Literal(lexical, match["datatype"] or XSD_STRING, match["language"], match["direction"]), match.end()


def _read_triple(text: str, position: int) -> tuple[Term, int]:
    subject, position = _read_term(text, position)
    predicate, position = _read_term(text, position)
    value, position = _read_term(text, position)
    close = _TOKEN.match(text, position)
    if close is None or not close["close"] or not isinstance(subject, Iri) or not isinstance(predicate, Iri):
        raise _unreadable(text)
    return TripleTerm(subject, predicate, value), close.end()


def _unescape(match: re.Match[str]) -> str:
    short, long, single = match.groups()
    return _LONG[single] if single else chr(int(short or long, 16))


def _unreadable(text: str) -> InvalidTerm:
    return InvalidTerm(f"{text!r} is not an RDF term in N-Triples form", remedy="write it as N-Triples has it")
