"""What an endpoint says of itself: SPARQL 1.1 Service Description.

Rules
-----
* It names the languages, the formats of answers, and the dataset of a query that names none, as its caller finds it:
  a graph that they may not read is not in it.
* `sd:UnionDefaultGraph` says that the default graph is the union of all data graphs; without it there is `m:default`
  alone. `sd:BasicFederatedQuery` is there where some endpoints may be called. Nothing is dereferenced.
* Nothing is entailed by default (`sd:defaultEntailmentRegime`). The regimes that may be asked for are features, and so
  is the profile of OWL: both are of classes below `sd:Feature` (section 3.2 of the recommendation).

Example
-------
>>> from bridge.sparql.results import GRAPHS
>>> dataset = Dataset(complete=False, union=False, default_graphs=(), named_graphs=(Iri("urn:g"),))
>>> b"sparql-service-description#endpoint> <urn:here>" in describe("urn:here", dataset, GRAPHS[1], Says(strict=True))
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.sparql.dataset import Dataset
from kernel.entailment.table import Regime
from kernel.terms import RDF, Iri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.sparql.results import Format

SD: Final = "http://www.w3.org/ns/sparql-service-description#"
FORMATS: Final = "http://www.w3.org/ns/formats/"

_QUERIES: Final = ("SPARQL11Query",)
_AND_UPDATES: Final = (*_QUERIES, "SPARQL11Update")
_WRITTEN: Final = (
    *("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV"),
    *("Turtle", "N-Triples", "JSON-LD", "RDF_XML", "N-Quads", "TriG"),
)
_ENTAILMENT: Final = "http://www.w3.org/ns/entailment/"
_SIMPLE: Final = ox.NamedNode(_ENTAILMENT + "Simple")
_REGIMES: Final = {
    Regime.RDFS: (_ENTAILMENT + "RDFS",),
    Regime.OWL_RL: (_ENTAILMENT + "OWL-RDF-Based", "http://www.w3.org/ns/owl-profile/RL"),
}
"""SPARQL 1.1 Entailment Regimes, sections 3 and 4; the profiles of OWL 2, section 1."""


@dataclass(frozen=True, slots=True)
class Says:
    """What an endpoint is.

    Args:
        strict: whether its default graph is `m:default` alone.
        updates: whether it takes updates.
        federates: whether it calls any other endpoint.
        regimes: by which rules something may be entailed.
    """

    strict: bool
    updates: bool = True
    federates: bool = False
    regimes: tuple[Regime, ...] = ()


def describe(endpoint: str, dataset: Dataset, form: Format, says: Says) -> bytes:
    """The description as a document.

    Args:
        endpoint: its URL.
        dataset: of a query of the caller that names none.
        form: one of `GRAPHS`.
        says: what it is.
    """
    if not isinstance(form.written, ox.RdfFormat):
        raise TypeError("a description is written in a format of graphs")
    return ox.serialize(_description(endpoint, dataset, says), format=form.written) or b""


def _description(endpoint: str, dataset: Dataset, says: Says) -> Iterator[ox.Triple]:
    features = (("UnionDefaultGraph", not says.strict), ("BasicFederatedQuery", says.federates))
    service, default, graph = (ox.BlankNode(name) for name in ("service", "dataset", "default"))
    yield _is(service, "Service")
    yield _has(service, "endpoint", ox.NamedNode(endpoint))
    for language in _AND_UPDATES if says.updates else _QUERIES:
        yield _has(service, "supportedLanguage", ox.NamedNode(SD + language))
    for written in _WRITTEN:
        yield _has(service, "resultFormat", ox.NamedNode(FORMATS + written))
    for feature, there in features:
        if there:
            yield _has(service, "feature", ox.NamedNode(SD + feature))
    for regime in says.regimes:
        for named in _REGIMES[regime]:
            yield _has(service, "feature", ox.NamedNode(named))
    yield _has(service, "defaultEntailmentRegime", _SIMPLE)
    yield _has(service, "defaultDataset", default)
    yield _is(default, "Dataset")
    yield _has(default, "defaultGraph", graph)
    yield _is(graph, "Graph")
    for place, name in enumerate(dataset.named_graphs):
        yield from _named(default, place, name)


def _named(dataset: ox.BlankNode, place: int, name: Iri) -> Iterator[ox.Triple]:
    named, graph = ox.BlankNode(f"named{place}"), ox.BlankNode(f"graph{place}")
    yield _has(dataset, "namedGraph", named)
    yield _is(named, "NamedGraph")
    yield _has(named, "name", ox.NamedNode(name.value))
    yield _has(named, "graph", graph)
    yield _is(graph, "Graph")


def _is(node: ox.BlankNode, kind: str) -> ox.Triple:
    return ox.Triple(node, ox.NamedNode(f"{RDF}type"), ox.NamedNode(SD + kind))


def _has(node: ox.BlankNode, name: str, value: ox.NamedNode | ox.BlankNode) -> ox.Triple:
    return ox.Triple(node, ox.NamedNode(SD + name), value)
