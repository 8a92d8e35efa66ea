"""The text of a query in a shapes graph, made ready to be run over and over.

Rules
-----
* Prefixes of the shapes graph come before it. In a property shape `$PATH` stands for the path, and only as the
  predicate of a triple pattern (SHACL section 5.3).
* Variables are bound beforehand as SHACL has it (appendix A): every group is joined with their values. The values lie
  in a graph of their own (`VALUES_GRAPH`), so that blank nodes and literals are themselves, and the text stays the
  same from focus to focus. The engine's own substitution is no such thing: it loses a variable in nested groups.
* What that definition rules out is refused: MINUS, VALUES, SERVICE, `AS` one of these variables, a query within the
  query that does not project them. So is what makes results a matter of chance or of time, and GRAPH for anything but
  the shapes graph: the data graph is one graph.

Example
-------
>>> names = ("this", "value", "min", "max")
>>> declared = Declared((("ex", "urn:"),), None, names, unbound=("max",))
>>> query = prepare("ASK { ?value ex:p $min, ?max }", declared, Form.ASK)
>>> query.variables
('min', 'value')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.shapes.sparql.parsing import read_query
from bridge.sparql.algebra import Bind, Filter, Group, InGraph, Optional, Select, Union, Variable
from bridge.sparql.complaints import complaint
from bridge.sparql.scan import Form, scan
from bridge.sparql.tokens import END, place, settle, tokenise
from kernel.errors import QueryRefused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from bridge.sparql.tokens import Token

LONGEST: Final = 20_000
"""Characters of a query."""

THIS: Final = "this"
VALUE: Final = "value"
SHAPE: Final = "currentShape"
SHAPES: Final = "shapesGraph"
PATH: Final = "PATH"
OF_SHAPES: Final = frozenset({SHAPE, SHAPES})
"""What is bound in every query, and need not be projected."""

VALUES_GRAPH: Final = "urn:x-muniment:bound"
HAS_VALUE: Final = "urn:x-muniment:value"
_ANY_PATH: Final = "^<urn:x-muniment:path>"

_FORBIDDEN: Final = {
    "MINUS": ("MINUS has no meaning where variables are bound beforehand", "use FILTER NOT EXISTS"),
    "VALUES": ("VALUES has no meaning where variables are bound beforehand", "use FILTER (… IN (…)), or a parameter"),
    "SERVICE": ("SERVICE is not allowed: nothing is asked of others to judge a write", "hold here what is needed"),
}
_LINE: Final = re.compile(r"line (\d+)")


@dataclass(frozen=True, slots=True)
class Declared:
    """What a query is read with.

    Args:
        prefixes: each with its namespace.
        path: the path of the property shape, as SPARQL writes it; None where there is none.
        names: the variables that may be bound beforehand.
        unbound: those of them that are not: optional parameters.
    """

    prefixes: tuple[tuple[str, str], ...]
    path: str | None
    names: tuple[str, ...]
    unbound: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A query, ready.

    Args:
        text: what is run.
        select: what it is made of.
        variables: those of the variables bound beforehand that it mentions.
    """

    text: str
    select: Select
    variables: tuple[str, ...]


def value_node(variable: str) -> str:
    """The node that has the value of a variable."""
    return f"urn:x-muniment:variable:{variable}"


@lru_cache(maxsize=256)
def prepare(text: str, declared: Declared, form: Form) -> Query:
    """Makes a query ready.

    Args:
        text: as it stands in the shapes graph.
        declared: what it is read with.
        form: SELECT or ASK.

    Raises:
        QueryRefused: it is not one of its form, or has something that may not be; with the place in the text.
    """
    if len(text) > LONGEST:
        raise QueryRefused(f"the query has more than {LONGEST:,} characters", remedy="ask in several constraints")
    tokens = tokenise(text)
    names = {*declared.names, *OF_SHAPES}
    _require_allowed(text, tokens, names)
    if declared.path is None and any(map(_is_path, tokens)):
        token = next(filter(_is_path, tokens))
        raise QueryRefused(
            "$PATH is the path of a property shape, for a SELECT, and there is none here",
            remedy="name the path, or say this of a property shape",
            where=place(text, token.start),
        )
    try:
        return _prepared(text, declared, form, names)
    except QueryRefused as error:
        raise QueryRefused(error.message, remedy=error.remedy, where=_earlier(error.where)) from error


def _prepared(text: str, declared: Declared, form: Form, names: set[str]) -> Query:
    prologue = "".join(f"PREFIX {prefix}: <{namespace}> " for prefix, namespace in declared.prefixes) + "\n"
    if scan(text).form is not form:
        raise QueryRefused(f"this is no {form.name} query", remedy=f"write {form.name} …")
    _require_syntax(prologue + text, prologue + _with_path(text, _ANY_PATH))
    whole = settle(prologue + (text if declared.path is None else _with_path(text, f"({declared.path})")))
    select = read_query(whole)
    _require_projection(select, form, names - OF_SHAPES)
    tokens = tokenise(whole)
    mentioned = {token.text[1:] for token in tokens if token.kind == "variable"}
    variables = tuple(sorted((names & mentioned).difference(declared.unbound)))
    return Query(_joined(whole, tokens, variables), select, variables)


def _is_path(token: Token) -> bool:
    return token.kind == "variable" and token.text[1:] == PATH


def _with_path(text: str, path: str) -> str:
    pieces: list[str] = []
    copied = 0
    for token in filter(_is_path, tokenise(text)):
        pieces += (text[copied : token.start], path)
        copied = token.end
    return "".join((*pieces, text[copied:]))


def _joined(text: str, tokens: Sequence[Token], variables: Iterable[str]) -> str:
    """The text with every group joined with the values of variables."""
    says = " . ".join(f"<{value_node(each)}> <{HAS_VALUE}> ?{each}" for each in variables)
    values = f" GRAPH <{VALUES_GRAPH}> {{ {says} }} " if says else ""
    pieces: list[str] = []
    copied = 0
    for token, after in zip(tokens, (*tokens[1:], END), strict=True):
        if token.text == "{" and not (after.kind == "word" and after.keyword == "SELECT"):
            pieces += (text[copied : token.end], values)
            copied = token.end
    return "".join((*pieces, text[copied:]))


# --- what may not be --------------------------------------------------------------------------------------------------


def _require_allowed(text: str, tokens: Sequence[Token], names: Collection[str]) -> None:
    """Refuses what pre-binding and judging rule out, by its words."""
    for token, after in zip(tokens, (*tokens[1:], END), strict=True):
        if token.kind == "word":
            for word, (what, remedy) in _FORBIDDEN.items():
                if word in token.keyword:
                    raise QueryRefused(what, remedy=remedy, where=place(text, token.start))
            if token.keyword.endswith("AS") and after.kind == "variable" and after.text[1:] in names:
                raise QueryRefused(
                    f"{after.text} is bound beforehand, and cannot be bound anew",
                    remedy="use a variable of another name",
                    where=place(text, after.start),
                )
    shape = scan(text)
    if shape.service:
        what, remedy = _FORBIDDEN["SERVICE"]
        raise QueryRefused(what, remedy=remedy)
    if shape.volatile:
        raise QueryRefused(
            "NOW, RAND, UUID, STRUUID and BNODE give something else each time",
            remedy="compare with a value that is held or given",
        )


def _require_syntax(text: str, with_path: str) -> None:
    try:
        ox.Store().query(settle(text))
    except SyntaxError as error:
        raise complaint(text, error) from error
    except (RuntimeError, ValueError) as error:
        raise QueryRefused(f"the query cannot be evaluated: {error}", remedy="use what SPARQL 1.1 has") from error
    try:
        ox.Store().query(settle(with_path))
    except SyntaxError as error:
        raise QueryRefused(
            "$PATH stands elsewhere than as the predicate of a triple pattern",
            remedy="use it between a subject and an object only",
        ) from error


def _require_projection(query: Select, form: Form, names: Collection[str]) -> None:
    if form is Form.SELECT and query.projected is not None and THIS not in query.projected:
        raise QueryRefused("the query does not select $this", remedy="begin with SELECT $this")
    if form is Form.SELECT and "failure" in (query.projected or ()):
        raise QueryRefused(
            "?failure is not supported: to judge never fails", remedy="give a result, with a ?message that says why"
        )
    for group in (query.group, *query.groups):
        _require_inner_projections(group, names)


def _require_inner_projections(group: Group, names: Collection[str]) -> None:
    for inner in _within(group):
        if isinstance(inner, InGraph) and inner.name != Variable(SHAPES):
            raise QueryRefused(
                "GRAPH names a graph, and the data that shapes judge is one graph",
                remedy="take it out; GRAPH $shapesGraph alone is allowed",
            )
        if isinstance(inner, Select):
            missing = sorted(names if inner.projected is None else set(names).difference(inner.projected))
            if missing:
                raise QueryRefused(
                    f"a query within the query does not select {', '.join(f'${each}' for each in missing)}",
                    remedy="name there every variable that is bound beforehand; * does not",
                )


def _within(group: Group) -> Iterator[Select | InGraph]:
    """Every query and every GRAPH in a group, however deep."""
    waiting: list[Group] = [group]
    while waiting:
        for part in waiting.pop().parts:
            match part:
                case Group():
                    waiting.append(part)
                case Union(groups) | Filter(groups) | Bind(_, _, groups):
                    waiting += groups
                case Optional(inner):
                    waiting.append(inner)
                case InGraph(_, inner):
                    yield part
                    waiting.append(inner)
                case Select(_, inner, groups):
                    yield part
                    waiting += (inner, *groups)
                case _:
                    pass


def _earlier(where: str | None) -> str | None:
    """The place in the text as it was given, without the line of prefixes before it."""
    return None if where is None else _LINE.sub(lambda match: f"line {int(match[1]) - 1}", where)
