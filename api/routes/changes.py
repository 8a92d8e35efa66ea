"""`POST /changes`: the one way in for changes.

Rules
-----
* JSON says change by change what is asked; an RDF document asserts each of its statements, with what the parameters say
  of all of them. JSON has members for that; only `dry-run` goes with both.
* The answer follows the plan: 201 it is applied, 202 it waits for an editor, 422 it is refused, with the findings; 200
  for a dry run, which leaves no trace. What cannot be planned at all is a problem document.
* `Idempotency-Key` makes a request that may be sent again: the same key from the same caller gets the same certificate.
  What is compared is body, format and parameters. A dry run has nothing to repeat, and keeps no key.
* The event loop waits for nobody: large bodies are parsed in a thread, and the plan is made in the sequencer's.

Example
-------
::

    POST /changes {"reason": "census", "changes": [{"op": "assert", "subject": {"@id": "urn:a"}, …}]}
    → 201 {"certificate": "urn:uuid:…", "verdict": "clear", "state": "applied", "head": 42, "findings": []}
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import answers as written
from api.callers.auth import Caller
from api.callers.citing import READ_STATE_HEADER
from api.errors import UnsupportedMediaType
from api.http.bodies import read_body
from api.http.direct import DirectRoute
from api.http.media import body_type
from api.http.openapi import Answer, answers, extra, json_content
from api.http.parameters import Parameter, Parameters, query_parameters
from api.http.replies import json_reply
from api.http.waiting import answer_of
from api.routes.document_request import DOCUMENT_BODIES, DOCUMENT_PARAMETERS, read_document_request
from api.service import Service
from bridge.documents.changes_json import read_changes
from bridge.documents.reader import MEDIA_TYPES
from bridge.review.certificates import readable_findings
from kernel.errors import InvalidParameter, MunimentError
from kernel.ports.records import CertificateState
from kernel.writing.submitting import Submission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel import changes
    from kernel.access import Principal
    from kernel.writing.submitting import Outcome

JSON: Final = "application/json"

DRY_RUN: Final = Parameter(
    "dry-run", "judge only: nothing is signed, kept or applied", {"type": "boolean", "default": False}, "true"
)

_BRIEF: Final = 32 * 1024
"""Bytes that are parsed in less time than a thread takes to be asked."""

_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
_CHANGE: Final = re.compile(r"/changes/(\d+)")

_STATUS: Final = {
    CertificateState.APPLIED: 201,
    CertificateState.PENDING: 202,
    CertificateState.REFUSED: 422,
    # Only for a key that was used before, for a certificate that has been decided on since.
    CertificateState.REJECTED: 200,
    CertificateState.STALE: 200,
}

LOCATION: Final = {"Location": "the certificate's path"}
IDEMPOTENCY: Final[dict[str, tuple[str, dict[str, object]]]] = {
    "Idempotency-Key": (
        "the same key from the same caller gets the same certificate",
        {"type": "string", "pattern": "^[!-~]{1,255}$"},
    ),
    **READ_STATE_HEADER,
}

router = APIRouter(tags=["changes"], route_class=DirectRoute)


@router.post(
    "/changes",
    operation_id="change",
    summary="Ask for changes",
    status_code=201,
    response_class=Response,
    responses=answers(
        {
            200: Answer("A dry run, or a repeated request for a certificate decided since", json_content("Outcome")),
            201: Answer("Certified and applied", json_content("Outcome"), LOCATION),
            202: Answer("Certified; it waits for an editor", json_content("Outcome"), LOCATION),
            422: Answer("Certified as refused (with `Location`), or not to be planned at all", json_content("Outcome")),
        },
        problems=(400, 401, 403, 404, 409, 413, 415, 422, 503),
    ),
    openapi_extra=extra(
        parameters=(*DOCUMENT_PARAMETERS, DRY_RUN),
        headers=IDEMPOTENCY,
        body=json_content("ChangeRequest") | DOCUMENT_BODIES,
    ),
)
async def change(request: Request, caller: Caller) -> Response:
    """Plans, checks and certifies changes, and applies them if nothing stands in the way.

    Parameters other than `dry-run` go with RDF documents; JSON has members for them.
    """
    service = Service.of(request)
    media_type = body_type(request.headers.get("content-type"))
    parameters = query_parameters(request, (*known_with(media_type), DRY_RUN))
    key = idempotency_key(request)
    body = await read_body(request, service.settings.body_limit)
    wanted = await read_request(service, body, media_type, parameters, caller)
    dry_run = parameters.flag(DRY_RUN)
    digest = request_digest(media_type, request.scope["query_string"], body)
    submission = Submission(wanted, caller, None if dry_run else key, digest, dry_run)
    try:
        outcome = await answer_of(service.base.submit(submission))
    except MunimentError as error:
        error.where = place_in(error.where, media_type)
        raise
    return reply(outcome, caller)


def known_with(media_type: str) -> tuple[Parameter, ...]:
    """The parameters that say what a body of a media type leaves open. Raises `UnsupportedMediaType`."""
    if media_type == JSON:
        return ()
    if media_type in MEDIA_TYPES:
        return DOCUMENT_PARAMETERS
    raise UnsupportedMediaType(
        f"changes do not come as {media_type}",
        remedy=f"send {JSON}, or a document in one of {', '.join(MEDIA_TYPES)}",
        where="Content-Type",
    )


def idempotency_key(request: Request) -> str | None:
    """The key of a request, if it has one. Raises `InvalidParameter`."""
    keys = request.headers.getlist("idempotency-key")
    if not keys:
        return None
    if len(keys) > 1 or not _KEY.fullmatch(keys[0]):
        raise InvalidParameter(
            "the key is not 1 to 255 visible ASCII characters", remedy="give one such key", where="Idempotency-Key"
        )
    return keys[0]


async def read_request(
    service: Service, body: bytes, media_type: str, parameters: Parameters, caller: Principal
) -> changes.Request:
    """The changes that a body asks for. Raises as its reader does."""
    canonicaliser, limit = service.base.canonicaliser, service.settings.body_limit

    def read() -> changes.Request:
        if media_type == JSON:
            return read_changes(body, principal=caller.id, canonicaliser=canonicaliser, limit=limit)
        return read_document_request(body, media_type, parameters, caller.id, canonicaliser, limit=limit)

    return read() if len(body) <= _BRIEF else await service.read(read)


def request_digest(media_type: str, query: bytes, body: bytes) -> bytes:
    """What a request with the same key has to agree in."""
    said = b"\n".join((media_type.encode(), *sorted(query.split(b"&")), b""))
    return sha256(len(said).to_bytes(8) + said + body).digest()


def place_in(where: str | None, media_type: str) -> str | None:
    """The place of an error in a body. In a document there are no changes to point to, but statements."""
    match = None if where is None or media_type == JSON else _CHANGE.match(where)
    return where if match is None else f"statement {int(match[1]) + 1}"


def reply(outcome: Outcome, caller: Principal, more: Mapping[str, object] | None = None) -> Response:
    """The answer to a request: what became of it, as far as its caller may see, and what more there is to say."""
    findings = readable_findings(caller, outcome.findings) if outcome.findings else ()
    answer = {**written.outcome(outcome, findings), **(more or {})}
    if outcome.certificate is None or outcome.state is None:
        return json_reply(answer)
    return json_reply(answer, _STATUS[outcome.state], {"Location": f"/certificates/{outcome.certificate}"})
