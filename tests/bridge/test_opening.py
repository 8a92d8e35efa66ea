"""Opening a base again: what was there is there, what was left undone is done, and what does not fit is not served."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.commands.application import app
from bridge.base import Base
from bridge.ledger.seal import Seal
from bridge.signing.keys import SIGNING_KEY
from bridge.stores.errors import open_store
from bridge.stores.pair import rebuild, same_quads
from bridge.stores.projections import Projection
from certificates.keys import SigningKey
from kernel.changes import Assert, End
from kernel.errors import BaseInUse, ClockAhead, DamagedBase, IdempotencyMismatch, LedgerUnavailable, StoreUnavailable
from kernel.ports.records import CertificateState
from kernel.time.instants import DAY, SECOND
from kernel.time.timevalues import exact
from tests.bridge.audit import audit
from tests.bridge.writing import (
    ADMINISTRATOR,
    DOUBTED,
    HOUR,
    NOON,
    OSLO,
    PARIS,
    ROME,
    SetClock,
    WatchedStores,
    decide,
    during,
    homes,
    living,
    one_home,
    write,
    year,
)

pytestmark = pytest.mark.usefixtures("watched")


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


def opened(folder: Path, clock: SetClock) -> Base:
    return Base.open(folder / "base", host=clock)


def test_everything_is_there_after_reopening(tmp_path: Path, clock: SetClock) -> None:
    with opened(tmp_path, clock) as base:
        write(base, Assert(living(PARIS)), key="k")
        write(base, Assert(living(ROME), confidence=DOUBTED))
        before = audit(base)
    with opened(tmp_path, clock) as base:
        assert audit(base) == before
        assert homes(base) == {PARIS}


def test_idempotent_after_reopening(tmp_path: Path, clock: SetClock) -> None:
    with opened(tmp_path, clock) as base:
        first = write(base, Assert(living(PARIS)), key="k")
    with opened(tmp_path, clock) as base:
        assert write(base, Assert(living(PARIS)), key="k") == first
        with pytest.raises(IdempotencyMismatch):
            write(base, Assert(living(ROME)), key="k")
        assert len(audit(base).certificates) == 1


def test_bound_to_state_a_certificate_is_decided_after_reopening(tmp_path: Path, clock: SetClock) -> None:
    with opened(tmp_path, clock) as base:
        waiting = write(base, Assert(living(PARIS), confidence=DOUBTED))
    with opened(tmp_path, clock) as base:
        assert decide(base, waiting.certificate).state is CertificateState.APPLIED
        audit(base)


def test_what_fell_due_while_the_base_was_closed_has_moved_once_it_is_opened(tmp_path: Path, clock: SetClock) -> None:
    with opened(tmp_path, clock) as base:
        write(base, Assert(living(PARIS), during(None, NOON + HOUR)))
        write(base, Assert(living(ROME), during(NOON + HOUR, NOON + 2 * HOUR)))
    for there in ({ROME}, set()):
        clock.move(HOUR)
        with opened(tmp_path, clock) as base:
            assert homes(base) == there
            assert audit(base).head.clock == clock.at


def test_clock_monotonic_a_base_ahead_of_the_host_does_not_start_unless_that_is_accepted(
    tmp_path: Path, clock: SetClock
) -> None:
    with opened(tmp_path, clock) as base:
        write(base, Assert(living(PARIS)))
    clock.move(-5 * SECOND)
    with opened(tmp_path, clock) as base:
        write(base, Assert(living(ROME)))
    clock.move(-5 * SECOND)
    with pytest.raises(ClockAhead, match="10 s ahead"):
        opened(tmp_path, clock)
    with Base.open(tmp_path / "base", host=clock, accept_clock=True) as base:
        write(base, Assert(living(OSLO)))
        instants = [fact.recorded_at for fact in audit(base).facts]
    assert instants == [NOON, NOON + 1, NOON + 2]


def test_clock_monotonic_a_clock_ahead_of_the_host_counts_also_when_nothing_was_written(
    tmp_path: Path, clock: SetClock
) -> None:
    clock.move(DAY)
    opened(tmp_path, clock).close()
    clock.move(-DAY)
    with pytest.raises(ClockAhead):
        opened(tmp_path, clock)


def test_both_stores_equal_a_fresh_rebuild(tmp_path: Path, clock: SetClock) -> None:
    with opened(tmp_path, clock) as base:
        write(base, Assert(living(PARIS), during(2000, 2010)), *map(Assert, map(living, (ROME, OSLO))))
        write(base, End(living(ROME), exact(year(2020))), Assert(living(PARIS), during(2005, 2015)))
        write(base, *one_home(), by=ADMINISTRATOR)
        with base.ledger.reading() as view:
            rebuild(view, tmp_path / "anew")
        for projection in Projection:
            assert base.stores.read(projection, partial(same_quads, open_store(tmp_path / "anew" / projection)))[0]


def test_stores_that_were_behind_on_closing_are_brought_up_on_opening(
    tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernel.writing.sequencer.LONGEST_WAIT", 3_600.0)
    with opened(tmp_path, clock) as base:
        write(base, Assert(living(PARIS)))
        WatchedStores.of(base).failures.append(StoreUnavailable("no room", remedy="make room"))
        write(base, End(living(PARIS), exact(year(2020))), Assert(living(ROME)))
        assert base.behind
    with opened(tmp_path, clock) as base:
        assert not base.behind
        assert homes(base) == {ROME}
        audit(base)


def test_stores_that_are_gone_are_made_anew(tmp_path: Path, clock: SetClock) -> None:
    with opened(tmp_path, clock) as base:
        write(base, Assert(living(PARIS)))
    shutil.rmtree(tmp_path / "base" / "stores")
    with opened(tmp_path, clock) as base:
        assert homes(base) == {PARIS}
        audit(base)


@pytest.mark.parametrize("damaged", ["complete/*.sst", "current/*.sst", "sealed.json"])
def test_stores_whose_files_were_damaged_while_closed_are_refused_by_name_until_they_are_deleted(
    tmp_path: Path, clock: SetClock, damaged: str
) -> None:
    """The engine would tell of a block that it cannot read for ever, and sorting or counting that takes all memory."""
    with opened(tmp_path, clock) as base:
        write(base, Assert(living(PARIS)))
    stores = tmp_path / "base" / "stores"
    file = max(stores.glob(damaged))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x80
    file.write_bytes(content)
    with pytest.raises(DamagedBase, match=re.escape(file.name)):
        opened(tmp_path, clock)
    shutil.rmtree(stores)
    with opened(tmp_path, clock) as base:
        assert homes(base) == {PARIS}


def test_two_do_not_hold_a_base_at_once(tmp_path: Path, clock: SetClock) -> None:
    with opened(tmp_path, clock), pytest.raises(BaseInUse):
        opened(tmp_path, clock)
    opened(tmp_path, clock).close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, clock: SetClock) -> None:
    (tmp_path / "base").write_text("a file")
    with pytest.raises(LedgerUnavailable, match="data folder"):
        opened(tmp_path, clock)


def test_a_signing_key_that_is_gone_or_another_is_not_replaced(tmp_path: Path, clock: SetClock) -> None:
    path = tmp_path / "base" / SIGNING_KEY
    with opened(tmp_path, clock) as base:
        key = base.key
    path.rename(tmp_path / "kept")
    with pytest.raises(DamagedBase, match="No such file"):
        opened(tmp_path, clock)
    SigningKey.generate().save(path)
    with pytest.raises(DamagedBase, match=key.public.multibase):
        opened(tmp_path, clock)
    (tmp_path / "kept").replace(path)
    with opened(tmp_path, clock) as base:
        assert base.key == key


# --- what opening can see of a ledger that was tampered with (case 33) ------------------------------------------------

TAMPERED = {
    "last event deleted": (
        "DELETE FROM events WHERE position = (SELECT max(position) FROM events)",
        "its log ends at position 4, before its head, 5",
    ),
    "log truncated": ("DELETE FROM events WHERE position > 1", "its log ends at position 1, before its head, 5"),
    "log emptied": ("DELETE FROM events", "its log is empty"),
    "beginning deleted": ("DELETE FROM events WHERE position = 0", "its log begins at position 1"),
    "gap after the head": (
        "INSERT INTO events SELECT 9, event, leaf FROM events WHERE position = 0",
        "its log has gaps after position 5",
    ),
    "a byte of the event": (
        "UPDATE events SET event = CAST(replace(CAST(event AS TEXT), 'applied', 'appliee') AS BLOB) WHERE position = 5",
        "the event at its head, 5, is not the one that was logged",
    ),
    "another event at the head": (
        "UPDATE events SET (event, leaf) = (SELECT event, leaf FROM events WHERE position = 4) WHERE position = 5",
        "nothing was applied at its head, 5",
    ),
    "an earlier apply at the head": (
        "UPDATE events SET (event, leaf) = (SELECT event, leaf FROM events WHERE position = 3) WHERE position = 5",
        "its head, 5, was applied at",
    ),
    "head set back": (
        "UPDATE state SET position = 3, instant = (SELECT instant FROM certificates WHERE head = 3)",
        "its state digest is not the one that was logged at its head, 3",
    ),
    "head in between": ("UPDATE state SET position = 4", "nothing was applied at its head, 4"),
    "no head": ("UPDATE state SET position = NULL, instant = NULL", "applied at 5, and it has no head"),
    "head beyond the log": ("UPDATE state SET position = 12", "its log ends at position 5, before its head, 12"),
    "another digest": (
        "UPDATE state SET digest = zeroblob(2048)",
        "its state digest is not the one that was logged at its head, 5",
    ),
    "clock set back": ("UPDATE state SET clock = instant - 1", "its clock stands before its head, 5"),
    "a certificate deleted": (
        "DELETE FROM certificates WHERE head = 5",
        "the last certificate applied is",
    ),
    "no state": ("DELETE FROM state", "the ledger has no head"),
}


def unseal(path: Path) -> None:
    """As somebody does who changes a ledger and would not have it seen at once."""
    Seal(path / "ledger.sqlite").path.unlink()


@pytest.mark.parametrize("tampering", TAMPERED)
def test_a_ledger_that_was_tampered_with_is_not_served(tmp_path: Path, tampering: str) -> None:
    path = tmp_path / "base"
    with Base.open(path, host=SetClock()) as base:
        for home in (PARIS, ROME, OSLO):
            write(base, Assert(living(home)))
    statement, told = TAMPERED[tampering]
    unseal(path)
    with closing(sqlite3.connect(path / "ledger.sqlite")) as connection, connection:
        assert connection.execute(statement).rowcount
    with pytest.raises(DamagedBase, match=re.escape(told)) as caught:
        Base.open(path, host=SetClock())
    assert "backup" in caught.value.remedy
    rebuilding = CliRunner().invoke(app, ["rebuild", "--data", str(path), "--into", str(tmp_path / "anew")])
    assert rebuilding.exit_code == 1
    assert not (tmp_path / "anew").exists()


@pytest.mark.parametrize("since", ["written to", "opened"])
def test_a_ledger_that_is_older_than_its_stores_is_not_served(tmp_path: Path, since: str) -> None:
    path = tmp_path / "base"
    clock = SetClock()
    with Base.open(path, host=clock) as base:
        write(base, Assert(living(PARIS)))
    shutil.copy(path / "ledger.sqlite", tmp_path / "yesterday")
    clock.move(DAY)
    with Base.open(path, host=clock) as base:
        if since == "written to":
            write(base, Assert(living(ROME)))
    unseal(path)
    shutil.copy(tmp_path / "yesterday", path / "ledger.sqlite")
    with pytest.raises(DamagedBase, match="ahead of the ledger"):
        Base.open(path, host=clock)


def test_stores_of_another_course_of_the_same_ledger_are_not_served(tmp_path: Path) -> None:
    """The ledger went back to yesterday and was written to elsewhere: it is ahead, and yet knows less."""
    path, elsewhere = tmp_path / "base", tmp_path / "elsewhere"
    clock = SetClock()
    with Base.open(path, host=clock) as base:
        write(base, Assert(living(PARIS)))
    shutil.copytree(path, elsewhere)
    clock.move(HOUR)
    with Base.open(path, host=clock) as base:
        write(base, Assert(living(ROME)))
    clock.move(HOUR)
    with Base.open(elsewhere, host=clock) as base:
        write(base, Assert(living(OSLO)))
    unseal(path)
    shutil.copy(elsewhere / "ledger.sqlite", path / "ledger.sqlite")
    with pytest.raises(DamagedBase, match="a write that the ledger has not"):
        Base.open(path, host=clock)
