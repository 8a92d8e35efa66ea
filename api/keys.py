"""`GET /keys`: the public keys of the base, for whoever verifies what it signed.

Rules
-----
* A JWK Set (RFC 7517, RFC 8037), so that any library takes it; with the events of the log that lead from key to key, so
  that whoever knows one of them need not believe this service for the others.

Example
-------
::

    GET /keys → 200 {"keys": [{"kty": "OKP", "crv": "Ed25519", …}], "events": []}
"""

from __future__ import annotations

import json
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.auth import BEARER
from api.openapi import Answer, answers, extra, text_content
from api.parameters import query_parameters
from api.service import Service
from bridge.keys import published_keys

MEDIA_TYPE: Final = "application/jwk-set+json"

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
