"""Request ids, and one line in the log for every request.

Rules
-----
* Each request has an id: the one that came as `X-Request-Id`, if it is short and plain, else a random one. It goes back
  in the answer, stands in problem documents, and on every line that is logged on the request's behalf.
* A line says method, path, status, milliseconds and the caller's id in the ledger. It holds no token, and no query
  string or body: those are content.

Example
-------
::

    app.add_middleware(RequestLog)
    # 2026-05-06T07:08:09+0000 INFO muniment.http [9f…] POST /changes 201 2.1 ms principal=019…
"""

from __future__ import annotations

import logging
import re
import sys
from contextvars import ContextVar
from http import HTTPStatus
from os import urandom
from time import perf_counter
from typing import TYPE_CHECKING, Final

from api.citing import given_headers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER: Final = b"x-request-id"

_KEY: Final = "muniment.request_id"
_PLAIN: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_CURRENT: ContextVar[str] = ContextVar("request_id", default="-")

log = logging.getLogger("muniment.http")


class RequestLog:
    """The middleware; of plain ASGI, because the ready-made base class costs more than a small request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, and logs what becomes of it, before the last of the answer is sent."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identifier = request_id(scope)
        # Not reset: each request has a task, and so a context, of its own; what the server logs of it has the id too.
        _CURRENT.set(identifier)
        begun = perf_counter()
        status: int | None = None
        told = False

        async def sending(message: Message) -> None:
            nonlocal status, told
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (HEADER, identifier.encode())]
                if status < HTTPStatus.BAD_REQUEST:
                    message["headers"] += given_headers(scope)
            elif not message.get("more_body", False):
                told = True
                _tell(scope, status, begun)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            if not told:
                _tell(scope, status, begun)


def _tell(scope: Scope, status: int | None, begun: float) -> None:
    milliseconds = (perf_counter() - begun) * 1_000
    # The path as it came, percent-encoded: decoded it could hold a line break.
    path = scope["raw_path"].decode("ascii", "backslashreplace")
    caller = scope.get("muniment.principal", "-")
    log.info("%s %s %s %.1f ms principal=%s", scope["method"], path, status or "failed", milliseconds, caller)


def request_id(scope: Scope) -> str:
    """The id of the request, which stays the same while it is served."""
    known: str | None = scope.get(_KEY)
    if known is None:
        given = next((value for name, value in scope["headers"] if name == HEADER), b"")
        known = given.decode() if _PLAIN.fullmatch(given) else urandom(8).hex()
        scope[_KEY] = known
    return known


class _WithRequestId(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _CURRENT.get()
        return True


def configure_logging(level: str) -> None:
    """Logs to the standard error, each line with the id of the request that it is about."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_WithRequestId())
    line = "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"
    handler.setFormatter(logging.Formatter(line, datefmt="%Y-%m-%dT%H:%M:%S%z"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
