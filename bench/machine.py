"""What the figures were measured on.

Example
-------
::

    machine = Machine.of(directory)
    machine.text
"""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine.

    Args:
        cores: that this process may use.
        python: the version.
        sqlite: the version of the library.
        oxigraph: the version of its Python package.
        system: kernel and processor.
        load: how many processes ran or waited for the processor in the minute before: more than none disturb.
        sync_ms: one `fdatasync` of one page appended, the median, in milliseconds.
    """

    cores: int
    python: str
    sqlite: str
    oxigraph: str
    system: str
    load: float
    sync_ms: float

    @classmethod
    def of(cls, directory: Path) -> Self:
        """This machine, and the disk of the directory."""
        return cls(
            cores=len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1,
            python=platform.python_version(),
            sqlite=sqlite3.sqlite_version,
            oxigraph=version("pyoxigraph"),
            system=f"{platform.system()} {platform.release()} {platform.machine()}",
            load=os.getloadavg()[0],
            sync_ms=sync_seconds(directory) * 1e3,
        )

    @property
    def text(self) -> str:
        """One line."""
        return (
            f"{self.cores} cores, {self.system}, Python {self.python}, SQLite {self.sqlite}, "
            f"pyoxigraph {self.oxigraph}, load {self.load:.1f}, fdatasync {self.sync_ms:.2f} ms"
        )


def sync_seconds(directory: Path, times: int = 100) -> float:
    """How long it takes until a page appended to a file is on the disk: the median, in seconds."""
    sync = os.fdatasync if sys.platform == "linux" else os.fsync
    page = bytes(4096)
    each = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(times):
            os.write(file.fileno(), page)
            began = time.perf_counter()
            sync(file.fileno())
            each.append(time.perf_counter() - began)
    return statistics.median(each)
