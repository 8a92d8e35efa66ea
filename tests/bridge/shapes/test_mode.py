"""m:mode: what becomes of a change that the shapes find fault with, and that nothing else depends on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from bridge.base import Base
from bridge.shapes.checker import CoreChecker
from certificates.certificate import Verdict
from certificates.findings import FindingCode, Severity
from kernel.policy.verdicts import DEFAULT_POLICY
from kernel.ports.records import CertificateState
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.test_base import submit
from tests.bridge.shapes.test_incremental import Assertion, assertions, made, shapes
from tests.bridge.shapes.world import ADMIN, World, asserts, retracts
from tests.bridge.writing import decide

if TYPE_CHECKING:
    from pathlib import Path

    from certificates.findings import Finding

NAMED = ":S a sh:NodeShape ; sh:targetClass :A ; sh:property :Name . :Name sh:path :name ; sh:minCount {} ."
MODE = "m:shapes m:mode m:{} ."
BROKEN = ":S sh:minCuont 1 ."

OUTCOMES = [
    ("Refuse", Verdict.REFUSED, FindingCode.SHAPE_VIOLATION, Severity.VIOLATION),
    ("Review", Verdict.REVIEW, FindingCode.REVIEWABLE_VIOLATION, Severity.VIOLATION),
    ("Warn", Verdict.CLEAR, FindingCode.SHAPE_VIOLATION, Severity.WARNING),
]


def in_mode(base: Base, mode: str, shapes_text: str) -> None:
    written = submit(base, *asserts(MODE.format(mode) + shapes_text, graph=SHAPES_GRAPH))
    assert (written.verdict, written.state) == (Verdict.CLEAR, CertificateState.APPLIED)


@pytest.mark.parametrize(("mode", "verdict", "code", "severity"), OUTCOMES)
def test_what_becomes_of_a_change_that_breaks_a_shape(
    tmp_path: Path, mode: str, verdict: Verdict, code: FindingCode, severity: Severity
) -> None:
    with Base.open(tmp_path / "base") as base:
        in_mode(base, mode, NAMED.format(1))
        outcome = submit(base, *asserts(":a a :A ."))
        assert outcome.verdict is verdict
        [finding] = outcome.findings
        assert (finding.code, finding.severity, finding.focus) == (code, severity, "<urn:x:a>")
        assert submit(base, *asserts(":b a :A ; :name 'b' .")).findings == ()
    with Base.open(tmp_path / "base") as base:
        assert submit(base, *asserts(":c a :A .")).verdict is verdict


def test_what_is_held_for_review_an_editor_lets_in(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        in_mode(base, "Review", NAMED.format(1))
        waiting = submit(base, *asserts(":a a :A ."))
        assert waiting.state is CertificateState.PENDING
        assert waiting.certificate is not None
        assert decide(base, waiting.certificate, by=ADMIN).state is CertificateState.APPLIED
        assert submit(base, *asserts(":a :age 5 .")).verdict is Verdict.CLEAR


CHANGED_MEANWHILE = {
    "another mode": ("m:shapes m:mode m:Review .", "m:shapes m:mode m:Refuse .", Verdict.REFUSED),
    "asking for less": (":Name sh:minCount 1 .", ":Name sh:minCount 0 .", Verdict.CLEAR),
    "asking for more": (":Name sh:minCount 1 .", ":Name sh:minCount 2 .", Verdict.REVIEW),
    "no longer a target": (":S sh:targetClass :A .", "", Verdict.CLEAR),
    "deactivated": ("", ":Name sh:deactivated true .", Verdict.CLEAR),
}


@pytest.mark.parametrize(("gone", "come", "verdict"), CHANGED_MEANWHILE.values(), ids=CHANGED_MEANWHILE)
def test_an_approval_after_the_shapes_have_changed_is_stale(gone: str, come: str, verdict: Verdict) -> None:
    """BoundToState: other shapes; what they find now, the successor says."""
    with Base.open(None) as base:
        in_mode(base, "Review", NAMED.format(1))
        waiting = submit(base, *asserts(":a a :A ."))
        assert waiting.certificate is not None
        changed = [*retracts(gone, graph=SHAPES_GRAPH), *asserts(come, graph=SHAPES_GRAPH)]
        assert submit(base, *changed).verdict is Verdict.CLEAR
        stale = decide(base, waiting.certificate, by=ADMIN)
        assert stale.state is CertificateState.STALE
        assert stale.successor is not None
        with base.ledger.reading() as view:
            successor = view.certificate(stale.successor)
        assert successor is not None
        assert successor.verdict is verdict
        assert (successor.state is CertificateState.APPLIED) == (verdict is Verdict.CLEAR)


@pytest.mark.parametrize("mode", ["Refuse", "Review", "Warn"])
def test_malformed_shapes_are_refused_in_every_mode(tmp_path: Path, mode: str) -> None:
    with Base.open(tmp_path / "base") as base:
        in_mode(base, mode, NAMED.format(1))
        refused = submit(base, *asserts(BROKEN, graph=SHAPES_GRAPH))
        assert refused.verdict is Verdict.REFUSED
        assert {finding.code for finding in refused.findings} == {FindingCode.MALFORMED_SHAPES}


@pytest.mark.parametrize("mode", ["Refuse", "Review", "Warn"])
def test_data_is_refused_while_the_shapes_in_force_are_malformed_in_every_mode(mode: str) -> None:
    world = World(MODE.format(mode) + NAMED.format(1) + BROKEN)
    findings = world.judge(*asserts(":a a :A ; :name 'a' ."))
    assert {finding.code for finding in findings} == {FindingCode.MALFORMED_SHAPES}
    assert DEFAULT_POLICY.verdict(findings) is Verdict.REFUSED


@pytest.mark.parametrize(("mode", "verdict"), [("Refuse", "review"), ("Review", "review"), ("Warn", "clear")])
def test_what_written_shapes_newly_break_follows_the_mode_written_with_them(mode: str, verdict: str) -> None:
    world = World(data=":a a :A .")
    findings = world.judge(*asserts(MODE.format(mode) + NAMED.format(1), graph=SHAPES_GRAPH))
    assert [(each.code, each.focus) for each in findings] == [(FindingCode.EXISTING_VIOLATION, "<urn:x:a>")]
    assert DEFAULT_POLICY.verdict(findings).value == verdict


def test_a_stricter_mode_makes_nothing_of_what_is_broken_already() -> None:
    world = World(MODE.format("Warn") + NAMED.format(1), ":a a :A .")
    stricter = retracts(MODE.format("Warn"), graph=SHAPES_GRAPH)
    assert world.judge(*stricter) == []
    world.hold(*stricter)
    assert world.judge(*asserts(":a :age 5 .")) == []
    assert DEFAULT_POLICY.verdict(world.judge(*asserts(":b a :A ."))) is Verdict.REFUSED


@pytest.mark.parametrize(("mode", "verdict"), [("Refuse", "review"), ("Review", "review"), ("Warn", "clear")])
def test_what_is_too_much_to_judge_follows_the_mode(mode: str, verdict: str) -> None:
    world = World(
        MODE.format(mode) + ":S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :k ; sh:class :P ]."
    )
    world.checker = CoreChecker(limit=50)
    world.hold(*asserts(":org a :P . " + "".join(f":p{number} a :A ; :k :org . " for number in range(100))))
    findings = world.judge(*retracts(":org a :P ."))
    assert [finding.code for finding in findings] == [FindingCode.NEIGHBOURHOOD_EXCEEDED]
    assert DEFAULT_POLICY.verdict(findings).value == verdict


MALFORMED = {
    "an unknown mode": ("m:shapes m:mode m:Wran .", "m:mode takes m:Refuse, m:Review or m:Warn"),
    "a mode in quotes": ("m:shapes m:mode 'Warn' .", "m:mode takes m:Refuse, m:Review or m:Warn"),
    "two modes": ("m:shapes m:mode m:Warn, m:Review .", "m:mode is given 2 times: give it once"),
    "a mode of one shape": (":S m:mode m:Warn .", "m:mode is said of <https://w3id.org/muniment#shapes>"),
    "a misspelt term": ("m:shapes m:modus m:Warn .", "shapes know no m:modus: check its spelling"),
    "a type that is none": (":w a m:Wiaver .", "shapes know no m:Wiaver: check its spelling"),
    "data that is none": ("m:shapes m:appliesTo 'g' .", "m:appliesTo takes graphs of data, by their IRIs"),
    "data that is reserved": ("m:shapes m:appliesTo m:rules .", "m:appliesTo takes graphs of data, by their IRIs"),
    "data of one shape": (":S m:appliesTo :g .", "m:appliesTo is said of <https://w3id.org/muniment#shapes>"),
}


@pytest.mark.parametrize(("text", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_a_mode_that_is_none_is_refused_with_its_place(text: str, reason: str) -> None:
    findings = World(NAMED.format(1)).judge(*asserts(text, graph=SHAPES_GRAPH))
    assert {finding.code for finding in findings} == {FindingCode.MALFORMED_SHAPES}
    assert reason in findings[0].message
    assert findings[0].focus in {"<https://w3id.org/muniment#shapes>", "<urn:x:S>", "<urn:x:w>"}


def as_reviewed(finding: Finding) -> Finding:
    shape = finding.code is FindingCode.SHAPE_VIOLATION
    return replace(finding, code=FindingCode.REVIEWABLE_VIOLATION) if shape else finding


def as_warned(finding: Finding) -> Finding:
    return replace(finding, severity=Severity.WARNING) if finding.severity is Severity.VIOLATION else finding


@given(shapes(), st.lists(assertions(), max_size=5), st.lists(assertions(), max_size=4))
def test_the_same_is_found_in_every_mode(turtle: str, held: list[Assertion], asked: list[Assertion]) -> None:
    note(turtle)
    world = World(turtle)
    for assertion in held:
        world.hold(*made(assertion))
    plan = world.plan(*(change for assertion in asked for change in made(assertion)))
    found = {}
    for mode in ("", "Refuse", "Review", "Warn"):
        said = asserts(MODE.format(mode), graph=SHAPES_GRAPH) if mode else []
        world.hold(*said)
        found[mode] = list(world.checker.findings(plan, world.view))
        world.hold(*(retracts(MODE.format(mode), graph=SHAPES_GRAPH) if mode else []))
        verdict = DEFAULT_POLICY.verdict(found[mode])
        worst = {"": Verdict.REFUSED, "Refuse": Verdict.REFUSED, "Review": Verdict.REVIEW, "Warn": Verdict.CLEAR}
        assert verdict is (worst[mode] if found[""] else Verdict.CLEAR)
    assert found["Refuse"] == found[""]
    assert found["Review"] == [as_reviewed(each) for each in found[""]]
    assert found["Warn"] == [as_warned(each) for each in found[""]]
