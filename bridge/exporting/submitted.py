"""A fact as it was submitted, where that is known.

Rules
-----
* What counts is the evidence that came with the fact, under the certificate that recorded it: what others said of it
  later does not change how it was spelled.
* A time is spelled as it was submitted when that spelling means just this end of this fact; what was cut since has the
  canonical spelling.

Example
-------
::

    said = submitted(fact, evidence)
    said.object, said.start, said.end       # "007"^^xsd:int, Bound(…, spelling="2024-01-01T00:00:00+05:00"), …
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.time.instants import Instant
from kernel.time.timevalues import Bound, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    from kernel.facts import Evidence, Fact
    from kernel.terms import Term
    from kernel.time.precision import Precision


@dataclass(frozen=True, slots=True)
class Submitted:
    """How a fact was put by those who brought it in.

    Args:
        object: of the statement.
        start: of its valid time.
        end: of its valid time, exclusive.
        confidence: how sure of it they were; None where they did not say.
    """

    object: Term
    start: Bound
    end: Bound
    confidence: Decimal | None


def submitted(fact: Fact, evidence: Sequence[Evidence]) -> Submitted:
    """The fact as it was submitted.

    Args:
        fact: any fact.
        evidence: all that is known for it, oldest first.
    """
    own = [item.content for item in evidence if item.certificate == fact.certificate]
    interval, validity = fact.interval, fact.content.validity
    return Submitted(
        submitted_object(fact, evidence),
        _bound(interval.start, validity.start_precision, (item.spelling.valid_from for item in own)),
        _bound(interval.end, validity.end_precision, (item.spelling.valid_to for item in own)),
        next((item.confidence for item in own if item.confidence is not None), None),
    )


def submitted_object(fact: Fact, evidence: Sequence[Evidence]) -> Term:
    """The object of the fact's statement as it was submitted; arguments as for `submitted`."""
    for item in evidence:
        if item.content.spelling.object is not None and item.certificate == fact.certificate:
            return item.content.spelling.object
    return fact.statement.object


def _bound(instant: int, precision: Precision, spellings: Iterable[str | None]) -> Bound:
    """An end of a fact, spelled as the first of the spellings that means just this end."""
    for spelling in spellings:
        if spelling is not None:
            given = parse_time(spelling)
            if given.precision is precision and instant in {given.first, given.after}:
                return Bound(Instant(instant), precision, spelling)
    return Bound(Instant(instant), precision, None)
