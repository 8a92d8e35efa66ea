"""What is argued about a claim, for one caller and moment.

Rules (NothingLeaks)
-----
* Everything is read as `Reader.facts` reads it: arguments and the names of claims hold at the moment asked for, and are
  of graphs that the caller may read. A fact of another graph is a name that nothing is known of, as one that there is
  not. So what follows follows from what the caller may read, and from nothing else.
* A fact names its triple for good, also once it is superseded: an argument about it is one about what took its place.
* A claim is believed if some fact of its triple is, at that moment, in a graph that the caller may read. Who stated an
  argument is said to those who may read every graph of its certificate.
* Rules are those believed then. `MOST` arguments are looked at; where there are more, the answer says that it is not
  complete.

Example
-------
::

    argued = ArgumentReader(base.reader, base.ledger).about(principal, Iri("urn:uuid:…"), moment)
    [step.one for step in argued.against]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

from bridge.reading.facts import FactFilter, FoundFact
from bridge.reading.history_queries import facts_sampled, naming
from bridge.reading.reader import QueryRequest
from kernel.facts import FactContent
from kernel.rules.arguments import (
    REIFIES,
    RELATIONS,
    STANDARD,
    Derived,
    Relation,
    Stated,
    around,
    claim_of,
    conclusions,
    fact_named,
)
from kernel.rules.table import read_rules
from kernel.terms import Iri, TripleTerm
from kernel.vocabulary import RULES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from bridge.reading.moments import Moment
    from bridge.reading.reader import Reader
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.rules.arguments import Claim, Composition, Step

MOST: Final = 500
"""Arguments that are looked at for one claim."""

_CONCLUSIONS: Final = 5_000
_NAMES: Final = 100


@dataclass(frozen=True, slots=True)
class StatedBy:
    """A fact that is an argument, or that a node names a claim.

    Args:
        found: it, with its evidence.
        by: who asked for the change that brought it; None: the caller may not know.
    """

    found: FoundFact
    by: str | None


@dataclass(frozen=True, slots=True)
class ClaimFound:
    """A claim.

    Args:
        claim: the triple, or a node of which it is not known.
        names: the nodes that name it; at a hundred there may be more.
        claimed: the facts that say so.
        believed: the facts by which it is believed, and true, at the moment.
    """

    claim: Claim
    names: tuple[Iri, ...]
    claimed: tuple[StatedBy, ...]
    believed: tuple[FoundFact, ...]


@dataclass(frozen=True, slots=True)
class Argued:
    """What is argued about a claim.

    Args:
        claims: it, and those that the steps are about.
        steps: what is stated or follows about it, and whatever that takes to be proved; each after its premises.
        stated: by fact, the arguments among the steps that somebody stated.
        complete: whether everything was looked at.
    """

    claims: tuple[ClaimFound, ...]
    steps: tuple[Step, ...]
    stated: dict[UUID, StatedBy]
    complete: bool

    @property
    def claim(self) -> ClaimFound:
        """The claim asked for."""
        return self.claims[0]

    def into(self, *relations: Relation) -> list[Step]:
        """Which steps say that something is so related to the claim."""
        return [step for step in self.steps if step.relation in relations and step.other == self.claim.claim]

    def out(self, relation: Relation) -> list[Step]:
        """Which steps say that the claim is so related to something."""
        return [step for step in self.steps if step.relation is relation and step.one == self.claim.claim]


class ArgumentReader:
    """Reads arguments; safe from any thread."""

    def __init__(self, reader: Reader, ledger: Ledger) -> None:
        self._reader = reader
        self._ledger = ledger

    def about(self, principal: Principal, named: Claim, moment: Moment, *, seconds: float = inf) -> Argued:
        """What is argued about a claim.

        Args:
            principal: the caller.
            named: a triple; or a node that names one, such as a fact.
            moment: when.
            seconds: that reading may take.

        Raises:
            QueryLimit: that was not enough.
        """
        with self._ledger.reading() as view:
            source = _Source(self._reader, view, principal, moment, seconds)
            claim = claim_of(named, source) if isinstance(named, Iri) else named
            found = around(claim, source, MOST)
            steps = conclusions(found.stated, source.rules, _CONCLUSIONS)
            wanted = _proofs(step for step in steps if claim in (step.one, step.other))
            claims = dict.fromkeys([claim, *(end for step in wanted for end in (step.one, step.other))])
            return Argued(
                tuple(source.claim(each, found.names.get(each, ())) for each in claims),
                tuple(wanted),
                {step.fact: source.stated(step.fact) for step in wanted if isinstance(step, Stated)},
                found.complete and len(steps) < _CONCLUSIONS,
            )


class _Source:
    """Arguments, and what they are about, as `kernel.rules.arguments` asks for them."""

    def __init__(self, reader: Reader, view: LedgerView, principal: Principal, moment: Moment, seconds: float) -> None:
        self._reader = reader
        self._view = view
        self._principal = principal
        self._moment = moment
        self._until = monotonic() + seconds
        self._arguments: dict[UUID, FoundFact] = {}
        self._claimed: dict[Iri, list[TripleTerm]] = {}

    @cached_property
    def rules(self) -> Sequence[Composition]:
        """Those in force at the moment."""
        facts = self._view.facts_of_graph(RULES_GRAPH, as_of=self._moment.as_of)
        return (*STANDARD, *read_rules(tuple(facts)).arguments)

    def claimed_by(self, node: Iri) -> Sequence[TripleTerm]:
        if node not in self._claimed:
            self._claimed[node] = self._claimed_by(node)
        return self._claimed[node]

    def names_of(self, claim: TripleTerm) -> Iterable[Iri]:
        reifying = self._facts(FactFilter(predicate=REIFIES, object=claim), _NAMES)
        named = {found.fact.statement.subject for found in reifying}
        request = QueryRequest(self._principal, naming(claim))
        recorded = facts_sampled(self._reader.sample(request, limit=_NAMES).sample)
        return named | {Iri(f"urn:uuid:{each}") for each in recorded if self._triple_of(each) is not None}

    def stated_of(self, node: Iri) -> Iterable[FactContent]:
        for predicate in RELATIONS:
            for wanted in (FactFilter(subject=node, predicate=predicate), FactFilter(predicate=predicate, object=node)):
                for found in self._facts(wanted, MOST):
                    self._arguments[found.fact.id] = found
                    yield found.fact.content

    def claim(self, claim: Claim, names: Iterable[Iri]) -> ClaimFound:
        """A claim, by the nodes that name it."""
        if not isinstance(claim, TripleTerm):
            return ClaimFound(claim, (claim,), (), ())
        reifying = self._facts(FactFilter(predicate=REIFIES, object=claim), _NAMES)
        believed = self._facts(FactFilter(claim.subject, claim.predicate, claim.object), _NAMES)
        return ClaimFound(claim, tuple(names), tuple(map(self._by, reifying)), tuple(believed))

    def stated(self, fact: UUID) -> StatedBy:
        """An argument that was read."""
        return self._by(self._arguments[fact])

    def _by(self, found: FoundFact) -> StatedBy:
        record = self._view.certificate(found.fact.certificate)
        known = record is not None and all(map(self._principal.may_read, record.graphs))
        return StatedBy(found, record.principal if record is not None and known else None)

    def _claimed_by(self, node: Iri) -> list[TripleTerm]:
        identifier = fact_named(node)
        triple = None if identifier is None else self._triple_of(identifier)
        if triple is not None:
            return [triple]
        found = self._facts(FactFilter(subject=node, predicate=REIFIES), 2)
        triples = (each.fact.statement.object for each in found)
        return list(dict.fromkeys(triple for triple in triples if isinstance(triple, TripleTerm)))

    def _triple_of(self, identifier: UUID) -> TripleTerm | None:
        """What a fact says that the caller may read, and that was recorded by the moment."""
        fact, as_of = self._view.fact(identifier), self._moment.as_of
        if fact is None or not self._principal.may_read(fact.statement.graph):
            return None
        said = fact.statement
        if as_of is not None and fact.recorded_at > as_of:
            return None
        return TripleTerm(said.subject, said.predicate, said.object)

    def _facts(self, wanted: FactFilter, limit: int) -> Sequence[FoundFact]:
        seconds = max(self._until - monotonic(), 0.0)
        return self._reader.facts(self._principal, wanted, self._moment, limit=limit, seconds=seconds).found


def _proofs(steps: Iterable[Step]) -> list[Step]:
    """The steps and all that they are derived from, each once, and after its premises."""
    found: dict[int, Step] = {}
    waiting = [(step, False) for step in reversed(list(steps))]
    while waiting:
        step, proved = waiting.pop()
        if id(step) in found:
            continue
        if proved or not isinstance(step, Derived):
            found[id(step)] = step
        else:
            waiting += [(step, True), *((premise, False) for premise in reversed(step.premises))]
    return list(found.values())
