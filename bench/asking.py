"""Clients that ask a server over HTTP/1.1, many at a time, at little cost: one thread, and a connection each.

Example
-------
::

    client = Client(port, {"Authorization": "Bearer …"})
    answer = await client.ask("GET", "/health")
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Answered(NamedTuple):
    """A status, headers by their names in small letters, and a body."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Client:
    """One connection, which is kept.

    Args:
        port: of a server on this machine.
        headers: sent with every request.
    """

    port: int
    headers: Mapping[str, str] = field(default_factory=dict)
    _reader: asyncio.StreamReader | None = None
    _writer: asyncio.StreamWriter | None = None

    async def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answered:
        """Asks, and reads the answer whole. Raises `OSError`, or `EOFError` for one that is broken off."""
        if self._writer is None or self._reader is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
        head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
        head += [f"{name}: {value}" for name, value in {**self.headers, **(headers or {})}.items()]
        self._writer.write("\r\n".join([*head, "", ""]).encode() + body)
        try:
            return await self._answer(self._reader)
        except BaseException:
            self.close()
            raise

    async def _answer(self, reader: asyncio.StreamReader) -> Answered:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines[1:] if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        if headers.get("transfer-encoding") == "chunked":
            body = await _chunks(reader)
        else:
            body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return Answered(int(lines[0].split()[1]), headers, body)

    def close(self) -> None:
        """Closes the connection; the next request opens another."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readexactly(2)
    return b"".join(parts)
