"""Exports that take too long end: with an error status, or broken off once they have begun."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from api.routes import exports
from api.settings import Settings
from bridge.base import Base
from tests.api.serving import Served, served


@pytest.fixture
def filled() -> Iterator[Served]:
    with Base.open(None) as base, served(base, Settings(query_spares=0, export_seconds=50)) as running:
        triples = "".join(f'<urn:s{number}> <urn:p> "{"x" * 200} {number}" .\n' for number in range(2_000))
        running.writer.put(
            "/graphs", params={"graph": "urn:g"}, content=triples, headers={"content-type": "text/turtle"}
        )
        yield running


class Clock:
    """A clock that goes on by so much each time that it is looked at."""

    def __init__(self, step: float) -> None:
        self._now = 0.0
        self._step = step

    def __call__(self) -> float:
        self._now += self._step
        return self._now


def test_an_export_that_takes_too_long_is_ended(filled: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    client = filled.writer
    whole = client.get("/exports/urn:g", headers={"accept": "application/n-quads"})
    assert whole.status_code == 200
    assert len(whole.text.splitlines()) == 2_000
    monkeypatch.setattr(exports, "monotonic", Clock(60))
    at_once = client.get("/exports/urn:g", headers={"accept": "application/n-quads"})
    assert (at_once.status_code, at_once.json()["code"], at_once.json()["of"]) == (422, "query-limit", "time")
    monkeypatch.setattr(exports, "monotonic", Clock(20))
    with pytest.raises(httpx2.RemoteProtocolError):
        client.get("/exports/urn:g", headers={"accept": "application/n-quads"})
    monkeypatch.undo()
    assert client.get("/exports/urn:g").status_code == 200
