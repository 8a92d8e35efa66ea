"""The application: the routes around one open base.

Rules
-----
* The base is given, and stays open when the application ends: whoever opened it closes it.
* Beside the routes there is nothing but the request log, the problem documents, compression for those who accept it,
  and what other origins may read, where that is configured: each layer costs every request.
* Nothing is told to anybody else: the framework's telemetry would send exceptions, and what they quote, wherever a
  variable of the environment says.
* The interactive documentation pages are left out, because they would run scripts of another host.
* The pages for editors come with it, and the sessions of those who use them (`app.state.sessions`).

Example
-------
::

    app = create_app(base, read_settings())      # any ASGI server serves it
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from starlette.requests import Request
from starlette.responses import Response

from api.bases import Within
from api.callers.access_log import AccessFile, AccessLog, AccessLogged
from api.callers.admission import ADMITTED
from api.callers.citing import Citations
from api.callers.manifest import PAGES
from api.callers.rate_limits import RateLimits
from api.callers.sessions import Sessions
from api.http import problems
from api.http.compression import Compression
from api.http.cross_origin import add_cross_origin
from api.http.direct import serve_directly
from api.http.openapi import openapi_document
from api.http.parameters import query_parameters
from api.http.request_log import RequestLog
from api.pages import (
    branches,
    certificate,
    compare,
    errors,
    findings,
    node,
    proof,
    purging,
    query,
    queue,
    registered,
    rendering,
    sign_in,
    standing,
    timeline,
    undoing,
)
from api.pages.admission import ADMITTED_VISITOR
from api.routes import (
    arguments,
    certificates,
    changes,
    contradictions,
    did,
    diff,
    explain,
    exports,
    facts,
    graphs,
    health,
    keys,
    log,
    metrics,
    purges,
    queries,
    reverting,
    sparql,
    sparql_past,
    timemap,
    what_if,
)
from api.routes.kept_answers import FromKept, KeptAnswers
from api.service import Service
from bridge.review.effects import EffectsReader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from fastapi.params import Depends

    from api.settings import Settings
    from bridge.base import Base


_API: Final = (
    sparql,
    changes,
    certificates,
    reverting,
    contradictions,
    queries,
    what_if,
    sparql_past,
    graphs,
    facts,
    arguments,
    exports,
    diff,
    explain,
    timemap,
    log,
    keys,
    did,
    purges,
    health,
    metrics,
)
"""In this order they are tried: first what is asked most."""
_PAGES: Final = (
    sign_in,
    queue,
    certificate,
    undoing,
    findings,
    node,
    proof,
    timeline,
    compare,
    query,
    registered,
    standing,
    branches,
    purging,
    rendering,
)

_OPEN: Final = (did, health, metrics, sign_in, rendering)
"""Those that need not know who asks."""

_NONE: Final[TelemetryConfig] = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


def create_app(base: Base, settings: Settings, root: str = "") -> FastAPI:
    """The ASGI application for one base.

    Args:
        base: open, and kept open while the application is served.
        settings: limits.
        root: what comes before its paths, where it is served beside others: `/b/{name}`.
    """
    service = Service(base, settings)
    accesses = access_file(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        rendering.make_ready()
        service.replicas.start()
        yield
        await service.close()
        if accesses is not None:
            accesses.close()

    app = FastAPI(
        title="Muniment",
        version=version("muniment"),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        telemetry=_NONE,
    )
    app.state.service = service
    app.state.sessions = Sessions()
    app.state.citations = Citations()
    app.state.effects = EffectsReader(base.ledger)
    base.purges.listen(lambda: setattr(app.state, "effects", EffectsReader(base.ledger)))
    app.state.root = root
    app.state.routes = []
    app.state.metrics = metrics.Metrics(service)
    app.state.rates = RateLimits(settings.rates, settings.failed_tokens)
    app.state.kept = KeptAnswers(base.stores.feed)
    if service.manifest is not None:
        service.manifest.require_known(operations())
    for routed in (*_API, *_PAGES):
        gates = [] if routed in _OPEN else [ADMITTED if routed in _API else ADMITTED_VISITOR]
        router = _served(service, routed.router)
        app.include_router(router, dependencies=gates)
        _add_head(app, router, gates)
        app.state.routes += [route for route in router.routes if isinstance(route, APIRoute)]
    serve_directly(app)
    app.add_middleware(FromKept, kept=app.state.kept)
    app.add_middleware(Compression)
    if settings.cors_origins:
        add_cross_origin(app, settings.cors_origins)
    if accesses is not None:
        with_text = settings.access_log is AccessLogged.QUERIES
        app.add_middleware(AccessLog, file=accesses, base=base, with_text=with_text)
    if root:
        app.add_middleware(Within)
    app.add_middleware(RequestLog, count=app.state.metrics.ended)
    problems.install(app)
    errors.install(app)
    _add_openapi(app)
    return app


def access_file(settings: Settings) -> AccessFile | None:
    """Where it is kept who read what; None: nowhere."""
    if settings.access_log is AccessLogged.NOTHING:
        return None
    return AccessFile(settings.data, settings.access_log_bytes, settings.access_log_files)


def operations() -> list[str]:
    """The names of the operations that there are."""
    routes = (route for routed in _API for route in routed.router.routes)
    return [route.operation_id for route in routes if isinstance(route, APIRoute) and route.operation_id]


def _served(service: Service, router: APIRouter) -> APIRouter:
    """The routes that are served: all of them, or those of the manifest."""
    if service.manifest is None:
        return router
    routes = (each for each in router.routes if isinstance(each, APIRoute))
    return APIRouter(routes=[each for each in routes if service.has(each.operation_id or PAGES)])


def _add_head(app: FastAPI, router: APIRouter, gates: Sequence[Depends]) -> None:
    """Whatever can be got has a HEAD (RFC 9110, section 9.1); the server leaves the body out."""
    for route in router.routes:
        if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
            app.add_api_route(
                route.path,
                route.endpoint,
                methods=["HEAD"],
                dependencies=gates,
                response_class=Response,
                include_in_schema=False,
            )


def _add_openapi(app: FastAPI) -> None:
    @cache
    def document() -> bytes:
        return json.dumps(openapi_document(app), ensure_ascii=False, indent=1).encode()

    async def openapi(request: Request) -> Response:
        query_parameters(request, ())
        return Response(await Service.of(request).read(document), media_type="application/json")

    app.add_route("/openapi.json", openapi, include_in_schema=False)
