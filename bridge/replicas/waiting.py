"""The queue for workers: bounded in number and in time, and fair to callers.

Rules
-----
* So many wait, and each for so long: `Busy`, which says that it is to be asked again.
* A worker that is free goes to the caller who has the fewest queries running; among equals to who came first.
* Who leaves while a worker is being given gives it back.

Example
-------
::

    queue = Queue(PoolSize(4), running)
    worker = await queue.place("reader-7", grow, offer)      # while elsewhere: queue.give(worker)
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bridge.replicas.limits import PoolSize
    from bridge.replicas.replica import Replica


@dataclass(eq=False, slots=True)
class _Waiting:
    """A query that waits for a worker."""

    caller: str
    place: asyncio.Future[Replica]


class Queue:
    """Those who wait; for one event loop.

    Args:
        size: how many may, and for how long.
        running: how many queries of each caller are answered just now; somebody else counts them.
    """

    def __init__(self, size: PoolSize, running: Mapping[str, int]) -> None:
        self._size = size
        self._running = running
        self._waiting: list[_Waiting] = []

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def place(self, caller: str, begun: Callable[[], None], given_back: Callable[[Replica], None]) -> Replica:
        """Waits for a worker.

        Args:
            caller: for whom.
            begun: called once it stands in the queue.
            given_back: takes a worker that came as the caller left.

        Raises:
            Busy: too many wait already, or it waited too long.
        """
        if len(self._waiting) >= self._size.queue:
            raise _busy("too many queries are waiting")
        waiting = _Waiting(caller, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        begun()
        try:
            await asyncio.wait((waiting.place,), timeout=self._size.patience)
        except asyncio.CancelledError:
            if waiting.place.done() and waiting.place.exception() is None:
                given_back(waiting.place.result())
            raise
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
        if not waiting.place.done():
            raise _busy(f"no worker was free within {self._size.patience:g} s")
        return waiting.place.result()

    def give(self, replica: Replica) -> bool:
        """Gives a worker to whoever is next; answers whether anybody waits."""
        if not self._waiting:
            return False
        chosen = min(self._waiting, key=lambda each: self._running.get(each.caller, 0))  # the first of equals
        self._waiting.remove(chosen)
        chosen.place.set_result(replica)
        return True

    def disappoint(self, error: Exception) -> None:
        """Tells all who wait that nobody will come."""
        for waiting in self._waiting:
            if not waiting.place.done():
                waiting.place.set_exception(error)
        self._waiting.clear()


def _busy(what: str) -> Busy:
    return Busy(what, remedy="ask again after the seconds that Retry-After says")
