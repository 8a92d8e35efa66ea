"""Who read what: one line of JSON for each request of a caller who was let in, for those who run the base.

Rules
-----
* It is kept where `MUNIMENT_ACCESS_LOG` says so, in the folder `access` beside the ledger, readable by its owner alone;
  `muniment access` prints it. In files of `access_log_bytes`, of which `access_log_files` old ones are kept.
* A line says when, who, what was asked (method and route), what came of it, at which state, of which graphs the answer
  could be drawn, and the SHA-256 of what was asked: of a query its text, else what the URL says. So whoever has a
  question can look who asked it; whoever has the log alone cannot read it. With `queries` the text stands there too,
  shortened: that is content, and no purge reaches it here.
* No token is in it, no cookie, and nothing of a body but a query.
* A line is written when an answer begins to be sent. One that cannot be written is told in the service's own log, and
  the answer is sent all the same.

Example
-------
::

    {"at": "2026-05-06T07:08:09Z", "request": "9f…", "principal": "ada", "method": "GET", "route": "/sparql",
     "status": 200, "graphs": ["https://example.org/g"], "head": "41", "validAt": "2026-05-06T07:08:00Z", "digest": "…"}
"""

from __future__ import annotations

import json
import logging
import os
import sys
from enum import StrEnum
from hashlib import sha256
from logging.handlers import RotatingFileHandler
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from api.http.request_log import request_id
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bridge.base import Base
    from bridge.sparql.dataset import Dataset
    from kernel.access import Principal

FOLDER: Final = "access"
FILE: Final = "access.jsonl"

READ: Final = "muniment.read"
"""Where a request has what it asks, and of which graphs."""

_CALLER: Final = "muniment.caller"
_MOST_GRAPHS: Final = 100
_LONGEST: Final = 4_000

log = logging.getLogger("muniment.http")


class AccessLogged(StrEnum):
    """What of requests is kept."""

    NOTHING = "nothing"
    REQUESTS = "requests"
    QUERIES = "queries"


def note_caller(scope: MutableMapping[str, Any], caller: Principal) -> None:
    """Keeps with a request whose it is."""
    scope[_CALLER] = caller


def note_query(scope: MutableMapping[str, Any], text: str, dataset: Dataset) -> None:
    """Keeps with a request the query that it asks, and of what."""
    graphs = None if dataset.union else [graph.value for graph in (*dataset.default_graphs, *dataset.named_graphs)]
    scope[READ] = text, graphs


class AccessLog:
    """The middleware.

    Args:
        app: what it is around.
        file: where lines go.
        base: of which clock and state are looked at.
        with_text: whether the text of queries is kept.
    """

    def __init__(self, app: ASGIApp, file: AccessFile, base: Base, *, with_text: bool) -> None:
        self._app = app
        self._file = file
        self._base = base
        self._with_text = with_text

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, and keeps what becomes of it if its caller was let in."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and _CALLER in scope:
                self._keep(scope, message)
            await send(message)

        await self._app(scope, receive, sending)

    def _keep(self, scope: Scope, message: Message) -> None:
        headers = {name.lower(): value.decode("latin-1") for name, value in message["headers"]}
        caller: Principal = scope[_CALLER]
        text, graphs = _asked(scope, caller)
        state = self._base.stores.feed.state
        line = {
            "at": print_instant(self._base.host.now()),
            "request": request_id(scope),
            "principal": caller.id,
            "method": scope["method"],
            "route": getattr(scope.get("route"), "path_format", None),
            "status": message["status"],
            "graphs": "all" if graphs is None else graphs[:_MOST_GRAPHS],
            "head": headers.get(b"muniment-head", str(state.head)),
            "validAt": headers.get(b"muniment-valid-at", print_instant(state.clock)),
            "digest": digest_of(text),
        }
        if graphs is not None and len(graphs) > _MOST_GRAPHS:
            line["graphsInAll"] = len(graphs)
        if self._with_text:
            line["asked"] = text[:_LONGEST]
        self._file.write({name: value for name, value in line.items() if value is not None})


def _asked(scope: Scope, caller: Principal) -> tuple[str, list[str] | None]:
    """What was asked, and of which graphs; None: of all."""
    if READ in scope:
        text, graphs = scope[READ]
        return text, graphs
    url = scope["raw_path"] + b"?" + scope["query_string"]
    named = scope.get("path_params", {}).get("graph")
    if named is not None:
        return url.decode("latin-1"), [unquote(named)]
    readable = None if caller.reads_everything else sorted(graph.value for graph in caller.named)
    return url.decode("latin-1"), readable


def lines_of(base: Path) -> Iterator[str]:
    """What is kept in a base's folder, oldest first."""
    folder = base / FOLDER
    older = sorted((path for path in folder.glob(f"{FILE}.*")), key=lambda path: -int(path.suffix[1:]))
    for path in (*older, folder / FILE):
        if path.is_file():
            with path.open(encoding="utf-8") as lines:
                yield from lines


def digest_of(text: str) -> str:
    """What a line has for a query, or for a URL from its path on."""
    return sha256(text.encode()).hexdigest()


class AccessFile(RotatingFileHandler):
    """The files of one base; their owner's alone.

    Args:
        base: the base's folder.
        largest: bytes of a file.
        kept: how many old ones are kept.
    """

    def __init__(self, base: Path, largest: int, kept: int) -> None:
        folder = base / FOLDER
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().__init__(folder / FILE, maxBytes=largest, backupCount=kept, encoding="utf-8", delay=True)

    def write(self, line: dict[str, object]) -> None:
        """Adds a line."""
        text = json.dumps(line, ensure_ascii=False)
        self.handle(logging.LogRecord("muniment.access", logging.INFO, "", 0, text, None, None))

    def _open(self) -> IO[str]:  # type: ignore[override]
        def opener(path: str, flags: int) -> int:
            return os.open(path, flags, mode=0o600)

        return open(self.baseFilename, self.mode, encoding=self.encoding, opener=opener)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - as the library calls it
        """Tells that a line could not be written."""
        log.error("who read what cannot be written: %s", record.getMessage()[:200], exc_info=sys.exc_info())
