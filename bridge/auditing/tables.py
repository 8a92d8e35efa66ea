"""The tables beside the log: what they refer to is there, and what they keep is what is to be kept.

Rules
-----
* SQLite's own check of the file passes: pages, indexes, constraints. The file has the tables and indexes of a ledger
  and nothing else: a trigger would change what is written later, in the name of whoever writes it.
* Items, leaf hashes and decisions belong to certificates that are there, and to something that they say. A request is
  kept of each certificate that is waiting, and of no other.
* Facts believed of one statement in one graph have disjoint valid intervals.
* `graphs` lists the graphs of the facts. Each idempotency key names a certificate that is there.

Example
-------
::

    look_at_tables(session, found, log)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from bridge.auditing.slots import as_it_is
from bridge.ledger.request_codec import decode_request
from bridge.ledger.schema import LATER, definitions
from kernel.ports.records import CertificateState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.auditing.faults import Faults
    from bridge.auditing.log import LogAudit
    from bridge.ledger.session import Session

_BELIEVED: Final = """SELECT subject_key, predicate_key, object_key, graph_key, subject, predicate, object, graph,
        valid_from, valid_to, id
    FROM facts INDEXED BY facts_by_statement WHERE superseded_by IS NULL
    ORDER BY subject_key, predicate_key, object_key, graph_key, valid_from"""

_Believed = tuple[int, int, int, int, str, str, str, str, int, int, bytes]

_LISTED: Final = 100
"""Complaints of SQLite about one file."""

_FILE: Final = "ledger.sqlite"
_SCHEMA: Final = (
    "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
)
_BELONGING: Final = ("items", "leaves", "requests", "decisions", "idempotency")
_KINDS: Final = ("plan", "finding", "impact", "comment")


def look_at_file(session: Session, found: Faults) -> None:
    """What SQLite itself has to say about the file."""
    complaints: list[tuple[str]] = session.all(f"PRAGMA integrity_check({_LISTED})", (), as_it_is)
    for (complaint,) in complaints:
        if complaint != "ok":
            found.add(_FILE, f"SQLite: {complaint}")


def look_at_schema(session: Session, found: Faults) -> None:
    """Tables, indexes, and whatever else the file has beside its rows."""
    expected = definitions()
    kept: list[tuple[str, str, str]] = session.all(_SCHEMA, (), as_it_is)
    for kind, name, sql in kept:
        if name not in expected and name not in LATER:
            found.add(f"{_FILE} {kind} {name}", "is no part of a ledger")
        elif name in expected and sql != expected[name]:
            found.add(f"{_FILE} {kind} {name}", "is not made as that of a ledger is")
    for name in expected.keys() - LATER - {name for _, name, _ in kept}:
        found.add(f"{_FILE} {name}", "is not there")


def look_at_tables(session: Session, found: Faults, log: LogAudit) -> None:
    """Every table that the log does not speak of."""
    for table in _BELONGING:
        with found.reading(table):
            _look_at_owners(session, found, table)
    for table in ("items", "leaves"):
        with found.reading(table):
            _look_at_kinds(session, found, table, log)
    with found.reading("decisions"):
        for place in session.all("SELECT place FROM decisions", (), _number):
            if place not in log.named:
                found.add(f"decisions {place}", "is there, and no event names it")
    with found.reading("requests"):
        _look_at_requests(session, found, log)
    with found.reading("graphs"):
        _look_at_graphs(session, found)
    with found.reading("facts"):
        _look_at_overlaps(session, found)


def _look_at_owners(session: Session, found: Faults, table: str) -> None:
    sql = f"SELECT DISTINCT certificate FROM {table} WHERE certificate NOT IN (SELECT id FROM certificates)"  # noqa: S608
    for certificate in session.all(sql, (), _bytes):
        found.add(f"{table} {certificate.hex()}", "belongs to a certificate that is not there")


def _look_at_kinds(session: Session, found: Faults, table: str, log: LogAudit) -> None:
    """Items of kinds that no certificate has, and comments of nobody's decision."""
    sql = f"SELECT DISTINCT certificate, kind FROM {table} WHERE kind NOT IN ('plan', 'finding', 'impact')"  # noqa: S608
    rows: Iterator[tuple[bytes, str]] = session.stream(sql, (), as_it_is)
    for certificate, kind in rows:
        if kind not in _KINDS or certificate not in log.commented:
            found.add(f"{table} {UUID(bytes=certificate)} {kind}", "is there, and nothing was signed of it")


def _look_at_requests(session: Session, found: Faults, log: LogAudit) -> None:
    kept: Iterator[tuple[bytes, bytes, str]] = session.stream(
        "SELECT certificate, request, principal FROM requests JOIN certificates ON id = certificate", (), as_it_is
    )
    missing = {identifier for identifier, held in log.standings.items() if held.state is CertificateState.PENDING}
    for certificate, request, principal in kept:
        place = f"requests {UUID(bytes=certificate)}"
        if certificate not in missing:
            found.add(place, "is kept, and its certificate does not wait")
        missing.discard(certificate)
        with found.reading(place):
            found.differ(place, "principal", decode_request(request).principal, principal)
    for certificate in missing:
        found.add(f"requests {UUID(bytes=certificate)}", "is not there, and its certificate waits")


def _look_at_graphs(session: Session, found: Faults) -> None:
    listed = set(session.all("SELECT graph FROM graphs", (), _text))
    used = set(session.all("SELECT DISTINCT graph FROM facts NOT INDEXED", (), _text))
    for graph in sorted(listed - used):
        found.add(f"graphs {graph}", "is listed, and no fact was ever recorded in it")
    for graph in sorted(used - listed):
        found.add(f"graphs {graph}", "is not listed, and has facts")


def _look_at_overlaps(session: Session, found: Faults) -> None:
    """Facts of one statement lie side by side in its index, among those whose terms have the same hashes."""
    facts: Iterator[_Believed] = session.stream(_BELIEVED, (), as_it_is)
    before: tuple[int, ...] = ()
    reached: dict[tuple[str, ...], int] = {}
    for row in facts:
        start, end, identifier = row[8:]
        if row[:4] != before:
            before, reached = row[:4], {}
        if start < reached.get(row[4:8], start):
            found.add(f"facts {UUID(bytes=identifier)}", "overlaps another fact that is believed of its statement")
        reached[row[4:8]] = max(end, reached.get(row[4:8], end))


def _number(row: tuple[int]) -> int:
    return row[0]


def _bytes(row: tuple[bytes]) -> bytes:
    return row[0]


def _text(row: tuple[str]) -> str:
    return row[0]
