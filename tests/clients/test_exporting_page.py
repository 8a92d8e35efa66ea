"""What `docs/exporting.md` tells partners to run, run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.base import Base
from bridge.documents.reader import read_document
from kernel.changes import Assert
from kernel.terms import Iri
from tests.api.console import run
from tests.bridge.exporting.drawing import WRITER, canonicaliser
from tests.bridge.writing import write
from tests.requirements import REPOSITORY, require

PAGE = (REPOSITORY / "docs" / "exporting.md").read_text(encoding="utf-8")
TURTLE = b"<urn:a> <urn:p> '1.50'^^<urn:d> ."


def block(language: str, word: str) -> str:
    """The one block of code of a language that has a word in it."""
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    (found,) = [code for code in blocks if word in code]
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the commands of the page were run."""
    with Base.open(tmp_path / "data") as base:
        graph = Iri("https://example.org/g")
        asserted = read_document(TURTLE, "text/turtle", graph=graph, canonicaliser=canonicaliser)
        assert write(base, *(Assert(statement) for statement, _ in asserted), by=WRITER).head is not None
    files = {name: str(tmp_path / name) for name in ("data", "g.jsonld", "key.json")}
    said = ""
    for line in block("sh", "--signed").splitlines():
        command, _, redirected = line.partition(" > ")
        answer = run(*(files.get(word, word) for word in command.split()[1:]))
        assert answer.status == 0, answer.errors
        said = answer.output
        if redirected:
            Path(files[redirected]).write_text(said, encoding="utf-8")
    assert "is an export as its issuer signed it" in said
    return tmp_path


def ended(folder: Path, *command: str) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True, timeout=60).stdout


@pytest.mark.node
def test_its_javascript_verifies(folder: Path) -> None:
    (folder / "node_modules").symlink_to(require("node") / "node_modules")
    (folder / "verify.mjs").write_text(block("js", "verifyCredential"), encoding="utf-8")
    assert ended(folder, "node", "verify.mjs") == "verified\n"
    document = (folder / "g.jsonld").read_text(encoding="utf-8")
    (folder / "g.jsonld").write_text(document.replace("1.50", "1.5"), encoding="utf-8")
    assert ended(folder, "node", "verify.mjs") != "verified\n"


def test_its_python_reads_the_statements(folder: Path) -> None:
    (folder / "read.py").write_text(block("python", "to_rdf"), encoding="utf-8")
    assert ended(folder, sys.executable, "read.py") == '<urn:a> <urn:p> "1.50"^^<urn:d> <https://example.org/g> .\n\n'
