"""What a writer asks for.

Rules
-----
* A change names a statement, whose graph is `m:default` when none is given, never "all graphs"; or, where it says so, a
  fact by its id.
* A request is one or more changes with a reason and perhaps an episode that all of them cite; it is planned as one.
* Nothing here depends on the state of a base: what can be told wrong without one is refused when the change is built.

Example
-------
>>> from kernel.terms import Iri, Statement
>>> from kernel.vocabulary import DEFAULT_GRAPH
>>> s = Statement(Iri("urn:a"), Iri("urn:p"), Iri("urn:b"), DEFAULT_GRAPH)
>>> Assert(s).validity == Validity.always()
True
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

from kernel.errors import InvalidChange, ReservedGraph
from kernel.facts import Spelling, Validity
from kernel.terms import Iri, Literal, Statement, TripleTerm
from kernel.time.intervals import Interval
from kernel.time.timevalues import Bound
from kernel.vocabulary import GOVERNANCE

if TYPE_CHECKING:
    from kernel.access import Role

NO_SPELLING = Spelling()

LONGEST_REASON = 10_000
"""Characters, as of a comment: people read it."""


@dataclass(frozen=True, slots=True)
class Assert:
    """Believe the statement over an interval; what is held already becomes evidence, never a second fact.

    Raises:
        ReservedGraph: a valid time on a graph that has transaction time only.
    """

    statement: Statement
    validity: Validity = field(default_factory=Validity.always)
    spelling: Spelling = NO_SPELLING
    confidence: Decimal | None = None

    def __post_init__(self) -> None:
        if self.validity is not Validity.always() and self.validity != Validity.always():
            refuse_valid_time(self.statement.graph)


@dataclass(frozen=True, slots=True)
class End:
    """The statement (or the fact named) stopped being true at an instant; None means the instant of issue."""

    target: Statement | UUID
    at: Bound | None = None


@dataclass(frozen=True, slots=True)
class Retract:
    """The statement (or the fact named) never was, at all or within an interval; residues keep the family."""

    target: Statement | UUID
    within: Interval | None = None


@dataclass(frozen=True, slots=True)
class Revise:
    """A fact was recorded wrong: its object, its start or its end is put right; None leaves a member as it is."""

    fact: UUID
    object: Iri | Literal | TripleTerm | None = None
    start: Bound | None = None
    end: Bound | None = None
    spelling: Spelling = NO_SPELLING
    confidence: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Reinstate:
    """A fact that was superseded is believed again, as it was; a part of reverting a certificate."""

    fact: UUID


Change = Assert | End | Retract | Revise | Reinstate


@dataclass(frozen=True, slots=True)
class Request:
    """Changes to be planned as one.

    Args:
        changes: in order; each sees the ones before it.
        reason: free text for the people who will read the certificate.
        episode: the source that the facts cite.
        principal: who asks, by the id of the principal.
        session: for a load session, the name under which its changes are staged; `changes` is empty then.
        role: the highest that the principal had anywhere when they asked; None: nobody has looked yet.
        partial: whether they could not read every graph of data then: what is found in others is told so that they
            cannot tell it from nothing.

    Raises:
        InvalidChange: a reason of more than `LONGEST_REASON` characters.
    """

    changes: tuple[Change, ...]
    reason: str | None
    episode: Iri | None
    principal: str
    session: str | None = None
    role: Role | None = None
    partial: bool = False

    def __post_init__(self) -> None:
        if self.reason is not None and len(self.reason) > LONGEST_REASON:
            raise InvalidChange(
                f"the reason has {len(self.reason):,} characters",
                remedy=f"give at most {LONGEST_REASON:,}, and cite as episode where more is said",
                where="reason",
            )


def refuse_valid_time(graph: Iri) -> None:
    """Raises `ReservedGraph` if the graph has transaction time only."""
    if graph in GOVERNANCE:
        raise ReservedGraph(
            f"{graph.value} has no valid time",
            remedy="leave out validFrom, validTo, validThrough and at: what is written there holds once applied",
        )
