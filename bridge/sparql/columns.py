"""The columns of a table in the order in which a query names them.

Rules
-----
* Columns that SELECT lists are in its order already. For `SELECT *` the engine has an order of its own, and SPARQL 1.1
  (section 18.2.4.4) none: people expect that in which the variables come first.

Example
-------
>>> table = Sample(None, ("a", "z"), ((None, None),), more=False)
>>> in_order("SELECT * { ?z ?p ?a }", table).variables, in_order("SELECT ?a ?z { ?z ?p ?a }", table).variables
(('z', 'a'), ('a', 'z'))
"""

from __future__ import annotations

from dataclasses import replace
from itertools import dropwhile

from bridge.sparql.sample import Sample
from bridge.sparql.tokens import Token, tokenise


def in_order(text: str, table: Sample) -> Sample:
    """The sample of a query's answer with its columns as the query has them."""
    tokens = [*tokenise(text)]
    if len(table.variables) < 2 or table.graph or not _selects_all(tokens):
        return table
    named = list(dict.fromkeys(token.text[1:] for token in tokens if token.kind == "variable"))
    order = sorted(range(len(table.variables)), key=lambda column: _place(named, table.variables[column]))
    variables = tuple(table.variables[column] for column in order)
    return replace(table, variables=variables, rows=tuple(tuple(row[each] for each in order) for row in table.rows))


def _selects_all(tokens: list[Token]) -> bool:
    """Whether the first SELECT, which is that of the query, has a star."""
    after = list(dropwhile(lambda token: token.text.upper() != "SELECT", tokens))[1:3]
    return any(token.text == "*" for token in after[:1]) or (
        len(after) == 2 and after[0].text.upper() in ("DISTINCT", "REDUCED") and after[1].text == "*"
    )


def _place(named: list[str], variable: str) -> int:
    return named.index(variable) if variable in named else len(named)
