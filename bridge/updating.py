"""Updates of a base by SPARQL, and of its graphs as a whole: certified writes whose changes follow from its state.

Rules (BoundToState, OneSequencer)
-----
* An update without WHERE is worked out where it is planned: within its group, against the members before it.
* A WHERE may take long, and is evaluated beside the sequencer, by a worker, at the state of the base. The write is
  planned only if the base still stands there: no other write was applied, and nothing has begun or ended since. Else it
  is evaluated anew; and when that has come to nothing `ATTEMPTS` times, once more within the sequencer, where nobody
  comes in between. The others wait for that, so it has `HELD` seconds and no more: what takes longer is told so.
* What is kept of an update in review is its net changes; an approval plans those.
* Everything of a request is checked before anything of it is kept.
* What writes shapes is judged beside the sequencer as well (`kernel.preparing`): what follows from a WHERE is foreseen
  from what it came to last, and what was judged for it is kept for when it is evaluated anew.
* What LOAD names is fetched by whoever reads the update, before anything of it is evaluated (`with_loaded`).
* Much INSERT DATA is a load session (`bridge.sparql.update.bulk`), one at a time.

Example
-------
::

    update = updates.read(UpdateRequest(…, text="DELETE WHERE { ?s ?p ?o }"))
    outcome = updates.apply(update, updates.evaluate(update, solver)).result()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from bridge.documents.reader import read_document
from bridge.sparql.update.bulk import BULK, session_of, stage_update
from bridge.sparql.update.operations import UNNAMED, Convey, InsertData, Load, Modify
from bridge.sparql.update.parsing import parse_update
from bridge.sparql.update.running import Runner, Scene, refuse_emptying
from bridge.sparql.update.solving import moved
from bridge.sparql.update.templates import BlockReader, Quad, Told
from bridge.terms import OxigraphCanonicaliser
from certificates.events import Applied, decode_event
from kernel.access import Role
from kernel.changes import Request
from kernel.errors import (
    Forbidden,
    InvalidDocument,
    InvalidTerm,
    MunimentError,
    NotFound,
    PreconditionFailed,
    QueryLimit,
    QueryRefused,
    ShuttingDown,
    StateMoved,
)
from kernel.instants import Instant
from kernel.loading import LoadRequest, session_key
from kernel.net_effect import NetEffect
from kernel.submitting import Draft, Submission, outcome_of
from kernel.vocabulary import DEFAULT_GRAPH, SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from typing import Protocol, TypeAlias, TypeVar

    from bridge.documents.reader import Asserted
    from bridge.sparql.update.operations import Operation, Using
    from bridge.sparql.update.solving import Solver
    from kernel.access import Principal
    from kernel.group import Group
    from kernel.net_effect import Since
    from kernel.plan import Plan
    from kernel.ports import Head, HostClock, Ledger, LedgerView
    from kernel.preparing import Preparation
    from kernel.submitting import Outcome, Submitter
    from kernel.terms import Iri

    T = TypeVar("T")

    class Enqueue(Protocol):
        """Queues a job for the sequencer."""

        def __call__(self, run: Callable[[Group], T], *, alone: bool = False) -> Future[T]:
            """As `Sequencer.enqueue`."""

    class Prepare(Protocol):
        """Prepares a write of shapes, and queues it."""

        def __call__(
            self,
            foresee: Callable[[LedgerView], Plan | None],
            run: Callable[[Group, Preparation | None], T],
            *,
            alone: bool = False,
        ) -> Future[T]:
            """As `Preparer.enqueue`."""

    _AtHead: TypeAlias = Callable[[LedgerView, Head, Instant], NetEffect]


LARGE: Final = 10_000
"""Changes above which a write has a group of its own, and is brought into the stores in chunks."""

FOLLOWED: Final = 1_000
"""Events that are looked at for whether one of them changed a graph; where there are more, it is as if one had."""

ATTEMPTS: Final = 3
"""How often a WHERE is evaluated beside the sequencer before that is done within it."""

HELD: Final = 2.0
"""Seconds that others wait at most while a WHERE is evaluated within the sequencer."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is said of a write beside its content.

    Args:
        principal: who asks.
        since: from when on it holds; None for the issue instant.
        reason: for the people who will read the certificate.
        episode: the source that its facts cite.
        key: the idempotency key, if any.
        body_digest: SHA-256 of what was sent.
        dry_run: judge only; nothing is signed or kept.
    """

    principal: Principal
    since: Since | None = None
    reason: str | None = None
    episode: Iri | None = None
    key: str | None = None
    body_digest: bytes = b""
    dry_run: bool = False

    def draft(self, effect: Callable[[Group, Instant], NetEffect]) -> Draft:
        """The request to make of a net effect."""

        def request(group: Group, at: Instant) -> Request | None:
            return self._request(effect(group, at), group.tx, at)

        return Draft(request, self.principal, self.key, self.body_digest, self.dry_run)

    def submission(self, effect: NetEffect, view: LedgerView, at: Instant) -> Submission | None:
        """The same at the head of a view; None where there is nothing to change."""
        request = self._request(effect, view, at)
        if request is None:
            return None
        return Submission(request, self.principal, self.key, self.body_digest, self.dry_run)

    def _request(self, effect: NetEffect, view: LedgerView, at: Instant) -> Request | None:
        changes = effect.changes(view, at, self.since)
        return Request(changes, self.reason, self.episode, self.principal.id) if changes else None


class Document(NamedTuple):
    """What was fetched for a LOAD: its bytes, in a format that is read here, and its URL, which is its base."""

    body: bytes
    media_type: str
    url: str


@dataclass(frozen=True, slots=True)
class Update:
    """An update that was read.

    Args:
        operations: in their order; their data is read, unless there is very much of it.
        terms: what is said beside.
        strict: whether the default graph is `m:default` alone.
        using: the dataset of every WHERE, where the request has one.
    """

    operations: tuple[Operation | Told, ...]
    terms: Terms
    strict: bool = False
    using: Using = UNNAMED

    @classmethod
    def read(
        cls,
        text: str,
        terms: Terms,
        *,
        strict: bool = False,
        using: Using = UNNAMED,
        base: str | None = None,
        loads: bool = False,
    ) -> Update:
        """Reads the text of an update.

        Args:
            text: the update.
            terms: what is said beside.
            strict: whether the default graph is `m:default` alone.
            using: the dataset of every WHERE, where the request has one.
            base: what relative IRIs are relative to, unless the text says so itself.
            loads: whether it may LOAD, for somebody who then gives it what its `sources` say.

        Raises:
            Forbidden: the caller writes nothing at all.
            QueryRefused: it cannot be read, asks for what is not served, or names a dataset as the request does.
        """
        if terms.principal.highest < Role.WRITER:
            raise Forbidden("your token does not allow changes", remedy="ask an administrator for a writer's token")
        operations = parse_update(text, base, loads=loads)
        named = any(isinstance(each, Modify) and (each.using or each.graph) for each in operations)
        if using and named:
            raise QueryRefused(
                "the request names a dataset, and the update as well: WITH or USING",
                remedy="give one of them (SPARQL 1.1 Protocol, section 2.2.3)",
                where="using-graph-uri",
            )
        update = cls(operations, terms, strict, using)
        if update.is_bulk:
            return update
        reader = BlockReader(OxigraphCanonicaliser())
        return replace(update, operations=tuple(map(reader.told, operations)))

    @property
    def sources(self) -> tuple[Load, ...]:
        """What is to be loaded from elsewhere, in its order."""
        return tuple(each for each in self.operations if isinstance(each, Load))

    def with_loaded(self, documents: Sequence[Document | None]) -> Update:
        """The same once its sources are there.

        Args:
            documents: one for each of `sources`; None for one that says nothing.

        Raises:
            InvalidDocument, InvalidTerm: one cannot be read, and was not asked for silently.
        """
        remaining = iter(documents)
        operations = tuple(
            _loaded(each, next(remaining)) if isinstance(each, Load) else each for each in self.operations
        )
        return replace(self, operations=operations)

    @property
    def has_where(self) -> bool:
        """Whether something has to be evaluated."""
        return any(isinstance(operation, Modify) for operation in self.operations)

    @property
    def is_bulk(self) -> bool:
        """Whether it is INSERT DATA and nothing else, and much of it; what is judged alone is planned in memory."""
        inserted = self.insertions
        size = sum(len(piece) for each in inserted for piece in each.block.trig)
        return size >= BULK and len(inserted) == len(self.operations) and not self.terms.dry_run

    @property
    def may_be_large(self) -> bool:
        """Whether more may come of it than its own text says, or that says much."""
        data = [each for each in self.operations if isinstance(each, Told)]
        return len(data) < len(self.operations) or sum(len(each.quads) for each in data) > LARGE

    @property
    def says_shapes(self) -> bool:
        """Whether it writes the graph of shapes, as far as its text says so: what a WHERE comes to is not known yet."""
        data = [each for each in self.operations if isinstance(each, Told)]
        conveyed = any(isinstance(each, Convey) and each.target == SHAPES_GRAPH for each in self.operations)
        return conveyed or any(quad.graph == SHAPES_GRAPH for each in data for quad in each.quads)

    @property
    def insertions(self) -> list[InsertData]:
        """The operations that insert data."""
        return [operation for operation in self.operations if isinstance(operation, InsertData)]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an update came to at a state: the head's position, and the clock."""

    effect: NetEffect
    head: int | None
    clock: Instant

    @property
    def writes_shapes(self) -> bool:
        """Whether something of the graph of shapes has come of it."""
        return any(statement.graph == SHAPES_GRAPH for statement in self.effect.touched())


@dataclass(frozen=True, slots=True)
class Required:
    """What a graph has to be for a write of it as a whole (RFC 9110, sections 13.1.1 and 13.1.2).

    Args:
        states: as it was at one of these heads and clocks; None for any.
        there: whether it is there; None for either.
    """

    states: tuple[tuple[int, int], ...] | None = None
    there: bool | None = None

    def check(self, view: LedgerView, head: Head, at: Instant, graph: Iri, *, there: bool) -> None:
        """Raises `PreconditionFailed` where it is not so."""
        if self.there is not None and there is not self.there:
            raise PreconditionFailed(
                "the graph is there" if there else "there is no such graph",
                remedy="read the graph, and decide anew",
                where=graph.value,
            )
        if self.states is not None and not any(_is_as_at(state, view, head, at, graph) for state in self.states):
            raise PreconditionFailed(
                "the graph has changed since it was read", remedy="read it again, and decide anew", where=graph.value
            )


NOTHING_REQUIRED: Final = Required()


def _is_as_at(state: tuple[int, int], view: LedgerView, head: Head, at: Instant, graph: Iri) -> bool:
    """Whether nothing in a graph was written since a head, and nothing at all began or ended since a clock."""
    position, clock = state
    if head.position is None or position > head.position or _is_due(view, Instant(clock), at):
        return False
    length = head.position - position
    if length > FOLLOWED:
        return False
    applied = [event for event in map(decode_event, view.events(position + 1, length)) if isinstance(event, Applied)]
    records = [view.certificate(event.certificate) for event in applied]
    return not any(record is None or graph in record.graphs for record in records)


class GraphWrite(StrEnum):
    """What is done to a graph as a whole (SPARQL 1.1 Graph Store HTTP Protocol, section 5)."""

    PUT = "PUT"
    POST = "POST"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True)
class WritePath:
    """What writes a base: the path itself, the queues to it, that for shapes among them, and the host's clock."""

    submitter: Submitter
    enqueue: Enqueue
    prepare: Prepare
    load: Callable[[LoadRequest], Future[Outcome]]
    host: HostClock


class Updates:
    """Updates of one base.

    Args:
        ledger: of the base.
        path: what writes it.
    """

    def __init__(self, ledger: Ledger, path: WritePath) -> None:
        self._ledger = ledger
        self._path = path
        self._bulk = ThreadPoolExecutor(1, "bulk-update")

    def close(self) -> None:
        """Finishes what is being loaded, and takes no more."""
        self._bulk.shutdown(cancel_futures=True)

    def load(self, update: Update) -> Future[Outcome]:
        """Stages and queues an update that `is_bulk`, after those before it."""
        try:
            return self._bulk.submit(self._load, update)
        except RuntimeError as error:
            raise ShuttingDown("the base is closing", remedy="send the request again once it is served") from error

    def evaluate(self, update: Update, solver: Solver) -> Evaluated:
        """Evaluates an update that `has_where` where the base stands; safe from any thread.

        Raises:
            CallerError: it cannot be evaluated, takes more than it may, or is not the caller's to ask.
            StateMoved: the base moved on meanwhile.
            StoreUnavailable: a store cannot be read.
        """
        with self._ledger.reading() as view:
            head = view.head()
            if update.terms.key is not None and view.idempotent(update.terms.principal.id, update.terms.key):
                effect = NetEffect(view, head.clock, update.terms.principal)  # it will get what it got before
            else:
                place = _Place(view, head.position, head.clock, head.clock, self._path.host.now())
                effect = _effect(update, place, solver)
        return Evaluated(effect, head.position, head.clock)

    def apply(self, update: Update, evaluated: Evaluated | None) -> Future[Outcome]:
        """Queues an update, evaluated if it `has_where`; the future has its outcome, or the error it met.

        `StateMoved` is met when the base has moved on since it was evaluated.
        """
        if evaluated is None:
            return self._apply_told(update)

        def effect(group: Group, at: Instant) -> NetEffect:
            if group.head.position != evaluated.head or _is_due(group.tx, evaluated.clock, at):
                raise moved()
            return evaluated.effect

        return self._submit(update, effect, alone=len(evaluated.effect) > LARGE, foreseen=evaluated)

    def _apply_told(self, update: Update) -> Future[Outcome]:
        """Queues an update in which nothing has to be evaluated."""

        def effect(view: LedgerView, head: Head, at: Instant) -> NetEffect:
            return _effect(update, _Place(view, head.position, head.clock, at, at))

        def within(group: Group, at: Instant) -> NetEffect:
            return effect(group.tx, group.head, at)

        if not update.says_shapes:
            return self._submit(update, within, alone=update.may_be_large)
        return self._prepare(update, effect, within, alone=update.may_be_large)

    def _foresee(self, terms: Terms, effect: _AtHead, view: LedgerView) -> Plan | None:
        """What a write would do at the head of a view: to prepare for, if it writes shapes."""
        at = self._path.host.now()
        submission = terms.submission(effect(view, view.head(), at), view, at)
        return None if submission is None else self._path.submitter.foresee(view, submission, at)

    def apply_alone(self, update: Update, solver: Solver, foreseen: Evaluated | None = None) -> Future[Outcome]:
        """Queues an update that is to be evaluated within the sequencer, in a group of its own.

        Args:
            update: that `has_where`.
            solver: of which no more than `HELD` seconds are asked. Where that is too little, `StateMoved` is met.
            foreseen: what it came to last.
        """

        def effect(group: Group, at: Instant) -> NetEffect:
            if _is_due(group.tx, group.head.clock, at):
                raise moved()
            try:
                return _effect(update, _Place(group.tx, group.head.position, group.head.clock, at, at), solver)
            except QueryLimit as error:
                if error.data.get("of") == "time":
                    raise too_slow() from error
                raise

        return self._submit(update, effect, alone=True, foreseen=foreseen)

    def write_graph(
        self,
        how: GraphWrite,
        graph: Iri,
        statements: Sequence[Asserted],
        terms: Terms,
        required: Required = NOTHING_REQUIRED,
    ) -> Future[tuple[Outcome, bool]]:
        """Queues a write of a graph as a whole: its outcome, and whether the graph was there before.

        Args:
            how: its content is replaced, added to, or taken away.
            graph: which.
            statements: of that graph.
            terms: what is said beside.
            required: what it has to be; else `PreconditionFailed` is met.
        """
        existed = True  # as far as is known of one that was answered before

        def effect(view: LedgerView, head: Head, at: Instant) -> NetEffect:
            nonlocal existed
            terms.principal.require_write(graph)
            effect = NetEffect(view, at, terms.principal)
            existed = effect.has(graph)
            required.check(view, head, at, graph, there=existed)
            if how is GraphWrite.POST:
                for statement, spelling in statements:
                    effect.insert(statement, spelling)
                return effect
            refuse_emptying(graph)
            if how is GraphWrite.DELETE and not existed:
                raise NotFound("there is no such graph", remedy="name one that holds something", where=graph.value)
            effect.replace(graph, statements)
            return effect

        draft = terms.draft(lambda group, at: effect(group.tx, group.head, at))

        def run(group: Group, preparation: Preparation | None = None) -> tuple[Outcome, bool]:
            return _told(lambda: self._path.submitter.submit(group, draft, preparation)), existed

        alone = how is not GraphWrite.POST or len(statements) > LARGE
        if graph == SHAPES_GRAPH:
            return self._path.prepare(partial(self._foresee, terms, effect), run, alone=alone)
        return self._path.enqueue(run, alone=alone)

    def _submit(
        self,
        update: Update,
        effect: Callable[[Group, Instant], NetEffect],
        *,
        alone: bool = False,
        foreseen: Evaluated | None = None,
    ) -> Future[Outcome]:
        if foreseen is not None and foreseen.writes_shapes:
            return self._prepare(update, lambda *_: foreseen.effect, effect, alone=alone)
        draft = update.terms.draft(effect)
        submitter = self._path.submitter
        return self._path.enqueue(lambda group: _told(lambda: submitter.submit(group, draft)), alone=alone)

    def _prepare(
        self, update: Update, foreseen: _AtHead, effect: Callable[[Group, Instant], NetEffect], *, alone: bool
    ) -> Future[Outcome]:
        """Queues an update that writes shapes, once what it is foreseen to come to has been judged."""
        draft, submitter = update.terms.draft(effect), self._path.submitter
        return self._path.prepare(
            partial(self._foresee, update.terms, foreseen),
            lambda group, preparation: _told(lambda: submitter.submit(group, draft, preparation)),
            alone=alone,
        )

    def _load(self, update: Update) -> Outcome:
        """Loads what an update inserts, unless its key says that this was done."""
        terms, submitter = update.terms, self._path.submitter
        session = session_of(terms)

        def before(group: Group) -> Outcome | None:
            answered = submitter.answered_before(group, terms)
            entry = group.tx.idempotent(terms.principal.id, session_key(session))
            record = None if entry is None else group.tx.certificate(entry.certificate)
            return outcome_of(group.tx, record) if answered is None and record is not None else answered

        outcome = None if terms.key is None else self._path.enqueue(before).result()
        if outcome is None:
            request = stage_update(self._ledger, session, update.insertions, terms, self._path.host.now())
            outcome = self._path.load(LoadRequest(request, terms.principal, lambda _: None)).result()
        loaded = outcome
        if terms.key is not None:
            self._path.enqueue(lambda group: submitter.remember(group, terms, loaded)).result()
        return outcome


class _Place(NamedTuple):
    """Where an update runs: the first members of `Scene`, in their order."""

    view: LedgerView
    head: int | None
    stores: Instant
    clock: Instant
    now: Instant


def _effect(update: Update, place: _Place, solver: Solver | None = None) -> NetEffect:
    """What the operations come to."""
    runner = Runner(Scene(*place, update.terms.principal, update.strict, update.using), solver)
    for operation in update.operations:
        runner.run(operation)
    return runner.effect


def _loaded(load: Load, document: Document | None) -> Told:
    """What a LOAD inserts; its statements go to its graph, so one with graphs of its own is refused."""
    if document is None:
        return Told(True, [])
    try:
        asserted = read_document(
            document.body,
            document.media_type,
            graph=load.graph or DEFAULT_GRAPH,
            canonicaliser=OxigraphCanonicaliser(),
            limit=len(document.body),
            base=document.url,
        )
    except (InvalidDocument, InvalidTerm) as error:
        if load.silent:
            return Told(True, [])
        error.where = load.source.value if error.where is None else f"{load.source.value}, {error.where}"
        raise
    return Told(True, [Quad(statement, spelling, load.graph) for statement, spelling in asserted])


def too_slow() -> StateMoved:
    """What to raise for an update that is overtaken each time, and takes too long for the others to wait for it."""
    return StateMoved(
        "the base moved on each time that the update was evaluated, and it takes too long for others to wait for it",
        remedy="change fewer statements at a time, give more selective patterns, or send it again when less is written",
    )


def _is_due(view: LedgerView, clock: Instant, at: Instant) -> bool:
    """Whether something begins or ends after the clock, up to an instant."""
    due = view.next_due(clock)
    return due is not None and due <= at


def _told(submit: Callable[[], Outcome]) -> Outcome:
    """The outcome; an error about one of the net changes, which nobody has seen, is about the request."""
    try:
        return submit()
    except MunimentError as error:
        if error.where is not None and error.where.startswith("/changes/"):
            error.where = None
        raise
