"""Certificates, decisions, the head and principals as rows, and back.

Rules
-----
* Lists of graphs are JSON arrays of IRIs, in the order in which they were given. A principal of whom there is more to
  say has an object instead: `graphs`, null for all; `grants`, pairs of role and graph; `cites`.
* A request is kept while its certificate is pending, and no longer.

Example
-------
>>> principal_row(Principal("p1", Role.READER, frozenset({Iri("urn:g")})))
('p1', 1, '["urn:g"]')
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from bridge.ledger.damage import sound
from bridge.ledger.request_codec import decode_request
from certificates.certificate import Verdict
from certificates.items import ItemKind, SaltedItem
from certificates.lthash import LatticeHash
from kernel.access import Grant, Principal, Role
from kernel.ports.heads import Head
from kernel.ports.records import CertificateRecord, CertificateState, DecisionRecord, IdempotencyEntry
from kernel.terms import Iri
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bridge.ledger.session import Value

CERTIFICATE_COLUMNS: Final = (
    "id, document, verdict, state, principal, graphs, issued_at, base_head, issued, head, instant, successor, request"
)
CertificateRow = tuple[
    bytes, bytes, str, str, str, str, int, int | None, int, int | None, int | None, bytes | None, bytes | None
]  # fmt: skip
"""A row of `CERTIFICATE_COLUMNS`."""

DecisionRow = tuple[bytes, str, bytes, int | None, bytes | None, bytes | None]
"""Certificate, kind, record; then ordinal, salt and body of the comment, None where it is purged."""


def certificate_row(record: CertificateRecord) -> tuple[Value, ...]:
    """The row to insert into `certificates`."""
    return (
        record.id.bytes,
        record.document,
        record.verdict.value,
        record.state.value,
        record.principal,
        _graphs_text(record.graphs),
        record.issued_at,
        record.base_head,
        record.issued,
        record.head,
        record.instant,
        None if record.successor is None else record.successor.bytes,
    )


@sound("a certificate's record")
def certificate_of(row: CertificateRow) -> CertificateRecord:
    """The certificate in a row. Raises `DamagedBase`."""
    (
        identifier, document, verdict, state, principal, graphs,
        issued_at, base_head, issued, head, instant, successor, request,
    ) = row  # fmt: skip
    return CertificateRecord(
        id=UUID(bytes=identifier),
        document=document,
        verdict=Verdict(verdict),
        state=CertificateState(state),
        principal=principal,
        graphs=tuple(map(Iri, json.loads(graphs))),
        issued_at=Instant(issued_at),
        base_head=base_head,
        issued=issued,
        request=None if request is None else decode_request(request),
        head=head,
        instant=None if instant is None else Instant(instant),
        successor=None if successor is None else UUID(bytes=successor),
    )


@sound("an item")
def item_of(row: tuple[str, int, bytes, bytes]) -> SaltedItem:
    """The item in a row of kind, ordinal, salt and body. Raises `DamagedBase`."""
    kind, ordinal, salt, body = row
    return SaltedItem(ItemKind(kind), ordinal, salt, body)


@sound("a decision")
def decision_of(row: DecisionRow) -> DecisionRecord:
    """The decision in a row. Raises `DamagedBase`."""
    certificate, kind, record, ordinal, salt, body = row
    kept = None if ordinal is None or salt is None or body is None else (ordinal, salt, body)
    return DecisionRecord(
        UUID(bytes=certificate), kind, record, None if kept is None else SaltedItem(ItemKind.COMMENT, *kept)
    )


@sound("a head")
def head_of(row: tuple[int | None, int | None, int, bytes]) -> Head:
    """The head in a row of position, instant, clock and state digest. Raises `DamagedBase`."""
    position, instant, clock, digest = row
    moment = None if instant is None else Instant(instant)
    return Head(position, moment, Instant(clock), LatticeHash.from_bytes(digest))


def idempotency_of(row: tuple[bytes, bytes]) -> IdempotencyEntry:
    """The entry in a row of body digest and certificate."""
    body_digest, certificate = row
    return IdempotencyEntry(body_digest, UUID(bytes=certificate))


@dataclass(frozen=True, slots=True)
class PrincipalRecord:
    """A principal, when its token was made, and when it expires or was revoked; None: never."""

    principal: Principal
    created: Instant
    expires: Instant | None
    revoked: Instant | None


def principal_row(principal: Principal) -> tuple[Value, ...]:
    """Id, role and graphs of a principal; graphs are None for one who is not held to some."""
    held_to = None if principal.graphs is None else sorted(graph.value for graph in principal.graphs)
    granted = sorted((int(grant.role), grant.graph.value) for grant in principal.grants)
    more = granted or principal.cites
    told = {"graphs": held_to, "grants": granted, "cites": principal.cites} if more else held_to
    return principal.id, int(principal.role), None if told is None else _json_text(told)


@sound("a principal")
def principal_of(row: tuple[str, int, str | None]) -> Principal:
    """The principal in a row of id, role and graphs. Raises `DamagedBase`."""
    identifier, role, text = row
    told = None if text is None else json.loads(text)
    more: dict[str, Any] = told if isinstance(told, dict) else {"graphs": told}
    graphs = None if more["graphs"] is None else frozenset(map(Iri, more["graphs"]))
    grants = frozenset(Grant(Role(each), Iri(graph)) for each, graph in more.get("grants", ()))
    return Principal(identifier, Role(role), graphs, grants, more.get("cites", False))


def _graphs_text(graphs: Iterable[Iri]) -> str:
    return _json_text([graph.value for graph in graphs])


_json_text: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""One encoder for all rows: `json.dumps` makes one for each that is not to be as usual."""


@sound("a principal")
def principal_record_of(row: tuple[str, int, str | None, int, int | None, int | None]) -> PrincipalRecord:
    """The record in a row of id, role, graphs, created, expires and revoked. Raises `DamagedBase`."""
    created, expires, revoked = row[3:]
    return PrincipalRecord(
        principal_of(row[:3]),
        Instant(created),
        None if expires is None else Instant(expires),
        None if revoked is None else Instant(revoked),
    )
