"""What tests of updates share: a base that is updated without HTTP and without workers, and its contents."""

from __future__ import annotations

import pyoxigraph as ox

from bridge.base import Base
from bridge.sparql.query import evaluate, evaluation_errors
from bridge.sparql.update.operations import UNNAMED, Using
from bridge.sparql.update.solving import Asked, Laid, Solved
from bridge.stores.overlay import laid_over
from bridge.stores.projections import Projection
from bridge.updating.request import Update
from bridge.updating.terms import Terms
from kernel.access import Principal
from kernel.errors import StateMoved
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.submitting import Outcome
from tests.bridge.writing import PATIENCE, WRITER

DEFAULT = ox.NamedNode(DEFAULT_GRAPH.value)


class Here:
    """Evaluates a WHERE in this process, on a copy of the store."""

    def __init__(self, base: Base) -> None:
        self._base = base

    def solve(self, asked: Asked) -> Solved:
        projection = Projection.COMPLETE if asked.dataset.complete else Projection.CURRENT
        quads, state = self._base.stores.read(projection, list)
        asked.require_at(state.head, state.clock)
        copy, laid = ox.Store(), asked.laid or Laid()
        copy.bulk_extend(quads)
        with laid_over(copy, laid.removed.encode(), laid.added.encode()):
            found = evaluate(copy, asked.text, asked.dataset, now=asked.now)
            assert isinstance(found, ox.QuerySolutions)
            with evaluation_errors(asked.text):
                rows = [*found]
        assert set(copy) == set(quads), "what was laid over the copy is off again"
        return Solved(tuple(each.value for each in found.variables), iter(rows))


def update(
    base: Base,
    text: str,
    by: Principal = WRITER,
    *,
    strict: bool = False,
    using: Using = UNNAMED,
    terms: Terms | None = None,
) -> Outcome:
    """Updates a base, as the service does."""
    read = Update.read(text, terms or Terms(by), strict=strict, using=using)
    while True:
        try:
            evaluated = base.updates.evaluate(read, Here(base)) if read.has_where else None
            return base.updates.apply(read, evaluated).result(PATIENCE)
        except StateMoved:
            continue


def contents(base: Base) -> set[ox.Quad]:
    """What is current, `m:default` as the default graph."""
    quads, _ = base.stores.read(Projection.CURRENT, list)
    return {
        ox.Quad(quad.subject, quad.predicate, quad.object) if quad.graph_name == DEFAULT else quad for quad in quads
    }
