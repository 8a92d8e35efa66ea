"""What pyoxigraph raises, as errors of the kernel.

Example
-------
>>> with store_errors():
...     raise OSError("disk full")
Traceback (most recent call last):
kernel.errors.StoreUnavailable: a store failed: disk full (look at the disk; if it persists, run muniment rebuild)
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from kernel.errors import BaseInUse, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# RocksDB's words for a lock held by another process, and by another opening in this one.
_LOCKED: Final = re.compile(r"IO error: (?:While lock file|lock hold by)")
_REMEDY: Final = "look at the disk; if it persists, run muniment rebuild"


@contextmanager
def store_errors() -> Iterator[None]:
    """Turns what a store raises, also where it refuses our own text, into `StoreUnavailable`."""
    try:
        yield
    except (OSError, RuntimeError, SyntaxError) as error:
        raise failed(error) from error


def failed(error: Exception) -> StoreUnavailable:
    """The error for a store that failed."""
    return StoreUnavailable(f"a store failed: {error}", remedy=_REMEDY)


def open_store(path: Path) -> ox.Store:
    """Opens the store in a directory, making both if need be.

    Raises:
        BaseInUse: it is open already, here or in another process.
        StoreUnavailable: it cannot be opened.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        return ox.Store(path)
    except (OSError, RuntimeError) as error:
        if _LOCKED.match(str(error)):
            raise BaseInUse(f"the store in {path} is open in another process", remedy="stop that process") from error
        raise StoreUnavailable(f"the store in {path} cannot be opened: {error}", remedy=_REMEDY) from error
