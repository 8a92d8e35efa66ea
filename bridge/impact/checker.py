"""Impact as a check of plans: which registered queries a plan can touch, and how their answers change.

Rules (IncrementalEqualsFull, NothingLeaks)
-----
* Asked are the queries that mind a statement of the plan at the moment that they are asked for. Of all others the
  answer stays: that is proved, not guessed (`bridge.impact.compiled`).
* A query whose answer changes is a finding, with the exact numbers of rows gained and lost, and a sample of them. One
  that does not come to its end, or cannot be asked, is a finding of its own: never "no impact".
* A finding is drawn from all graphs that its query is asked of.
* The plan is judged by the queries in force at its head. What it writes into `m:queries` itself is held against what
  may be registered, as any shapes and rules that are written.
* Where an entry of the registry cannot be read, nobody knows what it minds: every plan that changes data is told so.
* Queries that are known to be brief are asked in the turn of the plan. Before others, the plan steps back: they are
  asked aside, while others write, and again only where a write in between could have touched them
  (`bridge.impact.foreseeing`). What was known to be brief and is not, is asked aside as well.
* A load is foreseen from what is staged (`bridge.impact.expecting`), before anything of it is planned: to plan it twice
  would take longer than most queries. What was not foreseen rightly is asked in its turn, within `OF_A_LOAD`.
* A load is gathered chunk by chunk; no more is laid over a store than `MOST` statements, of those that matter.

Example
-------
::

    findings = checker.findings(plan, facts, view)
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from bridge.impact.asked import Planned, Unanswered
from bridge.impact.compiled import Compiled
from bridge.impact.expecting import expecting
from bridge.impact.foreseeing import Foreseen
from bridge.impact.staging import LIMITS
from bridge.impact.telling import of_invalid, of_written, told_of
from bridge.impact.touch import QueryIndex
from bridge.shapes.sparql.patience import IN_TURN, Patience
from certificates.findings import Finding
from kernel.errors import QueryRefused
from kernel.impact import changes_at
from kernel.queries import InvalidEntry, read_queries
from kernel.time.instants import Instant
from kernel.vocabulary import QUERIES_GRAPH, is_data
from kernel.writing.stepping_back import StepBack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from bridge.impact.asked import Told
    from bridge.impact.staging import Staging
    from kernel.facts import Fact, FactContent
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.queries import RegisteredQuery
    from kernel.terms import Iri, Statement
    from kernel.writing.plan import Plan

MOST: Final = 100_000
"""Statements of a load that are laid over a store for its queries."""

OF_A_LOAD: Final = 60.0
"""Seconds that the queries about a load may take."""

ONCE: Final = 1.0
"""Seconds on the clock that a query has in a turn which is known to be brief."""

_KEPT: Final = 4


@dataclass(frozen=True, slots=True)
class InForce:
    """The registered queries in force: those that can be asked, and entries that nobody can read."""

    index: QueryIndex
    invalid: tuple[InvalidEntry, ...]


class Registry:
    """Keeps what was last in force, made ready."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[Fact, ...], InForce]] = {}
        self._ready: dict[RegisteredQuery, Compiled | InvalidEntry] = {}

    def of(self, facts: tuple[Fact, ...]) -> InForce:
        """What these facts hold; the same for the same tuple."""
        known = self._known.get(id(facts))
        if known is not None and known[0] is facts:
            return known[1]
        table = read_queries(facts)
        self._ready = {query: self._ready.get(query) or _ready(query) for query in table.queries.values()}
        invalid = [each for each in self._ready.values() if isinstance(each, InvalidEntry)]
        index = QueryIndex(each for each in self._ready.values() if isinstance(each, Compiled))
        while len(self._known) >= _KEPT:
            del self._known[next(iter(self._known))]
        self._known[id(facts)] = facts, InForce(index, (*table.invalid, *invalid))
        return self._known[id(facts)][1]


def _ready(query: RegisteredQuery) -> Compiled | InvalidEntry:
    try:
        return Compiled(query)
    except QueryRefused as error:  # only where it was let in all the same
        return InvalidEntry(query.node, f"{error.message}; {error.remedy}")


@dataclass(frozen=True, slots=True)
class _Asking:
    """What is to be asked about a plan at one moment."""

    queries: tuple[Compiled, ...]
    planned: Planned


class QueryImpact:
    """Implements the port `ImpactChecker`.

    Args:
        ledger: what is committed.
        staging: answers queries about plans, in their turns; another like it answers aside of these.
    """

    def __init__(self, ledger: Ledger, staging: Staging) -> None:
        self._ledger = ledger
        self._staging = staging
        self._aside = staging.twin()
        self._registry = Registry()
        self._foreseen: tuple[Foreseen, ...] = ()
        self._session: str | None = None
        self._insists = False

    def forget(self) -> None:
        """Lets go of whatever was answered, and of copies of stores: something was purged, or stores were made anew."""
        self._foreseen = ()
        self._staging.forget()
        self._aside.forget()

    def close(self) -> None:
        """Asks nothing any more."""
        self._staging.close()
        self._aside.close()

    def findings(self, plan: Plan, facts: tuple[Fact, ...], view: LedgerView) -> Sequence[Finding]:
        """What the plan does to the answers of registered queries, and what is wrong with those that it writes.

        Args:
            plan: that is not in the view.
            facts: those of `m:queries` that are believed in the view.
            view: what it was planned against.

        Raises:
            StepBack: queries are to be asked aside first.
        """
        found = of_written(plan.record, plan.supersede, facts)
        if not facts:
            return found
        in_force = self._registry.of(facts)
        index = in_force.index
        found += of_invalid(in_force.invalid, plan)
        statements = [content.statement for content in plan.record] + [fact.statement for fact in plan.supersede]
        minding = index.minding(statements)
        if not minding:
            return found
        at = Instant(max(view.head().clock, plan.issued_at))
        graphs = _data(view)
        after = graphs | {each.statement.graph for each in plan.record if is_data(each.statement.graph)}
        asking = []
        for moment in _moments(minding):
            changes = changes_at(plan.record, plan.supersede, at if moment is None else moment)
            planned = Planned(view, str(plan.certificate), at, moment, changes, graphs, after)
            asked = (each for each in minding if each.query.moment == moment and _may_change(each, planned))
            asking.append(_Asking(tuple(asked), planned))
        return found + _told(asking, self._answered(asking, index))

    def _answered(self, asking: Sequence[_Asking], index: QueryIndex) -> dict[Compiled, Told]:
        """What each query is answered about a plan."""
        found: dict[Compiled, Told] = {}
        waiting: list[_Asking] = []
        for each in asking:
            found |= self._known(each)
            if left := tuple(query for query in each.queries if query not in found):
                waiting.append(_Asking(left, each.planned))
        if waiting and not self._insists and not self._is_brief(waiting):
            raise self._step_back(asking, index)
        patience = Patience(IN_TURN)
        for each in waiting:
            seconds = LIMITS.seconds if self._insists else ONCE
            answers = self._staging.compare(each.queries, each.planned, patience, index, seconds)
            if not self._insists and any(isinstance(told, Unanswered) for told, _ in answers):
                raise self._step_back(asking, index)
            found |= {query: told for query, (told, _) in zip(each.queries, answers, strict=True)}
        return found

    def _known(self, asked: _Asking) -> dict[Compiled, Told]:
        """What was foreseen, and still holds."""
        found: dict[Compiled, Told] = {}
        for foreseen in self._foreseen:
            for query in asked.queries:
                told = foreseen.of(query, asked.planned, self._aside.purged_at)
                if told is not None:
                    found[query] = told
                    self._aside.known_as(foreseen.name, asked.planned.certificate)
        return found

    def _is_brief(self, waiting: Sequence[_Asking]) -> bool:
        queries = [query for each in waiting for query in each.queries]
        return self._staging.brief(queries, [each.planned.moment for each in waiting])

    def _step_back(self, asking: Sequence[_Asking], index: QueryIndex) -> StepBack:
        # The view is of a transaction that will be over by then.
        asked = [_Asking(each.queries, replace(each.planned, view=None)) for each in asking if each.queries]
        return StepBack(lambda: self._foresee(asked, index, IN_TURN), self._insisting)

    def _foresee(self, asking: Sequence[_Asking], index: QueryIndex, seconds: float) -> None:
        """Asks aside of any turn, upon what is committed."""
        self._foreseen, self._session = (), None
        patience = Patience(seconds)
        foreseen = []
        for each in asking:
            planned = replace(each.planned, certificate=uuid4().hex)
            answers = self._aside.compare(each.queries, planned, patience, index)
            foreseen.append(Foreseen(each.queries, planned, answers, planned.certificate))
        self._foreseen = tuple(foreseen)
        self._staging.stand_ready([each.planned.moment for each in asking], index)

    @contextmanager
    def _insisting(self) -> Iterator[None]:
        self._insists = True
        try:
            yield
        finally:
            self._insists = False

    def before_load(
        self, facts: tuple[Fact, ...], session: str, chunks: Callable[[], Iterable[Sequence[object]]]
    ) -> None:
        """As the port has it."""
        if facts and not self._insists and self._session != session:
            index = self._registry.of(facts).index
            raise StepBack(lambda: self._foresee_load(session, chunks, index), self._insisting)

    def _foresee_load(self, session: str, chunks: Callable[[], Iterable[Sequence[object]]], index: QueryIndex) -> None:
        """Asks aside about what is staged."""
        with self._ledger.reading() as view:
            clock, known = view.head().clock, _data(view)
            expected = expecting(chunks(), index, view, clock, MOST)
        asking = []
        if expected is not None:
            for moment, changes in expected.changes.items():
                planned = Planned(None, "", clock, moment, changes, known, known | expected.graphs)
                asked = tuple(each for each in index if each.query.moment == moment and _may_change(each, planned))
                asking.append(_Asking(asked, planned))
        self._foresee(asking, index, OF_A_LOAD)
        self._session = session

    def load(self, facts: tuple[Fact, ...]) -> LoadImpact:
        """The same for a load session that is planned chunk by chunk."""
        return LoadImpact(self, facts, self._registry.of(facts).index if facts else QueryIndex(()))

    def of_load(self, load: LoadImpact, certificate: str, issued_at: Instant, view: LedgerView) -> list[Finding]:
        """What was gathered of a load whose facts are in the view."""
        self._session = None
        found = of_written(load.written, (), load.facts)
        if not load.minding:
            return found
        at = Instant(max(view.head().clock, issued_at))
        minding = [each for each in load.index if each in load.minding]
        with self._ledger.reading() as committed:  # beyond that there is nothing but the load
            asking = []
            for moment in _moments(minding):
                changes = changes_at(load.record, load.supersede, at if moment is None else moment)
                planned = Planned(committed, certificate, at, moment, changes, _data(committed), _data(view))
                asked = (each for each in minding if each.query.moment == moment and _may_change(each, planned))
                asking.append(_Asking(tuple(asked), planned))
            if load.too_many:
                why = Unanswered(f"the load changes more than {MOST:,} statements that it may depend on")
                return found + _told(asking, {query: why for each in asking for query in each.queries})
            known = {query: told for each in asking for query, told in self._known(each).items()}
            patience = Patience(OF_A_LOAD)
            for each in asking:
                left = [query for query in each.queries if query not in known]
                answers = self._staging.compare(left, each.planned, patience, load.index) if left else []
                known |= {query: told for query, (told, _) in zip(left, answers, strict=True)}
            return found + _told(asking, known)


@dataclass(slots=True)
class LoadImpact:
    """What of a load may matter to registered queries.

    Args:
        facts: those of `m:queries` that are in force.
        index: the queries that they hold.
        record: facts that it brings whose statements are minded.
        supersede: those that it supersedes.
        written: facts of `m:queries` that it brings.
        minding: the queries that mind something of it.
        too_many: whether there were more facts than are kept.
    """

    checker: QueryImpact
    facts: tuple[Fact, ...]
    index: QueryIndex
    record: list[FactContent] = field(default_factory=list)
    supersede: list[Fact] = field(default_factory=list)
    written: list[FactContent] = field(default_factory=list)
    minding: set[Compiled] = field(default_factory=set)
    too_many: bool = False

    def take(self, plan: Plan) -> None:
        """Gathers what matters of the next chunk."""
        for content in plan.record:
            if content.statement.graph == QUERIES_GRAPH:
                self.written.append(content)
            elif self._is_kept(content.statement):
                self.record.append(content)
        for fact in plan.supersede:
            if self._is_kept(fact.statement):
                self.supersede.append(fact)

    def _is_kept(self, statement: Statement) -> bool:
        """Whether a statement is minded, and there is room for its fact."""
        minding = self.index.minding((statement,)) if self.index else ()
        self.minding.update(minding)
        if minding and len(self.record) + len(self.supersede) >= MOST:
            self.too_many = True
        return bool(minding) and not self.too_many

    def findings(self, certificate: str, issued_at: Instant, view: LedgerView) -> list[Finding]:
        """What is found of it, once its facts are in the view."""
        return self.checker.of_load(self, certificate, issued_at, view)


def _data(view: LedgerView) -> frozenset[Iri]:
    """The graphs of data that are known."""
    return frozenset(filter(is_data, view.graphs()))


def _moments(queries: Iterable[Compiled]) -> list[Instant | None]:
    """The moments that queries are asked for, now first."""
    moments = {each.query.moment for each in queries}
    return sorted(moments, key=lambda moment: (moment is not None, moment or 0))


def _told(asking: Iterable[_Asking], answers: Mapping[Compiled, Told]) -> list[Finding]:
    """The findings of what was answered, without those queries whose answer stays."""
    return [
        told_of(query, told, each.planned)
        for each in asking
        for query in each.queries
        if isinstance(told := answers[query], Unanswered) or told.gained or told.lost
    ]


def _may_change(query: Compiled, planned: Planned) -> bool:
    """Whether the plan changes what a query minds, at its moment; one that nobody can tell of is asked anyway."""
    if query.minded is None:
        return True
    return any(map(query.minds, planned.changes.added)) or any(map(query.minds, planned.changes.removed))
