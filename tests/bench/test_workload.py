import doctest
import itertools
from types import ModuleType

import pyoxigraph as ox
import pytest
from pyshacl import validate
from rdflib import Graph

from bench import aims, contestants, measuring, results, serving, workload
from bench.workload import Kind


@pytest.mark.parametrize("module", [aims, contestants, measuring, results, serving, workload])
def test_the_examples_hold(module: ModuleType) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_no_two_facts_are_the_same_statement() -> None:
    triples = [fact.triple for kind in Kind for fact in workload.facts(kind, 0, 200)]
    assert len(set(triples)) == len(triples) == 600


def test_a_look_up_finds_the_one_value_of_its_fact() -> None:
    store = ox.Store()
    store.load("\n".join(fact.triple for fact in workload.facts(Kind.SEED, 0, 50)), ox.RdfFormat.N_TRIPLES)
    for number in range(50):
        fact = workload.fact(Kind.SEED, number)
        found = store.query(workload.query(fact))
        assert isinstance(found, ox.QuerySolutions)
        assert [str(row["o"]) for row in found] == [fact.object]


def test_an_annotated_fact_is_its_triple_with_its_valid_interval() -> None:
    fact = workload.fact(Kind.AGED, 3)
    triples = [quad.triple for quad in ox.parse(fact.annotated, format=ox.RdfFormat.TURTLE)]
    assert str(triples[0]) == fact.triple.removesuffix(" .")
    assert {str(triple.object) for triple in triples if "valid" in triple.predicate.value} == {
        f'"{workload.VALID_FROM}"^^<{workload.XSD}dateTime>',
        f'"{workload.VALID_TO}"^^<{workload.XSD}dateTime>',
    }


def test_the_shape_targets_aged_facts_alone_and_refuses_the_broken_one() -> None:
    shapes = Graph().parse(data=workload.SHAPE_TEXT, format="nt")
    facts = itertools.chain(workload.facts(Kind.AGED, 0, 5), workload.facts(Kind.PLAIN, 0, 5))
    assert validate(Graph().parse(data="\n".join(fact.triple for fact in facts), format="nt"), shacl_graph=shapes)[0]
    for broken in (workload.BROKEN.triple, workload.fact(Kind.AGED, 0).triple + "\n" + workload.BROKEN.triple):
        assert not validate(Graph().parse(data=broken, format="nt"), shacl_graph=shapes)[0]
    elsewhere = f'<{workload.EX}w0> <{workload.EX}p0> "old" .'
    assert validate(Graph().parse(data=elsewhere, format="nt"), shacl_graph=shapes)[0]
