"""Facts and the evidence for them.

Rules
-----
* A fact is one statement, believed over one valid interval and one transaction interval. It never changes; it can only
  be superseded, once. Versions of one assertion share a family.
* `FactContent` is what a plan signs; `Fact` adds what only the apply knows: when it was recorded and superseded, and by
  which certificates.
* Evidence is append-only and is written when there is something to say: an episode, a confidence, a spelling that
  differs from what the store will hold, a repeat.

Example
-------
>>> from kernel.time.timevalues import Precision
>>> Validity.always().interval.start == BEGINNING, Validity.always().start_precision is Precision.UNBOUNDED
(True, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from kernel.errors import InvalidChange
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import BEGINNING, FOREVER, Instant
from kernel.time.intervals import Interval
from kernel.time.timevalues import Precision


@dataclass(frozen=True, slots=True)
class Validity:
    """When a statement was true: a half-open interval and how exactly each end is known."""

    interval: Interval
    start_precision: Precision
    end_precision: Precision

    @classmethod
    def always(cls) -> Validity:
        """Unbounded on both sides."""
        return _ALWAYS

    def cut(self, part: Interval) -> Validity:
        """The same validity narrowed to a part of it; an end that was cut anew is known to the instant."""
        return Validity(
            part,
            self.start_precision if part.start == self.interval.start else Precision.INSTANT,
            self.end_precision if part.end == self.interval.end else Precision.INSTANT,
        )


_ALWAYS = Validity(Interval(BEGINNING, FOREVER), Precision.UNBOUNDED, Precision.UNBOUNDED)


@dataclass(frozen=True, slots=True)
class Spelling:
    """What was submitted where it differs from what is held; None where it does not."""

    object: Literal | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    def __bool__(self) -> bool:
        return self.object is not None or self.valid_from is not None or self.valid_to is not None


@dataclass(frozen=True, slots=True)
class FactContent:
    """What a plan says of a fact to record."""

    id: UUID
    family: UUID
    statement: Statement
    validity: Validity

    @property
    def interval(self) -> Interval:
        """The valid interval."""
        return self.validity.interval


@dataclass(frozen=True, slots=True)
class Supersession:
    """When a fact stopped being believed, and by which certificate."""

    at: Instant
    certificate: UUID


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as the ledger holds it."""

    content: FactContent
    certificate: UUID
    recorded_at: Instant
    superseded: Supersession | None
    leaf: bytes
    """Leaf hash of the plan item that recorded it: 32 bytes, part of the state digest."""

    @property
    def id(self) -> UUID:
        """The fact's own id."""
        return self.content.id

    @property
    def statement(self) -> Statement:
        """What is believed."""
        return self.content.statement

    @property
    def interval(self) -> Interval:
        """The valid interval."""
        return self.content.validity.interval

    def holds_at(self, instant: int) -> bool:
        """Whether the fact is believed at the head and true at the instant."""
        return self.superseded is None and self.interval.contains(Instant(instant))


@dataclass(frozen=True, slots=True)
class EvidenceContent:
    """What a plan says of a piece of evidence to add. Raises `InvalidChange` for a confidence outside 0 to 1."""

    id: UUID
    fact: UUID
    episode: Iri | None
    confidence: Decimal | None
    spelling: Spelling

    def __post_init__(self) -> None:
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise InvalidChange(f"confidence {self.confidence} is outside 0 to 1", remedy="give a number from 0 to 1")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of evidence as the ledger holds it."""

    content: EvidenceContent
    certificate: UUID
    recorded_at: Instant


class SameFacts:
    """A key that is equal for the very same tuple only: facts are not hashed again for each plan."""

    __slots__ = ("facts",)

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self.facts = facts

    def __hash__(self) -> int:
        return id(self.facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameFacts) and self.facts is other.facts
