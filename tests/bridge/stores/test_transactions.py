"""Transactions on a store: what they write does not stay in memory for ever."""

from pathlib import Path

import pyoxigraph as ox
import pytest

from bridge.stores import transactions
from bridge.stores.pair import OxigraphStores
from bridge.stores.projections import Projection
from bridge.stores.transactions import Backlog
from tests.bridge.stores.chronicle import STATEMENTS, quad_of
from tests.bridge.stores.test_stores import quads_of, state_delta


def tables(folder: Path) -> int:
    """How many files of sorted quads there are: what is in none of them is in memory, and in the engine's log."""
    return len(list(folder.glob("**/*.sst")))


def block(number: int) -> str:
    return f"GRAPH <urn:g> {{ <urn:s> <urn:p> <urn:o{number}> }}\n"


def test_after_so_much_text_the_engine_writes_out_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "UNWRITTEN", 3 * len(block(0)))
    store, backlog = ox.Store(tmp_path), Backlog()
    written = [tables(tmp_path)]
    for number in range(6):
        backlog.write(store, "", block(number))
        backlog.write_out(store)
        written.append(tables(tmp_path))
    assert written[0] == written[2] < written[3] == written[5] < written[6]
    backlog.write(store, block(0), block(9))
    assert {str(quad.object) for quad in store} == {f"<urn:o{number}>" for number in (1, 2, 3, 4, 5, 9)}


def test_both_stores_write_out_what_deltas_brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "UNWRITTEN", 1)
    stores = OxigraphStores.open(tmp_path)
    empty = {projection: tables(tmp_path / projection) for projection in Projection}
    try:
        for number, statement in enumerate(STATEMENTS, 1):
            stores.apply(state_delta(number, [statement]))
        assert all(tables(tmp_path / projection) > count for projection, count in empty.items())
        assert quads_of(stores, Projection.COMPLETE) == set(map(quad_of, STATEMENTS))
    finally:
        stores.close()
