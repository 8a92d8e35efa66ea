"""The history that a base writes conforms to the shapes of its records; and they notice what does not."""

from __future__ import annotations

from decimal import Decimal
from importlib.resources import files
from typing import Final

import pyoxigraph as ox
import pyshacl
import pytest
import rdflib

from bridge.base import Base
from bridge.stores.projections import Projection
from kernel.changes import Assert, End, Retract
from kernel.facts import Spelling
from kernel.terms import XSD, Literal
from kernel.vocabulary import DEFAULT_GRAPH, M, history_graph
from tests.bridge.writing import OSLO, PARIS, ROME, during, living, write

SHAPES: Final = rdflib.Graph().parse(data=files("shapes").joinpath("records.ttl").read_text("utf-8"), format="turtle")


@pytest.fixture(scope="module")
def history() -> rdflib.Graph:
    """H(m:default) of a base with a bit of everything, without the triple terms, which rdflib cannot hold."""
    seven = Literal("7", XSD + "integer")
    with Base.open(None) as base:
        write(base, Assert(living(PARIS), during(2001, None), confidence=Decimal("0.75")))
        write(base, Assert(living(ROME), during(1990, 1999)), Assert(living(PARIS), during(2000, 2002)))
        write(base, End(living(PARIS)))
        write(base, Assert(living(OSLO), during(None, None)), Retract(living(ROME)))
        write(base, Assert(living(seven), spelling=Spelling(Literal("007", XSD + "int"))))
        graph = ox.NamedNode(history_graph(DEFAULT_GRAPH).value)
        quads, _ = base.stores.read(
            Projection.COMPLETE, lambda store: list(store.quads_for_pattern(None, None, None, graph))
        )
    triples = [quad.triple for quad in quads if not isinstance(quad.object, ox.Triple)]
    return rdflib.Graph().parse(data=ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES), format="nt")


def conforms(history: rdflib.Graph) -> bool:
    conforming, _, report = pyshacl.validate(history, shacl_graph=SHAPES)
    assert isinstance(conforming, bool), report
    return conforming


def test_what_a_base_writes_conforms(history: rdflib.Graph) -> None:
    facts = set(history.subjects(rdflib.URIRef(M + "family")))
    evidence = set(history.subjects(rdflib.URIRef(M + "supports")))
    assert len(facts) >= 6
    assert len(evidence) >= 3
    assert conforms(history)


@pytest.mark.parametrize("missing", ["subject", "certificate", "recordedAt", "supersededBy"])
def test_a_member_that_is_missing_is_noticed(history: rdflib.Graph, missing: str) -> None:
    broken = rdflib.Graph()
    broken += history
    broken.remove((None, rdflib.URIRef(M + missing), None))
    assert not conforms(broken)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("fromPrecision", rdflib.URIRef(M + "minute")),
        ("validTo", rdflib.Literal("1066-10-14T00:00:00Z", datatype=rdflib.XSD.dateTime)),
        ("family", rdflib.URIRef("urn:another")),
    ],
)
def test_a_member_that_does_not_fit_is_noticed(
    history: rdflib.Graph, member: str, value: rdflib.URIRef | rdflib.Literal
) -> None:
    broken = rdflib.Graph()
    broken += history
    fact = next(iter(history.subjects(rdflib.URIRef(M + "validFrom"))))
    broken.add((fact, rdflib.URIRef(M + member), value))
    assert not conforms(broken)
