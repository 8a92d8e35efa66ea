"""A policy as a document: JSON, with the members that `Policy.describe` gives.

Rules
-----
* `refuse` and `review` are conditions; `confidence`, a number in text from 0 to 1, may be left out. What approvals are
  held to is no part of the document, but a setting of whoever runs the base.
* A condition is an object with one of `hasCode`, `contradicts`, `concerns`, `atLeast`, `weighs`, `rows`, `anyOf`,
  `allOf`, and `severity` where it takes one (`warning`, unless given). Unknown members are errors, with their place.

Example
-------
>>> text = '{"refuse": {"hasCode": "shape-violation"}, "review": {"anyOf": [{"contradicts": "type"}, {"rows": 100}]}}'
>>> policy_of(text).describe()["review"]
{'anyOf': [{'contradicts': 'type'}, {'rows': 100}]}
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final, TypeVar

from certificates.contradictions import ContradictionKind
from certificates.findings import FindingCode, Severity
from kernel.errors import InvalidDocument
from kernel.policy import AllOf, AnyOf, AtLeast, Concerns, Contradicts, HasCode, Policy, Rows, Weighs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

    from kernel.policy import Condition

_POLICY: Final = ("refuse", "review", "confidence")
_GRADED: Final = frozenset({"hasCode", "concerns", "atLeast"})
_WORDS: Final = ("hasCode", "contradicts", "concerns", "atLeast", "weighs", "rows", "anyOf", "allOf")
_DEEPEST: Final = 16
_LARGEST: Final = 2**53 - 1

E = TypeVar("E", bound="StrEnum")


def policy_of(text: str) -> Policy:
    """The policy that a document says. Raises `InvalidDocument`, with the place."""
    try:
        members = json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise InvalidDocument("the policy is not JSON that is nested within reason", remedy="nest less") from None
    except ValueError as error:
        raise InvalidDocument(f"the policy is not JSON: {error}", remedy="write one JSON object") from None
    said = _object(members, "", _POLICY)
    for name in _POLICY[:2]:
        if name not in said:
            raise _wrong(f"/{name}", "it is missing", "say when a plan is refused, and when it waits for review")
    refuse, review = (_condition(said[name], f"/{name}", 0) for name in _POLICY[:2])
    return Policy(refuse, review, _confidence(said.get("confidence", "0.5")))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidDocument(f"the policy has {twice!r} twice in one object", remedy="give each member once")
    return members


def _condition(value: object, place: str, depth: int) -> Condition:
    said = _object(value, place, (*_WORDS, "severity"))
    words = [word for word in _WORDS if word in said]
    if len(words) != 1 or ("severity" in said and words[0] not in _GRADED) or depth > _DEEPEST:
        raise _wrong(place, "it is no condition", f"give one of {', '.join(_WORDS)}, and severity where it takes one")
    (word,) = words
    given, where = said[word], f"{place}/{word}"
    if word in ("anyOf", "allOf"):
        if not isinstance(given, list) or not given:
            raise _wrong(where, "it is no list of conditions", "give one or more in [ ]")
        parts = tuple(_condition(each, f"{where}/{number}", depth + 1) for number, each in enumerate(given))
        return AnyOf(parts) if word == "anyOf" else AllOf(parts)
    severity = _one(said.get("severity", "warning"), f"{place}/severity", Severity)
    match word:
        case "hasCode":
            return HasCode(_one(given, where, FindingCode), severity)
        case "contradicts":
            return Contradicts(_one(given, where, ContradictionKind))
        case "concerns":
            return Concerns(_text(given, where), severity)
        case "atLeast":
            return AtLeast(_number(given, where), severity)
        case "weighs":
            return Weighs(_number(given, where))
        case _:
            return Rows(_number(given, where))


def _object(value: object, place: str, known: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _wrong(place, "it is no JSON object", f"give an object with {', '.join(known)}")
    if strange := [name for name in value if name not in known]:
        raise _wrong(f"{place}/{strange[0][:100]}", "there is no such member", f"use {', '.join(known)}")
    return value


def _one(value: object, place: str, kind: type[E]) -> E:
    if not isinstance(value, str) or value not in [each.value for each in kind]:
        raise _wrong(place, "it is not known", f"give one of {', '.join(kind)}")
    return kind(value)


def _text(value: object, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(place, "it is no IRI", "give the graph's IRI")
    return value


def _number(value: object, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _LARGEST:
        raise _wrong(place, "it is no whole number from 1 on", "give one")
    return value


def _confidence(value: object) -> str:
    try:
        number = Decimal(value) if isinstance(value, str) else Decimal("NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number <= 1:
        raise _wrong("/confidence", "it is no number from 0 to 1 in text", 'give one, such as "0.5"')
    return format(number.normalize(), "f")


def _wrong(place: str, problem: str, remedy: str) -> InvalidDocument:
    return InvalidDocument(f"the policy cannot be read: {problem}", remedy=remedy, where=place or "/")
