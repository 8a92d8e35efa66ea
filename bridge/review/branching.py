"""What a branch makes of the base: a query of it is the query of the base, with the branch's plan laid over the store.

Rules (NothingLeaks, BoundToState)
-----
* The plan is made anew for each query, upon the head of that moment, with what the rules propose: what is written to
  the base is seen at once, and a plan that does not fit it any more is told so. It is made in its asker's name.
* What is laid over are the statements that the plan touches, as they then are: those that hold at the moment asked for,
  and those that do not. Where history is asked for, the facts and evidence of the plan are there as well, recorded at
  the instant that they would be recorded at, by a certificate that has the branch's id.
* Whoever asks reads the graphs that they may read, as ever, the new ones of the plan among them.
* A worker may stand a few writes before or after the head that the plan was made upon. The answer is right all the same
  if nothing that moved in between touches a node of the plan, nor anything by which it was made (`BranchReader.fits`).
* A branch is known at no time, since it was recorded at none: what is asked with `as-of` is answered without it. For
  any `valid-at` it is as its facts say.

Example
-------
::

    asked, over = reader.question(branch, request, moment)
    answer = await pool.answer(asked, limits, caller)
    reader.fits(over, answer.head, answer.valid_at)       # else it is asked again
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.reading.moments import NOW
from bridge.sparql.update.solving import Laid
from bridge.stores.projections import added_text, removed_text
from kernel.errors import MunimentError
from kernel.facts import Evidence, Fact, Supersession
from kernel.ports.stores import StoreDelta
from kernel.rules.amending import amend, read_rules
from kernel.terms import Iri
from kernel.time.instants import Instant
from kernel.time.transaction_clock import next_instant
from kernel.vocabulary import GOVERNANCE, RULES_GRAPH
from kernel.writing.planner import Planner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.reading.moments import Moment
    from bridge.reading.reader import QueryRequest, Question, Reader
    from bridge.stores.feed import Feed
    from bridge.stores.projections import Projection
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.outside import HostClock
    from kernel.terms import Statement, Term
    from kernel.writing.branches import Branch
    from kernel.writing.plan import Plan

MOST: Final = 20_000
"""Facts that are looked at for what moved: where there are more, it is asked again."""

_NOTHING: Final = b""


@dataclass(frozen=True, slots=True)
class Over:
    """What a plan lays over the base.

    Args:
        delta: what stores would have to do, were the plan applied, to stand at the valid time asked for.
        at: the instant that the plan was made at.
        instant: the transaction instant of the head that it was made upon.
        graphs: those that it writes to.
        nodes: the subjects and objects of what it touches.
        bounds: when facts of its statements begin and end.
    """

    delta: StoreDelta
    at: Instant
    instant: Instant | None
    graphs: frozenset[Iri]
    nodes: frozenset[Term]
    bounds: frozenset[int]

    def laid(self, projection: Projection) -> Laid:
        """What to lay over a store of the projection."""
        return Laid(_lines(removed_text(projection, self.delta)), _lines(added_text(projection, self.delta)))


class BranchReader:
    """Settles what is asked of branches; safe from any thread.

    Args:
        ledger: of the base.
        reader: of the base.
        feed: says where its stores stand.
        host: the host's clock.
    """

    def __init__(self, ledger: Ledger, reader: Reader, feed: Feed, host: HostClock) -> None:
        self._ledger = ledger
        self._reader = reader
        self._feed = feed
        self._host = host

    def plan(self, branch: Branch, principal: Principal) -> Plan:
        """What a branch would do now, in somebody's name. Raises as `question` does."""
        with self._ledger.reading() as view:
            return self._planned(branch, principal, view)

    def question(
        self, branch: Branch, request: QueryRequest, as_of: str | None, valid_at: str | None
    ) -> tuple[Question, Over | None]:
        """A query, settled for its caller, and what of the branch is laid over the base; None: nothing is.

        Raises:
            Conflict: the branch was submitted.
            PlanError: it does not fit the base any more.
            Forbidden: whoever asks may not write what it writes.
            NotFound: it names a fact that they may not see.
            CallerError: as `Reader.question` and `Reader.moment` do.
        """
        moment = self._reader.moment(as_of, valid_at)
        if moment.as_of is not None:
            return self._reader.question(request, moment), None
        over = self._over(branch, request, moment)
        return self._reader.question(request, moment, over), over

    def fits(self, over: Over | None, head: int | None, clock: Instant) -> bool:
        """Whether an answer that was given at a head and clock is that of the base there, with the branch."""
        if over is None:
            return True
        if any(over.at < bound <= clock for bound in over.bounds):
            return False
        with self._ledger.reading() as view:
            instant = None if head is None else view.recorded_in(head)
            if instant == over.instant:
                return True
            between = sorted((instant, over.instant), key=lambda each: (each is not None, each or 0))
            after, until = between
            if until is None:
                return True
            moved = chain(view.facts_recorded(after, until), _supported(view, after, until))
            return not any(looked >= MOST or _touches(over, fact) for looked, fact in enumerate(moved))

    def _planned(self, branch: Branch, principal: Principal, view: LedgerView) -> Plan:
        at = next_instant(view.head().instant, self._host.now())
        try:
            plan = Planner(branch.id, at, view, principal).plan(branch.request)
        except MunimentError as error:
            error.where = branch.place(error.where)
            raise
        return amend(plan, read_rules(tuple(view.believed(graph=RULES_GRAPH))), view)[0]

    def _over(self, branch: Branch, request: QueryRequest, moment: Moment) -> Over:
        clock = self._feed.state.clock  # first: where a worker stands is here or later
        with self._ledger.reading() as view:
            head = view.head()
            plan = self._planned(branch, request.principal, view)
            at = plan.issued_at
            when = Instant(max(at, head.clock)) if moment.valid_at is None else moment.valid_at
            touched = dict.fromkeys(_statements(plan))
            if moment == NOW:
                touched |= dict.fromkeys(fact.statement for fact in view.facts_due(clock, when))
            held = {each: _held(view, plan, each) for each in touched}
            delta = _delta(view, plan, at, when, {each: _holds(facts, when) for each, facts in held.items()})
        nodes = frozenset(term for each in touched for term in (each.subject, each.object))
        bounds = frozenset(
            bound for facts in held.values() for each in facts for bound in (each.interval.start, each.interval.end)
        )
        return Over(delta, when, head.instant, plan.graphs, nodes, bounds)


def _supported(view: LedgerView, after: Instant | None, until: Instant) -> Iterator[Fact]:
    """The facts that evidence came for: rules may prefer another one since."""
    facts = (view.fact(evidence.content.fact) for evidence, _ in view.evidence_recorded(after, until))
    return (fact for fact in facts if fact is not None)


def _touches(over: Over, fact: Fact) -> bool:
    """Whether what became of a fact may bear on a plan, or on what the rules make of it."""
    statement = fact.statement
    return statement.graph in GOVERNANCE or statement.subject in over.nodes or statement.object in over.nodes


def _statements(plan: Plan) -> Iterator[Statement]:
    yield from (content.statement for content in plan.record)
    yield from (fact.statement for fact in plan.supersede)


def _held(view: LedgerView, plan: Plan, statement: Statement) -> list[Fact]:
    """The facts of a statement that are believed with the plan."""
    gone = {fact.id for fact in plan.supersede if fact.statement == statement}
    held = [fact for fact in view.believed_of(statement) if fact.id not in gone]
    made = (content for content in plan.record if content.statement == statement)
    return held + [Fact(content, plan.certificate, plan.issued_at, None, _NOTHING) for content in made]


def _holds(facts: list[Fact], when: Instant) -> bool:
    return any(fact.holds_at(when) for fact in facts)


def _delta(view: LedgerView, plan: Plan, at: Instant, when: Instant, holds: dict[Statement, bool]) -> StoreDelta:
    by = Supersession(at, plan.certificate)
    graphs = {content.id: content.statement.graph for content in plan.record}
    for item in plan.evidence:
        if item.fact not in graphs and (fact := view.fact(item.fact)) is not None:
            graphs[item.fact] = fact.statement.graph
    return StoreDelta(
        None,
        at,
        when,
        [Fact(content, plan.certificate, at, None, _NOTHING) for content in plan.record],
        [replace(fact, superseded=by) for fact in plan.supersede],
        [(Evidence(item, plan.certificate, at), graphs[item.fact]) for item in plan.evidence if item.fact in graphs],
        [statement for statement, held in holds.items() if held],
        [statement for statement, held in holds.items() if not held],
    )


def _lines(text: str) -> str:
    """The same as N-Quads."""
    written = BytesIO()
    ox.serialize(ox.parse(text, ox.RdfFormat.TRIG), written, ox.RdfFormat.N_QUADS)
    return written.getvalue().decode()
