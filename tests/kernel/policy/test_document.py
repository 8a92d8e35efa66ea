"""Policies as documents, in `m:policy`, and which of their clauses decide."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.certificate import Verdict
from certificates.contradictions import Contradiction, ContradictionKind
from certificates.findings import Finding, FindingCode, Severity
from certificates.impacts import Impact
from kernel.changes import Assert
from kernel.errors import InvalidDocument
from kernel.policy.approval import (
    ANY_EDITOR,
    ApprovalRule,
    Approvals,
    Case,
    Every,
    NoSelfApproval,
    SignedByEditor,
    both,
)
from kernel.policy.conditions import AllOf, AnyOf, Concerns, Condition, Contradicts, HasCode, Rows
from kernel.policy.document import policy_of
from kernel.policy.graph import DOCUMENT, Unreadable, in_force, policy_in, remarks, written_policy
from kernel.policy.verdicts import DEFAULT_POLICY, Policy, UnsafeAutoApprove
from kernel.terms import Iri, Literal, Statement
from kernel.vocabulary import POLICY_GRAPH, M
from tests.kernel.memory_view import MemoryView
from tests.kernel.policy.test_verdicts import conditions, finding, findings
from tests.kernel.rules.test_amending import holding, plan_of

SAID = {"refuse": {"hasCode": "shape-violation"}, "review": {"contradicts": "type"}}

rules: st.SearchStrategy[ApprovalRule] = st.recursive(
    st.one_of(
        st.sampled_from([ANY_EDITOR, NoSelfApproval(), SignedByEditor()]), st.builds(Approvals, st.integers(1, 3))
    ),
    lambda inner: st.builds(Every, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    max_leaves=4,
)


def document(text: str) -> Assert:
    return Assert(Statement(POLICY_GRAPH, DOCUMENT, Literal(text), POLICY_GRAPH))


def contradiction(kind: ContradictionKind) -> Finding:
    said = Contradiction(kind, "<urn:a> <urn:p> <urn:b> <urn:g> .", "<urn:a> <urn:p> <urn:c> <urn:g> .")
    return replace(finding(FindingCode.DISJOINT_CLASSES), contradiction=said)


@given(conditions, conditions)
def test_a_policy_is_read_as_it_describes_itself(refuse: Condition, review: Condition) -> None:
    policy = Policy(AnyOf((refuse, Concerns("urn:g", Severity.INFO))), AllOf((review, Rows(3))), "0.25")
    read = policy_of(json.dumps(policy.describe()))
    assert read == policy
    assert read.digest() == policy.digest()
    assert policy_of(json.dumps(DEFAULT_POLICY.describe())) == DEFAULT_POLICY


@given(rules)
def test_what_approvals_are_held_to_is_read_as_it_describes_itself(rule: ApprovalRule) -> None:
    policy = Policy(HasCode(FindingCode.INVALID_RULE), Rows(3), "0.25", rule)
    assert policy_of(json.dumps(policy.describe())) == policy


@given(rules, rules, st.sampled_from(["ada", "bob"]), st.sets(st.sampled_from(["bob", "cid", "dan"])), st.booleans())
def test_both_rules_hold_where_two_are_laid_down(
    one: ApprovalRule, other: ApprovalRule, editor: str, before: set[str], signed: bool
) -> None:
    case = Case("ada", editor, tuple(sorted(before)), signed)
    together, refused = both(one, other), [rule.refuses(case) is not None for rule in (one, other)]
    assert (together.refuses(case) is not None) is any(refused)
    assert together.missing(case) == max(one.missing(case), other.missing(case))
    assert both(one, one) == both(one, ANY_EDITOR) == both(ANY_EDITOR, one)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("nonsense", "not JSON"),
        ("[]", "/"),
        ('{"refuse": {"hasCode": "shape-violation"}}', "/review"),
        (json.dumps(SAID | {"reveiw": {}}), "/reveiw"),
        (json.dumps(SAID | {"confidence": 0.5}), "/confidence"),
        (json.dumps(SAID | {"confidence": "2"}), "/confidence"),
        (json.dumps(SAID | {"review": {"hasCode": "shape-violatoin"}}), "/review/hasCode"),
        (json.dumps(SAID | {"review": {"anyOf": []}}), "/review/anyOf"),
        (json.dumps(SAID | {"review": {"anyOf": [{"rows": 1}, {"rows": 0}]}}), "/review/anyOf/1/rows"),
        (json.dumps(SAID | {"review": {"rows": True}}), "/review/rows"),
        (json.dumps(SAID | {"review": {"rows": 1, "weighs": 2}}), "/review"),
        (json.dumps(SAID | {"review": {"contradicts": "type", "severity": "info"}}), "/review"),
        (json.dumps(SAID | {"review": {"concerns": ""}}), "/review/concerns"),
        (json.dumps(SAID | {"review": {"concerns": "register"}}), "/review/concerns"),
        (json.dumps(SAID | {"review": {"touches": "register"}}), "/review/touches"),
        (json.dumps(SAID | {"review": {"touches": "https://example.org/a register"}}), "/review/touches"),
        (json.dumps(SAID | {"review": {"askedBy": "ada lovelace"}}), "/review/askedBy"),
        (json.dumps(SAID | {"review": {"rows": 10**17}}), "18 digits"),
        (json.dumps(SAID | {"review": {"roleAtMost": "boss"}}), "/review/roleAtMost"),
        (json.dumps(SAID | {"review": {"roleAtMost": 2}}), "/review/roleAtMost"),
        (json.dumps(SAID | {"review": {"askedBy": ["ada"]}}), "/review/askedBy"),
        (json.dumps(SAID | {"review": {"not": {"touches": 1}}}), "/review/not/touches"),
        (json.dumps(SAID | {"review": {"confidenceBelow": "1.5"}}), "/review/confidenceBelow"),
        (json.dumps(SAID | {"approval": {}}), "/approval"),
        (json.dumps(SAID | {"approval": {"approvals": 0}}), "/approval/approvals"),
        (json.dumps(SAID | {"approval": {"noSelfApproval": False}}), "/approval/noSelfApproval"),
        (json.dumps(SAID | {"approval": {"every": [{"anyEditor": True}, {"two": 2}]}}), "/approval/every/1/two"),
        ("[" * 5000, "not JSON"),
        ('{"refuse": {"rows": 1}, "refuse": {"rows": 2}, "review": {"rows": 3}}', "'refuse' twice"),
    ],
)
def test_what_is_wrong_with_a_policy_is_told_with_its_place(said: str, place: str) -> None:
    with pytest.raises(InvalidDocument) as told:
        policy_of(said)
    assert place in f"{told.value.message} {told.value.where}"


def test_conditions_look_at_kind_graph_and_rows() -> None:
    typed = contradiction(ContradictionKind.TYPE)
    assert Contradicts(ContradictionKind.TYPE).holds([typed])
    assert not Contradicts(ContradictionKind.VALUE).holds([typed])
    assert Concerns("urn:g").holds([typed])
    assert not Concerns("urn:h").holds([typed])
    assert not Concerns("urn:g").holds([replace(typed, severity=Severity.INFO)])
    impact = replace(finding(FindingCode.IMPACT), impact=Impact("q", "desk", 1, 2, 3))
    assert Rows(5).holds([impact])
    assert not Rows(6).holds([impact])
    assert not Rows(1).holds([replace(impact, impact=Impact("q", "desk", 1))])


@given(conditions, conditions, findings)
def test_reasons_are_given_for_every_verdict_but_clear(
    refuse: Condition, review: Condition, found: list[Finding]
) -> None:
    policy = Policy(refuse, review)
    reasons = policy.reasons(found)
    expected = {Verdict.CLEAR: set(), Verdict.REVIEW: {"review"}, Verdict.REFUSED: {"refuse"}}[policy.verdict(found)]
    assert {name for name, _ in reasons} == expected


def test_the_clause_that_decided_is_named_and_no_other() -> None:
    reasons = DEFAULT_POLICY.reasons([finding(FindingCode.LOW_CONFIDENCE), finding(FindingCode.ASYMMETRIC)])
    named = [clause["hasCode"] for _, clause in reasons]
    assert sorted(map(str, named)) == ["asymmetric", "low-confidence"]
    narrow = Policy(HasCode(FindingCode.INVALID_RULE), HasCode(FindingCode.LOW_CONFIDENCE))
    assert narrow.reasons([finding(FindingCode.ASYMMETRIC)]) == [("review", {"unforeseen": "asymmetric"})]


def test_the_policy_of_the_base_takes_the_place_of_the_configured_one() -> None:
    view = holding(document(json.dumps(SAID)))
    facts = [*view.believed(graph=POLICY_GRAPH)]
    policy = in_force(facts, DEFAULT_POLICY)
    assert policy.describe()["review"] == {"contradicts": "type"}
    assert policy.verdict([contradiction(ContradictionKind.TYPE)]) is Verdict.REVIEW
    assert in_force([], DEFAULT_POLICY) is DEFAULT_POLICY
    strict = replace(DEFAULT_POLICY, approval=NoSelfApproval())
    two = [*holding(document(json.dumps(SAID | {"approval": {"approvals": 2}}))).believed(graph=POLICY_GRAPH)]
    assert in_force(facts, strict).approval == NoSelfApproval()
    assert in_force(two, DEFAULT_POLICY).approval == Approvals(2)
    assert in_force(two, strict).approval == Every((NoSelfApproval(), Approvals(2)))
    unsafe = UnsafeAutoApprove()
    assert in_force(facts, unsafe) is unsafe


def test_a_policy_that_cannot_be_read_is_told_when_it_is_written_and_lets_nothing_through_unseen() -> None:
    for wrong in (
        document("{}"),
        Assert(Statement(POLICY_GRAPH, Iri(M + "documents"), Literal("{}"), POLICY_GRAPH)),
        Assert(Statement(POLICY_GRAPH, DOCUMENT, Iri("urn:policy"), POLICY_GRAPH)),
    ):
        view = MemoryView()
        [told] = written_policy(plan_of(view, wrong), view)
        assert (told.code, told.graphs) == (FindingCode.INVALID_POLICY, (POLICY_GRAPH.value,))
        view = holding(wrong)
        policy = in_force([*view.believed(graph=POLICY_GRAPH)], DEFAULT_POLICY)
        assert isinstance(policy, Unreadable)
        assert policy.verdict([]) is Verdict.REVIEW
        assert policy.verdict([finding(FindingCode.INVALID_RULE)]) is Verdict.REFUSED
    view = holding(document(json.dumps(SAID)))
    [told] = written_policy(plan_of(view, document(json.dumps(SAID | {"confidence": "0.1"}))), view)
    assert "two policies" in told.message
    [told] = written_policy(plan_of(view, document(json.dumps(SAID | {"confidence": "much"}))), view)
    assert ("/confidence" in told.message, "two policies" in told.message) == (True, False), (
        "what is wrong is not hidden"
    )
    for locked in ({"changes": 1}, {"touches": POLICY_GRAPH.value}, {"not": {"atLeast": 1}}):
        [told] = written_policy(plan_of(MemoryView(), document(json.dumps(SAID | {"refuse": locked}))), MemoryView())
        assert "would refuse that you take it away again" in told.message
    many = document(json.dumps(SAID | {"refuse": {"changes": 100}}))
    assert written_policy(plan_of(MemoryView(), many), MemoryView()) == []
    label = Statement(POLICY_GRAPH, Iri("urn:label"), Literal("ours"), POLICY_GRAPH)
    assert policy_in([label]) is None
    assert written_policy(plan_of(view, Assert(label)), view) == []


def test_unsafe_auto_approve_says_its_name_of_every_plan() -> None:
    plan = plan_of(MemoryView(), document("{}"))
    assert remarks(plan, DEFAULT_POLICY) == []
    [said] = remarks(plan, UnsafeAutoApprove())
    assert "UnsafeAutoApprove" in said.message
    assert said.graphs == (POLICY_GRAPH.value,)
