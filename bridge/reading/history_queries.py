"""Queries by which the facts of a node are found in the history graphs, and what their answers name.

Rules
-----
* A history graph describes each fact that its graph ever had (`bridge.stores.encoding`), with index helpers for subject
  and object. So facts are found there graph by graph, in time that goes by what those graphs have of the node.
* That a query mentions history brings the history graphs that its caller may read into its dataset.

Example
-------
>>> history_of(Iri("urn:ada")).partition(" } ")[0]
'SELECT ?fact { GRAPH ?history { { ?fact <https://w3id.org/muniment#subject> <urn:ada>'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from kernel.terms import RDF, Iri
from kernel.vocabulary import HISTORY, M

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bridge.sparql.sample import Sample
    from kernel.facts import Fact
    from kernel.terms import TripleTerm

_IN_HISTORY: Final = f'FILTER(STRSTARTS(STR(?history), "{HISTORY}"))'
_ID: Final = slice(-36, None)
"""Where a fact's IRI has its id."""


def history_of(node: Iri) -> str:
    """Asks for every fact that a node is the subject or object of, believed or not."""
    either = f"{{ ?fact <{M}subject> {node.n3} }} UNION {{ ?fact <{M}object> {node.n3} }}"
    return f"SELECT ?fact {{ GRAPH ?history {{ {either} }} {_IN_HISTORY} }}"


def naming(triple: TripleTerm) -> str:
    """Asks for every fact that says what a triple says, believed or not."""
    return f"SELECT ?fact {{ GRAPH ?history {{ ?fact <{RDF}reifies> {triple.n3} }} {_IN_HISTORY} }}"


def members_of(families: Iterable[UUID]) -> str:
    """Asks for every fact of some families."""
    listed = " ".join(f"<urn:uuid:{family}>" for family in families)
    return (
        f"SELECT ?fact {{ VALUES ?family {{ {listed} }} GRAPH ?history {{ ?fact <{M}family> ?family }} {_IN_HISTORY} }}"
    )


def facts_sampled(found: Sample) -> list[UUID]:
    """The facts in the first column of a sample, each once."""
    return [*dict.fromkeys(UUID(row[0].value[_ID]) for row in found.rows if isinstance(row[0], Iri))]


def successors_of(fact: Fact, families: Mapping[UUID, Sequence[Fact]]) -> tuple[Fact, ...]:
    """What took the place of a fact: of its family, recorded when it was superseded, for its time or of other value."""
    if fact.superseded is None:
        return ()
    return tuple(
        each
        for each in families.get(fact.content.family, ())
        if each.certificate == fact.superseded.certificate
        and (each.statement != fact.statement or each.interval.intersect(fact.interval) is not None)
    )
