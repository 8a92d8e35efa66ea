"""`muniment doctor`: each thing that goes wrong in practice, made to go wrong."""

import json
import os
import shutil
import socket
from contextlib import closing
from pathlib import Path

import pytest

from bridge.base import Base
from bridge.host import SystemClock
from bridge.signing.keys import SIGNING_KEY
from bridge.stores.pair import OxigraphStores
from bridge.upkeep import diagnosis
from bridge.upkeep.diagnosis import Diagnosis, Grade
from kernel.changes import Assert
from kernel.time.instants import MINUTE, Instant
from tests.api.console import Ended, run, script, serving
from tests.bridge.writing import OSLO, PARIS, ROME, SetClock, living, write


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base with three facts."""
    data = tmp_path_factory.mktemp("doctor") / "data"
    with Base.open(data) as base:
        for place in (PARIS, ROME, OSLO):
            write(base, Assert(living(place)))
    return data


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "data"))


@pytest.fixture
def port() -> str:
    """One that is free."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return str(taken.getsockname()[1])


def found(data: Path) -> dict[str, Diagnosis]:
    return {each.check: each for each in diagnosis.examine(data)}


def wrong(data: Path, check: str) -> Diagnosis:
    """What is wrong with one thing, nothing else being wrong."""
    by_check = found(data)
    assert [each.check for each in by_check.values() if each.grade is not Grade.OK] == [check]
    assert by_check[check].remedy
    return by_check[check]


def checked(ended: Ended) -> dict[str, dict[str, str | None]]:
    """What `--json` says, by check."""
    return {each["check"]: each for each in json.loads(ended.output)}


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_base_that_is_well_has_nothing_to_mend(data: Path, port: str) -> None:
    ended = run("doctor", "--data", data, "--port", port)
    assert ended.status == 0
    assert [line.split()[:2] for line in ended.lines] == [
        ["ok", check]
        for check in ("python", "libraries", "port", "folder", "disk", "lock", "ledger", "clock", "key", "stores")
    ]
    assert "→" not in ended.output


def test_for_programs_it_is_json(data: Path, port: str) -> None:
    (data / SIGNING_KEY).chmod(0o644)
    ended = run("doctor", "--data", data, "--port", port, "--json")
    assert ended.status == 1
    said = checked(ended)
    assert {each["grade"] for name, each in said.items() if name != "key"} == {"ok"}
    assert said["key"]["grade"] == "fail"
    assert "chmod 600" in (said["key"]["remedy"] or "")
    assert "chmod 600" in run("doctor", "--data", data, "--port", port).output


def test_what_is_not_there_is_a_warning_and_is_not_made(tmp_path: Path, port: str) -> None:
    ended = run("doctor", "--data", tmp_path / "misspelt", "--port", port, "--json")
    assert (ended.status, checked(ended)["folder"]["grade"]) == (0, "warn")
    assert list(checked(ended)) == ["python", "libraries", "port", "folder", "disk"]
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_somebody_else_has_is_told_from_one_that_muniment_answers_on(data: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        other.listen()
        other.settimeout(0)
        ended = run("doctor", "--data", data, "--port", str(other.getsockname()[1]), "--json")
    assert ended.status == 1
    assert "--port" in (checked(ended)["port"]["remedy"] or "")
    with serving(data) as (_, url):
        said = checked(run("doctor", "--data", data, "--port", url.rsplit(":", 1)[1], "--json"))
        assert {each["grade"] for each in said.values()} == {"ok"}
        assert "Muniment answers" in (said["port"]["what"] or "")
        assert "another process" in (said["lock"]["what"] or "")
        assert "/health" in (said["stores"]["what"] or "")


def test_a_free_port_says_nothing_of_a_base_that_is_served_on_another(data: Path, port: str) -> None:
    assert (
        checked(run("doctor", "--data", data, "--port", port, "--json"))["port"]["what"]
        == f"{port} on 127.0.0.1 is free"
    )
    with serving(data):
        ended = run("doctor", "--data", data, "--port", port, "--json")
        assert (ended.status, checked(ended)["port"]["grade"]) == (0, "ok")
        assert "serves on another, if at all; --port PORT asks there" in (checked(ended)["port"]["what"] or "")


def test_a_setting_that_nobody_knows_is_told_with_the_rest(data: Path) -> None:
    ended = run("doctor", "--data", data, "--json", MUNIMENT_PROT="1")
    assert ended.status == 1
    assert "MUNIMENT_PROT" in (checked(ended)["settings"]["what"] or "")


# --- the probes -------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_open_to_others(data: Path) -> None:
    data.chmod(0o755)
    assert "chmod 700" in (wrong(data, "folder").remedy or "")


def test_a_disk_that_is_filling_up(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    assert diagnosis.disk(tmp_path / "not" / "there", scarce=2 * free).grade is Grade.WARN
    assert diagnosis.disk(tmp_path, scarce=1).grade is Grade.OK


def test_a_ledger_that_is_none(data: Path) -> None:
    ledger = data / diagnosis.LEDGER
    ledger.write_bytes(b"")
    assert wrong(data, "ledger").grade is Grade.FAIL
    assert ledger.read_bytes() == b""
    ledger.write_bytes(b"no database, but long enough to be looked at" * 100)
    assert wrong(data, "ledger").grade is Grade.FAIL


def test_a_ledger_of_another_version(data: Path) -> None:
    import sqlite3  # noqa: PLC0415 - nothing else here needs it

    (data / "ledger.seal").unlink()
    with closing(sqlite3.connect(data / diagnosis.LEDGER)) as connection:
        connection.execute("PRAGMA user_version = 99")
    assert "99" in wrong(data, "ledger").what


def test_a_clock_that_is_behind_the_ledger(data: Path) -> None:
    with Base.open(data, host=SetClock(Instant(SystemClock().now() + 60 * MINUTE))) as base:
        write(base, Assert(living(PARIS)))
    assert "--accept-clock" in (wrong(data, "clock").remedy or "")


def test_a_key_that_is_gone_or_another(data: Path, tmp_path: Path) -> None:
    with Base.open(tmp_path / "other"):
        pass
    shutil.copy(tmp_path / "other" / SIGNING_KEY, data / SIGNING_KEY)
    assert "not the key" in wrong(data, "key").what
    (data / SIGNING_KEY).unlink()
    assert "cannot be read" in wrong(data, "key").what


def test_stores_that_are_gone_behind_or_ahead(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "stores", tmp_path / "stores")
    ledger = (data / diagnosis.LEDGER).read_bytes()
    with Base.open(data) as base:
        write(base, Assert(living(PARIS.__class__("http://example.org/bern"))))
    shutil.move(data / "stores", tmp_path / "newer")
    assert "makes them" in (wrong(data, "stores").remedy or "")
    assert not (data / "stores").exists()
    shutil.move(tmp_path / "stores", data / "stores")
    behind = wrong(data, "stores")
    assert behind.grade is Grade.WARN
    assert "head 5" in behind.what.replace("head 7", "head 5")
    shutil.rmtree(data / "stores")
    shutil.move(tmp_path / "newer", data / "stores")
    (data / "ledger.seal").unlink()
    (data / diagnosis.LEDGER).write_bytes(ledger)
    assert "more than the ledger" in wrong(data, "stores").what


def test_stores_that_are_behind_say_by_how_much(data: Path) -> None:
    shutil.rmtree(data / "stores")
    with closing(OxigraphStores.open(data / "stores")):
        pass
    assert "at nothing, the ledger at head" in wrong(data, "stores").what


# --- what nobody foresaw ----------------------------------------------------------------------------------------------


def test_an_error_that_nobody_foresaw_is_one_line_and_its_details_a_file(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import bridge.upkeep.diagnosis\n"
        "def broken(data):\n    raise ZeroDivisionError('a secret')\n"
        "bridge.upkeep.diagnosis.folder = broken\n"
    )
    folder = Path(__file__).parents[2]
    paths = os.pathsep.join((str(tmp_path), str(folder)))
    ended = script("doctor", "--data", tmp_path, PYTHONPATH=paths, TMPDIR=str(tmp_path))
    assert ended.status == 1
    (line,) = ended.errors.splitlines()
    assert "Traceback" not in ended.output + ended.errors
    assert "a secret" not in ended.output + ended.errors
    (details,) = tmp_path.glob("muniment-error-*.txt")
    assert str(details) in line
    assert "report it" in line
    assert details.stat().st_mode & 0o077 == 0
    assert "ZeroDivisionError: a secret" in details.read_text()
