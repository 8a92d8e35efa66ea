"""`muniment demo`, as whoever tries it has it: the first start, the next ones, a kill in between, and starting over."""

import os
import re
import shutil
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx2
import pytest

from api.commands import progress
from bridge.base import Base
from bridge.host import SystemClock
from bridge.upkeep import demo
from kernel.ports.records import CertificateState
from kernel.time.instants import MINUTE, Instant
from tests.api.console import PATIENCE, Ended, run, running, script, serving
from tests.bridge.writing import SetClock
from tests.requirements import REPOSITORY

COUNT: Final = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


@contextmanager
def demonstrated(data: Path, *words: str) -> Iterator[list[str]]:
    """A demo that is served, and what it says to try, up to its last line."""
    with running("demo", "--data", data, "--port", "0", *words) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line.rstrip("\n"))
            if "docs/tour.md" in line:
                break
        assert said, process.stderr and process.stderr.read()
        yield said
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo base that was served once."""
    data = tmp_path_factory.mktemp("demo") / "demo-data"
    with demonstrated(data):
        pass
    return data


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "demo-data"))


def certificates(data: Path) -> list[str]:
    with Base.open(data) as base, base.ledger.reading() as view:
        return [str(record.id) for record in view.certificates(limit=1000)]


def count(data: Path) -> str:
    return run("query", COUNT, "--data", data, "--format", "csv").lines[1]


def refused(ended: Ended) -> str:
    """The one line that it says instead of anything else."""
    assert (ended.status, ended.output) == (1, "")
    (line,) = ended.errors.splitlines()
    return line


def test_what_it_says_to_try_works_as_it_stands(data: Path) -> None:
    with demonstrated(data) as said:
        commands = [line.strip() for line in said if line.startswith("  ")]
        query, submit, listing = (line.split() for line in commands if " --url " in line or line.startswith("curl"))
        token = (data / demo.TOKEN).read_text().strip()
        assert token not in "\n".join(said)
        asked = script(*query[1:])
        assert "Helmut Kohl" not in asked.output
        assert '"Federal Chancellor of Germany"@en\t"Gerhard Schröder"' in asked.output
        assert script(*submit[1:]).value("verdict") == "clear"
        assert listing[0] == "curl"


def test_the_link_signs_in_an_editor_and_works_once(data: Path) -> None:
    with demonstrated(data) as said, httpx2.Client(trust_env=False) as browser:
        (link,) = (line.split()[1] for line in said if "/sign-in?code=" in line)
        page = browser.get(link)
        assert "demo-editor" in page.text
        fields = dict(re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', page.text))
        entered = browser.post(link.partition("?")[0], data=fields)
        assert (entered.status_code, entered.headers["location"]) == (303, "/queue")
        queue = browser.get(link.partition("/sign-in")[0] + "/queue")
        assert queue.text.count("single-valued-by-subject") or "Friedrich Merz" in queue.text
        assert "demo-editor" not in httpx2.get(link, trust_env=False).text


def test_the_token_is_an_editors_and_its_file_its_owners_alone(data: Path) -> None:
    assert stat.S_IMODE((data / demo.TOKEN).stat().st_mode) == 0o600
    listed = run("token", "list", "--data", data).lines[1:]
    assert [line.split("\t")[1:3] for line in listed] == [["editor", "all"]]


def test_started_again_it_goes_on_with_what_is_there(data: Path) -> None:
    before, token = certificates(data), (data / demo.TOKEN).read_text()
    with demonstrated(data):
        pass
    assert certificates(data) == before
    assert (data / demo.TOKEN).read_text() == token


def test_it_says_how_many_changes_wait_at_each_start(data: Path) -> None:
    def waits(said: list[str]) -> str:
        (line,) = (line for line in said if "to be reviewed" in line)
        return line.partition("hour. ")[2]

    with demonstrated(data) as said:
        assert waits(said) == "2 changes wait there to be reviewed."
    with Base.open(data) as base, base.ledger.reading() as view:
        pending = [str(record.id) for record in view.certificates(state=CertificateState.PENDING)]
    for left in ("One change waits", "Nothing waits"):
        with demonstrated(data) as said:
            where = ("--url", said[0].rsplit(" ", 1)[1], "--token-file", data / demo.TOKEN)
            assert run("decide", pending.pop(), "reject", *where).status == 3
        with demonstrated(data) as said:
            assert waits(said) == f"{left} there to be reviewed."


def test_a_token_that_is_gone_or_revoked_is_made_anew(data: Path) -> None:
    old = (data / demo.TOKEN).read_text()
    identifier = run("token", "list", "--data", data).lines[1].split("\t")[0]
    assert run("token", "revoke", identifier, "--data", data).status == 0
    with demonstrated(data):
        assert (data / demo.TOKEN).read_text() != old


KILLS_ITSELF: Final = """
import os, signal
from bridge.upkeep import demo

loaded = 0
load_request = demo.LoadRequest

def counted(*given):
    global loaded
    loaded += 1
    if loaded == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    return load_request(*given)

demo.LoadRequest = counted
"""
"""A kill between the staging of a source and its load, the number-th."""


@pytest.mark.parametrize("number", [1, 11, 26])
def test_killed_while_it_brings_facts_in_it_goes_on_and_brings_none_in_twice(
    made: Path, tmp_path: Path, number: int
) -> None:
    data = tmp_path / "demo-data"
    (tmp_path / "sitecustomize.py").write_text(KILLS_ITSELF.format(number=number))
    path = os.pathsep.join((str(tmp_path), str(REPOSITORY)))
    killed = script("demo", "--data", data, "--port", "0", PYTHONPATH=path)
    assert (killed.status, killed.output) == (-signal.SIGKILL, "")
    assert not demo.is_filled(data)
    with demonstrated(data):
        assert demo.is_filled(data)
    assert count(data) == count(made)
    assert len(certificates(data)) == len(certificates(made))


def test_started_over_it_is_as_it_was_at_first(data: Path) -> None:
    before = certificates(data)
    with demonstrated(data, "--reset"):
        pass
    after = certificates(data)
    assert len(after) == len(before)
    assert not set(after) & set(before)


def test_starting_over_removes_nothing_of_somebody_elses(data: Path) -> None:
    (data / "notes.txt").write_text("mine")
    demo.empty(data)
    assert [each.name for each in data.iterdir()] == ["notes.txt"]


def test_a_folder_with_anything_else_is_neither_filled_nor_emptied(tmp_path: Path) -> None:
    with serving(tmp_path / "data"):
        pass
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    for name in ("data", "other"):
        before = {path: path.is_dir() or path.read_bytes() for path in (tmp_path / name).rglob("*")}
        assert "no demo base" in refused(run("demo", "--data", tmp_path / name, "--port", "0"))
        assert "no demo base" in refused(run("demo", "--data", tmp_path / name, "--port", "0", "--reset"))
        assert {path: path.is_dir() or path.read_bytes() for path in (tmp_path / name).rglob("*")} == before


def test_while_it_is_served_it_is_not_started_over(data: Path) -> None:
    before = certificates(data)
    with demonstrated(data):
        assert "in use by another process" in refused(run("demo", "--data", data, "--port", "0", "--reset"))
    assert certificates(data) == before


def test_a_clock_that_was_set_back_is_an_error_until_it_is_accepted(data: Path) -> None:
    with Base.open(data, host=SetClock(Instant(SystemClock().now() + 30 * MINUTE))):
        pass
    assert "make demo ARGS=--accept-clock" in refused(run("demo", "--data", data, "--port", "0"))
    with demonstrated(data, "--accept-clock") as said:
        assert any("/sign-in?code=" in line for line in said)


def test_a_port_that_is_taken_is_one_line_and_nothing_is_made(tmp_path: Path, data: Path) -> None:
    with demonstrated(data) as said:
        port = said[0].rsplit(":", 1)[1]
        line = refused(run("demo", "--data", tmp_path / "new", "--port", port))
    assert f"port {port}" in line
    assert "--port" in line
    assert not (tmp_path / "new").exists()


def test_changes_are_submitted_and_judged_dry(data: Path, tmp_path: Path) -> None:
    with demonstrated(data) as said:
        where = ("--url", said[0].rsplit(" ", 1)[1], "--token-file", data / demo.TOKEN)

        def submitted(name: str, *words: str) -> Ended:
            return run("submit", str(demo.incoming()[name]), *where, *words)

        dry = submitted("late", "--dry-run")
        assert (dry.status, dry.lines[:2]) == (2, ["certificate  none, this was a dry run", "verdict      review"])
        assert (submitted("refused-person").status, submitted("late").status, submitted("clear").status) == (3, 2, 0)
        assert "ends at 1952-02-06" in submitted("late").output
        nothing = tmp_path / "nothing.json"
        nothing.write_text("")
        assert "nothing" in refused(run("submit", nothing, *where))
        assert "/changes" in refused(script("submit", "-", *where, text='{"changes": []}'))


def test_what_waits_is_decided_on(data: Path) -> None:
    with demonstrated(data) as said:
        where = ("--url", said[0].rsplit(" ", 1)[1], "--token-file", data / demo.TOKEN)
        ids = [run("submit", str(demo.incoming()[name]), *where).value("certificate") for name in ("late", "doubtful")]
        approved = run("decide", ids[0], "approve", "--comment", "as in the gazette", *where)
        assert (approved.status, approved.value("state")) == (0, "applied")
        rejected = run("decide", ids[1], "reject", *where)
        assert (rejected.status, rejected.value("state")) == (3, "rejected")
        assert "waiting" in refused(run("decide", ids[1], "approve", *where))
        assert "no such certificate" in refused(run("decide", "urn:uuid:x", "approve", *where))


def test_a_token_file_that_others_may_read_is_refused(data: Path) -> None:
    token = data / demo.TOKEN
    words = ("query", "ASK {}", "--url", "http://127.0.0.1:1", "--token-file", token)
    token.chmod(0o640)
    assert "chmod 600" in refused(run(*words))
    token.chmod(0o600)
    assert "twice" in refused(run(*words, "--token-env", "TOKEN"))
    token.write_text("\n")
    assert "no token" in refused(run(*words))
    token.unlink()
    assert f"{token}: No such file or directory (check the name)" in refused(run(*words))


def test_what_takes_long_says_for_how_long(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with progress.waiting("waiting for nothing"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PACE", 0.01)
    with progress.waiting("waiting"):
        said = ""
        while "s so far" not in said:
            said += capsys.readouterr().err
    assert said.startswith("waiting: 0 s so far\n")


def test_whatever_may_take_long_is_watched(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PACE", 0.001)
    with monkeypatch.context() as patched:
        patched.setattr("api.server.serve", lambda *given: True)
        assert "bringing the stores up" in run("serve", "--data", data, "--port", "0").errors
    assert "rebuilding: 0 s so far" in run("rebuild", "--data", data, "--into", tmp_path / "new").errors
    assert "auditing: 0 s so far" in run("audit", "--data", data).errors
    assert "opening the base: 0 s so far" in run("query", "ASK {}", "--data", data).errors
