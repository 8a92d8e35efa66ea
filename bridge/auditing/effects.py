"""Facts and evidence, against the plan items of the certificates that were applied.

Rules
-----
* What a plan item says was recorded, superseded or supported is in the tables as the item says it, recorded and
  superseded at the certificate's transaction instant, with the item's leaf hash; and nothing else is in them. A row's
  text, keys and numbers are those that would be written today.
* The state digest is worked out from the items as they are applied.
* A fact that was purged is known by what is kept of it, and leaves the state digest with the purge.
* Of an item that is gone otherwise, the leaf hash tells which fact it recorded. That it superseded a fact, or brought
  evidence, is taken from the tables: as many rows as items are gone may be explained so.

Example
-------
::

    effects = EffectsAudit(session, found)
    effects.apply(certificate, at)
    effects.digest.hexdigest()
    effects.look_for_unexplained(applied={certificate.bytes})
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

import orjson

from bridge.auditing.recorded import RecordedFacts, differing, members
from bridge.auditing.slots import as_it_is, slots
from bridge.ledger.fact_rows import EVIDENCE_COLUMNS, evidence_of, evidence_row
from certificates.items import ItemKind
from certificates.lthash import LatticeHash
from kernel.writing.plan import evidence_body

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from bridge.auditing.faults import Faults
    from bridge.auditing.purges import PurgeAudit
    from bridge.ledger.fact_rows import EvidenceRow
    from bridge.ledger.session import Session
    from kernel.time.instants import Instant

_BATCH: Final = 4_096
"""Facts that go into the state digest at a time."""

_SUPERSESSION: Final = "SELECT recorded, superseded, superseded_by, leaf FROM facts WHERE id = ?"
_EVIDENCE: Final = f"SELECT {EVIDENCE_COLUMNS} FROM evidence INDEXED BY evidence_by_fact WHERE fact = ? AND id = ?"  # noqa: S608
_EVIDENCE_NAMES: Final = tuple(name.removeprefix("evidence.") for name in EVIDENCE_COLUMNS.split(", "))
_COUNTS: Final = """SELECT (SELECT count(*) FROM facts NOT INDEXED),
    (SELECT count(*) FROM facts NOT INDEXED WHERE superseded_by IS NOT NULL),
    (SELECT count(*) FROM evidence NOT INDEXED)"""
_ALL_FACTS: Final = "SELECT id, certificate FROM facts NOT INDEXED ORDER BY row"
_ALL_SUPERSEDED: Final = "SELECT id, superseded_by FROM facts NOT INDEXED WHERE superseded_by IS NOT NULL ORDER BY row"
_ALL_EVIDENCE: Final = "SELECT id, certificate FROM evidence NOT INDEXED ORDER BY row"
_RECORDED_AT: Final = "SELECT leaf, id FROM facts NOT INDEXED WHERE recorded = ? AND certificate = ?"
_SUPERSEDED_AT: Final = "SELECT id, leaf FROM facts INDEXED BY facts_by_time WHERE superseded = ? AND superseded_by = ?"
_SUPPORTED_AT: Final = "SELECT id FROM evidence INDEXED BY evidence_by_time WHERE recorded = ? AND certificate = ?"


class EffectsAudit:
    """Plays what the applied certificates did.

    Attributes:
        digest: the state digest so far.
    """

    def __init__(self, session: Session, found: Faults, purges: PurgeAudit) -> None:
        self._purges = purges
        self._session = session
        self._found = found
        self.digest = LatticeHash()
        self._facts = RecordedFacts(session, found)
        self._recorded = self._supported = 0
        self._superseded: set[bytes] = set()
        self._committed: set[bytes] = set()
        self._added: list[tuple[bytes, bytes]] = []

    def apply(self, certificate: UUID, at: Instant) -> None:
        """Looks at what a certificate did that was applied at an instant."""
        gone: list[bytes] = []
        purged: set[bytes] = set()
        seen: set[bytes] = set()
        items, by = f"items {certificate} plan", (certificate, at)
        for ordinal, leaf, item in slots(self._session, certificate.bytes, ItemKind.PLAN):
            if leaf is None:
                continue
            if item is None:
                if self._purges.is_listed(certificate.bytes, ItemKind.PLAN.value, ordinal):
                    purged.add(leaf)
                else:
                    gone.append(leaf)
                continue
            place = f"{items} {ordinal}"
            with self._found.reading(place):
                self._play(place, orjson.loads(item.body), item.body, leaf, by, seen)
        with self._found.reading(items):
            self._facts.look()
        if gone:
            self._play_gone(certificate, at, gone, seen)
        if purged:
            recorded = self._purges.recorded_at(at, certificate.bytes)
            self._added += [(fact, leaf) for leaf, fact in recorded if leaf in purged]
        self._add_up()

    def look_for_unexplained(self, applied: Container[bytes]) -> None:
        """Names the rows that no item of an applied certificate explains, once all of them were applied."""
        counts: tuple[int, int, int] | None = self._session.one(_COUNTS, (), as_it_is)
        facts, superseded, evidence = counts or (0, 0, 0)
        if facts != self._recorded + self._facts.count:
            self._name("facts", _ALL_FACTS, "record", applied)
        if superseded != len(self._superseded):
            for identifier, by in self._pairs(_ALL_SUPERSEDED):
                if identifier not in self._superseded:
                    what = f"is superseded by {_id(by)}, which no plan item says"
                    self._found.add(f"facts {_id(identifier)}", what)
        if evidence != self._supported:
            self._name("evidence", _ALL_EVIDENCE, "support", applied)

    # --- one item -----------------------------------------------------------------------------------------------------

    def _play(
        self,
        place: str,
        said: Mapping[str, str],
        body: bytes,
        leaf: bytes,
        by: tuple[UUID, Instant],
        seen: set[bytes],
    ) -> None:
        operation = said["op"]
        if operation == "purge":
            self._add_up()
            self.digest = self.digest.remove_many(self._purges.believed_until(by[0].bytes))
        if operation in {"request", "purge", "restore"}:
            return
        fact = _bytes_of(said["fact"])
        about = _bytes_of(said["evidence"]) if operation == "support" else fact
        if operation != "supersede" and about in seen:
            self._found.add(place, "says again what an item before it says")
            return
        seen.add(about)
        if operation == "record":
            self._record(place, fact, body, leaf, by)
        elif operation == "supersede":
            self._supersede(place, fact, by)
        elif operation == "support":
            self._support(place, fact, about, body, by)
        else:
            self._found.add(place, f"says {operation!r}, which nothing knows")

    def _record(self, item: str, fact: bytes, body: bytes, leaf: bytes, by: tuple[UUID, Instant]) -> None:
        self._added.append((fact, leaf))
        if len(self._added) >= _BATCH:
            self._add_up()
        self._facts.take(item, fact, body, leaf, *by)

    def _supersede(self, item: str, fact: bytes, by: tuple[UUID, Instant]) -> None:
        place = f"facts {_id(fact)}"
        row: tuple[int, int, bytes | None, bytes] | None = self._session.one(_SUPERSESSION, (fact,), as_it_is)
        if row is None:
            self._supersede_purged(place, item, fact, by)
            return
        recorded, superseded, superseded_by, leaf = row
        if fact in self._superseded:
            self._found.add(place, f"was superseded before {item} does so")
            return
        if superseded_by is not None:
            self._superseded.add(fact)
        if (superseded, superseded_by) != (by[1], by[0].bytes) or recorded >= superseded:
            self._found.add(place, f"is not superseded as {item} says")
        self._add_up()
        self.digest = self.digest.remove(fact, leaf)

    def _supersede_purged(self, place: str, item: str, fact: bytes, by: tuple[UUID, Instant]) -> None:
        erased = self._purges.fact(fact)
        if erased is None:
            self._found.add(place, f"is not there, and was superseded by {item}")
            return
        _, superseded, superseded_by, leaf = erased
        if (superseded, superseded_by) != (by[1], by[0].bytes):
            self._found.add(place, f"was purged, and was not superseded as {item} says")
        self._add_up()
        self.digest = self.digest.remove(fact, leaf)

    def _support(self, item: str, fact: bytes, evidence: bytes, body: bytes, by: tuple[UUID, Instant]) -> None:
        place = f"evidence {_id(evidence)}"
        row: EvidenceRow | None = self._session.one(_EVIDENCE, (fact, evidence), as_it_is)
        if row is None:
            self._found.add(place, f"is not there for fact {_id(fact)}, and was added by {item}")
            return
        self._supported += 1
        with self._found.reading(place):
            content = evidence_of(row).content
            wrong = differing(_EVIDENCE_NAMES, row, evidence_row(content, *by))
            stated = evidence_body(content)
            if stated != body:
                wrong |= members(stated, body)
            if wrong:
                self._found.add(place, f"differs from what {item} added: {', '.join(sorted(wrong))}")
            else:
                self._found.counts.evidence += 1

    def _add_up(self) -> None:
        if self._added:
            self.digest = self.digest.add_many(self._added)
            self._added.clear()

    # --- items that are gone ------------------------------------------------------------------------------------------

    def _play_gone(self, certificate: UUID, at: Instant, gone: list[bytes], seen: set[bytes]) -> None:
        """What the tables say that as many items did as are gone."""
        by = (at, certificate.bytes)
        left = set(gone)
        for leaf, fact in self._pairs(_RECORDED_AT, by):
            if leaf in left and fact not in seen:
                left.remove(leaf)
                self._recorded += 1
                self._committed.add(fact)
                self._added.append((fact, leaf))
        self._add_up()
        more = len(left)
        for fact, leaf in self._pairs(_SUPERSEDED_AT, by):
            if more and fact not in self._superseded:
                more -= 1
                self._superseded.add(fact)
                self.digest = self.digest.remove(fact, leaf)
        for evidence in self._session.all(_SUPPORTED_AT, by, _first):
            if more and evidence not in seen:
                more -= 1
                self._supported += 1
                self._committed.add(evidence)

    # --- rows without item --------------------------------------------------------------------------------------------

    def _name(self, table: str, sql: str, operation: str, applied: Container[bytes]) -> None:
        """Names the rows of a table that are not what items of one operation brought, each item one row."""
        before: bytes | None = None
        explained: set[bytes] = set()
        taken: set[bytes] = set()
        for identifier, certificate in self._pairs(sql):
            if certificate != before:
                before = certificate
                explained = set(self._brought(certificate, operation)) if certificate in applied else set()
            if identifier in taken or not (identifier in explained or identifier in self._committed):
                what = f"is there, and no applied certificate brought it; it names {_id(certificate)}"
                self._found.add(f"{table} {_id(identifier)}", what)
            taken.add(identifier)

    def _brought(self, certificate: bytes, operation: str) -> Iterator[bytes]:
        member = "fact" if operation == "record" else "evidence"
        for slot in slots(self._session, certificate, ItemKind.PLAN):
            said = {} if slot.item is None else orjson.loads(slot.item.body)
            if said.get("op") == operation:
                yield _bytes_of(said[member])

    def _pairs(self, sql: str, parameters: tuple[int, bytes] | tuple[()] = ()) -> Iterator[tuple[bytes, bytes]]:
        return self._session.stream(sql, parameters, as_it_is)


def _bytes_of(urn: str) -> bytes:
    """The 16 bytes of an id's URN. That it is spelt as it should be is told by the item that it stands in."""
    identifier = bytes.fromhex(urn[9:].replace("-", ""))
    if len(identifier) != 16:
        raise ValueError(f"{urn!r} is no UUID URN")
    return identifier


def _id(identifier: bytes) -> str:
    """An id as it is written; what is none, in hexadecimal."""
    return str(UUID(bytes=identifier)) if len(identifier) == 16 else identifier.hex()


def _first(row: tuple[bytes]) -> bytes:
    return row[0]
