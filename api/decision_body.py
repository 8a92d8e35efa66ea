"""The body of a decision, read strictly.

Rules
-----
* Two members and no others: `decision`, which is needed, and `comment`, which has a longest length.
* A member that is unknown is named with the nearest known one; one that stands twice is refused.

Example
-------
>>> read_decision("application/json", b'{"decision": "approve", "comment": "as agreed"}')
(<DecisionKind.APPROVE: 'approve'>, 'as agreed')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from api.errors import UnsupportedMediaType
from api.suggestions import did_you_mean
from bridge.documents.json_text import parse_json
from certificates.records import DecisionKind
from kernel.errors import InvalidDocument, InvalidParameter, UnknownParameter

if TYPE_CHECKING:
    from bridge.documents.json_text import Json

LONGEST_COMMENT: Final = 10_000
"""Characters."""

_MEMBERS: Final = ("decision", "comment")


def read_decision(media_type: str, body: bytes) -> tuple[DecisionKind, str | None]:
    """What was decided, and the comment.

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
    return _kind(members.get("decision")), _comment(members.get("comment"))


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


def within_length(comment: str, where: str, name: str = "comment") -> str:
    """The comment, or what else it is by name. Raises `InvalidParameter` for one that is too long."""
    if len(comment) > LONGEST_COMMENT:
        raise InvalidParameter(
            f"the {name} has {len(comment)} characters",
            remedy=f"give at most {LONGEST_COMMENT}, and cite where more is said",
            where=where,
        )
    return comment
