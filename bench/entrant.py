"""The driver's end of the pipe: a contestant as a process.

Rules
-----
* Starting one waits until its store is open. What it logs goes to a file beside its store.
* One that ends early is `Unavailable` from then on, with the last line of its log as the reason.

Example
-------
::

    entrant = Entrant.start([str(python), "-m", "bench.peers.fluree"], directory, 10_000, {})
    sample = entrant.ask(Ask(Work.WRITE, 300, Kind.PLAIN))
    entrant.stop()
"""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final, Self

from bench.environments import REPOSITORY, Unavailable
from bench.measuring import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench.serving import Ask

PATIENCE: Final = 60.0
"""Seconds in which a contestant has to end once its input has."""


class Entrant:
    """A contestant's process; made by `start`.

    Args:
        process: with pipes for its input and output.
        log: what it says otherwise.

    Raises:
        Unavailable: it did not come up.
    """

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log
        try:
            self.opened = self._read()
        except Unavailable:
            self.stop()
            raise

    @classmethod
    def start(cls, command: Sequence[str], directory: Path, arguments: Sequence[str], env: Mapping[str, str]) -> Self:
        """Starts one, and waits until its store is open.

        Args:
            command: the Python to run, and the module.
            directory: for its store, made for it; its first argument.
            arguments: the others.
            env: set in its environment.

        Raises:
            Unavailable: it did not come up.
        """
        directory.mkdir(parents=True)
        log = directory / "log.txt"
        with log.open("w", encoding="utf-8") as stderr:
            process = subprocess.Popen(
                [*command, str(directory), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                cwd=REPOSITORY,
                env={**_surroundings(), **env},
            )
        return cls(process, log)

    def ask(self, asked: Ask) -> Sample:
        """Has it do something.

        Raises:
            Unavailable: it ended instead.
        """
        stdin = _pipe(self._process.stdin)
        try:
            stdin.write(asked.line)
            stdin.flush()
        except BrokenPipeError:
            self._process.wait()
        sample = self._read()
        if sample is None:
            raise Unavailable(f"{asked.work} was not timed")
        return sample

    def stop(self) -> None:
        """Ends its input, and waits for its end; after a while, ends it. May be called again."""
        with suppress(BrokenPipeError):
            _pipe(self._process.stdin).close()
        try:
            self._process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        _pipe(self._process.stdout).close()

    def _read(self) -> Sample | None:
        line = _pipe(self._process.stdout).readline()
        if not line:
            self._process.wait()
            raise Unavailable(self._why())
        raw = json.loads(line)
        return Sample(**raw) if raw else None

    def _why(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f"ended ({self._process.returncode}): {lines[-1] if lines else 'no word why'}"


def _surroundings() -> dict[str, str]:
    """Our environment without settings of ours: everyone measured has the defaults."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MUNIMENT_")}


def _pipe(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise ValueError("a contestant is talked to over pipes")
    return pipe
