"""Snapshots are made once, kept within bounds, forgotten by a purge, and there again after a restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pyoxigraph as ox
import pytest

from bridge.snapshots.cache import STANDARD, Bounds, Snapshots
from bridge.snapshots.making import SnapshotMaker
from bridge.snapshots.wanted import Made, Wanted
from bridge.stores.checkpoints import Checkpoints
from bridge.stores.pair import OxigraphStores
from bridge.stores.projections import Projection
from kernel.errors import LedgerUnavailable, ShuttingDown
from kernel.time.instants import Instant
from tests.bridge.snapshots.test_making import wanted
from tests.bridge.stores.chronicle import STATEMENTS, Chronicle, day, quad_of
from tests.bridge.stores.test_stores import step_of


@dataclass
class Watch:
    """Counts what is made, and may hold it up or break it."""

    before: Callable[[], None] = lambda: None
    made: list[Wanted] = field(default_factory=list)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch, make = Watch(), SnapshotMaker.make

    def watched(self: SnapshotMaker, asked: Wanted, *, from_stores: bool = True) -> Made:
        watch.made.append(asked)
        watch.before()
        return make(self, asked, from_stores=from_stores)

    monkeypatch.setattr(SnapshotMaker, "make", watched)
    return watch


@pytest.fixture
def past() -> Iterator[Chronicle]:
    """Three heads, on days 1, 2 and 3, of one statement each."""
    with Chronicle([step_of([(statement, None, None)]) for statement in STATEMENTS[:3]]) as chronicle:
        yield chronicle


@contextmanager
def keeping(past: Chronicle, directory: Path | None = None, bounds: Bounds = STANDARD) -> Iterator[Snapshots]:
    snapshots = Snapshots(past.ledger, OxigraphStores.open(None), directory, bounds)
    try:
        yield snapshots
    finally:
        snapshots.close()


def at(past: Chronicle, as_of: int | Instant, valid_at: int = 9) -> Wanted:
    moment = day(as_of) if as_of < 100 else Instant(as_of)
    return wanted(past, moment, day(valid_at), Projection.CURRENT)


def test_every_as_of_between_two_heads_is_one_snapshot(past: Chronicle, watch: Watch) -> None:
    with keeping(past) as snapshots:
        first = snapshots.at(at(past, 2))
        assert snapshots.at(at(past, Instant(day(3) - 1))) is first
        assert len(watch.made) == 1
        assert snapshots.at(at(past, 3)) is not first
        assert snapshots.at(at(past, 30)) is snapshots.at(at(past, 3))
        assert snapshots.at(at(past, 2, 1)) is not first
        assert len(watch.made) == 3


def test_a_head_that_comes_later_is_not_answered_from_before(past: Chronicle) -> None:
    with keeping(past) as snapshots:
        before = set(snapshots.at(at(past, 9)))
        past.play(step_of([(STATEMENTS[3], None, None)]))
        assert set(snapshots.at(at(past, 9))) - before == {quad_of(STATEMENTS[3])}


def test_the_least_recently_used_go_first(past: Chronicle, watch: Watch) -> None:
    with keeping(past, bounds=Bounds(count=2)) as snapshots:
        for number in (1, 2, 1, 3, 1):
            snapshots.at(at(past, 9, number))
        assert len(watch.made) == 3
        snapshots.at(at(past, 9, 2))
        assert len(watch.made) == 4


def test_who_wants_a_snapshot_that_is_being_made_waits_for_it(past: Chronicle, watch: Watch) -> None:
    started, go_on = Event(), Event()

    def hold() -> None:
        started.set()
        assert go_on.wait(30)

    watch.before = hold
    with keeping(past) as snapshots, ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(snapshots.at, at(past, 9))]
        assert started.wait(30)
        futures += [pool.submit(snapshots.at, at(past, 9)) for _ in range(2)]
        seed = snapshots.seeding(at(past, 9))
        go_on.set()
        assert len({id(future.result(30)) for future in futures}) == 1
        assert seed.result(30).text
    assert len(watch.made) == 1


def test_a_snapshot_that_could_not_be_made_is_made_again(past: Chronicle, watch: Watch) -> None:
    def fail() -> None:
        raise LedgerUnavailable("the ledger cannot be read", remedy="none")

    watch.before = fail
    with keeping(past) as snapshots:
        with pytest.raises(LedgerUnavailable):
            snapshots.at(at(past, 9))
        watch.before = lambda: None
        assert len(snapshots.at(at(past, 9))) == 3


def test_whoever_waits_is_told_that_the_base_closes(past: Chronicle, watch: Watch) -> None:
    started, go_on = Event(), Event()

    def hold() -> None:
        started.set()
        assert go_on.wait(30)

    watch.before = hold
    with keeping(past) as snapshots:
        first, forgotten = snapshots.making(at(past, 9)), snapshots.making(at(past, 6))
        assert started.wait(30)
        snapshots.invalidate(1)
        second = snapshots.making(at(past, 8))
        closing = ThreadPoolExecutor(1).submit(snapshots.close)
        go_on.set()
        closing.result(30)
        for each in (first, second, forgotten):
            with pytest.raises(ShuttingDown):
                each.result(30)
        for _ in range(2):
            with pytest.raises(ShuttingDown):
                snapshots.making(at(past, 7))


def test_a_purge_forgets_what_was_made_and_what_is_being_made(past: Chronicle, watch: Watch) -> None:
    with keeping(past) as snapshots:
        before = snapshots.at(at(past, 1))
        snapshots.invalidate(7)
        assert snapshots.purged_at == 7
        assert snapshots.at(at(past, 1)) is not before

        def purge() -> None:
            watch.before = lambda: None
            snapshots.invalidate(9)

        watch.before, watch.made = purge, []
        made = snapshots.at(at(past, 2))
        assert len(watch.made) == 2, "what was read before the purge is given to nobody"
        assert snapshots.at(at(past, 2)) is not made
        assert snapshots.purged_at == 9


def test_after_a_purge_nothing_is_made_from_stores_until_they_are_made_anew(
    past: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def make(_self: SnapshotMaker, _asked: Wanted, *, from_stores: bool = True) -> Made:
        asked.append(from_stores)
        return Made(ox.Store(), None)

    monkeypatch.setattr(SnapshotMaker, "make", make)
    with keeping(past) as snapshots:
        snapshots.at(at(past, 1))
        snapshots.invalidate(7)
        snapshots.at(at(past, 1))
        snapshots.stores_made_anew()
        snapshots.at(at(past, 2))
    assert asked == [True, False, True]


# --- on disk ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever there is counts as much, and is kept in a directory."""
    monkeypatch.setattr("bridge.stores.checkpoints.FEW", -1)
    monkeypatch.setattr("bridge.snapshots.making.CHUNK", 1)
    monkeypatch.setattr("bridge.snapshots.making.IN_MEMORY", 0)


def until(holds: Callable[[], object]) -> None:
    """Waits for the thread that makes them to be done with something."""
    deadline = monotonic() + 30
    while not holds():
        assert monotonic() < deadline
        sleep(0.01)


def directories(path: Path) -> int:
    return len([each for each in path.iterdir() if each.is_dir()])


@pytest.mark.usefixtures("large")
def test_what_was_asked_for_twice_is_there_after_a_restart(past: Chronicle, tmp_path: Path, watch: Watch) -> None:
    expected = past.expected(Projection.CURRENT, day(3), day(9))
    with keeping(past, tmp_path) as snapshots:
        snapshots.at(at(past, 2))
        snapshots.at(at(past, 3))
        snapshots.at(at(past, 3))
        until(lambda: [*tmp_path.glob("*.json")])
    assert directories(tmp_path) == 1
    with keeping(past, tmp_path) as snapshots:
        assert set(snapshots.at(at(past, 3))) == expected
        assert len(watch.made) == 2
        seed = snapshots.seeding(at(past, 3)).result(30)
        assert seed.path is not None
        assert set(ox.Store(seed.path)) == expected
        seed.discard()
        snapshots.invalidate(9)
    assert not [*tmp_path.iterdir()], "a purge leaves nothing"


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("harm", ["more", "less", "note", "ledger", "half"])
def test_what_is_not_as_it_was_noted_is_made_anew(past: Chronicle, tmp_path: Path, watch: Watch, harm: str) -> None:
    with keeping(past, tmp_path) as snapshots:
        for _ in range(2):
            snapshots.at(at(past, 3))
        until(lambda: [*tmp_path.glob("*.json")])
    directory = next(each for each in tmp_path.iterdir() if each.is_dir())
    note = next(tmp_path.glob("*.json"))
    if harm == "more":
        ox.Store(directory).add(ox.Quad(*[ox.NamedNode("urn:stray")] * 4))
    elif harm == "less":
        store = ox.Store(directory)
        store.remove(next(iter(store)))
        store.add(ox.Quad(*[ox.NamedNode("urn:stray")] * 4))
        del store
    elif harm == "note":
        note.write_text("{}")
    elif harm == "ledger":
        note.write_text(note.read_text().replace('"event": "', '"event": "0'))
    else:
        (directory / "CURRENT").unlink()
    with keeping(past, tmp_path) as snapshots:
        assert set(snapshots.at(at(past, 3))) == past.expected(Projection.CURRENT, day(3), day(9))
    assert len(watch.made) == 2


@pytest.mark.usefixtures("large")
def test_the_bytes_on_disk_are_bounded(past: Chronicle, tmp_path: Path) -> None:
    with keeping(past, tmp_path, Bounds(count=9, size=1)) as snapshots:
        for number in range(1, 5):
            snapshots.at(at(past, 3, number))
        until(lambda: directories(tmp_path) == 1)
        read = snapshots.at(at(past, 3, 1))
        begun = read.quads_for_pattern(None, None, None)
        first = next(begun)
        snapshots.at(at(past, 3, 2))
        expected = past.expected(Projection.CURRENT, day(3), day(1))
        assert set(read) == expected, "who reads one reads on"
        del read
        snapshots.sweep()
        assert {first, *begun} == expected, "an answer that has begun goes on"
        del begun

        def one_is_left() -> bool:
            snapshots.sweep()
            return directories(tmp_path) == 1

        until(one_is_left)
    assert not [*tmp_path.iterdir()]


def test_what_was_made_in_memory_is_given_to_others_as_text(
    past: Chronicle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.stores.checkpoints.FEW", -1)
    with keeping(past, tmp_path) as snapshots:
        seed = snapshots.seeding(at(past, 3)).result(30)
        assert seed.path is None
        assert len([*ox.parse(seed.text, ox.RdfFormat.N_QUADS)]) == 3


def test_what_a_killed_process_left_is_unlinked(past: Chronicle, tmp_path: Path) -> None:
    for name in ("made-7", "copy.checkpoint-3"):
        (tmp_path / name).mkdir()
    (tmp_path / "made-9.json").write_text("{}")
    with keeping(past, tmp_path):
        assert not [*tmp_path.iterdir()]


def test_copies_for_others_are_seeds(past: Chronicle, monkeypatch: pytest.MonkeyPatch) -> None:
    with keeping(past) as snapshots:
        seed = snapshots.seeding(at(past, 3)).result(30)
        assert {str(each) for each in ox.parse(seed.text, ox.RdfFormat.N_QUADS)} == {
            str(each) for each in past.expected(Projection.CURRENT, day(3), day(9))
        }

        def fail(_self: Checkpoints, _store: ox.Store) -> None:
            raise OSError("disk full")

        monkeypatch.setattr(Checkpoints, "seed", fail)
        with pytest.raises(OSError, match="disk full"):
            snapshots.seeding(at(past, 3)).result(30)
