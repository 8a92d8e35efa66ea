"""The lock by which one process holds a base's directory.

Example
-------
::

    with DirectoryLock(Path("data/lock")):
        ...
"""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING

from kernel.errors import BaseInUse

if TYPE_CHECKING:
    from pathlib import Path


class DirectoryLock:
    """Holds a directory for this process while the context lasts. Raises `BaseInUse` when another holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        self._file = self._path.open("a")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise BaseInUse(
                f"{self._path.parent} is in use by another process", remedy="talk to that one over HTTP, or stop it"
            ) from error

    def __exit__(self, *_: object) -> None:
        self._file.close()
