"""A plan: changes resolved against one state, and the canonical items that a certificate commits to.

Rules
-----
* A plan lists facts to record, facts to supersede and evidence to add; it holds no transaction time (only the apply
  has one) and no stored quads (stores derive them).
* Item 0 is the request: who asked, in which role, why, citing what. Then come the records, the supersessions and the
  evidence, in that order, each as canonical JSON (RFC 8785) with instants and terms as strings.
* The same certificate id, request and state give the same plan, byte for byte: a re-check compares bodies.

Example
-------
A plan that records one fact has two items::

    {"op":"request","principal":"…","reason":"…","role":"writer"}
    {"fact":"urn:uuid:…","family":"urn:uuid:…","op":"record","statement":"<…> <…> <…> <…> ."}
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from certificates.canonical import canonical_json
from certificates.ids import urn
from kernel.changes import Assert
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.time.timevalues import Precision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.changes import Request
    from kernel.facts import EvidenceContent, Fact, FactContent, Validity
    from kernel.terms import Iri


@dataclass(frozen=True, slots=True)
class Plan:
    """What applying a certificate will do.

    Args:
        certificate: the id of the certificate that will carry the plan.
        issued_at: the instant against which open ends of the request were resolved.
        record: facts to record.
        supersede: believed facts to supersede.
        evidence: evidence to add.
        graphs: every graph in which the plan records or supersedes a fact, or, where it is held already, supports one.
    """

    certificate: UUID
    request: Request
    issued_at: Instant
    record: tuple[FactContent, ...]
    supersede: tuple[Fact, ...]
    evidence: tuple[EvidenceContent, ...]
    graphs: frozenset[Iri] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        graphs = {fact.statement.graph for fact in self.record}
        graphs.update([fact.statement.graph for fact in self.supersede])
        graphs.update([change.statement.graph for change in self.request.changes if isinstance(change, Assert)])
        object.__setattr__(self, "graphs", frozenset(graphs))

    def bodies(self) -> list[bytes]:
        """The items to salt and sign, in their order."""
        return [request_body(self.request), *effect_bodies(self)]


def effect_bodies(plan: Plan) -> Iterator[bytes]:
    """The items for what a plan does: records, supersessions, evidence."""
    yield from map(record_body, plan.record)
    yield from map(supersede_body, plan.supersede)
    yield from map(evidence_body, plan.evidence)


def request_body(request: Request) -> bytes:
    """The canonical item for what was asked, apart from the changes."""
    body: dict[str, str] = {"op": "request", "principal": request.principal}
    if request.role is not None:
        body["role"] = request.role.name.lower()
    if request.reason is not None:
        body["reason"] = request.reason
    if request.episode is not None:
        body["episode"] = request.episode.value
    return canonical_json(body)


def record_body(fact: FactContent) -> bytes:
    """The canonical item for a fact to record."""
    return recorded_body(urn(fact.id), urn(fact.family), fact.statement.nquad, fact.validity)


def recorded_body(fact: str, family: str, statement: str, validity: Validity) -> bytes:
    """The same item of its texts: the URNs of fact and family, and the statement as an N-Quads line."""
    body = {"op": "record", "fact": fact, "family": family, "statement": statement}
    interval = validity.interval
    if interval.start != BEGINNING:
        body["from"] = print_instant(Instant(interval.start))
    if interval.end != FOREVER:
        body["to"] = print_instant(Instant(interval.end))
    if validity.start_precision is not Precision.UNBOUNDED:
        body["fromPrecision"] = validity.start_precision.value
    if validity.end_precision is not Precision.UNBOUNDED:
        body["toPrecision"] = validity.end_precision.value
    return canonical_json(body)


def supersede_body(fact: Fact) -> bytes:
    """The canonical item for a fact to supersede."""
    return canonical_json({"op": "supersede", "fact": urn(fact.id)})


def evidence_body(evidence: EvidenceContent) -> bytes:
    """The canonical item for a piece of evidence to add."""
    spelling = evidence.spelling
    members = {
        "op": "support",
        "evidence": urn(evidence.id),
        "fact": urn(evidence.fact),
        "episode": evidence.episode and evidence.episode.value,
        "confidence": None if evidence.confidence is None else format(evidence.confidence, "f"),
        "object": spelling.object and spelling.object.n3,
        "validFrom": spelling.valid_from,
        "validTo": spelling.valid_to,
    }
    return canonical_json({name: value for name, value in members.items() if value is not None})
