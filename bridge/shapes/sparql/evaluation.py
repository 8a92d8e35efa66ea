"""Asking a query of what holds, with variables bound beforehand.

Rules
-----
* It is asked of what it looks at (`looks`), laid into a store of its own: so its cost goes by the surroundings of the
  focus, not by the data. Of data where it may look anywhere all of that is laid in, once for all foci.
* The store holds terms in their stored form. A Skolem IRI is a blank node there, as it is in shapes.
* A query has `SECONDS` for all it is asked at one focus, and may give `MOST` solutions; it runs in a thread that can be
  left to itself, for the engine cannot be stopped. While one is left, its query is not asked again: so there is one at
  most for each constraint. `QueryUnfinished` says that there is no answer.

Example
-------
::

    asking = Asking(constraint, shapes_graph)
    asking.answers(data, focus, [{"value": value} for value in values])
"""

from __future__ import annotations

from functools import lru_cache
from threading import Thread
from typing import TYPE_CHECKING, Final, TypeAlias

import pyoxigraph as ox

from bridge.shapes.paths import ANY, reach
from bridge.shapes.sparql.text import HAS_VALUE, SHAPES, THIS, VALUES_GRAPH, value_node
from bridge.shapes.vocabulary import is_blank
from bridge.terms import from_oxigraph, to_oxigraph
from bridge.terms import node as named
from kernel.errors import MunimentError
from kernel.terms import Iri, Literal, Term, TripleTerm
from kernel.vocabulary import GENID, SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bridge.shapes.data import Data
    from bridge.shapes.document import ShapesDocument, Triple
    from bridge.shapes.sparql.declared import Constraint
    from bridge.shapes.sparql.looks import Look
    from bridge.terms import OxTerm

SECONDS: Final = 5.0
"""How long a query may take at one focus."""

MOST: Final = 10_000
"""Solutions that it may give there."""

Solution: TypeAlias = "dict[str, Term]"
Answer: TypeAlias = "list[Solution] | bool"

_HAS_VALUE: Final = ox.NamedNode(HAS_VALUE)
_VALUES_GRAPH: Final = ox.NamedNode(VALUES_GRAPH)
_STANDING: Final = ox.NamedNode("urn:x-muniment:standing")
_LABEL: Final = "b"
"""Labels of blank nodes begin with it, as they may not with a digit everywhere."""


class QueryUnfinished(Exception):
    """A query gave no answer within its limits; the text says which."""


class Asking:
    """Asks the query of one constraint.

    Args:
        constraint: what is asked.
        document: the shapes graph that it is of.
    """

    def __init__(self, constraint: Constraint, document: ShapesDocument) -> None:
        self._query = constraint.query
        self._looks = constraint.looks
        self._bound = constraint.bound
        self._shapes = document if SHAPES in constraint.query.variables else None
        self._left: Thread | None = None
        self._whole: tuple[Data, ox.Store] | None = None

    def answers(self, data: Data, focus: Term, several: Sequence[Mapping[str, Term]]) -> list[Answer]:
        """What the query answers at a focus, for each binding of further variables.

        Raises:
            QueryUnfinished: it takes too long, or gives too much.
        """
        if self._left is not None and self._left.is_alive():
            raise QueryUnfinished(f"it has been running for more than {SECONDS:g} seconds at another node")
        store = self._store(data, focus)
        found: list[Answer] = []
        failed: list[str] = []

        def ask() -> None:
            try:
                found.extend(self._answer(store, {**self._bound, **each, THIS: focus}) for each in several)
            except (QueryUnfinished, MunimentError, RuntimeError, ValueError) as error:
                failed.append(str(error))  # not the error: it holds results, which only this thread may drop

        thread = Thread(target=ask, daemon=True, name="query of a shape")
        thread.start()
        thread.join(SECONDS)
        if thread.is_alive():
            self._left, self._whole = thread, None
            raise QueryUnfinished(f"it takes more than {SECONDS:g} seconds")
        for reason in failed:
            raise QueryUnfinished(reason)
        return found

    def _answer(self, store: ox.Store, bound: Mapping[str, Term]) -> Answer:
        terms = {name: _to_store(term) for name, term in bound.items()}
        quads = [
            ox.Quad(ox.NamedNode(value_node(name)), _HAS_VALUE, terms[name], _VALUES_GRAPH)
            for name in self._query.variables
            if name in terms
        ]
        if self._looks.standing is not None:
            standing = [*terms.values(), *map(_to_store, self._looks.standing)]
            quads += [ox.Quad(_STANDING, _STANDING, each) for each in standing]
        store.extend(quads)
        try:
            results = store.query(self._query.text)
            return bool(results) if isinstance(results, ox.QueryBoolean) else _solutions(results)
        finally:
            for quad in quads:
                store.remove(quad)

    def _store(self, data: Data, focus: Term) -> ox.Store:
        """What the query sees, in a store."""
        if not self._looks.anywhere:
            return self._filled(_seen(data, self._looks.along, focus))
        known = self._whole
        if known is None or known[0] is not data:
            known = self._whole = (data, self._filled(triple for triple, _ in data.items()))
        return known[1]

    def _filled(self, triples: Iterable[Triple]) -> ox.Store:
        store = ox.Store()
        store.extend(
            [ox.Quad(_node(subject), named(predicate), _to_store(value)) for subject, predicate, value in triples]
        )
        if self._shapes is not None:
            graph = named(SHAPES_GRAPH)
            store.extend(
                [
                    ox.Quad(_node(each), named(predicate), _to_store(value), graph)
                    for each, predicate, value in self._shapes
                ]
            )
        return store


def _solutions(results: ox.QuerySolutions | ox.QueryTriples) -> list[Solution]:
    if isinstance(results, ox.QueryTriples):
        raise TypeError(results)
    names = [variable.value for variable in results.variables]
    found: list[Solution] = []
    for solution in results:
        if len(found) >= MOST:
            raise QueryUnfinished(f"it gives more than {MOST:,} solutions")
        terms = ((name, solution[name]) for name in names)
        found.append({name: _from_store(term) for name, term in terms if term is not None})
    return found


# --- what is seen -----------------------------------------------------------------------------------------------------


def _seen(data: Data, looks: Iterable[Look], focus: Term) -> set[Triple]:
    """The statements that paths from a focus use."""
    found: set[Triple] = set()

    def step(predicate: Iri, node: Term, *, inverse: bool) -> Iterator[Term]:
        for triple in _met(data, predicate, node, inverse=inverse):
            found.add(triple)
            yield triple[0] if inverse else triple[2]

    for look in looks:
        reach(look.path, {focus if look.start is None else look.start}, step)
    return found


def _met(data: Data, predicate: Iri, at: Term, *, inverse: bool) -> Iterator[Triple]:
    if predicate == ANY:
        yield from data.incoming(at) if inverse else data.described(at)
    elif inverse:
        for subject in data.subjects(predicate, at):
            if isinstance(subject, Iri):
                yield subject, predicate, at
    elif isinstance(at, Iri):
        for value in data.objects(at, predicate):
            yield at, predicate, value


# --- terms ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=65_536)
def _node(iri: Iri) -> ox.NamedNode | ox.BlankNode:
    if is_blank(iri):
        try:
            return ox.BlankNode(_LABEL + iri.value.removeprefix(GENID))
        except ValueError:
            pass  # no blank node that came from a document has such a name
    return named(iri)


def _to_store(term: Term) -> OxTerm:
    match term:
        case Iri():
            return _node(term)
        case Literal():
            return to_oxigraph(term)
        case TripleTerm(subject, predicate, value):
            return ox.Triple(_node(subject), named(predicate), _to_store(value))


def _from_store(term: OxTerm) -> Term:
    if isinstance(term, ox.BlankNode):
        return Iri(GENID + term.value.removeprefix(_LABEL))
    if isinstance(term, ox.Triple):
        subject, predicate = _from_store(term.subject), _from_store(term.predicate)
        if isinstance(subject, Iri) and isinstance(predicate, Iri):
            return TripleTerm(subject, predicate, _from_store(term.object))
    return from_oxigraph(term)
