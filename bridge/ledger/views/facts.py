"""Reading facts as they are believed.

Rules
-----
* Every look-up names the index that it is to use, so that no statistics and no planner decide how long it takes. Where
  an index finds by hash, the texts are compared as well.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from bridge.ledger import node_queries
from bridge.ledger.fact_rows import EVIDENCE_COLUMNS, FACT_COLUMNS, evidence_of, fact_of
from bridge.ledger.views.rows import select
from bridge.ledger.views.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from uuid import UUID

    from bridge.ledger.fact_rows import FactRow
    from kernel.facts import Evidence, Fact
    from kernel.terms import Iri, Statement, Term


_AT_ONCE: Final = 64
"""Facts whose evidence is looked up at once."""

_BELIEVED_OF: Final = select(
    FACT_COLUMNS,
    "FROM facts INDEXED BY facts_by_statement WHERE superseded_by IS NULL"
    " AND subject_key = ? AND predicate_key = ? AND object_key = ? AND graph_key = ?"
    " AND subject = ? AND predicate = ? AND object = ? AND graph = ? ORDER BY valid_from",
)

_FACT: Final = select(FACT_COLUMNS, "FROM facts WHERE id = ?")


class FactsReading(View):
    """Facts as they are believed."""

    def believed_of(self, statement: Statement) -> Sequence[Fact]:
        """Every believed fact of exactly this statement, by start."""
        return self._session.all(*self._asking_for(statement))

    def _asking_for(self, statement: Statement) -> tuple[str, tuple[str | int, ...], Callable[[FactRow], Fact]]:
        """How the believed facts of a statement are asked for."""
        texts = (statement.subject.n3, statement.predicate.n3, statement.object.n3, statement.graph.n3)
        return _BELIEVED_OF, (*map(self._key, texts), *texts), fact_of

    def believed(
        self,
        *,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the term's name in RDF
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Believed facts that match. By predicate alone, and by nothing, the whole ledger is read."""
        terms = (subject, predicate, object, graph)
        texts = [term.n3 for term in terms if term is not None]
        sql = node_queries.believed(*(term is not None for term in terms))
        return self._session.stream(sql, (*map(self._key, texts), *texts), fact_of)

    def fact(self, fact: UUID) -> Fact | None:
        """A fact by its id, believed or not."""
        return self._session.one(_FACT, (fact.bytes,), fact_of)

    def evidence_of(self, facts: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
        """The evidence for each of the facts, oldest first."""
        found: dict[UUID, list[Evidence]] = {}
        for start in range(0, len(facts), _AT_ONCE):
            wanted = [fact.bytes for fact in facts[start : start + _AT_ONCE]]
            for item in self._session.all(_evidence_of(len(wanted)), wanted, evidence_of):
                found.setdefault(item.content.fact, []).append(item)
        return found


@lru_cache(maxsize=_AT_ONCE)
def _evidence_of(facts: int) -> str:
    """The look-up of the evidence for so many facts."""
    given = ", ".join(["?"] * facts)
    return select(EVIDENCE_COLUMNS, f"FROM evidence INDEXED BY evidence_by_fact WHERE fact IN ({given}) ORDER BY row")
