"""The keys of a base: the one that it signs with, and what its log tells of those before.

Rules
-----
* The signing key is a file that its owner alone can read: made with the base, in its folder; or given, elsewhere. Or it
  is given as it is, and lies in no file. One that is gone, or is another than the ledger names, is never replaced in
  silence.
* A rotation is one transaction of the ledger: the event, signed with both keys, and the name of the key that signs from
  then on. The new key lies in a file beside the old one before, and takes its place after; whoever opens the base
  finishes, or drops, what a kill interrupted. The old private key is gone then: nothing needs it any more.
* A revocation is an event alone. The key that signs cannot be revoked: it is rotated away first.
* Here both hold the base. While it is served, it does both itself (`bridge.signing.changes`).

Example
-------
::

    rotation = rotate(Path("data"), SystemClock())
    revoke(Path("data"), rotation.previous, since, RevocationReason.COMPROMISED, SystemClock())
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from bridge.ledger.sqlite import SqliteLedger
from bridge.lock import DirectoryLock
from certificates.errors import CertificateError, UnreadableKey
from certificates.events import decode_event
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.key_history import KeyHistory
from certificates.key_set import key_set
from certificates.keys import SigningKey, VerifyingKey, take_place
from kernel.errors import BaseInUse, Conflict, DamagedBase, InvalidParameter, LedgerUnavailable, NotFound
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from certificates.events import KeyEvent
    from certificates.key_set import KeySet
    from certificates.revocation import RevocationReason
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.outside import HostClock
    from kernel.time.instants import Instant

SIGNING_KEY: Final = "keys/signing.key"
NEXT_KEY: Final = "keys/next.key"

GivenKey = SigningKey | Path
"""A key from outside of the base, or the file that it lies in."""


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where the signing key of a base lies.

    Args:
        path: its file; None: it is in none.
        following: the file of the key that is to take its place, in the same folder.
        given: the key itself, if it is in no file.
        made: whether the file is made with the base.
    """

    path: Path | None
    following: Path | None
    given: SigningKey | None = None
    made: bool = False

    @classmethod
    def of(cls, directory: Path | None, given: GivenKey | None = None) -> Self:
        """The place of the key of a base in a directory, or in memory."""
        if isinstance(given, SigningKey):
            return cls(None, None, given)
        if given is not None:
            return cls(given, given.with_name(f"{given.name}.next"))
        if directory is None:
            return cls(None, None, made=True)
        return cls(directory / SIGNING_KEY, directory / NEXT_KEY, made=True)

    def load(self) -> SigningKey:
        """The key that is there. Raises `UnreadableKey`, also for a base in memory, whose key is nowhere."""
        if self.given is not None:
            return self.given
        if self.path is None:
            raise UnreadableKey("it lies in no file", remedy="ask the base itself")
        return SigningKey.load(self.path)

    def keep(self, new: SigningKey) -> None:
        """Keeps a key that is to sign, beside the one that signs.

        Raises:
            Conflict: the key is given as it is.
            LedgerUnavailable: its folder cannot be written.
        """
        if self.given is not None:
            raise Conflict(
                "the signing key is given to the service as it is, and a new one could be kept nowhere",
                remedy="put the key into a file, name that with MUNIMENT_SIGNING_KEY_FILE, and rotate then",
            )
        try:
            if self.following is not None:
                new.save(self.following)
        except OSError as error:
            raise self._unwritable(error) from error

    def settle(self, known: str) -> None:
        """Brings the key that the ledger names to its place, and drops one that never came to sign.

        Raises:
            LedgerUnavailable: its folder cannot be written.
            UnreadableKey: the key that is kept cannot be read.
        """
        if self.path is None or self.following is None or not self.following.exists():
            return
        try:
            if SigningKey.load(self.following).public.multibase == known:
                take_place(self.following, of=self.path)
            else:
                self.following.unlink()
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"the folder of the keys cannot be written: {error.strerror}",
            remedy="check the disk and who may write there",
            where=str(self.path),
        )


def signing_key(place: KeyPlace, ledger: Ledger) -> SigningKey:
    """The base's key, made with the base unless it is given; a rotation that a kill interrupted is finished.

    Raises:
        DamagedBase: it cannot be read, or is another than the ledger names.
        LedgerUnavailable: the folder of the keys cannot be written.
    """
    known = ledger.signing_key()
    try:
        if known is not None:
            place.settle(known)
        key = _found(place, known)
    except CertificateError as error:
        raise DamagedBase(error.message, remedy=error.remedy, where=str(place.path)) from error
    if known is None:
        ledger.use_key(key.public.multibase)
    elif known != key.public.multibase:
        raise DamagedBase(
            f"this is not the key that the base signs with, {known}",
            remedy="give that one" if place.given is not None else "put that one back from a backup",
            where=None if place.path is None else str(place.path),
        )
    return key


def _found(place: KeyPlace, known: str | None) -> SigningKey:
    if place.given is not None:
        return place.given
    if place.path is not None and (known is not None or not place.made or place.path.exists()):
        return SigningKey.load(place.path)
    key = SigningKey.generate()
    if place.path is not None:
        key.save(place.path)
    return key


def key_history(ledger: Ledger) -> KeyHistory:
    """All keys of a base, as its log tells of them.

    Raises:
        DamagedBase: the log contradicts itself, or the name of the key that signs.
        LedgerUnavailable: it cannot be read.
    """
    return _read(ledger)[0]


def published_keys(ledger: Ledger) -> KeySet:
    """What others are told of the keys of a base. Raises as `key_history` does."""
    return key_set(*_read(ledger))


def _read(ledger: Ledger) -> tuple[KeyHistory, list[tuple[int, KeyEvent]]]:
    with ledger.reading() as view:
        return history_in(view, ledger.base_id())


def history_in(view: LedgerView, base: UUID) -> tuple[KeyHistory, list[tuple[int, KeyEvent]]]:
    """The keys of a base as of a view, and the events that tell of them. Raises `DamagedBase`."""
    try:
        events = [(position, decode_event(event)) for position, event in view.key_events()]
        told = [(position, event) for position, event in events if isinstance(event, KeyRotated | KeyRevoked)]
        last = VerifyingKey.from_multikey(view.signing_key() or "")
        return KeyHistory.follow(told, base, last), told
    except CertificateError as error:
        raise DamagedBase(error.message, remedy="audit the base", where=error.where) from error


def rotate(directory: Path, host: HostClock, given: GivenKey | None = None) -> KeyRotated:
    """From now on a new key signs. Answers the event that says so.

    Args:
        directory: of the base, which nobody serves.
        host: the host's clock.
        given: the key of the base, or its file, if it is not in its directory.

    Raises:
        BaseInUse: the base is being served.
        Conflict: the key is given as it is.
        DamagedBase: its key, or what the ledger says of it, cannot be relied upon.
        LedgerUnavailable: ledger or key cannot be written; then the old key goes on.
    """
    place = KeyPlace.of(directory, given)
    with _held(directory, host) as ledger:
        old, new = signing_key(place, ledger), SigningKey.generate()
        event = KeyRotated.signed(ledger.base_id(), old, new, print_instant(host.now()))
        place.keep(new)
        try:
            ledger.use_key(new.public.multibase, event.encode())
        except OSError as error:
            raise LedgerUnavailable(
                f"the ledger cannot be written: {error.strerror}", remedy="check the disk"
            ) from error
        place.settle(new.public.multibase)
    return event


def revoke(
    directory: Path,
    key: VerifyingKey,
    since: Instant,
    reason: RevocationReason,
    host: HostClock,
    given: GivenKey | None = None,
) -> KeyRevoked:
    """A key that was rotated away is not to be trusted from an instant on. Answers the event that says so.

    Raises:
        Conflict: it is the key that signs, or was revoked before.
        InvalidParameter: the instant lies ahead.
        NotFound: the base never had that key.
        BaseInUse, DamagedBase, LedgerUnavailable: as `rotate`.
    """
    with _held(directory, host) as ledger:
        signer, base = signing_key(KeyPlace.of(directory, given), ledger), ledger.base_id()
        with ledger.transaction() as transaction:
            event = revocation(transaction, base, signer, key, since, reason, host.now())
            transaction.append_event(event.encode())
            transaction.commit()
    return event


def revocation(
    view: LedgerView,
    base: UUID,
    signer: SigningKey,
    key: VerifyingKey,
    since: Instant,
    reason: RevocationReason,
    now: Instant,
) -> KeyRevoked:
    """The event that a key is revoked, if it may be; raises as `revoke` does."""
    _require_revocable(history_in(view, base)[0], key)
    if since > now:
        raise InvalidParameter("it lies ahead", remedy="give the first instant of doubt", where="since")
    return KeyRevoked.signed(base, key, print_instant(since), reason, signer, print_instant(now))


def _require_revocable(history: KeyHistory, key: VerifyingKey) -> None:
    held = history.held(key.did)
    if held is None:
        raise NotFound("the base never signed with this key", remedy="see `muniment key list`", where=key.multibase)
    if held.rotated is None:
        raise Conflict(
            "the base signs with this key", remedy="run `muniment key rotate` first, then this", where=key.multibase
        )
    if held.revoked is not None:
        raise Conflict(
            f"the key was revoked before, since {held.revoked.since}",
            remedy="nothing is left to do",
            where=key.multibase,
        )


@contextmanager
def _held(directory: Path, host: HostClock) -> Iterator[SqliteLedger]:
    """The ledger of a base that nobody else holds meanwhile."""
    with ExitStack() as opened:
        try:
            opened.enter_context(DirectoryLock(directory / "lock"))
        except BaseInUse as error:
            raise BaseInUse(
                error.message,
                remedy="ask the service that holds it: --url http://HOST:PORT, with an administrator's token",
            ) from error
        ledger = SqliteLedger.open(directory / "ledger.sqlite", host)
        opened.callback(ledger.close)
        ledger.require_sound()
        yield ledger
