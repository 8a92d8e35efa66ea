r"""Blocks of statements: the braces of INSERT and DELETE, as TriG, which the RDF parser reads with all its short forms.

Rules
-----
* What the grammar allows between the braces (QuadPattern, QuadData; SPARQL 1.1, rules 48 to 52) is TriG but for this:
  triples outside of any GRAPH are put into a graph of their own, `UNQUALIFIED`; a full stop after a GRAPH goes; TRUE
  and FALSE become small; a variable becomes an IRI that stands for it.
* What TriG allows and SPARQL does not is refused: prefixes within, a graph without GRAPH before it.
* Lines stay where they are, so that what the parser complains of is where it says.
* A block is read as it comes, in one pass: it may be as long as a request.

Example
-------
>>> text = "{ ?s :p TRUE . GRAPH :g { :a :b '.' } . :c :d _:e }"
>>> block = read_block(text, Tokens(text), "PREFIX : <urn:> ", {})
>>> for piece in "".join(block.trig).split("  "):
...     print(piece.strip().replace(UNQUALIFIED, "unqualified").replace(VARIABLE, "variable"))
PREFIX : <urn:>
<unqualified> { <variable0> :p true . } GRAPH :g { :a :b '.' }
<unqualified> { :c :d _:e }
>>> list(block.variables), list(block.labels)
(['s'], ['_:e'])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.sparql.tokens import END, Token, each_token, place
from bridge.sparql.update.operations import UNQUALIFIED, VARIABLE, Block
from kernel.errors import QueryRefused

if TYPE_CHECKING:
    from collections.abc import Callable

_OPEN: Final = f"<{UNQUALIFIED}> {{ "
_NESTING: Final = {"(": 1, "[": 1, ")": -1, "]": -1}


class Tokens:
    """The tokens of a text, one after the other, with a look at the next."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._rest = each_token(text)
        self.next = next(self._rest, END)
        self.end = 0

    def take(self) -> Token:
        """The next token, or `END`; `end` is where it ended."""
        token = self.next
        if token is not END:
            self.end = token.end
            self.next = next(self._rest, END)
        return token

    def refusal(self, token: Token, expected: str) -> QueryRefused:
        """What to raise at a token that is not what has to stand there."""
        if token is END:
            return QueryRefused(f"the update ends where {expected} is expected", remedy="send the update whole")
        return QueryRefused(
            f"{token.text[:40]!r} stands where {expected} is expected",
            remedy="correct it at or before that place",
            where=place(self.text, token.start),
        )


def read_block(text: str, tokens: Tokens, prologue: str, variables: dict[str, str] | None) -> Block:
    """Reads a block from its opening brace through its closing one.

    Args:
        text: the whole update.
        tokens: its tokens, from the opening brace on.
        prologue: the declarations up to there.
        variables: the IRIs of those that the blocks before have, by name, to which this one adds; None where the block
            may have none.

    Raises:
        QueryRefused: what no block may have.
    """
    opening = tokens.take()
    if opening.text != "{":
        raise tokens.refusal(opening, "'{'")
    line = text.count("\n", 0, opening.start)
    reader = _BlockReader(text, tokens, opening.end, variables)
    reader.read()
    return Block(
        (prologue, "\n" * line, *reader.pieces),
        reader.used,
        frozenset(reader.labels),
        place(text, opening.start),
    )


class _BlockReader:
    """One pass over a block; `pieces` is what it is as TriG."""

    def __init__(self, text: str, tokens: Tokens, start: int, variables: dict[str, str] | None) -> None:
        self.pieces: list[str] = []
        self.used: dict[str, str] = {}
        self.labels: set[str] = set()
        self._text = text
        self._tokens = tokens
        self._copied = start
        self._variables = variables
        self._nested = 0  # brackets within the triples
        self._named = False  # within a GRAPH
        self._open = False  # within triples outside of any GRAPH
        self._before = END
        self._readers: dict[str, Callable[[Token], bool]] = {
            "mark": self._mark,
            "word": self._word,
            "variable": self._variable,
            "blank": self._blank,
            "language": self._language,
        }

    def read(self) -> None:
        """Reads until the block is closed."""
        while True:
            token = self._tokens.take()
            if token is END:
                raise self._tokens.refusal(token, "'}'")
            read = self._readers.get(token.kind, self._term)
            if read(token):
                return
            self._before = token

    def _term(self, token: Token) -> bool:
        self._begin(token)
        return False

    def _mark(self, token: Token) -> bool:
        mark = token.text
        if mark == "{":
            self._brace(token)
        elif mark == "}":
            return self._close(token)
        elif mark == "." and not self._named and not self._open:
            if self._before.text != "}":
                raise self._tokens.refusal(token, "a triple")
            self._replace(token, "")
        else:
            self._nested += _NESTING.get(mark, 0)
            self._begin(token)
        return False

    def _brace(self, token: Token) -> None:
        """An annotation within a triple; that of a GRAPH was taken together with it."""
        if self._text[token.end : token.end + 1] != "|":
            raise self._tokens.refusal(token, "a triple, or GRAPH and its name,")
        self._nested += 1

    def _close(self, token: Token) -> bool:
        if self._before.text == "|" and self._before.end == token.start and self._nested:
            self._nested -= 1
            return False
        if self._nested:
            raise self._tokens.refusal(token, "the end of what is in brackets")
        if self._named:
            self._named = False
            return False
        self._end(token.start)
        self._copy(token.start)
        return True

    def _word(self, token: Token) -> bool:
        word = token.keyword
        if word == "GRAPH" and not self._nested:
            self._graph(token)
        elif word in {"TRUE", "FALSE"}:
            self._begin(token)
            self._replace(token, word.lower())
        elif token.text == "a":
            self._begin(token)
        else:
            raise self._tokens.refusal(token, "a term, or GRAPH,")
        return False

    def _graph(self, token: Token) -> None:
        if self._named:
            raise self._tokens.refusal(token, "a triple: a GRAPH is not within another,")
        self._end(token.start)
        name = self._tokens.take()
        if name.kind == "variable":
            self._substitute(name)
        elif name.kind not in {"iri", "name"}:
            raise self._tokens.refusal(name, "the name of a graph")
        opening = self._tokens.take()
        if opening.text != "{":
            raise self._tokens.refusal(opening, "'{'")
        self._named = True

    def _variable(self, token: Token) -> bool:
        self._begin(token)
        self._substitute(token)
        return False

    def _substitute(self, token: Token) -> None:
        if self._variables is None:
            raise QueryRefused(
                f"{token.text} is a variable, and data has none",
                remedy="use INSERT or DELETE with a WHERE",
                where=place(self._text, token.start),
            )
        name = token.text[1:]
        iri = self.used[name] = self._variables.setdefault(name, f"{VARIABLE}{len(self._variables)}")
        self._replace(token, f"<{iri}>")

    def _blank(self, token: Token) -> bool:
        self.labels.add(token.text)
        self._begin(token)
        return False

    def _language(self, token: Token) -> bool:
        if self._before.kind != "string":
            raise self._tokens.refusal(token, "a term")
        return False

    def _begin(self, token: Token) -> None:
        """Something of a triple stands here: outside of any GRAPH, it is put into the graph for that."""
        if not self._named and not self._open:
            self._copy(token.start)
            self.pieces.append(_OPEN)
            self._open = True

    def _end(self, position: int) -> None:
        """Triples outside of any GRAPH end here."""
        if self._open:
            self._copy(position)
            self.pieces.append("} ")
            self._open = False

    def _copy(self, position: int) -> None:
        self.pieces.append(self._text[self._copied : position])
        self._copied = position

    def _replace(self, token: Token, by: str) -> None:
        self._copy(token.start)
        self.pieces.append(by)
        self._copied = token.end
