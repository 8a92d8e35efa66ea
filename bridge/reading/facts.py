"""Facts that are looked up: which are asked for, in what order they come, and how they were known at a moment.

Rules
-----
* Facts have a place: by start, end, recording instant and id. A page goes on after the place of the last fact before.
* What was superseded after a moment is not yet superseded at it, and evidence that came later is not there.
* Whoever looks at many facts looks at the clock as well.

Example
-------
>>> FactFilter(subject=Iri("urn:ann")).every_time
False
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID

from kernel.errors import InvalidParameter, LedgerUnavailable, QueryLimit
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kernel.access import Principal
    from kernel.facts import Evidence, Fact
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Term
    from kernel.time.instants import Instant

_LOOKED_UP: Final = 256
"""Facts after which it is looked at the clock."""

Place: TypeAlias = tuple[int, int, int, bytes]
"""Start and end of valid time, recording instant, id: where a fact stands in a list of `Reader.facts`."""


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts; at least a subject, an object or a graph is needed. `every_time`: whatever their valid time."""

    subject: Iri | None = None
    predicate: Iri | None = None
    object: Term | None = None
    graph: Iri | None = None
    every_time: bool = False


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact with its evidence, as known at the moment asked for.

    Args:
        successors: in a history, what took the place of a fact that was superseded: the facts of its family that the
            same certificate recorded, for its time or of another value.
    """

    fact: Fact
    evidence: tuple[Evidence, ...]
    successors: tuple[Fact, ...] = ()

    @property
    def place(self) -> Place:
        """Where it stands among others."""
        return place_of(self.fact)


@dataclass(frozen=True, slots=True)
class FactPage:
    """Facts in their order, and whether more come after the last of them."""

    found: tuple[FoundFact, ...]
    more: bool


def within(seconds: float, facts: Iterable[Fact]) -> Iterator[Fact]:
    """The facts, as far as there is time to look at them: nobody waits for a thread that does not end."""
    until = monotonic() + seconds
    for number, fact in enumerate(facts):
        if number % _LOOKED_UP == 0 and monotonic() > until:
            raise _too_many(seconds)
        yield fact


@contextmanager
def in_time(view: LedgerView, seconds: float) -> Iterator[None]:
    """Within it the ledger is read for so long at most, whether it finds anything or not. Raises `QueryLimit`."""
    try:
        with view.within(seconds):
            yield
    except LedgerUnavailable as error:
        if error.data.get("cause") != "interrupted":
            raise
        raise _too_many(seconds) from None


def _too_many(seconds: float) -> QueryLimit:
    return QueryLimit(
        f"there are more facts to look at than {seconds:g} s are enough for",
        remedy="leave as-of out, for what is believed now is found at once; name a subject or object; or ask by SPARQL",
        where="as-of",
        limit=seconds,
        of="time",
    )


def of_graph(
    view: LedgerView,
    principal: Principal,
    wanted: FactFilter,
    as_of: Instant | None,
    valid_at: Instant | None,
    most: int,
    after: Place | None,
) -> list[Fact]:
    """The first facts of a graph beyond a place, as they were recorded."""
    if wanted.graph is None or not principal.may_read(wanted.graph):
        return []
    last = None if after is None else UUID(bytes=after[-1])
    if last is not None and view.fact(last) is None:
        raise InvalidParameter(
            "it is no place among these facts", remedy="begin at the first page again", where="after"
        )
    found = view.facts_of_graph(
        wanted.graph,
        predicate=wanted.predicate,
        as_of=as_of,
        valid_at=None if wanted.every_time else valid_at,
        after=last,
    )
    return [fact if as_of is None else as_known(fact, as_of) for fact in islice(found, most)]


def place_of(fact: Fact) -> Place:
    """Where a fact stands in a list."""
    return fact.interval.start, fact.interval.end, fact.recorded_at, fact.id.bytes


def as_known(fact: Fact, as_of: Instant) -> Fact:
    """The fact without a supersession that came later."""
    later = fact.superseded is not None and as_of < fact.superseded.at
    return replace(fact, superseded=None) if later else fact


def known_of(evidence: Sequence[Evidence], as_of: Instant | None) -> tuple[Evidence, ...]:
    """The evidence that was there at a moment; None: now."""
    return tuple(item for item in evidence if as_of is None or item.recorded_at <= as_of)
