"""The snapshots that there are: each is made once, however many ask for it, kept for a while, and forgotten.

Rules
-----
* Whoever wants a snapshot that is being made waits for that one. They are made one after another, in a thread; those
  with what follows from them in another, for that can take long.
* As many are kept as `Bounds` allow, in number and in bytes on disk; the least recently used go first. One lasts as
  long as somebody reads it, kept or not. (Files that are shared with the stores by hard links count as well.)
* One that is asked for again is noted on disk, and so is there after a restart (`bridge.snapshots.sealing`); but for
  those with what follows.
* After a purge nothing made before it is kept, nor given to anybody who asks after it, and until the stores have been
  made anew none is made from them.

Example
-------
::

    snapshots = Snapshots(ledger, stores, Path("data/stores/snapshots"))
    store = snapshots.at(Wanted(head, as_of, valid_at, Projection.CURRENT))
    store.query("SELECT …")
    snapshots.close()
"""

from __future__ import annotations

import logging
import re
import shutil
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from bridge.entailment.entailer import Entailer
from bridge.snapshots.making import SnapshotMaker
from bridge.snapshots.sealing import SUFFIX, contents_of, event_of, forget_note, note_of, read_note, write_note
from bridge.snapshots.wanted import Made
from bridge.stores.checkpoints import Checkpoints, unlinked
from bridge.stores.errors import open_store
from kernel.errors import BaseInUse, ShuttingDown, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyoxigraph as ox

    from bridge.snapshots.sealing import Note
    from bridge.snapshots.wanted import Wanted
    from bridge.stores.checkpoints import Seed
    from bridge.stores.pair import OxigraphStores
    from kernel.entailment.proofs import Proved
    from kernel.ports.ledger import Ledger
    from kernel.terms import Statement

T = TypeVar("T")

log = logging.getLogger("muniment.snapshots")

_MADE: Final = "made-"
_NUMBERED: Final = re.compile(rf"{_MADE}([0-9]{{1,18}})")
_COPY: Final = ".checkpoint-"
"""In the name of a copy that was made for a worker, who sees to it that it is unlinked."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept.

    Args:
        count: snapshots, 1 or more.
        size: bytes on disk; the one that was asked for last is kept even if it is larger.
    """

    count: int = 8
    size: int = 4 * 2**30


STANDARD: Final = Bounds()


@dataclass(frozen=True, slots=True)
class Outdated:
    """What a purge has outdated: directories of snapshots, and what was being made."""

    paths: tuple[Path, ...]
    going: tuple[Future[None], ...]


class _Kept:
    """A snapshot in the cache: made, being made, or noted on disk since before."""

    def __init__(self, note: Note | None = None, directory: Path | None = None) -> None:
        self.future: Future[Made] = Future()
        self.note = note
        self.directory = directory
        self.begun = False
        self.asked = 0
        self.size = 0
        self.noted = note is not None


class Snapshots:
    """Makes and keeps snapshots; safe from any thread.

    Args:
        ledger: the truth.
        stores: of today.
        directory: where they are kept; None: in memory.
        bounds: how much is kept.
    """

    def __init__(
        self, ledger: Ledger, stores: OxigraphStores, directory: Path | None, bounds: Bounds = STANDARD
    ) -> None:
        self._ledger = ledger
        self._bounds = bounds
        self._directory = directory
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="snapshots")
        self._entailing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="entailing")
        self._numbers = count(1)
        self._kept: OrderedDict[Wanted, _Kept] = OrderedDict()
        self._unmade: set[_Kept] = set()
        self._left: list[Path] = []
        self._purged_at: int | None = None
        self._from_stores = True
        new = None if directory is None else self._new_directory
        self._maker = SnapshotMaker(ledger, stores, new)
        self._entailer = Entailer(ledger, self.seeding, new)
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
            self._find(directory)
        self._in_memory = Checkpoints(None)
        self._checkpoints = Checkpoints(None if directory is None else directory / "copy")

    @property
    def purged_at(self) -> int | None:
        """The head of the last purge; what was made before is kept nowhere."""
        return self._purged_at

    def at(self, wanted: Wanted) -> ox.Store:
        """The snapshot of a moment, only to be read.

        Raises:
            StoreUnavailable: it cannot be made.
            LedgerUnavailable: the ledger cannot be read.
            ShuttingDown: it is closing.
        """
        return self.making(wanted).result().store

    def seeding(self, wanted: Wanted) -> Future[Seed]:
        """What a store in another process begins with to be the snapshot of a moment; it raises as `at` does."""
        made = self.making(wanted)
        # In the thread in which it is made, so that it is by then.
        return self._submit(lambda: self._seed(made.result()), entailing=wanted.entailed is not None)

    def proof(self, wanted: Wanted, statement: Statement, most: int) -> Future[list[Proved]]:
        """How a statement follows at a moment, in at most so many steps. Raises `ShuttingDown`, else as `at` does."""
        return self._submit(lambda: self._entailer.proof(wanted, statement, most), entailing=True)

    def _seed(self, made: Made) -> Seed:
        return (self._in_memory if made.directory is None else self._checkpoints).seed(made.store)

    def making(self, wanted: Wanted) -> Future[Made]:
        """The snapshot of a moment, once it is made. Raises `ShuttingDown`."""
        with self._lock:
            kept = self._kept.setdefault(wanted, _Kept())
            self._kept.move_to_end(wanted)
            kept.asked += 1
            begun, kept.begun = kept.begun, True
            again = kept.asked == 2 and not kept.noted and wanted.entailed is None
        if not begun:
            self._begin(wanted, kept)
        elif again:
            self._submit(lambda: self._note(wanted, kept))
        return kept.future

    def _begin(self, wanted: Wanted, kept: _Kept) -> None:
        with self._lock:
            self._unmade.add(kept)
        try:
            self._submit(lambda: self._make(wanted, kept), entailing=wanted.entailed is not None)
        except ShuttingDown as error:
            self._fail(wanted, kept, error)
            raise

    def invalidate(self, head: int) -> Outdated:
        """Forgets every snapshot and makes none from the stores, which still have what was purged.

        To be called once a purge is committed, with the head that it made. What workers have of them goes within a
        quarter of a second (`purged_at`). Whether all that it answers is gone, `is_gone` says.
        """
        with self._lock:
            self._purged_at = head if self._purged_at is None else max(head, self._purged_at)
            self._from_stores = False
            gone = [*self._kept.values()]
            self._kept.clear()
        while gone:
            self._let_go(gone.pop())
        self._entailer.forget()
        self.sweep()
        there = () if self._directory is None else (path for path in self._directory.iterdir() if path.is_dir())
        # Each thread does one thing after another: when it comes to this, what it was making is made, or left.
        return Outdated(tuple(there), tuple(self._submit(_nothing, entailing=each) for each in (False, True)))

    def is_gone(self, outdated: Outdated) -> bool:
        """Whether nothing is left on disk of what was outdated; it is unlinked unless somebody reads it."""
        self.sweep()
        made = all(each.done() for each in outdated.going)
        left = [path for path in outdated.paths if path.exists() and (_COPY in path.name or not unlinked(path))]
        return made and not left

    def stores_made_anew(self) -> None:
        """To be called once the stores have nothing of what was purged: snapshots are made from them again."""
        with self._lock:
            self._from_stores = True

    def sweep(self) -> None:
        """Unlinks what nobody has open any more."""
        with self._lock:
            candidates, self._left = self._left, []
        held = [directory for directory in candidates if not unlinked(directory)]
        with self._lock:
            self._left += held
        self._checkpoints.sweep()

    def close(self) -> None:
        """Ends what is being made; what is noted stays for the next process."""
        self._maker.stop()
        self._entailer.close()
        self._thread.shutdown(cancel_futures=True)
        self._entailing.shutdown(cancel_futures=True)
        with self._lock:
            gone = [each for each in self._kept.values() if not each.noted]
            self._kept.clear()
            unmade, self._unmade = self._unmade, set()
        for waited_for in unmade:
            waited_for.future.set_exception(_closing())
        while gone:
            self._let_go(gone.pop())
        self.sweep()

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _make(self, wanted: Wanted, kept: _Kept) -> None:
        try:
            purged_at = self._purged_at
            made = self._reopened(kept) or self._made(wanted)
            while purged_at != self._purged_at:  # what it was made from may have had what is purged by now
                purged_at, directory = self._purged_at, made.directory
                del made
                self._leave(directory)
                self.sweep()
                made = self._made(wanted)
        except BaseException as error:
            self._fail(wanted, kept, error)
            raise
        kept.directory = made.directory
        kept.size = 0 if made.directory is None else _size(made.directory)
        kept.future.set_result(made)
        with self._lock:
            self._unmade.discard(kept)
            forgotten = self._kept.get(wanted) is not kept
        if forgotten:
            self._leave(made.directory)
        del made
        self._trim()

    def _made(self, wanted: Wanted) -> Made:
        if wanted.entailed is not None:
            return self._entailer.make(wanted)
        return self._maker.make(wanted, from_stores=self._from_stores)

    def _fail(self, wanted: Wanted, kept: _Kept, error: BaseException) -> None:
        """Tells those who wait, and has the next one try again."""
        with self._lock:
            self._unmade.discard(kept)
            if self._kept.get(wanted) is kept:
                del self._kept[wanted]
        kept.future.set_exception(error)

    def _reopened(self, kept: _Kept) -> Made | None:
        """The snapshot as an earlier process left it, if it is all there and of this ledger."""
        note, directory = kept.note, kept.directory
        if note is None or directory is None:
            return None
        kept.noted = False
        try:
            with self._ledger.reading() as view:
                same = event_of(view, note.head) == note.event
            if same:
                store = open_store(directory)
                if contents_of(store) == (note.count, note.digest):
                    kept.noted = True
                    return Made(store, directory)
                del store
        except (StoreUnavailable, BaseInUse, OSError, RuntimeError):
            log.exception("a snapshot cannot be opened; it is made anew")
        self._discard(directory)
        return None

    def _note(self, wanted: Wanted, kept: _Kept) -> None:
        """Notes a snapshot that was asked for again, so that it is there after a restart."""
        directory = kept.directory
        if directory is None or not kept.future.done() or kept.future.exception() is not None:
            return
        store = kept.future.result().store
        try:
            store.flush()
            with self._ledger.reading() as view:
                note = note_of(wanted, view, store)
            with self._lock:
                if note is not None and self._kept.get(wanted) is kept:
                    write_note(directory, note)
                    kept.noted = True
        except (OSError, RuntimeError):
            log.exception("a snapshot cannot be noted; it will be gone after a restart")

    def _trim(self) -> None:
        """Forgets the least recently used beyond the bounds."""
        gone: list[_Kept] = []
        with self._lock:
            while len(self._kept) > 1 and self._is_too_much():
                gone.append(self._kept.popitem(last=False)[1])
        while gone:
            self._let_go(gone.pop())
        self.sweep()

    def _is_too_much(self) -> bool:
        return (
            len(self._kept) > self._bounds.count or sum(each.size for each in self._kept.values()) > self._bounds.size
        )

    # --- directories --------------------------------------------------------------------------------------------------

    def _find(self, directory: Path) -> None:
        """What an earlier process noted; all else is unlinked."""
        numbers = [int(path.name.removeprefix(_MADE)) for path in directory.glob(f"{_MADE}*[0-9]")]
        self._numbers = count(
            1 + max(numbers, default=0)
        )  # no name is given twice: it may be on a list of outdated ones
        for path in sorted(directory.iterdir()):
            note = read_note(path) if path.is_dir() and path.name.startswith(_MADE) else None
            if path.is_dir() and note is None:
                self._discard(path)
            elif note is not None:
                kept = self._kept[note.wanted] = _Kept(note, path)
                kept.size = _size(path)
        for path in directory.glob(f"*{SUFFIX}"):
            if not path.with_suffix("").exists():
                path.unlink()

    def _new_directory(self) -> Path:
        if self._directory is None:
            raise ValueError("snapshots in memory have no directories")
        return self._directory / f"{_MADE}{next(self._numbers)}"

    def _let_go(self, kept: _Kept) -> None:
        """Takes what is no longer kept for unlinking, once nobody reads it."""
        if kept.future.done() and kept.future.exception() is None:
            kept.directory = kept.future.result().directory
        self._leave(kept.directory)

    def _leave(self, directory: Path | None) -> None:
        if directory is not None:
            forget_note(directory)
            with self._lock:
                self._left.append(directory)

    def _discard(self, directory: Path) -> None:
        forget_note(directory)
        shutil.rmtree(directory, ignore_errors=True)

    def _submit(self, work: Callable[[], T], *, entailing: bool = False) -> Future[T]:
        try:
            return (self._entailing if entailing else self._thread).submit(work)
        except RuntimeError as error:  # the thread takes nothing any more
            raise _closing() from error


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir())


def _nothing() -> None:
    """What a thread does to say that it is done with what went before."""


def _closing() -> ShuttingDown:
    return ShuttingDown("the base is closing", remedy="ask again once it is served")
