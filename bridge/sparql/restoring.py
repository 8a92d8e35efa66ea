r"""Answers with their blank nodes: Skolem IRIs that Muniment made become blank nodes again.

Rules
-----
* Only what is answered changes. A query sees the IRIs: `isBLANK` is false of them.
* A node has the same label throughout an answer, and in every other: it is the id in its IRI.
* Where a blank node cannot stand, as a predicate, the IRI stays.

Example
-------
>>> from kernel.vocabulary import GENID
>>> store, s, p = ox.Store(), ox.NamedNode(GENID + 32 * "0"), ox.NamedNode("urn:p")
>>> store.add(ox.Quad(s, p, ox.Literal("o")))
>>> list(restored(store.query("SELECT ?s { ?s ?p ?o }")))
[<QuerySolution s=<BlankNode value=b00000000000000000000000000000000>>]
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyoxigraph as ox

from bridge.exporting.nodes import RESTORED
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.terms import OxTerm


def restored(solutions: ox.QuerySolutions) -> ox.QuerySolutions:
    """The solutions with their blank nodes. All of them are read: the library takes its own only in a format."""
    names = [(variable, variable.value) for variable in solutions.variables]
    bindings = [
        {name: _json(_term(term)) for variable, name in names if (term := solution[variable]) is not None}
        for solution in solutions
    ]
    document = {"head": {"vars": [name for _, name in names]}, "results": {"bindings": bindings}}
    found = ox.parse_query_results(json.dumps(document), ox.QueryResultsFormat.JSON)
    if not isinstance(found, ox.QuerySolutions):
        raise TypeError("solutions are read back as solutions")
    return found


def restored_triples(triples: Iterator[ox.Triple]) -> Iterator[ox.Triple]:
    """The triples with their blank nodes, one by one."""
    return map(_triple, triples)


def _triple(triple: ox.Triple) -> ox.Triple:
    return ox.Triple(_node(triple.subject), triple.predicate, _term(triple.object))


def _term(term: OxTerm) -> OxTerm:
    if isinstance(term, ox.Literal):
        return term
    return _triple(term) if isinstance(term, ox.Triple) else _node(term)


def _node(term: ox.NamedNode | ox.BlankNode | ox.Triple) -> ox.NamedNode | ox.BlankNode | ox.Triple:
    label = RESTORED.label(Iri(term.value)) if isinstance(term, ox.NamedNode) else None
    return term if label is None else ox.BlankNode(label.removeprefix("_:"))


def _json(term: OxTerm) -> dict[str, object]:
    """A term as SPARQL 1.2 Query Results JSON Format has it (section 3.2.2)."""
    if isinstance(term, ox.Triple):
        parts = {"subject": term.subject, "predicate": term.predicate, "object": term.object}
        return {"type": "triple", "value": {name: _json(part) for name, part in parts.items()}}
    if isinstance(term, ox.NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, ox.BlankNode):
        return {"type": "bnode", "value": term.value}
    about = {"xml:lang": term.language} if term.language else {"datatype": term.datatype.value}
    if term.direction is not None:
        about["its:dir"] = str(term.direction)
    return {"type": "literal", "value": term.value, **about}
