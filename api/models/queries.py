"""The JSON of registered queries, and of how an answer to one stands.

Example
-------
>>> defined: QueryDefinition = {"query": "ASK { ?s ?p ?o }", "owner": "payroll", "contact": "https://example.org/ada"}
"""

from __future__ import annotations

from typing import Annotated, Final, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from api.models.values import Instant, Iri, Position, Urn
from bridge.impact.reading import Freshness
from kernel.queries import Action

QueryName = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
QueryMoment = Annotated[str, Field(description="the instant of valid time that it is asked for, or `now`")]
Weight = Annotated[int, Field(ge=0, le=100, description="how much depends on a registered query")]
_CLOSED: Final = ConfigDict(extra="forbid")


class _Registered(TypedDict):
    query: Annotated[str, Field(min_length=1, max_length=16_384, description="in SPARQL")]
    owner: Annotated[str, Field(min_length=1, max_length=500, description="who relies on it")]
    contact: Annotated[str, Field(min_length=1, max_length=500, description="how to reach them")]


@with_config(_CLOSED)
class QueryDefinition(_Registered, TypedDict):
    """A query that somebody relies on."""

    graphs: NotRequired[
        Annotated[list[Iri], Field(max_length=64, description="that it is asked of; none: all of data")]
    ]
    moment: NotRequired[QueryMoment]
    weight: NotRequired[Annotated[int, Field(ge=0, le=100, description="how much depends on it; by default 1")]]
    action: NotRequired[
        Annotated[Action, Field(description="what becomes of changes that change its answer; by default `review`")]
    ]


@with_config(_CLOSED)
class QueryDefinitions(TypedDict):
    """Several of them, by name."""

    queries: dict[QueryName, QueryDefinition]


class RegisteredQuery(_Registered, TypedDict):
    """A registered query."""

    name: QueryName
    graphs: list[Iri]
    moment: QueryMoment
    weight: Annotated[int, Field(ge=0, le=100)]
    action: Action


class QueryList(TypedDict):
    """The registered queries that the caller may see."""

    items: list[RegisteredQuery]


class Version(TypedDict):
    """A certificate by which something is as it is."""

    certificate: Urn
    recordedAt: Instant


class Standing(TypedDict):
    """How an answer stands that somebody holds."""

    freshness: Freshness
    head: Position | None
    validAt: Instant
    certificates: Annotated[list[Urn], Field(description="that changed the answer, or may have, oldest first")]
    clock: Annotated[bool, Field(description="whether something began or ended by itself that it may depend on")]


class FoundQuery(RegisteredQuery, TypedDict):
    """A registered query, by which certificates it is what it is, and how the answer stands that was named."""

    certificates: list[Version]
    standing: NotRequired[Standing]
