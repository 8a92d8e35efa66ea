"""Waivers: violations that are let through because somebody said so, until some day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from bridge.base import Base
from bridge.review.waivers import ended_waivers
from certificates.certificate import Verdict
from certificates.findings import FindingCode, Severity
from kernel.policy.verdicts import DEFAULT_POLICY
from kernel.ports.records import CertificateState
from kernel.time.instants import Instant, parse_instant
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.test_base import submit
from tests.bridge.shapes.test_incremental import Assertion, assertions, made, shapes
from tests.bridge.shapes.world import ADMIN, NOW, World, asserts, retracts
from tests.bridge.writing import SetClock, decide

if TYPE_CHECKING:
    from pathlib import Path

    from certificates.findings import Finding

NAMED = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property :Name . :Name sh:path :name ; sh:minCount {} ."
WAIVER = ":W a m:Waiver ; m:waives {} ; m:reason 'names are being gathered' {} ."
PAST, FUTURE = "1970-01-01T00:00:00Z", "2100-01-01"
UNTIL = "; m:until '{}'^^xsd:{}"


def codes(findings: list[Finding]) -> dict[str, str]:
    return {finding.focus or "": finding.code.value for finding in findings}


def test_what_is_waived_is_listed_on_the_certificate_and_holds_nothing_up(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *asserts(":a a :A . :b a :A ; :name 'b' ."))
        waiver = WAIVER.format(":S", UNTIL.format(FUTURE, "date"))
        outcome = submit(base, *asserts(NAMED.format(1) + waiver, graph=SHAPES_GRAPH))
        assert (outcome.verdict, outcome.state) == (Verdict.CLEAR, CertificateState.APPLIED)
        [finding] = outcome.findings
        assert (finding.code, finding.severity, finding.focus) == (
            FindingCode.WAIVED_VIOLATION,
            Severity.WARNING,
            "<urn:x:a>",
        )
        assert "waived until 2100-01-01T00:00:00Z by <urn:x:W>: names are being gathered" in finding.message
        assert submit(base, *asserts(":a :age 5 .")).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":c a :A .")).verdict is Verdict.REFUSED


def test_a_waiver_that_names_no_nodes_lets_nothing_new_in() -> None:
    world = World(NAMED.format(1) + WAIVER.format(":S", ""))
    assert codes(world.judge(*asserts(":c a :A ."))) == {"<urn:x:c>": "shape-violation"}


@pytest.mark.parametrize("waives", [":S", ":Name", ":T, :Name"])
def test_a_node_that_is_waived_may_be_written_whatever_it_breaks(waives: str) -> None:
    shapes_text = NAMED.format(1) + " :T a sh:NodeShape ; sh:targetNode :z ; sh:closed true ."
    world = World(shapes_text + WAIVER.format(waives, "; m:focus :a, :b"))
    found = world.judge(*asserts(":a a :A . :c a :A ."))
    assert codes(found) == {"<urn:x:a>": "waived-violation", "<urn:x:c>": "shape-violation"}
    assert DEFAULT_POLICY.verdict(found) is Verdict.REFUSED
    assert DEFAULT_POLICY.verdict(world.judge(*asserts(":b a :A ."))) is Verdict.CLEAR


def test_a_waiver_may_be_for_some_components_only() -> None:
    typed = ":Name sh:datatype xsd:string ."
    only = "; m:focus :a ; m:component sh:DatatypeConstraintComponent"
    world = World(NAMED.format(1) + typed + WAIVER.format(":S", only))
    assert codes(world.judge(*asserts(":a a :A ; :name 5 ."))) == {"<urn:x:a>": "waived-violation"}
    assert codes(world.judge(*asserts(":a a :A ."))) == {"<urn:x:a>": "shape-violation"}


@pytest.mark.parametrize(
    ("until", "code"), [(PAST, "shape-violation"), ("1970-01-01T00:00:00.002Z", "waived-violation")]
)
def test_a_waiver_holds_until_its_end_by_the_time_of_issue(until: str, code: str) -> None:
    assert parse_instant(PAST) <= NOW < parse_instant("1970-01-01T00:00:00.002Z")
    world = World(NAMED.format(1) + WAIVER.format(":S", "; m:focus :a " + UNTIL.format(until, "dateTime")))
    assert codes(world.judge(*asserts(":a a :A ."))) == {"<urn:x:a>": code}


def test_a_waiver_in_a_change_does_not_help_the_data_in_it() -> None:
    world = World(NAMED.format(1))
    waiver = asserts(WAIVER.format(":S", "; m:focus :a"), graph=SHAPES_GRAPH)
    assert codes(world.judge(*waiver, *asserts(":a a :A ."))) == {"<urn:x:a>": "shape-violation"}


def test_a_waiver_alone_breaks_nothing_and_may_be_taken_away_again() -> None:
    world = World(NAMED.format(1), ":a a :A .")
    waiver = WAIVER.format(":S", "; m:focus :a")
    assert world.judge(*asserts(waiver, graph=SHAPES_GRAPH)) == []
    world.hold(*asserts(waiver, graph=SHAPES_GRAPH))
    assert world.judge(*retracts(waiver, graph=SHAPES_GRAPH)) == []


def test_the_end_of_a_waiver_is_in_the_queue_and_refuses_nothing(tmp_path: Path) -> None:
    clock = SetClock()
    with Base.open(tmp_path / "base", host=clock) as base:
        submit(base, *asserts(":a a :A ."))
        end = Instant(clock.at + 1_000_000)
        waiver = WAIVER.format(":S", UNTIL.format("2026-05-06T12:00:01Z", "dateTime"))
        assert submit(base, *asserts(NAMED.format(1) + waiver, graph=SHAPES_GRAPH)).verdict is Verdict.CLEAR
        with base.ledger.reading() as view:
            assert ended_waivers(view, Instant(end - 1)) == []
            [finding] = ended_waivers(view, end)
        assert (finding.code, finding.focus, finding.value) == (FindingCode.WAIVER_ENDED, "<urn:x:W>", "<urn:x:S>")
        assert "ended at 2026-05-06T12:00:01Z (names are being gathered)" in finding.message
        clock.move(3_600_000_000)
        assert submit(base, *asserts(":a :age 5 .")).verdict is Verdict.CLEAR
        longer = [
            *retracts(
                ":W" + UNTIL.format("2026-05-06T12:00:01Z", "dateTime").removeprefix(";") + " .", graph=SHAPES_GRAPH
            ),
            *asserts(":W" + UNTIL.format(FUTURE, "date").removeprefix(";") + " .", graph=SHAPES_GRAPH),
        ]
        assert submit(base, *longer).verdict is Verdict.CLEAR
        with base.ledger.reading() as view:
            assert ended_waivers(view, clock.at) == []


def test_what_is_not_waived_waits_for_an_editor_as_ever(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *asserts(":a a :A . :b a :A ."))
        written = asserts(NAMED.format(1) + WAIVER.format(":S", "; m:focus :a"), graph=SHAPES_GRAPH)
        outcome = submit(base, *written)
        assert outcome.verdict is Verdict.REVIEW
        assert codes(list(outcome.findings)) == {"<urn:x:a>": "waived-violation", "<urn:x:b>": "existing-violation"}
        assert decide(base, outcome.certificate, by=ADMIN).state is CertificateState.APPLIED


MALFORMED = {
    "no shape": (":W a m:Waiver ; m:reason 'r' .", "a waiver needs the shapes that it waives: give m:waives"),
    "no reason": (":W a m:Waiver ; m:waives :S .", "a waiver needs a reason: give m:reason"),
    "an empty reason": (WAIVER.format(":S", "").replace("names are being gathered", " "), "m:reason takes a text"),
    "what is no shape": (WAIVER.format(":X", ""), "m:waives takes shapes, and this is none"),
    "what is no component": (WAIVER.format(":S", "; m:component sh:minCount"), "m:component takes constraint"),
    "an end that is no time": (WAIVER.format(":S", "; m:until 'soon'"), "m:until takes an xsd:dateTime with a zone"),
    "an end without zone": (WAIVER.format(":S", UNTIL.format("2030-01-01T00:00:00", "dateTime")), "m:until"),
    "two ends": (WAIVER.format(":S", "; m:until '2030-01-01'^^xsd:date, '2031-01-01'^^xsd:date"), "more than once"),
    "no type": (":W m:waives :S ; m:reason 'r' .", "is said of a waiver: give the node the type m:Waiver"),
    "a misspelt word": (WAIVER.format(":S", "; m:untill 5"), "shapes know no m:untill: check its spelling"),
}


@pytest.mark.parametrize(("text", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_a_waiver_that_is_none_is_refused_with_its_place(text: str, reason: str) -> None:
    findings = World(NAMED.format(1)).judge(*asserts(text, graph=SHAPES_GRAPH))
    assert {finding.code for finding in findings} == {FindingCode.MALFORMED_SHAPES}
    assert any(reason in finding.message and finding.focus == "<urn:x:W>" for finding in findings)


@given(shapes(), st.lists(assertions(), max_size=5), st.lists(assertions(), max_size=4), st.sampled_from([":a", ":b"]))
def test_a_waiver_changes_nothing_but_how_what_it_covers_is_told(
    turtle: str, held: list[Assertion], asked: list[Assertion], focus: str
) -> None:
    note(turtle)
    world = World(turtle)
    for assertion in held:
        world.hold(*made(assertion))
    plan = world.plan(*(change for assertion in asked for change in made(assertion)))
    before = list(world.checker.findings(plan, world.view))
    world.hold(*asserts(f":W a m:Waiver ; m:waives :S ; m:focus {focus} ; m:reason 'r' .", graph=SHAPES_GRAPH))
    after = list(world.checker.findings(plan, world.view))
    assert [(*each.key[1:], each.start, each.end) for each in after] == [
        (*each.key[1:], each.start, each.end) for each in before
    ]
    for was, now in zip(before, after, strict=True):
        if now != was:
            assert now.code is FindingCode.WAIVED_VIOLATION
            assert now.focus == f"<urn:x{focus}>"
        elif was.shape == "<urn:x:S>":
            assert was.focus != f"<urn:x{focus}>"
