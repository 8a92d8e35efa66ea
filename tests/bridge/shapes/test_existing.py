"""Shapes that are written: what they newly break of the data that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, note
from hypothesis import strategies as st

from bridge.base import Base
from certificates.certificate import Verdict
from certificates.findings import FindingCode
from kernel.ports.records import CertificateState
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.oracle import applying, cut, full, graph_of, held_at, told
from tests.bridge.shapes.test_base import submit
from tests.bridge.shapes.test_incremental import Assertion, assertions, made, shapes
from tests.bridge.shapes.world import ADMIN, World, asserts, retracts, years
from tests.bridge.writing import decide

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from certificates.findings import Finding
    from kernel.writing.plan import Plan

NAMED = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property :Name . :Name sh:path :name ; sh:minCount {} ."


def require_newly_broken(world: World, plan: Plan, findings: Sequence[Finding]) -> None:
    """Found is what pySHACL says by the shapes after a plan and not by those before, of the data after it, whenever.

    Its keys here do not tell one path of several steps from another, and findings do: what such a path gives by both
    shapes may be found or not.
    """
    held = [fact.content for fact in world.view.believed()]
    gone = {fact.id for fact in plan.supersede}
    after = [*(content for content in held if content.id not in gone), *plan.record]
    data = [content for content in after if content.statement.graph != SHAPES_GRAPH]
    old, new = ([each for each in side if each.statement.graph == SHAPES_GRAPH] for side in (held, after))
    for part in cut(data, [*old, *new]):
        graph = graph_of(held_at(data, part.start))
        before, now = (full(applying(side, part.start), graph) for side in (old, new))
        found = told(findings, [part.start])[part.start]
        assert found - {key for key in now & before if not key[1]} == now - before


@given(shapes(), shapes(), st.lists(assertions(), max_size=6), st.lists(assertions(), max_size=1))
def test_what_is_newly_broken_is_what_full_validation_says(
    old: str, new: str, held: list[Assertion], asked: list[Assertion]
) -> None:
    note(old)
    note(new)
    world = World(old)
    for assertion in held:
        world.hold(*made(assertion))
    before = [fact.statement for fact in world.view.believed(graph=SHAPES_GRAPH)]
    text = " ".join(f"{each.subject.n3} {each.predicate.n3} {each.object.n3} ." for each in before)
    changes = [*retracts(text, graph=SHAPES_GRAPH), *asserts(new, graph=SHAPES_GRAPH)]
    plan = world.plan(*changes, *(change for assertion in asked for change in made(assertion)))
    findings = world.checker.findings(plan, world.view)
    newly = [finding for finding in findings if finding.code is FindingCode.EXISTING_VIOLATION]
    require_newly_broken(world, plan, newly)


def test_only_what_is_new_is_told() -> None:
    world = World(NAMED.format(1), ":a a :A . :b a :A ; :name 'b' .")
    assert world.judge(*asserts(":T a sh:NodeShape ; sh:targetClass :Z ; sh:closed true .", graph=SHAPES_GRAPH)) == []
    stricter = [
        *retracts(":Name sh:minCount 1 .", graph=SHAPES_GRAPH),
        *asserts(":Name sh:minCount 2 .", graph=SHAPES_GRAPH),
    ]
    assert [finding.focus for finding in world.judge(*stricter)] == ["<urn:x:b>"]


def test_data_in_the_same_change_is_judged_by_the_shapes_that_come_with_it() -> None:
    changes = [*asserts(NAMED.format(1), graph=SHAPES_GRAPH), *asserts(":a a :A .", years(2020))]
    [finding] = World().judge(*changes)
    assert (finding.code, finding.start) == (FindingCode.EXISTING_VIOLATION, "2020-01-01T00:00:00Z")


def test_an_unrelated_shape_reads_nothing_of_the_data() -> None:
    world = World(NAMED.format(1), ":a a :A .")
    world.view.facts_read = 0
    assert (
        world.judge(*asserts(":T a sh:NodeShape ; sh:targetNode :z ; sh:nodeKind sh:IRI .", graph=SHAPES_GRAPH)) == []
    )
    assert world.view.facts_read == 0


def test_an_editor_lets_stricter_shapes_in_and_what_they_break_stands(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *asserts(":a a :A . :b a :A ; :name 'b' ."))
        written = submit(base, *asserts(NAMED.format(1), graph=SHAPES_GRAPH))
        assert written.verdict is Verdict.REVIEW
        assert [(each.code, each.focus) for each in written.findings] == [(FindingCode.EXISTING_VIOLATION, "<urn:x:a>")]
        assert submit(base, *asserts(":c a :A .")).verdict is Verdict.CLEAR
        assert written.certificate is not None
        stale = decide(base, written.certificate, by=ADMIN)
        assert stale.state is CertificateState.STALE
        assert stale.successor is not None
        assert decide(base, stale.successor, by=ADMIN).state is CertificateState.APPLIED
        assert submit(base, *asserts(":a :age 5 .")).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":d a :A .")).verdict is Verdict.REFUSED


def test_a_load_that_brings_shapes_is_held_against_the_data_that_is_there() -> None:
    [finding] = World(data=":a a :A .").load(asserts(NAMED.format(1), graph=SHAPES_GRAPH))
    assert (finding.code, finding.focus) == (FindingCode.EXISTING_VIOLATION, "<urn:x:a>")
