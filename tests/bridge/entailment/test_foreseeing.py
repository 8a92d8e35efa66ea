"""What follows from a plan is told with it, exactly, of each graph that it changes; and what cannot be then."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bridge.base import Base
from bridge.entailment import foreseeing
from bridge.replicas.direct import DirectWorker
from bridge.replicas.frames import Frame
from bridge.replicas.limits import Limits
from certificates.certificate import Verdict
from certificates.contradictions import ContradictionKind
from certificates.findings import Finding, FindingCode, Severity
from certificates.items import ItemKind
from kernel.access import Principal, Role
from kernel.changes import Assert, Change, Retract
from kernel.entailment.following import ENTAILMENT, REGIMES
from kernel.entailment.table import OWL, RDFS, Regime
from kernel.ports.records import CertificateState
from kernel.terms import Iri, Statement
from kernel.vocabulary import DEFAULT_GRAPH, ONTOLOGY_GRAPH
from kernel.writing.submitting import Outcome
from tests.bridge.entailment.test_entailed_queries import (
    ANN,
    BOB,
    KNOWS,
    OPEN,
    PERSON,
    POET,
    SECRET,
    SUBCLASS,
    WRITER,
    A,
    said,
)
from tests.bridge.writing import (
    ADMINISTRATOR,
    PATIENCE,
    Busy,
    SetClock,
    decide,
    during,
    load,
    person,
    submission,
    write,
)

FOLLOWED = {FindingCode.FOLLOWS, FindingCode.FOLLOWS_UNKNOWN, FindingCode.INCONSISTENT}
DISJOINT = Iri(OWL + "disjointWith")
DOMAIN = Iri(RDFS + "domain")


def followed(regime: Regime = Regime.OWL_RL) -> Assert:
    """Has a base told what follows."""
    (named,) = (iri for iri, each in REGIMES.items() if each is regime and isinstance(iri, Iri))
    return said(ONTOLOGY_GRAPH, ENTAILMENT, named, ONTOLOGY_GRAPH)


def prepared(base: Base) -> Base:
    ontology = (said(POET, SUBCLASS, WRITER, ONTOLOGY_GRAPH), said(WRITER, SUBCLASS, PERSON, ONTOLOGY_GRAPH))
    write(base, followed(), *ontology, by=ADMINISTRATOR)
    return base


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is worked out first is waited for, however busy the machine is."""
    monkeypatch.setattr(foreseeing, "WAIT", PATIENCE)


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
    assert finding.message.startswith(f"by owl-rl, 2 statements follow since in {DEFAULT_GRAPH.n3}: ")
    assert f"{person(10).n3} {A.n3} {PERSON.n3}" in finding.message
    assert set(finding.graphs) == {DEFAULT_GRAPH.value, ONTOLOGY_GRAPH.value}
    outcome = write(shared, retract(person(10), A, POET))
    assert (outcome.verdict, outcome.state) == (Verdict.CLEAR, CertificateState.APPLIED)
    (finding,) = told(outcome)
    assert finding.message.startswith("by owl-rl, 2 statements follow no more in ")


def test_what_holds_all_the_same_is_not_told(shared: Base) -> None:
    write(shared, said(person(20), A, POET))
    assert told(write(shared, said(person(20), A, PERSON))) == [], "it followed before"
    assert told(write(shared, said(person(21), A, PERSON))) == []
    assert told(write(shared, retract(person(20), A, PERSON))) == [], "it follows still"
    assert told(write(shared, said(person(20), A, WRITER), retract(person(20), A, POET))) == []
    (finding,) = told(write(shared, retract(person(20), A, WRITER)))
    assert finding.message.startswith("by owl-rl, 1 statement follows no more in ")


def test_a_change_of_the_vocabulary_is_told_as_such_of_each_graph(base: Base) -> None:
    write(base, said(ANN, A, POET, OPEN))
    write(base, said(BOB, A, POET, SECRET))
    agent = Iri("urn:Agent")
    findings = told(write(base, said(PERSON, SUBCLASS, agent, ONTOLOGY_GRAPH), by=ADMINISTRATOR))
    assert len(findings) == 2, "that a class is below itself, and what takes both graphs, which is nothing, is not told"
    assert {each.graphs for each in findings} == {
        tuple(sorted((graph.value, ONTOLOGY_GRAPH.value))) for graph in (OPEN, SECRET)
    }
    for each in findings:
        assert each.message.startswith("by what the plan says of the vocabulary, 3 statements follow since in <urn:")
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


def test_what_holds_at_other_times_is_said_not_to_have_been_looked_for(shared: Base) -> None:
    outcome = write(shared, said(person(40), A, POET, valid=during(1900, 1950)))
    (finding,) = told(outcome)
    assert (finding.code, finding.severity) == (FindingCode.FOLLOWS_UNKNOWN, Severity.INFO)
    assert "at other times than now was not looked for" in finding.message
    assert outcome.state is CertificateState.APPLIED
    (finding,) = told(write(shared, said(person(41), A, POET, valid=during(1900, None))))
    assert finding.code is FindingCode.FOLLOWS, "it holds now as well"


def test_who_does_not_ask_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def started() -> None:
        raise AssertionError("no process is needed")

    monkeypatch.setattr(foreseeing, "DirectWorker", started)
    with Base.open(tmp_path / "data", host=SetClock()) as base:
        write(base, said(POET, SUBCLASS, WRITER, ONTOLOGY_GRAPH), by=ADMINISTRATOR)
        assert told(write(base, said(ANN, A, POET))) == []


def test_of_two_values_the_second_is_refused_with_its_place(shared: Base) -> None:
    outcome = write(shared, followed(Regime.RDFS), by=ADMINISTRATOR)
    assert outcome.verdict is Verdict.REFUSED
    (finding,) = outcome.findings
    assert (finding.code, finding.focus, finding.path) == (
        FindingCode.INVALID_RULE,
        ONTOLOGY_GRAPH.n3,
        ENTAILMENT.n3,
    )
    assert "has one value" in finding.message
    staged = load(shared, "second", [followed(Regime.RDFS)], by=ADMINISTRATOR)
    assert FindingCode.INVALID_RULE in {each.code for each in staged.findings}


def test_rules_that_nobody_knows_are_refused(shared: Base) -> None:
    unknown = said(ONTOLOGY_GRAPH, ENTAILMENT, Iri("http://www.w3.org/ns/owl-profile/DL"), ONTOLOGY_GRAPH)
    outcome = write(shared, unknown, by=ADMINISTRATOR)
    assert (outcome.verdict, [each.code for each in outcome.findings]) == (
        Verdict.REFUSED,
        [FindingCode.INVALID_RULE] * 2,
    ), "it is not known, and would be a second one"


def test_what_takes_too_long_waits(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    entail = DirectWorker.entail

    def late(worker: DirectWorker, head: Mapping[str, object], body: bytes, limits: Limits) -> Frame:
        if head["what"] == "foresee":
            raise TimeoutError
        return entail(worker, head, body, limits)

    monkeypatch.setattr(DirectWorker, "entail", late)
    changes: list[Change] = [said(ANN, A, POET)]
    outcome = write(base, *changes)
    assert [each.code for each in told(outcome)] == [FindingCode.FOLLOWS_UNKNOWN]
    assert outcome.verdict is Verdict.REVIEW


def test_a_load_is_told_as_a_plan_is_unless_it_is_large(shared: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    poets = [said(person(number), A, POET) for number in (60, 61)]
    (finding,) = told(load(shared, "session", poets[:1], poets[1:]))
    assert finding.message.startswith(f"by owl-rl, 4 statements follow since in {DEFAULT_GRAPH.n3}: ")
    monkeypatch.setattr(foreseeing, "LOADED", 1)
    outcome = load(shared, "larger", [said(person(number), A, POET) for number in (62, 63)])
    (finding,) = told(outcome)
    assert (finding.code, finding.severity) == (FindingCode.FOLLOWS_UNKNOWN, Severity.INFO)
    assert "more than 1 statement" in finding.message
    assert outcome.state is CertificateState.APPLIED


def test_what_cannot_be_with_a_load_waits_and_is_told_the_same_once_approved(shared: Base) -> None:
    write(shared, said(WRITER, DISJOINT, Iri("urn:Sand"), ONTOLOGY_GRAPH), by=ADMINISTRATOR)
    write(shared, said(person(65), A, WRITER))
    outcome = load(shared, "sand", [said(person(65), A, Iri("urn:Sand"))])
    assert [each.code for each in told(outcome)] == [FindingCode.INCONSISTENT]
    assert outcome.state is CertificateState.PENDING
    assert decide(shared, outcome.certificate).state is CertificateState.APPLIED


def test_what_takes_two_graphs_is_told_to_those_who_may_read_all(base: Base) -> None:
    write(base, said(KNOWS, DOMAIN, POET, OPEN))
    write(base, said(ANN, A, Iri("urn:Stone"), SECRET))
    (finding,) = told(write(base, said(ANN, KNOWS, BOB, SECRET)))
    assert finding.message.startswith("by owl-rl, 3 statements follow since from several graphs together: ")
    assert {OPEN.value, SECRET.value} <= set(finding.graphs)
    axiom = said(POET, DISJOINT, Iri("urn:Stone"), ONTOLOGY_GRAPH)
    dry = write(base, axiom, by=ADMINISTRATOR, dry_run=True)
    assert [each.code for each in told(dry)] == [FindingCode.INCONSISTENT], "an axiom is told of all graphs, too"
    write(base, retract(ANN, KNOWS, BOB, SECRET))
    write(base, axiom, by=ADMINISTRATOR)
    outcome = write(base, said(ANN, KNOWS, BOB, SECRET))
    follows, inconsistent = told(outcome)
    assert (follows.code, inconsistent.code) == (FindingCode.FOLLOWS, FindingCode.INCONSISTENT)
    assert inconsistent.graphs == follows.graphs
    assert f"what leads to it is {ANN.n3} {KNOWS.n3} {BOB.n3} {SECRET.n3}" in inconsistent.message
    assert outcome.state is CertificateState.PENDING


def test_what_takes_two_graphs_is_no_way_to_ask_of_one_that_may_not_be_read(base: Base) -> None:
    write(base, said(POET, DISJOINT, Iri("urn:Stone"), ONTOLOGY_GRAPH), by=ADMINISTRATOR)
    write(base, said(ANN, A, Iri("urn:Stone"), SECRET))
    held = Principal("held", Role.WRITER, frozenset({OPEN}))
    seen = []
    for subject in (ANN, BOB):  # of the first, the other graph has something to say
        outcome = write(base, said(subject, A, POET, OPEN), by=held)
        mine = [each.code for each in outcome.findings if all(held.may_read(Iri(graph)) for graph in each.graphs)]
        seen.append((outcome.state, len(outcome.findings), mine))
    assert seen[0] == seen[1] == (CertificateState.APPLIED, 2, [FindingCode.FOLLOWS])
    with base.ledger.reading() as view:
        bodies = [item.body for each in view.certificates(limit=2) for item in view.items(each.id, ItemKind.FINDING)]
    assert sum(b"cannot all hold" in body for body in bodies) == 1, "whoever reads both is told"


def test_an_ended_process_is_replaced(base: Base) -> None:
    write(base, said(BOB, A, POET))
    for making in base._foreseer._kept.values():
        making.result().worker.end()
    assert [each.code for each in told(write(base, said(ANN, A, POET)))] == [FindingCode.FOLLOWS]
