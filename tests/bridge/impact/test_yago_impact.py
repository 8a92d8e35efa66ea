"""Two hundred registered queries over real facts with times: impact equals brute force, plan after plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import IO, Final, cast

import pyoxigraph as ox
import pytest

from bridge.base import Base
from bridge.impact import staging
from bridge.impact.compiled import Compiled
from bridge.replicas.comparing import answer_lines
from bridge.stores.encoding import statement_text
from bridge.stores.projections import Projection
from kernel.changes import Assert, Change, End, Retract
from kernel.facts import Validity
from kernel.queries import RegisteredQuery
from kernel.terms import Iri, Statement
from kernel.time.instants import Instant
from kernel.time.precision import Precision
from kernel.time.timevalues import Bound
from kernel.vocabulary import QUERIES_GRAPH, is_data
from tests.bridge.impact.asking import impacts, open_base, register, registered
from tests.bridge.writing import ADMINISTRATOR, PATIENCE, during, load, write, year
from tests.requirements import require

FACTS: Final = 1_500
AT_LENGTH: Final = 2_500
QUERIES: Final = 200
GRAPHS: Final = (Iri("urn:yago:people"), Iri("urn:yago:places"))
PAST: Final = year(1990)

pytestmark = pytest.mark.shared


@dataclass
class World:
    """A base with facts and queries, and the answers as they were last, taken from the stores themselves."""

    base: Base
    random: Random
    statements: list[Statement]
    queries: list[RegisteredQuery]
    compiled: list[Compiled] = field(init=False)
    last: list[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.compiled = [Compiled(query) for query in self.queries]
        self.last = self.answers()

    def answers(self) -> list[bytes]:
        with self.base.ledger.reading() as view:
            head, known = view.head(), frozenset(filter(is_data, view.graphs()))
            assert head.instant is not None
            held = [fact.statement for fact in view.facts_at(head.instant, PAST)]
        then = ox.Store()
        then.load("".join(statement_text(each) for each in held if is_data(each.graph)), ox.RdfFormat.TRIG)

        def all_of(now: ox.Store) -> list[bytes]:
            return [answered(now if each.query.moment is None else then, each, known) for each in self.compiled]

        return self.base.stores.read(Projection.CURRENT, all_of)[0]


class _Gathered:
    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.parts.append(data)
        return len(data)

    def flush(self) -> None:
        """Nothing."""


def answered(store: ox.Store, query: Compiled, known: frozenset[Iri]) -> bytes:
    into = _Gathered()
    answer_lines(store, query.runnable, query.dataset(known), cast("IO[bytes]", into))
    return b"".join(into.parts)


def facts(random: Random, count: int) -> list[Assert]:
    """Some of the facts of the data, in two graphs: who was what, when, by years."""
    path = require("shared") / "data" / "yago-temporal" / "train.txt"
    lines = random.sample(path.read_text(encoding="utf-8").splitlines(), count)
    found = []
    for line in lines:
        subject, relation, value, since, until = line.split("\t")
        start, end = (int(each[:4]) if each[:4].isdigit() else None for each in (since, until))
        if start is not None and end is not None and start >= end:
            end = start + 1
        statement = Statement(
            Iri(f"urn:yago:e{subject}"),
            Iri(f"urn:yago:r{relation}"),
            Iri(f"urn:yago:e{value}"),
            GRAPHS[int(relation) % 2],
        )
        found.append(Assert(statement, during(start, None if random.random() < 0.6 else end)))
    return found


def queries(random: Random, held: Sequence[Statement]) -> Iterator[RegisteredQuery]:
    """Look-ups, joins, counts, negation, paths and top-k, of terms that the facts have."""
    for number in range(QUERIES):
        one, other = random.sample(held, 2)
        s, p, o, q = one.subject.n3, one.predicate.n3, one.object.n3, other.predicate.n3
        text = random.choice([
            f"SELECT ?p ?o {{ {s} ?p ?o }}",
            f"SELECT ?s {{ ?s {p} {o} }}",
            f"ASK {{ {s} {p} {o} }}",
            f"SELECT ?a ?b {{ ?a {p} ?x . ?b {q} ?x }}",
            f"SELECT ?b {{ {s} {p} ?x . ?x {q}|^{q} ?b }}",
            f"SELECT ?a ?b {{ ?a {p} {o} OPTIONAL {{ ?a {q} ?b }} }}",
            f"SELECT (COUNT(*) AS ?n) {{ ?a {p} ?x }}",
            f"SELECT ?x (COUNT(?a) AS ?n) {{ ?a {p} ?x }} GROUP BY ?x HAVING (COUNT(?a) > 1)",
            f"SELECT (COUNT(DISTINCT ?x) AS ?n) {{ GRAPH {random.choice(GRAPHS).n3} {{ ?a {p} ?x }} }}",
            f"SELECT ?a {{ ?a {p} ?x FILTER NOT EXISTS {{ ?a {q} ?y }} }}",
            f"SELECT ?a {{ ?a {p} {o} MINUS {{ ?a {q} ?y }} }}",
            f"SELECT ?x {{ {s} {p}+ ?x }}",
            f"SELECT ?x {{ {s} ({p}|{q})* ?x }}",
            f"SELECT ?x {{ ?x {p}/^{p} {s} }}",
            f"SELECT ?a ?x {{ ?a {p} ?x }} ORDER BY ?a ?x LIMIT 5",
            f"SELECT ?x (COUNT(?a) AS ?n) {{ ?a {p} ?x }} GROUP BY ?x ORDER BY DESC(?n) ?x LIMIT 3",
            f"CONSTRUCT {{ ?x <urn:of> ?a }} WHERE {{ ?a {p} ?x }}",
            f"SELECT ?g ?o {{ GRAPH ?g {{ {s} ?p ?o }} }}",
            f"DESCRIBE {s}",
        ])  # fmt: skip
        graphs = random.choice([(), (), GRAPHS[:1], GRAPHS[1:]])
        moment = PAST if number % 10 == 0 else None
        yield registered(f"q{number:03d}", text, graphs=graphs, moment=moment)


def a_plan(world: World) -> list[Change]:
    """Up to four changes: what is held is ended or retracted, what is new has terms that are known."""
    random = world.random
    found: dict[Statement, Change] = {}
    with world.base.ledger.reading() as view:
        for _ in range(random.randint(1, 4)):
            one, other = random.sample(world.statements, 2)
            held = view.believed_of(one)
            kind = random.random()
            if kind < 0.25 and held:
                found[one] = Retract(one)
            elif kind < 0.5 and any(
                each.interval.contains(year(2000)) and each.interval.start < year(2000) for each in held
            ):
                found[one] = End(one, Bound(Instant(year(2000)), Precision.INSTANT, None))
            else:
                new = Statement(one.subject, other.predicate, random.choice((one.object, other.object)), other.graph)
                found[new] = Assert(new, random.choice((Validity.always(), during(1980, None), during(1980, 1995))))
    return list(found.values())


def check(world: World, plans: int, monkeypatch: pytest.MonkeyPatch) -> None:
    touched = 0
    for _ in range(plans):
        monkeypatch.setattr(staging, "BRIEFLY", world.random.choice((-1, PATIENCE)))  # aside of the turn, or in it
        outcome = write(world.base, *a_plan(world), by=ADMINISTRATOR)
        found = impacts(outcome.findings)
        before, world.last = world.last, world.answers()
        for query, old, new in zip(world.queries, before, world.last, strict=True):
            was, now = (Counter(each.split(b"\n")[1:-1]) for each in (old, new))
            expected = ((now - was).total(), (was - now).total())
            impact = found.get(query.name)
            told = (0, 0) if impact is None else (impact.gained, impact.lost)
            assert told == expected, query.text
            touched += expected != (0, 0)
    assert touched > plans


@contextmanager
def a_world(count: int) -> Iterator[World]:
    """So many facts, and the queries."""
    random = Random(20_509)
    with open_base() as base:
        brought = facts(random, count)
        load(base, "yago", brought, by=ADMINISTRATOR)
        statements = sorted({each.statement for each in brought}, key=lambda each: each.nquad)
        asked = list(queries(random, statements))
        register(base, *asked)
        with base.ledger.reading() as view:
            assert len([*view.believed(graph=QUERIES_GRAPH)]) > 6 * QUERIES
        yield World(base, random, statements, asked)


def test_impact_of_fifty_plans_equals_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_world(FACTS) as world:
        check(world, 50, monkeypatch)


@pytest.mark.fuzz
def test_impact_of_a_thousand_plans_equals_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_world(AT_LENGTH) as world:
        check(world, 1_000, monkeypatch)
