"""`muniment audit`, as a user has it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from certificates.keys import SigningKey
from tests.api.console import run, serving
from tests.api.test_cli import a_file, loaded
from tests.bridge.auditing.history import edit, ledger_of


def test_a_sound_base_is_called_sound_and_what_was_verified_is_counted(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    ended = run("audit", "--data", data)
    assert (ended.status, ended.errors) == (0, "")
    assert ended.value("log") == "2 events"
    assert ended.value("signed") == "1 certificate, 1 signature verified"
    assert ended.value("tables").startswith("2 facts")
    assert ended.value("stores").startswith("complete: ")
    assert ended.lines[-1] == "sound: everything fits together"


def test_a_key_kept_elsewhere_is_verified_with(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    key = a_file(tmp_path, "key.json", run("key", "--data", data).output)
    assert run("audit", "--data", data, "--key", key).status == 0
    other = a_file(tmp_path, "other.txt", SigningKey.generate().public.multibase)
    assert run("audit", "--data", data, "--key", other).status == 1
    assert run("audit", "--data", data, "--key", a_file(tmp_path, "none.txt", "none")).status == 2


def test_of_many_faults_some_are_listed_and_all_counted_and_they_cannot_steer_the_terminal(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    with ledger_of(data) as connection:
        graphs = [(f"<urn:\x1b[2J{number}>",) for number in range(300)]
        connection.executemany("INSERT INTO graphs VALUES (?)", graphs)
    ended = run("audit", "--data", data)
    assert ended.status == 1
    assert len(ended.lines) < 120
    assert "… and 200 more" in ended.output
    assert ended.lines[-1] == "not sound: 300 faults"
    assert "\x1b" not in ended.output
    assert r"\x1b[2J" in ended.output


def test_what_cannot_be_audited_is_told_apart_from_what_has_faults(tmp_path: Path) -> None:
    ended = run("audit", "--data", tmp_path / "misspelt")
    assert ended.status == 2
    assert "no base" in ended.errors
    data = loaded(tmp_path)
    with closing(sqlite3.connect(data / "ledger.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 99")
    ended = run("audit", "--data", data)
    assert (ended.status, ended.output) == (2, "")
    assert "format 99" in ended.errors


def test_a_base_is_audited_while_it_is_served_and_it_is_said_what_was_left_out(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    with serving(data):
        ended = run("audit", "--data", data)
        assert ended.status == 0
        assert "stores were not looked at" in ended.value("note")
        assert ended.value("stores") == "not looked at"
        assert ended.lines[-1] == "sound, as far as was looked at: stop the service, and audit again, for the stores"
        edit(data, "UPDATE facts SET object_key = 7")
        assert run("audit", "--data", data).status == 1
