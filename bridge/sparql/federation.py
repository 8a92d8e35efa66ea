r"""SERVICE: what of a query another endpoint is to be asked, and the query with what that answered in its place.

Rules
-----
* The engine calls nobody. A SERVICE is the join of what stands around it with what the endpoint answers to its group
  (SPARQL 1.1 Federated Query, section 4): so the endpoint is asked for all that the group has, and its answer takes
  the place of the call, as VALUES. What other endpoints are told is the text of a query, never what is kept here.
* A call within a call is the business of the endpoint that has the outer one.
* An endpoint that is a variable has to be bound by what stands before it in its group, without a FILTER among that, and
  outside of GRAPH and EXISTS: then `SELECT DISTINCT` of that, `Call.before`, names every endpoint that can matter.
* Silent calls that fail have one solution without any binding (the same specification, section 4.1).
* Blank nodes of an answer come as Skolem IRIs, each answer having its own.

Example
-------
>>> text = "PREFIX : <urn:> SELECT * { ?s :p ?o SERVICE SILENT <http://a/> { ?s :q ?v } FILTER(?v > ?o) }"
>>> call = calls_of(text)[0]
>>> call.endpoint, call.silent, call.query
(Iri(value='http://a/'), True, 'PREFIX : <urn:>\nSELECT * { ?s :q ?v }')
>>> replaced(text, [(call, Answered(("s", "v"), (("<urn:a>", "1"), ("<urn:b>", None))))])
'PREFIX : <urn:> SELECT * { ?s :p ?o { VALUES (?s ?v) { (<urn:a> 1) (<urn:b> UNDEF) } } FILTER(?v > ?o) }'
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, cast
from uuid import uuid4

import pyoxigraph as ox

from bridge.sparql.scan import Names
from bridge.sparql.tokens import END, Token, place, tokenise
from bridge.terms import from_oxigraph
from kernel.errors import InvalidDocument, InvalidTerm, QueryRefused
from kernel.terms import Iri
from kernel.vocabulary import GENID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bridge.terms import OxTerm

MEDIA_TYPES: Final = {
    "application/sparql-results+json": ox.QueryResultsFormat.JSON,
    "application/json": ox.QueryResultsFormat.JSON,
    "application/sparql-results+xml": ox.QueryResultsFormat.XML,
    "text/tab-separated-values": ox.QueryResultsFormat.TSV,
}
"""The formats that an endpoint may answer in; the first is asked for."""

MOST_ROWS: Final = 10_000
"""Solutions that an endpoint may answer."""

_DECLARING: Final = {"PREFIX": 3, "BASE": 2}
"""Words of the prologue, and of how many tokens each declaration is."""


@dataclass(frozen=True, slots=True)
class Call:
    """A SERVICE of a query.

    Args:
        start: where it begins in the text, in characters.
        end: where it ends.
        silent: whether it is nothing where it fails.
        endpoint: which is asked, or the variable that says which.
        query: what the endpoint is asked.
        before: what may bind the variable: the group that it stands in, up to it.
        prologue: the declarations that hold there.
    """

    start: int
    end: int
    silent: bool
    endpoint: Iri | str
    query: str
    before: tuple[int, int]
    prologue: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What endpoints answered to a call: variables, and for each solution their values as they are written, or None."""

    variables: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]

    @property
    def text(self) -> str:
        """As a group of a query."""
        names = " ".join(f"?{name}" for name in self.variables)
        rows = " ".join(f"({' '.join(value or 'UNDEF' for value in row)})" for row in self.rows)
        return f"{{ VALUES ({names}) {{ {rows} }} }}"


NOTHING: Final = Answered((), ((),))
"""One solution without bindings."""


def calls_of(text: str) -> list[Call]:
    """The calls of a query or update, in their order. Raises `QueryRefused` for one that cannot be made from here."""
    return _Calls(text).found


def replaced(text: str, answers: Iterable[tuple[Call, Answered]]) -> str:
    """The text with answers in the place of calls, which are given in their order."""
    parts, at = list[str](), 0
    for call, answered in answers:
        parts += (text[at : call.start], answered.text)
        at = call.end
    return "".join((*parts, text[at:]))


class _Calls:
    """One pass over the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.found: list[Call] = []
        self._text = text
        self._tokens = [*tokenise(text), END]
        self._names = Names()
        self._prologue: list[str] = []
        self._open: list[int] = []  # the tokens of the braces that are open
        position = 0
        while self._tokens[position] is not END:
            position = self._step(position)

    def _step(self, position: int) -> int:
        """Takes what begins at a token; answers where the next begins."""
        token = self._tokens[position]
        declared = _DECLARING.get(token.keyword) if token.kind == "word" and not self._open else None
        if declared is not None:
            return self._declare(position, declared)
        if token.kind == "word" and token.keyword == "SERVICE" and self._open:
            return self._call(position)
        if token.text == "{":
            self._open.append(position)
        elif token.text == "}" and self._open:
            self._open.pop()
        return position + 1

    def _declare(self, position: int, length: int) -> int:
        declaration = self._tokens[position : position + length]
        self._prologue.append(" ".join(token.text for token in declaration))
        iri = self._names.resolve(declaration[-1])
        if iri is not None and length > len(("BASE", "iri")):
            self._names.prefixes[declaration[1].text] = iri
        elif iri is not None:
            self._names.base = iri
        return position + length

    def _call(self, position: int) -> int:
        start = self._tokens[position]
        silent = self._tokens[position + 1].keyword == "SILENT" and self._tokens[position + 1].kind == "word"
        named = position + 1 + silent
        closing = self._closing(named + 1)
        name, last = self._tokens[named], self._tokens[closing]
        group = self._text[self._tokens[named + 1].start : last.end]
        prologue = "".join(f"{each}\n" for each in self._prologue)
        before = (self._tokens[self._open[-1]].start, start.start)
        endpoint = self._endpoint(name)
        if isinstance(endpoint, str):
            self._require_bound_before(position, name)
        self.found.append(
            Call(start.start, last.end, silent, endpoint, f"{prologue}SELECT * {group}", before, prologue)
        )
        return closing + 1

    def _endpoint(self, name: Token) -> Iri | str:
        if name.kind == "variable":
            return name.text[1:]
        iri = self._names.resolve(name) if name.kind in {"iri", "name"} else None
        try:
            return Iri(iri or "")
        except InvalidTerm as error:
            raise self._refusal(name, "this names no endpoint", "write its IRI after SERVICE") from error

    def _closing(self, position: int) -> int:
        """The brace that closes the one at a token."""
        depth = 0
        for at in range(position, len(self._tokens)):
            depth += (self._tokens[at].text == "{") - (self._tokens[at].text == "}")
            if depth == 0:
                break
        else:
            at = position
        if at == position:
            raise self._refusal(self._tokens[position], "a group is expected", "write SERVICE, an endpoint, and { … }")
        return at

    def _require_bound_before(self, position: int, name: Token) -> None:
        """Refuses a call whose variable may have other values than those of what stands before it."""
        earlier = [self._tokens[max(0, at - back)].keyword for at in self._open for back in (1, 2)]
        if "GRAPH" in earlier or "EXISTS" in earlier:
            raise self._refusal(name, "an endpoint is not named by a variable here", "name it by its IRI")
        depth = 0
        for token in self._tokens[self._open[-1] + 1 : position]:
            depth += (token.text == "{") - (token.text == "}")
            if depth == 0 and token.kind == "word" and token.keyword == "FILTER":
                raise self._refusal(token, "a FILTER stands before a SERVICE of a variable", "write it after that")

    def _refusal(self, token: Token, what: str, remedy: str) -> QueryRefused:
        return QueryRefused(what, remedy=remedy, where=place(self._text, token.start))


def read_answer(body: bytes, media_type: str, named: Mapping[str, Iri]) -> Answered:
    """What an endpoint answered.

    Args:
        body: its answer.
        media_type: as it announced it.
        named: what a variable is bound to besides: the endpoint, where a variable names it.

    Raises:
        InvalidDocument: it is no answer to SELECT, or too long a one.
    """
    form = MEDIA_TYPES.get(media_type.partition(";")[0].strip().lower())
    if form is None:
        raise InvalidDocument("it is no result set in a format that is read here", remedy="ask another endpoint")
    try:
        solutions = ox.parse_query_results(body, form)
        if not isinstance(solutions, ox.QuerySolutions):
            raise InvalidDocument(
                "it answers with true or false, and not with solutions", remedy="ask another endpoint"
            )
        return _read(solutions, {name: iri.n3 for name, iri in named.items()})
    except (SyntaxError, ValueError, OSError, InvalidTerm) as error:
        raise InvalidDocument(f"its answer cannot be read: {error}", remedy="ask another endpoint") from error


def _read(solutions: ox.QuerySolutions, named: Mapping[str, str]) -> Answered:
    answer = uuid4().hex
    variables = tuple(variable.value for variable in solutions.variables)
    rows: dict[int, tuple[str | None, ...]] = {}
    for number, solution in enumerate(solutions):
        if number >= MOST_ROWS:
            raise InvalidDocument(f"it answers with more than {MOST_ROWS:,} solutions", remedy="ask for less")
        rows[number] = tuple(None if term is None else _written(term, answer) for term in solution)
    both = [name for name in variables if name in named]
    kept = [row for row in rows.values() if all(row[variables.index(name)] in (None, named[name]) for name in both)]
    others = [place for place, name in enumerate(variables) if name not in named]
    return Answered(
        (*(variables[at] for at in others), *named),
        tuple((*(row[at] for at in others), *named.values()) for row in kept),
    )


def _written(term: OxTerm, answer: str) -> str:
    """A term as VALUES has it."""
    return from_oxigraph(_skolemised(term, answer)).n3


def _skolemised(term: OxTerm, answer: str) -> OxTerm:
    if isinstance(term, ox.BlankNode):
        return ox.NamedNode(GENID + blake2b(f"{answer} {term.value}".encode(), digest_size=16).hexdigest())
    if isinstance(term, ox.Triple):
        subject = cast("ox.NamedNode | ox.Triple", _skolemised(term.subject, answer))
        return ox.Triple(subject, term.predicate, _skolemised(term.object, answer))
    return term


def together(answers: Sequence[Answered]) -> Answered:
    """What several endpoints answered to one call, whose variable names each of them."""
    names = tuple(dict.fromkeys(name for each in answers for name in each.variables))
    rows = [dict(zip(each.variables, row, strict=True)) for each in answers for row in each.rows]
    return Answered(names, tuple(tuple(row.get(name) for name in names) for row in rows))
