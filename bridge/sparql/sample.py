"""The first of an answer, as terms: for people, who look at some rows and not at all of them.

Rules
-----
* Results are read lazily and no further than is shown: an answer of any size takes the memory of its first rows.
* A blank node of an answer has a label that means something within the answer only.

Example
-------
>>> solutions = ox.Store().query("SELECT ?n { VALUES ?n { 1 2 3 } }")
>>> found = sample(solutions, 2)
>>> found.variables, len(found.rows), found.more
(('n',), 2, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import pyoxigraph as ox

from bridge.sparql.query import evaluation_errors
from bridge.sparql.results import Results
from bridge.stores.errors import store_errors
from bridge.terms import OxTerm, from_oxigraph
from kernel.terms import Term


@dataclass(frozen=True, slots=True)
class Blank:
    """A blank node."""

    label: str


Cell: TypeAlias = Term | Blank | str | None
"""A term; a triple with a blank node in it, as text; None where a variable is not bound."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Some of an answer.

    Args:
        boolean: the answer of ASK; None for other forms.
        variables: the columns; those of CONSTRUCT and DESCRIBE are subject, predicate and object.
        rows: the first rows.
        more: whether there are others.
        graph: whether the rows are triples.
    """

    boolean: bool | None
    variables: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: bool
    graph: bool = False


def sample(results: Results, limit: int) -> Sample:
    """The first `limit` rows or triples.

    Raises:
        QueryRefused: the query cannot be evaluated.
        StoreUnavailable: the store cannot be read.
    """
    with store_errors(), evaluation_errors():
        if isinstance(results, ox.QueryBoolean):
            return Sample(bool(results), (), (), more=False)
        rows: list[tuple[Cell, ...]]
        if isinstance(results, ox.QueryTriples):
            triples = islice(results, limit + 1)
            rows = [tuple(map(_cell, (each.subject, each.predicate, each.object))) for each in triples]
            return Sample(None, ("subject", "predicate", "object"), tuple(rows[:limit]), len(rows) > limit, graph=True)
        variables = tuple(variable.value for variable in results.variables)
        rows = [tuple(_cell(solution[name]) for name in variables) for solution in islice(results, limit + 1)]
        return Sample(None, variables, tuple(rows[:limit]), len(rows) > limit)


def _cell(term: OxTerm | None) -> Cell:
    if term is None:
        return None
    if isinstance(term, ox.BlankNode):
        return Blank(term.value)
    if isinstance(term, ox.Triple) and _has_blank(term):
        return str(term)
    return from_oxigraph(term)


def _has_blank(term: OxTerm) -> bool:
    if isinstance(term, ox.Triple):
        return _has_blank(term.subject) or _has_blank(term.object)
    return isinstance(term, ox.BlankNode)
