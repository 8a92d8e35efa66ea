"""The cases about shapes on write, and what stands beside them: time, spellings, old violations, hubs, loads."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from bridge.shapes.checker import CoreChecker
from certificates.findings import Finding, FindingCode, Severity
from certificates.ids import uuid7
from kernel.changes import Assert, End
from kernel.facts import Fact, FactContent, Spelling, Validity
from kernel.governance import Governance
from kernel.terms import XSD, Iri, Literal, Statement, TripleTerm
from kernel.time.instants import parse_instant
from kernel.time.timevalues import exact
from kernel.vocabulary import GENID, ONTOLOGY_GRAPH, SHAPES_GRAPH
from tests.bridge.shapes.world import NOW, G, World, asserts, iri_of, read, retracts, years

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernel.changes import Change

SH = "http://www.w3.org/ns/shacl#"


def components(findings: Sequence[Finding]) -> list[str]:
    return [
        (finding.component or "")[1:-1].removeprefix(SH).removesuffix("ConstraintComponent") for finding in findings
    ]


# --- case 1 -----------------------------------------------------------------------------------------------------------

KNOWS = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property :knowsP . :knowsP sh:path :knows ; sh:class :P ."


def test_case_01_ending_a_type_that_another_node_needs() -> None:
    world = World(KNOWS, ":a a :A ; :knows :b . :b a :P .")
    [finding] = world.judge(*retracts(":b a :P ."))
    assert finding.code is FindingCode.SHAPE_VIOLATION
    assert (finding.focus, finding.value) == ("<urn:x:a>", "<urn:x:b>")


def test_case_01_removing_the_axiom_that_made_it_conform() -> None:
    axiom = ":Q rdfs:subClassOf :P ."
    world = World(KNOWS, ":a a :A ; :knows :b . :b a :Q .", axiom)
    [finding] = world.judge(*retracts(axiom, graph=ONTOLOGY_GRAPH))
    assert (finding.focus, finding.value) == ("<urn:x:a>", "<urn:x:b>")
    assert set(finding.graphs) == {G.value, ONTOLOGY_GRAPH.value}


def test_case_01_a_chain_of_axioms_counts() -> None:
    world = World(KNOWS, ":a a :A ; :knows :b . :b a :R .", ":R rdfs:subClassOf :Q . :Q rdfs:subClassOf :P .")
    assert world.judge(*asserts(":a :knows :b .", graph=Iri("urn:other"))) == []
    assert len(world.judge(*retracts(":Q rdfs:subClassOf :P .", graph=ONTOLOGY_GRAPH))) == 1


# --- cases 2 to 6 -----------------------------------------------------------------------------------------------------

LABELS = ":S a sh:NodeShape ; sh:targetSubjectsOf :label ; sh:property [ sh:path :label ; sh:maxCount 2 ] ."


def test_case_02_the_second_of_two_writers_sees_the_first() -> None:
    world = World(LABELS)
    first, second = asserts(":a :label 'one', 'two' ."), asserts(":a :label 'three', 'four' .")
    assert world.judge(*first) == []
    world.hold(*first)
    assert components(world.judge(*second)) == ["MaxCount"]


TYPED = ":S a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property [ sh:path :v ; sh:datatype xsd:%s ] ."


@pytest.mark.parametrize(
    ("datatype", "value", "conforms"),
    [
        ("integer", "'x'^^xsd:integer", False),
        ("integer", "5", True),
        ("integer", "' 5 '^^xsd:integer", False),
        ("date", "'2024-02-30'^^xsd:date", False),
        ("date", "'2024-02-29'^^xsd:date", True),
        ("date", "'-0043-03-15'^^xsd:date", True),
        ("dateTime", "'12024-01-01T00:00:00Z'^^xsd:dateTime", True),
        ("boolean", "'maybe'^^xsd:boolean", False),
        ("byte", "'300'^^xsd:byte", False),
        ("decimal", "'1e5'^^xsd:decimal", False),
        ("string", "'x'@en", False),
        ("string", "'x'", True),
        ("string", ":x", False),
    ],
)
def test_case_03_and_04_datatypes(datatype: str, value: str, conforms: bool, caplog: pytest.LogCaptureFixture) -> None:
    found = components(World(TYPED % datatype).judge(*asserts(f":a :v {value} .")))
    assert found == ([] if conforms else ["Datatype"])
    assert caplog.records == []


def test_case_05_two_violations_of_one_shape_are_two_findings() -> None:
    findings = World(TYPED % "integer").judge(*asserts(":a :v 'x', 'y' ."))
    assert [finding.value for finding in findings] == ['"x"', '"y"']
    assert len({finding.shape for finding in findings}) == 1


def test_case_06_a_violation_names_everything() -> None:
    shapes = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property :P . :P sh:path :v ; sh:maxLength 3 ."
    [finding] = World(shapes).judge(*asserts(":a a :A ; :v 'long' .", years(2020)))
    assert finding == Finding(
        code=FindingCode.SHAPE_VIOLATION,
        severity=Severity.VIOLATION,
        message='the value "long" of <urn:x:v> of <urn:x:a> may have at most 3 characters',
        graphs=(G.value,),
        focus="<urn:x:a>",
        path="<urn:x:v>",
        value='"long"',
        shape="<urn:x:P>",
        component=f"<{SH}MaxLengthConstraintComponent>",
        start="2020-01-01T00:00:00Z",
    )


def test_case_06_severity_and_message_are_the_shapes_own() -> None:
    shapes = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :v ; sh:minCount 1 ; %s ] ."
    warned = World(shapes % "sh:severity sh:Warning ; sh:message 'no v', 'kein v'@de").judge(*asserts(":a a :A ."))
    assert [(finding.severity, finding.message) for finding in warned] == [(Severity.WARNING, "kein v / no v")]
    assert [each.severity for each in World(shapes % "sh:severity sh:Info").judge(*asserts(":a a :A ."))] == [
        Severity.INFO
    ]
    assert [each.severity for each in World(shapes % "sh:severity :Mine").judge(*asserts(":a a :A ."))] == [
        Severity.VIOLATION
    ]


# --- cases 7 and 46: spellings ----------------------------------------------------------------------------------------


def after_restart(world: World) -> CoreChecker:
    """A checker that has seen nothing yet."""
    return CoreChecker()


def test_case_07_a_datatype_that_the_store_rewrites_conforms_also_after_a_restart() -> None:
    world = World(
        TYPED % "nonNegativeInteger"
        + ":T a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property [ sh:path :w ; sh:maxCount 1 ] ."
    )
    submitted = asserts(":a :v '5'^^xsd:nonNegativeInteger .")
    assert world.judge(*submitted) == []
    world.hold(*submitted)
    [held] = [fact for fact in world.view.believed() if fact.statement.predicate == Iri("urn:x:v")]
    assert held.statement.object == Literal("5", XSD + "integer")
    ending = world.plan(End(held.statement, exact(parse_instant("2030-01-01T00:00:00Z"))))
    assert after_restart(world).findings(ending, world.view) == []
    world.view.apply(ending, world.now)
    assert after_restart(world).findings(world.plan(*asserts(":a :v '6'^^xsd:nonNegativeInteger .")), world.view) == []
    assert components(world.judge(*asserts(":b :v 5 ."))) == ["Datatype"]


@pytest.mark.parametrize(
    ("constraint", "value", "conforms"),
    [
        ("sh:datatype xsd:int", "'007'^^xsd:int", True),
        ("sh:datatype xsd:integer", "'007'^^xsd:int", False),
        ("sh:pattern '^0'", "'007'^^xsd:int", True),
        ("sh:pattern '^7'", "'007'^^xsd:int", False),
        ("sh:minLength 3", "'007'^^xsd:int", True),
        ("sh:maxLength 2", "'007'^^xsd:int", False),
        ("sh:in ( '007'^^xsd:int )", "'007'^^xsd:int", True),
        ("sh:in ( 7 )", "'007'^^xsd:int", True),
        ("sh:in ( '007'^^xsd:int )", "7", True),
        ("sh:hasValue 7", "'007'^^xsd:int", True),
        ("sh:pattern '0$'", "'1.50'^^xsd:decimal", True),
        ("sh:in ( 1.5 )", "'1.50'^^xsd:decimal", True),
        ("sh:languageIn ( 'en-GB' )", "'colour'@en-GB", True),
        ("sh:in ( 'colour'@en-gb )", "'colour'@en-GB", True),
        ("sh:minInclusive 7", "'007'^^xsd:int", True),
        ("sh:node [ sh:pattern '^0' ; sh:in ( 7 ) ]", "'007'^^xsd:int", True),
        ("sh:not [ sh:pattern '^0' ; sh:in ( 7 ) ]", "'007'^^xsd:int", False),
    ],
)
def test_case_46_spellings_and_stored_terms(constraint: str, value: str, conforms: bool) -> None:
    world = World(f":S a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property [ sh:path :v ; {constraint} ] .")
    submitted = asserts(f":a :v {value} .")
    assert (world.judge(*submitted) == []) is conforms
    world.hold(*submitted)
    world.hold(*retracts(f":a :v {value} .", years(2000, 2001)))
    again = world.plan(*asserts(f":a :v {value} .", years(2000, 2001)))
    assert (after_restart(world).findings(again, world.view) == []) is conforms


def test_case_46_every_spelling_of_a_value_is_judged() -> None:
    world = World(TYPED % "byte", ":a :v '5'^^xsd:byte .")
    plain = world.judge(*asserts(":a :v '5'^^xsd:byte ."))
    other = world.judge(*asserts(":a :v '5'^^xsd:long .", years(2000, 2010)))
    assert plain == []
    [finding] = other
    assert (finding.value, finding.start) == ('"5"^^<http://www.w3.org/2001/XMLSchema#integer>', None)
    assert '"5"^^xsd:long' in finding.message


def test_case_46_the_stored_form_is_judged_where_it_was_asserted() -> None:
    world = World(TYPED % "integer", ":a :v 5 .")
    assert components(world.judge(*asserts(":a :v '5'^^xsd:byte ."))) == ["Datatype"]
    world.hold(*asserts(":a :v '5'^^xsd:byte ."))
    assert world.judge(*asserts(":a :other 1 . :a :v '5'^^xsd:byte .")) == []


def test_values_are_counted_by_their_stored_form() -> None:
    world = World(":S a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property [ sh:path :v ; sh:maxCount 1 ] .")
    assert world.judge(*asserts(":a :v 5 .", graph=Iri("urn:one")), *asserts(":a :v '05'^^xsd:int .")) == []


ONE = ":S a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property :P . :P sh:path :v ; sh:maxCount 1 ."

# --- case 9: time -----------------------------------------------------------------------------------------------------


def test_case_09_two_values_at_once_somewhere_in_time() -> None:
    world = World(ONE)
    world.hold(*asserts(":n :v :a .", years(2020)))
    [finding] = world.judge(*asserts(":n :v :b .", years(2030)))
    assert (finding.start, finding.end) == ("2030-01-01T00:00:00Z", None)
    assert world.judge(*asserts(":n :v :b .", years(2010, 2015))) == []
    assert world.judge(*asserts(":n :v :b .", years(2010, 2020))) == []


def test_case_09_adjacent_slices_are_one_finding_and_separate_ones_two() -> None:
    world = World(ONE)
    world.hold(*asserts(":n :v :a .", years(2020, 2022)), *asserts(":n :v :b .", years(2022, 2024)))
    world.hold(*asserts(":n :v :c .", years(2030, 2031)))
    findings = world.judge(*asserts(":n :v :d ."))
    assert [(finding.start, finding.end) for finding in findings] == [
        ("2020-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
        ("2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z"),
    ]


def test_case_09_a_fact_that_ends_breaks_a_minimum_from_then_on() -> None:
    shapes = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :v ; sh:minCount 1 ] ."
    world = World(shapes, ":n a :A ; :v 1 .")
    [finding] = world.judge(
        End(
            Statement(Iri("urn:x:n"), Iri("urn:x:v"), Literal("1", XSD + "integer"), G),
            exact(parse_instant("2030-01-01T00:00:00Z")),
        )
    )
    assert (finding.start, finding.end) == ("2030-01-01T00:00:00Z", None)
    assert world.judge(*retracts(":n :v 1 .", years(2030)), *asserts(":n :v 2 .", years(2030))) == []


def test_what_is_only_cut_anew_is_no_change() -> None:
    world = World(ONE)
    world.hold(*asserts(":n :v :a .", years(2020)))
    world.view.reads = 0
    [fact] = list(world.view.believed(graph=G))
    plan = world.plan(*retracts(":n :v :a .", years(2030)))
    assert world.checker.findings(plan, world.view) == []
    assert fact in plan.supersede


# --- case 10: hubs ----------------------------------------------------------------------------------------------------


HUB = 100_000
AT_HUBS = """:S a sh:NodeShape ; sh:targetClass :Person ;
        sh:property [ sh:path :worksFor ; sh:class :Org ; sh:minCount 1 ; sh:node :O ] .
    :O a sh:NodeShape ; sh:targetObjectsOf :worksFor ; sh:property [ sh:path :name ; sh:minCount 1 ] ."""


@pytest.fixture(scope="module")
def hub() -> World:
    """One org, and 100,000 persons who work for it, each since some year."""
    world = World(AT_HUBS, ":org a :Org ; :name 'x' .", limit=50)
    world.view.facts += [
        Fact(
            FactContent(UUID(int=number), UUID(int=number), said, years(1990 + number % 30)),
            uuid7(),
            NOW,
            None,
            bytes(32),
        )
        for number in range(HUB)
        for said in [Statement(Iri(f"urn:x:p{number}"), Iri("urn:x:worksFor"), Iri("urn:x:org"), G)]
    ]
    world.hold()
    return world


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (":new a :Person ; :worksFor :org .", []),
        (":new a :Person ; :worksFor :org, :other .", ["Class", "Node", "MinCount"]),
        (":p5 :age 5 .", []),
        (":new a :Person ; :worksFor :org . :newer a :Person ; :worksFor :org .", []),
    ],
)
@pytest.mark.parametrize("validity", [years(2026), years(), years(1950, 2050)])
def test_case_10_one_more_pointer_at_a_hub_does_not_read_the_others(
    hub: World, text: str, found: list[str], validity: Validity
) -> None:
    plan = hub.plan(*asserts(text, validity))
    hub.view.facts_read = 0
    assert sorted(components(hub.checker.findings(plan, hub.view))) == sorted(found)
    assert hub.view.facts_read < 20


def test_one_more_value_at_a_node_that_has_very_many_does_not_read_the_others() -> None:
    """Each value is judged by itself, so that no other one matters, unless the new one is at fault."""
    shapes = """:S a sh:NodeShape ; sh:targetClass :Person ;
        sh:property [ sh:path :knows ; sh:class :Person ; sh:disjoint :avoids ; sh:not [ sh:property :K ] ] .
        :K sh:path :kind ; sh:in ( 'robot' ) ; sh:minCount 1 ."""
    world = World(
        shapes, "\n".join(f":a :knows :p{number} . :p{number} a :Person ." for number in range(500)), limit=50
    )
    world.hold(*asserts(":a a :Person . :b a :Person . :robot a :Person ; :kind 'robot' . :a :avoids :c ."))
    for text in (":a :knows :b .", ":new :knows :b ."):
        plan = world.plan(*asserts(text))
        world.view.facts_read = 0
        assert world.checker.findings(plan, world.view) == []
        assert world.view.facts_read < 10
    plan = world.plan(*retracts(":a :knows :p7 ."))
    world.view.facts_read = 0
    assert world.checker.findings(plan, world.view) == []
    assert world.view.facts_read < 10
    [exceeded] = world.judge(*asserts(":a :knows :robot ."))
    assert exceeded.code is FindingCode.NEIGHBOURHOOD_EXCEEDED


def judged_reading_little(world: World, *changes: Change) -> list[Finding]:
    plan = world.plan(*changes)
    world.view.facts_read = 0
    findings = list(world.checker.findings(plan, world.view))
    assert world.view.facts_read < 12
    return findings


CROWD = " ".join(f":p{number} a :Person ; :worksFor :org ." for number in range(500))


def test_what_is_said_of_a_hub_is_judged_there_and_at_nobody_who_refers_to_it_as_long_as_it_conforms() -> None:
    shapes = """:S a sh:NodeShape ; sh:targetClass :Person ; sh:property [ sh:path :worksFor ; sh:node :O ] .
        :O a sh:NodeShape ; sh:property [ sh:path :name ; sh:minCount 1 ; sh:maxCount 2 ; sh:maxLength 3 ] ."""
    world = World(shapes, CROWD + " :org :name 'x' .", limit=50)
    assert judged_reading_little(world, *asserts(":org :name 'y' .")) == []
    assert judged_reading_little(world, *retracts(":org :name 'x' ."), *asserts(":org :name 'z' .")) == []
    for changes in (asserts(":org :name 'y', 'z' ."), asserts(":org :name 'long' ."), retracts(":org :name 'x' .")):
        [exceeded] = world.judge(*changes)
        assert exceeded.code is FindingCode.NEIGHBOURHOOD_EXCEEDED
    world.hold(*asserts(":org :name 'y', 'z' ."))
    assert judged_reading_little(world, *asserts(":org :name 'w' .")) == []  # too many before and after
    [exceeded] = world.judge(*retracts(":org :name 'z' .", years(2030)))
    assert exceeded.code is FindingCode.NEIGHBOURHOOD_EXCEEDED


def test_a_hub_may_be_of_more_classes_or_fewer_as_long_as_it_is_of_those_that_are_asked_for() -> None:
    shapes = """:S a sh:NodeShape ; sh:targetClass :Person ; sh:property [ sh:path :worksFor ; sh:class :Org ] .
        :O a sh:NodeShape ; sh:targetClass :Org ; sh:property [ sh:path [ sh:inversePath :worksFor ] ;
            sh:minCount 1 ] ."""
    world = World(shapes, CROWD + " :org a :Org .", ontology=":Company rdfs:subClassOf :Org .", limit=50)
    assert judged_reading_little(world, *asserts(":org a :Company .")) == []
    world.hold(*asserts(":org a :Company .", years(2000)))
    assert judged_reading_little(world, *retracts(":org a :Org .", years(2010))) == []
    [exceeded] = world.judge(*retracts(":org a :Org ."))
    assert exceeded.code is FindingCode.NEIGHBOURHOOD_EXCEEDED


def test_what_values_are_to_be_disjoint_from_matters_where_they_are_it() -> None:
    shapes = ":S a sh:NodeShape ; sh:targetClass :Person ; sh:property [ sh:path :knows ; sh:disjoint :avoids ] ."
    known = " ".join(f":a :knows :p{number} ." for number in range(500))
    world = World(shapes, known + " :a a :Person .", limit=50)
    assert judged_reading_little(world, *asserts(":a :avoids :b .")) == []
    [exceeded] = world.judge(*asserts(":a :avoids :p7 ."))
    assert exceeded.code is FindingCode.NEIGHBOURHOOD_EXCEEDED
    world = World(shapes, ":a a :Person ; :knows :b, :c .")
    assert components(world.judge(*asserts(":a :avoids :b ."))) == ["Disjoint"]


def test_what_is_a_target_for_other_reasons_is_judged_when_those_go() -> None:
    """One pointer, or one class, more at a target makes no difference, and the last one that goes, or comes, does."""
    shapes = """:T a sh:NodeShape ; sh:targetObjectsOf :at ; sh:targetSubjectsOf :has ; sh:targetClass :C ;
        sh:nodeKind sh:Literal ."""
    for first, then in ((":a :at :n .", ":b :at :n ."), (":n :has 1 .", ":n :has 2 ."), (":n a :C .", ":n a :D .")):
        world = World(shapes, ontology=":D rdfs:subClassOf :C .")
        world.hold(*asserts(first, years(2000)))
        [finding] = world.judge(*asserts(then))
        assert (finding.focus, finding.start, finding.end) == ("<urn:x:n>", None, "2000-01-01T00:00:00Z")
        assert world.judge(*asserts(then, years(2010))) == []
        assert [each.start for each in world.judge(*retracts(first), *asserts(then, years(1990)))] == [
            "1990-01-01T00:00:00Z"
        ]


def test_a_class_that_comes_to_a_target_makes_nothing_new_of_what_is_wrong_with_it() -> None:
    shapes = ":T a sh:NodeShape ; sh:targetClass :C ; sh:property [ sh:path :v ; sh:maxCount 2 ; sh:in ( 2 3 ) ] ."
    world = World(shapes, ":n a :D ; :v 1 .", ontology=":D rdfs:subClassOf :C .")
    assert world.judge(*asserts(":n a :C ; :v 2 .")) == []
    assert components(world.judge(*asserts(":n a :C ; :v 2, 3 ."))) == ["MaxCount"]


def test_a_value_with_very_much_around_it_is_left_alone_where_its_subject_is_no_target() -> None:
    shapes = """:S a sh:NodeShape ; sh:targetClass :Person ; sh:property [ sh:path :worksFor ; sh:node :O ] .
        :O a sh:NodeShape ; sh:property [ sh:path :member ; sh:nodeKind sh:IRI ] ."""
    members = " ".join(f":org :member :m{number} ." for number in range(500))
    world = World(shapes, members + " :ann a :Person . :robot a :Machine .", limit=300)
    assert world.judge(*asserts(":robot :worksFor :org .")) == []
    [exceeded] = world.judge(*asserts(":ann :worksFor :org ."))
    assert exceeded.code is FindingCode.NEIGHBOURHOOD_EXCEEDED


def test_case_10_one_pointer_less_at_a_hub_does_not_read_the_others(hub: World) -> None:
    plan = hub.plan(*retracts(":p5 :worksFor :org .", years(2026)))
    hub.view.facts_read = 0
    assert hub.checker.findings(plan, hub.view) == []
    assert hub.view.facts_read < 20


@pytest.mark.parametrize("elsewhere", [False, True])
def test_many_pointers_at_a_hub_read_it_once_for_all_of_them(*, elsewhere: bool) -> None:
    inverse = ":H a sh:NodeShape ; sh:targetClass :Org ; sh:property [ sh:path [ sh:inversePath :at ] ; sh:class :P ] ."
    world = World(inverse, ":org a :Org . " + " ".join(f":p{number} a :P ." for number in range(1_200)))
    pointers = asserts(" ".join(f":p{number} :at :org ." for number in range(1_200)))
    stranger = asserts(":stranger :at :org .", graph=Iri("urn:other") if elsewhere else G)
    plan = world.plan(*pointers, *stranger)
    world.view.facts_read = 0
    [finding] = world.checker.findings(plan, world.view)
    assert finding.value == "<urn:x:stranger>"
    assert set(finding.graphs) == ({G.value, "urn:other"} if elsewhere else {G.value})
    assert world.view.facts_read < (4_000 if elsewhere else 2_000)


def test_what_is_wrong_with_a_node_that_was_pointed_at_before_is_nothing_new() -> None:
    world = World(":O a sh:NodeShape ; sh:targetObjectsOf :worksFor ; sh:class :Org .")
    world.hold(*asserts(":a :worksFor :org .", years(2000)))
    assert components(world.judge(*asserts(":a :worksFor :other ."))) == ["Class"]
    [finding] = world.judge(*asserts(":b :worksFor :org ."))
    assert (finding.focus, finding.start, finding.end) == ("<urn:x:org>", None, "2000-01-01T00:00:00Z")


def test_beyond_the_limit_the_plan_is_held_for_review() -> None:
    world = World(KNOWS, limit=50)
    world.hold(*asserts(":org a :P .\n" + "\n".join(f":p{number} a :A ; :knows :org ." for number in range(100))))
    [finding] = world.judge(*retracts(":org a :P ."))
    assert finding.code is FindingCode.NEIGHBOURHOOD_EXCEEDED
    assert finding.severity is Severity.VIOLATION
    assert finding.graphs == (G.value,)
    assert "more than 50 statements" in finding.message
    assert world.judge(*asserts(":q a :A ; :knows :org .")) == []


def test_a_plan_that_would_be_judged_in_too_many_slices_is_held_for_review() -> None:
    world = World(ONE, limit=100)
    for number in range(90):
        world.hold(*asserts(f":n :v {number} .", years(1900 + number, 1901 + number)))
    assert world.judge(*asserts(":n :v 'x' .", years(1890, 1900))) == []
    [finding] = world.judge(*asserts(":n :v 'x' .", years(1890)))
    assert finding.code is FindingCode.NEIGHBOURHOOD_EXCEEDED


def test_the_limit_grows_with_what_changes() -> None:
    world = World(KNOWS, ":org a :P .", limit=300)
    assert world.judge(*asserts("\n".join(f":p{number} a :A ; :knows :org ." for number in range(200)))) == []


# --- case 48: old violations ------------------------------------------------------------------------------------------


def test_case_48_old_violations_do_not_block() -> None:
    shapes = """:S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :w ; sh:maxCount 1 ] ;
        sh:property [ sh:path :v ; sh:datatype xsd:integer ; sh:maxCount 3 ] ."""
    world = World(shapes, ":n a :A ; :v 'old' .")
    assert world.judge(*asserts(":n :w 1 .")) == []
    assert world.judge(*asserts(":n :v 1 .")) == []
    assert [finding.value for finding in world.judge(*asserts(":n :v 'new' ."))] == ['"new"']
    assert world.judge(*retracts(":n :v 'old' .")) == []


def test_case_48_a_worse_violation_of_the_same_key_is_an_old_one() -> None:
    world = World(ONE)
    world.hold(*asserts(":n :v :a, :b ."))
    assert world.judge(*asserts(":n :v :c .")) == []


def test_case_48_an_old_violation_reached_by_another_way_is_not_new() -> None:
    shapes = """:S a sh:NodeShape ; sh:targetClass :A ;
        sh:property [ sh:path :knows ; sh:property [ sh:path :name ; sh:minCount 1 ] ] ."""
    world = World(shapes, ":a a :A ; :knows :b . :c a :A .")
    assert world.judge(*asserts(":c :knows :b .")) == []
    [finding] = world.judge(*asserts(":c :knows :d ."))
    assert (finding.focus, finding.path) == ("<urn:x:d>", "<urn:x:name>")


# --- case 49: loads ---------------------------------------------------------------------------------------------------


def test_case_49_a_load_is_judged_whole() -> None:
    shapes = KNOWS + ":T a sh:NodeShape ; sh:targetClass :P ; sh:property [ sh:path :name ; sh:minCount 1 ] ."
    world = World(shapes)
    first, second = asserts(":a a :A ; :knows :b ."), asserts(":b a :P ; :name 'b' .")
    assert components(world.judge(*first)) == ["Class"]
    assert world.load(first, second) == []
    assert components(world.load(asserts(":c a :A ; :knows :d ."))) == ["Class"]


def test_case_49_shapes_in_a_load_do_not_judge_it_but_are_checked() -> None:
    world = World()
    broken = asserts(
        ":S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :v ; sh:minCuont 1 ] .", graph=SHAPES_GRAPH
    )
    findings = world.load(asserts(":a a :A ."), broken)
    assert [finding.code for finding in findings] == [FindingCode.MALFORMED_SHAPES]


def test_spellings_of_a_load_are_judged() -> None:
    world = World(TYPED % "byte")
    found = world.load(asserts(":a :v '5'^^xsd:byte . :b :v '5'^^xsd:long ."))
    assert [finding.focus for finding in found] == ["<urn:x:b>"]


# --- what stands beside -----------------------------------------------------------------------------------------------


def test_a_plan_that_no_shape_can_notice_reads_nothing() -> None:
    world = World(KNOWS, ":a a :A .")
    world.checker.findings(world.plan(), world.view)
    plan = world.plan(*asserts(":a :height 5 . :x :y :z ."))
    world.view.reads = 0
    assert world.checker.findings(plan, world.view) == []
    assert world.view.reads == 0


def test_without_shapes_there_is_nothing_to_say() -> None:
    world = World(data=":a a :A .")
    world.view.reads = 0
    assert world.judge(*asserts(":a :v 'x' .")) == []
    assert world.view.reads == 0


def test_closed_shapes_notice_every_predicate_of_their_foci() -> None:
    shapes = """:S a sh:NodeShape ; sh:targetClass :A ; sh:closed true ; sh:ignoredProperties ( rdf:type ) ;
        sh:property [ sh:path :v ] ."""
    world = World(shapes, ":a a :A .")
    [finding] = world.judge(*asserts(":a :stray 'x' ; :v 1 . :b :stray 'x' ."))
    assert (finding.focus, finding.path, finding.value) == ("<urn:x:a>", "<urn:x:stray>", '"x"')
    assert finding.message == 'the value "x" of <urn:x:stray> of <urn:x:a> is not allowed: the shape is closed'


def test_shapes_apply_to_all_data_graphs_together_and_not_to_reserved_ones() -> None:
    world = World(KNOWS)
    one, other = Iri("urn:one"), Iri("urn:other")
    world.hold(*asserts(":a a :A .", graph=one), *asserts(":b a :P .", graph=other))
    assert world.judge(*asserts(":a :knows :b .")) == []
    assert world.judge(*asserts(":x a :A ; :knows :y .", graph=Iri("https://w3id.org/muniment#queries"))) == []
    [finding] = world.judge(*asserts(":a :knows :c ."))
    assert finding.graphs == ("urn:g", "urn:one")


def test_a_finding_is_drawn_from_the_graphs_that_it_depends_on_alone() -> None:
    shapes = """:S a sh:NodeShape ; sh:targetClass :A ;
        sh:property [ sh:path :v ; sh:maxCount 1 ] ; sh:property [ sh:path :w ; sh:maxCount 1 ] ."""
    world = World(shapes, ":a a :A ; :v 1 .")
    world.hold(*asserts(":a :w 1 .", graph=Iri("urn:secret")))
    [finding] = world.judge(*asserts(":a :v 2 ."))
    assert finding.graphs == (G.value,)
    [finding] = world.judge(*asserts(":a :w 2 ."))
    assert finding.graphs == (G.value, "urn:secret")


def test_blank_nodes_are_blank_to_shapes() -> None:
    shapes = ":S a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property [ sh:path :v ; sh:nodeKind sh:%s ] ."
    assert World(shapes % "BlankNode").judge(*asserts(":a :v [] .")) == []
    [finding] = World(shapes % "IRI").judge(*asserts(":a :v [] ."))
    assert (finding.value or "").startswith(f"<{GENID}")
    assert "a node without a name" in finding.message


def test_a_triple_term_is_neither_iri_nor_literal() -> None:
    world = World(
        ":S a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property [ sh:path :v ; sh:nodeKind sh:IRIOrLiteral ] ."
    )
    term = TripleTerm(Iri("urn:x:s"), Iri("urn:x:p"), Literal("o"))
    [finding] = world.judge(Assert(Statement(Iri("urn:x:a"), Iri("urn:x:v"), term, G)))
    assert finding.value == term.n3


@pytest.mark.parametrize(
    ("constraint", "value", "conforms"),
    [
        ("sh:minInclusive '-0044-01-01'^^xsd:date", "'-0043-03-15'^^xsd:date", True),
        ("sh:maxExclusive '-0044-01-01'^^xsd:date", "'-0043-03-15'^^xsd:date", False),
        ("sh:minInclusive '2024-01-01T00:00:00+05:00'^^xsd:dateTime", "'2023-12-31T19:00:00Z'^^xsd:dateTime", True),
        ("sh:minExclusive 1", "'1.5'^^xsd:double", True),
        ("sh:maxInclusive 1", "'NaN'^^xsd:double", False),
        ("sh:minInclusive 1", "'x'", False),
        ("sh:minInclusive '1999'^^xsd:gYear", "'2000'^^xsd:gYear", True),
    ],
)
def test_values_compare_by_value(constraint: str, value: str, conforms: bool) -> None:
    world = World(f":S a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property [ sh:path :v ; {constraint} ] .")
    assert (world.judge(*asserts(f":a :v {value} .")) == []) is conforms


def test_two_properties_compare_by_value() -> None:
    shapes = ":S a sh:NodeShape ; sh:targetSubjectsOf :from ; sh:property [ sh:path :from ; sh:lessThan :to ] ."
    world = World(shapes)
    assert world.judge(*asserts(":a :from '-0043-01-01'^^xsd:date ; :to '-0042-01-01'^^xsd:date .")) == []
    assert components(world.judge(*asserts(":a :from '-0042-01-01'^^xsd:date ; :to '-0043-01-01'^^xsd:date ."))) == [
        "LessThan"
    ]
    assert components(world.judge(*asserts(":a :from 5 ; :to '-0043-01-01'^^xsd:date ."))) == ["LessThan"]


def test_the_inverse_of_a_sequence_runs_backwards() -> None:
    shapes = """:S a sh:NodeShape ; sh:targetClass :A ;
        sh:property :P . :P sh:path [ sh:inversePath ( :first :second ) ] ; sh:maxCount 0 ."""
    world = World(shapes, ":a a :A .")
    [finding] = world.judge(*asserts(":x :first :y . :y :second :a ."))
    assert (finding.focus, finding.path) == ("<urn:x:a>", "^<urn:x:second>/^<urn:x:first>")
    assert world.judge(*asserts(":x :second :y . :y :first :a .")) == []


def test_a_long_sequence_is_followed() -> None:
    steps = " ".join([":p"] * 16)
    world = World(f":S a sh:NodeShape ; sh:targetNode :n0 ; sh:property [ sh:path ( {steps} ) ; sh:maxCount 0 ] .")
    world.hold(*asserts("\n".join(f":n{number} :p :n{number + 1} ." for number in range(15))))
    assert components(world.judge(*asserts(":n15 :p :n16 ."))) == ["MaxCount"]


@pytest.mark.parametrize(
    ("limit", "fitting", "wrong"),
    [
        ("sh:maxInclusive 1.5", ["1", "1.5", "'1'^^xsd:byte", "1.5e0"], ["2", "'1'", "'2024-05-06'^^xsd:date", ":a"]),
        ("sh:maxExclusive 1.5", ["1"], ["1.5", "'NaN'^^xsd:double"]),
        ("sh:minExclusive 1.5", ["2", "'INF'^^xsd:double"], ["1.5", "1", "true"]),
        (
            "sh:maxExclusive '2025-01-01'^^xsd:date",
            ["'2024-12-31'^^xsd:date", "'-0043-03-15'^^xsd:date"],
            ["'2025-01-01'^^xsd:date", "1", "'2024-12-31T00:00:00Z'^^xsd:dateTime", "'2024-02-30'^^xsd:date"],
        ),
    ],
)
def test_what_does_not_compare_with_a_limit_is_outside_of_it(limit: str, fitting: list[str], wrong: list[str]) -> None:
    world = World(f":S a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property [ sh:path :v ; {limit} ] .")
    component = limit.split(maxsplit=1)[0].removeprefix("sh:")
    for value in fitting:
        assert world.judge(*asserts(f":x :v {value} .")) == []
    for value in wrong:
        assert components(world.judge(*asserts(f":x :v {value} ."))) == [component[0].upper() + component[1:]]


def test_a_value_reached_in_two_ways_is_judged_as_each_of_them_spells_it() -> None:
    path = "[ sh:alternativePath ( :v :w ) ]"
    world = World(f":S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path {path} ; sh:datatype xsd:integer ] .")
    [finding] = world.judge(*asserts(":a a :A ; :v '5'^^xsd:integer ; :w '5'^^xsd:byte ."))
    assert (finding.value, "xsd:byte" in finding.message) == ('"5"^^<http://www.w3.org/2001/XMLSchema#integer>', True)
    assert world.judge(*asserts(":a a :A ; :v '5'^^xsd:integer ; :w '05'^^xsd:integer .")) == []


def test_what_cannot_be_compared_is_a_violation_and_once_there_an_old_one() -> None:
    world = World(":S a sh:NodeShape ; sh:targetSubjectsOf :from ; sh:property [ sh:path :from ; sh:lessThan :to ] .")
    changes = asserts(":a :from [] ; :to 5 .")
    assert components(world.judge(*changes)) == ["LessThan"]
    world.hold(*changes)
    assert world.judge(*asserts(":a :to 6 .")) == []


def test_findings_come_in_the_same_order_whatever_is_written_first() -> None:
    world = World(TYPED % "integer")
    changes = asserts(":a :v 'x', 'y' . :b :v 'z' .")
    assert world.judge(*changes) == world.judge(*reversed(changes))


def test_a_view_that_keeps_the_shapes_is_not_asked_for_them_again() -> None:
    world = World(TYPED % "integer")
    governed = Governance("policy").over(world.view)
    plan = world.plan(*asserts(":a :v 'x' ."))
    first = list(world.checker.findings(plan, governed))
    assert components(first) == ["Datatype"]
    assert list(world.checker.findings(plan, governed)) == first


def test_new_shapes_are_used_once_they_are_believed() -> None:
    world = World()
    written = asserts(TYPED % "integer", graph=SHAPES_GRAPH)
    [finding] = world.judge(*written, *asserts(":a :v 'x' ."))
    assert finding.code is FindingCode.EXISTING_VIOLATION
    world.hold(*written)
    assert components(world.judge(*asserts(":a :v 'x' ."))) == ["Datatype"]


def test_a_deactivated_shape_judges_nothing() -> None:
    world = World(TYPED % "integer" + ":S sh:deactivated true .")
    assert world.judge(*asserts(":a :v 'x' .")) == []


def test_a_class_that_is_a_shape_targets_its_instances() -> None:
    world = World(":A a rdfs:Class, sh:NodeShape ; sh:property [ sh:path :v ; sh:minCount 1 ] .")
    assert components(world.judge(*asserts(":a a :A ."))) == ["MinCount"]
    world = World(":A a owl:Class ; sh:nodeKind sh:BlankNode .")
    assert components(world.judge(*asserts(":a a :A ."))) == ["NodeKind"]


def test_evidence_that_says_nothing_of_spelling_changes_nothing() -> None:
    world = World(TYPED % "byte", ":a :v '5'^^xsd:byte .")
    [(subject, predicate, _)] = read(":a :v 5 .")
    repeat = Assert(
        Statement(subject, predicate, Literal("5", XSD + "integer"), G), years(), Spelling(), Decimal("0.5")
    )
    assert world.judge(repeat) == []


def test_iris_are_read_as_such() -> None:
    with pytest.raises(TypeError):
        iri_of(read(":a :v 5 .")[0][2])  # type: ignore[arg-type] # that is the point
