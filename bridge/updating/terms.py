"""What is said of a write beside its content: by whom, since when, why, and whether it is to be kept.

Example
-------
::

    terms = Terms(principal, reason="the census of 2026", key="census-7")
    draft = terms.draft(lambda group, at: effect)      # to be submitted within the sequencer
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.changes import Request
from kernel.writing.submitting import Draft, Submission

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.access import Principal
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Iri
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.net_effect import NetEffect, Since


@dataclass(frozen=True, slots=True)
class Terms:
    """What is said of a write beside its content.

    Args:
        principal: who asks.
        since: from when on it holds; None for the issue instant.
        reason: for the people who will read the certificate.
        episode: the source that its facts cite.
        key: the idempotency key, if any.
        body_digest: SHA-256 of what was sent.
        dry_run: judge only; nothing is signed or kept.
    """

    principal: Principal
    since: Since | None = None
    reason: str | None = None
    episode: Iri | None = None
    key: str | None = None
    body_digest: bytes = b""
    dry_run: bool = False

    def draft(self, effect: Callable[[Group, Instant], NetEffect]) -> Draft:
        """The request to make of a net effect."""

        def request(group: Group, at: Instant) -> Request | None:
            return self._request(effect(group, at), group.tx, at)

        return Draft(request, self.principal, self.key, self.body_digest, self.dry_run)

    def submission(self, effect: NetEffect, view: LedgerView, at: Instant) -> Submission | None:
        """The same at the head of a view; None where there is nothing to change."""
        request = self._request(effect, view, at)
        if request is None:
            return None
        return Submission(request, self.principal, self.key, self.body_digest, self.dry_run)

    def _request(self, effect: NetEffect, view: LedgerView, at: Instant) -> Request | None:
        changes = effect.changes(view, at, self.since)
        return Request(changes, self.reason, self.episode, self.principal.id) if changes else None
