"""Routes that are asked most: found and called with request and caller, past the framework's solving of what they need.

Rules
-----
* Finding and solving take 0.3 ms, more than a look-up does, and find each time what is known beforehand: which route it
  is, who calls, and that they do not ask too often. Both gates are asked for here, as everywhere (`api.callers.auth`,
  `api.callers.admission`). So they are found by a middleware, before the framework's own layers.
* What goes wrong is answered by the application's handlers, as everywhere.
* Path, methods and description are those of any other route. A gate that is not among those that are asked for here
  (`ASKED`), whether the route has it, its router or the application, keeps the service from starting: it would be
  described, and never asked for.
* A direct route has no variables in its path.

Example
-------
::

    router = APIRouter(route_class=DirectRoute)

    @router.post("/changes", …)
    async def change(request: Request, caller: Caller) -> Response: …

    serve_directly(app)      # once all routers are included; what is added then, is around it
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Final

from fastapi.routing import APIRoute, iter_route_contexts
from starlette.requests import Request

from api.callers.admission import ADMITTED
from api.callers.auth import BEARER, BearerToken
from api.callers.rate_limits import address_of, rates_of
from api.http.paths import path_within
from kernel.errors import MunimentError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from typing import Any

    from fastapi import FastAPI
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    Handle = Callable[[Request], Coroutine[Any, Any, Response]]

ASKED: Final = (ADMITTED, BEARER)
"""The gates that are asked for here."""

_TAKEN: Final = ["request", "caller"]


class DirectRoute(APIRoute):
    """A route whose endpoint takes `request` and `caller`, and nothing else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What is called for a request."""
        if list(signature(self.endpoint).parameters) != _TAKEN:
            raise TypeError(f"{self.path} takes more than {' and '.join(_TAKEN)}")
        endpoint, named = self.endpoint, BearerToken()

        async def handle(request: Request) -> Response:
            caller = await named(request)
            rates_of(request).admit(caller, address_of(request))
            answer: Response = await endpoint(request, caller)
            return answer

        return handle


def serve_directly(app: FastAPI) -> None:
    """Has the direct routes of an application found before all others.

    Raises:
        TypeError: one of them has a gate that it would not ask for, or a variable in its path.
    """
    found: dict[tuple[str, str], tuple[DirectRoute, Handle]] = {}
    for each in iter_route_contexts(app.routes):
        route = each.original_route
        if isinstance(route, DirectRoute):
            if any(gate not in ASKED for gate in each.dependencies):
                raise TypeError(f"{route.path} has a gate that it would not ask for: put it into {__name__}")
            if route.param_convertors:
                raise TypeError(f"{route.path} has variables: let it be a route as others are")
            handle = route.get_route_handler()
            found |= {(method, route.path): (route, handle) for method in route.methods or ()}
    app.add_middleware(Direct, routes=found)


class Direct:
    """The middleware that answers by direct routes, and passes everything else on.

    Args:
        app: what it is around.
        routes: by method and path.
    """

    def __init__(self, app: ASGIApp, routes: Mapping[tuple[str, str], tuple[DirectRoute, Handle]]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or passes it on."""
        found = self._routes.get((scope["method"], path_within(scope))) if scope["type"] == "http" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        scope["route"], handle = found
        request = Request(scope, receive, send)
        try:
            response = await handle(request)
        except MunimentError as error:
            response = await request.app.exception_handlers[MunimentError](request, error)
        await response(scope, receive, send)
