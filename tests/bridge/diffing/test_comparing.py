"""Diffs against brute force: sets of statements, at generated pairs of moments, for callers who read some graphs."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, Final

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyld import jsonld as pyld

from bridge.base import Base
from bridge.diffing.comparing import Axis, Comparison, Diff, Entry, Kind, Side, Sides, sides_of
from bridge.diffing.documents import DiffFormat, document
from kernel.access import Principal, Role
from kernel.changes import Assert, End, Retract, Revise
from kernel.errors import CallerError, InvalidParameter, InvalidTime, QueryLimit
from kernel.facts import Fact
from kernel.terms import Iri, Statement
from kernel.time.instants import LATEST, SECOND, Instant, print_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.time.timevalues import Bound
from kernel.vocabulary import M
from tests.bridge.writing import ADMINISTRATOR, SetClock, during, write, year

GRAPHS: Final = tuple(Iri(f"urn:g:{number}") for number in range(2))
NODES: Final = tuple(Iri(f"urn:n:{number}") for number in range(4))
WORDS: Final = tuple(Iri(f"urn:p:{number}") for number in range(2))
YEARS: Final = range(2000, 2012)
HELD: Final = Principal("held", Role.READER, frozenset({GRAPHS[0]}))
ROUNDS: Final = 120
EVER: Final = 3_600.0


def scripted(base: Base, clock: SetClock) -> list[Instant]:
    """Writes what a seeded script says; answers the instants of all heads."""
    random = Random(28)
    heads = []
    for _ in range(ROUNDS):
        clock.move(SECOND)
        statement = Statement(random.choice(NODES), random.choice(WORDS), random.choice(NODES), random.choice(GRAPHS))
        start = random.choice([None, *YEARS])
        end = random.choice([None, *(each for each in YEARS if start is None or each > start)])
        with base.ledger.reading() as view:
            facts = sorted(
                view.believed(graph=statement.graph),
                key=lambda fact: (fact.recorded_at, repr(fact.statement), fact.interval.start),
            )
        held = random.choice(facts) if facts else None
        change: Any = Assert(statement, during(start, end))
        if held is not None and random.random() < 0.6:
            at = year(random.choice(YEARS))
            change = random.choice(
                [
                    Revise(held.id, object=random.choice(NODES)),
                    Revise(held.id, start=Bound(at, Precision.INSTANT, None)),
                    End(held.id, Bound(at, Precision.INSTANT, None)),
                    Retract(held.statement),
                    Retract(held.statement, Interval(at, year(random.choice(YEARS) + 20))),
                ]
            )
        try:
            write(base, change)
        except CallerError:
            continue
        instant = base.reader.head().instant
        if instant is not None:
            heads.append(instant)
    return sorted({*heads})


@pytest.fixture(scope="module")
def base() -> Iterator[Base]:
    clock = SetClock()
    with Base.open(None, host=clock) as opened:
        scripted(opened, clock)
        yield opened


@pytest.fixture(scope="module")
def facts(base: Base) -> list[Fact]:
    with base.ledger.reading() as view:
        found = list(view.facts_recorded(None, LATEST))
    assert len(found) > ROUNDS / 2
    assert sum(fact.superseded is not None for fact in found) > ROUNDS / 6
    return found


@pytest.fixture(scope="module")
def instants(facts: list[Fact]) -> list[Instant]:
    return sorted({fact.recorded_at for fact in facts})


def sides(axis: Axis, one: Instant, other: Instant, fixed: Instant) -> Sides:
    first, second = sorted((one, other))
    if axis is Axis.TRANSACTION:
        return Sides(axis, Side(first, fixed, None), Side(second, fixed, None))
    return Sides(axis, Side(fixed, first, None), Side(fixed, second, None))


def holding(facts: list[Fact], side: Side, asked: Comparison) -> dict[Statement, Fact]:
    """What holds at a moment, of what is compared: by the definition."""
    found: dict[Statement, Fact] = {}
    for fact in facts:
        said = fact.statement
        wanted = asked.graph in (None, said.graph) and asked.node in (None, said.subject, said.object)
        believed = fact.recorded_at <= side.as_of and (fact.superseded is None or side.as_of < fact.superseded.at)
        true = fact.interval.start <= side.valid_at < fact.interval.end
        if wanted and believed and true and asked.principal.may_read(said.graph):
            assert said not in found, "Disjoint"
            found[said] = fact
    return found


def entries(base: Base, asked: Comparison) -> list[Entry]:
    with Diff(base.ledger, asked, EVER) as diff:
        found = list(diff.entries())
        counts = diff.counts
    assert [counts.gained, counts.lost, counts.corrected] == [
        sum(each.kind is kind for each in found) for kind in (Kind.GAINED, Kind.LOST, Kind.CORRECTED)
    ]
    return found


wanted = st.one_of(
    st.tuples(st.sampled_from(GRAPHS), st.none()),
    st.tuples(st.none(), st.sampled_from(NODES)),
    st.tuples(st.sampled_from(GRAPHS), st.sampled_from(NODES)),
)


@given(st.data(), st.sampled_from(Axis), wanted, st.sampled_from([ADMINISTRATOR, HELD]))
def test_a_diff_is_the_difference_of_two_sets(
    base: Base, facts: list[Fact], instants: list[Instant],
    data: st.DataObject, axis: Axis, about: tuple[Iri | None, Iri | None], principal: Principal,
) -> None:  # fmt: skip
    known, true = st.sampled_from(instants), st.sampled_from([year(each) for each in YEARS])
    moving, fixed = (known, true) if axis is Axis.TRANSACTION else (true, known)
    between = sides(axis, data.draw(moving), data.draw(moving), data.draw(fixed))
    asked = Comparison(principal, between, *about)
    before, after = holding(facts, between.first, asked), holding(facts, between.second, asked)
    found = entries(base, asked)

    gone, come = before.keys() - after.keys(), after.keys() - before.keys()
    lost = [
        each.before.fact.statement
        for each in found
        if each.before and not (each.after and each.after.fact.statement == each.before.fact.statement)
    ]
    gained = [
        each.after.fact.statement
        for each in found
        if each.after and not (each.before and each.before.fact.statement == each.after.fact.statement)
    ]
    assert (sorted(map(repr, lost)), sorted(map(repr, gained))) == (sorted(map(repr, gone)), sorted(map(repr, come)))

    restated = [
        each for each in found if each.before and each.after and each.before.fact.statement == each.after.fact.statement
    ]
    other_fact = {said for said in before.keys() & after.keys() if before[said].id != after[said].id}
    assert {each.after.fact.statement for each in restated if each.after} == (
        other_fact if axis is Axis.TRANSACTION else set()
    )

    kin_lost = {before[said].content.family for said in gone} & {after[said].content.family for said in come}
    apart = [each for each in found if each.kind is not Kind.CORRECTED]
    families: dict[bool, set[Any]] = {True: set(), False: set()}
    for each in apart:
        side = each.before or each.after
        assert side is not None
        families[each.before is not None].add(side.fact.content.family)
    assert not families[True] & families[False], "what is left of a family is on one side alone"
    for each in found:
        if each.before and each.after and each.before.fact.statement != each.after.fact.statement:
            assert each.before.fact.content.family == each.after.fact.content.family
            assert each.after.fact.content.family in kin_lost
        assert each.certificates == responsible(each, between)


def responsible(entry: Entry, between: Sides) -> tuple[Any, ...]:
    """What did it, by the facts alone."""
    found = []
    if entry.before is not None:
        fact = entry.before.fact
        went = fact.superseded is not None and fact.superseded.at <= between.second.as_of
        found.append(fact.superseded.certificate if went and fact.superseded else fact.certificate)
    if entry.after is not None:
        found.append(entry.after.fact.certificate)
    return tuple(dict.fromkeys(found))


@given(st.data(), st.sampled_from(Axis), st.sampled_from(GRAPHS))
def test_a_patch_makes_one_moment_of_the_other(
    base: Base, facts: list[Fact], instants: list[Instant], data: st.DataObject, axis: Axis, graph: Iri
) -> None:
    known, true = st.sampled_from(instants), st.sampled_from([year(each) for each in YEARS])
    moving, fixed = (known, true) if axis is Axis.TRANSACTION else (true, known)
    between = sides(axis, data.draw(moving), data.draw(moving), data.draw(fixed))
    asked = Comparison(ADMINISTRATOR, between, graph)
    diff = Diff(base.ledger, asked, EVER)
    with document(diff, DiffFormat.PATCH, base.ledger.base_id()) as patch:
        lines = b"".join(patch.chunks()).decode().splitlines()
    assert lines[0].startswith("H id <urn:uuid:")
    assert (lines[1], lines[-1]) == ("TX .", "TC .")
    store = {quad_of(said) for said in holding(facts, between.first, asked)}
    for line in lines[2:-1]:
        code, _, quad = line.partition(" ")
        (parsed,) = ox.parse(quad, ox.RdfFormat.N_QUADS)
        assert (code in "AD", parsed in store) == (True, code == "D")
        store.symmetric_difference_update({parsed})
    assert store == {quad_of(said) for said in holding(facts, between.second, asked)}


def quad_of(said: Statement) -> ox.Quad:
    quad: ox.Quad
    (quad,) = ox.parse(
        f"{said.subject.n3} {said.predicate.n3} {said.object.n3} {said.graph.n3} .", ox.RdfFormat.N_QUADS
    )
    return quad


def test_json_ld_says_the_same(base: Base, instants: list[Instant]) -> None:
    of_all_kinds = (
        (asked, found)
        for first, true in product(instants, YEARS)
        for asked in [Comparison(ADMINISTRATOR, sides(Axis.TRANSACTION, first, instants[-1], year(true)), GRAPHS[0])]
        for found in [entries(base, asked)]
        if {each.kind for each in found} == {*Kind}
    )
    asked, found = next(of_all_kinds)
    with document(Diff(base.ledger, asked, EVER), DiffFormat.JSON_LD, base.ledger.base_id()) as told:
        text = b"".join(told.chunks())
    (expanded,) = pyld.expand(json.loads(text))
    changes = expanded[f"{M}change"]
    assert len(changes) == len(found)
    for entry, change in zip(found, changes, strict=True):
        assert change["@type"] == [M + entry.kind.capitalize()]
        assert [each["@id"] for each in change[f"{M}because"]] == [f"urn:uuid:{each}" for each in entry.certificates]
        for name, one in (("before", entry.before), ("after", entry.after)):
            if one is None:
                assert M + name not in change
                continue
            (fact,) = change[M + name]
            assert fact["@id"] == f"urn:uuid:{one.fact.id}"
            assert fact[f"{M}graph"] == [{"@id": one.fact.statement.graph.value}]
            assert (f"{M}supersededBy" in fact) is (one.fact.superseded is not None)


def test_a_document_may_be_given_up_at_any_time(base: Base, instants: list[Instant]) -> None:
    asked = Comparison(ADMINISTRATOR, sides(Axis.TRANSACTION, instants[0], instants[-1], year(2005)), GRAPHS[0])
    for form in DiffFormat:
        for taken in (0, 1):
            diff = Diff(base.ledger, asked, EVER)
            with document(diff, form, base.ledger.base_id()) as told:
                for _ in range(taken):
                    assert told.take()
            assert told.take() == b""
            gc.collect()  # what were left behind would complain


def test_plain_text_has_a_line_for_each_fact(base: Base, instants: list[Instant]) -> None:
    asked = Comparison(ADMINISTRATOR, sides(Axis.TRANSACTION, instants[0], instants[-1], year(2005)), GRAPHS[0])
    found = entries(base, asked)
    with document(Diff(base.ledger, asked, EVER), DiffFormat.TEXT, base.ledger.base_id()) as told:
        counts, *lines = b"".join(told.chunks()).decode().splitlines()
    kinds = [each.kind for each in found]
    assert (
        counts
        == f"{kinds.count(Kind.GAINED)} gained, {kinds.count(Kind.LOST)} lost, {kinds.count(Kind.CORRECTED)} corrected"
    )
    signs = [sign for kind in kinds for sign in {Kind.GAINED: "+", Kind.LOST: "-", Kind.CORRECTED: "~ "}[kind]]
    assert [line[0] for line in lines] == signs


def test_pages_follow_each_other(base: Base, instants: list[Instant]) -> None:
    asked = Comparison(ADMINISTRATOR, sides(Axis.TRANSACTION, instants[0], instants[-1], year(2005)), GRAPHS[0])
    with Diff(base.ledger, asked, EVER) as diff:
        whole = list(diff.entries())
        assert [each for first in range(0, len(whole), 3) for each in diff.entries(first, 3)] == whole
        newest = [max(side.fact.recorded_at for side in (each.before, each.after) if side) for each in whole]
    assert newest == sorted(newest)


def test_the_moments_are_named_as_everywhere(base: Base) -> None:
    head = base.reader.head()
    named = sides_of(base, Axis.TRANSACTION, "2026-05-06T12:00:10Z")
    assert (named.second.as_of, named.second.head) == (head.instant, head.position)
    assert named.first.valid_at == named.second.valid_at == head.clock
    named = sides_of(base, Axis.VALID, "2004", "2006", "2026-05-06T12:00:10Z")
    assert (named.first.valid_at, named.second.valid_at) == (year(2004), year(2006))
    assert named.first.as_of == named.second.as_of
    for wrong, where in (
        (("2005",), "from"), (("2026-01-01", "2999-01-01"), "to"), (("x",), "from"),
        (("2026-05-06T12:00:10Z", "2026-05-06T12:00:09Z"), "from"), (("2026-01-01", None, "x"), "valid-at"),
    ):  # fmt: skip
        with pytest.raises((InvalidParameter, InvalidTime)) as caught:
            sides_of(base, Axis.TRANSACTION, *wrong)
        assert caught.value.where == where


def test_nothing_was_before_the_first_head(base: Base, facts: list[Fact]) -> None:
    named = sides_of(base, Axis.TRANSACTION, "1999-01-01", None, "2005")
    found = entries(base, Comparison(ADMINISTRATOR, named, GRAPHS[0]))
    assert {each.kind for each in found} == {Kind.GAINED}
    with Base.open(None) as empty:
        named = sides_of(empty, Axis.TRANSACTION, "1999-01-01")
        assert entries(empty, Comparison(ADMINISTRATOR, named, GRAPHS[0])) == []


def test_the_present_is_no_earlier_than_what_is_asked_for() -> None:
    """Nothing was recorded since, and nothing began: nothing differs, and nothing is wrong."""
    clock = SetClock()
    with Base.open(None, host=clock) as quiet:
        write(quiet, Assert(Statement(NODES[0], WORDS[0], NODES[1], GRAPHS[0])))
        clock.move(60 * SECOND)
        since = print_instant(Instant(clock.at - SECOND))
        for axis in Axis:
            assert entries(quiet, Comparison(ADMINISTRATOR, sides_of(quiet, axis, since), GRAPHS[0])) == []
        with pytest.raises(InvalidParameter):
            sides_of(quiet, Axis.VALID, "2090")


def test_something_has_to_be_compared(base: Base) -> None:
    with pytest.raises(InvalidParameter):
        Comparison(ADMINISTRATOR, sides(Axis.VALID, year(2000), year(2001), year(2005)))


def test_it_takes_no_longer_than_it_may(base: Base, instants: list[Instant]) -> None:
    asked = Comparison(ADMINISTRATOR, sides(Axis.TRANSACTION, instants[0], instants[-1], year(2005)), GRAPHS[0])
    with pytest.raises(QueryLimit):
        Diff(base.ledger, asked, -1.0)


def test_what_differs_takes_no_memory_to_speak_of() -> None:
    """What is held is a chunk of the document, and not 1,600 entries, which take 2 MB."""
    with Base.open(None) as many:
        write(many, *(Assert(Statement(Iri(f"urn:s:{each}"), WORDS[0], NODES[0], GRAPHS[0])) for each in range(1_600)))
        now = many.reader.head().instant
        assert now is not None
        between = sides(Axis.TRANSACTION, Instant(0), now, now)
        peak_of(many, between)  # from now on terms are remembered
        assert peak_of(many, between) < 600_000


def peak_of(base: Base, between: Sides) -> int:
    """The most memory, in bytes, that a patch took while it was made and read."""
    tracemalloc.start()
    diff = Diff(base.ledger, Comparison(ADMINISTRATOR, between, GRAPHS[0]), EVER)
    with document(diff, DiffFormat.PATCH, base.ledger.base_id()) as patch:
        for _ in patch.chunks():
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
