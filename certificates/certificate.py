"""The certificate: the record of a plan's checks and its verdict, as a Verifiable Credential 2.0 without its proof.

Rules
-----
* The credential's subject is the plan. Its id is derived from the certificate's; both are UUIDs that say nothing of
  the content. What the plan holds, what was found and whose answers change are counts and Merkle roots of salted
  items (`items`), so that a certificate never has to be purged.
* There is no `validFrom`: a verifier whose clock is behind would refuse it. `issuedAt` says when it was made.
* The base head is the log position of the last applied certificate, absent while a base has none. The transaction
  instant and the new head are in the applied event (`events`), since they are not known when the certificate is
  signed.
* No blank node, no float, no integer of 2^53 or more, digests in hexadecimal. Every member is checked when the type
  is built, and none can break out of its N-Quads line, so `nquads` need not escape.
* `nquads` gives the canonical form (RDFC-1.0; without blank nodes: the lines of canonical N-Quads, sorted) straight
  from the type. That `document` has the same lines under its contexts is a property test against two JSON-LD
  libraries.

Example
-------
>>> none = ItemTree.of([])
>>> zero = "0" * 64
>>> certificate = Certificate(
...     id=UUID(int=1), issuer="did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp", base=UUID(int=2),
...     issued_at="2026-05-06T07:08:09Z", verdict=Verdict.CLEAR, base_head=None, plan=none, findings=none, impact=none,
...     digests=Digests(zero, zero, zero, zero, zero), predecessor=None,
... )
>>> certificate.nquads()[-1].removeprefix(f"<urn:uuid:{certificate.plan_id}> ")
'<https://w3id.org/muniment#verdict> <https://w3id.org/muniment#clear> .'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self
from uuid import UUID

from certificates import closed
from certificates.context import CONTEXTS, CREDENTIALS, RDF_TYPE, VOCABULARY, XSD
from certificates.dids import DID
from certificates.errors import InvalidValue
from certificates.fields import count, digest, instant
from certificates.ids import derived_id, urn
from certificates.items import ItemTree

_TYPES: Final = ("VerifiableCredential", "MunimentCertificate")
_SUBJECT_TYPE: Final = "MunimentPlan"

_REQUIRED: Final = frozenset({"@context", "id", "type", "issuer", "issuedAt", "credentialSubject"})
_OPTIONAL: Final = frozenset({"predecessor"})
_SUBJECT: Final = "credentialSubject"
_SUBJECT_REQUIRED: Final = frozenset({
    "id", "type", "base", "verdict",
    "planItems", "planRoot", "findingItems", "findingRoot", "impactItems", "impactRoot",
    "shapesDigest", "ontologyDigest", "rulesDigest", "policyDigest", "queriesDigest",
})  # fmt: skip
_SUBJECT_OPTIONAL: Final = frozenset({"baseHead"})


class Verdict(StrEnum):
    """What the checks came to: applied at once, waiting for an editor, or refused."""

    CLEAR = "clear"
    REVIEW = "review"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Digests:
    """SHA-256, in hexadecimal, of what a plan was judged by, as of the base head."""

    shapes: str
    ontology: str
    rules: str
    policy: str
    queries: str

    def __post_init__(self) -> None:
        """Refuse what is no digest."""
        digest(self.shapes, "shapesDigest")
        digest(self.ontology, "ontologyDigest")
        digest(self.rules, "rulesDigest")
        digest(self.policy, "policyDigest")
        digest(self.queries, "queriesDigest")


@dataclass(frozen=True, slots=True)
class Certificate:
    """One certificate.

    Attributes:
        id: random (`ids.uuid7`).
        issuer: the `did:key` of the base's signing key, or the `did:web` of the base (`dids`).
        base: the base whose ledger holds it.
        issued_at: when it was made: a canonical XSD dateTime in UTC.
        verdict: what the checks came to.
        base_head: the log position of the last certificate applied before it; None if there is none.
        plan: its plan items.
        findings: its findings.
        impact: its impact rows.
        digests: what it was judged by.
        predecessor: the stale certificate that it takes the place of, if any.
        plan_id: the id of the plan, which is the credential's subject.
    """

    id: UUID
    issuer: str
    base: UUID
    issued_at: str
    verdict: Verdict
    base_head: int | None
    plan: ItemTree
    findings: ItemTree
    impact: ItemTree
    digests: Digests
    predecessor: UUID | None
    plan_id: UUID = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse an issuer, instant or head that cannot be signed."""
        if not DID.fullmatch(self.issuer):
            raise InvalidValue(
                f"{self.issuer[:60]!r} is no did:key of an Ed25519 key, and no did:web",
                remedy="use SigningKey.did",
                where="issuer",
            )
        instant(self.issued_at, "issuedAt")
        if self.base_head is not None:
            count(self.base_head, "baseHead")
        object.__setattr__(self, "plan_id", derived_id(self.id, "plan", 0))

    def document(self) -> dict[str, object]:
        """The credential without its proof, ready for `json.dumps`; the caller may change the dict."""
        head: dict[str, object] = {} if self.base_head is None else {"baseHead": self.base_head}
        predecessor: dict[str, object] = {} if self.predecessor is None else {"predecessor": urn(self.predecessor)}
        return {
            "@context": list(CONTEXTS),
            "id": urn(self.id),
            "type": list(_TYPES),
            "issuer": self.issuer,
            "issuedAt": self.issued_at,
            **predecessor,
            _SUBJECT: {
                "id": urn(self.plan_id),
                "type": _SUBJECT_TYPE,
                "base": urn(self.base),
                **head,
                "verdict": self.verdict.value,
                "planItems": self.plan.count,
                "planRoot": self.plan.root,
                "findingItems": self.findings.count,
                "findingRoot": self.findings.root,
                "impactItems": self.impact.count,
                "impactRoot": self.impact.root,
                "shapesDigest": self.digests.shapes,
                "ontologyDigest": self.digests.ontology,
                "rulesDigest": self.digests.rules,
                "policyDigest": self.digests.policy,
                "queriesDigest": self.digests.queries,
            },
        }

    def nquads(self) -> list[str]:
        """The canonical N-Quads lines of `document`, sorted, without their line ends."""
        own, plan = urn(self.id), urn(self.plan_id)
        of_certificate, of_plan = self._certificate_lines(own, plan), self._plan_lines(plan)
        return of_certificate + of_plan if own < plan else of_plan + of_certificate

    def _certificate_lines(self, own: str, plan: str) -> list[str]:
        """The lines whose subject is the certificate, in code point order of their predicates."""
        lines = [
            f"<{own}> <{RDF_TYPE}> <{VOCABULARY}Certificate> .",
            f"<{own}> <{RDF_TYPE}> <{CREDENTIALS}VerifiableCredential> .",
            f'<{own}> <{VOCABULARY}issuedAt> "{self.issued_at}"^^<{XSD}dateTime> .',
            f"<{own}> <{CREDENTIALS}credentialSubject> <{plan}> .",
            f"<{own}> <{CREDENTIALS}issuer> <{self.issuer}> .",
        ]
        if self.predecessor is not None:
            lines.insert(3, f"<{own}> <{VOCABULARY}predecessor> <{urn(self.predecessor)}> .")
        return lines

    def _plan_lines(self, plan: str) -> list[str]:
        """The lines whose subject is the plan, in code point order of their predicates."""
        digests = self.digests
        lines = [
            f"<{plan}> <{RDF_TYPE}> <{VOCABULARY}Plan> .",
            f"<{plan}> <{VOCABULARY}base> <{urn(self.base)}> .",
            f'<{plan}> <{VOCABULARY}findingItems> "{self.findings.count}"^^<{XSD}integer> .',
            f'<{plan}> <{VOCABULARY}findingRoot> "{self.findings.root}" .',
            f'<{plan}> <{VOCABULARY}impactItems> "{self.impact.count}"^^<{XSD}integer> .',
            f'<{plan}> <{VOCABULARY}impactRoot> "{self.impact.root}" .',
            f'<{plan}> <{VOCABULARY}ontologyDigest> "{digests.ontology}" .',
            f'<{plan}> <{VOCABULARY}planItems> "{self.plan.count}"^^<{XSD}integer> .',
            f'<{plan}> <{VOCABULARY}planRoot> "{self.plan.root}" .',
            f'<{plan}> <{VOCABULARY}policyDigest> "{digests.policy}" .',
            f'<{plan}> <{VOCABULARY}queriesDigest> "{digests.queries}" .',
            f'<{plan}> <{VOCABULARY}rulesDigest> "{digests.rules}" .',
            f'<{plan}> <{VOCABULARY}shapesDigest> "{digests.shapes}" .',
            f"<{plan}> <{VOCABULARY}verdict> <{VOCABULARY}{self.verdict}> .",
        ]
        if self.base_head is not None:
            lines.insert(2, f'<{plan}> <{VOCABULARY}baseHead> "{self.base_head}"^^<{XSD}integer> .')
        return lines

    @classmethod
    def from_document(cls, document: object) -> Self:
        """The certificate whose `document` this is.

        Raises:
            MalformedDocument: a member is missing, unknown or of the wrong kind.
            InvalidValue: a member holds what a certificate cannot.
        """
        members = closed.closed(document, "", _REQUIRED, _OPTIONAL)
        closed.exactly(members, "@context", "", list(CONTEXTS))
        closed.exactly(members, "type", "", list(_TYPES))
        subject = closed.closed(members[_SUBJECT], _SUBJECT, _SUBJECT_REQUIRED, _SUBJECT_OPTIONAL)
        closed.exactly(subject, "type", _SUBJECT, _SUBJECT_TYPE)
        certificate = cls(
            id=closed.identifier(members, "id", ""),
            issuer=closed.text(members, "issuer", ""),
            base=closed.identifier(subject, "base", _SUBJECT),
            issued_at=closed.text(members, "issuedAt", ""),
            verdict=closed.choice(subject, "verdict", _SUBJECT, Verdict),
            base_head=closed.optional_integer(subject, "baseHead", _SUBJECT),
            plan=_tree(subject, "plan"),
            findings=_tree(subject, "finding"),
            impact=_tree(subject, "impact"),
            digests=Digests(*(closed.text(subject, f"{name}Digest", _SUBJECT) for name in Digests.__slots__)),
            predecessor=closed.optional_identifier(members, "predecessor", ""),
        )
        closed.exactly(subject, "id", _SUBJECT, urn(certificate.plan_id))
        return certificate


def _tree(subject: dict[str, object], kind: str) -> ItemTree:
    try:
        return ItemTree(
            closed.integer(subject, f"{kind}Items", _SUBJECT), closed.text(subject, f"{kind}Root", _SUBJECT)
        )
    except InvalidValue as error:
        raise closed.malformed(error.message, closed.path(_SUBJECT, f"{kind}Root")) from None
