"""A purge at size: what its phases take, and what writers wait for meanwhile.

Rules
-----
* One node is purged of a base that was loaded whole. Writers go on until the receipt is complete.
* Beside the second phase stands what a start from nothing takes: making both stores from the ledger.
* CPU is that of the process, writers included; what a writer waits is wall time.

Example
-------
::

    python -m bench --purge --size 100000
"""

from __future__ import annotations

from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Final

from rich.table import Table

from bench.ours import load
from bridge.base import Base
from bridge.stores.pair import rebuild
from kernel.access import Principal, Role
from kernel.changes import Assert, Request
from kernel.ports.purges import PurgeState
from kernel.purging.purger import PurgeRequest
from kernel.purging.targets import Target, TargetKind
from kernel.terms import Iri, Literal, Statement
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.submitting import Submission

if TYPE_CHECKING:
    from pathlib import Path

PURGER: Final = Principal("bench", Role.ADMINISTRATOR)
SAYS: Final = Iri("urn:bench:says")


def purge_table(directory: Path, facts: int) -> Table:
    """Purges one node of a base of so many facts."""
    directory.mkdir(parents=True, exist_ok=True)
    node = Iri("urn:bench:purged")
    with Base.open(directory / "base") as base:
        load(base, directory, facts)
        for number in range(10):
            _write(base, Statement(node, SAYS, Literal(f"to be purged {number}"), DEFAULT_GRAPH))
        alone = [_write(base, _filler(number)) for number in range(50)]
        began = process_time()
        digest = base.purges.preview(PURGER, Target(TargetKind.NODE, node)).digest
        previewed = process_time() - began
        began = perf_counter()
        wanted = PurgeRequest(Target(TargetKind.NODE, node), "benchmark", PURGER, digest)
        record = base.purges.purge(wanted).result()
        first = perf_counter() - began
        waits, began, burnt = list[float](), perf_counter(), process_time()
        while base.purges.one(PURGER, record.id).state is PurgeState.PENDING:
            waits.append(_write(base, _filler(1_000 + len(waits))))
        second, cpu = perf_counter() - began, process_time() - burnt
        began = process_time()
        with base.ledger.reading() as view:
            rebuild(view, directory / "anew")
        anew = process_time() - began
    table = Table(title=f"a purge of one node among {facts:,} facts")
    for column in ("what", "it took", "by what a write takes alone"):
        table.add_column(column, justify="left" if column == "what" else "right")
    single = median(alone)
    for name, seconds in (
        ("a write alone (median)", single),
        ("the preview (CPU)", previewed),
        ("the first phase, until nothing of it is answered", first),
        ("a write meanwhile (median)", median(waits)),
        ("the longest wait of a write", max(waits)),
        ("the second phase, until the receipt is complete", second),
    ):
        table.add_row(name, f"{seconds * 1e3:,.1f} ms", f"{seconds / single:,.0f} x")
    table.add_row(
        f"CPU of it, with {len(waits):,} writes", f"{cpu:,.1f} s", f"{cpu / anew:.1f} x both stores made anew"
    )
    return table


def _filler(number: int) -> Statement:
    return Statement(Iri(f"urn:bench:writer:{number}"), SAYS, Literal("goes on"), DEFAULT_GRAPH)


def _write(base: Base, statement: Statement) -> float:
    """Seconds that a writer waits."""
    request = Request((Assert(statement),), None, None, PURGER.id)
    began = perf_counter()
    base.submit(Submission(request, PURGER, None, b"", dry_run=False)).result()
    return perf_counter() - began
