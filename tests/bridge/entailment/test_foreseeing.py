"""What follows from a plan is told with it, exactly, of each graph that it changes; and what cannot be then."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.base import Base
from bridge.entailment import foreseeing
from bridge.replicas.limits import Limits
from certificates.certificate import Verdict
from certificates.contradictions import ContradictionKind
from certificates.findings import Finding, FindingCode, Severity
from kernel.changes import Assert, Change, Retract
from kernel.entailment.following import ENTAILMENT, REGIMES
from kernel.entailment.table import OWL, Regime
from kernel.ports.records import CertificateState
from kernel.terms import Iri, Statement
from kernel.vocabulary import DEFAULT_GRAPH, ONTOLOGY_GRAPH
from kernel.writing.submitting import Outcome
from tests.bridge.entailment.test_entailed_queries import (
    ANN,
    BOB,
    OPEN,
    PERSON,
    POET,
    SECRET,
    SUBCLASS,
    WRITER,
    A,
    said,
)
from tests.bridge.writing import ADMINISTRATOR, Busy, SetClock, decide, during, load, person, submission, write

FOLLOWED = {FindingCode.FOLLOWS, FindingCode.FOLLOWS_UNKNOWN, FindingCode.INCONSISTENT}
DISJOINT = Iri(OWL + "disjointWith")


def followed(regime: Regime = Regime.OWL_RL) -> Assert:
    """Has a base told what follows."""
    (named,) = (iri for iri, each in REGIMES.items() if each is regime and isinstance(iri, Iri))
    return said(ONTOLOGY_GRAPH, ENTAILMENT, named, ONTOLOGY_GRAPH)


def prepared(base: Base) -> Base:
    ontology = (said(POET, SUBCLASS, WRITER, ONTOLOGY_GRAPH), said(WRITER, SUBCLASS, PERSON, ONTOLOGY_GRAPH))
    write(base, followed(), *ontology, by=ADMINISTRATOR)
    return base


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    with Base.open(tmp_path / "data", host=SetClock()) as base:
        yield prepared(base)


@pytest.fixture(scope="module")
def shared() -> Iterator[Base]:
    """One base for tests that have people of their own."""
    with Base.open(None, host=SetClock()) as base:
        yield prepared(base)


def told(outcome: Outcome) -> list[Finding]:
    return [each for each in outcome.findings if each.code in FOLLOWED]


def retract(subject: Iri, predicate: Iri, value: Iri, graph: Iri = DEFAULT_GRAPH) -> Retract:
    return Retract(Statement(subject, predicate, value, graph))


def test_what_follows_since_and_no_more_is_told_with_exact_counts(shared: Base) -> None:
    (finding,) = told(write(shared, said(person(10), A, POET)))
    assert (finding.code, finding.severity) == (FindingCode.FOLLOWS, Severity.INFO)
    assert finding.message.startswith("by owl-rl, 2 statements follow since: ")
    assert f"{person(10).n3} {A.n3} {PERSON.n3}" in finding.message
    assert set(finding.graphs) == {DEFAULT_GRAPH.value, ONTOLOGY_GRAPH.value}
    outcome = write(shared, retract(person(10), A, POET))
    assert (outcome.verdict, outcome.state) == (Verdict.CLEAR, CertificateState.APPLIED)
    (finding,) = told(outcome)
    assert finding.message.startswith("by owl-rl, 2 statements follow no more: ")


def test_what_holds_all_the_same_is_not_told(shared: Base) -> None:
    write(shared, said(person(20), A, POET))
    assert told(write(shared, said(person(20), A, PERSON))) == [], "it followed before"
    assert told(write(shared, said(person(21), A, PERSON))) == []
    assert told(write(shared, retract(person(20), A, PERSON))) == [], "it follows still"
    assert told(write(shared, said(person(20), A, WRITER), retract(person(20), A, POET))) == []
    (finding,) = told(write(shared, retract(person(20), A, WRITER)))
    assert finding.message.startswith("by owl-rl, 1 statement follows no more: ")


def test_a_change_of_the_vocabulary_is_told_as_such_of_each_graph(base: Base) -> None:
    write(base, said(ANN, A, POET, OPEN))
    write(base, said(BOB, A, POET, SECRET))
    agent = Iri("urn:Agent")
    findings = told(write(base, said(PERSON, SUBCLASS, agent, ONTOLOGY_GRAPH), by=ADMINISTRATOR))
    assert {each.graphs for each in findings} == {
        tuple(sorted((graph.value, ONTOLOGY_GRAPH.value))) for graph in (OPEN, SECRET)
    }
    for each in findings:
        assert each.message.startswith("by what the plan says of the vocabulary, 3 statements follow since: ")
        assert (ANN.n3 in each.message) == (OPEN.value in each.graphs), "nothing of the other graph"


def test_what_cannot_be_is_a_logical_contradiction_and_waits(shared: Base) -> None:
    write(shared, said(POET, DISJOINT, Iri("urn:Stone"), ONTOLOGY_GRAPH), by=ADMINISTRATOR)
    write(shared, said(person(30), A, POET))
    outcome = write(shared, said(person(30), A, Iri("urn:Stone")))
    assert (outcome.verdict, outcome.state) == (Verdict.REVIEW, CertificateState.PENDING)
    (finding,) = told(outcome)
    assert (finding.code, finding.contradiction is not None) == (FindingCode.INCONSISTENT, True)
    assert finding.contradiction is not None
    assert finding.contradiction.kind is ContradictionKind.LOGICAL
    assert "cax-dw" in finding.message
    assert {finding.contradiction.statement, finding.contradiction.against} == {
        f"{person(30).n3} {A.n3} <urn:{name}> {DEFAULT_GRAPH.n3} ." for name in ("Poet", "Stone")
    }
    decided = decide(shared, outcome.certificate)
    assert decided.state is CertificateState.APPLIED, "judged again, it is told the same"
    assert told(write(shared, said(person(31), A, POET)))[0].code is FindingCode.FOLLOWS, (
        "what was there before is not told"
    )


def test_what_is_accepted_in_the_same_group_counts(opening_busy: tuple[Base, Busy]) -> None:
    base, busy = opening_busy
    first = base.submit(submission(said(ANN, A, POET)))
    second = base.submit(submission(said(ANN, A, WRITER)))
    busy.go_on()
    assert told(first.result(30))[0].message.startswith("by owl-rl, 2 ")
    assert told(second.result(30)) == []


@pytest.fixture
def opening_busy(tmp_path: Path, watched: None) -> Iterator[tuple[Base, Busy]]:
    with Base.open(tmp_path / "data", host=SetClock()) as base:
        yield prepared(base), Busy(base)


def test_only_what_holds_now_counts(shared: Base) -> None:
    assert told(write(shared, said(person(40), A, POET, valid=during(1900, 1950)))) == []


def test_who_does_not_ask_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def started() -> None:
        raise AssertionError("no process is needed")

    monkeypatch.setattr(foreseeing, "DirectWorker", started)
    with Base.open(tmp_path / "data", host=SetClock()) as base:
        write(base, said(POET, SUBCLASS, WRITER, ONTOLOGY_GRAPH), by=ADMINISTRATOR)
        assert told(write(base, said(ANN, A, POET))) == []


def test_rules_that_nobody_knows_are_refused(shared: Base) -> None:
    unknown = said(ONTOLOGY_GRAPH, ENTAILMENT, Iri("http://www.w3.org/ns/owl-profile/DL"), ONTOLOGY_GRAPH)
    outcome = write(shared, unknown, by=ADMINISTRATOR)
    assert (outcome.verdict, [each.code for each in outcome.findings]) == (
        Verdict.REFUSED,
        [FindingCode.INVALID_RULE],
    )


def test_what_takes_too_long_waits(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreseeing, "LIMITS", Limits(seconds=0.000_1))
    changes: list[Change] = [said(ANN, A, POET)]
    outcome = write(base, *changes)
    assert [each.code for each in told(outcome)] == [FindingCode.FOLLOWS_UNKNOWN]
    assert outcome.verdict is Verdict.REVIEW


def test_of_a_load_it_is_told_that_it_is_not_known(shared: Base) -> None:
    outcome = load(shared, "session", [said(person(60), A, POET)])
    assert [(each.code, each.severity) for each in told(outcome)] == [(FindingCode.FOLLOWS_UNKNOWN, Severity.INFO)]


def test_an_ended_process_is_replaced(base: Base) -> None:
    write(base, said(BOB, A, POET))
    (making,) = base._foreseer._kept.values()
    making.result().worker.end()
    assert [each.code for each in told(write(base, said(ANN, A, POET)))] == [FindingCode.FOLLOWS]
