"""A base whose past is known fact by fact, and queries about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Final

import pyoxigraph as ox
from hypothesis import strategies as st

from bridge.sparql.dataset import Dataset, dataset_for
from bridge.sparql.query import evaluate
from bridge.sparql.scan import scan
from bridge.stores.projections import Projection
from kernel.access import Principal, Role
from kernel.facts import Validity
from kernel.terms import XSD, Iri, Literal, Statement, Term, TripleTerm
from kernel.time.instants import BEGINNING, FOREVER, Instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.vocabulary import DEFAULT_GRAPH, SHAPES_GRAPH
from tests.bridge.stores.chronicle import Chronicle, Step, day, quad_of

NODES: Final = (*(Iri(f"urn:{name}") for name in "abcde"), Iri("https://w3id.org/muniment/.well-known/genid/b1"))
LINKS: Final = tuple(Iri(f"urn:{name}") for name in "pq")
SAYS: Final = Iri("urn:r")
GRAPHS: Final = (DEFAULT_GRAPH, Iri("urn:g1"), Iri("urn:g2"))
LITERALS: Final[tuple[Term, ...]] = (
    Literal("1", XSD + "integer"),
    Literal("1.5", XSD + "decimal"),
    Literal("x"),
    Literal("x", language="en-gb"),
    Literal("x", language="en", direction="rtl"),
    TripleTerm(NODES[0], LINKS[0], NODES[1]),
)
EVERYBODY: Final = Principal("all", Role.READER)
SOME: Final = Principal("some", Role.READER, frozenset(GRAPHS[:2]))


def chronicle(seed: int, steps: int = 8) -> Chronicle:
    """A past of so many certificates."""
    random = Random(seed)
    return Chronicle(
        Step(
            [(_statement(random), _validity(random)) for _ in range(12)]
            + [(Statement(NODES[0], LINKS[0], NODES[1], SHAPES_GRAPH), Validity.always())] * (number == 0),
            [random.randrange(100) for _ in range(3)],
            [],
            1,
        )
        for number in range(steps)
    )


def _statement(random: Random) -> Statement:
    says = random.random() < 0.3
    value = random.choice(LITERALS) if says else random.choice(NODES)
    return Statement(random.choice(NODES), SAYS if says else random.choice(LINKS), value, random.choice(GRAPHS))


def _validity(random: Random) -> Validity:
    start = random.choice([None, *range(8)])
    end = random.choice([None, *range(1 if start is None else start + 1, 12)])
    return Validity(
        Interval(BEGINNING if start is None else day(start), FOREVER if end is None else day(end)),
        Precision.UNBOUNDED if start is None else Precision.DAY,
        Precision.UNBOUNDED if end is None else Precision.DAY,
    )


def dataset(text: str, caller: Principal, known: Chronicle) -> Dataset:
    """What a caller's query may read."""
    with known.ledger.reading() as view:
        return dataset_for(caller, scan(text), view.graphs())


@lru_cache(maxsize=512)
def brute(known: Chronicle, as_of: Instant, valid_at: Instant, projection: Projection) -> ox.Store:
    """A store of the moment, filled fact by fact."""
    store = ox.Store()
    for fact in known.facts:
        believed = fact.recorded_at <= as_of and (fact.superseded is None or as_of < fact.superseded.at)
        hidden = projection is Projection.CURRENT and fact.statement.graph == SHAPES_GRAPH
        if believed and fact.interval.start <= valid_at < fact.interval.end and not hidden:
            store.add(quad_of(fact.statement))
    return store


def answer(store: ox.Store, text: str, allowed: Dataset) -> list[str] | bool:
    """What a query answers, in an order of its own."""
    found = evaluate(store, text, allowed)
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    if isinstance(found, ox.QueryTriples):
        return sorted(map(str, found))
    return sorted(str([None if value is None else str(value) for value in row]) for row in found)


# --- queries ----------------------------------------------------------------------------------------------------------

_VARIABLES: Final = ("?w", "?x", "?y", "?z")
_PREFIX: Final = "PREFIX : <urn:>\n"


class _Writer:
    """Writes one query at random."""

    def __init__(self, number: Callable[[int, int], int]) -> None:
        self._number = number

    def choice(self, *options: str) -> str:
        return options[self._number(0, len(options) - 1)]

    def chance(self, out_of: int) -> bool:
        return self._number(1, out_of) == out_of

    def node(self) -> str:
        constant = (":a", ":b", ":c", ":d", f"<{NODES[-1].value}>")
        return self.choice(*_VARIABLES) if self.chance(2) else self.choice(*constant)

    def value(self) -> str:
        if not self.chance(4):
            return self.node()
        return self.choice(
            "1", "01", "'1'^^<http://www.w3.org/2001/XMLSchema#int>", "1.50", "'x'", "'x'@en-GB", "'x'@en--rtl"
        )

    def path(self, depth: int = 2) -> str:
        step = self.choice(":p", ":q", ":r")
        if depth == 0:
            return step
        return self.choice(
            step,
            step,
            f"^{self.path(0)}",
            f"({self.path(depth - 1)}/{self.path(depth - 1)})",
            f"({self.path(depth - 1)}|{self.path(depth - 1)})",
            f"({self.path(depth - 1)})+",
            f"({self.path(depth - 1)})*",
            f"({self.path(depth - 1)})?",
            f"!({self.choice(':p', '^:q', ':p|^:r')})",
        )

    def triple(self) -> str:
        verb = self.choice(*_VARIABLES) if self.chance(8) else self.path() if self.chance(3) else self.path(0)
        return f"{self.node()} {verb} {self.value()} ."

    def group(self, depth: int) -> str:
        parts = [self.triple() for _ in range(self._number(1, 3))]
        for _ in range(self._number(0, 2) if depth else 0):
            parts.insert(self._number(0, len(parts)), self.part(depth - 1))
        return " ".join(parts)

    def part(self, depth: int) -> str:
        # Within a triple term what may not stand there stops the engine, so its variable is one that has no such value.
        inner = self.group(depth)
        variable, other = self.choice(*_VARIABLES), self.choice(*_VARIABLES)
        return self.choice(
            f"OPTIONAL {{ {inner} }}",
            f"MINUS {{ {inner} }}",
            f"FILTER EXISTS {{ {inner} }}",
            f"FILTER NOT EXISTS {{ {inner} }}",
            f"{{ {inner} }} UNION {{ {self.group(depth)} }}",
            f"{{ {inner} }}",
            f"FILTER({variable} != {other})",
            f"FILTER(BOUND({variable}) || {other} = :a)",
            f"VALUES {variable} {{ :a :b 1 }}",
            f"VALUES ({variable} {other}) {{ (:a UNDEF) (:b :c) }}" if variable != other else "",
            f"GRAPH {self.choice('?g', '?x', ':g1', ':g2', '<https://w3id.org/muniment#shapes>')} {{ {inner} }}",
            "GRAPH ?g { }",
            f"{{ SELECT DISTINCT ?x ?y {{ ?x :p ?y . {self.choice('', '?y :q ?z', ':a :p ?x')} }}"
            f" ORDER BY ?x ?y LIMIT {self._number(1, 3)} }}",
            f"{{ SELECT ?x (COUNT(*) AS ?n) {{ {inner} }} GROUP BY ?x }}",
            f"{{ SELECT ?x ?y {{ {inner} }} }}",
            f"{{ SELECT ?x (EXISTS {{ {inner} }} AS ?n) {{ ?x :p ?y }} }}",
            f"{{ SELECT ?x (MIN(STR(?y)) AS ?m) {{ {inner} }} GROUP BY ?x HAVING (EXISTS {{ ?x {self.path()} ?z }}) }}",
            f"GRAPH {self.choice('?g', ':g1')} {{ :a :p ?y {{ SELECT ?x ?y {{ {inner} }} }} }}",
            f"BIND(EXISTS {{ {inner} }} AS ?b{self._number(0, 999)})",
            f"FILTER(!EXISTS {{ {inner} }} || {variable} = {other})",
            f"{self.node()} :r <<( :a {self.choice(':p', '?v')} {self.choice(':b', *_VARIABLES)} )>> .",
            f"<< {self.choice(':a', '?v')} :p {self.node()} ~ {self.choice(*_VARIABLES)} >> :q {self.node()} .",
            f"{self.choice(':a', '?v')} :p {self.node()} {{| :q {self.node()} |}} .",
            f"VALUES {variable} {{ <<( :a :p :b )>> 'x'@en--rtl 01 }}",
            f"{self.node()} :p [ :q {self.node()} ; {self.path()} {self.node()} ] .",
        )

    def query(self) -> str:
        body = self.group(2)
        return _PREFIX + self.choice(
            f"SELECT * {{ {body} }}",
            f"SELECT ?x ?y {{ {body} BIND(STR(?x) AS ?k) }}",
            f"SELECT DISTINCT ?x {{ {body} }}",
            f"SELECT ?x (COUNT(DISTINCT ?y) AS ?n) {{ {body} }} GROUP BY ?x HAVING (COUNT(*) > 1)",
            f"ASK {{ {body} }}",
            f"CONSTRUCT {{ ?x :made ?y }} {{ {body} }}",
            f"DESCRIBE ?x {{ {body} }}",
            f"SELECT * FROM <urn:g1> FROM NAMED <urn:g2> {{ {body} }}",
            f"SELECT (COUNT(DISTINCT ?x) AS ?n) (MIN(STR(?y)) AS ?m) {{ {body} }}",
            f"SELECT DISTINCT ?x ?y {{ {body} FILTER(isIRI(?x) && isIRI(?y)) }} ORDER BY ?x ?y LIMIT 2 OFFSET 1",
            f"SELECT ?x {{ {body} }} ORDER BY (EXISTS {{ {self.group(1)} }}) ?x",
            f"SELECT (?x AS ?k) (EXISTS {{ {self.group(1)} }} AS ?l) {{ {body} }}",
            f"SELECT ?x {{ {body} }} GROUP BY ?x HAVING (NOT EXISTS {{ {self.group(1)} }})",
            f"SELECT * {{ {body} }} VALUES (?x ?y) {{ (:a :b) (UNDEF :c) }}",
        )


def in_full(text: str) -> str:
    """The same query without short names."""
    return re.sub(r"(?<![\w>]):([a-z]+[0-9]?)\b", r"<urn:\1>", text.removeprefix(_PREFIX))


@st.composite
def queries(draw: st.DrawFn) -> str:
    """Queries whose answers are unique, but for their order."""
    return _Writer(lambda low, high: draw(st.integers(low, high))).query()


def a_query(random: Random) -> str:
    """One of them."""
    return _Writer(random.randint).query()
