"""Request ids, and one line in the log for every request.

Rules
-----
* Each request has an id: the one that came as `X-Request-Id`, if it is short and plain, else a random one. It goes back
  in the answer, stands in problem documents, and on every line that is logged on the request's behalf.
* A line says method, path, status, milliseconds, the caller's id in the ledger, and the certificate that the answer is
  about, if it is about one. It holds no token, and no query string or body: those are content.
* Lines are text, or each a JSON object, by configuration: what a line of text has in it, as members of their own.

Example
-------
::

    app.add_middleware(RequestLog)
    # 2026-05-06T07:08:09+0000 INFO muniment.http [9f…] POST /changes 201 2.1 ms principal=019… certificate=019…
"""

from __future__ import annotations

import json
import logging
import re
import sys
from contextvars import ContextVar
from functools import lru_cache
from http import HTTPStatus
from os import urandom
from time import localtime, perf_counter, strftime
from typing import TYPE_CHECKING, Final

from api.callers.citing import given_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER: Final = b"x-request-id"

_KEY: Final = "muniment.request_id"
_PLAIN: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_PRINCIPAL: Final = "muniment.principal"
_TIME: Final = "%Y-%m-%dT%H:%M:%S%z"
_MEMBERS: Final = "muniment_members"
_TOLD: Final = ("method", "path", "status", "milliseconds", "principal", "certificate")
_NAMING: Final = frozenset({b"location", b"link"})
_CERTIFICATE: Final = re.compile(rb"/certificates/(?:urn:uuid:)?([0-9a-f-]{36})")
_CURRENT: ContextVar[str] = ContextVar("request_id", default="-")

log = logging.getLogger("muniment.http")


class RequestLog:
    """The middleware; of plain ASGI, because the ready-made base class costs more than a small request."""

    def __init__(self, app: ASGIApp, count: Callable[[Scope, int | None, float], None]) -> None:
        self._app = app
        self._count = count

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
        certificate: str | None = None

        async def sending(message: Message) -> None:
            nonlocal status, told, certificate
            if message["type"] == "http.response.start":
                status = message["status"]
                certificate = _certificate_in(message["headers"])
                message["headers"] = [*message["headers"], (HEADER, identifier.encode())]
                if status < HTTPStatus.BAD_REQUEST:
                    message["headers"] += given_headers(scope)
            elif not message.get("more_body", False):
                told = True
                self._tell(scope, status, begun, certificate)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            if not told:
                self._tell(scope, status, begun, certificate)

    def _tell(self, scope: Scope, status: int | None, begun: float, certificate: str | None) -> None:
        seconds = perf_counter() - begun
        self._count(scope, status, seconds)
        if not log.isEnabledFor(logging.INFO):
            return
        # The path as it came, percent-encoded: decoded it could hold a line break.
        path = scope["raw_path"].decode("ascii", "backslashreplace")
        line = "%s %s %s %.1f ms principal=%s"
        told: list[object] = [scope["method"], path, status or "failed", seconds * 1_000, scope.get(_PRINCIPAL, "-")]
        if certificate is not None:
            line += " certificate=%s"
            told.append(certificate)
        members = {_MEMBERS: dict(zip(_TOLD, told, strict=False))}
        # What `log.info` does, without looking for its caller through the stack.
        log.handle(log.makeRecord(log.name, logging.INFO, __file__, 0, line, tuple(told), None, extra=members))


def _certificate_in(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The certificate that an answer's `Location` or `Link` names."""
    for name, value in headers:
        if name in _NAMING and (found := _CERTIFICATE.search(value)) is not None:
            return found[1].decode()
    return None


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


@lru_cache(maxsize=8)
def _told_as(second: int) -> str:
    return strftime(_TIME, localtime(second))


class _Lines(logging.Formatter):
    """Tells the time to the second, and writes each second out once."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 - as it is called
        del datefmt  # there is one
        return _told_as(int(record.created))


class _JsonLines(_Lines):
    """A line as a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, object] = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "requestId": getattr(record, "request_id", "-"),
            "message": record.getMessage(),
            **getattr(record, _MEMBERS, {}),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


def configure_logging(level: str, *, as_json: bool = False) -> None:
    """Logs to the standard error, each line with the id of the request that it is about.

    Args:
        level: from which severity on.
        as_json: each line a JSON object.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_WithRequestId())
    line = "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"
    handler.setFormatter(_JsonLines() if as_json else _Lines(line))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # No line says these, and each would be found out for every line (logging HOWTO, "Optimization").
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
