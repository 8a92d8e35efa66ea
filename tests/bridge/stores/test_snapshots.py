"""Snapshots against a brute-force reading of every fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import cast

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.stores.pair import OxigraphStores, same_quads
from bridge.stores.projections import Projection
from bridge.stores.snapshots import Snapshots
from kernel.errors import LedgerUnavailable
from kernel.facts import Fact
from kernel.instants import BEGINNING, Instant
from kernel.ports import Head, LedgerView
from kernel.projection import delta_between
from kernel.vocabulary import HISTORY
from tests.bridge.stores.chronicle import START, STATEMENTS, Chronicle, Step, day, histories, quad_of
from tests.bridge.stores.test_stores import step_of

moments = st.integers(0, 30).map(day)


@given(histories, st.lists(st.tuples(moments, moments, st.sampled_from(Projection)), min_size=1, max_size=8))
def test_a_snapshot_has_what_was_believed_then_of_what_was_true_then(
    history: list[Step], wanted: list[tuple[Instant, Instant, Projection]]
) -> None:
    snapshots = Snapshots(capacity=3)
    with Chronicle(history) as chronicle, chronicle.ledger.reading() as view:
        for as_of, valid_at, projection in wanted:
            snapshot = snapshots.at(view, as_of, valid_at, projection)
            assert set(snapshot) == chronicle.expected(projection, as_of, valid_at)


@given(histories, st.sampled_from(Projection))
def test_the_snapshot_of_the_head_is_the_store(history: list[Step], projection: Projection) -> None:
    stores = OxigraphStores.open(None)
    with Chronicle(history) as chronicle, chronicle.ledger.reading() as view:
        stores.load(delta_between(view, *stores.position()))
        head = view.head()
        snapshot = Snapshots().at(view, head.instant, head.clock, projection)
        same, _ = stores.read(projection, lambda store: same_quads(store, snapshot))
        assert same


@given(histories, moments)
def test_history_can_be_left_out(history: list[Step], as_of: Instant) -> None:
    snapshots = Snapshots()
    with Chronicle(history) as chronicle, chronicle.ledger.reading() as view:
        whole = snapshots.at(view, as_of, as_of, Projection.COMPLETE)
        part = snapshots.at(view, as_of, as_of, Projection.COMPLETE, with_history=False)
    assert set(part) == {quad for quad in whole if not _is_history(quad)}


def _is_history(quad: ox.Quad) -> bool:
    return isinstance(quad.graph_name, ox.NamedNode) and quad.graph_name.value.startswith(HISTORY)


def test_before_the_first_certificate_there_is_nothing() -> None:
    with Chronicle() as chronicle, chronicle.ledger.reading() as view:
        assert not Snapshots().at(view, None, START, Projection.COMPLETE)
        assert not Snapshots().at(view, START, START, Projection.COMPLETE)


class Watched:
    """A view that counts, and may hold up or break, the reading of facts."""

    def __init__(self, view: LedgerView, before: Callable[[], None] = lambda: None) -> None:
        self._view = view
        self._before = before
        self.read = 0

    def as_view(self) -> LedgerView:
        return cast("LedgerView", self)

    def head(self) -> Head:
        return self._view.head()

    def head_at(self, instant: Instant) -> int | None:
        return self._view.head_at(instant)

    def facts_at(self, as_of: Instant, valid_at: Instant) -> Iterator[Fact]:
        self.read += 1
        self._before()
        return self._view.facts_at(as_of, valid_at)


@pytest.fixture
def chronicle() -> Iterator[Chronicle]:
    """Three heads, on days 1, 2 and 3, of one statement each."""
    with Chronicle([step_of([(statement, None, None)]) for statement in STATEMENTS[:3]]) as chronicle:
        yield chronicle


@pytest.fixture
def view(chronicle: Chronicle) -> Iterator[LedgerView]:
    with chronicle.ledger.reading() as view:
        yield view


def test_every_as_of_between_two_heads_is_one_snapshot(view: LedgerView) -> None:
    snapshots, watched = Snapshots(), Watched(view)

    def at(as_of: Instant, valid_at: Instant = START) -> ox.Store:
        return snapshots.at(watched.as_view(), as_of, valid_at, Projection.CURRENT)

    first = at(day(2))
    assert at(Instant(day(3) - 1)) is first
    assert watched.read == 1
    assert at(day(3)) is not first
    assert at(day(30)) is at(day(3))
    assert at(day(2), day(1)) is not first
    assert watched.read == 3


def test_a_head_that_comes_later_is_not_answered_from_before(chronicle: Chronicle) -> None:
    snapshots = Snapshots()
    with chronicle.ledger.reading() as view:
        before = snapshots.at(view, day(9), day(9), Projection.CURRENT)
    chronicle.play(step_of([(STATEMENTS[3], None, None)]))
    with chronicle.ledger.reading() as view:
        after = snapshots.at(view, day(9), day(9), Projection.CURRENT)
    assert set(after) - set(before) == {quad_of(STATEMENTS[3])}


def test_the_least_recently_used_go_first(view: LedgerView) -> None:
    snapshots, watched = Snapshots(capacity=2), Watched(view)
    for number in (1, 2, 1, 3, 1):
        snapshots.at(watched.as_view(), day(9), day(number), Projection.CURRENT)
    assert watched.read == 3
    snapshots.at(watched.as_view(), day(9), day(2), Projection.CURRENT)
    assert watched.read == 4


def test_who_wants_a_snapshot_that_is_being_made_waits_for_it(view: LedgerView) -> None:
    snapshots, started, go_on = Snapshots(), Event(), Event()

    def hold() -> None:
        started.set()
        assert go_on.wait(30)

    watched = Watched(view, hold)

    def at() -> ox.Store:
        return snapshots.at(watched.as_view(), day(9), day(9), Projection.CURRENT)

    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(at)]
        assert started.wait(30)
        futures += [pool.submit(at), pool.submit(at)]
        assert snapshots.at(view, day(9), day(8), Projection.CURRENT), "another moment is not held up"
        go_on.set()
        assert len({id(future.result(30)) for future in futures}) == 1
    assert watched.read == 1


def test_a_snapshot_that_could_not_be_made_is_made_again(view: LedgerView) -> None:
    def fail() -> None:
        raise LedgerUnavailable("the ledger cannot be read", remedy="none")

    snapshots = Snapshots()
    with pytest.raises(LedgerUnavailable):
        snapshots.at(Watched(view, fail).as_view(), day(9), day(9), Projection.CURRENT)
    assert len(snapshots.at(view, day(9), day(9), Projection.CURRENT)) == 3


def test_a_purge_forgets_and_an_older_view_keeps_nothing(chronicle: Chronicle) -> None:
    snapshots = Snapshots()

    def at(view: LedgerView) -> ox.Store:
        return snapshots.at(view, day(1), day(1), Projection.CURRENT)

    with chronicle.ledger.reading() as older:
        before = at(older)
        chronicle.play(step_of([(STATEMENTS[3], None, None)]))
        assert chronicle.head.position is not None
        snapshots.invalidate(chronicle.head.position)
        assert at(older) is not at(older)
        with chronicle.ledger.reading() as newer:
            after = at(newer)
            assert after is not before
            assert at(newer) is after
            assert at(older) is not after


def test_a_snapshot_that_was_being_made_at_a_purge_is_not_kept(chronicle: Chronicle) -> None:
    snapshots = Snapshots()
    with chronicle.ledger.reading() as older:

        def purge() -> None:
            chronicle.play(step_of([]))
            assert chronicle.head.position is not None
            snapshots.invalidate(chronicle.head.position)

        made = snapshots.at(Watched(older, purge).as_view(), day(1), BEGINNING, Projection.CURRENT)
    with chronicle.ledger.reading() as newer:
        assert snapshots.at(newer, day(1), BEGINNING, Projection.CURRENT) is not made
