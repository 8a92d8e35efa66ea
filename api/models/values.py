"""What stands in the JSON of many requests and answers: ids, times, and terms.

Example
-------
>>> ada: IriValue = {"@id": "https://example.org/ada"}
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Urn = Annotated[str, Field(pattern="^urn:uuid:[0-9a-f-]{36}$")]
Instant = Annotated[str, Field(description="an XSD dateTime in UTC", examples=["2026-05-06T07:08:09.25Z"])]
Time = Annotated[
    str,
    Field(
        description="an xsd:dateTime, day, month, year, decade (`199#`), century (`18##`), or `unknown`",
        examples=["2024-05-06", "2024", "2024-05-06T15:00:00+02:00", "199#"],
    ),
]
Iri = Annotated[str, Field(description="an absolute IRI", examples=["https://example.org/ada"])]
Multibase = Annotated[str, Field(description="an Ed25519 public key, as Multikey documents have it", pattern="^z6Mk")]
Hex = Annotated[str, Field(pattern="^([0-9a-f]{2})+$")]
Position = Annotated[int, Field(ge=0, description="a position in the log")]
Within = TypedDict("Within", {"from": NotRequired[Instant], "to": NotRequired[Instant]})
IriValue = TypedDict("IriValue", {"@id": Iri})
LiteralValue = TypedDict(
    "LiteralValue",
    {
        "@value": str,
        "@type": NotRequired[Iri],
        "@language": NotRequired[str],
        "@direction": NotRequired[Literal["ltr", "rtl"]],
    },
)
GivenLiteral = TypedDict(
    "GivenLiteral",
    {
        "@value": str | bool | int | float,
        "@type": NotRequired[Iri],
        "@language": NotRequired[str],
        "@direction": NotRequired[Literal["ltr", "rtl"]],
    },
)
TripleValue = TypedDict("TripleValue", {"@triple": "QuotedTriple"})


class QuotedTriple(TypedDict):
    """A triple that is quoted, not asserted."""

    subject: IriValue
    predicate: IriValue
    object: Value


Value = IriValue | LiteralValue | TripleValue
