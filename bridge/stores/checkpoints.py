"""Checkpoints: a store as it stood, for readers, while the store itself goes on.

Rules
-----
* On disk a checkpoint is a directory of hard links beside the store's own, made in milliseconds whatever its size, and
  opened as a store of its own. In memory, or where there is little to copy, it is a copy: making, opening and unlinking
  a directory takes as long as loading some hundred facts.
* A query that was started keeps its store open, and a store may open its files late. So a directory is unlinked only
  once nobody has it open: `sweep` tries, after a load, before the next checkpoint and on closing.
* What a killed process left behind is unlinked by the next one.
* A seed is what a store in another process begins with: a directory for it alone, or text where there is little.
  Whoever asked for it discards it.

Example
-------
::

    checkpoints = Checkpoints(path)           # or None: in memory
    frozen = checkpoints.take(store)
    del frozen
    checkpoints.sweep()
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.stores.errors import open_store
from kernel.errors import BaseInUse, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


FEW: Final = 2_000
"""Quads up to which a copy in memory, 3 µs a quad, is quicker than a directory."""

_UP_TO_FEW: Final = f"SELECT (COUNT(*) AS ?n) {{ SELECT * {{ GRAPH ?g {{ ?s ?p ?o }} }} LIMIT {FEW + 1} }}"


@dataclass(frozen=True, slots=True)
class Seed:
    """What a store in another process begins with: `path`, a directory that it may open, or else `text` in N-Quads."""

    path: Path | None
    text: bytes = b""

    def discard(self) -> None:
        """Unlinks the directory; only once no process has it open."""
        if self.path is not None:
            shutil.rmtree(self.path, ignore_errors=True)


class Checkpoints:
    """Makes and unlinks the checkpoints of one store; safe from any thread.

    Args:
        path: the store's directory; None for a store in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = Lock()
        self._numbers = count(1)
        self._left: list[Path] = []
        if path is not None:
            for leftover in path.parent.glob(f"{path.name}.checkpoint-*"):
                shutil.rmtree(leftover, ignore_errors=True)

    def take(self, store: ox.Store) -> ox.Store:
        """A store that stays as this one is now. Raises `StoreUnavailable`, or what pyoxigraph raises."""
        if self._path is None:
            return _copy(store)
        if _has_few(store):
            return _copy(store)
        target = self._next(self._path)
        try:
            store.backup(target)
            return open_store(target)
        finally:
            with self._lock:
                self._left.append(target)

    def seed(self, store: ox.Store) -> Seed:
        """What a store elsewhere begins with to stand as this one does now. Raises what pyoxigraph raises."""
        if self._path is None or _has_few(store):
            return Seed(None, ox.serialize(store, format=ox.RdfFormat.N_QUADS) or b"")
        target = self._next(self._path)
        store.backup(target)
        return Seed(target)

    def _next(self, path: Path) -> Path:
        return path.with_name(f"{path.name}.checkpoint-{next(self._numbers)}")

    def sweep(self) -> None:
        """Unlinks the checkpoints that nobody has open."""
        with self._lock:
            candidates, self._left = self._left, []
        held = [directory for directory in candidates if not unlinked(directory)]
        with self._lock:
            self._left += held


def _has_few(store: ox.Store) -> bool:
    """Told without looking up what the terms are."""
    results = store.query(_UP_TO_FEW)
    return isinstance(results, ox.QuerySolutions) and int(next(results)["n"].value) <= FEW


def _copy(quads: Iterable[ox.Quad]) -> ox.Store:
    copy = ox.Store()
    copy.bulk_extend(quads)
    return copy


def unlinked(directory: Path) -> bool:
    """Whether the directory is gone; opening it is the way to know that nobody has it open."""
    try:
        open_store(directory)
    except BaseInUse:
        return False
    except StoreUnavailable:
        pass  # half made: of no use to anybody
    shutil.rmtree(directory, ignore_errors=True)
    return not directory.exists()
