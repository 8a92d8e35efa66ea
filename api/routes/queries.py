"""`/queries`: the queries that somebody relies on, and how an answer stands that a client holds.

Rules
-----
* A query is registered, replaced and taken away by certified changes; several can be in one go. What is sent again
  changes nothing. Answers follow the plan, as those of `POST /changes` do.
* It takes an administrator of the base to register; a query is seen by administrators, and by the owner whom it names.
* Whoever holds an answer says of which state it is, as its headers had it (`Muniment-Head`, `Muniment-Valid-At`), and
  learns whether it is fresh, possibly stale, or has changed. Nothing is asked for that: what cannot be proved without
  asking is *possibly stale*.

Example
-------
::

    PUT /queries/mayors {"query": "SELECT …", "owner": "city-desk", "contact": "desk@city.example"} → 201
    GET /queries/mayors?held-head=41&held-valid-at=2026-05-06T07:08:09Z → 200 {…, "standing": {"freshness": "fresh", …}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api import answers as written
from api.callers.auth import Caller
from api.errors import UnsupportedMediaType
from api.http.bodies import read_body
from api.http.media import body_type
from api.http.moments import AS_OF
from api.http.openapi import Answer, answers, extra, json_content
from api.http.parameters import Parameter, query_parameters
from api.http.replies import json_reply
from api.http.waiting import answer_of
from api.routes.changes import DRY_RUN, IDEMPOTENCY, JSON, LOCATION, idempotency_key, reply, request_digest
from api.routes.document_request import REASON
from api.service import Service
from bridge.documents.queries import read_definition, read_definitions
from bridge.impact.reading import QueryReader
from bridge.impact.registering import Asking
from bridge.impact.since import Held
from kernel.errors import InvalidDocument, InvalidParameter
from kernel.queries import require_name
from kernel.time.instants import BEGINNING
from kernel.time.timevalues import parse_point

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from api.http.parameters import Parameters
    from api.models import queries as models
    from bridge.reading.reader import Reader
    from kernel.queries import RegisteredQuery
    from kernel.time.instants import Instant
    from kernel.writing.submitting import Outcome

HELD_HEAD: Final = Parameter(
    "held-head",
    "the head of an answer that the caller holds, from its `Muniment-Head`",
    {"type": "string", "pattern": "^(none|[0-9]{1,18})$"},
    "41",
)
HELD_VALID_AT: Final = Parameter(
    "held-valid-at",
    "the valid time of that answer, from its `Muniment-Valid-At`; by default its moment, or when its head was recorded",
    {"type": "string"},
    "2026-05-06T07:08:09Z",
)
NO_HEAD: Final = "none"
_READING: Final = (HELD_HEAD, HELD_VALID_AT, AS_OF)
_WRITING: Final = (REASON, DRY_RUN)

QueryName = Annotated[str, Path(description="the name of the query")]

_WRITTEN: Final = answers(
    {
        200: Answer("Replaced; or there was nothing to change; or a dry run", json_content("Outcome")),
        201: Answer("Certified and applied, and there is a new name", json_content("Outcome"), LOCATION),
        202: Answer("Certified; it waits for an editor", json_content("Outcome"), LOCATION),
        422: Answer("Certified as refused (with `Location`), or not to be planned at all", json_content("Outcome")),
    },
    problems=(400, 401, 403, 404, 409, 413, 415, 422, 503),
)

router = APIRouter(tags=["registered queries"])


@router.get(
    "/queries",
    operation_id="listQueries",
    summary="List registered queries",
    response_class=Response,
    responses=answers(
        {200: Answer("Those that the caller may see", json_content("QueryList"))}, problems=(400, 401, 503)
    ),
    openapi_extra=extra(),
)
async def list_queries(request: Request, caller: Caller) -> Response:
    """Lists the registered queries: all of them to administrators, to others those that they own."""
    query_parameters(request, ())
    service = Service.of(request)
    listed = await service.read(lambda: QueryReader(service.base.ledger).listed(caller))
    answer: models.QueryList = {"items": [written.registered_query(each) for each in listed]}
    return json_reply(answer)


@router.post(
    "/queries",
    operation_id="putQueries",
    summary="Register several queries",
    response_class=Response,
    responses=_WRITTEN,
    openapi_extra=extra(parameters=_WRITING, headers=IDEMPOTENCY, body=json_content("QueryDefinitions")),
)
async def put_queries(request: Request, caller: Caller) -> Response:
    """Registers queries under one certificate, each in the place of what had its name; others stay as they are."""
    parameters, body = query_parameters(request, _WRITING), await _json(request)
    return await _put(request, caller, parameters, body, lambda: read_definitions(body))


@router.get(
    "/queries/{name}",
    operation_id="getQuery",
    summary="Get a registered query, and how an answer to it stands",
    response_class=Response,
    responses=answers({200: Answer("The query", json_content("FoundQuery"))}, problems=(400, 401, 404, 503)),
    openapi_extra=extra(parameters=_READING),
)
async def get_query(request: Request, caller: Caller, name: QueryName) -> Response:
    """Gives a registered query as it is, or was; and says whether an answer of another state still holds."""
    parameters = query_parameters(request, _READING)
    require_name(name)
    base, as_of = Service.of(request).base, parameters.time(AS_OF)
    if as_of is not None and HELD_HEAD.name in parameters.names():
        raise InvalidParameter("a query that was is asked of nobody any more", remedy="leave one out", where=AS_OF.name)
    reader = QueryReader(base.ledger)

    def read() -> models.FoundQuery:
        moment = base.reader.moment(as_of)
        found = reader.one(caller, name, moment.as_of)
        held = _held(base.reader, parameters, found.query)
        return written.found_query(found, None if held is None else reader.standing(caller, found.query, held))

    return json_reply(await Service.of(request).read(read))


@router.put(
    "/queries/{name}",
    operation_id="putQuery",
    summary="Register a query, or replace it",
    response_class=Response,
    responses=_WRITTEN,
    openapi_extra=extra(
        parameters=_WRITING,
        headers=IDEMPOTENCY,
        body=json_content("QueryDefinition"),
    ),
)
async def put_query(request: Request, caller: Caller, name: QueryName) -> Response:
    """Registers a query, in the place of what had its name."""
    parameters, body = query_parameters(request, _WRITING), await _json(request)
    return await _put(request, caller, parameters, body, lambda: [read_definition(name, body)])


@router.delete(
    "/queries/{name}",
    operation_id="deleteQuery",
    summary="Take a registered query away",
    response_class=Response,
    responses=_WRITTEN,
    openapi_extra=extra(parameters=_WRITING, headers=IDEMPOTENCY),
)
async def delete_query(request: Request, caller: Caller, name: QueryName) -> Response:
    """Takes a query away: from now on no change is held against it."""
    parameters = query_parameters(request, _WRITING)
    require_name(name)
    if await read_body(request, Service.of(request).settings.body_limit):
        raise InvalidDocument("there is a body", remedy="send none", where="body")
    asking = _asking(request, caller, parameters, name.encode())
    return _told(await answer_of(Service.of(request).base.queries.remove(name, asking)), caller)


async def _put(
    request: Request,
    caller: Caller,
    parameters: Parameters,
    body: bytes,
    read: Callable[[], list[RegisteredQuery]],
) -> Response:
    service = Service.of(request)
    asking = _asking(request, caller, parameters, body)

    def put() -> Future[tuple[Outcome, bool]]:
        return service.base.queries.put(read(), asking)

    return _told(await answer_of(await service.read(put)), caller)


def _told(became: tuple[Outcome, bool], caller: Caller) -> Response:
    outcome, new = became
    answer = reply(outcome, caller)
    if answer.status_code == 201 and not new:
        answer.status_code = 200
    return answer


def _asking(request: Request, caller: Caller, parameters: Parameters, body: bytes) -> Asking:
    dry_run, key = parameters.flag(DRY_RUN), idempotency_key(request)
    digest = request_digest(request.method, request.scope["query_string"], body)
    return Asking(caller, parameters.text(REASON), None if dry_run else key, digest, dry_run)


async def _json(request: Request) -> bytes:
    media_type = body_type(request.headers.get("content-type"))
    if media_type != JSON:
        raise UnsupportedMediaType(f"no query comes as {media_type}", remedy=f"send {JSON}", where="Content-Type")
    return await read_body(request, Service.of(request).settings.body_limit)


def _held(reader: Reader, parameters: Parameters, query: RegisteredQuery) -> Held | None:
    """The state of the answer that the caller holds, if one is named."""
    head, valid_at = parameters.text(HELD_HEAD), parameters.time(HELD_VALID_AT)
    if head is None:
        if valid_at is not None:
            remedy = f"give {HELD_HEAD.name}"
            raise InvalidParameter("of which head is not said", remedy=remedy, where=HELD_VALID_AT.name)
        return None
    instant = None if head == NO_HEAD else _recorded(reader, head)
    if valid_at is not None:
        return Held(instant, parse_point(valid_at, field=HELD_VALID_AT.name))
    recorded = BEGINNING if instant is None else instant
    return Held(instant, recorded if query.moment is None else query.moment)


def _recorded(reader: Reader, head: str) -> Instant | None:
    if not head.isdecimal():
        raise InvalidParameter("no head", remedy="give the number from Muniment-Head", where=HELD_HEAD.name)
    try:
        return reader.moment(f"head:{head}").as_of
    except InvalidParameter as error:
        error.where = HELD_HEAD.name
        raise
