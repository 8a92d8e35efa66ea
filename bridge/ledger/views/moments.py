"""Reading facts at any pair of times."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from bridge.ledger import differing, moments, node_queries
from bridge.ledger.fact_rows import FACT_COLUMNS, fact_of, statement_of
from bridge.ledger.views.rows import number_of, select
from bridge.ledger.views.view import View
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from bridge.ledger.session import Value
    from kernel.facts import Fact
    from kernel.ports.texts import StatementTexts
    from kernel.terms import Iri, Statement, Term


_FACTS_AT: Final = select(
    FACT_COLUMNS,
    """FROM facts WHERE row IN (
        SELECT row FROM facts INDEXED BY facts_by_time
            WHERE superseded = 9223372036854775807 AND recorded <= ?1 AND valid_from <= ?2 AND valid_to > ?2
        UNION ALL
        SELECT row FROM facts INDEXED BY facts_by_time
            WHERE superseded > ?1 AND superseded < 9223372036854775807
            AND recorded <= ?1 AND valid_from <= ?2 AND valid_to > ?2
    )""",
)


class MomentsReading(View):
    """Facts at any pair of times."""

    def facts_of_graph(
        self,
        graph: Iri,
        *,
        predicate: Iri | None = None,
        as_of: Instant | None = None,
        valid_at: Instant | None = None,
        after: UUID | None = None,
    ) -> Iterator[Fact]:
        """Facts of a graph believed now, or at `as_of`, in the order in which they were recorded, beyond `after`."""
        parameters: list[Value] = []
        for term in (graph, predicate):
            if term is not None:
                parameters += [self._key(term.n3), term.n3]
        for instant in (as_of, valid_at):
            if instant is not None:
                parameters += [instant, instant]
        if after is not None:
            parameters.append(after.bytes)
        sql = _of_graph(predicate is not None, as_of is not None, valid_at is not None, after is not None)
        return self._session.stream(sql, parameters, fact_of)

    def believed_at(
        self,
        as_of: Instant,
        *,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the word of RDF
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Facts believed at an instant of a subject or of an object."""
        given = [subject, predicate, object, graph]
        texts = [term.n3 for term in given if term is not None]
        sql = node_queries.believed_then(*(term is not None for term in given))
        return self._session.stream(sql, (*map(self._key, texts), *texts, as_of), fact_of)

    def facts_at(self, as_of: Instant, valid_at: Instant) -> Iterator[Fact]:
        """Every fact believed at `as_of` and true at `valid_at`."""
        return self._session.stream(_FACTS_AT, (as_of, valid_at), fact_of)

    def statements_of(
        self,
        node: Term,
        *,
        as_object: bool = False,
        predicate: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
        as_of: Instant,
        valid_at: Instant,
        most: int,
        largest: int,
    ) -> tuple[int, list[Statement]]:
        """What was believed at `as_of` and true at `valid_at` of a node; and how many facts were looked at for it."""
        sql = node_queries.ever("statements", as_object, predicate is not None, None if graphs is None else len(graphs))
        wanted = (as_of, valid_at, *self._looking_for(node, predicate, graphs, most + 1))
        looked = size = 0
        found: list[Statement] = []
        for row in self._session.stream(sql, wanted, _row):
            looked += 1
            size += sum(map(len, row[:4]))
            if size > largest:
                return most + 1, []
            if row[4]:
                held = statement_of(row)
                if (
                    node == (held.object if as_object else held.subject)
                    and predicate in (None, held.predicate)
                    and (graphs is None or held.graph in graphs)
                ):
                    found.append(held)
        return looked, found

    def count_of(
        self,
        node: Term,
        *,
        as_object: bool = False,
        predicate: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
        most: int,
    ) -> int:
        """How many facts `statements_of` would look at, by their keys."""
        sql = node_queries.ever("count", as_object, predicate is not None, None if graphs is None else len(graphs))
        wanted = (None, None, *self._looking_for(node, predicate, graphs, most + 1))
        return self._session.one(sql, wanted, number_of) or 0

    def _looking_for(
        self, node: Term, predicate: Iri | None, graphs: Sequence[Iri] | None, most: int
    ) -> list[int | None]:
        """Keys and the limit, as `node_queries.ever` numbers them."""
        of_predicate = None if predicate is None else self._key(predicate.n3)
        return [self._key(node.n3), of_predicate, most, *(self._key(graph.n3) for graph in graphs or ())]

    def facts_differing(
        self,
        first: tuple[Instant, Instant],
        second: tuple[Instant, Instant],
        *,
        graph: Iri | None = None,
        node: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
    ) -> Iterator[Fact]:
        """Every fact of a graph or node that holds at one of two moments and not at the other."""
        if graph is not None:
            sql = differing.BETWEEN_HEADS if first[1] == second[1] else differing.OF_GRAPH
            return self._session.stream(sql, (*first, *second, self._key(graph.n3), graph.n3), fact_of)
        if node is None:
            raise TypeError("neither a graph nor a node")
        keys = [self._key(each.n3) for each in graphs or ()]
        wanted: tuple[Value, ...] = (*first, *second, self._key(node.n3), node.n3, *keys)
        ends = (differing.of_node(end, None if graphs is None else len(keys)) for end in ("subject", "object"))
        said, told_of = (self._session.stream(sql, wanted, fact_of) for sql in ends)
        found = chain(said, (fact for fact in told_of if fact.statement.subject != node))
        if graphs is None:
            return found
        within = frozenset(graphs)
        return (fact for fact in found if fact.statement.graph in within)

    def statements_at(self, as_of: Instant, valid_at: Instant) -> Iterator[StatementTexts]:
        """The statement of every fact believed at `as_of` and true at `valid_at`."""
        return self._session.stream(moments.STATEMENTS_AT, (as_of, valid_at), _texts)

    def count_at(
        self, as_of: Instant, valid_at: Instant, *, graphs: Sequence[Iri] | None = None, most: int | None = None
    ) -> int:
        """How many facts are believed at `as_of` and true at `valid_at`, of some graphs; no more than `most` + 1."""
        limit = -1 if most is None else most + 1
        keys = [] if graphs is None else [self._key(graph.n3) for graph in graphs]
        sql = moments.count_at(None if graphs is None else len(keys))
        return self._session.one(sql, (as_of, valid_at, limit, *keys), number_of) or 0

    def statements_since(
        self, as_of: Instant, valid_at: Instant, clock: Instant
    ) -> Iterator[tuple[StatementTexts, bool]]:
        """What may tell a moment from stores of this head, or of one that came before it at a clock or later."""
        parameters = self._since(as_of, valid_at, clock)
        return self._session.stream(moments.SINCE, parameters, _texts_then)

    def count_since(self, as_of: Instant, valid_at: Instant, clock: Instant, *, most: int) -> int:
        """About how many statements that would give; no more than `most` + 1."""
        parameters = self._since(as_of, valid_at, clock)
        return self._session.one(moments.COUNT_SINCE, (*parameters, most + 1), number_of) or 0

    def _since(self, as_of: Instant, valid_at: Instant, clock: Instant) -> tuple[Instant, ...]:
        now = self.head().clock
        return as_of, valid_at, clock, now, min(valid_at, clock), max(valid_at, now)


@lru_cache(maxsize=16)
def _of_graph(predicate: bool, past: bool, valid: bool, paged: bool) -> str:
    """What is believed of a graph, now by its index, which is in the order of rows, or at a past moment row by row."""
    tests = ["graph_key = ? AND graph = ?"]
    tests += ["predicate_key = ? AND predicate = ?"] * predicate
    tests.append("recorded <= ? AND superseded > ?" if past else "superseded_by IS NULL")
    tests += ["valid_from <= ? AND valid_to > ?"] * valid
    tests += ["row > (SELECT row FROM facts WHERE id = ?)"] * paged
    through = "NOT INDEXED" if past else "INDEXED BY facts_by_graph"
    return select(FACT_COLUMNS, f"FROM facts {through} WHERE {' AND '.join(tests)} ORDER BY row")


def _texts(row: StatementTexts) -> StatementTexts:
    return row


def _texts_then(row: tuple[str, str, str, str, int]) -> tuple[StatementTexts, bool]:
    return row[:4], bool(row[4])


def _row(row: tuple[str, str, str, str, int]) -> tuple[str, str, str, str, int]:
    return row
