"""Backup and restore: what comes back is what was there, or nothing comes back and it is said why."""

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from threading import Thread

import pytest

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.signing.keys import SIGNING_KEY
from bridge.signing.log import LogReader
from bridge.upkeep.backup import Manifest, back_up, restore
from certificates.keys import SigningKey
from certificates.records import DecisionKind
from kernel.access import Principal, Role
from kernel.changes import Assert, Retract
from kernel.errors import BackupRefused, Conflict, InvalidParameter, NotFound
from kernel.ports.records import CertificateState
from kernel.time.instants import DAY
from tests.api.console import run
from tests.bridge.auditing.history import edit, make
from tests.bridge.writing import (
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    SetClock,
    decide,
    homes,
    living,
    person,
    write,
)


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
    with pytest.raises(BackupRefused, match="fault"):
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


# --- what changed since -----------------------------------------------------------------------------------------------


def rows(ledger: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything in a ledger, by table."""
    with closing(sqlite3.connect(ledger)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        told = {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in tables}
    told["state"] = [(*row[:3], *row[4:]) for row in told["state"]]  # the clock moves when the base is opened
    return told


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Manifest]]:
    """A chain of four backups of a base that grows, forgets, and changes its key."""
    folder, clock = tmp_path_factory.mktemp("chain"), SetClock()
    data, manifests = folder / "live", []
    make(data, clock=clock)
    for number in range(4):
        with Base.open(data, host=clock) as base:
            if number:
                write(base, Assert(living(OSLO, person(90 + number))), Retract(living(OSLO, person(8))) if number == 1
                      else Assert(living(PARIS, person(80 + number))), key=f"more-{number}")  # fmt: skip
                with base.ledger.reading() as view:
                    waiting = view.certificates(state=CertificateState.PENDING, verdict=None, after=None, limit=1)
                decide(base, waiting[0].id, DecisionKind.REJECT)
                base.ledger.add_principal(Principal(f"p{number}", Role.READER), bytes([number] * 32))
            if number == 2:
                base.keys.rotate().result(PATIENCE)
        since = folder / f"b{number - 1}" if number else None
        manifests.append(back_up(data, folder / f"b{number}", since))
        clock.move(DAY)
    return folder, manifests


@pytest.fixture
def chain(made: tuple[Path, list[Manifest]], tmp_path: Path) -> Path:
    """A copy of it to harm."""
    for number in range(4):
        shutil.copytree(made[0] / f"b{number}", tmp_path / f"b{number}")
    return tmp_path


def test_each_link_of_a_chain_gives_the_base_of_its_time(made: tuple[Path, list[Manifest]], tmp_path: Path) -> None:
    folder, manifests = made
    whole = (folder / "b0" / "ledger.sqlite").stat().st_size
    for number, manifest in list(enumerate(manifests))[1::2]:
        assert restore(folder / f"b{number}", tmp_path / f"r{number}") == manifest
        assert audit(tmp_path / f"r{number}").faults == ()
        assert not (folder / f"b{number}" / "ledger.sqlite").exists()
        assert (folder / f"b{number}" / "changes.sqlite").stat().st_size < whole
    assert [each.events for each in manifests] == sorted({each.events for each in manifests})
    assert rows(tmp_path / "r3" / "ledger.sqlite") == rows(folder / "live" / "ledger.sqlite")


@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("harm", ["missing", "cut", "flipped", "says else", "made anew", "put back"])
def test_a_chain_with_a_bad_link_is_refused_and_the_link_named(chain: Path, harm: str, number: int) -> None:
    link = chain / f"b{number}"
    manifest = json.loads((link / "backup.json").read_bytes())
    file = link / ("changes.sqlite" if "since" in manifest else "ledger.sqlite")
    if harm == "missing":
        link.rename(chain / "elsewhere")
    elif harm == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    elif harm == "flipped":
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    elif harm == "says else":
        (link / "backup.json").write_text(json.dumps(manifest | {"events": 3}))
    elif harm == "made anew":
        edit_file(file)
        manifest["sha256"] = sha256(file.read_bytes()).hexdigest()
        (link / "backup.json").write_text(json.dumps(manifest, indent=2) + "\n")
    else:
        shutil.rmtree(link)
        shutil.copytree(chain / f"b{max(number - 1, 0)}" if number else chain / "b1", link)
    with pytest.raises(BackupRefused) as refused:
        restore(chain / "b3", chain / "restored")
    assert f"b{number}" in str(refused.value)
    assert not list(chain.glob("restored*"))


def edit_file(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE certificates SET principal = 'somebody else'")


def test_a_chain_that_fits_and_lies_is_found_by_the_audit(chain: Path) -> None:
    """Whoever changes the last link, and all that it says of itself, has still not the base's key."""
    manifest = json.loads((chain / "b3" / "backup.json").read_bytes())
    edit_file(chain / "b3" / "changes.sqlite")
    manifest["sha256"] = sha256((chain / "b3" / "changes.sqlite").read_bytes()).hexdigest()
    (chain / "b3" / "backup.json").write_text(json.dumps(manifest))
    with pytest.raises(BackupRefused, match="fault"):
        restore(chain / "b3", chain / "restored")


def test_a_base_that_was_put_back_does_not_go_on_from_a_newer_backup(chain: Path) -> None:
    restore(chain / "b1", chain / "older")
    with pytest.raises(BackupRefused, match="put back"):
        back_up(chain / "older", chain / "b4", chain / "b3")
    with Base.open(chain / "older", accept_clock=True) as base:
        for number in range(20):
            write(base, Assert(living(ROME, person(200 + number))))
    with pytest.raises(BackupRefused, match="put back"):
        back_up(chain / "older", chain / "b4", chain / "b3")
    assert not list(chain.glob("b4*"))


def test_a_chain_lies_in_one_folder_and_is_of_one_base(chain: Path) -> None:
    make(chain / "other", days=1)
    with pytest.raises(BackupRefused, match="another base"):
        back_up(chain / "other", chain / "b4", chain / "b3")
    with pytest.raises(InvalidParameter, match="beside"):
        back_up(chain / "other", chain / "elsewhere" / "b4", chain / "b3")
    with pytest.raises(NotFound):
        back_up(chain / "other", chain / "b4", chain / "b9")


def test_a_key_from_outside_is_in_no_backup(tmp_path: Path) -> None:
    key = SigningKey.generate()
    with Base.open(tmp_path / "live", key=key) as base:
        write(base, Assert(living(OSLO)))
    back_up(tmp_path / "live", tmp_path / "b0", given=key)
    assert not (tmp_path / "b0" / SIGNING_KEY).exists()
    with pytest.raises(BackupRefused, match="signing key"):
        restore(tmp_path / "b0", tmp_path / "restored")
    with pytest.raises(BackupRefused):
        restore(tmp_path / "b0", tmp_path / "restored", given=SigningKey.generate())
    restore(tmp_path / "b0", tmp_path / "restored", given=key)
    with Base.open(tmp_path / "restored", key=key) as base:
        assert homes(base) == {OSLO}


def test_the_command_goes_on_from_a_backup(base: Path, tmp_path: Path) -> None:
    assert run("backup", "--data", base, "--into", tmp_path / "b0").status == 0
    more = run("backup", "--data", base, "--into", tmp_path / "b1", "--since", tmp_path / "b0")
    assert (more.status, "changed since b0" in more.output) == (0, True), more
    assert run("restore", tmp_path / "b1", "--data", tmp_path / "restored").status == 0
