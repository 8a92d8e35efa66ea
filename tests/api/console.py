"""The console script, as a process of its own and within the tests' process.

Example
-------
::

    script("token", "list", "--data", folder).lines
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Final
from unittest.mock import patch

import pytest

from api.cli import main

SCRIPT: Final = str(Path(sys.executable).with_name("muniment"))
PATIENCE: Final = 120
"""Seconds after which what is waited for will not come."""

# No proxy, no settings of whoever runs the tests, and nothing that depends on how wide a terminal is.
ENVIRONMENT: Final = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith("MUNIMENT_") and not name.lower().endswith("_proxy")
} | {"COLUMNS": "200", "NO_COLOR": "1"}


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended.

    Args:
        status: its exit status.
        output: what it said to standard output.
        errors: what it said to standard error.
    """

    status: int
    output: str
    errors: str

    @property
    def lines(self) -> list[str]:
        """The lines of its output."""
        return self.output.splitlines()

    def value(self, name: str) -> str:
        """What a line that begins with a name has to say."""
        return next(line.removeprefix(name).strip() for line in self.lines if line.startswith(f"{name} "))


def script(*words: str | Path, text: str | None = None, **variables: str) -> Ended:
    """Runs the console script to its end.

    Args:
        words: of the command line, after `muniment`.
        text: for its standard input; none if left out.
        variables: of its environment, besides the ones that there are.
    """
    ended = subprocess.run(
        [SCRIPT, *map(str, words)],
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=ENVIRONMENT | variables,
        timeout=PATIENCE,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def run(*words: str | Path, text: str = "", **variables: str) -> Ended:
    """Does the same within this process, where the imports are done: for what has no need of a process of its own."""
    output, errors = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        patch.object(sys, "argv", [SCRIPT, *map(str, words)]),
        patch.object(sys, "stdin", StringIO(text)),
        patch.dict(os.environ, ENVIRONMENT | variables, clear=True),
        redirect_stdout(output),
        redirect_stderr(errors),
        pytest.raises(SystemExit) as leaving,
    ):
        main()
    output.seek(0)
    errors.seek(0)
    assert isinstance(leaving.value.code, int)
    return Ended(leaving.value.code, output.read(), errors.read())


@contextmanager
def running(*words: str | Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """A command that is running; killed when the context is left, unless it has ended by then."""
    with subprocess.Popen(
        [SCRIPT, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=ENVIRONMENT | variables,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def serving(data: Path, *words: str | Path, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a folder, and the URL that it says it is on."""
    with running("serve", "--data", data, "--port", "0", *words, **variables) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert told, process.stderr and process.stderr.read()
        yield process, told.split()[-1]
