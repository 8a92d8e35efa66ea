"""`GET /metrics`: what the service does, in the text format of Prometheus.

Rules
-----
* For administrators of the base, and for whoever sends the token that `MUNIMENT_METRICS_TOKEN_FILE` holds, which opens
  nothing else.
* Labels have few values: the routes that there are (`other` for what is none), methods, statuses, codes of problems.
  None holds anything that was sent or is kept: no graph, no caller, no path.
* What is counted is counted as requests end; what has a level (workers, head, clock, lag) is looked up when it is
  asked for.
* One registry a service, so that several in one process do not meet.

Example
-------
::

    metrics = Metrics(service)
    metrics.count("/facts", "GET", 200, seconds=0.003)
    metrics.text()          # muniment_requests_total{method="GET",route="/facts",status="200"} 1.0 …
"""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import caller_of, token_of
from api.errors import InvalidSetting
from api.http.openapi import Answer, answers, extra, text_content
from api.http.parameters import query_parameters
from api.service import Service
from kernel.errors import Forbidden, MunimentError, Unauthenticated
from kernel.time.instants import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import Scope

BROKEN_OFF: Final = 499
"""The status that is counted where none was sent."""

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Seconds."""

_OTHER: Final = "other"
_SHORTEST: Final = 16
_MEDIA_TYPE: Final = "text/plain"

router = APIRouter(tags=["service"])


class Metrics:
    """The counts of one service.

    Args:
        service: whose levels are looked up.
    """

    def __init__(self, service: Service) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._token = _read_token(service.settings.metrics_token_file)
        labels = ("route", "method", "status")
        self._requests = Counter("muniment_requests", "requests answered", labels, registry=self._registry)
        self._seconds = Histogram(
            "muniment_request_seconds",
            "time until the answer is sent",
            ("route",),
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._counted: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._problems = Counter("muniment_problems", "problem documents sent", ("code",), registry=self._registry)
        self._registry.register(_Levels(service))
        ProcessCollector(registry=self._registry)

    def ended(self, scope: Scope, status: int | None, seconds: float) -> None:
        """Counts a request that has ended; one without a status was broken off."""
        self.count(route_of(scope), scope["method"], status or BROKEN_OFF, seconds)

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Counts a request that has ended."""
        counted = self._counted.get((route, method, status))
        if counted is None:
            method = method if method in METHODS else _OTHER
            counted = self._requests.labels(route, method, str(status)), self._seconds.labels(route)
            self._counted[route, method, status] = counted
        counted[0].inc()
        counted[1].observe(seconds)

    def problem(self, code: str) -> None:
        """Counts a problem document; codes are a closed set."""
        self._problems.labels(code).inc()

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)

    def lets_in(self, token: bytes) -> bool:
        """Whether a token is the one for this; compared in constant time."""
        return self._token is not None and compare_digest(self._token, token)


class _Levels(Collector):
    """What is looked up when it is asked for."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Each level as it stands."""
        for name, (meaning, value) in _levels(self._service).items():
            yield GaugeMetricFamily(f"muniment_{name}", meaning, value=value)


def _levels(service: Service) -> dict[str, tuple[str, float]]:
    base, load = service.base, service.replicas.load
    levels: dict[str, tuple[str, float]] = {
        "workers": ("workers for queries", load.workers),
        "workers_busy": ("workers that answer a query", load.busy),
        "queries_waiting": ("queries that wait for a worker", load.waiting),
        "read_only": ("whether nothing can be written", float(base.read_only is not None)),
        "stores_behind": ("whether the stores could not be brought up", float(base.behind)),
    }
    try:
        with base.ledger.reading() as view:
            head = view.head()
    except MunimentError:
        return levels | {"ledger_up": ("whether the ledger can be read", 0.0)}
    position = -1 if head.position is None else head.position
    served = service.base.stores.feed.state.head
    lag = position - (-1 if served is None else served)
    return levels | {
        "ledger_up": ("whether the ledger can be read", 1.0),
        "head": ("the log position of the last applied certificate; -1 for none", position),
        "clock_seconds": ("the clock, in seconds since 1970", head.clock / SECOND),
        "clock_lag_seconds": ("how far the clock is behind the host's", (base.host.now() - head.clock) / SECOND),
        "stores_lag": ("log positions by which the stores are behind the ledger", max(0, lag)),
    }


def _read_token(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        token = path.read_bytes().strip()
    except OSError as error:
        raise InvalidSetting(
            f"{path} cannot be read: {error.strerror}",
            remedy="name a file that holds the token alone",
            where="metrics_token_file",
        ) from error
    if len(token) < _SHORTEST:
        raise InvalidSetting(
            f"{path} holds less than {_SHORTEST} characters",
            remedy="put a long random token into it",
            where="metrics_token_file",
        )
    return token


def route_of(scope: Scope) -> str:
    """The route that a request was answered by, as it is declared."""
    path: str = getattr(scope.get("route"), "path", _OTHER)
    return path


@router.get(
    "/metrics",
    operation_id="metrics",
    summary="What the service does, for Prometheus",
    response_class=Response,
    responses=answers({200: Answer("The metrics", text_content([_MEDIA_TYPE]))}, problems=(400, 401, 403)),
    openapi_extra=extra() | {"security": [{"token": []}]},
)
async def metrics(request: Request) -> Response:
    """Gives counts and levels; for administrators, or with the token that is set for it."""
    query_parameters(request, ())
    kept: Metrics = request.app.state.metrics
    if not kept.lets_in(token_of(request)):
        await _require_administrator(request)
    return Response(await Service.of(request).read(kept.text), 200, {"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})


async def _require_administrator(request: Request) -> None:
    caller = await caller_of(request)
    if caller is None or caller.is_anonymous:
        raise Unauthenticated(
            "metrics are for administrators",
            remedy="send an administrator's token, or the one set for metrics",
            where="Authorization",
        )
    if not caller.governs:
        raise Forbidden(
            "metrics are for administrators", remedy="use an administrator's token, or the one that is set for metrics"
        )
