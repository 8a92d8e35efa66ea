"""What a proof reads of a log: the tile of its own leaf, once those above are known."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from bridge.ledger.reading import SqliteView
from bridge.ledger.sqlite import SqliteLedger
from bridge.signing.log import LogReader
from certificates.keys import SigningKey
from certificates.merkle import leaf_hash, tree_root
from certificates.merkle_proofs import includes
from tests.bridge.writing import ADMINISTRATOR

EVENTS = 1_500


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqliteLedger]:
    ledger = SqliteLedger.open(tmp_path / "ledger.sqlite")
    with ledger.transaction() as tx:
        for number in range(EVENTS):
            tx.append_event(b"%d" % number)
        tx.commit()
    yield ledger
    ledger.close()


def test_a_proof_reads_one_tile_of_leaves_and_none_above(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    log, read = LogReader(ledger, SigningKey.generate()), list[tuple[int, int]]()
    hashes = SqliteView.log_hashes

    def noted(view: SqliteView, level: int, first: int, count: int) -> list[bytes]:
        read.append((level, first))
        return hashes(view, level, first, count)

    monkeypatch.setattr(SqliteView, "log_hashes", noted)
    whole = tree_root([leaf_hash(b"%d" % number) for number in range(EVENTS)])
    log.inclusion(ADMINISTRATOR, 0)
    for place in Random(5).sample(range(1, EVENTS), 40):
        read.clear()
        proof = log.inclusion(ADMINISTRATOR, place)
        assert set(read) <= {(0, place - place % 256)}
        assert len(read) <= 1
        assert includes(leaf_hash(b"%d" % place), place, EVENTS, proof.path, whole)
