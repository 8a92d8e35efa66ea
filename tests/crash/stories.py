"""The base that a life begins on, and what must hold of one whose life was cut off.

Rules (AllOrNothing, Idempotent)
-----
* Everything that was acknowledged is there: its certificate in the state that was told, or in one that follows from it,
  under its key; and what it asserted was believed from then on.
* Nothing is there by half: see `tests.bridge.audit`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bridge.base import Base
from kernel.changes import Assert
from kernel.facts import Fact
from kernel.ports.records import CertificateState
from kernel.time.instants import SECOND, Instant, parse_instant
from tests.bridge.audit import Books
from tests.bridge.writing import DOUBTED, OSLO, PARIS, ROME, SetClock, during, living, person, write
from tests.crash.saying import Acknowledged

THEN: Final = parse_instant("2020-01-01T00:00:00Z")
SOON: Final = Instant(THEN + SECOND)
LINES: Final = 200
LINES_A_CHUNK: Final = 40
"""Of the file that is loaded."""
LATER: Final = Instant(THEN + 2 * SECOND)


def prepare(path: Path) -> None:
    """Makes a base in which something is held, something waits, and something begins and ends at `SOON`."""
    with Base.open(path, host=SetClock(THEN)) as base:
        write(base, Assert(living(PARIS, person(1)), during(2000, SOON)), Assert(living(ROME, person(1))), key="before")
        write(base, Assert(living(ROME, person(2)), during(SOON, None)))
        write(base, Assert(living(PARIS, person(3)), confidence=DOUBTED))


def large_write() -> list[Assert]:
    """As many changes as the file has lines."""
    return [Assert(living(OSLO, person(100 + number))) for number in range(LINES)]


def require_kept(books: Books, acknowledged: Iterable[Acknowledged]) -> None:
    """Everything that was acknowledged is there."""
    facts = defaultdict(list)
    for fact in books.facts:
        facts[fact.statement.nquad].append(fact)
    for told in acknowledged:
        record = books.certificates[told.id]
        if told.state != CertificateState.PENDING:
            assert (record.state, record.head) == (told.state, told.head), told
        if told.key is not None:
            assert books.idempotency[told.by, told.key] == told.id, told
        for statement, start, end in told.asserted:
            assert record.instant is not None
            assert _is_covered(facts[statement], record.instant, start, end), told


def _is_covered(facts: list[Fact], at: Instant, start: int, end: int) -> bool:
    """Whether the facts believed right after an instant leave no gap in an interval."""
    believed = sorted(
        fact.interval
        for fact in facts
        if fact.recorded_at <= at and (fact.superseded is None or fact.superseded.at > at)
    )
    for interval in believed:
        if interval.start <= start:
            start = max(start, interval.end)
    return start >= end
