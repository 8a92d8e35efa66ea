"""The tour and the README say what is so: their commands are run, in their order, and answer what stands there.

Blocks marked `bash` are run, in one shell, against a demo base that `muniment demo` serves. A block marked `text` that
comes next is what they answer, and `…` in it stands for anything on its line; without one, they answer nothing.
"""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.api.console import ENVIRONMENT, PATIENCE, running
from tests.requirements import REPOSITORY

ADDRESS: Final = "http://127.0.0.1:8350"
DATA: Final = "demo-data"
TOUR: Final = REPOSITORY / "docs" / "tour.md"
README: Final = REPOSITORY / "README.md"
PAGES: Final = (README, *sorted((REPOSITORY / "docs").glob("*.md")))

_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#([^)\s]+))?\)")
_DONE: Final = "== answered "


@dataclass(slots=True)
class Step:
    """A block of commands, what the page says that it answers, and what it did."""

    command: str
    expected: str
    answered: str = ""

    @property
    def holds(self) -> bool:
        """Whether it answered that."""
        pattern = ".*".join(re.escape(part) for part in self.expected.split("…"))
        return re.fullmatch(pattern, self.answered) is not None


def blocks(page: Path, kind: str) -> list[str]:
    """The fenced blocks of one kind."""
    return [body for marked, body in _BLOCK.findall(page.read_text(encoding="utf-8")) if marked == kind]


def steps(page: Path) -> list[Step]:
    """The commands of a page, in order."""
    found: list[Step] = []
    for marked, body in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if marked == "bash":
            found.append(Step(body, ""))
        elif marked == "text":
            assert found, f"{page.name} begins with an answer"
            assert not found[-1].expected, f"two answers to {found[-1].command}"
            found[-1].expected = body
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder that looks like the repository after `make demo`, and the URL of the demo that is served there."""
    place = tmp_path_factory.mktemp("tour")
    (place / "ontology").symlink_to(REPOSITORY / "ontology")
    (place / ".venv").symlink_to(Path(sys.prefix))
    with running("demo", "--data", place / DATA, "--port", "0") as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert told, process.stderr and process.stderr.read()
        yield place, told.split()[-1]
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def walked(page: Path, place: Path, url: str) -> list[Step]:
    """The steps of a page, taken in one shell."""
    taken = steps(page)
    script = "".join(
        f"{step.command.replace(ADDRESS, url)}\necho '{_DONE}{number}'\n" for number, step in enumerate(taken)
    )
    ended = subprocess.run(
        ["bash"],
        input=script,
        cwd=place,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    answers = re.split(rf"^{_DONE}\d+\n", ended.stdout, flags=re.MULTILINE)
    assert len(answers) == len(taken) + 1, ended.stdout
    for step, answer in zip(taken, answers, strict=False):
        step.answered = answer.replace("\r\n", "\n")
    return taken


@pytest.mark.parametrize("page", [README, TOUR], ids=lambda page: page.stem)
def test_every_command_answers_what_stands_there(folder: tuple[Path, str], page: Path) -> None:
    taken = walked(page, *folder)
    assert taken
    for step in taken:
        assert step.holds, f"$ {step.command}--- answered:\n{step.answered}--- and not:\n{step.expected}"


def test_the_tour_shows_what_it_promises() -> None:
    commands = "".join(step.command for step in steps(TOUR))
    for shown in ('"end"', '"revise"', "--valid-at", "--as-of", "decide", "export", "verify", "clear.json"):
        assert shown in commands


def test_a_step_that_answers_otherwise_is_told() -> None:
    assert Step("", "head …\n", "head 5\n").holds
    assert not Step("", "head …\n", "head 5\nmore\n").holds
    assert not Step("", "head …\n", "").holds


def test_the_targets_of_make_that_the_pages_name_are_there() -> None:
    named = {
        target for page in PAGES for target in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(), re.MULTILINE)
    }
    assert {"demo", "demo-reset", "serve", "test"} <= named
    for target in named:
        subprocess.run(["make", "-n", target], cwd=REPOSITORY, check=True, capture_output=True, timeout=PATIENCE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for path, _ in _LINK.findall(page.read_text(encoding="utf-8")):
        assert "://" in path or (page.parent / path).exists(), path


def test_the_index_lists_every_page() -> None:
    index = {path for path, _ in _LINK.findall((REPOSITORY / "docs" / "README.md").read_text(encoding="utf-8"))}
    assert {page.name for page in PAGES[1:]} - {"README.md"} <= index


def test_the_examples_of_json_are_json() -> None:
    for page in PAGES:
        for body in blocks(page, "json"):
            json.loads(body)
