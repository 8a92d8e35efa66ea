"""Signed service records: decisions and re-checks."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from certificates.canonical import canonical_json
from certificates.errors import BadSignature, InvalidValue, MalformedDocument, WrongKey
from certificates.items import ItemKind, salt_items
from certificates.records import Decision, DecisionKind, Recheck, Record, secure_record, verify_record
from tests.certificates.strategies import DIGEST, EXAMPLE, KEY, NOW, STRANGER, instants, records

(_COMMENT,) = salt_items(ItemKind.COMMENT, [canonical_json({"comment": "checked with the registry"})])
_DECISION = Decision(EXAMPLE.id, DIGEST, DecisionKind.APPROVE, "ada", NOW, _COMMENT.leaf.hex())
_RECHECK = Recheck(EXAMPLE.id, 41, DIGEST, "1b" * 32, NOW)
_SECURED: dict[str, bytes] = {
    "decision": secure_record(_DECISION, KEY, NOW),
    "re-check": secure_record(_RECHECK, KEY, NOW),
}
_UUID = "urn:uuid:00000000-0000-4000-8000-000000000000"


@given(records, instants)
def test_a_record_is_verified_and_read_back(record: Record, created: str) -> None:
    secured = secure_record(record, KEY, created)
    assert verify_record(secured, KEY.public) == record
    assert canonical_json(json.loads(secured)) == secured


def test_a_comment_is_committed_to_but_not_held() -> None:
    assert b"registry" not in _SECURED["decision"]
    assert json.loads(_SECURED["decision"])["comment"] == _COMMENT.leaf.hex()


_CHANGES: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "another certificate": ("decision", lambda record: record.update(certificate=_UUID)),
    "another digest": ("decision", lambda record: record.update(certificateDigest="ff" * 32)),
    "the opposite": ("decision", lambda record: record.update(decision="reject")),
    "another editor": ("decision", lambda record: record.update(editor="eve")),
    "another instant": ("decision", lambda record: record.update(decidedAt="2026-05-06T07:08:10Z")),
    "another comment": ("decision", lambda record: record.update(comment="ff" * 32)),
    "no comment": ("decision", lambda record: record.pop("comment")),
    "another certificate checked": ("re-check", lambda record: record.update(certificate=_UUID)),
    "another head": ("re-check", lambda record: record.update(atHead=42)),
    "no head": ("re-check", lambda record: record.pop("atHead")),
    "another plan": ("re-check", lambda record: record.update(planRoot="ff" * 32)),
    "other findings": ("re-check", lambda record: record.update(findingsRoot="ff" * 32)),
    "another instant of checking": ("re-check", lambda record: record.update(recheckedAt="2026-05-06T07:08:10Z")),
    "another instant of proof": ("decision", lambda record: record["proof"].update(created="2026-05-06T07:08:10Z")),
}


@pytest.mark.parametrize("name", _CHANGES)
def test_any_change_breaks_the_signature(name: str) -> None:
    kind, change = _CHANGES[name]
    record = json.loads(_SECURED[kind])
    change(record)
    with pytest.raises(BadSignature):
        verify_record(json.dumps(record).encode(), KEY.public)


_MALFORMED: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "type": ("decision", lambda record: record.update(type="Verdict")),
    "remark": ("decision", lambda record: record.update(remark="x")),
    "editor": ("decision", lambda record: record.pop("editor")),
    "decision": ("decision", lambda record: record.update(decision="perhaps")),
    "certificateDigest": ("decision", lambda record: record.update(certificateDigest="FF" * 32)),
    "certificate": ("re-check", lambda record: record.update(certificate="01890a5d")),
    "atHead": ("re-check", lambda record: record.update(atHead="41")),
    "proof": ("re-check", lambda record: record.pop("proof")),
    "proof.cryptosuite": ("re-check", lambda record: record["proof"].update(cryptosuite="eddsa-rdfc-2022")),
    "proof.@context": ("decision", lambda record: record["proof"].update({"@context": "https://example.org"})),
}


@pytest.mark.parametrize("where", _MALFORMED)
def test_what_is_malformed_is_named(where: str) -> None:
    kind, change = _MALFORMED[where]
    record = json.loads(_SECURED[kind])
    change(record)
    with pytest.raises(MalformedDocument) as caught:
        verify_record(json.dumps(record).encode(), KEY.public)
    assert caught.value.where == where


def test_a_record_without_type_is_refused() -> None:
    with pytest.raises(MalformedDocument, match="type"):
        verify_record(b'{"proof":{}}', KEY.public)


def test_a_record_by_another_key_is_refused() -> None:
    with pytest.raises(WrongKey, match=r"proof\.verificationMethod"):
        verify_record(_SECURED["decision"], STRANGER.public)


@pytest.mark.parametrize("editor", ["", "x" * 257, "ada\n", "\ud800"])
def test_an_editor_without_a_plain_name_is_refused(editor: str) -> None:
    with pytest.raises(InvalidValue, match="editor"):
        replace(_DECISION, editor=editor)


@pytest.mark.parametrize(
    "change",
    [
        {"certificate_digest": "0f"},
        {"comment": "checked with the registry"},
        {"decided_at": "yesterday"},
    ],
)
def test_a_decision_that_cannot_be_signed_cannot_be_made(change: dict[str, str]) -> None:
    with pytest.raises(InvalidValue):
        Decision.from_document(_DECISION.document() | {_JSON_NAMES[name]: value for name, value in change.items()})


_JSON_NAMES = {"certificate_digest": "certificateDigest", "comment": "comment", "decided_at": "decidedAt"}


@pytest.mark.parametrize(
    "change", [{"atHead": -1}, {"planRoot": ""}, {"findingsRoot": "x"}, {"recheckedAt": "2026-02-30T00:00:00Z"}]
)
def test_a_recheck_that_cannot_be_signed_cannot_be_made(change: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        Recheck.from_document(_RECHECK.document() | change)
