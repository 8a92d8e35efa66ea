"""Shape sets: each has a mode and graphs of its own, and judges as if there were no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from bridge.base import Base
from certificates.certificate import Verdict
from certificates.findings import FindingCode, Severity
from kernel.terms import Iri
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.test_base import submit
from tests.bridge.shapes.test_incremental import assertions, shapes
from tests.bridge.shapes.test_incremental import made as asserted
from tests.bridge.shapes.world import ADMIN, World, asserts
from tests.bridge.writing import decide

if TYPE_CHECKING:
    from pathlib import Path

    from certificates.findings import Finding
    from kernel.changes import Change
    from tests.bridge.shapes.test_incremental import Assertion

ONE, TWO = Iri("urn:x:one"), Iri("urn:x:two")
NAMED = """:S a sh:NodeShape ; sh:targetClass :A ; sh:property :Name . :Name sh:path :name ; sh:minCount 1 .
    :T a sh:NodeShape ; sh:targetClass :A ; sh:property :Age . :Age sh:path :age ; sh:minCount 1 .
    :U a rdfs:Class, sh:NodeShape ; sh:property :Name ."""
SETS = """:strict a m:ShapeSet ; m:contains :S ; m:appliesTo :one .
    :loose a m:ShapeSet ; m:contains :T ; m:mode m:Warn ; m:appliesTo :two .
    m:shapes m:mode m:Review ."""


def found(findings: list[Finding]) -> list[tuple[str, str, str | None]]:
    return [(each.code.value, each.severity.value, each.path) for each in findings]


def test_each_set_has_its_own_mode_and_graphs() -> None:
    world = World(NAMED + SETS)
    assert found(world.judge(*asserts(":a a :A .", graph=ONE))) == [("shape-violation", "violation", "<urn:x:name>")]
    assert found(world.judge(*asserts(":a a :A .", graph=TWO))) == [("shape-violation", "warning", "<urn:x:age>")]
    assert world.judge(*asserts(":a a :A .")) == []
    # What no set contains goes by what is said of the shapes graph: a class that is a shape, everywhere, for review.
    assert found(world.judge(*asserts(":u a :U .", graph=TWO))) == [
        ("reviewable-violation", "violation", "<urn:x:name>")
    ]
    together = [*asserts(":a a :A .", graph=ONE), *asserts(":a a :A ; :name 'a' .", graph=TWO)]
    assert [(each.path, each.severity) for each in world.judge(*together)] == [
        ("<urn:x:age>", Severity.WARNING),
        ("<urn:x:name>", Severity.VIOLATION),
    ]
    assert {each.path for each in world.load(together)} == {"<urn:x:age>", "<urn:x:name>"}


def test_a_set_that_is_written_is_judged_on_the_data_of_its_graphs(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        for graph in (ONE, TWO):
            submit(base, *asserts(":a a :A .", graph=graph))
        outcome = submit(base, *asserts(NAMED + SETS, graph=SHAPES_GRAPH))
        assert {(each.code, each.path, each.severity) for each in outcome.findings} == {
            (FindingCode.EXISTING_VIOLATION, "<urn:x:name>", Severity.VIOLATION),
            (FindingCode.EXISTING_VIOLATION, "<urn:x:age>", Severity.WARNING),
        }
        assert decide(base, outcome.certificate, by=ADMIN).head is not None
        wider = submit(base, *asserts(":strict m:appliesTo :two .", graph=SHAPES_GRAPH))
        assert wider.verdict is Verdict.CLEAR, "it was broken before"
        assert submit(base, *asserts(":b a :A .", graph=TWO)).verdict is Verdict.REFUSED


MALFORMED = {
    "no type": (":strict m:contains :S .", "m:contains is said of a shape set: give the node the type m:ShapeSet"),
    "no shape": (":strict a m:ShapeSet ; m:contains :Nothing .", "m:contains takes shapes, and this is none"),
    "nothing": (":strict a m:ShapeSet .", "a shape set needs shapes: give m:contains"),
    "two modes": (":strict a m:ShapeSet ; m:contains :S ; m:mode m:Warn, m:Refuse .", "m:mode is given 2 times"),
    "two sets": (
        ":strict a m:ShapeSet ; m:contains :S . :loose a m:ShapeSet ; m:contains :S .",
        "a shape is in one set at most",
    ),
}


@pytest.mark.parametrize(("text", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_a_set_that_is_none_is_refused_with_its_place(text: str, reason: str) -> None:
    findings = World(NAMED).judge(*asserts(text, graph=SHAPES_GRAPH))
    assert {finding.code for finding in findings} == {FindingCode.MALFORMED_SHAPES}
    assert any(reason in finding.message for finding in findings)


def keys(findings: list[Finding]) -> set[tuple[object, ...]]:
    return {(*finding.key, finding.start, finding.end) for finding in findings}


@settings(max_examples=20)
@given(shapes(), st.lists(assertions(), max_size=6), st.lists(assertions(), max_size=3))
def test_sets_find_together_what_their_shapes_find_in_one(
    turtle: str, held: list[Assertion], asked: list[Assertion]
) -> None:
    """And more only where shapes that they share say the same of a node for another set already."""
    note(turtle)
    world = World(turtle)
    for assertion in held:
        world.hold(*asserted(assertion))
    changes: list[Change] = [change for assertion in asked for change in asserted(assertion)]
    in_one = keys(world.judge(*changes))
    world.hold(*asserts(":first a m:ShapeSet ; m:contains :S .", graph=SHAPES_GRAPH))
    assert in_one <= keys(world.judge(*changes))
