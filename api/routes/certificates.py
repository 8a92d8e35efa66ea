"""`/certificates`: what was checked, what came of it, and an editor's decision.

Rules
-----
* A certificate that touches a graph which the caller may not read is not there: not in lists, not by id, not to decide.
* The signed bytes are given exactly as they are stored to those who ask for a credential (`application/vc`, VC Data
  Model 2.0, section 6.1, or `application/ld+json`); others get it within JSON, with all that it commits to.
* The report tells of findings as a validation report or a SARIF log, however many there are, as they are read.
* A decision answers 200 whatever came of it: `state` says applied, rejected, or stale, with a `successor`.

Example
-------
::

    GET /certificates?state=pending → 200 {"items": […], "next": null}
    POST /certificates/0197…/decision {"decision": "approve", "comment": "checked against the register"} → 200
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api import answers as written
from api.callers.auth import Caller
from api.callers.citing import READ_STATE_HEADER
from api.http.bodies import read_body
from api.http.media import accepted, body_type, preferred
from api.http.openapi import Answer, answers, extra, json_content, reference, text_content
from api.http.parameters import Parameter, query_parameters
from api.http.replies import json_reply
from api.http.streaming import streamed
from api.http.waiting import answer_of
from api.routes.decision_body import read_decision
from api.service import Service
from bridge.review.certificates import CertificateFilter, Window, readable_findings
from bridge.review.report import CertificateReport, ReportFormat
from certificates.certificate import Verdict
from certificates.contradictions import ContradictionKind
from kernel.errors import InvalidParameter, NotFound
from kernel.ports.records import CertificateState
from kernel.writing.deciding import DecisionRequest

if TYPE_CHECKING:
    from api.models import certificates as models

_URN: Final = "urn:uuid:"
_UUID: Final[dict[str, object]] = {"type": "string", "format": "uuid"}

CertificateId = Annotated[str, Path(description="its id, as a UUID or as `urn:uuid:`")]

STATE: Final = Parameter(
    "state", "in which state they are", {"type": "string", "enum": [each.value for each in CertificateState]}, "pending"
)
VERDICT: Final = Parameter(
    "verdict", "with which verdict", {"type": "string", "enum": [each.value for each in Verdict]}, "review"
)
LIMIT: Final = Parameter(
    "limit", "how many at most", {"type": "integer", "minimum": 1, "maximum": 500, "default": 50}, "50"
)
AFTER: Final = Parameter("after", "the `next` of the page before", _UUID, "01890a5d-ac96-774b-bcce-b302099a8057")
ITEMS_FROM: Final = Parameter(
    "items-from",
    "from which ordinal on to list the plan's items",
    {"type": "integer", "minimum": 0, "maximum": 2**53 - 1, "default": 0},
    "0",
)
ITEMS_LIMIT: Final = Parameter(
    "items-limit",
    "how many of the plan's items at most",
    {"type": "integer", "minimum": 0, "maximum": 10_000, "default": 1_000},
    "1000",
)
FINDINGS_FROM: Final = Parameter(
    "findings-from",
    "from which ordinal on to list findings",
    {"type": "integer", "minimum": 0, "maximum": 2**53 - 1, "default": 0},
    "0",
)
FINDINGS_LIMIT: Final = Parameter(
    "findings-limit",
    "how many ordinals of findings at most",
    {"type": "integer", "minimum": 0, "maximum": 10_000, "default": written.MOST_FINDINGS},
    str(written.MOST_FINDINGS),
)
KIND: Final = Parameter(
    "kind",
    "contradictions of which kind",
    {"type": "string", "enum": [each.value for each in ContradictionKind]},
    "value",
)
_LIST: Final = (STATE, VERDICT, KIND, LIMIT, AFTER)
_ONE: Final = (ITEMS_FROM, ITEMS_LIMIT, FINDINGS_FROM, FINDINGS_LIMIT)

_JSON: Final = "application/json"
_CREDENTIALS: Final = ("application/vc", "application/ld+json")
_SIGNED: Final = {"schema": {"type": "object", "description": "the credential, byte by byte as it was signed"}}

router = APIRouter(tags=["certificates"])


@router.get(
    "/certificates",
    operation_id="listCertificates",
    summary="List certificates, newest first",
    response_class=Response,
    responses=answers(
        {200: Answer("A page of certificates", json_content("CertificatePage"))}, problems=(400, 401, 503)
    ),
    openapi_extra=extra(parameters=_LIST),
)
async def list_certificates(request: Request, caller: Caller) -> Response:
    """Lists the certificates all of whose graphs the caller may read."""
    parameters = query_parameters(request, _LIST)
    wanted = CertificateFilter(
        parameters.choice(STATE, CertificateState),
        parameters.choice(VERDICT, Verdict),
        kind=parameters.choice(KIND, ContradictionKind),
    )
    limit, after = parameters.number(LIMIT, default=50), parameters.text(AFTER)
    last = None if after is None else certificate_cursor(after)
    service = Service.of(request)
    page = await service.read(lambda: service.certificates.page(caller, wanted, limit=limit, after=last))
    answer: models.CertificatePage = {
        "items": [written.summary(record) for record in page.records],
        "next": None if page.after is None else str(page.after),
    }
    return json_reply(answer)


@router.get(
    "/certificates/{certificate}",
    operation_id="getCertificate",
    summary="Look at a certificate",
    response_class=Response,
    responses=answers(
        {
            200: Answer(
                "The certificate, or the signed credential alone",
                json_content("Certificate")
                | {
                    each: {"schema": {"type": "object", "description": "the credential as signed"}}
                    for each in _CREDENTIALS
                },
            )
        },
        problems=(400, 401, 404, 406, 503),
    ),
    openapi_extra=extra(parameters=_ONE),
)
async def get_certificate(request: Request, caller: Caller, certificate: CertificateId) -> Response:
    """Gives a certificate with its findings, plan items, decisions and credential; or the signed bytes."""
    parameters = query_parameters(request, _ONE)
    planned = Window(parameters.number(ITEMS_FROM, default=0), parameters.number(ITEMS_LIMIT, default=1_000))
    found = Window(
        parameters.number(FINDINGS_FROM, default=0), parameters.number(FINDINGS_LIMIT, default=written.MOST_FINDINGS)
    )
    identifier = certificate_named(certificate)
    service = Service.of(request)
    media_type = preferred(accepted(request), (_JSON, *_CREDENTIALS))
    reader = service.certificates
    if media_type == _JSON:
        answer = await service.read(
            lambda: written.certificate(reader.detail(caller, identifier, planned=planned, found=found))
        )
        return json_reply(answer, headers={"Vary": "Accept"})
    record = await service.read(lambda: reader.one(caller, identifier))
    return Response(record.document, 200, {"Content-Type": media_type, "Vary": "Accept"})


@router.get(
    "/certificates/{certificate}/report",
    operation_id="getReport",
    summary="What the checks of a certificate found, as a validation report",
    response_class=Response,
    responses=answers(
        {200: Answer("The report (SHACL, section 3.6), or a SARIF 2.1.0 log", text_content(ReportFormat))},
        problems=(400, 401, 404, 406, 503),
    ),
    openapi_extra=extra(),
)
async def get_report(request: Request, caller: Caller, certificate: CertificateId) -> Response:
    """Gives the findings that the caller may see, in RDF or as SARIF, as they are read."""
    query_parameters(request, ())
    identifier = certificate_named(certificate)
    media_type = preferred(accepted(request), tuple(ReportFormat))
    service = Service.of(request)
    report = await service.read(
        lambda: CertificateReport.of(service.base.ledger, caller, identifier, ReportFormat(media_type))
    )
    headers = {"Content-Type": media_type, "Vary": "Accept, Authorization"}
    return Response(None, 200, headers) if request.method == "HEAD" else await streamed(service, report, headers)


@router.post(
    "/certificates/{certificate}/decision",
    operation_id="decide",
    summary="Approve or reject a certificate in review",
    response_class=Response,
    responses=answers(
        {200: Answer("The decision is taken", json_content("Outcome"))},
        problems=(400, 401, 403, 404, 409, 413, 415, 503),
    ),
    openapi_extra=extra(headers=READ_STATE_HEADER, body={_JSON: {"schema": reference("Decision")}}),
)
async def decide(request: Request, caller: Caller, certificate: CertificateId) -> Response:
    """Takes the decision of an editor of every graph concerned; an approval is checked again before it is applied."""
    query_parameters(request, ())
    service = Service.of(request)
    identifier = certificate_named(certificate)
    media_type = body_type(request.headers.get("content-type"))
    body = await read_body(request, service.settings.body_limit)
    decided = read_decision(media_type, body)
    wanted = DecisionRequest(identifier, decided.decision, decided.comment, caller, decided.signature)
    outcome = await answer_of(service.base.decide(wanted))
    return json_reply(written.outcome(outcome, readable_findings(caller, outcome.findings)))


def certificate_named(text: str) -> UUID:
    """The id in the path; what is no id names nothing."""
    identifier = _uuid(text)
    if identifier is None:
        raise NotFound("there is no such certificate", remedy="list them with GET /certificates")
    return identifier


def certificate_cursor(after: str) -> UUID:
    """The id after which a page begins. Raises `InvalidParameter` for what is none."""
    identifier = _uuid(after)
    if identifier is None:
        raise InvalidParameter("it is no id of a certificate", remedy="give the `next` of a page", where=AFTER.name)
    return identifier


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text.removeprefix(_URN)) if len(text.removeprefix(_URN)) == 36 else None
    except ValueError:
        return None
