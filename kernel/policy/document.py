"""A policy as a document: JSON, with the members that `Policy.describe` gives.

Rules
-----
* `refuse` and `review` are conditions. There may be `confidence`, a number in text from 0 to 1, and `approval`, what
  approvals are held to beside what whoever runs the base has set.
* A condition is an object with one word (`kernel.policy.conditions`): `hasCode`, `contradicts`, `concerns`, `atLeast`,
  `weighs`, `rows`; `askedBy`, `roleAtMost`, `touches`, `changes`, `confidenceBelow`; `anyOf`, `allOf`, `not`; and
  `severity` where it takes one (`warning`, unless given).
* An approval rule is an object with one word (`kernel.policy.approval`): `noSelfApproval`, `signedByEditor`,
  `anyEditor`, each `true`, `approvals`, a number, or `every`, a list of rules.
* Unknown members are errors, with their place.

Example
-------
>>> text = '{"refuse": {"hasCode": "shape-violation"}, "review": {"anyOf": [{"contradicts": "type"}, {"rows": 100}]}}'
>>> policy_of(text).describe()["review"]
{'anyOf': [{'contradicts': 'type'}, {'rows': 100}]}
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, TypeVar

from certificates.contradictions import ContradictionKind
from certificates.findings import FindingCode, Severity
from kernel.access import Role
from kernel.confidence import CONFIDENCE_SAID, read_confidence
from kernel.errors import InvalidDocument, InvalidTerm
from kernel.policy.approval import ANY_EDITOR, Approvals, Every, NoSelfApproval, SignedByEditor
from kernel.policy.conditions import (
    AllOf,
    AnyOf,
    AskedBy,
    AtLeast,
    Changes,
    Concerns,
    ConfidenceBelow,
    Contradicts,
    HasCode,
    Not,
    RoleAtMost,
    Rows,
    Touches,
    Weighs,
)
from kernel.policy.verdicts import Policy
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from enum import StrEnum

    from kernel.policy.approval import ApprovalRule
    from kernel.policy.conditions import Condition

_POLICY: Final = ("refuse", "review", "confidence", "approval")
_GRADED: Final = frozenset({"hasCode", "concerns", "atLeast"})
_SIMPLE: Final[Mapping[str, Callable[[object, str], Condition]]] = {
    "contradicts": lambda given, where: Contradicts(_one(given, where, ContradictionKind)),
    "weighs": lambda given, where: Weighs(_number(given, where)),
    "rows": lambda given, where: Rows(_number(given, where)),
    "askedBy": lambda given, where: AskedBy(_principal(given, where)),
    "roleAtMost": lambda given, where: RoleAtMost(_role(given, where)),
    "touches": lambda given, where: Touches(_graph(given, where)),
    "changes": lambda given, where: Changes(_number(given, where)),
    "confidenceBelow": lambda given, where: ConfidenceBelow(_confidence(given, where)),
}
_NESTING: Final = ("anyOf", "allOf", "not")
_WORDS: Final = ("hasCode", "concerns", "atLeast", *_SIMPLE, *_NESTING)
_PLAIN: Final[Mapping[str, ApprovalRule]] = {
    "anyEditor": ANY_EDITOR,
    "noSelfApproval": NoSelfApproval(),
    "signedByEditor": SignedByEditor(),
}
_APPROVAL: Final = (*_PLAIN, "approvals", "every")
_DEEPEST: Final = 16
_LARGEST: Final = 2**53 - 1
_MOST_DIGITS: Final = 16
_PRINCIPAL: Final = re.compile(r"[!-~]{1,256}")

E = TypeVar("E", bound="StrEnum")


def policy_of(text: str) -> Policy:
    """The policy that a document says. Raises `InvalidDocument`, with the place."""
    try:
        members = json.loads(text, object_pairs_hook=_unique, parse_int=_whole)
    except RecursionError:
        raise InvalidDocument("the policy is not JSON that is nested within reason", remedy="nest less") from None
    except ValueError as error:
        raise InvalidDocument(f"the policy is not JSON: {error}", remedy="write one JSON object") from None
    said = _object(members, "", _POLICY)
    for name in _POLICY[:2]:
        if name not in said:
            raise _wrong(f"/{name}", "it is missing", "say when a plan is refused, and when it waits for review")
    refuse, review = (_condition(said[name], f"/{name}", 0) for name in _POLICY[:2])
    confidence = _confidence(said.get("confidence", "0.5"), "/confidence")
    approval = _approval(said["approval"], "/approval", 0) if "approval" in said else ANY_EDITOR
    return Policy(refuse, review, confidence, approval)


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        remedy = f"give one of up to {_MOST_DIGITS} digits"
        raise InvalidDocument(f"the policy has a number of {len(digits):,} digits", remedy=remedy)
    return int(digits)


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
    if word in _NESTING:
        return _nesting(word, given, where, depth + 1)
    if word in _SIMPLE:
        return _SIMPLE[word](given, where)
    severity = _one(said.get("severity", "warning"), f"{place}/severity", Severity)
    match word:
        case "hasCode":
            return HasCode(_one(given, where, FindingCode), severity)
        case "concerns":
            return Concerns(_graph(given, where), severity)
        case _:
            return AtLeast(_number(given, where), severity)


def _nesting(word: str, given: object, where: str, depth: int) -> Condition:
    if word == "not":
        return Not(_condition(given, where, depth))
    parts = tuple(_condition(each, f"{where}/{number}", depth) for number, each in enumerate(_several(given, where)))
    return AnyOf(parts) if word == "anyOf" else AllOf(parts)


def _approval(value: object, place: str, depth: int) -> ApprovalRule:
    said = _object(value, place, _APPROVAL)
    if len(said) != 1 or depth > _DEEPEST:
        raise _wrong(place, "it is no approval rule", f"give one of {', '.join(_APPROVAL)}")
    ((word, given),) = said.items()
    where = f"{place}/{word}"
    if word == "every":
        return Every(
            tuple(_approval(each, f"{where}/{number}", depth + 1) for number, each in enumerate(_several(given, where)))
        )
    if word == "approvals":
        return Approvals(_number(given, where))
    if given is not True:
        raise _wrong(where, "it is not true", "write true, or leave the rule out")
    return _PLAIN[word]


def _several(given: object, where: str) -> list[object]:
    if not isinstance(given, list) or not given:
        raise _wrong(where, "it is no list", "give one or more in [ ]")
    return given


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


def _principal(value: object, place: str) -> str:
    if not isinstance(value, str) or not _PRINCIPAL.fullmatch(value):
        raise _wrong(
            place, "it is not the id of a principal", "give 1 to 256 printable ASCII characters without spaces"
        )
    return value


def _graph(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise _wrong(place, "it is not the IRI of a graph", "give it as a text")
    try:
        return Iri(value).value
    except InvalidTerm as error:
        raise _wrong(place, f"it is not the IRI of a graph: {error.message}", error.remedy) from error


def _role(value: object, place: str) -> Role:
    names = [role.name.lower() for role in Role]
    if value not in names:
        raise _wrong(place, "it is no role", f"give one of {', '.join(names)}")
    return Role(names.index(str(value)) + 1)


def _number(value: object, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _LARGEST:
        raise _wrong(place, "it is no whole number from 1 on", "give one")
    return value


def _confidence(value: object, place: str) -> str:
    number = read_confidence(value) if isinstance(value, str) else None
    if number is None:
        raise _wrong(place, f"it is not {CONFIDENCE_SAID}, in text", 'give one, such as "0.5"')
    return format(number.normalize(), "f")


def _wrong(place: str, problem: str, remedy: str) -> InvalidDocument:
    return InvalidDocument(f"the policy cannot be read: {problem}", remedy=remedy, where=place or "/")
