"""What is said of a query that would look at every fact there is, and need not.

Rules
-----
* Facts are found by what stands on them: `m:subject`, `m:object`, `m:certificate` and so on. Inside `<<( )>>`, and
  `<< >>`, which means the same, the store has no index: a pattern of `rdf:reifies` looks at each fact of the history
  graph, unless its fact is known otherwise, or all that it quotes (measured: 25 to 80 ms at 20,000 facts, and 0.1 ms
  with `m:subject`).
* Known are terms of the query, what VALUES and BIND give, and what a pattern joins to something known. It goes as the
  engine joins, which was measured: what is known in a group is known within its UNION and EXISTS, and within an
  OPTIONAL of one pattern; not within a longer one, MINUS, or a query within the query.
* A hint is about speed alone: it may be there once too often, where FILTER leaves few, and is missing where the text is
  not understood (`bridge.sparql.quoting`).
* It is for queries of history. What is quoted in a graph of data has no such properties.

Example
-------
>>> hint("SELECT * { GRAPH <urn:h> { << <urn:ada> ?p ?o ~ ?fact >> ?q ?v } }").partition(", such as ")[2]
'?fact <https://w3id.org/muniment#subject> <urn:ada> .'
>>> text = "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> SELECT * { ?f a <urn:x> ; rdf:reifies ?t }"
>>> hint(text) is None
True
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from bridge.shapes.paths import predicates
from bridge.shapes.vocabulary import RDF_REIFIES
from bridge.sparql.algebra import Bind, Filter, Group, InGraph, Minus, Optional, Select, Triple, Union, Values, Variable
from bridge.sparql.quoting import QuotingParser
from kernel.errors import CallerError
from kernel.terms import Iri
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bridge.sparql.algebra import Node, Part

_CACHED: Final = 256
_LONGEST_TEXT: Final = 16_384
"""Characters of a query that is looked at: so that it is done at once."""

_LONGEST: Final = 200
"""Characters of a term that is repeated in a hint."""


@lru_cache(maxsize=_CACHED)
def hint(text: str) -> str | None:
    """What to write instead, in ASCII; None where nothing is to be said, and of what is no query or very long.

    Args:
        text: a query that may read history.
    """
    if len(text) > _LONGEST_TEXT:
        return None
    parser = QuotingParser(text)
    try:
        scans = _Scans(parser.query(), parser.quoted).found
    except CallerError:
        return None
    return _said(scans[0], parser.quoted) if scans else None


class _Scans:
    """The patterns of a query that look at each fact.

    Args:
        query: the query.
        quoted: its triple terms, by the variables in their place.
    """

    def __init__(self, query: Select, quoted: dict[str, Triple]) -> None:
        self.found: list[Triple] = []
        self._quoted = quoted
        self._select(query)

    def _select(self, query: Select) -> set[str]:
        known = self._group(query.group, set())
        for each in query.groups:
            self._group(each, known)
        return known if query.projected is None else known & set(query.projected)

    def _group(self, group: Group, given: set[str]) -> set[str]:
        """The variables of a group that have few values, where those given have."""
        joined = [*_joined(group.parts)]
        triples = [part for part in joined if isinstance(part, Triple)]
        known = set(given)
        for part in joined:
            known |= self._without_patterns(part)
        self._join(triples, known)
        for part in joined:
            if isinstance(part, Union):
                known |= set.intersection(*(self._group(each, known) for each in part.groups))
        self._join(triples, known)
        self.found += [each for each in triples if _of_reifiers(each) and not self._is_known(each.subject, known)]
        for part in joined:
            self._beside(part, known)
        return known

    def _without_patterns(self, part: Part) -> set[str]:
        """What is known by a part that is no pattern."""
        match part:
            case Values(names, rows):
                return {name for place, name in enumerate(names) if all(row[place] is not None for row in rows)}
            case Bind(variable, Iri(), _):
                return {variable.name}
            case Select():
                return self._select(part)
            case _:
                return set()

    def _beside(self, part: Part, known: set[str]) -> None:
        """What goes by the solutions that a group has."""
        match part:
            case Optional(group):
                self._group(group, known if len(group.parts) == 1 else set())
            case Minus(group):
                self._group(group, set())
            case Filter(groups) | Bind(_, _, groups):
                for group in groups:
                    self._group(group, known)
            case _:
                pass

    def _join(self, triples: list[Triple], known: set[str]) -> None:
        """Adds what is joined to something known."""
        before = -1
        while before != len(known):
            before = len(known)
            for triple in triples:
                if self._is_known(triple.subject, known) or self._is_known(triple.value, known):
                    self._know(triple.subject, known)
                    self._know(triple.value, known)

    def _is_known(self, node: Node, known: set[str]) -> bool:
        if not isinstance(node, Variable) or node.name in known:
            return True
        term = self._quoted.get(node.name)
        if term is None:
            return False
        verb = not isinstance(term.path, Variable) or term.path.name in known
        return verb and self._is_known(term.subject, known) and self._is_known(term.value, known)

    def _know(self, node: Node, known: set[str]) -> None:
        if not isinstance(node, Variable):
            return
        known.add(node.name)
        term = self._quoted.get(node.name)
        for inner in () if term is None else (term.subject, term.path, term.value):
            if isinstance(inner, Variable):
                self._know(inner, known)


def _joined(parts: Iterable[Part]) -> Iterable[Part]:
    """The parts of a group, with those of plain groups and of GRAPH within it."""
    for part in parts:
        match part:
            case Group(inner) | InGraph(_, Group(inner)):
                yield from _joined(inner)
            case _:
                yield part


def _of_reifiers(triple: Triple) -> bool:
    return not isinstance(triple.path, Variable) and RDF_REIFIES in predicates(triple.path)


def _said(scan: Triple, quoted: dict[str, Triple]) -> str:
    fact = f"?{scan.subject.name}" if isinstance(scan.subject, Variable) else ""
    fact = fact if _is_short(fact) and not fact.startswith("?_") else "?fact"
    term = quoted.get(scan.value.name) if isinstance(scan.value, Variable) else None
    ends = () if term is None else (("subject", term.subject), ("object", term.value))
    given = ((name, node.n3) for name, node in ends if isinstance(node, Iri))
    name, value = next(((name, text) for name, text in given if _is_short(text)), ("subject", "<IRI>"))
    return (
        f"every fact of the history is looked at, for nothing tells which {fact} is meant, and what stands in << >> "
        f"or <<( )>> is in no index: say of it what is known, such as {fact} <{M}{name}> {value} ."
    )


def _is_short(text: str) -> bool:
    return text.isascii() and len(text) <= _LONGEST
