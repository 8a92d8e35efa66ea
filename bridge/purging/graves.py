"""The tombstones of a base, and the key that they are made with.

Rules
-----
* The key is a file that its owner alone can read, made with the base. The ledger knows a check of it: with another key,
  or none, what was purged could be written again, so a base whose key is gone is not opened.
* Whoever has key and ledger can test whether something was purged. A backup has both; what is given to others has
  neither.
* What stands in the ledger is held in memory. It is read anew when a group of writes is given up.

Example
-------
::

    graves = Graves.of(Path("data"), ledger)
    graves.stones.cover(statement)
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from secrets import token_bytes
from typing import TYPE_CHECKING, Final, Self

from bridge.ledger.connection import OWNER_ONLY, connect_reader
from bridge.ledger.session import unavailable
from kernel.errors import BackupRefused, DamagedBase, LedgerUnavailable, NotFound
from kernel.purging.tombstones import KEY_SIZE, TombstoneKind, Tombstones

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    from bridge.ledger.sqlite import SqliteLedger
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.purging.tombstones import Stone

TOMBSTONE_KEY: Final = "keys/tombstone.key"
_PATIENCE: Final = 60.0

_RESTORE: Final = "put it back from the base, or from the backup, that has it"


class Graves:
    """Holds them; `of` makes one."""

    def __init__(self, directory: Path | None, ledger: Ledger, key: bytes) -> None:
        self.directory = directory
        self.stones = Tombstones(key)
        self._ledger = ledger
        self.read_anew()

    @classmethod
    def of(cls, directory: Path | None, ledger: SqliteLedger) -> Self:
        """Those of a base, whose key is made if there was none.

        Args:
            directory: in which the base lies; None for memory.
            ledger: the base's.

        Raises:
            DamagedBase: the key is gone, or another, or can be read by others than its owner.
            LedgerUnavailable: it cannot be read or written.
        """
        path = directory and directory / TOMBSTONE_KEY
        try:
            key = _loaded(path) if path is not None and path.exists() else None
            known = ledger.tombstone_check()
            if known is None and key is None:
                key = token_bytes(KEY_SIZE)
                if path is not None:
                    _save(path, key)
        except OSError as error:
            raise LedgerUnavailable(
                f"the key of the tombstones cannot be read or written: {error.strerror}",
                remedy="check the disk and who may write there",
                where=str(path),
            ) from error
        if key is None:
            raise DamagedBase("the key of the tombstones is gone", remedy=_RESTORE, where=str(path))
        if known is None:
            ledger.keep_tombstone_check(Tombstones(key).check)
        elif known != Tombstones(key).check:
            raise DamagedBase("this is not the key of the tombstones", remedy=_RESTORE, where=str(path))
        return cls(directory, ledger, key)

    def stand(self, view: LedgerView) -> None:
        """From now on those of the view stand."""
        self.stones.stand((TombstoneKind(kind), stone) for _, kind, stone in view.tombstones())

    def read_anew(self) -> None:
        """From now on those stand that the ledger has."""
        with self._ledger.reading() as view:
            self.stand(view)


def key_fault(directory: Path, known: bytes | None) -> str | None:
    """What is wrong with the key in the directory of a base, by what its ledger knows of it; None: nothing.

    Raises:
        DamagedBase: it is damaged, or can be read by others than its owner.
        OSError: it cannot be read.
    """
    path = directory / TOMBSTONE_KEY
    if known is None:
        return None
    if not path.exists():
        return "is gone"
    return None if Tombstones(_loaded(path)).check == known else "is not the key of the tombstones"


def stones_of(folder: Path, base: UUID) -> list[Stone]:
    """The tombstones in the folder of a base, or of a backup, which is only read.

    Raises:
        NotFound: there is no ledger.
        BackupRefused: it is that of another base.
        LedgerUnavailable: it cannot be read.
    """
    path = folder / "ledger.sqlite"
    if not path.is_file():
        raise NotFound(f"there is no ledger in {folder}", remedy="name a base, or a backup that stands alone")
    try:
        with closing(connect_reader(path, patience=_PATIENCE)) as connection:
            (owner,) = connection.execute("SELECT value FROM meta WHERE name = 'base'").fetchone()
            rows: list[tuple[str, bytes]] = connection.execute("SELECT kind, hash FROM tombstones").fetchall()
    except sqlite3.Error as error:
        raise unavailable(error) from error
    if owner != base.bytes:
        raise BackupRefused(
            "what was purged is another base's", remedy="name a later state of this one", where=str(path)
        )
    return [(TombstoneKind(kind), stone) for kind, stone in rows]


def _loaded(path: Path) -> bytes:
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        key = file.read(KEY_SIZE + 1)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise DamagedBase(
            f"mode {stat.S_IMODE(mode):04o} opens the key of the tombstones to others than its owner",
            remedy="run `chmod 600` on it, and consider whether somebody has read it",
            where=str(path),
        )
    if len(key) != KEY_SIZE:
        raise DamagedBase("the key of the tombstones is damaged", remedy=_RESTORE, where=str(path))
    return key


def _save(path: Path, key: bytes) -> None:
    """Writes the key under another name first: a file of that name is whole. Durable when it returns."""
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY), "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
