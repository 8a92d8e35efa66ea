"""Changes of the keys of a base that is open: by its one writer, between one group of writes and the next.

Rules
-----
* What is signed in one group is signed with one key. A rotation is a group of its own; the next is signed with the new
  key, and nobody waits for it longer than for any write.
* The new key is on the disk before the ledger names it, and takes the place of the old one after. What a kill or a
  failure leaves in between is finished, or dropped, by the next start or rotation (`bridge.signing.keys`).
* A commit that fails may be durable all the same: when it is tried again, the ledger says so.

Example
-------
::

    rotated = base.keys.rotate().result()
    base.keys.revoke(rotated.previous, since, RevocationReason.COMPROMISED).result()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.signing.keys import revocation
from certificates.key_events import KeyRotated
from certificates.keys import SigningKey
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from concurrent.futures import Future

    from bridge.signing.keys import KeyPlace
    from certificates.key_events import KeyRevoked
    from certificates.keys import VerifyingKey
    from certificates.revocation import RevocationReason
    from kernel.ports.outside import HostClock
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.issuing import Notary
    from kernel.writing.sequencer import Sequencer


class KeyChanges:
    """Changes keys.

    Args:
        notary: that signs for it.
        place: where its key lies.
        sequencer: its one writer.
        host: the host's clock.
    """

    def __init__(self, notary: Notary, place: KeyPlace, sequencer: Sequencer, host: HostClock) -> None:
        self._notary = notary
        self._place = place
        self._sequencer = sequencer
        self._host = host

    def rotate(self) -> Future[KeyRotated]:
        """From now on a new key signs; the future has the event that says so, once that is durable.

        It meets Conflict: the key is given from outside, as it is; LedgerUnavailable: the folder of the keys, or the
        ledger, cannot be written.
        """
        new = SigningKey.generate().under(self._notary.key.controller)
        told: list[KeyRotated] = []

        def rotated(group: Group) -> KeyRotated:
            if group.tx.signing_key() == new.public.multibase:
                return told[-1]  # the commit that was said to have failed did not
            self._place.settle(self._notary.key.public.multibase)
            self._place.keep(new)
            event = KeyRotated.signed(self._notary.base, self._notary.key, new, print_instant(group.instant()))
            told.append(event)
            group.tx.use_key(new.public.multibase, self._host.now())
            group.tx.append_event(event.encode())
            return event

        return self._sequencer.enqueue(rotated, alone=True, then=lambda _: self._take(new))

    def revoke(self, key: VerifyingKey, since: Instant, reason: RevocationReason) -> Future[KeyRevoked]:
        """A key that was rotated away is not to be trusted from an instant on; the future has the event.

        It meets Conflict: it is the key that signs, or was revoked before; InvalidParameter: the instant lies ahead;
        NotFound: the base never had that key.
        """

        def revoked(group: Group) -> KeyRevoked:
            base, signer = self._notary.base, self._notary.key
            event = revocation(group.tx, base, signer, key, since, reason, self._host.now())
            group.tx.append_event(event.encode())
            return event

        return self._sequencer.enqueue(revoked, alone=True)

    def _take(self, new: SigningKey) -> None:
        """The ledger names the new key: whatever is signed from now on is signed with it."""
        self._notary.key = new
        self._place.settle(new.public.multibase)
