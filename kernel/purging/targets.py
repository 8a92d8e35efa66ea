"""What a purge is of, and what of a base belongs to that.

Rules
-----
* A purge is of a statement, named by one of its facts; of a family; of a node; of an episode; or of a graph.
* Of a statement every fact goes, whatever its times, and of a family every fact of each statement that it ever had:
  what has a tombstone cannot still be there. Of a node every fact goes whose statement names it, as subject, predicate,
  object, datatype, or within a triple term; what the text of a literal mentions is another matter.
* Of an episode the evidence goes that cites it, and each fact for which there is no other evidence. Of a node that is
  cited as an episode, that evidence goes too.
* A graph that is reserved is not purged as a whole, for nothing could ever be written there again; nor is a node of one
  of the vocabularies without which no graph is read, for its tombstone would refuse whatever names it.
* A graph that has the name of a node which is purged is another matter, and stays.

Example
-------
>>> Target(TargetKind.NODE, Iri("urn:ann")).text
'urn:ann'
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID

from certificates.ids import urn
from certificates.items import ItemKind
from kernel.errors import InvalidTerm, NotFound, ReservedGraph, ReservedTerm, TooManyChanges
from kernel.purging.tombstones import TombstoneKind, iris_of
from kernel.terms import RDF, XSD, Iri
from kernel.vocabulary import QUERIES_GRAPH, M, is_ours

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kernel.facts import Evidence, Fact
    from kernel.ports.ledger import LedgerView
    from kernel.purging.tombstones import Stone, Tombstones
    from kernel.terms import Statement
    from kernel.time.instants import Instant

MOST = 250_000
"""Facts that one purge takes: what is held in memory while others wait, some 1 KB each."""

_VOCABULARIES: Final = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
    "sh": "http://www.w3.org/ns/shacl#",
    "m": M,
}
_IRI: Final = re.compile(r"<([^<>]+)>")

_Candidate: TypeAlias = "tuple[TombstoneKind, str, Target]"


class TargetKind(StrEnum):
    """What a purge is of."""

    FACT = "fact"
    FAMILY = "family"
    NODE = "node"
    EPISODE = "episode"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Target:
    """One of them; a fact and a family by id, the others by IRI.

    Raises:
        ReservedGraph: a graph of Muniment's own.
        TypeError: an id where there should be an IRI, or the other way round.
    """

    kind: TargetKind
    value: UUID | Iri

    def __post_init__(self) -> None:
        if isinstance(self.value, UUID) != (self.kind in {TargetKind.FACT, TargetKind.FAMILY}):
            raise TypeError(f"{self.value} is no {self.kind}")
        if self.kind is TargetKind.GRAPH and isinstance(self.value, Iri) and is_ours(self.value):
            raise ReservedGraph(
                f"{self.value.value} is reserved: without it nothing could be written there again",
                remedy="purge what is in it: by fact, family, node or episode",
                where="graph",
            )

    @property
    def text(self) -> str:
        """The id as a URN, or the IRI."""
        return urn(self.value) if isinstance(self.value, UUID) else self.value.value

    @property
    def iri(self) -> Iri | None:
        """The IRI, if it is one."""
        return None if isinstance(self.value, UUID) else self.value

    def covers(self, statement: Statement, statements: frozenset[Statement]) -> bool:
        """Whether a statement belongs to what is purged; `statements` are those of a fact or family."""
        if self.kind is TargetKind.NODE:
            return names(statement, self.value)
        if self.kind is TargetKind.GRAPH:
            return statement.graph == self.value
        return self.kind is not TargetKind.EPISODE and statement in statements

    def covers_source(self, episode: Iri | None) -> bool:
        """Whether whatever cites the episode belongs to what is purged."""
        return episode == self.value and self.kind in {TargetKind.EPISODE, TargetKind.NODE}


@dataclass(frozen=True, slots=True)
class Held:
    """What is held of a target: facts, and evidence for them and else; each piece with its fact's graph."""

    facts: tuple[Fact, ...]
    evidence: tuple[tuple[Evidence, Iri], ...]


def names(statement: Statement, node: UUID | Iri) -> bool:
    """Whether a statement names a node."""
    return any(
        iri == node for term in (statement.subject, statement.predicate, statement.object) for iri in iris_of(term)
    )


def refuse_vocabulary(target: Target) -> None:
    """Raises `ReservedTerm` for a node of a vocabulary by which graphs are read."""
    if target.kind is not TargetKind.NODE:
        return
    for prefix, namespace in _VOCABULARIES.items():
        if target.text.startswith(namespace):
            raise ReservedTerm(
                f"{target.text} is of the vocabulary {prefix}: without it nothing that names it could be written again",
                remedy="purge the statements that name it: by fact, family, node, episode or graph",
                where=target.kind.value,
            )


def graph_stays(view: LedgerView, target: Target, held: Held) -> bool:
    """Whether a purge of a node leaves a graph of its name."""
    if target.kind is not TargetKind.NODE or target.iri not in view.graphs():
        return False
    gone = {fact.id for fact in held.facts}
    return any(fact.id not in gone for fact in view.facts_ever(graph=target.iri))


def held_of(view: LedgerView, target: Target) -> Held:
    """What a base holds of a target; it may be nothing.

    Raises:
        NotFound: there is no such fact or family.
        TooManyChanges: more than one purge takes.
    """
    facts = {fact.id: fact for fact in _bounded(_facts(view, target))}
    cited = _cited(view, target)
    if target.kind is TargetKind.EPISODE:
        facts |= _only_from(view, cited)
    graphs = {fact.id: fact.statement.graph for fact in facts.values()}
    found = {
        item.content.id: (item, graphs[fact])
        for fact, evidence in view.evidence_of(list(facts)).items()
        for item in evidence
    }
    found |= {item.content.id: (item, fact.statement.graph) for item, fact in cited}
    return Held(tuple(sorted(facts.values(), key=_order)), tuple(found[each] for each in sorted(found)))


def standing_in(
    view: LedgerView, tombstones: Tombstones, wanted: Collection[Stone], staged: Iterable[Statement]
) -> list[Target]:
    """What a base holds, plans or has staged of what has one of the tombstones. The whole ledger is read."""
    stones = frozenset(wanted)
    found = {
        (kind, text): target
        for kind, text, target in dict.fromkeys(_named(view, staged))
        if (kind, tombstones.hash_of(kind, text)) in stones
    }
    return list(found.values())


def _named(view: LedgerView, staged: Iterable[Statement]) -> Iterator[_Candidate]:
    """Whatever could have a tombstone."""
    head = view.head().instant
    if head is not None:
        yield from _recorded(view, head)
    for _, item in view.items_in_words():
        if item.kind is ItemKind.PLAN:
            yield from _planned(json.loads(item.body))
    for statement in staged:
        yield from _planned({"statement": statement.nquad})


def _recorded(view: LedgerView, head: Instant) -> Iterator[_Candidate]:
    for fact in view.facts_recorded(None, head):
        statement = fact.statement
        yield TombstoneKind.STATEMENT, statement.nquad, Target(TargetKind.FACT, fact.id)
        for term in (statement.subject, statement.predicate, statement.object):
            for iri in iris_of(term):
                yield _of(TargetKind.NODE, iri)
        if statement.graph == QUERIES_GRAPH:  # what a query names is purged with the query
            yield from _planned({"statement": statement.nquad})
    for evidence, _ in view.evidence_recorded(None, head):
        if evidence.content.episode is not None:
            yield _of(TargetKind.EPISODE, evidence.content.episode)
            yield _of(TargetKind.NODE, evidence.content.episode)
    for graph in view.graphs():
        if not is_ours(graph):
            yield _of(TargetKind.GRAPH, graph)


def _planned(said: dict[str, str]) -> Iterator[_Candidate]:
    """What an item of a plan names that was never applied: each IRI in the text of its statement, and its source."""
    for text in _IRI.findall(said.get("statement", "")):
        with suppress(InvalidTerm):  # it stands in a literal
            iri = Iri(text)
            yield _of(TargetKind.NODE, iri)
            if not is_ours(iri):
                yield _of(TargetKind.GRAPH, iri)
    if (episode := said.get("episode")) is not None:
        yield _of(TargetKind.EPISODE, Iri(episode))
        yield _of(TargetKind.NODE, Iri(episode))


def _of(kind: TargetKind, iri: Iri) -> _Candidate:
    return TombstoneKind(kind.value), iri.value, Target(kind, iri)


def tombstones_of(target: Target, facts: Iterable[Fact]) -> list[tuple[TombstoneKind, str]]:
    """The kind and text of each tombstone that is to stand."""
    if target.kind in {TargetKind.FACT, TargetKind.FAMILY}:
        return [(TombstoneKind.STATEMENT, quad) for quad in sorted({fact.statement.nquad for fact in facts})]
    return [(TombstoneKind(target.kind.value), target.text)]


def _facts(view: LedgerView, target: Target) -> Iterator[Fact]:
    value = target.value
    if isinstance(value, UUID):
        for statement in _statements(view, target.kind, value):
            yield from view.facts_ever(statement=statement)
    elif target.kind is TargetKind.NODE:
        yield from view.facts_ever(node=value)
    elif target.kind is TargetKind.GRAPH:
        yield from view.facts_ever(graph=value)


def _statements(view: LedgerView, kind: TargetKind, identifier: UUID) -> list[Statement]:
    """The statements of a fact, or of all facts of a family. Raises `NotFound`."""
    if kind is TargetKind.FACT:
        fact = view.fact(identifier)
        found = [] if fact is None else [fact.statement]
    else:
        found = [*dict.fromkeys(fact.statement for fact in view.facts_ever(family=identifier))]
    if not found:
        raise NotFound(f"there is no such {kind}", remedy="look it up with GET /facts", where=kind.value)
    return found


def _bounded(facts: Iterable[Fact]) -> Iterator[Fact]:
    for number, fact in enumerate(facts):
        if number >= MOST:
            raise TooManyChanges(
                f"more than {MOST:,} facts belong to this",
                remedy="purge it in parts: node by node, or episode by episode",
            )
        yield fact


def _cited(view: LedgerView, target: Target) -> list[tuple[Evidence, Fact]]:
    if target.kind in {TargetKind.EPISODE, TargetKind.NODE} and target.iri is not None:
        return view.evidence_citing({target.iri})
    return []


def _only_from(view: LedgerView, cited: Sequence[tuple[Evidence, Fact]]) -> dict[UUID, Fact]:
    """The facts for which nothing else speaks, and none of the facts that each of them is what is left of."""
    told = {item.content.id for item, _ in cited}
    facts = {fact.id: fact for _, fact in cited}
    return {fact.id: fact for fact in _bounded(facts.values()) if _is_from(view, fact, told)}


def _is_from(view: LedgerView, fact: Fact, told: set[UUID]) -> bool:
    """Whether there is nothing but evidence that is told for a fact and what it is left of.

    A certificate that records a fact and brought no evidence for it is evidence itself.
    """
    family = [each for each in view.facts_ever(statement=fact.statement) if each.content.family == fact.content.family]
    evidence = view.evidence_of([each.id for each in family])
    return all(
        all(item.content.id in told for item in evidence.get(each.id, ()))
        and (
            any(item.certificate == each.certificate for item in evidence.get(each.id, ()))
            or view.sourced_before(each.id, each.certificate)
        )
        for each in family
    )


def _order(fact: Fact) -> bytes:
    return fact.id.bytes
