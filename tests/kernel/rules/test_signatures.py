"""Edge signatures: what they ask for, what does not fit, against a naive model and case by case."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.certificate import Verdict
from certificates.findings import Finding, FindingCode, Severity
from kernel.changes import Assert, End, Retract
from kernel.facts import Validity
from kernel.policy.verdicts import DEFAULT_POLICY
from kernel.rules.mismatches import FEW, mismatches, remaining, told
from kernel.rules.signatures import AS_DEMANDS, Signatures, signatures_of
from kernel.rules.table import rules_of
from kernel.rules.words import RDF_TYPE
from kernel.terms import XSD, Iri, Literal, Statement, Term
from kernel.time.instants import Instant, parse_instant
from kernel.time.timevalues import Precision
from kernel.vocabulary import GENID, ONTOLOGY_GRAPH, RULES_GRAPH, M
from tests.kernel.memory_view import MemoryView
from tests.kernel.rules.test_amending import ANN, BOB, G, holding, intervals, plan_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.facts import Fact
    from kernel.writing.plan import Plan

RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
OTHER, SELF = Iri("urn:other"), Iri("urn:self")
P, Q = Iri("urn:p"), Iri("urn:q")
PERSON, CHILD, PLACE, FIRM, AGENT = (Iri(f"urn:{name}") for name in ("Person", "Child", "Place", "Firm", "Agent"))
SPAN = 8


def axiom(subject: Iri, predicate: str, value: Term) -> Statement:
    return Statement(subject, Iri(predicate), value, ONTOLOGY_GRAPH)


def declared(node: str, *words: tuple[str, Term]) -> list[Statement]:
    typed = Statement(Iri(node), RDF_TYPE, Iri(M + "EdgeSignature"), RULES_GRAPH)
    return [typed, *(Statement(Iri(node), Iri(M + word), value, RULES_GRAPH) for word, value in words)]


def asking(*said: Statement) -> Signatures:
    """The signatures of axioms and rules."""
    table = rules_of(each for each in said if each.graph == RULES_GRAPH)
    assert not table.invalid
    return signatures_of(table.signatures, table.reading, (each for each in said if each.graph == ONTOLOGY_GRAPH))


def says(subject: Iri, predicate: Iri, value: Term, graph: Iri = G, validity: Validity | None = None) -> Assert:
    return Assert(Statement(subject, predicate, value, graph), validity or Validity.always())


def found(signatures: Signatures, held: Iterable[Assert], *asked: Assert | End | Retract) -> list[Finding]:
    view = holding(*held)
    return [told(each, signatures) for each in mismatches(plan_of(view, *asked), signatures, view)]


# --- against a naive model --------------------------------------------------------------------------------------------

DOMAIN = asking(axiom(P, RDFS + "domain", PERSON), axiom(CHILD, RDFS + "subClassOf", PERSON))
RANGES = asking(
    axiom(P, RDFS + "range", PERSON), axiom(P, RDFS + "range", AGENT), axiom(PERSON, RDFS + "subClassOf", AGENT)
)
BOTH = asking(
    *declared("urn:a", ("predicate", P), ("subjectClass", PERSON), ("objectClass", FIRM)),
    *declared("urn:b", ("predicate", P), ("subjectClass", FIRM), ("objectClass", PLACE), ("objectClass", FIRM)),
)
ACROSS = asking(
    *declared("urn:a", ("predicate", P), ("subjectClass", PERSON), ("acrossGraphs", Literal("true", XSD + "boolean")))
)
# What fits, by the types of both ends: said once more, without classes, demands or closures.
Fits = Callable[[set[Term], set[Term]], object]
NAIVE: dict[str, tuple[Signatures, list[Fits]]] = {
    "domain": (DOMAIN, [lambda one, other: not one or one & {PERSON, CHILD}]),
    "two ranges": (
        RANGES,
        [lambda one, other: not other or PERSON in other, lambda one, other: not other or other & {PERSON, AGENT}],
    ),
    "either of two": (
        BOTH,
        [
            lambda one, other: (
                ((not one or PERSON in one) and (not other or FIRM in other))
                or ((not one or FIRM in one) and (not other or other & {PLACE, FIRM}))
            )
        ],
    ),
    "across": (ACROSS, [lambda one, other: not one or PERSON in one]),
}


def types_at(facts: list[Fact], node: Term, graph: Iri, instant: int, *, across: bool) -> set[Term]:
    return {
        fact.statement.object
        for fact in facts
        if fact.statement.subject == node
        and fact.statement.predicate == RDF_TYPE
        and (across or fact.statement.graph == graph)
        and fact.interval.contains(instant)
    }


def wrong(name: str, facts: list[Fact]) -> set[tuple[str, int]]:
    """Which statements do not fit, and when."""
    across = name == "across"
    return {
        (fact.statement.nquad, instant)
        for fact in facts
        if fact.statement.predicate == P
        for instant in range(-1, SPAN)
        if fact.interval.contains(instant)
        for fits in NAIVE[name][1]
        if not fits(
            types_at(facts, fact.statement.subject, fact.statement.graph, instant, across=across),
            types_at(facts, fact.statement.object, fact.statement.graph, instant, across=across),
        )
    }


def instants(findings: Iterable[Finding], graph: Iri) -> set[tuple[str, int]]:
    """Which statements are told of, and when."""
    return {
        (f"{each.focus} {each.path} {each.value}", instant)
        for each in findings
        if graph.value in each.graphs
        for instant in range(
            -1 if each.start is None else int(parse_instant(each.start)),
            SPAN if each.end is None else int(parse_instant(each.end)),
        )
    }


@st.composite
def asserted(draw: st.DrawFn) -> Assert:
    graph = draw(st.sampled_from([G, OTHER]))
    validity = Validity(draw(intervals()), Precision.INSTANT, Precision.INSTANT)
    subject = draw(st.sampled_from([ANN, BOB]))
    if draw(st.booleans()):
        return says(subject, P, draw(st.sampled_from([ANN, BOB])), graph, validity)
    return says(subject, RDF_TYPE, draw(st.sampled_from([PERSON, CHILD, PLACE, FIRM])), graph, validity)


def removed(facts: list[Fact], chosen: list[int]) -> list[Retract]:
    return [Retract(facts[number % len(facts)].id) for number in dict.fromkeys(chosen)] if facts else []


def planned(view: MemoryView, asked: list[Assert], chosen: list[int]) -> Plan:
    facts = list(view.believed())
    gone = list(dict.fromkeys(each.target for each in removed(facts, chosen)))
    return plan_of(view, *map(Retract, gone), *asked)


@given(
    st.sampled_from(sorted(NAIVE)),
    st.lists(asserted(), max_size=6),
    st.lists(asserted(), max_size=4),
    st.lists(st.integers(0, 5), max_size=2),
)
def test_exactly_what_newly_does_not_fit_is_told(
    name: str, before: list[Assert], asked: list[Assert], chosen: list[int]
) -> None:
    signatures = NAIVE[name][0]
    view = holding(*before)
    if not asked and not list(view.believed()):
        return
    plan = planned(view, asked, chosen or ([0] if not asked else []))
    mismatched = mismatches(plan, signatures, view)
    old = wrong(name, list(view.believed()))
    view.apply(plan, Instant(2_000))
    new = wrong(name, list(view.believed())) - old
    told_of = {
        (each.statement.nquad, instant)
        for each in mismatched
        for instant in range(max(each.during.start, -1), min(each.during.end, SPAN))
    }
    assert told_of == new
    assert all(told(each, signatures).code is FindingCode.EDGE_SIGNATURE for each in mismatched)


@given(st.sampled_from(sorted(NAIVE)), st.lists(asserted(), max_size=4), st.lists(asserted(), min_size=1, max_size=6))
def test_the_chunks_of_a_load_come_to_what_all_of_it_is_told(
    name: str, before: list[Assert], asked: list[Assert]
) -> None:
    signatures = NAIVE[name][0]
    view = holding(*before)
    old = wrong(name, list(view.believed()))
    gathered = []
    for change in asked:
        plan = plan_of(view, change)
        gathered += mismatches(plan, signatures, view)
        view.apply(plan, Instant(2_000))
    left = remaining(gathered, signatures, view)
    told_of = {
        (each.statement.nquad, instant)
        for each in left
        for instant in range(max(each.during.start, -1), min(each.during.end, SPAN))
    }
    assert told_of == wrong(name, list(view.believed())) - old


# --- case by case -----------------------------------------------------------------------------------------------------


def test_what_it_says() -> None:
    signatures = asking(
        axiom(P, RDFS + "domain", PERSON), axiom(P, RDFS + "range", FIRM), axiom(CHILD, RDFS + "subClassOf", PERSON)
    )
    held = [says(ANN, RDF_TYPE, PLACE), says(BOB, RDF_TYPE, CHILD), says(BOB, RDF_TYPE, AGENT)]
    first, second = found(signatures, held, says(ANN, P, BOB))
    way_out = "give it a type that fits, use another predicate, or have the signature changed"
    assert first.message == f"<urn:p> goes from <urn:Person>, and <urn:ann> is of <urn:Place>: {way_out}"
    assert second.message == f"<urn:p> goes to <urn:Firm>, and <urn:bob> is of <urn:Agent> and <urn:Child>: {way_out}"
    assert (first.focus, first.path, first.value) == (ANN.n3, P.n3, BOB.n3)
    assert first.graphs == (ONTOLOGY_GRAPH.value, G.value)
    assert DEFAULT_POLICY.verdict([first]) is Verdict.REFUSED


def test_an_end_without_types_is_let_through_and_so_is_one_whose_types_say_nothing() -> None:
    assert found(DOMAIN, [], says(ANN, P, BOB)) == []
    assert found(DOMAIN, [says(ANN, RDF_TYPE, Iri(OWL + "Thing"))], says(ANN, P, BOB)) == []
    assert found(DOMAIN, [says(ANN, RDF_TYPE, PLACE, OTHER)], says(ANN, P, BOB)) == []
    assert len(found(DOMAIN, [says(ANN, RDF_TYPE, PLACE, ONTOLOGY_GRAPH)], says(ANN, P, BOB))) == 1
    assert found(DOMAIN, [says(ANN, RDF_TYPE, PLACE)], says(ANN, P, BOB, ONTOLOGY_GRAPH)) == []


LITERALS = [
    (XSD + "date", Literal("5", XSD + "integer"), True),
    ("urn:point", Literal("1 2", "urn:point"), True),
    ("urn:point", Literal("x"), False),
    (RDFS + "Literal", Literal("x", language="en"), True),
    (RDFS + "Resource", Literal("x"), True),
    (PERSON.value, Literal("x"), False),
]


@pytest.mark.parametrize(("asked", "value", "fits"), LITERALS, ids=str)
def test_a_datatype_takes_literals_and_a_class_takes_none(asked: str, value: Literal, fits: bool) -> None:
    findings = found(asking(axiom(P, RDFS + "range", Iri(asked))), [], says(ANN, P, value))
    assert (findings == []) is fits
    assert all("its object is a literal of" in each.message for each in findings)


def test_unions_equivalents_intersections_and_subproperties_are_read() -> None:
    union, head, tail, whole = (Iri(GENID + name) for name in ("u", "h", "t", "i"))
    listed = [
        axiom(head, RDF + "first", PERSON), axiom(head, RDF + "rest", tail),
        axiom(tail, RDF + "first", FIRM), axiom(tail, RDF + "rest", Iri(RDF + "nil")),
    ]  # fmt: skip
    signatures = asking(
        axiom(P, RDFS + "domain", union), axiom(union, OWL + "unionOf", head), *listed,
        axiom(Q, RDFS + "subPropertyOf", P), axiom(PERSON, OWL + "equivalentClass", AGENT),
        axiom(PLACE, OWL + "equivalentClass", whole), axiom(whole, OWL + "intersectionOf", head),
    )  # fmt: skip
    for allowed in (PERSON, FIRM, AGENT, PLACE):
        assert found(signatures, [says(ANN, RDF_TYPE, allowed)], says(ANN, Q, BOB)) == []
    assert len(found(signatures, [says(ANN, RDF_TYPE, CHILD)], says(ANN, Q, BOB))) == 1
    nameless = asking(axiom(P, RDFS + "domain", Iri(GENID + "r")), axiom(Iri(GENID + "r"), OWL + "onProperty", Q))
    assert found(nameless, [says(ANN, RDF_TYPE, CHILD)], says(ANN, P, BOB)) == []


MODES = [("Review", Severity.WARNING, Verdict.REVIEW), ("Warn", Severity.INFO, Verdict.CLEAR), ("Ignore", None, None)]


@pytest.mark.parametrize(("mode", "severity", "verdict"), MODES)
def test_how_domains_and_ranges_are_read_is_said_in_the_rules(
    mode: str, severity: Severity | None, verdict: Verdict | None
) -> None:
    reading = Statement(ONTOLOGY_GRAPH, Iri(M + "mode"), Iri(M + mode), RULES_GRAPH)
    signatures = asking(axiom(P, RDFS + "domain", PERSON), reading)
    findings = found(signatures, [says(ANN, RDF_TYPE, PLACE)], says(ANN, P, BOB))
    assert [each.severity for each in findings] == [severity] * (severity is not None)
    assert verdict is None or DEFAULT_POLICY.verdict(findings) is verdict


def test_types_are_looked_for_across_graphs_where_that_is_said_and_then_drawn_from_these() -> None:
    [finding] = found(ACROSS, [says(ANN, RDF_TYPE, PLACE, OTHER)], says(ANN, P, BOB))
    assert finding.graphs == (G.value, OTHER.value)
    assert found(ACROSS, [says(ANN, RDF_TYPE, PLACE), says(ANN, RDF_TYPE, PERSON, OTHER)], says(ANN, P, BOB)) == []


def test_a_node_of_many_facts_is_looked_up_by_predicate_and_told_of_so_often_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kernel.rules.mismatches.MOST", 40)
    for count, expected in ((FEW + 1, FEW + 1), (45, 40)):
        held = [says(ANN, P, Iri(f"urn:{number}")) for number in range(count)]
        held += [says(ANN, Q, Iri(f"urn:{number}")) for number in range(3)]
        assert len(found(DOMAIN, held, says(ANN, RDF_TYPE, PLACE))) == expected
        elsewhere = [says(ANN, P, Iri(f"urn:{number}"), OTHER) for number in range(count)]
        assert len(found(DOMAIN, [*elsewhere, *held], says(ANN, RDF_TYPE, PLACE))) == expected
        assert found(DOMAIN, elsewhere, says(ANN, RDF_TYPE, PLACE)) == []


BROKEN = {
    "no predicate": (declared("urn:a", ("subjectClass", PERSON)), "exactly one m:predicate"),
    "the type": (declared("urn:a", ("predicate", RDF_TYPE), ("subjectClass", PERSON)), "other than rdf:type"),
    "no classes": (declared("urn:a", ("predicate", P)), "m:subjectClass"),
    "a literal": (declared("urn:a", ("predicate", P), ("objectClass", Literal("x"))), "IRIs only"),
    "ignored": (declared("urn:a", ("predicate", P), ("objectClass", FIRM), ("mode", Iri(M + "Ignore"))), "m:Warn"),
    "another word": (declared("urn:a", ("predicate", P), ("class", FIRM)), "m:objectClass"),
    "a mode": ([Statement(ONTOLOGY_GRAPH, Iri(M + "mode"), FIRM, RULES_GRAPH)], "m:Ignore"),
    "a word of the ontology": ([Statement(ONTOLOGY_GRAPH, Iri(M + "class"), FIRM, RULES_GRAPH)], "m:mode"),
}


@pytest.mark.parametrize(("statements", "reason"), BROKEN.values(), ids=BROKEN)
def test_signatures_that_are_wrong_are_told(statements: list[Statement], reason: str) -> None:
    [invalid] = rules_of(statements).invalid
    assert reason in invalid.reason
    assert rules_of(statements).reading == AS_DEMANDS
