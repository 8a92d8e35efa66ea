"""What the operations of an update come to, over one state of a base.

Rules
-----
* Operations run in order. Each WHERE sees the state and what the operations before it came to, is evaluated once, and
  before anything of its own operation is done; then all that it deletes is deleted, and then what it inserts inserted
  (SPARQL 1.1 Update, section 3.1.3).
* Who evaluates a WHERE is told the state that it is of, and what has come of the operations so far (`solving`).
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

    runner = Runner(scene, solver)
    for operation in parse_update(text):
        runner.run(reader.told(operation))
    runner.effect.changes(view, at)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bridge.sparql.dataset import Dataset, dataset_for
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
from bridge.sparql.update.solving import Asked, Laid
from bridge.sparql.update.templates import BlockReader, Solutions, Told
from bridge.stores.projections import Projection
from bridge.terms import LONGEST, OxigraphCanonicaliser
from kernel.changes import NO_SPELLING
from kernel.errors import Forbidden, GraphExists, NotFound
from kernel.terms import Iri
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE
from kernel.writing.net_effect import MOST, MOST_TEXT, NetEffect, too_many, too_much

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.sparql.update.operations import Operation
    from bridge.sparql.update.solving import Solver
    from bridge.sparql.update.templates import Quad
    from kernel.access import Principal
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Term
    from kernel.time.instants import Instant

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
        scene: for whom, and on what.
        solver: evaluates what a WHERE asks; None where there is none.
    """

    def __init__(self, scene: Scene, solver: Solver | None) -> None:
        self._scene = scene
        self._solver = solver
        self._blocks = BlockReader(_CANONICALISER)
        self.effect = NetEffect(scene.view, scene.clock, scene.principal)

    def run(self, operation: Operation | Told) -> None:
        """Runs the next operation.

        Raises:
            QueryRefused: it cannot be evaluated.
            QueryLimit: evaluating it takes more than it may.
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
            case _:
                raise TypeError("data is read before it is run")

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
        text = 0
        for terms in self._solutions(operation, solutions):
            deleted.update(dict.fromkeys(delete.filled(terms)))
            for quad in insert.filled(terms):
                if quad not in inserted:
                    inserted[quad] = None
                    length = len(quad.statement.object.n3)
                    if length > LONGEST:
                        _CANONICALISER.canonical(quad.statement.object)
                    text += length
                    if text > MOST_TEXT:
                        raise too_much()
            if len(deleted) + len(inserted) > 2 * MOST:
                raise too_many()
        for quad in deleted:
            self._delete(quad, operation.graph)
        for quad in inserted:
            self._insert(quad, operation.graph)

    def _solutions(self, operation: Modify, solutions: Solutions) -> Iterator[dict[Iri, Term]]:
        if self._solver is None:
            raise TypeError("nobody was given who evaluates a WHERE")
        solved = self._solver.solve(self._asked(operation))
        names = solutions.names(solved.variables)
        for row in solved.rows:
            yield solutions.of(names, row)

    # --- what a WHERE sees --------------------------------------------------------------------------------------------

    def _asked(self, operation: Modify) -> Asked:
        scene, dataset = self._scene, self._dataset(operation)
        laid = self._laid(Projection.COMPLETE if dataset.complete else Projection.CURRENT)
        return Asked(operation.where.text, dataset, scene.now, scene.head, scene.stores, laid)

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

    def _laid(self, projection: Projection) -> Laid | None:
        """What has come of the operations so far, as far as a projection shows it."""
        if not self.effect:
            return None
        gone: list[str] = []
        come: list[str] = []
        for statement in self.effect.touched():
            if projection.shows(statement.graph):
                (come if self.effect.holds(statement) else gone).append(f"{statement.nquad}\n")
        return Laid("".join(gone), "".join(come))

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


def refuse_emptying(graph: Iri) -> None:
    """Raises `Forbidden` for a reserved graph: a base goes by it, and one slip would let anything in."""
    if graph in GOVERNANCE:
        raise Forbidden(
            f"{graph.value} is reserved, and not emptied as a whole",
            remedy="delete the statements that are to go, by DELETE or with POST /changes",
        )
