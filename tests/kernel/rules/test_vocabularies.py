"""Vocabularies of graphs: what may be used there, what is told of the rest, and what keeps one from being one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.certificate import Verdict
from certificates.findings import FindingCode, Severity
from kernel.changes import Assert
from kernel.policy.verdicts import DEFAULT_POLICY
from kernel.rules.amending import beyond_vocabularies
from kernel.rules.table import rules_of
from kernel.rules.words import RDF_TYPE
from kernel.terms import XSD, Iri, Literal, Statement, Term
from kernel.vocabulary import ONTOLOGY_GRAPH, RULES_GRAPH, M
from tests.kernel.memory_view import MemoryView
from tests.kernel.rules.test_amending import ANN, BOB, NOW, G, holding, plan_of
from tests.kernel.rules.test_kinds import always

if TYPE_CHECKING:
    from certificates.findings import Finding
    from kernel.writing.plan import Plan

OTHER = Iri("urn:other")
P, Q = Iri("urn:p"), Iri("urn:q")
PERSON, THING, FIRM = Iri("urn:Person"), Iri("urn:Thing"), Iri("urn:Firm")
NODE = Iri("urn:agents")
WORDS: list[tuple[str, Term]] = [
    ("appliesTo", G),
    ("admitsPredicate", P),
    ("admitsClass", PERSON),
    ("fallbackClass", THING),
]


def number(value: int) -> Literal:
    return Literal(str(value), XSD + "integer")


def capped(*words: tuple[str, Term], node: Iri = NODE) -> list[Statement]:
    said = [Statement(node, Iri(M + word), value, RULES_GRAPH) for word, value in words]
    return [Statement(node, RDF_TYPE, Iri(M + "Vocabulary"), RULES_GRAPH), *said]


def beyond(plan: Plan, view: MemoryView, *rules: Statement) -> list[Finding]:
    """What is found by these rules, and the axioms held."""
    table = rules_of(rules)
    assert not table.invalid
    return list(beyond_vocabularies(plan, table, tuple(view.believed(graph=ONTOLOGY_GRAPH)), view))


@given(
    st.sampled_from([P, Q, RDF_TYPE]), st.sampled_from([PERSON, THING, FIRM, Literal("x")]), st.sampled_from([G, OTHER])
)
def test_exactly_what_is_not_listed_is_told(predicate: Iri, value: Term, graph: Iri) -> None:
    view = MemoryView()
    plan = plan_of(view, always(ANN, predicate, value, graph))
    findings = beyond(plan, view, *capped(*WORDS))
    listed = predicate == P or (predicate == RDF_TYPE and value in (PERSON, THING))
    assert [each.code for each in findings] == [FindingCode.NOT_ADMITTED] * (graph == G and not listed)


def test_what_may_be_used_instead_is_said_and_nothing_is_let_through() -> None:
    view = MemoryView()
    plan = plan_of(view, always(ANN, RDF_TYPE, FIRM), always(ANN, Q, BOB))
    findings = beyond(plan, view, *capped(*WORDS))
    assert [each.message for each in findings] == [
        "<urn:Firm> is not of the vocabulary of <urn:g>: use <urn:Person>, or <urn:Thing> where none fits",
        "<urn:q> is not of the vocabulary of <urn:g>: use <urn:p>",
    ]
    assert DEFAULT_POLICY.verdict(findings) is Verdict.REFUSED
    findings = beyond(plan, view, *capped(*WORDS, ("mode", Iri(M + "Review"))))
    assert {each.severity for each in findings} == {Severity.WARNING}
    assert DEFAULT_POLICY.verdict(findings) is Verdict.REVIEW


def test_a_long_list_is_cut() -> None:
    view = MemoryView()
    many: list[tuple[str, Term]] = [("admitsPredicate", Iri(f"urn:p{number}")) for number in range(30)]
    [finding] = beyond(plan_of(view, always(ANN, Q, BOB)), view, *capped(*WORDS, *many))
    assert finding.message.endswith(" and 19 more")


# --- what is admitted by rule, and how much at most -------------------------------------------------------------------

TERMS = [Iri(f"urn:{space}/{name}") for space in ("a", "b") for name in ("one", "two")]
TRUE = Literal("true", XSD + "boolean")
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"


def declares(term: Iri, kind: str) -> Assert:
    return always(term, RDF_TYPE, Iri(kind), ONTOLOGY_GRAPH)


@given(
    st.sampled_from(TERMS),
    st.sets(st.sampled_from(TERMS)),
    st.booleans(),
    st.sets(st.sampled_from(["urn:a/", "urn:b/"])),
)
def test_what_is_declared_or_begins_right_is_admitted(
    term: Iri, known: set[Iri], declared: bool, spaces: set[str]
) -> None:
    held = [declares(each, OWL + "ObjectProperty") for each in known] + [
        declares(each, OWL + "Class") for each in known
    ]
    view = holding(*held)
    words: list[tuple[str, Term]] = [("admitsNamespace", Iri(each)) for each in sorted(spaces)]
    words += [("admitsDeclared", TRUE)] if declared else []
    begins = any(term.value.startswith(each) for each in spaces)
    expected = {
        (False, False): False,
        (True, False): term in known,
        (False, True): begins,
        (True, True): begins and term in known,
    }[declared, bool(spaces)]
    for change in (always(ANN, term, BOB), always(ANN, RDF_TYPE, term)):
        assert (beyond(plan_of(view, change), view, *capped(*WORDS, *words)) == []) is expected


def test_what_may_be_used_by_rule_is_said_and_a_class_is_no_predicate() -> None:
    view = holding(declares(TERMS[0], OWL + "Class"))
    rules = capped(*WORDS, ("admitsDeclared", TRUE), ("admitsNamespace", Iri("urn:a/")), ("fallbackPredicate", Q))
    [finding] = beyond(plan_of(view, always(ANN, TERMS[0], BOB)), view, *rules)
    assert finding.message.endswith(
        ": use <urn:p>, what the ontology declares beginning with urn:a/, or <urn:q> where none fits"
    )
    assert beyond(plan_of(view, always(ANN, RDF_TYPE, TERMS[0]), always(ANN, Q, BOB)), view, *rules) == []


@given(st.sets(st.sampled_from(TERMS)), st.sets(st.sampled_from(TERMS), min_size=1), st.integers(1, 5), st.booleans())
def test_a_vocabulary_that_comes_to_admit_too_much_is_told(
    known: set[Iri], fresh: set[Iri], most: int, declared: bool
) -> None:
    rules = capped(*WORDS, ("mostClasses", number(most)), *((("admitsDeclared", TRUE),) if declared else ()))
    view = holding(*map(Assert, rules), *(declares(each, OWL + "Class") for each in known))
    plan = plan_of(view, *(declares(each, RDFS + "Class") for each in fresh))
    findings = beyond(plan, view, *rules)
    before, after = (2 + (len(each) if declared else 0) for each in (known, known | fresh))
    told = after > most and after > before
    assert [each.code for each in findings] == [FindingCode.VOCABULARY_FULL] * told
    assert all(f"would admit {after} classes" in each.message for each in findings)


def test_a_limit_counts_what_is_written_to_the_rules() -> None:
    rules = capped(*WORDS, ("mostPredicates", number(1)), ("mode", Iri(M + "Review")))
    view = holding(*map(Assert, rules))
    plan = plan_of(view, Assert(Statement(NODE, Iri(M + "admitsPredicate"), Q, RULES_GRAPH)))
    [finding] = beyond(plan, view, *rules)
    assert "would admit 2 predicates, <urn:q> among them, and may admit 1" in finding.message
    assert DEFAULT_POLICY.verdict([finding]) is Verdict.REVIEW
    first = MemoryView()
    assert len(beyond(plan_of(first, *map(Assert, [*rules, *(each.statement for each in plan.record)])), first)) == 1
    view.apply(plan, NOW)
    lowered = plan_of(view, always(ANN, P, BOB, RULES_GRAPH))
    assert beyond(lowered, view, *rules) == []


BROKEN = {
    "no graph": (capped(*WORDS[1:]), "m:appliesTo"),
    "a reserved graph": (capped(*WORDS, ("appliesTo", RULES_GRAPH)), "graphs of data"),
    "no fallback": (capped(*WORDS[:3]), "exactly one m:fallbackClass"),
    "two fallbacks": (capped(*WORDS, ("fallbackClass", FIRM)), "exactly one m:fallbackClass"),
    "a literal": (capped(*WORDS, ("admitsClass", Literal("x"))), "IRIs only"),
    "an unknown mode": (capped(*WORDS, ("mode", Iri(M + "Warn"))), "m:Refuse or m:Review"),
    "an unknown word": (capped(*WORDS, ("admits", FIRM)), "m:admitsPredicate"),
    "two fallback predicates": (capped(*WORDS, ("fallbackPredicate", P), ("fallbackPredicate", Q)), "at most one"),
    "no namespace": (capped(*WORDS, ("admitsNamespace", Iri("urn:x"))), "ends in / or #"),
    "no boolean": (capped(*WORDS, ("admitsDeclared", Literal("yes"))), "write true"),
    "no number": (capped(*WORDS, ("mostClasses", Literal("12"))), "whole number"),
    "none": (capped(*WORDS, ("mostClasses", number(0))), "whole number"),
    "a number without end": (capped(*WORDS, ("mostClasses", Literal("9" * 5000, XSD + "integer"))), "whole number"),
    "two limits": (capped(*WORDS, ("mostPredicates", number(1)), ("mostPredicates", number(2))), "whole number"),
    "a limit to what cannot be counted": (
        capped(*WORDS, ("mostClasses", number(3)), ("admitsNamespace", Iri("urn:x/"))),
        "cannot be counted",
    ),
    "a second one": (capped(*WORDS) + capped(*WORDS, node=Iri("urn:zeal")), "has a vocabulary already"),
}


@pytest.mark.parametrize(("statements", "reason"), BROKEN.values(), ids=BROKEN)
def test_vocabularies_that_are_wrong_are_told(statements: list[Statement], reason: str) -> None:
    [invalid] = rules_of(statements).invalid
    assert reason in invalid.reason
