"""Snapshots: a store of a moment, at any pair of times, made from the ledger and kept for a while.

Rules
-----
* A snapshot at (as-of, valid-at) has the statements believed at as-of and true at valid-at, in the same two projections
  as the stores of the head: so that the same query with the same dataset runs on either.
* The complete one also has the history graphs as they were at as-of, unless the query names none: what was recorded by
  then, without supersessions that came later. `valid-at` does not touch history.
* Between two heads every as-of is the same moment. Whoever wants a snapshot that is being made waits for that one.
* The least recently used go first. A snapshot lasts as long as somebody reads it, kept or not.
* After a purge nothing made from an older view of the ledger is kept, nor given to whoever sees the purge.

Example
-------
::

    with ledger.reading() as view:
        store = snapshots.at(view, as_of, valid_at, Projection.CURRENT)
    store.query("SELECT …")
"""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future
from itertools import chain, islice
from threading import Lock
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.stores.encoding import evidence_text, fact_text, statement_text, supersession_text
from bridge.stores.errors import store_errors
from bridge.stores.projections import Projection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.instants import Instant
    from kernel.ports import LedgerView

CAPACITY: Final = 8
"""How many snapshots are kept."""

_CHUNK: Final = 4_096
"""Blocks of text that are loaded at once; a snapshot that is being made is seen by nobody."""

_Contents = tuple[Projection, bool]
_Key = tuple[int | None, "Instant", _Contents]


class Snapshots:
    """Makes and keeps snapshots; safe from any thread.

    Args:
        capacity: how many are kept, 1 or more.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._kept: OrderedDict[_Key, Future[ox.Store]] = OrderedDict()
        self._purged_at: int | None = None

    @property
    def purged_at(self) -> int | None:
        """The head of the last purge; what was made from older views is kept nowhere."""
        return self._purged_at

    def at(
        self,
        view: LedgerView,
        as_of: Instant | None,
        valid_at: Instant,
        projection: Projection,
        *,
        with_history: bool = True,
    ) -> ox.Store:
        """The snapshot of a moment, only to be read.

        Args:
            view: the ledger; it may have moved on since.
            as_of: as believed when; None: before the first certificate, when nothing was.
            valid_at: as true when.
            projection: which graphs.
            with_history: whether the complete projection is to have its history graphs, which are most of it.

        Raises:
            StoreUnavailable: it cannot be made.
            LedgerUnavailable: the ledger cannot be read.
        """
        history = with_history and projection is Projection.COMPLETE
        key = (None if as_of is None else view.head_at(as_of), valid_at, (projection, history))
        made: Future[ox.Store] = Future()
        with self._lock:
            found = made if self._is_stale(view) else self._keep(key, made)
        if found is made:
            self._make(key, made, view, as_of)
        return found.result()

    def invalidate(self, head: int) -> None:
        """Forgets every snapshot; to be called once a purge is committed, with the head that it made."""
        with self._lock:
            self._purged_at = head if self._purged_at is None else max(head, self._purged_at)
            self._kept.clear()

    def _is_stale(self, view: LedgerView) -> bool:
        """Whether the view is older than the last purge."""
        if self._purged_at is None:
            return False
        position = view.head().position
        return position is None or position < self._purged_at

    def _keep(self, key: _Key, made: Future[ox.Store]) -> Future[ox.Store]:
        """What is kept under the key already, or else what is to be made."""
        found = self._kept.setdefault(key, made)
        self._kept.move_to_end(key)
        if len(self._kept) > self._capacity:
            self._kept.popitem(last=False)
        return found

    def _make(self, key: _Key, made: Future[ox.Store], view: LedgerView, as_of: Instant | None) -> None:
        _, valid_at, contents = key
        try:
            made.set_result(ox.Store() if as_of is None else _snapshot(view, as_of, valid_at, contents))
        except BaseException as error:
            with self._lock:
                if self._kept.get(key) is made:
                    del self._kept[key]
            made.set_exception(error)
            raise


def snapshot_texts(
    view: LedgerView, as_of: Instant, valid_at: Instant, projection: Projection, *, history: bool
) -> Iterator[str]:
    """What a snapshot holds, as TriG in chunks of bounded size; read them within the view's context."""
    texts = chain(_current(view, as_of, valid_at, projection), _history(view, as_of) if history else ())
    while text := "".join(islice(texts, _CHUNK)):
        yield text


def _snapshot(view: LedgerView, as_of: Instant, valid_at: Instant, contents: _Contents) -> ox.Store:
    projection, history = contents
    store = ox.Store()
    with store_errors():
        for text in snapshot_texts(view, as_of, valid_at, projection, history=history):
            store.load(text, ox.RdfFormat.TRIG)
    return store


def _current(view: LedgerView, as_of: Instant, valid_at: Instant, projection: Projection) -> Iterator[str]:
    for fact in view.facts_at(as_of, valid_at):
        if projection.shows(fact.statement.graph):
            yield statement_text(fact.statement)


def _history(view: LedgerView, as_of: Instant) -> Iterator[str]:
    for fact in view.facts_recorded(None, as_of):
        yield fact_text(fact)
        if fact.superseded is not None and fact.superseded.at <= as_of:
            yield supersession_text(fact)
    for evidence, graph in view.evidence_recorded(None, as_of):
        yield evidence_text(evidence, graph)
