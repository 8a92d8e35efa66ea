"""Queries in shapes, by pySHACL on everything: full results, and what a plan newly breaks at each instant."""

from __future__ import annotations

from typing import Final

from hypothesis import given, note
from hypothesis import strategies as st

from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.overlay import triple_of
from bridge.shapes.registry import Shapes
from bridge.shapes.validation import Validation
from kernel.vocabulary import ONTOLOGY_GRAPH, SHAPES_GRAPH
from tests.bridge.shapes.oracle import expected, full, graph_of, told
from tests.bridge.shapes.test_incremental import ONTOLOGY, Assertion, assertions, made, retracted, triples, validities
from tests.bridge.shapes.test_validation import key_of
from tests.bridge.shapes.world import World, asserts, retracts

PREFIXES: Final = """
:prefixes sh:declare [ sh:prefix "" ; sh:namespace "urn:x:"^^xsd:anyURI ] ,
    [ sh:prefix "rdfs" ; sh:namespace "http://www.w3.org/2000/01/rdf-schema#"^^xsd:anyURI ] .
"""
COMPONENTS: Final = (
    """
:Among a sh:ConstraintComponent ; sh:parameter [ sh:path <urn:x#among> ] ; sh:validator [ a sh:SPARQLAskValidator ;
    sh:prefixes :prefixes ; sh:ask "ASK { $value a/rdfs:subClassOf* $among }" ] .
:Beside a sh:ConstraintComponent ;
    sh:parameter [ sh:path <urn:x#first> ] , [ sh:path <urn:x#second> ; sh:optional true ] ;
    sh:propertyValidator [ a sh:SPARQLSelectValidator ; sh:prefixes :prefixes ; sh:select """
    '''"""
        SELECT DISTINCT $this ?value {
            $this $PATH ?value . ?value $first ?other . FILTER(!bound($second) || ?other = $second) }""" ] ;
    sh:nodeValidator [ a sh:SPARQLSelectValidator ; sh:prefixes :prefixes ; sh:select """
        SELECT DISTINCT $this { $this $first ?other . FILTER(!bound($second) || ?other = $second) }""" ] .
'''
)
AMONG, FIRST, SECOND = (f"<urn:x#{name}>" for name in ("among", "first", "second"))
SELECTS: Final = (
    "SELECT $this ?value { $this :p ?value . FILTER(!isLiteral(?value)) }",
    "SELECT $this ?value { $this :p ?value . FILTER NOT EXISTS { ?value a ?class } }",
    "SELECT $this { FILTER NOT EXISTS { $this :p ?any } }",
    "SELECT DISTINCT $this { $this :q ?x . ?other :q ?x . FILTER(?other != $this) }",
    "SELECT $this (:q AS ?path) ?value { $this :q ?value . FILTER(isIRI(?value)) }",
    "SELECT DISTINCT $this ?path { $this ?path 1 }",
    "SELECT DISTINCT $this ?value { $this :p/:q ?value }",
    "SELECT DISTINCT $this ?value { $this ^:p ?value . ?value a/rdfs:subClassOf* :C }",
    "SELECT $this { $this :p ?one , ?other . FILTER(str(?one) < str(?other)) } GROUP BY $this HAVING (COUNT(*) > 1)",
    "SELECT DISTINCT $this ?value { { $this :p ?value } UNION { $this :q ?value } FILTER(isLiteral(?value)) }",
    "SELECT DISTINCT $this ?value { $this :p ?value OPTIONAL { ?value :q ?x } FILTER(!bound(?x)) }",
    "SELECT DISTINCT $this { ?someone :q 2 . $this :p :a }",
    "SELECT DISTINCT $this ?value { $this :p+ ?value . FILTER(isIRI(?value)) }",
)
OF_PROPERTIES: Final = (
    "SELECT $this ?value { $this $PATH ?value . FILTER(isIRI(?value)) }",
    "SELECT DISTINCT $this ?value { $this $PATH ?value . FILTER NOT EXISTS { ?value $PATH ?any } }",
)
PATHS: Final = (
    ":p",
    "[ sh:inversePath :q ]",
    "( :p :q )",
    "[ sh:alternativePath ( :p :q ) ]",
    "[ sh:oneOrMorePath :p ]",
)
USES: Final = ("", f"{AMONG} :C", f"{FIRST} :q", f"{FIRST} :q ; {SECOND} 1", f"{SECOND} 1")
WITHIN: Final = tuple(f"sh:node [ {use} ]" if AMONG in use else use for use in USES)
"""What a property shape uses: pySHACL tells no value of an ASK that is asked by one itself."""
TARGETS: Final = ("sh:targetClass :C", "sh:targetNode :a, :b", "sh:targetSubjectsOf :p", "sh:targetObjectsOf :q")


@st.composite
def shapes(draw: st.DrawFn) -> str:
    def query(text: str) -> str:
        return f'sh:sparql [ sh:prefixes :prefixes ; sh:select "{text}" ]'

    parts = ["a sh:NodeShape", *draw(st.lists(st.sampled_from(TARGETS), min_size=1, max_size=2, unique=True))]
    parts += map(query, draw(st.lists(st.sampled_from(SELECTS), max_size=1)))
    parts.append(draw(st.sampled_from(USES)))
    inner = [f"sh:path {draw(st.sampled_from(PATHS))}", draw(st.sampled_from(WITHIN))]
    inner += map(query, draw(st.lists(st.sampled_from(OF_PROPERTIES + SELECTS), max_size=1)))
    nested = f"[ {' ; '.join(filter(None, inner))} ]"
    parts.append(draw(st.sampled_from([f"sh:property {nested}", f"sh:not [ sh:property {nested} ]", ""])))
    return f":S {' ; '.join(filter(None, parts))} ."


def world_of(turtle: str, data: str = "", ontology: str = "") -> World:
    note(turtle)
    return World(PREFIXES + COMPONENTS + turtle, data, ontology)


@given(shapes(), st.lists(triples(), max_size=9), st.booleans())
def test_results_are_those_of_pyshacl(turtle: str, data: list[str], subclass: bool) -> None:
    world = world_of(turtle, "\n".join(data), ONTOLOGY if subclass else "")
    contents = [fact.content for fact in world.view.believed()]
    of_shapes = [content for content in contents if content.statement.graph == SHAPES_GRAPH]
    of_data = [content for content in contents if content.statement.graph != SHAPES_GRAPH]
    known = Shapes(ShapesDocument(of_shapes, {}))
    assert not known.problems
    results = list(Validation(known, Data({triple_of(content): () for content in of_data})).results())
    assert {key_of(result) for result in results} == full(graph_of(of_shapes), graph_of(of_data))


@given(
    shapes(),
    st.booleans(),
    st.lists(assertions(), max_size=5),
    st.lists(assertions(), max_size=2),
    st.lists(st.tuples(st.integers(0, 9), validities()), max_size=1),
    st.booleans(),
)
def test_findings_are_what_pyshacl_says_anew(
    turtle: str,
    subclass: bool,
    data: list[Assertion],
    asked: list[Assertion],
    gone: list[tuple[int, tuple[int | None, int | None]]],
    turned: bool,
) -> None:
    world = world_of(turtle, ontology=ONTOLOGY if subclass else "")
    for assertion in data:
        world.hold(*made(assertion))
    changes = [change for each in gone for change in retracted(world, *each)]
    changes += [change for assertion in asked for change in made(assertion)]
    if turned:
        changes += (retracts if subclass else asserts)(ONTOLOGY, graph=ONTOLOGY_GRAPH)
    plan = world.plan(*changes)
    wanted = expected(world, plan)
    findings = world.checker.findings(plan, world.view)
    assert told(findings, wanted) == wanted
