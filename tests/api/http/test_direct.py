"""Direct routes ask for the gates that they are described with, or the service does not start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, params
from starlette.requests import Request
from starlette.responses import Response

from api.app import create_app
from api.callers.admission import ADMITTED
from api.callers.auth import BEARER, Caller
from api.http.direct import Direct, DirectRoute, serve_directly
from api.settings import Settings
from bridge.base import Base


async def gate(request: Request) -> None:
    raise PermissionError(request.url.path)


async def endpoint(request: Request, caller: Caller) -> Response:
    return Response(f"{request.url.path} {caller.id}")


def routed(*gates: params.Depends, path: str = "/direct") -> APIRouter:
    router = APIRouter(route_class=DirectRoute, dependencies=gates)
    router.add_api_route(path, endpoint, response_class=Response)
    return router


GATE = Depends(gate)


def _nested(app: FastAPI) -> None:
    outer = APIRouter()
    outer.include_router(routed(), dependencies=[GATE])
    app.include_router(outer, dependencies=[ADMITTED])


def _everywhere(app: FastAPI) -> None:
    app.router.dependencies.append(GATE)
    app.include_router(routed())


UNASKED: dict[str, Callable[[FastAPI], None]] = {
    "of the route's router": lambda app: app.include_router(routed(GATE)),
    "where that is included": lambda app: app.include_router(routed(), dependencies=[GATE]),
    "where one is included that includes it": _nested,
    "of the application": _everywhere,
    "beside those that are asked for": lambda app: app.include_router(routed(), dependencies=[ADMITTED, GATE]),
}


@pytest.mark.parametrize("where", UNASKED)
def test_a_gate_that_would_not_be_asked_for_keeps_the_service_from_starting(where: str) -> None:
    app = FastAPI()
    UNASKED[where](app)
    with pytest.raises(TypeError, match="/direct has a gate that it would not ask for"):
        serve_directly(app)


def test_gates_that_are_asked_for_are_taken_and_variables_are_not() -> None:
    app = FastAPI()
    app.include_router(routed(), dependencies=[ADMITTED, BEARER])
    serve_directly(app)
    app.include_router(routed(path="/direct/{name}"))
    with pytest.raises(TypeError, match="variables"):
        serve_directly(app)


def test_an_endpoint_that_takes_more_is_refused() -> None:
    async def more(request: Request, caller: Caller, name: str) -> Response:
        return Response(f"{request.url.path} {caller.id} {name}")

    with pytest.raises(TypeError, match="takes more than"):
        APIRouter(route_class=DirectRoute).add_api_route("/more", more, response_class=Response)


def test_the_service_finds_its_direct_routes_before_all_others() -> None:
    with Base.open(None) as base:
        app = create_app(base, Settings())
        found: Any = next(
            each.kwargs["routes"]
            for each in app.user_middleware
            if getattr(each.cls, "__name__", None) == Direct.__name__
        )
        for method, path in (("GET", "/sparql"), ("POST", "/sparql"), ("POST", "/changes")):
            assert found[method, path][0].path == path
        for method, path in (("PUT", "/sparql"), ("GET", "/sparql/"), ("GET", "/facts")):
            assert (method, path) not in found
