"""What updates are given to write by: the write path, and the queues that lead to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Protocol, TypeVar

    from kernel.ports.ledger import LedgerView
    from kernel.ports.outside import HostClock
    from kernel.writing.group import Group
    from kernel.writing.loading import LoadRequest
    from kernel.writing.plan import Plan
    from kernel.writing.preparing import Preparation
    from kernel.writing.submitting import Outcome, Submitter

    T = TypeVar("T")

    class Enqueue(Protocol):
        """Queues a job for the sequencer."""

        def __call__(self, run: Callable[[Group], T], *, alone: bool = False) -> Future[T]:
            """As `Sequencer.enqueue`."""

    class Prepare(Protocol):
        """Prepares a write of shapes, and queues it."""

        def __call__(
            self,
            foresee: Callable[[LedgerView], Plan | None],
            run: Callable[[Group, Preparation | None], T],
            *,
            alone: bool = False,
        ) -> Future[T]:
            """As `Preparer.enqueue`."""


@dataclass(frozen=True, slots=True)
class WritePath:
    """What writes a base: the path itself, the queues to it, that for shapes among them, and the host's clock."""

    submitter: Submitter
    enqueue: Enqueue
    prepare: Prepare
    load: Callable[[LoadRequest], Future[Outcome]]
    host: HostClock
