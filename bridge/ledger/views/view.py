"""What all of a view reads with: a session, and the keys of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.ledger.certificate_rows import head_of
from kernel.errors import DamagedBase

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from bridge.ledger.session import Session
    from kernel.ports.heads import Head


class View:
    """A consistent read.

    Args:
        session: the read or transaction that it reads in.
        key: the hash that the statement indexes are by.
    """

    def __init__(self, session: Session, key: Callable[[str], int]) -> None:
        self._session = session
        self._key = key

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Ends reads that take longer, all together: `LedgerUnavailable`, with the cause `interrupted`."""
        return self._session.within(seconds)

    def head(self) -> Head:
        """The head, clock and state digest."""
        head = self._session.one("SELECT position, instant, clock, digest FROM state", (), head_of)
        if head is None:
            raise DamagedBase("the ledger has no head", remedy="restore the ledger from a backup")
        return head
