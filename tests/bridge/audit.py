"""What must hold of a base at every moment, read from its ledger and worked out anew in the plainest way.

Rules
-----
* `read_books` reads one state of the ledger whole. `Books.require_sound` replays its log: what every event says must be
  what the tables say, and nothing may be in the tables that no event explains.
* `require_stores_equal` compares both stores with quads written out fact by fact, from nothing but the ledger's facts.
* Everything is an assertion; what fails says which row.

Example
-------
::

    audit(base)                                  # both
    books = read_books(base.ledger); books.require_sound(base.key.public)
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import Final
from uuid import UUID

import pyoxigraph as ox

from bridge.base import Base
from bridge.ledger.reading import SqliteView
from bridge.ledger.session import Session
from bridge.ledger.sqlite import SqliteLedger
from bridge.stores.pair import OxigraphStores
from bridge.stores.projections import Projection
from certificates.certificate import Verdict
from certificates.events import Applied, Decided, Event, Issued, Stale, decode_event
from certificates.items import ItemKind, ItemTree, SaltedItem
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.keys import VerifyingKey
from certificates.lthash import LatticeHash
from certificates.proof import verify
from certificates.purge_events import Erased, Purged, Restored
from certificates.records import Decision, DecisionKind, Recheck, verify_record
from kernel.facts import Evidence, Fact
from kernel.ports.heads import Head
from kernel.ports.records import CertificateRecord, CertificateState
from kernel.terms import Iri
from kernel.time.instants import BEGINNING, FOREVER, Instant, parse_instant
from kernel.vocabulary import GOVERNANCE
from tests.bridge.stores.chronicle import described, quad_of, supporting

_ALL: Final = 2**31
_SIGNED: Final = (ItemKind.PLAN, ItemKind.FINDING)
_ITEMS: Final = "SELECT certificate, kind, ordinal, salt, body FROM items ORDER BY certificate, kind, ordinal"
_LEAVES: Final = "SELECT certificate, kind, hashes FROM leaves ORDER BY certificate, kind, first"


@dataclass
class Told:
    """What the plan items of applied certificates say of a fact, as text."""

    statement: str
    start: Instant
    end: Instant
    certificate: UUID
    at: Instant
    leaf: bytes
    superseded: tuple[Instant, UUID] | None = None


@dataclass
class Books:
    """A ledger as it was read."""

    head: Head
    events: list[tuple[int, bytes, bytes]]
    certificates: dict[UUID, CertificateRecord]
    items: dict[tuple[UUID, ItemKind], list[SaltedItem]]
    leaves: dict[tuple[UUID, ItemKind], list[bytes]]
    decisions: dict[UUID, list[bytes]]
    requests: set[UUID]
    idempotency: dict[tuple[str, str], UUID]
    facts: list[Fact]
    evidence: list[tuple[Evidence, Iri]]
    graphs: set[str]
    log: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.log = [decode_event(event) for _, event, _ in self.events]

    def of(self, certificate: UUID) -> list[Event]:
        """The events of a certificate, in order."""
        return [event for event in self.log if getattr(event, "certificate", None) == certificate]

    def require_sound(self, key: VerifyingKey | None = None) -> None:
        """Everything that can be told from the ledger alone; with a key, signatures and roots too."""
        self._require_log()
        if key is not None:
            for record in self.certificates.values():
                self._require_signed(record, key)
        told, evidence = self._replay(key)
        self._require_facts(told)
        assert {item.content.id: item.certificate for item, _ in self.evidence} == evidence
        self._require_rest()

    def _require_log(self) -> None:
        assert [position for position, _, _ in self.events] == list(range(len(self.events)))
        for position, event, leaf in self.events:
            assert leaf == sha256(b"\x00" + event).digest(), position
        instants = [parse_instant(event.at) for event in self.log if isinstance(event, Applied)]
        assert all(before < after for before, after in pairwise(instants))

    def _require_signed(self, record: CertificateRecord, key: VerifyingKey) -> None:
        certificate = verify(record.document, key)
        assert (certificate.id, certificate.verdict, certificate.base_head) == (
            record.id,
            record.verdict,
            record.base_head,
        )
        for kind, tree in zip(_SIGNED, (certificate.plan, certificate.findings), strict=True):
            items = self.items.get((record.id, kind), [])
            leaves = [sha256(b"\x00" + item.salt + item.body).digest() for item in items]
            assert leaves == self.leaves.get((record.id, kind), [])
            assert tree == ItemTree.of(leaves)

    def _replay(self, key: VerifyingKey | None) -> tuple[dict[UUID, Told], dict[UUID, UUID]]:
        """Plays the log and answers what it says of facts, and which certificate brought which evidence."""
        play = _Play(self, key)
        for position, event in enumerate(self.log):
            play.play(position, event)
        for record in self.certificates.values():
            assert play.states[record.id] is record.state
            assert (record.id in self.requests) == (record.state is CertificateState.PENDING)
        applied = [position for position, event in enumerate(self.log) if isinstance(event, Applied)]
        assert self.head.position == (applied[-1] if applied else None)
        assert self.head.state == play.digest
        assert self.head.instant == play.instant
        assert self.head.instant is None or self.head.clock >= self.head.instant
        return play.facts, play.evidence

    def _require_facts(self, told: dict[UUID, Told]) -> None:
        held = {
            fact.id: Told(
                fact.statement.nquad,
                Instant(fact.interval.start),
                Instant(fact.interval.end),
                fact.certificate,
                fact.recorded_at,
                fact.leaf,
                None if fact.superseded is None else (fact.superseded.at, fact.superseded.certificate),
            )
            for fact in self.facts
        }
        assert len(held) == len(self.facts)
        assert held == told
        believed = [fact for fact in self.facts if fact.superseded is None]
        assert self.head.state == LatticeHash().add_many((fact.id.bytes, fact.leaf) for fact in believed)
        intervals = defaultdict(list)
        for fact in believed:
            intervals[fact.statement].append(fact.interval)
        for statement, those in intervals.items():
            assert all(a.end <= b.start for a, b in pairwise(sorted(those))), statement

    def _require_rest(self) -> None:
        assert {certificate for certificate, _ in self.items} <= self.certificates.keys()
        assert set(self.idempotency.values()) <= self.certificates.keys()
        assert self.graphs == {fact.statement.graph.n3[1:-1] for fact in self.facts}


class _Play:
    """Plays a log, event by event."""

    def __init__(self, books: Books, key: VerifyingKey | None) -> None:
        self._books = books
        self._key = key
        self._approved: set[UUID] = set()
        self.states: dict[UUID, CertificateState] = {}
        self.head: int | None = None
        self.instant: Instant | None = None
        self.digest = LatticeHash()
        self.facts: dict[UUID, Told] = {}
        self.evidence: dict[UUID, UUID] = {}

    def play(self, position: int, event: Event) -> None:
        """Takes in the next event."""
        assert not isinstance(event, KeyRotated | KeyRevoked), "this oracle knows bases of one key"
        assert not isinstance(event, Purged | Erased | Restored), "and of which nothing was purged"
        record = self._books.certificates[event.certificate]
        match event:
            case Issued():
                self._issued(event, record)
            case Decided():
                self._decided(event, record)
            case Stale():
                assert self.states[record.id] is CertificateState.PENDING
                assert event.successor == record.successor
                self.states[record.id] = CertificateState.STALE
            case Applied():
                self._applied(position, event, record)

    def _issued(self, event: Issued, record: CertificateRecord) -> None:
        assert record.id not in self.states
        assert event.digest == sha256(record.document).hexdigest()
        assert event.verdict is record.verdict
        assert record.base_head == self.head
        refused = event.verdict is Verdict.REFUSED
        self.states[record.id] = CertificateState.REFUSED if refused else CertificateState.PENDING

    def _decided(self, event: Decided, record: CertificateRecord) -> None:
        assert self.states[record.id] is CertificateState.PENDING
        assert record.id not in self._approved
        assert record.verdict is Verdict.REVIEW
        document = self._recorded(record.id, event.digest)
        if self._key is not None:
            decision = verify_record(document, self._key)
            assert isinstance(decision, Decision)
            assert (decision.certificate, decision.decision) == (record.id, event.decision)
            assert decision.certificate_digest == sha256(record.document).hexdigest()
        if event.decision is DecisionKind.REJECT:
            self.states[record.id] = CertificateState.REJECTED
        else:
            self._approved.add(record.id)

    def _applied(self, position: int, event: Applied, record: CertificateRecord) -> None:
        """OnlyCertifiedWrites: clear, or approved and checked again."""
        assert self.states[record.id] is CertificateState.PENDING
        if record.verdict is Verdict.CLEAR:
            assert event.recheck is None
        else:
            assert record.id in self._approved
            assert event.recheck is not None
            self._rechecked(event.recheck, record)
        assert event.previous == self.head
        at = parse_instant(event.at)
        assert (record.head, record.instant) == (position, at)
        self._apply(record.id, at)
        assert event.state == sha256(self.digest.to_bytes()).hexdigest()
        self.head, self.instant = position, at
        self.states[record.id] = CertificateState.APPLIED

    def _rechecked(self, digest: str, record: CertificateRecord) -> None:
        document = self._recorded(record.id, digest)
        if self._key is not None:
            recheck = verify_record(document, self._key)
            assert isinstance(recheck, Recheck)
            assert (recheck.certificate, recheck.at_head) == (record.id, self.head)
            trees = [ItemTree.of(self._books.leaves.get((record.id, kind), [])) for kind in _SIGNED]
            assert [recheck.plan_root, recheck.findings_root] == [tree.root for tree in trees]

    def _recorded(self, certificate: UUID, digest: str) -> bytes:
        documents = self._books.decisions[certificate]
        return next(document for document in documents if sha256(document).hexdigest() == digest)

    def _apply(self, certificate: UUID, at: Instant) -> None:
        for item in self._books.items[certificate, ItemKind.PLAN]:
            body = json.loads(item.body)
            leaf = sha256(b"\x00" + item.salt + item.body).digest()
            if body["op"] == "record":
                start, end = (_bound(body, name, default) for name, default in (("from", BEGINNING), ("to", FOREVER)))
                self.facts[UUID(body["fact"])] = Told(body["statement"], start, end, certificate, at, leaf)
                self.digest = self.digest.add(UUID(body["fact"]).bytes, leaf)
            elif body["op"] == "supersede":
                told = self.facts[UUID(body["fact"])]
                assert told.superseded is None
                told.superseded = (at, certificate)
                self.digest = self.digest.remove(UUID(body["fact"]).bytes, told.leaf)
            elif body["op"] == "support":
                assert UUID(body["fact"]) in self.facts
                self.evidence[UUID(body["evidence"])] = certificate


def read_books(ledger: SqliteLedger) -> Books:
    """The ledger as it is now."""
    with ledger._readers.borrow() as session:
        session.execute("BEGIN")
        return _books(session, SqliteView(session, ledger._key))


def audit(base: Base, *, signatures: bool = True) -> Books:
    """Requires a base to be sound, stores and all; nothing may be written to it meanwhile."""
    assert isinstance(base.ledger, SqliteLedger)
    books = read_books(base.ledger)
    books.require_sound(base.key.public if signatures else None)
    require_stores_equal(base.stores, books)
    return books


def require_stores_equal(stores: OxigraphStores, books: Books) -> None:
    """Both stores hold what the books say, quad for quad, and are served for the head and clock of the books."""
    head = books.head
    for projection in Projection:
        quads, state = stores.read(projection, set)
        assert (state.head, state.instant, state.clock) == (head.position, head.instant, head.clock)
        expected = set(_quads(books, projection))
        assert quads == expected, (quads - expected, expected - quads)


def _quads(books: Books, projection: Projection) -> Iterator[ox.Quad]:
    for fact in books.facts:
        hidden = projection is Projection.CURRENT and fact.statement.graph in GOVERNANCE
        if not hidden and fact.superseded is None and fact.interval.start <= books.head.clock < fact.interval.end:
            yield quad_of(fact.statement)
        if projection is Projection.COMPLETE:
            yield from described(fact)
    if projection is Projection.COMPLETE:
        for evidence, graph in books.evidence:
            yield from supporting(evidence, graph)


def _books(session: Session, view: SqliteView) -> Books:
    items = defaultdict(list)
    for certificate, item in session.all(_ITEMS, (), _item_of):
        items[certificate, item.kind].append(item)
    leaves: defaultdict[tuple[UUID, ItemKind], list[bytes]] = defaultdict(list)
    for certificate, kind, hashes in session.all(_LEAVES, (), _leaves_of):
        leaves[certificate, kind] += hashes
    decisions = defaultdict(list)
    for certificate, document in session.all(
        "SELECT certificate, record FROM decisions ORDER BY place", (), _decision_of
    ):
        decisions[certificate].append(document)
    return Books(
        head=view.head(),
        events=session.all("SELECT position, event, leaf FROM events ORDER BY position", (), _event_of),
        certificates={record.id: record for record in view.certificates(limit=_ALL)},
        items=items,
        leaves=leaves,
        decisions=decisions,
        requests=set(session.all("SELECT certificate FROM requests", (), _id_of)),
        idempotency=dict(session.all("SELECT principal, key, certificate FROM idempotency", (), _key_of)),
        facts=list(view.facts_recorded(None, FOREVER)),
        evidence=list(view.evidence_recorded(None, FOREVER)),
        graphs={graph.value for graph in view.graphs()},
    )


def _event_of(row: tuple[int, bytes, bytes]) -> tuple[int, bytes, bytes]:
    return row


def _item_of(row: tuple[bytes, str, int, bytes, bytes]) -> tuple[UUID, SaltedItem]:
    certificate, kind, ordinal, salt, body = row
    return UUID(bytes=certificate), SaltedItem(ItemKind(kind), ordinal, salt, body)


def _leaves_of(row: tuple[bytes, str, bytes]) -> tuple[UUID, ItemKind, list[bytes]]:
    certificate, kind, hashes = row
    return UUID(bytes=certificate), ItemKind(kind), [hashes[start : start + 32] for start in range(0, len(hashes), 32)]


def _decision_of(row: tuple[bytes, bytes]) -> tuple[UUID, bytes]:
    return UUID(bytes=row[0]), row[1]


def _key_of(row: tuple[str, str, bytes]) -> tuple[tuple[str, str], UUID]:
    return (row[0], row[1]), UUID(bytes=row[2])


def _id_of(row: tuple[bytes]) -> UUID:
    return UUID(bytes=row[0])


def _bound(body: dict[str, str], name: str, default: Instant) -> Instant:
    return parse_instant(body[name]) if name in body else default
