"""A file that tells how far it is read.

Rules
-----
* It begins past a byte order mark, which no format that is read here takes for content.
* It is told at least at the end, and every so many bytes before.

Example
-------
::

    with Counted(path, print) as stream:
        document = stream.read()
"""

from __future__ import annotations

from io import BufferedReader, FileIO
from os import fstat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOLD_EVERY: Final = 2**18
"""Bytes between two words about progress."""

_BOM: Final = b"\xef\xbb\xbf"


class Counted(BufferedReader):
    """A file, past its byte order mark, that tells now and then how far it is read.

    Args:
        path: of the file.
        tell: told how many bytes are read.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path, tell: Callable[[int], None]) -> None:
        super().__init__(FileIO(path))
        self.size = fstat(self.fileno()).st_size
        self._tell = tell
        self._done = self._told = 0
        if self.peek(len(_BOM)).startswith(_BOM):
            self.read(len(_BOM))

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to so many bytes; fewer only at the end."""
        data = super().read(size)
        self._count(len(data))
        return data

    def readlines(self, hint: int = -1, /) -> list[bytes]:
        """Whole lines of about so many bytes together; none at the end."""
        lines = super().readlines(hint)
        self._count(sum(map(len, lines)))
        return lines

    def _count(self, size: int) -> None:
        self._done += size
        if self._done - self._told >= TOLD_EVERY or not size:
            self._told = self._done
            self._tell(self._done)
