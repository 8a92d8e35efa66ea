"""Writes whose clients know nothing of certificates: SPARQL Update and the Graph Store Protocol.

Rules
-----
* Applied: a success, whose `Link`, and `Location` where nothing else is to stand there, name the certificate. Where
  there was nothing to change there is none.
* Waiting for an editor: 409, so that no client takes it for done; 202 for one that says `Prefer: respond-async`
  (RFC 7240, section 4.1). So is a request that was sent again and whose certificate has come to nothing since.
* Refused: 422, with the findings.
* `valid-from` is from when on all of it holds; without it the instant of issue.

Example
-------
::

    terms = read_terms(request, caller, parameters, body)
    return certified(await answer_of(service.base.updates.apply(update, None)), caller, request)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from api import answers as written
from api.http.openapi import Answer, json_content
from api.http.parameters import Parameter
from api.http.replies import json_reply, state_headers
from api.routes.changes import DRY_RUN, IDEMPOTENCY, idempotency_key, request_digest
from api.routes.document_request import EPISODE, REASON, ZONE
from api.service import Service
from bridge.review.certificates import readable_findings
from bridge.updating.terms import Terms
from kernel.errors import InvalidTime
from kernel.ports.records import CertificateState
from kernel.time.instants import name_zone, parse_zone
from kernel.writing.net_effect import Since

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from api.http.parameters import Parameters
    from kernel.access import Principal
    from kernel.writing.submitting import Outcome

VALID_FROM: Final = Parameter(
    "valid-from",
    "from when on all of it holds: what is inserted begins then, and what is deleted ends. By default the instant of "
    "issue",
    {"type": "string"},
    "2024-05-06",
)
TERMS: Final = (VALID_FROM, ZONE, REASON, EPISODE, DRY_RUN)
"""What may be said beside a write."""

KEY_HEADER: Final[dict[str, tuple[str, dict[str, object]]]] = {
    **IDEMPOTENCY,
    "Prefer": ("`respond-async`: 202 rather than 409 where an editor decides", {"type": "string"}),
}

_LOCATION: Final = {"Location": "the certificate's path", "Link": "the same, as `describedby`"}
CERTIFIED: Final = {
    202: Answer("`Prefer: respond-async`, and it waits for an editor", json_content("Outcome"), _LOCATION),
    409: Answer("It waits for an editor, or has come to nothing since", json_content("Outcome")),
    422: Answer("Certified as refused (with `Location`), or not to be planned at all", json_content("Outcome")),
}
"""The answers that do not mean that it is done."""

_STATUS: Final = {
    CertificateState.APPLIED: 200,
    CertificateState.PENDING: 409,
    CertificateState.REFUSED: 422,
    CertificateState.REJECTED: 409,
    CertificateState.STALE: 409,
}


def read_terms(request: Request, caller: Principal, parameters: Parameters, body: bytes, media_type: str) -> Terms:
    """What a request says beside its content.

    Raises:
        InvalidParameter: a parameter or key that cannot be used.
        InvalidTerm: an episode that is no IRI.
        InvalidTime: a time that cannot be read.
    """
    dry_run = parameters.flag(DRY_RUN)
    key = idempotency_key(request)
    return Terms(
        caller,
        _since(parameters),
        parameters.text(REASON),
        parameters.iri(EPISODE, Service.of(request).base.canonicaliser),
        None if dry_run else key,
        request_digest(media_type, request.scope["query_string"], body),
        dry_run,
    )


def certified(
    outcome: Outcome,
    caller: Principal,
    request: Request,
    *,
    done: int = 200,
    location: str | None = None,
) -> Response:
    """The answer to a write.

    Args:
        outcome: what became of it.
        caller: who asked; findings that it may not see are left out.
        request: which preferences it has.
        done: the status once it is applied.
        location: what `Location` names once it is applied, in place of the certificate.
    """
    findings = readable_findings(caller, outcome.findings) if outcome.findings else ()
    answer = written.outcome(outcome, findings)
    clock = Service.of(request).base.reader.head()
    headers: dict[str, str] = state_headers(outcome.head or clock.position, clock.clock)
    if outcome.certificate is None or outcome.state is None:
        return json_reply(answer, done, headers | ({} if location is None else {"Location": location}))
    path = f"/certificates/{outcome.certificate}"
    headers |= {"Location": path, "Link": f'<{path}>; rel="describedby"'}
    status = _STATUS[outcome.state]
    if outcome.state is CertificateState.APPLIED:
        status, headers["Location"] = done, location or path
    elif outcome.state is CertificateState.PENDING and _waits(request.headers):
        status, headers["Preference-Applied"] = 202, "respond-async"
    return json_reply(answer, status, headers)


def _waits(headers: Mapping[str, str]) -> bool:
    preferences = headers.get("prefer", "").lower().split(",")
    return any(each.partition(";")[0].strip() == "respond-async" for each in preferences)


def _since(parameters: Parameters) -> Since | None:
    text, zone = parameters.time(VALID_FROM), parameters.time(ZONE)
    if zone is not None:
        parse_zone(zone, field=ZONE.name)
    if text is None:
        return None
    try:
        return Since.parse(text, field=VALID_FROM.name, zone=zone)
    except InvalidTime as error:
        name_zone(error, f"add the parameter {ZONE.name}")
        raise
