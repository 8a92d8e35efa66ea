"""N-Quads: a line for each statement and each part of a record, all in the graph exported.

Rules
-----
* A fact's record says by a triple term which statement it is of (RDF 1.2 N-Quads); the statement stands on a line of
  its own only if it holds.

Example
-------
::

    <urn:s> <urn:p> "007"^^<…int> <urn:g> .
    <urn:uuid:F> <…reifies> <<( <urn:s> <urn:p> "007"^^<…int> )>> <urn:g> .
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.exporting.nodes import RESTORED
from bridge.exporting.record import SUPPORTS, evidence_record, fact_node, fact_record
from kernel.terms import RDF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.exporting.facts import Told
    from bridge.exporting.record import Property
    from kernel.terms import Iri

_REIFIES: Final = f"<{RDF}reifies>"


def nquads(told: Iterable[Told], graph: Iri, *, records: bool) -> Iterator[str]:
    """An N-Quads document, in pieces."""
    name = graph.n3
    for each in told:
        statement = each.fact.statement
        subject, value = RESTORED.n3(statement.subject), RESTORED.n3(each.object)
        said = f"{subject} {statement.predicate.n3} {value}"
        if each.holds:
            yield f"{said} {name} .\n"
        if records:
            fact = fact_node(each.fact.id)
            yield f"{fact.n3} {_REIFIES} <<( {said} )>> {name} .\n"
            yield from _lines(fact, fact_record(each), name)
            for item in each.evidence:
                node = fact_node(item.content.id)
                yield from _lines(node, [(SUPPORTS, fact), *evidence_record(item)], name)


def _lines(node: Iri, properties: Iterable[Property], graph: str) -> Iterator[str]:
    for predicate, value in properties:
        yield f"{node.n3} {predicate.n3} {RESTORED.n3(value)} {graph} .\n"
