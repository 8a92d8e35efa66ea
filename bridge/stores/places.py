"""Where the stores of a base lie: each time that they are made anew, in directories of another number.

Rules
-----
* A store is made anew beside the one in use, which may be read until it is unlinked: so the new one has another name.
  The first is `current`, the next `current-1`, and so on; the highest number counts.
* A directory has such a name only once all of it is there. It is made under another one: `anew` and a number.
* Whatever else lies beside the stores is left over from a process that was killed, but for the snapshots.

Example
-------
::

    path = store_directory(Path("data/stores"), Projection.CURRENT)      # data/stores/current-1
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Final

from bridge.stores.projections import Projection

if TYPE_CHECKING:
    from pathlib import Path

SNAPSHOTS: Final = "snapshots"
ANEW: Final = "anew"

_NUMBERED: Final = re.compile(r"(complete|current)(?:-([1-9][0-9]{0,8}))?")
_LEFT: Final = re.compile(r"(complete|current)(?:-([1-9][0-9]{0,8}))?(?:\.checkpoint-[0-9]+)?")


def store_directory(stores: Path, projection: Projection) -> Path:
    """The directory of a store, which may not be there yet."""
    return _directory(stores, projection, _number(stores, projection) or 0)


def next_directory(stores: Path, projection: Projection) -> Path:
    """The directory for one that is to take its place."""
    number = _number(stores, projection)
    return _directory(stores, projection, 0 if number is None else number + 1)


def outdated(stores: Path) -> list[Path]:
    """The directories of stores that have a successor, and of checkpoints of them."""
    numbers = {projection.value: _number(stores, projection) or 0 for projection in Projection}
    named = ((_LEFT.fullmatch(path.name), path) for path in stores.iterdir() if path.is_dir())
    return [path for name, path in named if name is not None and int(name[2] or 0) < numbers[name[1]]]


def sweep(stores: Path) -> None:
    """Unlinks what is left over beside stores that nobody has open."""
    kept = {SNAPSHOTS, *(store_directory(stores, projection).name for projection in Projection)}
    for path in stores.iterdir() if stores.is_dir() else ():
        if path.is_dir() and path.name not in kept:
            shutil.rmtree(path, ignore_errors=True)


def _number(stores: Path, projection: Projection) -> int | None:
    """The highest number; None where there is no store yet."""
    names = (_NUMBERED.fullmatch(path.name) for path in stores.glob(f"{projection}*") if path.is_dir())
    return max((int(name[2] or 0) for name in names if name is not None), default=None)


def _directory(stores: Path, projection: Projection, number: int) -> Path:
    return stores / (f"{projection}-{number}" if number else projection.value)
