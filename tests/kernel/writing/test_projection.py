"""What stores must do to stand at the ledger's head, applied to sets."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.errors import DamagedBase
from kernel.ports.stores import StoreDelta
from kernel.terms import Statement
from kernel.time.instants import BEGINNING, Instant
from kernel.writing.projection import delta_between
from tests.bridge.stores.chronicle import START, Chronicle, Step, day, histories


class Sets:
    """Stores as sets of statements, of fact ids, of ids of superseded facts and of evidence ids."""

    def __init__(self) -> None:
        self.current: set[Statement] = set()
        self.recorded: set[UUID] = set()
        self.superseded: set[UUID] = set()
        self.evidence: set[UUID] = set()
        self.at: tuple[Instant | None, Instant] = (None, BEGINNING)

    def apply(self, delta: StoreDelta) -> None:
        assert set(delta.appear).isdisjoint(delta.vanish)
        self.current = self.current - set(delta.vanish) | set(delta.appear)
        self.recorded |= {fact.id for fact in delta.recorded}
        self.superseded |= {fact.id for fact in delta.superseded if fact.superseded is not None}
        self.evidence |= {evidence.content.id for evidence, _ in delta.evidence}
        self.at = (delta.instant, delta.clock)

    def assert_at_head(self, chronicle: Chronicle) -> None:
        assert self.current == {fact.statement for fact in chronicle.facts if fact.holds_at(chronicle.head.clock)}
        assert self.recorded == {fact.id for fact in chronicle.facts}
        assert self.superseded == {fact.id for fact in chronicle.facts if fact.superseded is not None}
        assert self.evidence == {evidence.content.id for evidence, _ in chronicle.evidence}
        assert self.at == (chronicle.head.instant, chronicle.head.clock)


def deltas_of(
    chronicle: Chronicle,
    after: Instant | None,
    old_clock: Instant,
    new_clock: Instant | None = None,
    *,
    batch: int = 10_000,
) -> list[StoreDelta]:
    with chronicle.ledger.reading() as view:
        return list(delta_between(view, after, old_clock, new_clock, batch=batch))


@given(histories, st.lists(st.integers(0, 6), min_size=6, max_size=6), st.integers(1, 8))
def test_from_any_state_to_the_head(history: list[Step], days: list[int], batch: int) -> None:
    sets = Sets()
    with Chronicle() as chronicle:
        for number, (step, pause) in enumerate(zip(history, days, strict=False)):
            chronicle.play(step)
            chronicle.advance(Instant(chronicle.head.clock + pause * (day(1) - day(0))))
            if number % 2:
                for delta in deltas_of(chronicle, *sets.at, batch=batch):
                    sets.apply(delta)
                sets.assert_at_head(chronicle)


@given(histories, st.integers(1, 8), st.data())
def test_started_again_after_any_part_of_a_series(history: list[Step], batch: int, data: st.DataObject) -> None:
    """From nothing, what the part left is cleared; from a state, it stays, and the head may have moved on meanwhile."""
    sets = Sets()
    with Chronicle(history[:2]) as chronicle:
        for delta in deltas_of(chronicle, None, BEGINNING):
            sets.apply(delta)
        for step in history[2:]:
            chronicle.play(step)
            series = deltas_of(chronicle, *sets.at, batch=batch)
            for delta in series[: data.draw(st.integers(0, len(series)))]:
                sets.apply(delta)
        for delta in deltas_of(chronicle, *sets.at, batch=batch):
            sets.apply(delta)
        sets.assert_at_head(chronicle)


@given(histories, st.integers(1, 5))
def test_what_was_known_is_not_told_again(history: list[Step], batch: int) -> None:
    with Chronicle(history) as chronicle:
        since, clock = chronicle.heads[-2].instant, chronicle.heads[-2].clock
        for delta in deltas_of(chronicle, since, clock, batch=batch):
            assert all(fact.recorded_at == chronicle.head.instant for fact in delta.recorded)
            assert all(fact.superseded and fact.superseded.at == chronicle.head.instant for fact in delta.superseded)
            assert all(evidence.recorded_at == chronicle.head.instant for evidence, _ in delta.evidence)


@given(histories, st.integers(1, 5))
def test_deltas_are_bounded_and_only_the_last_says_the_new_state(history: list[Step], batch: int) -> None:
    with Chronicle(history) as chronicle:
        head, first = chronicle.head, chronicle.heads[1]
        series = deltas_of(chronicle, first.instant, first.clock, batch=batch)
        *partial, last = series
        assert {(delta.head, delta.instant, delta.clock) for delta in partial} <= {
            (first.position, first.instant, first.clock)
        }
        assert (last.head, last.instant, last.clock) == (head.position, head.instant, head.clock)
        for delta in series:
            parts = (delta.recorded, delta.superseded, delta.evidence, delta.appear, delta.vanish)
            assert sum(map(len, parts)) < batch + 3, "one fact brings at most three things at once"
        assert all(any((each.recorded, each.superseded, each.evidence, each.appear, each.vanish)) for each in partial)


@given(histories, st.integers(0, 30))
def test_from_nothing_to_a_clock_of_choice(history: list[Step], number: int) -> None:
    with Chronicle(history) as chronicle:
        series = deltas_of(chronicle, None, BEGINNING, day(number))
        holding = {fact.statement for fact in chronicle.facts if fact.holds_at(day(number))}
        assert {statement for delta in series for statement in delta.appear} == holding
        assert not any(delta.vanish for delta in series)
        assert series[-1].clock == day(number)


def test_an_empty_ledger_has_one_delta_that_does_nothing() -> None:
    with Chronicle() as chronicle:
        chronicle.advance(START)
        assert deltas_of(chronicle, None, BEGINNING) == [StoreDelta(None, None, START, [], [], [], [], [])]


def test_nothing_new_is_one_delta_that_does_nothing() -> None:
    with Chronicle([Step([], [], [], 1)]) as chronicle:
        head = chronicle.head
        assert deltas_of(chronicle, head.instant, head.clock) == [
            StoreDelta(head.position, head.instant, head.clock, [], [], [], [], [])
        ]


@given(histories)
def test_stores_ahead_of_the_ledger_are_damage(history: list[Step]) -> None:
    with Chronicle(history) as chronicle:
        instant, clock = chronicle.head.instant, chronicle.head.clock
        assert instant is not None
        with pytest.raises(DamagedBase, match="ahead"):
            deltas_of(chronicle, Instant(instant + 1), clock)
        with pytest.raises(DamagedBase, match="ahead"):
            deltas_of(chronicle, instant, Instant(clock + 1))


def test_a_ledger_that_knows_no_head_is_behind_stores_that_do() -> None:
    with Chronicle() as chronicle, pytest.raises(DamagedBase, match="rebuild"):
        deltas_of(chronicle, START, BEGINNING)
