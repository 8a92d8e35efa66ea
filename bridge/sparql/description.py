"""What an endpoint says of itself: SPARQL 1.1 Service Description.

Rules
-----
* It names the languages, the formats of answers, and the dataset of a query that names none, as its caller finds it:
  a graph that they may not read is not in it.
* `sd:UnionDefaultGraph` says that the default graph is the union of all data graphs; without it there is `m:default`
  alone. `sd:BasicFederatedQuery` is there where some endpoints may be called. Nothing is dereferenced.

Example
-------
>>> from bridge.sparql.results import GRAPHS
>>> dataset = Dataset(complete=False, union=False, default_graphs=(), named_graphs=(Iri("urn:g"),))
>>> b"sparql-service-description#endpoint> <urn:here>" in describe("urn:here", dataset, GRAPHS[1], strict=True)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.sparql.dataset import Dataset
from kernel.terms import RDF, Iri

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.sparql.results import Format

SD: Final = "http://www.w3.org/ns/sparql-service-description#"
FORMATS: Final = "http://www.w3.org/ns/formats/"

_QUERIES: Final = ("SPARQL11Query",)
_AND_UPDATES: Final = (*_QUERIES, "SPARQL11Update")
_WRITTEN: Final = (
    *("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV"),
    *("Turtle", "N-Triples", "JSON-LD", "RDF_XML", "N-Quads", "TriG"),
)
_SIMPLE: Final = ox.NamedNode("http://www.w3.org/ns/entailment/Simple")


def describe(
    endpoint: str, dataset: Dataset, form: Format, *, strict: bool, updates: bool = True, federates: bool = False
) -> bytes:
    """The description as a document.

    Args:
        endpoint: its URL.
        dataset: of a query of the caller that names none.
        form: one of `GRAPHS`.
        strict: whether its default graph is `m:default` alone.
        updates: whether it takes updates.
        federates: whether it calls any other endpoint.
    """
    if not isinstance(form.written, ox.RdfFormat):
        raise TypeError("a description is written in a format of graphs")
    features = [name for name, has in (("UnionDefaultGraph", not strict), ("BasicFederatedQuery", federates)) if has]
    languages = _AND_UPDATES if updates else _QUERIES
    return ox.serialize(_description(endpoint, dataset, languages, features), format=form.written) or b""


def _description(
    endpoint: str, dataset: Dataset, languages: Iterable[str], features: Iterable[str]
) -> Iterator[ox.Triple]:
    service, default, graph = (ox.BlankNode(name) for name in ("service", "dataset", "default"))
    yield _is(service, "Service")
    yield _has(service, "endpoint", ox.NamedNode(endpoint))
    for language in languages:
        yield _has(service, "supportedLanguage", ox.NamedNode(SD + language))
    for written in _WRITTEN:
        yield _has(service, "resultFormat", ox.NamedNode(FORMATS + written))
    for feature in features:
        yield _has(service, "feature", ox.NamedNode(SD + feature))
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
