"""What a rule proposes for a contradiction: that the older fact ends where the later one starts.

Rules
-----
* The fact that starts earlier ends at the earliest start of those that contradict it. What is left is never empty:
  facts that start together propose nothing.
* A held fact is superseded by what is left of it, with its family and evidence; a fact of the plan is recorded shorter.
* The new end is known as exactly as the start that sets it.
* New ids continue the plan's own, so planning again gives the same ones.

Example
-------
Held: lives in Paris from 2024. Recorded: lives in Rome from 2019, which now ends at 2024::

    ends = proposed_ends(conflicts)
    shortened(plan, ends, view).record
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from certificates.ids import derived_id
from kernel.contradictions import Conflict, Side
from kernel.facts import EvidenceContent, Fact, FactContent, Spelling, Validity
from kernel.instants import Instant
from kernel.intervals import Interval, gaps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from uuid import UUID

    from kernel.plan import Plan
    from kernel.ports import FactsView


@dataclass(slots=True)
class ProposedEnd:
    """Where a fact is proposed to end, how exactly that is known, and what comes after it."""

    side: Side
    by: Side
    followed: list[Interval] = field(default_factory=list)

    @property
    def at(self) -> Instant:
        """The new end."""
        return Instant(self.by.start)

    @property
    def validity(self) -> Validity:
        """What is left of the fact's own."""
        old = self.side.content.validity
        left = Interval(old.interval.start, self.at)
        return Validity(left, old.start_precision, self.by.content.validity.start_precision)

    @property
    def lost(self) -> list[Interval]:
        """What is no longer believed of the fact although nothing contradicts it there."""
        return gaps(Interval(self.at, self.side.content.interval.end), self.followed)


def proposed_ends(conflicts: Sequence[Conflict]) -> dict[UUID, ProposedEnd]:
    """For each fact that is the older one somewhere, the earliest later start."""
    ends: dict[UUID, ProposedEnd] = {}
    for conflict in conflicts:
        if conflict.proposes_an_end:
            older, later = conflict.older, conflict.later
            end = ends.setdefault(older.content.id, ProposedEnd(older, later))
            end.followed.append(later.content.interval)
            if later.start < end.at:
                end.by = later
    return ends


def shortened(plan: Plan, ends: Collection[ProposedEnd], view: FactsView) -> Plan:
    """The plan in which the facts end as proposed."""
    own = {end.side.content.id: end for end in ends if end.side.fact is None}
    record = [
        replace(content, validity=own[content.id].validity) if content.id in own else content for content in plan.record
    ]
    evidence = [_without_end(item) if item.fact in own else item for item in plan.evidence]
    supersede = list(plan.supersede)
    next_fact = _fresh(plan, "fact", [content.id for content in plan.record])
    next_evidence = _fresh(plan, "evidence", [item.id for item in plan.evidence])
    for end in ends:
        if end.side.fact is not None:
            left = FactContent(next_fact(), end.side.content.family, end.side.content.statement, end.validity)
            record.append(left)
            supersede.append(end.side.fact)
            evidence += _carried(end.side.fact, left.id, plan, view, next_evidence)
    kept = tuple(item for item in evidence if item is not None)
    return replace(plan, record=tuple(record), supersede=tuple(supersede), evidence=kept)


def _fresh(plan: Plan, kind: str, taken: Iterable[UUID]) -> Callable[[], UUID]:
    """Ids for what is added, counted on from what the plan has made of the kind."""
    used = set(taken)
    ordinals = count(len(used))

    def next_id() -> UUID:
        return next(
            new for new in (derived_id(plan.certificate, kind, number) for number in ordinals) if new not in used
        )

    return next_id


def _carried(
    fact: Fact, left: UUID, plan: Plan, view: FactsView, next_id: Callable[[], UUID]
) -> Iterator[EvidenceContent]:
    """Evidence for a fact supports what is left of it too."""
    held = [item.content for item in view.evidence_of([fact.id]).get(fact.id, ())]
    for item in (*held, *(item for item in plan.evidence if item.fact == fact.id)):
        kept = _without_end(item)
        if kept is not None:
            yield replace(kept, id=next_id(), fact=left)


def _without_end(item: EvidenceContent) -> EvidenceContent | None:
    """The evidence for a fact that now ends elsewhere; None when nothing is left to say."""
    kept = replace(item, spelling=Spelling(item.spelling.object, item.spelling.valid_from, None))
    return kept if kept.episode is not None or kept.confidence is not None or kept.spelling else None
