"""An answer on its way: taken from a worker as fast as it comes, given to a client as fast as that takes it.

Rules
-----
* A worker never waits for a client: what the client has not taken yet waits here, a little of it in memory, the rest in
  a file without a name. So does what nobody may have before its end.
* An answer that fails is failed for its reader at once, whatever is left of it.

Example
-------
::

    spool = Spool()
    spool.put(b"some")
    spool.finish()
    [chunk async for chunk in spool]  # [b"some"]
"""

from __future__ import annotations

import asyncio
from collections import deque
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

IN_MEMORY: Final = 2**20
"""Bytes of an answer that wait in memory."""

_READ: Final = 256 * 2**10


class Spool:
    """Bytes in the order in which they came; for one event loop, one writer and one reader.

    Attributes:
        size: how many came in all.
    """

    def __init__(self) -> None:
        self.size = 0
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._file: IO[bytes] | None = None
        self._written = self._read = 0
        self._ended = self._closed = False
        self._error: BaseException | None = None
        self._changed = asyncio.Event()

    def put(self, data: bytes) -> None:
        """Takes the next bytes; once it is closed, for nobody."""
        if self._closed or not data:
            return
        self.size += len(data)
        if self._written > self._read or self._size + len(data) > IN_MEMORY:
            self._to_file(data)
        else:
            self._chunks.append(data)
            self._size += len(data)
        self._changed.set()

    def finish(self, error: BaseException | None = None) -> None:
        """Says that there is no more, or why there will not be."""
        self._ended = True
        self._error = error
        self._changed.set()

    def close(self) -> None:
        """Drops what is left, and what is still to come."""
        self._closed = True
        self._chunks.clear()
        if self._file is not None:
            self._file.close()
            self._file = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """What was put in, to its end. Raises what it was finished with."""
        while True:
            if self._error is not None:
                raise self._error
            data = self._taken()
            if data:
                yield data
            elif self._ended:
                return
            else:
                self._changed.clear()
                await self._changed.wait()

    def _taken(self) -> bytes:
        if self._chunks:
            data = self._chunks.popleft()
            self._size -= len(data)
            return data
        if self._file is None or self._written == self._read:
            return b""
        self._file.seek(self._read)
        data = self._file.read(_READ)
        self._read += len(data)
        return data

    def _to_file(self, data: bytes) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - closed by `close`, or with the spool
        self._file.seek(self._written)
        self._written += self._file.write(data)
