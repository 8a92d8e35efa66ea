"""`/contradictions`: what an editor let in although it contradicts what is held, and nobody has settled since.

Rules
-----
* Listed oldest first is what stands (`bridge.review.standing`): worked out from what is believed and from the rules in
  force at every look, so that what is settled, by whatever change, is not there any more.
* One is seen by those who may read the graphs of both its statements.
* An owner looks after each: who approved it, until an editor of its graphs gives it another. That changes no fact, and
  is no certificate.

Example
-------
::

    GET /contradictions?kind=value&owner=ada → 200 {"items": [{"certificate": "urn:uuid:…", …}], "next": null}
    PUT /contradictions/0197…/0/owner {"owner": "bob"} → 200
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api import answers as written
from api.callers.auth import Caller
from api.callers.citing import READ_STATE_HEADER
from api.errors import UnsupportedMediaType
from api.http.bodies import read_body
from api.http.media import body_type
from api.http.openapi import Answer, answers, extra, json_content, reference
from api.http.parameters import Parameter, Parameters, query_parameters
from api.http.replies import json_reply
from api.routes.certificates import KIND, CertificateId, certificate_cursor, certificate_named
from api.service import Service
from api.suggestions import did_you_mean
from bridge.documents.json_text import parse_json
from bridge.review.standing import Place
from certificates.contradictions import ContradictionKind
from certificates.ids import urn
from kernel.errors import InvalidDocument, InvalidParameter, UnknownParameter
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant

if TYPE_CHECKING:
    from api.models import contradictions, values
    from bridge.review.standing import Standing, StandingPage
    from kernel.access import Principal

_JSON: Final = "application/json"
_TEXT: Final[dict[str, object]] = {"type": "string"}
OWNER: Final = Parameter("owner", "who looks after it: the id of a principal", _TEXT, "ada")
LIMIT: Final = Parameter(
    "limit", "how many at most", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}, "50"
)
AFTER: Final = Parameter("after", "the `next` of the page before", _TEXT, "01970000-0000-7000-8000-000000000000.0")
_LISTING: Final = (KIND, OWNER, LIMIT, AFTER)
_OWNER: Final = re.compile(r"[\x21-\x7e]{1,256}")
_ORDINAL: Final = re.compile(r"[0-9]{1,9}", re.ASCII)

FindingOrdinal = Annotated[str, Path(description="which of the certificate's findings, from 0")]

router = APIRouter(tags=["certificates"])


@router.get(
    "/contradictions",
    operation_id="listContradictions",
    summary="List contradictions that stand",
    response_class=Response,
    responses=answers(
        {200: Answer("Those whose graphs the caller may read", json_content("ContradictionPage"))},
        problems=(400, 401, 503),
    ),
    openapi_extra=extra(parameters=_LISTING),
)
async def list_contradictions(request: Request, caller: Caller) -> Response:
    """Lists what was let in although it contradicts what is held, and still does, the oldest first."""
    parameters = query_parameters(request, _LISTING)
    service = Service.of(request)
    limit = parameters.number(LIMIT, default=50)
    page = await service.read(lambda: listed(service, caller, parameters, limit))
    answer: contradictions.ContradictionPage = {
        "items": [_written(each) for each in page.standing],
        "next": None if page.after is None else place_text(page.after),
    }
    return json_reply(answer)


@router.put(
    "/contradictions/{certificate}/{finding}/owner",
    operation_id="assignContradiction",
    summary="Give a contradiction that stands an owner",
    response_class=Response,
    responses=answers(
        {200: Answer("It has that owner", json_content("StandingContradiction"))},
        problems=(400, 401, 403, 404, 413, 415, 503),
    ),
    openapi_extra=extra(headers=READ_STATE_HEADER, body={_JSON: {"schema": reference("ContradictionOwner")}}),
)
async def assign_contradiction(
    request: Request, caller: Caller, certificate: CertificateId, finding: FindingOrdinal
) -> Response:
    """Gives a contradiction another owner; it takes an editor of every graph concerned."""
    query_parameters(request, ())
    service = Service.of(request)
    place = Place(certificate_named(certificate), ordinal_of(finding, "finding"))
    media_type = body_type(request.headers.get("content-type"))
    if media_type != _JSON:
        raise UnsupportedMediaType(f"an owner does not come as {media_type}", remedy=f"send {_JSON}")
    owner = _read_owner(await read_body(request, service.settings.body_limit))
    standing = await service.read(lambda: service.standing.assign(caller, place, owner))
    return json_reply(_written(standing))


def listed(service: Service, principal: Principal, parameters: Parameters, limit: int) -> StandingPage:
    """What parameters ask for."""
    after = parameters.text(AFTER)
    return service.standing.page(
        principal,
        kind=parameters.choice(KIND, ContradictionKind),
        owner=parameters.text(OWNER),
        after=None if after is None else place_named(after),
        limit=limit,
    )


def place_text(place: Place) -> str:
    """A place in the list, as a `next` gives it."""
    return f"{place.certificate}.{place.finding}"


def place_named(text: str) -> Place:
    """The place that a `next` names. Raises `InvalidParameter`."""
    certificate, _, finding = text.partition(".")
    return Place(certificate_cursor(certificate), ordinal_of(finding, AFTER.name))


def owner_named(owner: object, where: str) -> str:
    """An owner as it was given. Raises `InvalidParameter` for what is no id of a principal."""
    if not isinstance(owner, str) or not _OWNER.fullmatch(owner):
        raise InvalidParameter(
            "it is no id of a principal", remedy="give 1 to 256 printable ASCII characters without spaces", where=where
        )
    return owner


def ordinal_of(text: str, where: str) -> int:
    """The number of a finding. Raises `InvalidParameter`."""
    if not _ORDINAL.fullmatch(text):
        raise InvalidParameter(f"{text[:40]!r} is no number of a finding", remedy="give it as it came", where=where)
    return int(text)


def _read_owner(body: bytes) -> str:
    members = parse_json(body)
    if not isinstance(members, dict):
        raise InvalidDocument("the body is not a JSON object", remedy='send {"owner": "…"}')
    for name in members:
        if name != OWNER.name:
            raise UnknownParameter(
                "an owner has no such member", remedy=did_you_mean(name, (OWNER.name,)), where=f"/{name[:100]}"
            )
    return owner_named(members.get(OWNER.name), "/owner")


def _written(standing: Standing) -> contradictions.StandingContradiction:
    answer: contradictions.StandingContradiction = {
        "certificate": urn(standing.place.certificate),
        "finding": standing.place.finding,
        "since": print_instant(standing.since),
        "owner": standing.owner,
        "assigned": standing.assigned,
        "found": written.finding(standing.finding),
        "during": [],
    }
    for part in standing.parts:
        within: values.Within = {}
        if part.start != BEGINNING:
            within["from"] = print_instant(Instant(part.start))
        if part.end != FOREVER:
            within["to"] = print_instant(Instant(part.end))
        answer["during"].append(within)
    return answer
