"""Answers that are sent as they are made.

Rules
-----
* Should making fail on the way, the connection breaks with the chunked coding unfinished: no client takes it for whole.
* A client that takes nothing for `PATIENCE` seconds is given up.
* Whoever is no longer let in gets no more (`api.callers.welcome`).
* One thread makes the chunks of all of them, turn by turn, and does others' while a client takes its time.

Example
-------
::

    return await streamed(service, export, headers)
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final, Protocol

from starlette.responses import StreamingResponse

from api.callers.welcome import require_welcome
from kernel.errors import Unauthenticated

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Message, Receive, Scope, Send

    from api.service import Service

log = logging.getLogger("muniment.http")

PATIENCE: Final = 60.0
"""Seconds in which a client has to take what was sent."""


class Source(Protocol):
    """What is sent."""

    def take(self) -> bytes:
        """The next chunk; empty at the end."""
        ...

    def close(self) -> None:
        """Gives back what it holds; may be called again."""
        ...


async def streamed(service: Service, source: Source, headers: dict[str, str]) -> StreamingResponse:
    """The answer; what goes wrong before its first chunk is raised, and leaves the source closed."""
    try:
        first = await service.chunk(source.take)
    except BaseException:
        source.close()
        raise
    return _Stream(service, source, first, headers)


class _Stream(StreamingResponse):
    """A source as it is read; it does not wait for ever for its client, and is closed whatever becomes of it."""

    def __init__(self, service: Service, source: Source, first: bytes, headers: dict[str, str]) -> None:
        super().__init__(_body(service, source, first), 200, headers)
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            require_welcome(scope)
            async with asyncio.timeout(PATIENCE):
                await send(message)

        try:
            await super().__call__(scope, receive, sending)
        except Unauthenticated as error:
            log.warning("an answer was broken off: %s", error)
        finally:
            self._source.close()


async def _body(service: Service, source: Source, first: bytes) -> AsyncIterator[bytes]:
    chunk = first
    while chunk:
        yield chunk
        chunk = await service.chunk(source.take)
