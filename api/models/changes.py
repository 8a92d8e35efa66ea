"""The JSON of changes, as they are asked for.

Example
-------
>>> change: EndFact = {"op": "end", "fact": "urn:uuid:…", "at": "2024-05-06"}
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from api.models.values import GivenLiteral, Iri, IriValue, Time

GivenNode = Annotated[IriValue | Iri, Field(description="an IRI, or `_:` and a label that is the same node throughout")]
FactId = Annotated[str, Field(description="as `urn:uuid:`, or the UUID alone")]
GivenObject = IriValue | GivenLiteral
_CLOSED: Final = ConfigDict(extra="forbid")


class _During(TypedDict):
    validFrom: NotRequired[Time]
    validTo: NotRequired[Annotated[Time, Field(description="exclusive")]]
    validThrough: NotRequired[Annotated[Time, Field(description="inclusive, instead of validTo")]]


@with_config(_CLOSED)
class AssertChange(_During, TypedDict):
    """Believe a statement over an interval; by default without bounds."""

    op: Literal["assert"]
    subject: GivenNode
    predicate: GivenNode
    object: GivenObject
    graph: NotRequired[GivenNode]
    confidence: NotRequired[Annotated[float, Field(ge=0, le=1)]]


@with_config(_CLOSED)
class EndStatement(TypedDict):
    """A statement stopped being true at an instant; by default that of issue."""

    op: Literal["end"]
    subject: GivenNode
    predicate: GivenNode
    object: GivenObject
    graph: NotRequired[GivenNode]
    at: NotRequired[Time]


@with_config(_CLOSED)
class EndFact(TypedDict):
    """A fact stopped being true at an instant; by default that of issue."""

    op: Literal["end"]
    fact: FactId
    at: NotRequired[Time]


@with_config(_CLOSED)
class RetractStatement(_During, TypedDict):
    """A statement never was, at all or within an interval."""

    op: Literal["retract"]
    subject: GivenNode
    predicate: GivenNode
    object: GivenObject
    graph: NotRequired[GivenNode]


@with_config(_CLOSED)
class RetractFact(_During, TypedDict):
    """A fact never was, at all or within an interval."""

    op: Literal["retract"]
    fact: FactId


@with_config(_CLOSED)
class ReviseChange(_During, TypedDict):
    """A fact was recorded wrong: object, start or end is put right; `unbounded` takes a bound away."""

    op: Literal["revise"]
    fact: FactId
    object: NotRequired[GivenObject]
    confidence: NotRequired[Annotated[float, Field(ge=0, le=1)]]


Change = AssertChange | EndStatement | EndFact | RetractStatement | RetractFact | ReviseChange


@with_config(_CLOSED)
class ChangeRequest(TypedDict):
    """Changes to be planned as one; each sees the ones before it."""

    changes: Annotated[list[Change], Field(min_length=1)]
    reason: NotRequired[Annotated[str, Field(description="for the people who will read the certificate")]]
    episode: NotRequired[Annotated[GivenNode, Field(description="the source that all of it cites")]]
    graph: NotRequired[Annotated[GivenNode, Field(description="the graph of changes that name none")]]
    zone: NotRequired[Annotated[str, Field(description="of times that have none: `Z` or an offset such as `+02:00`")]]
