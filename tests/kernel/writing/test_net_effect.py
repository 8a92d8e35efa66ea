"""The net effect of operations, against what each statement is true of, instant by instant."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.access import Principal, Role
from kernel.changes import Assert, End, Request, Retract
from kernel.errors import Forbidden, InvalidParameter, ReservedGraph, TooManyChanges
from kernel.facts import Validity
from kernel.terms import Iri, Statement
from kernel.time.instants import BEGINNING, FOREVER, Instant
from kernel.time.intervals import Interval
from kernel.time.timevalues import Precision, exact
from kernel.vocabulary import DEFAULT_GRAPH, SHAPES_GRAPH, history_graph
from kernel.writing.net_effect import NetEffect, Since
from kernel.writing.planner import Planner
from tests.kernel.memory_view import MemoryView

LINE = range(9)
NOW = Instant(4)
WRITER = Principal("w", Role.WRITER)
ADMINISTRATOR = Principal("a", Role.ADMINISTRATOR)
HOMES = [Iri(f"urn:city:{name}") for name in ("paris", "rome")]


def living(home: Iri = HOMES[0], graph: Iri = DEFAULT_GRAPH) -> Statement:
    return Statement(Iri("urn:ann"), Iri("urn:livesIn"), home, graph)


def during(start: int, end: int) -> Validity:
    return Validity(Interval(start, end), Precision.INSTANT, Precision.INSTANT)


def holding(*held: tuple[Statement, Validity]) -> MemoryView:
    view = MemoryView()
    for statement, validity in held:
        request = Request((Assert(statement, validity),), None, None, "a")
        view.apply(Planner(uuid4(), NOW, view, ADMINISTRATOR).plan(request), NOW)
    return view


def since(instant: int) -> Since:
    return Since(exact(Instant(instant)), exact(Instant(instant)))


def true_of(view: MemoryView, statement: Statement) -> set[int]:
    return {instant for fact in view.believed_of(statement) for instant in LINE if fact.interval.contains(instant)}


intervals = st.tuples(st.integers(0, 7), st.integers(1, 8)).filter(lambda ends: ends[0] < ends[1])
held_facts = st.lists(st.tuples(st.sampled_from(HOMES), intervals), max_size=5)
steps = st.lists(st.tuples(st.booleans(), st.sampled_from(HOMES)), max_size=6)


@given(held_facts, steps, st.none() | st.integers(0, 8))
def test_the_last_that_was_done_to_a_statement_counts_from_an_instant_on(
    held: list[tuple[Iri, tuple[int, int]]], asked: list[tuple[bool, Iri]], given_since: int | None
) -> None:
    view = holding(*((living(home), during(*ends)) for home, ends in held))
    before = {home: true_of(view, living(home)) for home in HOMES}
    current = {home: next((f for f in view.believed_of(living(home)) if f.holds_at(NOW)), None) for home in HOMES}
    effect = NetEffect(view, NOW, WRITER)
    last: dict[Iri, bool] = {}
    for inserts, home in asked:
        (effect.insert if inserts else effect.delete)(living(home))
        last[home] = inserts
        assert effect.holds(living(home)) is inserts
        assert (DEFAULT_GRAPH in effect.graphs_of(Iri("urn:ann"), Iri("urn:livesIn"), home)) is inserts
        assert (living(home) in effect.statements_in(DEFAULT_GRAPH)) is inserts
    start = NOW if given_since is None else given_since
    changes = effect.changes(view, NOW, None if given_since is None else since(given_since))
    view.apply(Planner(uuid4(), NOW, view, WRITER).plan(Request(changes, None, None, "w")), NOW)
    for home in HOMES:
        fact = current[home]
        expected = before[home]
        if last.get(home) is True:
            expected = expected | set(LINE[start:])
        elif last.get(home) is False and fact is not None:
            expected = expected - set(range(start, fact.interval.end))
        assert true_of(view, living(home)) == expected


def test_what_began_at_the_instant_is_retracted_and_what_began_before_it_is_ended() -> None:
    view = holding((living(), during(4, 8)), (living(HOMES[1]), during(3, 8)))
    effect = NetEffect(view, NOW, WRITER)
    for home in HOMES:
        effect.delete(living(home))
    assert effect.changes(view, NOW) == (
        Retract(living(), Interval(4, 8)),
        End(living(HOMES[1]), exact(NOW)),
    )


def test_what_is_inserted_and_deleted_again_leaves_nothing() -> None:
    view = holding()
    effect = NetEffect(view, NOW, WRITER)
    effect.insert(living())
    effect.delete(living())
    assert (len(effect), effect.changes(view, NOW)) == (0, ())


def test_a_reserved_graph_has_no_valid_time() -> None:
    shape, other = living(graph=SHAPES_GRAPH), living(HOMES[1], SHAPES_GRAPH)
    view = holding((shape, Validity.always()))
    effect = NetEffect(view, NOW, ADMINISTRATOR)
    effect.delete(shape)
    effect.insert(other)
    assert effect.changes(view, NOW) == (Retract(shape), Assert(other))
    with pytest.raises(ReservedGraph):
        effect.changes(view, NOW, since(2))


def test_nothing_is_touched_where_the_principal_may_not_write() -> None:
    effect = NetEffect(holding(), NOW, Principal("w", Role.WRITER, frozenset({Iri("urn:mine")})))
    effect.insert(living(graph=Iri("urn:mine")))
    for graph in (DEFAULT_GRAPH, SHAPES_GRAPH, history_graph(Iri("urn:mine"))):
        for touch in (effect.insert, effect.delete):
            with pytest.raises(Forbidden):
                touch(living(graph=graph))


def test_a_graph_is_replaced_by_what_differs() -> None:
    graph = Iri("urn:g")
    paris, rome, oslo = (living(Iri(f"urn:city:{name}"), graph) for name in ("paris", "rome", "oslo"))
    view = holding((paris, during(1, 8)), (rome, during(1, 8)))
    effect = NetEffect(view, NOW, WRITER)
    assert effect.has(graph)
    effect.replace(graph, [(rome, Assert(rome).spelling), (oslo, Assert(oslo).spelling)])
    changes = effect.changes(view, NOW)
    assert changes[0] == End(paris, exact(NOW))
    assert len(changes) == 2
    assert [*effect.touched()] == [paris, oslo]


def test_times_may_be_unknown_or_without_bound_for_what_is_inserted() -> None:
    view = holding((living(), during(1, 8)))
    effect = NetEffect(view, NOW, WRITER)
    effect.insert(living(HOMES[1]))
    unknown, unbounded = (Since.parse(text, field="valid-from") for text in ("unknown", "unbounded"))
    [inserted] = effect.changes(view, NOW, unknown)
    assert isinstance(inserted, Assert)
    assert (inserted.validity.interval, inserted.validity.start_precision) == (
        Interval(BEGINNING, FOREVER),
        Precision.UNKNOWN,
    )
    effect.delete(living())
    with pytest.raises(InvalidParameter, match="unknown"):
        effect.changes(view, NOW, unknown)
    assert effect.changes(view, NOW, unbounded)[0] == Retract(living(), Interval(BEGINNING, 8))


def test_there_is_a_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.writing.net_effect.MOST", 1)
    effect = NetEffect(holding(), NOW, WRITER)
    effect.insert(living())
    effect.insert(living())
    with pytest.raises(TooManyChanges):
        effect.insert(living(HOMES[1]))
