"""Reading the ledger: what a view answers.

Rules
-----
* A view is one state throughout: the last one committed when it first read, or that of an open transaction, its own
  writes included.
* Every look-up names the index that it is to use, so that no statistics and no planner decide how long it takes. Where
  an index finds by hash, the texts are compared as well.
* Streams are read from the ledger as they are consumed: do not write while one is open, and read within the context.

Example
-------
::

    with ledger.reading() as view:
        for fact in view.believed(subject=Iri("urn:a")):
            ...
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from bridge.ledger import differing, moments, node_queries, purging
from bridge.ledger.certificate_rows import (
    CERTIFICATE_COLUMNS,
    certificate_of,
    decision_of,
    head_of,
    idempotency_of,
    item_of,
)
from bridge.ledger.fact_rows import (
    EVIDENCE_COLUMNS,
    FACT_COLUMNS,
    FACT_TEXT_COLUMNS,
    evidence_of,
    fact_of,
    graphed_evidence_of,
    statement_of,
    texts_of,
)
from bridge.ledger.schema import KEY_EVENTS
from bridge.ledger.subtrees import hashes_of
from certificates.certificate import Verdict
from kernel.errors import DamagedBase
from kernel.instants import BEGINNING, Instant
from kernel.ports import AppliedHead, CertificateState, HistoryCounts
from kernel.terms import parse_iri

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from bridge.ledger.fact_rows import FactRow
    from bridge.ledger.session import Session, Value
    from certificates.items import ItemKind, SaltedItem
    from kernel.facts import Evidence, Fact
    from kernel.ports import (
        CertificateRecord,
        DecisionRecord,
        FactTexts,
        Head,
        IdempotencyEntry,
        PurgeRecord,
        StatementTexts,
    )
    from kernel.terms import Iri, Statement, Term

Row = TypeVar("Row")
Made = TypeVar("Made")

LEAF_SIZE: Final = 32

_AT_ONCE: Final = 64
"""Facts whose evidence is looked up at once."""


def _select(columns: str, rest: str) -> str:
    return f"SELECT {columns} {rest}"


_BELIEVED_OF: Final = _select(
    FACT_COLUMNS,
    "FROM facts INDEXED BY facts_by_statement WHERE superseded_by IS NULL"
    " AND subject_key = ? AND predicate_key = ? AND object_key = ? AND graph_key = ?"
    " AND subject = ? AND predicate = ? AND object = ? AND graph = ? ORDER BY valid_from",
)
_FACT: Final = _select(FACT_COLUMNS, "FROM facts WHERE id = ?")
_FACTS_AT: Final = _select(
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
_RECORDED_UNTIL: Final = "FROM facts NOT INDEXED WHERE recorded <= ? ORDER BY row"
_RECORDED: Final = """FROM facts WHERE row IN (
    SELECT row FROM facts INDEXED BY facts_by_time
        WHERE superseded = 9223372036854775807 AND recorded > ?1 AND recorded <= ?2
    UNION ALL
    SELECT row FROM facts INDEXED BY facts_by_time
        WHERE superseded > ?1 AND superseded < 9223372036854775807
        AND (superseded <= ?2 OR (recorded > ?1 AND recorded <= ?2))
) ORDER BY row"""
_FACTS_DUE: Final = _select(
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
_EVIDENCE_RECORDED: Final = _select(
    EVIDENCE_COLUMNS + ", facts.graph",
    "FROM evidence INDEXED BY evidence_by_time CROSS JOIN facts ON facts.id = evidence.fact"
    " WHERE evidence.recorded > ? AND evidence.recorded <= ? ORDER BY evidence.recorded, evidence.row",
)
_ITEMS: Final = """SELECT kind, ordinal, salt, body FROM items
    WHERE certificate = ? AND kind = ? AND ordinal >= ? ORDER BY ordinal LIMIT ?"""
_CERTIFICATE: Final = _select(
    CERTIFICATE_COLUMNS, "FROM certificates LEFT JOIN requests ON requests.certificate = id WHERE id = ?"
)
_HEADS: Final = "SELECT head, instant FROM certificates INDEXED BY heads WHERE head > ? ORDER BY head LIMIT ?"
_NEWEST_HEADS: Final = _HEADS.replace("ORDER BY head", "ORDER BY head DESC")
_DECISIONS: Final = """SELECT decisions.certificate, decisions.kind, decisions.record, comment, items.salt, items.body
    FROM decisions LEFT JOIN items
        ON items.certificate = decisions.certificate AND items.kind = 'comment' AND items.ordinal = comment
    WHERE decisions.certificate = ? ORDER BY place"""


class SqliteView:
    """A consistent read; a `kernel.ports.LedgerView`.

    Args:
        session: the read or transaction that it reads in.
        key: the hash that the statement indexes are by.
    """

    def __init__(self, session: Session, key: Callable[[str], int]) -> None:
        self._session = session
        self._key = key

    def believed_of(self, statement: Statement) -> Sequence[Fact]:
        """Every believed fact of exactly this statement, by start."""
        return self._session.all(*self._asking_for(statement))

    def _asking_for(self, statement: Statement) -> tuple[str, tuple[str | int, ...], Callable[[FactRow], Fact]]:
        """How the believed facts of a statement are asked for."""
        texts = (statement.subject.n3, statement.predicate.n3, statement.object.n3, statement.graph.n3)
        return _BELIEVED_OF, (*map(self._key, texts), *texts), fact_of

    def ever_of(self, statement: Statement) -> Iterator[Fact]:
        """Every fact ever recorded of exactly this statement, believed or not."""
        return self.facts_ever(statement=statement)

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

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Ends reads that take longer, all together: `LedgerUnavailable`, with the cause `interrupted`."""
        return self._session.within(seconds)

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

    def head(self) -> Head:
        """The head, clock and state digest."""
        head = self._session.one("SELECT position, instant, clock, digest FROM state", (), head_of)
        if head is None:
            raise DamagedBase("the ledger has no head", remedy="restore the ledger from a backup")
        return head

    def certificate(self, certificate: UUID) -> CertificateRecord | None:
        """A certificate by its id."""
        return self._session.one(_CERTIFICATE, (certificate.bytes,), certificate_of)

    def certificates(
        self,
        *,
        state: CertificateState | None = None,
        verdict: Verdict | None = None,
        after: UUID | None = None,
        limit: int = 50,
        oldest_first: bool = False,
    ) -> list[CertificateRecord]:
        """Certificates, newest or oldest first, from just beyond `after` on."""
        wanted: list[Value] = [value for value in (state, verdict) if value is not None]
        if after is not None:
            wanted.append(after.bytes)
        sql = _listing(state, verdict, after is not None, oldest_first)
        return self._session.all(sql, (*wanted, limit), certificate_of)

    def items(self, certificate: UUID, kind: ItemKind, *, first: int = 0, limit: int | None = None) -> list[SaltedItem]:
        """The salted items that are left of a certificate, by ordinal: from ordinal `first` on, `limit` of them."""
        most = -1 if limit is None else limit  # as SQLite says "all of them"
        return self._session.all(_ITEMS, (certificate.bytes, kind.value, first, most), item_of)

    def leaves(self, certificate: UUID, kind: ItemKind) -> list[bytes]:
        """Every leaf hash of the kind, by ordinal."""
        sql = "SELECT hashes FROM leaves WHERE certificate = ? AND kind = ? ORDER BY first"
        hashes = b"".join(self._session.all(sql, (certificate.bytes, kind.value), _bytes))
        return [hashes[start : start + LEAF_SIZE] for start in range(0, len(hashes), LEAF_SIZE)]

    def decisions(self, certificate: UUID) -> list[DecisionRecord]:
        """Decisions and re-checks of a certificate, oldest first."""
        return self._session.all(_DECISIONS, (certificate.bytes,), decision_of)

    def idempotent(self, principal: str, key: str) -> IdempotencyEntry | None:
        """What the key was used for."""
        sql = "SELECT body_digest, certificate FROM idempotency WHERE principal = ? AND key = ?"
        return self._session.one(sql, (principal, key), idempotency_of)

    def recorded_in(self, head: int) -> Instant | None:
        """The transaction instant of a head; None for other positions."""
        return self._session.one("SELECT instant FROM certificates WHERE head = ?", (head,), _instant)

    def head_at(self, instant: Instant) -> int | None:
        """The last head whose transaction instant is at or before the instant."""
        sql = "SELECT head FROM certificates WHERE instant <= ? ORDER BY instant DESC LIMIT 1"
        return self._session.one(sql, (instant,), _number)

    def heads(self, *, after: int | None = None, limit: int = 50, newest_first: bool = False) -> list[AppliedHead]:
        """Heads in their order, from beyond `after` on, or the newest first."""
        return self._session.all(
            _NEWEST_HEADS if newest_first else _HEADS, (-1 if after is None else after, limit), _head
        )

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
        return self._session.one(sql, wanted, _number) or 0

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
        return self._session.one(sql, (as_of, valid_at, limit, *keys), _number) or 0

    def statements_since(
        self, as_of: Instant, valid_at: Instant, clock: Instant
    ) -> Iterator[tuple[StatementTexts, bool]]:
        """What may tell a moment from stores of this head, or of one that came before it at a clock or later."""
        parameters = self._since(as_of, valid_at, clock)
        return self._session.stream(moments.SINCE, parameters, _texts_then)

    def count_since(self, as_of: Instant, valid_at: Instant, clock: Instant, *, most: int) -> int:
        """About how many statements that would give; no more than `most` + 1."""
        parameters = self._since(as_of, valid_at, clock)
        return self._session.one(moments.COUNT_SINCE, (*parameters, most + 1), _number) or 0

    def _since(self, as_of: Instant, valid_at: Instant, clock: Instant) -> tuple[Instant, ...]:
        now = self.head().clock
        return as_of, valid_at, clock, now, min(valid_at, clock), max(valid_at, now)

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
            return self._session.stream(_select(columns, _RECORDED_UNTIL), (until,), made)
        return self._session.stream(_select(columns, _RECORDED), (after, until), made)

    def count_recorded(self, after: Instant | None, until: Instant, *, most: int | None = None) -> int:
        """How many facts that would give; of those after an instant, no more than `most` + 1."""
        if after is None:
            return self._session.one(moments.RECORDED_BY, (until,), _number) or 0
        limit = -1 if most is None else most + 1
        return self._session.one(moments.RECORDED_SINCE, (after, until, limit), _number) or 0

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
        return frozenset(map(parse_iri, self._session.all("SELECT graph FROM graphs", (), _text)))

    def facts_ever(
        self,
        *,
        statement: Statement | None = None,
        family: UUID | None = None,
        node: Iri | None = None,
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Every fact, believed or not, of a statement, a family, a node or a graph."""
        return purging.facts_ever(self._session, self._key, statement=statement, family=family, node=node, graph=graph)

    def mentions(self, term: Term) -> int:
        """How many facts, believed or not, have the term as subject or object."""
        return purging.mentions(self._session, self._key, term)

    def evidence_citing(self, episodes: Collection[Iri]) -> list[tuple[Evidence, Fact]]:
        """All evidence from some episodes, each with the fact that it is for."""
        return purging.evidence_citing(self._session, episodes)

    def sourced_before(self, fact: UUID, certificate: UUID) -> bool:
        """Whether a certificate brought evidence for a fact that was purged since."""
        return purging.sourced_before(self._session, fact, certificate)

    def items_in_words(self) -> Iterator[tuple[UUID, SaltedItem]]:
        """Every item that may quote what others say, with its certificate."""
        return purging.items_in_words(self._session)

    def purge(self, purge: UUID) -> PurgeRecord | None:
        """A purge by its id."""
        return purging.purge_of(self._session, purge)

    def purges(self) -> list[PurgeRecord]:
        """Every purge, oldest first."""
        return purging.purges(self._session)

    def tombstones(self) -> list[tuple[UUID, str, bytes]]:
        """What stands: the purge that put it up, the kind and the hash of each."""
        return purging.tombstones(self._session)

    def erased(self, purge: UUID) -> tuple[Iterator[tuple[bytes, bytes]], Iterator[tuple[bytes, str, int]]]:
        """What a purge took, in the order of its digest."""
        return purging.erased(self._session, purge)

    def log_size(self) -> int:
        """How many events the log has."""
        return self._session.one("SELECT coalesce(max(position) + 1, 0) FROM events", (), _number) or 0

    def events(self, first: int, count: int) -> list[bytes]:
        """So many events from a position on, as they were logged."""
        sql = "SELECT event FROM events WHERE position >= ? AND position < ? ORDER BY position"
        return self._session.all(sql, (first, first + count), _bytes)

    def editor_key(self, principal: str) -> str | None:
        """The key that is registered for an editor, in multibase; None: there is none."""
        return self._session.one("SELECT multikey FROM editor_keys WHERE principal = ?", (principal,), _text)

    def contradiction_owner(self, certificate: UUID, finding: int) -> str | None:
        """Who looks after a contradiction; None: nobody was given it."""
        sql = "SELECT owner FROM contradiction_owners WHERE certificate = ? AND finding = ?"
        return self._session.one(sql, (certificate.bytes, finding), _text)

    def signing_key(self) -> str | None:
        """The key that certificates are signed with, in multibase; None before there was one."""
        return self._session.one("SELECT multikey FROM keys WHERE used_until IS NULL", (), _text)

    def key_events(self) -> list[tuple[int, bytes]]:
        """Every event about a key, with its position, in order."""
        return self._session.all(f"{KEY_EVENTS} ORDER BY position", (), _event_of)

    def log_hashes(self, level: int, first: int, count: int) -> list[bytes]:
        """So many hashes of the log's tree (`certificates.tiles`): of leaves, or above them of full tiles."""
        return hashes_of(self._session, level, first, count)


def _event_of(row: tuple[int, bytes]) -> tuple[int, bytes]:
    return row


@lru_cache(maxsize=_AT_ONCE)
def _evidence_of(facts: int) -> str:
    """The look-up of the evidence for so many facts."""
    given = ", ".join(["?"] * facts)
    return _select(EVIDENCE_COLUMNS, f"FROM evidence INDEXED BY evidence_by_fact WHERE fact IN ({given}) ORDER BY row")


@lru_cache(maxsize=16)
def _of_graph(predicate: bool, past: bool, valid: bool, paged: bool) -> str:
    """What is believed of a graph, now by its index, which is in the order of rows, or at a past moment row by row."""
    tests = ["graph_key = ? AND graph = ?"]
    tests += ["predicate_key = ? AND predicate = ?"] * predicate
    tests.append("recorded <= ? AND superseded > ?" if past else "superseded_by IS NULL")
    tests += ["valid_from <= ? AND valid_to > ?"] * valid
    tests += ["row > (SELECT row FROM facts WHERE id = ?)"] * paged
    through = "NOT INDEXED" if past else "INDEXED BY facts_by_graph"
    return _select(FACT_COLUMNS, f"FROM facts {through} WHERE {' AND '.join(tests)} ORDER BY row")


@lru_cache(maxsize=64)
def _listing(state: CertificateState | None, verdict: Verdict | None, paged: bool, oldest_first: bool) -> str:
    """A list of certificates: rare states and verdicts through their indexes, common ones by following the ids."""
    beyond, order = ("id > ?", "ASC") if oldest_first else ("id < ?", "DESC")
    tests = ["state = ?"] * (state is not None) + ["verdict = ?"] * (verdict is not None) + [beyond] * paged
    through = ""
    if state not in {None, CertificateState.APPLIED}:
        through = "INDEXED BY certificates_by_state"
        tests.append("state <> 'applied'")
    elif verdict not in {None, Verdict.CLEAR}:
        through = "INDEXED BY certificates_by_verdict"
        tests.append("verdict <> 'clear'")
    where = f"WHERE {' AND '.join(tests)}" if tests else ""
    return _select(
        CERTIFICATE_COLUMNS,
        f"FROM certificates {through} LEFT JOIN requests ON requests.certificate = id {where}"
        f" ORDER BY id {order} LIMIT ?",
    )


def _earlier(row: tuple[int | None, int | None]) -> Instant | None:
    return min((Instant(instant) for instant in row if instant is not None), default=None)


def _instant(row: tuple[int]) -> Instant:
    return Instant(row[0])


def _head(row: tuple[int, int]) -> AppliedHead:
    return AppliedHead(row[0], Instant(row[1]))


def _number(row: tuple[int]) -> int:
    return row[0]


def _texts(row: StatementTexts) -> StatementTexts:
    return row


def _texts_then(row: tuple[str, str, str, str, int]) -> tuple[StatementTexts, bool]:
    return row[:4], bool(row[4])


def _numbers(row: tuple[int, ...]) -> tuple[int, ...]:
    return row


def _row(row: tuple[str, str, str, str, int]) -> tuple[str, str, str, str, int]:
    return row


def _bytes(row: tuple[bytes]) -> bytes:
    return row[0]


def _text(row: tuple[str]) -> str:
    return row[0]
