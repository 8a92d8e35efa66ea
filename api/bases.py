"""Several bases in one process: each under `/b/{name}/`, as if it were served alone.

Rules
-----
* Each base has an application of its own, made for it: ledger, keys, sessions, tokens, limits of rate and workers. None
  of them is another's, so that a token, a cookie or a query of one base is nothing to another.
* What comes to no base that is served is answered as to a path at which nothing is. Names of bases are no secret: who
  guesses one is asked for a token there.
* Answers name paths of their own base: `Location` and `Link` begin with where it is.
* All start and stop together; one that does not start keeps the others from starting.

Example
-------
::

    app = Bases(None, {"one": create_app(one, settings, "/b/one"), "two": create_app(two, settings, "/b/two")})
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

from starlette.datastructures import MutableHeaders
from starlette.responses import Response

from api.http.paths import BASES, root_of
from api.http.request_log import HEADER, request_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_NAMED: Final = re.compile(r"/b/([a-z0-9-]+)(/?)")
_IN_LINK: Final = re.compile(r"<(/[^>]*)>")

log = logging.getLogger("muniment.http")


class Bases:
    """The ASGI application of several bases.

    Args:
        at_root: the one that is not under `/b/`, if there is one.
        named: the others, each made for where it is.
    """

    def __init__(self, at_root: FastAPI | None, named: Mapping[str, FastAPI]) -> None:
        self._at_root = at_root
        self._named = named

    @property
    def applications(self) -> list[FastAPI]:
        """All of them."""
        return [*([] if self._at_root is None else [self._at_root]), *self._named.values()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on to its base."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._to_base(scope, receive, send)

    async def _to_base(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _NAMED.match(scope["path"]) if scope["path"].startswith(BASES) else None
        app = self._at_root if found is None else self._named.get(found[1])
        if app is None:
            await _nothing(scope, receive, send)
        elif found is not None and not found[2]:
            if found[0] != scope["path"]:
                await _nothing(scope, receive, send)
            else:
                await Response(None, 308, {"Location": found[0] + "/"})(scope, receive, send)
        else:
            root = "" if found is None else found[0].rstrip("/")
            await app({**scope, "root_path": root}, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as stack:
            try:
                for app in self.applications:
                    await stack.enter_async_context(app.router.lifespan_context(app))
            except BaseException as error:
                log.exception("a base cannot be served")
                await stack.aclose()  # in order: the error is none of those that have started
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                raise
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


class Within:
    """The middleware by which an application's answers name paths of its own base."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, and completes the headers of its answer."""
        root = root_of(scope)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                if "location" in headers:
                    headers["location"] = _within(root, headers["location"])
                if "link" in headers:
                    headers["link"] = _IN_LINK.sub(lambda path: f"<{_within(root, path[1])}>", headers["link"])
            await send(message)

        await self._app(scope, receive, sending)


def _within(root: str, path: str) -> str:
    """A path from the host's root on."""
    return path if not path.startswith("/") or path.startswith(f"{root}/") else root + path


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Nothing is served there."""
    identifier = request_id(scope)
    log.info("%s to no base 404", scope["method"])
    document = {
        "type": "https://w3id.org/muniment/problem/unknown-path",
        "status": 404,
        "title": "Nothing is served here",
        "detail": "nothing is served at this path",
        "code": "unknown-path",
        "remedy": "bases are served under /b/NAME/",
        "requestId": identifier,
    }
    headers = {"Content-Type": "application/problem+json", HEADER.decode(): identifier}
    await Response(json.dumps(document), 404, headers)(scope, receive, send)
