"""The audit of a base: from its directory to a list of faults.

Rules
-----
* Everything is worked out anew from stored bytes, in one consistent read; nothing is repaired, and nothing is written
  but temporary files.
* The base's key is the one in its directory, unless another is given: what was signed anew with somebody else's key is
  found by that. Keys before and after it are those that the log tells of, each bound to the next by both signatures.
* The stores of a large base are held against its ledger in a process of their own meanwhile (`auditing.aside`).
* While a base is served, its stores are open elsewhere and are not looked at; the audit says so.
* The log proves what it holds, not that it is the newest: an older ledger that is whole is told from the newest one by
  stores that stand ahead of it, and by a checkpoint that was kept elsewhere.

Example
-------
::

    audited = audit(Path("data"))
    audited.sound, audited.counts.facts, audited.faults[:1]
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from bridge.auditing.aside import LEDGER, beside
from bridge.auditing.faults import Counts, Fault, Faults
from bridge.auditing.log import LogAudit
from bridge.auditing.slots import as_it_is
from bridge.auditing.stores import look_at_stores
from bridge.auditing.tables import look_at_file, look_at_schema, look_at_tables
from bridge.ledger.connection import connect_reader, refuse_old_sqlite
from bridge.ledger.fact_rows import term_key
from bridge.ledger.reading import SqliteView
from bridge.ledger.schema import APPLICATION_ID, KEY_EVENTS, VERSION
from bridge.ledger.seal import Seal
from bridge.ledger.session import Session, unavailable
from bridge.lock import DirectoryLock
from bridge.purging.graves import TOMBSTONE_KEY, key_fault
from bridge.signing.keys import SIGNING_KEY
from certificates.checkpoints import origin_of
from certificates.errors import CertificateError
from certificates.events import decode_event
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.key_history import KeyHistory
from certificates.keys import SigningKey, VerifyingKey
from kernel.errors import BaseInUse, DamagedBase, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bridge.auditing.aside import Followed
    from certificates.checkpoints import Checkpoint

_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    Args:
        faults: the first of them.
        total: how many there are.
        counts: what was verified.
        notes: what was not looked at, and why.
        afar: whether it was audited by what it serves (`auditing.afar`).
    """

    faults: tuple[Fault, ...]
    total: int
    counts: Counts
    notes: tuple[str, ...]
    afar: bool = False

    @property
    def sound(self) -> bool:
        """Whether there are none, in what was looked at."""
        return not self.total

    @property
    def whole(self) -> bool:
        """Whether everything was looked at, the stores too."""
        return self.counts.complete is not None and self.counts.current is not None


def audit(directory: Path, key: VerifyingKey | None = None, checkpoint: str | None = None) -> Audit:
    """Audits a base.

    Args:
        directory: in which it lies.
        key: to verify signatures with; by default, the public half of the base's own.
        checkpoint: of the base's log, kept elsewhere (`GET /log/checkpoint`): what the log must begin with.

    Raises:
        DamagedBase: the ledger has another format than this release reads.
        LedgerUnavailable: the ledger cannot be opened or is locked.
        NotFound: there is no base.
        OSError: the directory cannot be written to.
    """
    if not (directory / LEDGER).is_file():
        raise NotFound(f"there is no base in {directory}", remedy="name the folder in which a base lies")
    found = Faults()
    try:
        with DirectoryLock(directory / "lock"), beside(directory) as followed:
            _audit(directory, key, checkpoint, found, followed)
    except BaseInUse:
        found.notes.append("the base is being served: its stores were not looked at")
        _audit(directory, key, checkpoint, found, None)
    return Audit(tuple(found.kept), found.total, found.counts, tuple(found.notes))


def _audit(
    directory: Path,
    key: VerifyingKey | None,
    checkpoint: str | None,
    found: Faults,
    followed: Callable[[], Followed | None] | None,
) -> None:
    """Audits ledger and stores; the stores only where nobody else has them open, so that something else may know."""
    refuse_old_sqlite()
    if (broken := Seal(directory / LEDGER).fault()) is not None:
        found.add(LEDGER, f"is not as it was closed: {broken}")
    try:
        connection = connect_reader(directory / LEDGER, patience=_PATIENCE)
    except sqlite3.Error as error:
        _explain(error, found)
        return
    # Text that is no UTF-8 any more is a fault of its row, not of the query.
    connection.text_factory = _text
    with closing(connection):
        session = Session(connection)
        if _is_ledger(connection, found):
            session.execute("BEGIN")
            _audit_ledger(session, directory, key, checkpoint, found)
            if followed is not None:
                _look_at_stores(session, directory, found, followed())
        session.leave()


def _look_at_stores(session: Session, directory: Path, found: Faults, followed: Followed | None) -> None:
    """The stores, unless they are known to hold just what follows from a ledger without a fault."""
    if followed is None or found.total:
        look_at_stores(SqliteView(session, term_key), directory, found)
        return
    found.counts.complete, found.counts.current = followed.complete, followed.current
    found.notes += followed.notes


def _audit_ledger(
    session: Session, directory: Path, key: VerifyingKey | None, checkpoint: str | None, found: Faults
) -> None:
    with found.reading(LEDGER):
        look_at_file(session, found)
        look_at_schema(session, found)
    base = None
    with found.reading("meta"):
        stored: tuple[bytes] | None = session.one("SELECT value FROM meta WHERE name = 'base'", (), as_it_is)
        base = None if stored is None else UUID(bytes=stored[0])
    with found.reading(TOMBSTONE_KEY):
        check: tuple[bytes] | None = session.one("SELECT value FROM meta WHERE name = 'tombstones'", (), as_it_is)
        fault = key_fault(directory, None if check is None else check[0])
        if fault is not None:
            found.add(TOMBSTONE_KEY, fault)
    keys = _keys(session, directory, key, base, found)
    log = LogAudit(session, found, keys, base, _anchor(checkpoint, keys, base, found))
    log.look()
    look_at_tables(session, found, log)


def _keys(
    session: Session, directory: Path, given: VerifyingKey | None, base: UUID | None, found: Faults
) -> KeyHistory | None:
    """The keys to verify with: those that the log tells of, if the one to rely on is among them."""
    known = None
    with found.reading("keys"):
        stored: tuple[str] | None = session.one("SELECT multikey FROM keys WHERE used_until IS NULL", (), as_it_is)
        known = None if stored is None else stored[0]
    told = _told(session, known, base, found)
    if given is not None:
        if told is not None and told.held(given.did):
            return told
        found.add("keys", f"the base signs with {known}, by its ledger; signatures were verified with the key given")
        return KeyHistory.of(given)
    try:
        key = SigningKey.load(directory / SIGNING_KEY).public
    except CertificateError as error:
        found.add(SIGNING_KEY, error.message)
        named = _named_key(known, found)
        return told if told is not None or named is None else KeyHistory.of(named)
    if known != key.multibase:
        found.add(SIGNING_KEY, f"is not the key that the base signs with by its ledger, {known}")
        return KeyHistory.of(key)
    return told or KeyHistory.of(key)


def _told(session: Session, known: str | None, base: UUID | None, found: Faults) -> KeyHistory | None:
    """The keys of the log, up to the one that the ledger names; None, and a fault, if they do not lead to it."""
    if known is None or base is None:
        return None
    events: list[tuple[int, KeyRotated | KeyRevoked]] = []
    with found.reading("events"):
        rows: list[tuple[int, bytes]] = session.all(f"{KEY_EVENTS} ORDER BY position", (), as_it_is)
        for position, data in rows:
            event = decode_event(data)
            if isinstance(event, KeyRotated | KeyRevoked):
                events.append((position, event))
    try:
        return KeyHistory.follow(events, base, VerifyingKey.from_multikey(known))
    except CertificateError as error:
        found.add(error.where or "keys", error.message)
        return None


def _anchor(checkpoint: str | None, keys: KeyHistory | None, base: UUID | None, found: Faults) -> Checkpoint | None:
    """The checkpoint from outside, if it is one of this base's log."""
    if checkpoint is None:
        return None
    if keys is None or base is None:
        found.add("checkpoint", "there is no key or no id of the base to verify it by")
        return None
    try:
        return keys.verify_checkpoint(checkpoint, origin_of(base))
    except CertificateError as error:
        found.add("checkpoint", f"is none of this base's log: {error.message}")
        return None


def _named_key(known: str | None, found: Faults) -> VerifyingKey | None:
    """The key that the ledger names, for want of the base's own."""
    try:
        return VerifyingKey.from_multikey(known or "")
    except CertificateError as error:
        found.add("keys", f"{error.message}: signatures were not verified")
        return None


def _is_ledger(connection: sqlite3.Connection, found: Faults) -> bool:
    """Whether the file is a ledger of this release's format. Raises `DamagedBase` for one of another."""
    try:
        application, version = connection.execute(
            "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version"
        ).fetchone()
    except sqlite3.Error as error:
        _explain(error, found)
        return False
    if application != APPLICATION_ID:
        found.add(LEDGER, "is a database, but no ledger")
        return False
    if version != VERSION:
        raise DamagedBase(
            f"the ledger has format {version}, and this Muniment reads format {VERSION}",
            remedy="audit it with the release that wrote it",
            where=LEDGER,
        )
    return True


def _explain(error: sqlite3.Error, found: Faults) -> None:
    """A file that is damaged is a fault; one that cannot be opened is none, and `LedgerUnavailable` is raised."""
    trouble = unavailable(error)
    if trouble.data.get("cause") != "corrupt":
        raise trouble from error
    found.add(LEDGER, trouble.message)


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")
