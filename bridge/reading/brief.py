"""Queries that are answered where they are asked, because they are short whatever the base holds.

Rules
-----
* Looking something up takes less time than having a worker do it (`bridge.replicas`). But what runs here cannot be
  ended, and takes the memory of the service: so it has to be known beforehand that it is short.
* Such a query is SELECT or ASK of up to `MOST_PATTERNS` triple patterns and nothing else: no path, no expression, no
  order, no group within the group. What matches each pattern alone is counted first, up to `MOST` statements; the
  product of the counts is the most that the engine can go through, in whatever order it joins them.
* A single pattern that each match is a row of, of few graphs, is not counted: whoever goes through it writes as he
  goes, and stops where the answer is too long.
* The answer has `LARGEST` bytes at most, counted as it is written; and the store is read as it stands, without waiting
  for a change of it. A caller who is held to more than `FEW` graphs has them looked through by a worker.
* Whatever is not so is answered by a worker, also what cannot be parsed or evaluated: None.

Example
-------
>>> is_brief("SELECT ?n { <urn:ada> <urn:knows> ?x . ?x <urn:name> ?n } LIMIT 5")
True
>>> is_brief("SELECT (CONCAT(?n, ?n) AS ?m) { <urn:ada> <urn:name> ?n }"), is_brief("SELECT * { <urn:a> <urn:p>* ?x }")
(False, False)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.shapes.paths import Step
from bridge.sparql.algebra import Triple, Variable
from bridge.sparql.parsing import QueryParser
from bridge.sparql.query import start
from bridge.sparql.results import serialise_to
from bridge.sparql.templates import Template, placeholder, template_of
from bridge.sparql.tokens import tokenise
from bridge.stores.projections import Projection
from bridge.terms import node, to_oxigraph
from kernel.errors import CallerError
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.reading.reader import Question
    from bridge.sparql.algebra import Node, Select
    from bridge.sparql.results import Results
    from bridge.sparql.tokens import Token
    from bridge.stores.markers import StoreState
    from bridge.stores.pair import OxigraphStores
    from bridge.terms import OxTerm

MOST: Final = 500
"""Statements, and solutions, that the engine may come by."""

MOST_PATTERNS: Final = 8
LARGEST: Final = 32 * 2**10
FEW: Final = 4

_CACHED: Final = 1_024
_LONGEST: Final = 4_096
"""Characters of a query that is looked at."""

_WORDS: Final = frozenset(
    ("SELECT", "ASK", "DISTINCT", "REDUCED", "WHERE", "FROM", "NAMED", "LIMIT", "OFFSET", "PREFIX", "A")
)
_SKIPPING: Final = frozenset(("DISTINCT", "REDUCED", "OFFSET"))
"""What has the engine pass over matches that it writes nothing of."""

_MARKS: Final = frozenset("{}.;,*^")
_KINDS: Final = frozenset(("iri", "name", "variable", "string", "number", "language"))


@dataclass(frozen=True, slots=True)
class _Probe:
    """What matches a triple pattern alone: terms, places among the IRIs of a text, or None for anything."""

    subject: OxTerm | int | None
    predicate: OxTerm | int | None
    object: OxTerm | int | None


@dataclass(frozen=True, slots=True)
class _Form:
    """What the text of a query tells of how long it may take.

    Args:
        probes: what matches each of its patterns alone.
        streams: whether each match of its one pattern is a row, which is written before the next is looked for.
    """

    probes: tuple[_Probe, ...]
    streams: bool


def answered(stores: OxigraphStores, question: Question, limit: int) -> tuple[bytes, StoreState] | None:
    """A whole answer, and the state that it is of; None: it is for a worker.

    Args:
        stores: of the base.
        question: what is asked.
        limit: bytes that the answer may have.
    """
    dataset = question.dataset
    graphs = () if dataset.union else dataset.default_graphs
    if not _is_plain(question) or dataset.complete or len(graphs) > FEW:
        return None
    one = template_of(question.runnable) or Template(question.runnable, ())
    form = _form(one.text, len(one.iris))
    if form is None:
        return None
    probes = () if form.streams and len(dataset.default_graphs) <= FEW else form.probes
    within: list[ox.NamedNode | None] = [None] if dataset.union else [*map(node, graphs)]
    try:
        found = stores.glance(Projection.CURRENT, lambda store: _begun(store, question, probes, one.iris, within))
        if found is None or found[0] is None:
            return None
        sink = _Bounded(min(limit, LARGEST))
        serialise_to(found[0], question.form, sink)
    except (_TooLargeError, CallerError, SyntaxError, RuntimeError, ValueError, OSError):
        return None
    return sink.whole.getvalue(), found[1]


def is_brief(text: str) -> bool:
    """Whether a query can be short, as far as its text tells."""
    one = template_of(text) or Template(text, ())
    return len(text) <= _LONGEST and _form(one.text, len(one.iris)) is not None


def _is_plain(question: Question) -> bool:
    """Whether it is of the present, and nothing is to be done to its answer."""
    special = question.laid is not None or question.restore or question.base is not None
    return question.past is None and not special and len(question.runnable) <= _LONGEST


def _begun(
    store: ox.Store,
    question: Question,
    probes: Sequence[_Probe],
    iris: Sequence[str],
    graphs: Sequence[ox.NamedNode | None],
) -> Results | None:
    """The results, if few statements can be of any interest to them."""
    product = 1
    for probe in probes:
        subject, predicate, value = (_term(each, iris) for each in (probe.subject, probe.predicate, probe.object))
        if not isinstance(subject, ox.NamedNode | None) or not isinstance(predicate, ox.NamedNode | None):
            return None  # nothing else stands there
        matching = (quad for graph in graphs for quad in store.quads_for_pattern(subject, predicate, value, graph))
        product *= max(1, sum(1 for _ in islice(matching, MOST + 1)))
        if product > MOST:
            return None
    return start(store, question.runnable, question.dataset, question.base)


def _term(each: OxTerm | int | None, iris: Sequence[str]) -> OxTerm | None:
    return ox.NamedNode(iris[each]) if isinstance(each, int) else each


@lru_cache(maxsize=_CACHED)
def _form(text: str, varying: int) -> _Form | None:
    """What texts of a template tell, which has so many IRIs; None where they are not short."""
    try:
        tokens = tokenise(text)
        if not all(map(_is_of_patterns, tokens)) or sum(token.text == "{" for token in tokens) != 1:
            return None
        query = QueryParser(text).query()
        places = {placeholder(number): number for number in range(varying)}
        triples = [part for part in query.group.parts if isinstance(part, Triple)]
        probes = [_probe(each, places) for each in triples]
    except CallerError:
        return None
    short = len(probes) == len(query.group.parts) <= MOST_PATTERNS
    certain = tuple(probe for probe in probes if probe is not None)
    if not short or len(certain) < len(probes):
        return None
    streams = len(triples) == 1 and _writes_each(query, triples[0])
    return _Form(certain, streams and not any(token.keyword in _SKIPPING for token in tokens))


def _writes_each(query: Select, triple: Triple) -> bool:
    """Whether each match of a pattern is a solution with something in it, as far as that is for patterns to say."""
    names = [each.name for each in (triple.subject, triple.path, triple.value) if isinstance(each, Variable)]
    return len({*names}) == len(names) and set(names).issuperset(query.projected or ())


def _is_of_patterns(token: Token) -> bool:
    if token.kind == "word":
        return token.keyword in _WORDS
    return token.text in _MARKS if token.kind == "mark" else token.kind in _KINDS


def _probe(triple: Triple, places: dict[str, int]) -> _Probe | None:
    path = triple.path
    if not isinstance(path, Variable):
        if not isinstance(path, Step) or path.inverse or not isinstance(path.predicate, Iri):
            return None
        path_node: Node = path.predicate
    else:
        path_node = path
    return _Probe(*(_placed(each, places) for each in (triple.subject, path_node, triple.value)))


def _placed(each: Node, places: dict[str, int]) -> OxTerm | int | None:
    if isinstance(each, Variable):
        return None
    return places.get(each.value, node(each)) if isinstance(each, Iri) else to_oxigraph(each)


class _TooLargeError(Exception):
    """An answer beyond its limit."""


class _Bounded:
    """An answer of so many bytes at most."""

    def __init__(self, limit: int) -> None:
        self.whole = BytesIO()
        self._left = limit

    def write(self, data: bytes) -> int:
        """Takes a piece. Raises `_TooLargeError`."""
        self._left -= len(data)
        if self._left < 0:
            raise _TooLargeError
        return self.whole.write(data)

    def flush(self) -> None:
        """Nothing: it is in memory."""
