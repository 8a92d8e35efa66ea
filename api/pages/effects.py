"""What a certificate does, in words: facts gained, ended, corrected, withdrawn, confirmed; each before and after.

Rules
-----
* Facts of one family are one change, of the kind that `bridge.review.plans` says. Evidence for a fact that is held
  already is another.
* Times and literals are spelled as they were submitted.

Example
-------
::

    changes = changes_of(effects, names)
    changes[0].kind, changes[0].after[0].span.phrase     # Kind.GAINED, "from 22 November 2005 until 8 December 2021"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.pages.drawing import Drawn, Role
from api.pages.terms import Shown, iris_of
from api.pages.times import Span, Words, at, span
from api.pages.visible import HEADING, clipped
from bridge.exporting.submitted import submitted
from bridge.review.plans import Kind, kind_of
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from uuid import UUID

    from api.pages.terms import Names
    from bridge.review.effects import Effects
    from kernel.facts import Evidence, Fact


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of evidence: where something was learnt, and how it was put there."""

    episode: Shown | None
    confidence: str | None
    spelled: Shown | None


@dataclass(frozen=True, slots=True)
class FactShown:
    """A fact for people."""

    id: UUID
    subject: Shown
    predicate: Shown
    object: Shown
    graph: Shown
    span: Span
    recorded: Words
    superseded: Words | None
    certificate: UUID
    superseded_by: UUID | None
    sources: tuple[Source, ...]

    @property
    def sentence(self) -> str:
        """All of it in one sentence, without marks; long texts cut."""
        parts = (clipped(each.text, HEADING) for each in (self.subject, self.predicate, self.object))
        return f"{' '.join(parts)}, {self.span.phrase}"


@dataclass(frozen=True, slots=True)
class Change:
    """One change, with the facts before and after it.

    Args:
        proposed: whether a rule proposes a bound that it brings, and the request did not ask for it.
    """

    kind: Kind
    before: tuple[FactShown, ...]
    after: tuple[FactShown, ...]
    sources: tuple[Source, ...] = ()
    proposed: bool = False

    @property
    def of_value(self) -> bool:
        """Whether it is another value that one fact gets."""
        return self._one_each and self.before[0].object.exact != self.after[0].object.exact

    @property
    def of_time(self) -> bool:
        """Whether it is another time that one fact gets."""
        return self._one_each and self.before[0].span.phrase != self.after[0].span.phrase

    @property
    def _one_each(self) -> bool:
        return len(self.before) == len(self.after) == 1

    @property
    def subject_matter(self) -> FactShown:
        """The fact by which it is named."""
        return (self.after or self.before)[0]


def nodes_of(effects: Effects) -> set[Iri]:
    """Every node that has to be called something."""
    facts = (*effects.recorded, *effects.superseded, *effects.supported, *effects.against)
    nodes = {iri for fact in (*facts, *(fact for fact, _ in effects.elsewhere)) for iri in iris_of(*_terms(fact))}
    for evidence in (*effects.brought.values(), *effects.held.values(), *(each for _, each in effects.elsewhere)):
        nodes |= {item.content.episode for item in evidence if item.content.episode is not None}
    if effects.asked is not None and effects.asked.episode is not None:
        nodes.add(effects.asked.episode)
    return nodes


def changes_of(effects: Effects, names: Names) -> list[Change]:
    """The changes, those of facts held before first of their kind, in the order of the plan."""
    before: dict[UUID, list[Fact]] = {}
    for fact in effects.superseded:
        before.setdefault(fact.content.family, []).append(fact)
    after: dict[UUID, list[Fact]] = {}
    for fact in effects.recorded:
        after.setdefault(fact.content.family, []).append(fact)
    changes = [
        Change(
            kind_of(before.get(family, []), after.get(family, [])),
            tuple(fact_shown(fact, effects.held.get(fact.id, ()), names) for fact in before.get(family, [])),
            tuple(fact_shown(fact, effects.brought.get(fact.id, ()), names) for fact in after.get(family, [])),
            proposed=any(fact.id in effects.proposed for fact in after.get(family, [])),
        )
        for family in dict.fromkeys((*after, *before))
    ]
    for fact in effects.supported:
        shown = (fact_shown(fact, effects.held.get(fact.id, ()), names),)
        changes.append(Change(Kind.CONFIRMED, shown, shown, sources_of(effects.brought[fact.id], names)))
    return changes


def fact_shown(fact: Fact, evidence: Sequence[Evidence], names: Names) -> FactShown:
    """A fact for people, as it was submitted."""
    said, statement = submitted(fact, evidence), fact.statement
    return FactShown(
        fact.id,
        names(statement.subject),
        names(statement.predicate),
        names(said.object),
        names(statement.graph),
        span(said.start, said.end),
        at(fact.recorded_at),
        None if fact.superseded is None else at(fact.superseded.at),
        fact.certificate,
        None if fact.superseded is None else fact.superseded.certificate,
        sources_of(evidence, names),
    )


def sources_of(evidence: Iterable[Evidence], names: Names) -> tuple[Source, ...]:
    """Evidence for people; what says nothing but how a time was spelled is in the time already, and nothing twice."""
    shown = (
        Source(
            None if item.content.episode is None else names(item.content.episode),
            None if item.content.confidence is None else format(item.content.confidence.normalize(), "f"),
            None if item.content.spelling.object is None else names(item.content.spelling.object),
        )
        for item in evidence
        if item.content.episode is not None
        or item.content.confidence is not None
        or item.content.spelling.object is not None
    )
    return tuple(dict.fromkeys(shown))


def to_draw(effects: Effects, names: Names, by_object: Collection[Iri] = ()) -> list[Drawn]:
    """The facts of a certificate for its drawings: superseded, left as they are, and recorded.

    Args:
        effects: of the certificate.
        names: of its nodes.
        by_object: predicates by which an object has one subject at a time, and not the other way round.
    """
    roles = ((Role.OLD, effects.superseded), (Role.KEPT, effects.against), (Role.NEW, effects.recorded))
    return [
        drawn(
            fact,
            (effects.brought if role is Role.NEW else effects.held).get(fact.id, ()),
            names,
            role,
            by_object=by_object,
        )
        for role, facts in roles
        for fact in facts
    ]


def drawn(
    fact: Fact,
    evidence: Sequence[Evidence],
    names: Names,
    role: Role,
    *,
    by_object: Collection[Iri] = (),
    node: Iri | None = None,
) -> Drawn:
    """One fact to draw, together with those of the same subject, or object, and predicate.

    Args:
        fact: to draw.
        evidence: for it.
        names: of its nodes.
        role: which part it plays.
        by_object: predicates by which it belongs to those of the same object.
        node: whose page it is on: the label then leaves that node out.
    """
    statement, shown = fact.statement, fact_shown(fact, evidence, names)
    reverse = statement.predicate in by_object
    key = (statement.graph, statement.predicate, statement.object if reverse else statement.subject)
    subject, verb, ending = (clipped(each.text, HEADING) for each in (shown.subject, shown.predicate, shown.object))
    heading, label = (f"{verb} {ending}", subject) if reverse else (f"{subject} {verb}", ending)
    if node is not None:
        label = f"{verb} {ending}" if statement.subject == node else f"{subject} {verb} {ending}"
    return Drawn(key, heading, label, role, fact.interval, fact.recorded_at, shown.sentence)


def _terms(fact: Fact) -> tuple[Iri, ...]:
    statement = fact.statement
    return (statement.subject, statement.predicate, statement.graph, *iris_of(statement.object))
