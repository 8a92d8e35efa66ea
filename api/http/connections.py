"""Connections: what a client may send before there is a request, and how long it may take.

Rules
-----
* The head of a request (its line and headers) has `LARGEST_HEAD` bytes and `MOST_HEADERS` headers at most, and so do
  trailers and whatever else stands between the pieces of a body: 431. What is not HTTP is 400.
* A head comes within `HEAD_SECONDS`: 408. A body that comes to a halt for `BODY_SECONDS`, or in all that time by less
  than `SLOWEST` bytes a second, is given up, with its connection; one that was answered before it was whole has
  `HEAD_SECONDS` to end. A client that takes nothing of its answer for `SEND_SECONDS` is left. A connection that asks
  nothing is closed, whatever comes that is no request. So nobody holds one for long without using it.
* A connection that is to end with its answer ends once the request is whole, if the answer came before that: whoever is
  still sending would be cut off, and not read it (RFC 9112, section 9.6).
* There are so many connections, and no more: 503. `MOST_WAITING` requests may wait for the answers before them.
* There is one `Host`, and it is one: it becomes part of what is told, and of what relative IRIs are relative to. Only
  HTTP/1.0 may do without (RFC 9112, section 3.2).
* Trailers (RFC 9110, section 6.5) are not looked at: they are no headers, whatever they are called.
* Each refusal is a problem document, as everywhere, and a line in the log; the connection ends with it.

Example
-------
::

    uvicorn.Config(app, http=guarded(most=1_000))
"""

from __future__ import annotations

import logging
import re
from os import urandom
from typing import TYPE_CHECKING, Any, Final, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from api.errors import HeadTooLarge, TooManyConnections, TooSlow, UnreadableRequest
from api.http.problems import MEDIA_TYPE, problem_text, status_of

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from kernel.errors import CallerError

LARGEST_HEAD: Final = 64 * 1024
MOST_HEADERS: Final = 100
HEAD_SECONDS: Final = 30.0
BODY_SECONDS: Final = 60.0
SEND_SECONDS: Final = 60.0
SLOWEST: Final = 500
"""Bytes of a body that come in a second, at least, once it has taken `BODY_SECONDS`."""

MOST_WAITING: Final = 32
"""Requests that are sent before those before them are answered (RFC 9112, section 9.3.2): each is in memory."""

_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")

_LOOK: Final = 5.0
"""Seconds between looks at a connection: one timer for all of its requests."""

log = logging.getLogger("muniment.http")


def guarded(most: int) -> type[HttpToolsProtocol]:
    """The protocol of a server that takes so many connections at a time."""
    return type("_Guarded", (_Connection,), {"most": most})


class _Answering:
    """What an answer is written to: all that the server asks of a transport there."""

    def __init__(self, transport: asyncio.Transport, end: Callable[[], None]) -> None:
        self.write, self.is_closing, self.close = transport.write, transport.is_closing, end


class _Connection(HttpToolsProtocol):
    """The server's own, with limits."""

    most = 1_000

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - handed on as they are
        super().__init__(*arguments, **named)
        self._unheard = 0  # bytes that have come to nothing yet
        self._in_head = True
        self._in_body = False
        self._size = 0  # of the body, so far
        self._begun = self._last = self._answered = self._taken = self.loop.time()
        self._unsent = 0
        self._timer: asyncio.TimerHandle | None = None
        self._refused = False
        self._running: RequestResponseCycle | None = None
        self._ends = False

    # --- what the transport calls -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as the server has it
        """A client is there."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(
                TooManyConnections("too many connections are open", remedy="ask again shortly, over fewer connections")
            )
        else:
            self._timer = self.loop.call_later(_LOOK, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        if self._timer is not None:
            self._timer.cancel()
        # The server tells this the request that came last alone, which need not be the one that is being answered.
        for cycle in (*(waiting for waiting, _ in self.pipeline), *([] if self._running is None else [self._running])):
            cycle.disconnected = True
            cycle.message_event.set()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401 - handed on as it is
        self._running = cycle
        cycle.transport = cast("asyncio.Transport", _Answering(self.transport, self._end))
        super()._start_asgi_task(cycle, app)

    def _end(self) -> None:
        """Ends the connection after an answer: at once, or once the request is whole, as long as that may take."""
        if self._in_body and not self.pipeline and self.transport.can_write_eof():
            self._ends = True
            self.transport.write_eof()
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Something came from it."""
        if self._refused:
            return
        self._unheard += len(data)
        self._last = self.loop.time()
        try:
            super().data_received(data)
        except httptools.HttpParserError:
            # What the server itself does not expect to be raised here.
            self.send_400_response("")
        if self._unheard > LARGEST_HEAD:
            self._refuse_head()

    # --- what the parser calls ----------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._begun = self._last
        self._in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header is there; or a trailer."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A head is whole."""
        self._in_head = False
        self._unheard = 0
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > LARGEST_HEAD or len(self.headers) > MOST_HEADERS:
            self._refuse_head()
        elif not self._is_for_one_host():
            self.send_400_response("")
        elif len(self.pipeline) == MOST_WAITING:
            self._refuse(UnreadableRequest("too many requests wait here", remedy="wait for answers before asking on"))
        elif not self._refused:
            self._in_body, self._size = True, 0
            super().on_headers_complete()

    def _is_for_one_host(self) -> bool:
        hosts = [value for name, value in self.headers if name == b"host"]
        if not hosts:
            return self.parser.get_http_version() == "1.0"
        return len(hosts) == 1 and _HOST.fullmatch(hosts[0]) is not None

    def on_body(self, body: bytes) -> None:
        """A piece of a body is there."""
        self._unheard = 0
        self._size += len(body)
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is whole."""
        self._unheard = 0
        self._in_body = False
        if not self._refused:
            super().on_message_complete()
        if self._ends:
            self.transport.close()

    def on_response_complete(self) -> None:
        """An answer was given, if not yet taken."""
        self._answered = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """What came is not HTTP."""
        del msg  # it is the same for whatever is wrong
        self._refuse(UnreadableRequest("this is no HTTP request", remedy="send HTTP/1.1, with a well-formed URL"))

    # --- refusing -----------------------------------------------------------------------------------------------------

    def _refuse_head(self) -> None:
        self._refuse(
            HeadTooLarge(
                f"the head of a request has {LARGEST_HEAD // 1024} KB and {MOST_HEADERS} headers at most",
                remedy="send a long query by POST, and fewer headers",
            )
        )

    def _refuse(self, error: CallerError) -> None:
        """Says so, unless an answer is on its way, and ends the connection."""
        if self._refused:
            return
        self._refused = True
        if self.transport.is_closing():
            return
        status, identifier = status_of(error), urandom(8).hex()
        log.info("a connection was refused: %s %s [%s]", status, error.code, identifier)
        if self._may_answer():
            body = problem_text(error, identifier).encode()
            head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
            self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()

    def _may_answer(self) -> bool:
        """Whether nothing is being answered; a request that has come by half is not answered any more."""
        current = self._current
        if current is None or current.response_complete:
            return True
        if current.response_started or self.pipeline:
            return False
        current.disconnected = True
        return True

    # --- how long things take -----------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Whether the client takes too long; goes on until the connection is gone."""
        now = self.loop.time()
        if self._takes_nothing(now):
            self.transport.abort()
        elif not self.transport.is_closing():
            if self._in_head and self._unheard and now - self._begun > HEAD_SECONDS:
                self._refuse(TooSlow("the head of the request takes too long", remedy="send requests whole"))
            elif self._is_slow(now) if self._in_body else self._is_idle(now):
                self._refused = True
                self.transport.close()
        self._timer = self.loop.call_later(_LOOK, self._look)

    def _takes_nothing(self, now: float) -> bool:
        """Whether the client takes nothing of what there is for it, and has not for long."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent != self._unsent:
            self._unsent, self._taken = unsent, now
        return now - self._taken > SEND_SECONDS

    def _is_slow(self, now: float) -> bool:
        """Whether more of a body is to come than is worth waiting for."""
        current = self._current
        if current is None or current.response_complete:
            return now - self._answered > HEAD_SECONDS
        if self.flow.read_paused:
            return False  # it is waited for here
        taken = now - self._begun
        return now - self._last > BODY_SECONDS or (taken > BODY_SECONDS and self._size < SLOWEST * taken)

    def _is_idle(self, now: float) -> bool:
        """Whether nothing is asked, and has not been for long."""
        current = self._current
        if current is None:
            return now - self._answered > HEAD_SECONDS
        return current.response_complete and now - self._answered > self.timeout_keep_alive

    @property
    def _current(self) -> RequestResponseCycle | None:
        """The request that came last; the server's type does not say that there may be none."""
        return self.cycle
