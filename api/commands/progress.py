"""How far a load has come: a bar on a terminal, a plain line now and then anywhere else.

Rules
-----
* Progress goes to standard error, so that standard output holds the answer alone.
* A load has three steps: reading (in bytes), planning (in changes), and applying (to judge, to commit, to bring the
  stores up), of which only the beginning shows.

Example
-------
::

    with load_progress() as progress:
        progress.read(512, 1024)
        progress.plan(4_000, 20_000)
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

LINES_A_STEP: Final = 10
"""Into how many plain lines a step is divided at most."""


class LoadProgress(Protocol):
    """Is told how far a load has come; from any thread."""

    def read(self, done: int, total: int) -> None:
        """So many bytes of so many are read."""
        ...

    def plan(self, done: int, total: int) -> None:
        """So many changes of so many are planned; when all are, applying begins."""
        ...


@contextmanager
def load_progress() -> Iterator[LoadProgress]:
    """What suits where standard error goes."""
    if not sys.stderr.isatty():
        yield PlainProgress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield BarProgress(progress)


class PlainProgress:
    """Lines."""

    def __init__(self) -> None:
        self._said: dict[str, int] = {}

    def read(self, done: int, total: int) -> None:
        """A line when another tenth is read."""
        self._say("reading", done, total)

    def plan(self, done: int, total: int) -> None:
        """A line when another tenth is planned."""
        self._say("planning", done, total)
        if done == total:
            typer.echo("applying", err=True)

    def _say(self, step: str, done: int, total: int) -> None:
        part = done * LINES_A_STEP // total if total else LINES_A_STEP
        if part > self._said.get(step, 0):
            self._said[step] = part
            typer.echo(f"{step} {part * 100 // LINES_A_STEP} %", err=True)


class BarProgress:
    """Bars.

    Args:
        progress: what draws them.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def read(self, done: int, total: int) -> None:
        """Moves the first bar."""
        self._move("reading", done, total)

    def plan(self, done: int, total: int) -> None:
        """Moves the second bar; a third one pulses when it is full."""
        self._move("planning", done, total)
        if done == total:
            self._progress.add_task("applying", total=None)

    def _move(self, step: str, done: int, total: int) -> None:
        if step not in self._tasks:
            self._tasks[step] = self._progress.add_task(step, total=total)
        self._progress.update(self._tasks[step], completed=done, total=total)
