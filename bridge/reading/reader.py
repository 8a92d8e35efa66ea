"""Reading a base: SPARQL and facts at any pair of times, for one caller.

Rules
-----
* A read is at a moment (`bridge.reading.moments`): `as-of` says as known when, `valid-at` as true when. Neither: the
  head, and the current store answers. `valid-at` is the clock where neither is given.
* Everything that is read goes through a `Dataset` made for the caller: the one choke point for what may be seen. For
  callers held to some graphs the facts of a node are looked up in the history of those graphs alone: how much others
  have of it costs no time, by which it could be told.
* An answer carries the state it was given for: head and valid-at.
* Three engines, one answer (`bridge.slices`, `bridge.snapshots`): the head is answered from the stores; another
  moment from a slice of it where that is small and enough; else from a snapshot. What follows is in no store and in no
  slice: whoever asks for it is answered from a snapshot, also at the head (`bridge.entailment`).

Example
-------
::

    answer = reader.query(QueryRequest(principal, "SELECT * {?s ?p ?o}"), reader.moment("head:3", "2024-01-01"))
    answer.body, answer.media_type, answer.head, answer.valid_at

That runs here, and takes what time and memory it takes. What others ask is settled by `question`, and answered by
`bridge.replicas`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import nsmallest
from math import inf
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from bridge.entailment.regimes import Entailed, premises, with_inferred
from bridge.reading.facts import FactPage, FoundFact, as_known, in_time, known_of, of_graph, place_of, within
from bridge.reading.history_queries import (
    facts_sampled,
    history_of,
    members_of,
    successors_of,
)
from bridge.reading.moments import NOW, Moments
from bridge.slices.slicing import slice_of
from bridge.slices.stores import sliced_store
from bridge.snapshots.wanted import Wanted
from bridge.sparql.dataset import Dataset, dataset_for
from bridge.sparql.query import evaluation_errors, finish, require_query, start
from bridge.sparql.results import negotiate
from bridge.sparql.sample import Sample, sample
from bridge.sparql.scan import runnable, scan
from bridge.stores.errors import store_errors
from bridge.stores.projections import Projection
from kernel.errors import InvalidParameter
from kernel.terms import Iri
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyoxigraph as ox

    from bridge.reading.facts import FactFilter, Place
    from bridge.reading.moments import Moment
    from bridge.review.branching import Over
    from bridge.snapshots.cache import Snapshots
    from bridge.sparql.results import Format, Results
    from bridge.sparql.update.solving import Laid
    from bridge.stores.pair import OxigraphStores
    from kernel.access import Principal
    from kernel.entailment.table import Regime
    from kernel.facts import Fact
    from kernel.ports.heads import Head
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.outside import HostClock

T = TypeVar("T")

_LOOKED_AT: Final = 2_000
"""Facts of a node's history that are looked at."""


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A SPARQL query.

    Args:
        principal: for whom.
        text: the query.
        accept: the Accept header, or None.
        default_graphs: `default-graph-uri` parameters of the SPARQL protocol.
        named_graphs: `named-graph-uri` parameters.
        strict: whether the default graph is `m:default` alone, unless a dataset is named.
        restore: whether Skolem IRIs come as blank nodes.
        base: what its relative IRIs are relative to where it has no BASE; None: they are an error.
        entailment: by which rules its default graph has what follows from it; None: it has what is asserted.
    """

    principal: Principal
    text: str
    accept: str | None = None
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    strict: bool = False
    restore: bool = False
    base: str | None = None
    entailment: Regime | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """A moment that the stores do not stand at, or at which more is asked for than they have.

    Args:
        as_of: as believed when; None: before the first certificate, when nothing was.
        valid_at: as true when.
        head: the last head by then.
        history: whether the query reads history graphs.
        entailed: what is there beside what is asserted.
    """

    as_of: Instant | None
    valid_at: Instant
    head: int | None
    history: bool
    entailed: Entailed | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A query for one caller, settled but for its answer.

    Args:
        text: as it came.
        runnable: as it is to be run.
        dataset: what its caller may read.
        form: the format of the answer.
        past: the moment it is of; None for the present.
        restore: whether Skolem IRIs come as blank nodes.
        laid: what is laid over the present, for the WHERE of an update.
        base: what its relative IRIs are relative to.
        sliced: of the moment, all that it takes to answer it, in N-Quads; None where that is not few statements.
        volatile: whether its answer changes by itself, so that nobody may keep it.
    """

    text: str
    runnable: str
    dataset: Dataset
    form: Format
    past: Past | None
    restore: bool = False
    base: str | None = None
    laid: Laid | None = None
    sliced: bytes | None = None
    volatile: bool = False

    @property
    def projection(self) -> Projection:
        """Which of the two stores it takes."""
        return Projection.COMPLETE if self.dataset.complete else Projection.CURRENT

    @property
    def wanted(self) -> Wanted:
        """The snapshot that it takes, if it is of the past. Raises `ValueError` where it is not."""
        if self.past is None:
            raise ValueError("the present has no snapshots")
        past = self.past
        return Wanted(past.head, past.as_of, past.valid_at, self.projection, past.history, past.entailed)


@dataclass(frozen=True, slots=True)
class Answer:
    """A serialised answer and the state it was given for."""

    body: bytes
    media_type: str
    head: int | None
    valid_at: Instant


@dataclass(frozen=True, slots=True)
class Sampled:
    """The first of an answer, and the state that it is of."""

    sample: Sample
    head: int | None
    valid_at: Instant


class Reader:
    """Answers reads; safe from any thread, and never waits for the writer."""

    def __init__(self, ledger: Ledger, stores: OxigraphStores, snapshots: Snapshots, host: HostClock) -> None:
        self._ledger = ledger
        self._stores = stores
        self._snapshots = snapshots
        self._moments = Moments(ledger, host)
        self._known: tuple[int, frozenset[Iri]] = (-1, frozenset())

    def moment(self, as_of: str | None = None, valid_at: str | None = None) -> Moment:
        """The moment that a request's parameters name.

        Raises:
            InvalidParameter: an `as-of` that is a bare integer, in the future, or no head of this base.
            InvalidTime: a time that cannot be read.
        """
        return self._moments.named(as_of, valid_at)

    def head(self) -> Head:
        """The head and clock of the ledger."""
        with self._ledger.reading() as view:
            return view.head()

    def question(self, request: QueryRequest, moment: Moment = NOW, over: Over | None = None) -> Question:
        """A query, settled for its caller and moment.

        Args:
            request: the query.
            moment: when.
            over: what is laid over the base, of a branch.

        Raises:
            InvalidParameter: a graph that is no IRI, or what follows in a branch.
            NotAcceptable: no format that the caller accepts.
            QueryRefused: what is no query, is an update, or calls SERVICE.
        """
        shape = scan(request.text)
        base = request.base if shape.relative else None
        if base is not None:
            shape = scan(f"BASE <{base}> {request.text}")
        form = negotiate(request.accept, shape.form)
        require_query(shape)
        uris = (request.default_graphs, request.named_graphs)
        known = self._graphs_there() if over is None else self._graphs_there() | over.graphs
        dataset = dataset_for(request.principal, shape, known, *uris, strict=request.strict)
        past = sliced = laid = None
        if request.entailment is not None and over is not None:
            raise InvalidParameter(
                "a branch is asked of what it says, and not of what follows", remedy="leave it out", where="entailment"
            )
        if request.entailment is not None and dataset.default_graphs:
            entailed = Entailed(request.entailment, premises(dataset, request.principal))
            with self._ledger.reading() as view:
                past = replace(self._past(view, moment, dataset), entailed=entailed)
            dataset = with_inferred(dataset)
        elif moment != NOW:
            with self._ledger.reading() as view:
                past = self._past(view, moment, dataset)
                if over is None or past.as_of is None:  # a slice is too small for what may be laid over it
                    sliced = _sliced(view, request.text, past, dataset, base)
        if over is not None:
            laid = over.laid(Projection.COMPLETE if dataset.complete else Projection.CURRENT)
        now = None if past is None else past.valid_at
        settled = runnable(request.text, now)
        return Question(request.text, settled, dataset, form, past, request.restore, base, laid, sliced, shape.volatile)

    def _graphs_there(self) -> frozenset[Iri]:
        """Every graph that a fact was ever recorded in; looked up again when something was published."""
        position = self._stores.feed.position  # first: what is published meanwhile is looked up the next time
        known_at, known = self._known
        if known_at != position:
            with self._ledger.reading() as view:
                known = view.graphs()
            self._known = position, known
        return known

    def query(self, request: QueryRequest, moment: Moment = NOW) -> Answer:
        """Answers a query for one caller at a moment; a query at the head runs on the stores, others on a snapshot.

        Raises:
            QueryRefused: a query that cannot be parsed, is an update, or calls SERVICE.
            NotAcceptable: no format that the caller accepts.
        """
        question = self.question(request, moment)
        body, known, valid_at = self._ask(
            question, lambda results: finish(results, question.form, restore=question.restore)
        )
        return Answer(body, question.form.media_type, known, valid_at)

    def sample(self, request: QueryRequest, moment: Moment = NOW, *, limit: int) -> Sampled:
        """The first `limit` rows or triples of a query's answer, for people to look at; memory is bounded by them.

        Raises:
            QueryRefused: as `query` does.
        """
        return Sampled(*self._ask(self.question(request, moment), lambda results: sample(results, limit)))

    def facts(
        self,
        principal: Principal,
        wanted: FactFilter,
        moment: Moment = NOW,
        *,
        limit: int,
        after: Place | None = None,
        seconds: float = inf,
    ) -> FactPage:
        """Up to `limit` facts believed and true at the moment, of graphs that the caller may read.

        Those of a subject or object come by start: all of them are looked at, and only those of the page are held.
        Those of a graph come in the order in which they were recorded, and are read from the last page on.

        Args:
            principal: the caller.
            wanted: which facts.
            moment: when.
            limit: how many at most.
            after: the place of the last fact of the page before.
            seconds: that it may look at facts.

        Raises:
            QueryLimit: that was not enough.
            InvalidParameter: a filter without subject, object or graph; an `after` that is no place among facts.
        """
        if wanted.subject is None and wanted.object is None and wanted.graph is None:
            raise InvalidParameter(
                "which facts is not said", remedy="give a subject, an object or a graph", where="subject"
            )
        with self._ledger.reading() as view, in_time(view, seconds):
            valid_at = view.head().clock if moment.valid_at is None else moment.valid_at
            if wanted.subject is None and wanted.object is None and wanted.graph is not None:
                first = of_graph(view, principal, wanted, moment.as_of, valid_at, limit + 1, after)
            else:
                seen = (
                    fact
                    for fact in self._believed(view, principal, wanted, moment, seconds)
                    if principal.may_read(fact.statement.graph)
                    and (wanted.every_time or fact.interval.contains(valid_at))
                    and (after is None or after < place_of(fact))
                )
                first = nsmallest(limit + 1, seen, key=place_of)
            evidence = view.evidence_of([fact.id for fact in first[:limit]])
        found = (FoundFact(fact, known_of(evidence.get(fact.id, ()), moment.as_of)) for fact in first[:limit])
        return FactPage(tuple(found), len(first) > limit)

    def history(self, principal: Principal, node: Iri, as_of: Instant | None = None, *, limit: int) -> FactPage:
        """Facts of a node, as subject or object, believed or superseded, whatever their valid time; by start.

        Of a node with very many, some are looked at and up to `limit` given. Graphs that the caller may not read are as
        if they were empty.
        """
        # The present history has all of the past one: it is cut down to it below, and takes no snapshot.
        sampled = self.sample(QueryRequest(principal, history_of(node)), limit=_LOOKED_AT)
        with self._ledger.reading() as view:
            recorded = [fact for fact in map(view.fact, facts_sampled(sampled.sample)) if fact is not None]
            if as_of is not None:
                recorded = [as_known(fact, as_of) for fact in recorded if fact.recorded_at <= as_of]
            first = nsmallest(
                limit, (fact for fact in recorded if principal.may_read(fact.statement.graph)), key=place_of
            )
            evidence = view.evidence_of([fact.id for fact in first])
            families = self._families(view, principal, first)
        found = (
            FoundFact(fact, known_of(evidence.get(fact.id, ()), as_of), successors_of(fact, families)) for fact in first
        )
        return FactPage(tuple(found), sampled.sample.more or len(recorded) > limit)

    def _families(self, view: LedgerView, principal: Principal, facts: Sequence[Fact]) -> dict[UUID, list[Fact]]:
        """The facts of the families of those that are superseded, as far as the caller may read them."""
        families = {fact.content.family for fact in facts if fact.superseded is not None}
        if not families:
            return {}
        sampled = self.sample(QueryRequest(principal, members_of(families)), limit=_LOOKED_AT)
        found: dict[UUID, list[Fact]] = {}
        for identifier in facts_sampled(sampled.sample):
            fact = view.fact(identifier)
            if fact is not None and principal.may_read(fact.statement.graph):
                found.setdefault(fact.content.family, []).append(fact)
        return found

    # --- evaluation ---------------------------------------------------------------------------------------------------

    def _ask(self, question: Question, read: Callable[[Results], T]) -> tuple[T, int | None, Instant]:
        """What is read of the results of a query; with the head and the valid time that they are of."""
        past = question.past
        if past is None:
            results, state = self._stores.read(question.projection, lambda store: _started(question, store))
            return read(results), state.head, state.clock
        store = sliced_store(question.sliced) if question.sliced is not None else self._snapshots.at(question.wanted)
        return read(_started(question, store)), past.head, past.valid_at

    def _past(self, view: LedgerView, moment: Moment, dataset: Dataset) -> Past:
        as_of, valid_at = moment.as_of, moment.valid_at
        if as_of is None or valid_at is None:
            head = view.head()
            as_of = head.instant if as_of is None else as_of
            valid_at = head.clock if valid_at is None else valid_at
        return Past(as_of, valid_at, None if as_of is None else self._moments.head_at(view, as_of), dataset.history)

    def _believed(
        self, view: LedgerView, principal: Principal, wanted: FactFilter, moment: Moment, seconds: float
    ) -> Iterator[Fact]:
        """What was believed of a node, by the indexes; in the graphs that the caller may read, and nowhere else."""
        # Through the index that has the predicate before the graph, it would be looked at facts of every graph.
        predicate = wanted.predicate if principal.reads_everything else None
        found = (
            fact
            for graph in self._graphs(view, principal, wanted)
            for fact in _of(view, replace(wanted, predicate=predicate, graph=graph), moment.as_of)
            if wanted.predicate in (None, fact.statement.predicate)
        )
        return within(seconds, found)

    def _graphs(self, view: LedgerView, principal: Principal, wanted: FactFilter) -> Iterable[Iri | None]:
        """The graphs to look in, one by one; None: all at once."""
        if principal.reads_everything:
            return [wanted.graph]
        return filter(principal.may_read, view.graphs() if wanted.graph is None else {wanted.graph})


def _of(view: LedgerView, wanted: FactFilter, as_of: Instant | None) -> Iterator[Fact]:
    """The facts that a filter asks for, as they are known or were."""
    subject, predicate, value, graph = wanted.subject, wanted.predicate, wanted.object, wanted.graph
    if as_of is None:
        return view.believed(subject=subject, predicate=predicate, object=value, graph=graph)
    found = view.believed_at(as_of, subject=subject, predicate=predicate, object=value, graph=graph)
    return (as_known(fact, as_of) for fact in found)


def _started(question: Question, store: ox.Store) -> Results:
    with store_errors(), evaluation_errors(question.text):
        return start(store, question.runnable, question.dataset, question.base)


def _sliced(view: LedgerView, text: str, past: Past, dataset: Dataset, base: str | None) -> bytes | None:
    if past.as_of is None:
        return b""  # nothing was believed yet, whatever is asked
    return slice_of(view, text, dataset, past.as_of, past.valid_at, base)
