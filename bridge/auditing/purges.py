"""What is gone, against what purges say that they took.

Rules
-----
* An item that is gone was taken by a purge: it is on the list of one, and the log has the digest of that list, facts
  and all. What is gone and on no list was taken by somebody else.
* A purge stands in its table as the log has it; a complete one has the receipt whose digest the log names, signed. Of
  what it was, who asked and who approved are as its certificate has them.
* As many tombstones stand as the log says, or none once they were lifted.
* A ledger that never had a purge may have no tables for them.

Example
-------
::

    purges = PurgeAudit(session, found)
    purges.play("events 7", event, key)
    purges.look()
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from uuid import UUID

from bridge.auditing.slots import as_it_is
from bridge.ledger import purging
from certificates.canonical import digest_hex
from certificates.errors import CertificateError
from certificates.purge_events import Erased, Purged, erasure_digest
from certificates.receipt import ReceiptStatus, verify
from kernel.ports.purges import PurgeState

if TYPE_CHECKING:
    from bridge.auditing.faults import Faults
    from bridge.ledger.session import Session
    from certificates.events import PurgeEvent
    from certificates.keys import VerifyingKey
    from kernel.ports.purges import PurgeRecord

_THERE: Final = "SELECT count(*) FROM sqlite_schema WHERE name IN ('purges', 'erased_facts', 'erased_items')"
_TABLES: Final = 3
_ITEM: Final = "SELECT purge FROM erased_items WHERE certificate = ? AND kind = ? AND ordinal = ?"
_CERTIFICATE: Final = "SELECT principal, head FROM certificates WHERE id = ?"
_CERTIFIED: Final = "SELECT body FROM items WHERE certificate = ? AND kind = 'plan' AND ordinal = 1"
_FACT: Final = "SELECT recorded, superseded, superseded_by, leaf FROM erased_facts WHERE id = ?"
_RECORDED_AT: Final = "SELECT leaf, id FROM erased_facts WHERE recorded = ? AND certificate = ?"
_BELIEVED: Final = "SELECT id, leaf FROM erased_facts WHERE purge = ? AND superseded_by IS NULL ORDER BY id"

_Row = tuple[int, int, bytes | None, bytes]


class PurgeAudit:
    """Looks at purges, and answers what other parts of the audit ask of them."""

    def __init__(self, session: Session, found: Faults) -> None:
        self._session = session
        self._found = found
        self._logged: dict[bytes, Purged] = {}
        self._complete: set[bytes] = set()
        self._restored: set[bytes] = set()
        self._missing: list[tuple[bytes, str, int]] = []
        self._there = session.one(_THERE, (), _number) == _TABLES

    def is_listed(self, certificate: bytes, kind: str, ordinal: int) -> bool:
        """Whether some purge says that it took the item; which of them the log knows is looked at in the end."""
        return self._taker(certificate, kind, ordinal) is not None

    def _taker(self, certificate: bytes, kind: str, ordinal: int) -> bytes | None:
        return self._session.one(_ITEM, (certificate, kind, ordinal), _bytes) if self._there else None

    def miss(self, certificate: bytes, kind: str, ordinal: int) -> None:
        """Notes an item that is gone."""
        self._missing.append((certificate, kind, ordinal))

    def fact(self, fact: bytes) -> _Row | None:
        """What is kept of a fact that is gone: when it was recorded and superseded, by what, and its leaf hash."""
        return self._session.one(_FACT, (fact,), as_it_is) if self._there else None

    def recorded_at(self, at: int, certificate: bytes) -> list[tuple[bytes, bytes]]:
        """Leaf hash and id of each fact that is gone and was recorded then."""
        return self._session.all(_RECORDED_AT, (at, certificate), as_it_is) if self._there else []

    def believed_until(self, purge: bytes) -> list[tuple[bytes, bytes]]:
        """Id and leaf hash of each fact that was believed until a purge took it."""
        return self._session.all(_BELIEVED, (purge,), as_it_is) if self._there else []

    def play(self, place: str, event: PurgeEvent, key: VerifyingKey | None) -> None:
        """Looks at what an event says."""
        if isinstance(event, Purged):
            self._purged(place, event)
            return
        purge = event.certificate if isinstance(event, Erased) else event.purge
        if purge.bytes not in self._logged:
            self._found.add(place, f"is about the purge {purge}, which was not carried out before")
        elif isinstance(event, Erased):
            self._complete.add(purge.bytes)
            self._receipt(event, key)
        else:
            self._restored.add(purge.bytes)

    def look(self) -> None:
        """Looks at the tables, once all events were played."""
        for certificate, kind, ordinal in self._missing:
            if self._taker(certificate, kind, ordinal) not in self._logged:
                self._found.add(f"items {UUID(bytes=certificate)} {kind} {ordinal}", "is gone, and no purge took it")
        records = {record.id.bytes: record for record in purging.purges(self._session)} if self._there else {}
        stones = purging.tombstones(self._session) if self._there else []
        for identifier, record in records.items():
            self._look_at(f"purges {record.id}", identifier, record)
        for identifier, event in self._logged.items():
            if identifier not in records:
                self._found.add(f"purges {event.certificate}", "was carried out by the log, and is not there")
            standing = sum(purge.bytes == identifier for purge, _, _ in stones)
            expected = 0 if identifier in self._restored else event.tombstones
            self._found.differ(f"tombstones {event.certificate}", "number", standing, expected)
        for purge in {purge for purge, _, _ in stones if purge.bytes not in self._logged}:
            self._found.add(f"tombstones {purge}", "stand, and the log knows of no such purge")

    def _look_at(self, place: str, identifier: bytes, record: PurgeRecord) -> None:
        done = record.state in {PurgeState.PENDING, PurgeState.COMPLETE}
        complete = record.state is PurgeState.COMPLETE
        if (done, complete) != (identifier in self._logged, identifier in self._complete):
            self._found.add(place, f"is {record.state}, and the log says otherwise")
        if done and (record.target, record.reason) != (None, None):
            self._found.add(place, "says still what was purged")
        if done:
            self._look_at_certified(place, identifier, record)

    def _look_at_certified(self, place: str, identifier: bytes, record: PurgeRecord) -> None:
        """What the row says again of the certificate, whose own row and items are looked at elsewhere."""
        row: tuple[str, int | None] | None = self._session.one(_CERTIFICATE, (identifier,), as_it_is)
        if row is not None:
            self._found.differ(place, "asker", record.asked_by, row[0])
            self._found.differ(place, "head", record.head, row[1])
        body = self._session.one(_CERTIFIED, (identifier,), _bytes)
        if body is not None:
            with self._found.reading(place):
                said = json.loads(body)
                self._found.differ(place, "kind", record.kind, said["of"])
                self._found.differ(place, "second person", record.decided_by, said.get("approvedBy"))

    def _purged(self, place: str, event: Purged) -> None:
        self._logged[event.certificate.bytes] = event
        if not self._there:
            self._found.add(place, "is about a purge, and the ledger has no tables for them")
            return
        listed = erasure_digest(*purging.erased(self._session, event.certificate))
        self._found.differ(f"purges {event.certificate}", "list of what is gone", listed, event.erased)

    def _receipt(self, event: Erased, key: VerifyingKey | None) -> None:
        place = f"purges {event.certificate}"
        record = purging.purge_of(self._session, event.certificate)
        if record is None or record.receipt is None:
            self._found.add(place, "has no receipt, and the log names one")
            return
        self._found.differ(place, "receipt's SHA-256", digest_hex(record.receipt), event.receipt)
        if key is None:
            return
        try:
            receipt = verify(record.receipt, key)
        except CertificateError as error:
            self._found.add(place, f"its receipt is not as the base signed it: {error.message}")
            return
        self._found.counts.signatures += 1
        self._found.differ(place, "receipt's purge", receipt.certificate, event.certificate)
        self._found.differ(place, "receipt's status", receipt.status, ReceiptStatus.COMPLETE)
        self._found.differ(place, "receipt's digest", receipt.digest, self._logged[event.certificate.bytes].erased)


def _bytes(row: tuple[bytes]) -> bytes:
    return row[0]


def _number(row: tuple[int]) -> int:
    return row[0]
