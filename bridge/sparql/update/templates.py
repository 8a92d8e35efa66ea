"""What a block says: statements as they are, and templates to be filled in with solutions.

Rules
-----
* A literal keeps the spelling in which it was submitted; a solution has terms as the store holds them.
* A blank node in what is inserted becomes a Skolem IRI: one for the block of an INSERT DATA, and a new one for each
  solution of a WHERE (SPARQL 1.1 Update, section 3.1.3). One that an expression made (BNODE) is one throughout.
* No blank node is ever deleted: those that are held have IRIs, and a label would mean any of them.
* A triple that a solution leaves unbound, or that would be no RDF, is passed over for that solution.

Example
-------
>>> from bridge.sparql.update.blocks import Tokens, read_block
>>> from bridge.terms import OxigraphCanonicaliser
>>> text = "{ <urn:a> <urn:p> _:b }"
>>> reader = BlockReader(OxigraphCanonicaliser())
>>> [found] = reader.statements(read_block(text, Tokens(text), "", None), Skolem(bytes(16)))
>>> found.graph is None, found.statement.object.n3[:30]
(True, '<https://w3id.org/muniment/.we')
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyoxigraph as ox

from bridge.documents.reader import Conversion, each_quad
from bridge.documents.skolem import Skolem
from bridge.long_iris import LongIris
from bridge.sparql.update.operations import BLANK, UNQUALIFIED, VARIABLE, DeleteData, InsertData
from bridge.terms import LONGEST, from_oxigraph
from kernel.errors import InvalidDocument, InvalidTerm, QueryRefused
from kernel.terms import Iri, Literal, Statement, Term, TripleTerm
from kernel.vocabulary import DEFAULT_GRAPH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from bridge.sparql.update.operations import Block, Operation
    from bridge.terms import OxTerm
    from kernel.facts import Spelling
    from kernel.ports.outside import TermCanonicaliser


@dataclass(frozen=True, slots=True)
class Quad:
    """A statement of a block, and its graph, or None for the default graph: then that of the statement says nothing."""

    statement: Statement
    spelling: Spelling
    graph: Iri | None

    def in_graph(self, graph: Iri) -> Statement:
        """The statement, in the graph given where it names none."""
        return self.statement if self.graph is not None else replace(self.statement, graph=graph)


@dataclass(frozen=True, slots=True)
class Told:
    """INSERT DATA or DELETE DATA, once its block is read.

    Args:
        inserted: whether it is the former.
        quads: what it says, in its order.
    """

    inserted: bool
    quads: list[Quad]


class BlockReader:
    """Reads blocks.

    Args:
        canonicaliser: knows what a store will hold.
    """

    def __init__(self, canonicaliser: TermCanonicaliser) -> None:
        self._canonicaliser = canonicaliser

    def statements(self, block: Block, skolem: Callable[[str], Iri]) -> list[Quad]:
        """What a block says, in its order.

        Args:
            block: of any operation.
            skolem: the names of its blank nodes by label.

        Raises:
            QueryRefused: it cannot be read, or has a term that a store does not allow.
        """
        return list(self.each(block, skolem))

    def each(self, block: Block, skolem: Callable[[str], Iri]) -> Iterator[Quad]:
        """The same one by one, as they are read."""
        conversion = Conversion(None, self._canonicaliser, skolem, LongIris())
        text = "".join(block.trig).encode()
        try:
            for statement, spelling in map(conversion.of_quad, each_quad(text, ox.RdfFormat.TRIG, conversion)):
                yield Quad(statement, spelling, _graph(statement))
        except (InvalidDocument, InvalidTerm) as error:
            raise QueryRefused(error.message, remedy=error.remedy, where=error.where or block.place) from error

    def each_deleted(self, block: Block) -> Iterator[Quad]:
        """What a block says that is deleted, one by one. Raises `QueryRefused` where it has blank nodes."""

        def refuse(_: str) -> Iri:
            raise QueryRefused(
                "a blank node stands in what is deleted: its label would mean any node, and none that is held has one",
                remedy="name the node by its IRI, or use a variable and a WHERE",
                where=block.place,
            )

        return self.each(block, refuse)

    def told(self, operation: Operation | Told) -> Operation | Told:
        """The operation, its data read if it has some. Raises as `statements` and `each_deleted` do."""
        match operation:
            case InsertData():
                return Told(True, self.statements(operation.block, Skolem()))
            case DeleteData():
                return Told(False, list(self.each_deleted(operation.block)))
            case _:
                return operation

    def template(self, block: Block | None, *, deletes: bool = False) -> Template:
        """The template of a block; of none, an empty one."""
        if block is None:
            return Template([], {}, frozenset())
        blanks: dict[str, Iri] = {}

        def stand_in(label: str) -> Iri:
            return blanks.setdefault(label, Iri(f"{BLANK}{len(blanks)}"))

        quads = list(self.each_deleted(block)) if deletes else self.statements(block, stand_in)
        variables = {name: Iri(text) for name, text in block.variables.items()}
        return Template(quads, variables, frozenset(blanks.values()))


@dataclass(frozen=True, slots=True)
class Template:
    """Statements with variables.

    Args:
        quads: in their order.
        variables: the IRI that stands for each variable, by its name.
        blanks: the IRIs that stand for blank nodes.
    """

    quads: list[Quad]
    variables: dict[str, Iri]
    blanks: frozenset[Iri]

    def filled(self, solution: Mapping[Iri, Term]) -> Iterator[Quad]:
        """The statements that a solution makes of it.

        Args:
            solution: terms by the IRI that stands for the variable.
        """
        nodes: Mapping[Iri, Term] = solution
        if self.blanks:
            skolem = Skolem()
            nodes = {**solution, **{blank: skolem(blank.value) for blank in self.blanks}}
        for quad in self.quads:
            made = _filled(quad, nodes)
            if made is not None:
                yield made


class Solutions:
    """Makes the terms of solutions those of the kernel.

    Args:
        variables: the IRI that stands for each variable, by its name.
        canonicaliser: knows what a store will hold.
    """

    def __init__(self, variables: Mapping[str, Iri], canonicaliser: TermCanonicaliser) -> None:
        self._variables = dict(variables)
        self._canonical = canonicaliser.canonical
        self._skolem = Skolem()
        self._terms: dict[OxTerm, Term] = {}

    def names(self, variables: Iterable[str]) -> list[str]:
        """Those variables of the solutions that are asked for."""
        return [name for name in variables if name in self._variables]

    def of(self, names: list[str], solution: ox.QuerySolution) -> dict[Iri, Term]:
        """The terms that a solution binds, of those variables that are asked for."""
        found = {}
        for name in names:
            term = solution[name]
            if term is not None:
                found[self._variables[name]] = self._term(term)
        return found

    def _term(self, term: OxTerm) -> Term:
        if isinstance(term, ox.BlankNode):
            return self._skolem(term.value)
        if isinstance(term, ox.Triple):
            return TripleTerm(self._node(term.subject), self._node(term.predicate), self._term(term.object))
        found = from_oxigraph(term)
        if isinstance(found, Literal) and len(found.lexical) > LONGEST:
            return found  # made by the query, or from before there was a limit: it may be deleted, and is not inserted
        return self._canonical(found)

    def _node(self, term: OxTerm) -> Iri:
        node = self._term(term)
        if not isinstance(node, Iri):
            raise QueryRefused("a triple term has a literal for its subject", remedy="use a node there")
        return node


def _filled(quad: Quad, nodes: Mapping[Iri, Term]) -> Quad | None:
    statement = quad.statement
    subject = nodes.get(statement.subject, statement.subject)
    predicate = nodes.get(statement.predicate, statement.predicate)
    graph = None if quad.graph is None else nodes.get(quad.graph, quad.graph)
    value = _object(statement.object, nodes)
    if not (isinstance(subject, Iri) and isinstance(predicate, Iri) and value is not None):
        return None
    if not (graph is None or isinstance(graph, Iri)) or any(
        _is_unbound(each) for each in (subject, predicate, value, graph)
    ):
        return None
    return Quad(Statement(subject, predicate, value, graph or DEFAULT_GRAPH), quad.spelling, graph)


def _object(value: Term, nodes: Mapping[Iri, Term]) -> Term | None:
    """The object; None where it would be a triple term that is none."""
    if isinstance(value, Iri):
        return nodes.get(value, value)
    if not isinstance(value, TripleTerm):
        return value
    subject, predicate = nodes.get(value.subject, value.subject), nodes.get(value.predicate, value.predicate)
    inner = _object(value.object, nodes)
    if not isinstance(subject, Iri) or not isinstance(predicate, Iri) or inner is None:
        return None
    if any(_is_unbound(each) for each in (subject, predicate, inner)):
        return None
    return TripleTerm(subject, predicate, inner)


def _is_unbound(term: Term | None) -> bool:
    return isinstance(term, Iri) and term.value.startswith(VARIABLE)


def _graph(statement: Statement) -> Iri | None:
    return None if statement.graph.value == UNQUALIFIED else statement.graph
