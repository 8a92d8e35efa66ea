"""The body of a decision, read strictly.

Rules
-----
* Three members and no others: `decision`, which is needed; `comment`, which has a longest length; and `signature`, the
  editor's own, in base64.
* A member that is unknown is named with the nearest known one; one that stands twice is refused.

Example
-------
>>> read_decision("application/json", b'{"decision": "approve", "comment": "as agreed"}')
Decided(decision=<DecisionKind.APPROVE: 'approve'>, comment='as agreed', signature=None)
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from typing import TYPE_CHECKING, Final, NamedTuple

from api.errors import UnsupportedMediaType
from api.suggestions import did_you_mean
from bridge.documents.json_text import parse_json
from certificates.records import DecisionKind
from kernel.errors import InvalidDocument, InvalidParameter, UnknownParameter

if TYPE_CHECKING:
    from bridge.documents.json_text import Json

LONGEST_COMMENT: Final = 10_000
"""Characters."""

_MEMBERS: Final = ("decision", "comment", "signature")


class Decided(NamedTuple):
    """What was decided, the comment, and the editor's own signature; None: there is none."""

    decision: DecisionKind
    comment: str | None
    signature: bytes | None


def read_decision(media_type: str, body: bytes) -> Decided:
    """What was decided.

    Args:
        media_type: of the body.
        body: as it came.

    Raises:
        UnsupportedMediaType: it is not JSON.
        InvalidDocument: it cannot be read as one JSON object.
        UnknownParameter: a member that a decision has not.
        InvalidParameter: a member that is missing or cannot be used.
    """
    if media_type != "application/json":
        raise UnsupportedMediaType(
            f"a decision does not come as {media_type}", remedy="send application/json", where="Content-Type"
        )
    members = _object(body)
    for name in members:
        if name not in _MEMBERS:
            raise UnknownParameter(
                "a decision has no such member", remedy=did_you_mean(name, _MEMBERS), where=f"/{name[:100]}"
            )
    return Decided(
        _kind(members.get("decision")), _comment(members.get("comment")), _signature(members.get("signature"))
    )


def _object(body: bytes) -> dict[str, Json]:
    members = parse_json(body)
    if not isinstance(members, dict):
        raise InvalidDocument("the body is not a JSON object", remedy='send {"decision": "approve"} or "reject"')
    return members


def _kind(decision: Json) -> DecisionKind:
    if not isinstance(decision, str) or decision not in list(DecisionKind):
        raise InvalidParameter("it is neither approve nor reject", remedy="give one of the two", where="/decision")
    return DecisionKind(decision)


def _comment(comment: Json) -> str | None:
    if comment is None:
        return None
    if not isinstance(comment, str):
        raise InvalidParameter("it is no text", remedy="give a text, or leave it out", where="/comment")
    return within_length(comment, "/comment")


def _signature(signature: Json) -> bytes | None:
    if signature is None:
        return None
    try:
        return b64decode(signature if isinstance(signature, str) else "!", validate=True)
    except (Base64Error, ValueError):
        raise InvalidParameter("it is not in base64", remedy="give 64 bytes in base64", where="/signature") from None


def within_length(comment: str, where: str, name: str = "comment") -> str:
    """The comment, or what else it is by name. Raises `InvalidParameter` for one that is too long."""
    if len(comment) > LONGEST_COMMENT:
        raise InvalidParameter(
            f"the {name} has {len(comment)} characters",
            remedy=f"give at most {LONGEST_COMMENT}, and cite where more is said",
            where=where,
        )
    return comment
