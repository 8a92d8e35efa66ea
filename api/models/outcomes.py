"""The JSON of what became of a request: verdict, findings, and where they go on.

Example
-------
>>> more: MoreFindings = {"count": 612, "next": "/certificates/…?findings-from=500"}
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from api.models.queries import Weight
from api.models.values import Iri, Position, Urn, Value, Within
from certificates.certificate import Verdict
from certificates.contradictions import ContradictionKind
from certificates.findings import FindingCode, Severity
from kernel.ports.records import CertificateState


class SampleRow(TypedDict):
    """A row that an answer gains or loses, so often."""

    change: Literal["gained", "lost"]
    times: Annotated[int, Field(ge=1)]
    row: Annotated[dict[str, Value], Field(description="by variable; what is not bound is absent")]


class Finding(Within, TypedDict):
    """One thing that a check says of a plan. `from` and `to` bound the part of valid time in which it holds."""

    code: FindingCode
    severity: Severity
    message: Annotated[str, Field(description="for people")]
    focus: NotRequired[Annotated[str, Field(description="the focus node: an IRI, or a literal as N-Triples")]]
    path: NotRequired[Annotated[str, Field(description="the predicate, or a path as SPARQL writes it")]]
    value: NotRequired[Value]
    shape: NotRequired[Iri]
    component: NotRequired[Annotated[str, Field(description="the SHACL constraint component, an IRI")]]
    constraint: NotRequired[Annotated[str, Field(description="the constraint, where a query is one: an IRI")]]
    kind: NotRequired[Annotated[ContradictionKind, Field(description="of a contradiction")]]
    statement: NotRequired[Annotated[str, Field(description="what contradicts, as N-Quads")]]
    against: NotRequired[Annotated[str, Field(description="what it contradicts, as N-Quads")]]
    query: NotRequired[Annotated[str, Field(description="the registered query whose answer it is about")]]
    owner: NotRequired[Annotated[str, Field(description="who relies on that")]]
    weight: NotRequired[Weight]
    gained: NotRequired[Annotated[int, Field(ge=0, description="rows that the answer gains, all of them counted")]]
    lost: NotRequired[Annotated[int, Field(ge=0, description="rows that it loses, all of them counted")]]
    sample: NotRequired[Annotated[list[SampleRow], Field(description="some of these rows")]]


class MoreFindings(TypedDict):
    """The findings that an answer leaves out, of those that the caller may read."""

    count: int
    next: Annotated[
        str | None, Field(description="the path that goes on with them; null for a dry run, which keeps none")
    ]


class Outcome(TypedDict):
    """What became of a request. For a dry run `certificate`, `state` and `head` are null: nothing was recorded."""

    certificate: Urn | None
    verdict: Verdict
    state: CertificateState | None
    head: Annotated[Position | None, Field(description="where it was applied; null while it is not")]
    findings: Annotated[
        list[Finding], Field(description="those drawn from graphs that the caller may read: the first 500 of them")
    ]
    moreFindings: NotRequired[Annotated[MoreFindings, Field(description="only where there are more")]]
    successor: NotRequired[Annotated[Urn, Field(description="the certificate that took the place of a stale one")]]
    why: NotRequired[
        Annotated[str, Field(description="why a stale certificate has no successor, or a verdict not all its findings")]
    ]
