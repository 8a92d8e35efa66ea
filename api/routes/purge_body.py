"""The bodies of `POST /purges` and of lifting a tombstone, read strictly.

Rules
-----
* Exactly one of `fact`, `family`, `node`, `episode` and `graph` says what is to go; `reason` says why.
* `preview` asks what would go. Without it the `digest` that a preview gave is needed: nothing is purged unseen.
* A member that is unknown is named with the nearest known one; one that stands twice is refused.

Example
-------
>>> read_purge("application/json", b'{"node": "urn:ann", "preview": true}').target.text
'urn:ann'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from api.errors import UnsupportedMediaType
from api.routes.decision_body import within_length
from api.suggestions import did_you_mean
from bridge.documents.json_text import parse_json
from kernel.errors import InvalidDocument, InvalidParameter, InvalidTerm, ReservedGraph, UnknownParameter
from kernel.purging.targets import Target, TargetKind
from kernel.terms import Iri

if TYPE_CHECKING:
    from bridge.documents.json_text import Json

_KINDS: Final = tuple(TargetKind)
_PURGE: Final = (*(kind.value for kind in TargetKind), "reason", "preview", "digest")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_URN: Final = "urn:uuid:"


@dataclass(frozen=True, slots=True)
class Asked:
    """A purge as it is asked for.

    Args:
        target: of what.
        reason: for those who read its certificate; needed to carry it out.
        digest: of the preview that it is bound to; None to preview it.
    """

    target: Target
    reason: str
    digest: str | None


def read_purge(media_type: str, body: bytes) -> Asked:
    """What is to be purged.

    Raises:
        UnsupportedMediaType: it is not JSON.
        InvalidDocument: it cannot be read as one JSON object.
        UnknownParameter: a member that a purge has not.
        InvalidParameter: a member that is missing, cannot be used, or does not go with another.
        ReservedGraph: a graph that is not purged as a whole.
    """
    members = _members(media_type, body, _PURGE)
    target = _target(members)
    preview = members.get("preview", False)
    if not isinstance(preview, bool):
        raise InvalidParameter("it is neither true nor false", remedy="give true, or leave it out", where="/preview")
    if preview:
        if "digest" in members:
            raise InvalidParameter("a preview is bound to none", remedy="leave it out", where="/digest")
        return Asked(target, "" if "reason" not in members else _reason(members), None)
    digest = members.get("digest")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise InvalidParameter(
            "it is missing, or no digest of a preview",
            remedy='ask with "preview": true first, and give the digest of that',
            where="/digest",
        )
    return Asked(target, _reason(members), digest)


def read_reason(media_type: str, body: bytes) -> str:
    """Why tombstones are lifted; raises as `read_purge`."""
    return _reason(_members(media_type, body, ("reason",)))


def _members(media_type: str, body: bytes, known: tuple[str, ...]) -> dict[str, Json]:
    if media_type != "application/json":
        raise UnsupportedMediaType(
            f"this does not come as {media_type}", remedy="send application/json", where="Content-Type"
        )
    members = parse_json(body)
    if not isinstance(members, dict):
        raise InvalidDocument("the body is not a JSON object", remedy='send {"node": "…", "reason": "…", …}')
    for name in members:
        if name not in known:
            raise UnknownParameter("there is no such member", remedy=did_you_mean(name, known), where=f"/{name[:100]}")
    return members


def _target(members: dict[str, Json]) -> Target:
    named = [kind for kind in _KINDS if kind.value in members]
    if len(named) != 1:
        listed = ", ".join(kind.value for kind in _KINDS)
        what = "nothing says what is to go" if not named else "more than one thing is to go"
        raise InvalidParameter(what, remedy=f"give exactly one of {listed}", where=f"/{(named or _KINDS)[-1]}")
    (kind,) = named
    text, where = members[kind.value], f"/{kind}"
    if not isinstance(text, str):
        raise InvalidParameter("it is no text", remedy="give an id or an IRI", where=where)
    return target_of(kind, text, where)


def target_of(kind: TargetKind, text: str, where: str) -> Target:
    """What is to go, of a kind, by its id or IRI.

    Raises:
        InvalidParameter, InvalidTerm, ReservedGraph: it is none that can be purged; named is `where` it was given.
    """
    try:
        return Target(kind, _identifier(text, where) if kind in {TargetKind.FACT, TargetKind.FAMILY} else Iri(text))
    except (InvalidTerm, ReservedGraph) as error:
        error.where = where
        raise


def _identifier(text: str, where: str) -> UUID:
    try:
        return UUID(text.removeprefix(_URN))
    except ValueError:
        raise InvalidParameter("it is no id", remedy=f"give it as {_URN}…", where=where) from None


def _reason(members: dict[str, Json]) -> str:
    reason = members.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidParameter(
            "it is missing" if reason is None or reason == "" else "it is no text that says anything",
            remedy="say why, without what is purged: others will read it",
            where="/reason",
        )
    return within_length(reason, "/reason", "reason")
