"""One graph as a document for one caller, as the Graph Store Protocol gives it.

Rules
-----
* A graph is there while something in it is true at the moment asked for; the reserved ones always are. One that the
  caller may not read is as one that is not there.
* Skolem IRIs stay as they are, so that a graph that is got, edited and put keeps its nodes; as blank nodes they come
  if that is asked for.

Example
-------
::

    wanted = GraphRequest(principal, graph, "text/turtle", restore=True)
    answer = reader.query(wanted.query(), moment)
    body, media_type = wanted.document(answer.body)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.reading.reader import QueryRequest
from bridge.sparql.restoring import restored_triples
from bridge.sparql.results import negotiate, serialise_graph
from bridge.sparql.scan import Form
from kernel.errors import NotFound
from kernel.terms import Iri
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE

if TYPE_CHECKING:
    from kernel.access import Principal

_ALL: Final = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
_N_TRIPLES: Final = "application/n-triples"
_ALWAYS_THERE: Final = GOVERNANCE | {DEFAULT_GRAPH}


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """Which graph, for whom, and how it is written.

    Args:
        accept: the Accept header, or None.
        restore: whether Skolem IRIs become blank nodes.
    """

    principal: Principal
    graph: Iri
    accept: str | None
    restore: bool

    def query(self) -> QueryRequest:
        """What is asked for it. Raises `NotAcceptable` where no format that the caller accepts is one of graphs."""
        negotiate(self.accept, Form.CONSTRUCT)
        return QueryRequest(self.principal, _ALL, _N_TRIPLES, (self.graph.value,))

    def document(self, answer: bytes) -> tuple[bytes, str]:
        """The graph as a document, and its media type.

        Args:
            answer: to the query.

        Raises:
            NotFound: there is no such graph, or none that the caller may read.
            NotAcceptable: the format cannot hold it.
        """
        form = negotiate(self.accept, Form.CONSTRUCT)
        if not answer and not (self.graph in _ALWAYS_THERE and self.principal.may_read(self.graph)):
            raise NotFound("there is no such graph", remedy="look for one that holds something", where=self.graph.value)
        if form.essence == _N_TRIPLES and not self.restore:
            return answer, form.media_type
        triples = (quad.triple for quad in ox.parse(answer, ox.RdfFormat.N_TRIPLES))
        return serialise_graph(restored_triples(triples) if self.restore else triples, form), form.media_type
