"""The two stores of a base: one contract, in memory and on disk, and what only a disk has."""

from __future__ import annotations

import resource
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.stores import checkpoints, projection_store, serving, transactions
from bridge.stores.feed import DeltaText
from bridge.stores.markers import StoreState, marker_of
from bridge.stores.pair import OxigraphStores, rebuild, same_quads
from bridge.stores.projections import Projection
from kernel.errors import BaseInUse, DamagedBase, InvalidParameter, StoreUnavailable
from kernel.facts import Validity
from kernel.ports.stores import StoreDelta
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import BEGINNING, FOREVER, Instant, parse_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.vocabulary import MARKER, SHAPES_GRAPH
from kernel.writing.projection import delta_between
from tests.bridge.stores.chronicle import START, STATEMENTS, Chronicle, Step, day, histories, quad_of, steps

PROJECTIONS = tuple(Projection)


def state_delta(
    number: int, appear: list[Statement] | None = None, vanish: list[Statement] | None = None
) -> StoreDelta:
    return StoreDelta(number, day(number), day(number), appear=appear or [], vanish=vanish or [])


def quads_of(stores: OxigraphStores, projection: Projection) -> set[ox.Quad]:
    quads, _ = stores.read(projection, set)
    return quads


def states_of(stores: OxigraphStores) -> list[StoreState]:
    return [stores.read(projection, len)[1] for projection in PROJECTIONS]


def assert_at_head(stores: OxigraphStores, chronicle: Chronicle) -> None:
    head = chronicle.head
    for projection in PROJECTIONS:
        quads, state = stores.read(projection, set)
        assert quads == chronicle.expected(projection)
        assert state == StoreState(head.position, head.instant, head.clock)
    assert stores.position() == (head.instant, head.clock)


def caught_up(stores: OxigraphStores, chronicle: Chronicle, batch: int = 10_000) -> None:
    with chronicle.ledger.reading() as view:
        stores.load(delta_between(view, *stores.position(), batch=batch))


@contextmanager
def a_place(kind: str) -> Iterator[Path | None]:
    if kind == "memory":
        yield None
    else:
        with TemporaryDirectory() as folder:
            yield Path(folder)


@contextmanager
def opened(path: Path | None) -> Iterator[OxigraphStores]:
    stores = OxigraphStores.open(path)
    try:
        yield stores
    finally:
        stores.close()


@contextmanager
def counted_writes() -> Iterator[list[str]]:
    """What is written, transaction by transaction."""
    write, written = transactions.write, list[str]()

    def noted(store: ox.Store, removed: str, added: str) -> None:
        if removed or added:
            written.append(removed + added)
        write(store, removed, added)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transactions, "write", noted)
        yield written


@contextmanager
def failing_writes(after: int) -> Iterator[None]:
    """A disk that is full after so many more writes."""
    write, written = transactions.write, []

    def try_to(store: ox.Store, removed: str, added: str) -> None:
        written.append(added)
        if len(written) > after:
            raise OSError("IO error: no space left on device")
        write(store, removed, added)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transactions, "write", try_to)
        yield


def solutions_of(store: ox.Store, query: str) -> ox.QuerySolutions:
    solutions = store.query(query, use_default_graph_as_union=True)
    assert isinstance(solutions, ox.QuerySolutions)
    return solutions


def rows(stores: OxigraphStores, query: str, projection: Projection = Projection.CURRENT) -> list[tuple[str, ...]]:
    solutions, _ = stores.read(projection, lambda store: solutions_of(store, query))
    return [tuple(term.value for term in solution) for solution in solutions]


def step_of(records: list[tuple[Statement, int | str | None, int | None]]) -> Step:
    """A step of a day that records statements; bounds are days, or instants as text."""
    return Step([(statement, _validity(start, end)) for statement, start, end in records], (), (), 1)


def _validity(start: int | str | None, end: int | None) -> Validity:
    first = BEGINNING if start is None else parse_instant(start) if isinstance(start, str) else day(start)
    return Validity(
        Interval(first, FOREVER if end is None else day(end)),
        Precision.UNBOUNDED if start is None else Precision.INSTANT,
        Precision.UNBOUNDED if end is None else Precision.INSTANT,
    )


places = pytest.mark.parametrize("kind", ["memory", "disk"])
fewer = settings(max_examples=max(10, settings().max_examples // 20))
"""A store on disk takes long to open."""


# --- what is in them, against sets ------------------------------------------------------------------------------------


@places
@fewer
@given(history=histories, clocks=st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_deltas_one_by_one_are_the_facts_that_hold(kind: str, history: list[Step], clocks: list[int]) -> None:
    with a_place(kind) as path, opened(path) as stores, Chronicle() as chronicle:
        for step, days in zip(history, clocks, strict=False):
            chronicle.play(step)
            stores.apply(chronicle.delta())
            assert_at_head(stores, chronicle)
            chronicle.advance(Instant(chronicle.head.clock + days * (day(1) - day(0))))
            caught_up(stores, chronicle)
            assert_at_head(stores, chronicle)


@places
@fewer
@given(history=histories, batch=st.integers(1, 6), first=st.integers(0, 6))
def test_a_load_of_many_deltas_is_the_facts_that_hold(kind: str, history: list[Step], batch: int, first: int) -> None:
    with a_place(kind) as path, opened(path) as stores, Chronicle(history[:first]) as chronicle:
        caught_up(stores, chronicle, batch)
        for step in history[first:]:
            chronicle.play(step)
        chronicle.advance(day(9))
        caught_up(stores, chronicle, batch)
        assert_at_head(stores, chronicle)


@fewer
@given(history=histories, data=st.data())
def test_a_kill_between_any_two_writes_is_mended_from_the_markers_on(history: list[Step], data: st.DataObject) -> None:
    deltas = []
    with Chronicle() as chronicle, a_place("disk") as path:
        for step in history:
            chronicle.play(step)
            deltas.append(chronicle.delta())
        assert path is not None
        killed = data.draw(st.integers(0, len(deltas)), label="deltas applied")
        with opened(path) as stores:
            for delta in deltas[:killed]:
                stores.apply(delta)
        _tear(path, deltas[killed:], data)
        with opened(path) as stores:
            caught_up(stores, chronicle)
            assert_at_head(stores, chronicle)


def _tear(path: Path, rest: list[StoreDelta], data: st.DataObject) -> None:
    """Leaves one store a delta ahead, perhaps with its marker lost, as a kill at that place does."""
    if not rest:
        return
    ahead = data.draw(st.sampled_from([None, *PROJECTIONS]), label="store that is ahead")
    if ahead is None:
        return
    store = projection_store.ProjectionStore(ahead, path / ahead)
    before = store.state
    store.apply(DeltaText(rest[0]))
    after = store.state
    store.close()
    if data.draw(st.booleans(), label="its marker is lost"):
        raw = ox.Store(path / ahead)
        raw.remove_graph(marker_of(after))
        if before.clock != BEGINNING:
            raw.add_graph(marker_of(before))


@places
@fewer
@given(history=histories, again=st.integers(0, 6))
def test_applying_any_suffix_of_deltas_again_changes_nothing(kind: str, history: list[Step], again: int) -> None:
    with a_place(kind) as path, opened(path) as stores, Chronicle() as chronicle:
        deltas = []
        for step in history:
            chronicle.play(step)
            deltas.append(chronicle.delta())
            stores.apply(deltas[-1])
        for delta in deltas[again:]:
            stores.apply(delta)
            stores.settle()
            assert stores.position() == (chronicle.head.instant, chronicle.head.clock)
        assert_at_head(stores, chronicle)


@fewer
@given(history=histories, step=steps)
def test_rebuilt_stores_are_equal_quad_for_quad_at_an_equal_clock(history: list[Step], step: Step) -> None:
    with Chronicle(history) as chronicle, TemporaryDirectory() as folder, opened(None) as stores:
        caught_up(stores, chronicle)
        chronicle.play(step)
        stores.apply(chronicle.delta())
        chronicle.advance(day(12))
        caught_up(stores, chronicle)
        with chronicle.ledger.reading() as view:
            rebuild(view, Path(folder) / "anew", chronicle.head.clock)
        with opened(Path(folder) / "anew") as anew:
            caught_up(anew, chronicle)
            assert_at_head(anew, chronicle)
            assert [_same(anew, stores, projection) for projection in PROJECTIONS] == [True, True]


def _same(one: OxigraphStores, other: OxigraphStores, projection: Projection) -> bool:
    return one.read(projection, lambda a: other.read(projection, lambda b: same_quads(a, b))[0])[0]


# --- one contract, two places -----------------------------------------------------------------------------------------


class StoresContract(ABC):
    """What holds wherever the stores are."""

    @abstractmethod
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path | None:
        """Where they are."""

    @pytest.fixture
    def stores(self, path: Path | None) -> Iterator[OxigraphStores]:
        with opened(path) as stores:
            yield stores

    def test_new_stores_have_come_nowhere_and_are_not_read(self, stores: OxigraphStores) -> None:
        assert stores.position() == (None, BEGINNING)
        with pytest.raises(StoreUnavailable, match="not brought up"):
            stores.read(Projection.CURRENT, len)

    def test_a_clock_without_facts_is_a_state(self, stores: OxigraphStores) -> None:
        stores.apply(StoreDelta(None, None, START))
        assert states_of(stores) == [StoreState(None, None, START)] * 2
        assert stores.position() == (None, START)

    def test_a_fact_dated_later_is_not_current_before(self, stores: OxigraphStores) -> None:
        """Case 41, first half: a fact dated 2030 is not current today, and is once its day has come."""
        with Chronicle() as chronicle:
            chronicle.play(step_of([(STATEMENTS[0], 5, None)]))
            stores.apply(chronicle.delta())
            assert quad_of(STATEMENTS[0]) not in quads_of(stores, Projection.CURRENT)
            assert len(quads_of(stores, Projection.COMPLETE)) > 0
            chronicle.advance(day(5))
            caught_up(stores, chronicle)
            assert quad_of(STATEMENTS[0]) in quads_of(stores, Projection.CURRENT)

    def test_several_values_of_one_predicate_are_all_there(self, stores: OxigraphStores) -> None:
        """Case 41, second half."""
        subject, predicate, graph = STATEMENTS[0].subject, STATEMENTS[0].predicate, STATEMENTS[0].graph
        values = [Statement(subject, predicate, Literal(value), graph) for value in "abc"]
        stores.apply(state_delta(1, values))
        query = f"SELECT ?value {{ {subject.n3} {predicate.n3} ?value }}"
        assert sorted(rows(stores, query)) == [("a",), ("b",), ("c",)]

    def test_bce_orders_before_ce(self, stores: OxigraphStores) -> None:
        """Case 28, in the stores: the history of facts of 44 BCE, 1 BCE and 1 CE, by start."""
        with Chronicle() as chronicle:
            years = {"-0043-03-15T00:00:00Z": 3, "0000-06-01T00:00:00Z": 2, "0001-01-01T00:00:00Z": 1}
            for text in reversed(years):
                chronicle.play(step_of([(STATEMENTS[0], text, None)]))
            caught_up(stores, chronicle)
        query = "SELECT ?from { GRAPH ?h { ?fact <https://w3id.org/muniment#validFrom> ?from } } ORDER BY ?from"
        assert rows(stores, query, Projection.COMPLETE) == [(text,) for text in years]

    def test_the_current_store_shows_no_governance_and_the_complete_one_does(self, stores: OxigraphStores) -> None:
        shape = Statement(Iri("urn:s"), Iri("urn:p"), Iri("urn:o"), SHAPES_GRAPH)
        stores.apply(state_delta(1, [shape, STATEMENTS[0]]))
        assert quads_of(stores, Projection.CURRENT) == {quad_of(STATEMENTS[0])}
        assert quads_of(stores, Projection.COMPLETE) == {quad_of(STATEMENTS[0]), quad_of(shape)}

    def test_markers_are_seen_by_no_pattern_and_do_not_pile_up(self, stores: OxigraphStores) -> None:
        for number in range(1, 6):
            stores.apply(state_delta(number))
        assert rows(stores, "SELECT * { ?s ?p ?o }") == rows(stores, "SELECT * { GRAPH ?g { ?s ?p ?o } }") == []
        for projection in PROJECTIONS:
            graphs, state = stores.read(projection, lambda store: [graph.value for graph in store.named_graphs()])
            assert graphs == [marker_of(state).value]
            assert graphs[0].startswith(MARKER)

    def test_deltas_are_written_together_and_nobody_reads_past_them(self, stores: OxigraphStores) -> None:
        stores.apply(state_delta(1))
        with counted_writes() as written:
            for number, statement in enumerate(STATEMENTS[:5], 2):
                stores.apply(state_delta(number, [statement]))
            assert (stores.unsettled, written) == (True, [])
            assert quads_of(stores, Projection.CURRENT) == set(map(quad_of, STATEMENTS[:5]))
            assert len(written) == 1
            stores.settle()
            assert (stores.unsettled, len(written)) == (False, 2)
        assert stores.position() == (day(6), day(6))

    def test_deltas_that_wait_count_in_their_order(self, stores: OxigraphStores) -> None:
        one, other = STATEMENTS[:2]
        stores.apply(state_delta(1, [one]))
        stores.apply(state_delta(2, [other], [one]))
        stores.apply(state_delta(3, [one]))
        stores.apply(state_delta(4, [], [other]))
        assert quads_of(stores, Projection.CURRENT) == {quad_of(one)}

    def test_no_more_than_so_much_waits(self, stores: OxigraphStores) -> None:
        stores.apply(state_delta(0))
        with counted_writes() as written:
            for number in range(1, 2 * projection_store.WAITING):
                stores.apply(state_delta(number, [STATEMENTS[0]]))
        assert 2 <= len(written) <= 6

    def test_an_empty_load_does_nothing(self, stores: OxigraphStores) -> None:
        stores.load([])
        assert stores.position() == (None, BEGINNING)

    def test_readers_stay_on_the_state_before_a_load_until_it_is_done(self, stores: OxigraphStores) -> None:
        stores.apply(state_delta(1, [STATEMENTS[0]]))
        before = {projection: stores.read(projection, set) for projection in PROJECTIONS}

        def series() -> Iterator[StoreDelta]:
            for number, statement in enumerate(STATEMENTS[1:5], 2):
                yield state_delta(number, [statement], [STATEMENTS[0]])
                assert {projection: stores.read(projection, set) for projection in PROJECTIONS} == before

        stores.load(series())
        assert quads_of(stores, Projection.CURRENT) == {quad_of(statement) for statement in STATEMENTS[1:5]}
        assert states_of(stores) == [StoreState(5, day(5), day(5))] * 2

    def test_readers_of_a_base_without_writes_stay_on_it_until_its_first_load_is_done(
        self, stores: OxigraphStores
    ) -> None:
        stores.apply(StoreDelta(None, None, day(1)))
        before = {projection: stores.read(projection, set) for projection in PROJECTIONS}

        def series() -> Iterator[StoreDelta]:
            for number, statement in enumerate(STATEMENTS[:4], 2):
                yield state_delta(number, [statement])
                assert {projection: stores.read(projection, set) for projection in PROJECTIONS} == before
                stores.seed(Projection.CURRENT).discard()
                assert stores.feed.state == before[Projection.CURRENT][1]  # which replicas answer by

        stores.load(series())
        assert quads_of(stores, Projection.CURRENT) == {quad_of(statement) for statement in STATEMENTS[:4]}
        assert states_of(stores) == [StoreState(5, day(5), day(5))] * 2

    def test_the_deltas_of_a_load_count_in_their_order(self, stores: OxigraphStores) -> None:
        one, other = STATEMENTS[:2]
        stores.load(
            [state_delta(1, [one]), state_delta(2, [other], [one]), state_delta(3, [one]), state_delta(4, [], [other])]
        )
        assert quads_of(stores, Projection.CURRENT) == {quad_of(one)}

    def test_a_load_in_many_chunks_is_the_same(self, stores: OxigraphStores, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(projection_store, "CHUNK", 2_000)
        monkeypatch.setattr(projection_store, "BULK", 1_500)
        wanted = [Statement(Iri(f"urn:s{number}"), Iri("urn:p"), Literal("x"), Iri("urn:g")) for number in range(200)]
        stores.load(state_delta(number + 1, [statement]) for number, statement in enumerate(wanted))
        assert quads_of(stores, Projection.COMPLETE) == set(map(quad_of, wanted))

    def test_a_query_under_way_keeps_what_it_started_on(self, stores: OxigraphStores) -> None:
        stores.apply(state_delta(1, list(STATEMENTS[:5])))
        quads, state = stores.read(Projection.COMPLETE, lambda store: store.quads_for_pattern(None, None, None))
        first = next(quads)
        stores.apply(state_delta(2, [], list(STATEMENTS[:5])))
        assert {first, *quads} == set(map(quad_of, STATEMENTS[:5]))
        assert state.head == 1
        assert not quads_of(stores, Projection.COMPLETE)

    @pytest.mark.parametrize("brief", [60.0, -1.0], ids=["held back", "checkpoint"])
    def test_an_answer_that_a_write_came_in_between_is_answered_again(
        self, stores: OxigraphStores, monkeypatch: pytest.MonkeyPatch, brief: float
    ) -> None:
        monkeypatch.setattr(serving, "BRIEF", brief)
        stores.apply(state_delta(1, [STATEMENTS[0]]))
        starts = []

        def start(store: ox.Store) -> set[ox.Quad]:
            starts.append(store)
            if len(starts) == 1:
                stores.apply(state_delta(2, [STATEMENTS[1]]))
                stores.settle()
            return set(store)

        quads, state = stores.read(Projection.CURRENT, start)
        assert (quads, state.head) == (set(map(quad_of, STATEMENTS[:2])), 2)
        assert len(starts) == 2
        assert (starts[1] is starts[0]) == (brief > 0)
        stores.apply(state_delta(3, [STATEMENTS[2]]))
        stores.settle()
        assert set(starts[1]) == set(map(quad_of, STATEMENTS[: 3 if brief > 0 else 2]))

    def test_every_answer_is_that_of_the_state_it_comes_with(self, stores: OxigraphStores) -> None:
        """One value at a time, equal to the head, moved on by a writer while readers of every sort look."""
        values = [Statement(Iri("urn:s"), Iri("urn:p"), Literal(str(n)), Iri("urn:g")) for n in range(301)]
        stores.apply(state_delta(0, values[:1]))
        queries = ["SELECT ?v { GRAPH ?g { ?s ?p ?v } }", "SELECT (MAX(?v) AS ?m) { GRAPH ?g { ?s ?p ?v } }"]
        wrong: list[object] = []
        done: list[bool] = []

        def look(query: str) -> None:
            while not done:
                solutions, state = stores.read(Projection.CURRENT, lambda store: solutions_of(store, query))
                if (found := [solution[0].value for solution in solutions]) != [str(state.head)]:
                    wrong.append((found, state))

        threads = [Thread(target=look, args=(query,)) for query in queries]
        for thread in threads:
            thread.start()
        for number in range(1, len(values)):
            stores.apply(state_delta(number, values[number : number + 1], values[number - 1 : number]))
        done.append(True)
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_a_store_whose_write_failed_is_not_read_until_a_load(self, stores: OxigraphStores) -> None:
        stores.apply(state_delta(1, [STATEMENTS[0]]))
        stores.settle()
        stores.apply(state_delta(2, [STATEMENTS[2]]))
        with failing_writes(after=0), pytest.raises(StoreUnavailable, match="no space left"):
            stores.settle()
        with pytest.raises(StoreUnavailable, match="earlier write"):
            stores.apply(state_delta(3, [STATEMENTS[1]]))
        with pytest.raises(StoreUnavailable, match="earlier write"):
            stores.settle()
        with pytest.raises(StoreUnavailable, match="earlier write"):
            stores.read(Projection.CURRENT, len)
        assert quads_of(stores, Projection.COMPLETE) == {quad_of(STATEMENTS[0]), quad_of(STATEMENTS[2])}
        assert stores.unsettled
        assert stores.position() == (day(1), day(1))
        stores.load([state_delta(2, [STATEMENTS[2]]), state_delta(3, [STATEMENTS[1]])])
        for projection in PROJECTIONS:
            assert quads_of(stores, projection) == set(map(quad_of, STATEMENTS[:3]))
        stores.apply(state_delta(4))

    def test_a_load_that_failed_leaves_readers_where_they_were(self, stores: OxigraphStores) -> None:
        stores.apply(state_delta(1, [STATEMENTS[0]]))

        def series() -> Iterator[StoreDelta]:
            yield state_delta(1, [STATEMENTS[1]], [STATEMENTS[0]])
            yield state_delta(1, [STATEMENTS[2]], [STATEMENTS[3]])
            raise DamagedBase("the ledger cannot be read", remedy="none")

        with pytest.raises(DamagedBase):
            stores.load(series())
        for projection in PROJECTIONS:
            assert stores.read(projection, set) == ({quad_of(STATEMENTS[0])}, StoreState(1, day(1), day(1)))
        with pytest.raises(StoreUnavailable, match="earlier write"):
            stores.apply(state_delta(2))
        stores.load([state_delta(2, [STATEMENTS[1]], [STATEMENTS[0], *STATEMENTS[2:]])])
        assert quads_of(stores, Projection.CURRENT) == {quad_of(STATEMENTS[1])}
        assert states_of(stores)[0].head == 2

    @pytest.mark.parametrize("clock", [None, START])
    def test_where_one_has_come_nowhere_both_start_over(self, stores: OxigraphStores, clock: Instant | None) -> None:
        """The current store takes the first delta, the complete one fails: what has ended since must not stay."""
        if clock is not None:
            stores.apply(StoreDelta(None, None, clock))
        with failing_writes(after=1), pytest.raises(StoreUnavailable):
            stores.apply(state_delta(1, [STATEMENTS[0]]))
        assert quads_of(stores, Projection.CURRENT) == {quad_of(STATEMENTS[0])}
        assert stores.position() == (None, clock or BEGINNING)
        stores.load([state_delta(2, [STATEMENTS[1]])])
        for projection in PROJECTIONS:
            assert quads_of(stores, projection) == {quad_of(STATEMENTS[1])}

    def test_closed_stores_are_not_read_or_written(self, stores: OxigraphStores) -> None:
        stores.apply(state_delta(1))
        stores.close()
        with pytest.raises(StoreUnavailable):
            stores.read(Projection.CURRENT, len)
        stores.apply(state_delta(2))
        with pytest.raises(StoreUnavailable, match="closed"):
            stores.settle()

    def test_what_is_wrong_with_a_query_is_told_as_it_is(self, stores: OxigraphStores) -> None:
        stores.apply(state_delta(1))
        with pytest.raises(SyntaxError):
            stores.read(Projection.CURRENT, lambda store: store.query("SELEKT"))

    def test_a_disk_that_fails_under_a_query_is_our_fault(self, stores: OxigraphStores) -> None:
        stores.apply(state_delta(1))

        def start(_: ox.Store) -> None:
            raise OSError("IO error: no such file")

        with pytest.raises(StoreUnavailable, match="no such file"):
            stores.read(Projection.CURRENT, start)


class TestStoresInMemory(StoresContract):
    """Stores in memory."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path | None:
        return None


class TestStoresOnDisk(StoresContract):
    """Stores on disk."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path | None:
        return tmp_path / "stores"


# --- what only a disk has ---------------------------------------------------------------------------------------------


def test_stores_opened_again_stand_where_they_stood(tmp_path: Path) -> None:
    with opened(tmp_path) as stores:
        stores.apply(state_delta(1, [STATEMENTS[0]]))
        stores.load([state_delta(1, [STATEMENTS[1]]), state_delta(2, [STATEMENTS[2]])])
    with opened(tmp_path) as stores:
        assert stores.position() == (day(2), day(2))
        stores.apply(state_delta(2))
        assert quads_of(stores, Projection.COMPLETE) == set(map(quad_of, STATEMENTS[:3]))
        assert states_of(stores)[0].head == 2


def test_half_a_first_load_is_cleared(tmp_path: Path) -> None:
    for projection in PROJECTIONS:
        ox.Store(tmp_path / projection).add(quad_of(STATEMENTS[0]))
    with opened(tmp_path) as stores:
        assert stores.position() == (None, BEGINNING)
        stores.load([state_delta(1, [STATEMENTS[1]])])
        assert quads_of(stores, Projection.CURRENT) == quads_of(stores, Projection.COMPLETE) == {quad_of(STATEMENTS[1])}


def test_of_several_markers_the_highest_counts_and_the_others_go(tmp_path: Path) -> None:
    for projection in PROJECTIONS:
        raw = ox.Store(tmp_path / projection)
        for state in (StoreState(None, None, day(9)), StoreState(2, day(2), day(3)), StoreState(1, day(1), day(8))):
            raw.add_graph(marker_of(state))
        del raw
    with opened(tmp_path) as stores:
        assert stores.position() == (day(2), day(3))
    assert [graph.value for graph in ox.Store(tmp_path / "current").named_graphs()] == [
        marker_of(StoreState(2, day(2), day(3))).value
    ]


@pytest.mark.parametrize("marker", ["x/y/z", "1/2", "1/2/3/4", "99999999999999999999/1/1"])
def test_a_marker_that_cannot_be_read_is_damage(tmp_path: Path, marker: str) -> None:
    ox.Store(tmp_path / "current").add_graph(ox.NamedNode(MARKER + marker))
    with pytest.raises(DamagedBase, match="rebuild"):
        OxigraphStores.open(tmp_path)


def test_stores_that_another_process_has_open_are_in_use(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import pyoxigraph, sys; s = pyoxigraph.Store(sys.argv[1]); print('open', flush=True); sys.stdin.read()",
            str(tmp_path / "current"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(BaseInUse):
            OxigraphStores.open(tmp_path)
        holder.stdin.close()
    with opened(tmp_path), pytest.raises(BaseInUse):
        OxigraphStores.open(tmp_path)


def test_a_path_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "stores").touch()
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        OxigraphStores.open(tmp_path / "stores")


def test_checkpoints_go_once_nobody_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "FEW", 0)
    with opened(tmp_path) as stores:
        stores.apply(state_delta(1, list(STATEMENTS[:5])))
        pending: list[Iterator[ox.Quad]] = []

        def series() -> Iterator[StoreDelta]:
            yield from [state_delta(1, [STATEMENTS[5]]), state_delta(1)]
            pending.append(stores.read(Projection.CURRENT, lambda s: s.quads_for_pattern(None, None, None))[0])
            yield state_delta(2)

        stores.load(series())
        assert len(list(tmp_path.glob("*checkpoint*"))) == 1
        assert set(pending.pop()) == set(map(quad_of, STATEMENTS[:5]))
        stores.load([state_delta(2), state_delta(3)])
        assert list(tmp_path.glob("*checkpoint*")) == []


def test_checkpoints_of_a_killed_process_go_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "complete.checkpoint-7").mkdir()
    (tmp_path / "complete.checkpoint-7" / "CURRENT").touch()
    with opened(tmp_path):
        assert sorted(file.name for file in tmp_path.iterdir()) == ["complete", "current"]


def test_stores_are_rebuilt_into_an_empty_place_only(tmp_path: Path) -> None:
    (tmp_path / "something").touch()
    with Chronicle() as chronicle, chronicle.ledger.reading() as view:
        for place in (tmp_path, tmp_path / "something"):
            with pytest.raises(InvalidParameter, match="not empty"):
                rebuild(view, place)


def test_stores_differ_by_any_quad() -> None:
    one, other = ox.Store(), ox.Store()
    one.extend(map(quad_of, STATEMENTS[:2]))
    other.extend(map(quad_of, STATEMENTS[1:3]))
    assert not same_quads(one, other)
    other.extend(map(quad_of, STATEMENTS[:1]))
    assert not same_quads(one, other)
    one.extend(map(quad_of, STATEMENTS[2:3]))
    one.add_graph(marker_of(StoreState(None, None, START)))
    assert same_quads(one, other)


def brought_up(stores: OxigraphStores, delta: StoreDelta) -> bool:
    """Whether a try to bring them up from where they stand does so."""
    try:
        assert stores.position() == (day(1), day(1))
        stores.load([delta])
    except StoreUnavailable:
        return False
    return True


def test_a_store_whose_files_could_not_grow_goes_on_once_they_can(tmp_path: Path) -> None:
    """The engine writes nothing more through what met such an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    large = Statement(Iri("urn:s"), Iri("urn:p"), Literal("x" * 100_000), Iri("urn:g"))
    with opened(tmp_path) as stores:
        stores.apply(state_delta(1, [STATEMENTS[0]]))
        stores.apply(state_delta(2, [large]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
        try:
            for _ in range(2):
                with pytest.raises(StoreUnavailable):
                    stores.settle()
            assert not brought_up(stores, state_delta(2, [large]))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert brought_up(stores, state_delta(2, [large])) or brought_up(stores, state_delta(2, [large]))
        stores.apply(state_delta(3, [STATEMENTS[2]]))
        for projection in PROJECTIONS:
            assert quads_of(stores, projection) == set(map(quad_of, (STATEMENTS[0], large, STATEMENTS[2])))
    with opened(tmp_path) as stores:
        assert stores.position() == (day(3), day(3))
