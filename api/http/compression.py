"""Answers of the API in gzip, for whoever accepts it (RFC 9110, section 12.5.3).

Rules
-----
* Answers to bearer tokens alone are compressed, never pages: those come by a cookie, which a browser also sends for
  whoever leads it there, and a compressed page that repeats what it was sent can be made to tell its secrets by its
  length (BREACH).
* Below `SMALLEST` bytes it is not worth it. What is sent as it is made is compressed as it is made; if it breaks off,
  so does the compressed stream, which no client takes for whole.

Example
-------
>>> wants_gzip("br;q=1.0, gzip;q=0.8"), wants_gzip("*"), wants_gzip("gzip;q=0, *"), wants_gzip("")
(True, True, False, False)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.middleware.gzip import GZipResponder

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

SMALLEST: Final = 1_024
"""Bytes from which on an answer is compressed."""

LEVEL: Final = 4
"""Of zlib: a third of the time of the usual 9, for a tenth more bytes."""

_WANTING: Final = frozenset((b"authorization", b"accept-encoding"))


class Compression:
    """The middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, and compresses what comes back where that is wanted and safe."""
        app = self._app
        if scope["type"] == "http":
            sent = {name for name, _ in scope["headers"]}
            if sent >= _WANTING and b"cookie" not in sent and wants_gzip(_accepted(scope)):
                app = GZipResponder(self._app, SMALLEST, compresslevel=LEVEL)
        await app(scope, receive, send)


def _accepted(scope: Scope) -> str:
    return ", ".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"accept-encoding")


def wants_gzip(accepted: str) -> bool:
    """Whether an `Accept-Encoding` header takes gzip: it names it, or all that it does not name."""
    qualities = {}
    for element in accepted.lower().split(","):
        coding, *parameters = (part.strip() for part in element.split(";"))
        qualities[coding] = not any(_is_nothing(each) for each in parameters)
    return qualities.get("gzip", qualities.get("*", False))


def _is_nothing(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip() == "q" and not value.strip().strip("0.")
