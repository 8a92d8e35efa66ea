"""What is entailed: by which rules, and from which graphs.

Rules (NothingLeaks)
-----
* What follows is kept apart for each set of premise graphs. So nobody is shown what follows from a graph that they may
  not read, nor is kept waiting for it.
* Premises are the default graph of a query, and the ontology of the base if its caller may read that. What `GRAPH`
  finds is what is asserted: nothing is inferred into named graphs.
* What follows, and what the ontology says, lies in a graph of its own, `INFERRED`. It is in the snapshots that are made
  for entailment alone, and part of no dataset but theirs.

Example
-------
>>> from kernel.access import Principal, Role
>>> reader = Principal("p", Role.READER, frozenset({Iri("urn:g")}))
>>> dataset = Dataset(complete=False, union=False, default_graphs=(Iri("urn:g"),), named_graphs=())
>>> [graph.value.rpartition("#")[2] for graph in sorted(premises(dataset, reader).graphs, key=lambda each: each.value)]
['ontology', 'urn:g']
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bridge.sparql.dataset import Dataset
from kernel.terms import Iri
from kernel.vocabulary import ONTOLOGY_GRAPH, M, is_data

if TYPE_CHECKING:
    from kernel.access import Principal
    from kernel.entailment.table import Regime

INFERRED: Final = Iri(M + "inferred")
"""The graph of what is inferred; nobody may make one of that name."""


@dataclass(frozen=True, slots=True)
class Premises:
    """The graphs that something follows from.

    Args:
        graphs: which; with `every_data`, those beside the graphs of data.
        every_data: whether all graphs of data are among them, those to come as well.
    """

    graphs: frozenset[Iri]
    every_data: bool = False

    def has(self, graph: Iri) -> bool:
        """Whether a graph is one of them."""
        return graph in self.graphs or (self.every_data and is_data(graph))


@dataclass(frozen=True, slots=True)
class Entailed:
    """What is entailed: by which rules, and from which graphs."""

    regime: Regime
    premises: Premises


def premises(dataset: Dataset, principal: Principal) -> Premises:
    """The graphs from which something follows for a query."""
    beside = frozenset({ONTOLOGY_GRAPH} if principal.may_read(ONTOLOGY_GRAPH) else ())
    if dataset.union:
        return Premises(beside, every_data=True)
    return Premises(frozenset(dataset.default_graphs) | beside)


def with_inferred(dataset: Dataset) -> Dataset:
    """A dataset whose default graph has what follows from it."""
    return replace(dataset, default_graphs=(*dataset.default_graphs, INFERRED))
