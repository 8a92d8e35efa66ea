"""Arguments: what supports, opposes or implies what, and what follows from that, each step with its proof.

Rules
-----
* An argument is an ordinary statement of a data graph: `X m:supports Y`, `X m:opposes Y` or `X m:implies Y`. Its ends
  name claims: a fact by its `urn:uuid:`, or a node that `rdf:reifies` exactly one triple. All names of a triple are the
  same claim; a node that names none stands for itself; what is no node is refused. What is claimed need not be believed
  by anybody.
* What follows is worked out by compositions: from `X first Y` and `Y then Z` comes `X gives Z`; with *back*, the second
  is taken the other way round, `Z then Y`. Always in force are: what implies what implies something, implies it; what
  supports something supports what that implies; what opposes something opposes what implies it. An `m:ArgumentRule` of
  `m:rules` adds one.
* A claim is not said to support or to imply itself; that one opposes itself is told.
* Of several proofs the one of the fewest levels is given. Nothing here is ever believed, recorded or put in a store.

Example
-------
>>> a, b, c = (Iri(f"urn:{name}") for name in "abc")
>>> said = [Stated(Relation.OPPOSES, a, c, UUID(int=1)), Stated(Relation.IMPLIES, b, c, UUID(int=2))]
>>> [(each.relation.value, each.one.value, each.other.value) for each in conclusions(said, STANDARD) if each.premises]
[('opposes', 'urn:a', 'urn:b')]
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias
from uuid import UUID

from kernel.errors import InvalidChange
from kernel.rules.words import short, strange
from kernel.terms import RDF, Iri, TripleTerm
from kernel.vocabulary import M, is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kernel.facts import FactContent
    from kernel.rules.words import Terms
    from kernel.terms import Statement, Term

REIFIES: Final = Iri(RDF + "reifies")
_SHOWN: Final = 100

FACTS: Final = "urn:uuid:"
"""How the IRIs of facts begin."""

Claim: TypeAlias = TripleTerm | Iri
"""What is claimed; a node of which that is not known."""


class Relation(StrEnum):
    """What one claim is to another."""

    SUPPORTS = "supports"
    OPPOSES = "opposes"
    IMPLIES = "implies"

    @property
    def iri(self) -> Iri:
        """The predicate that says so."""
        return _IRIS[self]


_IRIS: Final = {relation: Iri(M + relation) for relation in Relation}
RELATIONS: Final = {iri: relation for relation, iri in _IRIS.items()}


@dataclass(frozen=True, slots=True)
class Composition:
    """A rule: from `X first Y` and `Y then Z`, or with `back` `Z then Y`, comes `X gives Z`."""

    first: Relation
    then: Relation
    back: bool
    gives: Relation


STANDARD: Final = (
    Composition(Relation.IMPLIES, Relation.IMPLIES, back=False, gives=Relation.IMPLIES),
    Composition(Relation.SUPPORTS, Relation.IMPLIES, back=False, gives=Relation.SUPPORTS),
    Composition(Relation.OPPOSES, Relation.IMPLIES, back=True, gives=Relation.OPPOSES),
)
"""What the relations mean by themselves."""

ARGUMENT_RULE: Final = Iri(M + "ArgumentRule")
FIRST: Final = Iri(M + "first")
THEN: Final = Iri(M + "then")
THEN_BACK: Final = Iri(M + "thenBack")
GIVES: Final = Iri(M + "gives")
ARGUMENT_WORDS: Final = (FIRST, THEN, THEN_BACK, GIVES)


@dataclass(frozen=True, slots=True)
class Stated:
    """An argument that somebody stated: the fact of this id."""

    relation: Relation
    one: Claim
    other: Claim
    fact: UUID

    @property
    def premises(self) -> tuple[Step, ...]:
        """None."""
        return ()


@dataclass(frozen=True, slots=True)
class Derived:
    """An argument that follows from two others."""

    relation: Relation
    one: Claim
    other: Claim
    rule: Composition
    premises: tuple[Step, Step]


Step: TypeAlias = Stated | Derived
_Key: TypeAlias = tuple[Relation, Claim, Claim]


def composition_of(terms: Terms) -> Composition | str:
    """The composition that a node of `m:rules` describes, or what keeps it from being one."""
    if other := strange(terms, ARGUMENT_WORDS):
        return f"an argument rule has no {other}: write {short(ARGUMENT_WORDS)}"
    given = {
        word: [RELATIONS.get(term) for term in terms.get(word, ()) if isinstance(term, Iri)] for word in ARGUMENT_WORDS
    }
    second = given[THEN] + given[THEN_BACK]
    named = (given[FIRST], second, given[GIVES])
    counts = [len(terms.get(word, ())) for word in ARGUMENT_WORDS]
    if counts[0] != 1 or counts[1] + counts[2] != 1 or counts[3] != 1:
        return "an argument rule has one m:first, one m:then or m:thenBack, and one m:gives: write these"
    first, then, gives = (each[0] if each else None for each in named)
    if first is None or then is None or gives is None:
        return f"an argument rule is about {short(_IRIS.values())}: write one of these for each"
    return Composition(first, then, bool(given[THEN_BACK]), gives)


# --- what follows -----------------------------------------------------------------------------------------------------


def conclusions(stated: Iterable[Stated], rules: Sequence[Composition], most: int | None = None) -> list[Step]:
    """Everything that is stated or follows, each with a proof of the fewest levels; stated first.

    Args:
        stated: the arguments that somebody stated.
        rules: compositions.
        most: how many to stop after, so that there may be more; None: all.
    """
    known: dict[_Key, Step] = {}
    from_one: dict[tuple[Relation, Claim], list[Step]] = {}
    to_other: dict[tuple[Relation, Claim], list[Step]] = {}
    fresh: dict[_Key, Step] = {}
    for each in stated:
        fresh.setdefault((each.relation, each.one, each.other), each)
    while fresh:
        known |= fresh
        for step in fresh.values():
            from_one.setdefault((step.relation, step.one), []).append(step)
            to_other.setdefault((step.relation, step.other), []).append(step)
        found: dict[_Key, Step] = {}
        for step in fresh.values():
            for derived in _following(step, rules, from_one, to_other):
                key = (derived.relation, derived.one, derived.other)
                if key not in known:
                    found.setdefault(key, derived)
                if most is not None and len(known) + len(found) >= most:
                    return list((known | found).values())
        fresh = found
    return list(known.values())


def _following(
    step: Step,
    rules: Sequence[Composition],
    from_one: dict[tuple[Relation, Claim], list[Step]],
    to_other: dict[tuple[Relation, Claim], list[Step]],
) -> Iterator[Derived]:
    """What follows from a step and another one."""
    for rule in rules:
        pairs: list[tuple[Step, Step]] = []
        if rule.first is step.relation:
            ways = to_other if rule.back else from_one
            pairs += [(step, second) for second in ways.get((rule.then, step.other), ())]
        if rule.then is step.relation:
            pivot = step.other if rule.back else step.one
            pairs += [(first, step) for first in to_other.get((rule.first, pivot), ())]
        for first, second in pairs:
            end = second.one if rule.back else second.other
            if first.one != end or rule.gives is Relation.OPPOSES:
                yield Derived(rule.gives, first.one, end, rule, (first, second))


# --- what is stated around a claim ------------------------------------------------------------------------------------


class Source(Protocol):
    """Where arguments are read from, for one reader and moment."""

    def claimed_by(self, node: Iri) -> Sequence[TripleTerm]:
        """The triples that a node names."""
        ...

    def names_of(self, claim: TripleTerm) -> Iterable[Iri]:
        """The nodes that name a triple."""
        ...

    def stated_of(self, node: Iri) -> Iterable[FactContent]:
        """The arguments that have the node at one of their ends."""
        ...


@dataclass(frozen=True, slots=True)
class Around:
    """The arguments that are connected with a claim.

    Args:
        stated: they.
        names: of the claims in them, the nodes that name each.
        complete: whether these are all.
    """

    stated: tuple[Stated, ...]
    names: dict[Claim, tuple[Iri, ...]]
    complete: bool


def claim_of(node: Iri, source: Source) -> Claim:
    """What a node claims; the node itself, where that is not one triple."""
    triples = source.claimed_by(node)
    return triples[0] if len(triples) == 1 else node


def around(claim: Claim, source: Source, most: int) -> Around:
    """What is argued about a claim, about what is argued about it, and so on.

    Args:
        claim: where to begin.
        source: where arguments are read from.
        most: how many arguments to look at.
    """
    stated: dict[UUID, Stated] = {}
    names: dict[Claim, tuple[Iri, ...]] = {}
    waiting = [claim]
    while waiting and len(stated) < most:
        at = waiting.pop(0)
        if at in names:
            continue
        names[at] = (at,) if isinstance(at, Iri) else tuple(sorted(source.names_of(at), key=lambda node: node.value))
        for content in (content for node in names[at] for content in source.stated_of(node)):
            said = content.statement
            if content.id in stated or not isinstance(said.object, Iri):
                continue
            one, other = claim_of(said.subject, source), claim_of(said.object, source)
            stated[content.id] = Stated(RELATIONS[said.predicate], one, other, content.id)
            waiting += [each for each in (one, other) if each not in names]
    return Around(tuple(stated.values()), names, complete=not any(each not in names for each in waiting))


def require_claim(statement: Statement) -> None:
    """Raises `InvalidChange` for an argument about what is no claim, which nobody would ever find."""
    relation = RELATIONS.get(statement.predicate)
    if relation is not None and is_data(statement.graph) and not isinstance(statement.object, Iri):
        raise InvalidChange(
            f"m:{relation} leads to a claim, and {statement.object.n3[:_SHOWN]} is none",
            remedy="name a node that rdf:reifies the triple, or a fact by its urn:uuid:",
        )


def fact_named(node: Term) -> UUID | None:
    """The id of the fact that an IRI names; None: it names none."""
    if not isinstance(node, Iri) or not node.value.startswith(FACTS):
        return None
    try:
        return UUID(node.value.removeprefix(FACTS))
    except ValueError:
        return None
