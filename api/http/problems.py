"""Errors as problem documents (RFC 9457).

Rules
-----
* A problem has `type`, `title`, `status`, `detail`, `code`, `remedy`, and `where` if one place is meant; what an error
  has as data follows under names of its own. `requestId` is the one under which the log has it.
* The status comes from the error's class, by the table below, and from nowhere else.
* What the operator has to mend is told to the operator: the caller of an error of ours learns that there is one and
  where the log has it, and no path, message or data from inside. That nothing can be written they are told, and why in
  a word: reading goes on, and so may they.
* An answer 405 names the methods that there are, a 401 the scheme. OPTIONS gets them too (RFC 9110, section 9.3.7).

Example
-------
>>> status_of(UnknownParameter("there is no such parameter", remedy="did you mean limit?"))
400
"""

from __future__ import annotations

import json
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.callers.auth import REALM, as_told, token_of
from api.callers.outbound import FetchFailed, NotListed
from api.callers.rate_limits import address_of, rates_of
from api.callers.sessions import WINDOW
from api.errors import (
    BrokenOff,
    ForgedForm,
    HeadTooLarge,
    MethodNotAllowed,
    RateLimited,
    TooLarge,
    TooManyAttempts,
    TooManyConnections,
    TooSlow,
    UnknownPath,
    UnsupportedMediaType,
)
from api.http.paths import path_within
from api.http.request_log import request_id
from certificates.errors import CertificateError
from kernel.errors import (
    Blame,
    Busy,
    CallerError,
    CannotSign,
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    MunimentError,
    NotAcceptable,
    NotFound,
    NotReached,
    OperatorError,
    PlanError,
    PreconditionFailed,
    QueryLimit,
    QueryRefused,
    ReadOnly,
    StaleFact,
    StateMoved,
    Unauthenticated,
    UnknownParameter,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from fastapi.routing import APIRoute
    from starlette.requests import Request

MEDIA_TYPE: Final = "application/problem+json"
TYPES: Final = "https://w3id.org/muniment/problem/"
"""A problem's `type` is this and its code."""

log = logging.getLogger("muniment.http")

_STATUS: Final[dict[type[MunimentError], tuple[int, str]]] = {
    CallerError: (400, "The request cannot be used"),
    BrokenOff: (400, "The request is not whole"),
    UnknownParameter: (400, "A name is not known here"),
    QueryRefused: (400, "The query is refused"),
    Unauthenticated: (401, "The caller is not known"),
    NotListed: (403, "That host may not be asked from here"),
    Forbidden: (403, "The caller may not do this"),
    ForgedForm: (403, "The form is not taken"),
    NotFound: (404, "There is no such thing"),
    UnknownPath: (404, "Nothing is served here"),
    MethodNotAllowed: (405, "The method is not served here"),
    NotAcceptable: (406, "No format accepted can be given"),
    Conflict: (409, "The thing named is in another state"),
    StaleFact: (409, "The fact named is no longer believed"),
    PreconditionFailed: (412, "What is to be written is not as it has to be"),
    TooSlow: (408, "The request does not come in time"),
    TooLarge: (413, "The body is too large"),
    UnsupportedMediaType: (415, "The body's format is not read here"),
    PlanError: (422, "The changes do not fit what is believed"),
    CannotSign: (422, "The answer cannot be signed"),
    IdempotencyMismatch: (422, "The key was used for something else"),
    QueryLimit: (422, "The query takes more than it may"),
    RateLimited: (429, "Too much is asked in too short a time"),
    TooManyAttempts: (429, "Too many attempts have failed"),
    HeadTooLarge: (431, "The head of the request is too large"),
    MunimentError: (500, "The service failed"),
    TooManyConnections: (503, "Too much is asked at once"),
    Busy: (503, "Too much is asked at once"),
    FetchFailed: (502, "Another host does not give what is needed"),
    NotReached: (504, "The state asked for is not reached"),
    ReadOnly: (503, "Nothing can be written now"),
    OperatorError: (503, "The service cannot do this now"),
}
"""Status and title by class: of an error's classes the most specific one counts."""

_NOT_TOLD: Final = {
    "detail": "the service cannot answer this; its log says why",
    "remedy": "try again later; if it stays so, give the request id to whoever runs the service",
}

_BY_ROUTER: Final[dict[int, tuple[type[MunimentError], str, str]]] = {
    404: (UnknownPath, "nothing is served at this path", "GET /openapi.json lists what is served"),
    405: (MethodNotAllowed, "this method is not served at this path", "use one of those in the Allow header"),
}

_SOON: Final = "2"
"""Seconds after which a query that found no worker may find one, and an update that was overtaken have its turn."""

_SHOWN: Final = 200
_LONGEST: Final = 1_000
_RESERVED: Final = frozenset({"type", "title", "status", "detail", "instance", "code", "where", "remedy", "requestId"})

_CHALLENGES: Final = {True: f'Bearer realm="{REALM}", error="invalid_token"', False: f'Bearer realm="{REALM}"'}
"""By whether a bearer token was sent (RFC 6750, section 3)."""


def status_of(error: MunimentError) -> int:
    """The HTTP status of an error."""
    return _entry(error)[0]


def install(app: FastAPI) -> None:
    """Has every error of an application answered with a problem document."""
    app.add_exception_handler(MunimentError, _muniment)
    app.add_exception_handler(CertificateError, _certificate)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


def answer_problem(request: Request, error: MunimentError) -> Response:
    """The problem document for an error."""
    status, title = _entry(error)
    if isinstance(error, ReadOnly):
        told = {"title": title, "detail": error.message, "code": error.code, "remedy": error.remedy, **error.data}
        return _answer(request, status, told, {"Retry-After": "5"})
    if error.blame is Blame.OURS:
        log.error("the request failed", exc_info=error)
        retry = {"Retry-After": "5"} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
        return _answer(request, status, {"title": title, "code": error.code, **_NOT_TOLD}, retry)
    members: dict[str, object] = {"title": title, "detail": error.message, "code": error.code, "remedy": error.remedy}
    if error.where is not None:
        members["where"] = error.where
    members |= {name: value for name, value in error.data.items() if name not in _RESERVED}
    return _answer(request, status, members, _headers(request, error))


def problem_text(error: CallerError, identifier: str) -> str:
    """The problem document for what is refused before there is a request."""
    status, title = _entry(error)
    told = {"title": title, "detail": error.message, "code": error.code, "remedy": error.remedy}
    return _document(status, told, identifier)


async def _muniment(request: Request, error: Exception) -> Response:
    told = as_told(request, error)
    if isinstance(told, Unauthenticated) and token_of(request):
        told = rates_of(request).failed(address_of(request)) or told
    return answer_problem(request, told) if isinstance(told, MunimentError) else await _unforeseen(request, told)


async def _certificate(request: Request, error: Exception) -> Response:
    """What is signed here is ours, so what is wrong with it is ours too."""
    log.error("the request failed", exc_info=error)
    return await _unforeseen(request, error)


async def _http(request: Request, error: Exception) -> Response:
    """What the router itself refuses."""
    if not isinstance(error, HTTPException) or error.status_code not in _BY_ROUTER:
        return await _unforeseen(request, error)
    if request.method == "OPTIONS" and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return Response(None, 204, {"Allow": ", ".join(_methods(request))})
    kind, message, remedy = _BY_ROUTER[error.status_code]
    response = answer_problem(request, kind(message, remedy=remedy, where=request.url.path[:_SHOWN]))
    response.headers.update(error.headers or {})
    if kind is MethodNotAllowed:
        response.headers["Allow"] = ", ".join(_methods(request))
    return response


def _methods(request: Request) -> list[str]:
    """The methods that a path is served by: the framework tells only those of the first route that fits."""
    routes: list[APIRoute] = request.app.state.routes
    path = path_within(request.scope)
    methods = {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
    return sorted(methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set()))


async def _unforeseen(request: Request, _: Exception) -> Response:
    """A defect; whoever called this has the traceback logged."""
    title = _STATUS[MunimentError][1]
    return _answer(request, 500, {"title": title, "code": "internal-error", **_NOT_TOLD}, {})


def _entry(error: MunimentError) -> tuple[int, str]:
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def _headers(request: Request, error: MunimentError) -> dict[str, str]:
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": _CHALLENGES[token_of(request) != b""]}
    if isinstance(error, RateLimited):
        return {"Retry-After": str(error.data["seconds"])}
    if isinstance(error, TooManyAttempts):
        return {"Retry-After": f"{WINDOW:.0f}"}
    if isinstance(error, Busy | StateMoved):
        return {"Retry-After": _SOON}
    return {}


def _answer(request: Request, status: int, members: dict[str, object], headers: dict[str, str]) -> Response:
    request.app.state.metrics.problem(members["code"])
    return Response(_document(status, members, request_id(request.scope)), status, headers, MEDIA_TYPE)


def _document(status: int, members: Mapping[str, object], identifier: str) -> str:
    kind = f"{TYPES}{members['code']}"
    told = {name: _shortened(value) for name, value in members.items()}
    document = {"type": kind, "status": status, **told, "requestId": identifier}
    return json.dumps(document, ensure_ascii=False, default=str)


def _shortened(value: object) -> object:
    """Texts quote what was sent, which may be long."""
    return f"{value[:_LONGEST]}…" if isinstance(value, str) and len(value) > _LONGEST else value
