"""The HTTP server around the application.

Rules
-----
* The socket is bound before anything is served: a port that is taken is one clear error.
* SIGTERM and SIGINT end the service in order: no new requests, those that run are answered, then `serve` returns, and
  whoever opened the base closes it. A query that does not end in time is given up, and its thread with it.

Example
-------
::

    settings = read_settings()
    with Base.open(settings.data, policy=settings.verdict_policy) as base:
        serve(create_app(base, settings), settings, announce=print)
"""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import uvicorn

from api.bases import Bases
from api.collector import relieve
from api.errors import InvalidSetting
from api.http.connections import guarded
from api.http.request_log import configure_logging
from api.settings import LogFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from fastapi import FastAPI

    from api.service import Service
    from api.settings import Settings

KEEP_ALIVE: Final = 75
"""Seconds for which an idle connection is kept: opening one costs a client more than its request."""

PATIENCE: Final = 10
"""Seconds that requests have to end in when the service stops."""

_BACKLOG: Final = 2048
_STOPPING: Final = (signal.SIGTERM, signal.SIGINT)


def serve(app: FastAPI | Bases, settings: Settings, announce: Callable[[str], None]) -> bool:
    """Serves open bases until the process is told to stop; answers whether all that was begun has ended.

    Args:
        app: the application of a base, or of several; the bases are left open.
        settings: where to listen, and how to log.
        announce: told the URL once connections are taken.

    Raises:
        InvalidSetting: the address cannot be listened on.
    """
    configure_logging(settings.log_level, as_json=settings.log_format is LogFormat.JSON)
    with listen(settings.host, settings.port) as listening:
        server = server_for(app)
        with _stopped_by_signals(server):
            announce(url_of(listening))
            relieve()
            server.run(sockets=[listening])
    return not any(service.busy for service in services_of(app))


def services_of(app: FastAPI | Bases) -> list[Service]:
    """What the bases of an application are served by."""
    return [each.state.service for each in (app.applications if isinstance(app, Bases) else [app])]


def server_for(app: FastAPI | Bases) -> uvicorn.Server:
    """The server for an application, ready to be run on a socket."""
    # What it would say has query strings in it, and those are content; the request log says the rest.
    logging.getLogger("uvicorn.access").disabled = True
    service = services_of(app)[0]
    return uvicorn.Server(
        uvicorn.Config(
            app,
            loop="auto",
            http=guarded(service.settings.connections),
            ws="none",
            lifespan="on",
            log_config=None,
            log_level=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=PATIENCE,
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket on which connections are taken, if not yet answered. Raises `InvalidSetting`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        number = error.errno or 0
        if number < 0 or number == errno.EADDRNOTAVAIL:  # below 0 it is of a name that was looked up (EAI_NONAME, …)
            raise InvalidSetting(
                f"{host} is no address of this machine, nor a name of one",
                remedy="give another --host: 127.0.0.1 for this machine alone, 0.0.0.0 for whoever reaches it",
                where="host",
            ) from error
        raise InvalidSetting(
            f"cannot listen on {host}, port {port}: {os.strerror(number)}",
            remedy="choose another --port or --host (with make: PORT=8351), or stop what uses it",
            where="port",
        ) from error


def url_of(listening: socket.socket) -> str:
    """The URL under which a listening socket is reached."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """A signal stops the server, also one that comes before it has begun to look for signals itself.

    The server raises a signal again once it has stopped for it; that, too, must not keep the base from being closed.
    """

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a handler is given
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
