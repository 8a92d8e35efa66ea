"""Which registered queries a plan can touch: an index from statements to the queries that mind them.

Rules
-----
* A pattern is found by the terms that it names: subject, predicate and object, as far as each is one term. A statement
  is looked up once for each combination that any pattern has: eight at most, however many queries there are.
* What is found is then held against the pattern, and against the graphs of the query.
* Those whose patterns cannot be told are looked at for every statement.

Example
-------
>>> from kernel.queries import RegisteredQuery
>>> from kernel.terms import Iri, Statement
>>> from kernel.vocabulary import DEFAULT_GRAPH
>>> queries = [RegisteredQuery(f"q{n}", f"ASK {{ ?s <urn:p{n}> ?o }}", "desk", "desk") for n in range(100)]
>>> index = QueryIndex(compiled(queries))
>>> [each.query.name for each in index.minding([Statement(Iri("urn:s"), Iri("urn:p7"), Iri("urn:o"), DEFAULT_GRAPH)])]
['q7']
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from bridge.impact.compiled import Compiled, compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.impact.compiled import Mind
    from kernel.terms import Statement, Term

__all__ = ["QueryIndex", "compiled"]

_Key = tuple["Term | None", ...]
"""Subject, predicate and object, as far as they are named."""

_Named = tuple[bool, bool, bool]

_MOST: Final = 64
"""Combinations that one pattern is found by; with more of them, by fewer terms."""


class QueryIndex:
    """The queries in force.

    Args:
        queries: made ready.
    """

    def __init__(self, queries: Iterable[Compiled]) -> None:
        self._order: dict[Compiled, int] = {each: place for place, each in enumerate(queries)}
        self._anyway = [each for each in self._order if each.minded is None]
        self._found: dict[_Named, dict[_Key, list[tuple[Mind, Compiled]]]] = {}
        for each in self._order:
            for mind in each.minded or ():
                self._add(mind, each)

    def __bool__(self) -> bool:
        return bool(self._order)

    def __iter__(self) -> Iterator[Compiled]:
        return iter(self._order)

    def minding(self, statements: Iterable[Statement]) -> list[Compiled]:
        """The queries that mind any of the statements, in their order."""
        found: set[Compiled] = set()
        for statement in statements:
            found.update(each for each in self._anyway if each not in found and each.reads(statement.graph))
            terms = (statement.subject, statement.predicate, statement.object)
            for named, keys in self._found.items():
                key = tuple(term if known else None for term, known in zip(terms, named, strict=True))
                for mind, each in keys.get(key, ()):
                    if each not in found and each.reads(statement.graph) and mind.matches(statement):
                        found.add(each)
        return sorted(found, key=self._order.__getitem__)

    def _add(self, mind: Mind, query: Compiled) -> None:
        places = [mind.subjects, mind.predicates, mind.values]
        while _combinations(places) > _MOST:
            largest = max(range(3), key=lambda place: len(places[place] or ()))
            places[largest] = None
        named = (places[0] is not None, places[1] is not None, places[2] is not None)
        keys = self._found.setdefault(named, {})
        for key in product(*((None,) if terms is None else terms for terms in places)):
            keys.setdefault(key, []).append((mind, query))


def _combinations(places: Iterable[frozenset[Term] | None]) -> int:
    total = 1
    for terms in places:
        total *= 1 if terms is None else len(terms)
    return total
