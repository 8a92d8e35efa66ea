"""How a snapshot is made: from what is there today and what differs, or afresh from the ledger.

Rules
-----
* A snapshot of a moment has the statements believed at its as-of and true at its valid-at, in the same two projections
  as the stores of the head: so that the same query with the same dataset runs on either.
* The complete one also has the history graphs as they were at as-of, if they are asked for: what was recorded by then,
  without supersessions that came later; `valid-at` does not touch history. Where they are not asked for, it may have
  history of any other moment: no dataset of a query that asks for none reaches it.
* From a checkpoint of a store of today it takes away what did not hold and adds what held. That is quicker where less
  differs than there is: both are counted in the ledger. The checkpoint may be a step behind what the ledger says that
  differs, and never ahead: it is taken first. It has everything up to as-of, or is not used.
* Little is made in memory. Nothing is made from stores that a purge has not reached yet.
* One that was made from a checkpoint is counted, and so is what the ledger has of its data graphs, before anybody uses
  it. If they do not agree it is made afresh.

Example
-------
::

    made = SnapshotMaker(ledger, stores, directory).make(Wanted(head, as_of, valid_at, Projection.CURRENT))
    made.store.query("SELECT …")
"""

from __future__ import annotations

import logging
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, TypeVar

import pyoxigraph as ox

from bridge.stores.encoding import evidence_text, fact_text, statement_text, supersession_text
from bridge.stores.errors import open_store, store_errors
from bridge.stores.projections import Projection
from bridge.stores.transactions import Backlog
from kernel.errors import ShuttingDown
from kernel.vocabulary import GOVERNANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from bridge.stores.pair import OxigraphStores
    from kernel.instants import Instant
    from kernel.ports import Ledger, LedgerView

T = TypeVar("T")

_CHUNK: Final = 4_096
"""Blocks of text that are written at once."""

_AT_ONCE: Final = 16
"""Such pieces that are loaded at once into a directory: a bulk load takes 30 ms to get going."""

IN_MEMORY: Final = 20_000
"""Blocks of text up to which what is made afresh is kept in memory: some 20 MB."""

_DEARER: Final = 2
"""What a statement that differs costs, by what one costs that is read afresh."""

_OPENING: Final = 5_000
"""Statements that are read afresh in the time that it takes to copy and open a store."""

log = logging.getLogger("muniment.snapshots")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which snapshot. Between two heads every as-of is the same moment.

    Args:
        head: the last head by as-of; None before the first certificate, when nothing was believed.
        as_of: as believed when.
        valid_at: as true when.
        projection: which graphs.
        history: whether the complete projection is to have its history graphs, which are most of it.
    """

    head: int | None
    as_of: Instant | None = field(compare=False)
    valid_at: Instant
    projection: Projection
    history: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """A snapshot: a store that is only read, and its directory; None: it is in memory."""

    store: ox.Store
    directory: Path | None


class SnapshotMaker:
    """Makes snapshots, in one thread.

    Args:
        ledger: the truth.
        stores: of today.
        directory: gives a name for a directory that nothing has; None: all is in memory.
    """

    def __init__(self, ledger: Ledger, stores: OxigraphStores, directory: Callable[[], Path] | None) -> None:
        self._ledger = ledger
        self._stores = stores
        self._directory = directory
        self._stopped = False

    def stop(self) -> None:
        """Has whatever is being made fail soon, with `ShuttingDown`."""
        self._stopped = True

    def make(self, wanted: Wanted, *, from_stores: bool = True) -> Made:
        """Makes one.

        Args:
            wanted: which.
            from_stores: whether the stores of today may be used.

        Raises:
            StoreUnavailable: it cannot be made.
            LedgerUnavailable: the ledger cannot be read.
            ShuttingDown: it was stopped.
        """
        as_of = wanted.as_of
        if wanted.head is None or as_of is None:
            return Made(ox.Store(), None)
        with store_errors():
            if from_stores and self._directory is not None and self._differs_little(wanted, as_of):
                made = self._from_checkpoint(wanted, as_of)
                if made is not None:
                    return made
            return self._afresh(wanted, as_of)

    # --- afresh -------------------------------------------------------------------------------------------------------

    def _afresh(self, wanted: Wanted, as_of: Instant) -> Made:
        with self._ledger.reading() as view:
            texts = self._going(snapshot_texts(view, as_of, wanted.valid_at, wanted.projection, history=wanted.history))
            first = [*islice(texts, IN_MEMORY // _CHUNK)]
            more = [*islice(texts, 1)]
            if more and self._directory is not None:
                return self._on_disk(chain(first, more, texts), self._directory())
            store = ox.Store()
            for text in chain(first, more, texts):
                store.load(text, ox.RdfFormat.TRIG)
            return Made(store, None)

    def _on_disk(self, texts: Iterator[str], directory: Path) -> Made:
        with _gone_if_it_fails(directory):
            store = open_store(directory)
            while text := "".join(islice(texts, _AT_ONCE)):
                store.bulk_load(text, ox.RdfFormat.TRIG)
        return Made(store, directory)

    def _going(self, pieces: Iterable[T]) -> Iterator[T]:
        for piece in pieces:
            if self._stopped:
                raise ShuttingDown("the base is closing", remedy="ask again once it is served")
            yield piece

    # --- from what is there today -------------------------------------------------------------------------------------

    def _differs_little(self, wanted: Wanted, as_of: Instant) -> bool:
        """Whether it is quicker to change a copy of today's store, if it has got there, than to read all there was."""
        state = self._stores.feed.state
        if state.head is None or wanted.head is None or state.head < wanted.head:
            return False
        with self._ledger.reading() as view:
            there = view.count_at(as_of, wanted.valid_at)
            most = max(0, there - _OPENING) // _DEARER
            return most > 0 and view.count_since(as_of, wanted.valid_at, state.clock, most=most) <= most

    def _from_checkpoint(self, wanted: Wanted, as_of: Instant) -> Made | None:
        """A copy of today's store, changed to what it was at the moment; None: it did not come out right."""
        clock = self._stores.feed.state.clock
        seed = self._stores.seed(wanted.projection)
        if seed.path is None or self._directory is None:
            return None
        directory = seed.path.rename(self._directory())
        with _gone_if_it_fails(directory):
            store = open_store(directory)
            backlog = Backlog()
            with self._ledger.reading() as view:  # after the copy: it knows all that is in it
                for removed, added in self._going(_differences(view, wanted, as_of, clock)):
                    backlog.write(store, removed, added)
                    backlog.write_out(store)
                if wanted.projection is Projection.COMPLETE or len(store) == _expected(view, wanted, as_of):
                    return Made(store, directory)
        log.error("a snapshot of head %s does not agree with the ledger: it is made afresh", wanted.head)
        del store
        shutil.rmtree(directory, ignore_errors=True)
        return None


@contextmanager
def _gone_if_it_fails(directory: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _expected(view: LedgerView, wanted: Wanted, as_of: Instant) -> int:
    """How many statements there were in data graphs."""
    governed = view.count_at(as_of, wanted.valid_at, graphs=sorted(GOVERNANCE, key=lambda graph: graph.value))
    return view.count_at(as_of, wanted.valid_at) - governed


def _differences(view: LedgerView, wanted: Wanted, as_of: Instant, clock: Instant) -> Iterator[tuple[str, str]]:
    """What to take from a store of today, and what to add, in pieces."""
    held: dict[str, None] = {}
    others: dict[str, None] = {}
    for statement, then in view.statements_since(as_of, wanted.valid_at, clock):
        if wanted.projection.shows(statement.graph):
            (held if then else others)[statement_text(statement)] = None
    for removed in _pieces(text for text in others if text not in held):
        yield removed, ""
    if wanted.history:
        for removed in _pieces(_later(view, as_of)):
            yield removed, ""
    for added in _pieces(held):
        yield "", added


def _later(view: LedgerView, as_of: Instant) -> Iterator[str]:
    """What history has come by since."""
    until = view.head().instant
    if until is None:
        return
    for fact in view.facts_recorded(as_of, until):
        if fact.superseded is not None:
            yield supersession_text(fact)
        if fact.recorded_at > as_of:
            yield fact_text(fact)
    for evidence, graph in view.evidence_recorded(as_of, until):
        yield evidence_text(evidence, graph)


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    series = iter(texts)
    while text := "".join(islice(series, _CHUNK)):
        yield text


def snapshot_texts(
    view: LedgerView, as_of: Instant, valid_at: Instant, projection: Projection, *, history: bool
) -> Iterator[str]:
    """What a snapshot holds, as TriG in chunks of bounded size; read them within the view's context."""
    return _pieces(chain(_current(view, as_of, valid_at, projection), _history(view, as_of) if history else ()))


def _current(view: LedgerView, as_of: Instant, valid_at: Instant, projection: Projection) -> Iterator[str]:
    for statement in view.statements_at(as_of, valid_at):
        if projection.shows(statement.graph):
            yield statement_text(statement)


def _history(view: LedgerView, as_of: Instant) -> Iterator[str]:
    for fact in view.facts_recorded(None, as_of):
        yield fact_text(fact)
        if fact.superseded is not None and fact.superseded.at <= as_of:
            yield supersession_text(fact)
    for evidence, graph in view.evidence_recorded(None, as_of):
        yield evidence_text(evidence, graph)
