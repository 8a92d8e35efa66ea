"""The log, played from its first event: what became of each certificate, and of the head.

Rules
-----
* Positions have no gap; each leaf hash is that of the event beside it; each event is in canonical form.
* A certificate is issued; then a clear one is applied; one in review is decided, and if approved applied with a
  re-check, or stale. Nothing follows on refused, rejected, applied and stale.
* Each applied event names the one before it, a later instant, and the digest of the state that its plan leads to. The
  state row is what the last one says.
* The certificates' rows say what the log says of them.
* What is kept of the log's tree is that of its leaves (`auditing.tree`).

Where one event is wrong or missing, the log is played on from what is there: later events are judged by their own.

Example
-------
::

    log = LogAudit(session, found, key, base)
    log.look()
    log.standings[certificate.bytes].state
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from bridge.auditing.effects import EffectsAudit
from bridge.auditing.purges import PurgeAudit
from bridge.auditing.signed import SignedAudit, Standing
from bridge.auditing.slots import as_it_is
from bridge.auditing.tree import TreeAudit
from bridge.ledger.certificate_rows import head_of
from certificates.certificate import Verdict
from certificates.events import Applied, Decided, Issued, Stale, decode_event
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.merkle import leaf_hash
from certificates.purge_events import Erased, Purged, Restored
from certificates.records import DecisionKind
from kernel.ports.records import CertificateState
from kernel.time.instants import Instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.auditing.faults import Faults
    from bridge.ledger.session import Session
    from certificates.checkpoints import Checkpoint
    from certificates.events import CertificateEvent, Event
    from certificates.key_history import KeyHistory
    from kernel.ports.heads import Head

_EVENTS: Final = "SELECT position, event, leaf FROM events ORDER BY position"
_STATE: Final = "SELECT position, instant, clock, digest FROM state"
_ROWS: Final = "SELECT id, state, issued, head, instant, successor FROM certificates NOT INDEXED"
_PENDING: Final = CertificateState.PENDING


class _Row(NamedTuple):
    id: bytes
    state: str
    issued: int
    head: int | None
    instant: int | None
    successor: bytes | None


class LogAudit:
    """Plays the log; arguments as for `SignedAudit`, and a checkpoint from outside, verified.

    Attributes:
        standings: where each certificate stands, by the 16 bytes of its id.
        head: the position of the last applied event.
        instant: its transaction instant.
    """

    def __init__(
        self,
        session: Session,
        found: Faults,
        keys: KeyHistory | None,
        base: UUID | None,
        anchor: Checkpoint | None = None,
    ) -> None:
        self._session = session
        self._found = found
        self._tree = TreeAudit(session, found, anchor)
        self._purges = PurgeAudit(session, found)
        self._signed = SignedAudit(session, found, keys, base, self._purges)
        self._effects = EffectsAudit(session, found, self._purges)
        self._digests_fit = True
        self.standings: dict[bytes, Standing] = {}
        self.head: int | None = None
        self.instant: Instant | None = None

    def look(self) -> None:
        """Plays all of it, then holds what became of it against the tables."""
        following = 0
        with self._found.reading("events"):
            following = self._play_all()
        self._signed.look_for_more()
        self._tree.look()
        with self._found.reading("state"):
            self._look_at_head(following)
        with self._found.reading("certificates"):
            self._look_at_rows()
        with self._found.reading("facts"):
            applied = {id for id, held in self.standings.items() if held.state is CertificateState.APPLIED}  # noqa: A001
            self._effects.look_for_unexplained(applied)
        with self._found.reading("purges"):
            self._purges.look()

    @property
    def named(self) -> set[int]:
        """Places of the decisions and re-checks that the log names."""
        return self._signed.named

    @property
    def commented(self) -> dict[bytes, int]:
        """Certificates whose decisions have comments."""
        return self._signed.commented

    def _play_all(self) -> int:
        """Answers the position after the last event."""
        following = 0
        events: Iterator[tuple[int, bytes, bytes]] = self._session.stream(_EVENTS, (), as_it_is)
        for position, data, leaf in events:
            if position != following:
                self._found.add(f"events {following}", f"the log has a gap here, before position {position}")
            following = position + 1
            place = f"events {position}"
            if leaf_hash(data) != leaf:
                self._found.add(place, "the event has not the leaf hash that was logged of it")
            self._tree.append(leaf)
            with self._found.reading(place):
                self._play(place, position, decode_event(data))
                self._found.counts.events += 1
        return following

    # --- events -------------------------------------------------------------------------------------------------------

    def _play(self, place: str, position: int, event: Event) -> None:
        if isinstance(event, KeyRotated | KeyRevoked):
            return  # looked at before, all of them together
        self._signed.at(position)
        if isinstance(event, Purged | Erased | Restored):
            self._purges.play(place, event, self._signed.key)
            return
        if isinstance(event, Issued):
            if event.certificate.bytes in self.standings:
                self._found.add(place, f"issues {event.certificate}, which was issued before")
            standing = self.standings[event.certificate.bytes] = self._signed.issued(event, self.head)
            standing.issued = position
            return
        standing = self._standing(place, event)
        if standing.state is not _PENDING:
            self._found.add(place, f"is about {event.certificate}, which was {standing.state.value} before")
        if isinstance(event, Decided):
            self._decided(place, event, standing)
        elif isinstance(event, Stale):
            self._lapsed(place, event, standing)
        else:
            self._applied(place, position, event, standing)

    def _standing(self, place: str, event: CertificateEvent) -> Standing:
        """Where the event's certificate stands; for one that was not issued, what the event itself says."""
        held = self.standings.get(event.certificate.bytes)
        if held is not None:
            return held
        self._found.add(place, f"is about {event.certificate}, which was not issued before")
        decided = not isinstance(event, Applied) or event.recheck is not None
        standing = Standing(Verdict.REVIEW if decided else Verdict.CLEAR, _PENDING, "")
        standing.approved = decided and not isinstance(event, Decided)
        self.standings[event.certificate.bytes] = standing
        return standing

    def _decided(self, place: str, event: Decided, standing: Standing) -> None:
        if standing.verdict is not Verdict.REVIEW:
            self._found.add(place, f"decides on {event.certificate}, which did not wait for a decision")
        self._signed.decided(event, standing)
        if event.decision is DecisionKind.REJECT:
            standing.state = CertificateState.REJECTED
        else:
            standing.approved = True

    def _lapsed(self, place: str, event: Stale, standing: Standing) -> None:
        if not standing.approved:
            self._found.add(place, f"makes {event.certificate} stale, which was not approved")
        standing.state, standing.successor = CertificateState.STALE, event.successor
        if event.successor is not None:
            heir = self.standings.get(event.successor.bytes)
            if heir is None or heir.predecessor != event.certificate:
                self._found.add(place, f"names {event.successor} as successor, which does not say so itself")

    def _applied(self, place: str, position: int, event: Applied, standing: Standing) -> None:
        at = parse_instant(event.at)
        self._found.differ(place, "previous applied event", event.previous, self.head)
        if self.instant is not None and at <= self.instant:
            self._found.add(place, "its instant is not after that of the applied event before it")
        if standing.verdict is Verdict.REFUSED or (event.recheck is not None) != (standing.verdict is Verdict.REVIEW):
            self._found.add(place, f"applies a certificate of verdict {standing.verdict.value} in another way")
        if standing.verdict is Verdict.REVIEW and not standing.approved:
            self._found.add(place, f"applies {event.certificate}, which was not approved")
        if event.recheck is not None:
            self._signed.rechecked(event, event.recheck, standing, self.head)
        with self._found.reading(f"leaves {event.certificate} plan"):
            self._effects.apply(event.certificate, at)
        if self._digests_fit and event.state != self._effects.digest.hexdigest():
            self._digests_fit = False
            self._found.add(place, "from here on the state digest is not that of the facts believed")
        standing.state, standing.head, standing.instant = CertificateState.APPLIED, position, at
        self.head, self.instant = position, at

    # --- what became of it --------------------------------------------------------------------------------------------

    def _look_at_head(self, following: int) -> None:
        head: Head | None = self._session.one(_STATE, (), head_of)
        if head is None:
            self._found.add("state", "is not there")
            return
        if head.position is not None and head.position >= following:
            self._found.add(
                f"events {following}", f"the log ends before this position, and its head is {head.position}"
            )
        self._found.differ("state", "position", head.position, self.head)
        self._found.differ("state", "instant", head.instant, self.instant)
        if head.instant is not None and head.clock < head.instant:
            self._found.add("state", "its clock stands before its instant")
        if self._digests_fit and head.state != self._effects.digest:
            self._found.add("state", "its digest is not that of the facts believed")

    def _look_at_rows(self) -> None:
        rows: Iterator[_Row] = self._session.stream(_ROWS, (), _Row._make)
        for row in rows:
            with self._found.reading(f"certificate {row.id.hex()}"):
                self._look_at_row(f"certificate {UUID(bytes=row.id)}", row)

    def _look_at_row(self, place: str, row: _Row) -> None:
        standing = self.standings.get(row.id)
        if standing is None:
            at = "" if row.head is None else f", and says that it was applied at {row.head}"
            self._found.add(place, f"is there{at}; the log does not say that it was issued")
            return
        successor = None if row.successor is None else UUID(bytes=row.successor)
        self._found.differ(place, "state", row.state, standing.state.value)
        self._found.differ(place, "position of issue", row.issued, standing.issued)
        self._found.differ(place, "head", row.head, standing.head)
        self._found.differ(place, "instant", row.instant, standing.instant)
        self._found.differ(place, "successor", successor, standing.successor)
        if standing.verdict is Verdict.CLEAR and standing.state is _PENDING:
            self._found.add(place, "is clear, and the log does not say that it was applied")
        if standing.predecessor is not None:
            before = self.standings.get(standing.predecessor.bytes)
            if before is None or before.successor != UUID(bytes=row.id):
                self._found.add(place, f"takes the place of {standing.predecessor}, which does not name it")
