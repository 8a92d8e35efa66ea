"""`GET /health`: whether the service can answer, for load balancers and people.

Rules
-----
* Real reads answer it: the ledger's head, and a query on each store. It is 503 when one cannot be read, or when the
  stores are behind the ledger.
* No token is needed, so it says nothing of content, and nothing of why. Head and clock tell how much is written: they
  are for those whom the base lets in.

Example
-------
::

    GET /health → 200 {"status": "ok", "head": null, "clock": null, "behind": false}
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.auth import caller_of
from api.openapi import Answer, answers, extra, json_content
from api.parameters import query_parameters
from api.replies import json_reply
from api.service import Service
from bridge.health import probe
from kernel.errors import MunimentError
from kernel.instants import print_instant

if TYPE_CHECKING:
    from api import models
    from bridge.base import Base

log = logging.getLogger("muniment.http")

router = APIRouter(tags=["service"])

_WELL: Final[models.Health] = {"status": "ok", "head": 41, "clock": "2026-05-06T07:08:09Z", "behind": False}


@router.get(
    "/health",
    operation_id="health",
    summary="Whether the service can answer",
    response_class=Response,
    responses=answers(
        {
            200: Answer("Ledger and stores answer", json_content("Health", _WELL)),
            503: Answer("They do not, or the stores are behind", json_content("Health")),
        },
        problems=(400,),
    ),
    openapi_extra=extra(),
)
async def health(request: Request) -> Response:
    """Reads the ledger and both stores; needs no token, but tells head and clock to those alone who have one."""
    query_parameters(request, ())
    service = Service.of(request)
    answer = await service.read(lambda: _examine(service.base))
    if answer["clock"] is not None and await caller_of(request) is None:
        answer |= {"head": None, "clock": None}
    return json_reply(answer, 200 if answer["status"] == "ok" else 503)


def _examine(base: Base) -> models.Health:
    try:
        head = probe(base.ledger, base.stores)
    except MunimentError:
        log.exception("the health check failed")
        return {"status": "unavailable", "head": None, "clock": None, "behind": base.behind}
    return {
        "status": "unavailable" if base.behind else "ok",
        "head": head.position,
        "clock": print_instant(head.clock),
        "behind": base.behind,
    }
