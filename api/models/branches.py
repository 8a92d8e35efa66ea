"""The JSON of what-if branches.

Example
-------
>>> none: WhatIfList = {"items": []}
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from api.models.outcomes import Finding, MoreFindings, Outcome
from api.models.values import Instant, Position, Urn
from certificates.certificate import Verdict


class WhatIfSummary(TypedDict):
    """A branch that is held: changes that nothing has been applied of."""

    branch: Annotated[str, Field(description="its id, part of its address: `/what-if/{branch}`")]
    maker: Annotated[str, Field(description="whose it is: the id of a principal")]
    state: Literal["open", "submitted"]
    until: Annotated[Instant, Field(description="when it goes by itself")]
    plans: Annotated[int, Field(ge=0, description="how many it holds; none, once submitted")]
    changes: Annotated[int, Field(ge=0, description="how many these are of")]
    certificate: NotRequired[Annotated[Urn, Field(description="what came of submitting it")]]


class WhatIfList(TypedDict):
    """The branches that the caller may see, oldest first."""

    items: list[WhatIfSummary]


class WhatIf(WhatIfSummary, TypedDict):
    """A branch, and what it would come to. It follows the base: `head` is the head that it was judged at, now."""

    head: Position | None
    verdict: Annotated[Verdict | None, Field(description="null where it cannot be planned, or was submitted")]
    findings: Annotated[
        list[Finding], Field(description="those drawn from graphs that the caller may read: the first 500 of them")
    ]
    moreFindings: NotRequired[Annotated[MoreFindings, Field(description="only where there are more")]]
    why: NotRequired[Annotated[str, Field(description="why it cannot be planned, or a verdict not all its findings")]]


class WhatIfSince(TypedDict):
    """How it stood when its maker looked last, and which findings are otherwise: the first 50 of each."""

    head: Position | None
    verdict: Verdict
    found: Annotated[list[Finding], Field(description="that were not there")]
    gone: Annotated[list[Finding], Field(description="that are not there any more")]


class SubmittedWhatIf(Outcome, TypedDict):
    """What became of a branch."""

    since: NotRequired[WhatIfSince]
