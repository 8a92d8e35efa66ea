"""The kinds of rules beyond single-valued ones: what they find, against a naive model and case by case."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations, product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.contradictions import ContradictionKind
from certificates.findings import Finding, FindingCode
from certificates.ids import uuid7
from kernel.changes import Assert, Request
from kernel.facts import FactContent, Validity
from kernel.rules.amending import amend
from kernel.rules.contradictions import surely
from kernel.rules.kinds import CONTRADICTION_CODES, RuleKind
from kernel.rules.table import rules_of
from kernel.rules.value_order import surely_after
from kernel.rules.words import RDF_TYPE
from kernel.terms import XSD, Iri, Literal, Statement
from kernel.time.instants import FOREVER, Instant, parse_instant
from kernel.time.intervals import Interval
from kernel.time.timevalues import Precision, valid_from, valid_through
from kernel.vocabulary import RULES_GRAPH, M
from kernel.writing.planner import Planner
from tests.kernel.memory_view import MemoryView
from tests.kernel.rules.test_amending import (
    ANN,
    BOB,
    EVERYTHING,
    NOW,
    G,
    believed,
    holding,
    intervals,
    plan_of,
    since,
    year,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.facts import Fact
    from kernel.terms import Term
    from kernel.writing.plan import Plan

OTHER = Iri("urn:other")
P, Q = Iri("urn:p"), Iri("urn:q")
PERSON, PLACE, FIRM = Iri("urn:Person"), Iri("urn:Place"), Iri("urn:Firm")
RULE = Iri("urn:rule")
SPAN = 8
NUMBER = XSD + "integer"


def written(kind: str, *words: tuple[str, Term], node: Iri = RULE) -> list[Statement]:
    typed = Statement(node, RDF_TYPE, Iri(M + kind), RULES_GRAPH)
    return [typed, *(Statement(node, Iri(M + word), value, RULES_GRAPH) for word, value in words)]


TRUE = Literal("true", XSD + "boolean")
WORDS: dict[RuleKind, tuple[tuple[str, Term], ...]] = {
    RuleKind.BY_SUBJECT: (("predicate", P),),
    RuleKind.BY_OBJECT: (("predicate", P),),
    RuleKind.DISJOINT: (("class", PERSON), ("class", PLACE)),
    RuleKind.BY_ENDS: (("predicate", P), ("with", Q)),
    RuleKind.EXCLUSIVE: (("predicate", P), ("with", Q)),
    RuleKind.ORDER: (("predicate", P), ("with", Q)),
    RuleKind.OVERLAP: (("predicate", P), ("with", Q)),
    RuleKind.ASYMMETRIC: (("predicate", P), ("with", Q)),
}
ALONE = {RuleKind.OVERLAP, RuleKind.ASYMMETRIC}


def always(subject: Iri, predicate: Iri, value: Term, graph: Iri = G) -> Assert:
    return Assert(Statement(subject, predicate, value, graph))


# --- against a naive model --------------------------------------------------------------------------------------------

Pair = frozenset[Statement]


def naive(kind: RuleKind, alone: bool, across: bool, one: Statement, other: Statement) -> bool:
    """Whether two statements may not hold together, said once more: of either order, pair by pair."""
    if one.graph != other.graph and not across:
        return False
    for first, second in ((one, other), (other, one)):
        same = first.subject == second.subject
        pair = first.predicate == P and second.predicate == (P if alone else Q)
        found = {
            RuleKind.BY_SUBJECT: same and first.predicate == second.predicate == P and first.object != second.object,
            RuleKind.BY_OBJECT: first.object == second.object and first.predicate == second.predicate == P and not same,
            RuleKind.DISJOINT: same
            and first.predicate == second.predicate == RDF_TYPE
            and (first.object, second.object) == (PERSON, PLACE),
            RuleKind.BY_ENDS: same and pair and first.object == second.object,
            RuleKind.EXCLUSIVE: same and pair,
            RuleKind.ORDER: same and pair and numbered(first) > numbered(second) >= 0,
            RuleKind.OVERLAP: same and pair and (not alone or first.object != second.object),
            RuleKind.ASYMMETRIC: pair
            and (first.object, first.subject) == (second.subject, second.object)
            and not (alone and same),
        }[kind]
        if found:
            return True
    return False


def numbered(statement: Statement) -> int:
    return int(statement.object.lexical) if isinstance(statement.object, Literal) else -1


def clashes(kind: RuleKind, alone: bool, across: bool, facts: Iterable[Fact | FactContent]) -> set[tuple[Pair, int]]:
    return {
        (frozenset({one.statement, other.statement}), instant)
        for one, other in combinations(list(facts), 2)
        if naive(kind, alone, across, one.statement, other.statement)
        for instant in range(-1, SPAN)
        if one.interval.contains(instant) and other.interval.contains(instant)
    }


def told(findings: Iterable[Finding]) -> set[tuple[frozenset[str], int]]:
    found = set()
    for finding in findings:
        assert finding.contradiction is not None
        start = -1 if finding.start is None else int(parse_instant(finding.start))
        end = SPAN if finding.end is None else int(parse_instant(finding.end))
        both = frozenset({finding.contradiction.statement, finding.contradiction.against})
        found |= {(both, instant) for instant in range(start, end)}
    return found


@st.composite
def asserted(draw: st.DrawFn) -> Assert:
    subject, predicate = draw(st.sampled_from([ANN, BOB])), draw(st.sampled_from([P, Q, RDF_TYPE]))
    values: list[Term] = [ANN, BOB, Literal("1", NUMBER), Literal("2", NUMBER)]
    value = draw(st.sampled_from([PERSON, PLACE, FIRM] if predicate == RDF_TYPE else values))
    validity = Validity(draw(intervals()), Precision.INSTANT, Precision.INSTANT)
    return Assert(Statement(subject, predicate, value, draw(st.sampled_from([G, OTHER]))), validity)


KINDS = [(kind, alone) for kind, alone in product(RuleKind, (False, True)) if not alone or kind in ALONE]


@given(
    st.sampled_from(KINDS),
    st.booleans(),
    st.lists(asserted(), max_size=5),
    st.lists(asserted(), min_size=1, max_size=5),
)
def test_exactly_the_new_contradictions_of_each_kind_are_told(
    chosen: tuple[RuleKind, bool], across: bool, before: list[Assert], asked: list[Assert]
) -> None:
    kind, alone = chosen
    words = (*WORDS[kind][: 1 if alone else None], *((("acrossGraphs", TRUE),) if across else ()))
    table = rules_of(written(kind, *words))
    assert not table.invalid
    view = holding(*before)
    plan = plan_of(view, *asked)
    amended, findings = amend(plan, table, view)
    old = clashes(kind, alone, across, view.believed())
    view.apply(plan, NOW)
    new = clashes(kind, alone, across, view.believed()) - old
    assert amended == plan
    assert told(findings) == {(frozenset(each.nquad for each in pair), instant) for pair, instant in new}
    assert {finding.code for finding in findings} <= {kind.code}


# --- case by case -----------------------------------------------------------------------------------------------------


def found_by(statements: list[Statement], held: list[Assert], asked: Assert) -> list[Finding]:
    view = holding(*held)
    table = rules_of(statements)
    assert not table.invalid
    return amend(plan_of(view, asked), table, view)[1]


CASES = [
    (RuleKind.DISJOINT, always(ANN, RDF_TYPE, PERSON), always(ANN, RDF_TYPE, PLACE), ContradictionKind.TYPE,
     "<urn:Place> contradicts <urn:Person>, held at all times: <urn:ann> is of one of these classes at a time"),
    (RuleKind.BY_ENDS, always(ANN, P, BOB), always(ANN, Q, BOB), ContradictionKind.RELATION,
     "<urn:ann> <urn:p> <urn:bob>, held at all times: <urn:p> and <urn:q> do not hold between the same two at a time"),
    (RuleKind.EXCLUSIVE, always(ANN, P, BOB), always(ANN, Q, ANN), ContradictionKind.RELATION,
     "<urn:ann> <urn:p> <urn:bob>, held at all times: <urn:ann> has no <urn:p> and <urn:q> at a time"),
    (RuleKind.ORDER, always(ANN, P, Literal("2", NUMBER)), always(ANN, Q, Literal("1", NUMBER)),
     ContradictionKind.TEMPORAL, "<urn:p> of <urn:ann> is not after <urn:q>"),
    (RuleKind.OVERLAP, always(ANN, P, BOB), always(ANN, Q, ANN), ContradictionKind.TEMPORAL,
     "times of <urn:p> of <urn:ann> do not overlap with those of <urn:q>"),
    (RuleKind.ASYMMETRIC, always(ANN, P, BOB), always(BOB, Q, ANN), ContradictionKind.LOGICAL,
     "<urn:ann> <urn:p> <urn:bob>, held at all times: <urn:p> does not hold one way while <urn:q> holds the"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "held", "asked", "contradiction", "said"), CASES, ids=[case[0] for case in CASES])
def test_what_each_kind_says(
    kind: RuleKind, held: Assert, asked: Assert, contradiction: ContradictionKind, said: str
) -> None:
    [finding] = found_by(written(kind, *WORDS[kind]), [held], asked)
    assert said in finding.message
    assert finding.contradiction is not None
    assert finding.contradiction.kind is contradiction
    assert finding.contradiction.statement == asked.statement.nquad
    assert finding.contradiction.against == held.statement.nquad
    assert Finding.from_body(finding.body()) == finding


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("across", [False, True])
def test_each_kind_is_found_whichever_of_the_two_is_held(
    case: tuple[RuleKind, Assert, Assert, ContradictionKind, str], across: bool
) -> None:
    kind, one, other, *_ = case
    statements = written(kind, *WORDS[kind], *((("acrossGraphs", TRUE),) if across else ()))
    for held, asked in ((one, other), (other, one)):
        [finding] = found_by(statements, [held], asked)
        assert finding.contradiction is not None
        assert finding.contradiction.against == held.statement.nquad
        assert found_by(statements, [asked], asked) == []


def test_the_five_kinds_are_all_there_and_each_code_has_one() -> None:
    assert {kind.contradiction for kind in RuleKind} == set(ContradictionKind)
    assert {kind.code for kind in RuleKind} == CONTRADICTION_CODES
    assert FindingCode.INVALID_RULE not in CONTRADICTION_CODES


def test_a_rule_across_graphs_is_drawn_from_both_and_leaves_reserved_ones_alone() -> None:
    statements = written("SingleValuedBySubject", ("predicate", P), ("acrossGraphs", TRUE))
    [finding] = found_by(statements, [always(ANN, P, BOB, OTHER)], always(ANN, P, ANN))
    assert finding.graphs == (G.value, OTHER.value)
    assert "held in <urn:other> at all times" in finding.message
    reserved = Iri(M + "ontology")
    assert found_by(statements, [always(ANN, P, BOB, reserved)], always(ANN, P, ANN)) == []
    assert found_by(statements, [always(ANN, P, BOB)], always(ANN, P, ANN, reserved)) == []
    assert found_by(statements, [always(ANN, P, BOB, OTHER)], always(ANN, P, BOB)) == []


def test_only_what_is_surely_true_overlaps() -> None:
    statements = written("IntervalOverlap", ("predicate", P))

    def time(start: str, end: str) -> Validity:
        first, last = valid_from(start), valid_through(end)
        return Validity(Interval(first.instant, last.instant), first.precision, last.precision)

    through_2020 = Assert(Statement(ANN, P, BOB, G), time("2010", "2020"))
    assert found_by(statements, [through_2020], Assert(Statement(ANN, P, ANN, G), time("2020", "2022"))) == []
    [finding] = found_by(statements, [through_2020], Assert(Statement(ANN, P, ANN, G), time("2018", "2022")))
    assert (finding.start, finding.end) == ("2019-01-01T00:00:00Z", "2020-01-01T00:00:00Z")
    assert surely(time("2020", "2020")) is None
    assert surely(Validity(Interval(3, 9), Precision.INSTANT, Precision.UNKNOWN)) == Interval(3, 9)


def literal(text: str, datatype: str) -> Literal:
    return Literal(text, XSD + datatype)


ORDERED = [
    (literal("9", "integer"), literal("10.5", "decimal")),
    (literal("-INF", "double"), literal("0", "byte")),
    (literal("1900", "gYear"), literal("1901-02-03", "date")),
    (literal("-0044", "gYear"), literal("0014-08-19", "date")),
    (literal("1999-12", "gYearMonth"), literal("2000-01-01T00:00:00", "dateTime")),
    (literal("2020-01-01T10:00:00+02:00", "dateTime"), literal("2020-01-01T09:00:00Z", "dateTime")),
    (literal("2020-01-01", "date"), literal("2020-01-03T00:00:00Z", "dateTime")),
]
UNORDERED = [
    (literal("1900", "gYear"), literal("1900-02-03", "date")),
    (literal("2020-01-01", "date"), literal("2020-01-02T00:00:00Z", "dateTime")),
    (literal("5", "integer"), literal("5.0", "decimal")),
    (literal("NaN", "double"), literal("1", "integer")),
    (literal("5", "string"), literal("1", "integer")),
    (literal("soon", "date"), literal("1900", "gYear")),
    (literal("five", "integer"), literal("1", "integer")),
    (literal("2020", "gYear"), literal("1", "integer")),
    (ANN, literal("1", "integer")),
]


@pytest.mark.parametrize(("less", "more"), ORDERED, ids=str)
def test_values_are_ordered_by_what_they_mean(less: Term, more: Term) -> None:
    assert surely_after(more, less)
    assert not surely_after(less, more)


@pytest.mark.parametrize(("one", "other"), UNORDERED, ids=str)
def test_values_that_may_be_in_either_order_are_in_none(one: Term, other: Term) -> None:
    assert not surely_after(one, other)
    assert not surely_after(other, one)


BROKEN = {
    "one predicate of two": (written("ExclusiveByEnds", ("predicate", P)), "m:predicate P ; m:with Q"),
    "two of one": (written("SingleValuedBySubject", ("predicate", P), ("with", Q)), "has no m:with"),
    "with itself": (written("Asymmetric", ("predicate", P), ("with", P)), "what m:predicate names"),
    "one class": (written("DisjointClasses", ("class", PERSON)), "two classes or more"),
    "a class too many": (written("ValueOrder", *WORDS[RuleKind.ORDER], ("class", PERSON)), "m:with Q"),
    "a literal": (written("DisjointClasses", ("class", PERSON), ("class", literal("x", "string"))), "IRIs"),
    "no boolean": (written("Asymmetric", ("predicate", P), ("acrossGraphs", literal("yes", "string"))), "write true"),
    "changes across graphs": (
        written("Asymmetric", ("predicate", P), ("acrossGraphs", TRUE), ("propose", Iri(M + "EndOlder"))),
        "changes none",
    ),
    "an end for an order": (
        written("ValueOrder", *WORDS[RuleKind.ORDER], ("propose", Iri(M + "EndOlder"))),
        "leaves values in the order",
    ),
    "the same turned round": (
        written("ExclusiveByEnds", ("predicate", P), ("with", Q))
        + written("ExclusiveByEnds", ("predicate", Q), ("with", P), node=Iri("urn:zule")),
        "has this kind of rule already",
    ),
    "credibility of a rule": (written("Asymmetric", ("predicate", P), ("credibility", literal("1", "decimal"))), "own"),
    "credibility beyond 1": ([Statement(RULE, Iri(M + "credibility"), literal("2", "decimal"), RULES_GRAPH)], "0 to 1"),
    "credibility in words": ([Statement(RULE, Iri(M + "credibility"), literal("high", "string"), RULES_GRAPH)], "0 to"),
}


@pytest.mark.parametrize(("statements", "reason"), BROKEN.values(), ids=BROKEN)
def test_rules_that_are_wrong_are_told(statements: list[Statement], reason: str) -> None:
    [invalid] = rules_of(statements).invalid
    assert reason in invalid.reason


# --- what is preferred ------------------------------------------------------------------------------------------------

REGISTER, GOSSIP = Iri("https://register.example/2024/7"), Iri("https://gossip.example/7")


def preferring(proposal: str) -> list[Statement]:
    credible = Iri(M + "credibility")
    return [
        *written("SingleValuedBySubject", ("predicate", P), ("propose", Iri(M + proposal))),
        Statement(Iri("https://register.example/"), credible, literal("0.9", "decimal"), RULES_GRAPH),
        Statement(GOSSIP, credible, literal("0.2", "decimal"), RULES_GRAPH),
    ]


def citing(view: MemoryView, change: Assert, episode: Iri | None) -> Plan:
    return Planner(uuid7(), NOW, view, EVERYTHING).plan(Request((change,), None, episode, EVERYTHING.id))


def settled(
    proposal: str, held: tuple[Assert, Iri | None], asked: tuple[Assert, Iri | None]
) -> tuple[list[Interval], list[Interval], Finding]:
    """What is believed of the fact held and of the one asked for, in the end."""
    view = MemoryView()
    view.apply(citing(view, *held), NOW)
    plan, [finding] = amend(citing(view, *asked), rules_of(preferring(proposal)), view)
    view.apply(plan, Instant(NOW + 1))
    known = {item.content.fact for item in view.evidence}
    assert known <= {fact.id for fact in view.facts}
    for fact in view.believed(predicate=P):
        assert all(item.content.fact == fact.id for item in view.evidence_of([fact.id]).get(fact.id, []))
    return believed(view, held[0].statement), believed(view, asked[0].statement), finding


def home(value: Term, validity: Validity, confidence: str | None = None) -> Assert:
    return Assert(Statement(ANN, P, value, G), validity, confidence=None if confidence is None else Decimal(confidence))


def test_the_more_credible_source_is_preferred() -> None:
    held, asked, finding = settled(
        "PreferCredible", (home(BOB, since(2000)), GOSSIP), (home(ANN, since(2010, 2012)), REGISTER)
    )
    assert held == [Interval(year(2000), year(2010)), Interval(year(2012), FOREVER)]
    assert asked == [Interval(year(2010), year(2012))]
    assert "<urn:ann> has the more credible source: it is proposed that <urn:bob> is not believed from 2010" in (
        finding.message
    )
    assert "0.9" not in finding.message


def test_a_less_credible_fact_is_not_taken_up_where_it_contradicts() -> None:
    held, asked, _ = settled(
        "PreferCredible", (home(BOB, since(2000, 2010)), REGISTER), (home(ANN, since(2005, 2012)), GOSSIP)
    )
    assert (held, asked) == ([Interval(year(2000), year(2010))], [Interval(year(2010), year(2012))])
    held, asked, _ = settled(
        "PreferCredible", (home(BOB, since(2000, 2010)), REGISTER), (home(ANN, since(2005, 2007)), GOSSIP)
    )
    assert (held, asked) == ([Interval(year(2000), year(2010))], [])


@pytest.mark.parametrize("episode", [None, Iri("https://elsewhere.example/")])
def test_sources_of_which_nothing_is_said_decide_nothing(episode: Iri | None) -> None:
    held, asked, finding = settled(
        "PreferCredible", (home(BOB, since(2000)), REGISTER), (home(ANN, since(2005)), episode)
    )
    assert (held, asked) == ([Interval(year(2000), FOREVER)], [Interval(year(2005), FOREVER)])
    assert "is not known, so nothing is proposed" in finding.message


def test_confidence_decides_and_none_is_no_doubt() -> None:
    def ends(one: str | None, other: str | None) -> tuple[int, int]:
        both = since(2000, 2010)
        held, asked, _ = settled("PreferConfident", (home(BOB, both, one), None), (home(ANN, both, other), None))
        return len(held), len(asked)

    assert ends("0.6", "0.7") == (0, 1)
    assert ends(None, "0.7") == (1, 0)
    assert ends("0.7", "0.70") == (1, 1)


def test_what_comes_in_later_is_preferred() -> None:
    held, asked, finding = settled("PreferRecent", (home(BOB, since(2010)), None), (home(ANN, since(2000)), None))
    assert (held, asked) == ([], [Interval(year(2000), FOREVER)])
    assert "has the later evidence" in finding.message


def test_two_of_one_plan_are_as_recent_as_each_other() -> None:
    view = MemoryView()
    plan = plan_of(view, home(BOB, since(2010)), home(ANN, since(2000)))
    amended, [finding] = amend(plan, rules_of(preferring("PreferRecent")), view)
    assert amended == plan
    assert "at the same moment" in finding.message


@given(st.sampled_from(["PreferRecent", "PreferConfident"]), st.data())
def test_preferences_never_leave_two_beside_each_other_unless_they_ask(proposal: str, data: st.DataObject) -> None:
    view = MemoryView()
    table = rules_of(preferring(proposal))
    for number in range(4):
        validity = Validity(data.draw(intervals()), Precision.INSTANT, Precision.INSTANT)
        value = data.draw(st.sampled_from([ANN, BOB, FIRM]))
        confidence = data.draw(st.sampled_from([None, "0.5", "0.9"]))
        plan = plan_of(view, home(value, validity, confidence))
        before = list(view.believed())
        amended, findings = amend(plan, table, view)
        assert amend(plan, table, view) == (amended, findings)
        view.apply(amended, Instant(NOW + number))
        if any("nothing is proposed" in finding.message for finding in findings):
            return
        for one, other in combinations(list(view.believed()), 2):
            assert not one.interval.overlaps(other.interval) or one.statement != other.statement
            assert not one.interval.overlaps(other.interval)
        for instant in range(-1, SPAN):
            was = any(fact.interval.contains(instant) for fact in before) or validity.interval.contains(instant)
            assert was == any(fact.interval.contains(instant) for fact in view.believed())
