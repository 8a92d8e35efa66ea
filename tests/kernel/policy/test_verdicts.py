"""Policies: which findings refuse, which hold for review, and that what nobody foresaw does not slip through."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from certificates.certificate import Verdict
from certificates.findings import Finding, FindingCode, Severity
from certificates.impacts import Impact
from kernel.access import Role
from kernel.policy.about import NOTHING, About
from kernel.policy.conditions import (
    AllOf,
    AnyOf,
    AskedBy,
    AtLeast,
    Changes,
    Condition,
    ConfidenceBelow,
    HasCode,
    Not,
    RoleAtMost,
    Touches,
    Weighs,
)
from kernel.policy.verdicts import DEFAULT_POLICY, Policy, UnsafeAutoApprove

REFUSED = {
    FindingCode.SHAPE_VIOLATION,
    FindingCode.MALFORMED_SHAPES,
    FindingCode.INVALID_RULE,
    FindingCode.INVALID_QUERY,
    FindingCode.INVALID_POLICY,
}
BY_SEVERITY = {
    FindingCode.IMPACT,
    FindingCode.NOT_ADMITTED,
    FindingCode.VOCABULARY_FULL,
    FindingCode.EDGE_SIGNATURE,
}


def finding(code: FindingCode, severity: Severity = Severity.VIOLATION) -> Finding:
    return Finding(code, severity, "something", ("urn:g",))


findings = st.lists(st.builds(finding, st.sampled_from(FindingCode), st.sampled_from(Severity)), max_size=5)
leaves: st.SearchStrategy[Condition] = st.one_of(
    st.builds(HasCode, st.sampled_from(FindingCode), st.sampled_from(Severity)),
    st.builds(AtLeast, st.integers(1, 4), st.sampled_from(Severity)),
    st.builds(Weighs, st.integers(1, 100)),
    st.builds(AskedBy, st.sampled_from(["ada", "bob"])),
    st.builds(RoleAtMost, st.sampled_from(Role)),
    st.builds(Touches, st.sampled_from(["urn:g", "urn:h"])),
    st.builds(Changes, st.integers(1, 4)),
    st.builds(ConfidenceBelow, st.sampled_from(["0.2", "0.5", "1"])),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(AnyOf, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(AllOf, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)
abouts = st.builds(
    About,
    st.sampled_from(["ada", "bob", None]),
    st.sampled_from([*Role, None]),
    st.frozensets(st.sampled_from(["urn:g", "urn:h"])),
    st.integers(0, 5),
    st.sampled_from([None, Decimal("0.2"), Decimal("0.3"), Decimal(1)]),
)


def naive(said: Mapping[str, Any], found: list[Finding], about: About) -> bool:
    """Whether a condition holds, by its description alone."""
    severities = ["info", "warning", "violation"]
    grave = [
        each
        for each in found
        if severities.index(each.severity.value) >= severities.index(said.get("severity", "warning"))
    ]
    (word,) = said.keys() - {"severity"}
    given = said[word]
    ways: dict[str, Callable[[], bool]] = {
        "anyOf": lambda: any(naive(each, found, about) for each in given),
        "allOf": lambda: all(naive(each, found, about) for each in given),
        "not": lambda: not naive(given, found, about),
        "hasCode": lambda: given in [each.code.value for each in grave],
        "atLeast": lambda: len(grave) >= given,
        "weighs": lambda: False,
        "askedBy": lambda: given == about.principal,
        "roleAtMost": lambda: (
            about.role is None
            or about.role.name.lower() in ["reader", "writer", "editor", "administrator"][: Role[given.upper()]]
        ),
        "touches": lambda: given in about.graphs,
        "changes": lambda: given <= about.facts,
        "confidenceBelow": lambda: about.confidence is not None and about.confidence < Decimal(given),
    }
    return ways[word]()


@given(conditions, findings, abouts)
def test_a_condition_holds_as_its_description_says(condition: Condition, found: list[Finding], about: About) -> None:
    assert condition.holds(found, about) is naive(condition.describe(), found, about)
    assert condition.asks or not condition.holds([], about)


@given(conditions, conditions, findings, abouts)
def test_a_verdict_is_refused_before_it_waits_and_nothing_grave_slips_through(
    refuse: Condition, review: Condition, found: list[Finding], about: About
) -> None:
    policy = Policy(refuse, review)
    unforeseen = any(
        each.severity is Severity.VIOLATION and not refuse.names(each) and not review.names(each) for each in found
    )
    expected = (
        Verdict.REFUSED
        if naive(refuse.describe(), found, about)
        else Verdict.REVIEW
        if naive(review.describe(), found, about) or unforeseen
        else Verdict.CLEAR
    )
    assert policy.verdict(found, about) is expected
    named = {name for name, _ in policy.reasons(found, about)}
    assert named == {Verdict.REFUSED: {"refuse"}, Verdict.REVIEW: {"review"}, Verdict.CLEAR: set()}[expected]


def test_what_is_asked_not_to_be_there_is_not_let_in() -> None:
    without = Policy(HasCode(FindingCode.INVALID_RULE), Not(HasCode(FindingCode.ASYMMETRIC)))
    assert without.verdict([finding(FindingCode.ASYMMETRIC)]) is Verdict.REVIEW
    assert without.verdict([]) is Verdict.REVIEW
    assert NOTHING.role is None
    assert RoleAtMost(Role.READER).holds([], NOTHING)


@given(findings)
def test_the_default_policy_refuses_shape_violations_and_holds_contradictions(found: list[Finding]) -> None:
    verdict = DEFAULT_POLICY.verdict(found)
    violations = {each.code for each in found if each.severity is Severity.VIOLATION}
    only_told = {
        FindingCode.SHAPE_VIOLATION,
        FindingCode.REVIEWABLE_VIOLATION,
        FindingCode.EXISTING_VIOLATION,
        FindingCode.NEIGHBOURHOOD_EXCEEDED,
        FindingCode.WAIVED_VIOLATION,
        FindingCode.WAIVER_ENDED,
        FindingCode.UNSAFE_AUTO_APPROVE,
        FindingCode.FOLLOWS,
    }
    grave = {each.code for each in found if each.severity is not Severity.INFO} - only_told
    if violations & {*REFUSED, *BY_SEVERITY} or grave & REFUSED:
        assert verdict is Verdict.REFUSED
    elif violations or grave:
        assert verdict is Verdict.REVIEW
    else:
        assert verdict is Verdict.CLEAR
    if not found:
        assert verdict is Verdict.CLEAR


@given(st.lists(st.integers(0, 60), max_size=4))
def test_answers_that_weigh_enough_together_hold_a_plan_back_though_each_is_only_noted(weights: list[int]) -> None:
    noted = [
        Finding(
            FindingCode.IMPACT,
            Severity.INFO,
            "gains a row",
            ("urn:g",),
            impact=Impact(f"q{place}", "desk", weight, 1, 0),
        )
        for place, weight in enumerate(weights)
    ]
    expected = Verdict.REVIEW if sum(weights) >= 100 else Verdict.CLEAR
    assert DEFAULT_POLICY.verdict(noted) is expected


def test_information_alone_never_holds_a_plan_back() -> None:
    for code in FindingCode:
        assert DEFAULT_POLICY.verdict([finding(code, Severity.INFO)]) is Verdict.CLEAR


def test_a_violation_that_no_condition_names_is_held_for_review() -> None:
    narrow = Policy(HasCode(FindingCode.INVALID_RULE), HasCode(FindingCode.LOW_CONFIDENCE))
    assert narrow.verdict([finding(FindingCode.SHAPE_VIOLATION)]) is Verdict.REVIEW
    assert narrow.verdict([finding(FindingCode.SHAPE_VIOLATION, Severity.WARNING)]) is Verdict.CLEAR


@given(conditions, conditions, findings)
def test_any_of_and_all_of_are_or_and_and(left: Condition, right: Condition, found: list[Finding]) -> None:
    assert AnyOf((left, right)).holds(found) == (left.holds(found) or right.holds(found))
    assert AllOf((left, right)).holds(found) == (left.holds(found) and right.holds(found))
    assert Not(left).holds(found) != left.holds(found)


@given(st.lists(conditions, min_size=2, max_size=4, unique_by=lambda condition: str(condition.describe())))
def test_different_policies_have_different_digests(made: list[Condition]) -> None:
    digests = [Policy(refuse, review).digest() for refuse, review in itertools.permutations(made, 2)]
    assert len(set(digests)) == len(digests)


def test_the_policy_that_approves_everything_says_that_it_is_unsafe() -> None:
    assert UnsafeAutoApprove().verdict([finding(FindingCode.SHAPE_VIOLATION)]) is Verdict.CLEAR
    assert UnsafeAutoApprove().digest() != DEFAULT_POLICY.digest()
