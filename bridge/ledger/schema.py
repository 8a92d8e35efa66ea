"""The ledger's tables, and how a file is known to be a ledger.

Rules
-----
* Ids are 16 bytes, digests and leaf hashes 32; instants are integer microseconds, `BEGINNING` and `FOREVER` the ends of
  the 64-bit range; terms are their canonical N-Triples text.
* A fact's row number grows with the instant at which it was recorded, and log positions have no gaps.
* What may have to be purged stands in rows of its own, apart from what proves it: items, with their salts, apart from
  their leaf hashes; a comment apart from its decision; a request apart from its certificate.
* The statement indexes hold 64-bit hashes of terms (`subject_key` and so on). Two terms may share a hash, so whoever
  looks up by hash compares the texts as well. These indexes hold believed facts alone: what was superseded never slows
  down what is believed.
* Two indexes hold every fact, believed or not, for moments in the past: by subject or object, and then by graph, so
  that whoever reads some graphs never comes by the facts of others.
* Of the log's Merkle tree, the roots of full subtrees are kept, of 256 leaves at level 1, 256^2 at level 2, and so on:
  any proof takes a few rows.
* `facts_by_time` has the supersession first: a new fact goes to its very end, whatever its valid time.
* The file says what it is in `application_id` and of which version in `user_version`. No other version is opened.

Example
-------
>>> import sqlite3
>>> connection = sqlite3.connect(":memory:", isolation_level=None)
>>> prepare(connection, UUID(int=7), "x.ledger"), connection.execute("PRAGMA user_version").fetchone()
(None, (2,))
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import Final
from uuid import UUID

from bridge.ledger import purging
from certificates.lthash import LatticeHash
from kernel.errors import DamagedBase
from kernel.time.instants import BEGINNING

APPLICATION_ID: Final = 0x4D756E69
"""`Muni`: tells a ledger from any other SQLite database (SQLite file format, section 1.3.8)."""

VERSION: Final = 2

TABLES: Final = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
    """CREATE TABLE certificates (
        id BLOB PRIMARY KEY CHECK (length(id) = 16),
        document BLOB NOT NULL,
        verdict TEXT NOT NULL,
        state TEXT NOT NULL,
        principal TEXT NOT NULL,
        graphs TEXT NOT NULL,
        issued_at INTEGER NOT NULL,
        base_head INTEGER,
        issued INTEGER NOT NULL,
        head INTEGER,
        instant INTEGER,
        successor BLOB,
        CHECK ((head IS NULL) = (instant IS NULL) AND (head IS NULL) = (state <> 'applied'))
    ) STRICT""",
    # Almost every certificate is clear and applied: lists of those follow the ids, lists of others these two.
    "CREATE INDEX certificates_by_state ON certificates (state, id) WHERE state <> 'applied'",
    "CREATE INDEX certificates_by_verdict ON certificates (verdict, id) WHERE verdict <> 'clear'",
    "CREATE UNIQUE INDEX heads ON certificates (head) WHERE head IS NOT NULL",
    "CREATE UNIQUE INDEX heads_by_instant ON certificates (instant, head) WHERE instant IS NOT NULL",
    """CREATE TABLE requests (
        certificate BLOB PRIMARY KEY REFERENCES certificates (id), request BLOB NOT NULL
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE items (
        certificate BLOB, kind TEXT, ordinal INTEGER, salt BLOB NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (certificate, kind, ordinal)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE leaves (
        certificate BLOB, kind TEXT, first INTEGER, hashes BLOB NOT NULL CHECK (length(hashes) % 32 = 0),
        PRIMARY KEY (certificate, kind, first)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE decisions (
        place INTEGER PRIMARY KEY,
        certificate BLOB NOT NULL REFERENCES certificates (id),
        kind TEXT NOT NULL,
        record BLOB NOT NULL,
        comment INTEGER
    ) STRICT""",
    "CREATE INDEX decisions_by_certificate ON decisions (certificate)",
    """CREATE TABLE events (
        position INTEGER PRIMARY KEY, event BLOB NOT NULL, leaf BLOB NOT NULL CHECK (length(leaf) = 32)
    ) STRICT""",
    """CREATE TABLE subtrees (
        level INTEGER, number INTEGER, root BLOB NOT NULL CHECK (length(root) = 32), PRIMARY KEY (level, number)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE state (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        position INTEGER,
        instant INTEGER,
        clock INTEGER NOT NULL,
        digest BLOB NOT NULL,
        CHECK ((position IS NULL) = (instant IS NULL))
    ) STRICT""",
    """CREATE TABLE idempotency (
        principal TEXT, key TEXT, body_digest BLOB NOT NULL, certificate BLOB NOT NULL, PRIMARY KEY (principal, key)
    ) STRICT, WITHOUT ROWID""",
    "CREATE TABLE keys (multikey TEXT PRIMARY KEY, used_from INTEGER NOT NULL, used_until INTEGER) STRICT",
    """CREATE TABLE principals (
        id TEXT PRIMARY KEY,
        role INTEGER NOT NULL,
        graphs TEXT,
        token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
        created INTEGER NOT NULL,
        expires INTEGER,
        revoked INTEGER
    ) STRICT""",
    """CREATE TABLE facts (
        row INTEGER PRIMARY KEY,
        id BLOB NOT NULL CHECK (length(id) = 16),
        family BLOB NOT NULL,
        subject TEXT NOT NULL,
        predicate TEXT NOT NULL,
        object TEXT NOT NULL,
        graph TEXT NOT NULL,
        subject_key INTEGER NOT NULL,
        predicate_key INTEGER NOT NULL,
        object_key INTEGER NOT NULL,
        graph_key INTEGER NOT NULL,
        valid_from INTEGER NOT NULL,
        valid_to INTEGER NOT NULL,
        from_precision INTEGER NOT NULL,
        to_precision INTEGER NOT NULL,
        recorded INTEGER NOT NULL,
        superseded INTEGER NOT NULL,
        certificate BLOB NOT NULL,
        superseded_by BLOB,
        leaf BLOB NOT NULL CHECK (length(leaf) = 32),
        CHECK (valid_from < valid_to),
        CHECK (recorded < superseded),
        CHECK ((superseded_by IS NULL) = (superseded = 9223372036854775807))
    ) STRICT""",
    "CREATE UNIQUE INDEX facts_by_id ON facts (id)",
    "CREATE INDEX facts_by_time ON facts (superseded, recorded, valid_from, valid_to)",
    """CREATE INDEX facts_by_statement ON facts (subject_key, predicate_key, object_key, graph_key)
        WHERE superseded_by IS NULL""",
    "CREATE INDEX facts_by_graph ON facts (graph_key) WHERE superseded_by IS NULL",
    """CREATE INDEX facts_by_start ON facts (valid_from)
        WHERE superseded_by IS NULL AND valid_from <> -9223372036854775808""",
    """CREATE INDEX facts_by_end ON facts (valid_to)
        WHERE superseded_by IS NULL AND valid_to <> 9223372036854775807""",
    "CREATE TABLE graphs (graph TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
    """CREATE TABLE evidence (
        row INTEGER PRIMARY KEY,
        id BLOB NOT NULL CHECK (length(id) = 16),
        fact BLOB NOT NULL,
        episode TEXT,
        confidence TEXT,
        object TEXT,
        valid_from TEXT,
        valid_to TEXT,
        certificate BLOB NOT NULL,
        recorded INTEGER NOT NULL
    ) STRICT""",
    "CREATE INDEX evidence_by_fact ON evidence (fact)",
    "CREATE INDEX evidence_by_time ON evidence (recorded)",
    """CREATE TABLE staged (
        session TEXT, chunk INTEGER, data BLOB NOT NULL, PRIMARY KEY (session, chunk)
    ) STRICT""",
)

KEY_EVENTS: Final = "SELECT position, event FROM events WHERE instr(event, x'226576656e74223a226b65792d') > 0"
"""Events that have `"event":"key-` in their bytes: those of keys (`certificates.events`), by the index below."""

EVER: Final = (
    """CREATE TABLE IF NOT EXISTS editor_keys (
        principal TEXT PRIMARY KEY, multikey TEXT NOT NULL, registered INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS contradiction_owners (
        certificate BLOB NOT NULL, finding INTEGER NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (certificate, finding)
    ) STRICT, WITHOUT ROWID""",
    """CREATE INDEX IF NOT EXISTS key_events ON events (position)
        WHERE instr(event, x'226576656e74223a226b65792d') > 0""",
    "DROP INDEX IF EXISTS facts_ever_by_subject",
    "DROP INDEX IF EXISTS facts_ever_by_object",
    """CREATE INDEX IF NOT EXISTS facts_believed_by_object ON facts (object_key, predicate_key, graph_key)
        WHERE superseded_by IS NULL""",
    "DROP INDEX IF EXISTS facts_by_object",
    """CREATE INDEX IF NOT EXISTS facts_past_by_subject ON facts (subject_key, predicate_key, graph_key)
        WHERE superseded_by IS NOT NULL""",
    """CREATE INDEX IF NOT EXISTS facts_past_by_object ON facts (object_key, predicate_key, graph_key)
        WHERE superseded_by IS NOT NULL""",
    *purging.TABLES,
)
"""What ledgers of this version that were made earlier are given, and rid of, when they are opened."""

_NAME: Final = re.compile(r"(?:TABLE|INDEX) (?:IF (?:NOT )?EXISTS )?(\w+)")


def _named(statement: str) -> str:
    """The table or index that a statement makes or drops."""
    found = _NAME.search(statement)
    return "" if found is None else found[1]


LATER: Final = frozenset(map(_named, EVER))
"""Names of what ledgers of this version that were made earlier may lack, or still have, until they are opened."""


def prepare(connection: sqlite3.Connection, base: UUID, name: str) -> None:
    """Makes the tables in an empty file, for a base of this id; leaves those of a ledger, but for indexes, as they are.

    Args:
        connection: in autocommit mode.
        base: the id that a new base gets.
        name: of the file, for errors.

    Raises:
        DamagedBase: the file holds something else, or a ledger of another version; it is left as it is.
        sqlite3.Error: it cannot be read or written.
    """
    known = _recognised(connection, name)
    connection.execute("PRAGMA journal_mode = WAL")
    if known:
        for statement in EVER:
            connection.execute(statement)
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _recognised(connection, name):  # another process may have been faster
            _create(connection, base)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def definitions() -> dict[str, str]:
    """The SQL of every table and index of a ledger by its name, as SQLite keeps it (section 2.6 of its file format)."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in (*TABLES, *EVER):
            connection.execute(statement)
        return dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


def not_a_ledger(message: str, name: str) -> DamagedBase:
    """The error for a file that is something else."""
    remedy = "give a data folder of Muniment's own, or restore its ledger from a backup"
    return DamagedBase(message, remedy=remedy, where=name)


def _recognised(connection: sqlite3.Connection, name: str) -> bool:
    """Whether this is a ledger of our version; False for an empty file."""
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if (application, version) == (APPLICATION_ID, VERSION):
        return True
    if application == APPLICATION_ID:
        raise DamagedBase(
            f"the ledger has format {version}, and this Muniment reads format {VERSION}",
            remedy="open it with the release that wrote it, or restore a backup that this release made",
            where=name,
            version=version,
        )
    if application or version or tables:
        raise not_a_ledger("the file is a database, but no ledger", name)
    return False


def _create(connection: sqlite3.Connection, base: UUID) -> None:
    for statement in (*TABLES, *EVER):
        connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES ('base', ?)", (base.bytes,))
    connection.execute("INSERT INTO state VALUES (1, NULL, NULL, ?, ?)", (BEGINNING, LatticeHash().to_bytes()))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
