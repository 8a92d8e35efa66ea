"""How a statement follows, for one caller: rule by rule, down to facts with their certificates and times.

Rules (NothingLeaks)
-----
* What follows is looked for as for a query of the caller: in the closure of the graphs that its default graph has, and
  of the ontology if the caller may read that. So no proof names a statement that the caller may not read.
* A premise that is asserted comes with the facts that assert it, those of that moment, in these graphs.
* A proof holds while all its premises do: over the intersection of their valid times, where of the facts that assert a
  premise the one is taken that holds longest. The statement itself may hold longer, by other proofs; and what is cut
  off a proof is only known to hold at the moment itself.

Example
-------
::

    found = await explainer.explain(principal, Asked(subject, predicate, value, regime), moment)
    found.proof[0].rule, found.proof[0].premises, found.proof[0].during
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from bridge.reading.facts import FoundFact, as_known, known_of
from bridge.reading.reader import QueryRequest
from kernel.errors import NotFound
from kernel.terms import Iri, Statement, Term, parse_iri, parse_term
from kernel.time.intervals import ALWAYS, Interval
from kernel.vocabulary import DEFAULT_GRAPH

if TYPE_CHECKING:
    from bridge.entailment.regimes import Premises
    from bridge.reading.moments import Moment
    from bridge.reading.reader import Past, Reader
    from bridge.snapshots.cache import Snapshots
    from kernel.access import Principal
    from kernel.entailment.proofs import Proved
    from kernel.entailment.table import Regime
    from kernel.ports.ledger import Ledger, LedgerView

MOST: Final = 200
"""Steps of a proof that are told."""

_ANYTHING: Final = "ASK {}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be explained.

    Args:
        subject: of the statement.
        predicate: of it.
        value: its object.
        regime: by which rules it follows.
        graphs: the graphs that it is to follow from, as far as the caller may read them; none: those of a query.
        strict: whether those are `m:default` alone.
    """

    subject: Iri
    predicate: Iri
    value: Term
    regime: Regime
    graphs: tuple[Iri, ...] = ()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Explained:
    """A statement of a proof.

    Args:
        subject: of the statement.
        predicate: of it.
        value: its object.
        rule: by which it follows; None: it is asserted.
        premises: the places of what that was applied to.
        facts: that assert it, where they do.
        during: while it holds by this proof.
        cut: whether its premises are left out because the proof is long.
    """

    subject: Iri
    predicate: Iri
    value: Term
    rule: str | None
    premises: tuple[int, ...]
    facts: tuple[FoundFact, ...]
    during: Interval
    cut: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """A proof, the statement asked for first; by which rules, and the state that it is of."""

    proof: tuple[Explained, ...]
    regime: Regime
    past: Past


class Explainer:
    """Explains what follows.

    Args:
        ledger: the truth.
        reader: settles what a caller may read, and when.
        snapshots: have what follows.
    """

    def __init__(self, ledger: Ledger, reader: Reader, snapshots: Snapshots) -> None:
        self._ledger = ledger
        self._reader = reader
        self._snapshots = snapshots

    async def explain(self, principal: Principal, asked: Asked, moment: Moment) -> Explanation:
        """How a statement follows at a moment.

        Raises:
            NotFound: it does not hold there, in what the caller may read.
            QueryLimit: too much follows.
        """
        graphs = tuple(graph.value for graph in asked.graphs)
        request = QueryRequest(
            principal, _ANYTHING, default_graphs=graphs, strict=asked.strict, entailment=asked.regime
        )
        question = self._reader.question(request, moment)
        past = question.past
        if past is None or past.entailed is None or past.as_of is None:
            raise _does_not_hold()
        statement = Statement(asked.subject, asked.predicate, asked.value, DEFAULT_GRAPH)
        proof = await asyncio.wrap_future(self._snapshots.proof(question.wanted, statement, MOST))
        if not proof:
            raise _does_not_hold()
        told = await asyncio.to_thread(self._told, proof, past, past.entailed.premises)
        return Explanation(told, asked.regime, past)

    def _told(self, proof: list[Proved], past: Past, premises: Premises) -> tuple[Explained, ...]:
        with self._ledger.reading() as view:
            teller = _Teller(view, past, premises, proof)
            return tuple(map(teller.told, range(len(proof))))


class _Teller:
    """Tells one proof."""

    def __init__(self, view: LedgerView, past: Past, graphs: Premises, proof: list[Proved]) -> None:
        self._view, self._past, self._graphs, self._proof = view, past, graphs, proof
        self._facts = [self._asserting(each) if each["rule"] is None else () for each in proof]
        self._during: dict[int, Interval] = {}

    def told(self, place: int) -> Explained:
        """The statement at a place."""
        each = self._proof[place]
        premises = tuple(each["premises"])
        return Explained(*_terms(each), each["rule"], premises, self._facts[place], self._holding(place), each["cut"])

    def _holding(self, place: int) -> Interval:
        """While the statement at a place holds by this proof."""
        known = self._during.get(place)
        if known is None:
            known = self._during[place] = self._worked_out(place)
        return known

    def _worked_out(self, place: int) -> Interval:
        each = self._proof[place]
        if each["cut"]:
            return Interval(self._past.valid_at, self._past.valid_at + 1)
        if each["rule"] is None:
            held = (found.fact.interval for found in self._facts[place])
            return max(held, key=lambda interval: interval.end - interval.start, default=ALWAYS)
        return reduce(_within, map(self._holding, each["premises"]), ALWAYS)

    def _asserting(self, each: Proved) -> tuple[FoundFact, ...]:
        as_of, (subject, predicate, value) = self._past.as_of, _terms(each)
        if as_of is None:
            return ()
        every: list[Iri | None] = [None]
        graphs = every if self._graphs.every_data else sorted(self._graphs.graphs, key=lambda graph: graph.value)
        facts = [
            as_known(fact, as_of)
            for graph in graphs
            for fact in self._view.believed_at(as_of, subject=subject, predicate=predicate, object=value, graph=graph)
            if self._graphs.has(fact.statement.graph) and fact.interval.contains(self._past.valid_at)
        ]
        evidence = self._view.evidence_of([fact.id for fact in facts])
        return tuple(FoundFact(fact, known_of(evidence.get(fact.id, ()), as_of)) for fact in facts)


def _terms(each: Proved) -> tuple[Iri, Iri, Term]:
    subject, predicate, value = each["statement"]
    return parse_iri(subject), parse_iri(predicate), parse_term(value)


def _within(one: Interval, other: Interval) -> Interval:
    """What two intervals share; both hold at the moment that is asked for."""
    return one.intersect(other) or one


def _does_not_hold() -> NotFound:
    return NotFound(
        "it does not hold there, neither asserted nor by these rules",
        remedy="see whether its terms are spelled as they are held, and what it follows from: `entailment`, `graph`",
    )
