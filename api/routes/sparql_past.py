"""`/at/{as-of}/sparql` and `/at/{as-of}/{valid-at}/sparql`: a moment as an endpoint of its own.

Rules
-----
* For clients that can be told an endpoint and nothing else: what stands in the path is what `as-of` and `valid-at`
  would say, and all else is as at `/sparql`, by GET and POST. Neither is taken as a parameter here.
* An update is refused: what was known then cannot change. The description says so too.
* Relative IRIs are relative to `/sparql` here too, so that the same query asks the same at every moment.

Example
-------
::

    GET /at/head:41/2024/sparql?query=ASK%20%7B%7D → as /sparql?query=ASK%20%7B%7D&as-of=head:41&valid-at=2024
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import Caller
from api.http.moments import AS_OF, VALID_AT, AskedMoment
from api.http.openapi import answers, extra, form_content, text_content
from api.http.parameters import read_parameters
from api.http.paths import base_url, raw_path_within
from api.http.validators import NONE_MATCH_HEADER, UNCHANGED
from api.routes.query_answers import MIN_HEAD_HEADER
from api.routes.sparql import (
    ALL,
    ANSWERS,
    BESIDE_THE_QUERY,
    FORM,
    PATH,
    QUERY,
    READ,
    answer,
    described,
    is_description,
    posted,
    posted_query,
    text_of,
)
from api.routes.sparql_update import UPDATE, is_update
from api.service import Service
from kernel.errors import QueryRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from api.http.parameters import Parameter
    from kernel.access import Principal

_IN_PATHS: Final = "/:@!$&'()*+,;=%"
"""What stands in a path as it is (RFC 3986, section 3.3), and the sign of what is encoded."""

_AT: Final = "/at/{as_of}" + PATH
_AT_BOTH: Final = "/at/{as_of}/{valid_at}" + PATH


def _without_times(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    return tuple(each for each in parameters if each not in (AS_OF, VALID_AT))


_ALL: Final = _without_times(ALL)
_BESIDE: Final = _without_times(BESIDE_THE_QUERY)
_READ: Final = _without_times(READ)

AsOf = Annotated[str, Path(description=AS_OF.description, examples=[AS_OF.example])]
ValidAt = Annotated[str, Path(description=VALID_AT.description, examples=[VALID_AT.example])]

router = APIRouter(tags=["reading"])

_GOT: Final = ANSWERS | answers(UNCHANGED, problems=())
_GOT_WITH: Final = extra(parameters=_ALL, headers=MIN_HEAD_HEADER | NONE_MATCH_HEADER)
_POSTED: Final = ANSWERS | answers({}, problems=(413, 415))
_POSTED_WITH: Final = extra(
    parameters=_BESIDE,
    headers=MIN_HEAD_HEADER,
    body=text_content([QUERY], "SELECT * { ?s ?p ?o } LIMIT 10") | form_content(_ALL),
)


@router.get(
    _AT,
    operation_id="queryAsOf",
    summary="Ask a query of what was known at a time",
    response_class=Response,
    responses=_GOT,
    openapi_extra=_GOT_WITH,
)
async def query_as_of(request: Request, caller: Caller, as_of: AsOf) -> Response:
    """As `/sparql` with `as-of`."""
    return await _got(request, caller, AskedMoment(as_of))


@router.post(
    _AT,
    operation_id="postQueryAsOf",
    summary="Ask a longer query of what was known at a time",
    response_class=Response,
    responses=_POSTED,
    openapi_extra=_POSTED_WITH,
)
async def post_query_as_of(request: Request, caller: Caller, as_of: AsOf) -> Response:
    """As `/sparql` with `as-of`, without updates."""
    return await _posted(request, caller, AskedMoment(as_of))


@router.get(
    _AT_BOTH,
    operation_id="queryAt",
    summary="Ask a query at a pair of times",
    response_class=Response,
    responses=_GOT,
    openapi_extra=_GOT_WITH,
)
async def query_at(request: Request, caller: Caller, as_of: AsOf, valid_at: ValidAt) -> Response:
    """As `/sparql` with `as-of` and `valid-at`."""
    return await _got(request, caller, AskedMoment(as_of, valid_at))


@router.post(
    _AT_BOTH,
    operation_id="postQueryAt",
    summary="Ask a longer query at a pair of times",
    response_class=Response,
    responses=_POSTED,
    openapi_extra=_POSTED_WITH,
)
async def post_query_at(request: Request, caller: Caller, as_of: AsOf, valid_at: ValidAt) -> Response:
    """As `/sparql` with `as-of` and `valid-at`, without updates."""
    return await _posted(request, caller, AskedMoment(as_of, valid_at))


async def _got(request: Request, caller: Principal, moment: AskedMoment) -> Response:
    parameters = read_parameters(_READ, request.scope["query_string"])
    if is_description(parameters):
        service = Service.of(request)
        await service.read(lambda: moment.of(service.base.reader))  # of what is no moment there is no endpoint
        # As it was sent, for decoded it could hold what no IRI has; and some clients do not encode all of that.
        endpoint = base_url(request) + quote(raw_path_within(request.scope), safe=_IN_PATHS)
        return await described(request, caller, parameters, endpoint, updates=False)
    return await answer(request, caller, text_of(parameters), parameters, moment)


async def _posted(request: Request, caller: Principal, moment: AskedMoment) -> Response:
    media_type, body = await posted(request, (FORM, QUERY, UPDATE))
    if media_type == UPDATE or (media_type == FORM and is_update(body)):
        raise QueryRefused(
            "this is a moment of the past, where nothing can be changed",
            remedy=f"post the update to {PATH}; what it says of the past goes by its `valid-from`",
            where="update",
        )
    text, parameters = await posted_query(request, media_type, body, _READ, _BESIDE)
    return await answer(request, caller, text, parameters, moment)
