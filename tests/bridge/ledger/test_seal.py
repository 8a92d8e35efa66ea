"""The seal of a ledger: a file that is not as it was closed is not opened, and nobody is kept out without need."""

from contextlib import closing
from pathlib import Path

import pytest

from bridge.ledger.seal import Seal
from bridge.ledger.sqlite import SqliteLedger
from kernel.access import Principal, Role
from kernel.errors import DamagedBase


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(SqliteLedger.open(tmp_path / "ledger.sqlite")) as ledger:
        ledger.add_principal(Principal("reader", Role.READER), bytes(32))
    return tmp_path / "ledger.sqlite"


def test_a_byte_that_was_flipped_is_told_and_nothing_is_written(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[data.index(b"reader")] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedBase, match="not as it was closed") as caught:
        SqliteLedger.open(path)
    assert "backup" in caught.value.remedy
    assert path.read_bytes() == data
    with pytest.raises(DamagedBase):
        SqliteLedger.open(path)
    Seal(path).path.unlink()
    with closing(SqliteLedger.open(path)) as ledger:
        assert [each.principal.id for each in ledger.principals()] != ["reader"]


def test_a_seal_that_was_damaged_itself_is_told_too(path: Path) -> None:
    Seal(path).path.write_bytes(Seal(path).path.read_bytes()[:-2])
    with pytest.raises(DamagedBase):
        SqliteLedger.open(path)


def test_two_that_have_it_open_leave_the_seal_to_the_last(path: Path) -> None:
    with closing(SqliteLedger.open(path)) as one:
        with closing(SqliteLedger.open(path)) as other:
            other.add_principal(Principal("writer", Role.WRITER), bytes([1] * 32))
        assert Seal(path).path.read_bytes() == b""
        one.add_principal(Principal("editor", Role.EDITOR), bytes([2] * 32))
    assert Seal(path).path.read_bytes().startswith(b"sha256 ")
    with closing(SqliteLedger.open(path)) as again:
        assert len(again.principals()) == 3


def test_what_a_kill_left_is_opened(path: Path, tmp_path: Path) -> None:
    """A seal says nothing of a file beside which a write-ahead log lies: it was open."""
    with closing(SqliteLedger.open(path)) as ledger:
        ledger.add_principal(Principal("writer", Role.WRITER), bytes([1] * 32))
        killed = tmp_path / "killed"
        killed.mkdir()
        for file in (path, path.with_name("ledger.sqlite-wal"), Seal(path).path):
            (killed / file.name).write_bytes(file.read_bytes())
    with closing(SqliteLedger.open(killed / "ledger.sqlite")) as ledger:
        assert len(ledger.principals()) == 2
