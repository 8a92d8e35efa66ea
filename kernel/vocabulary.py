"""The names that Muniment gives to things of its own.

Rules
-----
* The vocabulary `m:` is `https://w3id.org/muniment#`. The reserved graphs live in it; they have transaction time only.
* The history of a graph g is the graph H(g): the prefix `HISTORY` and g, percent-encoded.
* A blank node becomes a Skolem IRI under `GENID` on entry (RDF 1.1 Concepts, section 3.5).

Example
-------
>>> history_graph(DEFAULT_GRAPH).value
'https://w3id.org/muniment/history/https%3A%2F%2Fw3id.org%2Fmuniment%23default'
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote

from kernel.terms import Iri

M: Final = "https://w3id.org/muniment#"
HISTORY: Final = "https://w3id.org/muniment/history/"
GENID: Final = "https://w3id.org/muniment/.well-known/genid/"
MARKER: Final = "https://w3id.org/muniment/marker/"

DEFAULT_GRAPH: Final = Iri(M + "default")
SHAPES_GRAPH: Final = Iri(M + "shapes")
ONTOLOGY_GRAPH: Final = Iri(M + "ontology")
RULES_GRAPH: Final = Iri(M + "rules")
POLICY_GRAPH: Final = Iri(M + "policy")
QUERIES_GRAPH: Final = Iri(M + "queries")

PUBLIC_GOVERNANCE: Final = frozenset({SHAPES_GRAPH, ONTOLOGY_GRAPH})
"""Reserved graphs that every reader of the base may read through `GRAPH`, never in the union."""

GOVERNANCE: Final = PUBLIC_GOVERNANCE | {RULES_GRAPH, POLICY_GRAPH, QUERIES_GRAPH}
"""The reserved graphs but `m:default`: transaction time only, written by administrators, outside the union."""


@lru_cache(maxsize=4_096)
def history_graph(graph: Iri) -> Iri:
    """H(g): the graph that holds every fact ever recorded in g."""
    return Iri(HISTORY + quote(graph.value, safe=""))


def graph_of_history(history: Iri) -> Iri | None:
    """The g of an H(g), or None for any other graph."""
    return Iri(unquote(history.value.removeprefix(HISTORY))) if is_history(history) else None


def is_history(graph: Iri) -> bool:
    """Whether the graph is an H(g)."""
    return graph.value.startswith(HISTORY)


def is_ours(graph: Iri) -> bool:
    """Whether the graph's name lies in Muniment's own space, where nobody may make graphs of their own."""
    return graph.value.startswith("https://w3id.org/muniment")


def is_data(graph: Iri) -> bool:
    """Whether the graph is one of data: any but those of Muniment's own, `m:default` aside."""
    return graph == DEFAULT_GRAPH or not is_ours(graph)
