"""The durable append-only record of a base.

Rules
-----
* A `LedgerTransaction` sees its own writes: while a group of plans is open, its transaction *is* the speculative head.
* A view is one state throughout. Its iterators end with it.

Example
-------
::

    with ledger.transaction() as tx:      # rolled back unless committed
        held = tx.believed_of(statement)
        ...
        tx.commit()                       # durable when it returns
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kernel.ports.facts import FactsView
from kernel.ports.log import LogView
from kernel.ports.moments import MomentsView
from kernel.ports.purges import PurgesView
from kernel.ports.recorded import RecordedView
from kernel.ports.records import CertificatesView

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from uuid import UUID

    from kernel.access import Principal
    from kernel.ports.heads import Head
    from kernel.ports.writing import LedgerTransaction
    from kernel.time.instants import Instant


class LedgerView(FactsView, MomentsView, RecordedView, CertificatesView, PurgesView, LogView, Protocol):
    """A consistent read of a ledger."""

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Ends reads that take longer, all together: `LedgerUnavailable`, with the cause `interrupted`."""
        ...

    def head(self) -> Head:
        """The head, clock and state digest; before the first write, no position and the clock at `BEGINNING`."""
        ...


class Ledger(Protocol):
    """The durable append-only record of a base."""

    def transaction(self) -> AbstractContextManager[LedgerTransaction]:
        """Begins the one write transaction; leaving the context without `commit` rolls it back."""
        ...

    def reading(self) -> AbstractContextManager[LedgerView]:
        """A consistent read of the last committed state; safe from any thread, never waits for the writer."""
        ...

    def principal_of(self, token_hash: bytes) -> Principal | None:
        """Whose token has this SHA-256; None when unknown, expired or revoked."""
        ...

    def add_principal(self, principal: Principal, token_hash: bytes, *, expires: Instant | None = None) -> None:
        """Keeps a principal and the SHA-256 of its token. Raises `Conflict` when the id or the token is taken."""
        ...

    def revoke(self, principal: str) -> None:
        """From now on the principal's token is worth nothing. Raises `NotFound` for an id that nobody has."""
        ...

    def assign_contradiction(self, certificate: UUID, finding: int, owner: str) -> None:
        """From now on somebody looks after a contradiction that a certificate was found to bring."""
        ...

    def base_id(self) -> UUID:
        """The base's own id, made once."""
        ...

    def signing_key(self) -> str | None:
        """The key that certificates are signed with, in multibase; None before there was one."""
        ...

    def use_key(self, multibase: str, event: bytes | None = None) -> None:
        """From now on certificates are signed with this key, and no more with the one before; an event says so."""
        ...

    def stage(self, session: str, chunk: int, data: bytes) -> None:
        """Keeps a chunk of a load session durably, in the place of one of the same number."""
        ...

    def staged(self, session: str) -> Iterator[bytes]:
        """The chunks of a load session, in order."""
        ...

    def staged_chunks(self, session: str) -> int:
        """How many chunks of a load session are kept."""
        ...

    def staged_sessions(self) -> list[str]:
        """The load sessions of which chunks are kept."""
        ...

    def unstage(self, session: str) -> None:
        """Drops the chunks of a load session."""
        ...

    def compact(self) -> None:
        """Writes everything anew, so that nothing is left on disk of what was deleted; nobody writes meanwhile."""
        ...

    def forget_log(self) -> bool:
        """Empties whatever it writes ahead, unless a reader needs it still; answers whether it did."""
        ...

    def close(self) -> None:
        """Closes every connection; the ledger stays as it is on disk."""
        ...
