"""What is said of a query that would look at every fact there is, and need not.

Rules
-----
* Facts are found by what stands on them: `m:subject`, `m:object`, `m:certificate` and so on. Inside `<<( )>>`, and
  `<< >>`, which means the same, the store has no index: a pattern with a variable in it looks at each fact of the
  history graph, unless the fact itself is found otherwise (measured: 80 ms at 30,000 facts, and 0.07 ms with
  `m:subject`).
* So there is a hint where a pattern in `<<( )>>` has a variable, and the fact that it stands for has no other property
  with a value that is given. An annotation, `~` or `{| |}` on a pattern outside, needs none: that is found first.
* A hint is about speed alone. It is drawn from the words of the query: it may be there once too often, and says so.

Example
-------
>>> hint("SELECT * { GRAPH <urn:h> { << <urn:ada> ?p ?o ~ ?fact >> ?q ?v } }").partition(", such as ")[2]
'?fact <https://w3id.org/muniment#subject> <urn:ada> .'
>>> hint("SELECT * { GRAPH <urn:h> { ?f a <urn:x> . ?f <urn:reifies> <<( ?s ?p ?o )>> } }") is None
True
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from bridge.sparql.tokens import END, Token, tokenise
from kernel.errors import QueryRefused
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CACHED: Final = 256
_GIVEN: Final = frozenset({"iri", "name", "string", "number"})
_ENDS: Final = frozenset({".", "}", "{", ""})
_BEGINS: Final = frozenset({".", "{", "}", ")", ""})
_MOST: Final = 16
"""Patterns that are looked at: each takes as long as the query is."""

_LONGEST_TEXT: Final = 16_384
"""Characters of a query that is looked at: so that it is done at once."""

_LONGEST: Final = 200
"""Characters of a term that is repeated in a hint."""


class _Quoted(NamedTuple):
    """A pattern in angle brackets: its tokens, the variable of its fact if it has one, and where more is said of it."""

    inner: Sequence[Token]
    fact: str | None
    lists: tuple[int, ...]


def hint(text: str) -> str | None:
    """What to write instead, in ASCII; None where nothing is to be said, and of what is no query or very long."""
    return _hint(text) if "<<" in text and len(text) <= _LONGEST_TEXT else None


@lru_cache(maxsize=_CACHED)
def _hint(text: str) -> str | None:
    try:
        tokens = tokenise(text)
    except QueryRefused:
        return None
    for quoted in islice(_quoted(tokens), _MOST):
        if any(token.kind == "variable" for token in quoted.inner) and not _is_found(tokens, quoted):
            return _said(quoted)
    return None


def _said(quoted: _Quoted) -> str:
    fact, inner = quoted.fact or "?fact", quoted.inner
    ends = (("subject", inner[0]), ("object", inner[-1]))
    given = ((name, token.text) for name, token in ends if token.kind in {"iri", "name"} and len(inner) == len("spo"))
    name, term = next(((name, term) for name, term in given if _is_short(term)), ("subject", "<IRI>"))
    return (
        "a variable inside <<( )>> looks at every fact of the history, unless the fact is found otherwise: "
        f"say of it what is known, such as {fact if _is_short(fact) else '?fact'} <{M}{name}> {term} ."
    )


def _is_short(term: str) -> bool:
    return term.isascii() and len(term) <= _LONGEST


def _quoted(tokens: Sequence[Token]) -> Iterator[_Quoted]:
    """The patterns in angle brackets, those without others in them."""
    opened: int | None = None
    for position in range(len(tokens)):
        if _doubled(tokens, position, "<"):
            opened = position + 2
        elif opened is not None and _doubled(tokens, position, ">"):
            yield _read(tokens, opened, position)
            opened = None


def _read(tokens: Sequence[Token], opened: int, closed: int) -> _Quoted:
    inner = [token for token in tokens[opened:closed] if token.text not in {"(", ")"}]
    marks = [number for number, token in enumerate(inner) if token.text == "~"]
    if marks or _at(tokens, opened).text != "(":  # << s p o ~ ?fact >> …
        named = inner[marks[0] + 1 : marks[0] + 2] if marks else []
        fact = named[0].text if named and named[0].kind == "variable" else None
        return _Quoted(inner[: marks[0]] if marks else inner, fact, (closed + 2,))
    # ?fact … ; rdf:reifies <<( s p o )>> …
    before = opened - 3
    while _at(tokens, before).text not in _BEGINS:
        before -= 1
    subject = _at(tokens, before + 1)
    return _Quoted(inner, subject.text if subject.kind == "variable" else None, (before + 2, closed + 2))


def _is_found(tokens: Sequence[Token], quoted: _Quoted) -> bool:
    """Whether something is given of the fact, beside the pattern."""
    named = [number for number, token in enumerate(tokens) if token.text == quoted.fact]
    if any(_at(tokens, number - 1).keyword == "VALUES" for number in named):
        return True
    elsewhere = (number + 1 for number in named if _at(tokens, number - 1).text in _BEGINS)
    return any(_gives(tokens, place) for place in (*quoted.lists, *elsewhere))


def _gives(tokens: Sequence[Token], place: int) -> bool:
    """Whether a list of properties, from its first verb on, has a value that is given."""
    while _at(tokens, place).text not in _ENDS:
        verb, value = _at(tokens, place), _at(tokens, place + 1)
        if verb.kind in {"iri", "name", "word"} and value.kind in _GIVEN:
            return True
        while _at(tokens, place).text not in _ENDS | {";"}:
            place += 1
        place += _at(tokens, place).text == ";"
    return False


def _doubled(tokens: Sequence[Token], place: int, mark: str) -> bool:
    one, other = _at(tokens, place), _at(tokens, place + 1)
    return one.text == other.text == mark and one.end == other.start


def _at(tokens: Sequence[Token], place: int) -> Token:
    return tokens[place] if 0 <= place < len(tokens) else END
