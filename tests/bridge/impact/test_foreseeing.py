"""Queries that are asked aside of a turn: nobody else waits, and what was answered counts only as long as it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event

import pytest

from bridge.base import Base
from bridge.impact import staging
from bridge.impact.checker import QueryImpact
from bridge.impact.staging import Staging
from certificates.findings import FindingCode
from kernel.changes import Assert, Retract
from kernel.errors import ShuttingDown
from kernel.ports.records import CertificateState
from kernel.queries import Action
from kernel.terms import Iri, Literal, Statement
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.stepping_back import STEPS
from tests.bridge.impact.asking import AUTO, answers, impacts, register, registered, require_exact
from tests.bridge.writing import (
    ADMINISTRATOR,
    HOUR,
    LIVES_IN,
    NOON,
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    SetClock,
    decide,
    during,
    living,
    load,
    person,
    stage,
    submission,
    write,
)

COUNT = registered("count", f"SELECT (COUNT(*) AS ?n) {{ ?who {LIVES_IN.n3} ?home }}")
THEN = registered("then", f"SELECT * {{ ?who {LIVES_IN.n3} ?home }}", moment=NOON)
OTHER = Assert(Statement(person(1), Iri("urn:other"), PARIS, DEFAULT_GRAPH))


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def base(clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Base]:
    """With queries none of which is asked in a turn."""
    monkeypatch.setattr(staging, "BRIEFLY", -1)
    with Base.open(None, policy=AUTO, host=clock) as base:
        register(base, COUNT, THEN)
        yield base


class Aside:
    """Watches what is asked aside: how often, and what is done once it was, before the turn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        self.then: Callable[[], object] = lambda: None
        foresee = QueryImpact._foresee

        def watched(impact: QueryImpact, *arguments: object) -> None:
            self.times += 1
            foresee(impact, *arguments)  # type: ignore[arg-type]
            self.then()

        monkeypatch.setattr(QueryImpact, "_foresee", watched)
        # A load stands here for what does not step back.
        monkeypatch.setattr(QueryImpact, "before_load", lambda *_: None)


@pytest.fixture
def aside(base: Base, monkeypatch: pytest.MonkeyPatch) -> Aside:
    return Aside(monkeypatch)


@pytest.mark.parametrize("loads", [False, True])
def test_nobody_waits_for_queries_that_another_touches(
    base: Base, monkeypatch: pytest.MonkeyPatch, loads: bool
) -> None:
    asked, go = Event(), Event()
    compare = Staging.compare

    askers = set()

    def held(self: Staging, *arguments: object) -> object:
        askers.add(self)
        asked.set()
        assert go.wait(PATIENCE)
        return compare(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Staging, "compare", held)
    change = Assert(living(PARIS))
    if loads:
        touching = base.load(stage(base, "homes", [change, OTHER], by=ADMINISTRATOR))
    else:
        touching = base.submit(submission(change, by=ADMINISTRATOR))
    assert asked.wait(PATIENCE)
    others = [
        base.submit(submission(Assert(Statement(person(n), Iri("urn:other"), PARIS, DEFAULT_GRAPH)), by=ADMINISTRATOR))
        for n in range(5)
    ]
    assert all(each.result(PATIENCE).state is CertificateState.APPLIED for each in others)
    assert not touching.done()
    go.set()
    found = impacts(touching.result(PATIENCE).findings)
    assert {name: (each.gained, each.lost) for name, each in found.items()} == {
        "count": (1, 1), "then": (1, 0)
    }  # fmt: skip
    assert len(askers) == 1, "nothing is asked in the turn"


def test_a_load_that_was_not_foreseen_rightly_is_asked_in_its_turn(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    foresee = QueryImpact._foresee
    queries = [COUNT, THEN]

    def late(impact: QueryImpact, *arguments: object) -> None:
        foresee(impact, *arguments)  # type: ignore[arg-type]
        monkeypatch.setattr(QueryImpact, "_foresee", foresee)
        write(base, Assert(living(ROME)), by=ADMINISTRATOR)

    write(base, Assert(living(OSLO, person(7))), OTHER, by=ADMINISTRATOR)
    monkeypatch.setattr(QueryImpact, "_foresee", late)
    monkeypatch.setattr(staging, "BRIEFLY", PATIENCE)  # what moves meanwhile is asked in its turn
    outcome = base.load(stage(base, "homes", [Assert(living(PARIS))], by=ADMINISTRATOR)).result(PATIENCE)
    assert answers(base, queries)["count"] == {"3": 1}
    assert {name: (each.gained, each.lost) for name, each in impacts(outcome.findings).items()} == {
        "count": (1, 1), "then": (1, 0)
    }  # fmt: skip


def test_what_was_foreseen_counts_while_nothing_moved_that_the_query_minds(base: Base, aside: Aside) -> None:
    aside.then = lambda: load(base, f"other {aside.times}", [OTHER], by=ADMINISTRATOR)
    write(base, OTHER, by=ADMINISTRATOR)  # or the graph would be a new one
    queries = [COUNT, THEN]
    before = answers(base, queries)
    outcome = write(base, Assert(living(PARIS, person(5))), by=ADMINISTRATOR)
    assert require_exact(outcome, before, answers(base, queries)) == 2
    assert aside.times == 1


def test_what_moved_meanwhile_is_asked_again(base: Base, aside: Aside) -> None:
    write(base, OTHER, by=ADMINISTRATOR)  # or the graph would be a new one, and the query asked again for that

    def meanwhile() -> None:
        aside.then = lambda: None
        assert load(base, "meanwhile", [Assert(living(OSLO))], by=ADMINISTRATOR).state is CertificateState.APPLIED

    aside.then = meanwhile
    outcome = write(base, Assert(living(PARIS)), by=ADMINISTRATOR)
    found = impacts(outcome.findings)
    assert [dict(row.row)["n"][:2] for row in found["count"].sample] == ['"2', '"1']
    assert aside.times == 2


def test_what_began_meanwhile_is_asked_again(base: Base, aside: Aside, clock: SetClock) -> None:
    write(base, Assert(living(OSLO), during(NOON + HOUR, None)), by=ADMINISTRATOR)
    aside.times = 0

    def meanwhile() -> None:
        aside.then = lambda: None
        clock.move(2 * HOUR)

    aside.then = meanwhile
    outcome = write(base, Assert(living(PARIS)), by=ADMINISTRATOR)
    assert [dict(row.row)["n"][:2] for row in impacts(outcome.findings)["count"].sample] == ['"2', '"1']
    assert aside.times == 2


def test_where_it_moves_each_time_it_is_asked_in_the_turn_in_the_end(base: Base, aside: Aside) -> None:
    aside.then = lambda: load(base, f"again {aside.times}", [Assert(living(ROME, person(aside.times)))])
    outcome = write(base, Assert(living(PARIS)), by=ADMINISTRATOR)
    assert aside.times == STEPS
    assert [dict(row.row)["n"][:2] for row in impacts(outcome.findings)["count"].sample] == [
        f'"{STEPS + 1}',
        f'"{STEPS}',
    ]


def test_several_that_touch_the_same_come_one_after_another(base: Base, aside: Aside) -> None:
    """Each is asked for once: the next one's queries are not asked before the last one had its turn."""
    asked = [base.submit(submission(Assert(living(PARIS, person(n))), by=ADMINISTRATOR)) for n in range(6)]
    counts = [dict(impacts(each.result(PATIENCE).findings)["count"].sample[0].row)["n"] for each in asked]
    assert sorted(count[1] for count in counts) == ["1", "2", "3", "4", "5", "6"]
    assert aside.times == 6


def test_approvals_and_dry_runs_are_foreseen_as_well(clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "BRIEFLY", -1)
    with Base.open(None, host=clock) as base:
        query = registered("homes", f"SELECT * {{ ?who {LIVES_IN.n3} ?home }}", action=Action.REVIEW)
        changes = [Assert(statement) for statement in query.statements()]
        write(base, *changes, by=ADMINISTRATOR)
        aside = Aside(monkeypatch)
        dry = write(base, Assert(living(PARIS)), by=ADMINISTRATOR, dry_run=True)
        waiting = write(base, Assert(living(PARIS)), by=ADMINISTRATOR)
        assert waiting.state is CertificateState.PENDING
        assert waiting.findings == dry.findings
        assert decide(base, waiting.certificate, by=ADMINISTRATOR).state is CertificateState.APPLIED
        second = write(base, Assert(living(ROME)), by=ADMINISTRATOR)
        assert aside.times == 2  # what a dry run was told holds for the write that follows, and for its approval
        write(base, *(Retract(statement) for statement in query.statements()), by=ADMINISTRATOR)
        gone = decide(base, second.certificate, by=ADMINISTRATOR)
        assert gone.state is CertificateState.STALE


def test_what_no_longer_is_brief_is_asked_aside(clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "BRIEFLY", PATIENCE)
    with Base.open(None, policy=AUTO, host=clock) as base:
        register(base, COUNT)
        write(base, Assert(living(PARIS)), by=ADMINISTRATOR)
        monkeypatch.setattr("bridge.impact.checker.ONCE", 0.0)
        found = impacts(write(base, Assert(living(ROME)), by=ADMINISTRATOR).findings)
        assert (found["count"].gained, found["count"].lost) == (1, 1)


def test_an_answer_from_before_a_purge_is_none(base: Base, aside: Aside) -> None:
    aside.then = lambda: base.snapshots.invalidate(aside.times) if aside.times == 1 else None
    outcome = write(base, Assert(living(PARIS)), by=ADMINISTRATOR)
    assert impacts(outcome.findings)["count"].gained == 1
    assert aside.times == 2


def test_closing_waits_for_what_has_begun_and_refuses_what_would_be_asked(
    clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "BRIEFLY", -1)
    base = Base.open(None, policy=AUTO, host=clock)
    register(base, COUNT)
    asked, closing = Event(), Event()
    foresee = QueryImpact._foresee

    def held(impact: QueryImpact, *arguments: object) -> None:
        asked.set()
        assert closing.wait(PATIENCE)
        foresee(impact, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(QueryImpact, "_foresee", held)
    first = base.submit(submission(Assert(living(PARIS)), by=ADMINISTRATOR))
    second = base.submit(submission(Assert(living(ROME)), by=ADMINISTRATOR))
    assert asked.wait(PATIENCE)
    base._sequencer._closing = True
    closing.set()
    base.close()
    for each in (first, second):
        with pytest.raises(ShuttingDown):
            each.result(PATIENCE)


def test_a_query_that_takes_too_long_is_not_known_in_the_end(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "LEAST", 0.2)
    monkeypatch.setattr(staging, "LIMITS", staging.LIMITS.__class__(0.2, 2**29, 2**24))
    much = [Assert(Statement(Iri(f"urn:s{n}"), Iri("urn:p"), Literal(str(n)), DEFAULT_GRAPH)) for n in range(300)]
    load(base, "much", much, by=ADMINISTRATOR)
    register(base, registered("long", "SELECT (COUNT(*) AS ?n) { ?a <urn:p> ?x . ?b <urn:p> ?y . ?c <urn:p> ?z }"))
    outcome = write(base, Assert(Statement(person(1), Iri("urn:p"), PARIS, DEFAULT_GRAPH)), by=ADMINISTRATOR)
    assert [(each.code, each.impact and each.impact.query) for each in outcome.findings] == [
        (FindingCode.IMPACT_UNKNOWN, "long")
    ]
