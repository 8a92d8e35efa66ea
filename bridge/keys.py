"""The keys of a base: the one that it signs with, another one in its place, and one that is not to be trusted any more.

Rules
-----
* The signing key is a file that its owner alone can read. One that is gone, or is another than the ledger names, is
  never replaced in silence.
* A rotation is one transaction of the ledger: the event, signed with both keys, and the name of the key that signs from
  then on. The new key lies in a file beside the old one before, and takes its place after; whoever opens the base
  finishes, or drops, what a kill interrupted. The old private key is gone then: nothing needs it any more.
* A revocation is an event alone. The key that signs cannot be revoked: it is rotated away first.
* Both hold the base, which must not be served meanwhile.

Example
-------
::

    rotation = rotate(Path("data"), SystemClock())
    revoke(Path("data"), rotation.previous, since, RevocationReason.COMPROMISED, SystemClock())
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from bridge.ledger.sqlite import SqliteLedger
from bridge.lock import DirectoryLock
from certificates.errors import CertificateError
from certificates.events import decode_event
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.key_history import KeyHistory
from certificates.key_set import key_set
from certificates.keys import SigningKey, VerifyingKey, take_place
from kernel.errors import Conflict, DamagedBase, InvalidParameter, LedgerUnavailable, NotFound
from kernel.instants import print_instant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from certificates.events import KeyEvent
    from certificates.key_set import KeySet
    from certificates.revocation import RevocationReason
    from kernel.instants import Instant
    from kernel.ports import HostClock, Ledger

SIGNING_KEY: Final = "keys/signing.key"
NEXT_KEY: Final = "keys/next.key"


def signing_key(directory: Path | None, ledger: Ledger) -> SigningKey:
    """The base's key, made with the base; a rotation that a kill interrupted is finished.

    Raises:
        DamagedBase: it cannot be read, or is another than the ledger names.
        LedgerUnavailable: the folder of the keys cannot be written.
    """
    known = ledger.signing_key()
    path = directory and directory / SIGNING_KEY
    try:
        if directory is not None and known is not None:
            _finish(directory, known)
        if path is not None and (known is not None or path.exists()):
            key = SigningKey.load(path)
        else:
            key = SigningKey.generate()
            if path is not None:
                key.save(path)
    except CertificateError as error:
        raise DamagedBase(error.message, remedy=error.remedy, where=str(path)) from error
    if known is None:
        ledger.use_key(key.public.multibase)
    elif known != key.public.multibase:
        raise DamagedBase(
            f"this is not the key that the base signs with, {known}",
            remedy="put that one back from a backup",
            where=str(path),
        )
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
        logged = view.key_events()
    try:
        events = [(position, decode_event(event)) for position, event in logged]
        told = [(position, event) for position, event in events if isinstance(event, KeyRotated | KeyRevoked)]
        last = VerifyingKey.from_multikey(ledger.signing_key() or "")
        return KeyHistory.follow(told, ledger.base_id(), last), told
    except CertificateError as error:
        raise DamagedBase(error.message, remedy="audit the base", where=error.where) from error


def rotate(directory: Path, host: HostClock) -> KeyRotated:
    """From now on a new key signs. Answers the event that says so.

    Raises:
        BaseInUse: the base is being served.
        DamagedBase: its key, or what the ledger says of it, cannot be relied upon.
        LedgerUnavailable: ledger or key cannot be written; then the old key goes on.
    """
    with _held(directory, host) as ledger:
        old, new = signing_key(directory, ledger), SigningKey.generate()
        event = KeyRotated.signed(ledger.base_id(), old, new, print_instant(host.now()))
        try:
            new.save(directory / NEXT_KEY)
            ledger.use_key(new.public.multibase, event.encode())
            take_place(directory / NEXT_KEY, of=directory / SIGNING_KEY)
        except OSError as error:
            raise _unwritable(directory, error) from error
    return event


def revoke(directory: Path, key: VerifyingKey, since: Instant, reason: RevocationReason, host: HostClock) -> KeyRevoked:
    """A key that was rotated away is not to be trusted from an instant on. Answers the event that says so.

    Raises:
        Conflict: it is the key that signs, or was revoked before.
        InvalidParameter: the instant lies ahead.
        NotFound: the base never had that key.
        BaseInUse, DamagedBase, LedgerUnavailable: as `rotate`.
    """
    with _held(directory, host) as ledger:
        signer, now = signing_key(directory, ledger), host.now()
        _require_revocable(key_history(ledger), key)
        if since > now:
            raise InvalidParameter("it lies ahead", remedy="give the first instant of doubt", where="since")
        event = KeyRevoked.signed(
            ledger.base_id(), key, print_instant(since), reason, signer, print_instant(now)
        )  # fmt: skip
        with ledger.transaction() as transaction:
            transaction.append_event(event.encode())
            transaction.commit()
    return event


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
        opened.enter_context(DirectoryLock(directory / "lock"))
        ledger = SqliteLedger.open(directory / "ledger.sqlite", host)
        opened.callback(ledger.close)
        ledger.require_sound()
        yield ledger


def _finish(directory: Path, known: str) -> None:
    """Brings the file of the key that the ledger names to its place, and drops one that never came to sign."""
    following, path = directory / NEXT_KEY, directory / SIGNING_KEY
    if not following.exists():
        return
    try:
        if SigningKey.load(following).public.multibase == known:
            take_place(following, of=path)
        else:
            following.unlink()
    except OSError as error:
        raise _unwritable(directory, error) from error


def _unwritable(directory: Path, error: OSError) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"the folder of the keys cannot be written: {error.strerror}",
        remedy="check the disk and who may write there",
        where=str(directory / SIGNING_KEY),
    )
