"""Shapes that are odd and legal: what they find is what pySHACL says, at once and as the data comes and goes."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.registry import Shapes
from bridge.shapes.validation import Validation
from certificates.findings import FindingCode
from kernel.changes import Assert, Retract
from kernel.terms import Literal
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.oracle import expected, key_of, told
from tests.bridge.shapes.test_validation import key_of as key_of_result
from tests.bridge.shapes.world import G, World, asserts

if TYPE_CHECKING:
    from tests.bridge.shapes.oracle import Key

DATA: Final = """
    :a a :C ; :p :b, :c, "x"@en-GB, "y"@fr, 3, 2.5, "2024-05-06"^^xsd:date, "z" ; :q :b, 2, "x"@en .
    :b a :C ; :p :a, :b ; :r 1 . :c a :D ; :q :c . :d :p [ :q 7 ; a :C ] . :D rdfs:subClassOf :C ."""
ODD: Final = {
    "sh:or of property shapes": """
        :S sh:targetNode :a, :b, :c ; sh:or ( [ sh:path :p ; sh:minCount 3 ] [ sh:path :q ; sh:minCount 1 ;
            sh:class :C ] ) .""",
    "sh:or of property shapes at values": """
        :S sh:targetClass :C ; sh:property [ sh:path :p ; sh:or ( [ sh:path :p ; sh:minCount 1 ] [ sh:path :q ;
            sh:maxCount 0 ] ) ] .""",
    "qualified shapes with siblings, within qualified shapes": """
        :S sh:targetClass :C ; sh:property :P1, :P2 .
        :P1 sh:path :p ; sh:qualifiedValueShape :Q1 ; sh:qualifiedMinCount 1 ; sh:qualifiedMaxCount 1 ;
            sh:qualifiedValueShapesDisjoint true .
        :P2 sh:path :p ; sh:qualifiedValueShape :Q2 ; sh:qualifiedMinCount 1 ; sh:qualifiedValueShapesDisjoint
            true .
        :Q1 sh:nodeKind sh:IRI ; sh:property :P3, :P4 .
        :P3 sh:path :q ; sh:qualifiedValueShape [ sh:nodeKind sh:IRI ] ; sh:qualifiedMaxCount 1 ;
            sh:qualifiedValueShapesDisjoint true .
        :P4 sh:path :p ; sh:qualifiedValueShape [ sh:class :C ] ; sh:qualifiedMinCount 1 ;
            sh:qualifiedValueShapesDisjoint true .
        :Q2 sh:class :C .""",
    "siblings by way of two parents": """
        :S sh:targetClass :C ; sh:property :P1 , :PX .
        :T sh:targetClass :D ; sh:property :P1, :P2 .
        :P1 sh:path :p ; sh:qualifiedValueShape [ sh:class :C ] ; sh:qualifiedMinCount 1 ;
            sh:qualifiedValueShapesDisjoint true .
        :P2 sh:path :p ; sh:qualifiedValueShape [ sh:nodeKind sh:IRI ] ; sh:qualifiedMinCount 1 .
        :PX sh:path :q ; sh:qualifiedValueShape [ sh:nodeKind sh:BlankNodeOrIRI ] ; sh:qualifiedMinCount 1 .""",
    "sh:xone four deep": """
        :S sh:targetNode :a, :b, 3, 'z' ; sh:xone ( [ sh:xone ( [ sh:xone ( [ sh:nodeKind sh:IRI ] [ sh:class :C
            ] [ sh:hasValue :b ] ) ] [ sh:nodeKind sh:Literal ] ) ] [ sh:not [ sh:xone ( [ sh:datatype
            xsd:integer ] [ sh:minInclusive 1 ] ) ] ] ) .""",
    "two lists with one tail": """
        :S sh:targetClass :C ; sh:property [ sh:path :p ; sh:in _:l ] ; sh:property [ sh:path :q ; sh:in _:l ] .
        _:l rdf:first :b ; rdf:rest ( 2 :c ) .""",
    "one list for three constraints": """
        :S sh:targetClass :C ; sh:or _:l ; sh:property [ sh:path :p ; sh:and _:l ; sh:xone _:l ] .
        _:l rdf:first [ sh:nodeKind sh:IRI ] ; rdf:rest ( [ sh:class :D ] ) .""",
    "a list that is the tail of another": """
        :S sh:targetClass :C ; sh:property [ sh:path :p ; sh:in _:l ] ; sh:property [ sh:path :q ; sh:in _:m ] .
        _:l rdf:first 9 ; rdf:rest _:m .
        _:m rdf:first :b ; rdf:rest () .""",
    "a pattern with flags": """
        :S sh:targetNode :a ; sh:property [ sh:path :p ; sh:pattern '^X$' ; sh:flags 'i' ] .""",
    "a pattern for IRIs": """
        :S sh:targetObjectsOf :p ; sh:pattern ':b$' .""",
    "ranges of languages": """
        :S sh:targetNode :a ; sh:property [ sh:path :p ; sh:languageIn ( 'en' ) ] ; sh:property [ sh:path :q ;
            sh:languageIn ( 'EN-gb' 'de' ) ] .""",
    "values of several types, compared": """
        :S sh:targetNode :a ; sh:property [ sh:path :p ; sh:lessThan :q ] ; sh:property [ sh:path :q ;
            sh:lessThanOrEquals :p ] .""",
    "a closed shape, and paths that are no predicates": """
        :S sh:targetNode :a, :b ; sh:closed true ; sh:ignoredProperties ( rdf:type ) ; sh:property [ sh:path (
            :p :q ) ] ; sh:property [ sh:path [ sh:inversePath :q ] ] ; sh:property [ sh:path :r ;
            sh:deactivated true ] .""",
    "deactivated: false": """
        :S sh:targetNode :a ; sh:deactivated false ; sh:property [ sh:path :p ; sh:maxCount 0 ] .""",
    "a severity of its own": """
        :S sh:targetNode :a ; sh:severity :Grave ; sh:property [ sh:path :p ; sh:maxCount 0 ; sh:severity
            sh:Info ] ; sh:nodeKind sh:Literal .""",
    "sh:equals of a node shape": """
        :S sh:targetObjectsOf :p ; sh:equals :p .""",
    "sh:disjoint of a node shape": """
        :S sh:targetSubjectsOf :p ; sh:disjoint :p .""",
    "one language by two predicates": """
        :S sh:targetNode :a ; sh:property [ sh:path [ sh:alternativePath ( :p :q ) ] ; sh:uniqueLang true ] .""",
    "a path in circles": """
        :S sh:targetNode :b ; sh:property [ sh:path ( [ sh:zeroOrMorePath [ sh:alternativePath ( :p [
            sh:inversePath :q ] ) ] ] rdf:type ) ; sh:maxCount 1 ; sh:in ( :C ) ] .""",
    "a sequence backwards": """
        :S sh:targetNode :b ; sh:property [ sh:path [ sh:inversePath ( :p :p ) ] ; sh:maxCount 0 ] .""",
    "limits of what has no order": """
        :S sh:targetNode :a ; sh:property [ sh:path :p ; sh:minInclusive 3 ; sh:minLength 2 ; sh:maxLength 3 ] .""",
    "a class that is a shape": """
        :C a rdfs:Class, sh:NodeShape ; sh:property [ sh:path :r ; sh:minCount 1 ] .""",
    "sh:not of property shapes": """
        :S sh:targetClass :C ; sh:not [ sh:path :p ; sh:minCount 2 ] ; sh:not [ sh:property [ sh:path :q ;
            sh:maxCount 1 ] ] .""",
    "sh:and, and sh:node of both sorts": """
        :S sh:targetClass :C ; sh:and ( :T [ sh:node :T ; sh:property [ sh:path :p ; sh:node :U ] ] ) .
        :T sh:property [ sh:path :q ; sh:minCount 1 ] .
        :U sh:nodeKind sh:IRI .""",
    "datatypes to choose from": """
        :S sh:targetObjectsOf :p, :q ; sh:or ( [ sh:datatype xsd:integer ] [ sh:datatype rdf:langString ] [
            sh:datatype xsd:string ] [ sh:nodeKind sh:IRI ] ) .""",
    "no step or one, from a literal": """
        :S sh:targetNode 3, 'q' ; sh:property [ sh:path [ sh:zeroOrOnePath :p ] ; sh:minCount 1 ; sh:nodeKind
            sh:IRI ] .""",
    "backwards from a literal": """
        :S sh:targetNode 3, 4 ; sh:property [ sh:path [ sh:inversePath :p ] ; sh:minCount 1 ] .""",
    "targets by way of a subclass": """
        :S sh:targetClass :C ; sh:property [ sh:path :r ; sh:minCount 1 ] .
        :T sh:targetClass :D ; sh:nodeKind sh:BlankNode .""",
    "a property shape with a target": """
        :P sh:path :p ; sh:targetSubjectsOf :p ; sh:maxCount 1 ; sh:property [ sh:path :p ; sh:minCount 1 ] .""",
    "messages with what looks like a placeholder": """
        :S sh:targetNode :a ; sh:property [ sh:path :p ; sh:maxCount 0 ; sh:message 'has {?value} {$this}'@en,
            'hat'@de ] .""",
}


def world(turtle: str) -> World:
    """A base with nothing but the shapes, which are in order."""
    shaped = World()
    written = asserts(turtle, graph=SHAPES_GRAPH)
    assert {each.code for each in shaped.judge(*written)} <= {FindingCode.EXISTING_VIOLATION}
    shaped.hold(*written)
    return shaped


@pytest.mark.parametrize("turtle", ODD.values(), ids=ODD)
def test_what_they_find_is_what_pyshacl_says(turtle: str) -> None:
    shaped = world(turtle)
    plan = shaped.plan(*asserts(DATA))
    wanted = expected(shaped, plan)
    assert told(shaped.checker.findings(plan, shaped.view), wanted) == wanted


@pytest.mark.parametrize("turtle", ODD.values(), ids=ODD)
def test_what_comes_and_goes_brings_what_the_whole_newly_says(turtle: str) -> None:
    shaped, random = world(turtle), Random(turtle)
    known = Shapes(ShapesDocument([fact.content for fact in shaped.view.believed(graph=SHAPES_GRAPH)], {}))

    def whole() -> set[Key]:
        data = Data({})
        for statement in (fact.statement for fact in shaped.view.believed(graph=G)):
            spelled = (statement.object,) if isinstance(statement.object, Literal) else ()
            data.add((statement.subject, statement.predicate, statement.object), spelled)
        return {key_of_result(each) for each in Validation(known, data).results()}

    comes = [change for change in asserts(DATA) if isinstance(change, Assert)]
    goes = [Retract(change.statement, None) for change in comes]
    changes: list[Assert | Retract] = [*random.sample(comes, len(comes)), *random.sample(goes, len(goes))]
    now = whole()
    for change in changes:
        found = {key_of(finding) for finding in shaped.judge(change)}
        shaped.hold(change)
        before, now = now, whole()
        assert found == now - before, change
