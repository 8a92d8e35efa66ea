"""The test's side of the worker: lives are begun, listened to, and killed.

Example
-------
::

    with Nursery() as nursery:
        life = nursery.live("write", path, seam="before the commit")
        assert life.ended == -SIGKILL
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from subprocess import PIPE, Popen
from time import monotonic
from typing import Final, Self

from tests.crash.saying import Acknowledged
from tests.requirements import REPOSITORY

PATIENCE: Final = 60.0


@dataclass
class Life:
    """What became of one."""

    pid: int | None = None
    acknowledged: list[Acknowledged] = field(default_factory=list)
    refused: int = 0
    broken: list[str] = field(default_factory=list)
    moments: int | None = None
    ended: int | None = None

    @property
    def was_killed(self) -> bool:
        """Whether it did not end of itself."""
        return self.ended == -signal.SIGKILL

    def hear(self, said: dict[str, object]) -> None:
        """Takes in one line."""
        for what, value in said.items():
            match what, value:
                case "acknowledged", dict():
                    self.acknowledged.append(Acknowledged(**value))
                case "refused", _:
                    self.refused += 1
                case "broken", str():
                    self.broken.append(value)
                case (("pid" | "moments" | "ended"), int()):
                    setattr(self, what, value)
                case _:
                    raise AssertionError(said)


class Nursery:
    """A worker, and the lives that it forks, one after another."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.crash.worker"]
        self._worker = Popen(command, cwd=REPOSITORY, stdin=PIPE, stdout=PIPE)
        self._unread = b""
        return self

    def __exit__(self, *_: object) -> None:
        assert self._worker.stdin is not None
        assert self._worker.stdout is not None
        self._worker.stdin.close()
        self._worker.wait(PATIENCE)
        self._worker.stdout.close()

    def live(self, work: str, data: Path, *, seam: str | None = None, moment: int | None = None) -> Life:
        """A life that ends of itself, or at a seam."""
        life = self._begin(work, data, seam, moment, 0)
        self._listen(life, lambda: life.ended is not None, PATIENCE)
        assert life.ended is not None
        return life

    def kill_amid(self, work: str, data: Path, *, seed: int, acknowledgements: int, seconds: float) -> Life:
        """A life that is killed some seconds after it has acknowledged so much."""
        life = self._begin(work, data, None, None, seed)
        self._listen(life, lambda: life.pid is not None and len(life.acknowledged) >= acknowledgements, PATIENCE)
        self._listen(life, lambda: False, seconds)
        assert life.pid is not None
        assert life.ended is None
        os.kill(life.pid, signal.SIGKILL)
        self._listen(life, lambda: life.ended is not None, PATIENCE)
        return life

    def _begin(self, work: str, data: Path, seam: str | None, moment: int | None, seed: int) -> Life:
        assert self._worker.stdin is not None
        command = {"work": work, "data": str(data), "seam": seam, "moment": moment, "seed": seed}
        self._worker.stdin.write(f"{json.dumps(command)}\n".encode())
        self._worker.stdin.flush()
        return Life()

    def _listen(self, life: Life, until: Callable[[], bool], seconds: float) -> None:
        """Hears what is said, until something is so, or for some seconds."""
        deadline = monotonic() + seconds
        while not until():
            line, found, rest = self._unread.partition(b"\n")
            if found:
                self._unread = rest
                life.hear(json.loads(line))
            elif not self._read(deadline):
                return

    def _read(self, deadline: float) -> bool:
        """Reads more, unless the deadline passes."""
        assert self._worker.stdout is not None
        ready, _, _ = select([self._worker.stdout], [], [], max(0.0, deadline - monotonic()))
        if not ready:
            return False
        more = os.read(self._worker.stdout.fileno(), 65_536)
        assert more, "the worker is gone"
        self._unread += more
        return True
