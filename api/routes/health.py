"""`GET /health`: whether the service can answer, for load balancers and people.

Rules
-----
* Real reads answer it: the ledger's head, and a query on each store. It is 503 when one cannot be read, or when the
  stores are behind the ledger. Where nothing can be written, but all is read, it is 200 and `read-only`.
* What is wrong has a word, `reason`; each of these states ends by itself once its cause does, without a restart.
* No token is needed, so it says nothing of content, and nothing of why. Head and clock tell how much is written: they
  are for those whom the base lets in.

Example
-------
::

    GET /health → 200 {"status": "ok", "reason": null, "head": null, "clock": null, "behind": false}
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import caller_of
from api.callers.manifest import Mode
from api.http.openapi import Answer, answers, extra, json_content
from api.http.parameters import query_parameters
from api.http.replies import json_reply
from api.service import Service
from bridge.upkeep.health import probe
from kernel.errors import MunimentError, StoreUnavailable
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from api.models import service as models
    from bridge.base import Base

log = logging.getLogger("muniment.http")

router = APIRouter(tags=["service"])


_UNWRITABLE: Final[dict[str, models.HealthReason]] = {"full": "disk-full", "locked": "ledger-locked"}


@router.get(
    "/health",
    operation_id="health",
    summary="Whether the service can answer",
    response_class=Response,
    responses=answers(
        {
            200: Answer("Ledger and stores answer; whether they are written to, `status` says", json_content("Health")),
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
    if service.settings.mode is not Mode.STANDARD:
        answer["mode"] = service.settings.mode.value
    if answer["clock"] is not None and await caller_of(request) is None:
        answer |= {"head": None, "clock": None}
    return json_reply(answer, 503 if answer["status"] == "unavailable" else 200)


def _examine(base: Base) -> models.Health:
    behind = base.behind
    try:
        head = probe(base.ledger, base.stores)
    except MunimentError as error:
        log.exception("the health check failed")
        reason: models.HealthReason = "store-unreadable" if isinstance(error, StoreUnavailable) else "ledger-unreadable"
        return {"status": "unavailable", "reason": reason, "head": None, "clock": None, "behind": behind}
    status, told = _state(behind=behind, unwritable=base.read_only)
    clock = print_instant(head.clock)
    return {"status": status, "reason": told, "head": head.position, "clock": clock, "behind": behind}


def _state(*, behind: bool, unwritable: str | None) -> tuple[models.HealthStatus, models.HealthReason | None]:
    if behind:
        return "unavailable", "stores-behind"
    if unwritable is not None:
        return "read-only", _UNWRITABLE.get(unwritable, "ledger-unwritable")
    return "ok", None
