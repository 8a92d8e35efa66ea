"""The JSON of purges and of what lifts them.

Example
-------
>>> asked: PurgeRequest = {"fact": "urn:uuid:…", "preview": True}
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from api.models.facts import FactPage
from api.models.values import Instant, Iri, Position, Urn
from kernel.ports.purges import PurgeState


@with_config(ConfigDict(extra="forbid"))
class PurgeRequest(TypedDict):
    """What is to be purged, exactly one of the first five, and why; this is a request."""

    fact: NotRequired[Annotated[str, Field(description="a fact, whose statement is purged")]]
    family: NotRequired[Annotated[str, Field(description="a family, with every statement that it ever had")]]
    node: NotRequired[Iri]
    episode: NotRequired[Iri]
    graph: NotRequired[Iri]
    reason: NotRequired[Annotated[str, Field(description="why; needed unless it is a preview")]]
    preview: NotRequired[Annotated[bool, Field(description="whether to say what would go, and no more")]]
    digest: NotRequired[Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="of the preview")]]


@with_config(ConfigDict(extra="forbid"))
class RestoreRequest(TypedDict):
    """Why tombstones are lifted; this is a request."""

    reason: str


class PurgePreview(TypedDict):
    """How much a purge would take."""

    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="over all that would go")]
    facts: Annotated[int, Field(ge=0)]
    evidence: Annotated[int, Field(ge=0)]
    planItems: Annotated[int, Field(ge=0)]
    findings: Annotated[int, Field(ge=0)]
    impactRows: Annotated[int, Field(ge=0)]
    comments: Annotated[int, Field(ge=0)]
    rejected: Annotated[int, Field(ge=0, description="certificates in review that would be rejected")]
    stagedLoads: Annotated[int, Field(ge=0)]
    allTextsSearched: Annotated[bool, Field(description="false: too many texts go for all to be searched for")]
    graphStays: Annotated[bool, Field(description="true: a graph has the node's name, and stays: purge it as a graph")]
    stays: Annotated[list[str], Field(description="where else something quotes it that stays, in words")]


class WaitingPurge(TypedDict):
    """What a purge would take that waits for a second person."""

    target: Annotated[str, Field(description="an id or IRI, which `of` says the kind of")]
    reason: str
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Purge(TypedDict):
    """A purge, without what was purged."""

    purge: Urn
    state: PurgeState
    of: Annotated[str, Field(description="fact, family, node, episode or graph")]
    askedBy: str
    askedAt: Instant
    waiting: NotRequired[WaitingPurge]
    decidedBy: NotRequired[Annotated[str, Field(description="the second person")]]
    head: NotRequired[Position]
    facts: NotRequired[Annotated[int, Field(ge=0)]]
    evidence: NotRequired[Annotated[int, Field(ge=0)]]
    items: NotRequired[Annotated[int, Field(ge=0, description="of certificates")]]
    tombstones: NotRequired[Annotated[int, Field(ge=0)]]
    receipt: NotRequired[
        Annotated[dict[str, JsonValue], Field(description="the signed receipt (W3C Verifiable Credentials 2.0)")]
    ]
    restoredBy: NotRequired[Annotated[Urn, Field(description="the certificate that lifted its tombstones")]]


class PurgePage(TypedDict):
    """A page of purges, newest first."""

    items: list[Purge]
    next: Annotated[str | None, Field(description="give it as `after` for the next page; null at the end")]


class Holdings(FactPage, TypedDict):
    """Facts that are held of a node, and how many certificates say something of it."""

    quotedBy: Annotated[int, Field(ge=0, description="certificates, applied or not, that write or quote it")]
