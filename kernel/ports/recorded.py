"""What came to a ledger between two instants, and what falls due by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.facts import Evidence, Fact
    from kernel.ports.texts import FactTexts, HistoryCounts
    from kernel.terms import Iri
    from kernel.time.instants import Instant


class RecordedView(Protocol):
    """What was recorded, superseded or fell due between two instants."""

    def facts_recorded(self, after: Instant | None, until: Instant) -> Iterator[Fact]:
        """Every fact recorded *or superseded* in (after, until], by row; supersession as it stands now."""
        ...

    def texts_recorded(self, after: Instant | None, until: Instant) -> Iterator[FactTexts]:
        """The same facts as they are stored, in a quarter of the time."""
        ...

    def count_recorded(self, after: Instant | None, until: Instant, *, most: int | None = None) -> int:
        """How many facts that would give; of those after an instant, no more than `most` + 1."""
        ...

    def history_at(self, as_of: Instant) -> HistoryCounts:
        """What was recorded by then, without what was superseded later; every fact is looked at."""
        ...

    def facts_due(self, after: Instant, until: Instant) -> Iterator[Fact]:
        """Every believed fact that begins or ends in (after, until]."""
        ...

    def next_due(self, after: Instant) -> Instant | None:
        """The first instant after `after` at which a believed fact begins or ends."""
        ...

    def evidence_recorded(self, after: Instant | None, until: Instant) -> Iterator[tuple[Evidence, Iri]]:
        """Evidence recorded in (after, until], each with the graph of its fact."""
        ...

    def graphs(self) -> frozenset[Iri]:
        """Every graph that a fact was ever recorded in."""
        ...
