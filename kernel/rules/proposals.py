"""What a rule proposes for a contradiction: that a fact ends, or gives way to one that is preferred.

Rules
-----
* `EndOlder`: the fact that starts earlier ends at the earliest start of those that contradict it. What is left is never
  empty: facts that start together propose nothing.
* A preferring rule: the other fact is not believed where the two contradict each other; that may leave nothing of it,
  or two parts. What is not preferred (`kernel.rules.preferring`) proposes nothing.
* A held fact is superseded by what is left of it, with its family and evidence; a fact of the plan is recorded shorter.
* A new bound is known as exactly as the bound that sets it.
* New ids continue the plan's own, so planning again gives the same ones.

Example
-------
Held: lives in Paris from 2024. Recorded: lives in Rome from 2019, which now ends at 2024::

    trims = proposed_trims(conflicts, weighing)
    shortened(plan, trims.values(), view).record
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from certificates.ids import derived_id
from kernel.facts import EvidenceContent, FactContent, Spelling, Validity
from kernel.rules.contradictions import Conflict, Side
from kernel.time.intervals import Interval, gaps
from kernel.time.precision import Precision

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from uuid import UUID

    from kernel.ports.facts import FactsView
    from kernel.rules.preferring import Weighing
    from kernel.writing.plan import Plan


@dataclass(slots=True)
class Trim:
    """What a fact is proposed to lose.

    Args:
        side: the fact.
        by: whose start ends it, if anything does.
        cut: where it gives way.
        successors: what is believed there instead.
        edges: how exactly the bounds of cuts are known.
    """

    side: Side
    by: Side | None = None
    cut: list[Interval] = field(default_factory=list)
    successors: list[Side] = field(default_factory=list)
    edges: dict[int, Precision] = field(default_factory=dict)

    @property
    def removed(self) -> list[Interval]:
        """All that it loses."""
        if self.by is None:
            return self.cut
        return [*self.cut, Interval(self.by.start, self.side.content.interval.end)]

    @property
    def left(self) -> list[Validity]:
        """What is left of it, by time."""
        old = self.side.content.validity
        edges = dict(self.edges)
        if self.by is not None:
            edges[self.by.start] = self.by.content.validity.start_precision
        return [
            Validity(
                part,
                old.start_precision if part.start == old.interval.start else edges[part.start],
                old.end_precision if part.end == old.interval.end else edges[part.end],
            )
            for part in gaps(old.interval, self.removed)
        ]

    def end_by(self, later: Side) -> None:
        """It ends where a later one starts, if not before."""
        self.successors.append(later)
        if self.by is None or later.start < self.by.start:
            self.by = later

    def give_way(self, conflict: Conflict, winner: Side) -> None:
        """It is not believed where it contradicts one that is preferred."""
        self.successors.append(winner)
        self.cut += conflict.parts
        validity = winner.content.validity
        bounds = {validity.interval.start: validity.start_precision, validity.interval.end: validity.end_precision}
        for part in conflict.parts:
            for bound in (part.start, part.end):
                self.edges[bound] = bounds.get(bound, Precision.INSTANT)


Trims = dict["UUID", Trim]
"""By the ids of the facts."""


def proposed_trims(conflicts: Sequence[Conflict], weighing: Weighing) -> Trims:
    """What the rules propose that facts lose."""
    trims: Trims = {}
    for conflict in conflicts:
        winner = weighing.preferred(conflict)
        if conflict.proposes_an_end:
            older = conflict.older
            trims.setdefault(older.content.id, Trim(older)).end_by(conflict.later)
        elif winner is not None:
            loser = conflict.other if winner is conflict.new else conflict.new
            trims.setdefault(loser.content.id, Trim(loser)).give_way(conflict, winner)
    return trims


def lost(trim: Trim, trims: Mapping[UUID, Trim]) -> list[Interval]:
    """What is no longer believed of a fact although nothing takes its place."""
    followed = [part for side in trim.successors for part in _left_of(side, trims)]
    return [gap for part in fused(trim.removed) for gap in gaps(part, followed)]


def fused(parts: Iterable[Interval]) -> list[Interval]:
    """Intervals that may overlap, or touch, made into disjoint ones, by time."""
    merged: list[Interval] = []
    for part in sorted(parts):
        if merged and part.start <= merged[-1].end:
            merged[-1] = Interval(merged[-1].start, max(part.end, merged[-1].end))
        else:
            merged.append(part)
    return merged


def shortened(plan: Plan, trims: Collection[Trim], view: FactsView) -> Plan:
    """The plan in which the facts lose what is proposed."""
    own = {trim.side.content.id: trim for trim in trims if trim.side.fact is None}
    next_fact = _fresh(plan, "fact", [content.id for content in plan.record])
    next_evidence = _fresh(plan, "evidence", [item.id for item in plan.evidence])
    record: list[FactContent] = []
    added: list[FactContent] = []
    evidence = [item for item in plan.evidence if item.fact not in own]
    for content in plan.record:
        trim = own.get(content.id)
        for number, validity in enumerate([content.validity] if trim is None else trim.left):
            part = replace(content, id=next_fact() if number else content.id, validity=validity)
            (added if number else record).append(part)
            if trim is not None:
                evidence += _kept(plan.evidence, trim, part, next_evidence if number else None)
    supersede = list(plan.supersede)
    for trim in trims:
        fact = trim.side.fact
        if fact is not None:
            supersede.append(fact)
            held = [item.content for item in view.evidence_of([fact.id]).get(fact.id, ())]
            for validity in trim.left:
                part = FactContent(next_fact(), fact.content.family, fact.statement, validity)
                added.append(part)
                evidence += _kept([*held, *plan.evidence], trim, part, next_evidence)
    return replace(plan, record=(*record, *added), supersede=tuple(supersede), evidence=tuple(evidence))


def _left_of(side: Side, trims: Mapping[UUID, Trim]) -> list[Interval]:
    trim = trims.get(side.content.id)
    return [side.content.interval] if trim is None else [validity.interval for validity in trim.left]


def _fresh(plan: Plan, kind: str, taken: Iterable[UUID]) -> Callable[[], UUID]:
    """Ids for what is added, counted on from what the plan has made of the kind."""
    used = set(taken)
    ordinals = count(len(used))

    def next_id() -> UUID:
        return next(
            new for new in (derived_id(plan.certificate, kind, number) for number in ordinals) if new not in used
        )

    return next_id


def _kept(
    evidence: Iterable[EvidenceContent], trim: Trim, part: FactContent, next_id: Callable[[], UUID] | None
) -> Iterator[EvidenceContent]:
    """Evidence for a fact supports what is left of it too, without the spelling of a bound that is no more.

    Args:
        evidence: of this and other facts.
        trim: what the fact loses.
        part: that is left.
        next_id: gives ids of its own; None: the evidence keeps what it has.
    """
    old = trim.side.content
    for item in evidence:
        if item.fact != old.id:
            continue
        spelling = Spelling(
            item.spelling.object,
            item.spelling.valid_from if part.interval.start == old.interval.start else None,
            item.spelling.valid_to if part.interval.end == old.interval.end else None,
        )
        if item.episode is not None or item.confidence is not None or spelling:
            yield replace(item, id=item.id if next_id is None else next_id(), fact=part.id, spelling=spelling)
