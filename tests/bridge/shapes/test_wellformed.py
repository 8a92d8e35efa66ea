"""Case 8: shapes that cannot be used are refused when they are written, with the place named, and never hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rdflib.namespace import SH as RDFLIB_SH

from bridge.shapes.vocabulary import REPORTED, SH, UNSUPPORTED, USABLE
from certificates.certificate import Verdict
from certificates.findings import FindingCode, Severity
from kernel.policy.verdicts import DEFAULT_POLICY
from kernel.vocabulary import GENID, SHAPES_GRAPH
from tests.bridge.shapes.world import World, asserts, read, retracts

if TYPE_CHECKING:
    from certificates.findings import Finding

START = ":S a sh:NodeShape ; sh:targetClass :A ; "


def findings_of(turtle: str) -> list[Finding]:
    """What is found of shapes that are written."""
    return World().judge(*asserts(turtle, graph=SHAPES_GRAPH))


BROKEN = {
    # the case itself
    "a misspelt term": (START + "sh:property [ sh:path :v ; sh:minCuont 1 ] .", "there is no sh:minCuont"),
    "a property shape without path": (START + "sh:property :P . :P sh:minCount 1 .", "needs a sh:path"),
    "a typed property shape without path": (":P a sh:PropertyShape ; sh:minCount 1 .", "needs a sh:path"),
    "a cyclic sh:in list": (
        START + "sh:in _:l . _:l rdf:first 1 ; rdf:rest _:m . _:m rdf:first 2 ; rdf:rest _:l .",
        "sh:in takes a list",
    ),
    "a bad regex": (START + "sh:property [ sh:path :v ; sh:pattern '(' ] .", "cannot be used"),
    "a recursive sh:node": (START + "sh:node :S .", "the shape contains itself"),
    # its kind
    "a misspelt type": (":S a sh:NodeShap ; sh:targetClass :A .", "there is no sh:NodeShap"),
    "a misspelt value": (START + "sh:severity sh:Warnng .", "there is no sh:Warnng"),
    "two paths": (START + "sh:property [ sh:path :v, :w ] .", "one sh:path, this one has 2"),
    "a literal path": (START + "sh:property [ sh:path 'v' ] .", "is no path"),
    "an empty blank path": (START + "sh:property [ sh:path [] ] .", "not exactly one kind of path"),
    "a path of two kinds": (
        START + "sh:property [ sh:path [ sh:inversePath :v ; sh:zeroOrMorePath :w ] ] .",
        "not exactly one kind of path",
    ),
    "a sequence of one": (START + "sh:property [ sh:path ( :v ) ] .", "no list of at least two paths"),
    "an alternative that is no list": (
        START + "sh:property [ sh:path [ sh:alternativePath :v ] ] .",
        "no list of at least two paths",
    ),
    "a path within itself": (
        START + "sh:property [ sh:path _:p ] . _:p sh:inversePath _:p .",
        "the path contains itself",
    ),
    "a path that unfolds": (
        START
        + "sh:property [ sh:path _:p0 ] ."
        + "".join(f"_:p{n} sh:alternativePath ( _:p{n + 1} _:p{n + 1} ) ." for n in range(40))
        + "_:p40 sh:inversePath :v .",
        "more than 200 parts",
    ),
    "a path nested too deep": (
        START + "sh:property [ sh:path " + "[ sh:zeroOrMorePath " * 12 + ":v" + " ]" * 12 + " ] .",
        "nested 12 deep",
    ),
    "a node shape with a path": (START + "sh:path :v .", "a node shape has no sh:path"),
    "a list with two rests": (START + "sh:in _:l . _:l rdf:first 1 ; rdf:rest ( 2 ), ( 3 ) .", "takes a list"),
    "a list without end": (START + "sh:in _:l . _:l rdf:first 1 .", "takes a list"),
    "an empty list of shapes": (START + "sh:or () .", "the list is empty"),
    "a literal among shapes": (START + "sh:or ( 'x' ) .", "a list of at least one shape"),
    "text for a number": (START + "sh:property [ sh:path :v ; sh:minCount 'one' ] .", "takes a whole number"),
    "a negative count": (START + "sh:property [ sh:path :v ; sh:maxCount -1 ] .", "takes a whole number"),
    "a count on a node shape": (START + "sh:minCount 1 .", "has no meaning on a node shape"),
    "two counts": (START + "sh:property [ sh:path :v ; sh:minCount 1, 2 ] .", "is given 2 times"),
    "a datatype in quotes": (START + "sh:datatype 'integer' .", "takes an IRI"),
    "a node kind that is none": (START + "sh:nodeKind :Iri .", "takes one of"),
    "unsupported flags": (START + "sh:pattern 'a' ; sh:flags 'x' .", "flags i, m, s and q"),
    "a pattern that only warns": (START + "sh:pattern '[[a]' .", "cannot be used"),
    "a pattern for another engine": (START + "sh:pattern '\\\\p{IsBasicLatin}' .", "cannot be used"),
    "a qualified shape without count": (
        START + "sh:property [ sh:path :v ; sh:qualifiedValueShape [ sh:class :B ] ] .",
        "needs sh:qualifiedMinCount",
    ),
    "ignored properties of an open shape": (START + "sh:ignoredProperties ( :v ) .", "needs sh:closed"),
    "sh:node of a property shape": (START + "sh:node :P . :P sh:path :v .", "takes a node shape"),
    "a recursion by way of lists": (START + "sh:not [ sh:or ( :T ) ] . :T sh:and ( :S ) .", "contains itself"),
    "a recursion by a property": (START + "sh:property [ sh:path :v ; sh:node :S ] .", "contains itself"),
    "a recursion by a qualified shape": (
        START + "sh:property [ sh:path :v ; sh:qualifiedValueShape :S ; sh:qualifiedMinCount 1 ] .",
        "contains itself",
    ),
    "shapes nested too deep": (
        ":s0 sh:targetClass :A ." + "".join(f":s{n} sh:node :s{n + 1} ." for n in range(60)) + ":s60 sh:class :A .",
        "30 are allowed",
    ),
    "a shape that unfolds": (
        ":s0 sh:targetClass :A ."
        + "".join(f":s{n} sh:and ( :s{n + 1} [ sh:node :s{n + 1} ] ) ." for n in range(14))
        + ":s14 sh:class :A .",
        "5000 are allowed",
    ),
    "entailment": ("<urn:x:shapes> sh:entailment <http://www.w3.org/ns/entailment/RDFS> .", "not supported"),
    "a rule": (START + "sh:rule [ a sh:TripleRule ; sh:subject sh:this ] .", "is not supported"),
    "a target of another kind": (":S a sh:NodeShape ; sh:target [ sh:select 'x' ] .", "is not supported"),
    "another spelling of true": (START + "sh:closed '1'^^xsd:boolean .", "true or false, spelled so"),
    "a report": ("[] a sh:ValidationReport ; sh:conforms true .", "belongs in validation reports"),
    "a blank target": (":S a sh:NodeShape ; sh:targetNode [] .", "takes an IRI or a literal"),
}


@pytest.mark.parametrize(("turtle", "reason"), BROKEN.values(), ids=BROKEN)
def test_case_08_malformed_shapes(turtle: str, reason: str) -> None:
    findings = findings_of(turtle)
    assert {finding.code for finding in findings} == {FindingCode.MALFORMED_SHAPES}
    assert {finding.severity for finding in findings} == {Severity.VIOLATION}
    assert {finding.graphs for finding in findings} == {(SHAPES_GRAPH.value,)}
    assert any(reason in finding.message for finding in findings), [finding.message for finding in findings]
    for finding in findings:
        assert finding.focus is not None
        assert finding.focus in finding.message or finding.focus.startswith(f"<{GENID}")
        assert GENID not in finding.message, "a node without a name is told by the shape that it is of"


def test_case_08_the_place_is_named() -> None:
    [finding] = findings_of(":S a sh:NodeShape ; sh:targetClass :A ; sh:property :P . :P sh:path :v ; sh:minCuont 1 .")
    assert finding.focus == "<urn:x:P>"
    assert finding.path == f"<{SH}minCuont>"
    assert finding.message == (
        "the shapes cannot be used, at <urn:x:P>: there is no sh:minCuont in SHACL: check its spelling"
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            ":S a sh:NodeShape ; sh:property [ sh:path :v ; sh:minCuont 1 ] .",
            "a property shape for <urn:x:v>, of <urn:x:S>",
        ),
        (":S a sh:NodeShape ; sh:not [ sh:minCuont 1 ] .", "a node without a name, of <urn:x:S>"),
        ("[] a sh:NodeShape ; sh:minCuont 1 .", "a node without a name"),
    ],
)
def test_case_08_a_place_without_a_name_is_told_by_the_shape_that_it_is_of(text: str, place: str) -> None:
    finding = findings_of(text)[0]
    assert finding.message.startswith(f"the shapes cannot be used, at {place}: ")


def test_case_08_a_cycle_of_lists_and_shapes_does_not_hang() -> None:
    members = " ".join(f":s{n}" for n in range(50))
    text = "".join(f":s{n} sh:or ( {members} ) ." for n in range(50))
    assert any("contains itself" in finding.message for finding in findings_of(text))


GOOD = {
    "all of SHACL Core": """
        :S a sh:NodeShape ; sh:targetClass :A ; sh:targetNode :n, 'n' ; sh:targetSubjectsOf :v ; sh:targetObjectsOf :v ;
            rdfs:label "anything else is free" ; sh:message "no"@en, "nein"@de ; sh:severity :Grave ;
            sh:closed true ; sh:ignoredProperties ( rdf:type ) ; sh:nodeKind sh:BlankNodeOrIRI ;
            sh:not [ sh:class :B ] ; sh:xone ( [ sh:class :C ] [ sh:hasValue :x ] ) ;
            sh:property [ sh:path :v ; sh:minCount 1 ; sh:maxCount 2 ; sh:datatype xsd:integer ; sh:in ( 1 2 ) ;
                sh:minInclusive 0 ; sh:maxExclusive 10 ; sh:name "v" ; sh:description "d" ; sh:order 1 ;
                sh:defaultValue 1 ; sh:group :G ] ;
            sh:property [ sh:path ( :v [ sh:inversePath :w ] ) ; sh:pattern "^a", "b$" ; sh:flags "i" ;
                sh:minLength 1 ; sh:maxLength 9 ; sh:languageIn ( "en" ) ; sh:uniqueLang true ] ;
            sh:property [ sh:path :w ; sh:equals :v ; sh:disjoint :x ; sh:lessThan :y ; sh:lessThanOrEquals :z ;
                sh:qualifiedValueShape [ sh:class :B ] ; sh:qualifiedMinCount 1 ; sh:qualifiedMaxCount 2 ;
                sh:qualifiedValueShapesDisjoint true ] ;
            sh:property [ sh:path :z ; sh:reificationRequired true ; sh:reifierShape [ sh:property [
                sh:path m:confidence ; sh:minInclusive 0.5 ] ] ] .
        :G a sh:PropertyGroup ; rdfs:label "group" .
        <urn:x:shapes> a owl:Ontology ; sh:declare [ sh:prefix "x" ; sh:namespace "urn:x:"^^xsd:anyURI ] .""",
    "a shape used twice": """
        :S sh:targetClass :A ; sh:node :T ; sh:property [ sh:path :v ; sh:node :T ] . :T sh:class :B .""",
    "no shapes at all": ":x rdfs:label 'nothing to do with it' .",
    "terms of SHACL that are only spoken of": ":S a sh:NodeShape ; sh:targetSubjectsOf sh:sparql ; sh:class sh:Rule .",
    "an empty list of values": ":S a sh:NodeShape ; sh:targetClass :A ; sh:in () .",
}


@pytest.mark.parametrize("turtle", GOOD.values(), ids=GOOD)
def test_well_formed_shapes_are_accepted(turtle: str) -> None:
    assert FindingCode.MALFORMED_SHAPES not in {finding.code for finding in findings_of(turtle)}


@pytest.mark.parametrize("reference", ["sh:node :Missing", "sh:property :Missing", "sh:or ( :Missing :S2 )"])
def test_a_shape_of_which_nothing_is_said_is_told_and_judges_nothing(reference: str) -> None:
    world = World(":S2 a sh:NodeShape .")
    written = asserts(START + reference + " .", graph=SHAPES_GRAPH)
    [finding] = world.judge(*written)
    assert (finding.code, finding.severity) == (FindingCode.UNDESCRIBED_SHAPE, Severity.WARNING)
    assert finding.value == "<urn:x:Missing>"
    assert DEFAULT_POLICY.verdict([finding]) is Verdict.REVIEW
    world.hold(*written)
    assert world.judge(*asserts(":x a :A .")) == []
    assert world.judge(*asserts(":T a sh:NodeShape .", graph=SHAPES_GRAPH)) == []


IDLE = {
    "a qualified count without shape": (
        START + "sh:property [ sh:path :v ; sh:qualifiedMinCount 1 ] .",
        "it goes with sh:qualifiedValueShape",
    ),
    "another spelling of true": (
        START + "sh:property [ sh:path :v ; sh:uniqueLang '1'^^xsd:boolean ] .",
        "by true and false, spelled so",
    ),
    "an unknown word at what is no shape": (":x a :Thing ; sh:nodeShape :S .", "there is no sh:nodeShape"),
    "a component without a validator": (
        START + ":v 1 . :C a sh:ConstraintComponent ; sh:parameter [ sh:path :v ] .",
        "has no validator for such a shape",
    ),
}


@pytest.mark.parametrize(("turtle", "reason"), IDLE.values(), ids=IDLE)
def test_what_has_no_effect_is_told_and_waits(turtle: str, reason: str) -> None:
    world = World()
    written = asserts(turtle, graph=SHAPES_GRAPH)
    [finding] = world.judge(*written)
    assert (finding.code, finding.severity) == (FindingCode.WITHOUT_EFFECT, Severity.WARNING)
    assert reason in finding.message
    assert DEFAULT_POLICY.verdict([finding]) is Verdict.REVIEW
    world.hold(*written)
    assert world.judge(*asserts(":T a sh:NodeShape .", graph=SHAPES_GRAPH)) == []


def test_parameters_are_read_as_they_were_submitted() -> None:
    [finding] = findings_of(
        ":S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :v ; sh:minCount '1'^^xsd:int ] ."
    )
    assert finding.code is FindingCode.MALFORMED_SHAPES
    assert finding.value == '"1"^^<http://www.w3.org/2001/XMLSchema#int>'


def test_shapes_are_checked_as_they_would_be() -> None:
    text = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property :P . :P sh:path :v ; sh:minCount 1 ."
    world = World(text)
    findings = world.judge(*retracts(":P sh:path :v .", graph=SHAPES_GRAPH))
    assert any("needs a sh:path" in finding.message for finding in findings)
    moved = [*retracts(":P sh:path :v .", graph=SHAPES_GRAPH), *asserts(":P sh:path :w .", graph=SHAPES_GRAPH)]
    assert world.judge(*moved) == []


def test_shapes_in_force_that_cannot_be_used_hold_back_data_but_can_be_mended() -> None:
    broken = ":P sh:minCuont 1 ."
    world = World(":S a sh:NodeShape ; sh:targetClass :A ; sh:property :P . :P sh:path :v . " + broken)
    findings = world.judge(*asserts(":x :unrelated 1 ."))
    assert [finding.code for finding in findings] == [FindingCode.MALFORMED_SHAPES]
    assert world.judge(*retracts(broken, graph=SHAPES_GRAPH)) == []
    loaded = world.load(asserts(":x :unrelated 1 ."))
    assert [each.code for each in loaded] == [FindingCode.MALFORMED_SHAPES]
    world.hold(*retracts(broken, graph=SHAPES_GRAPH))
    assert world.judge(*asserts(":x :unrelated 2 .")) == []


def test_another_spelling_of_what_is_held_changes_no_shape() -> None:
    world = World(START + "sh:property :P . :P sh:path :v ; sh:minCount 1 .")
    again = asserts(":P sh:minCount '1'^^xsd:int .", graph=SHAPES_GRAPH)
    assert world.judge(*again) == []
    world.hold(*again)
    assert [finding.code for finding in world.judge(*asserts(":x a :A ."))] == [FindingCode.SHAPE_VIOLATION]


def test_the_terms_are_those_that_rdflib_knows() -> None:
    known = {str(RDFLIB_SH[name]) for name in RDFLIB_SH.__annotations__}
    keywords = {SH + name for name in ("and", "class", "in", "not", "or")}
    of_evidence = {SH + name for name in ("reifierShape", "reificationRequired", "ReifierShapeConstraintComponent")}
    assert known | keywords | of_evidence == USABLE | UNSUPPORTED | REPORTED
    assert not USABLE & UNSUPPORTED
    assert not USABLE & REPORTED
    assert not UNSUPPORTED & REPORTED


def test_the_good_examples_use_every_parameter() -> None:
    used = {predicate.value for _, predicate, _ in read(GOOD["all of SHACL Core"])}
    assert {name.removeprefix(SH) for name in used if name.startswith(SH)} >= {"closed", "xone", "qualifiedMaxCount"}
