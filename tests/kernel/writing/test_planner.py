"""The bitemporal core and the planner, against a set of (statement, valid instant, transaction instant)."""

from __future__ import annotations

from cProfile import Profile
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.access import Principal, Role
from kernel.changes import Assert, Change, End, Request, Retract, Revise
from kernel.errors import (
    EndsAtStart,
    Forbidden,
    NotFound,
    NothingToEnd,
    NothingToRetract,
    NothingToRevise,
    Overlap,
    PlanError,
    ReservedGraph,
    StaleFact,
)
from kernel.facts import Spelling, Validity
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import Instant
from kernel.time.intervals import Interval
from kernel.time.timevalues import Precision, exact, valid_from, valid_to
from kernel.vocabulary import DEFAULT_GRAPH, SHAPES_GRAPH
from kernel.writing.plan import Plan
from kernel.writing.planner import Planner
from tests.kernel.memory_view import MemoryView

LINE = range(9)
WRITER = Principal("w", Role.WRITER)
PARIS, ROME, OSLO = (Iri(f"urn:city:{name}") for name in ("paris", "rome", "oslo"))


def statement(value: Iri | Literal = PARIS, graph: Iri = DEFAULT_GRAPH) -> Statement:
    return Statement(Iri("urn:ann"), Iri("urn:livesIn"), value, graph)


def during(start: int, end: int) -> Validity:
    return Validity(Interval(start, end), Precision.INSTANT, Precision.INSTANT)


def plan(
    view: MemoryView, *changes: Change, at: int = 100, principal: Principal = WRITER, episode: Iri | None = None
) -> Plan:
    request = Request(changes, None, episode, principal.id)
    return Planner(uuid4(), Instant(at), view, principal).plan(request)


def write(view: MemoryView, *changes: Change, at: int = 100) -> Plan:
    planned = plan(view, *changes, at=at)
    view.apply(planned, Instant(at))
    return planned


def intervals(view: MemoryView, value: Iri | Literal = PARIS) -> list[tuple[int, int]]:
    return [(fact.interval.start, fact.interval.end) for fact in view.believed_of(statement(value))]


# --- the model --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One change in the model's own terms; a revise names the n-th believed fact."""

    op: str
    value: Iri
    start: int
    end: int
    nth: int
    other: Iri


values = st.sampled_from([PARIS, ROME, OSLO])
points = st.integers(0, 8)
steps = st.builds(
    lambda op, value, pair, nth, other: Step(op, value, min(pair), max(pair) + 1, nth, other),
    st.sampled_from(["assert", "assert", "assert", "end", "retract", "retract-within", "revise"]),
    values,
    st.tuples(points, points),
    st.integers(0, 5),
    values,
)


class Model:
    """The set of (value, valid instant) believed now, and what was believed at each transaction instant."""

    def __init__(self) -> None:
        self.now: dict[Iri, list[tuple[int, int]]] = {}
        self.history: list[frozenset[tuple[Iri, int]]] = []

    def points(self) -> frozenset[tuple[Iri, int]]:
        return frozenset(
            (value, v) for value, held in self.now.items() for start, end in held for v in range(start, end)
        )

    def runs(self, value: Iri) -> list[tuple[int, int]]:
        return sorted(self.now.get(value, []))

    def step(self, step: Step) -> bool:
        """Whether the change could be made."""
        held = self.runs(step.value)
        covered = {v for start, end in held for v in range(start, end)}
        wanted = range(step.start, step.end)
        if step.op == "assert":
            self.now[step.value] = held + _runs([v for v in wanted if v not in covered])
        elif step.op == "end":
            found = [run for run in held if run[0] <= step.start < run[1]]
            if not found or found[0][0] == step.start:
                return False
            self.now[step.value] = [run for run in held if run != found[0]] + [(found[0][0], step.start)]
        elif step.op == "retract":
            if not held:
                return False
            self.now[step.value] = []
        elif step.op == "retract-within":
            if not covered & set(wanted):
                return False
            kept = [_runs([v for v in range(*run) if v not in wanted]) for run in held]
            self.now[step.value] = [run for runs in kept for run in runs]
        else:
            return self._revise(step)
        return True

    def _revise(self, step: Step) -> bool:
        everything = [(value, run) for value in (PARIS, ROME, OSLO) for run in self.runs(value)]
        if not everything:
            return False
        value, run = everything[step.nth % len(everything)]
        moved = (step.start, step.end)
        others = [held for held in self.runs(step.other) if (step.other, held) != (value, run)]
        unchanged = (step.other, moved) == (value, run)
        if unchanged or any(start < moved[1] and moved[0] < end for start, end in others):
            return False
        self.now[value] = [held for held in self.runs(value) if held != run]
        self.now[step.other] = [*self.runs(step.other), moved]
        return True


def _runs(instants: list[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for v in sorted(instants):
        if runs and runs[-1][1] == v:
            runs[-1] = (runs[-1][0], v + 1)
        else:
            runs.append((v, v + 1))
    return runs


def as_change(step: Step, view: MemoryView) -> Change | None:
    target = statement(step.value)
    match step.op:
        case "assert":
            return Assert(target, during(step.start, step.end))
        case "end":
            return End(target, exact(Instant(step.start)))
        case "retract":
            return Retract(target)
        case "retract-within":
            return Retract(target, Interval(step.start, step.end))
        case _:
            return _as_revision(step, view)


def _as_revision(step: Step, view: MemoryView) -> Revise | None:
    everything = [fact for value in (PARIS, ROME, OSLO) for fact in view.believed_of(statement(value))]
    if not everything:
        return None
    fact = everything[step.nth % len(everything)]
    return Revise(fact.id, step.other, exact(Instant(step.start)), exact(Instant(step.end)))


@given(st.lists(steps, max_size=12))
def test_planning_and_applying_is_the_model_at_every_pair_of_times(wanted: list[Step]) -> None:
    view, model = MemoryView(), Model()
    for at, step in enumerate(wanted, start=1):
        change = as_change(step, view)
        possible = model.step(step)
        if change is None or not possible:
            if change is not None:
                with pytest.raises(PlanError):
                    plan(view, change, at=at)
        else:
            write(view, change, at=at)
        model.history.append(model.points())
        for value in (PARIS, ROME, OSLO):
            assert intervals(view, value) == model.runs(value)
    for at, expected in enumerate(model.history, start=1):
        known = [
            fact
            for fact in view.facts
            if fact.recorded_at <= at and (fact.superseded is None or at < fact.superseded.at)
        ]
        believed = [(fact.statement.object, v) for fact in known for v in LINE if fact.interval.contains(Instant(v))]
        assert len(believed) == len(set(believed)), "Disjoint"
        assert set(believed) == {(value, v) for value, v in expected if v in LINE}


@given(st.lists(steps, max_size=8))
def test_changes_of_one_request_come_to_the_same_as_one_after_the_other(wanted: list[Step]) -> None:
    apart, together = MemoryView(), MemoryView()
    made: list[Change] = []
    for at, step in enumerate(wanted, start=1):
        if step.op == "revise":
            continue  # names a fact by its id, which differs between the two
        change = as_change(step, apart)
        try:
            assert change is not None
            write(apart, change, at=at)
        except PlanError:
            continue
        made.append(change)
    planned = write(together, *made)
    for value in (PARIS, ROME, OSLO):
        assert intervals(together, value) == intervals(apart, value)
    assert not planned.supersede, "what a request makes and drops again leaves nothing"
    assert {item.fact for item in planned.evidence} <= {fact.id for fact in planned.record}


@given(st.lists(steps, max_size=10))
def test_planning_again_gives_the_same_plan_byte_for_byte(wanted: list[Step]) -> None:
    view = MemoryView()
    for at, step in enumerate(wanted, start=1):
        change = as_change(step, view)
        if change is None:
            continue
        certificate, request = uuid4(), Request((change,), "why", None, "w")
        try:
            first, second = (Planner(certificate, Instant(at), view, WRITER).plan(request) for _ in range(2))
        except PlanError:
            continue
        assert first.bodies() == second.bodies()
        assert len({fact.id for fact in first.record}) == len(first.record)
        view.apply(first, Instant(at))


# --- the table of changes, one row after the other --------------------------------------------------------------------


def test_case_27_two_intervals_of_one_statement_are_two_facts() -> None:
    view = MemoryView()
    write(view, Assert(statement(), during(2001, 2003)), Assert(statement(), during(2010, 2012)))
    assert intervals(view) == [(2001, 2003), (2010, 2012)]
    assert len({fact.content.family for fact in view.facts}) == 2


def test_case_38_asserting_over_a_partial_overlap_believes_the_extra_years() -> None:
    view = MemoryView()
    (first,) = write(view, Assert(statement(), during(2020, 2022))).record
    planned = write(view, Assert(statement(), during(2021, 2024)))
    assert intervals(view) == [(2020, 2022), (2022, 2024)]
    assert [fact.interval for fact in planned.record] == [Interval(2022, 2024)], "the certificate says what is new"
    assert [item.fact for item in planned.evidence] == [first.id], "and supports what was held"


def test_many_intervals_of_one_statement_take_calls_by_their_number_and_not_by_its_square() -> None:
    def calls(many: int) -> int:
        with Profile() as profile:
            plan(MemoryView(), *(Assert(statement(), during(4 * n, 4 * n + 3)) for n in reversed(range(many))))
        return sum(each.callcount for each in profile.getstats())

    assert calls(800) < 2 * 8 * calls(100)


def test_adjacent_intervals_are_not_fused() -> None:
    view = MemoryView()
    write(view, Assert(statement(), during(1, 2)))
    write(view, Assert(statement(), during(2, 3)))
    assert intervals(view) == [(1, 2), (2, 3)]


def test_a_repeat_is_evidence_and_nothing_else() -> None:
    view = MemoryView()
    (held,) = write(view, Assert(statement())).record
    planned = plan(view, Assert(statement()))
    assert (planned.record, planned.supersede) == ((), ())
    assert [item.fact for item in planned.evidence] == [held.id]


def test_a_plain_assertion_needs_no_evidence_record_and_one_with_something_to_say_has_one() -> None:
    view = MemoryView()
    assert not plan(view, Assert(statement())).evidence
    assert plan(view, Assert(statement()), episode=Iri("urn:source")).evidence[0].episode == Iri("urn:source")
    doubted = plan(view, Assert(statement(), confidence=Decimal("0.4"))).evidence[0]
    assert doubted.confidence == Decimal("0.4")


def test_end_supersedes_the_one_fact_that_contains_the_instant() -> None:
    view = MemoryView()
    write(view, Assert(statement(), during(1, 4)), Assert(statement(), during(6, 9)))
    planned = write(view, End(statement(), exact(Instant(7))))
    assert intervals(view) == [(1, 4), (6, 7)]
    (new,), (old,) = planned.record, planned.supersede
    assert new.family == old.content.family


def test_end_without_at_ends_at_the_instant_of_issue() -> None:
    view = MemoryView()
    write(view, Assert(statement()))
    write(view, End(statement()), at=4711)
    assert intervals(view)[0][1] == 4711


def test_what_cannot_be_ended_says_why() -> None:
    view = MemoryView()
    write(view, Assert(statement(), during(1, 4)))
    with pytest.raises(NothingToEnd):
        plan(view, End(statement(), exact(Instant(4))))
    with pytest.raises(EndsAtStart, match="retract"):
        plan(view, End(statement(), exact(Instant(1))))
    with pytest.raises(NothingToEnd):
        plan(view, End(statement(ROME)))


def test_retract_takes_every_fact_or_a_part_and_residues_keep_the_family() -> None:
    view = MemoryView()
    first = write(view, Assert(statement(), during(1, 8))).record[0]
    planned = write(view, Retract(statement(), Interval(3, 5)))
    assert intervals(view) == [(1, 3), (5, 8)]
    assert {fact.family for fact in planned.record} == {first.family}
    write(view, Retract(statement()))
    assert intervals(view) == []
    with pytest.raises(NothingToRetract):
        plan(view, Retract(statement()))


def test_revise_names_a_believed_fact_and_keeps_its_family() -> None:
    view = MemoryView()
    (old,) = write(view, Assert(statement(), during(1, 8))).record
    planned = write(view, Revise(old.id, ROME))
    assert (intervals(view), intervals(view, ROME)) == ([], [(1, 8)])
    assert planned.record[0].family == old.family
    with pytest.raises(StaleFact):
        plan(view, Revise(old.id, OSLO))
    with pytest.raises(NotFound):
        plan(view, Revise(UUID(int=5), OSLO))
    with pytest.raises(NothingToRevise):
        plan(view, Revise(planned.record[0].id, ROME))


def test_revise_onto_another_facts_interval_is_refused() -> None:
    view = MemoryView()
    first = write(view, Assert(statement(), during(1, 3))).record[0]
    write(view, Assert(statement(), during(5, 8)))
    with pytest.raises(Overlap):
        plan(view, Revise(first.id, end=exact(Instant(6))))
    write(view, Revise(first.id, end=exact(Instant(5))))
    assert intervals(view) == [(1, 5), (5, 8)]


def test_an_error_names_the_change_that_it_is_about() -> None:
    with pytest.raises(NothingToRetract) as caught:
        plan(MemoryView(), Assert(statement()), Retract(statement(ROME)))
    assert caught.value.where == "/changes/1"


# --- what is carried along --------------------------------------------------------------------------------------------


def test_what_is_left_of_a_fact_keeps_its_evidence_and_spelling() -> None:
    view = MemoryView()
    seven = Literal("7", "http://www.w3.org/2001/XMLSchema#integer")
    submitted = Literal("007", "http://www.w3.org/2001/XMLSchema#int")
    start, end = valid_from("2001-01-01T00:00:00+05:00"), valid_to("2009-01-01T00:00:00+05:00")
    validity = Validity(Interval(start.instant, end.instant), start.precision, end.precision)
    spelling = Spelling(submitted, start.spelling, end.spelling)
    write(view, Assert(statement(seven), validity, spelling))
    planned = write(view, End(statement(seven), valid_to("2005")))
    (evidence,) = [item for item in planned.evidence if item.spelling.object]
    assert evidence.spelling == Spelling(submitted, start.spelling, None), "the end was cut: its old spelling is gone"


def test_evidence_for_what_a_request_drops_again_is_dropped_too() -> None:
    view = MemoryView()
    planned = plan(view, Assert(statement(), confidence=Decimal("0.9")), Retract(statement()))
    assert (planned.record, planned.supersede, planned.evidence) == ((), (), ())


# --- who may --------------------------------------------------------------------------------------------------------


def test_a_graph_that_may_not_be_written_is_refused_and_its_facts_are_not_there() -> None:
    view, elsewhere = MemoryView(), Iri("urn:g:secret")
    held = write(view, Assert(statement(graph=elsewhere))).record[0]
    confined = Principal("c", Role.WRITER, frozenset({DEFAULT_GRAPH}))
    with pytest.raises(Forbidden):
        plan(view, Assert(statement(graph=elsewhere)), principal=confined)
    with pytest.raises(NotFound) as hidden:
        plan(view, Revise(held.id, ROME), principal=confined)
    with pytest.raises(NotFound) as absent:
        plan(view, Revise(UUID(int=1), ROME), principal=confined)
    assert str(hidden.value) == str(absent.value)
    with pytest.raises(Forbidden):
        plan(view, Assert(statement()), principal=Principal("r", Role.READER))


def test_governance_graphs_have_transaction_time_only() -> None:
    view, admin = MemoryView(), Principal("a", Role.ADMINISTRATOR)
    with pytest.raises(ReservedGraph):
        Assert(statement(graph=SHAPES_GRAPH), during(1, 2))
    view.apply(plan(view, Assert(statement(graph=SHAPES_GRAPH)), principal=admin), Instant(1))
    with pytest.raises(ReservedGraph):
        plan(view, End(statement(graph=SHAPES_GRAPH)), principal=admin)
    with pytest.raises(ReservedGraph):
        plan(view, Retract(statement(graph=SHAPES_GRAPH), Interval(1, 2)), principal=admin)
    assert len(plan(view, Retract(statement(graph=SHAPES_GRAPH)), principal=admin).supersede) == 1
    with pytest.raises(Forbidden):
        plan(view, Assert(statement(graph=SHAPES_GRAPH)))
