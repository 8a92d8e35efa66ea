"""How an answer stands that somebody holds, against the two answers themselves, in bases whose clock goes on."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

import pytest

from bridge.base import Base
from bridge.impact.reading import Freshness, QueryReader, Standing
from bridge.impact.since import Held
from bridge.reading.reader import QueryRequest
from kernel.changes import Assert, Change, Retract
from kernel.facts import Validity
from kernel.purging.targets import Target, TargetKind
from kernel.queries import RegisteredQuery
from kernel.terms import Iri, Statement
from kernel.time.instants import BEGINNING, FOREVER, SECOND, Instant, print_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from tests.bridge.impact.asking import AUTO, open_base, register, registered
from tests.bridge.purging import purge
from tests.bridge.writing import ADMINISTRATOR, NOON, SetClock, write

G, H, P = Iri("urn:g"), Iri("urn:h"), Iri("urn:p")
NODES: Final = [Iri(f"urn:{name}") for name in "abc"]
ALL: Final = "SELECT ?a ?b { ?a <urn:p> ?b }"


def at(second: int) -> Instant:
    return Instant(NOON + second * SECOND)


def between(start: Instant | None, end: Instant | None) -> Validity:
    return Validity(
        Interval(BEGINNING if start is None else start, FOREVER if end is None else end),
        Precision.UNBOUNDED if start is None else Precision.INSTANT,
        Precision.UNBOUNDED if end is None else Precision.INSTANT,
    )


def answer(base: Base, query: RegisteredQuery, as_of: Instant, valid_at: Instant) -> Counter[str]:
    moment = base.reader.moment(print_instant(as_of), print_instant(valid_at))
    body = base.reader.query(QueryRequest(ADMINISTRATOR, query.text, "text/tab-separated-values"), moment).body
    return Counter(body.decode().split("\n")[1:-1])


def standing(base: Base, query: RegisteredQuery, held: Held) -> Standing:
    stands = QueryReader(base.ledger).standing(ADMINISTRATOR, query, held)
    assert stands is not None
    return stands


def step(base: Base, clock: SetClock, random: Random) -> None:
    """The clock goes on, and something is asserted, retracted or put off, now or at another time near by."""
    clock.move(random.randint(1, 4) * SECOND)
    second = (clock.at - NOON) // SECOND
    statement = Statement(random.choice(NODES), P, random.choice(NODES), G)
    bounds = sorted(random.sample(range(second - 8, second + 12), 2))
    start, end = (None if random.random() < 0.3 else at(bound) for bound in bounds)
    with base.ledger.reading() as view:
        held = [*view.believed_of(statement)]
    change: Change = Assert(statement, between(start, end))
    if held and random.random() < 0.6:
        within = between(start, end).interval
        whole = random.random() < 0.5 or not any(fact.interval.overlaps(within) for fact in held)
        change = Retract(statement) if whole else Retract(statement, within)
    write(base, change, by=ADMINISTRATOR)


def check(seed: int, steps: int) -> Counter[Freshness]:
    """Walks a base, and holds every standing against both answers; how often each of the words was said."""
    random, clock, said = Random(seed), SetClock(), Counter[Freshness]()
    with Base.open(None, policy=AUTO, host=clock) as base:
        queries = [registered("now", ALL), registered("then", ALL, moment=at(6))]
        register(base, *queries)
        states: list[Held] = []
        for _ in range(steps):
            step(base, clock, random)
            head = base.reader.head()
            assert head.instant is not None
            near = at((clock.at - NOON) // SECOND + random.randint(-6, 9))
            states += [Held(head.instant, head.clock), Held(head.instant, near)]
            for held in random.sample(states, min(4, len(states))):
                for query in queries:
                    assert held.instant is not None
                    before = answer(base, query, held.instant, held.valid_at)
                    after = answer(base, query, head.instant, query.moment or head.clock)
                    stands = standing(base, query, held).freshness
                    said[stands] += 1
                    assert stands is not Freshness.FRESH or before == after, (seed, query.name, held)
                    assert stands is not Freshness.CHANGED or before != after, (seed, query.name, held)
    return said


def test_what_is_fresh_is_the_same_answer_and_what_has_changed_is_another() -> None:
    said = check(1, 30)
    assert all(said[word] >= 3 for word in Freshness), said


@pytest.mark.fuzz
def test_what_is_fresh_is_the_same_answer_at_length() -> None:
    for seed in range(3, 300):
        check(seed, 30)


def test_a_fact_that_ended_by_itself_and_was_retracted_then_leaves_no_answer_fresh() -> None:
    clock = SetClock()
    with Base.open(None, policy=AUTO, host=clock) as base:
        query, fact = registered("now", ALL), Statement(NODES[0], P, NODES[1], G)
        register(base, query)
        write(base, Assert(fact, between(None, at(10))), by=ADMINISTRATOR)
        head = base.reader.head()
        clock.move(20 * SECOND)
        write(base, Retract(fact), by=ADMINISTRATOR)
        stands = standing(base, query, Held(head.instant, head.clock))
        assert (stands.freshness, stands.clock) == (Freshness.POSSIBLY_STALE, True)


def test_an_answer_of_a_time_ahead_or_of_another_moment_is_not_that_of_the_query() -> None:
    with open_base() as base:
        now, then = registered("now", ALL), registered("then", ALL, moment=at(-100))
        register(base, now, then)
        write(base, Assert(Statement(NODES[0], P, NODES[1], G), between(at(-50), at(50))), by=ADMINISTRATOR)
        head = base.reader.head()
        for query, valid_at, freshness in (
            (now, at(40), Freshness.FRESH),
            (now, at(60), Freshness.POSSIBLY_STALE),
            (then, at(-100), Freshness.FRESH),
            (then, at(-60), Freshness.FRESH),
            (then, head.clock, Freshness.POSSIBLY_STALE),
        ):
            assert standing(base, query, Held(head.instant, valid_at)).freshness is freshness, (query.name, valid_at)


def test_a_purge_leaves_answers_of_its_graphs_possibly_stale_and_no_others() -> None:
    with open_base() as base:
        here, there, everywhere = (
            registered("here", ALL, graphs=(G,)),
            registered("there", ALL, graphs=(H,)),
            registered("everywhere", ALL),
        )
        register(base, here, there, everywhere)
        write(base, Assert(Statement(NODES[0], P, NODES[1], G)), by=ADMINISTRATOR)
        head = base.reader.head()
        held = Held(head.instant, head.clock)
        assert {standing(base, each, held).freshness for each in (here, there, everywhere)} == {Freshness.FRESH}
        purge(base, Target(TargetKind.NODE, NODES[0]))
        told = [standing(base, each, held) for each in (here, there, everywhere)]
        stale, fresh = Freshness.POSSIBLY_STALE, Freshness.FRESH
        assert [each.freshness for each in told] == [stale, fresh, stale]
        assert [(each.by, each.clock) for each in told] == [((), False)] * 3
        head = base.reader.head()
        assert standing(base, here, Held(head.instant, head.clock)).freshness is Freshness.FRESH
