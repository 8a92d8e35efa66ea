"""Requests as bytes, and back, without loss.

Rules
-----
* Canonical JSON (RFC 8785). A change is an object whose `op` says which; a member that would say nothing is left out.
* A term is its N-Triples text; an instant is a decimal number in a string, for it may exceed 2^53. A confidence keeps
  its digits: 0.50 does not become 0.5.
* What is unknown is refused: what a later release wrote is not half understood.

Example
-------
>>> from kernel.terms import Iri, Statement
>>> change = Assert(Statement(Iri("urn:a"), Iri("urn:p"), Iri("urn:b"), Iri("urn:g")))
>>> encode_request(Request((change,), None, None, "p1"))
b'{"changes":[{"op":"assert","statement":["<urn:a>","<urn:p>","<urn:b>","<urn:g>"]}],"principal":"p1"}'
>>> decode_request(_).changes == (change,)
True
"""

from __future__ import annotations

import json
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from bridge.ledger.damage import sound
from certificates.canonical import canonical_json
from kernel.access import Role
from kernel.changes import NO_SPELLING, Assert, End, Reinstate, Request, Retract, Revise
from kernel.facts import Spelling, Validity
from kernel.terms import Statement, parse_iri, parse_literal, parse_term
from kernel.time.instants import Instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.time.timevalues import Bound

if TYPE_CHECKING:
    from decimal import Decimal as Confidence

    from kernel.changes import Change

Json: TypeAlias = "str | list[Json] | dict[str, Json] | None"
Members: TypeAlias = dict[str, Json]


def encode_request(request: Request) -> bytes:
    """The bytes of a request."""
    members: Members = {"principal": request.principal, "changes": [_encode(change) for change in request.changes]}
    if request.reason is not None:
        members["reason"] = request.reason
    if request.episode is not None:
        members["episode"] = request.episode.n3
    if request.session is not None:
        members["session"] = request.session
    if request.role is not None:
        members["role"] = request.role.name
    if request.partial:
        members["reads"] = "partly"
    return canonical_json(members)


@sound("a request")
def decode_request(data: bytes) -> Request:
    """The request that `encode_request` made bytes of. Raises `DamagedBase`."""
    members = _object(json.loads(data))
    request = Request(
        changes=tuple(map(_decode, _list(members.pop("changes")))),
        reason=_optional(members.pop("reason", None)),
        episode=parse_iri(_text(members.pop("episode"))) if "episode" in members else None,
        principal=_text(members.pop("principal")),
        session=_optional(members.pop("session", None)),
        role=Role[_text(members.pop("role"))] if "role" in members else None,
        partial=_optional(members.pop("reads", None)) is not None,
    )
    _refuse_rest(members)
    return request


def _encode(change: Change) -> Members:
    if isinstance(change, Assert):
        members: Members = {"op": "assert", "statement": _encode_statement(change.statement)}
        if change.validity != Validity.always():
            members["valid"] = _encode_validity(change.validity)
        _encode_support(members, change.spelling, change.confidence)
    elif isinstance(change, End):
        members = {"op": "end", **_encode_target(change.target)}
        _encode_bound(members, "at", change.at)
    elif isinstance(change, Retract):
        members = {"op": "retract", **_encode_target(change.target)}
        if change.within is not None:
            members["within"] = [str(change.within.start), str(change.within.end)]
    elif isinstance(change, Reinstate):
        members = {"op": "reinstate", "fact": str(change.fact)}
    else:
        members = {"op": "revise", "fact": str(change.fact)}
        if change.object is not None:
            members["object"] = change.object.n3
        _encode_bound(members, "start", change.start)
        _encode_bound(members, "end", change.end)
        _encode_support(members, change.spelling, change.confidence)
    return members


def _encode_statement(statement: Statement) -> list[Json]:
    return [statement.subject.n3, statement.predicate.n3, statement.object.n3, statement.graph.n3]


def _encode_target(target: Statement | UUID) -> Members:
    return {"fact": str(target)} if isinstance(target, UUID) else {"statement": _encode_statement(target)}


def _encode_validity(validity: Validity) -> list[Json]:
    interval = validity.interval
    return [str(interval.start), str(interval.end), validity.start_precision.value, validity.end_precision.value]


def _encode_bound(members: Members, name: str, bound: Bound | None) -> None:
    if bound is not None:
        members[name] = [str(bound.instant), bound.precision.value, bound.spelling]


def _encode_support(members: Members, spelling: Spelling, confidence: Confidence | None) -> None:
    if confidence is not None:
        members["confidence"] = str(confidence)
    if spelling:
        spelt = None if spelling.object is None else spelling.object.n3
        members["spelling"] = [spelt, spelling.valid_from, spelling.valid_to]


def _decode(value: Json) -> Change:
    members = _object(value)
    operation = members.pop("op")
    change: Change
    if operation == "assert":
        statement = _statement(members.pop("statement"))
        validity = _validity(*_texts(members.pop("valid"))) if "valid" in members else Validity.always()
        change = Assert(statement, validity, _spelling(members), _confidence(members))
    elif operation == "end":
        change = End(_target(members), _bound(members, "at"))
    elif operation == "retract":
        change = Retract(_target(members), _interval(*_texts(members.pop("within"))) if "within" in members else None)
    elif operation == "revise":
        fact = UUID(_text(members.pop("fact")))
        term = parse_term(_text(members.pop("object"))) if "object" in members else None
        start, end = _bound(members, "start"), _bound(members, "end")
        change = Revise(fact, term, start, end, _spelling(members), _confidence(members))
    elif operation == "reinstate":
        change = Reinstate(UUID(_text(members.pop("fact"))))
    else:
        raise ValueError(f"unknown operation {operation!r}")
    _refuse_rest(members)
    return change


def _statement(value: Json) -> Statement:
    subject, predicate, term, graph = _texts(value)
    return Statement(parse_iri(subject), parse_iri(predicate), parse_term(term), parse_iri(graph))


def _target(members: Members) -> Statement | UUID:
    return UUID(_text(members.pop("fact"))) if "fact" in members else _statement(members.pop("statement"))


@lru_cache(maxsize=8_192)
def _validity(start: str, end: str, start_precision: str, end_precision: str) -> Validity:
    return Validity(_interval(start, end), Precision(start_precision), Precision(end_precision))


def _interval(start: str, end: str) -> Interval:
    return Interval(int(start), int(end))


def _bound(members: Members, name: str) -> Bound | None:
    if name not in members:
        return None
    instant, precision, spelling = _list(members.pop(name))
    return Bound(Instant(int(_text(instant))), Precision(_text(precision)), _optional(spelling))


def _confidence(members: Members) -> Confidence | None:
    return Decimal(_text(members.pop("confidence"))) if "confidence" in members else None


def _spelling(members: Members) -> Spelling:
    if "spelling" not in members:
        return NO_SPELLING
    text, valid_from, valid_to = map(_optional, _list(members.pop("spelling")))
    return Spelling(None if text is None else parse_literal(text), valid_from, valid_to)


def _refuse_rest(members: Members) -> None:
    if members:
        raise ValueError(f"unknown member {min(members)!r}")


def _object(value: Json) -> Members:
    if not isinstance(value, dict):
        raise TypeError("an object is expected")
    return value


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise TypeError("an array is expected")
    return value


def _texts(value: Json) -> list[str]:
    return list(map(_text, _list(value)))


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("text is expected")
    return value


def _optional(value: Json) -> str | None:
    return None if value is None else _text(value)
