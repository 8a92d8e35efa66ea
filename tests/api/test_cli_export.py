"""`muniment export`, and `muniment verify` of what it signed."""

import errno
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kernel.access import Role
from tests.api.bodies import EX
from tests.api.console import PATIENCE, run, script, serving
from tests.api.routes.test_exports import failing_after, stated
from tests.api.serving import Served
from tests.api.test_cli import a_file, loaded, told

DEFAULT = "https://w3id.org/muniment#default"
A_SHAPE = "<urn:S> a <http://www.w3.org/ns/shacl#NodeShape> ; <http://www.w3.org/ns/shacl#targetNode> <urn:x> ."


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("jsonld", '{"@context":{},'),
        ("turtle", f"<{EX}a> <{EX}p>"),
        ("trig", f"<{DEFAULT}> {{"),
        ("nquads", f"<{EX}a>"),
    ],
)
def test_a_graph_is_written_as_asked(tmp_path: Path, name: str, begins: str) -> None:
    data = loaded(tmp_path)
    ended = run("export", "--data", data, "--format", name)
    assert ended.status == 0
    assert ended.output.startswith(begins)
    assert '"x"@en-GB' in ended.output or '"@language":"en-GB"' in ended.output
    assert ended.errors.startswith("head 1, valid at ")


def test_a_file_is_there_once_it_is_complete(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    file = tmp_path / "out.ttl"
    with failing_after(1):
        assert "the disk is gone" in told(run("export", "--data", data, "--format", "turtle", "--output", file))
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []
    assert run("export", "--data", data, "--format", "turtle", "--output", file).status == 0
    assert file.read_text(encoding="utf-8") == run("export", "--data", data, "--format", "turtle").output


def test_a_file_that_is_replaced_keeps_its_mode_and_a_new_one_gets_what_the_umask_leaves(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    old, new = a_file(tmp_path, "old.ttl", "old"), tmp_path / "new.ttl"
    old.chmod(0o640)
    beside = a_file(tmp_path, "beside", "")
    for file in (old, new):
        assert run("export", "--data", data, "--output", file).status == 0
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == beside.stat().st_mode
    assert old.read_bytes() == new.read_bytes() != b"old"


def test_what_a_symbolic_link_points_to_is_written_and_the_link_stays(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    (tmp_path / "folder").mkdir()
    target, link, hanging = a_file(tmp_path / "folder", "target", "old"), tmp_path / "link", tmp_path / "hanging"
    link.symlink_to(Path("folder") / "target")
    hanging.symlink_to(tmp_path / "folder" / "new")
    for each in (link, hanging):
        assert run("export", "--data", data, "--output", each).status == 0
        assert each.is_symlink()
    assert target.read_bytes() == (tmp_path / "folder" / "new").read_bytes() != b"old"
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["new", "target"]


@pytest.mark.parametrize("linked", [False, True])
def test_a_named_pipe_is_written_to_and_stays_one(tmp_path: Path, linked: bool) -> None:
    data = loaded(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    given = tmp_path / "link" if linked else pipe
    if linked:
        given.symlink_to(pipe)
    for words in (
        ("export", "--data", data),
        ("check", tmp_path / "facts.ttl", "--shapes", a_file(tmp_path, "s.ttl", A_SHAPE)),
    ):
        with ThreadPoolExecutor(1) as reader:
            read = reader.submit(pipe.read_bytes)
            assert run(*words, "--output", given).status == 0
            assert len(read.result(PATIENCE)) > 50
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert given.is_symlink() is linked


@pytest.mark.parametrize("command", ["export", "check"])
def test_a_place_that_cannot_be_written_is_named_as_it_was_given(tmp_path: Path, command: str) -> None:
    data = loaded(tmp_path)
    words = {
        "export": ("export", "--data", data),
        "check": ("check", tmp_path / "facts.ttl", "--shapes", a_file(tmp_path, "s.ttl", A_SHAPE)),
    }
    place = tmp_path / "missing" / "x"
    ended = run(*words[command], "--output", place)
    assert f"muniment: {place}: No such file or directory" in ended.errors
    assert ended.status == {"export": 1, "check": 2}[command]


def test_a_file_that_cannot_take_its_name_is_named_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(source: Path, target: Path) -> Path:
        raise PermissionError(errno.EPERM, "Operation not permitted", str(source), None, str(target))

    data, file = loaded(tmp_path), a_file(tmp_path, "out", "old")
    monkeypatch.setattr(Path, "replace", refused)
    assert f"muniment: {file}: Operation not permitted" in told(run("export", "--data", data, "--output", file))
    assert file.read_text() == "old"
    assert not list(tmp_path.glob(".out*"))


def test_a_signed_export_is_verified_and_an_edited_one_is_not(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    file = tmp_path / "signed.jsonld"
    assert run("export", "--data", data, "--signed", "--annotations", "--output", file).status == 0
    key = a_file(tmp_path, "key.json", run("key", "--data", data).output)
    verified = run("verify", file, "--key", key)
    assert (verified.status, verified.value("graph"), verified.value("as of")) == (0, DEFAULT, "head:1")
    assert int(verified.value("statements")) > 2
    altered = a_file(tmp_path, "altered.jsonld", file.read_text(encoding="utf-8").replace("en-GB", "en-US"))
    assert "altered after it was signed" in told(run("verify", altered, "--key", key))
    document = json.loads(file.read_text(encoding="utf-8"))
    document["@context"][1]["validAt"] = "urn:other"
    assert "@context" in told(run("verify", a_file(tmp_path, "other.jsonld", json.dumps(document)), "--key", key))
    (tmp_path / "stranger").mkdir()
    stranger = loaded(tmp_path / "stranger")
    other = a_file(tmp_path, "other.json", run("key", "--data", stranger).output)
    assert "issuer" in told(run("verify", file, "--key", other))


def test_a_service_exports_as_a_folder_does(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    here = run("export", "--data", data, "--annotations", "--valid-at", "any", "--format", "trig").output
    token = run("token", "create", "--data", data, "--role", "reader").output.strip()
    with serving(data) as (_, url):
        words = (
            "export",
            "--url",
            url,
            "--token-env",
            "TOKEN",
            "--annotations",
            "--valid-at",
            "any",
            "--format",
            "trig",
        )
        assert run(*words, TOKEN=token).output == here
        assert "--url" in told(script("export", "--data", data))
        assert "no graph urn:x" in told(run("export", "urn:x", "--url", url, "--token-env", "TOKEN", TOKEN=token))


def test_a_service_that_breaks_off_leaves_no_file(server: Served, tmp_path: Path) -> None:
    stated(server.writer, "".join(f"<urn:a{number}> <urn:p> '{'x' * 100}' .\n" for number in range(3_000)))
    file = tmp_path / "out.nq"
    words = ("export", "https://example.org/g?x=1#é", "--url", server.url, "--token-env", "TOKEN", "--output", file)
    with failing_after(2_500):
        assert "broke off" in told(run(*words, TOKEN=server.token(Role.READER)))
    assert list(tmp_path.iterdir()) == []
    assert run(*words, TOKEN=server.token(Role.READER)).status == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--format", "turtle", "--signed"), "--format"),
        (("--valid-at", "any"), "annotations"),
        (("--as-of", "2024"), "head:2024"),
        (("urn:never",), "no graph urn:never"),
        (("never",), "GRAPH"),
    ],
)
def test_what_cannot_be_exported_is_explained(tmp_path: Path, words: tuple[str, ...], named: str) -> None:
    assert named in told(run("export", *words, "--data", loaded(tmp_path)))


def test_where_from_has_to_be_said() -> None:
    assert "--data DIR or --url URL" in told(run("export"))


def test_a_load_reads_records_back(tmp_path: Path) -> None:
    data, other = loaded(tmp_path), tmp_path / "other"
    file = tmp_path / "records.trig"
    assert run("export", "--data", data, "--annotations", "--format", "trig", "--output", file).status == 0
    assert run("load", file, "--data", other).status == 0
    assert run("export", "--data", other).output == run("export", "--data", data).output
