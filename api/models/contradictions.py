"""The JSON of contradictions that stand.

Example
-------
>>> owner: ContradictionOwner = {"owner": "ada"}
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from api.models.outcomes import Finding
from api.models.values import Instant, Urn, Within


class StandingContradiction(TypedDict):
    """What an editor let in although it contradicts what is held, and nobody has settled since."""

    certificate: Urn
    finding: Annotated[int, Field(ge=0, description="which of the certificate's findings")]
    since: Annotated[Instant, Field(description="when it was let in")]
    owner: Annotated[str | None, Field(description="who looks after it")]
    assigned: Annotated[bool, Field(description="whether the owner was given; else it is who approved it")]
    found: Finding
    during: Annotated[list[Within], Field(description="when in valid time, as things are believed")]


class ContradictionPage(TypedDict):
    """Contradictions that stand, the oldest first."""

    items: list[StandingContradiction]
    next: Annotated[str | None, Field(description="give it as `after` for the next page; null at the end")]


class ContradictionOwner(TypedDict):
    """Who is to look after a contradiction."""

    owner: Annotated[str, Field(min_length=1, max_length=256, description="the id of a principal")]
