"""A server that is killed while clients write: what it answered is there, and what is sent again is there once."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from threading import Condition, Thread
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from bridge.base import Base
from tests.api.console import PATIENCE, run, serving
from tests.bridge.audit import audit

LIVES: Final = 4
CLIENTS: Final = 8


@dataclass
class Load:
    """Clients that write until nobody answers any more.

    Attributes:
        certificates: what each key got, as far as an answer came back whole.
    """

    url: str
    headers: dict[str, str]
    life: int
    certificates: dict[str, UUID] = field(default_factory=dict)
    answered: Condition = field(default_factory=Condition)

    def run(self, client: int) -> None:
        """One client."""
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)
        with suppress(HTTPException, OSError):
            for number in range(1_000):
                key = f"{self.life}-{client}-{number}"
                certificate = post(connection, self.headers, key)
                with self.answered:
                    self.certificates[key] = certificate
                    self.answered.notify()
        connection.close()


def post(connection: HTTPConnection, headers: dict[str, str], key: str) -> UUID:
    """Writes one statement, and answers what certificate it has got."""
    change = {"op": "assert", "subject": f"urn:{key}", "predicate": "urn:p", "object": {"@value": key}}
    connection.request("POST", "/changes", json.dumps({"changes": [change]}), headers | {"Idempotency-Key": key})
    response = connection.getresponse()
    body = response.read()
    assert response.status == 201, body
    return UUID(json.loads(body)["certificate"].removeprefix("urn:uuid:"))


def test_what_was_answered_over_http_is_there_however_the_server_is_killed(tmp_path: Path) -> None:
    """Cases 32 and 35."""
    random = Random(35)
    data = tmp_path / "base"
    token = run("token", "create", "--data", data, "--role", "writer").output.strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    answered: dict[str, UUID] = {}
    for life in range(LIVES):
        with serving(data) as (process, url):
            connection = HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
            for key, certificate in answered.items():
                assert post(connection, headers, key) == certificate
            connection.close()
            answered |= killed(Load(url, headers, life), random.randrange(20, 60), process.kill)
        with Base.open(data) as base:
            books = audit(base)
        assert answered.items() <= {key: certificate for (_, key), certificate in books.idempotency.items()}.items()
        assert {f"<urn:{key}>" for key in answered} <= {fact.statement.subject.n3 for fact in books.facts}
        assert len(books.facts) == len(books.certificates)


def killed(load: Load, answers: int, kill: Callable[[], None]) -> dict[str, UUID]:
    """What was answered until the server was killed, which is after so many answers."""
    clients = [Thread(target=load.run, args=(client,)) for client in range(CLIENTS)]
    for client in clients:
        client.start()
    with load.answered:
        assert load.answered.wait_for(lambda: len(load.certificates) >= answers, PATIENCE)
    kill()
    for client in clients:
        client.join(PATIENCE)
    return load.certificates
