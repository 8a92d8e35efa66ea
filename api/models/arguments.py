"""The JSON of what is argued about a claim.

Example
-------
>>> nothing: Claim = {"claim": {"@id": "https://example.org/ada"}, "names": [], "claimed": [], "believed": []}
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from api.models.facts import Fact
from api.models.values import Iri, Value
from kernel.rules.arguments import Relation


class StatedFact(TypedDict):
    """A fact that is an argument, or has a node name a claim."""

    fact: Fact
    by: Annotated[str | None, Field(description="who asked for it; null where the caller may not know")]


class Claim(TypedDict):
    """What is claimed."""

    claim: Annotated[Value, Field(description="the triple; or a node of which it is not known")]
    names: Annotated[list[Iri], Field(description="the facts and nodes that name it")]
    claimed: Annotated[list[StatedFact], Field(description="the facts by which nodes name it")]
    believed: Annotated[list[Fact], Field(description="the facts by which it is believed and true at the moment")]


class ArgumentRule(TypedDict):
    """From `X first Y` and `Y then Z`, or with `back` `Z then Y`, comes `X gives Z`."""

    first: Relation
    then: Relation
    back: bool
    gives: Relation


class Argument(TypedDict):
    """That a claim supports, opposes or implies another: stated by a fact, or following from two steps by a rule."""

    relation: Relation
    claim: Annotated[int, Field(ge=0, description="which claim does so, by its number")]
    about: Annotated[int, Field(ge=0, description="which claim it does so to")]
    stated: NotRequired[StatedFact]
    rule: NotRequired[ArgumentRule]
    premises: NotRequired[Annotated[list[int], Field(min_length=2, max_length=2, description="steps before this one")]]


_Steps = Annotated[list[int], Field(description="steps, by their numbers")]


class Arguments(TypedDict):
    """What is argued about a claim, which is the first of the claims; steps come after their premises."""

    claims: Annotated[list[Claim], Field(min_length=1)]
    steps: list[Argument]
    supportedBy: _Steps
    opposedBy: _Steps
    impliedBy: _Steps
    supports: _Steps
    opposes: _Steps
    implies: _Steps
    complete: Annotated[bool, Field(description="whether all arguments were looked at")]
