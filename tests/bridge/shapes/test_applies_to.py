"""m:appliesTo: shapes that are bound to some graphs judge those together, and nothing else but the ontology."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, note
from hypothesis import strategies as st

from bridge.base import Base
from certificates.certificate import Verdict
from certificates.findings import FindingCode
from kernel.terms import Iri
from kernel.vocabulary import ONTOLOGY_GRAPH, SHAPES_GRAPH
from tests.bridge.shapes.oracle import expected, told
from tests.bridge.shapes.test_base import submit
from tests.bridge.shapes.test_incremental import ONTOLOGY, Assertion, assertions, shapes
from tests.bridge.shapes.world import World, asserts, retracts, years

if TYPE_CHECKING:
    from pathlib import Path

    from kernel.changes import Change

ONE, TWO, OTHER = Iri("urn:x:one"), Iri("urn:x:two"), Iri("urn:x:other")
BOUND = "m:shapes m:appliesTo :one, :two ."
NAMED = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property :Name . :Name sh:path :name ; sh:minCount 1 ."

Placed = tuple[Assertion, Iri]


def placed() -> st.SearchStrategy[Placed]:
    return st.tuples(assertions(), st.sampled_from([ONE, TWO, OTHER]))


def made(each: Placed) -> list[Change]:
    (text, validity), graph = each
    return asserts(text, years(*validity), graph)


def gone(world: World, number: int) -> list[Change]:
    held = [fact for fact in world.view.believed() if fact.statement.graph in {ONE, TWO, OTHER}]
    if not held:
        return []
    each = held[number % len(held)].statement
    return retracts(f"{each.subject.n3} {each.predicate.n3} {each.object.n3} .", graph=each.graph)


@given(
    shapes(),
    st.booleans(),
    st.lists(placed(), max_size=7),
    st.lists(placed(), max_size=3),
    st.lists(st.integers(0, 9), max_size=1),
)
def test_findings_are_what_full_validation_of_the_bound_graphs_says_anew(
    turtle: str, subclass: bool, held: list[Placed], asked: list[Placed], going: list[int]
) -> None:
    note(turtle)
    world = World(turtle + BOUND, ontology=ONTOLOGY if subclass else "")
    for each in held:
        world.hold(*made(each))
    changes = [change for number in going for change in gone(world, number)]
    plan = world.plan(*changes, *(change for each in asked for change in made(each)))
    wanted = expected(world, plan, frozenset({ONE, TWO}))
    findings = world.checker.findings(plan, world.view)
    assert told(findings, wanted) == wanted
    assert all(OTHER.value not in finding.graphs for finding in findings)


def test_what_is_outside_is_neither_judged_nor_seen(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        assert submit(base, *asserts(NAMED + BOUND, graph=SHAPES_GRAPH)).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":a a :A .", graph=OTHER)).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":b a :A .", graph=ONE)).verdict is Verdict.REFUSED
        named_elsewhere = [*asserts(":c a :A .", graph=ONE), *asserts(":c :name 'c' .", graph=OTHER)]
        assert submit(base, *named_elsewhere).verdict is Verdict.REFUSED
        together = [*asserts(":c a :A .", graph=ONE), *asserts(":c :name 'c' .", graph=TWO)]
        assert submit(base, *together).verdict is Verdict.CLEAR


def test_the_ontology_is_always_part_of_it() -> None:
    world = World(NAMED + BOUND, ontology=":B rdfs:subClassOf :A .")
    assert [finding.focus for finding in world.judge(*asserts(":b a :B .", graph=ONE))] == ["<urn:x:b>"]
    world.hold(*asserts(":c a :C .", graph=TWO))
    below = asserts(":C rdfs:subClassOf :A .", graph=ONTOLOGY_GRAPH)
    assert [finding.focus for finding in world.judge(*below)] == ["<urn:x:c>"]


def test_graphs_that_shapes_come_to_be_bound_to_are_judged_like_shapes_that_are_written() -> None:
    world = World(NAMED + "m:shapes m:appliesTo :one .")
    world.hold(*asserts(":a a :A .", graph=ONE))
    world.hold(*asserts(":b a :A . :c :name 'c' .", graph=TWO))
    world.hold(*asserts(":c a :A .", graph=ONE))
    wider = asserts("m:shapes m:appliesTo :two .", graph=SHAPES_GRAPH)
    assert [(each.code, each.focus) for each in world.judge(*wider)] == [(FindingCode.EXISTING_VIOLATION, "<urn:x:b>")]
    everywhere = retracts("m:shapes m:appliesTo :one .", graph=SHAPES_GRAPH)
    assert [each.focus for each in world.judge(*everywhere)] == ["<urn:x:b>"]


def test_a_load_is_judged_in_the_graphs_that_the_shapes_are_bound_to() -> None:
    world = World(NAMED + BOUND)
    found = world.load(asserts(":a a :A .", graph=OTHER), asserts(":b a :A .", graph=ONE))
    assert [each.focus for each in found] == ["<urn:x:b>"]
