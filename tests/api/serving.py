"""A base behind a real server on a port of its own, and clients that hold it to its OpenAPI document.

`served` is for any test that wants HTTP; what it yields makes tokens and clients.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from secrets import token_urlsafe
from threading import Thread
from typing import Final

import httpx2

from api.app import create_app
from api.callers.auth import token_hash
from api.callers.manifest import Mode
from api.callers.sessions import Sessions
from api.server import listen, server_for, url_of
from api.settings import Settings
from bridge.base import Base
from kernel.access import Principal, Role
from kernel.terms import Iri
from tests.api.documented import Documented

_DOCUMENTED: Final[list[Documented]] = []
"""The OpenAPI document, which is the same for every base that is not bounded, once it was asked for."""


FRUGAL: Final = Settings(query_spares=0, query_patience=60)
"""No process that nobody needs: most tests ask one thing after another."""


@dataclass(slots=True)
class Served:
    """A base that is served."""

    base: Base
    url: str
    documented: Documented
    sessions: Sessions
    _clients: ExitStack = field(default_factory=ExitStack)

    def token(self, role: Role, *graphs: str) -> str:
        """A new token; of a principal that is held to the graphs, if any are given."""
        token = token_urlsafe(16)
        identifier = f"{role.name.lower()}-{token_urlsafe(4)}"
        held = frozenset(map(Iri, graphs)) if graphs else None
        self.base.ledger.add_principal(Principal(identifier, role, held), token_hash(token))
        return token

    def client(self, role: Role | None, *graphs: str) -> httpx2.Client:
        """A client with a token of its own, or with none. Each answer it gets is compared with the OpenAPI document."""
        return self.client_with(None if role is None else self.token(role, *graphs))

    def client_of(self, principal: Principal) -> httpx2.Client:
        """A client of a new principal."""
        token = token_urlsafe(16)
        self.base.ledger.add_principal(principal, token_hash(token))
        return self.client_with(token)

    def client_with(self, token: str | None) -> httpx2.Client:
        """A client that sends a token, or none."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        client = httpx2.Client(
            base_url=self.url,
            headers=headers,
            timeout=60,
            trust_env=False,
            verify=False,
            event_hooks={"response": [self.documented.check]},
        )
        return self.enter(client)

    def enter(self, client: httpx2.Client) -> httpx2.Client:
        """A client that is closed with the others."""
        return self._clients.enter_context(client)

    @property
    def writer(self) -> httpx2.Client:
        """A client that writes to all graphs."""
        return self.client(Role.WRITER)

    def close(self) -> None:
        """Closes the clients."""
        self._clients.close()


def _documented(url: str, settings: Settings) -> Documented:
    """What a service says of itself: of one that is bounded something else each time."""
    if settings.mode is Mode.BOUNDED:
        return Documented.of(url)
    if not _DOCUMENTED:
        _DOCUMENTED.append(Documented.of(url))
    return _DOCUMENTED[0]


@contextmanager
def served(base: Base, settings: Settings | None = None) -> Iterator[Served]:
    """Serves an open base until the context is left; the base stays open."""
    app = create_app(base, settings or FRUGAL)
    server = server_for(app)
    with listen("127.0.0.1", 0) as listening:
        # The socket takes connections already: whoever comes before the server runs, waits for it.
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, name="server")
        thread.start()
        url = url_of(listening)
        running = Served(base, url, _documented(url, settings or FRUGAL), app.state.sessions)
        try:
            yield running
        finally:
            running.close()
            server.should_exit = True
            thread.join()
