"""The stores of a base, as the writer sees them, and what brings them up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernel.facts import Evidence, Fact
    from kernel.terms import Iri, Statement
    from kernel.time.instants import Instant


class Stores(Protocol):
    """The two Oxigraph projections of a base, as the writer sees them."""

    def position(self) -> tuple[Instant | None, Instant]:
        """The (transaction instant, clock) that both stores are known to have reached; at least that far."""
        ...

    def apply(self, delta: StoreDelta) -> None:
        """Has both stores take a delta, so that whoever reads from now on finds it; doing so again changes nothing.

        When it is written is theirs to say. Raises `StoreUnavailable`: something failed, now or earlier.
        """
        ...

    @property
    def unsettled(self) -> bool:
        """Whether `settle` has something to write, or to say."""
        ...

    def settle(self) -> None:
        """Writes what was taken. Raises `StoreUnavailable`: that failed, now or earlier."""
        ...

    def start_over(self) -> None:
        """Has the next `load` begin with nothing: a delta that erases something may not have reached a store."""
        ...

    def load(self, deltas: Iterable[StoreDelta]) -> None:
        """Brings both up by many facts with bounded memory, whatever failed before.

        Readers stay on the state before until it is done. Raises `StoreUnavailable`.
        """
        ...


@dataclass(frozen=True, slots=True)
class StoreDelta:
    """What a store must add and take away to stand at (head, instant, clock).

    Args:
        recorded: facts recorded since (history), as recorded.
        superseded: facts superseded since (history), with their supersession.
        evidence: evidence recorded since, each with its fact's graph.
        appear: statements that are now in their current graphs.
        vanish: statements that are now not in their current graphs.
        erased: facts that were purged, as they stood.
        faded: evidence that was purged, each with its fact's graph.
    """

    head: int | None
    instant: Instant | None
    clock: Instant
    recorded: Sequence[Fact] = ()
    superseded: Sequence[Fact] = ()
    evidence: Sequence[tuple[Evidence, Iri]] = ()
    appear: Sequence[Statement] = ()
    vanish: Sequence[Statement] = ()
    erased: Sequence[Fact] = ()
    faded: Sequence[tuple[Evidence, Iri]] = ()

    @property
    def erases(self) -> bool:
        """Whether something was purged, which a store does not know from the ledger any more."""
        return bool(self.erased or self.faded)
