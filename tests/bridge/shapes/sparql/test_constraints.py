"""What queries in shapes find, as a writer is told of it."""

from __future__ import annotations

import json
from typing import Final

from bridge.shapes.data import Data
from bridge.shapes.reports import rdf
from bridge.shapes.reports.of_findings import finding_nodes
from bridge.shapes.reports.sarif import alerts_of, sarif
from bridge.shapes.reports.telling import Telling
from bridge.shapes.reports.words import Groups
from certificates.findings import Finding, FindingCode, Severity
from kernel.terms import Iri
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.test_validation import validated
from tests.bridge.shapes.world import World, asserts, retracts, years
from tests.requirements import REPOSITORY

UNIQUE: Final = '''
:S a sh:NodeShape ; sh:targetClass :P ; sh:sparql :Q .
:Q sh:message "the id {?id} of {$this} is that of {?value}, too" ; sh:prefixes :O ;
    sh:select """SELECT $this ?id (?other AS ?value)
        { $this ex:id ?id . ?other ex:id ?id . FILTER(?other != $this) }""" .
:O sh:declare [ sh:prefix "ex" ; sh:namespace "urn:x:"^^xsd:anyURI ] .
'''


def said(findings: list[Finding]) -> list[tuple[str | None, str | None]]:
    return sorted((finding.focus, finding.value) for finding in findings)


def test_a_finding_names_all_that_a_query_found() -> None:
    world = World(UNIQUE, ":a a :P ; :id 1 . :b a :P .")
    found = world.judge(*asserts(":b :id 1 ."))
    assert said(found) == [("<urn:x:a>", "<urn:x:b>"), ("<urn:x:b>", "<urn:x:a>")]
    first = found[0]
    assert (first.code, first.severity, first.path) == (FindingCode.SHAPE_VIOLATION, Severity.VIOLATION, None)
    assert first.message == "the id 1 of <urn:x:a> is that of <urn:x:b>, too"
    assert first.component == "<http://www.w3.org/ns/shacl#SPARQLConstraintComponent>"
    assert first.constraint == "<urn:x:Q>"
    report = json.loads("".join(rdf.jsonld(finding_nodes(found, Iri("urn:x:certificate")))))
    assert {each["sourceConstraint"]["@id"] for each in report["result"]} == {"urn:x:Q"}
    assert first.graphs == ("urn:g",)


def test_another_node_that_is_no_target_counts_and_the_focus_is_judged() -> None:
    world = World(UNIQUE, ":a a :P ; :id 1 .")
    assert said(world.judge(*asserts(":z :id 1 ."))) == [("<urn:x:a>", "<urn:x:z>")]


def test_what_was_found_before_is_not_found_again() -> None:
    world = World(UNIQUE, ":a a :P ; :id 1 . :b a :P ; :id 1 .")
    assert world.judge(*asserts(":a :id 2 .")) == []
    assert world.judge(*retracts(":b :id 1 .")) == []


def test_statements_that_no_query_looks_at_are_not_even_noticed() -> None:
    world = World(UNIQUE, ":a a :P ; :id 1 .")
    world.view.reads = 0
    assert world.judge(*asserts(":a :name 'x' .")) == []
    assert world.view.reads == 0


def test_it_is_found_for_the_time_in_which_it_is_so() -> None:
    world = World(UNIQUE, ":a a :P .")
    world.hold(*asserts(":a :id 1 .", years(2000, 2010)))
    assert world.judge(*asserts(":b :id 1 .", years(2010))) == []
    [finding] = world.judge(*asserts(":b :id 1 .", years(2005, 2020)))
    assert (finding.start, finding.end) == ("2005-01-01T00:00:00Z", "2010-01-01T00:00:00Z")


def test_two_constraints_of_one_shape_are_told_apart() -> None:
    text = """:S a sh:NodeShape ; sh:targetClass :P ; sh:sparql :Q1, :Q2 .
        :Q1 sh:select 'SELECT $this { $this <urn:x:p> 1 }' ; sh:message 'one' ; sh:severity sh:Warning .
        :Q2 sh:select 'SELECT $this { $this <urn:x:p> 2 }' ; sh:message 'two' ."""
    world = World(text, ":a a :P ; :p 1 .")
    assert [finding.message for finding in world.judge(*asserts(":a :p 2 ."))] == ["two"]
    findings = World(text, ":a a :P .").judge(*asserts(":a :p 1, 2 ."))
    assert {(each.message, each.severity) for each in findings} == {
        ("one", Severity.WARNING),
        ("two", Severity.VIOLATION),
    }


def test_a_constraint_that_is_deactivated_finds_nothing() -> None:
    world = World(UNIQUE + ":Q sh:deactivated true .", ":a a :P ; :id 1 .")
    assert world.judge(*asserts(":b :id 1 .")) == []


def test_messages_of_the_solution_come_first_and_those_of_the_shape_last() -> None:
    text = """:S a sh:NodeShape ; sh:targetClass :P ; sh:message 'of the shape' ;
        sh:sparql [ sh:select "SELECT $this ?message { $this <urn:x:p> ?message }" ; sh:message 'of the constraint' ] ,
            [ sh:select "SELECT $this { $this <urn:x:q> ?any }" ] ."""
    world = World(text, ":a a :P .")
    assert [each.message for each in world.judge(*asserts(":a :p 'own'@en ."))] == ["own"]
    assert [each.message for each in world.judge(*asserts(":a :p :no_text ."))] == ["of the constraint"]
    assert [each.message for each in world.judge(*asserts(":a :q 1 ."))] == ["of the shape"]


COMPONENT: Final = """
:InRange a sh:ConstraintComponent ; sh:labelTemplate "between {$least} and {$most}" ;
    sh:parameter [ sh:path :least ] , [ sh:path :most ; sh:optional true ] ;
    sh:validator [ a sh:SPARQLAskValidator ;
        sh:ask "ASK { FILTER($value >= $least && (!bound($most) || $value <= $most)) }" ] .
"""


def test_a_component_judges_each_value_by_its_parameters() -> None:
    world = World(COMPONENT + ":S sh:targetClass :P ; sh:property [ sh:path :age ; :least 1 ; :most 9 ] .", ":a a :P .")
    [finding] = world.judge(*asserts(":a :age 5, 10 ."))
    assert finding.message == "between 1 and 9"
    assert (finding.component, finding.path, finding.value) == (
        "<urn:x:InRange>",
        "<urn:x:age>",
        '"10"^^<http://www.w3.org/2001/XMLSchema#integer>',
    )


def test_a_component_does_without_an_optional_parameter_and_not_without_another() -> None:
    shapes = ":S sh:targetClass :P ; sh:property [ sh:path :age ; :least 1 ] . :T sh:targetClass :P ; :most 9 ."
    world = World(COMPONENT + shapes, ":a a :P .")
    assert [each.value for each in world.judge(*asserts(":a :age 10, 0 ."))] == [
        '"0"^^<http://www.w3.org/2001/XMLSchema#integer>'
    ]


def test_a_component_within_other_shapes() -> None:
    text = COMPONENT + ":S sh:targetClass :P ; sh:property [ sh:path :has ; sh:not [ sh:path :age ; :least 18 ] ] ."
    world = World(text, ":a a :P ; :has :b . :b :age 3 .")
    assert said(world.judge(*retracts(":b :age 3 ."))) == [("<urn:x:a>", "<urn:x:b>")]


def test_blank_nodes_are_blank_nodes_to_a_query() -> None:
    query = "SELECT $this ?value { $this ?p ?value FILTER(isBlank(?value)) }"
    text = f":S sh:targetSubjectsOf :p ; sh:sparql [ sh:select '{query}' ] ."
    [finding] = World(text).judge(*asserts(":a :p [ :p 1 ], :b ."))
    assert finding.focus == "<urn:x:a>"
    assert finding.value is not None
    assert "/genid/" in finding.value


def test_stored_forms_are_what_a_query_sees() -> None:
    text = """:S sh:targetClass :P ; sh:sparql [ sh:select
        'SELECT $this ?value { $this <urn:x:n> ?value FILTER(str(?value) = "7") }' ] ."""
    [finding] = World(text, ":a a :P .").judge(*asserts(":a :n '007'^^xsd:int ."))
    assert finding.value == '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'


# --- what may change from anywhere ------------------------------------------------------------------------------------


ANYWHERE: Final = """:S sh:targetClass :P ; sh:sparql [ sh:select
    'SELECT $this { <urn:x:config> <urn:x:most> ?most . $this <urn:x:n> ?n FILTER(?n > ?most) }' ] ."""


def test_a_change_of_what_no_focus_leads_to_has_every_target_judged() -> None:
    world = World(ANYWHERE, ":a a :P ; :n 5 . :b a :P ; :n 1 . :config :most 9 .")
    moved = [*retracts(":config :most 9 ."), *asserts(":config :most 3 .")]
    assert said(world.judge(*moved)) == [("<urn:x:a>", "<urn:x:a>")]


def test_where_that_is_too_much_it_is_said_and_never_passed_over() -> None:
    people = " ".join(f":p{number} a :P ; :n {number % 3} ." for number in range(60))
    world = World(ANYWHERE, people + ":config :most 9 .", limit=100)
    [finding] = world.judge(*retracts(":config :most 9 ."), *asserts(":config :most 1 ."))
    assert (finding.code, finding.severity) == (FindingCode.NEIGHBOURHOOD_EXCEEDED, Severity.VIOLATION)
    assert finding.message.endswith("a query of <urn:x:S> may see any of them, whatever its focus")


# --- shapes that are written, and whole files -------------------------------------------------------------------------


def test_shapes_that_are_written_are_judged_on_the_data_that_is_there() -> None:
    found = World("", ":a a :P ; :id 1 . :b a :P ; :id 1 .").judge(*asserts(UNIQUE, graph=SHAPES_GRAPH))
    assert {finding.code for finding in found} == {FindingCode.EXISTING_VIOLATION}
    assert said(found) == [("<urn:x:a>", "<urn:x:b>"), ("<urn:x:b>", "<urn:x:a>")]


def test_a_component_that_is_changed_has_the_shapes_judged_that_use_it() -> None:
    shapes = COMPONENT.replace("[ a sh:SPARQLAskValidator ;", ":V . :V").replace('" ] .', '" .')
    world = World(shapes + ":S sh:targetClass :P ; sh:property [ sh:path :age ; :least 1 ] .", ":a a :P ; :age 5 .")
    old = "ASK { FILTER($value >= $least && (!bound($most) || $value <= $most)) }"
    changes = [
        *retracts(f":V sh:ask '{old}' .", graph=SHAPES_GRAPH),
        *asserts(":V sh:ask 'ASK { FILTER($value < $least) }' .", graph=SHAPES_GRAPH),
    ]
    [finding] = world.judge(*changes)
    assert finding.code is FindingCode.EXISTING_VIOLATION
    assert finding.value == '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'


def test_files_are_judged_by_the_same_queries() -> None:
    _, results = validated(UNIQUE, ":a a :P ; :id 1 . :b a :P ; :id '01'^^xsd:integer . :c a :P ; :id 2 .")
    assert [(each.focus.n3, each.constraint) for each in results] == [
        ("<urn:x:a>", Iri("urn:x:Q")),
        ("<urn:x:b>", Iri("urn:x:Q")),
    ]


def test_what_is_read_for_a_node_goes_by_its_surroundings() -> None:
    people = " ".join(f":p{number} a :P ; :id {number} ." for number in range(300))
    world = World(UNIQUE, people)
    world.view.facts_read = 0
    assert len(world.judge(*asserts(":q a :P ; :id 7 ."))) == 2
    assert world.view.facts_read < 30


def test_reports_tell_the_queries_of_a_shape_apart() -> None:
    known, results = validated(
        UNIQUE
        + ":S sh:sparql :R . :R sh:select 'SELECT $this ?value { $this <urn:x:id> ?value }' ; sh:message 'no id' .",
        ":a a :P ; :id 1 . :b a :P ; :id 1 .",
    )
    telling = Telling(known.document)
    groups = Groups(telling, Data({}))
    for result in results:
        groups.add(result)
    lines = list(groups.lines(lambda _: None))
    assert "violation × 2: the id {?id} of {$this} is that of {?value}, too" in lines
    assert "violation × 2: no id" in lines
    log = json.loads("".join(sarif(alerts_of(results, telling, lambda _: None))))
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert sorted(rule["properties"]["constraint"] for rule in rules) == ["<urn:x:Q>", "<urn:x:R>"]
    report = json.loads("".join(rdf.jsonld(rdf.result_nodes(results, telling))))
    assert {each["sourceConstraint"]["@id"] for each in report["result"]} == {"urn:x:Q", "urn:x:R"}
    assert {each["resultMessage"]["@value"] for each in report["result"]} == {
        "no id",
        "the id 1 of <urn:x:a> is that of <urn:x:b>, too",
        "the id 1 of <urn:x:b> is that of <urn:x:a>, too",
    }


def test_the_example_of_the_documentation() -> None:
    written = (REPOSITORY / "docs" / "writing.md").read_text(encoding="utf-8")
    [example] = [each.partition("```")[0] for each in written.split("```turtle") if "ex:InRange" in each]
    ex = "@prefix ex: <https://example.org/> . "
    world = World(ex + example, ex + "ex:ann a ex:Person ; ex:number 1 . ex:bob a ex:Person .")
    assert world.judge(*asserts(ex + "ex:bob ex:age 130 .")) == []
    found = world.judge(*asserts(ex + "ex:bob ex:age 131 ; ex:number 1 ."))
    assert sorted(finding.message for finding in found) == [
        "<https://example.org/ann> has the number of <https://example.org/bob>, too",
        "<https://example.org/bob> has the number of <https://example.org/ann>, too",
        "between 0 and 130",
    ]
