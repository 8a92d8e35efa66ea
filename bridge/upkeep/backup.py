"""A backup of a base: its ledger at one state, its key, and a checkpoint that says which state.

Rules
-----
* A backup is made beside a base that is served: SQLite copies the ledger as of its last commit, and writes go on.
  Stores are left out: they are made anew from the ledger.
* What was deleted from the ledger is not in the copy, for it is written anew and not page by page.
* The folder is whole or not there: it is filled under another name, synced, and renamed.
* A backup since another one has what changed since that alone (`bridge.upkeep.increments`); it names the other by its
  folder, beside its own, and by the SHA-256 of what that says of itself. So a link of such a chain that is missing, was
  changed, or was made anew is known before anything is restored.
* A key that lies outside of the base is in no backup, and is given to restore it.
* A backup is restored only if all of it can be verified: the SHA-256 of the file, then everything that `muniment audit`
  works out from a ledger, held against the checkpoint in the backup, and against a newer one if there is one: a backup
  that is older than what is known to have been is refused.
* A restored base is made beside and renamed, too; a base that is there is never written over.
* What was purged after a backup was taken is in it still. Where a later state of the base is there to say so, by its
  tombstones, it is purged again before the restored base has its name.

Example
-------
::

    back_up(Path("data"), Path("backups/monday"))
    back_up(Path("data"), Path("backups/tuesday"), since=Path("backups/monday"))
    restore(Path("backups/tuesday"), Path("restored"))

The folder holds `ledger.sqlite`, `keys/signing.key`, `keys/tombstone.key`, `checkpoint` and `backup.json`, readable by
their owner alone.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Self

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.host import SystemClock
from bridge.ledger.connection import OWNER_ONLY, connect_reader, refuse_old_sqlite
from bridge.ledger.seal import Seal
from bridge.ledger.session import unavailable
from bridge.ledger.sqlite import SqliteLedger
from bridge.lock import DirectoryLock
from bridge.purging.graves import TOMBSTONE_KEY, stones_of
from bridge.signing.keys import SIGNING_KEY, KeyPlace
from bridge.signing.log import LogReader
from bridge.upkeep.increments import apply_increment, write_increment
from certificates.checkpoints import ORIGIN, read_checkpoint
from certificates.errors import CertificateError
from kernel.access import Principal, Role
from kernel.counting import counted
from kernel.errors import BackupRefused, Conflict, InvalidParameter, LedgerUnavailable, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.signing.keys import GivenKey
    from certificates.keys import SigningKey

LEDGER: Final = "ledger.sqlite"
CHECKPOINT: Final = "checkpoint"
MANIFEST: Final = "backup.json"
CHANGES: Final = "changes.sqlite"
FORMAT, LINKED = 1, 2
"""Of a backup that stands alone, and of one since another."""
_PATIENCE: Final = 60.0
_NAMED: Final = 3
"""Faults that a refusal names."""


@dataclass(frozen=True, slots=True)
class Link:
    """The backup that one goes on from.

    Args:
        folder: its name, beside the other.
        sha256: of its manifest, in hexadecimal.
    """

    folder: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself.

    Args:
        format: of the folder.
        base: the base's id.
        events: in the log.
        sha256: of the file of the ledger, or of what changed, in hexadecimal.
        since: the backup that it goes on from; None for one that stands alone.
    """

    format: int
    base: str
    events: int
    sha256: str
    since: Link | None = None

    @property
    def file(self) -> str:
        """The file that it has the SHA-256 of."""
        return LEDGER if self.since is None else CHANGES

    @property
    def text(self) -> bytes:
        """The manifest's file."""
        members = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(members, indent=2).encode() + b"\n"

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The manifest in a folder. Raises `BackupRefused`, or `NotFound` where there is none."""
        path = folder / MANIFEST
        if not path.is_file():
            raise NotFound(f"there is no backup in {folder}", remedy="name the folder that `muniment backup` made")
        try:
            members = json.loads(path.read_bytes())
            since = members.pop("since", None)
            manifest = cls(**members, since=None if since is None else Link(**since))
        except (ValueError, TypeError, AttributeError) as error:
            raise BackupRefused(f"{MANIFEST} cannot be read", remedy="take another backup", where=str(path)) from error
        if manifest.format != (FORMAT if since is None else LINKED):
            raise BackupRefused(
                f"the backup has format {manifest.format}, and this Muniment reads {FORMAT} and {LINKED}",
                remedy="restore it with the release that made it",
                where=str(path),
            )
        return manifest


def back_up(data: Path, into: Path, since: Path | None = None, given: GivenKey | None = None) -> Manifest:
    """Makes a backup of a base, which may be served meanwhile.

    Args:
        data: the base's folder.
        into: the backup's: not there yet.
        since: the folder of an earlier backup, beside it: what changed since that is all that is kept.
        given: the key of the base, or its file, if it is not in its folder.

    Raises:
        BackupRefused: the earlier backup is not whole, of another base, or of another course of this one.
        Conflict: there is something of that name; the key was changed meanwhile.
        InvalidParameter: the earlier backup does not lie beside it.
        NotFound: there is no base, or no earlier backup.
        LedgerUnavailable: the ledger cannot be read, or the folder not written.
    """
    if not (data / LEDGER).is_file():
        raise NotFound(f"there is no base in {data}", remedy="name the folder in which a base lies")
    if since is not None and since.resolve().parent != into.resolve().parent:
        raise InvalidParameter(
            f"{since} does not lie beside {into}", remedy="keep the backups of a chain in one folder", where="--since"
        )
    links = None if since is None else _chain(since)
    with _making(into) as folder:
        _copy_ledger(data / LEDGER, folder / LEDGER)
        key = _copy_keys(data, folder, given)
        with closing(SqliteLedger.open(folder / LEDGER, SystemClock())) as ledger:
            _require_key(ledger, key)
            log = LogReader(ledger, key)
            note, base = log.checkpoint(), str(ledger.base_id())
            if links is not None:
                _require_goes_on(log, note, *links[-1])
        Seal(folder / LEDGER).path.unlink()
        if links is None:
            manifest = Manifest(FORMAT, base, read_checkpoint(note).size, _sha256(folder / LEDGER))
        else:
            _keep_changes(folder, links)
            link = Link(links[-1][0].name, sha256(links[-1][1].text).hexdigest())
            manifest = Manifest(LINKED, base, read_checkpoint(note).size, _sha256(folder / CHANGES), link)
        _write(folder / CHECKPOINT, note.encode())
        _write(folder / MANIFEST, manifest.text)
    return manifest


def restore(
    backup: Path,
    data: Path,
    checkpoint: str | None = None,
    given: GivenKey | None = None,
    *,
    purged: Path | None = None,
) -> Manifest:
    """Makes a base from a backup, once all of it is verified, its stores included.

    Args:
        backup: the backup's folder; those that it goes on from lie beside it.
        data: the base's: not there yet.
        checkpoint: one that was kept elsewhere: an older backup is refused.
        given: the key of the base, or its file, if it is not in the backup.
        purged: the folder of the same base in a later state, or of a later backup that stands alone: what was purged
            since is purged again.

    Raises:
        BackupRefused: it is not what it says, or older than the checkpoint; the error says what is wrong.
        Conflict: there is something of the base's name.
        NotFound: there is no backup.
        LedgerUnavailable, StoreUnavailable: the folder cannot be written.
    """
    links = _chain(backup)
    folder_of_last, manifest = links[-1]
    note = _checkpoint(folder_of_last, manifest)
    with _making(data) as folder:
        key = _copy_keys(backup, folder, given)
        _put_together(links, folder / LEDGER)
        _require_sound(folder, checkpoint, None if given is None else key)
        _require_state(folder, note, key)
        if purged is not None and not (folder / TOMBSTONE_KEY).exists():
            _copy(purged / TOMBSTONE_KEY, folder / TOMBSTONE_KEY)
        with Base.open(folder, accept_clock=True, key=given) as base:
            if purged is not None:
                _purge_again(base, purged)
    return manifest


def _purge_again(base: Base, later: Path) -> None:
    """Purges what a later state of the base has tombstones for."""
    with suppress(Conflict):  # nothing was purged since
        base.purges.again(stones_of(later, base.ledger.base_id()), Principal("restore", Role.ADMINISTRATOR)).result()
        base.purges.settled()


_Links = list[tuple[Path, Manifest]]


def _chain(backup: Path) -> _Links:
    """The backups that one goes on from, the one that stands alone first, and it; each is as it was made.

    Raises:
        BackupRefused: one is missing or not as it was made; the error names it.
        NotFound: there is no backup.
    """
    links: _Links = []
    folder, manifest = backup, Manifest.read(backup)
    while True:
        _require_file(folder, manifest)
        links.insert(0, (folder, manifest))
        if manifest.since is None:
            return links
        before = backup.resolve().parent / manifest.since.folder
        folder, manifest = before, _before(before, folder.name, manifest)


def _before(before: Path, name: str, manifest: Manifest) -> Manifest:
    """What the backup says of itself that another goes on from, if it is the one."""
    if not (before / MANIFEST).is_file():
        raise BackupRefused(
            f"{name} goes on from {before.name}, which is not beside it",
            remedy="put it there; without it nothing of what came after can be restored",
            where=str(before),
        )
    found = Manifest.read(before)
    said = sha256((before / MANIFEST).read_bytes()).hexdigest()
    if manifest.since is None or said != manifest.since.sha256 or found.base != manifest.base:
        raise BackupRefused(
            f"{before.name} is not the backup that {name} goes on from: it was changed, made anew, or put back",
            remedy="put that one there; or take a backup that stands alone",
            where=str(before / MANIFEST),
        )
    if found.events > manifest.events:
        raise BackupRefused(
            f"{name} has {counted(manifest.events, 'event')}, and {before.name}, which it goes on from, {found.events}",
            remedy="take a backup that stands alone",
            where=name,
        )
    return found


def _require_file(folder: Path, manifest: Manifest) -> None:
    path = folder / manifest.file
    if not path.is_file() or _sha256(path) != manifest.sha256:
        raise BackupRefused(
            f"{manifest.file} is not the one that was backed up", remedy="take another backup", where=str(path)
        )


def _require_goes_on(log: LogReader, note: str, before: Path, manifest: Manifest) -> None:
    """A base that was put back, or whose log was rewritten, does not go on from a backup. Raises `BackupRefused`."""
    kept, now = read_checkpoint(_checkpoint(before, manifest)), read_checkpoint(note)
    if kept.origin != now.origin:
        raise BackupRefused(f"{before} is of another base", remedy="name a backup of this one", where="--since")
    same = kept.size <= now.size and read_checkpoint(log.consistency(0, kept.size).checkpoint).root == kept.root
    if not same:
        raise BackupRefused(
            f"the log does not begin with the {counted(kept.size, 'event')} of {before}: the base was put back since",
            remedy="take a backup that stands alone, and find out why",
            where="--since",
        )


def _keep_changes(folder: Path, links: _Links) -> None:
    """In the place of the ledger, what it has that the backup before has not."""
    with TemporaryDirectory(dir=folder.parent, prefix=".before-") as scratch:
        before = Path(scratch) / LEDGER
        _put_together(links, before)
        write_increment(folder / LEDGER, since=before, into=folder / CHANGES)
    (folder / CHANGES).chmod(OWNER_ONLY)
    (folder / LEDGER).unlink()


def _put_together(links: _Links, into: Path) -> None:
    """The ledger that a chain of backups leads to."""
    _copy(links[0][0] / LEDGER, into)
    for folder, _ in links[1:]:
        apply_increment(into, folder / CHANGES)


def _copy_keys(source: Path, folder: Path, given: GivenKey | None) -> SigningKey:
    """Copies the keys that lie in a base, or a backup; answers the one that signs."""
    (folder / SIGNING_KEY).parent.mkdir(mode=0o700)
    if (source / TOMBSTONE_KEY).is_file():
        _copy(source / TOMBSTONE_KEY, folder / TOMBSTONE_KEY)
    key = _key(KeyPlace.of(source, given))
    if given is None:
        key.save(folder / SIGNING_KEY)
    return key


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


def _require_state(folder: Path, note: str, key: SigningKey) -> None:
    """A sound ledger at the state of a checkpoint gives the very same one. Raises `BackupRefused`."""
    with closing(SqliteLedger.open(folder / LEDGER, SystemClock())) as ledger:
        if LogReader(ledger, key).checkpoint() != note:
            raise BackupRefused("the checkpoint is not of the ledger beside it", remedy="take another backup")


def _require_sound(folder: Path, checkpoint: str | None, given: SigningKey | None) -> None:
    """Audits a ledger that has no stores yet. Raises `BackupRefused`."""
    with DirectoryLock(folder / "lock"):  # so that stores are not missed
        found = audit(folder, None if given is None else given.public, checkpoint)
    if not found.sound:
        told = "; ".join(f"{fault.place}: {fault.what}" for fault in found.faults[:_NAMED])
        raise BackupRefused(
            f"the backup has {counted(found.total, 'fault')}: {told}",
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


def _key(place: KeyPlace) -> SigningKey:
    try:
        return place.load()
    except CertificateError as error:
        raise BackupRefused(f"the signing key cannot be read: {error.message}", remedy=error.remedy) from error


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
