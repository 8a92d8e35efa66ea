"""Vocabularies of graphs: what may be used there, what is told of the rest, and what keeps one from being one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.certificate import Verdict
from certificates.findings import FindingCode, Severity
from kernel.policy import DEFAULT_POLICY
from kernel.rule_table import rules_of
from kernel.rule_words import RDF_TYPE
from kernel.rules import amend
from kernel.terms import Iri, Literal, Statement, Term
from kernel.vocabulary import RULES_GRAPH, M
from tests.kernel.memory_view import MemoryView
from tests.kernel.test_rule_kinds import always
from tests.kernel.test_rules import ANN, BOB, G, plan_of

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


def capped(*words: tuple[str, Term], node: Iri = NODE) -> list[Statement]:
    said = [Statement(node, Iri(M + word), value, RULES_GRAPH) for word, value in words]
    return [Statement(node, RDF_TYPE, Iri(M + "Vocabulary"), RULES_GRAPH), *said]


@given(
    st.sampled_from([P, Q, RDF_TYPE]), st.sampled_from([PERSON, THING, FIRM, Literal("x")]), st.sampled_from([G, OTHER])
)
def test_exactly_what_is_not_listed_is_told(predicate: Iri, value: Term, graph: Iri) -> None:
    view = MemoryView()
    plan = plan_of(view, always(ANN, predicate, value, graph))
    amended, findings = amend(plan, rules_of(capped(*WORDS)), view)
    listed = predicate == P or (predicate == RDF_TYPE and value in (PERSON, THING, Literal("x")))
    assert amended == plan
    assert [each.code for each in findings] == [FindingCode.NOT_ADMITTED] * (graph == G and not listed)


def test_what_may_be_used_instead_is_said_and_nothing_is_let_through() -> None:
    view = MemoryView()
    plan = plan_of(view, always(ANN, RDF_TYPE, FIRM), always(ANN, Q, BOB))
    findings = amend(plan, rules_of(capped(*WORDS)), view)[1]
    assert [each.message for each in findings] == [
        "<urn:Firm> is not of the vocabulary of <urn:g>: use <urn:Person>, or <urn:Thing> where none fits",
        "<urn:q> is not of the vocabulary of <urn:g>: use <urn:p>",
    ]
    assert DEFAULT_POLICY.verdict(findings) is Verdict.REFUSED
    findings = amend(plan, rules_of(capped(*WORDS, ("mode", Iri(M + "Review")))), view)[1]
    assert {each.severity for each in findings} == {Severity.WARNING}
    assert DEFAULT_POLICY.verdict(findings) is Verdict.REVIEW


def test_a_long_list_is_cut() -> None:
    view = MemoryView()
    many: list[tuple[str, Term]] = [("admitsPredicate", Iri(f"urn:p{number}")) for number in range(30)]
    [finding] = amend(plan_of(view, always(ANN, Q, BOB)), rules_of(capped(*WORDS, *many)), view)[1]
    assert finding.message.endswith(" and 19 more")


BROKEN = {
    "no graph": (capped(*WORDS[1:]), "m:appliesTo"),
    "a reserved graph": (capped(*WORDS, ("appliesTo", RULES_GRAPH)), "graphs of data"),
    "no fallback": (capped(*WORDS[:3]), "exactly one m:fallbackClass"),
    "two fallbacks": (capped(*WORDS, ("fallbackClass", FIRM)), "exactly one m:fallbackClass"),
    "a literal": (capped(*WORDS, ("admitsClass", Literal("x"))), "IRIs only"),
    "an unknown mode": (capped(*WORDS, ("mode", Iri(M + "Warn"))), "m:Refuse or m:Review"),
    "an unknown word": (capped(*WORDS, ("admits", FIRM)), "m:admitsPredicate"),
    "a second one": (capped(*WORDS) + capped(*WORDS, node=Iri("urn:zeal")), "has a vocabulary already"),
}


@pytest.mark.parametrize(("statements", "reason"), BROKEN.values(), ids=BROKEN)
def test_vocabularies_that_are_wrong_are_told(statements: list[Statement], reason: str) -> None:
    [invalid] = rules_of(statements).invalid
    assert reason in invalid.reason
