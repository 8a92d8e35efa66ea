"""Purges in the ledger: how facts of every time are found, what is deleted, and what is kept of that.

Rules
-----
* What is deleted is overwritten (`secure_delete`); copies that are left of it in pages and in the write-ahead log go
  when the file is written anew (`SqliteLedger.compact`).
* Of a fact its id, family, instants, certificates and leaf hash stay, of an item its place: what proves that it was
  there, and tells nothing of what it was. Of evidence it stays whose it was, so that nobody takes a fact whose source
  is gone for one that had none.
* A graph in which no fact is left is on no list of graphs any more. A graph that is purged as such is struck out
  wherever it is named, of certificates and of tokens; `PURGED` stands in its place, which nobody is held to.
* Tables are made when a ledger is opened that has none: an older one gains nothing else by it.

Example
-------
::

    with ledger.transaction() as tx:
        tx.erase(purge, erasure)
        tx.bury(purge, [("node", stone)])
        tx.put_purge(record)
        tx.commit()
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from bridge.ledger.damage import sound
from bridge.ledger.fact_rows import EVIDENCE_COLUMNS, FACT_COLUMNS, evidence_of, fact_of
from bridge.ledger.node_queries import both
from certificates.items import ItemKind, SaltedItem
from kernel.ports.purges import PurgeRecord, PurgeState
from kernel.purging.targets import names
from kernel.terms import Iri
from kernel.time.instants import Instant
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from bridge.ledger.fact_rows import EvidenceRow, FactRow
    from bridge.ledger.session import Session, Value
    from kernel.facts import Evidence, Fact
    from kernel.ports.purges import Erasure
    from kernel.terms import Statement, Term

R = TypeVar("R")

PURGED: Final = M + "purged"
"""Stands where a graph was named that was purged; it is no graph, and nobody writes it."""

TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS purges (
        id BLOB PRIMARY KEY CHECK (length(id) = 16),
        state TEXT NOT NULL,
        kind TEXT NOT NULL,
        asked_by TEXT NOT NULL,
        asked_at INTEGER NOT NULL,
        digest TEXT NOT NULL,
        target TEXT,
        reason TEXT,
        decided_by TEXT,
        head INTEGER,
        report BLOB,
        receipt BLOB,
        restored_by BLOB
    ) STRICT""",
    """CREATE TABLE IF NOT EXISTS tombstones (
        purge BLOB, kind TEXT, hash BLOB CHECK (length(hash) = 32), PRIMARY KEY (purge, kind, hash)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS erased_facts (
        id BLOB PRIMARY KEY CHECK (length(id) = 16),
        purge BLOB NOT NULL,
        family BLOB NOT NULL,
        certificate BLOB NOT NULL,
        recorded INTEGER NOT NULL,
        superseded INTEGER NOT NULL,
        superseded_by BLOB,
        leaf BLOB NOT NULL CHECK (length(leaf) = 32)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS erased_evidence (
        fact BLOB, certificate BLOB, PRIMARY KEY (fact, certificate)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS erased_items (
        certificate BLOB, kind TEXT, ordinal INTEGER, purge BLOB NOT NULL, PRIMARY KEY (certificate, kind, ordinal)
    ) STRICT, WITHOUT ROWID""",
)

_EVER: Final = f"SELECT {FACT_COLUMNS} FROM facts"  # noqa: S608 - of constants
_OF_STATEMENT: Final = both(
    "subject",
    FACT_COLUMNS,
    "subject_key = ?1 AND graph_key = ?2 AND predicate_key = ?3"
    " AND subject = ?4 AND predicate = ?5 AND object = ?6 AND graph = ?7",
)
_OF_FAMILY: Final = f"{_EVER} NOT INDEXED WHERE family = ?"
_OF_NODE: Final = (
    f"{_EVER} NOT INDEXED WHERE subject = ?1 OR predicate = ?1 OR object = ?1 OR instr(object, ?1) > 0 ORDER BY row"
)
_OF_GRAPH: Final = f"{_EVER} NOT INDEXED WHERE graph_key = ? AND graph = ? ORDER BY row"
_SAYING: Final = f"{_EVER} NOT INDEXED WHERE instr(object, ?) > 0 ORDER BY row"
_NAMES: Final = """SELECT 'names of callers', id FROM principals
    UNION SELECT 'names of callers', principal FROM certificates
    UNION SELECT 'names of callers', principal FROM editor_keys
    UNION SELECT 'names of callers', asked_by FROM purges
    UNION SELECT 'names of callers', decided_by FROM purges WHERE decided_by IS NOT NULL
    UNION SELECT 'names of callers', CAST(record AS TEXT) FROM decisions
    UNION SELECT 'owners of contradictions', owner FROM contradiction_owners"""
_GRAPH_LISTS: Final = """
    UNION SELECT 'lists of graphs', graphs FROM certificates
    UNION SELECT 'lists of graphs', graphs FROM principals WHERE graphs IS NOT NULL"""
_MENTIONS: Final = (
    f"SELECT (SELECT count(*) FROM ({both('subject', '1', 'subject_key = ?1 AND subject = ?2')}))"  # noqa: S608
    f" + (SELECT count(*) FROM ({both('object', '1', 'object_key = ?1 AND object = ?2 AND subject <> ?2')}))"
)
_FACTS_CITED: Final = ", ".join(f"facts.{name.strip()}" for name in FACT_COLUMNS.split(","))
_IN_WORDS: Final = """SELECT certificate, items.kind, ordinal, salt, body
    FROM items LEFT JOIN certificates ON certificates.id = certificate
    WHERE items.kind <> 'plan' OR ordinal = 0 OR certificates.state <> 'applied'
    ORDER BY certificate, items.kind, ordinal"""
_PURGE: Final = """SELECT id, state, kind, asked_by, asked_at, digest, target, reason, decided_by, head, report,
    receipt, restored_by FROM purges"""

_KEEP_FACT: Final = """INSERT INTO erased_facts
    SELECT id, ?, family, certificate, recorded, superseded, superseded_by, leaf FROM facts WHERE id = ?"""
_PurgeRow = tuple[
    bytes, str, str, str, int, str, str | None, str | None, str | None, int | None, bytes | None, bytes | None,
    bytes | None,
]  # fmt: skip


def facts_ever(
    session: Session,
    key: Callable[[str], int],
    *,
    statement: Statement | None,
    family: UUID | None,
    node: Iri | None,
    graph: Iri | None,
) -> Iterator[Fact]:
    """As `LedgerView.facts_ever`."""
    if statement is not None:
        subject, predicate, value, within = (
            term.n3 for term in (statement.subject, statement.predicate, statement.object, statement.graph)
        )
        keys = (key(subject), key(within), key(predicate))
        return session.stream(_OF_STATEMENT, (*keys, subject, predicate, value, within), fact_of)
    if family is not None:
        return session.stream(_OF_FAMILY, (family.bytes,), fact_of)
    if graph is not None:
        return session.stream(_OF_GRAPH, (key(graph.n3), graph.n3), fact_of)
    if node is None:
        raise TypeError("nothing says which facts")
    return (fact for fact in session.stream(_OF_NODE, (node.n3,), fact_of) if names(fact.statement, node))


def facts_saying(session: Session, text: str) -> Iterator[Fact]:
    """As `LedgerView.facts_saying`."""
    return session.stream(_SAYING, (text,), fact_of)


def names_kept(session: Session, *, graphs: bool) -> Iterator[tuple[str, str]]:
    """As `LedgerView.names_kept`."""
    return session.stream(_NAMES + _GRAPH_LISTS if graphs else _NAMES, (), _as_it_is)


def keys_kept(session: Session) -> Iterator[tuple[str, str]]:
    """As `LedgerView.keys_kept`."""
    return session.stream("SELECT principal, key FROM idempotency ORDER BY principal, key", (), _as_it_is)


def mentions(session: Session, key: Callable[[str], int], term: Term) -> int:
    """As `LedgerView.mentions`."""
    return session.one(_MENTIONS, (key(term.n3), term.n3), _number) or 0


def evidence_citing(session: Session, episodes: Collection[Iri]) -> list[tuple[Evidence, Fact]]:
    """As `LedgerView.evidence_citing`."""
    if not episodes:
        return []
    given = ", ".join("?" * len(episodes))
    sql = (
        f"SELECT {EVIDENCE_COLUMNS}, {_FACTS_CITED} FROM evidence NOT INDEXED CROSS JOIN facts"  # noqa: S608
        f" ON facts.id = evidence.fact WHERE episode IN ({given}) ORDER BY evidence.row"
    )
    return session.all(sql, [episode.n3 for episode in episodes], _cited_of)


def sourced_before(session: Session, fact: UUID, certificate: UUID) -> bool:
    """As `LedgerView.sourced_before`."""
    sql = "SELECT 1 FROM erased_evidence WHERE fact = ? AND certificate = ?"
    return session.one(sql, (fact.bytes, certificate.bytes), _number) is not None


def items_in_words(session: Session) -> Iterator[tuple[UUID, SaltedItem]]:
    """As `LedgerView.items_in_words`."""
    return session.stream(_IN_WORDS, (), _item_of)


def purge_of(session: Session, purge: UUID) -> PurgeRecord | None:
    """A purge by its id."""
    return session.one(f"{_PURGE} WHERE id = ?", (purge.bytes,), _purge_of)


def purges(session: Session) -> list[PurgeRecord]:
    """Every purge, oldest first."""
    return session.all(f"{_PURGE} ORDER BY asked_at, id", (), _purge_of)


def tombstones(session: Session) -> list[tuple[UUID, str, bytes]]:
    """What stands."""
    return session.all("SELECT purge, kind, hash FROM tombstones ORDER BY purge, kind, hash", (), _stone_of)


def erased(session: Session, purge: UUID) -> tuple[Iterator[tuple[bytes, bytes]], Iterator[tuple[bytes, str, int]]]:
    """What a purge took, in the order of its digest."""
    facts: list[tuple[bytes, bytes]] = session.all(
        "SELECT id, leaf FROM erased_facts WHERE purge = ? ORDER BY id", (purge.bytes,), _as_it_is
    )
    items: list[tuple[bytes, str, int]] = session.all(
        "SELECT certificate, kind, ordinal FROM erased_items WHERE purge = ? ORDER BY certificate, kind, ordinal",
        (purge.bytes,),
        _as_it_is,
    )
    return iter(facts), iter(items)


# --- writing ----------------------------------------------------------------------------------------------------------


def erase(session: Session, purge: UUID, erasure: Erasure) -> set[str]:
    """As `LedgerTransaction.erase`; answers the texts of the graphs in which nothing is left."""
    by = purge.bytes
    for item, _ in erasure.evidence:
        row = (item.content.fact.bytes, item.content.id.bytes)
        session.execute("DELETE FROM evidence INDEXED BY evidence_by_fact WHERE fact = ? AND id = ?", row)
        session.execute("INSERT OR IGNORE INTO erased_evidence VALUES (?, ?)", (row[0], item.certificate.bytes))
    for fact in erasure.facts:
        session.execute(_KEEP_FACT, (by, fact.id.bytes))
        session.execute("DELETE FROM facts WHERE id = ?", (fact.id.bytes,))
    for certificate, kind, ordinal in erasure.items:
        place = (certificate.bytes, kind.value, ordinal)
        session.execute("INSERT INTO erased_items VALUES (?, ?, ?, ?)", (*place, by))
        session.execute("DELETE FROM items WHERE certificate = ? AND kind = ? AND ordinal = ?", place)
    for certificate in erasure.certificates:
        session.execute("DELETE FROM idempotency WHERE certificate = ?", (certificate.bytes,))
    for own in erasure.keys:
        session.execute("DELETE FROM idempotency WHERE principal = ? AND key = ?", own)
    for staged in erasure.sessions:
        session.execute("DELETE FROM staged WHERE session = ?", (staged,))
    if erasure.graph is not None:
        _strike_out(session, erasure.graph)
    return _forget_graphs(session, {fact.statement.graph.n3 for fact in erasure.facts})


def put_purge(session: Session, record: PurgeRecord) -> None:
    """Adds a purge, or puts it in the place of the one of its id."""
    row: tuple[Value, ...] = (
        record.id.bytes,
        record.state.value,
        record.kind,
        record.asked_by,
        record.asked_at,
        record.digest,
        record.target,
        record.reason,
        record.decided_by,
        record.head,
        record.report,
        record.receipt,
        None if record.restored_by is None else record.restored_by.bytes,
    )
    session.execute(f"INSERT OR REPLACE INTO purges VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608


def bury(session: Session, purge: UUID, stones: Iterable[tuple[str, bytes]]) -> None:
    """Puts up tombstones."""
    for kind, stone in stones:
        session.execute("INSERT INTO tombstones VALUES (?, ?, ?)", (purge.bytes, kind, stone))


def lift(session: Session, purge: UUID) -> int:
    """Takes the tombstones of a purge away."""
    return session.execute("DELETE FROM tombstones WHERE purge = ?", (purge.bytes,))


def _forget_graphs(session: Session, graphs: set[str]) -> set[str]:
    left = {
        graph
        for graph in graphs
        if session.one("SELECT 1 FROM facts NOT INDEXED WHERE graph = ? LIMIT 1", (graph,), _number) is None
    }
    for graph in left:
        session.execute("DELETE FROM graphs WHERE graph = ?", (graph,))
    return left


def _strike_out(session: Session, graph: Iri) -> None:
    """Puts `PURGED` wherever certificates and tokens name the graph."""
    quoted = json.dumps(graph.value, ensure_ascii=False)
    for table in ("certificates", "principals"):
        found: list[tuple[Value, str]] = session.all(
            f"SELECT id, graphs FROM {table} WHERE instr(graphs, ?) > 0",  # noqa: S608 - ours
            (quoted,),
            _as_it_is,
        )
        for identifier, text in found:
            struck = _struck(json.loads(text), graph.value)
            told = json.dumps(struck, ensure_ascii=False, separators=(",", ":"))
            session.execute(f"UPDATE {table} SET graphs = ? WHERE id = ?", (told, identifier))  # noqa: S608


def _struck(value: object, graph: str) -> object:
    """A list of graphs, or what there is to say of a token, without the graph."""
    if isinstance(value, dict):
        return {name: _struck(each, graph) for name, each in value.items()}
    if isinstance(value, list):
        struck = [_struck(each, graph) for each in value]
        graphs = {each for each in struck if isinstance(each, str)}
        return sorted(graphs) if graphs and not any(isinstance(each, list) for each in value) else struck
    return PURGED if value == graph else value


# --- rows -------------------------------------------------------------------------------------------------------------


@sound("a purge")
def _purge_of(row: _PurgeRow) -> PurgeRecord:
    (
        identifier, state, kind, asked_by, asked_at, digest, target, reason, decided_by, head, report, receipt,
        restored_by,
    ) = row  # fmt: skip
    return PurgeRecord(
        id=UUID(bytes=identifier),
        state=PurgeState(state),
        kind=kind,
        asked_by=asked_by,
        asked_at=Instant(asked_at),
        digest=digest,
        target=target,
        reason=reason,
        decided_by=decided_by,
        head=head,
        report=report,
        receipt=receipt,
        restored_by=None if restored_by is None else UUID(bytes=restored_by),
    )


_EVIDENCE_SIZE: Final = len(EVIDENCE_COLUMNS.split(","))


def _cited_of(row: tuple[Value, ...]) -> tuple[Evidence, Fact]:
    told: EvidenceRow = row[:_EVIDENCE_SIZE]  # type: ignore[assignment]
    held: FactRow = row[_EVIDENCE_SIZE:]  # type: ignore[assignment]
    return evidence_of(told), fact_of(held)


def _item_of(row: tuple[bytes, str, int, bytes, bytes]) -> tuple[UUID, SaltedItem]:
    certificate, kind, ordinal, salt, body = row
    return UUID(bytes=certificate), SaltedItem(ItemKind(kind), ordinal, salt, body)


def _stone_of(row: tuple[bytes, str, bytes]) -> tuple[UUID, str, bytes]:
    return UUID(bytes=row[0]), row[1], row[2]


def _as_it_is(row: R) -> R:
    return row


def _number(row: tuple[int]) -> int:
    return row[0]
