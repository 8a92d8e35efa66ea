"""How far something has come that takes a while: a bar on a terminal, a plain line now and then anywhere else.

Rules
-----
* Progress goes to standard error, so that standard output holds the answer alone.
* A load has three steps: reading (in bytes), planning (in changes), and applying (to judge, to commit, to bring the
  stores up), of which only the beginning shows.
* What cannot say how far it is says how long it has taken, from the first second on: what takes less says nothing.

Example
-------
::

    with load_progress() as progress:
        progress.read(512, 1024)
        progress.plan(4_000, 20_000)
    with waiting("bringing the stores up to the ledger"):
        base = Base.open(folder)
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from rich.progress import Progress, TaskID

LINES_A_STEP: Final = 10
"""Into how many plain lines a step is divided at most."""

PACE: Final = 1.0
"""Seconds after which something that goes on is worth a word."""

_LONGEST_PAUSE: Final = 60.0
"""Seconds between two plain lines at most."""


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
    with _bars() as bars:
        yield PlainProgress() if bars is None else BarProgress(bars)


@contextmanager
def step_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """What is told how many steps of how many are done."""
    with _bars() as bars:
        shown = PlainProgress() if bars is None else BarProgress(bars)
        yield lambda done, total: shown.show(what, done, total)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Says, while the context lasts, that something goes on, and for how long it has.

    Args:
        what: goes on.
    """
    done = Event()
    telling = Thread(target=_tell, args=(what, done, PACE, sys.stderr), name="waiting", daemon=True)
    telling.start()
    try:
        yield
    finally:
        done.set()
        telling.join()


def _tell(what: str, done: Event, pace: float, stream: TextIO) -> None:
    began, pause, terminal = monotonic(), pace, stream.isatty()
    while not done.wait(pause):
        told = f"{what}: {monotonic() - began:.0f} s so far"
        stream.write(f"\r{told}" if terminal else f"{told}\n")
        stream.flush()
        if not terminal:
            pause = min(2 * pause, _LONGEST_PAUSE)
    if terminal and monotonic() - began >= pace:
        stream.write("\r\x1b[2K")
        stream.flush()


@contextmanager
def _bars() -> Iterator[Progress | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield progress


class PlainProgress:
    """Lines."""

    def __init__(self) -> None:
        self._said: dict[str, int] = {}

    def read(self, done: int, total: int) -> None:
        """A line when another tenth is read."""
        self.show("reading", done, total)

    def plan(self, done: int, total: int) -> None:
        """A line when another tenth is planned."""
        self.show("planning", done, total)
        if done == total:
            typer.echo("applying", err=True)

    def show(self, step: str, done: int, total: int) -> None:
        """A line when another tenth of a step is done."""
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
        self.show("reading", done, total)

    def plan(self, done: int, total: int) -> None:
        """Moves the second bar; a third one pulses when it is full."""
        self.show("planning", done, total)
        if done == total:
            self._progress.add_task("applying", total=None)

    def show(self, step: str, done: int, total: int) -> None:
        """Moves the bar of a step."""
        if step not in self._tasks:
            self._tasks[step] = self._progress.add_task(step, total=total)
        self._progress.update(self._tasks[step], completed=done, total=total)
