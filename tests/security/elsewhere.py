"""Another host, which says what was asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class Elsewhere:
    """A host that is asked, or not: what it gives by path, and what was asked of it, and how."""

    url: str = ""
    gives: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    answers: Event = field(default_factory=Event)


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    """A host on this machine, while in the block."""
    host = Elsewhere()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            host.forms.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.do_GET()

        def do_GET(self) -> None:
            host.asked.append(self.path)
            host.headers.append(str(self.headers))
            if self.path.endswith("/never"):
                host.answers.wait(60)
            status, headers, body = host.gives.get(self.path, (404, {}, b"not here: root:x:0:0"))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        host.url = f"http://127.0.0.1:{server.server_address[1]}"
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield host
        finally:
            host.answers.set()
            server.shutdown()
