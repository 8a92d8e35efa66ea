"""`GET /facts`: what is believed, fact by fact, with both times and the evidence.

Rules
-----
* Listed is what is true at `valid-at`, the present or the `as-of` instant by default, as for queries; `valid-at=any`
  lists facts whatever their valid time. It is what is believed, or was at `as-of`.
* A subject, an object or a graph has to be named. Graphs that the caller may not read are as if they were empty.
* A page has a tag of its state (`api.http.validators`).
* Pages of a subject or object follow the start of valid time, those of a graph the order of recording, so that a page
  of a large graph takes no more than one of a small one. Going on from a page's end works whatever has changed since;
  with `as-of` nothing changes.
* Those of a subject or object as of some time are found among all that was recorded by then: within the seconds that a
  query of the caller may take.

Example
-------
::

    GET /facts?subject=urn:ada&limit=20 → 200 {"items": [{"fact": "urn:uuid:…", …}], "next": null}
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import answers as written
from api.callers.auth import Caller
from api.http.conditional import answered_at
from api.http.moments import AS_OF, DATETIME_HEADER, VALID_AT, asked_moment
from api.http.openapi import Answer, answers, extra, json_content
from api.http.parameters import Parameter, Parameters, query_parameters
from api.http.validators import NONE_MATCH_HEADER, UNCHANGED
from api.service import Service
from bridge.reading.facts import FactFilter
from kernel.errors import InvalidParameter, InvalidTerm
from kernel.terms import Iri, parse_term

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from api.http.moments import AskedMoment
    from api.models import facts as models
    from bridge.reading.facts import Place
    from bridge.reading.moments import Moment
    from kernel.access import Principal
    from kernel.ports.outside import TermCanonicaliser
    from kernel.terms import Term

_TEXT: Final[dict[str, object]] = {"type": "string"}
_IRI: Final[dict[str, object]] = {"type": "string", "format": "iri"}

SUBJECT: Final = Parameter("subject", "the subject, an IRI", _IRI, "https://example.org/ada")
PREDICATE: Final = Parameter("predicate", "the predicate, an IRI", _IRI, "https://example.org/name")
OBJECT: Final = Parameter("object", "the object: an IRI, or any term in N-Triples form", _TEXT, '"Ada"@en')
GRAPH: Final = Parameter("graph", "the graph, an IRI", _IRI, "https://example.org/g")
LIMIT: Final = Parameter(
    "limit", "how many at most", {"type": "integer", "minimum": 1, "maximum": 1_000, "default": 100}, "100"
)
AFTER: Final = Parameter("after", "the `next` of the page before", _TEXT, "AAAAAAAA")
_VALID_AT: Final = replace(VALID_AT, description=f"{VALID_AT.description}. `any` lists facts whatever their valid time")
_PARAMETERS: Final = (SUBJECT, PREDICATE, OBJECT, GRAPH, _VALID_AT, AS_OF, LIMIT, AFTER)

_PLACE: Final = struct.Struct(">qqq16s")

router = APIRouter(tags=["reading"])


@router.get(
    "/facts",
    operation_id="listFacts",
    summary="List what is believed of a subject, object or graph",
    response_class=Response,
    responses=answers(
        {200: Answer("A page of facts", json_content("FactPage")), **UNCHANGED}, problems=(400, 401, 422, 503)
    ),
    openapi_extra=extra(parameters=_PARAMETERS, headers=NONE_MATCH_HEADER | DATETIME_HEADER),
)
async def list_facts(request: Request, caller: Caller) -> Response:
    """Lists facts of graphs that the caller may read: those true now, or at `valid-at`; with `valid-at=any` all."""
    parameters = query_parameters(request, _PARAMETERS)
    service = Service.of(request)
    asked = await asked_moment(request, parameters)

    def page(moment: Moment) -> Awaitable[object]:
        return service.read(lambda: _page(service, caller, parameters, asked, moment))

    return await answered_at(request, caller, asked, page)


def _page(
    service: Service, caller: Principal, parameters: Parameters, asked: AskedMoment, moment: Moment
) -> models.FactPage:
    base, seconds = service.base, service.settings.limits_of(caller.highest).seconds
    wanted = FactFilter(
        parameters.iri(SUBJECT, base.canonicaliser),
        parameters.iri(PREDICATE, base.canonicaliser),
        object_asked(parameters, base.canonicaliser),
        parameters.iri(GRAPH, base.canonicaliser),
        every_time=asked.every_time,
    )
    limit, after = parameters.number(LIMIT, default=100), parameters.text(AFTER)
    last = None if after is None else place_named(after, where=AFTER.name)
    page = base.reader.facts(caller, wanted, moment, limit=limit, after=last, seconds=seconds)
    return {
        "items": [written.fact(each) for each in page.found],
        "next": place_text(page.found[-1].place) if page.more else None,
    }


def object_asked(parameters: Parameters, canonicaliser: TermCanonicaliser) -> Term | None:
    """The object that a request names, if any. Raises `InvalidTerm`."""
    text = parameters.text(OBJECT)
    if text is None:
        return None
    try:
        return canonicaliser.canonical(parse_term(text) if text.startswith(("<", '"')) else Iri(text))
    except InvalidTerm as error:
        error.where = OBJECT.name
        raise


def place_text(place: Place) -> str:
    """A place in a list of facts, as a `next` gives it."""
    return urlsafe_b64encode(_PLACE.pack(*place)).decode()


def place_named(text: str, *, where: str) -> Place:
    """The place that a `next` names. Raises `InvalidParameter`, naming the parameter."""
    try:
        start, end, recorded_at, identifier = _PLACE.unpack(urlsafe_b64decode(text.encode("ascii")))
    except (ValueError, struct.error) as error:
        remedy = "give the `next` of the page before, as it came"
        raise InvalidParameter("it is no place in a list of facts", remedy=remedy, where=where) from error
    return start, end, recorded_at, identifier
