"""Rules about who approves: nobody their own changes, two together, and with keys of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from bridge.auditing.audit import audit
from bridge.base import Base
from certificates.canonical import canonical_json, digest_hex
from certificates.errors import CertificateError
from certificates.keys import SigningKey
from certificates.records import Decision, DecisionKind, editor_statement, verify_record
from kernel.access import Principal, Role
from kernel.changes import Assert, Retract
from kernel.errors import AlreadyDecided, Forbidden, InvalidParameter
from kernel.policy.approval import ApprovalRule, Approvals, Every, NoSelfApproval, SignedByEditor
from kernel.policy.verdicts import DEFAULT_POLICY
from kernel.ports.records import CertificateState
from kernel.writing.submitting import Outcome
from tests.bridge.auditing.history import audit_ledger, edit
from tests.bridge.writing import (
    ADMINISTRATOR,
    DOUBTED,
    EDITOR,
    PARIS,
    ROME,
    SetClock,
    a_shape,
    decide,
    homes,
    living,
    person,
    write,
)

OTHER = Principal("other", Role.EDITOR)
THIRD = Principal("third", Role.EDITOR)
KEY = SigningKey.from_bytes(bytes([5] * 32))


def opened(path: Path | None, *rules: ApprovalRule) -> Base:
    return Base.open(path, host=SetClock(), policy=replace(DEFAULT_POLICY, approval=Every(rules)))


def waiting(base: Base, by: Principal = EDITOR, number: int = 1) -> Outcome:
    outcome = write(base, Assert(living(PARIS, person(number)), confidence=DOUBTED), by=by)
    assert outcome.state is CertificateState.PENDING
    return outcome


def document(base: Base, certificate: UUID | None) -> bytes:
    assert certificate is not None
    with base.ledger.reading() as view:
        record = view.certificate(certificate)
    assert record is not None
    return record.document


def test_nobody_approves_what_they_asked_for(tmp_path: Path) -> None:
    with opened(tmp_path / "base", NoSelfApproval()) as base:
        own = waiting(base)
        with pytest.raises(Forbidden, match="whoever asked"):
            decide(base, own.certificate)
        assert decide(base, own.certificate, by=OTHER).state is CertificateState.APPLIED
        rejected = waiting(base, number=2)
        assert decide(base, rejected.certificate, DecisionKind.REJECT).state is CertificateState.REJECTED
    assert audit(tmp_path / "base").faults == ()


def test_two_editors_approve_together_each_with_a_comment(tmp_path: Path) -> None:
    with opened(tmp_path / "base", NoSelfApproval(), Approvals(2)) as base:
        held = waiting(base)
        first = decide(base, held.certificate, comment="looks right", by=OTHER)
        assert (first.state, first.head) == (CertificateState.PENDING, None)
        assert first.why is not None
        assert "1 more approval," in first.why
        assert homes(base, subject=person(1)) == set()
        with pytest.raises(Forbidden, match="already"):
            decide(base, held.certificate, by=OTHER)
        with pytest.raises(Forbidden, match="whoever asked"):
            decide(base, held.certificate)
        last = decide(base, held.certificate, comment="so it is", by=THIRD)
        assert (last.state, homes(base, subject=person(1))) == (CertificateState.APPLIED, {PARIS})
        with pytest.raises(AlreadyDecided):
            decide(base, held.certificate, by=ADMINISTRATOR)
        assert held.certificate is not None
        with base.ledger.reading() as view:
            comments = [json.loads(each.comment.body)["comment"] for each in view.decisions(held.certificate)
                        if each.comment is not None]  # fmt: skip
        assert comments == ["looks right", "so it is"]
        undone = waiting(base, number=3)
        decide(base, undone.certificate, by=OTHER)
        assert decide(base, undone.certificate, DecisionKind.REJECT, by=THIRD).state is CertificateState.REJECTED
        decide(base, waiting(base, number=4).certificate, comment="half", by=OTHER)
    found = audit(tmp_path / "base")
    assert found.faults == ()
    edit(tmp_path / "base", "UPDATE decisions SET comment = 0 WHERE comment = 1")
    assert not audit_ledger(tmp_path / "base").sound
    edit(tmp_path / "base", "UPDATE decisions SET comment = 1 WHERE comment = 0 AND place > 3")
    edit(tmp_path / "base", "DELETE FROM decisions WHERE place = (SELECT min(place) FROM decisions)")
    assert not audit_ledger(tmp_path / "base").sound


def test_what_changed_between_two_approvals_is_judged_at_the_last() -> None:
    with opened(None, Approvals(2)) as base:
        held = write(base, Assert(living(PARIS), confidence=DOUBTED), Assert(living(ROME, person(2))))
        decide(base, held.certificate, by=OTHER)
        write(base, Assert(living(ROME, person(2))))
        outcome = decide(base, held.certificate, by=THIRD)
        assert outcome.state is CertificateState.STALE
        assert outcome.successor is not None
        assert decide(base, outcome.successor, by=OTHER).state is CertificateState.PENDING


def test_shapes_are_approved_by_two_as_well() -> None:
    """What writes shapes is judged before it is queued; the first of two approvals judges nothing."""
    administrators = [Principal(name, Role.ADMINISTRATOR) for name in ("one", "two")]
    with opened(None, Approvals(2)) as base:
        write(base, Assert(living(PARIS)))
        held = write(base, *a_shape(), Retract(living(PARIS)), by=ADMINISTRATOR)
        if held.state is CertificateState.PENDING:
            assert decide(base, held.certificate, by=administrators[0]).state is CertificateState.PENDING
            assert decide(base, held.certificate, by=administrators[1]).state is CertificateState.APPLIED


def test_rules_are_in_the_digest_of_a_policy() -> None:
    rules = [
        Every((NoSelfApproval(),)), Every((Approvals(2),)), Every((Approvals(3),)), Every((SignedByEditor(),)),
        Every((NoSelfApproval(), Approvals(2))),
    ]  # fmt: skip
    digests = {replace(DEFAULT_POLICY, approval=rule).digest() for rule in rules}
    assert len(digests | {DEFAULT_POLICY.digest()}) == 6


# --- keys of editors --------------------------------------------------------------------------------------------------


def signature(base: Base, certificate: UUID | None, key: SigningKey = KEY, kind: DecisionKind | None = None) -> bytes:
    assert certificate is not None
    digest = digest_hex(document(base, certificate))
    return key.sign(editor_statement(certificate, digest, kind or DecisionKind.APPROVE))


def test_a_decision_that_its_editor_signed_is_kept_with_that_and_audited(tmp_path: Path) -> None:
    with opened(tmp_path / "base", SignedByEditor()) as base:
        held = waiting(base)
        with pytest.raises(Forbidden, match="own key"):
            decide(base, held.certificate)
        with pytest.raises(InvalidParameter, match="registered"):
            decide(base, held.certificate, signature=signature(base, held.certificate))
        base.ledger.register_key(EDITOR.id, KEY.public.multibase)  # type: ignore[attr-defined]
        other = waiting(base, number=2)
        for wrong in (
            signature(base, held.certificate, SigningKey.generate()),
            signature(base, held.certificate, kind=DecisionKind.REJECT),
            signature(base, other.certificate),
            bytes(64),
            b"",
        ):
            with pytest.raises(InvalidParameter) as refused:
                decide(base, held.certificate, signature=wrong)
            assert refused.value.where == "/signature"
        good = signature(base, held.certificate)
        assert decide(base, held.certificate, signature=good).state is CertificateState.APPLIED
        assert held.certificate is not None
        with base.ledger.reading() as view:
            kept = view.decisions(held.certificate)[0].record
        record = verify_record(kept, base.key.public)
        assert isinstance(record, Decision)
        assert record.signed is not None
        assert (record.signed.key, record.signed.signature) == (KEY.public, good)
        base.ledger.register_key(EDITOR.id, None)  # type: ignore[attr-defined]
        with base.ledger.reading() as view:
            assert view.editor_key(EDITOR.id) is None
        forged = _signed_anew(base, kept)
    assert audit(tmp_path / "base").faults == ()
    with pytest.raises(CertificateError, match="has not signed this decision"):
        verify_record(forged, base.key.public)


def _signed_anew(base: Base, kept: bytes) -> bytes:
    """What a service could make of it that has its own key, and not the editor's."""
    from certificates.records import secure_record  # noqa: PLC0415 - for forgers alone

    members = json.loads(kept)
    members.pop("proof")
    decision = Decision.from_document(members)
    forged = replace(decision, decision=DecisionKind.REJECT)
    return secure_record(forged, base.key, forged.decided_at)


def test_what_is_signed_is_canonical_json() -> None:
    statement = editor_statement(UUID(int=1), "0" * 64, DecisionKind.APPROVE)
    assert statement == canonical_json(json.loads(statement))
    assert json.loads(statement) == {
        "type": "Decision",
        "certificate": f"urn:uuid:{UUID(int=1)}",
        "certificateDigest": "0" * 64,
        "decision": "approve",
    }
