"""Log events and their canonical bytes."""

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given

from certificates.canonical import canonical_json
from certificates.certificate import Verdict
from certificates.errors import InvalidValue, MalformedDocument
from certificates.events import Applied, Decided, Event, Issued, Stale, decode_event
from certificates.merkle import leaf_hash
from certificates.records import DecisionKind
from tests.certificates.strategies import DIGEST, NOW, events

_ID = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
_URN = f"urn:uuid:{_ID}"
_EXAMPLES: list[tuple[Event, dict[str, object]]] = [
    (
        Issued(_ID, DIGEST, Verdict.REVIEW, NOW),
        {"event": "issued", "certificate": _URN, "digest": DIGEST, "verdict": "review", "at": NOW},
    ),
    (
        Decided(_ID, DIGEST, DecisionKind.REJECT, NOW),
        {"event": "decided", "certificate": _URN, "digest": DIGEST, "decision": "reject", "at": NOW},
    ),
    (
        Applied(_ID, NOW, previous=7, state=DIGEST, recheck="1a" * 32),
        {"event": "applied", "certificate": _URN, "at": NOW, "previous": 7, "state": DIGEST, "recheck": "1a" * 32},
    ),
    (
        Applied(_ID, NOW, previous=None, state=DIGEST, recheck=None),
        {"event": "applied", "certificate": _URN, "at": NOW, "state": DIGEST},
    ),
    (
        Stale(_ID, UUID(int=1), NOW),
        {"event": "stale", "certificate": _URN, "at": NOW, "successor": f"urn:uuid:{UUID(int=1)}"},
    ),
    (
        Stale(_ID, None, NOW),
        {"event": "stale", "certificate": _URN, "at": NOW},
    ),
]


@given(events)
def test_an_event_is_read_back_from_its_bytes(event: Event) -> None:
    data = event.encode()
    assert decode_event(data) == event
    assert canonical_json(json.loads(data)) == data
    assert event.leaf == leaf_hash(data)
    assert len(data) < 65536


@pytest.mark.parametrize(("event", "members"), _EXAMPLES)
def test_members_are_as_the_log_has_them(event: Event, members: dict[str, object]) -> None:
    assert json.loads(event.encode()) == members


@pytest.mark.parametrize(("event", "members"), _EXAMPLES)
def test_only_the_canonical_bytes_are_read(event: Event, members: dict[str, object]) -> None:
    backwards = dict(sorted(members.items(), reverse=True))
    with pytest.raises(MalformedDocument, match="RFC 8785"):
        decode_event(json.dumps(backwards, separators=(",", ":")).encode())
    with pytest.raises(MalformedDocument, match="RFC 8785"):
        decode_event(event.encode() + b"\n")


@pytest.mark.parametrize(("event", "members"), _EXAMPLES)
def test_members_that_are_missing_or_unknown_are_named(event: Event, members: dict[str, object]) -> None:
    required = set(members) - {"previous", "recheck", "successor"}
    for name in required:
        with pytest.raises(MalformedDocument) as caught:
            decode_event(canonical_json({other: members[other] for other in members if other != name}))
        assert caught.value.where == name
    with pytest.raises(MalformedDocument) as caught:
        decode_event(canonical_json({**members, "remark": "x"}))
    assert caught.value.where == "remark"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"event": "forgotten"}, "event"),
        ({"certificate": str(_ID)}, "certificate"),
        ({"digest": "0F" * 32}, "digest"),
        ({"verdict": "fine"}, "verdict"),
        ({"at": "2026-05-06T07:08:09.0Z"}, "at"),
        ({"at": 5}, "at"),
    ],
)
def test_members_that_are_wrong_are_named(change: dict[str, Any], where: str) -> None:
    with pytest.raises(MalformedDocument) as caught:
        decode_event(canonical_json(_EXAMPLES[0][1] | change))
    assert caught.value.where == where


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'{"event":["issued"]}', b'{"event":"issued"', b'{"at":"x"}'])
def test_what_is_no_event_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedDocument):
        decode_event(data)


def test_events_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidValue, match="digest"):
        Issued(_ID, "0f", Verdict.CLEAR, NOW)
    with pytest.raises(InvalidValue, match="digest"):
        Decided(_ID, "0f", DecisionKind.APPROVE, NOW)
    with pytest.raises(InvalidValue, match="previous"):
        Applied(_ID, NOW, previous=-1, state=DIGEST, recheck=None)
    with pytest.raises(InvalidValue, match="state"):
        Applied(_ID, NOW, previous=None, state="", recheck=None)
    with pytest.raises(InvalidValue, match="recheck"):
        Applied(_ID, NOW, previous=None, state=DIGEST, recheck="")
    with pytest.raises(InvalidValue, match="at"):
        Stale(_ID, _ID, "now")
