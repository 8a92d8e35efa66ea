"""Reading what came to the ledger between two instants, and what falls due by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from bridge.ledger import moments
from bridge.ledger.fact_rows import (
    EVIDENCE_COLUMNS,
    FACT_COLUMNS,
    FACT_TEXT_COLUMNS,
    fact_of,
    graphed_evidence_of,
    texts_of,
)
from bridge.ledger.views.rows import number_of, select, text_of
from bridge.ledger.views.view import View
from kernel.ports.texts import HistoryCounts
from kernel.terms import parse_iri
from kernel.time.instants import BEGINNING, Instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kernel.facts import Evidence, Fact
    from kernel.ports.texts import FactTexts
    from kernel.terms import Iri


Row = TypeVar("Row")

Made = TypeVar("Made")

_RECORDED_UNTIL: Final = "FROM facts NOT INDEXED WHERE recorded <= ? ORDER BY row"

_RECORDED: Final = """FROM facts WHERE row IN (
    SELECT row FROM facts INDEXED BY facts_by_time
        WHERE superseded = 9223372036854775807 AND recorded > ?1 AND recorded <= ?2
    UNION ALL
    SELECT row FROM facts INDEXED BY facts_by_time
        WHERE superseded > ?1 AND superseded < 9223372036854775807
        AND (superseded <= ?2 OR (recorded > ?1 AND recorded <= ?2))
) ORDER BY row"""

_FACTS_DUE: Final = select(
    FACT_COLUMNS,
    """FROM facts WHERE row IN (
        SELECT row FROM facts INDEXED BY facts_by_start
            WHERE superseded_by IS NULL AND valid_from <> -9223372036854775808 AND valid_from > ?1 AND valid_from <= ?2
        UNION ALL
        SELECT row FROM facts INDEXED BY facts_by_end
            WHERE superseded_by IS NULL AND valid_to <> 9223372036854775807 AND valid_to > ?1 AND valid_to <= ?2
    )""",
)

_NEXT_DUE: Final = """SELECT
    (SELECT valid_from FROM facts INDEXED BY facts_by_start
        WHERE superseded_by IS NULL AND valid_from <> -9223372036854775808 AND valid_from > ?1
        ORDER BY valid_from LIMIT 1),
    (SELECT valid_to FROM facts INDEXED BY facts_by_end
        WHERE superseded_by IS NULL AND valid_to <> 9223372036854775807 AND valid_to > ?1
        ORDER BY valid_to LIMIT 1)"""

_EVIDENCE_RECORDED: Final = select(
    EVIDENCE_COLUMNS + ", facts.graph",
    "FROM evidence INDEXED BY evidence_by_time CROSS JOIN facts ON facts.id = evidence.fact"
    " WHERE evidence.recorded > ? AND evidence.recorded <= ? ORDER BY evidence.recorded, evidence.row",
)


class RecordedReading(View):
    """What was recorded, superseded or fell due between two instants."""

    def facts_recorded(self, after: Instant | None, until: Instant) -> Iterator[Fact]:
        """Every fact recorded or superseded in (after, until], by row."""
        return self._recorded(FACT_COLUMNS, fact_of, after, until)

    def texts_recorded(self, after: Instant | None, until: Instant) -> Iterator[FactTexts]:
        """The same facts as they are stored."""
        return self._recorded(FACT_TEXT_COLUMNS, texts_of, after, until)

    def _recorded(
        self, columns: str, made: Callable[[Row], Made], after: Instant | None, until: Instant
    ) -> Iterator[Made]:
        if after is None:
            return self._session.stream(select(columns, _RECORDED_UNTIL), (until,), made)
        return self._session.stream(select(columns, _RECORDED), (after, until), made)

    def count_recorded(self, after: Instant | None, until: Instant, *, most: int | None = None) -> int:
        """How many facts that would give; of those after an instant, no more than `most` + 1."""
        if after is None:
            return self._session.one(moments.RECORDED_BY, (until,), number_of) or 0
        limit = -1 if most is None else most + 1
        return self._session.one(moments.RECORDED_SINCE, (after, until, limit), number_of) or 0

    def history_at(self, as_of: Instant) -> HistoryCounts:
        """What was recorded by then, without what was superseded later."""
        facts = self._session.all(moments.HISTORY, (as_of,), _numbers)[0]
        evidence = self._session.all(moments.HISTORY_OF_EVIDENCE, (as_of,), _numbers)[0]
        return HistoryCounts(*facts, *evidence)

    def facts_due(self, after: Instant, until: Instant) -> Iterator[Fact]:
        """Every believed fact that begins or ends in (after, until]."""
        return self._session.stream(_FACTS_DUE, (after, until), fact_of)

    def next_due(self, after: Instant) -> Instant | None:
        """The first instant after `after` at which a believed fact begins or ends."""
        return self._session.one(_NEXT_DUE, (after,), _earlier)

    def evidence_recorded(self, after: Instant | None, until: Instant) -> Iterator[tuple[Evidence, Iri]]:
        """Evidence recorded in (after, until], each with the graph of its fact."""
        since = BEGINNING if after is None else after
        return self._session.stream(_EVIDENCE_RECORDED, (since, until), graphed_evidence_of)

    def graphs(self) -> frozenset[Iri]:
        """Every graph that a fact was ever recorded in."""
        return frozenset(map(parse_iri, self._session.all("SELECT graph FROM graphs", (), text_of)))


def _earlier(row: tuple[int | None, int | None]) -> Instant | None:
    return min((Instant(instant) for instant in row if instant is not None), default=None)


def _numbers(row: tuple[int, ...]) -> tuple[int, ...]:
    return row
