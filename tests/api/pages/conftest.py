"""A filled base for the tests of the pages: one for each test that decides something, one for those that only look."""

from collections.abc import Iterator

import pytest

from bridge.base import Base
from tests.api.pages.world import World
from tests.api.serving import served


@pytest.fixture
def world() -> Iterator[World]:
    """A filled base of its own."""
    with Base.open(None) as base, served(base) as server:
        yield World.filled(server)


@pytest.fixture(scope="session")
def still() -> Iterator[World]:
    """One filled base for all tests that leave it as it is."""
    with Base.open(None) as base, served(base) as server:
        yield World.filled(server)
