"""`muniment diff`, on a folder and on a service."""

from pathlib import Path

import pytest

from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.console import run
from tests.api.serving import Served
from tests.api.test_cli import a_file, loaded, told

GRAPH = "https://w3id.org/muniment#default"
FIRST = f"<{EX}a> <{EX}p> <{EX}b> ."


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base into which something was loaded, and then something else."""
    folder = tmp_path_factory.mktemp("diff")
    data = loaded(folder, FIRST)
    assert run("load", a_file(folder, "more.ttl", f"<{EX}a> <{EX}p> <{EX}c> ."), "--data", data).status == 0
    return data


def test_what_differs_is_told_line_by_line(data: Path) -> None:
    ended = run("diff", "2020-01-01", "--data", data)
    counts, first, second = ended.lines
    assert counts == "2 gained, 0 lost, 0 corrected"
    assert first.startswith(f"+ <{EX}a> <{EX}p> <{EX}b> <{GRAPH}>  [, )  urn:uuid:")
    assert second.startswith(f"+ <{EX}a> <{EX}p> <{EX}c> <{GRAPH}>  [, )  urn:uuid:")
    head = run("diff", "head:1", "--data", data, "--node", f"{EX}c")
    assert head.lines[0] == "1 gained, 0 lost, 0 corrected"
    assert run("diff", "2020", "2021", "--data", data, "--axis", "valid-at").lines == ["0 gained, 0 lost, 0 corrected"]


def test_a_patch_goes_to_a_file(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "changes.rdfp"
    assert run("diff", "head:1", "--data", data, "--format", "patch", "--output", file).status == 0
    assert f"A <{EX}a> <{EX}p> <{EX}c> <{GRAPH}> .\nTC .\n" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("2020",), "from: 2020 could mean a year or a head"),
        (("then",), "2024-05, 199# or 18##, or head:N"),
        (("2020-01-01", "9999-01-01"), "to: 9999-01-01 lies in the future"),
        (("9999-01-01",), "give one that is past, or none for the present"),
        (("2020-01-01", "2019-01-01"), "from: `from` is later than `to`"),
        (("2020-01-01", "--as-of", "2020-01-01"), "--as-of: FROM and TO say this already"),
        (("2020-01-01", "--graph", "no iri"), "--graph: "),
    ],
)
def test_what_cannot_be_compared_is_said(data: Path, words: tuple[str, ...], said: str) -> None:
    assert said in told(run("diff", *words, "--data", data))


def test_a_service_is_asked_the_same(server: Served) -> None:
    server.writer.post("/changes", json=request(change("a", "p", "b")))
    words = ("diff", "2020-01-01", "--url", server.url, "--token-env", "TOKEN")
    ended = run(*words, TOKEN=server.token(Role.READER))
    assert ended.lines[0] == "1 gained, 0 lost, 0 corrected"
    assert ended.lines[1].startswith(f"+ <{EX}a> <{EX}p> <{EX}b> <{GRAPH}>")
    assert "unknown, expired or revoked" in told(run(*words, TOKEN="nobody"))
