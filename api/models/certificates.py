"""The JSON of certificates, their items, and decisions on them.

Example
-------
>>> decision: Decision = {"decision": DecisionKind.APPROVE}
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict

from api.models.outcomes import Finding
from api.models.values import Hex, Instant, Iri, Position, Urn
from certificates.certificate import Verdict
from certificates.records import DecisionKind
from kernel.ports.records import CertificateState


class CertificateSummary(TypedDict):
    """A certificate in a list."""

    certificate: Urn
    verdict: Verdict
    state: CertificateState
    head: Annotated[Position | None, Field(description="where it was applied; null while it is not")]
    instant: Annotated[Instant | None, Field(description="when it was applied; null while it is not")]
    issuedAt: Instant
    principal: Annotated[str, Field(description="who asked")]
    graphs: Annotated[list[Iri], Field(description="every graph that it touches")]
    successor: NotRequired[Urn]


class CertificatePage(TypedDict):
    """Certificates that the caller may see, newest first."""

    items: list[CertificateSummary]
    next: Annotated[str | None, Field(description="give it as `after` for the next page; null at the end")]


class Item(TypedDict):
    """A salted item: its leaf in the certificate's Merkle tree and, unless withheld or purged, what the leaf is of.

    The leaf is SHA-256 of a zero byte, the salt, and the body as canonical JSON (RFC 8785).
    """

    ordinal: Annotated[int, Field(ge=0)]
    leaf: Hex
    salt: NotRequired[Hex]
    body: NotRequired[dict[str, JsonValue]]


class Items(TypedDict):
    """Salted items of one kind, by ordinal. The Merkle root over all leaves (RFC 9162) is in the credential."""

    items: list[Item]
    next: Annotated[
        int | None,
        Field(description="give it as `items-from` or `findings-from` for those that follow; null at the end"),
    ]


class DecisionRecord(TypedDict):
    """A signed decision, or the signed re-check that went before a late apply."""

    kind: Literal["decision", "recheck"]
    record: Annotated[dict[str, JsonValue], Field(description="as signed (Data Integrity, eddsa-jcs-2022)")]
    comment: NotRequired[Item]


class Certificate(CertificateSummary, TypedDict):
    """A certificate with what it commits to, as far as the caller may see it."""

    predecessor: Annotated[Urn | None, Field(description="the stale certificate whose place it took; null if none")]
    findings: Annotated[
        list[Finding], Field(description="those among `findingItems` drawn from graphs that the caller may read")
    ]
    plan: Items
    findingItems: Items
    decisions: list[DecisionRecord]
    credential: Annotated[
        dict[str, JsonValue], Field(description="the signed credential (W3C Verifiable Credentials 2.0)")
    ]


@with_config(ConfigDict(extra="forbid"))
class Decision(TypedDict):
    """An editor's decision on a certificate in review; this is a request."""

    decision: DecisionKind
    comment: NotRequired[Annotated[str | None, Field(description="why, for those who may see the certificate")]]
    signature: NotRequired[
        Annotated[
            str | None,
            Field(
                description="by the editor's registered Ed25519 key, in base64, over the canonical JSON of `type`"
                " (`Decision`), `certificate`, `certificateDigest` and `decision`"
            ),
        ]
    ]
