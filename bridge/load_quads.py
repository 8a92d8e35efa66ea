"""From what a parser gives to what is asserted.

Rules
-----
* Terms become what a store will hold; a literal that is held differently keeps its spelling.
* A blank node becomes a Skolem IRI derived from the session, the file and the node's label, so that reading the file
  again gives the same nodes, and no two files share any.
* Outside the formats of lines, a parser gives nodes without a label a random one, of 32 hexadecimal digits. Those are
  numbered as they appear, which takes some 200 bytes of memory for each.

Example
-------
>>> [Nodes("session", file).iri("b0") == Nodes("session", 0).iri("b0") for file in (0, 1)]
[True, False]
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.terms import OxigraphCanonicaliser, from_oxigraph
from kernel.changes import Assert
from kernel.errors import InvalidDocument, InvalidParameter
from kernel.facts import Spelling
from kernel.terms import Iri, Literal, Statement, Term, TripleTerm
from kernel.vocabulary import DEFAULT_GRAPH, GENID

if TYPE_CHECKING:
    from bridge.load_options import LoadOptions
    from bridge.terms import OxTerm
    from kernel.access import Principal

_MADE_UP: Final = re.compile(r"[a-f][0-9a-f]{31}")
_ID_DIGITS: Final = 32


class Nodes:
    """The Skolem IRIs of one file.

    Args:
        session: of the load.
        file: its place among the files of the session.
        labelled: whether every node of the format has a label.
    """

    def __init__(self, session: str, file: int, *, labelled: bool = False) -> None:
        self._prefix = f"{session}/{file}/"
        self._labelled = labelled
        self._numbers: dict[str, int] = {}

    def iri(self, label: str) -> Iri:
        """The IRI that stands for a blank node of the file."""
        name = label
        if not self._labelled and _MADE_UP.fullmatch(label):
            name = f"#{self._numbers.setdefault(label, len(self._numbers))}"
        digest = sha256((self._prefix + name).encode()).hexdigest()
        return Iri(GENID + digest[:_ID_DIGITS])


class QuadReader:
    """Makes assertions of quads.

    Args:
        options: of the session.
        principal: who loads.
        nodes: of the file that the quads come from.
    """

    def __init__(self, options: LoadOptions, principal: Principal, nodes: Nodes) -> None:
        self._graph = options.graph
        self._validity = options.validity
        self._spelling = options.spelling
        self._require_write = principal.require_write
        self._writable: set[Iri] = set()
        self._nodes = nodes
        self._canonical = OxigraphCanonicaliser().canonical

    def assertion(self, quad: ox.Quad) -> Assert:
        """The assertion of a quad.

        Raises:
            CallerError: it cannot be asserted, or may not be.
        """
        spelling = self._spelling
        given = self._term(quad.object)
        held = self._canonical(given)
        if held != given and isinstance(given, Literal):
            spelling = Spelling(given, spelling.valid_from, spelling.valid_to)
        return Assert(
            Statement(self._node(quad.subject), self._node(quad.predicate), held, self._graph_of(quad.graph_name)),
            self._validity,
            spelling,
        )

    def _term(self, term: OxTerm) -> Term:
        if isinstance(term, ox.Literal):
            return from_oxigraph(term)
        if isinstance(term, ox.Triple):
            return TripleTerm(self._node(term.subject), self._node(term.predicate), self._term(term.object))
        return self._node(term)

    def _node(self, term: OxTerm) -> Iri:
        if isinstance(term, ox.NamedNode):
            return _iri(term.value)
        if isinstance(term, ox.BlankNode):
            return self._nodes.iri(term.value)
        raise InvalidDocument(f"{term} stands where only a node may", remedy="use an IRI or a blank node there")

    def _graph_of(self, named: ox.NamedNode | ox.BlankNode | ox.DefaultGraph) -> Iri:
        if isinstance(named, ox.DefaultGraph):
            graph = self._graph or DEFAULT_GRAPH
        elif self._graph is None:
            graph = self._node(named)
        else:
            raise InvalidParameter(
                f"the statement is in the graph {named}, and a graph to load into was given",
                remedy="leave out --graph, or load a file that names no graphs",
            )
        if graph not in self._writable:
            self._require_write(graph)
            self._writable.add(graph)
        return graph


@lru_cache(maxsize=65_536)
def _iri(value: str) -> Iri:
    return Iri(value)
