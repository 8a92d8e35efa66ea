"""A replica: a worker, and what its stores stand at.

Rules
-----
* A store begins with a seed, which holds what was published up to some position at least, and takes everything after
  that: before its next query at the latest, many deltas at once, so that idle workers cost writers little.
* Directories that were made for a worker are unlinked once it has let go of them.
* Its snapshots are copies of those that the service keeps; the least recently used go.

Example
-------
::

    replica = await Replica.start(stores)
    state = replica.bring_up(Projection.CURRENT)        # None: it lags too far behind, and is to be opened anew
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Final, Self

from bridge.replicas.process import WorkerProcess
from bridge.stores.projections import Projection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    from bridge.stores.checkpoints import Seed
    from bridge.stores.feed import DeltaText
    from bridge.stores.markers import StoreState
    from bridge.stores.pair import OxigraphStores

SNAPSHOTS: Final = 3
"""How many snapshots a worker keeps."""


class Replica:
    """One worker; made by `start`, for one event loop. What it does is done one thing after another."""

    def __init__(self, process: WorkerProcess, stores: OxigraphStores, purged_at: int | None) -> None:
        self.process = process
        self.purged_at = purged_at
        self.idle_since = monotonic()
        self._stores = stores
        self._seeds: dict[str, Seed] = {}
        self._stands: dict[Projection, tuple[int, StoreState]] = {}
        self._snapshots: OrderedDict[object, str] = OrderedDict()
        self._numbers = count(1)

    @classmethod
    async def start(cls, stores: OxigraphStores, purged_at: int | None = None) -> Self:
        """Starts a worker that has the current store.

        Args:
            stores: what it is to be a replica of.
            purged_at: the head of the last purge; it holds nothing from before that.

        Raises:
            StoreUnavailable: there is nothing to copy.
            WorkerEndedError: it does not come up.
            OSError: it cannot be started.
        """
        replica = cls(await WorkerProcess.start(), stores, purged_at)
        try:
            await replica.open(Projection.CURRENT)
        except BaseException:
            await replica.close()
            raise
        return replica

    async def open(self, projection: Projection) -> None:
        """Gives it one of the stores, or gives it to it anew. Raises as `start` does."""
        mark = self._stores.feed.mark
        making = asyncio.get_running_loop().run_in_executor(None, self._stores.seed, projection)
        try:
            seed = await asyncio.shield(making)
        except asyncio.CancelledError:
            making.add_done_callback(_discarded)
            raise
        before = self._seeds.pop(projection, None)
        self._seeds[projection] = seed
        try:
            await self.process.open(projection, seed)
        finally:
            if before is not None:
                await _discard([before])
        self._stands[projection] = mark

    def bring_up(self, projection: Projection) -> StoreState | None:
        """Brings one of its stores up to what is published, and answers what it stands at then.

        None: it does not have that store, or lags too far behind, and is to be given it by `open`.

        Raises:
            StoreUnavailable: a write to the stores failed.
        """
        if projection not in self._stands:
            return None
        position, state = self._stands[projection]
        deltas = self._stores.feed.since(position)
        if deltas is None:
            return None
        if deltas:
            self.process.bring_up(projection, [*_steps(deltas, projection)])
            position, state = position + len(deltas), deltas[-1].state
            self._stands[projection] = position, state
        return state

    def bring_all_up(self) -> bool:
        """Brings each of its stores up; answers whether none lags. Raises as `bring_up` does."""
        return None not in [self.bring_up(projection) for projection in self._stands]

    async def open_all(self) -> None:
        """Gives it each of its stores anew. Raises as `start` does."""
        for projection in tuple(self._stands):
            await self.open(projection)

    # --- snapshots ----------------------------------------------------------------------------------------------------

    def snapshot(self, key: object) -> str | None:
        """The store that has the snapshot of that key; None where there is none."""
        name = self._snapshots.get(key)
        if name is not None:
            self._snapshots.move_to_end(key)
        return name

    async def add_snapshot(self, key: object, seeding: Future[Seed]) -> str:
        """Gives it a snapshot once there is a seed, and answers the store that has it. Raises what the seed raises."""
        making = asyncio.wrap_future(seeding)
        try:
            seed = await asyncio.shield(making)
        except asyncio.CancelledError:
            making.add_done_callback(_discarded)
            raise
        name = f"past-{next(self._numbers)}"
        self._seeds[name] = seed
        while len(self._snapshots) >= SNAPSHOTS:
            await self._forget(next(iter(self._snapshots)))
        await self.process.open(name, seed)
        self._snapshots[key] = name
        return name

    async def _forget(self, key: object) -> None:
        name = self._snapshots.pop(key)
        await self.process.forget(name)
        if (seed := self._seeds.pop(name, None)) is not None:
            await _discard([seed])

    async def close(self) -> None:
        """Ends the worker, and unlinks what it had."""
        self.process.kill()
        await self.process.buried()
        await _discard(self._seeds.values())


def _steps(deltas: Iterable[DeltaText], projection: Projection) -> Iterator[tuple[str, str]]:
    """What a store loses and gains, one after another; what is only gained is gained at once."""
    removed, added = "", ""
    for delta in deltas:
        loses, gains = delta.of(projection)
        if loses and (removed or added):
            yield removed, added
            removed, added = "", ""
        removed += loses
        added += gains
    if removed or added:
        yield removed, added


async def _discard(seeds: Iterable[Seed]) -> None:
    for seed in [*seeds]:
        await asyncio.get_running_loop().run_in_executor(None, seed.discard)


def _discarded(making: asyncio.Future[Seed]) -> None:
    """Unlinks what was made for nobody."""
    if not making.cancelled() and making.exception() is None:
        making.result().discard()
