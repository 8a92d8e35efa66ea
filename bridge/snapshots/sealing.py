"""Snapshots that outlast the process: a note beside the directory, and what has to be true before it is opened again.

Rules
-----
* A note says which snapshot it is, of which state of which ledger, and has the number and the digest of its quads. It
  is written last, once all else is on disk: a directory without one was left by a killed process.
* The state of a ledger is known by the event in its log that made the head: it has the digest of all that is believed.
  A ledger that was put back from a backup and went another way from there has other events.
* Before it is used, its quads are counted and digested again. What differs is not opened twice.

Example
-------
>>> store = ox.Store()
>>> store.load("<urn:s> <urn:p> <urn:o> <urn:g> .", ox.RdfFormat.N_QUADS)
>>> contents_of(store)
(1, '4c75107303de0f7dc7a3d1095f144860')
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, cast

import pyoxigraph as ox

from bridge.snapshots.wanted import Wanted
from bridge.stores.projections import Projection
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from pathlib import Path
    from typing import IO

    from kernel.ports.ledger import LedgerView

VERSION: Final = 1
SUFFIX: Final = ".json"


@dataclass(frozen=True, slots=True)
class Note:
    """What is noted of a snapshot.

    Args:
        version: of the note.
        event: the digest of the event that made its head.
        head: its head.
        valid_at: as true when, in microseconds.
        projection: which graphs.
        history: whether it has history.
        count: how many quads.
        digest: of its quads.
    """

    version: int
    event: str
    head: int
    valid_at: int
    projection: str
    history: bool
    count: int
    digest: str

    @property
    def wanted(self) -> Wanted:
        """Which snapshot it is."""
        return Wanted(self.head, None, Instant(self.valid_at), Projection(self.projection), self.history)


def note_of(wanted: Wanted, view: LedgerView, store: ox.Store) -> Note | None:
    """What to note of a snapshot; None: before the first head there is nothing to keep."""
    if wanted.head is None:
        return None
    count, digest = contents_of(store)
    event = event_of(view, wanted.head)
    return Note(VERSION, event, wanted.head, wanted.valid_at, wanted.projection.value, wanted.history, count, digest)


def event_of(view: LedgerView, head: int) -> str:
    """The digest of the event that made a head; of nothing, where there is no such head."""
    return sha256(b"".join(view.events(head, 1))).hexdigest()


def contents_of(store: ox.Store) -> tuple[int, str]:
    """How many quads a store has, and the digest of them in the order in which it keeps them."""
    digest = _Digest()
    store.dump(cast("IO[bytes]", digest), ox.RdfFormat.N_QUADS)
    return len(store), digest.hash.hexdigest()[:32]


def write_note(directory: Path, note: Note) -> None:
    """Notes a snapshot beside its directory. Raises `OSError`."""
    path = _path(directory)
    pending = path.with_suffix(".pending")
    pending.write_text(json.dumps(asdict(note)), encoding="utf-8")
    pending.rename(path)


def read_note(directory: Path) -> Note | None:
    """What was noted of a directory; None for what is not understood."""
    try:
        return Note(**json.loads(_path(directory).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def forget_note(directory: Path) -> None:
    """So that the directory is never opened again. Raises `OSError`."""
    _path(directory).unlink(missing_ok=True)


def _path(directory: Path) -> Path:
    return directory.with_name(directory.name + SUFFIX)


class _Digest:
    """A file that keeps a hash of what is written to it."""

    def __init__(self) -> None:
        self.hash = sha256()

    def write(self, data: bytes) -> int:
        """Takes bytes."""
        self.hash.update(data)
        return len(data)

    def flush(self) -> None:
        """Nothing."""
