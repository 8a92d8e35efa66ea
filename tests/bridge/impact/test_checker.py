"""What a plan is told of registered queries: in groups, as the clock goes on, in loads, and where no answer comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bridge.base import Base
from bridge.impact import checker, staging
from bridge.impact.compiled import compiled
from bridge.impact.touch import QueryIndex
from bridge.replicas.direct import DirectWorker
from bridge.replicas.limits import Limits
from certificates.certificate import Verdict
from certificates.findings import FindingCode, Severity
from kernel.changes import Assert, End, Retract
from kernel.ports.records import CertificateState
from kernel.queries import QUERY, Action, RegisteredQuery
from kernel.terms import Iri, Literal, Statement
from kernel.vocabulary import DEFAULT_GRAPH, QUERIES_GRAPH, M
from tests.bridge.impact.asking import AUTO, answer, impacts, open_base, register, registered, require_exact
from tests.bridge.writing import (
    ADMINISTRATOR,
    HOUR,
    LIVES_IN,
    NOON,
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    Busy,
    SetClock,
    decide,
    during,
    living,
    load,
    one_home,
    person,
    submission,
    write,
    year,
)

HOMES = registered("homes", f"SELECT ?who ?home {{ ?who {LIVES_IN.n3} ?home }}")
COUNT = registered("count", f"SELECT (COUNT(*) AS ?n) {{ ?who {LIVES_IN.n3} ?home }}")


@pytest.fixture
def base() -> Iterator[Base]:
    with open_base() as base:
        yield base


def always_brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was asked once is asked in turns from then on, however busy the machine is."""
    monkeypatch.setattr(staging, "BRIEFLY", PATIENCE)
    monkeypatch.setattr(checker, "ONCE", PATIENCE)


def never_brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "BRIEFLY", -1)


def test_without_registered_queries_nothing_is_asked(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "DirectWorker", lambda: pytest.fail("a process was started"))
    assert write(base, Assert(living(PARIS))).findings == ()
    register(base, registered("other", "ASK { ?s <urn:other> ?o }"))
    assert write(base, Assert(living(ROME))).findings == ()
    assert load(base, "some", [Assert(living(OSLO))]).findings == ()


def test_of_a_thousand_queries_those_alone_are_looked_at_that_a_statement_concerns() -> None:
    many = [
        registered(f"q{n}", f"SELECT * {{ ?s <urn:p{n % 50}> <urn:v{n}> . OPTIONAL {{ ?s <urn:r{n}> ?x }} }}")
        for n in range(1_000)
    ]
    index = QueryIndex(compiled(many))
    seen: list[str] = []

    def minding(predicate: str, value: str) -> list[str]:
        statement = Statement(Iri("urn:s"), Iri(predicate), Iri(value), DEFAULT_GRAPH)
        return [each.query.name for each in index.minding([statement])]

    seen += minding("urn:p7", "urn:v57")
    assert seen == ["q57"]
    assert minding("urn:r12", "urn:any") == ["q12"]
    assert minding("urn:p7", "urn:v8") == []


def test_each_of_a_group_starts_from_those_before_it(
    tmp_path: Path, watched: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    always_brief(monkeypatch)
    with Base.open(tmp_path / "base", policy=AUTO, host=SetClock()) as base:
        register(base, HOMES, COUNT)
        write(base, Assert(living(OSLO, person(8))), by=ADMINISTRATOR)
        before = answer(base, COUNT)
        busy = Busy(base)
        asked = [base.submit(submission(Assert(living(home, person(9))), by=ADMINISTRATOR)) for home in (PARIS, ROME)]
        gone = base.submit(submission(Retract(living(PARIS, person(9))), by=ADMINISTRATOR))
        busy.go_on()
        told = [impacts(each.result(PATIENCE).findings) for each in (*asked, gone)]
        assert before != answer(base, COUNT)
        samples = [{row.gained: dict(row.row)["n"][:2] for row in each["count"].sample} for each in told]
        assert samples == [{True: '"3', False: '"2'}, {True: '"4', False: '"3'}, {True: '"3', False: '"4'}]
        assert (told[2]["homes"].gained, told[2]["homes"].lost) == (0, 1)


def test_what_the_clock_does_is_no_impact_of_a_plan() -> None:
    clock = SetClock()
    with Base.open(None, policy=AUTO, host=clock) as base:
        register(base, HOMES)
        write(base, Assert(living(PARIS), during(NOON + HOUR, NOON + 3 * HOUR)), by=ADMINISTRATOR)
        clock.move(2 * HOUR)
        outcome = write(base, Assert(living(ROME, person(1))), by=ADMINISTRATOR)
        assert {name: (each.gained, each.lost) for name, each in impacts(outcome.findings).items()} == {"homes": (1, 0)}
        clock.move(2 * HOUR)
        outcome = write(base, Retract(living(ROME, person(1))), by=ADMINISTRATOR)
        assert {name: (each.gained, each.lost) for name, each in impacts(outcome.findings).items()} == {"homes": (0, 1)}
        assert sum(answer(base, HOMES).values()) == 0


def test_evidence_and_what_is_over_or_to_come_changes_no_answer_of_now(base: Base) -> None:
    register(base, HOMES)
    write(base, Assert(living(PARIS)), by=ADMINISTRATOR)
    assert write(base, Assert(living(PARIS)), by=ADMINISTRATOR).findings == ()
    assert write(base, Assert(living(ROME), during(1990, 2000)), by=ADMINISTRATOR).findings == ()
    assert write(base, Assert(living(ROME), during(2090, None)), by=ADMINISTRATOR).findings == ()
    assert impacts(write(base, End(living(PARIS)), by=ADMINISTRATOR).findings)["homes"].lost == 1


@pytest.mark.parametrize("aside", [True, False])
def test_the_answer_that_a_plan_leads_to_is_where_the_next_one_starts(
    base: Base, monkeypatch: pytest.MonkeyPatch, *, aside: bool
) -> None:
    """Whether it was asked in turns or aside; the first time it always is aside, and each has a process of its own."""
    always_brief(monkeypatch)
    if aside:
        never_brief(monkeypatch)
    names: list[tuple[str | None, str | None]] = []
    compare = DirectWorker.compare

    def watched(self: DirectWorker, *arguments: object, **more: object) -> object:
        names.extend((each.known, each.keep) for each in arguments[3])  # type: ignore[attr-defined]
        return compare(self, *arguments, **more)  # type: ignore[arg-type]

    register(base, COUNT)
    monkeypatch.setattr(DirectWorker, "compare", watched)
    for number in range(4):
        outcome = write(base, Assert(living(PARIS, person(number))), by=ADMINISTRATOR)
        assert impacts(outcome.findings)["count"].gained == 1
    write(base, Assert(Statement(person(1), Iri("urn:other"), PARIS, DEFAULT_GRAPH)), by=ADMINISTRATOR)
    write(base, Assert(living(PARIS, person(7))), by=ADMINISTRATOR)
    asked = names if aside else names[1:]
    assert len(names) == 5
    assert [known for known, _ in asked[1:]] == [keep for _, keep in asked[:-1]]


def test_a_load_is_told_what_it_changes_and_an_approval_finds_the_same() -> None:
    with Base.open(None, host=SetClock()) as base:
        query = registered("homes", HOMES.text, action=Action.REVIEW)
        register(base, query)
        outcome = load(base, "people", *([Assert(living(PARIS, person(n)))] for n in range(30)))
        assert (outcome.verdict, outcome.state) == (Verdict.REVIEW, CertificateState.PENDING)
        assert (impacts(outcome.findings)["homes"].gained, sum(answer(base, query).values())) == (30, 0)
        assert decide(base, outcome.certificate).state is CertificateState.APPLIED
        assert sum(answer(base, query).values()) == 30


def test_a_load_of_too_much_is_said_to_be_unknown(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MOST", 5)
    register(base, HOMES, registered("other", "ASK { ?s <urn:other> ?o }"))
    outcome = load(base, "people", [Assert(living(PARIS, person(n))) for n in range(9)])
    assert [(each.code, each.impact and each.impact.query) for each in outcome.findings] == [
        (FindingCode.IMPACT_UNKNOWN, "homes")
    ]


ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?p ?x . ?b ?q ?y . ?c ?r ?z . ?d ?s ?w . ?e ?t ?v }"
"""With a hundred statements, ten thousand million rows to count."""


@pytest.mark.parametrize(("action", "severity"), [(Action.NOTE, Severity.INFO), (Action.REFUSE, Severity.WARNING)])
def test_a_query_that_does_not_come_to_its_end_is_a_finding_and_the_others_are_told_all_the_same(
    base: Base, monkeypatch: pytest.MonkeyPatch, action: Action, severity: Severity
) -> None:
    load(base, "people", [Assert(living(PARIS, person(n))) for n in range(100)])
    register(base, HOMES, registered("endless", ENDLESS, action=action), COUNT)
    monkeypatch.setattr(staging, "LIMITS", Limits(seconds=0.6, memory=2**28, result=2**20))
    outcome = write(base, Assert(living(ROME)), by=ADMINISTRATOR)
    found = {each.impact.query: each for each in outcome.findings if each.impact is not None}
    assert {name: each.code for name, each in found.items()} == {
        "count": FindingCode.IMPACT,
        "homes": FindingCode.IMPACT,
        "endless": FindingCode.IMPACT_UNKNOWN,
    }
    assert found["endless"].severity is severity
    assert "takes more than it may have" in found["endless"].message
    assert found["endless"].impact is not None
    assert found["endless"].impact.gained is None


def test_an_answer_that_is_too_large_is_a_finding(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    register(base, HOMES)
    monkeypatch.setattr(staging, "LIMITS", Limits(seconds=30, memory=2**28, result=100))
    outcome = write(base, *(Assert(living(PARIS, person(n))) for n in range(9)), by=ADMINISTRATOR)
    (finding,) = outcome.findings
    assert (finding.code, "comes to more than" in finding.message) == (FindingCode.IMPACT_UNKNOWN, True)


def test_stores_that_cannot_be_read_leave_impact_unknown(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> DirectWorker:
        raise OSError("no more processes")

    register(base, HOMES)
    monkeypatch.setattr(staging, "DirectWorker", fails)
    (finding,) = write(base, Assert(living(PARIS)), by=ADMINISTRATOR).findings
    assert finding.code is FindingCode.IMPACT_UNKNOWN
    monkeypatch.undo()
    assert impacts(write(base, Assert(living(ROME)), by=ADMINISTRATOR).findings)["homes"].gained == 1


def test_an_entry_that_nobody_can_read_is_told_to_every_plan_that_changes_data(base: Base) -> None:
    half = Statement(Iri(QUERY + "half"), Iri(M + "queryText"), Literal("ASK {}"), QUERIES_GRAPH)
    assert write(base, Assert(half), by=ADMINISTRATOR).findings[0].code is FindingCode.INVALID_QUERY
    told = write(base, Assert(living(PARIS)), by=ADMINISTRATOR).findings
    assert [each.code for each in told] == [FindingCode.INVALID_QUERY]
    assert write(base, Retract(half), by=ADMINISTRATOR).findings == ()
    assert write(base, Assert(living(ROME)), by=ADMINISTRATOR).findings == ()


def test_a_text_that_nobody_can_scan_and_that_was_let_in_keeps_no_other_query_from_being_asked(base: Base) -> None:
    broken = registered("broken", "SELECT * { ?s ?p 'never closed }")
    register(base, HOMES, broken)
    told = write(base, Assert(living(PARIS)), by=ADMINISTRATOR).findings
    assert [each.code for each in told] == [FindingCode.INVALID_QUERY, FindingCode.IMPACT]
    unparsed = registered("broken", "SELECT * { ?s ?p }")
    write(base, *map(Retract, broken.statements()), by=ADMINISTRATOR)
    register(base, unparsed)
    told = write(base, Assert(living(ROME)), by=ADMINISTRATOR).findings
    assert {each.code for each in told} == {FindingCode.IMPACT_UNKNOWN, FindingCode.IMPACT}


@pytest.mark.parametrize("opened", [lambda path: None, lambda path: path / "base"])
def test_a_query_that_was_away_is_answered_anew(tmp_path: Path, opened: Callable[[Path], Path | None]) -> None:
    with Base.open(opened(tmp_path), policy=AUTO, host=SetClock()) as base:
        register(base, COUNT, HOMES)
        write(base, Assert(living(PARIS)), by=ADMINISTRATOR)
        write(base, *(Retract(each) for each in COUNT.statements()), by=ADMINISTRATOR)
        for number in range(3):
            write(base, Assert(living(PARIS, person(number))), by=ADMINISTRATOR)
        register(base, COUNT)
        before = {"count": answer(base, COUNT)}
        outcome = write(base, Retract(living(PARIS)), by=ADMINISTRATOR)
        found = [each for each in outcome.findings if each.impact is not None and each.impact.query == "count"]
        assert found
        (impact,) = (each.impact for each in found)
        assert impact is not None
        assert [dict(row.row)["n"][:2] for row in impact.sample] == ['"3', '"4']
        assert before != {"count": answer(base, COUNT)}


def test_queries_of_many_moments_are_answered_each_at_its_own(base: Base) -> None:
    asked: list[RegisteredQuery] = [
        registered(f"in{year_}", HOMES.text, moment=during(year_, None).interval.start) for year_ in range(1990, 1997)
    ]
    register(base, *asked)
    for start in (1992, 1995):
        before = {each.name: answer(base, each) for each in asked}
        outcome = write(base, Assert(living(PARIS, person(start)), during(start, start + 2)), by=ADMINISTRATOR)
        changed = require_exact(outcome, before, {each.name: answer(base, each) for each in asked})
        assert changed == 2


def test_what_a_rule_proposes_is_part_of_what_an_answer_is_held_against() -> None:
    with Base.open(None, policy=AUTO, host=SetClock()) as base:
        write(base, *one_home(), by=ADMINISTRATOR)
        write(base, Assert(living(PARIS), during(2024, None)), by=ADMINISTRATOR)
        register(base, *(registered(f"in{each}", HOMES.text, moment=year(each)) for each in (2020, 2025)))
        late = write(base, Assert(living(ROME), during(2019, None)), by=ADMINISTRATOR)
        told = {each.impact.query: (each.impact.gained, each.impact.lost) for each in late.findings if each.impact}
        assert told == {"in2020": (1, 0)}
