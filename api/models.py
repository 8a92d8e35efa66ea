"""The JSON of requests and answers: as types for this code, and as schemas for the OpenAPI document.

Rules
-----
* A member that does not apply is absent; null stands only where the schema says so.
* Ids are `urn:uuid:` IRIs, IRIs plain text, instants XSD dateTime text in UTC, hashes and salts hexadecimal.
* These are dictionaries: nothing is validated or copied on the way out. That the answers keep to what is declared here
  is tested with every answer that a test gets. Requests are read by the bridge, strictly, and only described here.

Example
-------
>>> value: IriValue = {"@id": "https://example.org/ada"}
>>> health: Health = {"status": "ok", "reason": None, "head": 7, "clock": "…", "behind": False}
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, NotRequired

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from bridge.impact.reading import Freshness
from certificates.certificate import Verdict
from certificates.contradictions import ContradictionKind
from certificates.findings import FindingCode, Severity
from certificates.records import DecisionKind
from certificates.revocation import RevocationReason
from kernel.ports.purges import PurgeState
from kernel.ports.records import CertificateState
from kernel.queries import Action
from kernel.rules.arguments import Relation
from kernel.time.precision import Precision

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

# --- terms ------------------------------------------------------------------------------------------------------------

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

# --- changes: what is asked -------------------------------------------------------------------------------------------

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


# --- registered queries -----------------------------------------------------------------------------------------------

QueryName = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
QueryMoment = Annotated[str, Field(description="the instant of valid time that it is asked for, or `now`")]


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


# --- certificates -----------------------------------------------------------------------------------------------------

Within = TypedDict("Within", {"from": NotRequired[Instant], "to": NotRequired[Instant]})


Weight = Annotated[int, Field(ge=0, le=100, description="how much depends on a registered query")]


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


class KeyRotation(TypedDict):
    """That a base signs with another key from now on."""

    key: Multibase
    previous: Multibase
    at: Instant


class KeyRevocation(TypedDict):
    """That a key which was rotated away is not to be trusted since an instant."""

    key: Multibase
    since: Instant
    reason: RevocationReason
    at: Instant


@with_config(ConfigDict(extra="forbid"))
class Revocation(TypedDict):
    """Since when a key is not to be trusted, and why; this is a request."""

    since: Instant
    reason: NotRequired[RevocationReason]


# --- facts ------------------------------------------------------------------------------------------------------------


class Statement(TypedDict):
    """What is believed; the object is spelled as it was submitted."""

    subject: IriValue
    predicate: IriValue
    object: Value
    graph: IriValue


class Evidence(TypedDict):
    """What supports a fact. Object and times are there where they were submitted in another spelling."""

    evidence: Urn
    certificate: Urn
    recordedAt: Instant
    episode: NotRequired[Iri]
    confidence: NotRequired[Annotated[float, Field(ge=0, le=1)]]
    object: NotRequired[Value]
    validFrom: NotRequired[Time]
    validTo: NotRequired[Time]


class Fact(Within, TypedDict):
    """A fact. It is true from `from` (inclusive) to `to` (exclusive), absent where it has no bound.

    `validFrom`, and `validTo` or the inclusive `validThrough`, say the same as it was submitted, or canonically.
    """

    fact: Urn
    family: Urn
    statement: Statement
    validFrom: NotRequired[Time]
    validTo: NotRequired[Time]
    validThrough: NotRequired[Time]
    fromPrecision: Precision
    toPrecision: Precision
    recordedAt: Instant
    supersededAt: NotRequired[Instant]
    certificate: Annotated[Urn, Field(description="the certificate that recorded it")]
    supersededBy: NotRequired[Annotated[Urn, Field(description="the certificate that superseded it")]]
    evidence: list[Evidence]


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


class FactPage(TypedDict):
    """Believed facts, by start of their valid time."""

    items: list[Fact]
    next: Annotated[str | None, Field(description="give it as `after` for the next page; null at the end")]


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


class Holdings(FactPage):
    """Facts that are held of a node, and how many certificates say something of it."""

    quotedBy: Annotated[int, Field(ge=0, description="certificates, applied or not, that write or quote it")]


# --- the service itself -----------------------------------------------------------------------------------------------


HealthStatus = Literal["ok", "read-only", "unavailable"]
HealthReason = Annotated[
    Literal[
        "disk-full", "ledger-locked", "ledger-unwritable", "ledger-unreadable", "stores-behind", "store-unreadable"
    ],
    Field(description="what is wrong"),
]


class Health(TypedDict):
    """Whether the service can answer. Head and clock are null where the ledger cannot be read, and without a token."""

    status: HealthStatus
    reason: HealthReason | None
    head: Position | None
    clock: Instant | None
    behind: Annotated[bool, Field(description="whether the stores have not yet followed the ledger")]
    mode: NotRequired[Annotated[str, Field(description="how the service was started, unless that is standard")]]


class Problem(TypedDict):
    """A problem document (RFC 9457). Further members may follow, by code."""

    type: Annotated[str, Field(description="an IRI that goes with the code")]
    title: str
    status: int
    detail: Annotated[str, Field(description="what is wrong, for people")]
    code: Annotated[str, Field(description="what is wrong, for programs", examples=["nothing-to-end"])]
    where: NotRequired[Annotated[str, Field(description="the place: a header, parameter, JSON pointer or line")]]
    remedy: Annotated[str, Field(description="what to do about it")]
    requestId: Annotated[str, Field(description="under which the service's log has the request")]


# --- timemaps ---------------------------------------------------------------------------------------------------------


class Memento(TypedDict):
    """A URL as it was at a head; `datetime` is its instant as HTTP writes it, to the second."""

    head: Position
    instant: Instant
    datetime: str
    uri: str


class TimeMap(TypedDict):
    """The heads at which a URL can be had; `next` is the page that follows, null at the end."""

    original: str
    timegate: str
    timemap: str
    mementos: list[Memento]
    next: str | None


# --- diffs ------------------------------------------------------------------------------------------------------------


class DiffSide(TypedDict):
    """One of the two moments of a diff; `head` is the last one by then, null before the first."""

    asOf: Instant
    head: Position | None
    validAt: Instant


class DiffEntry(TypedDict):
    """One thing that differs: the fact that held at the earlier moment, that which holds at the later one, or both."""

    change: Literal["gained", "lost", "corrected"]
    certificates: list[Urn]
    before: NotRequired[Fact]
    after: NotRequired[Fact]


DiffPage = TypedDict(
    "DiffPage",
    {
        "axis": Literal["as-of", "valid-at"],
        "from": DiffSide,
        "to": DiffSide,
        "gained": int,
        "lost": int,
        "corrected": int,
        "items": list[DiffEntry],
        "next": str | None,
    },
)

DOCUMENTS: Final = (
    *(QueryDefinition, QueryDefinitions, QueryList, FoundQuery),
    *(ChangeRequest, Decision, Outcome, CertificatePage, Certificate),
    *(WhatIf, WhatIfSummary, WhatIfList, SubmittedWhatIf),
    *(FactPage, Arguments, DiffPage, TimeMap, Health, Problem),
    *(Explanation, ContradictionPage, StandingContradiction, ContradictionOwner),
    *(KeyRotation, KeyRevocation, Revocation),
    *(PurgeRequest, RestoreRequest, PurgePreview, Purge, PurgePage, Holdings),
)
"""The types of whole requests and answers; the others are parts of them."""
