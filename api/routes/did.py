"""The base's `did:web` document, for whoever verifies what it signed by the name of its public URL.

Rules
-----
* It lies where resolvers look (did:web method, section 3.2): at `/.well-known/did.json`, or, where the public URL has a
  path, at `did.json` below that. They send no token, so none is asked for; it has public keys and nothing else.
* Where no public URL is set, there is none.

Example
-------
::

    GET /.well-known/did.json → 200 {"id": "did:web:kg.example.org", "verificationMethod": […], …}
"""

from __future__ import annotations

import json
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.openapi import Answer, answers, extra, text_content
from api.http.parameters import query_parameters
from api.service import Service
from bridge.signing.keys import key_history
from certificates.dids import did_document, document_path
from kernel.errors import NotFound

MEDIA_TYPE: Final = "application/did+ld+json"
_WELL_KNOWN: Final = "/.well-known/did.json"
_DOCUMENT: Final = answers({200: Answer("A DID document", text_content([MEDIA_TYPE]))}, problems=(400, 404, 503))

router = APIRouter(tags=["log"])


@router.get(
    _WELL_KNOWN,
    operation_id="getDid",
    summary="The keys of the base, under the name of its public URL",
    response_class=Response,
    responses=_DOCUMENT,
    openapi_extra=extra(),
)
async def well_known(request: Request) -> Response:
    """Gives the `did:web` document of a base whose public URL is that of a host."""
    return await _document(request, at_host=True)


@router.get(
    "/did.json",
    operation_id="getDidBelow",
    summary="The same, where the public URL has a path",
    response_class=Response,
    responses=_DOCUMENT,
    openapi_extra=extra(),
)
async def below(request: Request) -> Response:
    """Gives the `did:web` document of a base whose public URL has a path."""
    return await _document(request, at_host=False)


async def _document(request: Request, *, at_host: bool) -> Response:
    query_parameters(request, ())
    service = Service.of(request)
    url, did = service.settings.public_url, service.settings.issuer
    if url is None or did is None or (document_path(url) == _WELL_KNOWN) is not at_host:
        raise NotFound(
            "the base has no such name", remedy="whoever runs the service sets its public_url", where="public_url"
        )
    history = await service.read(lambda: key_history(service.base.ledger))
    return Response(json.dumps(did_document(did, history)), 200, {"Cache-Control": "no-cache"}, MEDIA_TYPE)
