"""Backup and restore: what comes back is what was there, or nothing comes back and it is said why."""

import json
import stat
from hashlib import sha256
from pathlib import Path
from threading import Thread

import pytest

from bridge.auditing.audit import audit
from bridge.backup import back_up, restore
from bridge.base import Base
from bridge.log_reading import LogReader
from kernel.changes import Assert
from kernel.errors import BackupRefused, Conflict, NotFound
from tests.api.console import run
from tests.bridge.auditing.history import edit, make
from tests.bridge.writing import OSLO, PARIS, SetClock, homes, living, person, write


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A base with a history of some days."""
    make(tmp_path / "live")
    return tmp_path / "live"


def anchor(base: Path) -> str:
    with Base.open(base, accept_clock=True) as opened:
        return LogReader(opened.ledger, opened.key).checkpoint()


def test_a_base_comes_back_as_it_was_and_goes_on(base: Path, tmp_path: Path) -> None:
    manifest = back_up(base, tmp_path / "backup")
    assert restore(tmp_path / "backup", tmp_path / "restored", anchor(base)) == manifest
    assert audit(tmp_path / "restored").sound
    assert audit(tmp_path / "restored").counts.events == manifest.events
    with Base.open(base, accept_clock=True) as one, Base.open(tmp_path / "restored", accept_clock=True) as other:
        for number in range(10):
            assert homes(one, subject=person(number)) == homes(other, subject=person(number))
        assert write(other, Assert(living(OSLO, person(77)))).head == manifest.events + 1
    assert audit(tmp_path / "restored").sound


def test_a_base_is_backed_up_while_it_is_written(tmp_path: Path) -> None:
    with Base.open(tmp_path / "live", host=SetClock()) as base:
        write(base, Assert(living(PARIS, person(0))))
        writing = Thread(target=lambda: [write(base, Assert(living(OSLO, person(number)))) for number in range(1, 60)])
        writing.start()
        kept = [back_up(tmp_path / "live", tmp_path / f"backup-{number}") for number in range(3)]
        writing.join()
        newest = LogReader(base.ledger, base.key).checkpoint()
    assert sorted(each.events for each in kept) == [each.events for each in kept]
    for number, manifest in enumerate(kept):
        restore(tmp_path / f"backup-{number}", tmp_path / f"restored-{number}")
        assert audit(tmp_path / f"restored-{number}").counts.events == manifest.events
    assert audit(tmp_path / "live", checkpoint=newest).sound


def test_only_its_owner_reads_a_backup(base: Path, tmp_path: Path) -> None:
    back_up(base, tmp_path / "backup")
    for path in (tmp_path / "backup").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.parametrize("name", ["ledger.sqlite", "keys/signing.key", "checkpoint", "backup.json"])
@pytest.mark.parametrize("harm", ["gone", "cut", "flipped"])
def test_a_backup_that_is_broken_is_refused_and_nothing_is_made(
    base: Path, tmp_path: Path, name: str, harm: str
) -> None:
    back_up(base, tmp_path / "backup")
    path = tmp_path / "backup" / name
    data = bytearray(path.read_bytes())
    if harm == "gone":
        path.unlink()
    elif harm == "cut":
        path.write_bytes(data[: len(data) // 2])
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    with pytest.raises((BackupRefused, NotFound)):
        restore(tmp_path / "backup", tmp_path / "restored")
    assert not list(tmp_path.glob("restored*"))


@pytest.mark.parametrize(
    "change", [{"events": 3}, {"base": "01890a5d-ac96-774b-bcce-b302099a8057"}, {"format": 2}, {"more": 1}]
)
def test_a_backup_that_says_something_else_of_itself_is_refused(
    base: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    back_up(base, tmp_path / "backup")
    manifest = json.loads((tmp_path / "backup" / "backup.json").read_text()) | change
    (tmp_path / "backup" / "backup.json").write_text(json.dumps(manifest))
    with pytest.raises(BackupRefused):
        restore(tmp_path / "backup", tmp_path / "restored")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE facts SET object = '<urn:other>' WHERE row = 1",
        "DELETE FROM events WHERE position = (SELECT max(position) FROM events)",
        "UPDATE certificates SET principal = 'somebody else'",
        "UPDATE items SET salt = zeroblob(16)",
    ],
)
def test_a_backup_that_was_tampered_with_and_summed_anew_is_refused(base: Path, tmp_path: Path, sql: str) -> None:
    back_up(base, tmp_path / "backup")
    edit(tmp_path / "backup", sql)
    manifest = json.loads((tmp_path / "backup" / "backup.json").read_text())
    manifest["sha256"] = sha256((tmp_path / "backup" / "ledger.sqlite").read_bytes()).hexdigest()
    (tmp_path / "backup" / "backup.json").write_text(json.dumps(manifest))
    with pytest.raises(BackupRefused, match="faults"):
        restore(tmp_path / "backup", tmp_path / "restored")
    assert not list(tmp_path.glob("restored*"))


def test_a_backup_that_is_older_than_a_checkpoint_is_refused(base: Path, tmp_path: Path) -> None:
    back_up(base, tmp_path / "backup")
    with Base.open(base, accept_clock=True) as opened:
        write(opened, Assert(living(OSLO, person(99))))
    newer = anchor(base)
    with pytest.raises(BackupRefused, match="replaced by an older one"):
        restore(tmp_path / "backup", tmp_path / "restored", newer)
    assert not list(tmp_path.glob("restored*"))
    restore(tmp_path / "backup", tmp_path / "restored")


def test_nothing_is_written_over(base: Path, tmp_path: Path) -> None:
    back_up(base, tmp_path / "backup")
    with pytest.raises(Conflict, match="there already"):
        back_up(base, tmp_path / "backup")
    with pytest.raises(Conflict, match="there already"):
        restore(tmp_path / "backup", base)
    assert audit(base).sound


def test_what_was_left_by_a_kill_is_made_anew(base: Path, tmp_path: Path) -> None:
    (tmp_path / "backup.partial").mkdir()
    (tmp_path / "backup.partial" / "rest").write_text("half")
    back_up(base, tmp_path / "backup")
    assert not (tmp_path / "backup" / "rest").exists()
    assert not (tmp_path / "backup.partial").exists()


def test_the_commands_say_what_they_did(base: Path, tmp_path: Path) -> None:
    made = run("backup", "--data", str(base), "--into", str(tmp_path / "backup"))
    assert (made.status, "events" in made.output) == (0, True)
    done = run("restore", str(tmp_path / "backup"), "--data", str(tmp_path / "restored"))
    assert (done.status, "verified" in done.output) == (0, True)
    again = run("restore", str(tmp_path / "backup"), "--data", str(tmp_path / "restored"))
    assert (again.status, "there already" in again.errors) == (1, True)
    missing = run("restore", str(tmp_path / "nowhere"), "--data", str(tmp_path / "other"))
    assert (missing.status, "no backup" in missing.errors) == (1, True)
