"""A base with a history of every kind, made once and copied for each case; and hands that tamper with a copy."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from bridge.auditing.audit import Audit, audit
from bridge.base import Base
from bridge.ledger.seal import Seal
from bridge.lock import DirectoryLock
from certificates.certificate import Verdict
from certificates.records import DecisionKind
from kernel.changes import Assert, End, Retract, Revise
from kernel.facts import Spelling
from kernel.ports.records import CertificateState
from kernel.terms import RDF, XSD, Iri, Literal, Statement
from kernel.time.instants import DAY, SECOND
from kernel.time.precision import Precision
from kernel.time.timevalues import Bound
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.writing import (
    ADMINISTRATOR,
    DOUBTED,
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    SetClock,
    decide,
    during,
    living,
    load,
    one_home,
    person,
    submission,
    write,
    year,
)

OTHER: Final = Iri("http://example.org/other")
SHACL: Final = "http://www.w3.org/ns/shacl#"
SHAPE, AGE = (Iri(f"http://example.org/{name}") for name in ("shape", "age"))
SAID: Final = (
    (RDF + "type", SHACL + "NodeShape"),
    (SHACL + "targetSubjectsOf", AGE.value),
    (SHACL + "nodeKind", SHACL + "Literal"),
)
"""A shape that nothing that has an age conforms to."""

SEVEN: Final = Literal("7", XSD + "integer")
DOUBTFUL: Final = Assert(living(OSLO, person(3)), confidence=DOUBTED)


def make(path: Path, days: int = 2, clock: SetClock | None = None) -> None:
    """Writes a history of some days."""
    clock = clock or SetClock()
    with Base.open(path, host=clock) as base:
        yesterday(base, clock)
        if days > 1:
            clock.move(DAY)
            today(base, clock)


def yesterday(base: Base, clock: SetClock) -> None:
    """Assertions, ends, revisions, a retraction, a graph of its own, spellings, repeats, and what begins and ends."""
    write(base, Assert(living(PARIS), during(2000, 2010)), Assert(living(ROME, graph=OTHER)), key="first")
    write(base, Assert(living(PARIS), during(2005, 2015), confidence=Decimal("0.9")))
    spelt = Spelling(Literal("007", XSD + "int"), "2001", None)
    write(base, replace(Assert(living(SEVEN, person(1)), during(2001, None)), spelling=spelt))
    clock.move(SECOND)
    write(base, End(living(SEVEN, person(1)), Bound(year(2020), Precision.YEAR, None)))
    with base.ledger.reading() as view:
        held = view.believed_of(living(ROME, graph=OTHER))[0]
    write(base, Revise(held.id, OSLO, None, None))
    write(base, Retract(living(PARIS), during(2012, 2013).interval))
    write(base, Assert(living(ROME, person(2)), during(clock.at + SECOND, clock.at + 10 * SECOND)))
    clock.move(5 * SECOND)


def today(base: Base, clock: SetClock) -> None:
    """Reviews that are approved, rejected, stale and waiting; a refusal; a load, and one that waits."""
    approved = write(base, DOUBTFUL)
    decide(base, approved.certificate, comment="seen in person")
    rejected = write(base, Assert(living(OSLO, person(4)), confidence=DOUBTED))
    decide(base, rejected.certificate, DecisionKind.REJECT)
    stale = write(base, Assert(living(OSLO, person(5)), during(2000, 2010), confidence=DOUBTED))
    write(base, Assert(living(OSLO, person(5)), during(2005, 2015)))
    assert decide(base, stale.certificate, comment="why not").state is CertificateState.STALE
    chunks = [
        [
            Assert(living(PARIS, person(number)), during(1990, 2000 + number % 9))
            for number in range(10 * chunk, 10 * chunk + 10)
        ]
        for chunk in range(1, 4)
    ]
    load(base, "session", *chunks)
    clock.move(SECOND)
    write(base, *one_home(), by=ADMINISTRATOR)
    write(base, Assert(living(PARIS, person(6)), during(2000, None)))
    assert write(base, Assert(living(OSLO, person(6)), during(2005, None))).verdict is Verdict.REVIEW
    write(
        base, *(Assert(Statement(SHAPE, Iri(name), Iri(value), SHAPES_GRAPH)) for name, value in SAID), by=ADMINISTRATOR
    )
    assert write(base, Assert(Statement(OSLO, AGE, SEVEN, OTHER))).verdict is Verdict.REFUSED
    with_key = submission(Assert(living(ROME, person(7)), confidence=DOUBTED), key="waiting")
    assert base.submit(with_key).result(PATIENCE).state is CertificateState.PENDING
    write(base, Assert(living(OSLO, person(8))))


def copy(base: Path, into: Path) -> Path:
    """A copy to tamper with."""
    shutil.copytree(base, into)
    return into


@contextmanager
def ledger_of(base: Path) -> Iterator[sqlite3.Connection]:
    """The ledger's file, opened past everything that watches over it; what is done is kept, and its seal is gone."""
    Seal(base / "ledger.sqlite").path.unlink(missing_ok=True)
    with closing(sqlite3.connect(base / "ledger.sqlite")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        yield connection
        connection.commit()


def edit(base: Path, sql: str, *parameters: str | int | bytes | None) -> None:
    """Does one thing to the ledger."""
    with ledger_of(base) as connection:
        assert connection.execute(sql, parameters).rowcount > 0, "nothing was edited"


def asked(base: Path, sql: str, *parameters: str | int | bytes) -> tuple[str | int | bytes, ...]:
    """A row of the ledger."""
    with ledger_of(base) as connection:
        row: tuple[str | int | bytes, ...] = connection.execute(sql, parameters).fetchone()
    return row


def tamper(base: Path, projection: str, *, add: ox.Quad | None = None, remove: ox.Quad | None = None) -> None:
    """Changes a quad of a store."""
    store = ox.Store(base / "stores" / projection)
    if add is not None:
        store.add(add)
    if remove is not None:
        assert remove in store
        store.remove(remove)
    store.flush()


def places(audited: Audit) -> set[str]:
    """Every place that an audit names."""
    return {fault.place for fault in audited.faults}


def audit_ledger(base: Path) -> Audit:
    """The audit of a base but for its stores, which take most of the time: as if it were being served."""
    with DirectoryLock(base / "lock"):
        return audit(base)


def named(base: Path) -> set[str]:
    """Every place that it names."""
    return places(audit_ledger(base))
