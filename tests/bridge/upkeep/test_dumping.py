"""A dump: what comes out is what the complete store holds, and any store of RDF 1.2 reads it."""

from contextlib import closing
from pathlib import Path

import pyoxigraph as ox
import pytest

from bridge.base import Base
from bridge.ledger.sqlite import SqliteLedger
from bridge.stores.pair import same_quads
from bridge.stores.projections import Projection
from bridge.upkeep.dumping import WHOLE, dump
from tests.api.console import run
from tests.bridge.auditing.history import make
from tests.bridge.writing import SetClock


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dumping") / "base"
    make(path)
    return path


def loaded(text: bytes) -> ox.Store:
    store = ox.Store()
    store.load(text, ox.RdfFormat.TRIG)
    return store


def test_a_dump_is_the_complete_store_quad_for_quad(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "everything.trig"
    assert run("dump", "--data", data, "--output", file).status == 0
    text = file.read_bytes()
    with Base.open(data, accept_clock=True, host=SetClock()) as base:
        reread = loaded(text)
        assert base.stores.read(Projection.COMPLETE, lambda store: same_quads(store, reread))[0]
        assert len(reread) > 300
    first, *_, last = text.decode().splitlines()
    assert "as of head:" in first
    assert last == f"{WHOLE}: {text.count(b'GRAPH <')} blocks"


def test_it_is_read_in_batches_and_may_be_written_to_a_pipe(data: Path) -> None:
    with closing(SqliteLedger.open(data / "ledger.sqlite")) as ledger, ledger.reading() as view:
        pieces = list(dump(view, ledger.base_id()))
    shown = run("dump", "--data", data)
    assert (shown.status, shown.output.encode()) == (0, b"".join(pieces))


def test_an_empty_base_is_dumped_empty(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base, base.ledger.reading() as view:
        text = b"".join(dump(view, base.ledger.base_id()))
    assert len(loaded(text)) == 0
    assert text.endswith(f"{WHOLE}: 0 blocks\n".encode())


def test_what_is_no_base_is_told(tmp_path: Path) -> None:
    ended = run("dump", "--data", tmp_path)
    assert (ended.status, "no base" in ended.errors) == (1, True)
