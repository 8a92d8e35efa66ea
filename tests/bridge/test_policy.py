"""The policy of a base in `m:policy`: certified, in force from the next plan on, and explained; and the unsafe one."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from bridge.base import Base
from bridge.review.policy_explaining import explained
from certificates.certificate import Verdict
from certificates.findings import FindingCode
from kernel.access import Principal, Role
from kernel.changes import Assert, Retract
from kernel.errors import Forbidden
from kernel.policy.approval import NoSelfApproval
from kernel.policy.document import policy_of
from kernel.policy.graph import DOCUMENT
from kernel.policy.verdicts import DEFAULT_POLICY, UnsafeAutoApprove
from kernel.ports.records import CertificateState
from kernel.terms import Iri, Literal, Statement
from kernel.vocabulary import POLICY_GRAPH
from kernel.writing.submitting import Outcome
from tests.api.console import run
from tests.bridge.writing import ADMINISTRATOR, EDITOR, decide, stage, write

DOUBT = "0.3"
LAX = {"refuse": {"hasCode": "shape-violation"}, "review": {"hasCode": "asymmetric"}, "confidence": "0.1"}
STRICT = {"refuse": {"hasCode": "low-confidence"}, "review": {"hasCode": "asymmetric"}, "confidence": "0.5"}


def policy(said: object) -> Statement:
    return Statement(POLICY_GRAPH, DOCUMENT, Literal(json.dumps(said)), POLICY_GRAPH)


def digest_of(base: Base, outcome: Outcome) -> str:
    assert outcome.certificate is not None
    with base.ledger.reading() as view:
        record = view.certificate(outcome.certificate)
    assert record is not None
    digest: str = json.loads(record.document)["credentialSubject"]["policyDigest"]
    return digest


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "base"


def doubted(name: str) -> Assert:
    return Assert(Statement(Iri(f"urn:{name}"), Iri("urn:p"), Literal("x"), Iri("urn:g")), confidence=Decimal(DOUBT))


def test_a_policy_of_the_base_is_certified_holds_from_the_next_plan_on_and_goes_as_it_came(data: Path) -> None:
    with Base.open(data) as base:
        waits = write(base, doubted("a"))
        assert (waits.verdict, digest_of(base, waits)) == (Verdict.REVIEW, DEFAULT_POLICY.digest())
        written = write(base, Assert(policy(LAX)), by=ADMINISTRATOR)
        assert (written.verdict, digest_of(base, written)) == (Verdict.CLEAR, DEFAULT_POLICY.digest())
        clear = write(base, doubted("b"))
        assert (clear.verdict, clear.findings) == (Verdict.CLEAR, ())
        assert digest_of(base, clear) == policy_of(json.dumps(LAX)).digest()
        assert write(base, Retract(policy(LAX)), Assert(policy(STRICT)), by=ADMINISTRATOR).verdict is Verdict.CLEAR
        refused = write(base, doubted("c"))
        assert refused.verdict is Verdict.REFUSED

    told = [run("policy", "explain", str(each.certificate), "--data", data).output for each in (waits, clear, refused)]
    assert told[0].startswith("review, by the policy with digest ")
    assert 'review: {"hasCode": "low-confidence", "severity": "warning"}' in told[0]
    assert "nothing that was found is held against it" in told[1]
    assert 'refuse: {"hasCode": "low-confidence", "severity": "warning"}' in told[2]
    shown = json.loads(run("policy", "show", "--data", data).output)
    assert policy_of(json.dumps(shown)) == policy_of(json.dumps(STRICT))
    missing = run("policy", "explain", "0197c9a4-5f5c-7c6e-9d9a-3f6b0c2d1e00", "--data", data)
    assert (missing.status, "no such certificate" in missing.errors) == (1, True)


def test_a_policy_that_cannot_be_read_is_refused_and_a_writer_writes_none() -> None:
    with Base.open(None) as base:
        refused = write(base, Assert(policy({"refuse": {}})), by=ADMINISTRATOR)
        assert refused.verdict is Verdict.REFUSED
        assert [finding.code for finding in refused.findings] == [FindingCode.INVALID_POLICY]
        assert "/review" in refused.findings[0].message
        with pytest.raises(Forbidden):
            write(base, Assert(policy(LAX)))
        with base.ledger.reading() as view:
            assert refused.certificate is not None
            said = explained(view, refused.certificate, DEFAULT_POLICY)
        assert said.reasons == (("refuse", {"hasCode": "invalid-policy"}),)


def test_who_asks_where_how_much_and_how_surely_decides_and_is_explained(data: Path) -> None:
    agents = {"allOf": [{"roleAtMost": "writer"}, {"touches": "urn:g"}, {"not": {"askedBy": "trusted"}}]}
    said = {"refuse": {"changes": 3}, "review": {"anyOf": [agents, {"confidenceBelow": "0.9"}]}, "confidence": "0"}
    plain = [Assert(Statement(Iri(f"urn:{each}"), Iri("urn:p"), Iri("urn:c"), Iri("urn:g"))) for each in "abcdef"]
    with Base.open(data) as base:
        assert write(base, Assert(policy(said)), by=ADMINISTRATOR).verdict is Verdict.CLEAR
        held = write(base, plain[0])
        refused = write(base, *plain[:4], by=EDITOR)
        outcomes = [
            held,
            refused,
            write(base, plain[1], by=EDITOR),
            write(base, plain[2], by=Principal("trusted", Role.WRITER)),
            write(base, doubted("x"), by=EDITOR),
            base.load(stage(base, "many", plain[3:5], plain[5:])).result(60),
        ]
        assert [each.verdict.value for each in outcomes] == ["review", "refused", "clear", "clear", "review", "refused"]
        assert not any(each.findings for each in outcomes)
        approved = decide(base, held.certificate)
        assert approved.state is CertificateState.APPLIED, "the role of who asked counts, not that of the editor"
    told = [run("policy", "explain", str(each.certificate), "--data", data).output for each in outcomes]
    for output, clause in zip(told, (agents, {"changes": 3}), strict=False):
        assert json.dumps(clause) in output
    assert "nothing that was found" in told[2]
    assert 'review: {"confidenceBelow": "0.9"}' in told[4]
    assert 'refuse: {"changes": 3}' in told[5]


def test_approvals_are_held_to_what_the_policy_says_and_what_is_configured(data: Path) -> None:
    said = STRICT | {"refuse": {"hasCode": "invalid-rule"}, "approval": {"every": [{"approvals": 2}]}}
    said["review"] = {"hasCode": "low-confidence"}
    with Base.open(data, policy=replace(DEFAULT_POLICY, approval=NoSelfApproval())) as base:
        assert write(base, Assert(policy(said)), by=ADMINISTRATOR).verdict is Verdict.CLEAR
        waits = write(base, doubted("a"), by=EDITOR)
        with pytest.raises(Forbidden, match="whoever asked"):
            decide(base, waits.certificate)
        others = [Principal(name, Role.EDITOR) for name in ("one", "two")]
        states = [decide(base, waits.certificate, by=each).state for each in others]
        assert states == [CertificateState.PENDING, CertificateState.APPLIED]
        assert write(base, Retract(policy(said)), by=ADMINISTRATOR).verdict is Verdict.CLEAR
        waits = write(base, doubted("b"), by=EDITOR)
        assert decide(base, waits.certificate, by=others[0]).state is CertificateState.APPLIED


def test_unsafe_auto_approve_is_named_by_every_certificate_it_lets_through() -> None:
    with Base.open(None, policy=UnsafeAutoApprove()) as base:
        plain = Assert(Statement(Iri("urn:b"), Iri("urn:p"), Iri("urn:c"), Iri("urn:g")))
        outcomes = [write(base, change) for change in (doubted("a"), plain)]
        for outcome in outcomes:
            assert outcome.verdict is Verdict.CLEAR
            assert FindingCode.UNSAFE_AUTO_APPROVE in {finding.code for finding in outcome.findings}
            assert outcome.certificate is not None
            with base.ledger.reading() as view:
                said = explained(view, outcome.certificate, UnsafeAutoApprove())
            assert said.reasons == (("clear", {"unsafeAutoApprove": True}),)
        load = base.load(stage(base, "session", [doubted("d")], [doubted("e")])).result(60)
        assert [each.code for each in load.findings].count(FindingCode.UNSAFE_AUTO_APPROVE) == 1
