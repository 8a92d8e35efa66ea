"""The seal of a ledger that was closed: what its file was, so that one that was damaged meanwhile is not opened.

Rules
-----
* Whoever is the last to close a ledger writes the SHA-256 of its file beside it; whoever opens it next compares, and
  breaks the seal before anything is written. Both hold a lock on the seal's file meanwhile.
* A ledger that is open somewhere, or was when its process was killed, has a write-ahead log beside it: its seal says
  nothing. So a base that was killed is opened without; an audit tells what is wrong with it.
* SQLite has no checksums of its own: without a seal a flipped bit in a fact is served as what was written. It is made
  against disks and slips, not against hands: whoever changes the file can write a seal for it. Those are found by the
  audit, from signatures.

Measured: 0.7 s a gigabyte, on opening and on closing.

Example
-------
::

    with Seal(path).broken():     # raises DamagedBase where the file is another than was closed
        connection = connect(path)
    ...
    connection.close()
    Seal(path).put()
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from hashlib import file_digest
from typing import IO, TYPE_CHECKING, Final

from kernel.errors import DamagedBase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX: Final = ".seal"
_OWNER_ONLY: Final = 0o600
_LONGEST: Final = 200


class Seal:
    """The seal of a ledger's file.

    Args:
        path: of the ledger.
    """

    def __init__(self, path: Path) -> None:
        self._ledger = path
        self.path = path.with_suffix(SUFFIX)

    @contextmanager
    def broken(self) -> Iterator[None]:
        """Breaks the seal, if the file is what it says, and keeps others from opening and sealing within.

        Raises:
            DamagedBase: it is not.
            OSError: the folder cannot be written.
        """
        with self._held() as file:
            what = self._differs(file)
            if what is not None:
                raise DamagedBase(
                    f"the ledger is not as it was closed: {what}",
                    remedy=f"restore it from a backup; if `muniment audit` finds nothing else, remove {self.path.name}",
                    where=str(self._ledger),
                )
            file.truncate(0)
            yield

    def put(self) -> None:
        """Seals the file, unless it is open elsewhere. Raises `OSError`."""
        with self._held() as file:
            if self._ledger.exists() and not self._is_open:
                file.truncate(0)
                file.seek(0)
                file.write(_digest(self._ledger))
                file.flush()
                os.fsync(file.fileno())

    def fault(self) -> str | None:
        """What is wrong with the file, as far as its seal says so; looks only. Raises `OSError`."""
        if not self.path.exists():
            return None
        with self.path.open("rb") as file:
            return self._differs(file)

    @property
    def _is_open(self) -> bool:
        return self._ledger.with_name(f"{self._ledger.name}-wal").exists()

    def _differs(self, file: IO[bytes]) -> str | None:
        file.seek(0)
        sealed = file.read(_LONGEST)
        if not sealed or self._is_open or not self._ledger.exists() or sealed == _digest(self._ledger):
            return None
        return f"its bytes are not those that {self.path.name} was made of"

    @contextmanager
    def _held(self) -> Iterator[IO[bytes]]:
        with os.fdopen(os.open(self.path, os.O_CREAT | os.O_RDWR, _OWNER_ONLY), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return f"sha256 {file_digest(file, 'sha256').hexdigest()}\n".encode()
