"""`/keys`: the public keys of the base, for whoever verifies what it signed; and their change, for administrators.

Rules
-----
* A JWK Set (RFC 7517, RFC 8037), so that any library takes it; with the events of the log that lead from key to key, so
  that whoever knows one of them need not believe this service for the others.
* A rotation and a revocation are writes: made by the base's one writer, and answered once they are durable. They are
  for administrators of the base.

Example
-------
::

    GET /keys → 200 {"keys": [{"kty": "OKP", "crv": "Ed25519", …}], "events": []}
    POST /keys/rotate → 200 {"key": "z6Mk…", "previous": "z6Mk…", "at": "…"}
    POST /keys/z6Mk…/revoke {"since": "2026-05-06T00:00:00Z", "reason": "compromised"} → 200 {"key": "z6Mk…", …}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import BEARER, Caller
from api.errors import UnsupportedMediaType
from api.http.bodies import read_body
from api.http.media import body_type
from api.http.openapi import Answer, answers, extra, json_content, reference, text_content
from api.http.parameters import query_parameters
from api.http.replies import json_reply
from api.http.waiting import answer_of
from api.service import Service
from api.suggestions import did_you_mean
from bridge.documents.json_text import parse_json
from bridge.signing.keys import published_keys
from certificates.errors import UnreadableKey
from certificates.keys import VerifyingKey
from certificates.revocation import RevocationReason
from kernel.errors import Forbidden, InvalidDocument, InvalidParameter, NotFound, UnknownParameter
from kernel.time.instants import parse_instant

if TYPE_CHECKING:
    from api.models import keys as models
    from kernel.access import Principal
    from kernel.time.instants import Instant

MEDIA_TYPE: Final = "application/jwk-set+json"
_MEMBERS: Final = ("since", "reason")

KeyText = Annotated[str, Path(description="the key's `z6Mk…` text, or its `kid` as `GET /keys` has it")]

router = APIRouter(tags=["log"])


@router.get(
    "/keys",
    operation_id="getKeys",
    dependencies=[BEARER],
    summary="The public keys of the base",
    response_class=Response,
    responses=answers(
        {200: Answer("A JWK Set, with the events about keys", text_content([MEDIA_TYPE]))}, problems=(400, 401, 503)
    ),
    openapi_extra=extra(),
)
async def keys(request: Request) -> Response:
    """Gives the keys whose signatures are good, the one that signs first, and every event of the log about keys."""
    query_parameters(request, ())
    service = Service.of(request)
    found = await service.read(lambda: published_keys(service.base.ledger))
    return Response(json.dumps(found), 200, {"Cache-Control": "no-cache"}, MEDIA_TYPE)


@router.post(
    "/keys/rotate",
    operation_id="rotateKey",
    summary="Sign with a new key from now on",
    response_class=Response,
    responses=answers(
        {200: Answer("The log says so", json_content("KeyRotation"))}, problems=(400, 401, 403, 409, 413, 503)
    ),
    openapi_extra=extra(),
)
async def rotate(request: Request, caller: Caller) -> Response:
    """Makes a new key, tells the log of it, signed with both, and signs with it. What the old one signed stays good."""
    query_parameters(request, ())
    service = _governed(request, caller)
    if await read_body(request, service.settings.body_limit):
        raise InvalidDocument("there is a body", remedy="send none", where="body")
    event = await answer_of(await service.read(service.base.keys.rotate))
    answer: models.KeyRotation = {
        "key": event.key.multibase,
        "previous": event.previous.multibase,
        "at": event.at,
    }
    return json_reply(answer)


@router.post(
    "/keys/{key}/revoke",
    operation_id="revokeKey",
    summary="Tell that a key is not to be trusted since an instant",
    response_class=Response,
    responses=answers(
        {200: Answer("The log says so", json_content("KeyRevocation"))},
        problems=(400, 401, 403, 404, 409, 413, 415, 503),
    ),
    openapi_extra=extra(body={"application/json": {"schema": reference("Revocation")}}),
)
async def revoke(request: Request, caller: Caller, key: KeyText) -> Response:
    """Tells the log that a key which was rotated away may have been used by others, since when, and why."""
    query_parameters(request, ())
    service = _governed(request, caller)
    media_type = body_type(request.headers.get("content-type"))
    since, reason = _revocation(media_type, await read_body(request, service.settings.body_limit))
    event = await answer_of(service.base.keys.revoke(_named(key), since, reason))
    answer: models.KeyRevocation = {
        "key": event.key.multibase,
        "since": event.since,
        "reason": event.reason,
        "at": event.at,
    }
    return json_reply(answer)


def _governed(request: Request, caller: Principal) -> Service:
    if not caller.governs:
        raise Forbidden(
            "keys are changed by administrators of the base", remedy="use a token of an administrator of all graphs"
        )
    return Service.of(request)


def _named(key: str) -> VerifyingKey:
    """The key of a multikey, or of a `kid` as GET /keys lists it, which ends with one."""
    multikey = key.rpartition("#")[2]
    try:
        return VerifyingKey.from_multikey(multikey if multikey.startswith("z") else "z")
    except UnreadableKey:
        raise NotFound("there is no such key", remedy="GET /keys lists them", where="key") from None


def _revocation(media_type: str, body: bytes) -> tuple[Instant, RevocationReason]:
    """Since when, and why."""
    if media_type != "application/json":
        raise UnsupportedMediaType(
            f"a revocation does not come as {media_type}", remedy="send application/json", where="Content-Type"
        )
    members = parse_json(body)
    if not isinstance(members, dict):
        raise InvalidDocument("the body is not a JSON object", remedy='send {"since": "2026-05-06T00:00:00Z"}')
    for name in members:
        if name not in _MEMBERS:
            raise UnknownParameter(
                "a revocation has no such member", remedy=did_you_mean(name, _MEMBERS), where=f"/{name[:100]}"
            )
    since, reason = members.get("since"), members.get("reason", RevocationReason.UNSPECIFIED.value)
    if not isinstance(since, str):
        raise InvalidParameter("it is no time", remedy="give the first instant of doubt", where="/since")
    if reason not in list(RevocationReason):
        listed = ", ".join(each.value for each in RevocationReason)
        raise InvalidParameter("it is no reason", remedy=f"give one of {listed}", where="/reason")
    return parse_instant(since, field="/since"), RevocationReason(str(reason))
