"""How much speaks for a fact: its believed supporters, less its believed opponents.

Rules
-----
* Counted are the claims that support or imply what a fact says, and taken off those that oppose it, stated or following
  (`kernel.rules.arguments`), each once; and of all of them only those that are themselves believed at the instant. The
  fact itself is none of them: nothing speaks for itself, neither outright nor by a circle of arguments.
* Arguments, names and beliefs are those of the fact's own graph, at that instant of valid time, once the plan is
  applied: whoever reads the graph can see all that counts.
* Where more than `MOST` arguments are connected with it, nothing is known.

Example
-------
::

    speaking_for(content.statement, at, plan, view, rules)      # 2: three believed supporters, one opponent
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernel.rules.arguments import (
    FACTS,
    REIFIES,
    RELATIONS,
    STANDARD,
    Relation,
    around,
    conclusions,
    fact_named,
)
from kernel.terms import Iri, Statement, TripleTerm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernel.facts import FactContent
    from kernel.ports.facts import FactsView
    from kernel.rules.arguments import Claim, Composition
    from kernel.terms import Term
    from kernel.writing.plan import Plan

MOST: Final = 200
"""Arguments that are looked at for one fact."""

_CONCLUSIONS: Final = 2_000


def speaking_for(
    statement: Statement, at: int, plan: Plan, view: FactsView, rules: Sequence[Composition]
) -> int | None:
    """How much speaks for a statement at an instant of valid time; None: more is argued than is looked at.

    Args:
        statement: it.
        at: the instant.
        plan: what would be believed besides, and no more; its facts are not in the view.
        view: the facts believed at the head.
        rules: of the base, beside those that always hold.
    """
    source = _Planned(plan, view, statement.graph, at)
    claim = TripleTerm(statement.subject, statement.predicate, statement.object)
    found = around(claim, source, MOST)
    steps = conclusions(found.stated, (*STANDARD, *rules), _CONCLUSIONS)
    if not found.complete or len(steps) >= _CONCLUSIONS:
        return None
    about = [step for step in steps if step.other == claim != step.one]
    against = {step.one for step in about if step.relation is Relation.OPPOSES}
    speaking = {step.one for step in about if step.relation is not Relation.OPPOSES}
    return sum(map(source.believes, speaking)) - sum(map(source.believes, against))


class _Planned:
    """Arguments of one graph and instant, as they would be once a plan is applied."""

    def __init__(self, plan: Plan, view: FactsView, graph: Iri, at: int) -> None:
        self._plan = plan
        self._view = view
        self._graph = graph
        self._at = at
        self._gone = {fact.id for fact in plan.supersede}

    def claimed_by(self, node: Iri) -> Sequence[TripleTerm]:
        identifier = fact_named(node)
        fact = None if identifier is None else self._view.fact(identifier)
        if fact is not None and fact.statement.graph == self._graph:
            return [TripleTerm(fact.statement.subject, fact.statement.predicate, fact.statement.object)]
        said = (content.statement.object for content in self._held(subject=node, predicate=REIFIES))
        return list(dict.fromkeys(term for term in said if isinstance(term, TripleTerm)))

    def names_of(self, claim: TripleTerm) -> Iterator[Iri]:
        for content in self._held(predicate=REIFIES, value=claim):
            yield content.statement.subject
        for fact in self._view.ever_of(self._statement(claim)):
            yield Iri(f"{FACTS}{fact.id}")

    def stated_of(self, node: Iri) -> Iterator[FactContent]:
        for predicate in RELATIONS:
            yield from self._held(subject=node, predicate=predicate)
            yield from self._held(predicate=predicate, value=node)

    def believes(self, claim: Claim) -> bool:
        """Whether a claim is believed."""
        if not isinstance(claim, TripleTerm):
            return False
        return any(self._held(subject=claim.subject, predicate=claim.predicate, value=claim.object))

    def _statement(self, claim: TripleTerm) -> Statement:
        return Statement(claim.subject, claim.predicate, claim.object, self._graph)

    def _held(self, *, subject: Iri | None = None, predicate: Iri, value: Term | None = None) -> Iterator[FactContent]:
        """What would be believed and true of a subject or object."""
        held = self._view.believed(subject=subject, predicate=predicate, object=value, graph=self._graph)
        for fact in held:
            if fact.id not in self._gone and fact.interval.contains(self._at):
                yield fact.content
        for content in self._plan.record:
            said = content.statement
            wanted = ((subject, said.subject), (predicate, said.predicate), (value, said.object))
            if (
                said.graph == self._graph
                and content.interval.contains(self._at)
                and all(want in (None, have) for want, have in wanted)
            ):
                yield content
