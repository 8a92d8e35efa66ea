"""A backup of a base: its ledger at one state, its key, and a checkpoint that says which state.

Rules
-----
* A backup is made beside a base that is served: SQLite copies the ledger as of its last commit, and writes go on.
  Stores are left out: they are made anew from the ledger.
* What was deleted from the ledger is not in the copy, for it is written anew and not page by page.
* The folder is whole or not there: it is filled under another name, synced, and renamed.
* A backup is restored only if all of it can be verified: the SHA-256 of the file, then everything that `muniment audit`
  works out from a ledger, held against the checkpoint in the backup, and against a newer one if there is one: a backup
  that is older than what is known to have been is refused.
* A restored base is made beside and renamed, too; a base that is there is never written over.

Example
-------
::

    back_up(Path("data"), Path("backups/monday"))
    restore(Path("backups/monday"), Path("restored"))

The folder holds `ledger.sqlite`, `keys/signing.key`, `keys/tombstone.key`, `checkpoint` and `backup.json`, readable by
their owner alone.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from hashlib import file_digest
from typing import TYPE_CHECKING, Final, Self

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.graves import TOMBSTONE_KEY
from bridge.host import SystemClock
from bridge.keys import SIGNING_KEY
from bridge.ledger.connection import OWNER_ONLY, connect_reader, refuse_old_sqlite
from bridge.ledger.session import unavailable
from bridge.ledger.sqlite import SqliteLedger
from bridge.lock import DirectoryLock
from bridge.log_reading import LogReader
from certificates.checkpoints import ORIGIN, read_checkpoint
from certificates.errors import CertificateError
from certificates.keys import SigningKey
from kernel.errors import BackupRefused, Conflict, LedgerUnavailable, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LEDGER: Final = "ledger.sqlite"
CHECKPOINT: Final = "checkpoint"
MANIFEST: Final = "backup.json"
FORMAT: Final = 1
_PATIENCE: Final = 60.0
_NAMED: Final = 3
"""Faults that a refusal names."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself.

    Args:
        format: of the folder.
        base: the base's id.
        events: in the log.
        sha256: of the ledger's file, in hexadecimal.
    """

    format: int
    base: str
    events: int
    sha256: str

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The manifest in a folder. Raises `BackupRefused`, or `NotFound` where there is none."""
        path = folder / MANIFEST
        if not path.is_file():
            raise NotFound(f"there is no backup in {folder}", remedy="name the folder that `muniment backup` made")
        try:
            manifest = cls(**json.loads(path.read_bytes()))
        except (ValueError, TypeError) as error:
            raise BackupRefused(f"{MANIFEST} cannot be read", remedy="take another backup", where=str(path)) from error
        if manifest.format != FORMAT:
            raise BackupRefused(
                f"the backup has format {manifest.format}, and this Muniment reads {FORMAT}",
                remedy="restore it with the release that made it",
                where=str(path),
            )
        return manifest


def back_up(data: Path, into: Path) -> Manifest:
    """Makes a backup of a base, which may be served meanwhile.

    Args:
        data: the base's folder.
        into: the backup's: not there yet.

    Raises:
        Conflict: there is something of that name; the key was changed meanwhile.
        NotFound: there is no base.
        LedgerUnavailable: the ledger cannot be read, or the folder not written.
    """
    if not (data / LEDGER).is_file():
        raise NotFound(f"there is no base in {data}", remedy="name the folder in which a base lies")
    with _making(into) as folder:
        _copy_ledger(data / LEDGER, folder / LEDGER)
        (folder / SIGNING_KEY).parent.mkdir(mode=0o700)
        key = _key(data / SIGNING_KEY)
        key.save(folder / SIGNING_KEY)
        if (data / TOMBSTONE_KEY).is_file():
            _copy(data / TOMBSTONE_KEY, folder / TOMBSTONE_KEY)
        with closing(SqliteLedger.open(folder / LEDGER, SystemClock())) as ledger:
            _require_key(ledger, key)
            note, base = LogReader(ledger, key).checkpoint(), str(ledger.base_id())
        manifest = Manifest(FORMAT, base, read_checkpoint(note).size, _sha256(folder / LEDGER))
        _write(folder / CHECKPOINT, note.encode())
        _write(folder / MANIFEST, json.dumps(asdict(manifest), indent=2).encode() + b"\n")
    return manifest


def restore(backup: Path, data: Path, checkpoint: str | None = None) -> Manifest:
    """Makes a base from a backup, once all of it is verified, its stores included.

    Args:
        backup: the backup's folder.
        data: the base's: not there yet.
        checkpoint: one that was kept elsewhere: an older backup is refused.

    Raises:
        BackupRefused: it is not what it says, or older than the checkpoint; the error says what is wrong.
        Conflict: there is something of the base's name.
        NotFound: there is no backup.
        LedgerUnavailable, StoreUnavailable: the folder cannot be written.
    """
    manifest = Manifest.read(backup)
    if not (backup / LEDGER).is_file() or _sha256(backup / LEDGER) != manifest.sha256:
        raise BackupRefused(
            "the ledger is not the one that was backed up", remedy="take another backup", where=str(backup / LEDGER)
        )
    note = _checkpoint(backup, manifest)
    with _making(data) as folder:
        (folder / SIGNING_KEY).parent.mkdir(mode=0o700)
        for name in (LEDGER, SIGNING_KEY):
            _copy(backup / name, folder / name)
        if (backup / TOMBSTONE_KEY).is_file():
            _copy(backup / TOMBSTONE_KEY, folder / TOMBSTONE_KEY)
        _require_sound(folder, checkpoint)
        _require_state(folder, note)
        Base.open(folder, accept_clock=True).close()
    return manifest


def _checkpoint(backup: Path, manifest: Manifest) -> str:
    """The checkpoint in a backup, of the state that the manifest says. Raises `BackupRefused`."""
    path = backup / CHECKPOINT
    try:
        note = path.read_text(encoding="utf-8")
        read = read_checkpoint(note)
    except (OSError, ValueError, CertificateError) as error:
        raise BackupRefused("the checkpoint cannot be read", remedy="take another backup", where=str(path)) from error
    if (read.origin, read.size) != (f"{ORIGIN}{manifest.base}", manifest.events):
        raise BackupRefused(
            f"the checkpoint is of another state than {MANIFEST} says", remedy="take another backup", where=str(path)
        )
    return note


def _require_state(folder: Path, note: str) -> None:
    """A sound ledger at the state of a checkpoint gives the very same one. Raises `BackupRefused`."""
    with closing(SqliteLedger.open(folder / LEDGER, SystemClock())) as ledger:
        if LogReader(ledger, _key(folder / SIGNING_KEY)).checkpoint() != note:
            raise BackupRefused("the checkpoint is not of the ledger beside it", remedy="take another backup")


def _require_sound(folder: Path, checkpoint: str | None) -> None:
    """Audits a ledger that has no stores yet. Raises `BackupRefused`."""
    with DirectoryLock(folder / "lock"):  # so that stores are not missed
        found = audit(folder, checkpoint=checkpoint)
    if not found.sound:
        told = "; ".join(f"{fault.place}: {fault.what}" for fault in found.faults[:_NAMED])
        raise BackupRefused(
            f"the backup has {found.total} faults: {told}",
            remedy="take another backup; to lose what came after an older one, leave the checkpoint out",
        )


@contextmanager
def _making(folder: Path) -> Iterator[Path]:
    """A folder that gets its name once it is filled and synced; gone if that fails."""
    if folder.exists():
        raise Conflict(f"{folder} is there already", remedy="name a folder that is not there yet", where=str(folder))
    partial = folder.with_name(folder.name + ".partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True, mode=0o700)
        yield partial
        _sync(partial)
        partial.rename(folder)
    except OSError as error:
        raise LedgerUnavailable(
            f"{partial} cannot be made: {error.strerror}", remedy="check the disk and who may write there"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _copy_ledger(source: Path, target: Path) -> None:
    """The last committed state, in a file of its own (SQLite, VACUUM INTO)."""
    refuse_old_sqlite()
    try:
        with closing(connect_reader(source, patience=_PATIENCE)) as connection:
            connection.execute("PRAGMA query_only = OFF")  # of this connection, which writes to the copy alone
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise unavailable(error) from error
    target.chmod(OWNER_ONLY)


def _key(path: Path) -> SigningKey:
    try:
        return SigningKey.load(path)
    except CertificateError as error:
        raise LedgerUnavailable(f"the signing key cannot be read: {error.message}", remedy=error.remedy) from error


def _require_key(ledger: SqliteLedger, key: SigningKey) -> None:
    """A backup whose key is not its ledger's could not be restored. Raises `Conflict`."""
    if ledger.signing_key() not in (None, key.public.multibase):
        raise Conflict(
            "the key beside the ledger is not the one that it names: it was changed meanwhile, or a kill came between",
            remedy="open the base once, with `muniment serve`, and take the backup again",
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _copy(source: Path, target: Path) -> None:
    if not source.is_file():
        raise BackupRefused("the file is missing", remedy="take another backup", where=str(source))
    shutil.copyfile(source, target)
    target.chmod(OWNER_ONLY)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(OWNER_ONLY)


def _sync(folder: Path) -> None:
    """Has every file and folder in it on the disk."""
    for path in (*folder.rglob("*"), folder, folder.parent):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
