"""What the files of the stores were when they were closed: one that was damaged meanwhile is not opened.

Rules
-----
* RocksDB has checksums of its own, and reads a block when somebody asks for it. Of one that is damaged nothing is
  served; but the engine gives the error again and again, so that whatever takes all there is before it answers, to sort
  or to count, never ends, and takes all memory. So the files are held against a list that is written when the base is
  closed: when it is opened, and by the audit. That takes 0.7 s a gigabyte.
* Files of sorted tables never change once they are there. So only those are hashed that are new, and those that are
  gone, or came after the list, say nothing.

Example
-------
::

    seal_stores(Path("data/stores"))
    require_whole(Path("data/stores"))           # raises DamagedBase, which names complete/000015.sst
"""

from __future__ import annotations

import json
import logging
from hashlib import file_digest
from typing import TYPE_CHECKING, Final

from kernel.errors import DamagedBase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEALED: Final = "sealed.json"
_TABLES: Final = ("complete*/*.sst", "current*/*.sst")

log = logging.getLogger("muniment.stores")


def seal_stores(stores: Path) -> None:
    """Writes the list, of stores that are closed. A base whose list cannot be written is a base all the same."""
    try:
        known = _read(stores)
        files = {str(path.relative_to(stores)): path for pattern in _TABLES for path in stores.glob(pattern)}
        sealed = {name: known.get(name) or _digest(path) for name, path in files.items()}
        if sealed != known:
            pending = stores / f".{SEALED}"
            pending.write_text(json.dumps(sealed, indent=1), encoding="utf-8")
            pending.replace(stores / SEALED)
    except (OSError, ValueError):
        log.warning("the files of the stores were not sealed", exc_info=True)


def damaged_files(stores: Path) -> Iterator[str]:
    """Files that are not as they were. Raises `OSError`, or `ValueError` for a list that cannot be read."""
    for name, digest in sorted(_read(stores).items()):
        path = stores / name
        if path.is_file() and _digest(path) != digest:
            yield name


def require_whole(stores: Path) -> None:
    """Passes stores whose files are as they were closed, as far as that is known. Raises `DamagedBase`."""
    try:
        damaged = next(damaged_files(stores), None)
    except (OSError, ValueError) as error:
        damaged = f"{SEALED}, which cannot be read: {error}"
    if damaged is not None:
        raise DamagedBase(
            f"the stores are not as they were closed: {damaged}",
            remedy="look at the disk, and delete that folder: the next start makes the stores anew from the ledger",
            where=str(stores),
        )


def _read(stores: Path) -> dict[str, str]:
    path = stores / SEALED
    if not path.exists():
        return {}
    sealed = json.loads(path.read_bytes())
    if not isinstance(sealed, dict) or not all(isinstance(each, str) for each in sealed.values()):
        raise ValueError("it is no list of files")
    return sealed


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
