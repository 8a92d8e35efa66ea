"""Contradiction rules: what is found, what is proposed, and that nothing is ever cut to nothing."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import combinations, product
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.findings import FindingCode, Severity
from certificates.ids import derived_id, uuid7
from kernel.access import Principal, Role
from kernel.changes import Assert, Change, Request
from kernel.facts import Fact, FactContent, Spelling, Validity
from kernel.rules.amending import amend, read_rules
from kernel.rules.kinds import Proposal
from kernel.rules.table import NO_RULES, RuleTable, rules_of
from kernel.terms import RDF, Iri, Literal, Statement, Term
from kernel.time.instants import BEGINNING, FOREVER, Instant, parse_instant
from kernel.time.intervals import ALWAYS, Interval, gaps
from kernel.time.timevalues import Precision
from kernel.vocabulary import GOVERNANCE, RULES_GRAPH, M
from kernel.writing.plan import Plan
from kernel.writing.planner import Planner
from tests.kernel.memory_view import MemoryView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from certificates.findings import Finding

G = Iri("urn:g")
ANN, BOB = Iri("urn:ann"), Iri("urn:bob")
LIVES_IN, OWNS = Iri("urn:livesIn"), Iri("urn:owns")
PARIS, ROME, OSLO = Iri("urn:paris"), Iri("urn:rome"), Iri("urn:oslo")
NOW = Instant(1_000)
RULE = Iri("urn:rule")
EVERYTHING = Principal("admin", Role.ADMINISTRATOR)


def year(number: int) -> Instant:
    return parse_instant(f"{number:04d}-01-01T00:00:00Z")


def since(number: int, until: int | None = None) -> Validity:
    end = FOREVER if until is None else year(until)
    last = Precision.UNBOUNDED if until is None else Precision.YEAR
    return Validity(Interval(year(number), end), Precision.YEAR, last)


def living(value: Term, subject: Iri = ANN, graph: Iri = G) -> Statement:
    return Statement(subject, LIVES_IN, value, graph)


def rule(
    kind: str = "SingleValuedBySubject",
    propose: str | None = "EndOlder",
    predicate: Term = LIVES_IN,
    node: Iri = RULE,
) -> list[Statement]:
    described = [(Iri(RDF + "type"), Iri(M + kind)), (Iri(M + "predicate"), predicate)]
    if propose is not None:
        described.append((Iri(M + "propose"), Iri(M + propose)))
    return [Statement(node, each, value, RULES_GRAPH) for each, value in described]


ONE_HOME = rules_of(rule())


def plan_of(view: MemoryView, *changes: Change) -> Plan:
    return Planner(uuid7(), NOW, view, EVERYTHING).plan(Request(changes, None, None, EVERYTHING.id))


def holding(*changes: Change) -> MemoryView:
    view = MemoryView()
    for change in changes:
        view.apply(plan_of(view, change), NOW)
    return view


def believed(view: MemoryView, statement: Statement) -> list[Interval]:
    return [fact.interval for fact in view.believed_of(statement)]


# --- the cases --------------------------------------------------------------------------------------------------------


def test_case_39_a_late_older_fact_ends_where_the_held_one_starts() -> None:
    view = holding(Assert(living(PARIS), since(2024)))
    plan, [finding] = amend(plan_of(view, Assert(living(ROME), since(2019))), ONE_HOME, view)

    [recorded] = plan.record
    assert (recorded.statement.object, recorded.interval) == (ROME, Interval(year(2019), year(2024)))
    assert recorded.validity.end_precision is Precision.YEAR
    assert plan.supersede == ()
    assert finding.code is FindingCode.SINGLE_VALUED_BY_SUBJECT
    assert finding.severity is Severity.VIOLATION
    assert (finding.focus, finding.path, finding.value) == ("<urn:ann>", "<urn:livesIn>", "<urn:rome>")
    assert (finding.start, finding.end) == ("2024-01-01T00:00:00Z", None)
    assert finding.graphs == ("urn:g",)
    assert finding.message == (
        "<urn:rome> contradicts <urn:paris>, held since 2024-01-01T00:00:00Z: "
        "<urn:ann> has one <urn:livesIn> at a time; it is proposed that <urn:rome> ends at 2024-01-01T00:00:00Z"
    )

    view.apply(plan, NOW)
    assert believed(view, living(PARIS)) == [Interval(year(2024), FOREVER)]
    assert believed(view, living(ROME)) == [Interval(year(2019), year(2024))]


def test_a_newer_fact_ends_the_held_one_with_family_and_evidence() -> None:
    submitted = Spelling(valid_from="2019-01-01T00:00:00.000Z")
    view = holding(Assert(living(PARIS), since(2019), submitted, Decimal("0.7")))
    [held] = view.believed_of(living(PARIS))
    asserted = plan_of(view, Assert(living(ROME), since(2024)))
    plan, [finding] = amend(asserted, ONE_HOME, view)

    assert plan.supersede == (held,)
    [rome, paris] = plan.record
    assert rome == asserted.record[0]
    assert (paris.family, paris.statement) == (held.content.family, held.statement)
    assert paris.interval == Interval(year(2019), year(2024))
    assert (paris.validity.start_precision, paris.validity.end_precision) == (Precision.YEAR, Precision.YEAR)
    [evidence] = plan.evidence
    assert (evidence.fact, evidence.confidence, evidence.spelling) == (paris.id, Decimal("0.7"), submitted)
    assert "that <urn:paris> ends at 2024-01-01T00:00:00Z" in finding.message
    assert "no longer believed" not in finding.message


def test_ids_of_what_is_proposed_go_on_from_those_of_the_plan() -> None:
    view = holding(Assert(living(PARIS), since(2019), confidence=Decimal("0.7")))
    asserted = plan_of(view, Assert(living(ROME), since(2024), confidence=Decimal("0.6")))
    plan, _ = amend(asserted, ONE_HOME, view)
    assert [content.id for content in plan.record] == [
        derived_id(plan.certificate, "fact", 0),
        derived_id(plan.certificate, "fact", 1),
    ]
    assert [item.id for item in plan.evidence] == [
        derived_id(plan.certificate, "evidence", 0),
        derived_id(plan.certificate, "evidence", 1),
    ]


def test_ids_of_what_is_proposed_avoid_those_that_the_plan_made_out_of_order() -> None:
    view = holding(Assert(living(PARIS), since(2019)))
    asserted = plan_of(view, Assert(living(ROME), since(2024)))
    taken = replace(asserted.record[0], id=derived_id(asserted.certificate, "fact", 1))
    plan, _ = amend(replace(asserted, record=(taken,)), ONE_HOME, view)
    assert [content.id for content in plan.record] == [taken.id, derived_id(plan.certificate, "fact", 2)]


def test_what_a_proposal_leaves_without_successor_is_named() -> None:
    view = holding(Assert(living(PARIS), since(2000)))
    plan, [finding] = amend(plan_of(view, Assert(living(ROME), since(2010, 2012))), ONE_HOME, view)
    assert [content.interval for content in plan.record] == [
        Interval(year(2010), year(2012)),
        Interval(year(2000), year(2010)),
    ]
    assert finding.end == "2012-01-01T00:00:00Z"
    assert finding.message.endswith("and so is no longer believed since 2012-01-01T00:00:00Z")


def test_several_conflicts_end_a_fact_at_the_earliest() -> None:
    view = holding(Assert(living(PARIS), since(2010, 2012)), Assert(living(OSLO), since(2015, 2017)))
    plan, findings = amend(plan_of(view, Assert(living(ROME), since(2000, 2020))), ONE_HOME, view)
    assert [content.interval for content in plan.record] == [Interval(year(2000), year(2010))]
    assert [finding.start for finding in findings] == ["2010-01-01T00:00:00Z", "2015-01-01T00:00:00Z"]
    lost = (
        "from 2012-01-01T00:00:00Z until 2015-01-01T00:00:00Z and from 2017-01-01T00:00:00Z until 2020-01-01T00:00:00Z"
    )
    assert all(finding.message.endswith(f"no longer believed {lost}") for finding in findings)


def test_equal_starts_propose_nothing_and_ask() -> None:
    view = holding(Assert(living(PARIS), since(2019)))
    asserted = plan_of(view, Assert(living(ROME), since(2019, 2020)))
    plan, [finding] = amend(asserted, ONE_HOME, view)
    assert plan == asserted
    assert "both start at the same moment" in finding.message


def test_two_values_in_one_plan_count() -> None:
    view = MemoryView()
    both = plan_of(view, Assert(living(PARIS), since(2019)), Assert(living(ROME), since(2024)))
    plan, [finding] = amend(both, ONE_HOME, view)
    assert [content.interval for content in plan.record] == [
        Interval(year(2019), year(2024)),
        Interval(year(2024), FOREVER),
    ]
    assert [content.id for content in plan.record] == [content.id for content in both.record]
    assert "asserted with it since 2019" in finding.message


def test_a_recorded_fact_that_is_shortened_loses_the_spelling_of_its_end_alone() -> None:
    view = holding(Assert(living(PARIS), since(2024)))
    spelled = Spelling(valid_from="2019-01-01", valid_to="2030-01-01")
    asserted = plan_of(view, Assert(living(ROME), since(2019, 2030), spelled))
    plan, _ = amend(asserted, ONE_HOME, view)
    assert [item.spelling for item in plan.evidence] == [Spelling(valid_from="2019-01-01")]


@pytest.mark.parametrize(("propose", "said"), [("KeepBoth", "keep both"), ("Ask", "decide"), (None, "decide")])
def test_the_other_proposals_leave_the_plan_as_it_is(propose: str | None, said: str) -> None:
    view = holding(Assert(living(PARIS), since(2024)))
    asserted = plan_of(view, Assert(living(ROME), since(2019)))
    plan, [finding] = amend(asserted, rules_of(rule(propose=propose)), view)
    assert plan == asserted
    assert said in finding.message


def test_single_valued_by_object_is_about_the_subjects() -> None:
    table = rules_of(rule("SingleValuedByObject", predicate=OWNS))
    held = Statement(ANN, OWNS, Literal("ISBN 1"), G)
    view = holding(Assert(held, since(2010)))
    plan, [finding] = amend(
        plan_of(
            view, Assert(replace(held, subject=BOB), since(2015)), Assert(replace(held, object=PARIS), since(2012))
        ),
        table,
        view,
    )
    assert finding.code is FindingCode.SINGLE_VALUED_BY_OBJECT
    assert (finding.focus, finding.value) == ('"ISBN 1"', "<urn:bob>")
    assert plan.record[-1].statement == held
    assert plan.record[-1].interval == Interval(year(2010), year(2015))


@pytest.mark.parametrize(
    "other",
    [
        Assert(living(ROME), since(2010, 2020)),
        Assert(living(ROME, graph=Iri("urn:other")), since(2022)),
        Assert(living(ROME, subject=BOB), since(2022)),
        Assert(Statement(ANN, OWNS, ROME, G), since(2022)),
    ],
    ids=["adjacent", "another graph", "another subject", "another predicate"],
)
def test_what_does_not_contradict(other: Assert) -> None:
    view = holding(Assert(living(PARIS), since(2020)))
    asserted = plan_of(view, other)
    assert amend(asserted, ONE_HOME, view) == (asserted, [])


def test_an_old_contradiction_is_not_told_again() -> None:
    view = holding(Assert(living(PARIS), since(2019)), Assert(living(ROME), since(2020)))
    [rome] = view.believed_of(living(ROME))
    revised = FactContent(uuid7(), rome.content.family, rome.statement, since(2018, 2030))
    plan = replace(plan_of(view), record=(revised,), supersede=(rome,))
    _, [finding] = amend(plan, rules_of(rule(propose="Ask")), view)
    assert (finding.start, finding.end) == ("2019-01-01T00:00:00Z", "2020-01-01T00:00:00Z")


def test_a_superseded_value_contradicts_nothing() -> None:
    view = holding(Assert(living(PARIS), since(2019)))
    [paris] = view.believed_of(living(PARIS))
    corrected = FactContent(uuid7(), paris.content.family, living(ROME), since(2019))
    plan = replace(plan_of(view), record=(corrected,), supersede=(paris,))
    assert amend(plan, ONE_HOME, view) == (plan, [])


# --- the rules themselves ---------------------------------------------------------------------------------------------

BROKEN = {
    "unknown kind": (rule("SingleValudBySubject"), "there is no kind of rule"),
    "the kinds": (rule("SingleValudBySubject"), "m:EdgeSignature, m:Vocabulary or m:ArgumentRule"),
    "two kinds": (rule() + rule("SingleValuedByObject"), "one type, this one has 2"),
    "no kind": (rule()[1:], "one type, this one has none"),
    "unknown property": ([*rule(), Statement(RULE, Iri(M + "predikat"), ANN, RULES_GRAPH)], "predikat"),
    "no predicate": (rule()[:1], "exactly one m:predicate"),
    "two predicates": (rule() + rule(predicate=OWNS), "exactly one m:predicate"),
    "literal predicate": (rule(predicate=Literal("livesIn")), "exactly one m:predicate"),
    "unknown proposal": (rule(propose="EndYounger"), "at most one m:propose"),
    "two proposals": (rule() + rule(propose="Ask"), "at most one m:propose"),
    "second rule of the kind": (rule() + rule(node=Iri("urn:zule")), "has this kind of rule already"),
}


@pytest.mark.parametrize(("statements", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_plan_that_writes_a_broken_rule_is_told(statements: Sequence[Statement], reason: str) -> None:
    view = MemoryView()
    plan = plan_of(view, *map(Assert, statements))
    _, [finding] = amend(plan, NO_RULES, view)
    assert finding.code is FindingCode.INVALID_RULE
    assert finding.severity is Severity.VIOLATION
    assert finding.graphs == (RULES_GRAPH.value,)
    assert reason in finding.message
    assert finding.focus in {"<urn:rule>", "<urn:zule>"}


def test_a_plan_that_breaks_a_rule_by_removing_from_it_is_told() -> None:
    view = holding(*map(Assert, rule()))
    [fact] = [fact for fact in view.facts if fact.statement.predicate == Iri(M + "predicate")]
    _, [finding] = amend(replace(plan_of(view), supersede=(fact,)), ONE_HOME, view)
    assert finding.code is FindingCode.INVALID_RULE


def test_good_rules_and_their_labels_are_accepted() -> None:
    view = MemoryView()
    label = Statement(RULE, Iri("urn:label"), Literal("one home"), RULES_GRAPH)
    title = Statement(Iri("urn:document"), Iri("urn:title"), Literal("rules"), RULES_GRAPH)
    statements = [*rule(), *rule("SingleValuedByObject", node=Iri("urn:other")), label, title]
    plan = plan_of(view, *map(Assert, statements))
    assert amend(plan, NO_RULES, view) == (plan, [])


def test_an_invalid_rule_in_force_holds_back_what_it_may_be_about() -> None:
    view = MemoryView()
    living_somewhere = plan_of(view, Assert(living(PARIS)))
    owning = plan_of(view, Assert(Statement(ANN, OWNS, PARIS, G)))
    about_living = rules_of(rule(propose="Ax"))
    about_anything = rules_of(rule()[:1])
    assert [finding.code for finding in amend(living_somewhere, about_living, view)[1]] == [FindingCode.INVALID_RULE]
    assert amend(owning, about_living, view)[1] == []
    assert [finding.code for finding in amend(owning, about_anything, view)[1]] == [FindingCode.INVALID_RULE]


def test_an_invalid_rule_in_force_can_be_mended() -> None:
    view = holding(*map(Assert, rule()[:1]))
    mending = plan_of(view, *map(Assert, rule()[1:]))
    assert amend(mending, read_rules(tuple(view.believed(graph=RULES_GRAPH))), view) == (mending, [])


def test_the_table_is_read_from_facts() -> None:
    view = holding(*map(Assert, rule()))
    facts = tuple(view.believed(graph=RULES_GRAPH))
    table = read_rules(facts)
    assert table.of(LIVES_IN)[0].proposal is Proposal.END_OLDER
    assert read_rules(facts) is table
    assert read_rules(()) == NO_RULES


# --- against a naive model --------------------------------------------------------------------------------------------

SPAN = 8
VALUES = (PARIS, ROME, OSLO)
SUBJECTS = (ANN, BOB)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    start = draw(st.sampled_from([BEGINNING, *range(SPAN - 1)]))
    end = draw(st.sampled_from([*range(max(start, 0) + 1, SPAN), FOREVER]))
    return Interval(start, end)


def asserts() -> st.SearchStrategy[Assert]:
    return st.builds(
        lambda value, subject, interval: Assert(
            living(value, subject), Validity(interval, Precision.INSTANT, Precision.INSTANT)
        ),
        st.sampled_from(VALUES),
        st.sampled_from(SUBJECTS),
        intervals(),
    )


Moment = tuple[Iri, Term, int]


def moments(facts: Iterable[Fact | FactContent]) -> set[Moment]:
    """Who lives where at each instant that can matter."""
    return {
        (fact.statement.subject, fact.statement.object, instant)
        for fact in facts
        for instant in range(-1, SPAN)
        if fact.interval.contains(instant)
    }


def clashes(held: set[Moment]) -> set[tuple[Iri, frozenset[Term], int]]:
    return {
        (subject, frozenset({one, other}), instant)
        for subject, instant in product(SUBJECTS, range(-1, SPAN))
        for one, other in combinations(VALUES, 2)
        if (subject, one, instant) in held and (subject, other, instant) in held
    }


def clashing(held: set[Moment]) -> set[tuple[Iri, int]]:
    return {(subject, instant) for subject, _, instant in clashes(held)}


def told(findings: Iterable[Finding]) -> set[tuple[Iri, int]]:
    found = set()
    for finding in findings:
        start = -1 if finding.start is None else int(parse_instant(finding.start))
        end = SPAN if finding.end is None else int(parse_instant(finding.end))
        found |= {(Iri((finding.focus or "")[1:-1]), instant) for instant in range(start, end)}
    return found


def state(view: MemoryView) -> list[Fact]:
    return list(view.believed(graph=G))


@given(st.lists(asserts(), max_size=4), st.lists(asserts(), min_size=1, max_size=4))
def test_exactly_the_new_contradictions_are_told(before: list[Assert], asked: list[Assert]) -> None:
    view = holding(*before)
    plan = plan_of(view, *asked)
    amended, findings = amend(plan, rules_of(rule(propose="Ask")), view)
    old = clashes(moments(state(view)))
    view.apply(plan, NOW)
    new = clashes(moments(state(view))) - old
    assert amended == plan
    assert told(findings) == {(subject, instant) for subject, _, instant in new}


@given(st.lists(asserts(), max_size=5), st.lists(asserts(), min_size=1, max_size=5))
def test_proposals_keep_facts_disjoint_and_settle_what_they_can(before: list[Assert], asked: list[Assert]) -> None:
    view = MemoryView()
    for change in [*before, *asked]:
        plan = plan_of(view, change)
        was = {fact.statement: believed(view, fact.statement) for fact in state(view)}
        wanted = moments([*state(view), *plan.record])
        amended, findings = amend(plan, ONE_HOME, view)
        assert amend(plan, ONE_HOME, view) == (amended, findings)
        view.apply(amended, NOW)
        for statement in {fact.statement for fact in state(view)}:
            held = believed(view, statement)
            assert all(not one.overlaps(other) for one, other in combinations(held, 2))
            asked_for = [content.interval for content in plan.record if content.statement == statement]
            for interval in held:
                assert gaps(interval, [*was.get(statement, []), *asked_for]) == []
        left = {(subject, instant) for subject, _, instant in moments(state(view))}
        lost = {(subject, instant) for subject, _, instant in wanted} - left
        assert not lost or any("no longer believed" in finding.message for finding in findings)
        asks = any("nothing is proposed" in finding.message for finding in findings)
        assert asks or clashing(moments(state(view))) == set()
        if asks:
            return


@given(st.lists(asserts(), min_size=1, max_size=6))
def test_a_plan_that_contradicts_itself_is_settled_within_itself(asked: list[Assert]) -> None:
    view = MemoryView()
    plan = plan_of(view, *asked)
    amended, findings = amend(plan, ONE_HOME, view)
    assert amended.supersede == ()
    assert [content.id for content in amended.record] == [content.id for content in plan.record]
    assert all(
        content.interval.start == old.interval.start for content, old in zip(amended.record, plan.record, strict=True)
    )
    asks = any("nothing is proposed" in finding.message for finding in findings)
    assert asks or clashing(moments(amended.record)) == set()


def test_a_contradiction_in_a_reserved_graph_is_never_cut() -> None:
    graph = next(iter(GOVERNANCE - {RULES_GRAPH}))
    view = holding(Assert(living(PARIS, graph=graph)))
    asserted = plan_of(view, Assert(living(ROME, graph=graph)))
    plan, [finding] = amend(asserted, ONE_HOME, view)
    assert plan == asserted
    assert [content.interval for content in plan.record] == [ALWAYS]
    assert "at all times" in finding.message


def test_tables_without_rules_are_false() -> None:
    assert not RuleTable()
    assert rules_of(rule())


def test_ids_stay_what_they_were_when_planned_again() -> None:
    view = holding(Assert(living(PARIS), since(2019)))
    certificate = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
    request = Request((Assert(living(ROME), since(2024)),), None, None, EVERYTHING.id)
    plans = [amend(Planner(certificate, NOW, view, EVERYTHING).plan(request), ONE_HOME, view) for _ in range(2)]
    assert plans[0] == plans[1]
