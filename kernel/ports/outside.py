"""What the kernel asks of the world beside its records: the time, and what a store makes of a term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kernel.terms import Term
    from kernel.time.instants import Instant


class HostClock(Protocol):
    """The host's wall clock; it may step back."""

    def now(self) -> Instant:
        """The present instant, to the microsecond."""
        ...


class TermCanonicaliser(Protocol):
    """Knows what a store makes of a term."""

    def canonical(self, term: Term) -> Term:
        """The term as every store will hold it. Raises `InvalidTerm` for a term that a store would refuse."""
        ...
