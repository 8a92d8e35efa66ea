"""The JSON of facts.

Example
-------
>>> none: FactPage = {"items": [], "next": None}
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from api.models.values import Instant, Iri, IriValue, Time, Urn, Value, Within
from kernel.time.precision import Precision


class Statement(TypedDict):
    """What is believed; the object is spelled as it was submitted."""

    subject: IriValue
    predicate: IriValue
    object: Value
    graph: IriValue


class Evidence(TypedDict):
    """What supports a fact. Object and times are there where they were submitted in another spelling."""

    evidence: Urn
    certificate: Urn
    recordedAt: Instant
    episode: NotRequired[Iri]
    confidence: NotRequired[Annotated[float, Field(ge=0, le=1)]]
    object: NotRequired[Value]
    validFrom: NotRequired[Time]
    validTo: NotRequired[Time]


class Fact(Within, TypedDict):
    """A fact. It is true from `from` (inclusive) to `to` (exclusive), absent where it has no bound.

    `validFrom`, and `validTo` or the inclusive `validThrough`, say the same as it was submitted, or canonically.
    """

    fact: Urn
    family: Urn
    statement: Statement
    validFrom: NotRequired[Time]
    validTo: NotRequired[Time]
    validThrough: NotRequired[Time]
    fromPrecision: Precision
    toPrecision: Precision
    recordedAt: Instant
    supersededAt: NotRequired[Instant]
    certificate: Annotated[Urn, Field(description="the certificate that recorded it")]
    supersededBy: NotRequired[Annotated[Urn, Field(description="the certificate that superseded it")]]
    evidence: list[Evidence]


class FactPage(TypedDict):
    """Believed facts, by start of their valid time."""

    items: list[Fact]
    next: Annotated[str | None, Field(description="give it as `after` for the next page; null at the end")]
