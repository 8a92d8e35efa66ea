"""Keys of a base that change: what is signed with which, what a kill leaves, and what the audit makes of it."""

import stat
from pathlib import Path

import pytest

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.ledger.sqlite import SqliteLedger
from bridge.signing.keys import NEXT_KEY, SIGNING_KEY, key_history, revoke, rotate
from bridge.signing.log import LogReader
from bridge.upkeep.backup import back_up, restore
from bridge.upkeep.diagnosis import Grade, examine
from certificates.errors import WrongKey
from certificates.key_events import KeyRotated
from certificates.key_history import KeyHistory
from certificates.keys import SigningKey, VerifyingKey
from certificates.proof import verify
from certificates.revocation import RevocationReason
from kernel.changes import Assert
from kernel.errors import BaseInUse, Conflict, InvalidParameter, LedgerUnavailable, NotFound
from kernel.terms import Iri
from kernel.time.instants import DAY, Instant, print_instant
from tests.bridge.auditing.history import asked, audit_ledger, copy, edit, places
from tests.bridge.writing import (
    ANN,
    NOON,
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    SetClock,
    WatchedLedger,
    WatchedTransaction,
    living,
    unavailable,
    write,
)

REASON = RevocationReason.COMPROMISED


def wrote(data: Path, clock: SetClock, *cities: Iri) -> list[bytes]:
    """Opens the base, writes a fact each, and answers the signed certificates."""
    documents = []
    with Base.open(data, host=clock) as base:
        for city in cities:
            certificate = write(base, Assert(living(city))).certificate
            assert certificate is not None
            with base.ledger.reading() as view:
                record = view.certificate(certificate)
            assert record is not None
            documents.append(record.document)
    return documents


def public(data: Path) -> VerifyingKey:
    return SigningKey.load(data / SIGNING_KEY).public


def checkpoint(data: Path, clock: SetClock) -> str:
    with Base.open(data, host=clock) as base:
        return LogReader(base.ledger, base.key).checkpoint()


def history(data: Path) -> KeyHistory:
    ledger = SqliteLedger.open(data / "ledger.sqlite")
    try:
        return key_history(ledger)
    finally:
        ledger.close()


@pytest.fixture(scope="module")
def rotated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, list[KeyRotated], list[bytes]]:
    """A base that had three keys, a checkpoint by the first, its rotations and a certificate by each key."""
    data, clock = tmp_path_factory.mktemp("keys") / "base", SetClock()
    documents = wrote(data, clock, PARIS)
    note = checkpoint(data, clock)
    events = []
    for city in (ROME, OSLO):
        clock.move(DAY)
        events.append(rotate(data, clock))
        documents += wrote(data, clock, city)
    return data, note, events, documents


@pytest.fixture
def base(rotated: tuple[Path, str, list[KeyRotated], list[bytes]], tmp_path: Path) -> Path:
    return copy(rotated[0], tmp_path / "base")


@pytest.fixture
def clock() -> SetClock:
    return SetClock(Instant(NOON + 3 * DAY))


# --- rotation ---------------------------------------------------------------------------------------------------------


def test_each_key_signs_from_its_rotation_on(
    rotated: tuple[Path, str, list[KeyRotated], list[bytes]], base: Path
) -> None:
    _, _, events, documents = rotated
    keys = [events[0].previous, events[0].key, events[1].key]
    assert len(set(keys)) == 3
    assert events[1].previous == keys[1]
    assert public(base) == keys[2]
    assert [held.key for held in history(base).keys] == keys
    for number, document in enumerate(documents):
        assert verify(document, keys[number]).issuer == keys[number].did
        with pytest.raises(WrongKey):
            verify(document, keys[number - 1])


def test_the_new_key_is_its_owners_alone_and_the_old_one_is_gone(base: Path) -> None:
    assert stat.S_IMODE((base / SIGNING_KEY).stat().st_mode) == 0o600
    assert {path.name for path in (base / "keys").iterdir()} == {"signing.key", "tombstone.key"}


def test_a_base_that_is_served_is_not_rotated(base: Path, clock: SetClock) -> None:
    key = public(base)
    with Base.open(base, host=clock), pytest.raises(BaseInUse):
        rotate(base, clock)
    assert public(base) == key


def test_a_kill_after_the_event_is_finished_by_the_next_start(
    base: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = public(base)
    with monkeypatch.context() as patched:
        patched.setattr("bridge.signing.keys.take_place", _fail)
        with pytest.raises(LedgerUnavailable, match="full"):
            rotate(base, clock)
    assert public(base) == old
    assert (base / NEXT_KEY).exists()
    [told] = [each for each in examine(base, clock) if each.check == "key"]
    assert (told.grade, "interrupted" in told.what) == (Grade.WARN, True)
    with pytest.raises(Conflict, match="changed meanwhile"):
        back_up(base, base.with_name("backup"))
    checkpoint(base, clock)
    assert public(base) == history(base).current != old
    assert not (base / NEXT_KEY).exists()
    assert audit(base).faults == ()


def test_a_kill_before_the_event_leaves_the_old_key(
    base: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = public(base)
    with monkeypatch.context() as patched:
        patched.setattr(SqliteLedger, "use_key", _fail)
        with pytest.raises(LedgerUnavailable, match="full"):
            rotate(base, clock)
    assert (base / NEXT_KEY).exists()
    checkpoint(base, clock)
    assert public(base) == history(base).current == old
    assert not (base / NEXT_KEY).exists()
    assert rotate(base, clock).previous == old


def _fail(*_: object, **__: object) -> None:
    raise OSError(28, "the disk is full")


def test_a_backup_of_several_keys_is_restored(base: Path, clock: SetClock) -> None:
    back_up(base, base.with_name("backup"))
    restore(base.with_name("backup"), base.with_name("restored"), checkpoint(base, clock))
    assert history(base.with_name("restored")) == history(base)


# --- revocation -------------------------------------------------------------------------------------------------------


def test_a_key_that_was_rotated_away_is_revoked_once(base: Path, clock: SetClock) -> None:
    key, since = history(base).keys[0].key, Instant(NOON + DAY)
    event = revoke(base, key, since, REASON, clock)
    assert (event.key, event.since, event.by) == (key, print_instant(since), public(base))
    assert [held.revoked for held in history(base).keys] == [event, None, None]
    with pytest.raises(Conflict, match="before"):
        revoke(base, key, since, REASON, clock)
    assert audit(base).faults == ()


def test_what_cannot_be_revoked_is_told(base: Path, clock: SetClock) -> None:
    size = asked(base, "SELECT count(*) FROM events")
    with pytest.raises(Conflict, match="signs with this key"):
        revoke(base, public(base), NOON, REASON, clock)
    with pytest.raises(NotFound):
        revoke(base, SigningKey.generate().public, NOON, REASON, clock)
    with pytest.raises(InvalidParameter, match="ahead"):
        revoke(base, history(base).keys[0].key, Instant(clock.now() + 1), REASON, clock)
    assert asked(base, "SELECT count(*) FROM events") == size


# --- audit ------------------------------------------------------------------------------------------------------------


def test_a_base_of_several_keys_is_sound_to_whoever_knows_any_of_them(
    rotated: tuple[Path, str, list[KeyRotated], list[bytes]], base: Path
) -> None:
    _, note, events, documents = rotated
    for key in (None, events[0].previous, events[0].key, events[1].key):
        found = audit(base, key, note)
        assert found.faults == ()
        assert found.counts.signatures == len(documents)
    assert "keys" in places(audit(base, SigningKey.generate().public))


def test_a_checkpoint_by_an_old_key_after_its_time_is_refused(
    rotated: tuple[Path, str, list[KeyRotated], list[bytes]], tmp_path: Path, clock: SetClock
) -> None:
    """Whoever stole a key that was rotated away signs nothing with it that is believed."""
    data, thief = tmp_path / "base", SetClock()
    wrote(data, thief, PARIS)
    old = SigningKey.load(data / SIGNING_KEY)
    rotate(data, thief)
    with Base.open(data, host=clock) as opened:
        write(opened, Assert(living(ROME, ANN)))
        note = LogReader(opened.ledger, old).checkpoint()
    assert places(audit(data, None, note)) == {"checkpoint"}
    edit(data, "UPDATE certificates SET document = ? WHERE id = (SELECT max(id) FROM certificates)", b"{}")
    assert not audit(data).sound


def test_a_rotation_that_was_made_up_or_taken_out_is_named(
    rotated: tuple[Path, str, list[KeyRotated], list[bytes]], base: Path
) -> None:
    events, key = rotated[2], public(base)
    stranger, last = SigningKey.generate(), history(base).keys[-2].rotated
    assert last is not None
    forged = KeyRotated.signed(events[1].base, stranger, SigningKey.generate(), events[1].at)
    half = KeyRotated(forged.base, key, stranger.public, forged.at, forged.endorsed, forged.accepted)
    for number, data in enumerate((forged.encode(), half.encode())):
        other = copy(base, base.with_name(f"forged{number}"))
        edit(other, "UPDATE events SET event = ? WHERE position = ?", data, last)
        assert f"events {last}" in places(audit_ledger(other))


# --- while it is open -------------------------------------------------------------------------------------------------


def test_a_rotation_whose_commit_fails_leaves_the_old_key(tmp_path: Path, watched: None, clock: SetClock) -> None:
    with Base.open(tmp_path / "open", host=clock) as opened:
        old = opened.key
        WatchedLedger.of(opened).before_commit.extend([unavailable, unavailable])
        with pytest.raises(LedgerUnavailable):
            opened.keys.rotate().result(PATIENCE)
        assert opened.key == old
        write(opened, Assert(living(PARIS)))
        assert opened.keys.rotate().result(PATIENCE).previous == old.public
        assert opened.key.public == public(tmp_path / "open") != old.public


def test_a_commit_that_was_done_though_it_failed_is_found_so(tmp_path: Path, watched: None, clock: SetClock) -> None:
    """The disk took it and said that it did not: the second attempt sees that the key has changed."""
    with Base.open(tmp_path / "open", host=clock) as opened:
        old, commit = opened.key, WatchedTransaction.commit

        def doubtful(self: WatchedTransaction) -> None:
            commit(self)
            WatchedTransaction.commit = commit  # type: ignore[method-assign]
            unavailable()

        WatchedTransaction.commit = doubtful  # type: ignore[method-assign]
        event = opened.keys.rotate().result(PATIENCE)
        assert (event.previous, event.key) == (old.public, opened.key.public)
        write(opened, Assert(living(PARIS)))
    assert audit(tmp_path / "open").faults == ()


def test_a_key_whose_place_cannot_be_taken_signs_and_is_in_its_place_after_the_next_start(
    tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Base.open(tmp_path / "open", host=clock) as opened:
        with monkeypatch.context() as patched:
            patched.setattr("bridge.signing.keys.take_place", _fail)
            event = opened.keys.rotate().result(PATIENCE)
        assert opened.key.public == event.key != public(tmp_path / "open")
        write(opened, Assert(living(PARIS)))
    wrote(tmp_path / "open", clock, ROME)
    assert public(tmp_path / "open") == event.key
    assert audit(tmp_path / "open").faults == ()
