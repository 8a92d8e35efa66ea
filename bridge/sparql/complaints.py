"""What is wrong with a query that the engine cannot parse or evaluate, in words that help.

Rules
-----
* The engine says how far it came, and which rules of its grammar it tried there. How far is a hint; the rules are
  noise, but where they come to a single mark.
* So the tokens are looked at first, for what goes wrong most: a prefix that is not declared, a bracket without its
  partner, an IRI that is not absolute. The engine says of these nothing that anybody could use.
* The first of these is told, at its own place.

Example
-------
>>> error = SyntaxError("error at 1:29: expected OPTIONAL")
>>> print(complaint("SELECT ?x { ?x a foaf:Person }", error))
line 1, column 18: the prefix foaf: is not declared (begin with PREFIX foaf: <http://xmlns.com/foaf/0.1/>)
>>> print(complaint("SELECT ?x { ?x ?p ?o", error))
line 1, column 11: '{' is never closed (close it)
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from bridge.sparql.tokens import place, tokenise
from kernel.errors import QueryRefused
from kernel.terms import RDF, XSD
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.sparql.tokens import Token

WELL_KNOWN: Final = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": XSD,
    "owl": "http://www.w3.org/2002/07/owl#",
    "sh": "http://www.w3.org/ns/shacl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "prov": "http://www.w3.org/ns/prov#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "schema": "https://schema.org/",
    "m": M,
}
"""What a prefix stands for wherever it is used, so that a declaration can be proposed."""

_PLACE: Final = re.compile(r"error at (\d+):(\d+): expected (.*)", re.DOTALL)
_ONE_MARK: Final = re.compile(r'"([^"\w\s]{1,2})"')
_ABSOLUTE: Final = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*:")
_PARTNERS: Final = {")": "(", "}": "{", "]": "["}
_NEAR: Final = 40
_TOLD: Final = (
    (
        "variable that is unbound",
        "SELECT names a variable that is neither grouped nor aggregated",
        "add it to GROUP BY, or put it into an aggregate such as MIN",
    ),
    ("IRI parsing failed", "an IRI cannot be read", "write it absolute, and percent-encode what an IRI cannot hold"),
)
"""What the engine says of its own among the rules that it tried, and what that means."""

_SHOWN: Final = 200
_NO_TRIPLE: Final = "triple term that is not a valid"
"""What the engine says where it puts a value into a triple term that cannot stand there, instead of finding nothing."""


def complaint(text: str, error: SyntaxError) -> QueryRefused:
    """The error for a query that the engine cannot parse.

    Args:
        text: the query.
        error: what the engine raised for it.
    """
    match = _PLACE.match(str(error))
    where = None if match is None else f"line {match[1]}, column {match[2]}"
    expected = "" if match is None else match[3]
    reached = len(text) if match is None else _position(text, int(match[1]), int(match[2]))
    tokens = tokenise(text)
    return (
        _said(where, expected)
        or _undeclared(text, tokens)
        or _unpaired(text, tokens)
        or _relative(text, tokens)
        or _elsewhere(text, where, reached, expected)
    )


def unevaluated(message: str) -> QueryRefused:
    """The error for a query that the engine can parse, and cannot evaluate.

    Args:
        message: what the engine raised for it.
    """
    if _NO_TRIPLE in message:
        return QueryRefused(
            "the query cannot be evaluated: a variable inside << >> or <<( )>> has a value that cannot stand there, "
            "such as a literal as subject",
            remedy="add FILTER(isIRI(?x)) for that variable, beside the pattern that it gets the value from",
        )
    return QueryRefused(f"the query cannot be evaluated: {message[:_SHOWN]}", remedy="use what SPARQL 1.1 has built in")


def _undeclared(text: str, tokens: Sequence[Token]) -> QueryRefused | None:
    declared = {name.text for word, name in pairwise(tokens) if word.keyword == "PREFIX" and word.kind == "word"}
    for token in tokens:
        prefix = token.text.partition(":")[0]
        if token.kind == "name" and f"{prefix}:" not in declared:
            return QueryRefused(
                f"the prefix {prefix}: is not declared",
                remedy=f"begin with PREFIX {prefix}: <{WELL_KNOWN.get(prefix, '…')}>",
                where=place(text, token.start),
            )
    return None


def _unpaired(text: str, tokens: Sequence[Token]) -> QueryRefused | None:
    open_: list[Token] = []
    for token in tokens:
        if token.kind != "mark":
            continue
        if token.text in _PARTNERS.values():
            open_.append(token)
        elif token.text in _PARTNERS and (not open_ or open_.pop().text != _PARTNERS[token.text]):
            return QueryRefused(
                f"{token.text!r} closes nothing that is open",
                remedy=f"take it out, or open it with {_PARTNERS[token.text]!r}",
                where=place(text, token.start),
            )
    if not open_:
        return None
    return QueryRefused(f"{open_[-1].text!r} is never closed", remedy="close it", where=place(text, open_[-1].start))


def _relative(text: str, tokens: Sequence[Token]) -> QueryRefused | None:
    if any(token.keyword == "BASE" for token in tokens):
        return None
    for token in tokens:
        if token.kind == "iri" and not _ABSOLUTE.match(token.text):
            return QueryRefused(
                f"{token.text} is not an absolute IRI",
                remedy="write it in full, or declare a BASE; or put spaces around < and > where they compare",
                where=place(text, token.start),
            )
    return None


def _said(where: str | None, expected: str) -> QueryRefused | None:
    for words, what, remedy in _TOLD:
        if words in expected:
            return QueryRefused(f"the query cannot be parsed: {what}", remedy=remedy, where=where)
    return None


def _elsewhere(text: str, where: str | None, reached: int, expected: str) -> QueryRefused:
    mark = _ONE_MARK.fullmatch(expected)
    if reached >= len(text.rstrip()):
        what = "the query cannot be parsed: it is not complete, or something earlier in it is not SPARQL"
    else:
        near = " ".join(text[max(0, reached - _NEAR) : reached].split())
        what = f"the query cannot be parsed after {near!r}{f'; {mark[1]} is missing there' if mark else ''}"
    return QueryRefused(
        what, remedy="correct it at or before that place; put spaces around < and > where they compare", where=where
    )


def _position(text: str, line: int, column: int) -> int:
    """How many characters come before a line and column, both counted from 1."""
    lines = text.split("\n")[: line - 1]
    return sum(len(each) + 1 for each in lines) + column - 1
