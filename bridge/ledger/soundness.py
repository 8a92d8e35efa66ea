"""Whether a ledger's head is what its log says: as much as opening can tell without reading all of it.

Rules
-----
* What is looked at is the head, the event that it names, the certificate that this event applied, the ends of the log,
  and what was logged after the head. A log that was cut off, or that lost its beginning, does not pass; what lies
  between is the business of an audit.
* Nothing is repaired, and nothing is served from what does not pass.

Example
-------
::

    with readers.borrow() as session:
        require_sound(session, "data/ledger.sqlite")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from certificates.errors import CertificateError
from certificates.events import Applied, decode_event
from certificates.merkle import leaf_hash
from kernel.errors import DamagedBase
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from bridge.ledger.session import Session
    from kernel.ports.heads import Head

_ENDS: Final = "SELECT (SELECT min(position) FROM events), (SELECT max(position) FROM events)"
_LOGGED_SINCE: Final = "SELECT count(*) FROM events WHERE position >= ?"
_EVENT: Final = "SELECT event, leaf FROM events WHERE position = ?"
_LAST_APPLIED: Final = """SELECT id, head, instant FROM certificates INDEXED BY heads
    WHERE head IS NOT NULL ORDER BY head DESC LIMIT 1"""
_ANY_CERTIFICATE: Final = "SELECT id FROM certificates LIMIT 1"

_LastApplied = tuple[bytes, int, int]


def require_sound(session: Session, head: Head, name: str) -> None:
    """Passes a ledger whose head, log and certificates agree.

    Args:
        session: a read of the ledger.
        head: the head in that read.
        name: of the file, for errors.

    Raises:
        DamagedBase: they do not; the error says in what.
    """
    fault = _fault(session, head)
    if fault is not None:
        raise DamagedBase(
            f"the ledger does not fit together: {fault}", remedy="restore the ledger from a backup", where=name
        )


def _fault(session: Session, head: Head) -> str | None:
    first, last = session.one(_ENDS, (), _pair) or (None, None)
    applied = session.one(_LAST_APPLIED, (), _last_applied)
    if first is None or last is None:
        return "its log is empty, and it has certificates" if session.one(_ANY_CERTIFICATE, (), bool) else None
    if first != 0:
        return f"its log begins at position {first}"
    if head.position is None:
        return None if applied is None else f"a certificate was applied at {applied[1]}, and it has no head"
    if last < head.position:
        return f"its log ends at position {last}, before its head, {head.position}"
    since = session.one(_LOGGED_SINCE, (head.position,), _number)
    if since != last - head.position + 1:
        return f"its log has gaps after position {head.position}"
    return _fault_at_head(session, head, head.position, applied)


def _fault_at_head(session: Session, head: Head, position: int, applied: _LastApplied | None) -> str | None:
    """What is wrong with the event that the head names, or with the certificate that it applied."""
    event, leaf = session.one(_EVENT, (position,), _event) or (b"", b"")
    if leaf_hash(event) != leaf:
        return f"the event at its head, {position}, is not the one that was logged there"
    try:
        logged = decode_event(event)
    except CertificateError as error:
        return f"the event at its head, {position}, cannot be read: {error}"
    if not isinstance(logged, Applied):
        return f"nothing was applied at its head, {position}"
    if head.instant is None or logged.at != print_instant(head.instant):
        return f"its head, {position}, was applied at {logged.at}, and not when it says"
    if logged.state != head.state.hexdigest():
        return f"its state digest is not the one that was logged at its head, {position}"
    if head.clock < head.instant:
        return f"its clock stands before its head, {position}"
    if applied != (logged.certificate.bytes, position, head.instant):
        found = "none" if applied is None else f"{UUID(bytes=applied[0])} at {applied[1]}"
        return f"the last certificate applied is {logged.certificate} by the log, and {found} by the certificates"
    return None


def _pair(row: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    return row


def _event(row: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    return row


def _last_applied(row: _LastApplied) -> _LastApplied:
    return row


def _number(row: tuple[int]) -> int:
    return row[0]
