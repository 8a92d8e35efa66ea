"""Whatever single byte of what the ledger records is flipped, wherever: the audit names its row."""

import shutil
from pathlib import Path
from typing import Final
from uuid import UUID

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.bridge.auditing.history import copy, ledger_of, named

FLIPS: Final = 200 if settings.default is settings.get_profile("fuzz") else 25

COLUMNS: Final = {
    "certificates": (
        "id", "document", "verdict", "state", "principal", "graphs", "issued_at", "base_head", "head", "instant",
        "successor",
    ),
    "events": ("event", "leaf"),
    "items": ("salt", "body"),
    "facts": (
        "id", "family", "subject", "predicate", "object", "graph", "subject_key", "predicate_key", "object_key",
        "graph_key", "valid_from", "valid_to", "from_precision", "to_precision", "recorded", "superseded",
        "certificate", "superseded_by", "leaf",
    ),
}  # fmt: skip
OWN: Final = {
    "certificates": ("id",), "events": ("position",), "items": ("certificate", "kind", "ordinal"), "facts": ("id",),
}  # fmt: skip


@pytest.fixture(scope="module")
def victim(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy whose ledger is put back after each flip; without stores, which are of no matter here."""
    path = copy(pristine, tmp_path_factory.mktemp("flips") / "base")
    with ledger_of(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    shutil.rmtree(path / "stores")
    shutil.copy(path / "ledger.sqlite", path / "whole")
    return path


def place_of(table: str, own: tuple[object, ...]) -> str:
    """What the audit calls a row."""
    if table == "events":
        return f"events {own[0]}"
    assert isinstance(own[0], bytes)
    owner = UUID(bytes=own[0])
    if table == "items":
        return f"items {owner} comment" if own[1] == "comment" else f"items {owner} {own[1]} {own[2]}"
    return f"{'certificate' if table == 'certificates' else table} {owner}"


def flipped(value: object, at: int, bit: int) -> object:
    """The value with one bit of its bytes flipped; of text, one that leaves it text for SQLite."""
    if isinstance(value, int):
        number = value.to_bytes(8, signed=True)
        at %= 8
        return int.from_bytes(number[:at] + bytes([number[at] ^ 1 << bit]) + number[at + 1 :], signed=True)
    data = value.encode() if isinstance(value, str) else value
    assert isinstance(data, bytes)
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


@settings(max_examples=FLIPS)
@given(table=st.sampled_from(sorted(COLUMNS)), data=st.data())
def test_a_byte_that_was_flipped_is_named(victim: Path, table: str, data: st.DataObject) -> None:
    shutil.copy(victim / "whole", victim / "ledger.sqlite")
    column = data.draw(st.sampled_from(COLUMNS[table]))
    with ledger_of(victim) as connection:
        sql = f"SELECT {', '.join(OWN[table])}, {column} FROM {table} WHERE {column} IS NOT NULL AND length({column})"
        rows = connection.execute(f"{sql} ORDER BY {', '.join(OWN[table])}").fetchall()
        *own, value = data.draw(st.sampled_from(rows))
        forged = flipped(value, data.draw(st.integers(0, 10_000)), data.draw(st.integers(0, 7)))
        cast = "CAST(? AS TEXT)" if isinstance(value, str) else "?"
        where = " AND ".join(f"{name} = ?" for name in OWN[table])
        done = connection.execute(f"UPDATE OR IGNORE {table} SET {column} = {cast} WHERE {where}", (forged, *own))
        assume(done.rowcount)  # not so where another row has the value already, and it has to be its own
    assert place_of(table, tuple(own)) in named(victim)
