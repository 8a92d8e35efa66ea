"""What a query of a shape is asked of, as lines of N-Quads, and what it answers.

Rules
-----
* A query sees terms in their stored form. A Skolem IRI is a blank node to it, as it is in shapes.
* What it looks at is followed from its focus (`looks`); what may be looked at from anywhere is all there is.

Example
-------
>>> ann, knows, bob = Iri("urn:ann"), Iri("urn:knows"), Iri("urn:bob")
>>> print(line((ann, knows, bob)), end="")
<urn:ann> <urn:knows> <urn:bob> .
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

import pyoxigraph as ox

from bridge.shapes.paths import ANY, reach
from bridge.shapes.vocabulary import is_blank
from bridge.terms import from_oxigraph
from kernel.terms import Iri, Term, TripleTerm
from kernel.vocabulary import GENID

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.shapes.data import Data
    from bridge.shapes.document import Triple
    from bridge.shapes.sparql.looks import Look
    from bridge.terms import OxTerm

Solution: TypeAlias = "dict[str, Term]"
Answer: TypeAlias = "list[Solution] | bool"

_LABEL: Final = "b"
"""Labels of blank nodes begin with it, as they may not with a digit everywhere."""


def line(triple: Triple, graph: str = "") -> str:
    """A statement, in the default graph or in one that is given in its N-Triples form."""
    subject, predicate, value = triple
    return f"{_node(subject)} {predicate.n3} {written(value)} {graph and graph + ' '}.\n"


def written(term: Term) -> str:
    """A term as a query sees it."""
    if isinstance(term, Iri):
        return _node(term)
    if isinstance(term, TripleTerm):
        return f"<<( {_node(term.subject)} {term.predicate.n3} {written(term.object)} )>>"
    return term.n3


@lru_cache(maxsize=65_536)
def _node(iri: Iri) -> str:
    if is_blank(iri):
        try:
            return str(ox.BlankNode(_LABEL + iri.value.removeprefix(GENID)))
        except ValueError:
            pass  # no blank node that came from a document has such a name
    return iri.n3


def seen(data: Data, looks: Iterable[Look], focus: Term) -> set[Triple]:
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


def read_answer(answer: bytes, most: int) -> Answer | None:
    """What a query answered, by the JSON that it was written in; None: more than so many solutions."""
    read = ox.parse_query_results(answer, ox.QueryResultsFormat.JSON)
    if isinstance(read, ox.QueryBoolean):
        return bool(read)
    names = [variable.value for variable in read.variables]
    found: list[Solution] = []
    for solution in read:
        if len(found) >= most:
            return None
        terms = ((name, solution[name]) for name in names)
        found.append({name: _read(term) for name, term in terms if term is not None})
    return found


def _read(term: OxTerm) -> Term:
    if isinstance(term, ox.BlankNode):
        return Iri(GENID + term.value.removeprefix(_LABEL))
    if isinstance(term, ox.Triple):
        subject, predicate = _read(term.subject), _read(term.predicate)
        if isinstance(subject, Iri) and isinstance(predicate, Iri):
            return TripleTerm(subject, predicate, _read(term.object))
    return from_oxigraph(term)
