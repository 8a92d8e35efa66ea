"""Certificates, decisions and re-checks: what is signed, against what lies beside it.

Rules
-----
* A certificate's document has the digest that its issued event names, the base's signature, the base's id, and says of
  verdict, instant and base head what event and row say.
* Its counts and roots are those of the kept leaf hashes, and each item that is there has the leaf hash kept for it.
* The row's principal is the one of plan item 0; its graphs are in order, and every graph that a plan item touches is
  among them.
* A decision's or re-check's record has the digest that an event names, and the base's signature.

Example
-------
::

    signed = SignedAudit(session, found, key, base)
    standing = signed.issued(event, head=7)
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

import orjson

from bridge.auditing.slots import RunningTree, as_it_is, slots
from certificates.canonical import digest_hex
from certificates.certificate import Verdict
from certificates.errors import CertificateError
from certificates.ids import parse_urn
from certificates.items import SALT_SIZE, ItemKind
from certificates.merkle import leaf_hash
from certificates.proof import verify
from certificates.records import Decision, Recheck, verify_record
from kernel.ports.records import CertificateState
from kernel.terms import Iri
from kernel.time.instants import Instant, print_instant

if TYPE_CHECKING:
    from bridge.auditing.faults import Faults
    from bridge.auditing.purges import PurgeAudit
    from bridge.ledger.session import Session
    from certificates.certificate import Certificate
    from certificates.events import Applied, Decided, Issued
    from certificates.items import ItemTree
    from certificates.key_history import KeyHistory
    from certificates.keys import VerifyingKey

_ROW: Final = "SELECT document, verdict, principal, graphs, issued_at, base_head FROM certificates WHERE id = ?"
_RECORDS: Final = "SELECT place, kind, record, comment FROM decisions WHERE certificate = ? ORDER BY place"
_GRAPH_OF: Final = "SELECT graph FROM facts WHERE id = ?"


class _Row(NamedTuple):
    document: bytes
    verdict: str
    principal: str
    graphs: str
    issued_at: int
    base_head: int | None


class _Record(NamedTuple):
    place: int
    kind: str
    record: bytes
    comment: int | None


@dataclass(slots=True)
class Standing:
    """Where a certificate stands by the log so far."""

    verdict: Verdict
    state: CertificateState
    digest: str
    predecessor: UUID | None = None
    issued: int | None = None
    head: int | None = None
    instant: Instant | None = None
    successor: UUID | None = None
    approved: bool = False
    roots: tuple[str, str] = ("", "")
    editors: set[str] = field(default_factory=set)


class SignedAudit:
    """Looks at what is signed.

    Args:
        keys: the base's; None when there is none that could be read: signatures are not verified then.
        base: the base's id.
        purges: told of what is gone.
    """

    def __init__(
        self, session: Session, found: Faults, keys: KeyHistory | None, base: UUID | None, purges: PurgeAudit
    ) -> None:
        self._purges = purges
        self._session = session
        self._found = found
        self._keys = keys
        self._key: VerifyingKey | None = None
        self._base = base
        self.named: set[int] = set()
        """Places of the decisions and re-checks that an event names."""
        self.commented: dict[bytes, int] = {}
        """Certificates whose decisions have comments, and how many."""

    @property
    def key(self) -> VerifyingKey | None:
        """What the event is to be signed with that is being looked at."""
        return self._key

    def at(self, position: int) -> None:
        """What follows is what the event at this position names."""
        self._key = None if self._keys is None else self._keys.at(position)

    def look_for_more(self) -> None:
        """Comments of which no decision was signed."""
        for certificate, count in self.commented.items():
            place = f"items {UUID(bytes=certificate)} comment"
            with self._found.reading(place):
                kept = sum(1 for _ in slots(self._session, certificate, ItemKind.COMMENT))
                self._found.differ(place, "number of leaf hashes", kept, count)

    def issued(self, event: Issued, head: int | None) -> Standing:
        """Looks at a certificate that was issued at a head."""
        place = f"certificate {event.certificate}"
        waits = event.verdict is not Verdict.REFUSED
        state = CertificateState.PENDING if waits else CertificateState.REFUSED
        standing = Standing(event.verdict, state, event.digest)
        with self._found.reading(place):
            row = self._session.one(_ROW, (event.certificate.bytes,), _Row._make)
            if row is None:
                self._found.add(place, "was issued by the log, and is not there")
                return standing
            self._found.counts.certificates += 1
            self._found.differ(place, "document's SHA-256", digest_hex(row.document), event.digest)
            self._found.differ(place, "verdict", row.verdict, event.verdict.value)
            self._found.differ(place, "issue instant", print_instant(Instant(row.issued_at)), event.at)
            self._found.differ(place, "base head", row.base_head, head)
            self._look_into(place, event, row, standing)
        return standing

    def decided(self, event: Decided, standing: Standing) -> None:
        """Looks at the decision that an event names."""
        found = self._recorded(event.certificate, event.digest, "decision")
        if found is None:
            return
        place, row, record = found
        if not isinstance(record, Decision):
            self._found.add(place, "is no decision")
            return
        self._found.differ(place, "certificate", record.certificate, event.certificate)
        self._found.differ(place, "certificate digest", record.certificate_digest, standing.digest)
        self._found.differ(place, "decision", record.decision, event.decision)
        self._found.differ(place, "instant", record.decided_at, event.at)
        if record.editor in standing.editors:
            self._found.add(place, f"is the second decision of {record.editor}")
        standing.editors.add(record.editor)
        self._comment(place, event.certificate, row.comment, record.comment)

    def rechecked(self, event: Applied, digest: str, standing: Standing, head: int | None) -> None:
        """Looks at the re-check that an applied event names."""
        found = self._recorded(event.certificate, digest, "recheck")
        if found is None:
            return
        place, _, record = found
        if not isinstance(record, Recheck):
            self._found.add(place, "is no re-check")
            return
        self._found.differ(place, "certificate", record.certificate, event.certificate)
        self._found.differ(place, "head", record.at_head, head)
        self._found.differ(place, "instant", record.rechecked_at, event.at)
        self._found.differ(place, "roots", (record.plan_root, record.findings_root), standing.roots)

    # --- certificates -------------------------------------------------------------------------------------------------

    def _look_into(self, place: str, event: Issued, row: _Row, standing: Standing) -> None:
        certificate = self._verified(place, row.document)
        if certificate is not None:
            self._found.differ(place, "id", certificate.id, event.certificate)
            self._found.differ(place, "base", certificate.base, self._base)
            self._found.differ(place, "signed verdict", certificate.verdict, event.verdict)
            self._found.differ(place, "signed instant", certificate.issued_at, event.at)
            self._found.differ(place, "signed base head", certificate.base_head, row.base_head)
            standing.predecessor = certificate.predecessor
        graphs: set[str] = set()
        signed: tuple[ItemTree | None, ...] = (None, None, None)
        if certificate is not None:
            signed = (certificate.plan, certificate.findings, certificate.impact)
        kinds = (ItemKind.PLAN, ItemKind.FINDING, ItemKind.IMPACT)
        roots = [self._items(event.certificate, kind, row, graphs, signed[number]) for number, kind in enumerate(kinds)]
        standing.roots = (roots[0], roots[1])
        listed = json.loads(row.graphs)
        self._found.differ(place, "list of graphs", row.graphs, _canonical_list(listed))
        if missing := graphs.difference(f"<{graph}>" for graph in listed):
            self._found.add(place, f"its list of graphs lacks {min(missing)}, which its plan touches")

    def _verified(self, place: str, document: bytes) -> Certificate | None:
        """The certificate in a document; None, and a fault, when nothing in it can be relied upon."""
        if self._key is None:
            return None
        try:
            certificate = verify(document, self._key)
        except CertificateError as error:
            self._found.add(place, f"its document is not as the base signed it: {error.message}")
            return None
        self._found.counts.signatures += 1
        return certificate

    def _items(self, certificate: UUID, kind: ItemKind, row: _Row, graphs: set[str], signed: ItemTree | None) -> str:
        """Looks at the items of one kind; answers their root, and adds the graphs that they touch."""
        tree = RunningTree()
        planned: dict[str, str] = {}
        whole = f"leaves {certificate} {kind.value}"
        with self._found.reading(whole):
            for ordinal, leaf, item in slots(self._session, certificate.bytes, kind):
                place = f"items {certificate} {kind.value} {ordinal}"
                if leaf is None:
                    self._found.add(place, "is there without a leaf hash")
                    continue
                tree.append(leaf)
                if item is None:
                    self._gone(certificate, kind, ordinal)
                    continue
                with self._found.reading(place):
                    if len(item.salt) != SALT_SIZE or leaf_hash(item.salt + item.body) != leaf:
                        self._found.add(place, "salt and body do not have the leaf hash that was kept of them")
                        continue
                    self._found.counts.items += 1
                    if kind is ItemKind.PLAN:
                        self._planned(certificate, item.body, row, planned, graphs)
        root = tree.root().hex()
        if signed is not None and (tree.count, root) != (signed.count, signed.root):
            self._found.add(whole, f"the {tree.count} leaf hashes have not the root that was signed of {signed.count}")
        return root

    def _planned(self, certificate: UUID, body: bytes, row: _Row, planned: dict[str, str], graphs: set[str]) -> None:
        """Notes the graph that a plan item touches: its own, or that of the fact that it is about."""
        members: dict[str, str] = orjson.loads(body)
        if members["op"] == "request":
            self._found.differ(f"certificate {certificate}", "principal", row.principal, members["principal"])
            return
        if members["op"] in {"purge", "restore"}:
            return
        fact = members["fact"]
        if members["op"] == "record":
            planned[fact] = members["statement"].rsplit(" ", 2)[-2]
        elif fact not in planned:
            graph: tuple[str] | None = self._session.one(_GRAPH_OF, (parse_urn(fact).bytes,), as_it_is)
            if graph is None and self._purges.fact(parse_urn(fact).bytes) is not None:
                return
            if graph is None:
                self._found.add(f"facts {fact[9:]}", f"is not there, and a plan item of {certificate} is about it")
                return
            planned[fact] = graph[0]
        graphs.add(planned[fact])

    def _gone(self, certificate: UUID, kind: ItemKind, ordinal: int) -> None:
        """An item that is gone is verified by its leaf hash alone; that a purge took it is looked at later."""
        self._found.counts.by_commitment += 1
        self._purges.miss(certificate.bytes, kind.value, ordinal)

    # --- records ------------------------------------------------------------------------------------------------------

    def _recorded(self, certificate: UUID, digest: str, kind: str) -> tuple[str, _Record, Decision | Recheck] | None:
        """The signed record of a digest; None, and a fault, where there is none, or none that can be relied upon."""
        place = f"certificate {certificate}"
        with self._found.reading(place):
            for row in self._session.all(_RECORDS, (certificate.bytes,), _Record._make):
                if digest_hex(row.record) == digest:
                    self.named.add(row.place)
                    self._found.differ(f"decisions {row.place}", "kind", row.kind, kind)
                    return self._verified_record(f"decisions {row.place}", row)
            self._found.add(place, f"the {kind} that the log names, of SHA-256 {digest}, is not there")
        return None

    def _verified_record(self, place: str, row: _Record) -> tuple[str, _Record, Decision | Recheck] | None:
        if self._key is None:
            return None
        try:
            record = verify_record(row.record, self._key)
        except CertificateError as error:
            self._found.add(place, f"is not as the base signed it: {error.message}")
            return None
        self._found.counts.signatures += 1
        return place, row, record

    def _comment(self, place: str, certificate: UUID, ordinal: int | None, signed: str | None) -> None:
        """A comment has the leaf hash that was signed; one that is gone is verified by it alone."""
        following = self.commented.get(certificate.bytes, 0)
        self._found.differ(place, "comment", ordinal, None if signed is None else following)
        if signed is None:
            return
        self.commented[certificate.bytes] = following + 1
        of_comment = f"items {certificate} comment"
        with self._found.reading(of_comment):
            kept = list(slots(self._session, certificate.bytes, ItemKind.COMMENT))[following]
            self._found.differ(of_comment, "leaf hash", kept.leaf and kept.leaf.hex(), signed)
            item = kept.item
            if item is None:
                self._gone(certificate, ItemKind.COMMENT, 0)
            elif leaf_hash(item.salt + item.body).hex() != signed:
                self._found.add(of_comment, "is not the comment whose leaf hash was signed")
            else:
                self._found.counts.items += 1


def _canonical_list(graphs: list[str]) -> str:
    """The text of a list of graphs, as it is written."""
    return json.dumps([Iri(graph).value for graph in sorted(set(graphs))], ensure_ascii=False, separators=(",", ":"))
