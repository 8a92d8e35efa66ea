"""Errors as pages, for those who look with a browser.

Rules
-----
* What is told, and the status, are those of the problem document (`api.http.problems`): the page shows it, and adds
  nothing. Only where that says what to do in words of the JSON API, the page says it in words of pages
  (`api.pages.wording`).
* On the paths of pages a page is given unless only JSON is accepted; elsewhere only to those who accept HTML by name
  before JSON. The routes of the JSON API always answer with problem documents.
* Who is not signed in and wanted to look at a page is sent to the sign-in form; who sent a form, gets it with what they
  wrote in it. Where a form is not taken for another reason, the page gives back what they wrote.

Example
-------
::

    GET /queue/nothing → 404 text/html, "There is no such certificate"
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from fastapi.routing import APIRoute
from starlette.responses import Response

from api.callers.auth import as_told
from api.http.media import accepted, preferred
from api.http.paths import path_within
from api.http.problems import MEDIA_TYPE
from api.pages.rendering import page, see_other
from api.pages.sign_in import sign_in_again, sign_in_path
from api.pages.visiting import is_from_here, visit_of, written_in
from api.pages.wording import remedy_on_pages
from kernel.errors import MunimentError, NotAcceptable, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from fastapi import FastAPI
    from starlette.requests import Request

    Handler = Callable[[Request, Any], Response | Awaitable[Response]]  # as Starlette has it

HTML: Final = "text/html"
ROOTS: Final = (
    *("/queue", "/node", "/proof", "/compare", "/query", "/registered", "/standing", "/branches", "/purging"),
    *("/sign-in", "/sign-out", "/assets"),
)


def install(app: FastAPI) -> None:
    """Has the handlers of an application's errors answer browsers with pages. After `api.http.problems.install`."""
    for kind, handler in list(app.exception_handlers.items()):
        app.exception_handlers[kind] = _paged(handler)


def _paged(handler: Handler) -> Handler:
    async def handle(request: Request, raised: Exception) -> Response:
        error = as_told(request, raised)
        answered = handler(request, error)
        answer = answered if isinstance(answered, Response) else await answered
        if answer.headers.get("content-type") != MEDIA_TYPE or not _wants_page(request):
            return answer
        if isinstance(error, Unauthenticated) and request.method in ("GET", "HEAD"):
            return see_other(sign_in_path(request))
        written = next(iter((await written_in(request)).values()), None) if request.method == "POST" else None
        if isinstance(error, Unauthenticated) and is_page(path_within(request.scope)) and is_from_here(request):
            return sign_in_again(request, written)
        return _page(request, answer, written)

    return handle


def _page(request: Request, answer: Response, written: str | None) -> Response:
    problem = json.loads(bytes(answer.body))
    problem["remedy"] = remedy_on_pages(problem["code"], problem["remedy"])
    kept = {
        name: value for name, value in answer.headers.items() if name in ("allow", "retry-after", "www-authenticate")
    }
    try:
        visit = visit_of(request)
    except MunimentError:
        visit = None
    return page(
        request, "error.html", visit, {"problem": problem, "written": written}, status=answer.status_code, headers=kept
    )


def _wants_page(request: Request) -> bool:
    ours = is_page(path_within(request.scope))
    if not ours and is_served(request):
        return False
    try:
        return preferred(accepted(request), (HTML, MEDIA_TYPE) if ours else (MEDIA_TYPE, HTML)) == HTML
    except NotAcceptable:
        return False


def is_page(path: str) -> bool:
    """Whether a path is one of the pages'."""
    return path == "/" or any(path == root or path.startswith(root + "/") for root in ROOTS)


def is_served(request: Request) -> bool:
    """Whether the path is one of the JSON API's."""
    routes: list[APIRoute] = request.app.state.routes
    path = path_within(request.scope)
    return path == "/openapi.json" or any(route.path_regex.match(path) for route in routes)
