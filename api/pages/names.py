"""The names of nodes, as far as their reader may know them.

Rules
-----
* A name is `skos:prefLabel`, `rdfs:label`, `schema:name` or `foaf:name`, in this order, English before no language and
  that before others, of the present state: of the data graphs that the caller may read, or of the ontology.
* They are asked for by queries like any other, so that nobody is told a name from a graph that they may not read.
* What a plan would name is called so on the page of its certificate, where nothing else has a name for it.

Example
-------
::

    names = names_for(base.reader, principal, {Iri("https://example.org/ada")})
    names(Iri("https://example.org/ada")).text        # Ada Lovelace
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from api.pages.terms import Names
from bridge.reading.reader import QueryRequest
from bridge.terms import node
from kernel.errors import InvalidTerm
from kernel.terms import Iri, Literal
from kernel.vocabulary import ONTOLOGY_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bridge.reading.reader import Reader
    from bridge.sparql.sample import Cell
    from kernel.access import Principal
    from kernel.terms import Statement

NAMING: Final = (
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://www.w3.org/2000/01/rdf-schema#label",
    "https://schema.org/name",
    "http://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
)
_MOST: Final = 2_000
"""Nodes whose names are looked up for one page."""

_EACH: Final = 8
"""Names of one node that are looked at, on average."""


def names_for(reader: Reader, principal: Principal, nodes: Iterable[Iri], planned: Iterable[Statement] = ()) -> Names:
    """The names of nodes for a caller.

    Args:
        reader: of the base.
        principal: the caller.
        nodes: which nodes; beyond some thousands the rest goes without.
        planned: what may be said of them soon.
    """
    wanted = [*islice(filter(_is_node, dict.fromkeys(nodes)), _MOST)]
    if not wanted:
        return Names({})
    rows: list[tuple[Cell, ...]] = [
        (each.subject, each.predicate, each.object) for each in planned if each.predicate.value in NAMING
    ]
    names = _best(rows)
    for pattern in (f"GRAPH {ONTOLOGY_GRAPH.n3} {{ ?node ?by ?name }}", "?node ?by ?name"):
        asked = QueryRequest(principal, _query(wanted, pattern))
        names |= _best(reader.sample(asked, limit=_EACH * len(wanted)).sample.rows)
    return Names(names)


def _query(nodes: list[Iri], pattern: str) -> str:
    listed, by = " ".join(each.n3 for each in nodes), " ".join(f"<{each}>" for each in NAMING)
    return f"SELECT ?node ?by ?name {{ VALUES ?by {{ {by} }} VALUES ?node {{ {listed} }} {pattern} }}"


def _best(rows: Iterable[tuple[Cell, ...]]) -> dict[str, str]:
    """For each node the name that goes before the others."""
    best: dict[str, tuple[tuple[int, int, str], str]] = {}
    for subject, by, name in rows:
        if not isinstance(subject, Iri) or not isinstance(by, Iri) or not isinstance(name, Literal):
            continue
        if not name.lexical.strip():
            continue
        rank = _language_rank(name), NAMING.index(by.value), name.lexical
        if subject.value not in best or rank < best[subject.value][0]:
            best[subject.value] = rank, name.lexical
    return {iri: name for iri, (_, name) in best.items()}


def _language_rank(name: Literal) -> int:
    language = (name.language or "").lower()
    return 0 if language == "en" or language.startswith("en-") else 2 if language else 1


def _is_node(iri: Iri) -> bool:
    """Whether an engine takes it for an IRI: the kernel's grammar is wider."""
    try:
        node(iri)
    except InvalidTerm:
        return False
    return True
