"""What is argued about the claim that a node names: a section of its page.

Rules
-----
* Told in groups: what supports it, opposes it and implies it, and what it supports, opposes and implies itself. What is
  stated says by which certificate; what follows has its premises, down to what was stated.
* Which claims are believed at the moment of the page is said of each; to be argued for makes nothing believed.
* A node about which nothing is argued, and that names no triple, has no such section.

Example
-------
::

    argued_shown(argued, names).groups[0].title        # "Supported by"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from api.pages.terms import iris_of
from kernel.rules.arguments import Relation, Stated
from kernel.terms import TripleTerm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from api.pages.terms import Names, Shown
    from bridge.review.arguments import Argued, ClaimFound
    from kernel.rules.arguments import Claim, Step
    from kernel.terms import Iri

_INTO: Final = (
    (Relation.SUPPORTS, "Supported by"),
    (Relation.OPPOSES, "Opposed by"),
    (Relation.IMPLIES, "Follows from"),
)
_OUT: Final = ((Relation.SUPPORTS, "Supports"), (Relation.OPPOSES, "Opposes"), (Relation.IMPLIES, "Implies"))


@dataclass(frozen=True, slots=True)
class ClaimShown:
    """A claim for people: in words, the node whose page has more of it, and whether it is believed."""

    said: Shown
    page: str | None
    believed: bool


@dataclass(frozen=True, slots=True)
class StatementShown:
    """An argument that somebody stated."""

    one: ClaimShown
    relation: str
    other: ClaimShown
    certificate: UUID
    by: str | None


@dataclass(frozen=True, slots=True)
class ConclusionShown:
    """What stands at the other end of an argument, and all that was stated of which it follows."""

    claim: ClaimShown
    follows: bool
    stated: tuple[StatementShown, ...]


@dataclass(frozen=True, slots=True)
class GroupShown:
    """Arguments of one kind."""

    title: str
    conclusions: tuple[ConclusionShown, ...]


@dataclass(frozen=True, slots=True)
class ArgumentsShown:
    """What is argued about a claim."""

    claim: ClaimShown
    groups: tuple[GroupShown, ...]
    complete: bool


def nodes_argued(argued: Argued) -> set[Iri]:
    """Every node that has to be called something."""
    return {iri for found in argued.claims for iri in (*iris_of(found.claim), *found.names[:1])}


def argued_shown(argued: Argued, names: Names) -> ArgumentsShown | None:
    """The section; None: nothing is argued about it, and it names no triple."""
    if not argued.steps and not isinstance(argued.claim.claim, TripleTerm):
        return None
    claims = {found.claim: _claim(found, names) for found in argued.claims}
    groups = [(title, [(step, step.one) for step in argued.into(relation)]) for relation, title in _INTO] + [
        (title, [(step, step.other) for step in argued.out(relation)]) for relation, title in _OUT
    ]
    return ArgumentsShown(
        claims[argued.claim.claim],
        tuple(
            GroupShown(title, tuple(_conclusion(step, claims[end], claims, argued) for step, end in steps))
            for title, steps in groups
            if steps
        ),
        argued.complete,
    )


def _claim(found: ClaimFound, names: Names) -> ClaimShown:
    page = names(found.names[0]).page if found.names else None
    return ClaimShown(names(found.claim), page, bool(found.believed))


def _conclusion(step: Step, end: ClaimShown, claims: dict[Claim, ClaimShown], argued: Argued) -> ConclusionShown:
    stated = {each.fact: each for each in _stated(step)}
    return ConclusionShown(
        end,
        not isinstance(step, Stated),
        tuple(
            StatementShown(
                claims[each.one],
                each.relation.value,
                claims[each.other],
                argued.stated[each.fact].found.fact.certificate,
                argued.stated[each.fact].by,
            )
            for each in stated.values()
        ),
    )


def _stated(step: Step) -> Iterator[Stated]:
    """What was stated of which a step follows, each as often as it is needed at most."""
    seen: set[int] = set()
    waiting = [step]
    while waiting:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        if isinstance(at, Stated):
            yield at
        waiting += reversed(at.premises)
