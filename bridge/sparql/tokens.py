r"""The words of a SPARQL text, read in the only way that the engine can read them too.

Rules
-----
* Tokens are those of the SPARQL 1.2 grammar (section "Grammar"). Escapes `\uXXXX` stand in strings and IRIs only; a
  backslash anywhere else, but for the escapes of a local name, is refused.
* The engine has no tokens: it tries `?a <b'c> ?d` as two comparisons as well, which turns strings into code and code
  into strings, and lets `SERVICE` hide in what looks like a string. So an IRI that it could take for code is written
  anew with escapes (`<b\u0027c>`), and what is scanned here is what is run. An IRI that starts like `http://` is safe
  as it is: no expression has two slashes in a row. So is any `<…>` of plain letters, digits and `:/._~%-`, for a
  comparison cannot be compared; a long one is written anew all the same, lest it be tried as a long division.
* The engine recurses, and a deep text ends the process. Brackets may be nested `MAX_DEPTH` deep, and there may be
  `MAX_OPERATORS` keywords, operators and brackets, `VALUES` blocks aside: a third of what a stack of 8 MB bears.
* Reading a text holds up whoever else is served, and no limit of time ends it. So a long token is found in one step for
  each stretch of plain characters, and a query has `MAX_TOKENS` tokens at most.

Example
-------
>>> [token.text for token in tokenise("ASK { ?s <urn:p> 'a{b' } # c")]
['ASK', '{', '?s', '<urn:p>', "'a{b'", '}']
>>> settle("ASK { ?s <urn:it's> ?o }")
'ASK { ?s <urn:it\\u0027s> ?o }'
"""

from __future__ import annotations

import re
from functools import lru_cache
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Final, NamedTuple

from kernel.errors import QueryRefused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_DEPTH: Final = 100
MAX_OPERATORS: Final = 1_000
MAX_TOKENS: Final = 250_000

_LONGEST_CACHED: Final = 16_384
"""Characters of a text whose tokens are remembered for a moment."""

_LETTER: Final = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_START: Final = _LETTER + "_"
_COMBINING: Final = "\u00b7\u0300-\u036f\u203f\u2040"
_CHARACTER: Final = _START + _COMBINING + r"0-9\-"
_ESCAPED: Final = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%]"
_CODEPOINT: Final = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"

_TOKEN: Final = re.compile(
    rf"""
      (?P<space>    [ \t\r\n]+ | \#[^\r\n]* )
    | (?P<iri>      <[^<>"{{}}|^`\\\x00-\x20]*+(?:(?:{_CODEPOINT})[^<>"{{}}|^`\\\x00-\x20]*+)*> )
    | (?P<string>   \"\"\"[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*\"\"\" | '''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*'''
                  | "[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*" | '[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*' )
    | (?P<variable> [?$][{_START}0-9][{_START}0-9{_COMBINING}]* )
    | (?P<blank>    _:[{_START}0-9](?:[{_CHARACTER}.]*[{_CHARACTER}])? )
    | (?P<name>     (?:[{_LETTER}][{_CHARACTER}.]{{0,255}}+(?<!\.))?: (?# bounded, lest it be tried over and over)
                    (?:(?:[{_START}:0-9]|{_ESCAPED})[{_CHARACTER}:]*+
                       (?:(?:{_ESCAPED}|\.++(?=[{_CHARACTER}:]|{_ESCAPED}))[{_CHARACTER}:]*+)*)? )
    | (?P<word>     [A-Za-z_][A-Za-z0-9_]* )
    | (?P<language> @[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--[A-Za-z]+)? )
    | (?P<number>   (?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+\-]?[0-9]+)? )
    | (?P<mark>     [{{}}()\[\].,;*/|^+\-!=<>?&~] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")

_UNMISTAKABLE: Final = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.\-]*://.*|[A-Za-z0-9:/._~%\-]{,1000})>", re.DOTALL)
_ESCAPED_ALREADY: Final = re.compile(rf"({_CODEPOINT})")
_AT_ONCE: Final = 65_536
"""Characters of an IRI that are written anew in one step: others have their turn between two."""

_OPENING: Final = frozenset("({[")
_CLOSING: Final = frozenset(")}]")
_FLAT: Final = frozenset({".", ",", ";", *_CLOSING, "A", "TRUE", "FALSE", "UNDEF"})


class Token(NamedTuple):
    """A token: its kind (a group of the grammar above), its text and where it starts, in characters."""

    kind: str
    text: str
    start: int

    @property
    def keyword(self) -> str:
        """The word, or the prefix of the name, in capitals: the engine takes `graph:x` for `GRAPH :x` where it can."""
        if self.kind == "word":
            return self.text.upper()
        return self.text.partition(":")[0].upper() if self.kind == "name" else ""

    @property
    def end(self) -> int:
        """Where the next token may start."""
        return self.start + len(self.text)


END: Final = Token("end", "", 0)
"""What comes after the last token."""


def tokenise(text: str) -> list[Token]:
    """The tokens of a query or update, without white space and comments.

    Raises:
        QueryRefused: a character that starts no token, such as a quote that is never closed; nesting or length beyond
            what the engine survives.
    """
    return list(_tokens_briefly(text) if len(text) <= _LONGEST_CACHED else _tokens(text))


def _tokens(text: str) -> tuple[Token, ...]:
    return tuple(_shallow(each_token(text), text))


# A query is looked at from several sides, one right after the other.
_tokens_briefly = lru_cache(maxsize=16)(_tokens)


def each_token(text: str) -> Iterator[Token]:
    """The same one by one, of a text that may be nested or long beyond what the engine survives."""
    position = 0
    for match in _TOKEN.finditer(text):
        if match.start() != position:
            break
        position = match.end()
        kind = match.lastgroup
        if kind is not None and kind != "space":
            yield Token(kind, match.group(), match.start())
    if position != len(text):
        raise _unreadable(text, position)


def settle(text: str) -> str:
    """The text with every IRI written so that it cannot be read as code; raises `QueryRefused` as `tokenise` does."""
    return "".join(pieces(text, tokenise(text), {}))


def pieces(text: str, tokens: list[Token], replacing: dict[int, int]) -> list[str]:
    """The settled text, cut where stretches of it are to be replaced.

    Args:
        text: the query.
        tokens: its tokens.
        replacing: the stretches, as start → end in characters.

    Returns:
        One string more than there are stretches.
    """
    cut = []
    current: list[str] = []
    copied = 0
    for token in tokens:
        if token.kind == "iri" and not _UNMISTAKABLE.fullmatch(token.text):
            current += (text[copied : token.start], _escape(token.text))
            copied = token.end
        elif token.start in replacing:
            cut.append("".join((*current, text[copied : token.start])))
            current = []
            copied = replacing[token.start]
    return [*cut, "".join((*current, text[copied:]))]


def decode(text: str) -> str:
    r"""The text with each `\uXXXX` and `\UXXXXXXXX` as the character that it stands for (SPARQL 1.1, section 19.2)."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def place(text: str, position: int) -> str:
    """Line and column of a position, both counted from 1."""
    before = text[:position].replace("\r\n", "\n").replace("\r", "\n")
    return f"line {before.count(chr(10)) + 1}, column {position - max(text.rfind(end, 0, position) for end in _ENDS)}"


_ENDS: Final = ("\n", "\r")


def _shallow(tokens: Iterable[Token], text: str) -> Iterator[Token]:
    """The tokens, as long as they are not too many and not too deep."""
    depth = operators = 0
    data_from = -1  # the depth outside the VALUES block that we are in; -1 outside of any
    awaiting_data = False
    for number, token in enumerate(tokens):
        if number == MAX_TOKENS:
            raise _too_long(text, token)
        yield token
        kind = token.kind
        if kind not in {"mark", "word"}:
            continue
        mark = token.text.upper() if kind == "word" else token.text
        if mark in _OPENING:
            if awaiting_data and mark == "{":
                awaiting_data, data_from = False, depth
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
            if depth == data_from:
                data_from = -1
        awaiting_data = awaiting_data or mark == "VALUES"
        operators += data_from < 0 and mark not in _FLAT
        if depth > MAX_DEPTH or operators > MAX_OPERATORS:
            raise _too_much(text, token, deep=depth > MAX_DEPTH)


def _too_long(text: str, token: Token) -> QueryRefused:
    return QueryRefused(
        f"there are more than {MAX_TOKENS:,} words, values and marks",
        remedy="ask in several queries; what is to be written as it is may be as long as a body",
        where=place(text, token.start),
    )


def _too_much(text: str, token: Token, *, deep: bool) -> QueryRefused:
    if deep:
        return QueryRefused(
            f"brackets are nested more than {MAX_DEPTH} deep",
            remedy="nest fewer groups and expressions",
            where=place(text, token.start),
        )
    return QueryRefused(
        f"there are more than {MAX_OPERATORS} operators, keywords and brackets",
        remedy="give long lists of values in VALUES or IN, or ask in several queries",
        where=place(text, token.start),
    )


def _unreadable(text: str, position: int) -> QueryRefused:
    character = text[position]
    remedies = {
        "'": "close the quote on the same line, or use three quotes",
        '"': "close the quote on the same line, or use three quotes",
        "\\": "write the character itself: escapes stand only in strings, in IRIs and, for punctuation, in local names",
    }
    return QueryRefused(
        f"{character!r} starts nothing that SPARQL knows",
        remedy=remedies.get(character, "take it out, or put it into a string or an IRI"),
        where=place(text, position),
    )


def _character(match: re.Match[str]) -> str:
    number = int(match[1] or match[2], 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"


def _escape(iri: str) -> str:
    parts = _ESCAPED_ALREADY.split(iri[1:-1])
    parts[::2] = map(_rewritten, parts[::2])
    return f"<{''.join(parts)}>"


def _rewritten(part: str) -> str:
    return "".join(part[start : start + _AT_ONCE].translate(_WRITTEN) for start in range(0, len(part), _AT_ONCE))


class _Written(dict[int, str]):
    """How each character is written: a plain one as it is."""

    def __missing__(self, number: int) -> str:
        return f"\\u{number:04X}" if number <= 0xFFFF else f"\\U{number:08X}"


_WRITTEN: Final = _Written()
_WRITTEN.update({number: _WRITTEN[number] for number in range(128)})  # those beyond are many, and rare
_WRITTEN.update({ord(each): each for each in digits + ascii_letters + ":._~%"})
