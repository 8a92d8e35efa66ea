"""What the routes work with: the base, the settings, and threads for what would hold up the event loop.

Rules
-----
* The base belongs to whoever opened it: it is neither opened nor closed here.
* Two bounded pools, so that slow queries keep nobody from reading a certificate, and nothing from the health check.
* A request's id goes along into the thread.

Example
-------
::

    answer = await service.query(lambda: service.base.reader.query(request, moment))
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self, TypeVar

from bridge.certificate_reading import CertificateReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from api.settings import Settings
    from bridge.base import Base

T = TypeVar("T")

_READ_THREADS: Final = 4


@dataclass(frozen=True, slots=True)
class Service:
    """One base, served.

    Args:
        base: open, and kept open while it is served.
        settings: how it is served.
    """

    base: Base
    settings: Settings
    certificates: CertificateReader = field(init=False, repr=False)
    _queries: ThreadPoolExecutor = field(init=False, repr=False)
    _reads: ThreadPoolExecutor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "certificates", CertificateReader(self.base.ledger))
        object.__setattr__(self, "_queries", ThreadPoolExecutor(self.settings.query_threads, "query"))
        object.__setattr__(self, "_reads", ThreadPoolExecutor(_READ_THREADS, "read"))

    @classmethod
    def of(cls, request: Request) -> Self:
        """The service that a request came to."""
        service: Self = request.app.state.service
        return service

    async def query(self, work: Callable[[], T]) -> T:
        """Does what may take as long as a query can."""
        return await _in(self._queries, work)

    async def read(self, work: Callable[[], T]) -> T:
        """Does what reads or parses, and takes no longer than what it is given."""
        return await _in(self._reads, work)

    def close(self) -> None:
        """Waits for what is being done; what has not begun is dropped."""
        for pool in (self._queries, self._reads):
            pool.shutdown(cancel_futures=True)


async def _in(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(pool, copy_context().run, work)
