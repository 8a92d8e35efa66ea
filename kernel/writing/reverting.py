"""Reverting: the changes that undo what a certificate did.

Rules
-----
* Every fact that the certificate recorded is retracted, and every fact that it superseded is believed again as it was:
  same family, same interval, same evidence. So it is a plan like any other: judged, certified, perhaps reviewed.
* Nothing of later certificates is undone with it: if one has superseded a fact that this one recorded, that one has to
  be reverted first. Once it is, what stands of the fact again is retracted: certificates are undone one after another.
* Evidence stays, for it is append-only; a certificate that brought nothing else cannot be reverted. Nor can one that
  was not applied.

Example
-------
::

    request = inverse(view, view.certificate(identifier), "p1", reason=None)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from certificates.ids import urn
from kernel.changes import Reinstate, Request, Retract
from kernel.errors import Conflict, NothingToRevert, TooManyChanges
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.facts import Fact
    from kernel.ports.ledger import LedgerView
    from kernel.ports.records import CertificateRecord

MOST: Final = 250_000
"""Facts that one reverts with a request: what a plan holds in memory, some 1 KB each."""


def inverse(view: LedgerView, record: CertificateRecord, principal: str, *, reason: str | None) -> Request:
    """The request that undoes a certificate.

    Args:
        view: the ledger.
        record: the certificate's.
        principal: who asks.
        reason: for those who read the new certificate, where it follows the id of this one.

    Raises:
        Conflict: it was not applied, or a later certificate superseded what it recorded.
        NothingToRevert: it brought evidence alone, or what it did was purged.
        TooManyChanges: it did more than one request can undo.
    """
    retracted: list[Retract] = []
    reinstated: list[Reinstate] = []
    for fact in _touched(view, record):
        if fact.certificate == record.id:
            retracted.append(Retract(_standing(view, fact).id))
        else:
            reinstated.append(Reinstate(fact.id))
        if len(retracted) + len(reinstated) > MOST:
            raise TooManyChanges(
                f"the certificate concerns more than {MOST:,} facts", remedy="retract by graph or subject instead"
            )
    if not retracted and not reinstated:
        raise NothingToRevert(
            "nothing that the certificate did is left to undo: it brought evidence alone, which stays, or was purged",
            remedy="leave it",
        )
    return Request((*retracted, *reinstated), _said(record, reason), None, principal)


def _said(record: CertificateRecord, reason: str | None) -> str:
    """Why, for people: whatever else they say, what is reverted is named."""
    said = f"reverts {urn(record.id)}"
    return said if reason is None else f"{said}: {reason}"


def _touched(view: LedgerView, record: CertificateRecord) -> Iterator[Fact]:
    """What the certificate recorded or superseded: its instant is its own."""
    at = record.instant
    if at is None:
        raise Conflict(
            f"the certificate is {record.state.value}: there is nothing of it to revert",
            remedy="revert certificates that were applied",
            where="certificate",
            state=record.state.value,
        )
    for fact in view.facts_recorded(Instant(at - 1), at):
        if fact.certificate == record.id or (fact.superseded is not None and fact.superseded.certificate == record.id):
            yield fact


def _standing(view: LedgerView, fact: Fact) -> Fact:
    """The fact, or the one by which it is believed again as it was."""
    if fact.superseded is None:
        return fact
    for held in view.believed_of(fact.statement):
        if held.content.family == fact.content.family and held.content.validity == fact.content.validity:
            return held
    raise Conflict(
        f"a later certificate, {urn(fact.superseded.certificate)}, superseded what this one recorded",
        remedy="revert that one first, unless it reverted this one",
        where="certificate",
        later=urn(fact.superseded.certificate),
    )
