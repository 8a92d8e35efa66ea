"""Replicas stand where the stores stand, quad for quad, whatever was written and however they were brought there."""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.replicas.process import WorkerProcess
from bridge.replicas.replica import Replica
from bridge.stores import checkpoints, transactions
from bridge.stores.checkpoints import Checkpoints, Seed
from bridge.stores.feed import DeltaText, Feed
from bridge.stores.markers import NOTHING
from bridge.stores.pair import OxigraphStores
from bridge.stores.projections import Projection
from kernel.errors import StoreUnavailable
from kernel.ports.stores import StoreDelta
from kernel.terms import Iri, Statement
from tests.bridge.stores.chronicle import Chronicle, Step, day, histories


def asked(projection: Projection, text: str, graphs: list[str]) -> dict[str, object]:
    """A query for TSV, whose default and named graphs are the same."""
    return {
        "store": projection, "text": text, "union": False, "default": graphs, "named": graphs, "format": 3,
        "rows": None, "memory": 2**30, "result": 2**30, "restore": False, "laid": None,
        "base": None,
    }  # fmt: skip


async def quads(replica: Replica, stores: OxigraphStores, projection: Projection) -> set[str]:
    """What a replica holds, as lines."""
    state = replica.bring_up(projection)
    assert state == stores.feed.state
    graphs = stores.read(projection, lambda store: sorted(graph.value for graph in store.named_graphs()))[0]
    coming = replica.process.query(asked(projection, "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }", graphs))
    whole = await coming.begun
    body = coming.body if whole else coming.body + b"".join([chunk async for chunk in coming.rest])
    return set(body.decode().splitlines()[1:])


def held(stores: OxigraphStores, projection: Projection) -> set[str]:
    """What the store itself holds, as lines of the same kind."""

    def lines(store: ox.Store) -> set[str]:
        found = store.query("SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }")
        assert isinstance(found, ox.QuerySolutions)
        written = found.serialize(format=ox.QueryResultsFormat.TSV) or b""
        return set(written.decode().splitlines()[1:])

    return stores.read(projection, lines)[0]


@dataclass
class Lab:
    """One worker for many tests: starting one takes longer than most of them."""

    runner: asyncio.Runner
    process: WorkerProcess

    def run(self, stores: OxigraphStores, work: Callable[[Replica], Coroutine[None, None, None]]) -> None:
        """Does something with a replica of stores, and closes them."""

        async def working() -> None:
            replica = Replica(self.process, stores, None)
            await replica.open(Projection.CURRENT)
            await work(replica)

        try:
            self.runner.run(working())
        finally:
            stores.close()


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with asyncio.Runner() as runner:
        process = runner.run(WorkerProcess.start())
        yield Lab(runner, process)
        process.kill()
        runner.run(process.buried())


def followed(lab: Lab, history: list[Step], asks: list[bool], capacity: int) -> None:
    stores = OxigraphStores.open(None)
    stores.feed = Feed(capacity)

    async def follow(replica: Replica) -> None:
        await replica.open(Projection.COMPLETE)
        for number, step in enumerate(history[1:]):
            chronicle.play(step)
            chronicle.advance(day(number))
            stores.apply(chronicle.delta())
            if asks[number % len(asks)]:
                await require_same(replica, stores)
        await require_same(replica, stores)

    with Chronicle(history[:1]) as chronicle:
        stores.apply(chronicle.delta())
        lab.run(stores, follow)


async def require_same(replica: Replica, stores: OxigraphStores) -> None:
    """It holds what the stores hold; where it lags, once it was given them anew."""
    for projection in Projection:
        if replica.bring_up(projection) is None:
            await replica.open(projection)
        assert await quads(replica, stores, projection) == held(stores, projection)


@settings(max_examples=15)
@given(history=histories, asks=st.lists(st.booleans(), min_size=1, max_size=5), capacity=st.sampled_from([0, 5, 9_999]))
def test_a_replica_follows_its_stores(lab: Lab, history: list[Step], asks: list[bool], capacity: int) -> None:
    """Also where the feed keeps so little that it lags now and then, or always."""
    followed(lab, history, asks, capacity)


@pytest.mark.parametrize("few", [0, 2_000])
def test_a_replica_of_a_directory_follows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """Made from hard links of a store on disk, or from text; let go of at its end."""
    made: list[Seed] = []
    monkeypatch.setattr(checkpoints, "FEW", few)
    monkeypatch.setattr(Checkpoints, "seed", watched(made, Checkpoints.seed))
    stores = OxigraphStores.open(tmp_path)
    stores.apply(fact_delta(1))

    async def follow() -> None:
        replica = await Replica.start(stores)
        try:
            await replica.open(Projection.COMPLETE)
            stores.apply(fact_delta(2))
            await require_same(replica, stores)
            await replica.open(Projection.CURRENT)
            stores.apply(fact_delta(3))
            await require_same(replica, stores)
        finally:
            await replica.close()

    asyncio.run(follow())
    stores.close()
    assert [each.path is None for each in made] == [few > 0] * 3
    assert not [*tmp_path.glob("*checkpoint*")]


def watched(made: list[Seed], make: Callable[[Checkpoints, ox.Store], Seed]) -> Callable[[Checkpoints, ox.Store], Seed]:
    def seed(self: Checkpoints, store: ox.Store) -> Seed:
        made.append(make(self, store))
        return made[-1]

    return seed


def statement(number: int) -> Statement:
    return Statement(Iri(f"urn:s{number}"), Iri("urn:p"), Iri("urn:o"), Iri("urn:g"))


def fact_delta(number: int) -> StoreDelta:
    """That one statement comes, and the one before goes."""
    vanish = [statement(number - 1)] if number > 1 else []
    return StoreDelta(number, day(number), day(number), appear=[statement(number)], vanish=vanish)


def test_a_replica_that_is_made_while_much_is_written_misses_nothing(lab: Lab, tmp_path: Path) -> None:
    stores = OxigraphStores.open(tmp_path)
    stores.apply(fact_delta(1))
    stop = Event()

    def write() -> int:
        number = 1
        while not stop.is_set():
            number += 1
            stores.apply(fact_delta(number))
        return number

    async def follow(replica: Replica) -> None:
        for _ in range(5):
            await replica.open(Projection.CURRENT)
            state = replica.bring_up(Projection.CURRENT)
            assert state is not None
            coming = replica.process.query(asked(Projection.CURRENT, "SELECT ?s { ?s ?p ?o }", ["urn:g"]))
            assert await coming.begun
            assert coming.body.decode().split() == ["?s", f"<urn:s{state.head}>"]
            await asyncio.sleep(0.02)
        stop.set()
        await asyncio.wrap_future(writing)  # before the stores are closed

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            lab.run(stores, follow)
        finally:
            stop.set()
        assert writing.result() > 1


def test_a_load_of_which_half_is_written_is_in_no_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is copied while a load begins is copied again: from what readers have meanwhile."""
    stores = OxigraphStores.open(None)
    stores.apply(fact_delta(1))
    seed, made = Checkpoints.seed, []

    def slowly(self: Checkpoints, store: ox.Store) -> Seed:
        made.append(seed(self, store))
        if len(made) == 1:
            loading.__next__()
        return made[-1]

    def load() -> Generator[None, None, None]:
        with stores._stores[Projection.CURRENT].begin_load() as begun:
            begun.take(fact_delta(2))
            begun.finish()
            yield

    loading = load()
    monkeypatch.setattr(Checkpoints, "seed", slowly)
    copied = stores.seed(Projection.CURRENT)
    assert len(made) == 2
    assert b"urn:s1" in copied.text
    assert b"urn:s2" not in copied.text
    loading.close()
    stores.close()


def test_a_replica_goes_on_when_a_write_to_the_stores_failed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = OxigraphStores.open(None)
    stores.apply(fact_delta(1))

    def fail(*_: object) -> None:
        raise OSError("no space left")

    async def follow(replica: Replica) -> None:
        stores.apply(fact_delta(2))
        with monkeypatch.context() as patch:
            patch.setattr(transactions, "write", fail)
            with pytest.raises(StoreUnavailable):
                stores.settle()
        reached = replica.bring_up(Projection.CURRENT)
        assert reached is not None
        assert reached.head == 2
        stores.load([fact_delta(2)])
        await replica.open(Projection.CURRENT)
        assert await quads(replica, stores, Projection.CURRENT) == held(stores, Projection.CURRENT)

    lab.run(stores, follow)


# --- the feed ---------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 6), max_size=20), st.integers(1, 15), st.data())
def test_a_feed_gives_all_since_a_position_or_nothing(weights: list[int], capacity: int, data: st.DataObject) -> None:
    feed = Feed(capacity)
    published: list[DeltaText | None] = []
    feed.publish(DeltaText(StoreDelta(0, day(1), day(1))))
    for number, weight in enumerate(weights):
        text = DeltaText(StoreDelta(number, day(1), day(1), appear=[statement(number)] * weight))
        if weight == 6:
            feed.restart(NOTHING)
            published.append(None)
        else:
            feed.publish(text)
            published.append(text)
    since = data.draw(st.integers(0, len(weights)))
    wanted, got = published[since:], feed.since(since + 1)
    if got is None:
        assert None in wanted or sum(each.weight for each in wanted if each is not None) > capacity
    else:
        assert got == wanted
