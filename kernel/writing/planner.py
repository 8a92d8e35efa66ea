"""Planning: a request's changes resolved against one state.

Rules
-----
* Changes run in order; each sees the head and the earlier changes of its request. The net effect is the plan: what is
  asserted and retracted again in one request leaves nothing.
* A part that is left of a fact keeps its family and the evidence for it, in a fact of its own: the history of the one
  that was cut stays as it was.
* A fact is named by id only to those who may read its graph; to others there is no such fact.
* Ids are derived from the certificate's id and the order of creation, so planning again gives the same ids.

Example
-------
::

    plan = Planner(certificate, issued_at, view, principal).plan(request)
    plan.record, plan.supersede, plan.evidence
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from certificates.ids import derived_id
from kernel.changes import Assert, End, Reinstate, Request, Retract, Revise, refuse_valid_time
from kernel.errors import (
    EndsAtStart,
    InvalidChange,
    MunimentError,
    NotFound,
    NothingToEnd,
    NothingToRetract,
    NothingToRevise,
    Overlap,
    StaleFact,
)
from kernel.facts import EvidenceContent, Fact, FactContent, Spelling, Validity
from kernel.rules.arguments import require_claim
from kernel.terms import Statement
from kernel.time.instants import Instant, print_instant
from kernel.time.timevalues import Bound, exact, interval_between
from kernel.writing.bitemporal import containing, cuts, ended, overlapping, uncovered
from kernel.writing.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from kernel.access import Principal
    from kernel.changes import Change
    from kernel.ports.facts import FactsView
    from kernel.terms import Iri
    from kernel.time.intervals import Interval

NO_SPELLING = Spelling()


@dataclass(slots=True)
class _Held:
    """A fact as the plan stands: held by the view (with its `fact`), or made by the plan itself."""

    content: FactContent
    fact: Fact | None = None

    @property
    def interval(self) -> Interval:
        return self.content.interval


def _start(held: _Held) -> int:
    return held.content.interval.start


def _met(held: list[_Held], wanted: Interval) -> list[_Held]:
    """Those that share an instant with an interval, of some that follow on each other."""
    first = bisect_right(held, wanted.start, key=_start)
    if first and held[first - 1].interval.end > wanted.start:
        first -= 1
    return held[first : bisect_left(held, wanted.end, first, key=_start)]


@dataclass(slots=True)
class _Made:
    """What the plan has made so far."""

    record: dict[UUID, FactContent] = field(default_factory=dict)
    supersede: dict[UUID, Fact] = field(default_factory=dict)
    evidence: list[EvidenceContent] = field(default_factory=list)
    given_up: set[UUID] = field(default_factory=set)
    """Facts that the plan made and then replaced or dropped itself."""


class Planner:
    """Plans one request (or one chunk of a load session) against a view.

    Args:
        certificate: the id of the certificate to be; every new id derives from it.
        issued_at: what an open end of the request means by "now".
        view: the facts believed at the head.
        principal: whose eyes the plan is made with.
        facts_from: how many facts earlier chunks of the same certificate recorded.
        evidence_from: how many pieces of evidence they added.
    """

    def __init__(
        self,
        certificate: UUID,
        issued_at: Instant,
        view: FactsView,
        principal: Principal,
        *,
        facts_from: int = 0,
        evidence_from: int = 0,
    ) -> None:
        self._certificate = certificate
        self._issued_at = issued_at
        self._view = view
        self._principal = principal
        self.facts_made = facts_from
        self.evidence_made = evidence_from
        self._statements: dict[Statement, list[_Held]] = {}
        self._made = _Made()
        self._episode: Iri | None = None

    def plan(self, request: Request) -> Plan:
        """The plan for a request.

        Raises:
            PlanError: a change that does not fit the state, with `where` naming it.
            Forbidden: a graph that the principal may not write.
            NotFound: a fact that is not there, or that the principal may not see.
        """
        self._episode = request.episode
        for number, change in enumerate(request.changes):
            try:
                self._change(change)
            except MunimentError as error:
                error.where = error.where or f"/changes/{number}"
                raise
        made = self._made
        kept = [item for item in made.evidence if item.fact not in made.given_up]
        return Plan(
            self._certificate,
            request,
            self._issued_at,
            tuple(made.record.values()),
            tuple(made.supersede.values()),
            tuple(kept),
        )

    def _change(self, change: Change) -> None:
        match change:
            case Assert():
                self._assert(change)
            case End():
                self._end(change)
            case Retract():
                self._retract(change)
            case Revise():
                self._revise(change)
            case Reinstate():
                self._reinstate(change)

    def _assert(self, change: Assert) -> None:
        self._principal.require_write(change.statement.graph)
        require_claim(change.statement)
        held = self._held(change.statement)
        if not held:  # as with nearly all of a load
            made = self._record(change.statement, change.validity, None)
            self._support(made.id, change.confidence, change.spelling)
            return
        wanted = change.validity.interval
        met = _met(held, wanted)
        for each in met:
            spelling = _trimmed(change.spelling, wanted, each.interval)
            self._support(each.content.id, change.confidence, spelling, always=True)
        for gap in uncovered([each.interval for each in met], wanted):
            made = self._record(change.statement, change.validity.cut(gap), None)
            self._support(made.id, change.confidence, _trimmed(change.spelling, wanted, gap))

    def _end(self, change: End) -> None:
        held = self._targets(change.target)
        refuse_valid_time_of(held, change.target)
        at = change.at or exact(self._issued_at)
        found = containing([each.interval for each in held], at.instant)
        if found is None:
            raise NothingToEnd(
                f"nothing believed of this holds at {print_instant(at.instant)}",
                remedy="give an `at` within the fact's valid time, or retract it",
            )
        part = ended(found, at.instant)
        if part is None:
            raise EndsAtStart(
                f"the fact starts at {print_instant(at.instant)}; ended there it would never have been true",
                remedy="use `retract`",
            )
        target = next(each for each in held if each.interval == found)
        validity = Validity(part, target.content.validity.start_precision, at.precision)
        self._replace(target, [(validity, Spelling(valid_to=at.spelling))])

    def _retract(self, change: Retract) -> None:
        held = self._targets(change.target)
        if change.within is not None:
            refuse_valid_time_of(held, change.target)
        chosen = cuts([each.interval for each in held], change.within)
        if not chosen:
            raise NothingToRetract(
                "nothing of this is believed" + (" within that interval" if change.within else ""),
                remedy="look it up with GET /facts",
            )
        by_interval = {each.interval: each for each in held}
        for cut in chosen:
            target = by_interval[cut.held]
            self._replace(target, [(target.content.validity.cut(part), NO_SPELLING) for part in cut.residues])

    def _revise(self, change: Revise) -> None:
        target = self._named(change.fact)
        old = target.content
        if change.start is not None or change.end is not None:
            refuse_valid_time(old.statement.graph)
        statement = old.statement if change.object is None else _with_object(old.statement, change)
        if statement != old.statement:
            require_claim(statement)
        validity = _revised(old.validity, change.start, change.end)
        if statement == old.statement and validity == old.validity:
            raise NothingToRevise(
                "the revision leaves value and interval as they are", remedy="give a new object, validFrom or validTo"
            )
        others = [each for each in self._held(statement) if each.content.id != old.id]
        if overlapping([each.interval for each in others], validity.interval):
            raise Overlap(
                "another fact of the same statement is believed within the revised interval",
                remedy="retract or revise that one first",
            )
        self._drop(target)
        made = self._record(statement, validity, old.family)
        if statement == old.statement:
            self._carry(target, made, change.spelling)
        self._support(made.id, change.confidence, change.spelling)

    def _reinstate(self, change: Reinstate) -> None:
        fact = self._view.fact(change.fact)
        if fact is None or not self._principal.may_read(fact.statement.graph):
            raise NotFound("there is no such fact", remedy="look it up with GET /facts")
        self._principal.require_write(fact.statement.graph)
        held = self._held(fact.statement)
        if overlapping([each.interval for each in held], fact.interval):
            raise Overlap(
                "by now another fact of the same statement is believed within the interval of one to reinstate",
                remedy="retract or revert that one first",
            )
        made = self._record(fact.statement, fact.content.validity, fact.content.family)
        self._carry(_Held(fact.content, fact), made, NO_SPELLING)

    # --- what is held -------------------------------------------------------------------------------------------------

    def _held(self, statement: Statement) -> list[_Held]:
        """What is believed of a statement, one after the other: no two hold at once (Disjoint)."""
        held = self._statements.get(statement)
        if held is None:
            held = [_Held(fact.content, fact) for fact in self._view.believed_of(statement)]
            held.sort(key=_start)
            self._statements[statement] = held
        return held

    def _targets(self, target: Statement | UUID) -> list[_Held]:
        if isinstance(target, UUID):
            return [self._named(target)]
        self._principal.require_write(target.graph)
        return list(self._held(target))

    def _named(self, identifier: UUID) -> _Held:
        made = self._made.record.get(identifier)
        fact = self._view.fact(identifier) if made is None else None
        content = made or (fact and fact.content)
        if content is None or not self._principal.may_read(content.statement.graph):
            raise NotFound("there is no such fact", remedy="look it up with GET /facts")
        self._principal.require_write(content.statement.graph)
        for each in self._held(content.statement):
            if each.content.id == identifier:
                return each
        raise StaleFact("the fact named is no longer believed", remedy="look up the one that is with GET /facts")

    # --- what is made -------------------------------------------------------------------------------------------------

    def _record(self, statement: Statement, validity: Validity, family: UUID | None) -> FactContent:
        number, self.facts_made = self.facts_made, self.facts_made + 1
        content = FactContent(
            derived_id(self._certificate, "fact", number),
            family or derived_id(self._certificate, "family", number),
            statement,
            validity,
        )
        self._made.record[content.id] = content
        insort(self._held(statement), _Held(content), key=_start)
        return content

    def _support(self, fact: UUID, confidence: Decimal | None, spelling: Spelling, *, always: bool = False) -> None:
        if always or self._episode is not None or confidence is not None or spelling:
            self._add_evidence(fact, self._episode, confidence, spelling)

    def _add_evidence(self, fact: UUID, episode: Iri | None, confidence: Decimal | None, spelling: Spelling) -> None:
        number, self.evidence_made = self.evidence_made, self.evidence_made + 1
        identifier = derived_id(self._certificate, "evidence", number)
        self._made.evidence.append(EvidenceContent(identifier, fact, episode, confidence, spelling))

    def _replace(self, target: _Held, parts: Iterable[tuple[Validity, Spelling]]) -> None:
        """The target gives way to the parts that are left of it."""
        self._drop(target)
        for validity, spelling in parts:
            made = self._record(target.content.statement, validity, target.content.family)
            self._carry(target, made, spelling)
            self._support(made.id, None, spelling)

    def _drop(self, target: _Held) -> None:
        self._statements[target.content.statement].remove(target)
        if target.fact is not None:
            self._made.supersede[target.fact.id] = target.fact
        else:
            del self._made.record[target.content.id]
            self._made.given_up.add(target.content.id)

    def _carry(self, target: _Held, made: FactContent, fresh: Spelling) -> None:
        """Evidence for a fact supports what is left of it too; a time is spelled anew where it was cut or given."""
        for item in self._evidence_for(target):
            old = _trimmed(item.spelling, target.interval, made.interval)
            spelling = Spelling(
                old.object,
                None if fresh.valid_from else old.valid_from,
                None if fresh.valid_to else old.valid_to,
            )
            if item.episode is not None or item.confidence is not None or spelling:
                self._add_evidence(made.id, item.episode, item.confidence, spelling)

    def _evidence_for(self, target: _Held) -> list[EvidenceContent]:
        own = [item for item in self._made.evidence if item.fact == target.content.id]
        if target.fact is None:
            return own
        held = self._view.evidence_of([target.fact.id]).get(target.fact.id, [])
        return [item.content for item in held] + own


def refuse_valid_time_of(held: list[_Held], target: Statement | UUID) -> None:
    """Raises `ReservedGraph` if what is meant has transaction time only."""
    graph = target.graph if isinstance(target, Statement) else held[0].content.statement.graph
    refuse_valid_time(graph)


def _with_object(statement: Statement, change: Revise) -> Statement:
    if change.object is None:
        raise InvalidChange("a revised object is missing", remedy="give `object`")
    return Statement(statement.subject, statement.predicate, change.object, statement.graph)


def _revised(validity: Validity, start: Bound | None, end: Bound | None) -> Validity:
    if start is None and end is None:
        return validity
    first = start or Bound(Instant(validity.interval.start), validity.start_precision, None)
    last = end or Bound(Instant(validity.interval.end), validity.end_precision, None)
    return Validity(interval_between(first, last, field="validTo"), first.precision, last.precision)


def _trimmed(spelling: Spelling, whole: Interval, part: Interval) -> Spelling:
    """A spelling of a whole, kept for a part: a time only where the part shares that end."""
    if not spelling:
        return spelling
    return Spelling(
        spelling.object,
        spelling.valid_from if part.start == whole.start else None,
        spelling.valid_to if part.end == whole.end else None,
    )
