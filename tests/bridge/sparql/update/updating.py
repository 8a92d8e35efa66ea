"""What tests of updates share: a base that is updated without HTTP, and its contents."""

from __future__ import annotations

import pyoxigraph as ox

from bridge.base import Base
from bridge.sparql.update.operations import UNNAMED, Using
from bridge.stores.projections import Projection
from bridge.updating import Terms, Update
from kernel.access import Principal
from kernel.errors import StateMoved
from kernel.submitting import Outcome
from kernel.vocabulary import DEFAULT_GRAPH
from tests.bridge.writing import PATIENCE, WRITER

DEFAULT = ox.NamedNode(DEFAULT_GRAPH.value)


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
            return base.updates.apply(read, base.updates.evaluate(read)).result(PATIENCE)
        except StateMoved:
            continue


def contents(base: Base) -> set[ox.Quad]:
    """What is current, `m:default` as the default graph."""
    quads, _ = base.stores.read(Projection.CURRENT, list)
    return {
        ox.Quad(quad.subject, quad.predicate, quad.object) if quad.graph_name == DEFAULT else quad for quad in quads
    }
