"""A base that is attacked, and that has to be well after each test: it answers, and takes a write."""

from collections.abc import Iterator
from itertools import count

import pytest

from api.callers.roles import RoleName
from api.settings import RoleLimits, Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import change, request
from tests.api.serving import Served, served

_NUMBERS = count()


@pytest.fixture(scope="package")
def attacked() -> Iterator[Served]:
    """One base for all: nothing of what is sent may be in the way of what comes next. Readers' limits are small."""
    hurried = {RoleName.READER: RoleLimits(seconds=1.5, memory=48 * 2**20)}
    settings = Settings(query_spares=0, query_patience=60, query_limits=hurried)
    with Base.open(None) as base, served(base, settings) as running:
        yield running


@pytest.fixture(autouse=True)
def _well_after_each_test(attacked: Served) -> Iterator[None]:
    yield
    well(attacked)


def well(running: Served) -> None:
    """Fails unless the service is healthy, takes a write, and answers with it."""
    assert running.client(None).get("/health").json()["status"] == "ok"
    subject = f"well-{next(_NUMBERS)}"
    client = running.client(Role.WRITER)
    written = client.post("/changes", json=request(change(subject, "is", "well")))
    assert written.status_code == 201, written.text
    query = f"ASK {{ <https://example.org/{subject}> ?p ?o }}"
    assert client.get("/sparql", params={"query": query}).json()["boolean"] is True
