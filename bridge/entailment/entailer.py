"""Snapshots with what follows from them: made from a plain one and a closure, and moved on as the base moves.

Rules
-----
* There is one closure for each regime and set of premises (`bridge.entailment.regimes`), of the `KEPT` that were asked
  for last, in a process of its own within `LIMITS`. It stands at one moment. Asked for another, it is moved by what
  differs, or made anew where that is much.
* A snapshot is the one that was made last, changed by what its closure was told and what that said; or, where there is
  none, a plain snapshot of the moment with all that follows.
* What failed, failed: whoever asks for the same within `PAUSE` seconds is told so at once. The process that gave no
  answer is ended, with all its closures.
* After a purge nothing is kept that was made before it.
* One thread asks at a time.

Example
-------
::

    made = entailer.make(Wanted(head, as_of, valid_at, Projection.CURRENT, entailed=Entailed(regime, premises)))
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final

import orjson
import pyoxigraph as ox

from bridge.entailment.asking import joined
from bridge.entailment.moving import moved
from bridge.entailment.regimes import INFERRED
from bridge.replicas.direct import DirectWorker
from bridge.replicas.limits import Limits
from bridge.replicas.process import FailedFrameError, WorkerEndedError
from bridge.snapshots.wanted import Made
from bridge.stores.encoding import statement_text
from bridge.stores.errors import open_store, store_errors
from bridge.stores.projections import Projection
from bridge.stores.transactions import Backlog
from kernel.errors import QueryLimit, ShuttingDown, StoreUnavailable
from kernel.vocabulary import GOVERNANCE, ONTOLOGY_GRAPH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from bridge.entailment.moving import Moment
    from bridge.entailment.regimes import Entailed
    from bridge.snapshots.wanted import Wanted
    from bridge.stores.checkpoints import Seed
    from kernel.entailment.proofs import Proved
    from kernel.ports.ledger import Ledger
    from kernel.terms import Statement

LIMITS: Final = Limits(seconds=900, memory=3 * 2**30)
"""What a closure may take, all that is asked of it together in memory."""

KEPT: Final = 4
"""Closures that are kept."""

PAUSE: Final = 60.0
"""Seconds in which what failed is not tried again."""

_TOO_MUCH: Final = "more follows here than can be kept: it takes more than its limit of time, memory or statements"
_REMEDY: Final = "ask for the entailment `rdfs`, of fewer graphs, or for none"

log = logging.getLogger("muniment.entailment")


@dataclass(slots=True)
class _Standing:
    """A closure in the process.

    Args:
        name: of its store there.
        seed: that this was made of.
        moment: at which it stands.
        made: the snapshot of that moment with what follows; None: there is none yet.
    """

    name: str
    seed: Seed
    moment: Moment
    made: Made | None = None


class Entailer:
    """Makes snapshots with what follows from them.

    Args:
        ledger: the truth.
        seeding: gives the seed of a plain snapshot.
        directory: gives a name for a directory that nothing has; None: all is in memory.
    """

    def __init__(
        self, ledger: Ledger, seeding: Callable[[Wanted], Future[Seed]], directory: Callable[[], Path] | None
    ) -> None:
        self._ledger = ledger
        self._seeding = seeding
        self._directory = directory
        self._lock = Lock()
        self._worker: DirectWorker | None = None
        self._kept: OrderedDict[Entailed, _Standing] = OrderedDict()
        self._failed: dict[Entailed, float] = {}
        self._numbers = count(1)
        self._closed = False
        self._forgotten = 0

    def make(self, wanted: Wanted) -> Made:
        """Makes one.

        Raises:
            QueryLimit: too much follows.
            StoreUnavailable: it cannot be made.
            LedgerUnavailable: the ledger cannot be read.
            ShuttingDown: it is closing.
        """
        as_of = wanted.as_of
        if wanted.entailed is None or wanted.head is None or as_of is None:
            return Made(ox.Store(), None)
        with self._lock, store_errors():
            standing, told = self._brought_up(wanted, wanted.entailed, (as_of, wanted.valid_at))
            if wanted.projection is not Projection.CURRENT:
                return self._afresh(wanted, self._all_of(wanted.entailed, standing))
            if standing.made is None or told is not None:
                standing.made = self._afresh(wanted, told or self._all_of(wanted.entailed, standing))
            return standing.made

    def proof(self, wanted: Wanted, statement: Statement, most: int) -> list[Proved]:
        """How a statement follows at a moment; empty: it does not hold. Raises as `make` does."""
        as_of, entailed = wanted.as_of, wanted.entailed
        if entailed is None or as_of is None:
            return []
        with self._lock, store_errors():
            standing, told = self._brought_up(wanted, entailed, (as_of, wanted.valid_at))
            if told is not None:
                standing.made = None
            head = {"store": standing.name, "what": "proof", "most": most}
            _, body = self._asked(entailed, head, f"{statement.nquad}\n".encode())
            found: list[Proved] = orjson.loads(body)
            return found

    def forget(self) -> None:
        """Ends the process, and lets go of all that was made: something was purged."""
        self._forgotten += 1
        self._break_off()

    def close(self) -> None:
        """Makes nothing any more; what is being made fails."""
        self._closed = True
        self._break_off()

    def _break_off(self) -> None:
        worker = self._worker
        if worker is not None:
            worker.end()  # whoever asks it, and has the lock, is told so
        with self._lock:
            self._end()

    # --- where closures stand -----------------------------------------------------------------------------------------

    def _brought_up(self, wanted: Wanted, entailed: Entailed, moment: Moment) -> tuple[_Standing, bytes | None]:
        """The closure at a moment; and all that follows, if it was made anew."""
        if monotonic() < self._failed.get(entailed, 0.0):
            raise QueryLimit(_TOO_MUCH, remedy=_REMEDY)
        if self._worker is not None and self._worker.ended:
            self._end()
        standing = self._kept.pop(entailed, None)
        if standing is not None and (standing.moment == moment or self._moved(entailed, standing, moment)):
            self._kept[entailed] = standing
            return standing, None
        if standing is not None:
            self._let_go(standing)
        while len(self._kept) >= KEPT:
            self._let_go(self._kept.popitem(last=False)[1])
        standing, told = self._made_anew(wanted, entailed, moment)
        self._kept[entailed] = standing
        return standing, told

    def _moved(self, entailed: Entailed, standing: _Standing, moment: Moment) -> bool:
        """Whether it could be moved; its snapshot is, too."""
        with self._ledger.reading() as view:
            differing = moved(view, standing.moment, moment)
        if differing is None:
            return False
        # What governs is in no snapshot of the present, but for what the ontology gives as premises.
        gone, come = (
            [each for each in side if each.graph == ONTOLOGY_GRAPH or each.graph not in GOVERNANCE]
            for side in differing
        )
        premises = entailed.premises
        first, body = joined(*(_quads(each for each in side if premises.has(each.graph)) for side in (gone, come)))
        follows = gains = b""
        if body:
            told, found = self._asked(entailed, {"store": standing.name, "what": "follow", "first": first}, body)
            follows, gains = found[: told["first"]], found[told["first"] :]
        standing.moment = moment
        if standing.made is not None and (gone or come):
            removed, added = (
                "".join(statement_text(each) for each in side if each.graph not in GOVERNANCE) + _inferred(text)
                for side, text in ((gone, follows), (come, gains))
            )
            standing.made = self._changed(standing.made, removed, added)
        return True

    def _made_anew(self, wanted: Wanted, entailed: Entailed, moment: Moment) -> tuple[_Standing, bytes]:
        plain = replace(wanted, entailed=None, projection=Projection.CURRENT, history=False)
        seed = self._seeding(plain).result()
        standing = _Standing(f"closure-{next(self._numbers)}", seed, moment)
        try:
            self._ready().open(standing.name, seed)
        except (TimeoutError, WorkerEndedError, FailedFrameError, OSError) as error:
            self._end()
            seed.discard()
            raise StoreUnavailable("what follows cannot be worked out", remedy="try again shortly") from error
        premises = entailed.premises
        graphs = None if premises.every_data else sorted(graph.value for graph in premises.graphs)
        beside = ONTOLOGY_GRAPH.value if ONTOLOGY_GRAPH in premises.graphs else None
        head = {"store": standing.name, "what": "make", "regime": entailed.regime, "graphs": graphs, "beside": beside}
        try:
            _, told = self._asked(entailed, head, self._ontology(entailed, moment))
        except BaseException:
            seed.discard()
            raise
        return standing, told

    def _ontology(self, entailed: Entailed, moment: Moment) -> bytes:
        """What the ontology said at a moment, as premises."""
        if ONTOLOGY_GRAPH not in entailed.premises.graphs:
            return b""
        as_of, valid_at = moment
        with self._ledger.reading() as view:
            facts = view.facts_of_graph(ONTOLOGY_GRAPH, as_of=as_of, valid_at=valid_at)
            return _quads(fact.statement for fact in facts).encode()

    def _all_of(self, entailed: Entailed, standing: _Standing) -> bytes:
        return self._asked(entailed, {"store": standing.name, "what": "shown"}, b"")[1]

    # --- snapshots ----------------------------------------------------------------------------------------------------

    def _afresh(self, wanted: Wanted, inferred: bytes) -> Made:
        """A plain snapshot with what follows."""
        seed = self._seeding(replace(wanted, entailed=None)).result()
        if seed.path is None or self._directory is None:
            store, directory = ox.Store(), None
            store.bulk_load(seed.text, ox.RdfFormat.N_QUADS)
        else:
            directory = seed.path.rename(self._directory())
            store = open_store(directory)
        store.bulk_load(inferred, ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(INFERRED.value))
        return Made(store, directory)

    def _changed(self, made: Made, removed: str, added: str) -> Made:
        """A copy of a snapshot that lost and gained text."""
        if made.directory is None or self._directory is None:
            store, directory = ox.Store(), None
            store.bulk_extend(made.store)
        else:
            directory = self._directory()
            made.store.backup(directory)
            store = open_store(directory)
        Backlog().write(store, removed, added)
        return Made(store, directory)

    # --- the process --------------------------------------------------------------------------------------------------

    def _ready(self) -> DirectWorker:
        if self._closed:
            raise _closing()
        if self._worker is None:
            self._worker = DirectWorker()
        return self._worker

    def _asked(self, entailed: Entailed, head: Mapping[str, object], body: bytes) -> tuple[dict[str, int], bytes]:
        """What the process answers; one that does not is ended, with all that it had."""
        forgotten = self._forgotten
        try:
            came = self._ready().entail(head, body, LIMITS)
        except (TimeoutError, WorkerEndedError, FailedFrameError, OSError) as error:
            self._end()
            if self._closed:
                raise _closing() from error
            if forgotten != self._forgotten:
                raise StoreUnavailable("something was purged meanwhile", remedy="ask again") from error
            log.warning("what follows could not be worked out: %s", error)
            self._failed[entailed] = monotonic() + PAUSE
            raise QueryLimit(_TOO_MUCH, remedy=_REMEDY) from error
        self._failed.pop(entailed, None)
        return dict(came.head), came.body

    def _let_go(self, standing: _Standing) -> None:
        with suppress(TimeoutError, WorkerEndedError, OSError):
            if self._worker is not None:
                self._worker.forget(standing.name)
        standing.seed.discard()

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.end()
        self._worker = None
        kept, self._kept = self._kept, OrderedDict()
        for standing in kept.values():
            standing.seed.discard()


def _quads(statements: Iterable[Statement]) -> str:
    return "".join(f"{each.nquad}\n" for each in statements)


def _inferred(triples: bytes) -> str:
    """Triples as a block of the graph of what is inferred."""
    return f"GRAPH {INFERRED.n3} {{ {triples.decode()} }}\n" if triples else ""


def _closing() -> ShuttingDown:
    return ShuttingDown("the base is closing", remedy="ask again once it is served")
