"""Case 8 for queries: what cannot be used is refused when it is written, with its place and what to write instead."""

from __future__ import annotations

from typing import Final

import pytest

from certificates.findings import FindingCode, Severity
from kernel.vocabulary import GENID, SHAPES_GRAPH
from tests.bridge.shapes.world import World, asserts

NODE: Final = "SELECT $this WHERE { $this <urn:x:p> ?x "
SELECTS: Final = {
    "no query": ("SELECT $this WHERE {", "never closed"),
    "an update": ("DELETE WHERE { $this ?p ?o }", "this is no SELECT query"),
    "an ASK": ("ASK { $this ?p ?o }", "this is no SELECT query"),
    "a prefix that is not declared": (
        "SELECT $this { $this ex:p 1 }",
        "column 22: the prefix ex: is not declared",
    ),
    "a place in the second line": ("SELECT $this {\n$this ex:p 1 }", "line 2, column 7"),
    "$this is not selected": ("SELECT ?x { $this <urn:x:p> ?x }", "does not select $this"),
    "MINUS": (NODE + "MINUS { ?x <urn:x:q> 1 } }", "use FILTER NOT EXISTS"),
    "VALUES": (NODE + "VALUES ?x { 1 } }", "VALUES has no meaning"),
    "VALUES at the end": (NODE + "} VALUES ?x { 1 }", "VALUES has no meaning"),
    "SERVICE": (NODE + "SERVICE <urn:x:s> { ?x ?p ?o } }", "SERVICE is not allowed"),
    "SERVICE within": (NODE + "FILTER NOT EXISTS { SERVICE SILENT ?x { ?x ?p ?o } } }", "SERVICE is not allowed"),
    "AS $this": (NODE + "BIND (1 AS $this) }", "$this is bound beforehand"),
    "AS ?this in the head": ("SELECT (1 AS ?this) { ?s ?p ?o }", "?this is bound beforehand"),
    "AS glued to a word": (NODE + "BIND (trueAS $this) }", "$this is bound beforehand"),
    "AS ?currentShape": (NODE + "BIND (1 AS ?currentShape) }", "?currentShape is bound beforehand"),
    "a query within that does not select $this": (
        NODE + "{ SELECT ?x { ?x <urn:x:q> ?y } } }",
        "does not select $this",
    ),
    "a query within that selects all": (NODE + "{ SELECT * { $this <urn:x:q> ?y } } }", "does not select $this"),
    "a query deep within": (
        NODE + "FILTER (?x = 1 || NOT EXISTS { { SELECT ?x { ?x <urn:x:q> ?y } } }) }",
        "does not select $this",
    ),
    "NOW": (NODE + "FILTER (?x < NOW()) }", "something else each time"),
    "BNODE": (NODE + "BIND (BNODE() AS ?y) }", "something else each time"),
    "SAMPLE": ("SELECT $this (SAMPLE(?x) AS ?y) { $this <urn:x:p> ?x } GROUP BY $this", "use MIN or MAX"),
    "LIMIT": (NODE + "} LIMIT 1", "leave it to chance"),
    "FROM": ("SELECT $this FROM <urn:x:g> WHERE { $this ?p ?o }", "FROM has no place here"),
    "GRAPH": (NODE + "GRAPH ?g { ?x ?p ?o } }", "is one graph"),
    "GRAPH of a name": (NODE + "OPTIONAL { GRAPH <urn:x:g> { ?x ?p ?o } } }", "is one graph"),
    "a function": (NODE + "FILTER (<urn:x:f>(?x)) }", "function <urn:x:f> is not supported"),
    "$PATH at a node shape": ("SELECT $this { $this $PATH ?x }", "there is none here"),
    "?failure": ("SELECT $this (true AS ?other) ?failure { $this <urn:x:p> ?failure }", "to judge never fails"),
    "everything, and nothing in between": ("SELECT $this { ?x <urn:x:p>* ?y }", "bind one of its ends"),
    "no step and any predicate": ("SELECT $this { $this <urn:x:p>* ?y . ?y ?p ?o }", "name the predicates"),
    "too long": ("SELECT $this { $this ?p " + "?o ." * 10_000 + " }", "more than 20,000 characters"),
    "nested too deep": ("SELECT $this " + "{" * 200 + "}" * 200, "nested more than 100 deep"),
    "a triple term": ("SELECT $this { $this <urn:x:p> <<( <urn:a> <urn:b> <urn:c> )>> }", "is not understood here"),
}


def told(turtle: str) -> list[str]:
    findings = World().judge(*asserts(turtle, graph=SHAPES_GRAPH))
    assert all(finding.code is FindingCode.MALFORMED_SHAPES for finding in findings)
    assert all(finding.severity is Severity.VIOLATION for finding in findings)
    for finding in findings:
        assert finding.focus is not None
        assert finding.focus in finding.message or finding.focus.startswith(f"<{GENID}")
    return [finding.message for finding in findings]


@pytest.mark.parametrize(("query", "reason"), SELECTS.values(), ids=SELECTS)
def test_case_08_a_query_that_cannot_be_used(query: str, reason: str) -> None:
    messages = told(f':S a sh:NodeShape ; sh:targetClass :A ; sh:sparql :Q . :Q sh:select """{query}""" .')
    assert len(messages) == 1
    assert messages[0].startswith("the shapes cannot be used, at <urn:x:Q>: ")
    assert reason in messages[0]


PATHS: Final = {
    "selected": "SELECT $this $PATH { $this $PATH ?x }",
    "compared": "SELECT $this { $this $PATH ?x FILTER ($PATH = <urn:x:p>) }",
    "an object": "SELECT $this { $this $PATH $PATH }",
}


@pytest.mark.parametrize("query", PATHS.values(), ids=PATHS)
def test_the_path_stands_between_a_subject_and_an_object(query: str) -> None:
    [message] = told(f':S sh:path :p ; sh:targetClass :A ; sh:sparql :Q . :Q sh:select """{query}""" .')
    assert "$PATH stands elsewhere" in message


DECLARED: Final = {
    "no query": (":S sh:targetClass :A ; sh:sparql :Q . :Q sh:message 'x' .", "needs one sh:select"),
    "two queries": (":S sh:targetClass :A ; sh:sparql :Q . :Q sh:select 'x', 'y' .", "it has 2"),
    "a constraint that is a literal": (":S sh:targetClass :A ; sh:sparql 'SELECT' .", "takes a constraint"),
    "a message that is a number": (
        ":S sh:targetClass :A ; sh:sparql :Q . :Q sh:select 'SELECT $this { $this ?p ?o }' ; sh:message 1 .",
        "takes text",
    ),
    "two severities": (
        """:S sh:targetClass :A ; sh:sparql :Q .
           :Q sh:select 'SELECT $this { $this ?p ?o }' ; sh:severity sh:Info, sh:Warning .""",
        "is given 2 times",
    ),
    "a prefix twice": (
        """:S sh:targetClass :A ; sh:sparql :Q . :Q sh:select 'SELECT $this { $this ?p ?o }' ; sh:prefixes :O .
           :O sh:declare [ sh:prefix 'e' ; sh:namespace 'urn:a'^^xsd:anyURI ] ; owl:imports :O2 .
           :O2 sh:declare [ sh:prefix 'e' ; sh:namespace 'urn:b'^^xsd:anyURI ] .""",
        "stands for two namespaces",
    ),
    "a namespace that is code": (
        """:S sh:targetClass :A ; sh:sparql :Q . :Q sh:select 'SELECT $this { $this ?p ?o }' ; sh:prefixes :O .
           :O sh:declare [ sh:prefix 'e' ; sh:namespace 'urn:a> SELECT'^^xsd:anyURI ] .""",
        "IRI",
    ),
    "a prefix without a namespace": (
        """:S sh:targetClass :A ; sh:sparql :Q . :Q sh:select 'SELECT $this { $this ?p ?o }' ; sh:prefixes :O .
           :O sh:declare [ sh:prefix 'e' ] .""",
        "one sh:prefix and one sh:namespace",
    ),
    "a component without parameters": (":C a sh:ConstraintComponent .", "a parameter that is not optional"),
    "a component of optional parameters": (
        ":C a sh:ConstraintComponent ; sh:parameter [ sh:path :v ; sh:optional true ] .",
        "a parameter that is not optional",
    ),
    "a parameter with a name that is taken": (
        ":C a sh:ConstraintComponent ; sh:parameter [ sh:path :this ], [ sh:path :v ] .",
        "cannot be called this",
    ),
    "a parameter whose name is no variable": (
        ":C a sh:ConstraintComponent ; sh:parameter [ sh:path :a-b ], [ sh:path :v ] .",
        "cannot be that of a variable",
    ),
    "a parameter without path": (
        ":C a sh:ConstraintComponent ; sh:parameter [ sh:name 'x' ], [ sh:path :v ] .",
        "has one sh:path",
    ),
    "two parameters of one name": (
        ":C a sh:ConstraintComponent ; sh:parameter [ sh:path :v ], [ sh:path <urn:y:v> ] .",
        "two parameters are called v",
    ),
    "a component of SHACL": (
        "sh:ClassConstraintComponent a sh:ConstraintComponent ; sh:parameter [ sh:path :v ] .",
        "has an IRI of its own",
    ),
    "a validator that binds a parameter": (
        """:C a sh:ConstraintComponent ; sh:parameter [ sh:path :v ] ;
               sh:validator [ sh:ask 'ASK { BIND (1 AS ?v) }' ] .""",
        "?v is bound beforehand",
    ),
    "a validator of the other form": (
        ":C a sh:ConstraintComponent ; sh:parameter [ sh:path :v ] ; sh:nodeValidator [ sh:ask 'ASK { }' ] .",
        "needs one sh:select",
    ),
    "several values of several parameters": (
        """:C a sh:ConstraintComponent ; sh:parameter [ sh:path :v ], [ sh:path :w ] ;
               sh:validator [ sh:ask 'ASK { }' ] .
           :S sh:targetClass :A ; :v 1, 2 ; :w 3 .""",
        "is given 2 times",
    ),
    "a parameter that does not fit": (
        """:C a sh:ConstraintComponent ; sh:parameter [ sh:path :v ; sh:datatype xsd:integer ] ;
               sh:validator [ sh:ask 'ASK { }' ] .
           :S sh:targetClass :A ; :v "one" .""",
        "does not fit",
    ),
    "a query about evidence": (
        """:S sh:targetClass :A ; sh:property [ sh:path :p ; sh:reifierShape :E ] . :E a sh:NodeShape ;
           sh:sparql [ sh:select 'SELECT $this { $this ?p ?o }' ] .""",
        "by SHACL Core alone",
    ),
}


@pytest.mark.parametrize(("turtle", "reason"), DECLARED.values(), ids=DECLARED)
def test_case_08_a_declaration_that_cannot_be_used(turtle: str, reason: str) -> None:
    assert any(reason in message for message in told(turtle))
