"""What tests of the write path share: writers, clocks that are set, and ports that can be watched and made to fail.

Example
-------
::

    base = Base.open(None, host=SetClock())
    outcome = write(base, Assert(living(PARIS)))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from threading import Condition, Event
from time import monotonic
from typing import Final, Self
from uuid import UUID

import pytest

from bridge.base import Base
from bridge.ledger.session import Session
from bridge.ledger.sqlite import SqliteLedger
from bridge.ledger.writing import SqliteTransaction
from bridge.loading.staging import encode_changes
from bridge.reading.reader import QueryRequest
from bridge.stores.pair import OxigraphStores
from bridge.stores.projection_store import ProjectionStore
from certificates.records import DecisionKind
from kernel.access import Principal, Role
from kernel.changes import Assert, Change, Request
from kernel.errors import LedgerUnavailable
from kernel.facts import Validity
from kernel.ports.outside import HostClock
from kernel.ports.records import IdempotencyEntry
from kernel.ports.stores import StoreDelta
from kernel.terms import RDF, Iri, Statement, Term
from kernel.time.instants import BEGINNING, FOREVER, SECOND, Instant, parse_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.vocabulary import DEFAULT_GRAPH, RULES_GRAPH, SHAPES_GRAPH, M
from kernel.writing.deciding import DecisionRequest
from kernel.writing.loading import LoadRequest
from kernel.writing.submitting import Outcome, Submission

WRITER: Final = Principal("writer", Role.WRITER)
EDITOR: Final = Principal("editor", Role.EDITOR)
ADMINISTRATOR: Final = Principal("administrator", Role.ADMINISTRATOR)

ANN: Final = Iri("http://example.org/ann")
LIVES_IN: Final = Iri("http://example.org/livesIn")
PARIS, ROME, OSLO = (Iri(f"http://example.org/{name}") for name in ("paris", "rome", "oslo"))
NOON: Final = parse_instant("2026-05-06T12:00:00Z")
DOUBTED: Final = Decimal("0.2")
"""A confidence at which the default policy holds an assertion for review."""

HOUR: Final = 3_600 * SECOND
SH: Final = "http://www.w3.org/ns/shacl#"
PATIENCE: Final = 30.0
"""Seconds after which what is waited for will not come."""


def living(value: Term, subject: Iri = ANN, graph: Iri = DEFAULT_GRAPH) -> Statement:
    return Statement(subject, LIVES_IN, value, graph)


def person(number: int) -> Iri:
    return Iri(f"http://example.org/person/{number}")


def year(number: int) -> Instant:
    return parse_instant(f"{number:04d}-01-01T00:00:00Z")


def during(start: int | None, end: int | None) -> Validity:
    """From the first instant of a year, or an instant, to another; None: unbounded."""
    first, last = (None if bound is None else year(bound) if abs(bound) < 10_000 else bound for bound in (start, end))
    return Validity(
        Interval(BEGINNING if first is None else first, FOREVER if last is None else last),
        Precision.UNBOUNDED if first is None else Precision.INSTANT,
        Precision.UNBOUNDED if last is None else Precision.INSTANT,
    )


def one_home(propose: str = "EndOlder") -> tuple[Assert, ...]:
    """A rule: somebody lives in one place at a time."""
    rule = Iri("http://example.org/one-home")
    said = (
        (RDF + "type", M + "SingleValuedBySubject"),
        (M + "predicate", LIVES_IN.value),
        (M + "propose", M + propose),
    )
    return tuple(Assert(Statement(rule, Iri(name), Iri(value), RULES_GRAPH)) for name, value in said)


def submission(
    *changes: Change, by: Principal = WRITER, key: str | None = None, dry_run: bool = False, body: bytes | None = None
) -> Submission:
    request = Request(changes, None, None, by.id)
    return Submission(request, by, key, sha256(repr(changes).encode() if body is None else body).digest(), dry_run)


def write(
    base: Base, *changes: Change, by: Principal = WRITER, key: str | None = None, dry_run: bool = False
) -> Outcome:
    """Submits changes and waits for what becomes of them."""
    return base.submit(submission(*changes, by=by, key=key, dry_run=dry_run)).result(PATIENCE)


def decide(
    base: Base,
    certificate: UUID | None,
    decision: DecisionKind = DecisionKind.APPROVE,
    comment: str | None = None,
    by: Principal = EDITOR,
    signature: bytes | None = None,
) -> Outcome:
    """Has an editor decide on a certificate."""
    assert certificate is not None
    return base.decide(DecisionRequest(certificate, decision, comment, by, signature)).result(PATIENCE)


def stage(base: Base, session: str, *chunks: Sequence[Assert], by: Principal = EDITOR) -> LoadRequest:
    """Stages chunks of a load session, and answers what applies it."""
    for number, chunk in enumerate(chunks):
        base.ledger.stage(session, number, encode_changes(chunk, bytes(32)))
    return LoadRequest(Request((), None, None, by.id, session), by, lambda _: None)


def load(base: Base, session: str, *chunks: Sequence[Assert], by: Principal = EDITOR) -> Outcome:
    """Loads chunks, and waits."""
    return base.load(stage(base, session, *chunks, by=by)).result(PATIENCE)


def homes(
    base: Base,
    *,
    valid_at: str | None = None,
    as_of: str | None = None,
    subject: Iri = ANN,
    by: Principal = ADMINISTRATOR,
) -> set[Iri]:
    """Where somebody lives, as SPARQL has it."""
    query = f"SELECT ?home {{ {subject.n3} {LIVES_IN.n3} ?home }}"
    answer = base.reader.query(QueryRequest(by, query, "text/csv"), base.reader.moment(as_of, valid_at))
    return {Iri(line) for line in answer.body.decode().splitlines()[1:]}


class SetClock:
    """A host's clock that goes when it is told to."""

    def __init__(self, at: Instant = NOON) -> None:
        self.at = at

    def now(self) -> Instant:
        return self.at

    def move(self, microseconds: int) -> None:
        """Moves it, forwards or back."""
        self.at = Instant(self.at + microseconds)


class WatchedLedger(SqliteLedger):
    """A ledger whose commits can be counted, held up and made to fail.

    Attributes:
        commits: how many there were.
        before_commit: each is called before one commit, the first before the next one.
        on_remember: called with the idempotency key by the last write of a submission.
    """

    def __init__(self, path: Path, host_clock: HostClock, *, durable: bool = True, others: float = 5) -> None:
        super().__init__(path, host_clock, durable=durable, others=others)
        self.commits = 0
        self.before_commit: deque[Callable[[], object]] = deque()
        self.on_remember: Callable[[str], None] = lambda key: None

    @classmethod
    def of(cls, base: Base) -> Self:
        """The one that a base was opened with."""
        assert isinstance(base.ledger, cls)
        return base.ledger

    @contextmanager
    def transaction(self) -> Iterator[SqliteTransaction]:
        """As the ledger's own, watched."""
        with self._writing() as session:
            yield WatchedTransaction(session, self)


class WatchedTransaction(SqliteTransaction):
    """A transaction of a `WatchedLedger`."""

    def __init__(self, session: Session, ledger: WatchedLedger) -> None:
        super().__init__(session, ledger._key, ledger._known)
        self._ledger = ledger

    def remember(self, principal: str, key: str, entry: IdempotencyEntry) -> None:
        """As the transaction's own, then `on_remember`."""
        super().remember(principal, key, entry)
        self._ledger.on_remember(key)

    def commit(self) -> None:
        """As the transaction's own, after what there is to call before it."""
        if self._ledger.before_commit:
            self._ledger.before_commit.popleft()()
        super().commit()
        self._ledger.commits += 1


class WatchedStores(OxigraphStores):
    """Stores that can be waited for and made to fail.

    Attributes:
        failures: each is raised by one attempt to bring the stores up, the first by the next one.
    """

    def __init__(self, complete: ProjectionStore, current: ProjectionStore) -> None:
        super().__init__(complete, current)
        self.failures: deque[BaseException] = deque()
        self._arrived = Condition()

    @classmethod
    def of(cls, base: Base) -> Self:
        """Those that a base was opened with."""
        assert isinstance(base.stores, cls)
        return base.stores

    def apply(self, delta: StoreDelta) -> None:
        """As the stores' own, unless it is to fail."""
        self._fail()
        super().apply(delta)
        with self._arrived:
            self._arrived.notify_all()

    def load(self, deltas: Iterable[StoreDelta]) -> None:
        """As the stores' own, unless it is to fail."""
        self._fail()
        super().load(deltas)
        with self._arrived:
            self._arrived.notify_all()

    def wait_for(self, holds: Callable[[], bool]) -> None:
        """Waits until something holds, which can only change when the stores are brought up."""
        with self._arrived:
            assert self._arrived.wait_for(holds, PATIENCE)

    def _fail(self) -> None:
        if self.failures:
            raise self.failures.popleft()


class Busy:
    """Holds the sequencer up in the commit of a first write, so that what is submitted meanwhile forms one group."""

    def __init__(self, base: Base) -> None:
        self._ledger = WatchedLedger.of(base)
        self._held, self._go = Event(), Event()
        self._ledger.before_commit.append(self._hold)
        self.first = base.submit(submission(Assert(living(OSLO, person(0)))))
        assert self._held.wait(PATIENCE)
        self.commits = self._ledger.commits

    def _hold(self) -> None:
        self._held.set()
        assert self._go.wait(PATIENCE)

    def go_on(self) -> None:
        """Lets the first write, and then the group, have their way."""
        self._go.set()
        self.first.result(PATIENCE)


def settled(base: Base) -> None:
    """Waits until the sequencer has looked at its clock, after whatever it does now."""
    for _ in range(2):
        write(base, Assert(living(OSLO, person(0))), dry_run=True)


def until(base: Base, holds: Callable[[], bool]) -> None:
    """Waits until something holds that the sequencer is to bring about."""
    deadline = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < deadline
        settled(base)


def unavailable() -> None:
    raise LedgerUnavailable("the ledger has no room left on its disk", remedy="make room")


def a_shape() -> list[Assert]:
    """Whoever lives anywhere lives in something with an IRI."""
    shape, prop = Iri("http://example.org/shape"), Iri("http://example.org/shape/home")
    said = (
        (shape, RDF + "type", Iri(SH + "NodeShape")),
        (shape, SH + "targetSubjectsOf", LIVES_IN),
        (shape, SH + "property", prop),
        (prop, SH + "path", LIVES_IN),
        (prop, SH + "nodeKind", Iri(SH + "IRI")),
    )
    return [Assert(Statement(subject, Iri(name), value, SHAPES_GRAPH)) for subject, name, value in said]


class BaseCase(ABC):
    """What holds wherever a base lies: one test case, in memory and on disk. See `InMemory` and `OnDisk`."""

    @pytest.fixture
    def opening(self, tmp_path: Path, watched: None) -> Iterator[Callable[[HostClock], Base]]:
        with ExitStack() as opened:
            yield lambda host: opened.enter_context(self.open(tmp_path, host))

    @pytest.fixture
    def clock(self) -> SetClock:
        return SetClock()

    @pytest.fixture
    def base(self, opening: Callable[[HostClock], Base], clock: SetClock) -> Base:
        return opening(clock)

    @abstractmethod
    def open(self, folder: Path, host: HostClock) -> Base:
        """A new base."""


class InMemory(BaseCase):
    """In memory."""

    def open(self, folder: Path, host: HostClock) -> Base:
        """A new base."""
        return Base.open(None, host=host)


class OnDisk(BaseCase):
    """On disk."""

    def open(self, folder: Path, host: HostClock) -> Base:
        """A new base."""
        return Base.open(folder / "base", host=host)
