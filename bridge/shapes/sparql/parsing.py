"""Reading a query of a shape: its groups, its triple patterns, and what it selects.

Rules
-----
* It is read as any query is (`bridge.sparql.parsing`), and what is not foreseen there is refused.
* Refused are also what has no place in a shape, or would leave its results to chance: CONSTRUCT, FROM and FROM NAMED,
  functions that SPARQL has not, SAMPLE, and LIMIT and OFFSET without ORDER BY. (MINUS and VALUES are before this.)

Example
-------
>>> read_query("PREFIX : <urn:> SELECT $this { $this :p/:q* ?x FILTER NOT EXISTS { ?x a :C } }").projected
('this',)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.sparql.parsing import QueryParser
from kernel.terms import XSD

if TYPE_CHECKING:
    from bridge.sparql.algebra import Group, Select

_CASTS: Final = frozenset(
    f"{XSD}{name}"
    for name in (
        *("boolean", "date", "dateTime", "dayTimeDuration", "decimal", "double", "duration", "float", "integer"),
        *("string", "time", "yearMonthDuration"),
    )
)


def read_query(text: str) -> Select:
    """What a SELECT or ASK query is made of; an ASK selects nothing.

    Raises:
        QueryRefused: what has no place in a shape, or is not known here.
    """
    return _ShapeParser(text).query()


class _ShapeParser(QueryParser):
    def query(self) -> Select:
        if any(token.kind == "word" and token.keyword == "CONSTRUCT" for token in self._tokens):
            raise self._unknown(self._next)
        return super().query()

    def _where(self) -> Group:
        if self._is_word("FROM"):
            raise self._refusal(self._next, "FROM has no place here", "take it out: a shape judges the data graph")
        return super()._where()

    def _modifiers(self) -> tuple[Group, ...]:
        start, first = self._next, self._position
        groups = super()._modifiers()
        words = {token.keyword for token in self._tokens[first : self._position] if token.kind == "word"}
        if "ORDER" not in words and words & {"LIMIT", "OFFSET"}:
            raise self._refusal(
                start, "LIMIT and OFFSET without ORDER BY leave it to chance what is found", "order by something, too"
            )
        return groups

    def _expression_part(self) -> list[Group]:
        token = self._next
        found = super()._expression_part()
        if token.kind == "word" and token.keyword == "SAMPLE":
            raise self._refusal(token, "SAMPLE leaves it to chance what is found", "use MIN or MAX")
        if token.kind in {"iri", "name"} and self._next.text == "(" and self._iri(token).value not in _CASTS:
            raise self._refusal(token, f"there is no function {token.text}", "use those that SPARQL 1.1 has built in")
        return found
