"""Moments in the past, asked of workers: one snapshot for all of them, and none that a purge has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.base import SNAPSHOTS, Base
from bridge.reading.reader import QueryRequest, Question
from bridge.replicas.limits import Limits, PoolSize
from bridge.replicas.pool import ReplicaPool
from bridge.snapshots.making import SnapshotMaker
from bridge.snapshots.wanted import Made, Wanted
from kernel.changes import Assert
from kernel.errors import LedgerUnavailable, QueryLimit
from kernel.terms import Iri, Statement
from kernel.vocabulary import DEFAULT_GRAPH
from tests.bridge.slices.world import EVERYBODY
from tests.bridge.writing import write


def statement(number: int) -> Statement:
    return Statement(Iri(f"urn:s{number}"), Iri("urn:p"), Iri("urn:o"), DEFAULT_GRAPH)


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Base]:
    """A base on disk of two heads, whose snapshots are in directories."""
    monkeypatch.setattr("bridge.snapshots.making.CHUNK", 1)
    monkeypatch.setattr("bridge.snapshots.making.IN_MEMORY", 0)
    monkeypatch.setattr("bridge.stores.checkpoints.FEW", -1)
    with Base.open(tmp_path / "data") as base:
        write(base, *(Assert(statement(number)) for number in range(3)))
        write(base, Assert(statement(3)))
        yield base


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Wanted]:
    """What is made, as it is."""
    made: list[Wanted] = []
    make = SnapshotMaker.make

    def watched(self: SnapshotMaker, wanted: Wanted, *, from_stores: bool = True) -> Made:
        made.append(wanted)
        return make(self, wanted, from_stores=from_stores)

    monkeypatch.setattr(SnapshotMaker, "make", watched)
    return made


def first_head(base: Base) -> str:
    with base.ledger.reading() as view:
        now = view.head()
        before = view.head_at(type(now.clock)((now.instant or now.clock) - 1))
    return f"head:{before}"


def asked(base: Base) -> Question:
    """How much there was at the first head, which no slice tells."""
    request = QueryRequest(EVERYBODY, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "text/csv")
    return base.reader.question(request, base.reader.moment(first_head(base)))


def test_workers_share_what_is_made(base: Base, made: list[Wanted]) -> None:
    async def ask() -> None:
        pool = ReplicaPool(base.stores, base.snapshots, PoolSize(workers=2, spares=0, patience=60))
        try:
            answers = await asyncio.gather(*(pool.answer(asked(base), Limits(), f"caller {n}") for n in range(4)))
            assert [(await each.read()).split() for each in answers] == [[b"n", b"3"]] * 4
            assert len(made) == 1
            base.snapshots.invalidate(99)
            answer = await pool.answer(asked(base), Limits(), "caller")
            assert (await answer.read()).split() == [b"n", b"3"]
            assert len(made) == 2
        finally:
            await pool.close()

    asyncio.run(asyncio.wait_for(ask(), 120))
    directory = Path(base.snapshots._directory or "")
    assert directory.match(SNAPSHOTS)
    assert len([*directory.glob("copy*")]) == 0, "what workers had is unlinked"


def test_a_snapshot_that_takes_too_long_is_no_answer_and_one_that_fails_is_told(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_self: SnapshotMaker, _wanted: Wanted, *, from_stores: bool = True) -> Made:
        raise LedgerUnavailable(f"the ledger cannot be read, {from_stores}", remedy="none")

    def linger(_self: SnapshotMaker, _wanted: Wanted, *, from_stores: bool = True) -> Made:
        assert from_stores
        asyncio.run(asyncio.sleep(1.5))
        raise LedgerUnavailable("too late", remedy="none")

    async def ask() -> None:
        pool = ReplicaPool(base.stores, base.snapshots, PoolSize(workers=1, spares=0, patience=60))
        try:
            monkeypatch.setattr(SnapshotMaker, "make", fail)
            with pytest.raises(LedgerUnavailable):
                await pool.answer(asked(base), Limits(), "caller")
            monkeypatch.setattr(SnapshotMaker, "make", linger)
            with pytest.raises(QueryLimit):
                await pool.answer(asked(base), Limits(seconds=0.5), "caller")
        finally:
            await pool.close()

    asyncio.run(asyncio.wait_for(ask(), 120))
