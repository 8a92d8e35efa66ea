"""The JSON of how a statement follows.

Example
-------
>>> nothing: Explanation = {"entailment": "rdfs", "head": 7, "validAt": "2026-05-06T07:08:09Z", "proof": []}
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from api.models.facts import Fact
from api.models.values import Instant, IriValue, Position, Value, Within


class Proved(Within, TypedDict):
    """A statement of a proof. It holds from `from` to `to` by this proof, absent where that has no bound."""

    subject: IriValue
    predicate: IriValue
    object: Value
    rule: Annotated[str | None, Field(description="by which it follows; null where it is asserted")]
    premises: Annotated[list[int], Field(description="the places in the proof of what the rule was applied to")]
    facts: Annotated[list[Fact], Field(description="the facts that assert it")]
    cut: Annotated[bool, Field(description="whether its premises are left out, because the proof is long")]


class Explanation(TypedDict):
    """How a statement follows; it comes first in the proof."""

    entailment: Literal["rdfs", "owl-rl"]
    head: Position | None
    validAt: Instant
    proof: list[Proved]
