"""The log at size: what an event costs, and a proof, beside what they cost without tiles.

Rules
-----
* Times are of the CPU.
* Events are appended to a ledger on disk, a thousand a transaction: the tree is what is measured, not the commit.
* The bare library beside it is `tree_root` over all leaves, which is what a proof takes where nothing is kept.

Example
-------
::

    python -m bench --log --size 1000000
"""

from __future__ import annotations

from functools import partial
from random import Random
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Final

from rich.table import Table

from bridge.ledger.sqlite import SqliteLedger
from bridge.signing.log import LogReader
from certificates.keys import SigningKey
from certificates.merkle import tree_root
from kernel.access import Principal, Role

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bridge.ledger.writing import SqliteTransaction

AUDITOR: Final = Principal("bench", Role.ADMINISTRATOR)
_GROUP: Final = 1_000
_PROOFS: Final = 200
_EVENT: Final = b'{"at":"2026-05-06T07:08:09Z","certificate":"urn:uuid:%036d","digest":"%064d","event":"issued"}'


def log_table(directory: Path, events: int) -> Table:
    """Measures a log of so many events."""
    directory.mkdir(parents=True, exist_ok=True)
    ledger = SqliteLedger.open(directory / "log.sqlite")
    try:
        appended = _append(ledger, events)
        log = LogReader(ledger, SigningKey.generate())
        places = Random(7).sample(range(events), min(_PROOFS, events))
        included = median(_timed(partial(log.inclusion, AUDITOR, place)) for place in places)
        grown = median(_timed(partial(log.consistency, place + 1)) for place in places)
        signed = median(_timed(log.checkpoint) for _ in places)
        with ledger.reading() as view:
            bare = _timed(lambda: tree_root(view.log_hashes(0, 0, events)))
    finally:
        ledger.close()
    table = Table(title=f"the log at {events:,} events")
    for column in ("what", "a piece", "from all leaves / it"):
        table.add_column(column, justify="left" if column == "what" else "right")
    table.add_row("an event, appended (aim 50 µs)", f"{appended * 1e6:.1f} µs", "–")
    proofs = ("a proof of inclusion (aim 1 ms)", included), ("a proof of consistency", grown), ("a checkpoint", signed)
    for name, took in proofs:
        table.add_row(name, f"{took * 1e3:.2f} ms", f"{bare / took:,.0f} x")
    return table


def _append(ledger: SqliteLedger, events: int) -> float:
    """Seconds an event, commits apart."""
    spent = 0.0
    for first in range(0, events, _GROUP):
        batch = [_EVENT % (number, number) for number in range(first, min(first + _GROUP, events))]
        with ledger.transaction() as tx:
            spent += _timed(partial(_put, tx, batch))
            tx.commit()
    return spent / events


def _put(tx: SqliteTransaction, batch: list[bytes]) -> None:
    for event in batch:
        tx.append_event(event)


def _timed(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began
