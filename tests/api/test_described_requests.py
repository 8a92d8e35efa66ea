"""Requests are described in OpenAPI as the bridge reads them: what the one takes, the other takes."""

import json
from typing import Any, Final

import pytest
from pydantic import TypeAdapter, ValidationError

from api.models.certificates import Decision
from api.models.changes import ChangeRequest
from api.routes.decision_body import read_decision
from bridge.documents.changes_json import read_changes
from bridge.terms import OxigraphCanonicaliser
from kernel.errors import CallerError
from tests.api.bodies import XSD, M, change, request

FACT: Final = "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057"
TEXT: Final = {"@value": "x"}

TAKEN: Final[list[Any]] = [
    request(change("a", "p", "b")),
    request(change("a", "p", "b"), reason="r", episode="urn:e", graph="urn:g", zone="Z"),
    request(change("a", "p", "b", graph={"@id": "urn:g"}), episode={"@id": "urn:e"}),
    request(change("a", "p", "b", validFrom="2019", validThrough="2020", confidence=0.5)),
    request(change("a", "p", "b", validTo="2020-05-06")),
    request(change("a", "p", "b") | {"subject": "urn:a", "predicate": "urn:p"}),
    request(change("a", "p", "b") | {"subject": "_:x", "object": {"@id": "_:x"}}),
    request(change("a", "p", TEXT)),
    request(change("a", "p", {"@value": 5}), change("a", "p", {"@value": True}), change("a", "p", {"@value": 1.5})),
    request(change("a", "p", {"@value": "5", "@type": f"{XSD}integer"})),
    request(change("a", "p", {"@value": "x", "@language": "he", "@direction": "rtl"})),
    request(change("a", "p", "b", "end"), change("a", "p", "b", "end", at="2020")),
    request({"op": "end", "fact": FACT}, {"op": "end", "fact": FACT, "at": "2020"}),
    request(change("a", "p", "b", "retract"), change("a", "p", "b", "retract", validFrom="2019", validTo="2020")),
    request({"op": "retract", "fact": FACT.removeprefix("urn:uuid:")}),
    request({"op": "revise", "fact": FACT, "object": TEXT, "validFrom": "2019", "confidence": 1}),
    request({"op": "revise", "fact": FACT, "validThrough": "2019"}),
]

REFUSED: Final[list[Any]] = [
    {},
    {"changes": []},
    {"changes": {}},
    request(change("a", "p", "b"), resaon="r"),
    request(change("a", "p", "b"), reason=5),
    request({"op": "purge"}),
    request({"op": "assert"}),
    request(change("a", "p", "b", fact=FACT)),
    request(change("a", "p", "b", at="2020")),
    request(change("a", "p", "b", confidence=1.5)),
    request(change("a", "p", "b", "end", validFrom="2020")),
    request(change("a", "p", "b", "end", fact=FACT)),
    request({"op": "end"}),
    request({"op": "revise", "object": TEXT}),
    request({"op": "revise", "fact": FACT, "graph": f"{M}default"}),
    request(change("a", "p", "b") | {"object": "urn:b"}),
    request(change("a", "p", {"@value": None})),
    request(change("a", "p", {"@value": "x", "@direction": "up"})),
]


@pytest.mark.parametrize("body", TAKEN, ids=json.dumps)
def test_what_is_read_is_as_described(body: dict[str, Any]) -> None:
    assert read_changes(json.dumps(body).encode(), principal="p", canonicaliser=OxigraphCanonicaliser()).changes
    assert TypeAdapter(ChangeRequest).validate_python(body)


@pytest.mark.parametrize("body", REFUSED, ids=json.dumps)
def test_what_is_refused_is_not_as_described(body: dict[str, Any]) -> None:
    with pytest.raises(CallerError):
        read_changes(json.dumps(body).encode(), principal="p", canonicaliser=OxigraphCanonicaliser())
    with pytest.raises(ValidationError):
        TypeAdapter(ChangeRequest).validate_python(body)


@pytest.mark.parametrize("body", [{"decision": "approve"}, {"decision": "reject", "comment": "no"}], ids=json.dumps)
def test_a_decision_is_as_described(body: dict[str, Any]) -> None:
    assert read_decision("application/json", json.dumps(body).encode())
    assert TypeAdapter(Decision).validate_python(body)


@pytest.mark.parametrize("body", [{}, {"decision": "maybe"}, {"decision": "approve", "why": "x"}], ids=json.dumps)
def test_what_is_no_decision_is_not_as_described(body: dict[str, Any]) -> None:
    with pytest.raises(CallerError):
        read_decision("application/json", json.dumps(body).encode())
    with pytest.raises(ValidationError):
        TypeAdapter(Decision).validate_python(body)
