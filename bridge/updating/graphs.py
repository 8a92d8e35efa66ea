"""Writes of a graph as a whole (SPARQL 1.1 Graph Store HTTP Protocol, section 5).

Rules
-----
* To replace a graph, or to take it away, is a net effect as any other: what is in it already goes on as it is.
* Nothing is taken from a reserved graph as a whole.

Example
-------
::

    written = WholeGraph(GraphWrite.PUT, graph, statements, terms)
    written.effect(view, view.head(), at), written.existed
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bridge.sparql.update.running import refuse_emptying
from bridge.updating.requiring import NOTHING_REQUIRED, Required
from kernel.errors import NotFound
from kernel.writing.net_effect import NetEffect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.documents.reader import Asserted
    from bridge.updating.terms import Terms
    from kernel.ports.heads import Head
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Iri
    from kernel.time.instants import Instant


class GraphWrite(StrEnum):
    """What is done to a graph as a whole (SPARQL 1.1 Graph Store HTTP Protocol, section 5)."""

    PUT = "PUT"
    POST = "POST"
    DELETE = "DELETE"


@dataclass(slots=True)
class WholeGraph:
    """A write of a graph.

    Args:
        how: its content is replaced, added to, or taken away.
        graph: which.
        statements: of that graph.
        terms: what is said beside.
        required: what it has to be.
        existed: whether it was there before, as far as is known of a write that was answered before.
    """

    how: GraphWrite
    graph: Iri
    statements: Sequence[Asserted]
    terms: Terms
    required: Required = NOTHING_REQUIRED
    existed: bool = True

    def effect(self, view: LedgerView, head: Head, at: Instant) -> NetEffect:
        """What it comes to; and `existed` is known from then on.

        Raises:
            Forbidden: the caller may not write there.
            PreconditionFailed: the graph is not as it has to be.
            NotFound: there is nothing to take away.
            ReservedGraph: it may not be emptied.
        """
        self.terms.principal.require_write(self.graph)
        effect = NetEffect(view, at, self.terms.principal)
        self.existed = effect.has(self.graph)
        self.required.check(view, head, at, self.graph, there=self.existed)
        if self.how is GraphWrite.POST:
            for statement, spelling in self.statements:
                effect.insert(statement, spelling)
            return effect
        refuse_emptying(self.graph)
        if self.how is GraphWrite.DELETE and not self.existed:
            raise NotFound("there is no such graph", remedy="name one that holds something", where=self.graph.value)
        effect.replace(self.graph, self.statements)
        return effect
