"""A store that one thread changes and many read, each read at an exact state.

Rules
-----
* A reader starts its query and gets with it the state that the query is answered for. Oxigraph answers a query from the
  store as it was when the query started, so it is only the start that has to fall between two changes.
* Readers take no lock: they look whether a change came in between, and if so start again with the writer held back. A
  query that takes long to start (to sort or to count is to start) has a checkpoint made for it instead. So the writer
  waits for short starts only, and never for what comes after a start.
* While the store is frozen, readers have a checkpoint: nothing that is written is seen until the store is served again.
* What is not served is not read: not before a store is brought up, not after a write failed, not once it is closed.

Example
-------
::

    served = ServedStore(None)
    with served.changing() as store:
        store.load(text, RdfFormat.TRIG)
        served.serve(state)
    solutions, state = served.read(lambda store: store.query("SELECT …"))
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeVar

import pyoxigraph as ox

from bridge.stores.checkpoints import Checkpoints
from bridge.stores.errors import failed, open_store, store_errors
from kernel.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bridge.stores.checkpoints import Seed
    from bridge.stores.markers import StoreState

T = TypeVar("T")

BRIEF: Final = 0.005
"""Seconds. A query that starts within them may hold the writer back for as long when it is started again."""


@dataclass(frozen=True, slots=True, eq=False)
class _Serving:
    """What readers read, and the state of it; frozen: it will never change."""

    store: ox.Store
    state: StoreState
    frozen: bool = False


class ServedStore:
    """A store with its readers. `read` may be called from any thread, all else from one.

    Args:
        path: the store's directory; None for memory.

    Raises:
        BaseInUse: the directory is open in another process.
        StoreUnavailable: the directory cannot be opened.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._store: ox.Store | None = _opened(path)
        self._closed = False
        self._checkpoints = Checkpoints(path)
        self._quiet = Lock()
        self._serving: _Serving | None = None
        self._freezes = 0

    @property
    def store(self) -> ox.Store:
        """The store itself, for the thread that changes it. Raises `StoreUnavailable` once it is closed."""
        if self._closed:
            raise StoreUnavailable("the store is closed", remedy="open the base again")
        if self._store is None:
            self._store = _opened(self._path)
        return self._store

    def open_anew(self) -> None:
        """Lets go of a store on disk that failed, so that it is opened anew when it is next asked for.

        The engine writes nothing more once its disk has failed it, however well the disk is again. It cannot be opened
        before the last query on it is done.
        """
        with self._quiet:
            if self._path is not None:
                if self._serving is not None and not self._serving.frozen:
                    self._serving = None
                self._store = None
                gc.collect()  # the traceback of what failed may have it still

    @contextmanager
    def changing(self) -> Iterator[ox.Store]:
        """Holds readers back, unless they have a checkpoint; they read on once `serve` is called within."""
        with self._quiet, store_errors():
            store = self.store
            if self._serving is not None and not self._serving.frozen:
                self._serving = None
            yield store

    def serve(self, state: StoreState) -> None:
        """Lets readers read the store, which stands at the state; within `changing`."""
        self._serving = _Serving(self.store, state)

    def freeze(self) -> None:
        """Puts readers, if there are any, on a checkpoint of the store as it is. Raises `StoreUnavailable`."""
        with self._quiet, store_errors():
            self._freezes += 1
            serving = self._serving
            if serving is not None and not serving.frozen:
                self._serving = _Serving(self._checkpoints.take(serving.store), serving.state, frozen=True)

    def sweep(self) -> None:
        """Unlinks the checkpoints that nobody reads any more."""
        self._checkpoints.sweep()

    def read(self, start: Callable[[ox.Store], T]) -> tuple[T, StoreState]:
        """Starts a query at an exact state.

        Args:
            start: starts the query and answers its result, which may be consumed at leisure. It only reads, and may be
                called more than once.

        Returns:
            What `start` answered, and the state that this is the answer for.

        Raises:
            StoreUnavailable: the store is not brought up to the ledger, failed, or is closed.
        """
        try:
            return self._read(start)
        except OSError as error:  # whatever else a query raises is about the query
            raise failed(error) from error

    def glance(self, start: Callable[[ox.Store], T]) -> tuple[T, StoreState] | None:
        """As `read`, for who cannot wait: None where a change is going on, or came in between."""
        serving = self._serving
        if serving is None:
            return None
        result = start(serving.store)
        return (result, serving.state) if self._serving is serving else None

    def seed(self) -> Seed:
        """What a store in another process begins with: as this one is served now, or with changes made since.

        The copy is made while the store goes on, and the writer waits for nothing. Each single change is in it whole or
        not at all; one that was begun in the meantime is done before this answers. Of a load it has nothing: that would
        be in it by half.

        Raises:
            StoreUnavailable: the store is not brought up to the ledger, failed, or is closed.
        """
        while True:
            freezes = self._freezes
            serving = self._serving or self._awaited()
            with store_errors():
                seed = self._checkpoints.seed(serving.store)
            with self._quiet:
                if freezes == self._freezes:
                    return seed
            seed.discard()

    def close(self) -> None:
        """Closes the store as soon as the last query on it is done."""
        with self._quiet, store_errors():
            self._closed, self._serving, store, self._store = True, None, self._store, None
            if store is not None:
                store.flush()
        self.sweep()

    def _read(self, start: Callable[[ox.Store], T]) -> tuple[T, StoreState]:
        serving = self._serving or self._awaited()
        began = monotonic()
        result = start(serving.store)
        if serving.frozen or self._serving is serving:
            return result, serving.state
        del result  # it may hold much, and the store as it was
        return self._read_quietly(start) if monotonic() - began < BRIEF else self._read_checkpoint(start)

    def _awaited(self) -> _Serving:
        """What is served once the change that is going on is done."""
        with self._quiet:
            return self._served()

    def _served(self) -> _Serving:
        if self._serving is None:
            raise StoreUnavailable("the store is not brought up to the ledger", remedy="try again shortly")
        return self._serving

    def _read_quietly(self, start: Callable[[ox.Store], T]) -> tuple[T, StoreState]:
        with self._quiet:
            serving = self._served()
            return start(serving.store), serving.state

    def _read_checkpoint(self, start: Callable[[ox.Store], T]) -> tuple[T, StoreState]:
        self.sweep()
        with self._quiet:
            serving = self._served()
            store = serving.store if serving.frozen else self._checkpoints.take(serving.store)
        return start(store), serving.state


def _opened(path: Path | None) -> ox.Store:
    return ox.Store() if path is None else open_store(path)
