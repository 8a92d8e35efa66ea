"""`POST /certificates/{id}/revert`: a certificate that undoes another.

Rules
-----
* It is a write like any other: planned, judged, certified, perhaps reviewed; answered as `POST /changes` is.
* Who may not see the certificate is told that there is none; who may not write what it wrote is refused.
* It has parameters and no body.
* What is to be undone is looked up before it is planned. If another request was faster in between, it is looked up
  anew, so that the answer names the certificate that stands in the way.

Example
-------
::

    POST /certificates/0197…/revert?reason=loaded+twice → 201 {"certificate": "urn:uuid:…", "state": "applied", …}
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import Caller
from api.http.bodies import read_body
from api.http.openapi import Answer, answers, extra, json_content
from api.http.parameters import query_parameters
from api.http.waiting import answer_of
from api.routes.certificates import CertificateId, certificate_named
from api.routes.changes import DRY_RUN, IDEMPOTENCY, LOCATION, idempotency_key, reply, request_digest
from api.routes.document_request import REASON
from api.service import Service
from bridge.review.certificates import visible
from kernel import changes
from kernel.errors import InvalidDocument, MunimentError, StaleFact
from kernel.writing.reverting import inverse
from kernel.writing.submitting import Submission

if TYPE_CHECKING:
    from uuid import UUID

    from bridge.base import Base
    from kernel.writing.submitting import Outcome

_PARAMETERS = (REASON, DRY_RUN)

router = APIRouter(tags=["certificates"])


@router.post(
    "/certificates/{certificate}/revert",
    operation_id="revert",
    summary="Undo what a certificate did",
    status_code=201,
    response_class=Response,
    responses=answers(
        {
            200: Answer("A dry run, or a repeated request for a certificate decided since", json_content("Outcome")),
            201: Answer("Certified and applied", json_content("Outcome"), LOCATION),
            202: Answer("Certified; it waits for an editor", json_content("Outcome"), LOCATION),
            422: Answer("Certified as refused (with `Location`), or not to be planned at all", json_content("Outcome")),
        },
        problems=(400, 401, 403, 404, 409, 413, 422, 503),
    ),
    openapi_extra=extra(parameters=_PARAMETERS, headers=IDEMPOTENCY),
)
async def revert(request: Request, caller: Caller, certificate: CertificateId) -> Response:
    """Retracts what the certificate recorded, and believes again what it superseded; later ones are left alone."""
    parameters = query_parameters(request, _PARAMETERS)
    service, identifier = Service.of(request), certificate_named(certificate)
    if await read_body(request, service.settings.body_limit):
        raise InvalidDocument("there is a body", remedy="send none: the reason is a parameter", where="body")
    dry_run, key = parameters.flag(DRY_RUN), idempotency_key(request)
    digest = request_digest("", request.scope["query_string"], identifier.bytes)
    blank = Submission(
        changes.Request((), parameters.text(REASON), None, caller.id), caller, None if dry_run else key, digest, dry_run
    )
    return reply(await undo(service, identifier, blank), caller)


async def undo(service: Service, certificate: UUID, blank: Submission) -> Outcome:
    """Undoes what a certificate did.

    Args:
        service: where.
        certificate: what is undone.
        blank: the request that says who asks, why and under which key, and does not yet say what is to change.

    Raises:
        NotFound: there is no such certificate for whoever asks.
        Conflict: it was not applied, or a later certificate stands in the way.
        PlanError: it cannot be undone.
        Forbidden: they may not write what it wrote.
    """
    try:
        return await _submit(service, certificate, blank)
    except StaleFact:
        return await _submit(service, certificate, blank)


async def _submit(service: Service, certificate: UUID, blank: Submission) -> Outcome:
    wanted = await service.read(lambda: to_undo(service.base, certificate, blank))
    try:
        return await answer_of(service.base.submit(replace(blank, request=wanted)))
    except MunimentError as error:
        if error.where is not None and error.where.startswith("/changes"):
            error.where = "certificate"  # nobody sent changes
        raise


def to_undo(base: Base, certificate: UUID, blank: Submission) -> changes.Request:
    """What is to be undone; nothing where the key was used before, for then the answer is that of the first time."""
    caller, asked = blank.principal, blank.request
    with base.ledger.reading() as view:
        if blank.key is not None and view.idempotent(caller.id, blank.key) is not None:
            return asked
        return inverse(view, visible(view, caller, certificate), caller.id, reason=asked.reason)
