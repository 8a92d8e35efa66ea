"""What the operations of an update come to, over one state of a base.

Rules
-----
* Operations run in order. Each WHERE sees the state and what the operations before it came to, is evaluated once, and
  before anything of its own operation is done; then all that it deletes is deleted, and then what it inserts inserted
  (SPARQL 1.1 Update, section 3.1.3).
* While nothing is changed yet, a WHERE is evaluated on the stores as they are. Afterwards on a copy, a checkpoint where
  the base lies on disk, which is brought to what has come of it so far.
* By default the default graph is the union of what the caller may read: a triple that is deleted without naming a
  graph goes from every data graph that the caller may write and in which it is current; one that is inserted goes to
  `m:default`. Strictly, the default graph is `m:default` alone. WITH names another graph for both.
* A WHERE reads what a query would read, but that `GRAPH ?g` ranges over data graphs, unless the WHERE names others.
* CLEAR, DROP, COPY and MOVE never empty a reserved graph. ALL and NAMED are the data graphs that the caller may write.
* A graph is there while something is current in it. SILENT keeps what the specification calls a failure from being
  one, and nothing that is forbidden.

Example
-------
::

    runner = Runner(stores, checkpoints, scene)
    for operation in parse_update(text):
        runner.run(reader.told(operation))
    runner.effect.changes(view, at)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.sparql.dataset import Dataset, dataset_for
from bridge.sparql.query import evaluate, evaluation_errors
from bridge.sparql.scan import scan
from bridge.sparql.update.operations import (
    Clear,
    Convey,
    Create,
    Modify,
    Reach,
    Transfer,
    Using,
)
from bridge.sparql.update.templates import BlockReader, Solutions, Told
from bridge.stores.errors import store_errors
from bridge.stores.projections import Projection
from bridge.terms import OxigraphCanonicaliser, node, to_oxigraph
from kernel.changes import NO_SPELLING
from kernel.errors import Forbidden, GraphExists, NotFound, StateMoved
from kernel.net_effect import MOST, NetEffect, too_many
from kernel.terms import Iri, Statement
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.sparql.results import Results
    from bridge.sparql.update.operations import Operation
    from bridge.sparql.update.templates import Quad
    from bridge.stores.checkpoints import Checkpoints
    from bridge.stores.markers import StoreState
    from bridge.stores.pair import OxigraphStores
    from kernel.access import Principal
    from kernel.instants import Instant
    from kernel.ports import LedgerView
    from kernel.terms import Term

_CANONICALISER: Final = OxigraphCanonicaliser()


@dataclass(frozen=True, slots=True)
class Scene:
    """For whom, and on what, operations run.

    Args:
        view: the ledger, at the state that the first operation sees.
        head: the position of that state.
        stores: up to where the stores have to stand in valid time.
        clock: what current means; nothing begins or ends in between.
        now: what NOW() stands for.
        principal: who asks.
        strict: whether the default graph is `m:default` alone.
        using: the dataset of every WHERE, where the request has one.
    """

    view: LedgerView
    head: int | None
    stores: Instant
    clock: Instant
    now: Instant
    principal: Principal
    strict: bool
    using: Using


class Runner:
    """Runs the operations of one request.

    Args:
        stores: where a WHERE is evaluated; they have to stand where the view stands.
        checkpoints: makes copies of them.
        scene: for whom, and on what.
    """

    def __init__(self, stores: OxigraphStores, checkpoints: Checkpoints, scene: Scene) -> None:
        self._stores = stores
        self._checkpoints = checkpoints
        self._scene = scene
        self._blocks = BlockReader(_CANONICALISER)
        self._copies: dict[Projection, _Copy] = {}
        self.effect = NetEffect(scene.view, scene.clock, scene.principal)

    def run(self, operation: Operation | Told) -> None:
        """Runs the next operation.

        Raises:
            QueryRefused: it cannot be evaluated.
            Forbidden: it writes where the caller may not.
            GraphExists: a graph that is to be created is there.
            NotFound: a graph that is to be copied is not.
            TooManyChanges: it changes more than a plan takes.
            StateMoved: the stores stand elsewhere than the ledger.
            StoreUnavailable: a store cannot be read.
        """
        match operation:
            case Told():
                change = self._insert if operation.inserted else self._delete
                for quad in operation.quads:
                    change(quad, None)
            case Modify():
                self._modify(operation)
            case Clear():
                self._clear(operation)
            case Create():
                self._create(operation)
            case Convey():
                self._convey(operation)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _insert(self, quad: Quad, graph: Iri | None) -> None:
        self.effect.insert(quad.in_graph(graph or DEFAULT_GRAPH), quad.spelling)

    def _delete(self, quad: Quad, graph: Iri | None) -> None:
        if quad.graph is not None or graph is not None or self._scene.strict:
            self.effect.delete(quad.in_graph(graph or DEFAULT_GRAPH))
            return
        statement = quad.statement
        for found in self.effect.graphs_of(statement.subject, statement.predicate, statement.object):
            if self._is_mine(found):
                self.effect.delete(quad.in_graph(found))

    def _modify(self, operation: Modify) -> None:
        delete = self._blocks.template(operation.delete, deletes=True)
        insert = self._blocks.template(operation.insert)
        solutions = Solutions(delete.variables | insert.variables, _CANONICALISER)
        deleted: dict[Quad, None] = {}
        inserted: dict[Quad, None] = {}
        for terms in self._solutions(operation, solutions):
            deleted.update(dict.fromkeys(delete.filled(terms)))
            inserted.update(dict.fromkeys(insert.filled(terms)))
            if len(deleted) + len(inserted) > 2 * MOST:
                raise too_many()
        for quad in deleted:
            self._delete(quad, operation.graph)
        for quad in inserted:
            self._insert(quad, operation.graph)

    def _solutions(self, operation: Modify, solutions: Solutions) -> Iterator[dict[Iri, Term]]:
        with store_errors(), evaluation_errors(operation.where.text):
            results = self._solve(operation)
            if not isinstance(results, ox.QuerySolutions):
                raise TypeError("a WHERE is a query of its variables")
            names = solutions.names(results)
            for solution in results:
                yield solutions.of(names, solution)

    # --- what a WHERE sees --------------------------------------------------------------------------------------------

    def _solve(self, operation: Modify) -> Results:
        """Starts a WHERE on the stores, or, once something is changed, on a copy."""
        text, now = operation.where.text, self._scene.now
        dataset = self._dataset(operation)
        projection = Projection.COMPLETE if dataset.complete else Projection.CURRENT
        if self.effect:
            return evaluate(self._copy(projection), text, dataset, now=now)
        results, state = self._stores.read(projection, lambda store: evaluate(store, text, dataset, now=now))
        self._require_same(state)
        return results

    def _dataset(self, operation: Modify) -> Dataset:
        principal = self._scene.principal
        known = self._scene.view.graphs() | self.effect.graphs()
        shape = scan(operation.where.text)
        if using := self._scene.using or operation.using:
            shape = replace(shape, from_default=using.default, from_named=using.named)
            return dataset_for(principal, shape, known)
        strict = self._scene.strict
        by_default = dataset_for(principal, replace(shape, graph_variable=False), known, strict=strict)
        if operation.graph is None:
            return by_default
        alone = dataset_for(principal, replace(shape, from_default=(operation.graph,)), known)
        named = by_default.named_graphs
        return Dataset(by_default.complete or alone.complete, False, alone.default_graphs, named)

    def _copy(self, projection: Projection) -> ox.Store:
        """A copy of a store, brought to what has come of the operations so far."""
        found = self._copies.get(projection)
        if found is None:
            store, state = self._stores.read(projection, self._checkpoints.take)
            self._require_same(state)
            found = self._copies[projection] = _Copy(store)
        touched = self.effect.touched(found.seen)
        found.seen += len(touched)
        with store_errors():
            shown = [each for each in dict.fromkeys(touched) if projection.shows(each.graph)]
            for statement in shown:
                if not self.effect.holds(statement):
                    found.store.remove(_quad(statement))
            found.store.extend(_quad(statement) for statement in shown if self.effect.holds(statement))
        return found.store

    def _require_same(self, state: StoreState) -> None:
        if (state.head, state.clock) != (self._scene.head, self._scene.stores):
            raise StateMoved("the base moved on while the update was evaluated", remedy="send the update again")

    # --- graphs -------------------------------------------------------------------------------------------------------

    def _clear(self, operation: Clear) -> None:
        for graph in self._reached(operation.target):
            self._require_writable(graph, emptied=True)
            for statement in self.effect.statements_in(graph):
                self.effect.delete(statement)

    def _reached(self, target: Iri | Reach) -> list[Iri]:
        if isinstance(target, Iri):
            return [target]
        if target is Reach.DEFAULT:
            return [DEFAULT_GRAPH]
        known = self._scene.view.graphs() | self.effect.graphs()
        mine = sorted((graph for graph in known if self._is_mine(graph)), key=lambda graph: graph.value)
        return [graph for graph in mine if target is Reach.ALL or graph != DEFAULT_GRAPH]

    def _create(self, operation: Create) -> None:
        self._require_writable(operation.graph)
        if self.effect.has(operation.graph) and not operation.silent:
            raise GraphExists(
                "the graph that is to be created is there already",
                remedy="leave CREATE out, or make it CREATE SILENT",
                where=operation.graph.value,
            )

    def _convey(self, operation: Convey) -> None:
        source, target = operation.source or DEFAULT_GRAPH, operation.target or DEFAULT_GRAPH
        moves = operation.how is Transfer.MOVE
        self._require_writable(target, emptied=operation.how is not Transfer.ADD)
        if moves:
            self._require_writable(source, emptied=True)
        found = self.effect.statements_in(source) if self._scene.principal.may_read(source) else []
        if not found and operation.source is not None:
            if operation.silent:
                return
            raise NotFound("there is no such graph", remedy="name one that holds something", where=source.value)
        if source == target:
            return
        conveyed = [(replace(statement, graph=target), NO_SPELLING) for statement in found]
        if operation.how is Transfer.ADD:
            self.effect.add(conveyed)
        else:
            self.effect.replace(target, conveyed)
        for statement in found if moves else ():
            self.effect.delete(statement)

    def _is_mine(self, graph: Iri) -> bool:
        """Whether it is a data graph that the caller may write."""
        return graph not in GOVERNANCE and self._scene.principal.may_write(graph)

    def _require_writable(self, graph: Iri, *, emptied: bool = False) -> None:
        self._scene.principal.require_write(graph)
        if emptied:
            refuse_emptying(graph)


@dataclass(slots=True)
class _Copy:
    """A copy of a store, and how much of what the operations touched it has seen."""

    store: ox.Store
    seen: int = 0


def refuse_emptying(graph: Iri) -> None:
    """Raises `Forbidden` for a reserved graph: a base goes by it, and one slip would let anything in."""
    if graph in GOVERNANCE:
        raise Forbidden(
            f"{graph.value} is reserved, and not emptied as a whole",
            remedy="delete the statements that are to go, by DELETE or with POST /changes",
        )


def _quad(statement: Statement) -> ox.Quad:
    return ox.Quad(
        node(statement.subject), node(statement.predicate), to_oxigraph(statement.object), node(statement.graph)
    )
