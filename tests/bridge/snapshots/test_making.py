"""Snapshots against a brute-force reading of every fact, made afresh and from the stores of today."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.snapshots import choosing, making
from bridge.snapshots.making import SnapshotMaker
from bridge.snapshots.wanted import Wanted
from bridge.stores import checkpoints
from bridge.stores.checkpoints import Seed
from bridge.stores.encoding import history_quads
from bridge.stores.pair import OxigraphStores, same_quads
from bridge.stores.projections import Projection
from kernel.time.instants import Instant
from kernel.vocabulary import HISTORY, history_graph
from kernel.writing.projection import delta_between
from tests.bridge.stores.chronicle import START, STATEMENTS, Chronicle, Step, day, histories
from tests.bridge.stores.test_stores import step_of

moments = st.integers(0, 30).map(day)
kinds = st.sampled_from([(Projection.CURRENT, False), (Projection.COMPLETE, False), (Projection.COMPLETE, True)])


def wanted(
    chronicle: Chronicle, as_of: Instant, valid_at: Instant, projection: Projection, *, history: bool = False
) -> Wanted:
    """The snapshot of a moment."""
    with chronicle.ledger.reading() as view:
        return Wanted(view.head_at(as_of), as_of, valid_at, projection, history)


def current(quads: Iterator[ox.Quad] | ox.Store | set[ox.Quad]) -> set[ox.Quad]:
    """Those that are not of history."""
    return {quad for quad in quads if not str(quad.graph_name).startswith(f"<{HISTORY}")}


@given(histories, st.lists(st.tuples(moments, moments, kinds), min_size=1, max_size=8))
def test_a_snapshot_has_what_was_believed_then_of_what_was_true_then(
    history: list[Step], asked: list[tuple[Instant, Instant, tuple[Projection, bool]]]
) -> None:
    stores = OxigraphStores.open(None)
    with Chronicle(history) as chronicle:
        maker = SnapshotMaker(chronicle.ledger, stores, None)
        for as_of, valid_at, (projection, with_history) in asked:
            made = maker.make(wanted(chronicle, as_of, valid_at, projection, history=with_history))
            expected = chronicle.expected(projection, as_of, valid_at)
            assert set(made.store) == (expected if with_history else current(expected))


@given(histories, st.sampled_from(Projection))
def test_the_snapshot_of_the_head_is_the_store(history: list[Step], projection: Projection) -> None:
    stores = OxigraphStores.open(None)
    with Chronicle(history) as chronicle, chronicle.ledger.reading() as view:
        stores.load(delta_between(view, *stores.position()))
        head = view.head()
        asked = Wanted(head.position, head.instant, head.clock, projection, projection is Projection.COMPLETE)
        made = SnapshotMaker(chronicle.ledger, stores, None).make(asked)
        same, _ = stores.read(projection, lambda store: same_quads(store, made.store))
        assert same


@given(histories, moments, moments)
def test_what_history_has_is_counted_quad_by_quad(history: list[Step], as_of: Instant, valid_at: Instant) -> None:
    with Chronicle(history) as chronicle, chronicle.ledger.reading() as view:
        then = chronicle.expected(Projection.COMPLETE, as_of, valid_at)
        assert history_quads(view.history_at(as_of)) == len(then - current(then))


def test_before_the_first_certificate_there_is_nothing() -> None:
    with Chronicle() as chronicle:
        maker = SnapshotMaker(chronicle.ledger, OxigraphStores.open(None), None)
        assert not maker.make(Wanted(None, None, START, Projection.COMPLETE)).store
        assert not maker.make(Wanted(None, START, START, Projection.COMPLETE)).store


def disjoint(chronicle: Chronicle, step: Step) -> Step:
    """The step without what overlaps what is believed of the same statement, as no plan has."""
    believed = [fact for fact in chronicle.facts if fact.superseded is None]
    gone = {index % len(believed) for index in step.supersedes} if believed else set()
    held = [(fact.statement, fact.interval) for index, fact in enumerate(believed) if index not in gone]
    records = []
    for statement, validity in step.records:
        interval = validity.interval
        if not any(of == statement and each.start < interval.end and interval.start < each.end for of, each in held):
            records.append((statement, validity))
            held.append((statement, interval))
    return replace(step, records=records)


def follow(chronicle: Chronicle, history: list[Step], stores: OxigraphStores, behind: int) -> None:
    """Plays a history, of which the stores have all but the last steps."""
    for number, step in enumerate(history):
        chronicle.play(disjoint(chronicle, step))
        if number < max(1, len(history) - behind):
            stores.apply(chronicle.delta())
        chronicle.advance(day(2 * number))
        if number < max(1, len(history) - behind):
            stores.apply(chronicle.delta())


def from_today(
    history: list[Step], asked: list[tuple[Instant, Instant, tuple[Projection, bool]]], behind: int, path: Path
) -> None:
    stores, numbers = OxigraphStores.open(path / "stores"), count()
    with Chronicle() as chronicle, pytest.MonkeyPatch.context() as patched:
        patched.setattr(checkpoints, "FEW", -1)
        patched.setattr(making, "differs_little", lambda *_: True)
        patched.setattr(making, "MUCH", 1 if behind % 2 else making.MUCH)  # in bulk, or in a transaction
        patched.setattr(SnapshotMaker, "_afresh", None)
        follow(chronicle, history, stores, behind)
        maker = SnapshotMaker(chronicle.ledger, stores, lambda: path / f"made-{next(numbers)}")
        for as_of, valid_at, (projection, with_history) in asked:
            asked_for = wanted(chronicle, as_of, valid_at, projection, history=with_history)
            if (asked_for.head or 0) > (stores.feed.state.head or 0):
                continue  # the stores do not have all of it
            made = maker.make(asked_for)
            expected = chronicle.expected(projection, as_of, valid_at)
            assert made.directory is not None or not expected
            if with_history:
                assert set(made.store) == expected
            else:
                assert current(made.store) == current(expected)
    stores.close()


asked_moments = st.lists(st.tuples(moments, moments, kinds), min_size=4, max_size=8)


@settings(max_examples=6)
@given(histories, asked_moments, st.integers(0, 2))
def test_a_snapshot_from_today_has_the_same(
    history: list[Step], asked: list[tuple[Instant, Instant, tuple[Projection, bool]]], behind: int
) -> None:
    """Also where the stores are behind the ledger."""
    with TemporaryDirectory() as folder:
        from_today(history, asked, behind, Path(folder))


@pytest.mark.fuzz
@settings(max_examples=300)
@given(histories, asked_moments, st.integers(0, 4))
def test_a_snapshot_from_today_has_the_same_whatever_came_before(
    history: list[Step], asked: list[tuple[Instant, Instant, tuple[Projection, bool]]], behind: int
) -> None:
    with TemporaryDirectory() as folder:
        from_today(history, asked, behind, Path(folder))


@pytest.fixture
def grown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Chronicle, OxigraphStores]]:
    """A base on disk of four heads, whose stores count as large."""
    monkeypatch.setattr(checkpoints, "FEW", -1)
    monkeypatch.setattr(choosing, "COPY", 0.0)
    stores = OxigraphStores.open(tmp_path / "stores")
    with Chronicle() as chronicle:
        follow(chronicle, [step_of([(each, None, None) for each in STATEMENTS[:4]])] * 1, stores, 0)
        for each in STATEMENTS[4:6]:
            follow(chronicle, [step_of([(each, None, None)])], stores, 0)
        yield chronicle, stores
    stores.close()


def test_what_differs_little_is_made_from_today(grown: tuple[Chronicle, OxigraphStores], tmp_path: Path) -> None:
    chronicle, stores = grown
    taken: list[Projection] = []
    seed = stores.seed

    def watched(projection: Projection) -> Seed:
        taken.append(projection)
        return seed(projection)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stores, "seed", watched)
        maker = SnapshotMaker(chronicle.ledger, stores, lambda: tmp_path / f"made-{len(taken)}")
        near = maker.make(wanted(chronicle, day(2), day(2), Projection.CURRENT))
        assert len(taken) == 1
        assert set(near.store) == chronicle.expected(Projection.CURRENT, day(2), day(2))
        maker.make(wanted(chronicle, day(0), day(0), Projection.CURRENT))
        assert len(taken) == 1, "all of it differs"
        maker.make(wanted(chronicle, day(2), day(2), Projection.CURRENT), from_stores=False)
        assert len(taken) == 1, "nothing is made of stores that may have what is purged"


@pytest.mark.parametrize(
    ("projection", "history"),
    [(Projection.CURRENT, False), (Projection.COMPLETE, False), (Projection.COMPLETE, True)],
)
def test_one_that_does_not_come_out_right_is_made_afresh(
    grown: tuple[Chronicle, OxigraphStores],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    projection: Projection,
    history: bool,
) -> None:
    chronicle, stores = grown
    graph = STATEMENTS[0].graph
    node = ox.NamedNode("urn:stray")
    stray = ox.Quad(node, node, node, ox.NamedNode((history_graph(graph) if history else graph).value))
    stores.read(projection, lambda store: store.add(stray))
    numbers = count()
    maker = SnapshotMaker(chronicle.ledger, stores, lambda: tmp_path / f"made-{next(numbers)}")
    with caplog.at_level(logging.ERROR, "muniment.snapshots"):
        made = maker.make(wanted(chronicle, day(2), day(2), projection, history=history))
    expected = chronicle.expected(projection, day(2), day(2))
    assert set(made.store) == (expected if history else current(expected))
    assert "does not agree with the ledger" in caplog.text
    assert not [*tmp_path.glob("made-*")]
