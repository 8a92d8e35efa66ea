"""What the routes work with: the base, the settings, and threads for what would hold up the event loop.

Rules
-----
* The base belongs to whoever opened it: it is neither opened nor closed here.
* Bounded pools, so that slow queries keep nobody from reading a certificate, and nothing from the health check.
* Exports have two threads of their own. One makes all chunks, in the order in which they are asked for, so each export
  gets its next one in turn: several that make chunks at once wait for the interpreter at every row of the ledger, and
  take longer together than one after the other. The other signs, for a signed export is made in one piece.
* A request's id goes along into the thread. An error comes out of it without the frames that it passed: what a query
  holds of a store belongs to its thread, and may not be let go of in another.
* Queries of callers run in processes of their own, which are ended with the service (`replicas`), and so does what
  updates look for.
* Closing waits for what is being done in threads, but not for ever: a thread cannot be stopped from outside.

Example
-------
::

    page = await service.read(lambda: service.base.reader.facts(principal, wanted, limit=100))
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from api.callers.oidc import Issuer
from api.callers.outbound import Outbound, listed_url
from api.http.waiting import answer_of
from bridge.replicas.pool import ReplicaPool
from bridge.review.branching import BranchReader
from bridge.review.certificates import CertificateReader
from bridge.review.standing import StandingReader
from bridge.signing.log import LogReader
from kernel.access import Role
from kernel.errors import CallerError
from kernel.writing.branches import Branches

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from api.callers.manifest import Manifest
    from api.settings import Settings
    from bridge.base import Base
    from bridge.replicas.limits import Limits
    from kernel.access import Principal

T = TypeVar("T")

_READ_THREADS: Final = 4

CLOSING: Final = 5.0
"""Seconds that closing waits for what is still being done."""

log = logging.getLogger("muniment.http")


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
    standing: StandingReader = field(init=False, repr=False)
    replicas: ReplicaPool = field(init=False, repr=False)
    log: LogReader = field(init=False, repr=False)
    outbound: Outbound = field(init=False, repr=False)
    branches: Branches = field(init=False, repr=False)
    branch_reader: BranchReader = field(init=False, repr=False)
    anonymous: Principal | None = field(init=False, repr=False)
    issuer: Issuer | None = field(init=False, repr=False)
    manifest: Manifest | None = field(init=False, repr=False)
    limits: Mapping[Role, Limits] = field(init=False, repr=False)
    _updates: ThreadPoolExecutor = field(init=False, repr=False)
    _reads: ThreadPoolExecutor = field(init=False, repr=False)
    _chunks: ThreadPoolExecutor = field(init=False, repr=False)
    _signing: ThreadPoolExecutor = field(init=False, repr=False)
    _running: set[Future[Any]] = field(init=False, repr=False, default_factory=set)

    def __post_init__(self) -> None:
        object.__setattr__(self, "certificates", CertificateReader(self.base.ledger))
        object.__setattr__(self, "standing", StandingReader(self.base.ledger, self.base.clashing))
        replicas = ReplicaPool(self.base.stores, self.base.snapshots, self.settings.pool_size)
        object.__setattr__(self, "replicas", replicas)
        size = self.settings.pool_size
        # Whoever is here has a worker: no thread is waited for.
        object.__setattr__(self, "_updates", ThreadPoolExecutor(size.workers + size.spares, "update"))
        object.__setattr__(self, "log", LogReader(self.base.ledger, lambda: self.base.key))
        listed = tuple(map(listed_url, self.settings.outbound))
        object.__setattr__(self, "outbound", Outbound(listed, self.settings.body_limit))
        branches = Branches(self.settings.branch_bounds, self.base.host)
        self.base.purges.listen(branches.forget)
        object.__setattr__(self, "branches", branches)
        base = self.base
        object.__setattr__(self, "branch_reader", BranchReader(base.ledger, base.reader, base.stores.feed, base.host))
        object.__setattr__(self, "anonymous", self.settings.anonymous)
        limits = {role: self.settings.limits_of(role) for role in Role}
        object.__setattr__(self, "limits", limits)
        object.__setattr__(self, "manifest", self.settings.read_manifest())
        oidc = self.settings.oidc
        object.__setattr__(self, "issuer", None if oidc is None else Issuer(oidc, self.base.host))
        object.__setattr__(self, "_reads", ThreadPoolExecutor(_READ_THREADS, "read"))
        object.__setattr__(self, "_chunks", ThreadPoolExecutor(1, "chunk"))
        object.__setattr__(self, "_signing", ThreadPoolExecutor(1, "sign"))

    @classmethod
    def of(cls, request: Request) -> Self:
        """The service that a request came to."""
        service: Self = request.app.state.service
        return service

    def within(self, principal: Principal) -> Principal:
        """A caller, held to the graphs that are served."""
        return principal if self.manifest is None else replace(principal, within=self.manifest.graphs)

    def has(self, operation: str) -> bool:
        """Whether an operation is served."""
        return self.manifest is None or operation in self.manifest.operations

    async def evaluate(self, work: Callable[[], T]) -> T:
        """Evaluates an update: waits for the worker that was leased for it, and fills in its templates."""
        return await self._in(self._updates, work)

    async def read(self, work: Callable[[], T]) -> T:
        """Does what reads or parses, and takes no longer than what it is given."""
        return await self._in(self._reads, work)

    async def chunk(self, work: Callable[[], T]) -> T:
        """Makes a part of an export; others get theirs in between."""
        return await self._in(self._chunks, work)

    async def sign(self, work: Callable[[], T]) -> T:
        """Makes a signed export, which takes as long as its graph is large."""
        return await self._in(self._signing, work)

    async def close(self) -> None:
        """Drops what has not begun, and waits a while for what has; `busy` says whether that was enough."""
        await self.replicas.close()
        for pool in (self._updates, self._reads, self._chunks, self._signing):
            pool.shutdown(wait=False, cancel_futures=True)
        # Not in this thread: an update whose worker was ended is told so by the event loop.
        _, endless = await asyncio.to_thread(wait, set(self._running), CLOSING)
        if endless:
            log.warning("%d requests do not end and are given up", len(endless))

    @property
    def busy(self) -> bool:
        """Whether something is still being done."""
        return bool(self._running)

    async def _in(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        future: Future[T] = pool.submit(copy_context().run, _detached, work)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await answer_of(future)


def _detached(work: Callable[[], T]) -> T:
    """Does the work; its error keeps nothing of the thread alive."""
    try:
        return work()
    except CallerError as error:
        error.__context__ = error.__cause__ = None
        raise error.with_traceback(None) from None
