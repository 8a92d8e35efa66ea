"""m:appliesFrom: a shape judges no valid time before it, wherever it stands in the shapes graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from bridge.base import Base
from bridge.checking.files import Reading
from bridge.loading.refusals import Refusals
from bridge.shapes.validation import Validation
from certificates.certificate import Verdict
from certificates.findings import FindingCode
from kernel.time.instants import parse_instant
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.oracle import expected, told
from tests.bridge.shapes.test_base import submit
from tests.bridge.shapes.test_existing import require_newly_broken
from tests.bridge.shapes.test_incremental import Assertion, assertions, made, retracted, shapes
from tests.bridge.shapes.world import PREFIXES, World, asserts, retracts, years

if TYPE_CHECKING:
    from pathlib import Path

    from certificates.findings import Finding

NAMED = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property :Name . :Name sh:path :name ; sh:minCount 1 ."
FROM_2020 = "{} m:appliesFrom '2020-01-01'^^xsd:date ."


def told_of(findings: list[Finding]) -> list[tuple[str | None, str | None]]:
    return [(finding.start, finding.end) for finding in findings]


def test_a_finding_begins_where_the_shape_does() -> None:
    world = World(NAMED + FROM_2020.format(":S"))
    assert told_of(world.judge(*asserts(":a a :A ."))) == [("2020-01-01T00:00:00Z", None)]
    assert told_of(world.judge(*asserts(":a a :A .", years(2019, 2021)))) == [
        ("2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z")
    ]
    assert world.judge(*asserts(":a a :A .", years(2010, 2020))) == []


@pytest.mark.parametrize("late", [":S", ":Name"])
def test_the_shape_within_and_the_one_around_count_alike(late: str) -> None:
    world = World(NAMED + FROM_2020.format(late), ":a a :A ; :name 'a' .")
    assert told_of(world.judge(*retracts(":a :name 'a' ."))) == [("2020-01-01T00:00:00Z", None)]


def test_of_two_shapes_that_hand_on_one_the_earlier_counts() -> None:
    other = ":T a sh:NodeShape ; sh:targetClass :B ; sh:property :Name . :T m:appliesFrom '2010-01-01'^^xsd:date ."
    world = World(NAMED + FROM_2020.format(":S") + other, ":a a :A, :B ; :name 'a' . :b a :A ; :name 'b' .")
    assert told_of(world.judge(*retracts(":a :name 'a' . :b :name 'b' ."))) == [
        ("2010-01-01T00:00:00Z", None),
        ("2020-01-01T00:00:00Z", None),
    ]


def test_targets_of_its_own_count_before_those_that_are_handed_on() -> None:
    world = World(NAMED + FROM_2020.format(":S") + ":Name sh:targetClass :A .")
    assert told_of(world.judge(*asserts(":a a :A ."))) == [(None, None)]


def test_until_then_what_refers_to_it_finds_it_met() -> None:
    shapes_text = """:S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :knows ; sh:node :T ] .
        :T a sh:NodeShape ; sh:property [ sh:path :name ; sh:minCount 1 ] ; m:appliesFrom '2020-01-01'^^xsd:date ."""
    [finding] = World(shapes_text, ":a a :A .").judge(*asserts(":a :knows :b ."))
    assert (finding.component or "").endswith("#NodeConstraintComponent>")
    assert finding.start == "2020-01-01T00:00:00Z"


def test_a_zone_counts_and_a_date_without_one_is_in_utc() -> None:
    zoned = ":S m:appliesFrom '2020-01-01T00:00:00+05:00'^^xsd:dateTime ."
    assert told_of(World(NAMED + zoned).judge(*asserts(":a a :A ."))) == [("2019-12-31T19:00:00Z", None)]
    ides = ":S m:appliesFrom '-0043-03-15'^^xsd:date ."
    assert told_of(World(NAMED + ides).judge(*asserts(":a a :A ."))) == [("-0043-03-15T00:00:00Z", None)]


def test_shapes_that_are_written_look_at_data_from_then_on_alone() -> None:
    world = World()
    world.hold(*asserts(":a a :A .", years(2010, 2015)), *asserts(":b a :A ."))
    [finding] = world.judge(*asserts(NAMED + FROM_2020.format(":S"), graph=SHAPES_GRAPH))
    assert (finding.code, finding.focus) == (FindingCode.EXISTING_VIOLATION, "<urn:x:b>")
    assert finding.start == "2020-01-01T00:00:00Z"


def test_a_shape_that_is_to_apply_from_earlier_on_newly_breaks_the_time_between() -> None:
    world = World(NAMED + FROM_2020.format(":S"), ":a a :A .")
    sooner = [
        *retracts(FROM_2020.format(":S"), graph=SHAPES_GRAPH),
        *asserts(":S m:appliesFrom '2000-01-01'^^xsd:date .", graph=SHAPES_GRAPH),
    ]
    assert told_of(world.judge(*sooner)) == [("2000-01-01T00:00:00Z", "2020-01-01T00:00:00Z")]
    later = [
        *retracts(FROM_2020.format(":S"), graph=SHAPES_GRAPH),
        *asserts(":S m:appliesFrom '2030-01-01'^^xsd:date .", graph=SHAPES_GRAPH),
    ]
    assert world.judge(*later) == []


def test_what_is_written_for_the_time_before_is_clear(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *asserts(NAMED + FROM_2020.format(":S"), graph=SHAPES_GRAPH))
        assert submit(base, *asserts(":a a :A .", years(1990, 2020))).verdict is Verdict.CLEAR
    with Base.open(tmp_path / "base") as base:
        assert submit(base, *asserts(":b a :A .", years(1990, 2021))).verdict is Verdict.REFUSED


def test_one_slice_where_no_start_lies_within_what_changes() -> None:
    world = World(NAMED + FROM_2020.format(":S"), ":a a :A ; :name 'a' .")
    world.view.facts_read = 0
    assert world.judge(*asserts(":a :name 'b' .", years(2021))) == []
    assert world.view.facts_read < 5


@pytest.mark.parametrize(("year", "found"), [(2019, 0), (2020, 1)])
def test_files_are_judged_by_what_applies_at_the_instant_asked_for(tmp_path: Path, year: int, found: int) -> None:
    (tmp_path / "shapes.ttl").write_text(PREFIXES + NAMED + FROM_2020.format(":S"), encoding="utf-8")
    (tmp_path / "data.ttl").write_text(PREFIXES + ":a a :A .", encoding="utf-8")
    reading = Reading(parse_instant(f"{year}-01-01T00:00:00Z"), Refusals(), lambda _done, _total: None)
    material = reading.read([tmp_path / "data.ttl"], [tmp_path / "shapes.ttl"])
    assert len(list(Validation(material.shapes, material.data).results())) == found


MALFORMED = {
    "no zone": ("'2020-01-01T00:00:00'^^xsd:dateTime", "it has no time zone: m:appliesFrom takes"),
    "no such day": ("'2024-02-30'^^xsd:date", "2024-02 has no day 30"),
    "text": ("'2020-01-01'", "an xsd:dateTime with a zone, or an xsd:date"),
    "a year": ("'2020'^^xsd:gYear", "an xsd:dateTime with a zone, or an xsd:date"),
    "a year that says it is a date": ("'2020'^^xsd:date", "'2020' is no xsd:date"),
    "a date that says it is an instant": ("'2020-01-01'^^xsd:dateTime", "'2020-01-01' is no xsd:dateTime"),
    "a node": (":then", "an xsd:dateTime with a zone, or an xsd:date"),
    "two": ("'2020-01-01'^^xsd:date, '2021-01-01'^^xsd:date", "is given 2 times"),
}


@pytest.mark.parametrize(("value", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_an_instant_that_is_none_is_refused_with_its_place(value: str, reason: str) -> None:
    findings = World(NAMED).judge(*asserts(f":S m:appliesFrom {value} .", graph=SHAPES_GRAPH))
    assert {finding.code for finding in findings} == {FindingCode.MALFORMED_SHAPES}
    assert reason in findings[0].message
    assert findings[0].focus == "<urn:x:S>"


def test_only_shapes_apply_from_an_instant_on() -> None:
    [finding] = World(NAMED).judge(*asserts(FROM_2020.format("m:shapes"), graph=SHAPES_GRAPH))
    assert (finding.code, finding.focus) == (FindingCode.MALFORMED_SHAPES, f"<{SHAPES_GRAPH.value}>")


# --- against pySHACL --------------------------------------------------------------------------------------------------

STARTS = st.sampled_from(
    [
        "'1990-01-01'^^xsd:date",
        "'2000-01-01'^^xsd:date",
        "'2005-05-06T07:08:09+10:00'^^xsd:dateTime",
        "'2015-01-01'^^xsd:date",
    ]
)


@st.composite
def timed_shapes(draw: st.DrawFn) -> str:
    """Shapes of which some, named ones and nested ones, apply from some instant on."""
    turtle = draw(shapes())
    nested = iter(re.split(r"(?<=\[ )(?=a sh:NodeShape|sh:path)", turtle))
    text = next(nested)
    for part in nested:
        text += (f"m:appliesFrom {draw(STARTS)} ; " if draw(st.integers(0, 3)) == 0 else "") + part
    names = [name for name in (":S", ":T", ":U", ":PS") if f"{name} a sh:" in turtle]
    late = draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    return text + "".join(f"\n{name} m:appliesFrom {draw(STARTS)} ." for name in late)


@given(
    timed_shapes(),
    st.lists(assertions(), max_size=6),
    st.lists(assertions(), max_size=3),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from([(None, None), (2000, None), (2000, 2010)])), max_size=1),
)
def test_findings_are_what_full_validation_by_the_shapes_of_each_instant_says_anew(
    turtle: str,
    held: list[Assertion],
    asked: list[Assertion],
    gone: list[tuple[int, tuple[int | None, int | None]]],
) -> None:
    note(turtle)
    world = World(turtle)
    for assertion in held:
        world.hold(*made(assertion))
    changes = [change for each in gone for change in retracted(world, *each)]
    plan = world.plan(*changes, *(change for assertion in asked for change in made(assertion)))
    wanted = expected(world, plan)
    assert told(world.checker.findings(plan, world.view), wanted) == wanted


@given(timed_shapes(), timed_shapes(), st.lists(assertions(), max_size=6))
def test_what_is_newly_broken_is_what_full_validation_by_the_shapes_of_each_instant_says(
    old: str, new: str, held: list[Assertion]
) -> None:
    note(old)
    note(new)
    world = World(old)
    for assertion in held:
        world.hold(*made(assertion))
    before = [fact.statement for fact in world.view.believed(graph=SHAPES_GRAPH)]
    text = " ".join(f"{each.subject.n3} {each.predicate.n3} {each.object.n3} ." for each in before)
    plan = world.plan(*retracts(text, graph=SHAPES_GRAPH), *asserts(new, graph=SHAPES_GRAPH))
    require_newly_broken(world, plan, world.checker.findings(plan, world.view))
