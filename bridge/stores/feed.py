r"""The feed: the last deltas of a pair of stores, for the replicas of them in other processes.

Rules
-----
* Each delta has a position. A replica that stands at one asks for what came since, whenever it likes: whoever publishes
  waits for nobody, and does no more than append.
* What is kept is bounded. A replica that lags further behind is told so, and is made anew from a checkpoint.
* A delta may be applied again: a replica that was copied from a store while that went on needs only every delta from
  its position on, in their order, to be right at the end of them.
* What the stores could not be brought up to by deltas (a load, a store that was cleared) starts the feed anew: every
  replica then lags behind. After a write that failed there is nothing to ask for until that is mended.

Example
-------
>>> from kernel.time.instants import Instant
>>> from kernel.ports.stores import StoreDelta
>>> feed = Feed()
>>> feed.publish(DeltaText(StoreDelta(1, Instant(5), Instant(5))))
>>> position = feed.position
>>> feed.publish(DeltaText(StoreDelta(3, Instant(6), Instant(6))))
>>> [each.state.head for each in feed.since(position)], feed.state.head
([3], 3)
>>> feed.restart(feed.state)
>>> feed.since(position) is None
True
"""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import TYPE_CHECKING, Final

from bridge.stores.markers import NOTHING, StoreState
from bridge.stores.projections import Projection, added_text, removed_text
from kernel.errors import StoreUnavailable

if TYPE_CHECKING:
    from kernel.ports.stores import StoreDelta

CAPACITY: Final = 20_000
"""Facts, statements and pieces of evidence that are kept: some 20 MB of text."""


class DeltaText:
    """A delta, and the text that it is for each projection: made when it is first asked for, once.

    Args:
        delta: what is to be told.
    """

    __slots__ = ("_delta", "_texts", "state", "weight")

    def __init__(self, delta: StoreDelta) -> None:
        self.state = StoreState.after(delta)
        gained = (delta.recorded, delta.superseded, delta.evidence, delta.appear)
        self.weight = 1 + sum(map(len, (*gained, delta.vanish, delta.erased, delta.faded)))
        self._delta = delta
        self._texts: dict[Projection, tuple[str, str]] = {}

    def of(self, projection: Projection) -> tuple[str, str]:
        """What the delta takes away from the projection, and what it adds."""
        text = self._texts.get(projection)
        if text is None:
            text = self._texts[projection] = removed_text(projection, self._delta), added_text(projection, self._delta)
        return text


class Feed:
    """The deltas of one pair of stores; safe from any thread.

    Args:
        capacity: how many facts, statements and pieces of evidence are kept.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._kept: deque[DeltaText] = deque()
        self._weight = 0
        self._position = 0
        self._state = NOTHING
        self._failed = True

    @property
    def position(self) -> int:
        """Of the last delta."""
        return self._position

    @property
    def state(self) -> StoreState:
        """The state that the last delta led to."""
        return self._state

    @property
    def failed(self) -> bool:
        """Whether a write to the stores failed, or none was made yet, so that nobody knows what they hold."""
        return self._failed

    @property
    def mark(self) -> tuple[int, StoreState]:
        """The position and its state, of the same moment."""
        with self._lock:
            return self._position, self._state

    def publish(self, text: DeltaText) -> None:
        """Adds what both stores are being brought up by."""
        with self._lock:
            self._position += 1
            self._state = text.state
            self._failed = False
            self._kept.append(text)
            self._weight += text.weight
            while self._weight > self._capacity:
                self._weight -= self._kept.popleft().weight

    def restart(self, state: StoreState) -> None:
        """Says that the stores were brought to a state by other means than single deltas."""
        with self._lock:
            self._position += 1
            self._state = state
            self._failed = False
            self._kept.clear()
            self._weight = 0

    def fail(self) -> None:
        """Says that a write failed; until the feed is started anew, nothing can be read."""
        self._failed = True

    def since(self, position: int) -> list[DeltaText] | None:
        """The deltas after a position; None where they are no longer kept.

        Raises:
            StoreUnavailable: a write to the stores failed.
        """
        if self._failed:
            raise StoreUnavailable("the stores are not brought up to the ledger", remedy="try again shortly")
        if position == self._position:
            return []
        with self._lock:
            behind = self._position - position
            return None if behind > len(self._kept) else [self._kept[at] for at in range(-behind, 0)]
